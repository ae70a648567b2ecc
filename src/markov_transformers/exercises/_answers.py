"""What checkers share: reading an answer, comparing it, and saying what is off without the solution.

Every helper raises `Wrong` with a message for the reader and returns the answer in the form that the
rest of the checker computes with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from itertools import islice

import numpy as np

_LONGEST = 10_000  # members of a set that are looked at
_DUST = 1e-12  # what an optimiser leaves where it means zero
_CLOSE = "Is it rounded, or is the formula a slightly different one?"


class Wrong(Exception):
    """An answer is not right; the message says what is off."""

    def __init__(self, message: str, *, waiting: bool = False) -> None:
        super().__init__(message)
        self.waiting = waiting


def a_number(answer: object) -> float:
    """Return an answer as a finite float."""
    if isinstance(answer, (bool, np.bool_, str, bytes)):
        raise Wrong(f"A number is wanted, this is {_kind(answer)}.")
    array = _plain(answer)
    if array is None or array.size != 1:
        raise Wrong(f"A single number is wanted, this is {_kind(answer)}.")
    value = float(array.reshape(()))
    if not math.isfinite(value):
        raise Wrong(f"A finite number is wanted, this is {value}.")
    return value


def number(
    answer: object,
    expected: float,
    *,
    rel: float = 1e-6,
    abs: float = 0.0,
    low: str = "",
    high: str = "",
    slips: Mapping[float, str] | None = None,
    close: str = "Give more digits.",
) -> float:
    """Compare a number with the expected one, within `rel` of it or `abs`, whichever is larger.

    `slips` maps wrong values that a known slip leads to onto what to say about them; `low` and `high`
    are hints for other values, `close` is one for values within two per cent.
    """
    value = a_number(answer)

    def near(target: float) -> bool:
        return math.isclose(value, target, rel_tol=rel, abs_tol=abs)

    if near(expected):
        return value
    for slip, message in (slips or {}).items():
        if near(slip):
            raise Wrong(message)
    if rel and expected and math.isclose(value, expected, rel_tol=0.02):
        raise Wrong(f"Close. {close}")
    if value < expected:
        raise Wrong(f"Too low. {low}".strip())
    raise Wrong(f"Too high. {high}".strip())


def whole(answer: object, expected: int, **hints: object) -> int:
    """Compare an integer with the expected one; hints as for `number`."""
    value = a_number(answer)
    if not math.isclose(value, round(value), rel_tol=1e-9, abs_tol=1e-9):
        raise Wrong(f"A whole number is wanted, this is {value:.10g}.")
    return int(number(round(value), expected, rel=0.0, **hints))  # type: ignore[arg-type]


def an_array(answer: object, shape: Sequence[int | None], what: str = "The array") -> np.ndarray:
    """Return an answer as a float array of the given shape; None in `shape` matches any length."""
    array = _plain(answer)
    wanted = (
        "("
        + ", ".join("any length" if n is None else str(n) for n in shape)
        + ("," if len(shape) == 1 else "")
        + ")"
    )
    if array is None:
        raise Wrong(f"{what} should be an array of numbers of shape {wanted}, this is {_kind(answer)}.")
    fits = array.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, array.shape))
    if not fits:
        raise Wrong(f"{what} should have shape {wanted}, this has shape {array.shape}.")
    if not np.isfinite(array).all():
        place = _place(np.argwhere(~np.isfinite(array))[0])
        raise Wrong(f"{what} has an entry that is not a finite number, at {place}.")
    return array


def array(
    answer: object,
    expected: object,
    *,
    rel: float = 1e-6,
    abs: float = 1e-9,
    what: str = "The array",
    where: str = "",
    slips: Iterable[tuple[object, str]] = (),
) -> np.ndarray:
    """Compare an array with the expected one, entry by entry, and name the first that is off.

    `what` begins the message about a shape, `where` that about entries.
    """
    target = np.asarray(expected, dtype=float)
    given = an_array(answer, target.shape, what)
    if np.allclose(given, target, rtol=rel, atol=abs):
        return given
    for slip, message in slips:
        wrong = np.asarray(slip, dtype=float)
        if wrong.shape == given.shape and np.allclose(given, wrong, rtol=rel, atol=abs):
            raise Wrong(message)
    off = ~np.isclose(given, target, rtol=rel, atol=abs)
    place = tuple(np.argwhere(off)[0])
    direction = "too low" if given[place] < target[place] else "too high"
    count = f"{int(off.sum())} of {off.size} entries are off. The first" if off.sum() > 1 else "One entry"
    raise Wrong(f"{where}{count}, at {_place(place)}, is {direction}.")


def stochastic(answer: object, n_states: int | None = None, what: str = "The matrix") -> np.ndarray:
    """Return an answer as a square matrix whose rows are probability laws."""
    matrix = an_array(answer, (n_states, n_states), what)
    if matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise Wrong(f"{what} should be square, this has shape {matrix.shape}.")
    if (matrix < -_DUST).any():
        raise Wrong(f"{what} has a negative entry at {_place(np.argwhere(matrix < -_DUST)[0])}.")
    matrix = np.where(matrix < _DUST, 0.0, matrix)
    sums = matrix.sum(axis=1)
    off = np.abs(sums - 1) > 1e-6
    if off.any():
        row = int(np.argmax(off))
        raise Wrong(f"{what} should have rows that sum to one; row {row} sums to {sums[row]:.8g}.")
    return matrix / sums[:, None]


def choice(answer: object, right: str, remarks: Mapping[str, str]) -> str:
    """Compare a word with the right one; `remarks` says something about each of the others."""
    options = sorted([right, *remarks])
    word = answer.strip(" .!").lower() if isinstance(answer, str) else ""
    if word not in options:
        shown = repr(answer)[:60] if isinstance(answer, str) else _kind(answer)
        raise Wrong(f"Choose one of {', '.join(map(repr, options))}; this is {shown}.")
    if word != right:
        raise Wrong(remarks[word])
    return word


def a_set(answer: object, expected: Iterable, what: str = "The set") -> set:
    """Compare a set, as a list, tuple or set, and say how many are missing or too many."""
    target = {_member(item) for item in expected}
    if isinstance(answer, (str, bytes, Mapping)) or not isinstance(answer, Iterable):
        raise Wrong(f"{what} should be a list, this is {_kind(answer)}.")
    try:
        given = {_member(item) for item in islice(answer, _LONGEST + 1)}
    except (TypeError, ValueError, OverflowError):
        raise Wrong(f"{what} should be a list of finite numbers or of tuples of them.") from None
    if len(given) > _LONGEST:
        raise Wrong(f"{what} is far too long.")
    extra, missing = len(given - target), len(target - given)
    if extra and missing:
        verb = "does" if extra == 1 else "do"
        raise Wrong(f"{what} has {_count(extra)} that {verb} not belong there, and lacks {_count(missing)}.")
    if extra:
        raise Wrong(f"{what} has {_count(extra)} too many.")
    if missing:
        raise Wrong(
            f"{what} lacks {_count(missing)}; what is there is right." if given else f"{what} is empty."
        )
    return given


def call(function: object, *arguments: object, shown: str = "") -> object:
    """Call a reader's function; `shown` tells the reader with what."""
    if not callable(function):
        raise Wrong(f"A function is wanted, this is {_kind(function)}.")
    where = f" for {shown}" if shown else ""
    try:
        value = function(*(copy(a) if isinstance(a, (np.ndarray, list, dict)) else a for a in arguments))
    except Wrong:
        raise
    except (Exception, SystemExit) as error:
        raise Wrong(f"Your function raised {type(error).__name__}: {error}{where}.") from None
    if value is None:  # a branch without a return, while an empty cell returns an ellipsis
        raise Wrong(f"Your function returned nothing{where}.")
    if value is ...:
        raise Wrong("waiting for your function to return something.", waiting=True)
    return value


def function(
    answer: object,
    reference: Callable,
    cases: Iterable[tuple],
    *,
    show: Callable[..., str],
    rel: float = 1e-6,
    abs: float = 1e-9,
    slips: Iterable[tuple[Callable, str]] = (),
) -> None:
    """Compare a reader's function with a reference on cases; `show` names a case in words.

    `slips` are functions that known slips lead to, with what to say about them; a slip is named only if
    it explains the answer to every case.
    """
    cases = list(cases)
    slips = list(slips)
    values = [call(answer, *case, shown=show(*case)) for case in cases]
    targets = [np.asarray(reference(*case), dtype=float) for case in cases]
    try:
        for case, value, target in zip(cases, values, targets):
            what = f"For {show(*case)} the result"
            if target.ndim:
                array(value, target, rel=rel, abs=abs, what=what, where=f"For {show(*case)}: ")
            else:
                try:
                    number(value, float(target), rel=rel, abs=abs, close=_CLOSE)
                except Wrong as wrong:
                    raise Wrong(f"{what} is off. {wrong}") from None
    except Wrong:
        for slip, message in slips:
            if all(_equal(value, slip(*case), rel, abs) for case, value in zip(cases, values)):
                raise Wrong(message) from None
        raise


def _equal(value: object, other: object, rel: float, abs: float) -> bool:
    given, target = _plain(value), np.asarray(other, dtype=float)
    return (
        given is not None and given.shape == target.shape and np.allclose(given, target, rtol=rel, atol=abs)
    )


def _plain(answer: object) -> np.ndarray | None:
    """Return real numbers, fractions among them, as a float array; None for anything else."""
    try:
        array = np.asarray(answer.detach() if hasattr(answer, "detach") else answer)
        if array.dtype.kind == "c" and (np.abs(array.imag) <= 1e-9 * np.maximum(1, np.abs(array))).all():
            array = array.real
        return array.astype(float) if array.dtype.kind in "iufO" else None
    except Exception:
        return None


def _member(item: object) -> object:
    if hasattr(item, "tolist"):  # arrays and tensors, those without dimensions among them
        item = item.tolist()
    if isinstance(item, (str, bytes)):
        return item
    if isinstance(item, Iterable):
        return tuple(_member(part) for part in item)
    value = float(item)  # type: ignore[arg-type]
    return int(value) if value == int(value) else value


def _count(number: int) -> str:
    return "one member" if number == 1 else f"{number} members"


def _place(index: Iterable) -> str:
    numbers = [int(i) for i in index]
    return f"index {numbers[0]}" if len(numbers) == 1 else f"index {tuple(numbers)}"


def _kind(answer: object) -> str:
    if isinstance(answer, np.ndarray):
        return f"an array of shape {answer.shape} and type {answer.dtype}"
    name = type(answer).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
