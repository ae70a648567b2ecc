r"""Random walks on a circle.

A walker stands on one of :math:`K` nodes of a circle. Each step goes one node up with
probability :math:`p` and one node down otherwise:

.. math:: \pi_{ij} = p\,1\{j \equiv i + 1\} + (1 - p)\,1\{j \equiv i - 1\} \pmod K.

Nodes are numbered :math:`0, \dots, K - 1`. Source: Shi and Cao (2025), section 2.
"""

from __future__ import annotations

import math

import numpy as np

from . import _validation as check

_MOST_ENUMERATED = 1 << 24  # tokens; above it an enumeration would fill the memory


class CircleWalk:
    """A random walk on a circle of nodes.

    Parameters
    ----------
    n_nodes : int
        Number of nodes K, at least 3. With fewer, both neighbours of a node coincide.
    p : float
        Probability of a step from node i to node i + 1 (mod K), in [0, 1]. The walk is
        deterministic at 0 and 1.

    Raises
    ------
    ValueError
        If `n_nodes` is not an integer of at least 3, or `p` is not a number in [0, 1].

    References
    ----------
    Shi and Cao (2025), section 2.

    Examples
    --------
    >>> walk = CircleWalk(n_nodes=6, p=0.7)
    >>> walk.sample(2, 8, rng=0)
    array([[5, 0, 1, 2, 1, 0, 1, 0],
           [3, 4, 3, 2, 3, 2, 3, 2]])
    >>> walk.transition_matrix()[0]
    array([0. , 0.7, 0. , 0. , 0. , 0.3])
    """

    def __init__(self, n_nodes: int, p: float) -> None:
        self.n_nodes = check.integer("n_nodes", n_nodes, minimum=3)
        self.p = check.real("p", p, 0.0, 1.0)

    def __repr__(self) -> str:
        return f"CircleWalk(n_nodes={self.n_nodes}, p={self.p:g})"

    @property
    def period(self) -> int:
        """Greatest common divisor of all possible return times to a node, in steps.

        Two for an even circle (each step changes the node's parity), one for an odd circle,
        and the full K for a deterministic walk, which returns after each round only.
        """
        if self.p in (0.0, 1.0):
            return self.n_nodes
        return 2 if self.n_nodes % 2 == 0 else 1

    @property
    def optimal_accuracy(self) -> float:
        """Largest probability with which any predictor can hit the next node, max(p, 1 - p)."""
        return max(self.p, 1 - self.p)

    def transition_matrix(self) -> np.ndarray:
        """Return the transition matrix, row-stochastic.

        Returns
        -------
        numpy.ndarray, shape (n_nodes, n_nodes)
            Entry ``[i, j]`` is the probability of a step from node i to node j.

        Raises
        ------
        ValueError
            If the matrix would not fit in memory.

        Examples
        --------
        >>> CircleWalk(3, 0.25).transition_matrix()
        array([[0.  , 0.25, 0.75],
               [0.75, 0.  , 0.25],
               [0.25, 0.75, 0.  ]])
        """
        check.room("n_nodes", self.n_nodes, self.n_nodes**2)
        nodes = np.arange(self.n_nodes)
        matrix = np.zeros((self.n_nodes, self.n_nodes))
        matrix[nodes, (nodes + 1) % self.n_nodes] = self.p
        matrix[nodes, (nodes - 1) % self.n_nodes] = 1 - self.p
        return matrix

    def stationary_distribution(self) -> np.ndarray:
        """Return the stationary distribution, which is uniform for every p.

        Each column of the transition matrix sums to one as well, so the uniform law maps to
        itself; the walk is irreducible, so no other law does.

        Returns
        -------
        numpy.ndarray, shape (n_nodes,)

        Examples
        --------
        >>> CircleWalk(4, 0.9).stationary_distribution()
        array([0.25, 0.25, 0.25, 0.25])
        """
        check.room("n_nodes", self.n_nodes, self.n_nodes)
        return np.full(self.n_nodes, 1 / self.n_nodes)

    def sample(self, n_sequences: int, length: int, *, rng: np.random.Generator | int) -> np.ndarray:
        """Draw walks that start at a uniformly random node.

        Parameters
        ----------
        n_sequences : int
            Number of independent walks, at least 1.
        length : int
            Nodes per walk, at least 2: the last one is the target, those before are the input.
        rng : numpy.random.Generator or int
            Source of randomness, or a seed.

        Returns
        -------
        numpy.ndarray of int, shape (n_sequences, length)
            Nodes 0 ... K - 1.

        Raises
        ------
        ValueError
            If an argument is out of range.

        Examples
        --------
        >>> CircleWalk(5, p=1.0).sample(1, 7, rng=3)
        array([[4, 0, 1, 2, 3, 4, 0]])
        """
        n_sequences = check.integer("n_sequences", n_sequences, minimum=1)
        length = check.integer("length", length, minimum=2)
        check.room("n_sequences and length", (n_sequences, length), 3 * n_sequences * length)
        rng = check.generator(rng)
        start = rng.integers(self.n_nodes, size=(n_sequences, 1))
        steps = 2 * (rng.random((n_sequences, length - 1)) < self.p) - 1
        return (start + np.cumsum(np.pad(steps, ((0, 0), (1, 0))), axis=1)) % self.n_nodes

    def enumerate(self, length: int) -> tuple[np.ndarray, np.ndarray]:
        """List every possible walk of a given length with its probability.

        An average over this list is an exact expectation: the population loss. A random walk
        has K 2^(length - 1) of them, a deterministic one only K.

        Parameters
        ----------
        length : int
            Nodes per walk, at least 2.

        Returns
        -------
        walks : numpy.ndarray of int, shape (n_walks, length)
        probabilities : numpy.ndarray, shape (n_walks,)
            They sum to one.

        Raises
        ------
        ValueError
            If `length` is out of range, or so large that the list would not fit in memory.

        Examples
        --------
        >>> walks, probabilities = CircleWalk(3, p=1.0).enumerate(4)
        >>> walks
        array([[0, 1, 2, 0],
               [1, 2, 0, 1],
               [2, 0, 1, 2]])
        """
        length = check.integer("length", length, minimum=2)
        free = 0 if self.p in (0.0, 1.0) else length - 1
        if free + math.log2(self.n_nodes * length) > math.log2(_MOST_ENUMERATED):
            check.refuse(
                "length",
                length,
                f"short enough to list all {self.n_nodes} * 2**{free} walks; use sample instead",
            )
        if free:
            up = (np.arange(2**free)[:, None] >> np.arange(free)) & 1
        else:
            up = np.full((1, length - 1), int(self.p))
        path = np.cumsum(np.pad(2 * up - 1, ((0, 0), (1, 0))), axis=1)
        walks = (np.arange(self.n_nodes)[:, None, None] + path) % self.n_nodes
        n_up = up.sum(axis=1)
        each = self.p**n_up * (1 - self.p) ** (length - 1 - n_up) / self.n_nodes
        return walks.reshape(-1, length), np.tile(each, self.n_nodes)

    def predict(self, tokens: np.ndarray) -> np.ndarray:
        r"""Return the optimal predictor, the law of the next node.

        It is :math:`\Pi^\top x_{N-1}`: the row of the transition matrix that belongs to the last
        node seen. Nothing earlier helps.

        Parameters
        ----------
        tokens : array of int, shape (n_sequences, length)
            Walks seen so far, without the target.

        Returns
        -------
        numpy.ndarray, shape (n_sequences, n_nodes)
            Probabilities of the next node.

        Raises
        ------
        ValueError
            If `tokens` has another shape or a node outside 0 ... K - 1.

        References
        ----------
        Shi and Cao (2025), section 2, the optimal predictor.

        Examples
        --------
        >>> CircleWalk(4, 0.75).predict([[2, 3, 0]])
        array([[0.  , 0.75, 0.  , 0.25]])
        """
        tokens = check.token_array("tokens", tokens, self.n_nodes)
        check.room("tokens", tokens.shape, len(tokens) * self.n_nodes)
        return self.transition_matrix()[tokens[:, -1]]
