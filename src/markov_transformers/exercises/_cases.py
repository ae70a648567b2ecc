"""Random cases for a reader's function: nearly all are the same each time, so that hints are stable.

The last is fresh, so that a table of answers passes no check.
"""

from __future__ import annotations

import numpy as np


def generators(seed: int, n_fixed: int) -> list[np.random.Generator]:
    """Return the generator to draw each case from: `n_fixed` times the seeded one, then a fresh one."""
    return [np.random.default_rng(seed)] * n_fixed + [np.random.default_rng()]
