"""The explorers of the generalized induction head, held against the library's predictors."""

from __future__ import annotations

import numpy as np
import pytest

import markov_transformers as mt
from markov_transformers.explorers import induction as explorers


@pytest.mark.parametrize("alpha", [0.05, 1.0])
def test_counting_all_lengths_at_once_gives_what_the_predictors_give_on_each_context(alpha):
    truth, laws = explorers._predictions(alpha)
    prior = mt.DirichletPrior(3, (1, 2), alpha)
    tokens, kernels = prior.sample(explorers._CHAINS, 1000, rng=0, return_kernels=True)
    predictors = {
        "Unigram": mt.Unigram(),
        "InductionHead": mt.InductionHead(window=3),
        "GIH": mt.GeneralizedInductionHead((1, 2), window=3),
        "FullHistoryMatch": mt.FullHistoryMatch(window=3),
        "BayesOptimal": mt.BayesOptimal((1, 2), alpha),
    }
    assert laws.keys() == predictors.keys()
    for i in (0, 3, 8):
        context = tokens[:, : explorers._LENGTHS[i]]
        expected = [mt.NGramChain(k, (1, 2)).predict(c[None])[0] for k, c in zip(kernels[:50], context)]
        np.testing.assert_allclose(truth[i, :50], expected, atol=1e-14)
        for name, predictor in predictors.items():
            np.testing.assert_allclose(laws[name][i], predictor.predict(context, 3), atol=1e-13)


def test_the_divergence_is_the_loss_up_to_a_shift_that_all_predictors_share():
    loss, divergence = (explorers._losses(0.3, 0.1, shifted) for shifted in (False, True))
    shifts = np.stack([divergence[name] - loss[name] for name in loss])
    np.testing.assert_allclose(shifts, np.broadcast_to(shifts[:1], shifts.shape), atol=1e-12)
    assert all((values >= 0).all() for values in divergence.values())


def test_the_picture_tells_the_prediction_of_the_library_in_words():
    _, words = mt.explorers.match_a_sequence().render(sequence="abracadabra", subset="{1, 2}", seen=22)
    tokens = np.unique(list("abracadabraabracadabra"), return_inverse=True)[1]
    a, b, c, d, r = mt.GeneralizedInductionHead((1, 2), 3).predict(tokens[None], 5)[0]
    assert f"a {a:.2f}, b {b:.2f}, c {c:.2f}, d {d:.2f}, r {r:.2f}" in words
    assert "Matches at positions 5, 12, 16." in words


def test_a_sequence_with_no_match_is_said_to_fall_back():
    _, words = mt.explorers.match_a_sequence().render(subset="{1, 2, 3}", seen=8)
    assert "No match, so the 5 tokens after the window vote" in words


def test_a_text_that_is_too_long_or_too_short_for_the_picture_is_refused():
    with pytest.raises(ValueError, match="at most 48 symbols, got 60"):
        mt.figures.matching("ab" * 30, (1,), 1)
    with pytest.raises(ValueError, match="text must have more than 3 symbols"):
        mt.figures.matching("abc", (1,), 3)
