"""Numbers of a measurement, put into the words of the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np


def spread(values: Iterable[float], form: str = ".3f") -> str:
    """Median, with the range where there is one to see."""
    values = np.array(list(values), dtype=float)
    middle, low, high = (f"{v:{form}}" for v in (np.median(values), values.min(), values.max()))
    return middle if low == high else f"{middle} ({low} to {high})"


def over(measurements: list[dict], name: str, form: str = ".3f") -> str:
    """Median, and range, of one number over all seeds."""
    return spread((m[name] for m in measurements), form)


def each(rows: Sequence[Sequence[float]], form: str = ".2f") -> str:
    """Median, and range, of each entry of a list that every seed has."""
    return ", ".join(spread(values, form) for values in zip(*rows))


def small(value: float, limit: float = 1e-9) -> str:
    """A rounding error, told so that every processor tells the same."""
    return f"below {power(limit)}" if abs(value) < limit else f"{value:.1e}"


def power(value: float) -> str:
    """The next power of ten above, 1e-9 at least."""
    return f"1e{int(np.ceil(np.log10(max(value, 1e-9)) - 1e-9))}"


def braces(subset: Iterable[int] | None) -> str:
    """A set of lags, or none."""
    return "no set" if subset is None else "{" + ", ".join(map(str, subset)) + "}"


def escapes(found: Mapping[str, int | None]) -> str:
    """At which iteration each model leaves the symmetric state."""
    return ", ".join(f"{name}: {'never' if at is None else at}" for name, at in found.items())
