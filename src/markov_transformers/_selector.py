r"""The polynomial kernel of the feed-forward layer.

.. math:: s = \sum_S p_S k_S, \qquad p_S = \frac{c_S^2}{C_D}, \qquad
          k_S = \prod_{h \in S} \langle v^{(h)}, v'^{(h)} \rangle,

over all sets S of at most D blocks. Source: Chen et al. (2024), (2.3) and (D.1).
"""

from __future__ import annotations

from itertools import combinations

import numpy as np


class Selector:
    """Sets of blocks, and sums and products over them.

    Parameters
    ----------
    blocks : tuple of int
        Names of the blocks, ascending.
    degree : int
        Largest size of a set, D.
    """

    def __init__(self, blocks: tuple[int, ...], degree: int) -> None:
        self.sets = tuple(S for size in range(degree + 1) for S in combinations(blocks, size))
        index = {S: i for i, S in enumerate(self.sets)}
        block_index = {block: i for i, block in enumerate(blocks)}
        self._n_blocks = len(blocks)
        self._steps = []  # a product over a set is one over the set without its last block, times one factor
        for size in range(1, degree + 1):
            members = [S for S in self.sets if len(S) == size]
            self._steps.append(
                (
                    slice(index[members[0]], index[members[-1]] + 1),
                    np.array([index[S[:-1]] for S in members]),
                    np.array([block_index[S[-1]] for S in members]),
                )
            )
        removals = [
            (block_index[block], index[tuple(b for b in S if b != block)], index[S])
            for S in self.sets
            for block in S
        ]
        self._removals = np.array(removals, dtype=np.intp).reshape(-1, 3).T

    def products(self, blocks: np.ndarray) -> np.ndarray:
        """Return k_S for kernels of shape (n_blocks, n), shape (n_sets, n)."""
        k = np.ones((len(self.sets), blocks.shape[1]))
        for chosen, without_last, last in self._steps:
            np.multiply(k[without_last], blocks[last], out=k[chosen])
        return k

    def slopes(self, shares: np.ndarray, products: np.ndarray) -> np.ndarray:
        """Return the derivative of the score in each block's kernel, shape (n_blocks, n)."""
        block, rest, whole = self._removals
        coefficients = np.zeros((self._n_blocks, len(self.sets)))
        coefficients[block, rest] = shares[whole]
        return coefficients @ products


def shares(c: np.ndarray) -> np.ndarray:
    """Return p_S along the last axis; no overflow however large or small the entries are."""
    square = (c / np.abs(c).max(axis=-1, keepdims=True)) ** 2
    return square / square.sum(axis=-1, keepdims=True)


def over_total(c: np.ndarray) -> np.ndarray:
    """Return c / C_D without forming C_D."""
    largest = np.abs(c).max()
    scaled = c / largest
    return scaled / (scaled @ scaled) / largest
