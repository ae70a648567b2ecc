"""Window counts against counting by hand, and the merges that must lose nothing."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from markov_transformers import windows as windows_module
from markov_transformers.windows import WindowCounts
from tests.memory import expected_over_taken


@st.composite
def data_sets(draw):
    vocab, window = draw(st.integers(2, 4)), draw(st.integers(1, 5))
    length = draw(st.integers(window + 1, window + 15))
    seed = draw(st.integers(0, 2**32 - 1))
    tokens = np.random.default_rng(seed).integers(vocab, size=(draw(st.integers(1, 6)), length + 1))
    return tokens, window, vocab


def counted_by_hand(tokens, window):
    """Counter of (sequence, window newest first, next token)."""
    return Counter(
        (b, tuple(int(row[position - i]) for i in range(1, window + 1)), int(row[position]))
        for b, row in enumerate(tokens)
        for position in range(window, len(row) - 1)
    )


def keys_by_hand(row, window, mask):
    """The keys of one sequence as (window, token), windows filled up with -1."""
    for position in range(window if mask else 0, len(row) - 1):
        before = [int(row[position - i]) if i <= position else -1 for i in range(1, window + 1)]
        yield tuple(before), int(row[position])


@settings(deadline=None, max_examples=60)
@given(data_sets())
def test_every_window_is_counted_once(data):
    tokens, window, vocab = data
    counts = WindowCounts.from_tokens(tokens, window, vocab)
    found = {
        (int(b), tuple(w), int(k)): int(n)
        for b, w, k, n in zip(
            counts.sequence, counts.windows.tolist(), counts.next_tokens, counts.counts, strict=True
        )
    }
    assert len(found) == counts.counts.size
    assert found == counted_by_hand(tokens, window)
    assert counts.counts.sum() == counts.n_positions
    np.testing.assert_array_equal(counts.targets, tokens[:, -1])
    np.testing.assert_array_equal(counts.queries, tokens[:, -2 : -2 - window : -1])


@pytest.mark.parametrize("vocab", [15, 16, 17])
def test_windows_are_told_apart_on_both_sides_of_sixteen_bits(vocab):
    tokens = vocab - 1 - np.random.default_rng(vocab).integers(2, size=(3, 40))
    counts = WindowCounts.from_tokens(tokens, 3, vocab)  # 17**4 numbers need more
    columns = counts.sequence.tolist(), map(tuple, counts.windows.tolist()), counts.next_tokens.tolist()
    found = dict(zip(zip(*columns, strict=True), counts.counts.tolist(), strict=True))
    assert found == counted_by_hand(tokens, 3)


@settings(deadline=None, max_examples=60)
@given(data_sets(), st.booleans(), st.sampled_from(["target", "shifted", "tokens"]), st.booleans())
def test_merged_counts_are_those_of_each_sequence(data, mask, labels, by_match):
    tokens, window, vocab = data
    counts = WindowCounts.from_tokens(tokens, window, vocab)
    merged = (counts.by_match if by_match else counts.by_key)(mask=mask, labels=labels)
    dense = merged.matrix.toarray().reshape(-1, merged.n_groups, merged.n_kinds)
    for b, row in enumerate(tokens):
        query, target = row[-2 : -2 - window : -1], row[-1]
        expected = Counter()
        for key, token in keys_by_hand(row, window, mask):
            table = tuple(map(tuple, (query[:, None] == np.array(key)[None, :]).tolist()))
            kind = (table, sum(k >= 0 for k in key)) if by_match else (tuple(query.tolist()), key, token)
            label = {"target": int(token != target), "shifted": (token - target) % vocab, "tokens": token}[
                labels
            ]
            expected[kind, int(label)] += 1
        found = Counter()
        for label, kind in np.argwhere(dense[:, merged.group[b]]):
            name = (
                (tuple(map(tuple, merged.matches[kind].tolist())), int(merged.lengths[kind]))
                if by_match
                else (
                    tuple(merged.queries[kind].tolist()),
                    tuple(merged.keys[kind].tolist()),
                    int(merged.key_tokens[kind]),
                )
            )
            found[name, int(label)] = int(dense[label, merged.group[b], kind])
        assert found == expected
        assert merged.targets[merged.group[b]] == (target if labels == "tokens" else 0)


@settings(deadline=None, max_examples=30)
@given(data_sets(), st.booleans())
def test_groups_are_distinct_kinds_are_distinct_and_weights_sum_to_one(data, mask):
    tokens, window, vocab = data
    merged = WindowCounts.from_tokens(tokens, window, vocab).by_match(mask=mask)
    rows = merged.matrix.toarray().reshape(2, merged.n_groups, -1).swapaxes(0, 1)
    assert len(np.unique(rows.reshape(merged.n_groups, -1), axis=0)) == merged.n_groups
    tables = np.column_stack([merged.matches.reshape(merged.n_kinds, -1), merged.lengths])
    assert len(np.unique(tables, axis=0)) == merged.n_kinds
    np.testing.assert_allclose(merged.weights, np.bincount(merged.group) / len(tokens))
    assert merged.weights.sum() == pytest.approx(1.0)


@settings(deadline=None, max_examples=30)
@given(data_sets(), st.booleans(), st.booleans())
def test_kinds_of_key_come_in_the_order_of_their_lengths(data, mask, by_match):
    counts = WindowCounts.from_tokens(*data)
    merged = (counts.by_match if by_match else counts.by_key)(mask=mask)
    assert (np.diff(merged.lengths) >= 0).all()
    np.testing.assert_array_equal(merged.lengths, (merged.keys >= 0).sum(axis=1))


@settings(deadline=None, max_examples=30)
@given(data_sets(), st.data())
def test_matches_are_counted_as_the_induction_head_counts_them(data, draw):
    tokens, window, vocab = data
    subset = tuple(sorted(draw.draw(st.sets(st.integers(1, window)))))
    expected = [
        sum(all(row[p - s] == row[len(row) - 1 - s] for s in subset) for p in range(window, len(row) - 1))
        for row in tokens
    ]
    np.testing.assert_array_equal(WindowCounts.from_tokens(tokens, window, vocab).n_matches(subset), expected)


def test_equal_and_relabelled_sequences_are_merged():
    tokens = np.array([[0, 1, 2, 0, 1, 2], [0, 1, 2, 0, 1, 2], [2, 0, 1, 2, 0, 1], [0, 0, 0, 0, 0, 0]])
    merged = WindowCounts.from_tokens(tokens, 2, 3).by_match()
    assert merged.group.tolist() == [0, 0, 0, 1]
    assert merged.weights.tolist() == [0.75, 0.25]


def test_every_table_of_matches_of_three_tokens_and_offsets_occurs_in_a_large_sample():
    tokens = np.random.default_rng(0).integers(3, size=(2000, 101))
    counts = WindowCounts.from_tokens(tokens, 3, 3)
    everything = np.stack(np.meshgrid(*[np.arange(3)] * 6), axis=-1).reshape(-1, 6)
    tables = (everything[:, :3, None] == everything[:, None, 3:]).reshape(-1, 9)
    assert counts.by_match().n_kinds == len(np.unique(tables, axis=0)) == 110
    assert counts.by_match(mask=False).n_kinds > 110


def test_long_windows_are_numbered_without_overflow():
    tokens = np.random.default_rng(1).integers(2, size=(5, 60))
    counts = WindowCounts.from_tokens(tokens, 12, 2)  # 144 bits to a table of matches
    merged = counts.by_match(mask=False)
    dense = merged.matrix.toarray().reshape(2, merged.n_groups, merged.n_kinds).sum(axis=0)
    for b, row in enumerate(tokens):
        query = row[-2:-14:-1]
        tables = Counter(
            (query[:, None] == np.array(key)[None, :]).tobytes() for key, _ in keys_by_hand(row, 12, False)
        )
        kinds = np.flatnonzero(dense[merged.group[b]])
        found = Counter()
        for kind in kinds:
            found[merged.matches[kind].tobytes()] += int(dense[merged.group[b], kind])
        assert found == tables


@pytest.mark.parametrize("largest", [4, 1000])
def test_how_often_codes_are_renumbered_changes_nothing(monkeypatch, largest):
    counts, again = (
        WindowCounts.from_tokens(np.random.default_rng(1).integers(2, size=(5, 60)), 12, 2) for _ in "ab"
    )
    told_apart = {"by_match": ["matches"], "by_key": ["queries", "keys", "key_tokens"]}
    for call, names in told_apart.items():
        expected = getattr(counts, call)(mask=False, labels="tokens")
        monkeypatch.setattr(windows_module, "_LARGEST_CODE", largest)
        found = getattr(again, call)(mask=False, labels="tokens")
        monkeypatch.undo()
        np.testing.assert_array_equal(found.matrix.toarray(), expected.matrix.toarray())
        for name in ("group", "lengths", *names):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_keys_of_a_vocabulary_of_twenty_bits_are_told_apart():
    # Two offsets of query and key and the token make a hundred bits; low digits agree on purpose.
    tokens = 16 * np.random.default_rng(2).integers(3, size=(20, 12))
    merged = WindowCounts.from_tokens(tokens, 2, 2**20 - 1).by_key()
    keys = {(*row[-2:-4:-1], *key, token) for row in tokens for key, token in keys_by_hand(row, 2, True)}
    found = zip(*merged.queries.T, *merged.keys.T, merged.key_tokens, strict=True)
    assert merged.n_kinds == len(keys)
    assert set(found) == keys


def test_renumbering_finds_the_same_codes_with_a_table_and_by_sorting():
    code = np.random.default_rng(2).integers(1000, size=300) * 7
    by_table = windows_module._distinct(code, 7000)
    by_sorting = windows_module._distinct(code, 1 << 59)
    np.testing.assert_array_equal(code[by_table[0]], code[by_sorting[0]])
    np.testing.assert_array_equal(by_table[1], by_sorting[1])
    np.testing.assert_array_equal(code[by_table[0]][by_table[1]], code)


def test_tokens_are_not_changed_and_asking_again_costs_nothing():
    tokens = np.random.default_rng(3).integers(3, size=(4, 9))
    before = tokens.copy()
    counts = WindowCounts.from_tokens(tokens, 2, 3)
    counts.starts[:] = 0
    counts.queries[:] = 0
    np.testing.assert_array_equal(tokens, before)
    assert counts.by_match() is counts.by_match(mask=True, labels="target")
    assert counts.by_key() is counts.by_key(mask=True, labels="target")


def test_a_small_matrix_of_counts_is_indexed_by_short_integers():
    tokens = np.random.default_rng(3).integers(3, size=(4, 9))
    matrix = WindowCounts.from_tokens(tokens, 2, 3).by_match().matrix
    assert matrix.indices.dtype == matrix.indptr.dtype == np.int32


@pytest.mark.parametrize("labels", ["shifted", "tokens"])
@pytest.mark.parametrize("call", ["by_match", "by_key"])
def test_telling_tokens_apart_takes_at_most_the_memory_for_which_it_would_be_refused(call, labels):
    tokens = np.random.default_rng(5).integers(50_000, size=(4, 5))

    def merge():
        return getattr(WindowCounts.from_tokens(tokens, 1, 50_000), call)(labels=labels)

    assert 1 < expected_over_taken("vocab_size", merge) < 2.1  # short integers take half


@pytest.mark.parametrize(
    "arguments, message",
    [
        (([[0, 1, 0]], 2, 2), "tokens must be .* length at least 4"),
        (([[0, 1, 2, 0]], 2, 2), "tokens must be .* got a token 2"),
        (([[0, -1, 1, 0]], 2, 2), "tokens must be"),
        (([0, 1, 0, 1], 2, 2), "tokens must be"),
        (([[0.0, 1.0, 0.0, 1.0]], 2, 2), "tokens must be"),
        (([[0, 1, 0, 1]], 0, 2), "window must be"),
        (([[0, 1, 0, 1]], 2.0, 2), "window must be"),
        (([[0, 1, 0, 1]], 2, 1), "vocab_size must be"),
        (([[0, 1, 0, 1]], 2, True), "vocab_size must be"),
        (([[0] * 99], 64, 2), "window must be small enough"),
        (([[0] * 99], 60, 2), "window must be small enough"),
        (([[0] * 99], 37, 3), "window must be small enough"),  # 3**38 > 2**60 > 3**37
        (([[0] * 99], 10**7, 3), "tokens must be .* length at least 10000002"),
        (([[0] * 99], 1, 10**400), "vocab_size must be"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        WindowCounts.from_tokens(*arguments)


@pytest.mark.parametrize(("window", "vocab"), [(59, 2), (36, 3)])
def test_the_longest_windows_that_can_be_numbered_are_counted(window, vocab):
    tokens = np.random.default_rng(4).integers(vocab, size=(2, 99))
    counts = WindowCounts.from_tokens(tokens, window, vocab)
    columns = counts.sequence.tolist(), map(tuple, counts.windows.tolist()), counts.next_tokens.tolist()
    found = dict(zip(zip(*columns, strict=True), counts.counts.tolist(), strict=True))
    assert found == counted_by_hand(tokens, window)


def test_bad_options_are_refused():
    counts = WindowCounts.from_tokens([[0, 1, 0, 1, 1]], 2, 2)
    for call in (counts.by_match, counts.by_key):
        with pytest.raises(ValueError, match="labels must be"):
            call(labels="all")
        with pytest.raises(ValueError, match="mask must be"):
            call(mask=None)
    for subset in (1, (0,), (3,), (1.0,), (1, 1)):
        with pytest.raises(ValueError, match="subset must be"):
            counts.n_matches(subset)
