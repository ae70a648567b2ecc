r"""Training as an ordinary differential equation, or as gradient descent.

Gradient flow :math:`\dot\Theta = -\nabla L(\Theta)` is integrated adaptively. Only the blocks
that a stage trains move. The flow conserves :math:`C_D = \sum_S c_S^2`, because scaling c does
not change the output, so c is followed in the coordinates :math:`\theta_S = \log c_S^2`: there

.. math:: \dot\theta_S = \frac{4a}{C_D} \Big(g_S - \sum_{S'} p_{S'} g_{S'}\Big), \qquad
          p = \mathrm{softmax}(\theta),

the replicator equation, of which a solver needs some hundred evaluations. In c itself it is
stiff. Source: Chen et al. (2024), (3.4), (E.4), (E.5) and Lemma E.1.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import warnings
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from . import _validation as check
from ._progress import progress
from ._selector import over_total, shares

Parameters = dict[str, np.ndarray]
Pulls = dict[str, np.ndarray]  # as gradients with the sign changed, but "c" as in Trainable._evaluator
Interpolation = Callable[[np.ndarray], Parameters]  # times (T,) to arrays with a leading time axis

_MOST_EXPLICIT = 1_000  # evaluations; the paper's stages take up to 200
_MOST_EVALUATIONS = 200_000  # of any flow
_MOST_SETS = 100_000  # of heads, and heads themselves

# Only the ratios of c matter, so that it may be far larger or smaller than other parameters.
_LARGEST = {False: check.LARGEST_WEIGHT, True: 1e250}
_SMALLEST_C = 1e-250
PAPER_DURATIONS = (2_000.0, 50_000.0, 5_000.0)


class Trajectory:
    """How the parameters moved during training.

    Every array has the times on its leading axis.

    Attributes
    ----------
    times : numpy.ndarray, shape (n_times,)
        The steps of the integrator, or of gradient descent: there, steps times learning rate.
    parameters : dict
        Each parameter, with the time on the leading axis.
    stage_ends : tuple of float
        When each stage ended.

    Examples
    --------
    >>> from markov_transformers.staged import StagedModel
    >>> from markov_transformers.windows import WindowCounts
    >>> tokens = np.random.default_rng(0).integers(2, size=(50, 21))
    >>> model = StagedModel(WindowCounts.from_tokens(tokens, window=2, vocab_size=2), degree=1)
    >>> run = model.flow(model.initial_parameters(), duration=100.0, train="c")
    >>> run.at(50.0).p_S.shape, run.at([0.0, 50.0, 100.0]).p_S.shape
    ((3,), (3, 3))
    """

    def __init__(
        self,
        model: Trainable,
        times: np.ndarray,
        parameters: Parameters,
        pieces: Sequence[tuple[float, float, Interpolation]],
        loss: np.ndarray | None = None,
    ) -> None:
        self.times = times
        self.parameters = parameters
        self.stage_ends = tuple(stop for _, stop, _ in pieces)
        self._model = model
        self._pieces = tuple(pieces)
        self._loss = loss

    def __repr__(self) -> str:
        return f"Trajectory({self.times.size} times from {self._pieces[0][0]:g} to {self.stage_ends[-1]:g})"

    @property
    def c(self) -> np.ndarray:
        """Weights of the sets, shape (n_times, n_sets)."""
        return self.parameters["c"]

    @property
    def w(self) -> np.ndarray:
        """Position weights, shape (n_times, heads, window)."""
        return self.parameters["w"]

    @property
    def a(self) -> np.ndarray:
        """Scale of the second attention, shape (n_times,)."""
        return self.parameters["a"]

    @property
    def p_S(self) -> np.ndarray:
        """Share of each set in the kernel, c_S² / C_D, shape (n_times, n_sets)."""
        return shares(self.c)

    @property
    def C_D(self) -> np.ndarray:
        """Sum of c_S² over the sets, shape (n_times,)."""
        return (self.c**2).sum(axis=-1)

    @property
    def attention(self) -> np.ndarray:
        """Attention of each head on each offset, from its position weights alone,
        shape (n_times, heads, window)."""
        return softmax(self.w)

    @property
    def loss(self) -> np.ndarray:
        """Loss at each time, shape (n_times,); a flow computes it when it is first asked for."""
        if self._loss is None:
            evaluate = self._model._evaluator({})
            flat = [
                evaluate({name: value[index] for name, value in self.parameters.items()})[0]
                for index in np.ndindex(self.times.shape)
            ]
            self._loss = np.array(flat).reshape(self.times.shape)
        return self._loss

    def at(self, time: float | np.ndarray) -> Trajectory:
        """Return the state at any time, to the accuracy of the run.

        A flow is read off the integrator's own interpolant; gradient descent moves in straight
        lines from step to step.

        Parameters
        ----------
        time : float or array, shape (n_times,)
            Between the first and the last time.

        Returns
        -------
        Trajectory
            At these times; for a single number its arrays have no time axis.

        Raises
        ------
        ValueError
            If a time lies outside the run.
        """
        times = check.real_array("time", time)
        first, last = self._pieces[0][0], self.stage_ends[-1]
        if times.ndim > 1 or times.size == 0 or times.min() < first or times.max() > last:
            check.refuse("time", time, f"a number or a list of numbers between {first:g} and {last:g}")
        flat = times.reshape(-1)
        chosen = np.minimum(np.searchsorted(self.stage_ends, flat), len(self._pieces) - 1)
        parameters = {
            name: np.empty((flat.size, *value.shape[1:])) for name, value in self.parameters.items()
        }
        for piece, (_, _, interpolate) in enumerate(self._pieces):
            here = chosen == piece
            if here.any():
                for name, value in interpolate(flat[here]).items():
                    parameters[name][here] = value
        parameters = {
            name: value.reshape(times.shape + value.shape[1:]) for name, value in parameters.items()
        }
        return Trajectory(self._model, times, parameters, self._pieces)

    def then(self, following: Trajectory) -> Trajectory:
        """Return this run followed by one that starts where it ends.

        Parameters
        ----------
        following : Trajectory
            Its clock starts at zero.

        Returns
        -------
        Trajectory

        Raises
        ------
        TypeError
            If `following` is no Trajectory.
        ValueError
            If it does not start where this run ends, or if one of the two is what `at` returned
            and leaves out the joint.
        """
        if not isinstance(following, Trajectory):
            raise TypeError(f"following must be a Trajectory, got {following!r}")
        if not self._reaches_its_end() or not following._begins_at_its_start():
            check.refuse("following", following, f"a whole run that follows a whole run, not {self!r}")
        if not _agree(self.parameters, -1, following.parameters, 0):
            check.refuse("following", following, "a run that starts at the parameters where this one ends")
        shift = self.stage_ends[-1]
        pieces = [
            (start + shift, stop + shift, lambda t, read=read: read(t - shift))
            for start, stop, read in following._pieces
        ]
        loss = None
        if self._loss is not None and following._loss is not None:
            loss = np.concatenate([self._loss, following._loss[1:]])
        return Trajectory(
            self._model,
            np.concatenate([self.times, following.times[1:] + shift]),
            {
                name: np.concatenate([value, following.parameters[name][1:]])
                for name, value in self.parameters.items()
            },
            (*self._pieces, *pieces),
            loss,
        )

    def _begins_at_its_start(self) -> bool:
        return self.times.ndim == 1 and bool(self.times[0] == self._pieces[0][0])

    def _reaches_its_end(self) -> bool:
        return self.times.ndim == 1 and math.isclose(self.times[-1], self.stage_ends[-1])


class Trainable:
    """A model with named parameters that can be trained; c among them is scale-free.

    A subclass names its parameters, gives their shapes, and implements `_evaluator`.
    """

    _shapes: dict[str, tuple[int, ...]]

    def flow(
        self,
        start: Parameters,
        duration: float,
        train: str | Iterable[str] | None = None,
        *,
        rtol: float = 1e-6,
        atol: float = 1e-8,
        method: str | None = None,
    ) -> Trajectory:
        """Follow the gradient flow.

        Parameters
        ----------
        start : dict
            Every parameter at time zero.
        duration : float
            How long to follow the flow; n steps of gradient descent cover n times its learning
            rate.
        train : str or list of str, optional
            Names of the parameters that move, by default all of them.
        rtol, atol : float, default 1e-6 and 1e-8
            Relative and absolute tolerance of the integrator.
        method : str, optional
            A method of `scipy.integrate.solve_ivp`. By default a parameter that moves alone is
            followed with RK45, the fastest as long as the flow is not stiff, as in the paper's
            three stages; if that takes too many evaluations, and whenever several parameters
            move together, with LSODA, which notices stiffness.

        Returns
        -------
        Trajectory

        Raises
        ------
        ValueError
            If an argument is out of range.
        RuntimeError
            If the integrator gives up, as it does where the flow reaches infinity, or is not
            done after 200,000 evaluations, each about as expensive as a step of `descend`.

        References
        ----------
        Chen et al. (2024), (3.4).
        """
        start = self._checked(start)
        duration = check.real("duration", duration, 0.0)
        train = self._trained(train)
        method = _checked_method(method)
        rtol, atol = check.real("rtol", rtol, 0.0, strict=True), check.real("atol", atol, 0.0)
        if duration == 0:
            return self._still(start)

        from scipy.integrate import solve_ivp

        evaluate = self._evaluator({name: value for name, value in start.items() if name not in train})
        chart = _Chart({name: start[name] for name in train})

        def integrate(method: str, most: int) -> object:
            evaluations = itertools.count()

            def velocity(time: float, state: np.ndarray) -> np.ndarray:
                if next(evaluations) >= most:
                    raise _Unfinished(time)
                return chart.velocity(evaluate(chart.read(state), with_loss=False)[1])

            span = (0.0, duration)
            return solve_ivp(velocity, span, chart.origin, method, rtol=rtol, atol=atol, dense_output=True)

        solution = None
        if method is None and len(train) == 1:
            with contextlib.suppress(_Unfinished):  # an explicit method is the wrong one
                solution = integrate("RK45", _MOST_EXPLICIT)
        if solution is None:
            try:
                solution = integrate(method or "LSODA", _MOST_EVALUATIONS)
            except _Unfinished as unfinished:
                raise RuntimeError(
                    f"the flow reached time {unfinished.time:g} of {duration:g} after {_MOST_EVALUATIONS} "
                    "evaluations and was stopped: use descend, another method or a smaller duration"
                ) from None
        if not solution.success:
            raise RuntimeError(f"the flow stopped at time {solution.t[-1]:g}: {solution.message}")

        def read(times: np.ndarray) -> Parameters:
            return _fill(start, chart.read(solution.sol(times).T), times.size)

        parameters = _fill(start, chart.read(solution.y.T), solution.t.size)
        return Trajectory(self, solution.t, parameters, [(0.0, duration, read)])

    def descend(
        self,
        start: Parameters,
        n_steps: int,
        train: str | Iterable[str] | None = None,
        *,
        learning_rate: float = 1.0,
    ) -> Trajectory:
        """Take steps of plain gradient descent on the whole data set.

        Parameters
        ----------
        start : dict
            Every parameter before the first step.
        n_steps : int
            Number of steps.
        train : str or list of str, optional
            Names of the parameters that move, by default all of them.
        learning_rate : float, default 1.0
            Size of a step, and time that it stands for.

        Returns
        -------
        Trajectory
            With one time for each step.

        Raises
        ------
        ValueError
            If an argument is out of range.

        Warns
        -----
        RuntimeWarning
            If the loss is no number or a parameter stops being finite. Training ends there and
            the run is kept.
        """
        start = self._checked(start)
        n_steps = check.integer("n_steps", n_steps, minimum=0)
        train = self._trained(train)
        learning_rate = check.real("learning_rate", learning_rate, 0.0, strict=True)
        check.room("n_steps", n_steps, (n_steps + 1) * (2 + sum(start[name].size for name in train)))
        evaluate = self._evaluator({name: value for name, value in start.items() if name not in train})
        now = {name: start[name].copy() for name in train}
        path = {name: np.empty((n_steps + 1, *start[name].shape)) for name in train}
        loss = np.empty(n_steps + 1)
        for step in progress(range(n_steps + 1), "gradient descent"):
            for name in train:
                path[name][step] = now[name]
            with np.errstate(over="ignore", invalid="ignore"):
                loss[step], pulls = evaluate(now)
                for name in train:
                    pull = over_total(now["c"]) * pulls["c"] if name == "c" else pulls[name]
                    now[name] = now[name] + learning_rate * pull
            goes_on = step == n_steps or all(np.isfinite(now[name]).all() for name in train)
            if math.isnan(loss[step]) or not goes_on:
                warnings.warn(
                    f"gradient descent stopped at step {step} of {n_steps}: the loss or a parameter is no "
                    "longer finite; a smaller learning_rate may help",
                    RuntimeWarning,
                    stacklevel=2,
                )
                n_steps = step
                path = {name: value[: step + 1] for name, value in path.items()}
                loss = loss[: step + 1]
                break
        times = learning_rate * np.arange(n_steps + 1)

        def read(at: np.ndarray) -> Parameters:
            position = np.clip(at / learning_rate, 0, n_steps)
            left = np.minimum(position.astype(np.intp), max(n_steps - 1, 0))
            right = np.minimum(left + 1, n_steps)
            between = {
                name: value[left] + (value[right] - value[left]) * _as_column(position - left, value)
                for name, value in path.items()
            }
            return _fill(start, between, at.size)

        return Trajectory(self, times, _fill(start, path, times.size), [(0.0, float(times[-1]), read)], loss)

    def three_stages(
        self,
        start: Parameters | None = None,
        durations: Sequence[float] = PAPER_DURATIONS,
        *,
        learning_rate: float | None = None,
        rtol: float = 1e-6,
        method: str | None = None,
    ) -> Trajectory:
        """Train c, then w, then a, each for its own time.

        Parameters
        ----------
        start : dict, optional
            Every parameter at time zero, by default the paper's initialization.
        durations : sequence of three floats, default (2000, 50000, 5000)
            Time of each stage.
        learning_rate : float, optional
            Take gradient steps of this size for the same times, instead of the flow. Every
            duration must be a multiple of it.
        rtol : float, default 1e-6
            Relative tolerance of the flow.
        method : str, optional
            As for `flow`; not together with `learning_rate`.

        Returns
        -------
        Trajectory
            One for all stages; `stage_ends` says when they end.

        Raises
        ------
        ValueError
            If an argument is out of range, or a duration is no multiple of `learning_rate`.
        RuntimeError
            As for `flow`.

        Warns
        -----
        RuntimeWarning
            As for `descend`; the stages that would follow are left out.

        References
        ----------
        Chen et al. (2024), section 3.2, Algorithm 1 and Table 1.
        """
        checked = check.real_array("durations", durations, (3,))
        if checked.min() < 0:
            check.refuse("durations", durations, "three numbers of at least 0")
        rtol, method = check.real("rtol", rtol, 0.0, strict=True), _checked_method(method)
        n_steps = [0, 0, 0]
        if learning_rate is not None:
            learning_rate = check.real("learning_rate", learning_rate, 0.0, strict=True)
            if method is not None:
                check.refuse("method", method, "left out where learning_rate is given")
            n_steps = [_n_steps(duration, learning_rate) for duration in checked.tolist()]
        run = None
        now = self.initial_parameters() if start is None else start
        for name, duration, n in zip(("c", "w", "a"), checked.tolist(), n_steps, strict=True):
            if learning_rate is None:
                stage = self.flow(now, duration, name, rtol=rtol, method=method)
            else:
                stage = self.descend(now, n, name, learning_rate=learning_rate)
            run = stage if run is None else run.then(stage)
            if learning_rate is not None and stage.times.size <= n:
                break  # it stopped being finite
            now = {key: value[-1] for key, value in run.parameters.items()}
        return run

    def _evaluator(self, frozen: Parameters) -> Callable[..., tuple[float | None, Pulls]]:
        """Return a function of the other parameters, which gives the loss and their pulls.

        A pull is a gradient with the sign changed; that of c is divided by c / C_D, which is
        how the flow needs it: it stays finite while c underflows.
        """
        raise NotImplementedError

    def _loss_and_gradients(self, parameters: Parameters) -> tuple[float, Parameters]:
        now = self._checked(parameters)
        loss, pulls = self._evaluator({})(now)
        with np.errstate(over="ignore"):
            pulls["c"] = pulls["c"] * over_total(now["c"])
        if not np.isfinite(pulls["c"]).all():
            check.refuse(
                "c", parameters["c"], "so large beside a that its gradient is within the range of floats"
            )
        return loss, {name: -np.asarray(pulls[name]) for name in now}

    def _checked(self, parameters: Parameters) -> Parameters:
        """Return copies of all parameters, checked."""
        if not isinstance(parameters, dict) or set(parameters) != set(self._shapes):
            shown = sorted(parameters) if isinstance(parameters, dict) else parameters
            check.refuse("start", shown, "a dict with the parameters " + ", ".join(map(repr, self._shapes)))
        now = {
            name: check.real_array(name, parameters[name], shape, largest=_LARGEST[name == "c"]).copy()
            for name, shape in self._shapes.items()
        }
        if np.abs(now["c"]).max() < _SMALLEST_C:
            check.refuse("c", parameters["c"], f"at least {_SMALLEST_C:g} in size for one set")
        return now

    def _trained(self, train: str | Iterable[str] | None) -> tuple[str, ...]:
        if train is None:
            return tuple(self._shapes)
        expected = "one or several of " + ", ".join(map(repr, self._shapes))
        try:
            names = (train,) if isinstance(train, str) else tuple(train)
        except TypeError:
            check.refuse("train", train, expected)
        named = all(isinstance(name, str) and name in self._shapes for name in names)
        if not names or not named or len(set(names)) < len(names):
            check.refuse("train", train, expected)
        return names

    def _still(self, start: Parameters) -> Trajectory:
        """Return the run that ends where it starts."""

        def read(times: np.ndarray) -> Parameters:
            return _fill(start, {}, times.size)

        zero = np.zeros(1)
        return Trajectory(self, zero, read(zero), [(0.0, 0.0, read)])


class _Unfinished(Exception):
    """A flow takes more evaluations than it may."""

    def __init__(self, time: float) -> None:
        self.time = time


class _Chart:
    """Coordinates of the flow: the logarithm of c squared, every other parameter as it is."""

    def __init__(self, start: Parameters) -> None:
        self._start = start
        self._spans: dict[str, slice] = {}
        parts, end = [], 0
        for name, value in start.items():
            if name == "c":
                self._live = value != 0  # a weight of zero stays zero
                self._total = value @ value
                value = 2 * np.log(np.abs(value[self._live]))
            parts.append(value.reshape(-1))
            self._spans[name] = slice(end, end + parts[-1].size)
            end += parts[-1].size
        self.origin = np.concatenate(parts)

    def read(self, state: np.ndarray) -> Parameters:
        """Return the parameters at one or many states, shape (..., n)."""
        parameters = {}
        for name, span in self._spans.items():
            value, shape = state[..., span], self._start[name].shape
            if name == "c":
                c = np.zeros((*state.shape[:-1], *shape))
                c[..., self._live] = np.sqrt(self._total * softmax(value))
                parameters[name] = np.copysign(c, self._start[name])
            else:
                parameters[name] = value.reshape((*state.shape[:-1], *shape))
        return parameters

    def velocity(self, pulls: Pulls) -> np.ndarray:
        """Return how fast the state moves."""
        parts = []
        for name in self._spans:
            pull = pulls[name]
            parts.append(2 * pull[self._live] / self._total if name == "c" else np.reshape(pull, -1))
        return np.concatenate(parts)


def softmax(values: np.ndarray) -> np.ndarray:
    """Return the softmax along the last axis."""
    exponentials = np.exp(values - values.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def checked_sizes(heads: object, degree: object, n_extra: int = 0) -> tuple[int, int]:
    """Return the number of heads and the largest size of a set of these and `n_extra` more blocks."""
    heads = check.integer("heads", heads, 1, _MOST_SETS)
    degree = check.integer("degree", degree, 0, heads + n_extra)
    n_sets(heads + n_extra, degree)
    return heads, degree


def n_sets(n_blocks: int, degree: int) -> int:
    """Return how many sets of at most `degree` blocks there are, refusing more than could be listed."""
    total = 0
    for size in range(degree + 1):
        total += math.comb(n_blocks, size)
        if total > _MOST_SETS:
            check.refuse(
                "degree", degree, f"small enough that {n_blocks} blocks have at most {_MOST_SETS} sets"
            )
    return total


def nonzero(name: str, value: object) -> float:
    """Return `value` as a finite ``float`` other than zero."""
    number = check.real(name, value)
    if number == 0:
        check.refuse(name, value, "a finite number other than 0")
    return number


def _checked_method(method: object) -> str | None:
    options = ("RK45", "LSODA", "DOP853", "RK23", "BDF", "Radau")
    return None if method is None else check.choice("method", method, options)


def _n_steps(duration: float, learning_rate: float) -> int:
    """Return how many steps cover a duration."""
    ratio = duration / learning_rate
    if not math.isfinite(ratio) or abs(round(ratio) - ratio) > 1e-9 * ratio:
        raise ValueError(
            "durations must be multiples of learning_rate, "
            f"got {duration:g} and learning_rate {learning_rate:g}"
        )
    return round(ratio)


def _agree(left: Parameters, i: int, right: Parameters, j: int) -> bool:
    """Return whether two runs pass through the same parameters, up to rounding."""
    return left.keys() == right.keys() and all(
        value.shape[1:] == right[name].shape[1:]
        and np.allclose(value[i], right[name][j], rtol=1e-9, atol=1e-12)
        for name, value in left.items()
    )


def _fill(start: Parameters, moving: Parameters, n_times: int) -> Parameters:
    """Return every parameter with a time axis, those that rest repeated."""
    return {
        name: moving[name] if name in moving else np.broadcast_to(value, (n_times, *value.shape))
        for name, value in start.items()
    }


def _as_column(values: np.ndarray, like: np.ndarray) -> np.ndarray:
    return values.reshape(-1, *(1,) * (like.ndim - 1))
