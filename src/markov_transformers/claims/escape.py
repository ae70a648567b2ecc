r"""How training leaves the symmetric state of Theorem 4.1 after a random initialization.

The walk with p = 1 over N - 1 = rK input columns. Column :math:`j` belongs to the lag class
:math:`d = (N - j) \bmod K`: its token is :math:`d` steps behind the target, in every walk. At
zero initialization training stays at :math:`V = v(t)\,\mathbf 1 \mathbf 1^\top` with equal attention
on all columns. Two things that differ between the classes can grow from there: the mean
:math:`D_d` of :math:`V_{y, y - d}`, and the mean :math:`Q_d` of the scores :math:`q_j` of a class.
To first order they feed each other,

.. math::

    \dot D = \frac{\eta |\ell'| b}{K^2} Q, \qquad
    \dot Q = \frac{\eta R |\ell'| b}{N - 1} \bigl( D + (v - f) Q \bigr), \qquad
    \dot v = \frac{\eta |\ell'| b}{K^2},

with attention :math:`b` on the input, :math:`f = v b`, and :math:`R` the rate of a score. Once
:math:`b = 1` both grow like :math:`e^{\kappa v}` with :math:`\kappa = K \sqrt{R / (N - 1)}`: the clock
is :math:`v`, and under the log-loss :math:`v` grows like the square root of time.

Source: Shi and Cao (2025), sections 4 and 5, which leave random initialization open.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np

from .. import _validation as check
from .._progress import progress
from ..one_layer import OneLayerModel, OneLayerParameters, OneLayerRun
from ..walks import CircleWalk
from . import _arguments as given

_NODES, _LENGTH, _WALKS, _STEPS, _EPSILON = 6, 97, 1000, 1000, 0.1  # Figure 6
_SIGMA = _RATE = 0.01  # as printed
_LEARNED = 0.94  # share of the best accuracy that counts as reached, on 1,000 test walks
_SMALL = 1e-5  # sigma from which asymmetry grows a hundredfold while it is small
_TIE = 1e-9  # as in OneLayerModel.predict


class _KeysOnly(OneLayerModel):
    """The reading in which the columns that are looked at have length one, but not the query."""

    def __init__(self, vocab_size: int, length: int) -> None:
        super().__init__(vocab_size, length, unit_length=True)
        self._query_square, self._query_norm = self._position_square, 1.0


@dataclass(frozen=True)
class Reading:
    """One way to read the settings of Figure 6.

    Attributes
    ----------
    summed : bool
        Whether the loss is the sum over the walks, not their mean.
    embeddings : str
        What has length one in the attention: ``"all"``, ``"keys"`` or ``"none"``.
    sigma : float
        Standard deviation of the entries of V and W at initialization.
    departures : int
        In how many points the reading differs from the printed settings.
    """

    summed: bool = False
    embeddings: str = "all"
    sigma: float = _SIGMA

    def __post_init__(self) -> None:
        check.flag("summed", self.summed)
        check.choice("embeddings", self.embeddings, ("all", "keys", "none"))
        check.real("sigma", self.sigma, 0.0)

    @property
    def departures(self) -> int:
        return self.summed + (self.embeddings != "all") + (self.sigma != _SIGMA)

    @property
    def learning_rate(self) -> float:
        return _RATE * (_WALKS if self.summed else 1)

    def model(self) -> OneLayerModel:
        if self.embeddings == "keys":
            return _KeysOnly(_NODES, _LENGTH)
        return OneLayerModel(_NODES, _LENGTH, unit_length=self.embeddings == "all")


READINGS = {
    "as printed": Reading(),
    "summed loss": Reading(summed=True),
    "raw embeddings": Reading(embeddings="none"),
    "summed, raw": Reading(summed=True, embeddings="none"),
    "unit keys, raw query": Reading(embeddings="keys"),
    "summed, unit keys": Reading(summed=True, embeddings="keys"),
    "summed, σ = 1e-6": Reading(summed=True, sigma=1e-6),
}


@dataclass(frozen=True)
class EscapeRun:
    """A recorded run on the deterministic walk; the first axis runs over the records.

    Attributes
    ----------
    iterations : numpy.ndarray of int, shape (n_records,)
    accuracy : numpy.ndarray, shape (n_records,)
        Over all walks, each equally likely.
    shares : numpy.ndarray, shape (n_records, n_nodes)
        Attention on all columns of each lag class, averaged over the walks.
    value : numpy.ndarray, shape (n_records, n_nodes, n_nodes)
    content : numpy.ndarray, shape (n_records, n_nodes)
    position : numpy.ndarray, shape (n_records, length)
        The parameters, as in `OneLayerParameters`.
    """

    iterations: np.ndarray
    accuracy: np.ndarray
    shares: np.ndarray
    value: np.ndarray
    content: np.ndarray
    position: np.ndarray

    def parameters(self, record: int = -1) -> OneLayerParameters:
        """Return the parameters at one record, the last by default."""
        record = check.integer("record", record, -len(self.iterations), len(self.iterations) - 1)
        return OneLayerParameters(self.value[record], self.content[record], self.position[record])

    @property
    def attention_clock(self) -> int | None:
        """First recorded iteration at which one lag class has more than half of the attention."""
        return _first(self.iterations, self.shares.max(axis=1) > 0.5)

    @property
    def accuracy_clock(self) -> int | None:
        """First recorded iteration with an accuracy above one half."""
        return _first(self.iterations, self.accuracy > 0.5)


def lag_classes(n_nodes: int, length: int) -> np.ndarray:
    """Return the lag class (N - j) mod K of each input column j = 1 ... N - 1.

    Parameters
    ----------
    n_nodes : int
        Number of nodes K, at least 2.
    length : int
        Columns N, at least 2.

    Returns
    -------
    numpy.ndarray of int, shape (length - 1,)

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> lag_classes(3, 7)
    array([0, 2, 1, 0, 2, 1])
    """
    n_nodes = check.integer("n_nodes", n_nodes, minimum=2)
    length = given.size("length", length, minimum=2)
    return (length - np.arange(1, length)) % n_nodes


def offset_modes(value: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Return D and Q, what differs between the lag classes.

    Parameters
    ----------
    value : array, shape (n_nodes, n_nodes)
        The value matrix V.
    position : array, shape (length,)
        The scores q.

    Returns
    -------
    numpy.ndarray, shape (2, n_nodes)
        Row 0: the mean of V over each circular diagonal y - x = d. Row 1: the mean score of each
        lag class. Both minus their own mean.

    Raises
    ------
    ValueError
        If a shape does not fit or K does not divide N - 1.

    Examples
    --------
    >>> offset_modes(np.eye(3), np.zeros(4))
    array([[ 0.66666667, -0.33333333, -0.33333333],
           [ 0.        ,  0.        ,  0.        ]])
    """
    value = check.real_array("value", value, (None, None))
    K = len(value)
    value = check.real_array("value", value, (max(K, 2), K))
    q = check.real_array("position", position, (None,))
    if len(q) <= K or (len(q) - 1) % K:
        raise ValueError(f"position must be one entry longer than a multiple of {K}, got shape {q.shape}")
    modes = np.stack([value.ravel()[_diagonals(K)].mean(axis=1), q[:-1][_columns(K, len(q))].mean(axis=1)])
    return modes - modes.mean(axis=1, keepdims=True)


def growth_rate(model: OneLayerModel) -> float:
    r"""Return :math:`\kappa = K \sqrt{R / (N - 1)}`: the asymmetry grows like :math:`e^{\kappa v}`.

    Examples
    --------
    >>> round(growth_rate(OneLayerModel(6, 97, unit_length=True)), 3)
    0.612
    """
    given.instance("model", model, OneLayerModel)
    return model.vocab_size * math.sqrt(float(model.rates.position[0]) / (model.length - 1))


def seed_amplitude(model: OneLayerModel, start: OneLayerParameters) -> np.ndarray:
    r"""Return the growing part of the asymmetry, :math:`\frac12 (Q_d + \kappa D_d)`, of each class.

    Parameters
    ----------
    model : OneLayerModel
    start : OneLayerParameters
        Where training starts.

    Returns
    -------
    numpy.ndarray, shape (n_nodes,)

    Raises
    ------
    ValueError
        If an argument is out of range.
    TypeError
        If `model` or `start` is of another kind.

    Examples
    --------
    >>> model = OneLayerModel(6, 97, unit_length=True)
    >>> int(seed_amplitude(model, model.random(0.01, rng=0)).argmax())  # the class that will win
    1
    """
    start = _checked(model, start)
    D, Q = offset_modes(start.value, start.position)
    return (Q + growth_rate(model) * D) / 2


def escape_law(
    model: OneLayerModel, amplitude: float, learning_rate: float, *, epsilon: float = 0.1, end: float = 1.0
) -> float:
    r"""Return the iterations until the linear law has grown an amplitude to `end`.

    With :math:`v^* = \log(\text{end} / \text{amplitude}) / \kappa`,

    .. math:: T = \frac{K^2}{2 \eta} \bigl( (v^* + \varepsilon)^2 - \varepsilon^2 \bigr),

    quadratic in the logarithm for :math:`v^* \gg \varepsilon` and linear for
    :math:`v^* \ll \varepsilon`.

    Parameters
    ----------
    model : OneLayerModel
    amplitude : float
        Largest entry of `seed_amplitude`, above 0.
    learning_rate : float
        Of the mean loss, above 0.
    epsilon : float, default 0.1
        Of the log-loss.
    end : float, default 1.0
        Score difference at which the escape is complete.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> model = OneLayerModel(6, 97, unit_length=True)
    >>> round(escape_law(model, amplitude=0.003, learning_rate=0.01))
    165724
    """
    amplitude = check.real("amplitude", amplitude, 0.0, strict=True)
    learning_rate = check.real("learning_rate", learning_rate, 0.0, strict=True)
    epsilon, end = check.real("epsilon", epsilon, 0.0), check.real("end", end, 0.0, strict=True)
    v = max(math.log(end / amplitude), 0.0) / growth_rate(model)
    return model.vocab_size**2 / (2 * learning_rate) * ((v + epsilon) ** 2 - epsilon**2)


def linear_prediction(
    model: OneLayerModel, learning_rate: float, steps: int, *, epsilon: float = 0.1
) -> tuple[np.ndarray, np.ndarray]:
    r"""Return the symmetric solution and how perturbations of it grow, step for step.

    No closed form is used: each gradient step on the population log-loss of the deterministic
    walk, from zero, and its derivative at the symmetric solution.

    Parameters
    ----------
    model : OneLayerModel
        K must divide N - 1.
    learning_rate : float
        Of the mean loss, zero or more.
    steps : int
        Number of gradient steps, zero or more.
    epsilon : float, default 0.1
        Of the log-loss.

    Returns
    -------
    value : numpy.ndarray, shape (steps + 1,)
        The entry v of :math:`V = v \mathbf 1 \mathbf 1^\top` at each iteration.
    propagator : numpy.ndarray, shape (steps + 1, 2, 2)
        Takes `offset_modes` of the start to those at each iteration.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> v, propagator = linear_prediction(OneLayerModel(6, 97, unit_length=True), 1.0, 100)
    >>> round(float(v[-1]), 2)
    2.29
    """
    K, N = _sizes(model)
    eta = check.real("learning_rate", learning_rate, 0.0)
    steps = given.size("steps", steps, 5, minimum=0)
    epsilon = check.real("epsilon", epsilon, 0.0, strict=True)
    R, R_last = float(model.rates.position[0]), float(model.rates.position[-1])
    R_token = _content_rate(model)
    v = q = h = q_last = 0.0  # h: what a token adds to the score
    X = np.eye(2)
    values, propagator = np.empty(steps + 1), np.empty((steps + 1, 2, 2))
    for t in range(steps + 1):
        values[t], propagator[t] = v, X
        odds = (N - 1) * math.exp(q + h - q_last)
        b = odds / (1 + odds)  # attention on the input
        f = v * b
        push = eta * b / (f + epsilon)
        X = np.array([[1, push / K**2], [push * R / (N - 1), 1 + push * R / (N - 1) * (v - f)]]) @ X
        q_last -= push * R_last * (1 - b) / b * f if b else 0.0
        q += push * R / (N - 1) * (v - f)
        h += push * R_token / K * (v - f)
        v += push / K**2
    return values, propagator


def deterministic_run(
    model: OneLayerModel,
    start: OneLayerParameters,
    *,
    learning_rate: float,
    steps: int,
    target_weights: np.ndarray | None = None,
    epsilon: float = 0.1,
    record_every: int = 1,
) -> EscapeRun:
    """Train on the deterministic walk, in the few numbers that its K different walks leave.

    The same steps as `OneLayerModel.train`, several times faster.

    Parameters
    ----------
    model : OneLayerModel
        K must divide N - 1.
    start : OneLayerParameters
        Where training starts.
    learning_rate : float
        Step size for the mean loss, zero or more.
    steps : int
        Number of gradient steps, zero or more.
    target_weights : array, shape (n_nodes,), optional
        Weight of the walk that ends at each node, scaled to sum to one. Equal weights, the
        default, give the population loss; counts give the loss of a sample.
    epsilon : float, default 0.1
        Of the log-loss.
    record_every : int, default 1
        Record each iteration that this number divides, and the last one.

    Returns
    -------
    EscapeRun

    Raises
    ------
    ValueError
        If an argument is out of range or a shape does not fit.

    Warns
    -----
    RuntimeWarning
        If training leaves the domain of the log-loss. It ends there and the run is kept.

    Examples
    --------
    >>> model = OneLayerModel(6, 97, unit_length=True)
    >>> run = deterministic_run(model, model.random(0.01, rng=0), learning_rate=10, steps=250)
    >>> run.accuracy_clock, run.attention_clock
    (132, 196)
    """
    start = _checked(model, start)
    K, N = model.vocab_size, model.length
    eta = check.real("learning_rate", learning_rate, 0.0)
    steps = check.integer("steps", steps, minimum=0)
    epsilon = check.real("epsilon", epsilon, 0.0)
    record_every = check.integer("record_every", record_every, minimum=1)
    check.room("steps", steps, (steps // record_every + 1) * (K * (K + 2) + N))
    weights = np.ones(K) if target_weights is None else target_weights
    weights = check.real_array("target_weights", weights, (K,))
    if (weights < 0).any() or weights.sum() == 0:
        check.refuse("target_weights", weights, "zero or more, and not all zero")
    weights = weights / weights.sum()
    V, h, q = start.value.copy(), start.content / model._token_norm, start.position.copy()

    classes, columns = lag_classes(K, N), _columns(K, N)
    offset = (np.arange(K)[:, None] - np.arange(K)) % K  # of entry [y, x]
    diagonals = _diagonals(K)
    rates, R_token = model.rates.position, _content_rate(model)
    slope_q, active, steps_q = np.empty(N), weights > 0, eta * rates
    add, largest = np.add.reduce, np.maximum.reduce  # on so few numbers the methods cost more than the sums
    records = []
    for step in range(steps + 1):
        peak = max(largest(q[:-1]) + largest(h), q[-1])
        e = np.exp(q[:-1] - peak)  # (N - 1,)
        S = add(e[columns], axis=1)  # (K,) of each lag class
        mass = S[offset] * np.exp(h)  # (K, K) attention of target y's walk on token x
        last = math.exp(q[-1] - peak)
        Z = add(mass, axis=1) + last
        mass /= Z[:, None]
        f = add(V * mass, axis=1)
        shifted = np.where(active, f + epsilon, 1.0)
        outside = np.minimum.reduce(shifted) <= 0
        if outside or step % record_every == 0 or step == steps:
            scores = mass @ V.T  # row: the walk of each target
            slack = _TIE * np.abs(scores).max(axis=1, keepdims=True)
            guess = (scores >= scores.max(axis=1, keepdims=True) - slack).argmax(axis=1)
            shares = mass.ravel()[diagonals].mean(axis=1)
            content = h * model._token_norm
            records.append((step, np.mean(guess == np.arange(K)), shares, V.copy(), content, q.copy()))
        if outside:
            warnings.warn(
                f"training stopped at iteration {step} of {steps}: a score is outside the domain of the "
                "log-loss; a smaller learning_rate or start may help",
                RuntimeWarning,
                stacklevel=2,
            )
            break
        slope = -weights / shifted  # (K,) derivative of the loss in f
        moved = slope[:, None] * mass
        pull = moved * (V - f[:, None])
        slope_q[:-1] = (add(pull.ravel()[diagonals], axis=1) / np.maximum(S, 1e-300))[classes] * e
        slope_q[-1] = -add(slope * f / Z) * last
        V -= eta * moved
        h = h - eta * R_token * add(pull, axis=0)
        q -= steps_q * slope_q
    return EscapeRun(*map(np.array, zip(*records)))


def figure_six(
    *,
    rng: np.random.Generator | int,
    readings: dict[str, Reading] | None = None,
    n_seeds: int = 5,
    n_walks: int = _WALKS,
    steps: int = _STEPS,
    record_every: int = 25,
) -> dict[str, dict[float, dict[str, object]]]:
    """Measure the experiment of Figure 6 under several readings of its settings.

    Parameters
    ----------
    rng : numpy.random.Generator or int
        Source of randomness, or a seed. All readings see the same walks and the same draws.
    readings : dict from str to Reading, optional
        `READINGS` by default.
    n_seeds : int, default 5
        Runs for each reading and each p.
    n_walks : int, default 1000
        Walks to train on, and walks to test on.
    steps : int, default 1000
    record_every : int, default 25

    Returns
    -------
    dict
        For each reading and each p in {0.5, 1}: ``iterations``; ``accuracy`` and ``kl``, of shape
        (n_seeds, n_records); ``reach``, the first recorded iteration of each run with 94 percent of
        the best accuracy, or None; ``progress``, by how much each run's divergence fell below that
        of the uniform guess, as a share; ``position``, the column with most attention, from 1, and
        ``attention`` on it; ``departures`` from the printed settings.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Shi and Cao (2025), Figure 6.
    """
    seeds = check.generator(rng).integers(2**31, size=given.repetitions("n_seeds", n_seeds))
    readings = READINGS if readings is None else readings
    some = isinstance(readings, dict) and bool(readings)
    if not some or not all(isinstance(reading, Reading) for reading in readings.values()):
        check.refuse("readings", readings, "a dict from names to objects of Reading")
    n_walks = given.size("n_walks", n_walks, 3 * _LENGTH)
    measured: dict[str, dict[float, dict[str, object]]] = {name: {} for name in readings}
    for name, p in progress([(name, p) for name in readings for p in (0.5, 1.0)], "readings"):
        runs = [_figure_six_run(readings[name], p, int(s), n_walks, steps, record_every) for s in seeds]
        best, uniform = max(p, 1 - p), math.log(_NODES) - (math.log(2) if p == 0.5 else 0.0)
        length = max(len(run.iterations) for run in runs)
        last = np.array([run.attention[-1] for run in runs])
        measured[name][p] = {
            "iterations": max((run.iterations for run in runs), key=len),
            "accuracy": np.array([_pad(run.accuracy, length) for run in runs]),
            "kl": np.array([_pad(run.kl, length) for run in runs]),
            "reach": [_first(run.iterations, run.accuracy >= _LEARNED * best) for run in runs],
            "progress": [1 - float(run.kl[-1]) / uniform for run in runs],
            "position": [int(a.argmax()) + 1 for a in last],
            "attention": [float(a.max()) for a in last],
            "departures": readings[name].departures,
        }
    return measured


def rule_shi2025_fig6_walk(measured: dict[str, dict[float, dict[str, object]]]) -> str:
    """Judge the claim that p = 0.5 reaches its best accuracy after about 400 iterations.

    A reading shows this if most of its runs reach 50 percent and 400 lies in their range. It counts
    with no departure from the printed settings, or with one.
    """

    def shown(reading: dict[float, dict[str, object]]) -> bool:
        reach = [r for r in reading[0.5]["reach"] if r is not None]
        most = 2 * len(reach) > len(reading[0.5]["reach"])
        return most and min(reach) <= 400 <= max(reach)

    return _verdict(measured, shown)


def rule_shi2025_fig6_deterministic(measured: dict[str, dict[float, dict[str, object]]]) -> str:
    """Judge the claim that p = 1 is not learned in 1,000 iterations, and more slowly than p = 0.5.

    A reading shows this if most of its runs at p = 1 do not reach 100 percent, and the median
    divergence has fallen further at p = 0.5, by 5 percent of that of the uniform guess at least.
    """

    def shown(reading: dict[float, dict[str, object]]) -> bool:
        reach = reading[1.0]["reach"]
        unlearned = 2 * sum(r is None for r in reach) > len(reach)
        walk, fixed = (float(np.median(reading[p]["progress"])) for p in (0.5, 1.0))
        return unlearned and walk >= fixed + 0.05

    return _verdict(measured, shown)


def escape_times(
    *,
    rng: np.random.Generator | int,
    sigmas: tuple[float, ...] = (3e-2, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8),
    walk_sigmas: tuple[float, ...] = (1e-2, 1e-4, 1e-6),
    n_seeds: int = 5,
    learning_rate: float = 10.0,
    n_walks: int = _WALKS,
    walk_steps: int = 1500,
) -> dict[str, object]:
    """Measure how long training needs to leave chance, over the scale of the initialization.

    Sizes of Figure 6, unit-length embeddings. The same random draws are scaled by each sigma.

    Parameters
    ----------
    rng : numpy.random.Generator or int
        Source of randomness, or a seed.
    sigmas : tuple of float
        Scales for the deterministic walk; at the smallest, 1e-5 at most, growth is measured.
    walk_sigmas : tuple of float
        Scales for p = 0.5, which costs far more.
    n_seeds : int, default 5
    learning_rate : float, default 10.0
        Of the mean loss; 10 is the summed loss of 1,000 walks at 0.01.
    n_walks : int, default 1000
        Size of a sample.
    walk_steps : int, default 1500
        Steps after which a run at p = 0.5 is given up.

    Returns
    -------
    dict
        ``sigmas``, ``walk_sigmas``. Arrays of shape (n_sigmas, n_seeds), NaN where it did not happen:
        ``attention`` (one lag class has half of the attention, population), ``accuracy`` (above one
        half, population), ``sample_accuracy`` (trained on a sample), ``linear`` (the step-for-step
        prediction reaches a score difference of one), ``law`` (the closed form does), ``walk`` (p =
        0.5 reaches 94 percent of its best). ``rate_predicted``: kappa; ``rate_measured``: growth of
        log Q over v, for each seed, in the smallest sigma; ``growth_error``: largest relative error
        of the linear prediction there, while Q is below 0.01; ``chosen``: of n_seeds runs at the
        printed sigma, how many chose the column predicted from the start.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Shi and Cao (2025), section 4, last paragraph, and Figure 6.
    """
    seeds = check.generator(rng).integers(2**31, size=given.repetitions("n_seeds", n_seeds))
    sigmas = given.numbers("sigmas", sigmas, 0, strict=True)
    if min(sigmas) > _SMALL:
        check.refuse("sigmas", sigmas, f"numbers of which one at least is no larger than {_SMALL:g}")
    walk_sigmas = given.numbers("walk_sigmas", walk_sigmas, 0, strict=True)
    n_walks = given.size("n_walks", n_walks, 3 * _LENGTH)
    walk_steps = given.steps("walk_steps", walk_steps)
    eta = check.real("learning_rate", learning_rate, 0.0, strict=True)
    model = OneLayerModel(_NODES, _LENGTH, unit_length=True)
    names = ("attention", "accuracy", "sample_accuracy", "linear", "law")
    clocks = {name: np.full((len(sigmas), len(seeds)), np.nan) for name in names}
    for i, k in progress([(i, k) for i in range(len(sigmas)) for k in range(len(seeds))], "p = 1"):
        start = model.random(sigmas[i], rng=int(seeds[k]))
        size = float(seed_amplitude(model, start).max())
        law = escape_law(model, size, eta)
        steps = math.ceil(1.5 * law + 3000 / eta)
        run = deterministic_run(model, start, learning_rate=eta, steps=steps)
        counts = np.random.default_rng([int(seeds[k]), 1]).multinomial(n_walks, np.full(_NODES, 1 / _NODES))
        sample = deterministic_run(model, start, learning_rate=eta, steps=steps, target_weights=counts)
        linear = linear_prediction(model, eta, steps)[1] @ offset_modes(start.value, start.position)
        reached = _first(np.arange(steps + 1), linear[:, 1].max(axis=1) >= 1)
        values = (run.attention_clock, run.accuracy_clock, sample.accuracy_clock, reached, law)
        for name, value in zip(names, values):
            clocks[name][i, k] = np.nan if value is None else value
    walk = np.full((len(walk_sigmas), len(seeds)), np.nan)
    for i, k in progress([(i, k) for i in range(len(walk_sigmas)) for k in range(len(seeds))], "p = 1/2"):
        reached = _walk_clock(model, walk_sigmas[i], eta, int(seeds[k]), n_walks, walk_steps)
        walk[i, k] = np.nan if reached is None else reached
    growth = [_growth(model, min(sigmas), eta, int(s)) for s in seeds]
    return {
        "sigmas": np.array(sigmas),
        "walk_sigmas": np.array(walk_sigmas),
        **clocks,
        "walk": walk,
        "rate_predicted": growth_rate(model),
        "rate_measured": np.array([rate for rate, _ in growth]),
        "growth_error": max(error for _, error in growth),
        "chosen": sum(chosen_as_predicted(model, _SIGMA, eta, rng=int(s)) for s in seeds),
    }


def rule_new_escape_time(measured: dict[str, object]) -> None:
    """Judge nothing: the question is new, its answer is the measurement."""


def predicted_column(model: OneLayerModel, start: OneLayerParameters) -> int:
    """Return the column, from 1, that training on the deterministic walk will choose.

    It lies in the lag class with the largest `seed_amplitude`, and there it is the one with the
    largest score at the start.

    Examples
    --------
    >>> model = OneLayerModel(6, 97, unit_length=True)
    >>> predicted_column(model, model.random(0.01, rng=0))
    6
    """
    amplitude = seed_amplitude(model, start)
    columns = np.flatnonzero(lag_classes(model.vocab_size, model.length) == amplitude.argmax())
    return int(columns[start.position[columns].argmax()]) + 1


def chosen_as_predicted(
    model: OneLayerModel, sigma: float, learning_rate: float, *, rng: np.random.Generator | int
) -> bool:
    """Measure whether a run on the population chooses the column that `predicted_column` names."""
    _sizes(model)
    sigma = check.real("sigma", sigma, 0.0, strict=True)
    start = model.random(sigma, rng=rng)
    law = escape_law(model, float(seed_amplitude(model, start).max()), learning_rate)
    steps = math.ceil(1.5 * law + 3000 / learning_rate)
    run = deterministic_run(model, start, learning_rate=learning_rate, steps=steps, record_every=steps)
    return int(run.position[-1, :-1].argmax()) + 1 == predicted_column(model, start)


def _sizes(model: OneLayerModel) -> tuple[int, int]:
    """Return K and N of a model with as many columns in each lag class."""
    given.instance("model", model, OneLayerModel)
    if (model.length - 1) % model.vocab_size:
        check.refuse(
            "model.length", model.length, f"one more than a multiple of the {model.vocab_size} nodes"
        )
    return model.vocab_size, model.length


def _checked(model: OneLayerModel, start: OneLayerParameters) -> OneLayerParameters:
    """Return where training starts in the form that the engine computes with."""
    _sizes(model)
    return model._checked(start, "start")


def _diagonals(K: int) -> np.ndarray:
    """Flat indices [d, y] of the entries [y, y - d] of a K by K matrix."""
    y = np.arange(K)
    return y * K + (y - y[:, None]) % K


def _columns(K: int, N: int) -> np.ndarray:
    """Indices [d, i] of the input columns of each lag class, from 0."""
    return np.argsort(lag_classes(K, N), kind="stable").reshape(K, -1)


def _content_rate(model: OneLayerModel) -> float:
    return float(model.rates.content[0]) / float(model._token_norm) ** 2


def _first(iterations: np.ndarray, condition: np.ndarray) -> int | None:
    return int(iterations[np.argmax(condition)]) if condition.any() else None


def _pad(values: np.ndarray, length: int) -> np.ndarray:
    return np.concatenate([values, np.full(length - len(values), np.nan)])


def _figure_six_run(
    reading: Reading, p: float, seed: int, n_walks: int, steps: int, record_every: int
) -> OneLayerRun:
    walk, model = CircleWalk(_NODES, p), reading.model()
    data, test_data = (walk.sample(n_walks, _LENGTH, rng=np.random.default_rng([seed, i])) for i in (0, 1))
    weights = test_weights = None
    if p == 1.0:  # only K different walks
        data, weights = np.unique(data, axis=0, return_counts=True)
        test_data, test_weights = np.unique(test_data, axis=0, return_counts=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a run that stops early shows in its records
        return model.train(
            data,
            weights=weights,
            test=test_data,
            test_weights=test_weights,
            truth=walk.predict(test_data[:, :-1]),
            start=model.random(reading.sigma, rng=seed),
            learning_rate=reading.learning_rate,
            steps=steps,
            record_every=record_every,
        )


def _walk_clock(
    model: OneLayerModel, sigma: float, eta: float, seed: int, n_walks: int, steps: int, every: int = 25
) -> int | None:
    walk = CircleWalk(_NODES, 0.5)
    data, test = (walk.sample(n_walks, _LENGTH, rng=np.random.default_rng([seed, i])) for i in (0, 1))
    now = model.random(sigma, rng=seed)
    for done in range(every, steps + 1, every):
        run = model.train(data, learning_rate=eta, steps=every, start=now, test=test, record_every=every)
        if run.accuracy[-1] >= _LEARNED / 2:
            return done
        now = run.parameters()
    return None


def _growth(model: OneLayerModel, sigma: float, eta: float, seed: int) -> tuple[float, float]:
    """Measured growth of log Q over v, and the largest relative error of the linear prediction."""
    start = model.random(sigma, rng=seed)
    steps = math.ceil(1.2 * escape_law(model, float(seed_amplitude(model, start).max()), eta))
    run = deterministic_run(model, start, learning_rate=eta, steps=steps)
    modes = np.array([offset_modes(V, q) for V, q in zip(run.value, run.position)])
    size = np.linalg.norm(modes[:, 1], axis=1)
    linear = linear_prediction(model, eta, steps)[1] @ offset_modes(start.value, start.position)
    small = size < 0.01
    error = np.linalg.norm(modes - linear, axis=(1, 2)) / np.linalg.norm(linear, axis=(1, 2))
    late = small & (size > 100 * size[0])
    v = run.value.mean(axis=(1, 2))
    return float(np.polyfit(v[late], np.log(size[late]), 1)[0]), float(error[small].max())


def _verdict(measured: dict[str, dict[float, dict[str, object]]], shown) -> str:
    fewest = min((r[0.5]["departures"] for r in measured.values() if shown(r)), default=2)
    return ("reproduced", "reproduced with a change", "not reproduced")[min(fewest, 2)]
