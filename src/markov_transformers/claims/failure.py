r"""Measurements behind what the paper says of deterministic walks, p = 0 and p = 1.

Each measuring function runs the experiment and returns what it found as a dictionary of numbers: no
verdict, nothing printed. Beside each stands the rule that turns such a dictionary into a verdict.

A deterministic walk has K possible courses, so its population is a list of K sequences and every
population loss here is exact. The theorem is about exact arithmetic. `OneLayerModel` takes the inner
products of the positions to be exactly zero, and treats equal places alike to the last digit;
`literal_run` trains the whole transformer with the rounding of its floating-point numbers.

Source: Shi and Cao (2025), section 4, Theorem 4.1 and Figure 5.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from .. import _validation as check
from .._progress import progress
from ..losses import ExponentialLoss, HingeLoss, LogisticLoss, LogLoss, Loss, SquareLoss
from ..one_layer import OneLayerModel, OneLayerRun, sine_positions
from ..symmetry import follow_deviation, lag_profile, symmetric_solution, train_with_gram
from ..walks import CircleWalk
from . import _arguments as given

LOSSES: dict[str, Loss] = {
    "log": LogLoss(0.1),
    "square": SquareLoss(),
    "logistic": LogisticLoss(),
    "hinge": HingeLoss(),
    "exponential": ExponentialLoss(),
}
_FIGURE_STEPS = 50  # of the paper's figure
_ARITHMETIC: dict[str, dict] = {
    "float32": {"precision": "float32"},
    "float64": {"precision": "float64"},
    "float32, unit length": {"precision": "float32", "unit_length": True},
}
RATES = tuple(10.0**power for power in range(-3, 4))


def sweep(
    n_nodes: int, p: float, length: int, *, steps: int, rates: Sequence[float] = RATES
) -> dict[tuple[str, float], OneLayerRun]:
    """Train on the population of a deterministic walk with five losses and many learning rates.

    Parameters
    ----------
    n_nodes : int
        Number of nodes K, at least 3.
    p : float
        0 or 1.
    length : int
        Columns N, at least 2.
    steps : int
        Gradient steps, zero or more.
    rates : sequence of float, default 0.001, 0.01, ..., 1000
        Learning rates.

    Returns
    -------
    dict
        A run for each pair of a loss's name and a rate. One that stops being finite is kept as far
        as it got, with ``diverged`` set.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> runs = sweep(6, 1.0, 13, steps=5, rates=[0.1, 10.0])
    >>> sorted({round(float(run.accuracy[-1]), 4) for run in runs.values()})
    [0.1667]
    """
    p = check.real("p", p, 0.0, 1.0)
    if p not in (0.0, 1.0):
        check.refuse("p", p, "0 or 1, a deterministic walk")
    rates = given.numbers("rates", rates, 0)
    n_nodes = _nodes(n_nodes)
    walks, weights = CircleWalk(n_nodes, p).enumerate(length)
    model = OneLayerModel(n_nodes, length, max(1000, length))
    pairs = [(name, rate) for name in LOSSES for rate in rates]
    runs = {}
    for name, rate in progress(pairs, f"N = {length}"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # the run says so itself: diverged
            runs[name, rate] = model.train(
                walks, weights=weights, learning_rate=rate, steps=steps, loss=LOSSES[name]
            )
    return runs


def any_loss(*, n_nodes: int = 6, length: int = 97, steps: int = 200) -> dict[str, object]:
    """Measure accuracy, V and attention of Theorem 4.1 (claim shi2025-any-loss), and its boundary.

    Five losses, seven rates over six decades, p = 0 and p = 1, on the exact population; then the same
    on lengths between this one and the next that the theorem covers.

    Parameters
    ----------
    n_nodes : int, default 6
    length : int, default 97
        One more than a multiple of `n_nodes`.
    steps : int, default 200
        Gradient steps, at least 1.

    Returns
    -------
    dict
        ``chance``: 1 / K; ``accuracy``: smallest and largest over all runs and iterations;
        ``value_spread``, ``attention_spread``: largest difference between entries of V, and between
        attention weights on input tokens, over all of them; ``n_runs`` and ``n_diverged``;
        ``recursion_error``: largest difference between a run's V and the recursion of two numbers,
        relative to V; and for lengths that the theorem leaves out ``other_one_step``: smallest
        accuracy after one step, ``other_last``: share of runs with accuracy one after 50 steps.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Shi and Cao (2025), Theorem 4.1.
    """
    n_nodes = _nodes(n_nodes)
    length = check.integer("length", length, minimum=n_nodes + 1)
    steps = check.integer("steps", steps, minimum=1)
    if (length - 1) % n_nodes:
        check.refuse("length", length, f"one more than a multiple of the {n_nodes} nodes")
    model = OneLayerModel(n_nodes, length, max(1000, length))
    accuracy, value_spread, attention_spread, error, n_runs, n_diverged = [], 0.0, 0.0, 0.0, 0, 0
    for p in (0.0, 1.0):
        for (name, rate), run in sweep(n_nodes, p, length, steps=steps).items():
            accuracy += [run.accuracy.min(), run.accuracy.max()]
            value_spread = max(value_spread, np.ptp(run.value, axis=(1, 2)).max())
            attention_spread = max(attention_spread, np.ptp(run.attention[:, :-1], axis=1).max())
            solution = symmetric_solution(model, learning_rate=rate, steps=steps, loss=LOSSES[name])
            m = min(len(run.value), len(solution.value))
            gap = np.abs(run.value[:m, 0, 0] - solution.value[:m]).max()
            error = max(error, gap / np.abs(solution.value).max())
            n_runs, n_diverged = n_runs + 1, n_diverged + run.diverged
    others = [
        run.accuracy
        for p in (0.0, 1.0)
        for shift in range(1, n_nodes)
        for run in sweep(n_nodes, p, length + shift, steps=_FIGURE_STEPS).values()
    ]
    return {
        "chance": 1 / n_nodes,
        "accuracy": (float(min(accuracy)), float(max(accuracy))),
        "value_spread": float(value_spread),
        "attention_spread": float(attention_spread),
        "n_runs": n_runs,
        "n_diverged": int(n_diverged),
        "recursion_error": float(error),
        "other_one_step": float(min(a[1] for a in others)),
        "other_last": float(np.mean([a[-1] > 1 - 1e-9 for a in others])),
    }


def rule_shi2025_any_loss(found: dict) -> str:
    """Return the verdict on Theorem 4.1: every run at chance, V and attention constant."""
    at_chance = all(abs(a - found["chance"]) < 1e-9 for a in found["accuracy"])
    if not at_chance or max(found["value_spread"], found["attention_spread"]) > 1e-9:
        return "contradicted"
    # A run that overflowed says nothing about the iterations that it did not reach.
    return "reproduced" if found["n_diverged"] == 0 else "reproduced with a change"


def literal_run(
    tokens: np.ndarray,
    n_nodes: int,
    *,
    learning_rate: float,
    steps: int,
    precision: str = "float64",
    unit_length: bool = False,
    position_dim: int = 1000,
    weights: np.ndarray | None = None,
    test: np.ndarray | None = None,
    test_weights: np.ndarray | None = None,
    epsilon: float = 0.1,
) -> OneLayerRun:
    """Train the literal transformer, every entry of W included, with its own rounding errors.

    Sequences that occur several times should be given once, with weights: a step costs some
    20 ms a sequence at the paper's size.

    Parameters
    ----------
    tokens : array of int, shape (n_sequences, length)
        Training sequences; the last column is the target.
    n_nodes : int
        Number of nodes K.
    learning_rate : float
        Step size of gradient descent, zero or more.
    steps : int
        Number of gradient steps, zero or more.
    precision : {'float32', 'float64'}
        Floating-point numbers to compute with.
    unit_length : bool, default False
        Whether embeddings are scaled to length one in the attention.
    position_dim : int, default 1000
        Dimension M of the positions.
    weights, test_weights : array, optional
        Weights of the sequences, equal by default.
    test : array of int, shape (n_test, length), optional
        Sequences for accuracy and attention, the training ones by default.
    epsilon : float, default 0.1
        Constant of the log-loss.

    Returns
    -------
    OneLayerRun
        Every iteration. Scores that agree to half of the digits of `precision` count as equal.

    Raises
    ------
    ImportError
        If torch is missing.
    ValueError
        If an argument is out of range or a shape does not fit.
    """
    n_nodes = _nodes(n_nodes)
    tokens = check.token_array("tokens", tokens, n_nodes, min_length=2)
    precision = check.choice("precision", precision, ("float32", "float64"))
    learning_rate = check.real("learning_rate", learning_rate, 0.0)
    epsilon = check.real("epsilon", epsilon, 0.0)
    weights = _weights("weights", weights, len(tokens))
    exam, marks, length = tokens, weights, tokens.shape[1]
    if test is not None:
        exam = check.token_array("test", test, n_nodes, min_length=2)
        marks = _weights("test_weights", test_weights, len(exam))
    elif test_weights is not None:
        raise ValueError("test_weights must come with test, got test_weights alone")
    if exam.shape[1] != length:
        raise ValueError(f"test must be sequences of length {length}, got shape {exam.shape}")
    reduced = OneLayerModel(n_nodes, length, position_dim, unit_length=unit_length)
    check.room("position_dim", position_dim, 3 * (n_nodes + position_dim) ** 2)
    steps = given.size("steps", steps, n_nodes * (n_nodes + 1) + 2 * length, minimum=0)

    import torch

    from ..models import OneLayerTransformer

    dtype = getattr(torch, precision)
    model = OneLayerTransformer(n_nodes, length, position_dim, unit_length=unit_length, dtype=dtype)
    w = torch.as_tensor(weights, dtype=dtype)
    train, exam_inputs = torch.as_tensor(tokens), torch.as_tensor(exam[:, :-1])
    rows = []
    for step in _on_one_thread(progress(range(steps + 1), f"the literal model in {precision}")):
        score = model(train[:, :-1]).gather(1, train[:, -1:])[:, 0]
        loss = -(w * torch.log(score + epsilon)).sum()
        gradients = torch.autograd.grad(loss, (model.value, model.query_key))
        with torch.no_grad():
            attention = model.attention(model.embed(exam_inputs)).numpy().astype(float)
            scores = model(exam_inputs).numpy().astype(float)
            accuracy = marks @ (_highest(scores, precision) == exam[:, -1])
            seen = reduced.from_matrices(model.value.numpy(), model.query_key.numpy())
            rows.append((step, loss.item(), accuracy, marks @ attention, *vars(seen).values()))
            model.value -= learning_rate * gradients[0]
            model.query_key -= learning_rate * gradients[1]
    step, value, accuracy, *others = map(np.array, zip(*rows))
    return OneLayerRun(step, value, accuracy, None, *others, diverged=False)


def escape(run: OneLayerRun) -> int | None:
    """Return the first iteration at which some input token gets twice its share of attention.

    Parameters
    ----------
    run : OneLayerRun

    Returns
    -------
    int or None
        ``None`` if that does not happen in the run.

    Raises
    ------
    TypeError
        If `run` is of another kind.

    Examples
    --------
    >>> walks, weights = CircleWalk(6, 1.0).enumerate(13)
    >>> model = OneLayerModel(6, 13)
    >>> escape(model.train(walks, weights=weights, learning_rate=1.0, steps=20)) is None
    True
    """
    given.instance("run", run, OneLayerRun)
    weights = run.attention[:, :-1]  # (T, N - 1)
    out = weights.max(axis=1) > 2 * weights.mean(axis=1)
    return int(run.iterations[out.argmax()]) if out.any() else None


def figure_5(
    *,
    rng: np.random.Generator | int,
    n_seeds: int = 20,
    n_walks: int = 1000,
    steps: int = _FIGURE_STEPS,
    literal: bool = True,
) -> dict[str, object]:
    """Repeat Figure 5 at its own size (claim shi2025-fig5): K = 6, N = 97, M = 1000, rate 1.

    Parameters
    ----------
    rng : numpy.random.Generator or int
        Source of randomness, or a seed.
    n_seeds : int, default 20
        Independent pairs of a training and a test sample.
    n_walks : int, default 1000
        Walks in each sample.
    steps : int, default 50
        Gradient steps.
    literal : bool, default True
        Whether to train the literal model too, on the first pair, in both precisions and, in
        float32, with embeddings of length one as well. Needs torch and some ten seconds.

    Returns
    -------
    dict
        ``accuracy``: median, smallest and largest over the samples at the end; ``true_accuracy``:
        smallest and largest accuracy over the population of the same models; ``column_spread``:
        largest difference within a row of V; ``uneven``: largest deviation of an entry of V from
        the mean entry, relative to it, over the samples; ``attention_spread``; and, with `literal`,
        ``escapes``: the iteration at which each literal model leaves the symmetric solution, or
        ``None``.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Shi and Cao (2025), section 5 and Figure 5.
    """
    rng = check.generator(rng)
    n_seeds = given.repetitions("n_seeds", n_seeds)
    n_walks = given.size("n_walks", n_walks, 3 * 97)
    literal = check.flag("literal", literal)
    walk, model = CircleWalk(6, 1.0), OneLayerModel(6, 97)
    everything, _ = walk.enumerate(97)
    accuracy, true, column, uneven, spread, escapes = [], [], 0.0, 0.0, 0.0, {}
    for seed in progress(range(n_seeds), "Figure 5"):
        # The K different walks with their shares stand for the sample: the same average, sooner.
        (train, weights), (test, marks) = (distinct(walk.sample(n_walks, 97, rng=rng)) for _ in range(2))
        exam = {"test": test, "test_weights": marks}
        run = model.train(train, weights=weights, learning_rate=1.0, steps=steps, **exam)
        V = run.value[-1]
        accuracy.append(run.accuracy[-1])
        true.append((model.predict(run.parameters(), everything[:, :-1]) == everything[:, -1]).mean())
        column = max(column, np.ptp(run.value, axis=2).max())
        uneven = max(uneven, np.abs(V / V.mean() - 1).max())
        spread = max(spread, np.ptp(run.attention[:, :-1], axis=1).max())
        if literal and seed == 0:
            options = {"learning_rate": 1.0, "steps": steps, "weights": weights, **exam}
            for name, choice in _ARITHMETIC.items():
                escapes[name] = escape(literal_run(train, 6, **options, **choice))
    found = {
        "accuracy": (float(np.median(accuracy)), float(min(accuracy)), float(max(accuracy))),
        "true_accuracy": (float(min(true)), float(max(true))),
        "column_spread": float(column),
        "uneven": float(uneven),
        "attention_spread": float(spread),
    }
    return {**found, "escapes": escapes} if literal else found


def rule_shi2025_fig5(found: dict) -> str:
    """Return the verdict on Figure 5: accuracy near 1/6, V near a multiple of ones, flat attention."""
    near = abs(found["accuracy"][0] - 1 / 6) < 0.02 and found["uneven"] < 0.25
    if not near or max(found["column_spread"], found["attention_spread"]) > 1e-9:
        return "not reproduced"
    # As printed would be with the rounding of a computer; the change is exact inner products.
    escapes = found.get("escapes", {})
    stayed = bool(escapes) and all(at is None for name, at in escapes.items() if "unit" not in name)
    return "reproduced" if stayed else "reproduced with a change"


def distinct(tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the different sequences of a sample, and the share of each.

    Examples
    --------
    >>> distinct(np.array([[0, 1], [2, 0], [0, 1], [0, 1]]))
    (array([[0, 1],
           [2, 0]]), array([0.75, 0.25]))
    """
    tokens = check.token_array("tokens", tokens)
    sequences, counts = np.unique(tokens, axis=0, return_counts=True)
    return sequences, counts / len(tokens)


def rounding(*, steps: int = _FIGURE_STEPS, literal: bool = True) -> dict[str, object]:
    """Measure how rounding alone breaks the symmetry of Theorem 4.1 (claim new-rounding).

    The population of the walk with p = 1, K = 6, N = 97, M = 1000, log-loss, rate 1.

    Parameters
    ----------
    steps : int, default 50
        Gradient steps.
    literal : bool, default True
        Whether to train the literal model too, which needs torch.

    Returns
    -------
    dict
        ``gram_error``: largest inner product of two different positions in float32 and float64;
        ``escapes``: for each arithmetic the iteration at which a token gets twice its share of
        attention, or ``None``; ``predicted``: the same from the linear recursion that starts with the
        deviation of that arithmetic at iteration 3; ``accuracy``: accuracy at the end.

    Raises
    ------
    ValueError
        If `steps` is below 4.
    """
    steps = check.integer("steps", steps, minimum=4)
    literal = check.flag("literal", literal)
    model, walks = OneLayerModel(6, 97), CircleWalk(6, 1.0).enumerate(97)[0]
    grams = {precision: floating_gram(97, 1000, precision) for precision in ("float32", "float64")}
    runs = {"exact": train_with_gram(model, 500.5 * np.eye(97), learning_rate=1.0, steps=steps)}
    for precision, gram in grams.items():
        runs[f"{precision} inner products"] = train_with_gram(model, gram, learning_rate=1.0, steps=steps)
    if literal:
        for name, choice in _ARITHMETIC.items():
            runs[name] = literal_run(walks, 6, learning_rate=1.0, steps=steps, **choice)
    predicted = {}
    solution = symmetric_solution(model, learning_rate=1.0, steps=steps)
    for name, run in runs.items():
        if "unit" not in name:
            V, q = lag_profile(model, run.parameters(3))
            _, q = follow_deviation(model, solution, 3, V, q, learning_rate=1.0)
            out = q.max(axis=1) > np.log(2)
            predicted[name] = 3 + int(out.argmax()) if out.any() else None
    return {
        "gram_error": {name: float(np.abs(g - np.diag(np.diag(g))).max()) for name, g in grams.items()},
        "escapes": {name: escape(run) for name, run in runs.items()},
        "predicted": predicted,
        "accuracy": {name: float(run.accuracy[-1]) for name, run in runs.items()},
    }


def rule_new_rounding(found: dict) -> None:
    """Return no verdict: the paper makes no statement about rounding."""
    return None


def floating_gram(length: int, dim: int, precision: str) -> np.ndarray:
    """Return the inner products of the sine positions as a computer gets them.

    Parameters
    ----------
    length : int
        Number of positions N.
    dim : int
        Dimension M, at least `length`.
    precision : {'float32', 'float64'}

    Returns
    -------
    numpy.ndarray of float64, shape (length, length)

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> gram = floating_gram(5, 9, "float32")
    >>> bool(0 < np.abs(gram - 5 * np.eye(5)).max() < 1e-5)
    True
    """
    precision = check.choice("precision", precision, ("float32", "float64"))
    P = sine_positions(length, dim).astype(precision)  # (M, N)
    return (P.T @ P).astype(float)


def _nodes(n_nodes: object) -> int:
    n = check.integer("n_nodes", n_nodes, minimum=3)
    check.room("n_nodes", n_nodes, 3 * n**2)
    return n


def _on_one_thread(items: Iterable[int]) -> Iterator[int]:
    """Pass items through with torch on one thread: for a few sequences, more wait for each other."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield from items
    finally:
        torch.set_num_threads(threads)


def _highest(scores: np.ndarray, precision: str) -> np.ndarray:
    slack = np.sqrt(np.finfo(precision).eps) * np.abs(scores).max(axis=1, keepdims=True)
    return (scores >= scores.max(axis=1, keepdims=True) - slack).argmax(axis=1)


def _weights(name: str, value: np.ndarray | None, n: int) -> np.ndarray:
    if value is None:
        return np.full(n, 1 / n)
    value = check.real_array(name, value, (n,))
    if (value < 0).any() or value.sum() == 0:
        check.refuse(name, value, "zero or more, and not all zero")
    return value / value.sum()
