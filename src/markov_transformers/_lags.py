"""Sets of lags: the tuples ``(1, 2)`` that name parents, matched positions and features."""

from __future__ import annotations

from itertools import combinations

from . import _validation as check


def lag_set(name: str, value: object, maximum: int | None = None, *, empty: bool = False) -> tuple[int, ...]:
    """Return `value` as an increasing tuple of lags 1 ... `maximum`, or raise ``ValueError``."""
    top = "" if maximum is None else f" ... {maximum}"
    expected = f"a tuple of distinct lags 1{top or ', 2, ...'}" + (
        "" if empty else " with at least one entry"
    )
    if isinstance(value, (str, bytes, bytearray)):
        check.refuse(name, value, expected)
    try:
        lags = tuple(value)  # type: ignore[arg-type]
        lags = tuple(check.integer(name, lag, minimum=1, maximum=maximum) for lag in lags)
    except (TypeError, ValueError):
        check.refuse(name, value, expected)
    if len(set(lags)) < len(lags) or not (lags or empty):
        check.refuse(name, value, expected)
    return tuple(sorted(lags))


def lag_subsets(window: int, max_size: int) -> list[tuple[int, ...]]:
    """List every subset of the lags 1 ... `window` by size, then lexicographically, () first."""
    lags = range(1, window + 1)
    return [subset for size in range(min(max_size, window) + 1) for subset in combinations(lags, size)]
