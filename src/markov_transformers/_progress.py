"""A progress bar for long work that leaves nothing behind in a stored notebook."""

from __future__ import annotations

import html
import os
import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from . import _validation as check

Item = TypeVar("Item")

_DELAY = 1.0  # seconds of work before a bar appears
STORE_VARIABLE = "MARKOV_TRANSFORMERS_STORE_OUTPUTS"


def storing_outputs() -> bool:
    """Return whether this process runs to store a notebook's outputs, not for a person."""
    return bool(os.environ.get(STORE_VARIABLE))


def progress(items: Iterable[Item], description: str = "", total: int | None = None) -> Iterator[Item]:
    """Pass items through, showing a bar once the work has taken longer than a second.

    Parameters
    ----------
    items : iterable
        What the work runs over.
    description : str, default ""
        Words before the bar.
    total : int, optional
        Number of items, where `items` has no length.

    Returns
    -------
    iterator
        Over the items, unchanged.

    Raises
    ------
    ValueError
        If an argument is of another kind.

    Examples
    --------
    >>> sum(progress(range(4), "adding"))
    6
    """
    if not hasattr(type(items), "__iter__"):
        check.refuse("items", items, "an iterable")
    if not isinstance(description, str):
        check.refuse("description", description, "a str")
    if total is not None:
        total = check.integer("total", total, minimum=0)
    if storing_outputs():
        return iter(items)
    if _in_notebook():
        return _notebook_bar(items, description, total)
    return _terminal_bar(items, description, total)


def _terminal_bar(items: Iterable[Item], description: str, total: int | None) -> Iterator[Item]:
    from tqdm import tqdm

    yield from tqdm(items, desc=description, total=total, delay=_DELAY, leave=False)


def _in_notebook() -> bool:
    """Return whether a Jupyter frontend shows what this process displays."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module else None
    return type(shell).__name__ in ("ZMQInteractiveShell", "Shell")  # the latter is Colab's


def _notebook_bar(items: Iterable[Item], description: str, total: int | None) -> Iterator[Item]:
    """Show a bar of plain HTML and take it away at the end: no widget stays in a saved notebook."""
    from IPython.display import display

    if total is None and hasattr(items, "__len__"):
        total = len(items)
    handle, start, drawn = None, time.monotonic(), 0.0
    try:
        for number, item in enumerate(items):
            now = time.monotonic()
            if now - start > _DELAY and now - drawn > 0.2:
                bar = f"<progress max={total} value={number}></progress>" if total else ""
                count = f"{number} of {total}" if total else f"{number}"
                page = {"text/html": f"{html.escape(description)} {bar} {count}"}
                if handle is None:
                    handle = display(page, raw=True, display_id=True)
                else:
                    handle.update(page, raw=True)
                drawn = now
            yield item
    finally:
        if handle is not None:
            handle.update({}, raw=True)
