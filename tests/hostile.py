"""What is hostile to each kind of argument, and what a refusal must say.

Shared by the tests of bad input; run them with ``python -m pytest`` from the root of the repository.
"""

from __future__ import annotations

import copy
import inspect
import re
from dataclasses import dataclass, is_dataclass
from numbers import Number

import numpy as np
import pytest

import markov_transformers as mt

NAN, INF = float("nan"), float("inf")
HUGE = 10**12  # of anything that is kept in memory


# What is hostile to each kind of argument.

NO_NUMBER = [None, "0.5", b"1", 1j, [0.5], {}, True, np.bool_(True), NAN, np.float64("nan"), np.array([0.5])]
FLAG = [None, 1, 0, "yes", NAN, np.array([True])]
RNG = [None, -1, 0.5, "0", True, NAN, np.random.RandomState(0)]
LAGS = [None, 1, "1", b"1", NAN, [0], [-1], [1.5], ["1"], [True], [1, 1], [[1]], [NAN], [10**400]]
WORD = [None, 3, True, b"log", ["log"], "no such word", ""]
LOSS = [3, "abc", mt.SquareLoss, NAN, [], np.zeros(2)]
OBJECT = [None, 3, "abc", NAN, [], {}, np.zeros(2), object]


def number(low=-INF, high=INF, *, above=-INF, infinite=False):
    """Return what is no number from `low` to `high`, both included, and above `above`."""
    outside = [x for x in (low - 0.1, high + 0.1, above) if np.isfinite(x)]
    return [*NO_NUMBER, *outside, *([] if infinite else [INF, -INF, 10**400])]


def count(low=-INF, high=INF, *, huge=False):
    """Return what is no whole number from `low` to `high`; with `huge`, also too many for the memory."""
    outside = [int(n) for n in (low - 1, low - 1000, high + 1) if np.isfinite(n)]
    return [*NO_NUMBER, 2.5, 6.0, INF, "3", [3], 10**400, *outside, *([HUGE] if huge else [])]


def array(shape, *, low=-INF, finite=True):
    """Return what is no array of the given shape with numbers of at least `low`."""
    good = np.ones(shape)
    entries = [x for x in (NAN, INF, -INF) if finite] + ([low - 1] if np.isfinite(low) else [])
    spoilt = [np.where(np.arange(good.size).reshape(shape) == 0, x, good) for x in entries]
    ragged = [[1.0, 2.0], [3.0]]
    masked = np.ma.masked_array(good, mask=good > 0)
    wrong = [None, "abc", b"1", 1j * good, good > 0, good.astype(object), good.astype(str), ragged, masked]
    return [*wrong, np.ones((*shape, 2)), *([good[..., :0]] if shape else []), *spoilt, {}, [None]]


def law(shape):
    """Return what is no array of that shape of probabilities that sum to one."""
    negative = np.full(shape, 1 / shape[-1])
    negative[..., 0], negative[..., 1] = -0.5, 0.5 + 1 / shape[-1]
    return [*array(shape), np.ones(shape), np.zeros(shape), negative]


def tokens(vocab_size=None, *, ndim=2, shortest=1):
    """Return what is no array of tokens below `vocab_size`, of sequences of length `shortest` or more."""
    good = np.zeros((2, 8)[-ndim:], dtype=int)
    wrong = [
        None,
        "ab",
        3,
        [],
        good + 0.5,
        good.astype(float),
        good > 0,
        good - 1,
        good.astype(object),
        1j * good,
    ]
    wrong += [np.full(good.shape, NAN), good.astype(str), good[None], good[0], [[0, 1], [2]], {}, [[]]]
    wrong += [
        np.ma.masked_array(good, mask=good == 0),
        good[..., : shortest - 1],
        np.full(good.shape, 2**64 - 1),
    ]
    return [*wrong, *([] if vocab_size is None else [good + vocab_size])]


def or_none(values):
    """Return what is hostile to an argument that may be left out."""
    return [value for value in values if value is not None]


# What a refusal must say.


@dataclass(frozen=True)
class Row:
    """A function, arguments that it takes, and what is hostile to each."""

    function: object
    arguments: dict

    def good(self):
        return {name: good for name, (good, _) in self.arguments.items()}


class Table(dict):
    """Rows by the name of the function."""

    def row(self, name, function, /, **arguments):
        """Add a row: for each argument a good value and a list of hostile ones."""
        self[name] = Row(function, arguments)

    def cases(self):
        """Return a pytest parameter for each argument of each function."""
        return [
            pytest.param(name, argument, id=f"{name}-{argument}")
            for name, row in self.items()
            for argument in row.arguments
        ]

    def assert_takes_good_arguments(self, name):
        self[name].function(**self[name].good())

    def assert_refuses(self, name, argument):
        """Assert that each hostile value raises an error that tells, and that no argument is changed."""
        for value in self[name].arguments[argument][1]:
            arguments = {**self[name].good(), argument: value}
            before = copy.deepcopy(contents(arguments))
            with pytest.raises((ValueError, TypeError)) as caught:
                self[name].function(**arguments)
            assert told(str(caught.value), argument, value), (value, str(caught.value))
            np.testing.assert_equal(contents(arguments), before)

    def assert_covers(self, name, function, exceptions=()):
        """Assert that each parameter of a function has hostile rows, or that the function is excepted."""
        parameters = set(inspect.signature(function).parameters) - {"self"}
        covered = set(self[name].arguments) if name in self else set()
        assert name in exceptions or covered == parameters

    def assert_no_ghosts(self, callables, exceptions):
        """Assert that what has rows or is excepted exists, and that nothing is both."""
        assert self.keys() <= callables.keys()
        assert exceptions.keys() <= callables.keys()
        assert not self.keys() & exceptions.keys()


def contents(value):
    """Return the data in arguments: numbers, texts and arrays, in sequences, mappings and records too."""
    if is_dataclass(value) and not isinstance(value, type):
        value = vars(value)
    if isinstance(value, dict):
        return {key: contents(part) for key, part in value.items()}
    if isinstance(value, np.ma.MaskedArray):  # which old releases of NumPy cannot compare with itself
        return value.data, value.mask
    if isinstance(value, (list, tuple)):
        return [contents(part) for part in value]
    return value if isinstance(value, (np.ndarray, Number, str, bytes)) else None


def told(message, argument, value):
    """Return whether a message names the argument, says what it must be and shows what came."""
    left, _, came = message.rpartition("got ")
    named = re.search(rf"(?<!\w){re.escape(argument)}(?!\w)", left)
    return bool(named) and "must" in left and any(part in came for part in shown_as(value))


def shown_as(value):
    """Return the ways in which a message may show a value: itself, its shape, what is wrong with it."""
    yield repr(value)[:50]
    if isinstance(value, (tuple, dict)) or (isinstance(value, list) and len(value) == 1):
        for part in value.values() if isinstance(value, dict) else value:
            yield from shown_as(part)
    try:
        numbers = np.asarray(value)
    except ValueError:
        return
    yield from (repr(numbers)[:50], str(numbers.tolist()), str(numbers.shape))
    if isinstance(value, dict):
        yield repr(sorted(value))
    elif numbers.dtype.kind in "iuf" and numbers.size:
        rows = numbers.reshape(len(numbers) if numbers.ndim else 1, -1).sum(axis=1)
        sums = [numbers.sum(), *rows, *np.atleast_1d(numbers.sum(axis=-1)).flat]
        yield from (f"{float(x):g}" for x in (numbers.min(), numbers.max(), *sums))
        yield str(int(numbers.max())) if np.isfinite(numbers.max()) else "inf"
