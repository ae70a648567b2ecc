"""Checks of what a figure is given, by the rules of the rest of the library.

Each takes the name of an argument and its value, and returns the value in the form that is drawn:
arrays for lists of numbers, dictionaries for mappings. What holds several things passes each on to
a further check, under a name that says where it stands: ``curves['a'][1]``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from .. import _validation as check

Check = Callable[[str, object], Any]
Subset = tuple[int, ...]


# What holds several things.


def mapping(name: str, value: object, check_part: Check, *, most: int | None = None) -> dict[str, Any]:
    """Return a mapping from names to parts that pass a check, at least one and up to `most`."""
    fits = isinstance(value, Mapping) and value and all(isinstance(key, str) for key in value)
    if not fits or (most is not None and len(value) > most):
        number = "at least one" if most is None else f"1 to {most}"
        check.refuse(name, value, f"a mapping from names to what is drawn, {number} of them")
    return {key: check_part(f"{name}[{key!r}]", part) for key, part in value.items()}


def entries(name: str, value: object, checks: Mapping[Any, Check]) -> dict[Any, Any]:
    """Return the parts of a mapping that are asked for; each must be there and pass its check."""
    if not isinstance(value, Mapping) or not checks.keys() <= value.keys():
        check.refuse(name, value, f"a mapping from every one of {list(checks)}")
    return {key: check_part(f"{name}[{key!r}]", value[key]) for key, check_part in checks.items()}


def some(name: str, value: object, names: Collection[str], check_part: Check) -> dict[str, Any]:
    """Return a mapping from some of the `names`, or from none, to parts that pass a check."""
    if not isinstance(value, Mapping) or not set(value) <= set(names):
        check.refuse(name, value, f"a mapping from some of {list(names)}")
    return {key: check_part(f"{name}[{key!r}]", part) for key, part in value.items()}


def by_set(name: str, value: object, check_part: Check) -> dict[Subset, Any]:
    """Return a mapping from sets of lags to parts that pass a check."""
    if not isinstance(value, Mapping) or not value or not all(_is_subset(key, 1) for key in value):
        check.refuse(name, value, "a mapping from tuples of increasing lags to what is drawn")
    return {key: check_part(f"{name}[{key!r}]", part) for key, part in value.items()}


def each(name: str, value: object, check_part: Check, number: int | None = None) -> list:
    """Return a sequence of parts that pass a check: so many, or at least one."""
    if not _is_sequence(value) or not value or number not in (None, len(value)):
        check.refuse(name, value, f"a sequence of {number or 'one or more'} things to draw")
    return [check_part(f"{name}[{i}]", part) for i, part in enumerate(value)]


def parts(name: str, value: object, checks: Sequence[Check]) -> list:
    """Return a sequence of parts, as many as there are checks, each of which passes its own."""
    if not _is_sequence(value) or len(value) != len(checks):
        check.refuse(name, value, f"a sequence of {len(checks)} parts")
    return [check_part(f"{name}[{i}]", part) for i, (check_part, part) in enumerate(zip(checks, value))]


def optional(check_part: Check) -> Check:
    """Return a check that lets None pass."""
    return lambda name, value: None if value is None else check_part(name, value)


# Objects and numbers.


def instance(kind: type) -> Check:
    """Return a check that a value is of a class."""

    def check_part(name: str, value: object) -> Any:
        if not isinstance(value, kind):
            raise TypeError(f"{name} must be of the class {kind.__name__}, got {value!r}")
        return value

    return check_part


def array(*shape: int | None, finite: bool = False) -> Check:
    """Return a check that a value is an array of a shape; gaps may be NaN and poles infinite."""

    def check_part(name: str, value: object) -> np.ndarray:
        found = check.real_array(name, value, shape, finite=finite)
        if not found.size:
            check.refuse(name, value, "an array with at least one number")
        return found

    return check_part


def shares(*shape: int | None) -> Check:
    """Return a check that a value is an array of numbers from zero to one."""

    def check_part(name: str, value: object) -> np.ndarray:
        found = array(*shape, finite=True)(name, value)
        if found.min() < 0 or found.max() > 1:
            check.refuse(name, value, "an array of numbers from 0 to 1")
        return found

    return check_part


numbers = array(None, finite=True)


def positive(name: str, value: object) -> np.ndarray:
    """Return numbers above zero, which a logarithmic axis can show."""
    found = numbers(name, value)
    if found.min() <= 0:
        check.refuse(name, value, "an array of numbers above zero")
    return found


def sizes(name: str, value: object) -> np.ndarray:
    """Return an array of integers of at least one."""
    found = numbers(name, value)
    if found.min() < 1 or (found % 1).any():
        check.refuse(name, value, "an array of integers of at least 1")
    return found.astype(int)


def square(name: str, value: object) -> np.ndarray:
    """Return a square matrix."""
    matrix = check.real_array(name, value, (None, None))
    if matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise ValueError(f"{name} must be a square matrix, got shape {matrix.shape}")
    return matrix


def curve(name: str, value: object) -> list[np.ndarray]:
    """Return a pair (x, y) of arrays of one length; y may have gaps."""
    x, y = parts(name, value, (numbers, array(None)))
    return [x, array(len(x))(f"{name}[1]", y)]


def tokens(name: str, value: object) -> np.ndarray:
    """Return one sequence of tokens."""
    return check.token_array(name, value, ndim=1)


# Names and sets.


def text(name: str, value: object) -> str:
    """Return a text."""
    if not isinstance(value, str):
        check.refuse(name, value, "a str")
    return value


def words(name: str, value: object, number: int | None = None) -> Sequence[str]:
    """Return a sequence of texts: so many, or at least one."""
    fits = _is_sequence(value) and value and all(isinstance(word, str) for word in value)
    if not fits or number not in (None, len(value)):
        check.refuse(name, value, f"a sequence of {number or 'one or more'} str")
    return value


def known(
    name: str, value: object, names: Collection, *, least: int = 0, most: int | None = None
) -> Sequence:
    """Return a sequence of names or sets that are known, `least` to `most` of them."""
    fits = _is_sequence(value) and all(_is_name(part) and part in names for part in value)
    most = len(names) if most is None else most
    if not fits or not least <= len(value) <= most:
        check.refuse(name, value, f"a sequence of {least} to {most} of {list(names)}")
    return value


def scale(name: str, value: object) -> str:
    """Return the scale of an axis."""
    return check.choice(name, value, ("linear", "log"))


def symbols(name: str, value: object) -> Sequence:
    """Return a text, or another sequence of letters, words or integers."""
    symbols = value.tolist() if isinstance(value, np.ndarray) else value
    fits = isinstance(symbols, Sequence) and not isinstance(symbols, bytes) and symbols
    if not fits or not all(isinstance(symbol, (str, int, np.integer)) for symbol in symbols):
        check.refuse(name, value, "a str, or another sequence of str or of integers, with at least one")
    return symbols


def subset(name: str, value: object, known: Sequence[Subset] | None = None) -> Subset:
    """Return a set of lags as the library writes it, one of the `known` if they are given."""
    if not _is_subset(value, 1):
        check.refuse(name, value, "a tuple of increasing lags")
    if known is not None and value not in known:
        check.refuse(name, value, f"one of the sets {list(known)}")
    return value


def sets(name: str, value: object, number: int | None = None) -> list[Subset]:
    """Return a sequence of sets of heads: so many, or at least one; 0 stands for the input itself."""
    fits = _is_sequence(value) and value and all(_is_subset(part, 0) for part in value)
    if not fits or number not in (None, len(value)):
        check.refuse(name, value, f"a sequence of {number or 'one or more'} tuples of increasing integers")
    return list(value)


def _is_name(value: object) -> bool:
    return isinstance(value, str) or _is_subset(value, 1)


def _is_sequence(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _is_subset(value: object, least: int) -> bool:
    whole = isinstance(value, tuple) and all(
        isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in value
    )
    return whole and all(n >= least for n in value) and all(a < b for a, b in pairwise(value))
