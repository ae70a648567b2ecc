"""Checks of what measurements take and nothing else of the library does: lists, sizes, repetitions."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from .. import _validation as check

_MOST_REPETITIONS = 10_000  # of an experiment: more would take days
_MOST_STEPS = 10_000_000  # of gradient descent, of which few are kept: more would take days
_CONCENTRATIONS = 1e-12, 1e12  # that `DirichletPrior` takes


def repetitions(name: str, value: object) -> int:
    """Return how often an experiment is to be repeated."""
    return check.integer(name, value, 1, _MOST_REPETITIONS)


def steps(name: str, value: object, minimum: int = 0) -> int:
    """Return how many steps training is to take, where memory sets no bound."""
    return check.integer(name, value, minimum, _MOST_STEPS)


def size(name: str, value: object, each: float = 1, *, minimum: int = 1) -> int:
    """Return a number of things, of which each takes `each` numbers in memory."""
    number = check.integer(name, value, minimum=minimum)
    check.room(name, value, each * number)
    return number


def concentration(name: str, value: object) -> float:
    """Return the concentration of a Dirichlet prior."""
    return check.real(name, value, *_CONCENTRATIONS)


def concentrations(name: str, value: object) -> list[float]:
    """Return the concentrations of Dirichlet priors, one or more."""
    return numbers(name, value, *_CONCENTRATIONS)


def numbers(
    name: str, value: object, minimum: float = -math.inf, maximum: float = math.inf, *, strict: bool = False
) -> list[float]:
    """Return a list of one number or more, each in the range; `strict` leaves out its ends."""
    array = check.real_array(name, value, (None,))
    outside = (array < minimum) | (array > maximum)
    if strict:
        outside |= (array == minimum) | (array == maximum)
    if outside.any() or not array.size:
        interval = "({:g}, {:g})" if strict else "[{:g}, {:g}]"
        check.refuse(name, value, "one number or more, each in " + interval.format(minimum, maximum))
    return array.tolist()


def whole_numbers(name: str, value: object, minimum: int, maximum: float = math.inf) -> list[int]:
    """Return a list of one whole number or more, each in the range, ends included."""
    array = check.real_array(name, value, (None,))
    whole = np.asarray(value).dtype.kind != "f"
    if not whole or not array.size or array.min() < minimum or array.max() > maximum:
        check.refuse(name, value, f"one integer or more, each in [{minimum:g}, {maximum:g}]")
    return np.asarray(value).tolist()


def instance(name: str, value: object, kind: type) -> None:
    """Refuse what is no object of a class of the library."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be {kind.__name__}, got {value!r}")


def objects(name: str, values: object, kind: type) -> list:
    """Return a list of objects of a class of the library."""
    found = list(values) if isinstance(values, Iterable) else [None]
    if not all(isinstance(value, kind) for value in found):
        raise TypeError(f"{name} must be an iterable of {kind.__name__}, got {values!r}")
    return found
