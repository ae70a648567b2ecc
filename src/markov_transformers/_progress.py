"""A progress bar for long work that leaves nothing behind in a stored notebook."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")

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

    Yields
    ------
    object
        The items, unchanged.

    Examples
    --------
    >>> sum(progress(range(4), "adding"))
    6
    """
    if storing_outputs():
        yield from items
        return
    from tqdm.auto import tqdm

    yield from tqdm(items, desc=description, total=total, delay=1.0, leave=False)
