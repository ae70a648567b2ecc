"""The ledger: every claim of both papers put to the test.

Each entry of `CLAIMS` names what is claimed and where, how it is measured, and the rule that turns
the measurement into a verdict; a module holds those of one paper. `run` checks claims; `table` and
`Ledger` show the outcome.

    python -m markov_transformers reproduce [ID ...] [--json] [--quick] [--list]
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from .. import _validation as check
from .._progress import progress
from ..claims import _claim
from ..claims._claim import VERDICTS, Claim, Row
from ..claims._ledger import FIELDS, Ledger, as_objects, stored, summary, table
from . import beyond, chen2024, shi2025

__all__ = [
    "CLAIMS",
    "FIELDS",
    "VERDICTS",
    "Claim",
    "Ledger",
    "Row",
    "as_objects",
    "listing",
    "run",
    "stored",
    "summary",
    "table",
]

CLAIMS = {claim.id: claim for claim in (*chen2024.CLAIMS, *shi2025.CLAIMS, *beyond.CLAIMS)}


def run(ids: Iterable[str] = (), *, quick: bool = False) -> list[Row]:
    """Check the named claims, all by default.

    Parameters
    ----------
    ids : iterable of str, default ()
        Keys of `CLAIMS`; the rows come in the order of the ledger.
    quick : bool, default False
        Whether to use fewer seeds, and to leave out readings and steps that decide nothing.

    Returns
    -------
    list of Row

    Raises
    ------
    ValueError
        If an id is unknown. The message names the nearest.

    Examples
    --------
    >>> run(["shi2025-positions"])[0].verdict
    'reproduced'
    """
    wanted = _known(ids)
    check.flag("quick", quick)
    chosen = [claim for name, claim in CLAIMS.items() if not wanted or name in wanted]
    known: dict = {}
    return [_claim.run(claim, quick, known) for claim in progress(chosen, "checking")]


def listing() -> str:
    """Return the ids, one a line, each with what is claimed."""
    wide = max(map(len, CLAIMS))
    return "\n".join(f"{claim.id:<{wide}}  {claim.claim}" for claim in CLAIMS.values())


def _known(ids: Iterable[str]) -> list[str]:
    if isinstance(ids, str) or not isinstance(ids, Iterable):
        check.refuse("ids", ids, "an iterable of ids of the ledger")
    wanted = list(ids)
    for name in wanted:
        if not isinstance(name, str) or name not in CLAIMS:
            nearest = difflib.get_close_matches(str(name), CLAIMS, n=1, cutoff=0.0)[0]
            raise ValueError(
                f"ids must be among the {len(CLAIMS)} of the ledger, got {name!r}; the nearest is {nearest!r}"
            )
    return wanted
