"""Exercises of the chapter *What the loss can see*."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

import numpy as np

from ._answers import Wrong, a_set, an_array, call, choice, function, whole
from ._cases import generators
from ._exercise import exercise

_CHAPTER = "what-the-loss-can-see"


@exercise(_CHAPTER, "count-by-hand", "Count by hand", level=1, minutes=15)
class CountByHand:
    def entries(answer):
        given = _rows_of_four(answer)
        entries = [(2, 3, 2, 1), (2, 2, 1, 1), (1, 2, 0, 2), (0, 1, 3, 1), (3, 0, 2, 1), (2, 3, 1, 1)]
        _not_the_other_way_round(given, entries)
        a_set(given, entries, what="Your list of counts")
        return "Seven positions, six counts: one window has met the same next token twice."

    def kinds(answer):
        slips = {
            6: "Some of these have the same table. Compare each window with the query's, cell by cell.",
            5: "Two windows without any token of the query have the same table.",
        }
        hint = "A table has a cell for each pair of a lag of the query and a lag of the key."
        whole(answer, 4, low=hint, high=hint, slips=slips)
        return "What is no token of the query is nothing at all."

    def unmatched(answer):
        slips = {
            1: "More than one window has none of the query's tokens.",
            2: "Count positions, not windows.",
        }
        hint = "The tokens 2 and 3 do not occur in the query window."
        whole(answer, 3, low=hint, high=hint, slips=slips)
        return "For the score these three positions are one and the same."


@exercise(_CHAPTER, "tables-of-matches", "Patterns that no table shows", level=2, minutes=20)
class TablesOfMatches:
    def two_tokens(answer):
        slips = {
            16: "There are 16 pairs of windows, and many of them share a table.",
            15: "This counts the ways in which four tokens can be equal or not; there are only two tokens.",
            7: "The table of all zeros counts, and that of all ones.",
        }
        hint = "Swap the two tokens in query and key: the table stays."
        whole(answer, 8, low=hint, high=hint, slips=slips)
        return "With two tokens, each pair of windows has exactly one twin, its negative."

    def twins(answer):
        with suppress(Wrong):  # two pairs, as in the text
            answer = an_array(answer, (2, 2, 3)).reshape(4, 3)
        windows = an_array(answer, (4, 3), "The list of four windows")
        if not np.isin(windows, (0, 1, 2)).all():
            raise Wrong("A window holds three tokens out of 0, 1 and 2.")
        one, two = windows.astype(int).reshape(2, 2, 3)
        if (np.equal.outer(*one) != np.equal.outer(*two)).any():
            raise Wrong("The two pairs have different tables.")
        if (np.equal.outer(one, one) == np.equal.outer(two, two)).all():
            raise Wrong("The second pair is the first with other names. The same tokens are equal in both.")
        return "A table compares query with key. What a window is like in itself it does not show."


@exercise(_CHAPTER, "nothing-to-pull", "When nothing pulls", level=2, minutes=25)
class NothingToPull:
    def R(answer):
        cases = []
        settings = ((2, 0.1), (3, 0.1), (5, 0.3), (5, 0.1), (4, 0.1))
        for (size, epsilon), rng in zip(settings, generators(8, 4)):
            n = rng.integers(1, 9, size)
            cases.append((n, rng.integers(1, n + 1), rng.random(size), float(rng.uniform(0, 4)), epsilon))

        slips = [
            (lambda n, m, s, a, e: _pull(n, m, s, a, 0.0), "The shift ε of the loss is missing."),
            (
                lambda n, m, s, a, e: _pull(n, m, s, 0.0, e),
                "The votes E depend on the scores. This is right for a = 0.",
            ),
            (lambda n, m, s, a, e: -_pull(n, m, s, a, e), "The sign is the other way round."),
        ]
        function(
            answer,
            _pull,
            cases,
            show=lambda n, m, s, a, e: f"n = {n.tolist()}, m = {m.tolist()}, a = {a:.2f} and ε = {e}",
            slips=slips,
        )
        return "They sum to zero: what one kind of key gains, others lose. Shares add up to one."

    def idle(answer):
        cases = [
            ([3, 4], [0, 0], True, "in which the target never comes"),
            ([3, 4], [3, 4], True, "in which nothing but the target comes"),
            ([3, 4], [1, 2], False, "in which the second kind of key is the better guide"),
            ([2, 6, 4], [1, 3, 2], True, "in which all kinds of keys are equally good guides"),
            ([2, 0, 4], [1, 0, 2], True, "in which one kind of key does not occur"),
            ([5], [2], True, "with one kind of key"),
            ([2, 0, 4], [1, 0, 1], False, "in which the first kind of key is the better guide"),
            *_fresh_guides(),
        ]
        for n, m, expected, words in cases:
            value = call(answer, np.array(n), np.array(m), shown=f"n = {n}, m = {m}")
            if getattr(value, "shape", None) == ():
                value = value.item()  # type: ignore[attr-defined]
            if not isinstance(value, bool):
                raise Wrong("The function should return True or False.")
            if value != expected:
                verdict = "is idle" if expected else "is not idle"
                raise Wrong(f"A sequence {words} {verdict} (n = {n}, m = {m}).")
        return "A sequence teaches only if some kind of key is a better guide to its target than another."


@exercise(_CHAPTER, "how-many-look-alike", "How many look alike?", level=2, minutes=30)
class HowManyLookAlike:
    def number(answer):
        cases = []
        settings = ((6, 0.5), (8, 0.5), (9, 0.3), (10, 0.5), (10, 0.7), (7, 1.0), (11, 0.5), (10, 0.5))
        for (length, bias), rng in zip(settings, generators(9, 7)):
            x = (rng.random(length) < bias).astype(int)
            counts = np.zeros((2, 2), dtype=int)
            np.add.at(counts, (x[:-1], x[1:]), 1)
            cases.append((int(x[0]), counts))
        function(
            answer,
            _alike,
            cases,
            show=lambda first, n: f"the first token {first} and the counts {n.tolist()}",
            rel=0.0,
        )
        return "The changes of token fix the runs; what is free is how the rest is shared out among them."


@exercise(_CHAPTER, "a-sense-of-time", "A sense of time", level=2, minutes=30)
class ASenseOfTime:
    def told_apart(answer):
        one, two = _two_contexts(answer)
        if _seen(one) != _seen(two):
            raise Wrong("Their window counts or their query windows differ; then it is no wonder.")
        if not _differ(one, two, slope=0.1):
            raise Wrong("The sloped model says the same for both.")
        return "The slope makes each count a sum of weights, the smaller the longer ago."

    def blind(answer):
        one, two = _two_contexts(answer)
        if _differ(one, two, slope=0.0):
            raise Wrong("Even the model without a slope tells these two apart.")
        if _differ(one, two, slope=0.1):
            raise Wrong("The model with a slope tells these two apart.")
        return "It still cannot see what no match depends on."


@exercise(_CHAPTER, "train-on-the-limit", "Train on the limit", level=3, minutes=45)
class TrainOnTheLimit:
    def limit_loss(answer):
        cases = []
        settings = ((1, 3, 2, 0.1), (2, 4, 2, 0.1), (3, 9, 3, 0.3), (2, 8, 2, 0.1), (2, 3, 3, 0.1))
        for (n_chains, n_windows, vocab, epsilon), rng in zip(settings, generators(10, 4)):
            laws = rng.dirichlet(np.ones(n_windows * vocab), n_chains).reshape(n_chains, n_windows, vocab)
            scores = rng.random((n_windows, n_windows))
            cases.append((laws, scores, float(rng.uniform(0, 5)), epsilon))
        slips = [
            (
                lambda laws, s, a, e: _limit_loss(laws, s, a, e, uniform=True),
                "Queries are not equally likely: they come as often as the chain shows them.",
            ),
            (
                lambda laws, s, a, e: _limit_loss(laws.mean(axis=0, keepdims=True), s, a, e),
                "This averages the chains first. Each context comes from one chain; average the losses.",
            ),
            (lambda laws, s, a, e: _limit_loss(laws, s, a, 0.0), "The shift ε of the loss is missing."),
        ]
        function(
            answer,
            _limit_loss,
            cases,
            show=lambda laws, s, a, e: (
                f"{len(laws)} random laws of {laws.shape[1]} windows, a = {a:.2f} and ε = {e}"
            ),
            slips=slips,
        )
        return "An average over kernels is all that is left of the data: no sequence, no sampling noise."

    def scale(answer):
        choice(
            answer,
            "it grows on",
            {
                "it stops earlier": "Endless contexts leave nothing to hedge against.",
                "it stops at the same place": "A hundred tokens give few and noisy matches.",
            },
        )
        return "The noise of finite contexts is lost, and with it the reason to hedge."


def _rows_of_four(answer: object) -> object:
    """Read a list of tuples, lists or arrays; what is no list at all is left as it is."""
    rows = answer.tolist() if isinstance(answer, np.ndarray) else answer
    if not isinstance(rows, (list, tuple, set, frozenset)):
        return rows
    rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in rows]
    if any(not isinstance(row, (list, tuple)) or len(row) != 4 for row in rows):
        raise Wrong("Each entry should be a tuple of four numbers: window, next token, count.")
    return rows


def _fresh_guides() -> list[tuple[list[int], list[int], bool, str]]:
    rng = np.random.default_rng()
    met, times = int(rng.integers(2, 6)), rng.integers(5, 12, 3)
    n, m = met * times, int(rng.integers(1, met)) * times
    better = m + np.array([1, 0, 0])
    return [
        (n.tolist(), m.tolist(), True, "in which all kinds of keys are equally good guides"),
        (n.tolist(), better.tolist(), False, "in which the first kind of key is the better guide"),
    ]


def _not_the_other_way_round(answer: object, entries: list[tuple[int, ...]]) -> None:
    reverse = [(b, a, k, n) for a, b, k, n in entries]
    if isinstance(answer, list) and answer and all(tuple(e) in reverse for e in answer):
        raise Wrong("These windows are written oldest token first. The newest comes first.")


def _pull(n: np.ndarray, m: np.ndarray, s: np.ndarray, a: float, epsilon: float) -> np.ndarray:
    votes = np.exp(a * s)
    y = (m * votes).sum() / (n * votes).sum()
    return votes / (n * votes).sum() * (m - n * y) / (y + epsilon)


def _alike(first: int, counts: np.ndarray) -> int:
    """Count by enumeration the sequences with the given first token and numbers of steps."""
    n_steps = int(counts.sum())
    rest = (np.arange(1 << n_steps)[:, None] >> np.arange(n_steps)) & 1
    x = np.hstack([np.full((len(rest), 1), first), rest])
    steps = 2 * x[:, :-1] + x[:, 1:]
    same = [(steps == i).sum(axis=1) == count for i, count in enumerate(counts.ravel())]
    return int(np.all(same, axis=0).sum())


def _two_contexts(answer: object) -> np.ndarray:
    pair = an_array(answer, (2, None), "The pair of contexts")
    if not np.isin(pair, (0, 1, 2)).all():
        raise Wrong("A context holds the tokens 0, 1 and 2.")
    if pair.shape[1] < 8:
        raise Wrong(f"The contexts should have at least 8 tokens, these have {pair.shape[1]}.")
    if pair.shape[1] > 100:  # from further back a sloped vote is too small for the comparison
        raise Wrong(f"The contexts should have at most 100 tokens, these have {pair.shape[1]}.")
    if (pair[0] == pair[1]).all():
        raise Wrong("The two contexts are the same.")
    return pair.astype(int)


def _seen(x: np.ndarray) -> tuple[Counter, tuple[int, ...]]:
    """Return the window counts for M = 3 and the query window."""
    return Counter(tuple(x[i : i + 4].tolist()) for i in range(len(x) - 3)), tuple(x[-3:].tolist())


def _differ(one: np.ndarray, two: np.ndarray, slope: float) -> bool:
    rng = np.random.default_rng(11)
    for _ in range(5):
        w, p = rng.normal(size=(3, 3)), rng.dirichlet(np.ones(4))
        attention = np.exp(w) / np.exp(w).sum(axis=1, keepdims=True)
        a = rng.uniform(1, 5)
        y = [_sloped(x, attention, p, a, slope) for x in (one, two)]
        if not np.allclose(*y, rtol=0, atol=1e-10):
            return True
    return False


def _sloped(x: np.ndarray, attention: np.ndarray, p: np.ndarray, a: float, slope: float) -> np.ndarray:
    """Return the output of the masked model, M = 3, whose logits fall with the distance."""
    heads = [(), (0,), (0, 1), (0, 1, 2)]
    places = np.arange(3, len(x))
    keys = x[places[:, None] - np.arange(1, 4)]  # newest first
    match = x[-1:-4:-1][None, :, None] == keys[:, None, :]
    kernels = np.einsum("hi,hj,lij->lh", attention, attention, match)
    scores = sum(share * kernels[:, list(S)].prod(axis=1) for share, S in zip(p, heads))
    votes = np.exp(a * scores - slope * (len(x) - 1 - places))
    return np.bincount(x[places], votes, minlength=3) / votes.sum()


def _limit_loss(
    laws: np.ndarray, scores: np.ndarray, a: float, epsilon: float, uniform: bool = False
) -> float:
    votes = np.exp(a * scores) @ laws  # (chain, query, token)
    y = votes / votes.sum(axis=2, keepdims=True)
    query = laws.sum(axis=2, keepdims=True)
    weight = laws / query / laws.shape[1] if uniform else laws
    return float(-(weight * np.log(y + epsilon)).sum(axis=(1, 2)).mean())
