"""Hostile calls of the drawing functions: the same refusals as everywhere in the library."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import markov_transformers as mt
from tests.hostile import FLAG, INF, LAGS, NAN, OBJECT, Table, array, count, law, number, or_none, tokens

figures = mt.figures
TABLE = Table()
row = TABLE.row

MODEL = mt.OneLayerModel(3, 7, 8)
PATHS = np.array([[0, 1, 2, 0, 1, 2, 0], [1, 2, 0, 1, 2, 0, 1]])
RUN = MODEL.train(PATHS, learning_rate=0.1, steps=2)
SOLUTION = mt.symmetric_solution(MODEL, learning_rate=0.1, steps=2)
COUNTS = mt.WindowCounts.from_tokens(PATHS, window=2, vocab_size=3)
STEPS = mt.CircleWalk(3, 0.5).transition_matrix()
NO_MAPPING = [None, 3, "abc", [], {}, {1: 2.0}, ["a"]]
NO_WORDS = [3, "ab", b"ab", [1, 2], ["a"], NAN]


def named(good, parts):
    """Return a mapping from a name to a good part, and mappings to hostile ones."""
    return {"a": good}, [*NO_MAPPING, *({"a": part} for part in parts)]


RUNS = named(RUN, OBJECT)
SQUARE = named(STEPS, [*array((3, 3)), np.ones((2, 3)), np.ones((0, 0))])
NUMBER = named(0.5, [*number(), "x"])
MATRIX = named(STEPS, array((3, 3), finite=False))

row("new_figure", figures.new_figure, width=(7.2, number(0.5, 100)), height=(3.4, number(0.5, 100)))
row("circle", figures.circle, n_nodes=(6, count(3)), p=(0.5, number(0, 1)))
row("cover", figures.cover, run=(RUN, OBJECT), iterations=(2, count(1)), positions=(3, count(1, 7)))
row(
    "walks",
    figures.walks,
    tokens=(PATHS, tokens(3)),
    n_nodes=(3, count(1)),
    titles=(["a", "b"], [None, *NO_WORDS]),
)
row("accuracy", figures.accuracy, runs=RUNS, optimal=({"a": 0.5}, [*NUMBER[1], {"b": 0.5}]))
row("attention", figures.attention, runs=RUNS, zoom=(3, count(1)))
row("failed_training", figures.failed_training, run=(RUN, OBJECT))
row("loss_and_accuracy", figures.loss_and_accuracy, runs=RUNS)
row("relative_spread", figures.relative_spread, run=(RUN, OBJECT))
row("two_numbers", figures.two_numbers, solutions=named(SOLUTION, [*OBJECT, RUN]))
row("matrices", figures.matrices, values=MATRIX, labels=(("x", "y"), [None, *NO_WORDS]), shared=(True, FLAG))
row(
    "state_diagrams", figures.state_diagrams, transitions=SQUARE, names=(None, NO_WORDS), numbers=(True, FLAG)
)
row("spectra", figures.spectra, transitions=SQUARE, ellipses=(None, [*or_none(NUMBER[1]), {"b": 0.5}]))
row("occupations", figures.occupations, laws=MATRIX)
row(
    "decays",
    figures.decays,
    distances=named([1.0, 0.5], array((2,), finite=False)),
    rates=({"a": 0.5}, [*NUMBER[1], {"b": 0.5}]),
)
row("lag_diagram", figures.lag_diagram, lags=((1, 2), [*LAGS, (), [7]]), length=(6, count(1)))
row("simplex", figures.simplex, rows=named(STEPS, law((3, 3))))
row(
    "position_matrix",
    figures.position_matrix,
    w=(np.ones(2), array((2,))),
    size=(3, count(1)),
    attention=(STEPS, array((3, 3), finite=False)),
)
row("window_table", figures.window_table, counts=(COUNTS, OBJECT), sequence=(0, count(0, 1)))
row(
    "matching",
    figures.matching,
    text=("abab", [None, 3, b"abab", NAN, {}, np.zeros(4)]),
    subset=((1,), [*LAGS, [3]]),
    window=(2, count(1)),
    seen=(4, or_none(count(1))),
)
row("match_kernels", figures.match_kernels, grams=SQUARE, first=(1, count()))

# Drawing functions that are handed what a chapter has computed, in a form of its own.
DRAWN = (
    "accuracy_and_divergence", "accuracy_over_lengths", "attention_by_word", "best_reports",
    "broken_symmetry", "classifier_growth", "classifier_speeds", "construction_weights", "copies",
    "curves", "distance_and_bound", "escape_times", "estimates_over_context", "exchange",
    "feature_strips", "freeze_layout", "information_scatter", "joint_shares", "joint_summary",
    "kernels_and_sequences", "match_tables", "matrix", "phase_diagram", "position_weights",
    "predictor_losses", "projections", "question_training", "readings", "savings",
    "selection_over_concentration", "selector_log_ratios", "selector_race", "sequences", "shares",
    "spliced", "style", "subset_bars", "tables", "time_scales", "transformer_blocks", "use_style",
    "vote_weights", "winner_maps", "word_counts",
)  # fmt: skip


@pytest.mark.parametrize(("name", "argument"), TABLE.cases())
def test_a_hostile_argument_raises_one_error_that_names_it_and_shows_what_came(name, argument):
    TABLE.assert_refuses(name, argument)


@pytest.mark.parametrize("name", TABLE)
def test_the_arguments_beside_a_hostile_one_are_good(name):
    TABLE.assert_takes_good_arguments(name)


@pytest.mark.parametrize("name", TABLE)
def test_every_parameter_of_a_checked_figure_has_hostile_rows(name):
    assert set(TABLE[name].arguments) == set(inspect.signature(TABLE[name].function).parameters)


def test_figures_without_rows_are_listed_and_do_not_grow():
    functions = {name for name in figures.__all__ if callable(getattr(figures, name))}
    assert functions - TABLE.keys() <= set(DRAWN)
    assert len(DRAWN) <= 44


@pytest.mark.parametrize("name", mt.explorers.__all__)
def test_an_explorer_takes_no_argument_but_the_values_of_its_controls(name):
    explorer = getattr(mt.explorers, name)()
    assert not inspect.signature(getattr(mt.explorers, name)).parameters
    for key, control in explorer.controls.items():
        for value in (
            None,
            [],
            NAN,
            INF,
            object(),
            True,
            *([] if getattr(control, "free", "") else ["no such"]),
        ):
            with pytest.raises(ValueError, match=rf"{key} must be .*, got"):
                explorer.values(**{key: value})
