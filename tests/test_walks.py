"""Walks on the circle, against counting, matrix powers and the laws of chance."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from markov_transformers import CircleWalk

walks = st.builds(
    CircleWalk, st.integers(3, 9), st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1, width=32))
)


def chi_square_is_plausible(counts, expected):
    """Whether Pearson's statistic lies within five standard deviations of its mean."""
    counts, expected = np.ravel(counts), np.ravel(expected)
    freedom = counts.size - 1
    statistic = ((counts - expected) ** 2 / expected).sum()
    return abs(statistic - freedom) < 5 * math.sqrt(2 * freedom)


@pytest.mark.parametrize("p", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("n_nodes", [3, 4, 7])
def test_the_transition_matrix_holds_the_two_steps_of_each_node(n_nodes, p):
    matrix = CircleWalk(n_nodes, p).transition_matrix()
    for i, j in itertools.product(range(n_nodes), repeat=2):
        step = (j - i) % n_nodes
        assert matrix[i, j] == (p if step == 1 else 1 - p if step == n_nodes - 1 else 0)


@settings(deadline=None, max_examples=60)
@given(walks)
def test_rows_and_columns_of_the_transition_matrix_sum_to_one(walk):
    matrix = walk.transition_matrix()
    np.testing.assert_allclose(matrix.sum(axis=0), 1, rtol=0, atol=1e-15)
    np.testing.assert_allclose(matrix.sum(axis=1), 1, rtol=0, atol=1e-15)
    assert (matrix >= 0).all()


@settings(deadline=None, max_examples=60)
@given(walks)
def test_the_stationary_distribution_does_not_move(walk):
    law = walk.stationary_distribution()
    assert law.shape == (walk.n_nodes,)
    assert math.isclose(law.sum(), 1, abs_tol=1e-15)
    np.testing.assert_allclose(law @ walk.transition_matrix(), law, rtol=0, atol=1e-15)


@pytest.mark.parametrize("p", [0.2, 0.5])
def test_an_odd_circle_forgets_where_it_started(p):
    walk = CircleWalk(5, p)
    late = np.linalg.matrix_power(walk.transition_matrix(), 500)
    np.testing.assert_allclose(late, np.tile(walk.stationary_distribution(), (5, 1)), atol=1e-12)


def test_an_even_circle_never_forgets_its_parity():
    late = np.linalg.matrix_power(CircleWalk(6, 0.3).transition_matrix(), 501)
    parity = np.add.outer(np.arange(6), np.arange(6)) % 2
    assert (late[parity == 0] == 0).all()
    np.testing.assert_allclose(late[parity == 1], 1 / 3, atol=1e-12)


@pytest.mark.parametrize("p", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("n_nodes", range(3, 9))
def test_the_period_is_the_common_divisor_of_all_return_times(n_nodes, p):
    walk = CircleWalk(n_nodes, p)
    possible = walk.transition_matrix() > 0
    reach, returns = possible, []
    for time in range(1, 4 * n_nodes):
        if reach[0, 0]:
            returns.append(time)
        reach = reach @ possible
    assert walk.period == math.gcd(*returns)


@settings(deadline=None, max_examples=60)
@given(walks, st.integers(1, 5), st.integers(2, 12), st.integers(0, 2**32))
def test_a_sampled_walk_stays_on_the_circle_and_moves_by_one(walk, n_sequences, length, seed):
    tokens = walk.sample(n_sequences, length, rng=seed)
    assert tokens.shape == (n_sequences, length)
    assert tokens.dtype.kind == "i"
    assert tokens.min() >= 0 and tokens.max() < walk.n_nodes
    assert (walk.transition_matrix()[tokens[:, :-1], tokens[:, 1:]] > 0).all()


@pytest.mark.parametrize("p", [0.01, 0.3, 0.5, 0.9])
def test_the_share_of_steps_up_is_p(p):
    tokens = CircleWalk(6, p).sample(2000, 101, rng=1)
    share = np.mean(np.diff(tokens, axis=1) % 6 == 1)
    assert abs(share - p) < 4 * math.sqrt(p * (1 - p) / 200_000)


def test_successive_steps_are_independent():
    up = np.diff(CircleWalk(6, 0.3).sample(2000, 101, rng=2), axis=1) % 6 == 1
    counts = np.bincount((2 * up[:, :-1:2] + up[:, 1::2]).ravel(), minlength=4)
    assert chi_square_is_plausible(counts, counts.sum() * np.outer([0.7, 0.3], [0.7, 0.3]))


def test_every_node_is_as_likely_as_any_other_to_start_and_to_end_a_walk():
    tokens = CircleWalk(7, 0.9).sample(20_000, 6, rng=3)
    for column in (0, -1):
        assert chi_square_is_plausible(np.bincount(tokens[:, column], minlength=7), np.full(7, 20_000 / 7))


def test_sampled_walks_follow_the_enumerated_law():
    walk = CircleWalk(3, 0.35)
    listed, probabilities = walk.enumerate(4)
    base = 3 ** np.arange(4)
    counts = np.bincount(walk.sample(50_000, 4, rng=4) @ base, minlength=81)
    assert counts[np.setdiff1d(np.arange(81), listed @ base)].sum() == 0
    assert chi_square_is_plausible(counts[listed @ base], 50_000 * probabilities)


@pytest.mark.parametrize(("p", "step"), [(1.0, 1), (0.0, -1)])
def test_a_deterministic_walk_goes_round(p, step):
    tokens = CircleWalk(5, p).sample(10, 12, rng=0)
    assert (np.diff(tokens, axis=1) % 5 == step % 5).all()


def test_the_same_seed_gives_the_same_walks_and_a_generator_goes_on():
    walk = CircleWalk(6, 0.5)
    rng = np.random.default_rng(9)
    first, second = walk.sample(4, 20, rng=rng), walk.sample(4, 20, rng=rng)
    np.testing.assert_array_equal(first, walk.sample(4, 20, rng=9))
    assert (first != second).any()
    assert (first != walk.sample(4, 20, rng=10)).any()


def test_sampling_leaves_the_global_random_state_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - it is what this test is about
    CircleWalk(6, 0.5).sample(4, 20, rng=0)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@pytest.mark.parametrize("p", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize(("n_nodes", "length"), [(3, 2), (3, 6), (4, 5), (6, 4)])
def test_enumeration_lists_each_possible_walk_once_with_its_markov_product(n_nodes, length, p):
    walk = CircleWalk(n_nodes, p)
    matrix = walk.transition_matrix()
    expected = {}
    for nodes in itertools.product(range(n_nodes), repeat=length):
        probability = 1 / n_nodes * math.prod(matrix[i, j] for i, j in itertools.pairwise(nodes))
        if probability > 0:
            expected[nodes] = probability
    listed, probabilities = walk.enumerate(length)
    assert len(listed) == len(probabilities) == len(expected)
    found = {tuple(nodes): q for nodes, q in zip(listed.tolist(), probabilities)}
    assert found.keys() == expected.keys()
    for nodes, probability in expected.items():
        assert math.isclose(found[nodes], probability, rel_tol=1e-13)


@settings(deadline=None, max_examples=60)
@given(walks, st.integers(2, 10))
def test_enumerated_probabilities_sum_to_one(walk, length):
    assert math.isclose(walk.enumerate(length)[1].sum(), 1, rel_tol=1e-12)


def test_a_deterministic_walk_can_be_enumerated_at_any_length():
    listed, probabilities = CircleWalk(6, 1.0).enumerate(1001)
    assert listed.shape == (6, 1001)
    assert (probabilities == 1 / 6).all()


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_the_optimal_predictor_is_the_conditional_law_of_the_enumerated_walks(p):
    walk = CircleWalk(4, p)
    listed, probabilities = walk.enumerate(5)
    pasts = np.unique(listed[:, :-1], axis=0)
    law = np.zeros((len(pasts), 4))
    for nodes, probability in zip(listed, probabilities):
        law[(pasts == nodes[:-1]).all(axis=1).argmax(), nodes[-1]] += probability
    law /= law.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(walk.predict(pasts), law, rtol=0, atol=1e-15)


@settings(deadline=None, max_examples=60)
@given(walks, st.integers(2, 6))
def test_the_optimal_accuracy_is_the_expected_probability_of_the_likeliest_node(walk, length):
    listed, probabilities = walk.enumerate(length)
    best = walk.predict(listed[:, :-1]).max(axis=1)
    assert math.isclose(probabilities @ best, walk.optimal_accuracy, rel_tol=1e-12)


def test_the_optimal_predictor_reaches_the_optimal_accuracy_on_samples():
    walk = CircleWalk(6, 0.7)
    tokens = walk.sample(20_000, 4, rng=5)
    hits = np.mean(walk.predict(tokens[:, :-1]).argmax(axis=1) == tokens[:, -1])
    assert abs(hits - walk.optimal_accuracy) < 4 * math.sqrt(0.7 * 0.3 / 20_000)


def test_a_walk_tells_what_it_is():
    assert repr(CircleWalk(6, 0.25)) == "CircleWalk(n_nodes=6, p=0.25)"
