"""The speed table as text: one line a row, with a heading where another kind of row begins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .. import _validation as check
from ._rows import Growth, Moves, Row, Timing, checked

_HEADINGS = {
    Timing: f"{'name':<24}{'engine':>12}{'baseline':>12}{'ratio':>10}  baseline is",
    Growth: f"{'name':<24}{'engine':>12}{'growth':>8}{'counting':>12}{'plain torch':>12}{'ratio':>10}",
    Moves: f"{'name':<32}{'p50':>12}{'p95':>12}{'max':>12}{'moves':>9}",
}


def table(rows: Iterable[Row]) -> str:
    """Return the rows as text in columns."""
    return "\n".join(lines(rows))


def lines(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the table line by line, as fast as the rows come."""
    kind: type | None = None
    for row in checked(rows):
        if type(row) is not kind:
            if kind is not None:
                yield ""
            kind = type(row)
            yield _HEADINGS[kind]
        yield line(row)


def line(row: Row) -> str:
    """Return one row as text."""
    if isinstance(row, Moves):
        times = "".join(f"{duration(value):>12}" for value in (row.p50, row.p95, row.max))
        return f"{row.name:<32}{times}{row.moves:>9}"
    start = f"{row.name:<24}{duration(row.seconds):>12}"
    end = f"{duration(row.baseline_seconds):>12}{_times(row.ratio):>10}"
    if isinstance(row, Growth):
        growth = "" if row.growth is None else f"{row.growth:.2f}x"
        return f"{start}{growth:>8}{duration(row.counting):>12}{end}"
    return f"{start}{end}  {row.baseline}{' (extrapolated)' if row.extrapolated else ''}"


def duration(seconds: float) -> str:
    """Return a time with two digits, in the unit that suits it.

    Examples
    --------
    >>> [duration(s) for s in (0.00012, 0.045, 1.53, 5000.0, 200_000.0)]
    ['0.12 ms', '45 ms', '1.5 s', '83 min', '56 h']
    """
    seconds = check.real("seconds", seconds, 0.0)
    for unit, size, limit in (("ms", 1e-3, 1.0), ("s", 1.0, 120.0), ("min", 60.0, 7200.0)):
        if seconds < limit:
            return f"{_digits(seconds / size)} {unit}"
    return f"{_digits(seconds / 3600)} h"


def _times(ratio: float) -> str:
    return f"{ratio:,.2f}" if ratio < 10 else f"{ratio:,.0f}"


def _digits(value: float) -> str:
    return f"{value:.2f}" if value < 1 else f"{value:.1f}" if value < 10 else f"{value:.0f}"
