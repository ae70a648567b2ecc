"""What a call takes in memory, beside what it is expected to take when it is let through."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import pytest

from markov_transformers import _validation


def expected_over_taken(argument: str, call: Callable[[], object]) -> float:
    """Return the memory for which an argument would be refused, in units of the call's peak."""
    expected = []

    def room(name: str, value: object, n_numbers: float) -> None:
        if name == argument:
            expected.append(8 * n_numbers)

    call()  # what is imported or cached for good on first use does not count
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_validation, "room", room)
        tracemalloc.start()
        result = call()  # what it returns counts, too
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    del result
    return max(expected) / peak
