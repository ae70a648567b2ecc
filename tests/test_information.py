import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from markov_transformers import information
from markov_transformers.chains import DirichletPrior, NGramChain
from markov_transformers.claims import information as claims
from markov_transformers.information import (
    chi2_divergence,
    chi2_information,
    copying_gap_threshold,
    empirical_windows,
    information_of_subsets,
    information_set,
    modified_chi2_information,
    shannon_information,
)
from tests.memory import expected_over_taken

some = settings(max_examples=25, deadline=None)
MEASURES = {
    "chi2": chi2_information,
    "modified_chi2": modified_chi2_information,
    "shannon": shannon_information,
}


def rounding(measure, value):
    """Absolute error that rounding of the probabilities may leave in an information."""
    # Terms of the chi-squared measures are squares of deviations, each off by some 1e-16; Shannon's
    # have either sign and are themselves off by that much.
    return 1e-14 if measure == "shannon" else 1e-13 * math.sqrt(value) + 1e-28


@st.composite
def laws_of_chains(draw, low=0.3, high=5.0):
    """A random chain with d <= 4, n <= 3, M <= 5, as (windows, lags, M)."""
    d = draw(st.integers(2, 4))
    lags = tuple(sorted(draw(st.sets(st.integers(1, 3), min_size=1))))
    window = draw(st.integers(lags[-1], 5 if d < 4 else 4))
    concentration, seed = draw(st.floats(low, high)), draw(st.integers(0, 2**32))
    kernel = DirichletPrior(d, lags, concentration).sample_kernels(1, rng=seed)[0]
    return NGramChain(kernel, lags).stationary_windows(window + 1), lags, window


def subsets_of(window):
    return [s for size in range(window + 1) for s in combinations(range(1, window + 1), size)]


def joint_by_enumeration(windows, subset):
    """Law of (pattern at the lags, next token), as a dictionary."""
    joint = {}
    for tokens in product(range(windows.shape[0]), repeat=windows.ndim):
        key = (tuple(tokens[-1 - lag] for lag in subset), tokens[-1])
        joint[key] = joint.get(key, 0) + windows[tokens]
    return joint


def information_by_enumeration(windows, subset):
    """The three kinds of information from their definitions, sum by sum."""
    joint = joint_by_enumeration(windows, subset)
    past, token = {}, {}
    for (e, k), p in joint.items():
        past[e] = past.get(e, 0) + p
        token[k] = token.get(k, 0) + p
    result = {"chi2": 0.0, "modified_chi2": 0.0, "shannon": 0.0}
    for e, m in past.items():
        conditional = {k: joint[e, k] / m for k in token if m > 0}
        divergence = sum(c**2 / token[k] for k, c in conditional.items() if token[k] > 0) - (m > 0)
        result["chi2"] += m * divergence
        result["modified_chi2"] += m**2 * divergence
        result["shannon"] += sum(m * c * math.log(c / token[k]) for k, c in conditional.items() if c > 0)
    return result


@some
@given(laws_of_chains(low=0.02), st.data())
def test_information_agrees_with_enumeration(case, data):
    windows, _, window = case
    subset = data.draw(st.sampled_from(subsets_of(min(window, 4))))
    expected = information_by_enumeration(windows, subset)
    for measure, function in MEASURES.items():
        assert function(windows, subset) == pytest.approx(expected[measure], rel=1e-9, abs=1e-13)


@some
@given(laws_of_chains(low=0.02), st.data())
def test_all_subsets_in_one_pass_agree_with_one_at_a_time(case, data):
    windows, _, window = case
    max_size = data.draw(st.integers(0, window))
    for measure, function in MEASURES.items():
        values = information_of_subsets(windows, max_size, measure=measure)
        assert list(values) == [s for s in subsets_of(window) if len(s) <= max_size]
        for subset, value in values.items():
            assert value == pytest.approx(function(windows, subset), rel=1e-11, abs=rounding(measure, value))


def test_modified_information_agrees_with_the_chance_that_two_copies_agree():
    # (D.4): two independent windows, weighted where their pasts match; estimated by simulation.
    chain = NGramChain(DirichletPrior(2, (1, 2), 0.5).sample_kernels(1, rng=1)[0], (1, 2))
    windows, marginal = chain.stationary_windows(3), chain.stationary_windows(1)
    x, z = chain.sample(400_000, 3, rng=0, initial="stationary").reshape(2, -1, 3)
    for subset in [(1,), (2,), (1, 2)]:
        matched = np.all([x[:, 2 - lag] == z[:, 2 - lag] for lag in subset], axis=0)
        terms = ((x[:, 2] == z[:, 2]) / marginal[x[:, 2]] - 1) * matched
        error = terms.std() / math.sqrt(len(terms))
        assert abs(terms.mean() - modified_chi2_information(windows, subset)) < 4 * error


def test_the_binary_symmetric_channel_has_its_closed_forms():
    flip = 0.1
    windows = np.array([[1 - flip, flip], [flip, 1 - flip]]) / 2
    assert chi2_information(windows, (1,)) == pytest.approx((1 - 2 * flip) ** 2, rel=1e-14)
    assert modified_chi2_information(windows, (1,)) == pytest.approx((1 - 2 * flip) ** 2 / 2, rel=1e-14)
    capacity = math.log(2) + flip * math.log(flip) + (1 - flip) * math.log(1 - flip)
    assert shannon_information(windows, (1,)) == pytest.approx(capacity, rel=1e-13)


def test_weak_dependence_keeps_its_digits():
    delta = 1e-7
    windows = np.array([[1 + delta, 1 - delta], [1 - delta, 1 + delta]]) / 4
    assert chi2_information(windows, (1,)) == pytest.approx(delta**2, rel=1e-8, abs=0)
    assert modified_chi2_information(windows, (1,)) == pytest.approx(delta**2 / 2, rel=1e-8, abs=0)


@some
@given(laws_of_chains())
def test_losing_lags_never_adds_information_and_the_parents_tell_everything(case):
    windows, parents, window = case
    for measure in ("chi2", "shannon"):
        values = information_of_subsets(windows, window, measure=measure)
        for small, large in product(values, values):
            if set(small) < set(large):
                assert values[small] <= values[large] * (1 + 1e-12) + 1e-15
        for subset in values:
            if set(subset) > set(parents):
                assert values[subset] == pytest.approx(values[parents], rel=1e-11)


@some
@given(laws_of_chains(), st.integers(0, 2**32))
def test_confusing_tokens_of_the_past_never_adds_information(case, seed):
    windows, *_ = case
    d = windows.shape[0]
    pairs = windows.sum(axis=tuple(range(windows.ndim - 2)))
    channel = np.random.default_rng(seed).dirichlet(np.ones(d), size=d)
    confused = channel.T @ pairs
    for function in (chi2_information, shannon_information):
        assert function(confused, (1,)) <= function(pairs, (1,)) + 1e-14


@some
@given(laws_of_chains())
def test_strict_supersets_of_the_parents_have_strictly_less_modified_information(case):
    windows, parents, window = case
    values = information_of_subsets(windows, window)
    for subset, value in values.items():
        if set(subset) > set(parents):
            assert value < values[parents]


@some
@given(laws_of_chains(low=0.02))
def test_information_lies_between_zero_and_its_bounds(case):
    windows, _, window = case
    vanilla = information_of_subsets(windows, window, measure="chi2")
    modified = information_of_subsets(windows, window)
    shannon = information_of_subsets(windows, window, measure="shannon")
    for subset in vanilla:
        assert 0 <= modified[subset] <= vanilla[subset] + 1e-15
        assert vanilla[subset] <= windows.shape[0] - 1 + 1e-12
        assert 0 <= shannon[subset] <= math.log1p(vanilla[subset]) + 1e-14
    assert vanilla[()] == modified[()] == shannon[()] == 0


@some
@given(laws_of_chains(), st.integers(0, 100))
def test_information_does_not_depend_on_the_names_of_the_tokens(case, seed):
    windows, _, window = case
    order = np.random.default_rng(seed).permutation(windows.shape[0])
    renamed = windows[np.ix_(*[order] * windows.ndim)]
    for measure in MEASURES:
        a = information_of_subsets(windows, window, measure=measure)
        b = information_of_subsets(renamed, window, measure=measure)
        for subset in a:
            assert a[subset] == pytest.approx(b[subset], rel=1e-10, abs=rounding(measure, b[subset]))


def test_a_large_concentration_leaves_no_information():
    kernels = DirichletPrior(3, (1, 2), 1e10).sample_kernels(50, rng=0)
    values = information_of_subsets(NGramChain(kernels, (1, 2)).stationary_windows(4), 3, measure="chi2")
    assert max(values.values()) < 1e-8


def test_a_small_concentration_leaves_a_cycle_whose_past_is_certain():
    kernels = DirichletPrior(3, (1,), 1e-12).sample_kernels(200, rng=0)
    windows = NGramChain(kernels, (1,)).stationary_windows(3, initial=[0])
    values = information_of_subsets(windows, 2, measure="chi2", average=False)
    seen = (windows.sum(axis=(1, 2)) > 0).sum(axis=1)  # tokens on the cycle
    np.testing.assert_allclose(values[(1,)], seen - 1, atol=1e-12)
    modified = information_of_subsets(windows, 2, average=False)
    np.testing.assert_allclose(modified[1, 2], modified[(1,)], atol=1e-12)
    np.testing.assert_allclose(modified[(1,)], (seen - 1) / seen, atol=1e-12)


def test_nearly_deterministic_chains_have_finite_information():
    kernels = DirichletPrior(3, (1, 2), 1e-3).sample_kernels(300, rng=0)
    windows = NGramChain(kernels, (1, 2)).stationary_windows(4, initial="uniform")
    for measure in MEASURES:
        values = information_of_subsets(windows, 3, measure=measure, average=False)
        assert all(np.isfinite(v).all() and (v >= 0).all() for v in values.values())


# Batches


def test_a_batch_is_averaged_or_kept_apart():
    kernels = DirichletPrior(3, (1, 2), 0.5).sample_kernels(3, rng=0)
    batch = NGramChain(kernels, (1, 2)).stationary_windows(4)
    for measure, function in MEASURES.items():
        each = [function(windows, (1, 3)) for windows in batch]
        np.testing.assert_allclose(function(batch, (1, 3), average=False), each, rtol=1e-13)
        assert function(batch, (1, 3)) == pytest.approx(np.mean(each), rel=1e-13)
        together = information_of_subsets(batch, 2, measure=measure, average=False)
        np.testing.assert_allclose(together[1, 3], each, rtol=1e-12)


@pytest.mark.parametrize("size", [64, 1])  # four chains at a time, and no more than one
def test_chains_are_not_mixed_up_when_the_batch_is_worked_through_in_pieces(monkeypatch, size):
    kernels = DirichletPrior(2, (1,), 0.5).sample_kernels(11, rng=0)
    windows = NGramChain(kernels, (1,)).stationary_windows(4)
    whole = information_of_subsets(windows, 2, average=False)
    monkeypatch.setattr("markov_transformers.information._CHUNK", size)
    pieces = information_of_subsets(windows, 2, average=False)
    for subset in whole:
        np.testing.assert_array_equal(whole[subset], pieces[subset])


def test_a_batch_as_large_as_the_vocabulary_is_told_from_a_single_chain():
    kernels = DirichletPrior(3, (1,), 0.5).sample_kernels(3, rng=0)
    batch = NGramChain(kernels, (1,)).stationary_windows(2)  # (3, 3, 3), as a single law of three tokens
    assert chi2_information(batch, (1,), average=False).shape == (3,)
    single = NGramChain(kernels[0], (1,)).stationary_windows(3)
    assert isinstance(chi2_information(single, (1, 2), average=False), float)


# Divergence


@some
@given(st.integers(2, 6), st.integers(0, 2**32))
def test_the_divergence_agrees_with_its_definition_and_joins_to_information(d, seed):
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(d), size=2)
    assert chi2_divergence(p, q) == pytest.approx(
        sum(a * a / b for a, b in zip(p, q)) - 1, rel=1e-9, abs=1e-12
    )
    joint = rng.dirichlet(np.ones(d * d)).reshape(d, d)
    product_law = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    expected = chi2_divergence(joint.ravel(), product_law.ravel())
    assert chi2_information(joint, (1,)) == pytest.approx(expected, rel=1e-10)


def test_the_divergence_of_nearly_equal_laws_keeps_its_digits():
    delta = 1e-9
    p, q = [0.3 + delta, 0.7 - delta], [0.3, 0.7]
    assert chi2_divergence(p, q) == pytest.approx(delta**2 / (0.3 * 0.7), rel=1e-6, abs=0)


def test_the_divergence_is_a_number_for_two_laws_and_an_array_for_more():
    assert type(chi2_divergence([0.75, 0.25], [0.5, 0.5])) is float
    each = chi2_divergence([[0.5, 0.5], [0, 1], [1, 0]], [1, 0])
    np.testing.assert_array_equal(each, [math.inf, math.inf, 0])


def test_the_divergence_is_infinite_where_the_second_law_excludes_a_point_of_the_first():
    assert chi2_divergence([0.5, 0.5, 0], [0.5, 0, 0.5]) == math.inf
    assert chi2_divergence([0.5, 0.5, 0], [0.5, 0.5, 0]) == 0
    np.testing.assert_allclose(chi2_divergence([[1, 0], [0.5, 0.5]], [0.5, 0.5]), [1, 0])


# Information set


def test_the_information_set_of_a_strong_parent_is_that_parent():
    chain = NGramChain(np.eye(3) * 0.7 + 0.1, (2,))
    best = information_set(chain.stationary_windows(4), 3)
    others = [v for s, v in best.values.items() if s != (2,)]
    assert best.subset == (2,) and best.ties == ()
    assert best.value == pytest.approx(
        modified_chi2_information(chain.stationary_windows(4), (2,)), rel=1e-14
    )
    assert best.gap == pytest.approx(best.value - max(others), rel=1e-14)
    assert best.values[best.runner_up] == pytest.approx(max(others))
    assert "values" not in repr(best)  # there can be thousands


def test_ties_are_reported_and_have_no_gap():
    walk = NGramChain(np.roll(np.eye(3), 1, axis=1), (1,))
    best = information_set(walk.stationary_windows(3), 2)
    assert best.subset == (1,) and best.ties == ((2,), (1, 2))
    assert best.runner_up == (2,) and best.gap == 0
    coins = information_set(np.full((2, 2, 2), 1 / 8), 2)
    assert coins.subset == () and len(coins.ties) == 3 and coins.value == 0


def test_the_information_set_of_a_prior_averages_before_it_compares():
    kernels = DirichletPrior(3, (1, 2), 0.1).sample_kernels(200, rng=0)
    windows = NGramChain(kernels, (1, 2)).stationary_windows(4)
    best = information_set(windows, 2)
    assert best.subset == (1, 2)
    assert best.value == pytest.approx(modified_chi2_information(windows, (1, 2)), rel=1e-12)
    assert len({information_set(w, 2).subset for w in windows}) > 1


def test_the_only_set_has_no_runner_up():
    best = information_set(np.full((2, 2), 0.25), 0)
    assert best.subset == () and best.runner_up is None and best.gap == math.inf


@pytest.mark.parametrize(
    ("largest", "gap", "tied"),
    [
        (1.0, 0.9e-10, True),  # relative
        (1.0, 1.2e-10, False),
        (1e-16, 0.9e-22, True),  # of the square root, which rounding enters
        (1e-16, 1.2e-22, False),
        (3.0e-28, 3.0e-28, False),  # absolute
        (2.5e-28, 2.5e-28, True),
    ],
)
def test_values_that_rounding_leaves_undecided_are_tied(largest, gap, tied):
    values = {(): 0.0, (1,): largest - gap, (2,): largest}
    assert ((1,) in information._largest(values)) == tied


def test_a_token_that_is_copied_tells_its_whole_entropy():
    law = np.array([0.5, 0.3, 0.2])
    entropy = -(law * np.log(law)).sum()
    assert shannon_information(np.diag(law), (1,)) == pytest.approx(entropy, rel=1e-14)
    assert chi2_information(np.diag(law), (1,)) == pytest.approx(2, rel=1e-14)


def test_independent_tokens_never_have_negative_information():
    rng = np.random.default_rng(0)
    for d in (2, 3, 5, 8):
        windows = np.einsum("ni,nj->nij", *rng.dirichlet(np.ones(d), size=(2, 200)))
        for function in MEASURES.values():
            values = function(windows, (1,), average=False)
            assert (values >= 0).all() and values.max() < 1e-14


@pytest.mark.parametrize(("total", "accepted"), [(1 + 0.9e-6, True), (1 + 1.2e-6, False)])
def test_a_law_may_miss_its_total_by_one_millionth(total, accepted):
    law = np.full((2, 2), total / 4)
    for windows in (law, np.stack([law, np.full((2, 2), 0.25), np.full((2, 2), 0.25)])):
        if accepted:
            assert chi2_information(windows, (1,)) == pytest.approx(0, abs=1e-6)
        else:
            with pytest.raises(ValueError, match="sum of"):
                chi2_information(windows, (1,))


# Data


@some
@given(st.integers(1, 3), st.integers(3, 9), st.integers(1, 3), st.integers(0, 2**32))
def test_frequencies_of_windows_agree_with_counting_by_hand(n, length, window, seed):
    tokens = np.random.default_rng(seed).integers(3, size=(n, length))
    each = empirical_windows(tokens, window, 3, per_sequence=True)
    for path, frequencies in zip(tokens, each):
        expected = np.zeros((3,) * window)
        for t in range(length - window + 1):
            expected[tuple(path[t : t + window])] += 1 / (length - window + 1)
        np.testing.assert_allclose(frequencies, expected, atol=1e-15)
    np.testing.assert_allclose(empirical_windows(tokens, window, 3), each.mean(axis=0), atol=1e-15)


def test_the_vocabulary_of_frequencies_is_what_is_seen_unless_it_is_given():
    np.testing.assert_array_equal(empirical_windows([[0, 1, 1]], 1), [1 / 3, 2 / 3])
    np.testing.assert_array_equal(empirical_windows([[0, 1, 1]], 1, vocab_size=3), [1 / 3, 2 / 3, 0])
    np.testing.assert_array_equal(empirical_windows([[0, 0, 0]], 2, vocab_size=1), [[1]])


@pytest.mark.parametrize("per_sequence", [False, True])
def test_frequencies_take_about_the_memory_for_which_they_would_be_refused(per_sequence):
    def call():
        return empirical_windows(np.eye(3, 4, dtype=int), 3, 60, per_sequence=per_sequence)

    assert 0.9 < expected_over_taken("length and vocab_size", call) < 1.1


def test_information_from_much_data_is_near_the_exact_one():
    chain = NGramChain(DirichletPrior(3, (1, 2), 1.0).sample_kernels(1, rng=0)[0], (1, 2))
    measured = information_of_subsets(empirical_windows(chain.sample(1, 500_000, rng=0), 4), 3)
    exact = information_of_subsets(chain.stationary_windows(4), 3)
    np.testing.assert_allclose(list(measured.values()), list(exact.values()), atol=0.003)


# The copying gap


def test_the_copying_gap_solves_its_equation():
    information, gap, window = 0.2, 0.03, 4
    threshold = copying_gap_threshold(information, gap, window)
    concentrated = 1 / (1 + (window - 1) * math.exp(-threshold))
    assert concentrated ** (-2 * window) == pytest.approx(1 + gap / (14 * information), rel=1e-13)


def test_the_copying_gap_is_infinite_for_a_tie_and_void_for_a_single_lag():
    assert copying_gap_threshold(0.2, 0.0, 3) == math.inf
    assert copying_gap_threshold(0.2, 0.1, 1) == -math.inf


# Statements of the paper


def test_windows_of_doubly_stochastic_kernels_are_uniform_up_to_the_memory_and_not_beyond():
    kernels = claims.doubly_stochastic_kernels(20, 3, (1, 3), 0.3, rng=0)
    assert kernels.shape == (20, 3, 3, 3)
    np.testing.assert_allclose(kernels.sum(axis=-2), 1, atol=1e-14)
    windows = NGramChain(kernels, (1, 3)).stationary_windows(3)
    np.testing.assert_allclose(windows, 1 / 27, atol=1e-15)
    found = claims.uniform_windows(rng=0, n_chains=50, lags=(1, 2), window=4)
    assert found["within"] < 1e-12 and found["nonuniformity_within"] < 1e-12
    assert found["beyond"] > 0.1 and found["nonuniformity_beyond"] > 0.1


def test_data_processing_and_supersets_measure_as_the_theory_says():
    found = claims.data_processing(rng=0, n_chains=50)
    assert found["superset_difference"] < 1e-12
    assert found["largest_ratio"] < 1 + 1e-12 and found["largest_subset_ratio"] < 1 + 1e-12
    found = claims.strict_supersets(rng=0, n_chains=50)
    assert found["largest_ratio"] < 1 and found["n_not_smaller"] == 0
    assert found["deterministic_ratio"] == pytest.approx(1, abs=1e-14)


def test_lags_two_and_four_beat_the_parents_of_a_nearly_repeating_chain():
    windows = claims.near_lag_two_chain((0.95, 0.85)).stationary_windows(5)
    parents, rival = information_by_enumeration(windows, (1, 2)), information_by_enumeration(windows, (2, 4))
    assert rival["modified_chi2"] > 1.5 * parents["modified_chi2"]
    assert rival["chi2"] < parents["chi2"]
    # {1, 2} is uniform and (C.6) holds for it, {2, 4} is not.
    assert parents["modified_chi2"] == pytest.approx(parents["chi2"] / 4, rel=1e-12)


def test_the_square_of_repeating_chains_shows_failures_from_four_lags_on_and_none_for_three():
    three, four = claims.repeating_grid(3, n_points=10), claims.repeating_grid(4, n_points=10)
    assert three["counts"] == {(1, 2): 100} and three["rival_ratio"] <= 1 + 1e-12
    assert set(four["counts"]) == {(1, 2), (2, 4)} and four["rival_ratio"] > 1.5
    assert four["n_other"] == four["counts"][2, 4]


def test_winners_are_counted_against_the_information_set():
    found = claims.selected_sets(rng=3, n_chains=40, vocab_size=2, window=4, concentration=0.3)
    kernels = claims.doubly_stochastic_kernels(40, 2, (1, 2), 0.3, rng=3)
    sets = [information_set(w, 4).subset for w in NGramChain(kernels, (1, 2)).stationary_windows(5)]
    assert found["counts"] == {s: sets.count(s) for s in set(sets)}
    assert found["n_other"] == sum(s != (1, 2) for s in sets)
    assert found["n_larger"] == 0 and found["larger_ratio"] <= 1


def test_a_single_parent_wins_every_time():
    found = claims.selected_sets(rng=0, n_chains=100, lags=(2,), concentration=0.3)
    assert found["counts"] == {(2,): 100} and found["rival_ratio"] < 1


def test_the_explicit_features_realise_the_kernel():
    found = claims.polynomial_kernel(rng=0, n_pairs=50)
    assert found["error"] < 1e-14
    assert found["n_features"] == found["n_features_formula"] == 37


# Arguments


@pytest.mark.parametrize("function", [*MEASURES.values(), lambda w, s: information_set(w, 1)])
@pytest.mark.parametrize(
    ("windows", "message"),
    [
        (np.full((2, 2), 0.3), "sum of"),
        (np.full((2, 3), 1 / 6), "windows must be"),
        (np.full((2, 3), 1 / 3), "windows must be"),  # two laws of a single token
        (np.full((2, 2, 3), 1 / 6), "windows must be"),  # two laws over different tokens
        (np.zeros((0, 2, 2)), "windows must be"),
        (np.array([0.5, 0.5]), "windows must be"),
        (np.full((4, 2, 2), 0.2), "sum of"),
        (np.stack([np.full((2, 2), total) for total in (0.25, 0.1, 0.25)]), "sum of 0.4"),
        (np.array([[1.5, -0.5], [0, 0]]), "negative entry"),
        (np.array([[np.nan, 0.5], [0.5, 0]]), "finite"),
        ("windows", "windows must be"),
    ],
)
def test_what_is_no_law_of_windows_is_refused(function, windows, message):
    with pytest.raises(ValueError, match=message):
        function(windows, (1,))


def test_a_single_token_that_is_certain_tells_nothing():
    for windows in (np.ones((1, 1)), np.ones((2, 1, 1, 1))):
        for function in MEASURES.values():
            assert function(windows, (1,)) == 0


def numbers_added_up(shape, max_size):
    """Sizes of the tables that hold the law, over all sets of the oldest lags that are decided so far."""
    batch, *rest = shape
    window, d = len(rest) - 1, rest[0]
    kept = (len(s) for j in range(window) for k in range(max_size + 1) for s in combinations(range(j), k))
    decided = (j for j in range(window) for k in range(max_size + 1) for _ in combinations(range(j), k))
    return batch * sum(d ** (window + 1 - j + k) for j, k in zip(decided, kept, strict=True))


@pytest.mark.parametrize(
    ("shape", "max_size"), [((5, 2, 2), 0), ((2, 3, 3, 3, 3), 1), ((7, 2, 2, 2, 2, 2), 3)]
)
def test_more_work_than_allowed_is_refused(monkeypatch, shape, max_size):
    windows = np.full(shape, shape[-1] ** -(len(shape) - 1.0))
    work = numbers_added_up(shape, max_size)
    monkeypatch.setattr(information, "_MOST_WORK", work)
    assert set(information_of_subsets(windows, max_size).values()) == {0.0}
    monkeypatch.setattr(information, "_MOST_WORK", work - 1)
    with pytest.raises(ValueError, match="^max_size must be smaller"):
        information_of_subsets(windows, max_size)


def test_no_more_than_eight_thousand_million_numbers_are_added_up():
    pairs = np.broadcast_to(0.25, (2**31, 2, 2))  # of which only the shape is looked at
    information._check_work(pairs, 0)
    with pytest.raises(ValueError, match="^max_size must be smaller for 1 lags and 2 tokens"):
        information._check_work(np.broadcast_to(0.25, (2**31 + 1, 2, 2)), 0)


def test_more_sets_than_allowed_are_refused(monkeypatch):
    windows = np.full((2,) * 5, 2.0**-5)
    monkeypatch.setattr(information, "_MOST_SUBSETS", 11)  # 1 + 4 + 6
    assert len(information_of_subsets(windows, 2)) == 11
    monkeypatch.setattr(information, "_MOST_SUBSETS", 10)
    with pytest.raises(ValueError, match="^max_size must be small enough for 10 sets of 4 lags"):
        information_of_subsets(windows, 2)


@pytest.mark.parametrize("subset", [(0,), (3,), (1, 1), 1, (1.0,), "1", None])
def test_what_is_no_set_of_lags_is_refused(subset):
    with pytest.raises(ValueError, match=r"subset must be a tuple of distinct lags 1 \.\.\. 2"):
        modified_chi2_information(np.full((2, 2, 2), 1 / 8), subset)


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("max_size", lambda w: information_of_subsets(w, 3)),
        ("max_size", lambda w: information_of_subsets(w, -1)),
        ("measure", lambda w: information_of_subsets(w, 1, measure="mutual")),
        ("max_size", lambda w: information_set(w, 1.5)),
        ("average", lambda w: chi2_information(w, (1,), average="yes")),
        ("tokens", lambda w: empirical_windows([[0, 1]], 3)),
        ("length", lambda w: empirical_windows([[0, 1]], 0)),
        ("tokens", lambda w: empirical_windows([[0, 2]], 1, vocab_size=2)),
        ("vocab_size", lambda w: empirical_windows([[0, 0]], 1, vocab_size=0)),
        ("length", lambda w: empirical_windows(np.zeros((2, 99), dtype=int), 60, vocab_size=2)),
        ("length and vocab_size", lambda w: empirical_windows([[0, 1] * 15], 30, vocab_size=2)),
        ("length and vocab_size", lambda w: empirical_windows([[0, 1] * 16], 31, vocab_size=2**62)),
        ("gap", lambda w: copying_gap_threshold(0.1, 0.2, 3)),
        ("information", lambda w: copying_gap_threshold(0.0, 0.0, 3)),
        ("window", lambda w: copying_gap_threshold(0.1, 0.05, 0)),
        ("p", lambda w: chi2_divergence([0.5, 0.6], [0.5, 0.5])),
        ("p and q", lambda w: chi2_divergence([0.5, 0.5], [0.2, 0.3, 0.5])),
        ("repeat", lambda w: claims.near_lag_two_chain((0.5, 1.5))),
        ("window", lambda w: claims.uniform_windows(rng=0, window=1)),
        ("window", lambda w: claims.data_processing(rng=0, window=2)),
        ("vocab_size", lambda w: claims.doubly_stochastic_kernels(1, 9, (1,), 1.0, rng=0)),
    ],
)
def test_bad_calls_are_refused_by_name(argument, call):
    with pytest.raises(ValueError, match=f"^{argument} must b"):
        call(np.full((2, 2, 2), 1 / 8))


def test_five_lags_beat_the_four_parents_in_exact_arithmetic():
    kernel = claims.four_parent_chain().kernel
    exact = np.vectorize(lambda p: Fraction(round(100 * p), 100))(kernel)  # by lags 1, 2, 3, 4, next
    law = {}
    for window in product(range(2), repeat=7):  # oldest first
        p = Fraction(1, 16)
        for t in range(4, 7):
            p *= exact[window[t - 1], window[t - 2], window[t - 3], window[t - 4], window[t]]
        law[window] = p
    # Windows of four tokens keep their uniform law after a step.
    for later in product(range(2), repeat=4):
        assert sum(p for w, p in law.items() if w[1:5] == later) == Fraction(1, 16)

    def modified(subset):
        pattern = {}
        for w, p in law.items():
            row = pattern.setdefault(tuple(w[6 - s] for s in subset), [0, 0])
            row[w[6]] += p
        return sum(2 * (a * a + b * b) - (a + b) ** 2 for a, b in pattern.values())

    best = {size: max(modified(s) for s in combinations(range(1, 7), size)) for size in range(1, 7)}
    assert best[5] == modified((1, 2, 4, 5, 6)) > max(best[size] for size in range(1, 5))
    assert float(best[5]) == pytest.approx(0.058485, abs=1e-6)
    assert float(modified((1, 2, 3, 4))) == pytest.approx(0.055019, abs=1e-6)


def test_parents_without_a_rival_win_every_chain():
    seen = claims.selected_sets(rng=0, n_chains=20, window=2, fixed_size=True)
    assert seen["counts"] == {(1, 2): 20}
    assert seen["rival"] is None
    assert claims.repeating_grid(2, n_points=5)["n_other"] == 0


def test_rounding_in_a_chain_that_tells_nothing_is_not_a_win():
    kernel = claims._repeating(np.array([[0.5 + 1e-9, 0.5 - 3e-9]]))
    assert claims._winners(kernel, (1, 2), 3, False)["counts"] == {(1, 2): 1}
