r"""What the loss can see of a data set: window counts.

The two-layer transformer compares the M tokens before a position with the M tokens before the
target, and adds up the tokens that follow. Where in the sequence a window stood is lost, so how
often each window was followed by each token is all that the loss, and every gradient, depends on.
With frozen token embeddings it sees less still: two windows score alike if they match the query
in the same places. Three exact savings follow, one after the other:

1. positions with the same window and the same next token are counted (:class:`WindowCounts`);
2. windows with the same table of matches :math:`1(q_i = W_j)` are merged, where :math:`q` is the
   window before the target;
3. sequences that end up with the same counts are merged and weighted (:class:`ScoreCounts`).

Offset i counts from one: entry ``i - 1`` of a window is the token i places back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from . import _validation as check
from ._lags import lag_set

_LARGEST_CODE = 1 << 60  # window codes above it would not fit an int64
_ABSENT = -1  # fills a window that reaches back before the first token; it matches nothing


@dataclass(frozen=True, eq=False)
class ScoreCounts:
    """Counts by kind of key, for merged sequences.

    Keys of one kind get the same score whatever the parameters. What is called a group here is
    a set of sequences with the same counts; C is the number of labels that the loss tells apart.

    Attributes
    ----------
    matrix : scipy.sparse.csr_array, shape (C * n_groups, n_kinds)
        Row ``label * n_groups + group``: how many keys of each kind are followed by the label.
    weights : numpy.ndarray, shape (n_groups,)
        Fraction of the sequences in each group; they sum to one.
    targets : numpy.ndarray of int, shape (n_groups,)
        Label of the target.
    group : numpy.ndarray of int, shape (n_sequences,)
        Group of each sequence.
    queries : numpy.ndarray of int, shape (n_kinds, window)
        A query window that occurs with each kind.
    keys : numpy.ndarray of int, shape (n_kinds, window)
        A key window of each kind; -1 where it reaches back before the first token.
    key_tokens : numpy.ndarray of int, shape (n_kinds,)
        A token at the key of each kind.
    lengths : numpy.ndarray of int, shape (n_kinds,)
        Tokens in the key window, ascending: below `window` only without the mask.

    Examples
    --------
    >>> tokens = [[0, 1, 0, 1], [1, 0, 1, 0]]  # the same but for the names of the tokens
    >>> counts = WindowCounts.from_tokens(tokens, window=1, vocab_size=2).by_match()
    >>> counts.n_groups, counts.group, counts.weights
    (1, array([0, 0]), array([1.]))
    """

    matrix: object
    weights: np.ndarray
    targets: np.ndarray
    group: np.ndarray
    queries: np.ndarray
    keys: np.ndarray
    key_tokens: np.ndarray
    lengths: np.ndarray

    @property
    def n_groups(self) -> int:
        """Number of groups of sequences with equal counts."""
        return self.weights.size

    @property
    def n_kinds(self) -> int:
        """Number of kinds of key."""
        return self.lengths.size

    @property
    def matches(self) -> np.ndarray:
        """Tables of matches, boolean of shape (n_kinds, window, window): ``[kind, i, j]`` says
        whether offset i + 1 of the query equals offset j + 1 of the key."""
        return self.queries[:, :, None] == self.keys[:, None, :]

    def __repr__(self) -> str:
        return (
            f"ScoreCounts({self.n_groups} groups of sequences, {self.n_kinds} kinds of key, "
            f"{self.matrix.nnz} nonzero counts)"
        )


class WindowCounts:
    """How often each window of a sequence is followed by each token.

    Built by :meth:`from_tokens`. Entry e says that in sequence ``sequence[e]`` the window
    ``windows[e]`` is followed by the token ``next_tokens[e]`` at ``counts[e]`` places.

    Attributes
    ----------
    window : int
        Tokens in a window, M.
    vocab_size : int
        Number of tokens, d.
    length : int
        Tokens in a context, L.
    n_sequences : int
    queries : numpy.ndarray of int, shape (n_sequences, window)
        The window before the target, newest token first.
    targets : numpy.ndarray of int, shape (n_sequences,)
        The token to predict.
    starts : numpy.ndarray of int, shape (n_sequences, window)
        The first tokens, oldest first: all that keys before position M + 1 add, which only a
        model without the mask sees.
    sequence, next_tokens, counts : numpy.ndarray of int, shape (n_entries,)
    windows : numpy.ndarray of int, shape (n_entries, window)
        Newest token first.

    References
    ----------
    Chen, Sheen, Wang and Yang (2024), (2.1) to (2.5), where the loss reads the tokens.

    Examples
    --------
    >>> counts = WindowCounts.from_tokens([[0, 1, 0, 1, 0, 1, 1]], window=2, vocab_size=2)
    >>> counts
    WindowCounts(1 sequences of 6 tokens, window 2: 4 positions, 2 entries)
    >>> counts.windows, counts.next_tokens, counts.counts
    (array([[0, 1],
           [1, 0]]), array([1, 0]), array([2, 2]))
    >>> counts.queries, counts.targets
    (array([[1, 0]]), array([1]))
    """

    def __init__(
        self,
        window: int,
        vocab_size: int,
        length: int,
        queries: np.ndarray,
        targets: np.ndarray,
        starts: np.ndarray,
        sequence: np.ndarray,
        windows: np.ndarray,
        next_tokens: np.ndarray,
        counts: np.ndarray,
    ) -> None:
        self.window = window
        self.vocab_size = vocab_size
        self.length = length
        self.queries = queries
        self.targets = targets
        self.starts = starts
        self.sequence = sequence
        self.windows = windows
        self.next_tokens = next_tokens
        self.counts = counts
        self._merged: dict[tuple[bool, str, bool], ScoreCounts] = {}

    @classmethod
    def from_tokens(cls, tokens: np.ndarray, window: int, vocab_size: int) -> WindowCounts:
        """Count the windows of a data set.

        The cost is one sort of the positions, ``n_sequences * length`` of them; nothing that is
        computed from the counts afterwards depends on the length.

        Parameters
        ----------
        tokens : array of int, shape (n_sequences, length + 1)
            Sequences; the last column is the target. There must be at least ``window + 2``
            columns, so that one position has a full window before it.
        window : int
            Tokens in a window, M, at least 1.
        vocab_size : int
            Number of tokens, d, at least 2. A token need not occur.

        Returns
        -------
        WindowCounts

        Raises
        ------
        ValueError
            If an argument is out of range, or there are more windows than a 64-bit integer can
            number.

        Examples
        --------
        >>> WindowCounts.from_tokens([[0, 1, 1, 0]], window=1, vocab_size=2).counts
        array([1, 1])
        """
        window = check.integer("window", window, minimum=1)
        vocab_size = check.integer("vocab_size", vocab_size, minimum=2)
        tokens = check.token_array("tokens", tokens, vocab_size, min_length=window + 2)
        if (window + 1) * math.log2(vocab_size) > math.log2(_LARGEST_CODE):
            check.refuse("window", window, f"small enough to number all windows over {vocab_size} tokens")
        n_codes = vocab_size ** (window + 1)
        n_sequences, length = tokens.shape[0], tokens.shape[1] - 1
        short = n_codes <= np.iinfo(np.uint16).max  # sorting 16 bits is fastest
        x = tokens.astype(np.uint16 if short else np.int64)
        code = np.zeros((n_sequences, length - window), dtype=x.dtype)
        for offset in range(1, window + 1):
            code = code * vocab_size + x[:, window - offset : length - offset]
        code = np.sort(code * vocab_size + x[:, window:length], axis=1)  # (B, L - M)
        first = np.ones(code.shape, dtype=bool)
        first[:, 1:] = code[:, 1:] != code[:, :-1]
        first = np.flatnonzero(first)
        # Distinct codes are few and entries are many: split the former into tokens only.
        representatives, which = _distinct(code.ravel()[first].astype(np.int64), n_codes)
        distinct = code.ravel()[first[representatives]].astype(np.int64)
        powers = vocab_size ** np.arange(window, -1, -1)
        table = distinct[:, None] // powers % vocab_size  # newest token first, then the next token
        return cls(
            window=window,
            vocab_size=vocab_size,
            length=length,
            queries=tokens[:, length - window : length][:, ::-1].copy(),
            targets=tokens[:, length].copy(),
            starts=tokens[:, :window].copy(),
            sequence=first // (length - window),
            windows=table[which, :window],
            next_tokens=table[which, window],
            counts=np.diff(first, append=code.size),
        )

    def __repr__(self) -> str:
        return (
            f"WindowCounts({self.n_sequences} sequences of {self.length} tokens, window {self.window}: "
            f"{self.n_positions} positions, {self.counts.size} entries)"
        )

    @property
    def n_sequences(self) -> int:
        """Number of sequences."""
        return self.targets.size

    @property
    def n_positions(self) -> int:
        """Number of positions with a full window before them, over all sequences."""
        return self.n_sequences * (self.length - self.window)

    def n_matches(self, subset: tuple[int, ...]) -> np.ndarray:
        """Return how many positions match the window before the target on a set of offsets.

        Parameters
        ----------
        subset : tuple of int
            Offsets from 1 to `window`; every position matches on none.

        Returns
        -------
        numpy.ndarray of int, shape (n_sequences,)
            N of (3.3), over the positions with a full window before them.

        Raises
        ------
        ValueError
            If an offset is out of range.

        References
        ----------
        Chen et al. (2024), (3.3).

        Examples
        --------
        >>> WindowCounts.from_tokens([[0, 1, 0, 1, 0, 1, 1]], window=2, vocab_size=2).n_matches((1,))
        array([2])
        """
        columns = [lag - 1 for lag in lag_set("subset", subset, self.window, empty=True)]
        matched = (self.queries[self.sequence][:, columns] == self.windows[:, columns]).all(axis=1)
        return np.bincount(self.sequence[matched], self.counts[matched], self.n_sequences).astype(np.intp)

    def by_match(self, *, mask: bool = True, labels: str = "target") -> ScoreCounts:
        """Merge windows that match the query in the same places, then equal sequences.

        Parameters
        ----------
        mask : bool, default True
            Whether the first `window` positions are left out, as in (2.4). Without it their
            shortened windows count as well, one of each length in every sequence.
        labels : {'target', 'shifted', 'tokens'}, default 'target'
            What the loss tells apart: the target (label 0) from the rest (1); the distance of
            a token from the target, modulo `vocab_size`, enough for a loss that does not care
            which token is which; or every token.

        Returns
        -------
        ScoreCounts
            The same object whenever asked again.

        Raises
        ------
        ValueError
            If an argument has another value.

        Examples
        --------
        >>> counts = WindowCounts.from_tokens([[0, 1, 0, 1, 0], [1, 0, 1, 0, 1]], 2, 2)
        >>> counts.by_match()
        ScoreCounts(1 groups of sequences, 2 kinds of key, 2 nonzero counts)
        """
        return self._cached(*self._checked_options(mask, labels), True)

    def by_key(self, *, mask: bool = True, labels: str = "target") -> ScoreCounts:
        """Merge keys with the same window, token and query window, then equal sequences.

        This is what a model with trained embeddings can see, such as the full model of §B.2.
        Parameters and result are those of :meth:`by_match`.

        Parameters
        ----------
        mask : bool, default True
        labels : {'target', 'shifted', 'tokens'}, default 'target'

        Returns
        -------
        ScoreCounts

        Raises
        ------
        ValueError
            If an argument has another value.

        Examples
        --------
        >>> counts = WindowCounts.from_tokens([[0, 1, 0, 1, 0], [1, 0, 1, 0, 1]], 2, 2)
        >>> counts.by_key()
        ScoreCounts(2 groups of sequences, 4 kinds of key, 4 nonzero counts)
        """
        return self._cached(*self._checked_options(mask, labels), False)

    def _checked_options(self, mask: object, labels: object) -> tuple[bool, str]:
        labels = check.choice("labels", labels, ("target", "shifted", "tokens"))
        if labels != "target":
            check.room("vocab_size", self.vocab_size, self.vocab_size * self.n_sequences)
        return check.flag("mask", mask), labels

    def _cached(self, *options: object) -> ScoreCounts:
        if options not in self._merged:
            self._merged[options] = self._merge(*options)
        return self._merged[options]

    def _merge(self, mask: bool, labels: str, by_match: bool) -> ScoreCounts:
        from scipy.sparse import coo_array

        sequence, keys, key_tokens, counts = self._entries(mask)
        queries = self.queries[sequence]
        code, bound = (
            self._match_codes(queries, keys) if by_match else self._key_codes(queries, keys, key_tokens)
        )
        lengths = np.full(counts.size, self.window) if mask else (keys != _ABSENT).sum(axis=1)
        representatives, kind = _distinct(*_append(code, bound, lengths, self.window + 1))

        if labels == "target":
            label, n_labels = (key_tokens != self.targets[sequence]).astype(np.intp), 2
        else:
            shift = self.targets[sequence] if labels == "shifted" else 0
            label, n_labels = (key_tokens - shift) % self.vocab_size, self.vocab_size
        targets = self.targets if labels == "tokens" else np.zeros(self.n_sequences, dtype=np.intp)

        shape = (self.n_sequences, representatives.size * n_labels)
        rows = coo_array(
            (counts, (sequence, kind * n_labels + label)), shape=shape
        ).tocsr()  # adds duplicates
        rows.sort_indices()
        chosen, group = _equal_rows(rows, targets)
        merged = rows[chosen].tocoo()
        kind, label = np.divmod(merged.col, n_labels)
        shape = (n_labels * chosen.size, representatives.size)
        short = max(*shape, merged.nnz) <= np.iinfo(np.int32).max  # half the memory, if it fits
        index = np.int32 if short else np.int64
        place = ((label * chosen.size + merged.row).astype(index), kind.astype(index))
        matrix = coo_array((merged.data.astype(float), place), shape=shape).tocsr()
        return ScoreCounts(
            matrix=matrix,
            weights=np.bincount(group) / self.n_sequences,
            targets=targets[chosen],
            group=group,
            queries=queries[representatives],
            keys=keys[representatives],
            key_tokens=key_tokens[representatives],
            lengths=lengths[representatives],
        )

    def _entries(self, mask: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return sequence, window, token and count of each key, short windows included."""
        entries = [(self.sequence, self.windows, self.next_tokens, self.counts)]
        if not mask:
            every = np.arange(self.n_sequences)
            for m in range(self.window):
                window = np.full((self.n_sequences, self.window), _ABSENT)
                window[:, :m] = self.starts[:, :m][:, ::-1]
                entries.append((every, window, self.starts[:, m], np.ones_like(every)))
        return tuple(np.concatenate(column) for column in zip(*entries))

    def _match_codes(self, queries: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, int]:
        code, bound = np.zeros(len(keys), dtype=np.int64), 1
        query_columns, key_columns = queries.T.copy(), keys.T.copy()
        for q in query_columns:
            for k in key_columns:
                code, bound = _append(code, bound, q == k, 2)
        return code, bound

    def _key_codes(
        self, queries: np.ndarray, keys: np.ndarray, key_tokens: np.ndarray
    ) -> tuple[np.ndarray, int]:
        code, bound = np.zeros(len(keys), dtype=np.int64), 1
        for column in (*queries.T, *keys.T, key_tokens):
            code, bound = _append(code, bound, column - _ABSENT, self.vocab_size + 1)
        return code, bound


def _append(code: np.ndarray, bound: int, digit: np.ndarray, base: int) -> tuple[np.ndarray, int]:
    """Add a digit in front of each code; codes are renumbered before they would overflow."""
    if bound * base > _LARGEST_CODE:
        code = _distinct(code, bound)[1]
        bound = int(code.max()) + 1
    return code + digit * bound, bound * base


def _distinct(code: np.ndarray, bound: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where each distinct code occurs, in ascending order of codes, and the rank of each."""
    if bound > 4 * code.size + (1 << 16):
        _, where, rank = np.unique(code, return_index=True, return_inverse=True)
        return where, rank
    where = np.full(bound, -1)
    where[code] = np.arange(code.size)
    observed = np.flatnonzero(where >= 0)
    rank = np.empty(bound, dtype=np.intp)
    rank[observed] = np.arange(observed.size)
    return where[observed], rank[code]


def _equal_rows(rows: object, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return one row of each group of equal ones, and the group of every row."""
    entries = np.stack([rows.indices, rows.data], axis=1).astype(np.int64)
    content, ends = entries.tobytes(), rows.indptr.astype(np.int64) * entries.strides[0]
    group_of: dict[tuple[int, bytes], int] = {}
    group = np.empty(targets.size, dtype=np.intp)
    chosen = []
    for row, (target, (start, stop)) in enumerate(zip(targets.tolist(), pairwise(ends.tolist()))):
        key = (target, content[start:stop])
        group[row] = group_of.setdefault(key, len(chosen))
        if group[row] == len(chosen):
            chosen.append(row)
    return np.array(chosen), group
