"""The ledger as HTML: an overview, a choice of verdicts, and the rows, whose details fold out.

All of it is plain HTML and CSS, so it works without a kernel and without JavaScript.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from ._claim import VERDICTS, Row

# Black on each of these colours can be read, on a light page and on a dark one.
_COLORS = {
    **dict(zip(VERDICTS, ("#009e73", "#56b4e9", "#e69f00", "#d55e00"))),
    "answered": "#bfbfbf",
    "could not run": "#f0e442",
}


def verdict(row: Row) -> str:
    """Return the verdict of a row, or why it has none."""
    if not row.ran:
        return "could not run"
    return row.verdict or "answered"


def page(rows: Sequence[Row]) -> str:
    """Return the rows as HTML."""
    counts = {name: sum(verdict(row) == name for row in rows) for name in _COLORS}
    counts = {name: count for name, count in counts.items() if count}
    # In a form of its own the choice does not meddle with that of a second table; the form is never sent.
    return (
        f'<form class="mt-ledger" method="dialog"><style>{_STYLE}</style>'
        f"{_overview(rows, counts)}{_choice(counts)}{_table(rows)}</form>"
    )


def _overview(rows: Sequence[Row], verdicts: Iterable[str]) -> str:
    papers = list(dict.fromkeys(map(_paper, rows)))
    lines = ""
    for name in verdicts:
        cell = ""
        for paper in papers:
            ids = [row.id for row in rows if (verdict(row), _paper(row)) == (name, paper)]
            links = ", ".join(f'<a href="#{one}">{one.partition("-")[2]}</a>' for one in ids)
            cell += f"<div>{html.escape(paper)}: {links}</div>" if ids else ""
        lines += f'<tr class="{_slug(name)}"><th scope="row">{_pill(name)}</th><td>{cell}</td></tr>'
    return _scrolling("Overview", ("Verdict", "Claims"), lines)


def _choice(counts: dict[str, int]) -> str:
    options = {"all": sum(counts.values()), **counts}
    choices = "".join(
        f'<label><input type="radio" name="verdict" value="{_slug(name)}"'
        f"{' checked' if name == 'all' else ''}>{name} ({count})</label>"
        for name, count in options.items()
    )
    return f"<fieldset><legend>Rows to show</legend>{choices}</fieldset>"


def _table(rows: Sequence[Row]) -> str:
    lines = "".join(
        f'<tr id="{row.id}" class="{_slug(verdict(row))}"><td>{_pill(verdict(row))}<br>'
        f'<a href="{row.chapter}.html"><code>{row.id}</code></a><br>{_text(row.source)}</td>'
        f"<td>{_text(row.claim)}<details><summary>Details</summary><dl>{_details(row)}</dl></details></td></tr>"
        for row in rows
    )
    return _scrolling("The ledger", ("Verdict and row", "Claim"), lines)


def _details(row: Row) -> str:
    true = "True instead: "
    shown = {"Printed": _text(row.printed), "Measured": _points(row.measured), "Rule": _text(row.rule)}
    if row.change:
        name = "True instead" if row.change.startswith(true) else "Change"
        shown[name] = _text(row.change.removeprefix(true))
    return "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in shown.items() if text)


def _points(measured: str) -> str:
    """A measurement of many sentences, or of many readings with a name each, as a list."""
    points = re.split(r"(?<=\.) (?=[A-Z\[(])|; (?=(?:(?!\. )[^():;])*: )", measured)
    if len(points) < 3:
        return _text(measured)
    return "<ul>" + "".join(f"<li>{_text(point.removesuffix('.'))}</li>" for point in points) + "</ul>"


def _text(plain: str) -> str:
    """Show an index or an exponent, as in W_V or T^(−1/2), where it belongs."""
    text = html.escape(plain)
    text = re.sub(r"(?<=[A-Za-z])_(?:\{([^}]*)\}|(\w))", r"<sub>\1\2</sub>", text)
    return re.sub(r"\^(?:\(((?:[^()]|\([^()]*\))*)\)|(\w))", r"<sup>\1\2</sup>", text)


def _scrolling(label: str, heads: Sequence[str], lines: str) -> str:
    head = "".join(f'<th scope="col">{html.escape(one)}</th>' for one in heads)
    return (
        f'<div role="region" aria-label="{label}" tabindex="0" style="overflow-x:auto">'
        f'<table class="table dataframe"><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>'
    )


def _pill(name: str) -> str:
    return f'<span class="verdict">{name}</span>'


def _paper(row: Row) -> str:
    return row.source.partition(",")[0]


def _slug(name: str) -> str:
    return name.replace(" ", "-")


_STYLE = """
.mt-ledger :is(th, td) { text-align: left !important; vertical-align: top; white-space: normal; }
.mt-ledger fieldset { display: flex; flex-wrap: wrap; gap: 0.25em 1.25em; margin: 1em 0; }
.mt-ledger fieldset { border: 0; padding: 0; }
.mt-ledger legend { margin: 0; font-size: 1em; font-weight: 600; }
.mt-ledger label { display: flex; align-items: center; gap: 0.4em; min-height: 24px; margin: 0; }
.mt-ledger summary { min-height: 24px; cursor: pointer; }
.mt-ledger .verdict { padding: 0 0.4em; border-radius: 4px; color: #000; font-weight: 600; }
.mt-ledger .verdict { -webkit-box-decoration-break: clone; box-decoration-break: clone; }
.mt-ledger :is(dd, dl) { margin: 0 0 0.4em; }
.mt-ledger dd ul { margin: 0; padding-left: 1.2em; }
""" + "".join(
    f".mt-ledger .{name} .verdict {{ background: {color}; }}\n"
    f".mt-ledger:has([value={name}]:checked) tr[id]:not(.{name}, :target) {{ display: none; }}\n"
    for name, color in zip(map(_slug, _COLORS), _COLORS.values())
)
