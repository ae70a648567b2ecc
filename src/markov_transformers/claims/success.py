r"""Measurements behind what the paper says of random walks, 0 < p < 1.

Each measuring function runs the experiment and returns what it found as a dictionary of numbers: no
verdict, nothing printed. Beside each stands the rule that turns such a dictionary into a verdict. A
rule whose claim has several parts returns a verdict for each.

Theorem 3.1 is about the population loss, which is exact here: all K 2^(N - 1) walks of a length N
that allows to list them, weighted by their probabilities. The paper's own size, N = 97 with 1,000
walks, is measured beside it.

Source: Shi and Cao (2025), sections 2, 3 and 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .. import _validation as check
from .._progress import progress
from ..losses import LogisticLoss, Loss, SquareLoss
from ..one_layer import OneLayerModel, OneLayerRun, sine_positions
from ..walks import CircleWalk
from . import _arguments as given

_NODES, _LENGTH, _WALKS, _STEPS, _EPSILON = 6, 97, 1000, 50, 0.1  # of the paper's experiment
_LISTED = 11  # a length of which all walks can be listed
_MANY_NODES, _LISTED_THERE = 20, 13  # a circle so large that drift can mislead, and such a length on it
_LONG = 401  # a length in which a walk goes round that circle
_LONGEST = 1_000_000  # walk whose powers are summed one by one
_ROUNDING = 1e-9
_REPRODUCED, _CHANGED = "reproduced", "reproduced with a change"
_NOT, _CONTRADICTED = "not reproduced", "contradicted"


@dataclass(frozen=True)
class PowerLoss:
    r"""A loss with slope :math:`-(z + \varepsilon)^{-s}`: linear at s = 0, the log-loss at s = 1.

    Parameters
    ----------
    s : float
        Power, above -1.
    epsilon : float, default 0.1

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> PowerLoss(1.0).derivative(np.array([0.4]))
    array([-2.])
    """

    s: float
    epsilon: float = _EPSILON

    def __post_init__(self) -> None:
        check.real("s", self.s, -1.0, strict=True)
        check.real("epsilon", self.epsilon, 0.0)

    def value(self, score: np.ndarray) -> np.ndarray:
        """Return the loss of each score."""
        z = check.real_array("score", score, finite=False) + self.epsilon
        return -np.log(z) if self.s == 1 else -(z ** (1 - self.s)) / (1 - self.s)

    def derivative(self, score: np.ndarray) -> np.ndarray:
        """Return the derivative of the loss at each score."""
        return -((check.real_array("score", score, finite=False) + self.epsilon) ** -self.s)


def by_offset(matrix: np.ndarray) -> np.ndarray:
    """Return the mean of a square matrix over each circular diagonal y - x = 0, 1, ..., K - 1.

    Parameters
    ----------
    matrix : array, shape (..., K, K)
        Entry ``[y, x]``.

    Returns
    -------
    numpy.ndarray, shape (..., K)

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> by_offset(CircleWalk(4, 0.75).transition_matrix().T)
    array([0.  , 0.75, 0.  , 0.25])
    """
    matrix = check.real_array("matrix", matrix)
    if matrix.ndim < 2 or matrix.shape[-1] != matrix.shape[-2] or not matrix.size:
        raise ValueError(f"matrix must have the shape (..., K, K), got shape {matrix.shape}")
    return _diagonals(matrix).mean(axis=-1)


def direction_gap(a: np.ndarray, b: np.ndarray) -> float:
    """Return the distance between two arrays, each divided by its Euclidean norm.

    Parameters
    ----------
    a, b : array
        Of one shape, not zero.

    Returns
    -------
    float
        From 0 to 2.

    Raises
    ------
    ValueError
        If the shapes differ or one array is zero.

    Examples
    --------
    >>> direction_gap([[2.0, 0.0]], [[5.0, 0.0]])
    0.0
    """
    a, b = check.real_array("a", a), check.real_array("b", b)
    if a.shape != b.shape:
        raise ValueError(f"a and b must have one shape, got {a.shape} and {b.shape}")
    return float(np.linalg.norm(_direction("a", a) - _direction("b", b)))


def best_prediction(
    *, chances: Sequence[float] = (0.3, 0.5, 0.7, 1.0), n_nodes: int = _NODES, length: int = _LISTED
) -> dict[str, float]:
    """Measure what the best predictor knows and scores (claim shi2025-optimal), over all walks.

    Parameters
    ----------
    chances : sequence of float
        Values of p.
    n_nodes, length : int, default 6 and 11

    Returns
    -------
    dict
        ``law_error``: largest difference between the law of the target given the whole input and
        the predictor; ``accuracy_error``: of its accuracy from max{p, 1 - p}; ``gain``: largest gain
        in accuracy of any function of the input over it.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Shi and Cao (2025), section 2.
    """
    law_error = accuracy_error = gain = 0.0
    n_nodes = check.integer("n_nodes", n_nodes, minimum=3)
    check.room("n_nodes", n_nodes, n_nodes**2)
    for p in given.numbers("chances", chances, 0, 1):
        walk = CircleWalk(n_nodes, p)
        walks, weights = walk.enumerate(length)
        inputs, which = np.unique(walks[:, :-1], axis=0, return_inverse=True)
        joint = np.zeros((len(inputs), n_nodes))  # of input and target
        np.add.at(joint, (which.ravel(), walks[:, -1]), weights)
        mass = joint.sum(axis=1)
        predictor = walk.predict(inputs)
        law_error = max(law_error, np.abs(joint / mass[:, None] - predictor).max())
        hit = joint[np.arange(len(inputs)), predictor.argmax(axis=1)].sum()
        accuracy_error = max(accuracy_error, abs(hit - max(p, 1 - p)))
        gain = max(gain, joint.max(axis=1).sum() - hit)
    return {"law_error": float(law_error), "accuracy_error": float(accuracy_error), "gain": float(gain)}


def rule_shi2025_optimal(found: Mapping[str, float]) -> str:
    """Judge: the predictor is the law of the target, no function of the input does better."""
    return _REPRODUCED if max(found.values()) < _ROUNDING else _CONTRADICTED


def position_products(*, length: int = _LENGTH, dim: int = 1000) -> dict[str, float]:
    """Measure inner products of different sine positions (claim shi2025-positions).

    Parameters
    ----------
    length, dim : int, default 97 and 1000
        N and M.

    Returns
    -------
    dict
        ``float32`` and ``float64``: largest inner product of two different positions, computed
        with such numbers; ``square_error``: largest difference of a squared length from (M + 1) / 2,
        in float64; ``dim``.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Shi and Cao (2025), section 2 and Lemma E.5.
    """
    P = sine_positions(length, dim)  # (M, N)
    found = {"dim": int(dim), "square_error": float(np.abs((P**2).sum(axis=0) - (dim + 1) / 2).max())}
    for precision in ("float32", "float64"):
        gram = P.astype(precision).T @ P.astype(precision)
        found[precision] = float(np.abs(gram - np.diag(np.diag(gram))).max())
    return found


def rule_shi2025_positions(found: Mapping[str, float]) -> str:
    """Judge: what is left is rounding, small in each precision and smaller in the finer one."""
    # The error of an inner product is at most its number of terms times eps times the lengths.
    most = found["dim"] * (found["dim"] + 1) / 2
    rounding = all(found[p] < most * np.finfo(p).eps for p in ("float32", "float64"))
    return _REPRODUCED if rounding and found["float64"] < 1e-6 * found["float32"] else _CONTRADICTED


def population_first_step(walk: CircleWalk, length: int, *, epsilon: float = _EPSILON) -> np.ndarray:
    """Return V after one step of learning rate one from zero, on the population loss (Lemma C.1).

    Parameters
    ----------
    walk : CircleWalk
    length : int
        N, at least 2.
    epsilon : float, default 0.1

    Returns
    -------
    numpy.ndarray, shape (n_nodes, n_nodes)

    Raises
    ------
    ValueError
        If an argument is out of range.
    TypeError
        If `walk` is of another kind.

    References
    ----------
    Shi and Cao (2025), Lemma C.1.

    Examples
    --------
    >>> population_first_step(CircleWalk(3, 1.0), 3, epsilon=1.0)[0]
    array([0.        , 0.11111111, 0.11111111])
    """
    given.instance("walk", walk, CircleWalk)
    length = check.integer("length", length, 2, _LONGEST)
    step = walk.transition_matrix().T
    total, power = np.zeros_like(step), np.eye(len(step))
    for _ in range(length - 1):
        power = power @ step
        total += power
    return total / (check.real("epsilon", epsilon, 0.0, strict=True) * length * len(step))


def first_step(
    *,
    rng: np.random.Generator | int,
    chances: Sequence[float] = (0.5, 0.7),
    lengths: Sequence[int] = (_LENGTH, _LENGTH - 1, _LENGTH + 1),
    n_walks: int = _WALKS,
    n_seeds: int = 5,
) -> dict[str, object]:
    """Measure what the first step from zero makes of V and W (claim shi2025-first-step).

    Parameters
    ----------
    rng : numpy.random.Generator or int
        Source of randomness, or a seed, for the samples.
    chances : sequence of float
        Values of p.
    lengths : sequence of int
        Lengths N, the printed one first.
    n_walks : int, default 1000
        Walks in a sample.
    n_seeds : int, default 5
        Samples, each of the first p and length.

    Returns
    -------
    dict
        ``formula_error``: largest difference, relative to V, between training on all walks of length
        11 and Lemma C.1; ``moved``: largest score of a token or a place after that step;
        ``spread``: largest difference along a circular diagonal of the population's V, relative to
        V; ``largest``: for each p and length the offsets y - x with the largest entry; ``expected``:
        those of the transposed transition matrix; ``printed``: the printed length; ``signal``: at
        the first p and length, how far the largest offset exceeds the mean entry, relatively;
        ``sample_spread``: for each sample, the standard deviation along the diagonals, relatively.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Shi and Cao (2025), section 3, Step 1, and Lemma C.1.
    """
    rng = check.generator(rng)
    chances = given.numbers("chances", chances, 0, 1)
    lengths = given.whole_numbers("lengths", lengths, 2, _LONGEST)
    n_walks = given.size("n_walks", n_walks, 3 * max(lengths))
    n_seeds = given.repetitions("n_seeds", n_seeds)
    error = moved = spread = 0.0
    largest, expected = {}, {}
    for p in chances:
        walk = CircleWalk(_NODES, p)
        walks, weights = walk.enumerate(_LISTED)
        run = OneLayerModel(_NODES, _LISTED).train(walks, weights=weights, learning_rate=1.0, steps=1)
        formula = population_first_step(walk, _LISTED)
        error = max(error, np.abs(run.value[1] - formula).max() / formula.max())
        moved = max(moved, np.abs(run.content[1]).max(), np.abs(run.position[1]).max())
        expected[p] = _top(by_offset(walk.transition_matrix().T))
        for length in lengths:
            V = population_first_step(walk, length)
            spread = max(spread, np.ptp(_diagonals(V), axis=-1).max() / V.max())
            largest[p, length] = _top(by_offset(V))
    walk = CircleWalk(_NODES, chances[0])
    exact = by_offset(population_first_step(walk, lengths[0]))
    scatter = []
    for _ in range(n_seeds):
        sample = walk.sample(n_walks, lengths[0], rng=rng)
        V = OneLayerModel(_NODES, lengths[0]).train(sample, learning_rate=1.0, steps=1).value[1]
        scatter.append(float(_diagonals(V).std(axis=-1).max() / V.mean()))
    return {
        "formula_error": float(error),
        "moved": float(moved),
        "spread": float(spread),
        "largest": largest,
        "expected": expected,
        "printed": lengths[0],
        "signal": float(exact.max() / exact.mean() - 1),
        "sample_spread": scatter,
    }


def rule_shi2025_first_step(found: Mapping) -> dict[str, str]:
    """Judge: V is Toeplitz, W is zero, and V is largest where the transposed transition matrix is.

    The last part counts as it is if it holds at the printed length for every p, and with a change if
    it does at another length.
    """

    def holds(length: int) -> bool:
        return all(found["largest"][p, length] == offsets for p, offsets in found["expected"].items())

    toeplitz = max(found["formula_error"], found["spread"]) < _ROUNDING
    others = {length for _, length in found["largest"]} - {found["printed"]}
    if holds(found["printed"]):
        largest = _REPRODUCED
    else:
        largest = _CHANGED if any(map(holds, others)) else _CONTRADICTED
    return {
        "V is Toeplitz": _REPRODUCED if toeplitz else _CONTRADICTED,
        "W = 0": _REPRODUCED if found["moved"] < _ROUNDING else _CONTRADICTED,
        "largest entries": largest,
    }


def theorem(
    *,
    rng: np.random.Generator | int,
    chances: Sequence[float] = (0.5, 0.7, 0.8),
    steps: int = 3000,
    n_seeds: int = 5,
    n_walks: int = _WALKS,
    sample_steps: int = _STEPS,
) -> dict[float, dict[str, object]]:
    r"""Measure all that Theorem 3.1 states (claims shi2025-accuracy, -output, -value, -attention).

    Learning rate one, from zero. The population is that of all walks of length 11 on six nodes; the
    samples have the paper's size, N = 97. The theorem bounds the number of nodes from below only,
    so that training is repeated on a large circle: the population of length 13 on twenty nodes. That
    is too short to go round it; for walks of length 401 we compute what each position gains first.

    Parameters
    ----------
    rng : numpy.random.Generator or int
        Source of randomness, or a seed, for the samples.
    chances : sequence of float
        Values of p, in (0, 1).
    steps : int, default 3000
        Gradient steps on the population, at least 100.
    n_seeds : int, default 5
        Samples for each p.
    n_walks, sample_steps : int, default 1000 and 50
        Walks in each sample, and gradient steps on it.

    Returns
    -------
    dict
        For each p a dictionary. Of the population: ``accuracy`` at the end; ``learned_at``: the first
        iteration from which on it is the best possible, or None; ``attention``: on the parent, at the
        end; for what in (``value``, ``output``): ``what_to_step`` and ``what_to_root``, the distance
        in direction from V, or from the output, to that which the transposed transition matrix and
        its entrywise square root would give; ``what_step_rate`` and ``what_root_rate``, the slopes
        of its logarithm in log T over the last nine tenths of the run; ``what_between``, the
        distance between the two. Outputs are worst cases over all walks. Of the
        samples, a list over them: ``sample_accuracy``, over the true law of fresh targets, and
        ``sample_attention``. Of the large circle ``large_accuracy`` and ``large_attention``, after
        ten steps, and ``large_lead``: what the best of the other positions gains in the second step
        less what the parent gains, in expected visits, for a rate near zero and walks of length 401.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Shi and Cao (2025), Theorem 3.1.
    """
    rng = check.generator(rng)
    chances = given.numbers("chances", chances, 0, 1, strict=True)
    steps = given.steps("steps", steps, 100)
    n_seeds = given.repetitions("n_seeds", n_seeds)
    n_walks = given.size("n_walks", n_walks, 3 * _LENGTH)
    sample_steps = given.steps("sample_steps", sample_steps, 1)
    found = {}
    for p in progress(chances, "Theorem 3.1"):
        walk, model = CircleWalk(_NODES, p), OneLayerModel(_NODES, _LENGTH)
        found[p] = _population(walk, steps)
        accuracy, attention = [], []
        for _ in range(n_seeds):
            train, test = (walk.sample(n_walks, _LENGTH, rng=rng) for _ in range(2))
            run = model.train(
                train, test=test, learning_rate=1.0, steps=sample_steps, record_every=sample_steps
            )
            guess = model.predict(run.parameters(), test[:, :-1])
            accuracy.append(float(walk.predict(test[:, :-1])[np.arange(len(guess)), guess].mean()))
            attention.append(float(run.attention[-1, -2]))
        found[p] |= {"sample_accuracy": accuracy, "sample_attention": attention}
        large = _listed_run(CircleWalk(_MANY_NODES, p), PowerLoss(1.0), 10, 10, _LISTED_THERE)
        found[p] |= {"large_accuracy": float(large.accuracy[-1])}
        found[p] |= {"large_attention": float(large.attention[-1, -2])}
        gain = _gains(CircleWalk(_MANY_NODES, p), _LONG)
        found[p] |= {"large_lead": float(gain[1:].max() - gain[0])}
    return found


def rule_shi2025_accuracy(found: Mapping[float, Mapping]) -> dict[str, str]:
    """Judge statement 1: the best accuracy, within ten iterations, on both populations.

    Where only the large circle fails, a bound on the number of nodes is the change.
    """

    def judged(p: float, seen: Mapping) -> str:
        if abs(seen["accuracy"] - max(p, 1 - p)) > _ROUNDING or seen["learned_at"] is None:
            return _CONTRADICTED
        if seen["learned_at"] > 10:
            return _NOT
        learned = abs(seen["large_accuracy"] - max(p, 1 - p)) < _ROUNDING
        return _REPRODUCED if learned and seen["large_lead"] < 0 else _CHANGED

    return {f"p = {p:g}": judged(p, seen) for p, seen in found.items()}


def rule_shi2025_output(found: Mapping[float, Mapping]) -> dict[str, str]:
    """Judge statement 2, on the output, for each p: see `rule_shi2025_value`."""
    return {f"p = {p:g}": _direction_verdict(seen, "output") for p, seen in found.items()}


def rule_shi2025_value(found: Mapping[float, Mapping]) -> dict[str, str]:
    """Judge statement 3, on V, for each p.

    It holds if the distance ends below 0.05 and falls with a slope between -0.6 and -0.4. It is
    contradicted if instead the distance to the square root does so, and that to the printed limit
    stays within a tenth of the distance between the two limits.
    """
    return {f"p = {p:g}": _direction_verdict(seen, "value") for p, seen in found.items()}


def rule_shi2025_attention(found: Mapping[float, Mapping]) -> dict[str, str]:
    """Judge statement 4: nothing that one could see is missing, on the populations and the median sample.

    Where only the large circle fails, a bound on the number of nodes is the change.
    """

    def judged(seen: Mapping) -> str:
        if 1 - min(seen["attention"], float(np.median(seen["sample_attention"]))) >= 1e-4:
            return _NOT
        found_parent = 1 - seen["large_attention"] < 1e-4
        return _REPRODUCED if found_parent and seen["large_lead"] < 0 else _CHANGED

    return {f"p = {p:g}": judged(seen) for p, seen in found.items()}


def figure_4(
    *, rng: np.random.Generator | int, n_seeds: int = 5, n_walks: int = _WALKS, steps: int = _STEPS
) -> dict[str, list[float]]:
    """Repeat Figure 4 at its own size (claim shi2025-fig4): p = 0.5, K = 6, N = 97, M = 1000, rate 1.

    Parameters
    ----------
    rng : numpy.random.Generator or int
        Source of randomness, or a seed.
    n_seeds : int, default 5
        Pairs of a training and a test sample.
    n_walks : int, default 1000
        Walks in each sample.
    steps : int, default 50
        Gradient steps, at least 10.

    Returns
    -------
    dict
        Lists over the samples: test ``accuracy`` after 10 steps, and ``end``, at the end;
        ``attention`` on position N - 1 at the end; ``value_gap``, distance in direction from V to
        the transposed transition matrix; ``contrast``, smallest entry of V where that matrix is not
        zero over the largest where it is.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Shi and Cao (2025), section 5 and Figure 4.
    """
    rng = check.generator(rng)
    n_seeds = given.repetitions("n_seeds", n_seeds)
    n_walks = given.size("n_walks", n_walks, 3 * _LENGTH)
    steps = check.integer("steps", steps, minimum=10)
    walk, model = CircleWalk(_NODES, 0.5), OneLayerModel(_NODES, _LENGTH)
    step = walk.transition_matrix().T
    found: dict[str, list[float]] = {}
    for _ in progress(range(n_seeds), "Figure 4"):
        train, test = (walk.sample(n_walks, _LENGTH, rng=rng) for _ in range(2))
        run = model.train(train, test=test, learning_rate=1.0, steps=steps)
        V = run.value[-1]
        row = {
            "accuracy": run.accuracy[10],
            "end": run.accuracy[-1],
            "attention": run.attention[-1, -2],
            "value_gap": direction_gap(V, step),
            "contrast": V[step > 0].min() / V[step == 0].max(),
        }
        for name, value in row.items():
            found.setdefault(name, []).append(float(value))
    return found


def rule_shi2025_fig4(found: Mapping[str, Sequence[float]]) -> dict[str, str]:
    """Judge the three panels by the median sample."""
    middle = {name: float(np.median(values)) for name, values in found.items()}
    panels = {
        "accuracy": max(abs(middle["accuracy"] - 0.5), abs(middle["end"] - 0.5)) < 0.05,
        "value matrix": middle["contrast"] > 2,
        "attention": middle["attention"] > 0.99,
    }
    return {name: _REPRODUCED if good else _NOT for name, good in panels.items()}


def square_root(
    *,
    chances: Sequence[float] = (0.1, 0.3, 0.5, 0.7, 0.9),
    powers: Sequence[float] = (0.0, 0.5, 1.0, 2.0),
    power_chance: float = 0.7,
    length: int = 9,
    steps: int = 1000,
) -> dict[str, object]:
    r"""Measure where V goes for every p, and under which loss it goes to the transition matrix.

    The population of all walks on six nodes, learning rate one (claim new-square-root).

    Parameters
    ----------
    chances : sequence of float
        Values of p, trained with the log-loss.
    powers : sequence of float
        Powers s of `PowerLoss`.
    power_chance : float, default 0.7
        The p at which losses are compared.
    length : int, default 9
        N, short enough to list all walks.
    steps : int, default 1000

    Returns
    -------
    dict
        ``ratio``: for each p the ratio of V's entries for a step up and a step down, and the
        predicted :math:`\sqrt{p / (1 - p)}`; ``attention``: smallest attention on the parent, over
        all runs of these; ``power``: for each s the same pair with the predicted
        :math:`(p / (1 - p))^{1 / (1 + s)}`; ``to_step``: for each s the distance in direction to the
        transposed transition matrix; ``logistic`` and ``square``: the ratio under these losses.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    chances = given.numbers("chances", chances, 0, 1, strict=True)
    powers = given.numbers("powers", powers, -1, strict=True)
    if not 0 < check.real("power_chance", power_chance) < 1:
        check.refuse("power_chance", power_chance, "between 0 and 1, both excluded")
    steps = given.steps("steps", steps, 1)
    ratio, attention = {}, []
    for p in progress(chances, "the limit of V"):
        run = _listed_run(CircleWalk(_NODES, p), PowerLoss(1.0), steps, steps, length)
        ratio[p] = (_up_over_down(run), float(np.sqrt(p / (1 - p))))
        attention.append(float(run.attention[-1, -2]))
    walk = CircleWalk(_NODES, power_chance)
    odds = power_chance / (1 - power_chance)
    power, to_step = {}, {}
    for s in progress(powers, "losses"):
        run = _listed_run(walk, PowerLoss(s), steps, steps, length)
        power[s] = (_up_over_down(run), float(odds ** (1 / (1 + s))))
        to_step[s] = direction_gap(run.value[-1], walk.transition_matrix().T)
    return {
        "ratio": ratio,
        "attention": min(attention),
        "power": power,
        "to_step": to_step,
        "logistic": _up_over_down(_listed_run(walk, LogisticLoss(), steps, steps, length)),
        "square": _up_over_down(_listed_run(walk, SquareLoss(), steps, steps, length)),
    }


def rule_new_square_root(found: Mapping) -> None:
    """Return no verdict: the question is new, its answer is the measurement."""
    return None


def _diagonals(matrix: np.ndarray) -> np.ndarray:
    """Entries [..., k, x] = [..., x + k, x] of a K by K matrix."""
    x = np.arange(matrix.shape[-1])
    return matrix[..., (x + x[:, None]) % len(x), x]


def _direction(name: str, array: np.ndarray) -> np.ndarray:
    norm = np.linalg.norm(array)
    if norm == 0:
        check.refuse(name, array, "an array that is not zero")
    return array / norm


def _top(values: np.ndarray) -> tuple[int, ...]:
    """Where an array is largest, ties to twelve digits included."""
    return tuple(np.flatnonzero(values > values.max() * (1 - 1e-12)).tolist())


def _listed_run(
    walk: CircleWalk, loss: Loss, steps: int, record_every: int, length: int = _LISTED
) -> OneLayerRun:
    walks, weights = walk.enumerate(length)
    return OneLayerModel(walk.n_nodes, length).train(
        walks, weights=weights, loss=loss, learning_rate=1.0, steps=steps, record_every=record_every
    )


def _gains(walk: CircleWalk, length: int) -> np.ndarray:
    """Expected visits of one walk to where another, from the same node, stands after k = 1, 2, ... steps."""
    step = walk.transition_matrix()
    laws = [step[0]]
    while len(laws) < length - 1:
        laws.append(laws[-1] @ step)
    return np.array(laws) @ np.sum(laws, axis=0)


def _up_over_down(run: OneLayerRun) -> float:
    offsets = by_offset(run.value[-1])
    return float(offsets[1] / offsets[-1])


def _population(walk: CircleWalk, steps: int) -> dict[str, object]:
    early = _listed_run(walk, PowerLoss(1.0), _STEPS, 1)
    run = _listed_run(walk, PowerLoss(1.0), steps, 10)
    accuracy = np.concatenate([early.accuracy, run.accuracy[run.iterations > _STEPS]])
    best = np.abs(accuracy - walk.optimal_accuracy) < _ROUNDING
    wrong = np.flatnonzero(~best)
    learned_at = 0 if not len(wrong) else int(wrong[-1]) + 1
    found: dict[str, object] = {
        "accuracy": float(run.accuracy[-1]),
        "learned_at": learned_at if learned_at <= _STEPS else None,
        "attention": float(run.attention[-1, -2]),
    }
    records = np.flatnonzero(run.iterations >= steps / 10)
    times = run.iterations[records]
    step = walk.transition_matrix().T
    inputs, model = walk.enumerate(_LISTED)[0][:, :-1], OneLayerModel(_NODES, _LISTED)
    gaps: dict[tuple[str, str], list[float]] = {}
    few = records[np.unique(np.geomspace(1, len(records), 12).astype(int)) - 1]
    for name, limit in (("step", step), ("root", np.sqrt(step))):
        truth = limit[:, inputs[:, -1]].T  # (B, K)
        gaps["value", name] = [direction_gap(run.value[i], limit) for i in records]
        gaps["output", name] = [_worst_gap(model.scores(run.parameters(i), inputs), truth) for i in few]
    between = {
        "value": direction_gap(step, np.sqrt(step)),
        "output": _worst_gap(step.T, np.sqrt(step).T),
    }
    for what in ("value", "output"):
        t = times if what == "value" else run.iterations[few]
        for name in ("step", "root"):
            values = gaps[what, name]
            found[f"{what}_to_{name}"] = values[-1]
            found[f"{what}_{name}_rate"] = float(np.polyfit(np.log(t), np.log(values), 1)[0])
        found[f"{what}_between"] = between[what]
    return found


def _worst_gap(rows: np.ndarray, others: np.ndarray) -> float:
    a, b = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (rows, others))
    return float(np.linalg.norm(a - b, axis=1).max())


def _direction_verdict(seen: Mapping, what: str) -> str:
    def arrives(name: str) -> bool:
        return seen[f"{what}_to_{name}"] < 0.05 and -0.6 < seen[f"{what}_{name}_rate"] < -0.4

    if arrives("step"):
        return _REPRODUCED
    between = seen[f"{what}_between"]
    stuck = abs(seen[f"{what}_to_step"] - between) < between / 10
    return _CONTRADICTED if arrives("root") and stuck else _NOT
