"""Checks of what a figure is given, by the rules of the rest of the library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from .. import _validation as check

Check = Callable[[str, object], object]  # takes the name and the value


def mapping(name: str, value: object, check_part: Check) -> None:
    """Refuse `value` unless it is a mapping from names to parts that pass a check, at least one."""
    if not isinstance(value, Mapping) or not value or not all(isinstance(key, str) for key in value):
        check.refuse(name, value, "a mapping from names to what is drawn, with at least one entry")
    for key, part in value.items():
        check_part(f"{name}[{key!r}]", part)


def instance(kind: type) -> Check:
    """Return a check that a value is of a class."""

    def check_part(name: str, value: object) -> None:
        if not isinstance(value, kind):
            raise TypeError(f"{name} must be of the class {kind.__name__}, got {value!r}")

    return check_part


def array(*shape: int | None) -> Check:
    """Return a check that a value is an array of a shape; gaps may be NaN and poles infinite."""

    def check_part(name: str, value: object) -> None:
        if not check.real_array(name, value, shape, finite=False).size:
            check.refuse(name, value, "an array with at least one number")

    return check_part


def square(name: str, value: object) -> None:
    """Refuse `value` unless it is a square matrix."""
    matrix = check.real_array(name, value, (None, None))
    if matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise ValueError(f"{name} must be a square matrix, got shape {matrix.shape}")


def words(name: str, value: object, number: int) -> None:
    """Refuse `value` unless it is a sequence of so many str."""
    texts = isinstance(value, Sequence) and not isinstance(value, (str, bytes))
    if not texts or len(value) != number or not all(isinstance(text, str) for text in value):
        check.refuse(name, value, f"a sequence of {number} str")
