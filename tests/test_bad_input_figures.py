"""Hostile calls of the drawing functions: the same refusals as everywhere in the library."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import markov_transformers as mt
from markov_transformers.figures import costs
from tests.hostile import (
    FLAG,
    INF,
    LAGS,
    NAN,
    OBJECT,
    WORD,
    Table,
    array,
    count,
    law,
    number,
    or_none,
    tokens,
)

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
NO_WORDS = [3, "ab", b"ab", [1, 2], NAN, ["a"]]


def named(good, parts):
    """Return a mapping from a name to a good part, and mappings to hostile ones."""
    return {"a": good}, [*NO_MAPPING, *({"a": part} for part in parts)]


RUNS = named(RUN, OBJECT)
SQUARE = named(STEPS, [*array((3, 3)), np.ones((2, 3)), np.ones((0, 0))])
NUMBER = named(0.5, [*number(), "x"])
MATRIX = named(STEPS, array((3, 3), finite=False))

NO_SEQUENCE = [None, 3, "abc", NAN, {}, [], ()]
NO_SETS = [*NO_SEQUENCE, [[1]], [(2, 1)], [(1, 1)], [("a",)], [(0.5,)], [(True,)], [(-1,)]]
NO_TEXT = [None, 3, b"a", NAN, ["a"], {}]
NO_SCALE = [*WORD, "symlog"]
ONE, TWO, X = np.array([0.5]), np.array([0.25, 0.75]), np.array([1.0, 2.0])


def axis(n, *outside):
    """Return what is no array of so many finite numbers, and numbers that lie outside a range."""
    return [*array((n,)), *(np.full(n, x) for x in outside)]


def whole(n):
    """Return what is no array of so many integers of at least one."""
    return axis(n, 0, -1, 0.5)


def pair(first, second):
    """Return a good pair, and sequences that are none."""
    (good, hostile), (good_2, hostile_2) = first, second
    wrong = [*NO_SEQUENCE, (good,), (good, good_2, good)]
    return (good, good_2), [
        *wrong,
        *((part, good_2) for part in hostile),
        *((good, part) for part in hostile_2),
    ]


def only_in(good, parts):
    """Return a mapping like a good one in which one part is hostile, for each of them."""
    return [{**good, key: part} for key in good for part in parts]


def lacking(good):
    """Return mappings that lack one part of a good one each."""
    return [None, 3, "abc", NAN, [], {}, *({k: good[k] for k in good if k != key} for key in good)]


def by_set(good, parts):
    """Return a mapping from sets of lags to a good part, and mappings to hostile ones."""
    wrong = [None, 3, "abc", [], {}, {"a": good}, {1: good}, {(2, 1): good}, {(0,): good}, {(1, "a"): good}]
    return {(1,): good, (1, 2): good}, [*wrong, *({(1,): part} for part in parts)]


def limited(argument, most):
    """Return an argument that is a mapping, and as one more hostile mapping one with too many parts."""
    good, hostile = argument
    (part,) = good.values()
    return good, [*hostile, {str(i): part for i in range(most + 1)}]


CURVE = pair((X, axis(2)), (X, array((2,), finite=False)))
CURVES = named(*CURVE)
POINT = pair((1, number()), (0.1, number(above=0)))
GAPS = named(TWO, array((2,), finite=False))
SLOPES = {(1,): 1.0, (1, 2): 2.0}
KERNEL = np.full((2, 2, 2), 0.5)
LABELS = (("x", "y"), [None, *NO_WORDS])
PARENTS = ((1,), [3, "ab", NAN, [1], (2, 1), (0,), ("a",), (True,)])
STAGED = mt.StagedModel(COUNTS, degree=1)
FLOW = STAGED.descend(STAGED.initial_parameters(), 2, learning_rate=0.1)
SETS = [*NO_SETS, STAGED.sets[1:]]
MAP = mt.selection.SelectionMap(X, X, ((1,), (2,)), np.array([[0, 1], [1, 1]]), np.ones((2, 2)))
TASK = mt.preference_task()
MEASURED_RUN = MODEL.train(PATHS, learning_rate=0.1, steps=2, truth=np.full((2, 3), 1 / 3))

OVER_TIME = {"iterations": X, "accuracy": np.ones((3, 2)), "kl": np.ones((3, 2))}
READING = {0.5: OVER_TIME, 1.0: OVER_TIME}


def no_reading(*names):
    """Return what is no reading of an experiment that holds such curves."""
    needed = {name: OVER_TIME[name] for name in ("iterations", *names)}
    wrong = [*lacking(needed), *({**needed, "iterations": part} for part in axis(2))]
    wrong += [{**needed, name: part} for name in names for part in array((3, 2), finite=False)]
    return [*lacking(READING), *only_in(READING, wrong)]


CLOCKS = {name: np.ones((2, 3)) for name in ("attention", "accuracy", "sample_accuracy", "law", "walk")}
TIMES = {"sigmas": TWO, "walk_sigmas": TWO, **CLOCKS}

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
row("accuracy", figures.accuracy, runs=limited(RUNS, 6), optimal=({"a": 0.5}, [*NUMBER[1], {"b": 0.5}]))
row("attention", figures.attention, runs=limited(RUNS, 3), zoom=(3, count(1)))
row("failed_training", figures.failed_training, run=(RUN, OBJECT))
row("loss_and_accuracy", figures.loss_and_accuracy, runs=limited(RUNS, 5))
row("relative_spread", figures.relative_spread, run=(RUN, OBJECT))
row("two_numbers", figures.two_numbers, solutions=limited(named(SOLUTION, [*OBJECT, RUN]), 6))
row("matrices", figures.matrices, values=MATRIX, labels=LABELS, shared=(True, FLAG))
row(
    "state_diagrams", figures.state_diagrams, transitions=SQUARE, names=(None, NO_WORDS), numbers=(True, FLAG)
)
row("spectra", figures.spectra, transitions=SQUARE, ellipses=(None, [*or_none(NUMBER[1]), {"b": 0.5}]))
row("occupations", figures.occupations, laws=MATRIX)
row(
    "decays",
    figures.decays,
    distances=limited(GAPS, 6),
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

row("freeze_layout", figures.freeze_layout, figure=(figures.new_figure(), OBJECT))
row(
    "matrix",
    figures.matrix,
    axes=(figures.new_figure().subplots(), OBJECT),
    values=(STEPS, array((3, 3), finite=False)),
    title=("a", NO_TEXT),
    labels=LABELS,
    vmin=(0, or_none(number())),
    vmax=(1, or_none(number())),
    aspect=("auto", WORD),
)
row(
    "curves",
    figures.curves,
    curves=limited(CURVES, 12),
    labels=LABELS,
    scales=(("linear", "log"), pair(("linear", NO_SCALE), ("log", NO_SCALE))[1]),
    dashed=(["a"], [None, 3, "a", NAN, {}, ["b"], [3], ["a", "a"]]),
    title=("", NO_TEXT),
)
row(
    "sequences",
    figures.sequences,
    groups=named(PATHS, tokens(4)),
    names=(["x", "y", "z"], [*NO_WORDS, [], ["x", "y"]]),
)
row(
    "tables",
    figures.tables,
    values=named(
        (KERNEL[0], ["r", "s"], ["c", "d"]),
        [
            *NO_SEQUENCE,
            (KERNEL[0], ["r", "s"]),
            *((part, ["r", "s"], ["c", "d"]) for part in array((2, 2), finite=False)),
            *((KERNEL[0], part, ["c", "d"]) for part in [None, *NO_WORDS, []]),
            *((KERNEL[0], ["r", "s"], part) for part in [None, *NO_WORDS, []]),
        ],
    ),
    labels=LABELS,
)
row(
    "kernels_and_sequences",
    figures.kernels_and_sequences,
    examples=named(*pair((KERNEL, [*law((2, 2, 2)), np.full((5, 5, 5), 0.2)]), (PATHS % 2, tokens(2)))),
)
row(
    "best_reports",
    figures.best_reports,
    truth=(TWO, axis(2, -0.1, 1.1)),
    best=limited(GAPS, 6),
)
row(
    "copies",
    figures.copies,
    blocks=named(STEPS, array((3, 3), finite=False)),
    tokens=([0, 1], tokens(ndim=1)),
)
row(
    "feature_strips",
    figures.feature_strips,
    features=named(np.ones(3), axis(3)),
    sets=([(), (1,)], NO_SETS),
    d=(2, count(1)),
)
row(
    "construction_weights",
    figures.construction_weights,
    w=(STEPS, array((3, 3))),
    c=(TWO, array((2,))),
    sets=([(), (1,)], [*NO_SETS, [(1,)]]),
)
row(
    "distance_and_bound",
    figures.distance_and_bound,
    scales=(TWO, axis(2, 0, -1)),
    measured=limited(GAPS, 6),
    bounds=(GAPS[0], [*GAPS[1], {"b": TWO}]),
)
row(
    "spliced",
    figures.spliced,
    sequences=named([0, 1, 1], tokens(ndim=1)),
    pieces=({"a": [0, 1, 3]}, [*lacking({"a": [0]}), *only_in({"a": 0}, [*tokens(4, ndim=1), [0, 1]])]),
)
row(
    "match_tables",
    figures.match_tables,
    pairs=(
        [([0, 1], [1, 1])],
        [*NO_SEQUENCE, *([p] for p in pair(([0], tokens(ndim=1)), ([0], tokens(ndim=1)))[1])],
    ),
)
row(
    "savings",
    figures.savings,
    lengths=([2, 3], whole(2)),
    panels=named(*limited(GAPS, 4)),
    ylabel=("y", NO_TEXT),
)
row("readings", figures.readings, measured=named(READING, no_reading("accuracy")))
row(
    "accuracy_and_divergence",
    figures.accuracy_and_divergence,
    reading=(READING, no_reading("accuracy", "kl")),
)
row("chosen_columns", figures.chosen_columns, runs=limited(RUNS, 3))
row(
    "escape_times",
    figures.escape_times,
    measured=(
        TIMES,
        [
            *lacking(TIMES),
            *({**TIMES, "sigmas": part} for part in axis(2, 0, -1)),
            *({**TIMES, "walk_sigmas": part} for part in axis(2, 0, -1)),
            *({**TIMES, name: part} for name in CLOCKS for part in array((2, 3), finite=False)),
        ],
    ),
)
row(
    "accuracy_over_lengths",
    figures.accuracy_over_lengths,
    lengths=([2, 3], whole(2)),
    accuracies=limited(GAPS, 3),
    n_nodes=(3, count(1)),
)
row(
    "broken_symmetry",
    figures.broken_symmetry,
    runs=limited(RUNS, 4),
    predictions=(
        {"a": (X, X)},
        [None, 3, "abc", NAN, [], ["a"], {"b": (X, X)}, *only_in({"a": 0}, CURVE[1])],
    ),
    until=(2, number(above=0)),
)
row(
    "predictor_losses",
    figures.predictor_losses,
    losses=named(*GAPS),
    lengths=([2, 3], whole(2)),
    ylabel=("y", NO_TEXT),
    scale=("linear", NO_SCALE),
)
row(
    "vote_weights",
    figures.vote_weights,
    weights=named(X, axis(2)),
    text=("ab", [None, 3, b"ab", NAN, {}, "", [], np.zeros(2), [0.5, 1.0], [[1], [2]], [None, None]]),
)
row(
    "subset_bars",
    figures.subset_bars,
    panels=named({(1,): 0.5, (1, 2): 0.2}, [*by_set(0.5, [*number(), "x"])[1], {(): 0.5}]),
    parents=PARENTS,
    marked=([(1,)], [3, "ab", NAN, {}, [1], [(2,)], [[1]], ["a"]]),
)
row(
    "exchange",
    figures.exchange,
    chi2=({(): 0.0, (1,): 0.5}, [*by_set(0.5, [*number(), "x"])[1], {(): 0.5}, {(1,): 0.0}, {(1,): -1.0}]),
    vocab_size=(2, count(2)),
    parents=PARENTS,
)
row(
    "winner_maps",
    figures.winner_maps,
    maps=named(by_set(np.arange(4), [])[0], by_set(np.ones(4), axis(4))[1]),
    side=(TWO, [*axis(2, 1), TWO[::-1], ONE]),
    labels=LABELS,
    point=((0.5, 0.5), pair((0.5, number()), (0.5, number()))[1]),
)
row(
    "selection_over_concentration",
    figures.selection_over_concentration,
    concentrations=(TWO, axis(2, 0, -1)),
    values=(
        [{(1,): X, (2,): X}] * 2,
        [
            *NO_SEQUENCE,
            [{(1,): X}],
            *(({(1,): X}, part) for part in [*by_set(X, axis(2))[1], {(1,): X, (2,): ONE}]),
        ],
    ),
    parents=((1,), [None, *PARENTS[1], (3,)]),
    averaged=([(1,)], [*NO_SETS, [(3,)]]),
    counted=([(1,), (2,)], [*NO_SETS, [(3,)]]),
)
row(
    "information_scatter",
    figures.information_scatter,
    chi2=by_set(X, axis(2)),
    shannon=by_set(X, axis(2)),
    shown=([(1,)], [*NO_SETS, [(3,)]]),
)
row(
    "estimates_over_context",
    figures.estimates_over_context,
    lengths=([2, 3], whole(2)),
    panels=named(
        ([{(1,): 1.0}] * 2, {(1,): 1.0}),
        pair(
            (
                ({(1,): 1.0},) * 2,
                [*NO_SEQUENCE, ({(1,): 1.0},), *(({(1,): 1.0}, part) for part in by_set(1.0, number())[1])],
            ),
            by_set(1.0, number()),
        )[1],
    ),
    shown=([(1,)], [*NO_SETS, [(3,)]]),
)
row(
    "time_scales",
    figures.time_scales,
    times=(TWO, axis(2, 0, -1)),
    selector=(TWO, array((2,), finite=False)),
    copier=(TWO, array((2,), finite=False)),
    a=(TWO, array((2,), finite=False)),
)
row(
    "joint_shares",
    figures.joint_shares,
    runs=named(FLOW, [*OBJECT, RUN, FLOW.at(0.1)]),
    sets=(STAGED.sets, SETS),
    scale=("linear", NO_SCALE),
)
row(
    "joint_summary",
    figures.joint_summary,
    run=(FLOW, [*OBJECT, RUN, FLOW.at(0.1)]),
    sets=(STAGED.sets, SETS),
    learning_rate=(0.1, number(above=0)),
)
row(
    "projections",
    figures.projections,
    rows=({"a": SQUARE[0]}, [*named(*SQUARE)[1], {"a": SQUARE[0], "b": {"c": STEPS, "d": STEPS}}]),
)
row(
    "word_counts",
    figures.word_counts,
    questions=named(*pair((TASK, OBJECT), ([0, 1], tokens(2, ndim=1)))),
)
row(
    "question_training",
    figures.question_training,
    runs=named(*limited(named([MEASURED_RUN], [*NO_SEQUENCE, *([part] for part in OBJECT), [RUN]]), 3)),
    divergence=(True, FLAG),
)
row(
    "attention_by_word",
    figures.attention_by_word,
    words=(["one", "two"], [None, *NO_WORDS[:-1], []]),
    weights=named(TWO, axis(2)),
)
row(
    "shares",
    figures.shares,
    values=(STEPS, [*array((3, 3)), STEPS - 1, STEPS + 1]),
    rows=(list("abc"), [None, *NO_WORDS, []]),
    columns=(list("abc"), [None, *NO_WORDS, []]),
    labels=LABELS,
)
row(
    "selector_race",
    figures.selector_race,
    runs=named(*pair((FLOW, [*OBJECT, RUN]), (STAGED.sets, SETS))),
    span=((0.1, 0.2), [*pair((0.1, number(above=0)), (0.2, number()))[1], (0.2, 0.1), (0.1, 0.3)]),
)
row(
    "selector_log_ratios",
    figures.selector_log_ratios,
    times=(X, axis(2)),
    ratios=by_set(X, axis(2)),
    predicted=(SLOPES, [*lacking(SLOPES), *only_in(SLOPES, number())]),
)
row("position_weights", figures.position_weights, weights=named(STEPS, array((3, 3))))
row("classifier_growth", figures.classifier_growth, runs=limited(CURVES, 6))
row(
    "classifier_speeds",
    figures.classifier_speeds,
    panels=named(*limited(CURVES, 6)),
    slopes=(
        {"a": {-1: POINT[0]}},
        [
            *[None, 3, "abc", NAN, [], ["a"], {"b": {}}, {"a": None}, {"a": [1]}],
            *[{"a": {"b": POINT[0]}}, {"a": {NAN: POINT[0]}}],
            *({"a": {-1: part}} for part in POINT[1]),
        ],
    ),
    floor=(1e-10, number(0, 0.5, above=0)),
)
row(
    "phase_diagram",
    figures.phase_diagram,
    predicted=(MAP, OBJECT),
    trained=([MAP], [*NO_SEQUENCE, *([part] for part in OBJECT)]),
    thresholds=(X, axis(2)),
    ringed=(
        [(1.0, 2.0)],
        [*NO_SEQUENCE[1:], *([part] for part in pair((1.0, number(above=0)), (2.0, number(0)))[1])],
    ),
)
row(
    "ladder",
    costs.ladder,
    seconds=named(0.5, [*number(above=0), "x"]),
    told=({"a": "half"}, [*lacking({"a": "half"}), *only_in({"a": "half"}, NO_TEXT)]),
)
row(
    "growth_curves",
    costs.growth_curves,
    panels=named(*limited(named(*pair(([1, 2], whole(2)), ([0.1, 0.2], axis(2, 0)))), 3)),
)


@pytest.mark.parametrize(("name", "argument"), TABLE.cases())
def test_a_hostile_argument_raises_one_error_that_names_it_and_shows_what_came(name, argument):
    TABLE.assert_refuses(name, argument)


@pytest.mark.parametrize("name", TABLE)
def test_the_arguments_beside_a_hostile_one_are_good(name):
    TABLE.assert_takes_good_arguments(name)


def drawing_functions():
    """Return the public functions that draw from what they are given."""
    functions = {name: getattr(figures, name) for name in figures.__all__ if name != "COLORS"}
    return {name: function for name, function in functions.items() if inspect.signature(function).parameters}


@pytest.mark.parametrize("name", sorted({*drawing_functions(), *TABLE}))
def test_every_parameter_of_a_drawing_function_has_hostile_rows(name):
    TABLE.assert_covers(name, TABLE[name].function)


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
