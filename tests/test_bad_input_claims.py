"""Hostile calls of the measurements, the ledger and the speed table: the same refusals as everywhere."""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import re

import numpy as np
import pytest

import markov_transformers as mt
from markov_transformers import benchmark, claims, reproduce
from markov_transformers.__main__ import main
from markov_transformers.claims import (
    construction,
    escape,
    failure,
    information,
    joint,
    questions,
    stages,
    success,
)
from markov_transformers.dynamics import Trainable
from tests.hostile import (
    FLAG,
    HUGE,
    INF,
    LAGS,
    NAN,
    OBJECT,
    RNG,
    WORD,
    Table,
    array,
    count,
    number,
    or_none,
    tokens,
)

try:
    import torch
except ImportError:
    torch = None

# What is called with what, and what is hostile to each argument. Good arguments make an experiment small.

WALK = mt.CircleWalk(3, 0.5)
MODEL = mt.OneLayerModel(3, 7, unit_length=True)
START = MODEL.random(0.1, rng=0)
WALKS, SHARES = mt.CircleWalk(3, 1.0).enumerate(7)
RUN = MODEL.train(WALKS, weights=SHARES, learning_rate=0.1, steps=2)
ESCAPING = escape.deterministic_run(MODEL, START, learning_rate=0.1, steps=2)
COUNTS = mt.WindowCounts.from_tokens([[0, 1, 0, 0, 1, 1, 0]], window=2, vocab_size=2)
STAGED = mt.StagedModel(mt.WindowCounts.from_tokens(WALKS, window=2, vocab_size=3), degree=1)
STAGED_START = STAGED.initial_parameters()
TASK = mt.majority_task()
ROW = reproduce.stored()[0]
CLAIM = reproduce.CLAIMS["shi2025-positions"]
TIMING = benchmark.Timing("one-layer", 0.5, "plain", 10.0, 20.0, True)
RESULTS = benchmark.here([TIMING])


def numbers(low=-INF, high=INF, *, above=-INF):
    """Return what is no list of one number or more from `low` to `high`, both included, above `above`."""
    outside = [x for x in (low - 1, high + 1, above) if np.isfinite(x)]
    return [*array((2,)), np.array([]), (), *([x] for x in outside)]


def counts(low):
    """Return what is no list of one whole number of at least `low` or more."""
    return [*array((2,)), (), [low - 1], [2.5], [6.0], [HUGE]]


RATE = {"learning_rate": (0.1, number(0))}
STEPS = {"steps": (2, count(0, huge=True))}
SEED = {"rng": (0, RNG)}
REPEATS = count(1, huge=True)
CONCENTRATION = number(1e-12, 1e12, above=0)
CONCENTRATIONS = numbers(1e-12, 1e12, above=0)
DURATIONS = ((1.0, 1.0, 1.0), array((3,), low=0))
MODELS = {"model": (MODEL, [*OBJECT, STAGED])}
STARTS = {"start": (START, [*OBJECT, STAGED_START])}
PATHS = {"model": (MODEL, [*OBJECT, STAGED]), **STARTS}
EPSILON = number(0)
ABOVE = number(0, above=0)

TABLE = Table()
row = TABLE.row

# claims.construction
row(
    "construction.construction",
    construction.construction,
    n_sequences=(4, count(1, huge=True)),
    length=(12, count(6, huge=True)),
    vocab_size=(2, count(2, huge=True)),
    window=(2, count(1, huge=True)),
    subset=((1,), [*LAGS, [3]]),
    concentration=(1.0, CONCENTRATION),
    sizes=((1.0, 50.0), numbers(0)),
    **SEED,
)
row(
    "construction.sequential_loss",
    construction.sequential_loss,
    n_sequences=(2, count(1, huge=True)),
    length=(8, count(6, huge=True)),
    vocab_size=(2, count(2, huge=True)),
    window=(2, count(1, huge=True)),
    degree=(1, count(0, 2)),
    epsilon=(0.1, EPSILON),
    **SEED,
)
row(
    "construction.gih_distance",
    construction.gih_distance,
    n_sequences=(20, count(1, huge=True)),
    length=(12, count(4, huge=True)),
    concentration=(0.5, CONCENTRATION),
    durations=DURATIONS,
    lengths=((20,), counts(4)),
    n_chains=(2, count(1, huge=True)),
    limit_lengths=((1e30, 1e60), [*numbers(1), (1e30,), (1e30, 1e30)]),
    **SEED,
)

# claims.escape
row(
    "escape.Reading",
    escape.Reading,
    summed=(False, FLAG),
    embeddings=("all", WORD),
    sigma=(0.01, number(0)),
)
row("escape.EscapeRun.parameters", ESCAPING.parameters, record=(0, count(-3, 2)))
row("escape.lag_classes", escape.lag_classes, n_nodes=(3, count(2)), length=(7, count(2, huge=True)))
row(
    "escape.offset_modes",
    escape.offset_modes,
    value=(np.eye(3), [*array((3, 3)), np.ones((2, 3))]),
    position=(np.ones(7), [*array((7,)), np.ones(6)]),
)
row("escape.growth_rate", escape.growth_rate, **MODELS)
row("escape.seed_amplitude", escape.seed_amplitude, **PATHS)
row("escape.predicted_column", escape.predicted_column, **PATHS)
row(
    "escape.escape_law",
    escape.escape_law,
    amplitude=(0.1, ABOVE),
    learning_rate=(0.1, ABOVE),
    epsilon=(0.1, EPSILON),
    end=(1.0, ABOVE),
    **MODELS,
)
row(
    "escape.linear_prediction",
    escape.linear_prediction,
    model=PATHS["model"],
    epsilon=(0.1, ABOVE),
    **RATE,
    **STEPS,
)
row(
    "escape.deterministic_run",
    escape.deterministic_run,
    target_weights=(None, [*or_none(array((3,), low=0)), np.zeros(3)]),
    epsilon=(0.1, EPSILON),
    record_every=(1, count(1)),
    **PATHS,
    **RATE,
    **STEPS,
)
row(
    "escape.figure_six",
    escape.figure_six,
    readings=(
        {"a": escape.Reading()},
        [*OBJECT[1:], {"a": 3}, {"a": escape.Reading}, [escape.Reading()]],
    ),
    n_seeds=(1, REPEATS),
    n_walks=(5, count(1, huge=True)),
    record_every=(1, count(1)),
    **SEED,
    **STEPS,
)
row(
    "escape.escape_times",
    escape.escape_times,
    sigmas=((1e-5,), [*numbers(above=0), (1e-2,)]),
    walk_sigmas=((1e-2,), numbers(above=0)),
    n_seeds=(1, REPEATS),
    learning_rate=(10.0, ABOVE),
    n_walks=(5, count(1, huge=True)),
    walk_steps=(25, count(0, huge=True)),
    **SEED,
)
row(
    "escape.chosen_as_predicted",
    escape.chosen_as_predicted,
    model=PATHS["model"],
    sigma=(0.1, ABOVE),
    learning_rate=(10.0, ABOVE),
    **SEED,
)

# claims.failure
row(
    "failure.sweep",
    failure.sweep,
    n_nodes=(3, count(3, huge=True)),
    p=(1.0, [*number(0, 1), 0.5]),
    length=(7, count(2, huge=True)),
    rates=([0.1], numbers(0)),
    **STEPS,
)
row(
    "failure.any_loss",
    failure.any_loss,
    n_nodes=(3, count(3, huge=True)),
    length=(7, [*count(4, huge=True), 8]),
    steps=(1, count(1, huge=True)),
)
row(
    "failure.literal_run",
    failure.literal_run,
    tokens=(WALKS, [*tokens(3), WALKS[:, :1]]),
    n_nodes=(3, count(3, huge=True)),
    precision=("float64", WORD),
    unit_length=(False, FLAG),
    position_dim=(8, count(7, huge=True)),
    weights=(None, [*or_none(array((3,), low=0)), np.zeros(3)]),
    test=(WALKS, [*or_none(tokens(3)), WALKS[:, 1:]]),
    test_weights=(None, [*or_none(array((3,), low=0)), np.zeros(3)]),
    epsilon=(0.1, EPSILON),
    **RATE,
    **STEPS,
)
row("failure.escape", failure.escape, run=(RUN, OBJECT))
row(
    "failure.figure_5",
    failure.figure_5,
    n_seeds=(1, REPEATS),
    n_walks=(5, count(1, huge=True)),
    literal=(False, FLAG),
    **SEED,
    **STEPS,
)
row("failure.distinct", failure.distinct, tokens=(WALKS, tokens()))
row("failure.rounding", failure.rounding, steps=(4, count(4, huge=True)), literal=(False, FLAG))
row(
    "failure.floating_gram",
    failure.floating_gram,
    length=(3, count(2)),
    dim=(5, count(3, huge=True)),
    precision=("float32", WORD),
)

# claims.information
PRIOR = {
    "n_chains": (3, count(1, huge=True)),
    "vocab_size": (2, [*count(2), HUGE]),
    "lags": ((1, 2), [*LAGS, [17]]),
    "concentration": (1.0, CONCENTRATION),
    **SEED,
}
DOUBLY = {**PRIOR, "vocab_size": (2, count(2, 6))}
GRID = {"n_points": (2, count(1, huge=True))}
row(
    "information.doubly_stochastic_kernels",
    information.doubly_stochastic_kernels,
    n_kernels=PRIOR["n_chains"],
    vocab_size=DOUBLY["vocab_size"],
    lags=((1, 2), LAGS),
    concentration=PRIOR["concentration"],
    **SEED,
)
row(
    "information.near_lag_two_chain",
    information.near_lag_two_chain,
    repeat=((0.9, 0.8), [*array((2,), low=0), (0.9, 1.1)]),
)
row("information.data_processing", information.data_processing, window=(3, count(3, huge=True)), **PRIOR)
row("information.strict_supersets", information.strict_supersets, window=(3, count(3, huge=True)), **PRIOR)
row("information.uniform_windows", information.uniform_windows, window=(3, count(2, huge=True)), **DOUBLY)
row(
    "information.selected_sets",
    information.selected_sets,
    window=(3, count(2, huge=True)),
    uniform=(True, FLAG),
    fixed_size=(False, FLAG),
    **DOUBLY,
)
row(
    "information.repeating_grid",
    information.repeating_grid,
    window=(2, count(2, huge=True)),
    fixed_size=(True, FLAG),
    **GRID,
)
row(
    "information.polynomial_kernel",
    information.polynomial_kernel,
    n_pairs=(2, count(1, huge=True)),
    n_heads=(2, count(1, huge=True)),
    vocab_size=(2, count(1, huge=True)),
    max_degree=(1, count(0, 2)),
    **SEED,
)
row(
    "information.one_parent",
    information.one_parent,
    cases=(((2, 1),), [*array((1, 2), low=1), (), [(2, 0)], [(1, 1)], [(7, 1)], [(2, 4)], [(2, 1.5)]]),
    n_chains=(3, count(1, huge=True)),
    window=(3, count(1, huge=True)),
    concentration=(1.0, CONCENTRATION),
    **SEED,
)
row("information.known_size", information.known_size, windows=((2, 3), counts(2)), **GRID)
row(
    "information.enough_lags",
    information.enough_lags,
    n_chains=(3, count(1, huge=True)),
    windows=((4,), counts(4)),
    **SEED,
)

# claims.joint
row("joint.framework_model", joint.framework_model, counts=(COUNTS, OBJECT))
row(
    "joint.joint_training",
    joint.joint_training,
    n_chains=(5, count(1, huge=True)),
    length=(8, count(4, huge=True)),
    concentration=(0.1, CONCENTRATION),
    n_steps=(2, count(0, huge=True)),
    rates=((0.1,), numbers(above=0)),
    framework_rate=(0.1, ABOVE),
    n_samples=(1, REPEATS),
    **SEED,
)
row(
    "joint.length_generalization",
    joint.length_generalization,
    n_train=(5, count(1, huge=True)),
    trained_on=(0.1, CONCENTRATION),
    durations=DURATIONS,
    concentrations=((0.2,), CONCENTRATIONS),
    lengths=((10, 100, 101), [*counts(4), (10, 101), (10, 100), (100, 10, 101)]),
    n_chains=(5, count(1, huge=True)),
    n_test=(5, count(1)),
    **SEED,
)
PARAMETERS = {"c": [0, 1], "w": [[0]], "a": 1}
row(
    "joint.transformer_law",
    joint.transformer_law,
    parameters=(PARAMETERS, [*OBJECT, {"c": [0, 1]}, {**PARAMETERS, "more": 1}]),
    context=([[0, 1, 0]], tokens(2, shortest=2)),
    vocab_size=(2, count(2, huge=True)),
)

# claims.questions
TASKS = {"task": (TASK, OBJECT)}
row(
    "questions.question_run",
    questions.question_run,
    unit_length=(True, FLAG),
    n_samples=(5, count(1, huge=True)),
    scale=(0.1, number(0)),
    record_every=(1, count(1)),
    **TASKS,
    **SEED,
    **RATE,
    **STEPS,
)
row(
    "questions.random_starts",
    questions.random_starts,
    scale=(0.1, number(0)),
    n_starts=(1, REPEATS),
    **TASKS,
    **SEED,
    **RATE,
    **STEPS,
)
for name in ("task1", "task2"):
    row(
        f"questions.{name}",
        getattr(questions, name),
        n_runs=(1, REPEATS),
        steps=(1, count(1, huge=True)),
        **SEED,
    )

# claims.stages
ALPHA = {"alpha": (0.1, CONCENTRATION), "n_chains": (20, count(1, huge=True)), **SEED}
CHAINS = {"n_chains": (20, count(1, huge=True)), **SEED}
OPTIONAL_RATE = {"learning_rate": (None, or_none(ABOVE))}
row(
    "stages.paper_model",
    stages.paper_model,
    length=(9, count(4, huge=True)),
    epsilon=(0.1, EPSILON),
    **ALPHA,
)
for name in ("conservation", "stage_one_rates", "stage_two_rate"):
    row(f"stages.{name}", getattr(stages, name), **ALPHA)
row(
    "stages.stage_one_selection",
    stages.stage_one_selection,
    settings=(
        ((0.1, 2.0),),
        [*array((1, 2), low=0), (), [(0.1,)], [(0.0, 1.0)], [(1e13, 1.0)], [(0.1, -1.0)]],
    ),
    seeds=(1, REPEATS),
    n_steps=(2, count(0, huge=True)),
    **CHAINS,
    **OPTIONAL_RATE,
)
row(
    "stages.stage_two_heads",
    stages.stage_two_heads,
    alphas=((0.1,), CONCENTRATIONS),
    n_steps=(2, count(0, huge=True)),
    long_time=(3.0, number(0)),
    **CHAINS,
    **OPTIONAL_RATE,
)
row(
    "stages.limiting_constant",
    stages.limiting_constant,
    model=(STAGED, [*OBJECT, MODEL]),
    parameters=(STAGED_START, [*OBJECT, START, {"c": [1.0]}]),
)
row(
    "stages.stage_three_growth",
    stages.stage_three_growth,
    alphas=((0.1,), CONCENTRATIONS),
    n_steps=(2, count(0, huge=True)),
    **CHAINS,
    **OPTIONAL_RATE,
)
row(
    "stages.stage_three_rate",
    stages.stage_three_rate,
    concentrations=((0.5,), CONCENTRATIONS),
    n_kernels=(20, count(10, huge=True)),
    at=(3.0, number(0, above=0)),
    **SEED,
)
row(
    "stages.selection_phase_diagram",
    stages.selection_phase_diagram,
    concentrations=((0.1,), CONCENTRATIONS),
    gaps=((2.0,), numbers(0)),
    seeds=(1, REPEATS),
    **CHAINS,
)
row(
    "stages.selection_thresholds",
    stages.selection_thresholds,
    concentrations=((0.1,), CONCENTRATIONS),
    **CHAINS,
)

# claims.success
SCORES = [None, "abc", b"1", 1j, True, {}, [None], [[1.0], [1.0, 2.0]], np.ma.masked_array([1.0], [True])]
row("success.PowerLoss", success.PowerLoss, s=(1.0, number(-1, above=-1)), epsilon=(0.1, EPSILON))
for method in ("value", "derivative"):
    row(f"success.PowerLoss.{method}", getattr(success.PowerLoss(1.0), method), score=([0.5, 0.5], SCORES))
row("success.by_offset", success.by_offset, matrix=(np.ones((3, 3)), [*array((3, 3)), np.ones((2, 3))]))
row(
    "success.direction_gap",
    success.direction_gap,
    a=(np.ones(2), [*array((2,)), np.zeros(2)]),
    b=(np.ones(2), [*array((2,)), np.zeros(2)]),
)
row(
    "success.best_prediction",
    success.best_prediction,
    chances=((0.5,), numbers(0, 1)),
    n_nodes=(3, count(3, huge=True)),
    length=(4, count(2, huge=True)),
)
row(
    "success.position_products", success.position_products, length=(3, count(2)), dim=(5, count(3, huge=True))
)
row(
    "success.population_first_step",
    success.population_first_step,
    walk=(WALK, OBJECT),
    length=(4, count(2, huge=True)),
    epsilon=(0.1, ABOVE),
)
SAMPLES = {"n_seeds": (1, REPEATS), "n_walks": (5, count(1, huge=True)), **SEED}
row(
    "success.first_step",
    success.first_step,
    chances=((0.5,), numbers(0, 1)),
    lengths=((7,), counts(2)),
    **SAMPLES,
)
row(
    "success.theorem",
    success.theorem,
    chances=((0.5,), numbers(0, 1, above=0)),
    steps=(100, count(100, huge=True)),
    sample_steps=(1, count(1, huge=True)),
    **SAMPLES,
)
row("success.figure_4", success.figure_4, steps=(10, count(10, huge=True)), **SAMPLES)
row(
    "success.square_root",
    success.square_root,
    chances=((0.5,), numbers(0, 1, above=0)),
    powers=((0.5,), numbers(above=-1)),
    power_chance=(0.7, [*number(0, 1, above=0), 1.0]),
    length=(4, count(2, huge=True)),
    steps=(1, count(1, huge=True)),
)

# reproduce
ROWS = [None, 3, "abc", NAN, [None], [3], ["abc"], [[ROW]], [CLAIM], {"a": ROW}]
row(
    "reproduce.run",
    reproduce.run,
    ids=([CLAIM.id], [None, 3, CLAIM.id, NAN, [3], [None], ["no such"], [""], [[CLAIM.id]], [NAN]]),
    quick=(True, FLAG),
)
row("reproduce.Claim.measurements", CLAIM.measurements, quick=(True, FLAG))
for name in ("summary", "as_objects", "Ledger"):
    row(f"reproduce.{name}", getattr(reproduce, name), rows=([ROW], ROWS))
row(
    "reproduce.table",
    reproduce.table,
    rows=([ROW], ROWS),
    quick=(False, FLAG),
    width=(80, count(20)),
)

# benchmark
TIMED = [None, 3, "abc", NAN, [None], [3], ["abc"], [[TIMING]], {"a": TIMING}, [ROW]]
PATH = [3, b"1", NAN, [], {}, np.zeros(2)]
row(
    "benchmark.run",
    benchmark.run,
    names=(["one-layer"], [None, 3, "one-layer", NAN, [3], [None], ["no such"], [""], [["one-layer"]]]),
)
row(
    "benchmark.explorer",
    benchmark.explorer,
    name=("match_a_sequence", [*WORD, "__all__", "walks"]),
    moves=(1, count(1, huge=True)),
)
row("benchmark.lines", lambda rows: list(benchmark.lines(rows)), rows=([TIMING], TIMED))
row("benchmark.table", benchmark.table, rows=([TIMING], TIMED))
row("benchmark.here", benchmark.here, rows=([TIMING], TIMED))
row("benchmark.duration", benchmark.duration, seconds=(0.5, number(0)))
row("benchmark.Results.growth", RESULTS.growth, quantity=("length", WORD))
row("benchmark.store", benchmark.store, results=(RESULTS, OBJECT), path=(os.devnull, [None, *PATH]))
row("benchmark.stored", benchmark.stored, path=(None, [*PATH, os.devnull]))

if torch is not None:
    from markov_transformers.benchmark.baselines import PlainTwoLayer

    PLAIN = PlainTwoLayer(WALKS, 2, 3, 1)
    VALUES = {"c": np.ones(3), "w": np.ones((2, 2)), "a": 1.0}
    row(
        "baselines.PlainTwoLayer",
        PlainTwoLayer,
        tokens=(WALKS, [*tokens(3), WALKS[:, :3]]),
        window=(2, count(1, huge=True)),
        vocab_size=(3, count(2)),
        degree=(1, count(0, 2)),
        train=("cwa", [None, 3, "", "b", "cc", [3], NAN, {}]),
        start=(VALUES, [*OBJECT[1:], {"c": [NAN]}, {"c": 1.0}]),
        tables=(False, FLAG),
        dtype=(torch.float64, [None, "float64", float, torch.int64, torch.complex128, np.float64]),
    )
    row("baselines.PlainTwoLayer.loss_and_gradients", PLAIN.loss_and_gradients, epsilon=(0.1, EPSILON))

# Calls in which arguments conflict, or something inside an argument is at fault.
EIGHT = mt.OneLayerModel(3, 8)
SPECIAL = [
    (lambda: escape.linear_prediction(EIGHT, 1.0, 2), "model.length", "8"),
    (lambda: escape.seed_amplitude(EIGHT, EIGHT.zero()), "model.length", "8"),
    (lambda: escape.predicted_column(MODEL, EIGHT.zero()), "start.position", "(8,)"),
    (lambda: escape.offset_modes(np.ones((0, 0)), np.ones(7)), "value", "(0, 0)"),
    (lambda: escape.offset_modes(np.ones((3, 3)), np.ones(1)), "position", "(1,)"),
    (
        lambda: failure.literal_run(WALKS, 3, learning_rate=1, steps=1, test_weights=SHARES),
        "test_weights",
        "alone",
    ),
    (lambda: failure.literal_run(WALKS, 9, learning_rate=1, steps=1, position_dim=6), "position_dim", "6"),
    (lambda: information.selected_sets(rng=0, lags=(1, 4), window=3), "window", "3"),
    (lambda: information.selected_sets(rng=0, vocab_size=6, window=16), "vocab_size", "6"),
    (lambda: information.data_processing(rng=0, lags=(1, 2), window=2), "window", "2"),
    (lambda: information.doubly_stochastic_kernels(1, 6, range(1, 99), 1.0, rng=0), "lags", "(1, (1, 2, 3"),
    (lambda: information.known_size(windows=(16,), n_points=10**4), "n_points", "10000"),
    (
        lambda: joint.transformer_law({**PARAMETERS, "w": [[NAN]]}, [[0, 1]], 2),
        "parameters['w']",
        "nan",
    ),
    (lambda: stages.limiting_constant(STAGED, {**STAGED_START, "c": [NAN] * 3}), "c", "nan"),
    (lambda: stages.paper_model(0.1, n_chains=10**5, length=10**5, rng=0), "length", "100000"),
    (lambda: success.direction_gap(np.ones(2), np.ones(3)), "a and b", "(3,)"),
    (lambda: success.best_prediction(length=40), "length", "40"),
]

NEEDS_TORCH = {"failure.literal_run"}
# What the command line cannot make sense of.
MISUSE = (
    "",
    "nonsense",
    "reproduce no-such-id",
    "reproduce shi2025-positions no-such-id",
    "reproduce --seeds -1",
    "reproduce --quick=2",
    "reproduce --list shi2025-positions",
    "reproduce --list --json",
    "reproduce --list --quick",
    "benchmark no-such-row",
    "benchmark one-layer no-such-row",
    "benchmark one-layer -5",
    "benchmark one-layer --repeats -5",
    "benchmark one-layer --store",
    "benchmark one-layer --store .",
    "benchmark one-layer --store no/such/folder/results.json",
)

# Names whose parameters have no rows, and why.
RECORD = "holds what the library has measured or states; nobody need build one"
MEASURED = "takes what a measurement has returned"
EXCEPTIONS = {
    "escape.EscapeRun": RECORD,
    "joint.bayes_gap": MEASURED,
    "reproduce.Claim": RECORD,
    "reproduce.Claim.judge": MEASURED,
    "reproduce.Row": RECORD,
    "benchmark.Growth": RECORD,
    "benchmark.Growth.against": RECORD,
    "benchmark.Moves": RECORD,
    "benchmark.Results": RECORD,
    "benchmark.Timing": RECORD,
    "benchmark.Timing.against": RECORD,
}


def callables():
    """Return every public function, class and method by name, rules left out: they take measurements."""
    found = {
        f"{subject}.{name}": value
        for subject in claims.__all__
        for name, value in vars(importlib.import_module(f"{claims.__name__}.{subject}")).items()
        if getattr(value, "__module__", "") == f"{claims.__name__}.{subject}"
        and not name.startswith(("_", "rule_"))
    }
    for module in (reproduce, benchmark):
        short = module.__name__.rpartition(".")[2]
        found |= {f"{short}.{name}": getattr(module, name) for name in module.__all__}
    if torch is not None:
        found["baselines.PlainTwoLayer"] = PlainTwoLayer  # which a chapter uses
    for name, value in list(found.items()):
        if inspect.isclass(value):
            methods = [method for method in dir(value) if not method.startswith("_")]
            found |= {f"{name}.{method}": getattr(value, method) for method in methods}
    return {name: value for name, value in found.items() if callable(value)}


@pytest.fixture
def trained(monkeypatch):
    """Runs of training that have come to their end."""
    ended = []

    def watched(train):
        @functools.wraps(train)
        def run(*arguments, **options):
            found = train(*arguments, **options)
            ended.append(train.__qualname__)
            return found

        return run

    engines = ((mt.OneLayerModel, "train"), (Trainable, "flow"), (Trainable, "descend"))
    for owner, name in (*engines, (escape, "deterministic_run")):
        monkeypatch.setattr(owner, name, watched(getattr(owner, name)))
    return ended


@pytest.mark.parametrize(("name", "argument"), TABLE.cases())
def test_a_hostile_argument_is_refused_by_name_before_anything_is_trained(name, argument, trained):
    TABLE.assert_refuses(name, argument)
    assert trained == []


@pytest.mark.parametrize(
    ("call", "argument", "shown"), SPECIAL, ids=[f"{argument}-{shown[:20]}" for _, argument, shown in SPECIAL]
)
def test_arguments_that_conflict_are_refused_with_the_name_of_one(call, argument, shown, trained):
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    named, _, came = str(caught.value).rpartition("got ")
    assert re.search(rf"(?<![\w.]){re.escape(argument)}(?!\w)", named), caught.value
    assert shown in came, caught.value
    assert trained == []


@pytest.mark.parametrize("name", TABLE)
def test_the_arguments_beside_a_hostile_one_are_good(name):
    if name in NEEDS_TORCH and torch is None:
        pytest.skip("it trains a torch model")
    TABLE.assert_takes_good_arguments(name)


@pytest.mark.parametrize("name", callables())
def test_every_parameter_of_a_public_name_has_hostile_rows(name):
    TABLE.assert_covers(name, callables()[name], EXCEPTIONS)


def test_no_row_and_no_exception_outlives_its_name():
    TABLE.assert_no_ghosts(callables(), EXCEPTIONS)


def test_the_exceptions_do_not_grow():
    assert len(EXCEPTIONS) <= 11


@pytest.mark.parametrize("command", MISUSE)
def test_misuse_of_the_command_line_ends_with_status_2_and_one_line_that_tells(command, capsys, monkeypatch):
    rows = dict.fromkeys(benchmark.ROWS, lambda: pytest.fail("a row was timed"))
    monkeypatch.setattr(benchmark, "ROWS", rows)
    monkeypatch.setattr(reproduce._claim, "run", lambda *_: pytest.fail("a claim was checked"))
    try:
        status = main(command.split())
    except SystemExit as left:
        status = left.code
    told = capsys.readouterr()
    *usage, line = told.err.splitlines()
    assert status == 2 and told.out == ""
    assert all(part.startswith(("usage: ", "  ")) for part in usage)
    assert 20 < len(line) < 200
