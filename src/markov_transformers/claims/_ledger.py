"""How the rows of the ledger are shown: as text, as objects for JSON, as a table in the book."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Iterable
from importlib.resources import files

from .. import _validation as check
from ._arguments import objects
from ._claim import VERDICTS, Row
from ._ledger_page import page, verdict

FIELDS = ("id", "source", "claim", "printed", "measured", "rule", "verdict", "change", "seconds", "chapter")
_QUICK = (
    "Quick check: fewer seeds for the random claims, fewer steps for some. The full check leaves out --quick."
)


def summary(rows: Iterable[Row]) -> dict[str, int]:
    """Count the rows by verdict, then the questions answered and the checks that could not run.

    Parameters
    ----------
    rows : iterable of Row

    Returns
    -------
    dict

    Raises
    ------
    TypeError
        If `rows` is of another kind.
    """
    rows = objects("rows", rows, Row)
    counts = Counter(verdict(row) for row in rows)
    return {name: counts[name] for name in (*VERDICTS, "answered", "could not run")}


def as_objects(rows: Iterable[Row]) -> list[dict[str, object]]:
    """Return the rows as dictionaries with the keys `FIELDS`, ready for JSON."""
    return [{name: getattr(row, name) for name in FIELDS} for row in objects("rows", rows, Row)]


def stored() -> list[Row]:
    """Return the rows of the last full check, which the command with ``--json`` wrote.

    Returns
    -------
    list of Row
    """
    text = files(__package__).joinpath("ledger.json").read_text(encoding="utf-8")
    return [Row(**row) for row in json.loads(text)]


def table(rows: Iterable[Row], *, quick: bool = False, width: int = 110) -> str:
    """Return the rows as text to read.

    Parameters
    ----------
    rows : iterable of Row
    quick : bool, default False
        Whether they come from a quick check, which the text then says.
    width : int, default 110
        Characters in a line, at least 20.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If an argument is out of range.
    TypeError
        If `rows` is of another kind.
    """
    rows = objects("rows", rows, Row)
    width = check.integer("width", width, minimum=20)
    lines = [_QUICK, ""] if check.flag("quick", quick) else []
    for row in rows:
        lines.append(f"{row.id}: {verdict(row).upper()}  ({row.source}; {row.seconds:.1f} s)")
        for name in ("claim", "printed", "measured", "change", "rule"):
            text = getattr(row, name)
            if text:
                lines += textwrap.wrap(
                    text, width, initial_indent=f"    {name:<10}", subsequent_indent=" " * 14
                )
        lines.append("")
    lines.append(", ".join(f"{name}: {count}" for name, count in summary(rows).items() if count))
    return "\n".join(lines)


class Ledger:
    """The rows as an overview and a table for a notebook and for the book, without times.

    The table can be cut down to one verdict, and the details of a row fold out. Both are plain HTML,
    which needs neither a kernel nor JavaScript.

    Parameters
    ----------
    rows : iterable of Row

    Raises
    ------
    TypeError
        If `rows` is of another kind.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = objects("rows", rows, Row)

    def __repr__(self) -> str:
        wide = max((len(row.id) for row in self.rows), default=0)
        return "\n".join(f"{row.id:<{wide}}  {verdict(row)}" for row in self.rows)

    def _repr_html_(self) -> str:
        return page(self.rows)
