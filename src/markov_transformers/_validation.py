"""One place for argument checks, so that every message reads the same way.

Each function returns its argument in the form that the library computes with,
or raises an error which names the argument, what came and what was expected.
"""

from __future__ import annotations

import math
import operator
from typing import NoReturn

import numpy as np

MOST_AXES = 31  # of one array: what every NumPy allows, less one for a batch
LARGEST_WEIGHT = 1e100  # of a model's parameter: squares and products of several still fit a double
_LARGEST_INTEGER = (1 << 63) - 1
_MOST_BYTES = 4 << 30  # what a reader's computer can spare for one call


def refuse(name: str, value: object, expected: str) -> NoReturn:
    """Raise the ``ValueError`` that every check in the library raises."""
    try:
        shown = repr(value)
    except ValueError:  # an integer of more than 4300 digits
        shown = f"an {type(value).__name__} too long to show"
    if len(shown) > 80:
        shown = shown[:77] + "..."
    raise ValueError(f"{name} must be {expected}, got {shown}")


def integer(name: str, value: object, minimum: int | None = None, maximum: int | None = None) -> int:
    """Return `value` as an ``int`` between `minimum` and `maximum`, both included.

    One that no array could count is refused as well.
    """
    expected = "an integer" + _between(minimum, maximum)
    if isinstance(value, (bool, np.bool_)):
        refuse(name, value, expected)
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        refuse(name, value, expected)
    if (minimum is not None and number < minimum) or (maximum is not None and number > maximum):
        refuse(name, value, expected)
    if abs(number) > _LARGEST_INTEGER:
        refuse(name, value, expected + " and below 2**63")
    return number


def real(
    name: str,
    value: object,
    minimum: float | None = None,
    maximum: float | None = None,
    *,
    strict: bool = False,
    infinite: bool = False,
) -> float:
    """Return `value` as a ``float`` in the given range; `strict` leaves out `minimum` itself."""
    expected = ("a number" if infinite else "a finite number") + _between(minimum, maximum, strict)
    # Old releases of NumPy make a number of an array with one entry.
    if isinstance(value, (bool, np.bool_, str, bytes)) or getattr(value, "ndim", 0):
        refuse(name, value, expected)
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        refuse(name, value, expected)
    if math.isnan(number) or (math.isinf(number) and not infinite):
        refuse(name, value, expected)
    too_low = minimum is not None and (number < minimum or (strict and number == minimum))
    if too_low or (maximum is not None and number > maximum):
        refuse(name, value, expected)
    return number


def real_array(
    name: str,
    value: object,
    shape: tuple[int | None, ...] | None = None,
    *,
    finite: bool = True,
    largest: float = math.inf,
) -> np.ndarray:
    """Return `value` as a float array; ``None`` in `shape` matches any length.

    No entry may be further from zero than `largest`.
    """
    expected = "an array of " + ("finite " if finite else "") + "real numbers"
    if shape is not None:
        expected += f" of shape {_shown(shape)}"
    if largest < math.inf:
        expected += f" within ±{largest:g}"
    array = _array(name, value, "iuf", expected)
    if shape is not None and not _fits(array.shape, shape):
        raise ValueError(f"{name} must be {expected}, got shape {array.shape}")
    array = array.astype(np.float64, order="C", copy=False)  # else equal numbers could sum differently
    if finite and not (np.isfinite(array) if largest == math.inf else np.abs(array) <= largest).all():
        refuse(name, value, expected)
    return array


def token_array(
    name: str, value: object, vocab_size: int | None = None, *, ndim: int = 2, min_length: int = 1
) -> np.ndarray:
    """Return `value` as an integer array of tokens ``0 ... vocab_size - 1``.

    With ``ndim=2`` the shape is ``(n_sequences, length)`` and neither axis may be empty.
    """
    axes = {1: "(length,)", 2: "(n_sequences, length)"}.get(ndim, f"{ndim} axes")
    top = "" if vocab_size is None else f" ... {vocab_size - 1}"
    expected = f"an integer array of tokens 0{top or ', 1, ...'} of shape {axes}"
    array = _array(name, value, "iu", expected)
    if array.ndim != ndim or array.size == 0:
        raise ValueError(f"{name} must be {expected}, got shape {array.shape}")
    if array.shape[-1] < min_length:
        raise ValueError(
            f"{name} must be {expected} with length at least {min_length}, got shape {array.shape}"
        )
    low, high = int(array.min()), int(array.max())
    if low < 0 or high >= (_LARGEST_INTEGER if vocab_size is None else vocab_size):
        outside = low if low < 0 else high
        raise ValueError(f"{name} must be {expected}, got a token {outside}")
    return array.astype(np.intp, copy=False)


def probability_array(name: str, value: object, shape: tuple[int | None, ...] | None = None) -> np.ndarray:
    """Return `value` as a float array whose last axis holds probability distributions.

    A sum may miss one by 1e-6; it is then rescaled, so that what follows sums to one.
    """
    array = real_array(name, value, shape)
    expected = "probabilities that sum to one along the last axis"
    if array.ndim == 0 or array.shape[-1] == 0:
        raise ValueError(f"{name} must be {expected}, got shape {array.shape}")
    if (array < 0).any():
        raise ValueError(f"{name} must be {expected}, got a negative entry {array.min():g}")
    total = array.sum(axis=-1, keepdims=True)
    worst = float(total.flat[np.abs(total - 1).argmax()]) if total.size else 1.0
    if abs(worst - 1) > 1e-6:
        raise ValueError(f"{name} must be {expected}, got a sum of {worst:g}")
    return array / total


def generator(rng: object) -> np.random.Generator:
    """Return `rng` as a ``numpy.random.Generator``; an integer is used as a seed."""
    if isinstance(rng, np.random.Generator):
        return rng
    expected = "a numpy.random.Generator or an integer seed of zero or more"
    if isinstance(rng, (bool, np.bool_)):
        refuse("rng", rng, expected)
    try:
        seed = operator.index(rng)  # type: ignore[arg-type]
    except TypeError:
        refuse("rng", rng, expected)
    if seed < 0:
        refuse("rng", rng, expected)
    return np.random.default_rng(seed)


def choice(name: str, value: object, options: tuple[str, ...]) -> str:
    """Return `value` if it is one of `options`."""
    if not isinstance(value, str) or value not in options:
        refuse(name, value, "one of " + ", ".join(repr(option) for option in options))
    return value


def flag(name: str, value: object) -> bool:
    """Return `value` as a ``bool``; only true and false count."""
    if not isinstance(value, (bool, np.bool_)):
        refuse(name, value, "True or False")
    return bool(value)


def room(name: str, value: object, n_numbers: float) -> None:
    """Refuse an argument for which the call would have to keep `n_numbers` of 8 bytes in memory."""
    if 8 * n_numbers > _MOST_BYTES:
        refuse(
            name,
            value,
            f"small enough to compute in {_MOST_BYTES >> 30} GB of memory "
            f"(this would take {8 * n_numbers / 2**30:.3g} GB)",
        )


def power(base: int, exponent: int) -> float:
    """Return a power as a ``float``, infinite if it is too large for one."""
    try:
        return float(base) ** exponent
    except OverflowError:
        return math.inf


def _array(name: str, value: object, kinds: str, expected: str) -> np.ndarray:
    """Return `value` as an array with a type of one of the `kinds`."""
    if isinstance(value, np.ma.MaskedArray):
        refuse(name, value, expected + ", without a mask")
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):  # ragged, or an object that only looks like an array
        refuse(name, value, expected)
    if array.dtype.kind not in kinds:
        refuse(name, value, expected)
    return array


def _between(minimum: float | None, maximum: float | None, strict: bool = False) -> str:
    if minimum is not None and maximum is not None:
        return f" in {'(' if strict else '['}{minimum:g}, {maximum:g}]"
    if minimum is not None:
        return f" above {minimum:g}" if strict else f" of at least {minimum:g}"
    if maximum is not None:
        return f" of at most {maximum:g}"
    return ""


def _fits(actual: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    return len(actual) == len(wanted) and all(w in (None, a) for a, w in zip(actual, wanted))


def _shown(shape: tuple[int | None, ...]) -> str:
    inner = ", ".join("any" if axis is None else str(axis) for axis in shape)
    return f"({inner},)" if len(shape) == 1 else f"({inner})"
