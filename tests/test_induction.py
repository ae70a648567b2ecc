import math
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from markov_transformers.chains import DirichletPrior
from markov_transformers.induction import (
    BayesOptimal,
    FullHistoryMatch,
    GeneralizedInductionHead,
    InductionHead,
    Unigram,
    best_report,
    match_features,
    match_kernel,
    monomial_features,
    n_monomial_features,
)
from tests.memory import expected_over_taken

some = settings(max_examples=40, deadline=None)


@st.composite
def contexts(draw):
    """Random tokens (n, L) with a window M < L and a set of lags within it."""
    d, window = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    length, n = draw(st.integers(window + 1, 14)), draw(st.integers(1, 4))
    subset = tuple(sorted(draw(st.sets(st.integers(1, window)))))
    tokens = np.random.default_rng(draw(st.integers(0, 2**32))).integers(d, size=(n, length))
    return tokens, subset, window, d


def literal_head(x, subset, window, d):
    """(3.3) with the paper's indices, counted from one: x[l] is x_l."""
    length = len(x)
    x = dict(enumerate(x, start=1))
    total, n = np.zeros(d), 0
    for position in range(window + 1, length + 1):
        if all(x[position - s] == x[length + 1 - s] for s in subset):
            total[x[position]] += 1
            n += 1
    if n == 0:
        for position in range(window + 1, length + 1):
            total[x[position]] += 1
        n = length - window
    return total / n


@some
@given(contexts())
def test_the_head_agrees_with_its_formula_position_by_position(case):
    tokens, subset, window, d = case
    expected = [literal_head(x, subset, window, d) for x in tokens.tolist()]
    np.testing.assert_array_equal(GeneralizedInductionHead(subset, window).predict(tokens, d), expected)


@some
@given(contexts())
def test_special_heads_are_the_general_one_with_their_lags(case):
    tokens, _, window, d = case
    plain = [literal_head(x, (1,), window, d) for x in tokens.tolist()]
    np.testing.assert_array_equal(InductionHead(window).predict(tokens, d), plain)
    full = [literal_head(x, range(1, window + 1), window, d) for x in tokens.tolist()]
    np.testing.assert_array_equal(FullHistoryMatch(window).predict(tokens, d), full)
    first = [literal_head(x, (1,), 1, d) for x in tokens.tolist()]
    np.testing.assert_array_equal(InductionHead().predict(tokens, d), first)


@some
@given(contexts())
def test_every_predictor_returns_probabilities(case):
    tokens, subset, window, d = case
    lags = subset or (1,)
    for predictor in [
        GeneralizedInductionHead(subset, window),
        Unigram(),
        BayesOptimal(lags, 1e-9),
        BayesOptimal(lags, 1e9),
    ]:
        y = predictor.predict(tokens, d)
        assert y.shape == (len(tokens), d) and (y >= 0).all()
        np.testing.assert_allclose(y.sum(axis=1), 1, atol=1e-15)


@some
@given(contexts(), st.integers(0, 100))
def test_relabelling_the_tokens_relabels_the_prediction(case, seed):
    tokens, subset, window, d = case
    order = np.random.default_rng(seed).permutation(d)
    for predictor in [GeneralizedInductionHead(subset, window), Unigram(), BayesOptimal((1,), 0.3)]:
        renamed = predictor.predict(order[tokens], d)
        np.testing.assert_allclose(renamed[:, order], predictor.predict(tokens, d), rtol=1e-15)


def test_the_first_match_counts_and_the_present_position_does_not():
    # L = 4, M = 1: positions 2, 3, 4; only l = 2 follows a token equal to x_4.
    np.testing.assert_array_equal(GeneralizedInductionHead((1,), 1).predict([[0, 1, 2, 0]]), [[0, 1, 0]])
    # With M = 2 position 2 is out of reach: the fallback averages x_3 and x_4.
    np.testing.assert_array_equal(GeneralizedInductionHead((1,), 2).predict([[0, 1, 2, 0]]), [[0.5, 0, 0.5]])


def test_the_fallback_is_taken_for_each_sequence_alone():
    tokens = [[0, 1, 0, 1, 0], [0, 0, 1, 1, 2]]
    np.testing.assert_array_equal(InductionHead().predict(tokens), [[0, 1, 0], [0.25, 0.5, 0.25]])


def test_the_empty_set_averages_what_comes_after_the_window():
    tokens = np.array([[0, 0, 0, 1, 2, 1]])
    np.testing.assert_allclose(GeneralizedInductionHead((), 2).predict(tokens), [[1 / 4, 1 / 2, 1 / 4]])
    np.testing.assert_allclose(Unigram().predict(tokens), [[1 / 2, 1 / 3, 1 / 6]])


def test_a_single_token_is_its_own_frequency():
    np.testing.assert_array_equal(Unigram().predict([[1]]), [[0, 1]])


def test_the_vocabulary_can_be_larger_than_what_is_seen():
    assert InductionHead().predict([[0, 1, 0]]).shape == (1, 2)
    np.testing.assert_array_equal(InductionHead().predict([[0, 1, 0]], vocab_size=4), [[0, 1, 0, 0]])


# Bayes


def test_the_bayes_predictor_agrees_with_integration_over_kernels():
    # Two tokens, lag 1: weigh a grid of both rows by prior times likelihood.
    concentration, x = 1.5, [0, 1, 1, 0, 0, 1, 0]
    grid = (np.arange(2000) + 0.5) / 2000
    weight = (grid * (1 - grid)) ** (concentration - 1)
    a, b = grid[:, None], grid  # probability of token 1 after 0 and after 1
    posterior = weight[:, None] * weight
    for old, new in pairwise(x):
        row = b if old else a
        posterior = posterior * (row if new else 1 - row)
    expected = (posterior * a).sum() / posterior.sum()
    assert BayesOptimal((1,), concentration).predict([x])[0, 1] == pytest.approx(expected, abs=1e-6)


def test_the_bayes_predictor_has_the_least_loss_over_all_histories_of_the_prior():
    # Expected log loss by Monte Carlo against predictors that know less or smooth otherwise.
    prior = DirichletPrior(3, (1, 3), 0.2)
    tokens = prior.sample(20_000, 41, rng=0)
    rows = np.arange(len(tokens))

    def losses(predictor):
        y = predictor.predict(tokens[:, :-1], 3)[rows, tokens[:, -1]]
        return -np.log(y + 1e-12)

    best = losses(BayesOptimal(prior.lags, prior.concentration))
    for other in [
        BayesOptimal((1, 3), 1.0),
        BayesOptimal((1, 3), 0.02),
        BayesOptimal((1,), 0.2),
        BayesOptimal((1, 2, 3), 0.2),
        GeneralizedInductionHead((1, 3), 3),
        Unigram(),
    ]:
        extra = losses(other) - best
        assert extra.mean() > 4 * extra.std() / math.sqrt(len(extra))


def test_the_bayes_predictor_tends_to_the_matches_and_to_the_uniform_law():
    tokens = DirichletPrior(3, (1, 2), 1.0).sample(200, 60, rng=0)
    head = GeneralizedInductionHead((1, 2), 2).predict(tokens)
    matched = match_kernel(tokens, (1, 2))[:, -1, :-1].sum(axis=1) > 0
    sharp = BayesOptimal((1, 2), 1e-12).predict(tokens)
    np.testing.assert_allclose(sharp[matched], head[matched], atol=1e-10)
    np.testing.assert_allclose(sharp[~matched], 1 / 3, atol=1e-15)
    np.testing.assert_allclose(BayesOptimal((1, 2), 1e12).predict(tokens), 1 / 3, atol=1e-10)


def test_the_largest_concentration_predicts_the_uniform_law():
    np.testing.assert_array_equal(BayesOptimal((1,), 1e300).predict([[0, 1, 0]], vocab_size=4), [[0.25] * 4])


def test_the_prior_predicts_as_its_bayes_predictor():
    tokens = [[0, 1, 1, 0, 1]]
    np.testing.assert_array_equal(
        DirichletPrior(4, (2,), 0.3).predict(tokens), BayesOptimal((2,), 0.3).predict(tokens, 4)
    )


# Features


@some
@given(contexts())
def test_inner_products_of_the_features_tell_which_positions_match(case):
    tokens, subset, _, d = case
    psi = match_features(tokens, subset, d)
    first = max(subset, default=0)
    size = tokens.shape[1] + 1 - first
    assert psi.shape == (len(tokens), size, d ** len(subset))
    gram = psi @ psi.transpose(0, 2, 1)
    expected = np.array(
        [
            [
                [float(all(x[first + i - s] == x[first + j - s] for s in subset)) for j in range(size)]
                for i in range(size)
            ]
            for x in tokens.tolist()
        ]
    )
    np.testing.assert_array_equal(gram, expected)
    np.testing.assert_array_equal(match_kernel(tokens, subset), expected)


def test_without_lags_the_shortest_context_matches_everywhere():
    np.testing.assert_array_equal(match_kernel([[0]], ()), np.ones((1, 2, 2)))
    np.testing.assert_array_equal(match_features([[0]], ()), np.ones((1, 2, 1)))


def test_each_feature_belongs_to_its_pattern_nearest_lag_first():
    psi = match_features([[2, 0, 1]], (1, 2), vocab_size=3)
    np.testing.assert_array_equal(psi[0, -1], np.kron(np.eye(3)[1], np.eye(3)[0]))


@some
@given(contexts())
def test_the_head_is_a_kernel_classifier_over_its_features(case):
    tokens, subset, window, d = case
    weights = match_kernel(tokens, subset)[:, -1, window - max(subset, default=0) : -1]
    onehot = np.eye(d)[tokens[:, window:]]
    weights = np.where(weights.sum(axis=1, keepdims=True) > 0, weights, 1)
    expected = (weights[:, :, None] * onehot).sum(axis=1) / weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(
        GeneralizedInductionHead(subset, window).predict(tokens, d), expected, atol=1e-15
    )


@some
@given(st.integers(1, 4), st.integers(1, 3), st.integers(0, 2**32), st.data())
def test_monomial_features_realise_the_polynomial_kernel(n_heads, d, seed, data):
    degree = data.draw(st.integers(0, n_heads))
    rng = np.random.default_rng(seed)
    v, w = rng.standard_normal((2, 5, n_heads, d))
    subsets = [s for k in range(degree + 1) for s in combinations(range(n_heads), k)]
    c = rng.standard_normal(len(subsets))
    phi, psi = monomial_features(v, c, degree), monomial_features(w, c, degree)
    expected = np.zeros(5)
    for weight, subset in zip(c, subsets):
        expected += weight**2 * np.prod([(v[:, h] * w[:, h]).sum(axis=1) for h in subset], axis=0)
    np.testing.assert_allclose((phi * psi).sum(axis=1), expected, rtol=1e-10, atol=1e-12)
    assert phi.shape[1] == n_monomial_features(n_heads, d, degree)


def test_the_monomials_of_two_heads_come_by_size_and_then_in_order():
    features = monomial_features([[1.0, 2.0], [3.0, 5.0]], weights=[2, 1, 1, 10], max_degree=2)
    np.testing.assert_array_equal(features, [2, 1, 2, 3, 5, 30, 50, 60, 100])


def test_features_are_counted_while_their_number_has_at_most_14000_bits():
    # All sets of heads: the binomial theorem sums them to (1 + d)^H.
    for n_heads, vocab_size in [(250, 2**56 - 1), (2000, 2**7 - 1)]:
        assert n_monomial_features(n_heads, vocab_size, n_heads) == 2**14_000
    for n_heads, vocab_size in [(359, 2**39 - 1), (2001, 2**7 - 1)]:  # 14,001 and 14,007 bits
        with pytest.raises(ValueError, match="^max_degree must be small enough .* 14000 bits"):
            n_monomial_features(n_heads, vocab_size, n_heads)


def test_there_are_37_features_at_the_size_of_the_paper():
    assert n_monomial_features(3, 3, 2) == 37
    monomials = [
        m for k in range(3) for s in combinations(range(3), k) for m in product(range(3), repeat=len(s))
    ]
    assert len(monomials) == 37


# Arguments


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("subset", lambda: GeneralizedInductionHead((3,), 2)),
        ("subset", lambda: GeneralizedInductionHead((1, 1), 2)),
        ("window", lambda: GeneralizedInductionHead((), 0)),
        ("window", lambda: InductionHead(0)),
        ("window", lambda: FullHistoryMatch(0)),
        ("window", lambda: FullHistoryMatch(1.5)),
        ("lags", lambda: BayesOptimal((), 1.0)),
        ("concentration", lambda: BayesOptimal((1,), 0.0)),
        ("concentration", lambda: BayesOptimal((1,), 1.2e300)),
        ("concentration", lambda: BayesOptimal((1,), math.nan)),
        ("tokens", lambda: GeneralizedInductionHead((1,), 2).predict([[0, 1]])),
        ("tokens", lambda: InductionHead().predict([0, 1, 0])),
        ("tokens", lambda: InductionHead().predict([[0.0, 1.0]])),
        ("tokens", lambda: InductionHead().predict([[0, -1]])),
        ("tokens", lambda: InductionHead().predict([[0, 2]], vocab_size=2)),
        ("vocab_size", lambda: InductionHead().predict([[0, 0]], vocab_size=0)),
        ("tokens", lambda: Unigram().predict([[]])),
        ("tokens", lambda: BayesOptimal((3,), 1.0).predict([[0, 1]])),
        ("tokens", lambda: BayesOptimal((1, 3), 1.0).predict([[0, 1]])),
        ("tokens", lambda: match_features([[0, 1]], (3,))),
        ("tokens", lambda: match_features(np.zeros((1, 0), dtype=int), ())),
        ("tokens", lambda: match_kernel(np.zeros((1, 0), dtype=int), ())),
        ("subset", lambda: match_kernel([[0, 1]], (0,))),
        ("weights", lambda: monomial_features(np.ones((3, 2)), np.ones(5), 2)),
        ("heads", lambda: monomial_features(np.ones(3), np.ones(1), 0)),
        ("heads", lambda: monomial_features(np.ones((3, 0)), np.ones(1), 0)),
        ("heads", lambda: monomial_features(np.ones((0, 2)), np.ones(1), 0)),
        ("max_degree", lambda: monomial_features(np.ones((3, 2)), np.ones(4), 4)),
        ("max_degree", lambda: monomial_features(np.ones((3, 2)), np.ones(0), -1)),
        ("max_degree", lambda: n_monomial_features(2, 2, -1)),
        ("n_heads", lambda: n_monomial_features(0, 2, 0)),
        ("vocab_size", lambda: n_monomial_features(2, 0, 1)),
        ("max_degree", lambda: n_monomial_features(2, 2, 3)),
    ],
)
def test_bad_arguments_are_refused_by_name(argument, call):
    with pytest.raises(ValueError, match=f"^{argument} must be"):
        call()


def test_a_vocabulary_that_does_not_fit_in_memory_is_told_by_where_it_comes_from():
    with pytest.raises(ValueError, match=r"^tokens must be small enough .*, got 1000000000000$"):
        Unigram().predict([[0, 10**12]])
    with pytest.raises(ValueError, match=r"^vocab_size must be small enough .*, got 1000000000000$"):
        Unigram().predict([[0, 1]], vocab_size=10**12)


# What would not fit in memory is refused: is it told well enough what fits?

RARE = np.arange(2 * 100).reshape(2, 100) % 150 + 50  # of 200 tokens


@pytest.mark.parametrize(
    ("argument", "call", "margin"),
    [
        ("window", lambda: FullHistoryMatch(100_000), 1.1),
        ("vocab_size", lambda: InductionHead().predict([[0, 1], [1, 0], [0, 1]], vocab_size=30_000), 1.1),
        ("subset", lambda: match_features(RARE, (1,), vocab_size=200), 1.1),
        ("tokens", lambda: match_kernel(np.zeros((3, 200), dtype=int), (1, 2)), 1.2),
        ("heads", lambda: monomial_features(np.ones((60, 10, 3)), np.ones(176), 3), 1.1),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_call_takes_about_the_memory_for_which_it_would_be_refused(argument, call, margin):
    assert 0.95 < expected_over_taken(argument, call) < margin


@given(st.integers(0, 2**32), st.integers(2, 3), st.floats(0.01, 2.0))
@some
def test_the_best_report_beats_every_law_on_a_grid(seed, d, epsilon):
    law = np.random.default_rng(seed).dirichlet(np.full(d, 0.5))
    law[np.random.default_rng(seed).integers(d)] *= 0.0 if seed % 3 == 0 else 1.0
    law /= law.sum()
    ticks = np.array([point for point in product(range(41), repeat=d) if sum(point) == 40]) / 40
    best = best_report(law, epsilon)
    assert best.sum() == pytest.approx(1.0, abs=1e-12)
    assert (best >= 0).all()
    assert -np.log(best + epsilon) @ law <= (-np.log(ticks + epsilon) @ law).min() + 1e-12


def test_the_best_report_without_epsilon_is_the_law_itself():
    law = np.array([[0.2, 0.8, 0.0], [1.0, 0.0, 0.0]])
    np.testing.assert_allclose(best_report(law, 0.0), law, atol=1e-15)


@given(st.integers(0, 2**32), st.floats(-20, 280))
@some
def test_the_best_report_is_a_law_for_any_epsilon(seed, exponent):
    law = np.random.default_rng(seed).dirichlet(np.full(4, 0.3), size=5)
    report = best_report(law, 10.0**exponent)
    np.testing.assert_allclose(report.sum(axis=-1), 1, atol=1e-12)
    assert (report >= 0).all()
    assert (report.argmax(axis=-1) == law.argmax(axis=-1)).all()


def test_a_huge_epsilon_reports_the_likeliest_tokens_alone():
    np.testing.assert_array_equal(best_report([0.5, 0.5, 0.0], 1e300), [0.5, 0.5, 0.0])
    np.testing.assert_array_equal(best_report([0.4, 0.6], 1e20), [0.0, 1.0])


def test_the_only_token_is_reported_whatever_epsilon_is():
    np.testing.assert_array_equal(best_report([[1.0]], 0.5), [[1.0]])
