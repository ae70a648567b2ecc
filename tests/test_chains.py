import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from markov_transformers.chains import DirichletPrior, NGramChain, _absorbed, _eliminate, _eliminate_in_logs

some = settings(max_examples=25, deadline=None)


@st.composite
def random_chains(draw, low=0.05, high=5.0):
    d = draw(st.integers(2, 4))
    memory = draw(st.integers(1, 4 if d == 2 else 3))
    inner = draw(st.sets(st.integers(1, memory), max_size=2))
    lags = tuple(sorted(inner | {memory}))
    concentration = draw(st.floats(low, high))
    seed = draw(st.integers(0, 2**32))
    kernel = DirichletPrior(d, lags, concentration).sample_kernels(1, rng=seed)[0]
    return NGramChain(kernel, lags)


def literal_matrix(chain):
    """The lifted matrix, entry by entry from its definition."""
    d, r = chain.vocab_size, chain.memory
    windows = list(product(range(d), repeat=r))
    matrix = np.zeros((d**r, d**r))
    for i, old in enumerate(windows):
        for token in range(d):
            parents = tuple(old[-lag] for lag in chain.lags)
            matrix[i, windows.index((*old[1:], token))] = chain.kernel[(*parents, token)]
    return matrix


def null_vector(matrix):
    """Stationary law by least squares, a method other than the library's."""
    n = len(matrix)
    system = np.vstack([matrix.T - np.eye(n), np.ones(n)])
    return np.linalg.lstsq(system, np.append(np.zeros(n), 1), rcond=None)[0]


# The lifted chain


@some
@given(random_chains())
def test_the_transition_matrix_agrees_with_its_definition(chain):
    np.testing.assert_array_equal(chain.transition_matrix(), literal_matrix(chain))


@some
@given(random_chains())
def test_the_stationary_law_is_a_probability_that_one_step_keeps(chain):
    law, matrix = chain.stationary_distribution(), chain.transition_matrix()
    assert (law >= 0).all()
    assert law.sum() == pytest.approx(1, abs=1e-14)
    np.testing.assert_allclose(law @ matrix, law, atol=1e-15)


@some
@given(random_chains(low=0.5))
def test_the_stationary_law_agrees_with_least_squares(chain):
    np.testing.assert_allclose(
        chain.stationary_distribution(), null_vector(chain.transition_matrix()), atol=1e-10
    )


@some
@given(random_chains(), st.integers(1, 6))
def test_stationary_windows_agree_with_the_product_of_step_probabilities(chain, length):
    if chain.vocab_size**length > 1024:
        length = 4
    windows = chain.stationary_windows(length)
    assert windows.shape == (chain.vocab_size,) * length
    law, r = chain.stationary_distribution().reshape((chain.vocab_size,) * chain.memory), chain.memory
    expected = np.zeros_like(windows)
    for tokens in product(range(chain.vocab_size), repeat=max(length, r)):
        p = law[tokens[:r]]
        for t in range(r, len(tokens)):
            p *= chain.kernel[(*(tokens[t - lag] for lag in chain.lags), tokens[t])]
        expected[tokens[-length:]] += p
    np.testing.assert_allclose(windows, expected, atol=1e-15)


@some
@given(random_chains())
def test_windows_lose_their_oldest_and_their_newest_token_alike(chain):
    longer, shorter = chain.stationary_windows(4), chain.stationary_windows(3)
    np.testing.assert_allclose(longer.sum(axis=0), shorter, atol=1e-14)
    np.testing.assert_allclose(longer.sum(axis=-1), shorter, atol=1e-14)


@some
@given(random_chains(), st.integers(0, 100))
def test_relabelling_the_tokens_relabels_the_windows(chain, seed):
    order = np.random.default_rng(seed).permutation(chain.vocab_size)
    n = len(chain.lags)
    renamed = NGramChain(chain.kernel[np.ix_(*[order] * (n + 1))], chain.lags)
    np.testing.assert_allclose(
        renamed.stationary_windows(3), chain.stationary_windows(3)[np.ix_(order, order, order)], atol=1e-14
    )


def test_a_batch_gives_what_its_chains_give_alone():
    kernels = DirichletPrior(3, (1, 3), 0.05).sample_kernels(6, rng=0)
    batch = NGramChain(kernels, (1, 3))
    alone = [NGramChain(kernel, (1, 3)) for kernel in kernels]
    np.testing.assert_array_equal(batch.transition_matrix(), [c.transition_matrix() for c in alone])
    np.testing.assert_allclose(
        batch.stationary_windows(4), [c.stationary_windows(4) for c in alone], atol=1e-15
    )
    np.testing.assert_array_equal(batch.primitive, [c.primitive for c in alone])
    np.testing.assert_array_equal(batch.mixing_time(), [c.mixing_time() for c in alone])
    np.testing.assert_array_equal(batch.reversible, [c.reversible for c in alone])


def test_the_stationary_law_of_two_states_keeps_its_digits_when_they_hardly_exchange():
    chain = NGramChain([[1 - 1e-12, 1e-12], [3e-12, 1 - 3e-12]], (1,))
    np.testing.assert_allclose(chain.stationary_distribution(), [0.75, 0.25], rtol=1e-12)


def test_rates_whose_product_underflows_are_handled_in_logarithms():
    # 0 reaches 1 through 2, and 1 reaches 0 through 3, in two steps of probability 1e-200 or so each.
    kernel = np.array([[1, 0, 1e-200, 0], [0, 1, 0, 2e-200], [1, 1e-200, 0, 0], [1e-200, 1, 0, 0]])
    chain = NGramChain(kernel, (1,))
    np.testing.assert_allclose(chain.stationary_distribution(), [2 / 3, 1 / 3, 0, 0], rtol=1e-12, atol=1e-190)


@some
@given(random_chains())
def test_elimination_in_logarithms_agrees_with_plain_elimination(chain):
    matrix = chain.transition_matrix()[None]
    np.testing.assert_allclose(_eliminate_in_logs(matrix), _eliminate(matrix)[0], rtol=1e-10)


def test_elimination_in_blocks_agrees_with_one_block():
    matrix = np.random.default_rng(0).dirichlet(np.ones(40), size=(2, 40))
    np.testing.assert_allclose(_eliminate(matrix, block=7)[0], _eliminate(matrix)[0], rtol=1e-12)


# Classification


def test_a_deterministic_cycle_has_the_full_period_and_no_mixing_time():
    chain = NGramChain(np.roll(np.eye(5), 1, axis=1), (1,))
    assert chain.period == 5
    assert chain.irreducible and not chain.primitive and not chain.absorbing
    assert chain.spectral_gap == 0
    assert chain.mixing_time() == math.inf
    np.testing.assert_allclose(chain.stationary_distribution(), 0.2)
    assert not chain.reversible


def test_a_reflecting_walk_is_reversible_with_period_two():
    kernel = [[0, 1, 0, 0], [0.5, 0, 0.5, 0], [0, 0.5, 0, 0.5], [0, 0, 1, 0]]
    chain = NGramChain(kernel, (1,))
    assert chain.reversible and chain.period == 2
    np.testing.assert_allclose(chain.stationary_distribution(), np.array([1, 2, 2, 1]) / 6)


def test_one_deterministic_row_makes_a_chain_with_memory_irreversible():
    kernel = np.full((3, 3, 3), 1 / 3)
    kernel[0, 1] = [0, 0, 1]
    assert not NGramChain(kernel, (1, 2)).reversible
    assert NGramChain(np.full((3, 3, 3), 1 / 3), (1, 2)).reversible


def test_two_absorbing_tokens_are_told_from_reducible_but_not_absorbing():
    gambler = NGramChain([[1, 0, 0], [0.3, 0.5, 0.2], [0, 0, 1]], (1,))
    assert gambler.absorbing and not gambler.irreducible and not gambler.has_unique_stationary_law
    split = NGramChain([[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1]], (1,))
    assert not split.absorbing and not split.irreducible and not split.has_unique_stationary_law
    trap = NGramChain([[1.0, 0.0], [0.5, 0.5]], (1,))
    assert trap.absorbing and not trap.irreducible and trap.has_unique_stationary_law
    np.testing.assert_array_equal(trap.stationary_distribution(), [1, 0])


def test_periods_of_several_closed_classes_combine_to_their_least_common_multiple():
    kernel = np.zeros((5, 5))
    kernel[[0, 1, 2, 3, 4], [1, 0, 3, 4, 2]] = 1
    assert NGramChain(kernel, (1,)).period == 6


def test_communicating_classes_of_a_lifted_chain_separate_transient_windows():
    # Token 0 is followed by 0 for ever; a window with a 1 can only be left.
    chain = NGramChain([[[1, 0], [1, 0]], [[0.5, 0.5], [0.5, 0.5]]], (1, 2))
    classes = [(states.tolist(), closed) for states, closed in chain.communicating_classes()]
    assert classes == [([0], True), ([1], False), ([2], False), ([3], False)]


@some
@given(random_chains())
def test_primitive_means_that_a_power_of_the_matrix_is_positive(chain):
    matrix = chain.transition_matrix() > 0
    n = len(matrix)
    power = np.linalg.matrix_power(matrix.astype(object), n * n - 2 * n + 2) > 0 if n <= 16 else None
    if power is not None:
        assert chain.primitive == power.all()


@some
@given(st.integers(0, 2**32), st.integers(2, 5))
def test_classification_of_sparse_chains_agrees_with_reachability(seed, d):
    rng = np.random.default_rng(seed)
    kernel = (rng.random((d, d)) < 0.35) + np.eye(d)[rng.integers(d, size=d)]
    chain = NGramChain(kernel / kernel.sum(axis=1, keepdims=True), (1,))
    step = kernel > 0
    reach = np.linalg.matrix_power((step | np.eye(d, dtype=bool)).astype(int), d) > 0
    assert chain.irreducible == reach.all()
    recurrent = [i for i in range(d) if all(reach[j, i] for j in range(d) if reach[i, j])]
    n_closed = len({tuple(reach[i]) for i in recurrent})
    assert chain.has_unique_stationary_law == (n_closed == 1)
    returns = [1]
    for i in recurrent:
        times = [t for t in range(1, 3 * d * d) if np.linalg.matrix_power(step.astype(object), t)[i, i] > 0]
        returns.append(math.gcd(*times))
    assert chain.period == math.lcm(*returns)


def test_second_eigenvalue_and_mixing_time_of_two_states_have_their_closed_forms():
    p, q = 0.1, 0.25
    chain = NGramChain([[1 - p, p], [q, 1 - q]], (1,))
    assert chain.second_eigenvalue == pytest.approx(1 - p - q, abs=1e-14)
    assert chain.spectral_gap == pytest.approx(p + q, abs=1e-14)
    # The distance after t steps from the rarer state is (1 - p - q)^t times the mass of the other.
    t = 0
    while (1 - p - q) ** t * q / (p + q) > 0.05:
        t += 1
    assert chain.mixing_time(0.05) == t


@some
@given(random_chains(low=0.5), st.floats(0.02, 0.6))
def test_the_mixing_time_is_the_first_time_below_the_tolerance(chain, tolerance):
    matrix, law, t = chain.transition_matrix(), chain.stationary_distribution(), 0
    power = np.eye(len(law))
    while 0.5 * np.abs(power - law).sum(axis=1).max() > tolerance:
        power, t = power @ matrix, t + 1
    assert chain.mixing_time(tolerance) == t


# No unique stationary law


def test_several_stationary_laws_are_refused_with_a_way_out():
    chain = NGramChain(np.eye(3), (1,))
    with pytest.raises(ValueError, match=r"3 closed classes.*initial='uniform'"):
        chain.stationary_distribution()
    with pytest.raises(ValueError, match="chain 1 of the batch"):
        NGramChain([np.full((2, 2), 0.5), np.eye(2)], (1,)).stationary_windows(3)
    with pytest.raises(ValueError, match="closed classes"):
        chain.sample(2, 5, rng=0, initial="stationary")
    np.testing.assert_allclose(chain.stationary_distribution("uniform"), 1 / 3)


def test_the_limit_from_a_start_is_that_of_averaged_powers():
    kernel = np.array(
        [[1, 0, 0, 0, 0], [0.2, 0.5, 0.2, 0.1, 0], [0.1, 0.3, 0.2, 0, 0.4], [0, 0, 0, 0, 1], [0, 0, 0, 1, 0]]
    )
    chain = NGramChain(kernel, (1,))
    average = np.mean([np.linalg.matrix_power(kernel, t) for t in range(1000, 1002)], axis=0)
    for start in range(5):
        np.testing.assert_allclose(chain.stationary_distribution([start]), average[start], atol=1e-14)
    law = np.array([0.1, 0.2, 0.3, 0.4, 0.0])
    np.testing.assert_allclose(chain.stationary_distribution(law), law @ average, atol=1e-14)
    np.testing.assert_allclose(
        chain.stationary_windows(2, initial=law), (law @ average)[:, None] * kernel, atol=1e-14
    )


def test_absorption_works_where_leaving_takes_forever():
    matrix = np.array([[1, 1e-250, 3e-250], [0, 1, 0], [0, 0, 1]])
    closed = (np.array([1]), np.array([2]))
    np.testing.assert_allclose(_absorbed(matrix, np.array([1.0, 0, 0]), closed), [0.25, 0.75], rtol=1e-12)


def test_the_start_makes_no_difference_where_the_law_is_unique():
    chain = NGramChain(DirichletPrior(3, (1, 2), 1.0).sample_kernels(1, rng=0)[0], (1, 2))
    np.testing.assert_array_equal(chain.stationary_distribution([0, 2]), chain.stationary_distribution())


# Sampling


def test_the_same_seed_gives_the_same_sequences_and_another_seed_others():
    chain = NGramChain(DirichletPrior(3, (1, 2), 1.0).sample_kernels(1, rng=0)[0], (1, 2))
    first = chain.sample(100, 30, rng=5)
    np.testing.assert_array_equal(first, chain.sample(100, 30, rng=np.random.default_rng(5)))
    assert (first != chain.sample(100, 30, rng=6)).any()


@pytest.mark.parametrize("lags", [(1,), (1, 2), (2, 5)])
@pytest.mark.parametrize("d", [2, 3, 5])
def test_every_way_of_sampling_draws_the_same_tokens(d, lags):
    rng = np.random.default_rng(0)
    chain = NGramChain(DirichletPrior(d, lags, 0.2).sample_kernels(2, rng=rng), lags)
    windows = rng.integers(d, size=(6, chain.memory))
    uniforms = rng.random((1200, 6))
    together = chain._walk_together(windows, uniforms)
    np.testing.assert_array_equal(chain._walk_each(windows, uniforms), together)
    np.testing.assert_array_equal(chain._walk_each(windows, uniforms[:50]), together[:, : 50 + chain.memory])


def test_sampled_transitions_have_the_frequencies_of_the_kernel():
    kernel = DirichletPrior(3, (1, 3), 1.0).sample_kernels(1, rng=4)[0]
    chain = NGramChain(kernel, (1, 3))
    for tokens in (chain.sample(400, 503, rng=1), chain.sample(1, 200_003, rng=1)):
        counts = np.zeros((3, 3, 3))
        np.add.at(counts, (tokens[:, 2:-1], tokens[:, :-3], tokens[:, 3:]), 1)
        total = counts.sum(axis=-1, keepdims=True)
        deviation = (counts / total - kernel) / np.sqrt(kernel * (1 - kernel) / total + 1e-12)
        assert np.abs(deviation).max() < 4.5


def test_stationary_starts_have_the_stationary_law_at_once():
    chain = NGramChain([[[0.9, 0.1], [0.5, 0.5]], [[0.2, 0.8], [0.1, 0.9]]], (1, 2))
    law = chain.stationary_windows(2)
    pairs = chain.sample(100_000, 2, rng=0, initial="stationary")
    frequency = np.bincount(pairs @ [2, 1], minlength=4).reshape(2, 2) / len(pairs)
    assert np.abs((frequency - law) / np.sqrt(law * (1 - law) / len(pairs))).max() < 4.5


def test_given_first_windows_and_their_laws_are_kept():
    chain = NGramChain(DirichletPrior(3, (2,), 1.0).sample_kernels(1, rng=0)[0], (2,))
    assert (chain.sample(50, 4, rng=0, initial=[2, 1])[:, :2] == [2, 1]).all()
    law = np.zeros((3, 3))
    law[0, 2] = 0.25
    law[1, 0] = 0.75
    starts = chain.sample(20_000, 2, rng=0, initial=law)
    assert {tuple(row) for row in starts.tolist()} == {(0, 2), (1, 0)}
    assert np.mean(starts[:, 0]) == pytest.approx(0.75, abs=0.0138)


def test_a_batch_draws_each_sequence_from_its_own_chain():
    kernels = np.array([np.roll(np.eye(3), shift, axis=1) for shift in (0, 1, 2)])
    tokens = NGramChain(kernels, (1,)).sample(40, 5, rng=0)
    assert tokens.shape == (3, 40, 5)
    for shift, block in enumerate(tokens):
        assert (np.diff(block, axis=1) % 3 == shift).all()


def test_sequences_shorter_than_a_window_are_cut():
    chain = NGramChain(np.full((2, 2), 0.5), (4,))
    assert chain.sample(3, 2, rng=0, initial=[0, 1, 0, 1]).tolist() == [[0, 1]] * 3


@pytest.mark.parametrize("n_sequences", [3, 100])
def test_a_row_that_sums_to_just_under_one_never_gives_an_impossible_token(n_sequences):
    # Ten times 0.1 is 1 - 1e-16 in floating point, and the largest uniform number is as large.
    row = np.append(np.full(10, 0.1), [0.0, 0.0])
    chain = NGramChain(np.tile(row, (12, 1)), (1,))
    top = np.full((1500, n_sequences), np.nextafter(1.0, 0.0))
    windows = np.zeros((n_sequences, 1), dtype=int)
    for walk in (chain._walk_together, chain._walk_each):
        assert (walk(windows, top)[:, 1:] == 9).all()
        assert (walk(windows, top[:20])[:, 1:] == 9).all()
        assert (walk(windows, np.zeros((20, n_sequences))) == 0).all()


def test_tokens_of_probability_zero_are_never_drawn():
    kernel = np.tile([0.0, 0.5, 0.0, 0.5, 0.0], (5, 1))
    assert set(np.unique(NGramChain(kernel, (1,)).sample(200, 60, rng=0)[:, 1:])) == {1, 3}


def test_the_known_kernel_predicts_with_the_row_of_the_parents():
    kernels = DirichletPrior(3, (1, 3), 1.0).sample_kernels(2, rng=0)
    tokens = np.array([[0, 1, 2, 0], [2, 2, 1, 1]])
    expected = [kernels[0, 0, 1], kernels[1, 1, 2]]
    np.testing.assert_array_equal(NGramChain(kernels, (1, 3)).predict(tokens), expected)
    single = NGramChain(kernels[1], (1, 3)).predict(tokens)
    np.testing.assert_array_equal(single, [kernels[1, 0, 1], kernels[1, 1, 2]])


# The prior


@pytest.mark.parametrize("concentration", [1e-12, 1e-3, 0.01, 1.0, 1e12])
def test_kernels_are_probabilities_at_every_concentration(concentration):
    kernels = DirichletPrior(3, (1, 2), concentration).sample_kernels(500, rng=0)
    assert np.isfinite(kernels).all() and (kernels >= 0).all()
    np.testing.assert_allclose(kernels.sum(axis=-1), 1, atol=1e-15)


@pytest.mark.parametrize("concentration", [0.05, 1.0, 4.0])
def test_rows_have_the_mean_and_the_second_moment_of_the_dirichlet_law(concentration):
    rows = DirichletPrior(3, (1,), concentration).sample_kernels(30_000, rng=0).reshape(-1, 3)
    variance = (1 / 3) * (2 / 3) / (3 * concentration + 1)
    error = 4.5 / math.sqrt(len(rows))
    np.testing.assert_allclose(rows.mean(axis=0), 1 / 3, atol=error * math.sqrt(variance))
    spread = ((rows - 1 / 3) ** 2).std()
    np.testing.assert_allclose(rows.var(axis=0), variance, atol=error * spread)


def test_small_concentrations_give_point_masses_and_large_ones_uniform_rows():
    sharp = DirichletPrior(3, (1,), 1e-12).sample_kernels(200, rng=0)
    assert (np.sort(sharp, axis=-1) == [0, 0, 1]).all()
    flat = DirichletPrior(3, (1,), 1e12).sample_kernels(200, rng=0)
    np.testing.assert_allclose(flat, 1 / 3, atol=1e-5)


@pytest.mark.parametrize("concentration", [1e-3, 0.01])
def test_nearly_deterministic_chains_yield_valid_tokens_and_laws(concentration):
    prior = DirichletPrior(3, (1, 2), concentration)
    tokens, kernels = prior.sample(300, 101, rng=0, return_kernels=True)
    index = np.arange(300)[:, None]
    steps = kernels[index, tokens[:, 1:-1], tokens[:, :-2], tokens[:, 2:]]
    assert (steps > 0).all()
    law = NGramChain(kernels, (1, 2)).stationary_windows(3, initial="uniform")
    assert np.isfinite(law).all()
    np.testing.assert_allclose(law.reshape(300, -1).sum(axis=1), 1, atol=1e-13)
    np.testing.assert_allclose(law.sum(axis=1), law.sum(axis=-1), atol=1e-13)


def test_returned_kernels_are_those_that_the_sequences_came_from():
    prior = DirichletPrior(3, (1,), 0.3)
    tokens, kernels = prior.sample(4, 20_001, rng=0, return_kernels=True)
    for path, kernel in zip(tokens, kernels):
        counts = np.zeros((3, 3))
        np.add.at(counts, (path[:-1], path[1:]), 1)
        total = counts.sum(axis=1, keepdims=True)
        seen = total[:, 0] > 0
        error = np.abs(counts[seen] / total[seen] - kernel[seen])
        assert (error <= 5 * np.sqrt(kernel[seen] * (1 - kernel[seen]) / total[seen]) + 1e-3).all()


# Arguments


@pytest.mark.parametrize(
    ("kernel", "lags", "message"),
    [
        ([[0.5, 0.6], [0.5, 0.5]], (1,), "kernel must be probabilities"),
        ([[1.5, -0.5], [0.5, 0.5]], (1,), "negative entry -0.5"),
        ([[np.nan, 1.0], [0.5, 0.5]], (1,), "kernel must be an array of finite"),
        (np.full((2, 3), 1 / 3), (1,), "kernel must have 2 axes"),
        (np.full((2, 2), 0.5), (1, 2), "kernel must have 3 axes"),
        (np.full((2, 2), 0.5), (0,), "lags must be"),
        (np.full((2, 2, 2), 0.5), (2, 1), "lags must be increasing"),
        (np.full((2, 2, 2), 0.5), (1, 1), "lags must be"),
        (np.full((2, 2), 0.5), (), "lags must be"),
        (np.full((2, 2), 0.5), 1, "lags must be"),
        (np.full((2, 2), 0.5), (1.5,), "lags must be"),
    ],
)
def test_bad_kernels_and_lags_are_refused(kernel, lags, message):
    with pytest.raises(ValueError, match=message):
        NGramChain(kernel, lags)


@pytest.mark.parametrize(
    "call",
    [
        lambda c: c.sample(0, 5, rng=0),
        lambda c: c.sample(2, 0, rng=0),
        lambda c: c.sample(2, 5, rng=-1),
        lambda c: c.sample(2, 5, rng=0, initial="random"),
        lambda c: c.sample(2, 5, rng=0, initial=[2, 0]),
        lambda c: c.sample(2, 5, rng=0, initial=[0.5, 0.5]),
        lambda c: c.sample(2, 5, rng=0, initial=np.full((2, 2), 0.3)),
        lambda c: c.stationary_distribution("stationary"),
        lambda c: c.stationary_windows(0),
        lambda c: c.stationary_windows(60),
        lambda c: c.mixing_time(0),
        lambda c: c.predict([[0]]),
        lambda c: c.predict([[0, 1, 2]]),
    ],
)
def test_bad_calls_are_refused(call):
    with pytest.raises(ValueError):
        call(NGramChain(np.full((2, 2, 2), 0.5), (1, 2)))


def test_bad_priors_are_refused():
    for arguments in [(1, (1,), 1.0), (3, (), 1.0), (3, (1,), 0.0), (3, (1,), np.inf), (3, (2, 1), 1.0)]:
        with pytest.raises(ValueError):
            DirichletPrior(*arguments)
    with pytest.raises(ValueError, match="single chain"):
        NGramChain(np.full((2, 2, 2), 0.5), (1,)).communicating_classes()


def test_arguments_are_not_changed():
    kernel = np.array([[0.5, 0.5 + 1e-9], [0.25, 0.75]])
    before = kernel.copy()
    chain = NGramChain(kernel, (1,))
    chain.sample(3, 5, rng=0)
    chain.stationary_windows(3)
    np.testing.assert_array_equal(kernel, before)
    assert kernel.flags.writeable


def test_a_stationary_law_whose_weights_overflow_still_sums_to_one():
    kernel = DirichletPrior(3, (1, 4), 0.001).sample_kernels(4000, rng=1)[3847]
    chain = NGramChain(kernel, lags=(1, 4))
    law = chain.stationary_distribution()
    assert law.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(law @ chain.transition_matrix(), law, atol=1e-12)
