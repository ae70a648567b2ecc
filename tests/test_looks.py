"""A set of lags and a predictor look the same wherever they are drawn."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex

import markov_transformers as mt
from markov_transformers.figures.style import color_of_label, looks_of

LABORATORY = Path(mt.__file__).parent / "labs" / "induction-lab.js"
SMALL = [(), (1,), (2,), (3,), (1, 2), (1, 3), (2, 3)]


def test_small_sets_of_lags_have_colours_of_their_own():
    assert len({looks_of(subset)[0] for subset in SMALL}) == len(SMALL)


def test_the_laboratory_gives_each_set_that_it_names_the_same_colour():
    table = re.search(r"SET_LOOKS = \{(.*?)\};", LABORATORY.read_text(), re.DOTALL)[1]
    named = re.findall(r'"?([\d,]*)"?: \["(\w+)", "[\d ]*"\]', table)
    assert len(named) >= len(SMALL)
    style = importlib.import_module("markov_transformers.figures.style")  # the name is a function's, too
    for lags, name in named:
        color = looks_of(tuple(map(int, lags.split(","))) if lags else ())[0]
        assert color == ("0.55" if name == "grey" else getattr(style, name.upper())), lags


@pytest.mark.parametrize(
    "names",
    [
        ("Unigram", "unigram"),
        ("InductionHead", "induction head"),
        ("GIH", "generalized induction head"),
        ("FullHistoryMatch", "full-history match"),
        ("BayesOptimal", "Bayes-optimal", "Bayes"),
    ],
)
def test_a_predictor_has_one_look_by_its_class_and_in_words(names):
    assert len({looks_of(name) for name in names}) == 1
    assert looks_of(names[0])[0] != looks_of("transformer")[0]


def test_a_label_tells_its_set_or_its_predictor():
    assert color_of_label("{1, 2}, the parents") == looks_of((1, 2))[0]
    assert color_of_label("{3}") == looks_of((3,))[0]
    assert color_of_label("∅") == looks_of(())[0]
    assert color_of_label("Bayes") == looks_of("BayesOptimal")[0]
    assert color_of_label("kernel known") is None


def test_curves_of_sets_and_predictors_keep_their_colours_and_no_other_curve_takes_them():
    x = np.arange(3.0)
    labels = ["nothing known", "Bayes", "{1, 2}", "kernel known"]
    (axes,) = mt.figures.curves({label: (x, x) for label in labels}, labels=("x", "y")).axes
    colors = [to_hex(line.get_color()) for line in axes.lines]
    assert colors[1:3] == [looks_of("Bayes")[0], looks_of((1, 2))[0]]
    assert len(set(colors)) == len(labels)
