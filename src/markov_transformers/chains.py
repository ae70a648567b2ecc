r"""Markov chains with memory, and a Dirichlet prior over them.

In an n-gram chain the next token depends on the tokens at `n` fixed lags
:math:`r_1 < \dots < r_n`, the parents:

.. math:: x_t \sim \pi(\cdot \mid x_{t-r_1}, \dots, x_{t-r_n}).

The last :math:`r_n` tokens, the window, form an ordinary Markov chain on :math:`d^{r_n}`
states, the lifted chain. Its law determines everything that can be said about the tokens:
stationarity, periods, mixing. Source: Chen et al. (2024), section 2.1.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from . import _validation as check
from ._lags import lag_set
from .induction import BayesOptimal

_MOST_ENTRIES = 1 << 27  # of one array: a gigabyte
_MOST_DENSE = 4096  # windows of a chain whose eigenvalues or powers are asked for: some minutes
_FEW_SEQUENCES = 48  # up to here a plain loop over time beats one NumPy call for each step
_LARGEST_TABLE = 1 << 18
_TINY = 1e-200  # below it a product of two may underflow, and elimination turns to logarithms


class NGramChain:
    r"""A Markov chain whose next token depends on the tokens at given lags.

    Parameters
    ----------
    kernel : array, shape (d,) * (n + 1) or (batch,) + (d,) * (n + 1)
        ``kernel[x_{t-r_1}, ..., x_{t-r_n}, x_t]``, the probability of the next token given its
        parents: nearest lag first, next token last. With one more axis in front, a batch of
        chains that share their lags. Rows may miss one by 1e-6 and are rescaled.
    lags : tuple of int
        The n lags of the parents, increasing, gaps allowed: ``(1, 2)``, ``(2,)``, ``(1, 4)``.

    Attributes
    ----------
    kernel : numpy.ndarray
        The kernel, read-only.
    lags : tuple of int
    vocab_size : int
        Number of tokens d.
    memory : int
        Length r_n of a window, the largest lag.
    batch_size : int or None
        Number of chains in a batch, ``None`` for a single chain.

    Raises
    ------
    ValueError
        If the lags are not distinct, increasing and positive, or the kernel does not fit them.

    Notes
    -----
    A window is ``(x_{t-r_n}, ..., x_{t-1})``, oldest token first; the windows are numbered in
    that (lexicographic) order, so window w is the number that its tokens spell in base d.

    For a batch, each property and method returns an array with a leading batch axis.

    References
    ----------
    Chen et al. (2024), section 2.1.

    Examples
    --------
    A token repeats the one two steps back, nine times out of ten:

    >>> import numpy as np
    >>> chain = NGramChain([[0.9, 0.1], [0.1, 0.9]], lags=(2,))
    >>> chain.sample(1, 12, rng=0)
    array([[1, 1, 1, 0, 0, 0, 1, 0, 1, 0, 1, 0]])
    >>> chain.transition_matrix()
    array([[0.9, 0.1, 0. , 0. ],
           [0. , 0. , 0.9, 0.1],
           [0.1, 0.9, 0. , 0. ],
           [0. , 0. , 0.1, 0.9]])
    >>> chain.stationary_windows(2)
    array([[0.25, 0.25],
           [0.25, 0.25]])
    >>> chain.primitive, chain.period
    (True, 1)
    """

    def __init__(self, kernel: np.ndarray, lags: tuple[int, ...]) -> None:
        self.lags = lag_set("lags", lags)
        if self.lags != tuple(lags):
            check.refuse("lags", lags, "increasing")
        n = len(self.lags)
        kernel = check.real_array("kernel", kernel)
        sizes = set(kernel.shape[-n - 1 :])
        if kernel.ndim not in (n + 1, n + 2) or kernel.size == 0 or len(sizes) > 1:
            raise ValueError(
                f"kernel must have {n + 1} axes of one length d for the {n} lags {self.lags}, "
                f"after an optional batch axis, got shape {kernel.shape}"
            )
        self.kernel = check.probability_array("kernel", kernel)
        self.kernel.setflags(write=False)
        self.vocab_size = int(kernel.shape[-1])
        self.memory = self.lags[-1]
        self.batch_size = None if kernel.ndim == n + 1 else int(kernel.shape[0])

    def __repr__(self) -> str:
        batch = "" if self.batch_size is None else f", batch_size={self.batch_size}"
        return f"NGramChain(vocab_size={self.vocab_size}, lags={self.lags}{batch})"

    # Sampling

    def sample(
        self,
        n_sequences: int,
        length: int,
        *,
        rng: np.random.Generator | int,
        initial: str | np.ndarray = "uniform",
    ) -> np.ndarray:
        """Draw sequences of tokens.

        Parameters
        ----------
        n_sequences : int
            Number of independent sequences, at least 1; for a batch, of each chain.
        length : int
            Tokens per sequence, at least 1, those of the first window included.
        rng : numpy.random.Generator or int
            Source of randomness, or a seed.
        initial : {"uniform", "stationary"} or array, default "uniform"
            Law of the first window: uniform over all of them, stationary, or given as an array of
            probabilities of shape ``(d,) * r_n`` (oldest token first; a batch axis may come
            first). An integer array of shape ``(r_n,)`` is the first window itself.

        Returns
        -------
        numpy.ndarray of int, shape (n_sequences, length) or (batch, n_sequences, length)

        Raises
        ------
        ValueError
            If an argument is out of range, or `initial` is "stationary" and a chain has several
            stationary laws.

        Notes
        -----
        Tokens come from uniform numbers by inverting the distribution function, in time
        O(n_sequences length log d), vectorised over sequences. A few long sequences run through
        a loop over precomputed steps instead, which draws the same tokens.

        Examples
        --------
        >>> NGramChain([[0.0, 1.0], [1.0, 0.0]], lags=(1,)).sample(2, 6, rng=1, initial=[1])
        array([[1, 0, 1, 0, 1, 0],
               [1, 0, 1, 0, 1, 0]])
        """
        n_sequences = check.integer("n_sequences", n_sequences, minimum=1)
        length = check.integer("length", length, minimum=1)
        batch = self.batch_size or 1
        size = 3 * batch * n_sequences * max(length, self.memory)
        check.room("n_sequences and length", (n_sequences, length), size)
        rng = check.generator(rng)
        windows = self._draw_windows(initial, n_sequences, rng)  # (batch * n_sequences, r)
        uniforms = rng.random((max(length - self.memory, 0), len(windows)))
        if len(windows) <= _FEW_SEQUENCES:
            tokens = self._walk_each(windows, uniforms)
        else:
            tokens = self._walk_together(windows, uniforms)
        tokens = tokens[:, :length]
        return tokens if self.batch_size is None else tokens.reshape(batch, n_sequences, length)

    def _draw_windows(
        self, initial: str | np.ndarray, n_sequences: int, rng: np.random.Generator
    ) -> np.ndarray:
        """Draw the first window of each sequence, shape (batch * n_sequences, r)."""
        d, r, batch = self.vocab_size, self.memory, self.batch_size or 1
        if (
            isinstance(initial, str)
            and check.choice("initial", initial, ("uniform", "stationary")) == "uniform"
        ):
            return rng.integers(d, size=(batch * n_sequences, r))
        law = self.stationary_distribution() if isinstance(initial, str) else self._initial_law(initial)
        law = np.broadcast_to(law, (batch, d**r))
        thresholds = _thresholds(law)  # (batch, d^r - 1)
        uniforms = rng.random((batch, n_sequences))
        number = np.stack([np.searchsorted(row, u, side="right") for row, u in zip(thresholds, uniforms)])
        return number.reshape(-1, 1) // d ** np.arange(r - 1, -1, -1) % d

    def _initial_law(self, initial: str | np.ndarray) -> np.ndarray:
        """Return `initial` as probabilities of the windows, shape (d^r,) or (batch, d^r)."""
        d, r = self.vocab_size, self.memory
        self._check_size("initial", check.power(d, r))
        if r > check.MOST_AXES:
            check.refuse("initial", initial, f"used with lags up to {check.MOST_AXES}, not {self.lags}")
        if isinstance(initial, str):
            check.choice("initial", initial, ("uniform",))
            return np.full(d**r, d**-r)
        check.real_array("initial", initial)
        given = np.asarray(initial)
        if given.shape == (r,) and given.dtype.kind in "iu" and (d,) * r != (r,):
            window = check.token_array("initial", given, d, ndim=1)
            law = np.zeros(d**r)
            law[window @ d ** np.arange(r - 1, -1, -1)] = 1
            return law
        shapes = [(d,) * r] + ([] if self.batch_size is None else [(self.batch_size, *(d,) * r)])
        if given.shape not in shapes:
            raise ValueError(
                f"initial must be one window of shape {(r,)} or an array of probabilities of shape "
                + " or ".join(map(str, shapes))
                + f", got shape {given.shape}"
            )
        flat = given.reshape(*given.shape[: given.ndim - r], d**r)
        return check.probability_array("initial", flat)

    def _walk_together(self, windows: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
        """Sample all sequences in step, one binary search in each row of thresholds a step."""
        d, r, n, batch = self.vocab_size, self.memory, len(self.lags), self.batch_size or 1
        n_rows = len(windows)
        bits = (d - 1).bit_length()
        table = np.full((batch * d**n, 1 << bits), np.inf)
        table[:, : d - 1] = _thresholds(self.kernel.reshape(-1, d))
        table = table.ravel()
        chain = np.repeat(np.arange(batch) * (d**n << bits), n_rows // batch)  # (rows,)
        strides = [(d ** (n - 1 - i)) << bits for i in range(n)]
        tokens = np.empty((len(uniforms) + r, n_rows), dtype=np.intp)  # time first: each step is contiguous
        tokens[:r] = windows.T
        for t, u in enumerate(uniforms, start=r):
            place = chain.copy()
            for lag, stride in zip(self.lags, strides):
                place += stride * tokens[t - lag]
            for bit in range(bits - 1, -1, -1):
                step = 1 << bit
                place += step * (u >= table[place + (step - 1)])
            tokens[t] = place & ((1 << bits) - 1)
        return np.ascontiguousarray(tokens.T)

    def _walk_each(self, windows: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
        """Sample sequence after sequence in plain loops."""
        d, n, batch = self.vocab_size, len(self.lags), self.batch_size or 1
        thresholds = _thresholds(self.kernel.reshape(batch, d**n, d))  # (batch, d^n, d - 1)
        per_chain = len(windows) // batch
        small = check.power(d, self.memory) * (d**n * (d - 1) + 1) <= _LARGEST_TABLE
        paths = []
        for b, rows in enumerate(thresholds):
            walk = self._table_walk(rows) if small and len(uniforms) > 1000 else self._search_walk(rows)
            paths += [walk(windows[i], uniforms[:, i]) for i in range(b * per_chain, (b + 1) * per_chain)]
        return np.concatenate([windows, np.array(paths, dtype=np.intp).reshape(len(windows), -1)], axis=1)

    def _table_walk(self, thresholds: np.ndarray):
        # Between two neighbouring thresholds of any row, a uniform number moves every window to
        # one next window: a step is then a look-up in a table of (interval, window).
        d, r, n = self.vocab_size, self.memory, len(self.lags)
        edges = np.unique(thresholds[np.isfinite(thresholds)])
        token = np.zeros((len(edges) + 1, d**n), dtype=np.intp)
        for context, row in enumerate(thresholds):
            token[1:, context] = np.searchsorted(row, edges, side="right")
        window = np.arange(d**r)
        following = (window % d ** (r - 1)) * d + token[:, self._parents_of_windows]
        powers = d ** np.arange(r - 1, -1, -1)

        def walk(start: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
            table = following.tolist()
            state = int(start @ powers)
            intervals = np.searchsorted(edges, uniforms, side="right").tolist()
            return np.array([state := table[interval][state] for interval in intervals], dtype=np.intp) % d

        return walk

    def _search_walk(self, thresholds: np.ndarray):
        d, n = self.vocab_size, len(self.lags)
        rows = thresholds.tolist()
        back = [(-lag, d ** (n - 1 - i)) for i, lag in enumerate(self.lags)]

        def walk(start: np.ndarray, uniforms: np.ndarray) -> list[int]:
            path = start.tolist()
            for u in uniforms.tolist():
                context = 0
                for lag, stride in back:
                    context += stride * path[lag]
                path.append(bisect_right(rows[context], u))
            return path[len(start) :]

        return walk

    def predict(self, tokens: np.ndarray) -> np.ndarray:
        r"""Return the law of the next token, the predictor that knows the kernel.

        Parameters
        ----------
        tokens : array of int, shape (n_sequences, length)
            Contexts, at least r_n tokens long. For a batch, one sequence for each chain.

        Returns
        -------
        numpy.ndarray, shape (n_sequences, vocab_size)
            The row of the kernel that belongs to the tokens at the lags.

        Raises
        ------
        ValueError
            If `tokens` is too short, holds another token, or does not fit the batch.

        Examples
        --------
        >>> NGramChain([[0.9, 0.1], [0.2, 0.8]], lags=(2,)).predict([[1, 1, 0], [0, 0, 1]])
        array([[0.2, 0.8],
               [0.9, 0.1]])
        """
        tokens = check.token_array("tokens", tokens, self.vocab_size, min_length=self.memory)
        if self.batch_size not in (None, len(tokens)):
            raise ValueError(
                f"tokens must hold one sequence for each of the {self.batch_size} chains, "
                f"got shape {tokens.shape}"
            )
        parents = tuple(tokens[:, -lag] for lag in self.lags)
        return self.kernel[parents if self.batch_size is None else (np.arange(len(tokens)), *parents)]

    # The lifted chain

    @cached_property
    def _parents_of_windows(self) -> np.ndarray:
        """Number of the row of the kernel that belongs to each window, shape (d^r,)."""
        d, n = self.vocab_size, len(self.lags)
        window = np.arange(self._n_windows)
        return sum(window // d ** (lag - 1) % d * d ** (n - 1 - i) for i, lag in enumerate(self.lags))

    def _lifted_kernel(self) -> np.ndarray:
        """Probability of each next token after each window, shape (batch, d^r, d)."""
        d = self.vocab_size
        self._check_size("kernel", (self.batch_size or 1) * check.power(d, self.memory + 1))
        return self.kernel.reshape(self.batch_size or 1, -1, d)[:, self._parents_of_windows]

    def _check_dense(self) -> int:
        """Return the number of windows, if powers of their transition matrix are within reach."""
        n_windows = self._n_windows
        if n_windows > _MOST_DENSE:
            raise ValueError(f"kernel must have at most {_MOST_DENSE} windows, got {self} and {n_windows}")
        return n_windows

    @property
    def _n_windows(self) -> int:
        """Number of windows, if arrays can have an entry for each."""
        self._check_size("kernel", check.power(self.vocab_size, self.memory))
        return self.vocab_size**self.memory

    def _check_size(self, name: str, entries: float) -> None:
        if entries > _MOST_ENTRIES:
            raise ValueError(
                f"{name} must be small enough for an array of {_MOST_ENTRIES} entries, got {self} and "
                f"{entries:.6g} entries"
            )

    def transition_matrix(self) -> np.ndarray:
        r"""Return the transition matrix of the lifted chain, row-stochastic.

        Returns
        -------
        numpy.ndarray, shape (n_windows, n_windows) or (batch, n_windows, n_windows)
            Entry ``[w, v]`` is the probability that window v follows window w. Windows are
            numbered oldest token first: ``(x_{t-r_n}, ..., x_{t-1})`` read in base d. Each row
            has at most d entries: the window moves on by one token. It is the transpose of
            :math:`P_\pi` in the paper, whose columns sum to one.

        Raises
        ------
        ValueError
            If the matrix would not fit in memory.

        References
        ----------
        Chen et al. (2024), section 3.2.

        Examples
        --------
        >>> NGramChain([[0.5, 0.5], [1.0, 0.0]], lags=(1,)).transition_matrix()
        array([[0.5, 0.5],
               [1. , 0. ]])
        """
        self._check_size("kernel", (self.batch_size or 1) * self._n_windows**2)
        matrix = _lift(self._lifted_kernel())
        return matrix[0] if self.batch_size is None else matrix

    def stationary_distribution(self, initial: str | np.ndarray | None = None) -> np.ndarray:
        r"""Return the stationary law of the windows.

        Parameters
        ----------
        initial : "uniform", array or None, default None
            ``None`` asks for *the* stationary law, an error if there are several. Otherwise a
            first window or its law, as in `sample`; the result is then the limit of the average
            of the laws of the first T windows (the Cesaro limit), which always exists. Where the
            stationary law is unique, it is that one for every start.

        Returns
        -------
        numpy.ndarray, shape (n_windows,) or (batch, n_windows)
            Windows numbered as in `transition_matrix`.

        Raises
        ------
        ValueError
            If `initial` is ``None`` and a chain has several closed classes of windows, or the
            lifted chain does not fit in memory.

        Notes
        -----
        Computed by the elimination of Grassmann, Taksar and Heyman, which never subtracts:
        every entry has a small *relative* error, however nearly the chain falls apart. Where
        numbers would underflow, the same elimination runs in logarithms. Cost O(d^{3 r_n}).

        Periodic chains have a unique stationary law if irreducible, although P^t has no limit.

        References
        ----------
        Grassmann, Taksar and Heyman (1985), "Regenerative analysis and steady state
        distributions for Markov chains", Operations Research 33.

        Examples
        --------
        >>> NGramChain([[0.5, 0.5], [1.0, 0.0]], lags=(1,)).stationary_distribution().round(4)
        array([0.6667, 0.3333])

        Two absorbing tokens, and the limit from token 1:

        >>> chain = NGramChain([[1.0, 0.0, 0.0], [0.3, 0.5, 0.2], [0.0, 0.0, 1.0]], lags=(1,))
        >>> chain.stationary_distribution(initial=[1]).round(4)
        array([0.6, 0. , 0.4])
        """
        n_windows = self._n_windows
        self._check_size("kernel", n_windows**2)
        batch = self.batch_size or 1
        start = None if initial is None else np.broadcast_to(self._initial_law(initial), (batch, n_windows))
        n_closed = np.array([len(s.closed) for s in self._structures])[self._structure_of]  # (batch,)
        if start is None and (n_closed > 1).any():
            first = int((n_closed > 1).argmax())
            which = "the chain" if self.batch_size is None else f"chain {first} of the batch"
            raise ValueError(
                f"initial must be given because {which} has {n_closed[first]} closed classes of windows and "
                "so no unique stationary law; initial='uniform' or a first window selects a limit"
            )
        whole = np.array([s.n_classes == 1 for s in self._structures])[self._structure_of]
        kernel = self._lifted_kernel()  # (batch, d^r, d)
        law = np.empty((batch, n_windows))
        irreducible = np.flatnonzero(whole)
        chunk = max(1, (1 << 22) // n_windows**2)
        for i in range(0, len(irreducible), chunk):
            some = irreducible[i : i + chunk]
            law[some] = _stationary(_lift(kernel[some]))
        for b in np.flatnonzero(~whole):
            closed = self._structures[self._structure_of[b]].closed
            matrix = _lift(kernel[b : b + 1])[0]
            weights = np.ones(1) if len(closed) == 1 else _absorbed(matrix, start[b], closed)
            law[b] = 0
            for states, weight in zip(closed, weights):
                law[b, states] = weight * _stationary(matrix[None][:, states][:, :, states])[0]
        return law[0] if self.batch_size is None else law

    def stationary_windows(self, length: int, initial: str | np.ndarray | None = None) -> np.ndarray:
        """Return the stationary law of `length` consecutive tokens.

        Parameters
        ----------
        length : int
            Tokens in a window, at least 1; shorter and longer than r_n are both allowed.
        initial : "uniform", array or None, default None
            As in `stationary_distribution`: which limit to take where there are several.

        Returns
        -------
        numpy.ndarray, shape (d,) * length or (batch,) + (d,) * length
            Axes oldest token first, newest (the one to be predicted) last.

        Raises
        ------
        ValueError
            If there is no unique stationary law and no `initial`, or the array would not fit in
            memory.

        Notes
        -----
        Cost O(d^length) for each chain, beside the stationary distribution.

        Examples
        --------
        >>> chain = NGramChain([[0.5, 0.5], [1.0, 0.0]], lags=(1,))
        >>> chain.stationary_windows(2).round(4)
        array([[0.3333, 0.3333],
               [0.3333, 0.    ]])
        """
        length = check.integer("length", length, 1, check.MOST_AXES)
        d, r, batch = self.vocab_size, self.memory, self.batch_size or 1
        self._check_size("length", batch * check.power(d, max(length, r)))
        law = self.stationary_distribution(initial).reshape(batch, -1)
        if length < r:
            law = law.reshape(batch, -1, d**length).sum(axis=1)
        else:
            kernel = self._lifted_kernel()[:, None]  # (batch, 1, d^r, d)
            for _ in range(length - r):
                law = law.reshape(batch, -1, d**r, 1) * kernel
        return law.reshape(*([] if self.batch_size is None else [batch]), *[d] * length)

    # Classification

    @cached_property
    def _patterns(self) -> tuple[list[_Structure], np.ndarray]:
        # Which classes a chain has depends on where its kernel is positive only.
        batch = self.batch_size or 1
        positive = self.kernel.reshape(batch, -1) > 0
        patterns, which = np.unique(np.packbits(positive, axis=1), axis=0, return_inverse=True)
        patterns = np.unpackbits(patterns, axis=1, count=positive.shape[1]).astype(bool)
        d = self.vocab_size
        structures = [_structure(p.reshape(-1, d)[self._parents_of_windows]) for p in patterns]
        return structures, which.reshape(-1)

    @property
    def _structures(self) -> list[_Structure]:
        return self._patterns[0]

    @property
    def _structure_of(self) -> np.ndarray:
        return self._patterns[1]

    def _each(self, values: list | np.ndarray) -> object:
        """Spread one value for each structure over the batch."""
        values = np.asarray(values)[self._structure_of]
        return values[0].item() if self.batch_size is None else values

    def communicating_classes(self) -> list[tuple[np.ndarray, bool]]:
        """Return the communicating classes of windows, each with whether it is closed.

        Returns
        -------
        list of (numpy.ndarray of int, bool)
            Numbers of the windows of each class, and whether no step leaves the class. Windows
            of a closed class are recurrent, all others transient.

        Raises
        ------
        ValueError
            For a batch of chains.

        Examples
        --------
        >>> chain = NGramChain([[1.0, 0.0], [0.5, 0.5]], lags=(1,))
        >>> [(states.tolist(), closed) for states, closed in chain.communicating_classes()]
        [([0], True), ([1], False)]
        """
        if self.batch_size is not None:
            raise ValueError(f"communicating_classes needs a single chain, got a batch of {self.batch_size}")
        structure = self._structures[0]
        closed = {int(states[0]) for states in structure.closed}
        classes = [np.flatnonzero(structure.labels == i) for i in range(structure.n_classes)]
        return sorted(((s, int(s[0]) in closed) for s in classes), key=lambda entry: int(entry[0][0]))

    @property
    def irreducible(self) -> bool | np.ndarray:
        """Whether every window can be reached from every other."""
        return self._each([s.n_classes == 1 for s in self._structures])

    @property
    def has_unique_stationary_law(self) -> bool | np.ndarray:
        """Whether there is exactly one closed class of windows, so one stationary law."""
        return self._each([len(s.closed) == 1 for s in self._structures])

    @property
    def period(self) -> int | np.ndarray:
        """Period of the closed classes: the gcd of the return times, their lcm over classes.

        It is one exactly if the law of the window converges from every start.
        """
        return self._each([math.lcm(*s.periods) for s in self._structures])

    @property
    def primitive(self) -> bool | np.ndarray:
        """Whether some power of the transition matrix is positive: irreducible, with period one."""
        return self._each([s.n_classes == 1 and s.periods == (1,) for s in self._structures])

    @property
    def absorbing(self) -> bool | np.ndarray:
        """Whether every closed class is a single window, from which no step leads away."""
        return self._each([all(len(states) == 1 for states in s.closed) for s in self._structures])

    @property
    def reversible(self) -> bool | np.ndarray:
        """Whether stationary sequences read backwards have the same law, to 1e-12.

        For lag 1 alone that is detailed balance. Longer memories are judged by r_n + 1 tokens,
        which determine the law. With several closed classes, every one must be reversible.
        """
        length = self.memory + 1
        law = self.stationary_windows(length, initial="uniform")
        law = law.reshape(self.batch_size or 1, *[self.vocab_size] * length)
        backwards = law.transpose(0, *range(length, 0, -1))
        same = np.abs(law - backwards).reshape(len(law), -1).max(axis=1) <= 1e-12
        return bool(same[0]) if self.batch_size is None else same

    @property
    def second_eigenvalue(self) -> float | np.ndarray:
        """Second largest modulus among the eigenvalues of the transition matrix.

        Eigenvalues are counted with their multiplicity, so it is one for a periodic chain and for
        one with two closed classes. An eigenvalue zero of a lifted chain may be defective and
        then comes out as about 1e-16 to the power of one over its multiplicity.
        """
        self._check_dense()
        matrix = self.transition_matrix()
        if matrix.shape[-1] == 1:
            second = np.zeros(matrix.shape[:-2])
        else:
            second = np.minimum(np.sort(np.abs(np.linalg.eigvals(matrix)), axis=-1)[..., -2], 1.0)
        exact = np.array([len(s.closed) > 1 or s.periods != (1,) for s in self._structures])
        second = np.where(exact[self._structure_of].reshape(second.shape), 1.0, second)
        return float(second) if self.batch_size is None else second

    @property
    def spectral_gap(self) -> float | np.ndarray:
        """One minus `second_eigenvalue`."""
        return 1 - self.second_eigenvalue

    def mixing_time(self, tolerance: float = 0.25) -> float | np.ndarray:
        r"""Return the number of steps after which every start is nearly forgotten.

        Parameters
        ----------
        tolerance : float, default 0.25
            Largest distance from stationarity, in (0, 1].

        Returns
        -------
        float or numpy.ndarray, shape (batch,)
            The least t with :math:`\max_w \mathrm{TV}(P^t(w, \cdot), \mu) \le` `tolerance`, in
            steps; infinite if the law does not converge (a period, several closed classes) or
            takes more than 2^40 steps, where rounding would decide.

        Raises
        ------
        ValueError
            If `tolerance` is out of range.

        Examples
        --------
        >>> NGramChain([[0.9, 0.1], [0.1, 0.9]], lags=(1,)).mixing_time()
        4.0
        """
        tolerance = check.real("tolerance", tolerance, 0.0, 1.0, strict=True)
        n_windows = self._check_dense()
        matrices = self.transition_matrix().reshape(-1, n_windows, n_windows)
        converges = np.array([len(s.closed) == 1 and s.periods == (1,) for s in self._structures])
        times = np.full(len(matrices), np.inf)
        some = np.flatnonzero(converges[self._structure_of])
        if some.size:
            laws = self.stationary_distribution(initial="uniform").reshape(-1, n_windows)
            times[some] = [_mixing_time(matrices[b], laws[b], tolerance) for b in some]
        return float(times[0]) if self.batch_size is None else times


class DirichletPrior:
    r"""The prior under which every row of a kernel is Dirichlet, all rows independent.

    .. math:: \pi(\cdot \mid X) \sim \mathrm{Dir}(\alpha, \dots, \alpha)

    Small concentrations give kernels that are nearly deterministic, large ones nearly uniform.

    Parameters
    ----------
    vocab_size : int
        Number of tokens d, at least 2.
    lags : tuple of int
        Lags of the parents, increasing.
    concentration : float
        The parameter alpha of the symmetric Dirichlet law, in [1e-12, 1e12].

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Chen et al. (2024), section 2.1 and appendix B.1.

    Examples
    --------
    >>> prior = DirichletPrior(vocab_size=3, lags=(1, 2), concentration=0.1)
    >>> prior.sample(2, 10, rng=0).shape
    (2, 10)
    >>> prior.sample_kernels(5, rng=0).shape
    (5, 3, 3, 3)
    """

    def __init__(self, vocab_size: int, lags: tuple[int, ...], concentration: float) -> None:
        self.vocab_size = check.integer("vocab_size", vocab_size, minimum=2)
        self.lags = lag_set("lags", lags)
        if self.lags != tuple(lags):
            check.refuse("lags", lags, "increasing")
        self.concentration = check.real("concentration", concentration, 1e-12, 1e12)

    def __repr__(self) -> str:
        return (
            f"DirichletPrior(vocab_size={self.vocab_size}, lags={self.lags}, "
            f"concentration={self.concentration:g})"
        )

    def sample_kernels(self, n_kernels: int, *, rng: np.random.Generator | int) -> np.ndarray:
        r"""Draw kernels.

        Parameters
        ----------
        n_kernels : int
            Number of kernels, at least 1.
        rng : numpy.random.Generator or int
            Source of randomness, or a seed.

        Returns
        -------
        numpy.ndarray, shape (n_kernels,) + (d,) * (n + 1)
            Axes as in `NGramChain`, which takes the array as a batch.

        Notes
        -----
        The gamma variables behind a Dirichlet row are drawn as logarithms, with
        :math:`\log G_\alpha = \log G_{\alpha+1} + \tfrac1\alpha \log U`, so that at least one entry
        of each row survives whatever the concentration. Entries below 1e-308 become zero, about
        a third of them for three tokens at a concentration of 1e-3.
        """
        n_kernels = check.integer("n_kernels", n_kernels, minimum=1)
        rng = check.generator(rng)
        shape = (n_kernels, *[self.vocab_size] * (len(self.lags) + 1))
        check.room("n_kernels", n_kernels, 3 * n_kernels * check.power(self.vocab_size, len(self.lags) + 1))
        logs = np.log(rng.standard_gamma(self.concentration + 1, shape))
        logs -= rng.standard_exponential(shape) / self.concentration
        logs -= logs.max(axis=-1, keepdims=True)
        rows = np.exp(logs)
        return rows / rows.sum(axis=-1, keepdims=True)

    def sample(
        self,
        n_sequences: int,
        length: int,
        *,
        rng: np.random.Generator | int,
        return_kernels: bool = False,
        initial: str | np.ndarray = "uniform",
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Draw sequences, each from a kernel of its own.

        Parameters
        ----------
        n_sequences : int
            Number of sequences, at least 1.
        length : int
            Tokens per sequence, at least 1; the last one is the target of an in-context task.
        rng : numpy.random.Generator or int
            Source of randomness, or a seed.
        return_kernels : bool, default False
            Whether to return the kernels too.
        initial : {"uniform", "stationary"} or array, default "uniform"
            Law of the first window, as in `NGramChain.sample`.

        Returns
        -------
        tokens : numpy.ndarray of int, shape (n_sequences, length)
        kernels : numpy.ndarray, shape (n_sequences,) + (d,) * (n + 1)
            Only if `return_kernels`.

        Raises
        ------
        ValueError
            If an argument is out of range.
        """
        n_sequences = check.integer("n_sequences", n_sequences, minimum=1)
        return_kernels = check.flag("return_kernels", return_kernels)
        length = check.integer("length", length, minimum=1)
        n_rows = check.power(self.vocab_size, len(self.lags) + 1)
        size = 3 * n_sequences * max(length, self.lags[-1], n_rows)
        check.room("n_sequences and length", (n_sequences, length), size)
        rng = check.generator(rng)
        chains = NGramChain(self.sample_kernels(n_sequences, rng=rng), self.lags)
        tokens = chains.sample(1, length, rng=rng, initial=initial)[:, 0]
        return (tokens, chains.kernel) if return_kernels else tokens

    def predict(self, tokens: np.ndarray) -> np.ndarray:
        """Return the Bayes-optimal law of the next token, the posterior predictive.

        Parameters
        ----------
        tokens : array of int, shape (n_sequences, length)
            Contexts, at least r_n tokens long.

        Returns
        -------
        numpy.ndarray, shape (n_sequences, vocab_size)

        Raises
        ------
        ValueError
            If `tokens` is too short or holds a token that is not in the vocabulary.

        See Also
        --------
        BayesOptimal : the same predictor, with its formula.

        Examples
        --------
        >>> prior = DirichletPrior(vocab_size=2, lags=(1,), concentration=1.0)
        >>> prior.predict([[0, 1, 0, 1, 0]])
        array([[0.25, 0.75]])
        """
        return BayesOptimal(self.lags, self.concentration).predict(tokens, self.vocab_size)


@dataclass(frozen=True)
class _Structure:
    """What the zeros of a transition matrix determine."""

    labels: np.ndarray  # (n_windows,) class of each window
    n_classes: int
    closed: tuple[np.ndarray, ...]  # windows of each closed class
    periods: tuple[int, ...]  # of each closed class


def _structure(positive: np.ndarray) -> _Structure:
    """Classify the windows, from which tokens can follow which window, shape (n_windows, d)."""
    n_windows, d = positive.shape
    if positive.all():
        everything = np.arange(n_windows)
        return _Structure(np.zeros(n_windows, dtype=np.intp), 1, (everything,), (1,))
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, shortest_path

    source, token = np.nonzero(positive)
    target = source * d % n_windows + token
    # Older SciPy walks only graphs with 32-bit indices.
    edges = source.astype(np.int32), target.astype(np.int32)
    graph = csr_array((np.ones(len(source)), edges), shape=(n_windows, n_windows))
    n_classes, labels = connected_components(graph, connection="strong")
    is_closed = np.ones(n_classes, dtype=bool)
    is_closed[labels[source[labels[source] != labels[target]]]] = False
    closed, periods = [], []
    for label in np.flatnonzero(is_closed):
        states = np.flatnonzero(labels == label)
        inside = labels[source] == label
        depth = shortest_path(graph, indices=states[0], unweighted=True)
        excess = depth[source[inside]] + 1 - depth[target[inside]]
        closed.append(states)
        periods.append(int(np.gcd.reduce(excess.astype(np.intp))))
    return _Structure(labels, int(n_classes), tuple(closed), tuple(periods))


def _thresholds(probabilities: np.ndarray) -> np.ndarray:
    """Return the distribution function without its last value, shape (..., d - 1).

    A uniform number u draws the token that counts the thresholds u has reached. Thresholds from
    the last possible token on are infinite: a sum just below one then leaves no gap at the top.
    """
    d = probabilities.shape[-1]
    cumulative = np.cumsum(probabilities[..., :-1], axis=-1)
    last = d - 1 - (probabilities[..., ::-1] > 0).argmax(axis=-1)
    cumulative[np.arange(d - 1) >= last[..., None]] = np.inf
    return cumulative


def _lift(kernel: np.ndarray) -> np.ndarray:
    """Transition matrices of the windows from a lifted kernel (batch, d^r, d)."""
    batch, n_windows, d = kernel.shape
    matrix = np.zeros((batch, n_windows, n_windows))
    window = np.arange(n_windows)[:, None]
    matrix[:, window, window * d % n_windows + np.arange(d)] = kernel
    return matrix


def _stationary(matrix: np.ndarray) -> np.ndarray:
    """Stationary laws of irreducible transition matrices (batch, n, n), shape (batch, n)."""
    law, smallest = _eliminate(matrix)
    # A sum that overflows leaves zeros, which are finite.
    doubtful = (smallest < _TINY) | ~(np.abs(law.sum(axis=1) - 1) < 1e-6)
    if doubtful.any():
        law[doubtful] = _eliminate_in_logs(matrix[doubtful])
    return law


def _eliminate(matrix: np.ndarray, block: int = 64) -> tuple[np.ndarray, np.ndarray]:
    # State k is cut out, and its traffic i -> k -> j goes to i -> j directly. A state's
    # probability of staying is never needed: it is what the others leave.
    a = matrix.copy()  # (batch, n, n)
    batch, n = a.shape[:2]
    smallest = np.full(batch, np.inf)
    with np.errstate(all="ignore"):
        for high in range(n, 1, -block):
            low = max(high - block, 1)
            for k in range(high - 1, low - 1, -1):
                out = a[:, k, :k].sum(axis=-1)
                smallest = np.minimum(smallest, out)
                a[:, :k, k] /= out[:, None]
                a[:, low:k, :k] += a[:, low:k, k, None] * a[:, k, None, :k]
                a[:, :low, low:k] += a[:, :low, k, None] * a[:, k, None, low:k]
            a[:, :low, :low] += a[:, :low, low:high] @ a[:, low:high, :low]
        law = np.zeros((batch, n))
        law[:, 0] = 1
        for k in range(1, n):
            law[:, k] = (law[:, :k] * a[:, :k, k]).sum(axis=-1)
        law /= law.sum(axis=-1, keepdims=True)
    return law, smallest


def _eliminate_in_logs(matrix: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        a = np.log(matrix)
    batch, n = a.shape[:2]
    for k in range(n - 1, 0, -1):
        a[:, :k, k] -= np.logaddexp.reduce(a[:, k, :k], axis=-1)[:, None]
        through = a[:, :k, k, None] + a[:, k, None, :k]
        a[:, :k, :k] = np.logaddexp(a[:, :k, :k], through)
    law = np.full((batch, n), -np.inf)
    law[:, 0] = 0
    for k in range(1, n):
        law[:, k] = np.logaddexp.reduce(law[:, :k] + a[:, :k, k], axis=-1)
    law = np.exp(law - law.max(axis=-1, keepdims=True))
    return law / law.sum(axis=-1, keepdims=True)


def _absorbed(matrix: np.ndarray, start: np.ndarray, closed: tuple[np.ndarray, ...]) -> np.ndarray:
    """Probability of ending in each closed class, shape (n_closed,), from the law `start`."""
    # Logarithms throughout: a transient window may take 1e300 steps to leave.
    with np.errstate(divide="ignore"):
        a, mass = np.log(matrix), np.log(start)
    np.fill_diagonal(a, -np.inf)
    for k in np.setdiff1d(np.arange(len(a)), np.concatenate(closed)):
        out = a[k] - np.logaddexp.reduce(a[k])
        mass, mass[k] = np.logaddexp(mass, mass[k] + out), -np.inf
        from_ = np.flatnonzero(a[:, k] > -np.inf)
        a[from_] = np.logaddexp(a[from_], a[from_, k, None] + out)
        a[:, k] = -np.inf
        np.fill_diagonal(a, -np.inf)
    weights = np.array([np.exp(mass[states]).sum() for states in closed])
    return weights / weights.sum()


def _mixing_time(matrix: np.ndarray, law: np.ndarray, tolerance: float) -> float:
    def distance(power: np.ndarray) -> float:
        return 0.5 * np.abs(power - law).sum(axis=1).max()

    # The distance never grows, so the least time follows from its binary digits.
    powers = [matrix]
    while distance(powers[-1]) > tolerance:
        if len(powers) > 40:
            return math.inf
        square = powers[-1] @ powers[-1]
        powers.append(square / square.sum(axis=1, keepdims=True))
    if distance(np.eye(len(law))) <= tolerance:
        return 0.0
    time, reached = 0, np.eye(len(law))
    for exponent in range(len(powers) - 2, -1, -1):
        later = reached @ powers[exponent]
        if distance(later) > tolerance:
            time, reached = time + (1 << exponent), later
    return float(time + 1)
