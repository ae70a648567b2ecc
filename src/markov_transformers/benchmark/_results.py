"""The stored results: the rows of one run, with the machine, the date and the versions behind them."""

from __future__ import annotations

import datetime
import json
import os
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path

from .. import _validation as check
from ._rows import Growth, Moves, Row, Timing, checked
from .growth import SIZES

_PACKAGES = ("numpy", "scipy", "torch", "matplotlib")


@dataclass(frozen=True)
class Results:
    """One run of the benchmark.

    Attributes
    ----------
    machine : dict
        Processor, number of cores, memory in gigabytes, operating system.
    date : str
        Day of the run, as year-month-day.
    versions : dict
        Of Python, of this library and of the packages that it was timed with.
    rows : tuple of Timing, Growth or Moves
    """

    machine: dict[str, object]
    date: str
    versions: dict[str, str]
    rows: tuple[Row, ...]

    def __getitem__(self, name: str) -> Row:
        """Return the row of that name."""
        found = next((row for row in self.rows if row.name == name), None)
        if found is None:
            raise KeyError(f"no row is named {name!r}; there are {', '.join(r.name for r in self.rows)}")
        return found

    def growth(self, quantity: str) -> list[Growth]:
        """Return the rows in which a quantity doubles, such as length or chains."""
        quantity = check.choice("quantity", quantity, tuple(SIZES))
        return [row for row in self.rows if isinstance(row, Growth) and row.quantity == quantity]


def here(rows: Iterable[Row]) -> Results:
    """Return rows timed on this machine today."""
    from .. import __version__

    versions = {"python": platform.python_version(), "markov_transformers": __version__}
    versions.update({name: _version(name) for name in _PACKAGES})
    return Results(machine(), datetime.date.today().isoformat(), versions, tuple(checked(rows)))


def machine() -> dict[str, object]:
    """Describe this machine, without naming it."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": _memory(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def store(results: Results, path: Path | str) -> None:
    """Write results to a file."""
    if not isinstance(results, Results):
        check.refuse("results", results, "Results, as `here` returns them")
    _check_path(path)
    Path(path).write_text(json.dumps(asdict(results), indent=1) + "\n", encoding="utf-8")


def stored(path: Path | str | None = None) -> Results:
    """Read results, by default those that come with the library."""
    if path is None:
        return _results(files(__package__).joinpath("results.json").read_text(encoding="utf-8"))
    _check_path(path)
    try:
        return _results(Path(path).read_text(encoding="utf-8"))
    except (ValueError, TypeError, LookupError):
        check.refuse("path", path, "a file that `store` has written")


def _check_path(path: object) -> None:
    if not isinstance(path, (str, os.PathLike)):
        check.refuse("path", path, "a str or a path")


def _results(text: str) -> Results:
    content = json.loads(text)
    return Results(
        content["machine"], content["date"], content["versions"], tuple(map(_row, content["rows"]))
    )


def _row(fields: dict[str, object]) -> Row:
    kind = Moves if "p50" in fields else Growth if "quantity" in fields else Timing
    return kind(**fields)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown"
    )


def _memory() -> int | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9)
    except (AttributeError, ValueError, OSError):
        return None
