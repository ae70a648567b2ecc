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

from ._rows import Growth, Moves, Row, Timing

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
        return [row for row in self.rows if isinstance(row, Growth) and row.quantity == quantity]


def here(rows: Iterable[Row]) -> Results:
    """Return rows timed on this machine today."""
    from .. import __version__

    versions = {"python": platform.python_version(), "markov_transformers": __version__}
    versions.update({name: _version(name) for name in _PACKAGES})
    return Results(machine(), datetime.date.today().isoformat(), versions, tuple(rows))


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
    Path(path).write_text(json.dumps(asdict(results), indent=1) + "\n", encoding="utf-8")


def stored(path: Path | str | None = None) -> Results:
    """Read results, by default those that come with the library."""
    source = files(__package__).joinpath("results.json") if path is None else Path(path)
    content = json.loads(source.read_text(encoding="utf-8"))
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
