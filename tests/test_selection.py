"""Which set Stage I selects: blurred information against enumeration, gradients and training."""

import itertools

import numpy as np
import pytest

from markov_transformers.chains import DirichletPrior, NGramChain
from markov_transformers.dynamics import softmax
from markov_transformers.information import information_of_subsets
from markov_transformers.selection import blurred_information, predict_selection, train_selection
from markov_transformers.staged import StagedModel
from markov_transformers.windows import WindowCounts


def windows_of(concentration, n_chains, length=4, d=3, seed=0):
    kernels = DirichletPrior(d, (1, 2), concentration).sample_kernels(n_chains, rng=seed)
    return NGramChain(kernels, (1, 2)).stationary_windows(length)


def test_sharp_heads_without_shift_see_the_modified_information():
    windows = windows_of(0.5, 30)
    blurred = blurred_information(windows, 60 * np.eye(3), 3)
    exact = information_of_subsets(windows, 3)
    assert list(blurred) == list(exact)
    np.testing.assert_allclose(list(blurred.values()), list(exact.values()), atol=1e-14)


def test_blurred_information_is_the_sum_over_pairs_of_windows():
    rng = np.random.default_rng(1)
    windows, w, epsilon = windows_of(0.7, 1, length=3, d=2)[0], rng.normal(size=(3, 2)), 0.2
    s, mu = softmax(w), windows.sum(axis=(0, 1))
    pairs = list(itertools.product(itertools.product(range(2), repeat=2), repeat=2))
    for S, value in blurred_information(windows, w, 2, epsilon=epsilon).items():
        total = 0.0
        for E, F in pairs:  # oldest token first, as the axes of `windows`
            kernel = 1.0
            for h in S:
                copied = [np.zeros(2), np.zeros(2)]
                for copy, window in zip(copied, (E, F)):
                    for offset in (1, 2):
                        copy[window[-offset]] += s[h - 1, offset - 1]
                kernel *= copied[0] @ copied[1]
            for x in range(2):
                excess = windows[F][x] - windows[F].sum() * mu[x]
                total += kernel * windows[E][x] * excess / (mu[x] + epsilon)
        assert value == pytest.approx(total, abs=1e-15)


def test_the_gradient_of_the_selector_tends_to_blurred_information():
    kernels = DirichletPrior(2, (1, 2), 2.0).sample_kernels(400, rng=3)
    tokens = NGramChain(kernels, (1, 2)).sample(1, 4001, rng=4).reshape(400, -1)
    # Every position serves as target: sequences that share their keys, cut at different ends.
    cuts = [tokens[:, : 4001 - 7 * i] for i in range(40)]
    windows = NGramChain(kernels, (1, 2)).stationary_windows(3)
    w = np.array([[1.0, 0.2], [-0.3, 0.8]])
    pull = []
    for cut in cuts:
        model = StagedModel(WindowCounts.from_tokens(cut, window=2, vocab_size=2), degree=2)
        start = {"c": np.full(4, 0.5), "w": w, "a": 1e-4}
        gradient = model.loss_and_gradients(**start)[1]["c"]
        pull.append(-gradient / (2 * 1e-4 * 0.5))  # C_D = 1: (g - f), and f drops out below
    pull = np.mean(pull, axis=0)
    expected = np.array(list(blurred_information(windows, w, 2, epsilon=0.1).values()))
    np.testing.assert_allclose(pull - pull[0], expected, atol=6e-4)
    assert expected.max() > 6e-3


def test_prediction_and_training_agree_away_from_the_boundary():
    grid = ([0.01, 0.1, 1.0], [2.5, 6.0])
    trained = train_selection(*grid, n_chains=1000, rng=0)
    predicted = predict_selection(*grid, n_chains=2000, rng=1)
    assert trained.sets == predicted.sets
    np.testing.assert_array_equal(trained.winners, predicted.winners)
    assert trained.shares.min() > 0.9
    assert (predicted.winners[:, -1] == predicted.sets.index((1, 2))).all()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"concentrations": [0.0]}, "concentrations"),
        ({"concentrations": []}, "concentrations"),
        ({"gaps": [-1.0]}, "gaps"),
        ({"window": 0}, "window"),
        ({"degree": 4}, "degree"),
        ({"epsilon": -0.1}, "epsilon"),
    ],
)
def test_a_bad_grid_is_refused(change, named):
    arguments = {"concentrations": [0.1], "gaps": [3.0], "n_chains": 10, **change}
    with pytest.raises(ValueError, match=f"^{named} "):
        predict_selection(**arguments, rng=0)


@pytest.mark.parametrize(
    ("function", "change"),
    [
        *(
            (function, {"n_chains": bad})
            for function in (predict_selection, train_selection)
            for bad in (0, 1.5)
        ),
        (train_selection, {"length": 3}),
        (train_selection, {"length": 50.0}),
        (train_selection, {"a": np.nan}),
        (train_selection, {"a": "small"}),
        (train_selection, {"epsilon": -0.1}),
        (train_selection, {"duration": -1.0}),
    ],
)
def test_bad_arguments_are_refused_under_their_own_names(function, change):
    (named,) = change
    with pytest.raises(ValueError, match=f"^{named} "):
        function([0.1], [3.0], rng=0, **change)


@pytest.mark.parametrize(
    ("w", "degree", "epsilon", "named"),
    [
        ([[0.0, 0.0]], 1, 0.0, "w"),
        (np.zeros((3, 3)), 4, 0.0, "degree"),
        (np.zeros((3, 3)), 1, -1.0, "epsilon"),
    ],
)
def test_bad_heads_are_refused(w, degree, epsilon, named):
    with pytest.raises(ValueError, match=f"^{named} "):
        blurred_information(windows_of(1.0, 2), w, degree, epsilon=epsilon)


def test_too_many_windows_are_refused():
    with pytest.raises(ValueError, match="at most 4096 windows"):
        blurred_information(np.full((2,) * 14, 2.0**-14), np.zeros((13, 13)), 1)
