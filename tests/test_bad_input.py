"""Hostile calls: each must raise one clear error that names the argument and what came."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

import markov_transformers as mt
from tests.hostile import (
    FLAG,
    HUGE,
    INF,
    LAGS,
    LOSS,
    NAN,
    OBJECT,
    RNG,
    WORD,
    Table,
    array,
    count,
    law,
    number,
    or_none,
    tokens,
)

# What is called with what, and what is hostile to each argument.

WALK = mt.CircleWalk(6, 0.5)
CHAIN = mt.NGramChain(np.full((2, 2, 2), 0.5), lags=(1, 2))
LONG = mt.NGramChain([[0.9, 0.1], [0.1, 0.9]], lags=(10**9,))
PRIOR = mt.DirichletPrior(2, (1, 2), 1.0)
WINDOWS = CHAIN.stationary_windows(3)  # (2, 2, 2)
CONTEXTS = np.array([[0, 1, 0, 1, 1, 0, 1, 1], [1, 1, 0, 0, 1, 0, 1, 0]])
COUNTS = mt.WindowCounts.from_tokens(CONTEXTS, window=2, vocab_size=2)
TOKENS = np.array([[0, 1, 2, 0, 1, 2, 0], [1, 2, 0, 1, 2, 0, 1]])
MODEL = mt.OneLayerModel(3, 7, 8)
ZERO = MODEL.zero()
RUN = MODEL.train(TOKENS, learning_rate=0.1, steps=2)
RELU = mt.ReluModel(3, 7, width=2, position_dim=8)
NEURONS = RELU.random(0.1, rng=0)
SOLUTION = mt.symmetric_solution(MODEL, learning_rate=0.1, steps=2)
TASK = mt.preference_task()
QUESTIONS = [("a b", "a"), ("b a", "b")]
SLIDER = mt.Slider("x", [0, 1, 2], 1)
EXPLORER = mt.Explorer(lambda figure, x: "A picture.", {"x": SLIDER}, name="n", title="T")
MEASURES = {"windows": (WINDOWS, [*array((2, 2, 2)), np.full((2, 2, 2), 0.5), -WINDOWS, np.ones(2)])}
SUBSET = {"subset": ((1,), [*LAGS, [3]])}
AVERAGE = {"average": (True, FLAG)}
VOCABULARY = {"vocab_size": (2, or_none(count(1, huge=True)))}
SIZES = {"n_sequences": (2, count(1, huge=True)), "rng": (0, RNG)}
INITIAL = {
    "initial": ("uniform", [*or_none(WORD), *array((2, 2)), [0, 2], np.ones((2, 2)), [[0.5, 0.5], [1]]])
}
TRAIN = {"learning_rate": (0.1, number(0)), "steps": (2, count(0, huge=True)), "loss": (None, LOSS)}
WEIGHTS = [*or_none(array((2,), low=0)), [0.0, 0.0]]


TABLE = Table()
row = TABLE.row

# walks
row("CircleWalk", mt.CircleWalk, n_nodes=(6, count(3)), p=(0.5, number(0, 1)))
row("CircleWalk.sample", WALK.sample, length=(5, count(2, huge=True)), **SIZES)
row("CircleWalk.enumerate", WALK.enumerate, length=(3, count(2, huge=True)))
row("CircleWalk.predict", WALK.predict, tokens=([[0, 1]], tokens(6)))

# chains
row("NGramChain", mt.NGramChain, kernel=(CHAIN.kernel, law((2, 2, 2))), lags=((1, 2), [*LAGS, [2, 1], ()]))
row("NGramChain.sample", CHAIN.sample, length=(5, count(1, huge=True)), **SIZES, **INITIAL)
row("NGramChain.predict", CHAIN.predict, tokens=(CONTEXTS, tokens(2, shortest=2)))
row(
    "NGramChain.stationary_distribution",
    CHAIN.stationary_distribution,
    initial=(None, or_none(INITIAL["initial"][1])),
)
row(
    "NGramChain.stationary_windows",
    CHAIN.stationary_windows,
    length=(3, count(1, huge=True)),
    initial=(None, or_none(INITIAL["initial"][1])),
)
row("NGramChain.mixing_time", CHAIN.mixing_time, tolerance=(0.25, number(0, 1, above=0)))
row(
    "DirichletPrior",
    mt.DirichletPrior,
    vocab_size=(2, count(2)),
    lags=((1, 2), [*LAGS, [2, 1], ()]),
    concentration=(1.0, number(1e-12, 1e12, above=0)),
)
row("DirichletPrior.sample_kernels", PRIOR.sample_kernels, n_kernels=(2, count(1, huge=True)), rng=(0, RNG))
row(
    "DirichletPrior.sample",
    PRIOR.sample,
    length=(5, count(1, huge=True)),
    return_kernels=(True, FLAG),
    **SIZES,
    **INITIAL,
)
row("DirichletPrior.predict", PRIOR.predict, tokens=(CONTEXTS, tokens(2, shortest=2)))

# information
row("chi2_divergence", mt.chi2_divergence, p=([0.5, 0.5], law((2,))[1:]), q=([0.5, 0.5], law((2,))[1:]))
for measure in ("chi2_information", "modified_chi2_information", "shannon_information"):
    row(measure, getattr(mt, measure), **MEASURES, **SUBSET, **AVERAGE)
row(
    "information_of_subsets",
    mt.information_of_subsets,
    **MEASURES,
    max_size=(1, count(0, 2)),
    measure=("chi2", WORD),
    **AVERAGE,
)
row("information_set", mt.information_set, **MEASURES, max_size=(1, count(0, 2)))
row(
    "empirical_windows",
    mt.empirical_windows,
    tokens=(CONTEXTS, tokens(2, shortest=2)),
    length=(2, count(1)),
    **VOCABULARY,
    per_sequence=(False, FLAG),
)
row(
    "copying_gap_threshold",
    mt.copying_gap_threshold,
    information=(0.2, number(0, above=0)),
    gap=(0.1, number(0, 0.2)),
    window=(3, count(1)),
)

# induction
row(
    "GeneralizedInductionHead",
    mt.GeneralizedInductionHead,
    subset=((1, 2), [*LAGS, [3]]),
    window=(2, count(1)),
)
row("InductionHead", mt.InductionHead, window=(2, count(1)))
row("FullHistoryMatch", mt.FullHistoryMatch, window=(2, count(1, huge=True)))
row(
    "BayesOptimal",
    mt.BayesOptimal,
    lags=((1, 2), [*LAGS, ()]),
    concentration=(1.0, [*number(0, above=0), 1e301]),
)
for predictor in (
    mt.GeneralizedInductionHead((1,), 2),
    mt.InductionHead(2),
    mt.FullHistoryMatch(2),
    mt.Unigram(),
    mt.BayesOptimal((2,), 1),
):
    name = type(predictor).__name__
    shortest = 1 if name == "Unigram" else 2 if name == "BayesOptimal" else 3
    row(
        f"{name}.predict",
        predictor.predict,
        tokens=(CONTEXTS, [*tokens(2, shortest=shortest), [[0, 1, HUGE]]]),
        **VOCABULARY,
    )
row("best_report", mt.best_report, law=([0.5, 0.5], law((2,))[1:]), epsilon=(0.1, number(0)))
row(
    "match_features",
    mt.match_features,
    tokens=(CONTEXTS, tokens(2, shortest=2)),
    subset=((1, 2), LAGS),
    vocab_size=(2, or_none(count(1))),
)
row(
    "match_kernel",
    mt.match_kernel,
    tokens=(CONTEXTS, [*tokens(shortest=2), np.zeros((1, 10**6), int)]),
    subset=((1, 2), LAGS),
)
row(
    "monomial_features",
    mt.monomial_features,
    heads=(np.ones((2, 3)), [*array((2, 3))[:9], np.full((2, 3), NAN), np.ones(3)]),
    weights=(np.ones(4), array((4,))),
    max_degree=(2, count(0, 2)),
)
row(
    "n_monomial_features",
    mt.n_monomial_features,
    n_heads=(2, count(1)),
    vocab_size=(2, count(1)),
    max_degree=(2, count(0, 2)),
)

# windows
row(
    "WindowCounts.from_tokens",
    mt.WindowCounts.from_tokens,
    tokens=(CONTEXTS, tokens(2, shortest=4)),
    window=(2, count(1)),
    vocab_size=(2, count(2)),
)
row("WindowCounts.n_matches", COUNTS.n_matches, subset=((1,), [*LAGS, [3]]))
for method in ("by_match", "by_key"):
    row(f"WindowCounts.{method}", getattr(COUNTS, method), mask=(True, FLAG), labels=("target", WORD))

# staged, full_model, layer_norm, dynamics
for Model in (mt.StagedModel, mt.FullModel, mt.LayerNormModel):
    model, name = Model(COUNTS, degree=1), Model.__name__
    start = model.initial_parameters()
    shapes = {key: np.shape(value) for key, value in start.items()}
    starts = [*OBJECT[1:], {}, {"c": start["c"]}, {**start, "more": 1.0}]
    nested = {key: array(shape) for key, shape in shapes.items()}
    switches = {key: (True, FLAG) for key in ("centre", "unit_variance", "self_attention")}
    row(
        name,
        Model,
        counts=(COUNTS, OBJECT),
        degree=(1, count(0, 3)),
        heads=(2, or_none(count(1, huge=True))),
        epsilon=(0.1, number(0)),
        mask=(True, FLAG),
        loss=(None, LOSS),
        **({**switches, "floor": (1e-5, number(0))} if Model is mt.LayerNormModel else {}),
    )
    row(
        f"{name}.initial_parameters",
        model.initial_parameters,
        own=(3.0, number()),
        other=(0.01, number()),
        c=(0.01, [*number(), 0.0]),
        a=(0.01, number()),
        **({} if Model is mt.StagedModel else {"identity": (0.001, number())}),
    )
    for method in ("loss_and_gradients", "predict"):
        row(f"{name}.{method}", getattr(model, method), **{key: (start[key], nested[key]) for key in start})
    method = ("RK45", or_none(WORD))
    trained = ("c", [3, "", "no such", [], ["c", "c"], [3], NAN, b"c"])
    row(
        f"{name}.flow",
        model.flow,
        start=(start, [*starts, None]),
        duration=(1.0, number(0)),
        train=trained,
        rtol=(1e-6, number(0, above=0)),
        atol=(1e-8, number(0)),
        method=method,
    )
    row(
        f"{name}.descend",
        model.descend,
        start=(start, [*starts, None]),
        n_steps=(2, count(0, huge=True)),
        train=trained,
        learning_rate=(0.1, number(0, above=0)),
    )
    row(
        f"{name}.three_stages",
        model.three_stages,
        start=(start, starts),
        durations=((1.0, 1.0, 1.0), [*array((3,), low=0), (1.0, 1.0, 0.55)]),
        rtol=(1e-6, number(0, above=0)),
        learning_rate=(0.1, or_none(number(0, above=0))),
        method=(None, [*or_none(WORD), "RK45"]),
    )
STAGED = mt.StagedModel(COUNTS, degree=1)
START = STAGED.initial_parameters()
FLOW = STAGED.flow(START, 1.0, "c")
row(
    "StagedModel.misspecification",
    STAGED.misspecification,
    c=(START["c"], array((3,))),
    w=(START["w"], array((2, 2))),
    subset=((1,), [*LAGS, [1, 2]]),
)
row(
    "Trajectory.at",
    FLOW.at,
    time=(0.5, [None, "0.5", 1j, True, {}, NAN, INF, -0.1, 1.1, [0.5, 2.0], [[0.5]], []]),
)
row(
    "Trajectory.then",
    FLOW.then,
    following=(
        STAGED.flow({name: value[-1] for name, value in FLOW.parameters.items()}, 1.0, "w"),
        [*OBJECT, FLOW],
    ),
)

# readout, losses
row(
    "SoftmaxCrossEntropy.__call__",
    mt.SoftmaxCrossEntropy(),
    probabilities=(np.full((2, 3), 1 / 3), array((2, 3))),
    targets=([0, 1], [*tokens(3, ndim=1), [0], [0, 1, 2]]),
)
row("LogLoss", mt.LogLoss, epsilon=(0.1, number(0)))
for loss in (mt.LogLoss(), mt.SquareLoss(), mt.LogisticLoss(), mt.HingeLoss(), mt.ExponentialLoss()):
    for method in ("value", "derivative"):
        hostile = [
            None,
            "abc",
            b"1",
            1j,
            True,
            {},
            [None],
            [[1.0], [1.0, 2.0]],
            np.ma.masked_array([1.0], [True]),
        ]
        row(f"{type(loss).__name__}.{method}", getattr(loss, method), score=([0.5], hostile))

# selection, reweighting
GRID = {"concentrations": ([0.1, 1.0], [*array((2,), low=0), [0.0]]), "gaps": ([1.0], array((1,), low=0))}
RACE = {
    "lags": ((1,), [*LAGS, [2, 1], ()]),
    "vocab_size": (2, count(2, huge=True)),
    "window": (2, count(1, huge=True)),
    "degree": (1, count(0, 2)),
    "epsilon": (0.1, number(0)),
    "n_chains": (2, count(1, huge=True)),
    "rng": (0, RNG),
}
row(
    "blurred_information",
    mt.blurred_information,
    **MEASURES,
    w=(np.ones((2, 2)), array((2, 2))),
    degree=(1, count(0, 2)),
    epsilon=(0.1, number(0)),
)
row("predict_selection", mt.predict_selection, **GRID, **RACE)
row(
    "train_selection",
    mt.train_selection,
    **GRID,
    **{**RACE, "window": (2, count(1))},
    a=(0.01, number()),
    length=(9, count(3, huge=True)),
    duration=(1.0, number(0)),
)
row("reweighted_law", mt.reweighted_law, **MEASURES, **SUBSET, a=(1.0, number(0)))
row("classifier_speed", mt.classifier_speed, **MEASURES, **SUBSET, a=(1.0, number(0)), **AVERAGE)
row(
    "induction_head_bound",
    mt.induction_head_bound,
    a=(1.0, number(0)),
    error=(0.1, number(0)),
    n_matches=([1, 2], [*array((2,), low=0)[:8], [NAN], [-1], [9]]),
    n_positions=(8, count(1)),
)

# one_layer
PARAMETERS = [*OBJECT, NEURONS]
INPUTS = ([[0, 1, 2, 0, 1, 2]], [*tokens(3), TOKENS])
row("sine_positions", mt.sine_positions, length=(3, count(2)), dim=(5, count(3, huge=True)))
row(
    "OneLayerModel",
    mt.OneLayerModel,
    vocab_size=(3, count(2, huge=True)),
    length=(5, count(2)),
    position_dim=(8, count(5)),
    unit_length=(False, FLAG),
)
row("OneLayerModel.random", MODEL.random, scale=(0.1, number(0)), rng=(0, RNG))
row(
    "OneLayerModel.from_matrices",
    MODEL.from_matrices,
    value=(np.ones((3, 3)), array((3, 3))),
    query_key=(np.ones((11, 11)), array((11, 11))),
)
row(
    "OneLayerModel.to_matrices",
    MODEL.to_matrices,
    parameters=(ZERO, PARAMETERS),
    start=(None, or_none(array((11, 11)))),
)
for method in ("attention", "scores", "predict"):
    row(f"OneLayerModel.{method}", getattr(MODEL, method), parameters=(ZERO, PARAMETERS), inputs=INPUTS)
LOSS_ROW = {"tokens": (TOKENS, [*tokens(3), TOKENS[:, 1:]]), "loss": (None, LOSS), "weights": (None, WEIGHTS)}
row("OneLayerModel.loss_and_gradients", MODEL.loss_and_gradients, parameters=(ZERO, PARAMETERS), **LOSS_ROW)
row(
    "OneLayerModel.train",
    MODEL.train,
    **{**LOSS_ROW, **TRAIN},
    start=(None, or_none(PARAMETERS)),
    test=(TOKENS, [*or_none(tokens(3)), TOKENS[:, 1:]]),
    test_weights=(None, WEIGHTS),
    truth=(None, or_none(law((2, 3)))),
    record_every=(1, count(1)),
)
row("OneLayerRun.parameters", RUN.parameters, record=(0, count(-3, 2)))

# questions
row(
    "TemplateTask",
    mt.TemplateTask,
    questions=(QUESTIONS, [None, 3, "ab", [], [("a b",)], [("a b", 3)], [(3, "a")], ["ab"], {"a": 1}]),
    vocabulary=(None, [3, "ab", ["a", "a"], ["a", 3], ["a", "b c"], ["a", ""], NAN, [b"a"]]),
    probabilities=(None, or_none(law((2,)))),
)
row("TemplateTask.encode", TASK.encode, text=("an apple", [None, 3, b"an", "", "?!", ["an"], NAN]))
row("TemplateTask.decode", TASK.decode, tokens=([0, 1], tokens(19, ndim=1)))
row("TemplateTask.sample", TASK.sample, **SIZES)
row(
    "TemplateTask.predict",
    TASK.predict,
    tokens=(TASK.enumerate()[0][:, :-1], [*tokens(19), TASK.enumerate()[0]]),
)
row(
    "bag_of_words_test",
    mt.bag_of_words_test,
    tokens=(TOKENS, tokens(shortest=2)),
    probabilities=(None, or_none(law((2,)))),
)

# relu
row(
    "ReluModel",
    mt.ReluModel,
    vocab_size=(3, count(2, huge=True)),
    length=(5, count(2)),
    width=(2, count(1, huge=True)),
    position_dim=(8, count(5)),
    unit_length=(False, FLAG),
)
row("ReluModel.random", RELU.random, scale=(0.1, number(0)), rng=(0, RNG))
row(
    "ReluModel.loss_and_gradients", RELU.loss_and_gradients, parameters=(NEURONS, [*OBJECT, ZERO]), **LOSS_ROW
)
row("ReluModel.train", RELU.train, start=(NEURONS, [*OBJECT, ZERO]), **{**LOSS_ROW, **TRAIN})

# symmetry
EASY = [*OBJECT, RELU]
RATE = {"learning_rate": (0.1, number(0))}
row("symmetric_solution", mt.symmetric_solution, model=(MODEL, EASY), **TRAIN)
row("lag_profile", mt.lag_profile, model=(MODEL, EASY), parameters=(ZERO, PARAMETERS))
row(
    "follow_deviation",
    mt.follow_deviation,
    model=(MODEL, EASY),
    solution=(SOLUTION, OBJECT),
    start=(0, count(0, 2)),
    value=(np.ones(3), array((3,))),
    position=(np.ones(3), array((3,))),
    **RATE,
)
row(
    "train_with_gram",
    mt.train_with_gram,
    model=(MODEL, [*OBJECT, RELU]),
    gram=(np.eye(7), array((7, 7))),
    **TRAIN,
)

# explorer
row(
    "Slider",
    mt.Slider,
    label=("x", [None, 3, "", b"x"]),
    start=(1, [*number(), 1.5, "1"]),
    play=(False, FLAG),
    values=([0, 1, 2], [*array((3,)), [1], [0, 2, 1], [0, 1, 1], 3]),
    page=((), [None, "abc", 1, [0, 5], [NAN], ["a"], [[0]]]),
    when=({}, [None, 3, "x", ["x"]]),
)
row(
    "Choice",
    mt.Choice,
    label=("x", [None, 3, "", b"x"]),
    start=("a", [None, 3, "c", ["a"], NAN]),
    free=("", [None, 3, True]),
    values=(["a", "b"], [None, 3, "ab", ["a"], ["a", "a"], ["a", 1]]),
    page=((), [None, 3, "a", ["c"], [1]]),
    when=({}, [None, 3, "x", ["x"]]),
)
row(
    "Explorer",
    mt.Explorer,
    draw=(lambda figure, x: "A picture.", OBJECT[:-1]),
    name=("n", [None, 1, "", "two words", '"><a>']),
    controls=({"x": SLIDER}, [*OBJECT, {"x": 3}, [SLIDER]]),
    title=("T", [None, 3, b"T"]),
    presets=(None, [3, ["far"], {"far": 1}]),
    size=((7, 4), [*array((2,)), (0, 4), (7, 400), 7, (7,)]),
)
row("Explorer.new_figure", EXPLORER.new_figure, dpi=(100, number(50, 400)))
row("Explorer.widget", EXPLORER.widget, dpi=(100, number(50, 400)), schedule=(None, [3, "soon", [], NAN]))

# progress
row(
    "progress",
    mt.progress,
    items=([1, 2], [None, 3, NAN, True]),
    description=("", [None, 3, b"x"]),
    total=(2, or_none(count(0))),
)


@pytest.mark.parametrize(("name", "argument"), TABLE.cases())
def test_a_hostile_argument_raises_one_error_that_names_it_and_shows_what_came(name, argument):
    TABLE.assert_refuses(name, argument)


@pytest.mark.parametrize("name", TABLE)
def test_the_arguments_beside_a_hostile_one_are_good(name):
    TABLE.assert_takes_good_arguments(name)


# Calls in which several arguments conflict, or something inside an argument is at fault.
SPECIAL = [
    (lambda: STAGED.predict(START["c"], np.full((2, 2), 1e101), 1.0), "w", "1.e+101"),
    (lambda: STAGED.predict(START["c"], START["w"], 1e101), "a", "1e+101"),
    (lambda: STAGED.predict([1e-300] * 3, START["w"], 1.0), "c", "1e-300"),
    (lambda: STAGED.predict([1e300] * 3, START["w"], 1.0), "c", "1e+300"),
    (
        lambda: MODEL.predict(changed(value=np.full((3, 3), 1e101)), TOKENS[:, 1:]),
        "parameters.value",
        "1.e+101",
    ),
    (lambda: mt.train_with_gram(MODEL, np.eye(7), learning_rate=1e200, steps=3), "learning_rate", "1e+200"),
    (lambda: WALK.sample(2, 5), "rng", "missing"),
    (lambda: WALK.enumerate(40), "length", "40"),
    (lambda: mt.CircleWalk(6, 1.0).enumerate(10**9), "length", "1000000000"),
    (lambda: mt.CircleWalk(10**6, 0.5).transition_matrix(), "n_nodes", "1000000"),
    (lambda: mt.CircleWalk(10**6, 0.5).predict([[0, 1]]), "n_nodes", "1000000"),
    (lambda: mt.CircleWalk(HUGE, 0.5).stationary_distribution(), "n_nodes", str(HUGE)),
    (lambda: mt.NGramChain([[[0.5, 0.5]], [[0.5, 0.5]]], (1, 2)), "kernel", "(2, 1, 2)"),
    (lambda: mt.NGramChain([0.5, 0.5], (1,)), "kernel", "(2,)"),
    (lambda: mt.NGramChain(np.zeros((0, 2, 2)), (1,)), "kernel", "(0, 2, 2)"),
    (lambda: LONG.sample(1, 5, rng=0), "length", "(1, 5)"),
    (lambda: LONG.sample(1, 5, rng=0, initial="stationary"), "length", "(1, 5)"),
    (lambda: LONG.transition_matrix(), "kernel", "lags=(1000000000,)"),
    (lambda: LONG.stationary_distribution(), "kernel", "lags=(1000000000,)"),
    (lambda: LONG.stationary_distribution("uniform"), "kernel", "lags=(1000000000,)"),
    (lambda: LONG.stationary_windows(2), "length", "lags=(1000000000,)"),
    (lambda: LONG.communicating_classes(), "kernel", "lags=(1000000000,)"),
    *[
        (lambda name=name: getattr(LONG, name), "kernel", "lags=(1000000000,)")
        for name in (
            "irreducible",
            "period",
            "primitive",
            "absorbing",
            "has_unique_stationary_law",
            "second_eigenvalue",
            "spectral_gap",
        )
    ],
    (lambda: LONG.reversible, "length", "1000000001"),
    (lambda: LONG.mixing_time(), "kernel", "lags=(1000000000,)"),
    (lambda: mt.NGramChain([[0.9, 0.1], [0.1, 0.9]], lags=(13,)).mixing_time(), "kernel", "8192"),
    (lambda: mt.NGramChain([[0.9, 0.1], [0.1, 0.9]], lags=(13,)).second_eigenvalue, "kernel", "8192"),
    (lambda: mt.NGramChain([[1.0]], lags=(40,)).stationary_distribution("uniform"), "initial", "'uniform'"),
    (lambda: mt.NGramChain(np.full((3, 2, 2), 0.5), (1,)).predict(CONTEXTS), "tokens", "(2, 8)"),
    (
        lambda: mt.NGramChain(np.full((3, 2, 2), 0.5), (1,)).communicating_classes(),
        "communicating_classes",
        "3",
    ),
    (lambda: mt.NGramChain(np.eye(2), (1,)).stationary_distribution(), "initial", "2 closed classes"),
    (lambda: mt.DirichletPrior(2, (10**9,), 1.0).sample(1, 5, rng=0), "length", "(1, 5)"),
    (lambda: mt.DirichletPrior(10**9, (1,), 1.0).sample_kernels(1, rng=0), "n_kernels", "1"),
    (lambda: mt.chi2_divergence([0.5, 0.5], [1 / 3] * 3), "q", "(3,)"),
    (lambda: mt.information_of_subsets(np.full((2,) * 20, 0.5**20), 19), "max_size", "19"),
    (lambda: mt.information_of_subsets(np.full((1500, 100, 10), 1e-3), 1), "windows", "(1500, 100, 10)"),
    (lambda: mt.empirical_windows(CONTEXTS, 9), "tokens", "(2, 8)"),
    (lambda: mt.empirical_windows(np.zeros((1, 99), int), 50), "length", "50"),
    (lambda: mt.empirical_windows([[0, HUGE]], 1), "vocab_size", str(HUGE + 1)),
    (lambda: mt.GeneralizedInductionHead((3,), 2), "subset", "(3,)"),
    (lambda: mt.FullHistoryMatch(10**9), "window", "1000000000"),
    (lambda: mt.FullHistoryMatch(10**5).predict(CONTEXTS), "tokens", "(2, 8)"),
    (lambda: mt.match_features(CONTEXTS, range(1, 99), 2), "tokens", "(2, 8)"),
    (lambda: mt.match_features(CONTEXTS, (1, 2), 10**6), "subset", "(1, 2)"),
    (lambda: mt.monomial_features(np.ones((64, 3)), [1.0], 64), "heads", "(64, 3)"),
    (lambda: mt.n_monomial_features(10**6, 3, 5 * 10**5), "max_degree", "500000"),
    (lambda: mt.WindowCounts.from_tokens(np.zeros((1, 99), int), 60, 2), "window", "60"),
    (lambda: mt.WindowCounts.from_tokens([[0, 1, 0]], 2, 2), "tokens", "(1, 3)"),
    (
        lambda: mt.WindowCounts.from_tokens([[0, 1, 0]], 1, 10**9).by_match(labels="tokens"),
        "vocab_size",
        "1000000000",
    ),
    (lambda: mt.StagedModel(COUNTS, 20, heads=40), "degree", "20"),
    (
        lambda: mt.StagedModel(COUNTS, 1).flow({"c": [0, 0, 0], "w": np.ones((2, 2)), "a": 1}, 1.0),
        "c",
        "[0, 0, 0]",
    ),
    (lambda: mt.StagedModel(COUNTS, 1).flow({"c": [1], "w": np.ones((2, 2)), "a": 1}, 1.0), "c", "(1,)"),
    (lambda: mt.FullModel(mt.WindowCounts.from_tokens([[0, 1, 0]], 1, 10**6), 1), "heads", "1"),
    (lambda: mt.blurred_information(np.full((2,) * 14, 0.5**14), np.ones((1, 13)), 1), "windows", "(1, 2, 2"),
    (lambda: mt.blurred_information(np.full((2,) * 13, 0.5**13), np.ones((12, 12)), 12), "degree", "12"),
    (lambda: mt.blurred_information(WINDOWS, np.ones((0, 2)), 0), "w", "shape=(0, 2)"),
    (lambda: mt.train_selection([1.0], [1.0], window=5, length=5, rng=0), "length", "5"),
    (lambda: mt.OneLayerModel(3, 97, 96), "position_dim", "96"),
    (
        lambda: mt.OneLayerModel(3, 5, 10**6).to_matrices(mt.OneLayerModel(3, 5).zero()),
        "position_dim",
        "1000000",
    ),
    (lambda: mt.sine_positions(5, 4), "dim", "4"),
    (lambda: MODEL.scores(changed(value=np.zeros((2, 2))), TOKENS[:, :-1]), "parameters.value", "(2, 2)"),
    (lambda: MODEL.scores(changed(content=np.zeros(4)), TOKENS[:, :-1]), "parameters.content", "(4,)"),
    (lambda: MODEL.scores(changed(position=np.full(7, NAN)), TOKENS[:, :-1]), "parameters.position", "nan"),
    (
        lambda: MODEL.train(TOKENS, learning_rate=1, steps=1, start=changed(content=[INF] * 3)),
        "start.content",
        "inf",
    ),
    (lambda: MODEL.train(TOKENS, learning_rate=1, steps=1, test_weights=[1.0, 1.0]), "test_weights", "alone"),
    (lambda: mt.TemplateTask([("", "a")]), "questions[0]", "''"),
    (lambda: mt.TemplateTask([("a b", "c")]), "questions[0]", "'c'"),
    (lambda: mt.TemplateTask([("a b", "a"), ("a", "a")]), "questions", "1 in 'a'"),
    (lambda: mt.TemplateTask([("a a", "a")]), "questions", "('a a', 'a')"),
    (lambda: TASK.predict(np.zeros((1, 18), int)), "tokens", "apple apple"),
    (
        lambda: mt.bag_of_words_test(np.random.default_rng(0).integers(600, size=(2000, 8))),
        "tokens",
        "(2000, 8)",
    ),
    (lambda: mt.symmetric_solution(mt.OneLayerModel(3, 6), learning_rate=1, steps=1), "model.length", "6"),
    (
        lambda: mt.symmetric_solution(mt.OneLayerModel(2, 5), learning_rate=1, steps=1),
        "model.vocab_size",
        "2",
    ),
    (lambda: EXPLORER.render(x=9), "x", "9"),
    (lambda: EXPLORER.render(x=NAN), "x", "nan"),
    (lambda: EXPLORER.render(x=[0]), "x", "[0]"),
    (lambda: EXPLORER.render(y=0), "control", "'y'"),
    (lambda: explorer(presets={"far": {"x": 9}}), "x", "9"),
    (lambda: explorer(presets={"odd": {"y": 1}}), "control", "'y'"),
    (lambda: explorer(lambda figure, x: None).render(), "draw", "None"),
    (lambda: explorer(lambda figure, x: "").render(), "draw", "''"),
]


def changed(**parts):
    return mt.OneLayerParameters(**{**vars(ZERO), **parts})


def explorer(draw=lambda figure, x: "A picture.", **options):
    return mt.Explorer(draw, {"x": SLIDER}, name="n", title="T", **options)


@pytest.mark.parametrize(
    ("call", "argument", "shown"), SPECIAL, ids=[f"{argument}-{shown[:20]}" for _, argument, shown in SPECIAL]
)
def test_arguments_that_conflict_raise_one_error_that_names_one_and_shows_what_came(call, argument, shown):
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    message = str(caught.value)
    assert re.search(rf"(?<![\w.]){re.escape(argument)}(?!\w)", message), message
    assert shown in message.replace(argument, "", 1), message


# Names of the library whose parameters have no rows, and why.
RECORD = "holds what the library has computed; nobody need build one"
BUNDLE = "holds parameters, which every method that takes them checks"
ASKED = "asked by an Explorer alone, about values that it checks itself"
EXCEPTIONS = {
    "BagOfWordsTest": RECORD,
    "InformationSet": RECORD,
    "OneLayerRun": RECORD,
    "ReluRun": RECORD,
    "ScoreCounts": RECORD,
    "SelectionMap": RECORD,
    "SymmetricSolution": RECORD,
    "Trajectory": RECORD,
    "WindowCounts": RECORD,
    "OneLayerParameters": BUNDLE,
    "ReluParameters": BUNDLE,
    "Choice.settled": ASKED,
    "Choice.show": ASKED,
    "Choice.takes": ASKED,
    "Slider.settled": ASKED,
    "Slider.show": ASKED,
    "Slider.takes": ASKED,
    "check": "refuses no answer: it explains what is wrong with one",
    "Explorer.render": "takes any names of controls: in SPECIAL",
    "Explorer.values": "takes any names of controls: in SPECIAL, through render",
}


def callables():
    """Return every public function and class, and each of its methods, by name."""
    found = {}
    for name in mt._HOME_OF:
        found[name] = getattr(mt, name)
        if inspect.isclass(found[name]):
            methods = [m for m in dir(found[name]) if not m.startswith("_") or m == "__call__"]
            found |= {
                f"{name}.{m}": getattr(found[name], m)
                for m in methods
                if m != "__call__" or m in vars(found[name])
            }
    return {name: function for name, function in found.items() if callable(function)}


@pytest.mark.parametrize("name", callables())
def test_every_parameter_of_a_public_name_has_hostile_rows(name):
    TABLE.assert_covers(name, callables()[name], EXCEPTIONS)


def test_no_row_and_no_exception_outlives_its_name():
    TABLE.assert_no_ghosts(callables(), EXCEPTIONS)


def test_the_exceptions_do_not_grow():
    assert len(EXCEPTIONS) <= 20


def test_every_kind_of_hostile_argument_has_several():
    assert min(len(hostile) for entry in TABLE.values() for _, hostile in entry.arguments.values()) >= 3
