"""The speed table: each exact engine beside a torch model that does the same work, in one process.

Timings are medians of repeated runs. Where the torch model would take hours, some of its steps are
timed, the whole is extrapolated from them, and the row says so. The plain torch models
(`baselines`) are written for speed; rows that end in ``-definition`` time the papers' models as
printed. Other rows show how costs grow, what an evaluation costs beside reading its data, how fast
chains are sampled, and how fast explorers follow their sliders.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from .. import _validation as check
from .. import explorers
from . import evaluations, experiments, growth, sampling
from ._results import Results, here, machine, store, stored
from ._rows import Growth, Moves, Row, Timing
from ._table import duration, lines, table
from .moves import explorer

__all__ = [
    "GROUPS",
    "ROWS",
    "Growth",
    "Moves",
    "Results",
    "Row",
    "Timing",
    "duration",
    "explorer",
    "here",
    "lines",
    "machine",
    "run",
    "store",
    "stored",
    "table",
]

_KINDS: dict[str, dict[str, Callable[[], Row]]] = {
    "experiments": {
        "one-layer": experiments.one_layer,
        "one-layer-parts": experiments.one_layer_parts,
        "one-layer-definition": experiments.one_layer_definition,
        "staged-flow": experiments.staged_flow,
        "staged-gd": experiments.staged_gd,
        "staged-gd-single": experiments.staged_gd_single,
        "staged-gd-tables": experiments.staged_gd_tables,
        "staged-gd-definition": experiments.staged_gd_definition,
    },
    "evaluations": {
        "evaluation-staged": evaluations.staged,
        "evaluation-one-layer": evaluations.one_layer,
        "evaluation-from-scratch": evaluations.from_scratch,
    },
    "sampling": {
        "sampling-kernels": sampling.private_kernels,
        "sampling-million": sampling.million_steps,
    },
    "growth": {
        f"growth-{quantity}-{value}": partial(growth.at, quantity, value)
        for quantity, values in growth.SIZES.items()
        for value in values
    },
    "explorers": {
        f"explorer-{name.replace('_', '-')}": partial(explorer, name) for name in explorers.__all__
    },
}
ROWS = {name: work for rows in _KINDS.values() for name, work in rows.items()}
GROUPS = {group: tuple(rows) for group, rows in _KINDS.items()}


def run(names: Iterable[str] = ()) -> Iterator[Row]:
    """Time the named rows of the table, all by default, and yield each as it is done.

    Parameters
    ----------
    names : iterable of str, default ()
        Keys of `ROWS`, or of `GROUPS` for all rows of a group.

    Returns
    -------
    iterator of Timing, Growth or Moves

    Raises
    ------
    ValueError
        If a name is neither; the message tells the nearest.
    ImportError
        When it comes to a row that needs PyTorch, where PyTorch is missing.
    """
    if isinstance(names, str) or not isinstance(names, Iterable):
        check.refuse("names", names, "an iterable of names of rows and groups")
    chosen: list[str] = []
    for name in list(names) or list(ROWS):
        if not isinstance(name, str) or (name not in ROWS and name not in GROUPS):
            nearest = difflib.get_close_matches(str(name), [*GROUPS, *ROWS], n=1, cutoff=0.0)[0]
            raise ValueError(
                f"names must be among the groups {', '.join(GROUPS)} and their rows, "
                f"got {name!r}; the nearest is {nearest!r}"
            )
        chosen += GROUPS.get(name, (name,))
    return (ROWS[name]() for name in dict.fromkeys(chosen))
