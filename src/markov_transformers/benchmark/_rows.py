"""What a row of the speed table holds, and how its times are taken."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """An engine beside what it is compared with; times in seconds.

    Attributes
    ----------
    name : str
        What was timed.
    seconds : float
        Median time of the engine.
    baseline : str
        What it is compared with.
    baseline_seconds : float
        Median time of the baseline for the same work.
    ratio : float
        `baseline_seconds` over `seconds`.
    extrapolated : bool
        Whether the baseline's time was extrapolated from a part of the work.
    """

    name: str
    seconds: float
    baseline: str
    baseline_seconds: float
    ratio: float
    extrapolated: bool

    @classmethod
    def against(
        cls,
        name: str,
        seconds: float,
        baseline: str,
        baseline_seconds: float,
        *,
        extrapolated: bool = False,
        **more: object,
    ) -> Timing:
        """Return a row with its ratio worked out."""
        ratio = baseline_seconds / seconds
        return cls(name, seconds, baseline, baseline_seconds, ratio, extrapolated, **more)


@dataclass(frozen=True)
class Growth(Timing):
    """One evaluation of loss and gradients at one size of the data or of the model.

    Attributes
    ----------
    quantity : str
        What is doubled from row to row: length, chains, vocab, window or noisy-window.
    value : int
        Its value in this row.
    counting : float
        Seconds to count the windows, once for a data set.
    nonzeros : int
        Numbers that the engine keeps of the data.
    growth : float or None
        `seconds` over those of half the value; None in the first row.
    """

    quantity: str
    value: int
    counting: float
    nonzeros: int
    growth: float | None


@dataclass(frozen=True)
class Moves:
    """How fast an explorer follows its controls; times in seconds, training included.

    Attributes
    ----------
    name : str
        The explorer.
    p50, p95, max : float
        Median, 95th percentile and largest time from a control's change to the new picture.
    moves : int
        Number of moves timed.
    """

    name: str
    p50: float
    p95: float
    max: float
    moves: int


Row = Timing | Moves


def checked(rows: Iterable[Row]) -> Iterator[Row]:
    """Pass rows on as they come, and refuse what is none."""
    for row in rows if isinstance(rows, Iterable) else [None]:
        if not isinstance(row, (Timing, Moves)):
            raise TypeError(f"rows must be an iterable of Timing, Growth or Moves, got {rows!r}")
        yield row


def median(work: Callable[[], object], repeats: int) -> float:
    """Return the median time of repeated work in seconds, after one run that is not counted."""
    work()
    return statistics.median(seconds(work) for _ in range(repeats))


def seconds(work: Callable[[], object]) -> float:
    """Return the time of work done once."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
