"""The literal two-layer transformers against the printed formulas, entry by entry."""

from __future__ import annotations

from itertools import combinations
from math import comb, exp

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from markov_transformers.models.two_layer import FullTransformer, TwoLayerTransformer  # noqa: E402


def randomize(model, seed, a=1.5):
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype))
        model.a.fill_(a)
    return model


def softmax(values):
    weights = [exp(v) for v in values]
    return [w / sum(weights) for w in weights]


def by_hand(model, x, full=False):
    """The output for one context, with loops over positions, offsets, heads and sets."""
    M, d, L = model.window, model.vocab_size, len(x)
    w, c, a = model.w.detach().numpy(), model.c.detach().numpy(), model.a.item()
    rows = np.vstack([np.eye(d)[x], np.zeros(d)])

    def copy(h, place):  # places count from zero; place L is the target's
        offsets = [i for i in range(1, M + 1) if place - i >= 0]
        if not offsets:
            return np.zeros(d)
        logits = [w[h, i - 1] for i in offsets]
        if full:
            Q, K, V = (getattr(model, name)[h].detach().numpy() for name in ("query", "key", "value"))
            logits = [
                v + rows[place] @ Q @ (rows[place - i] @ K) for v, i in zip(logits, offsets, strict=True)
            ]
        out = sum(s * rows[place - i] for s, i in zip(softmax(logits), offsets, strict=True))
        if full:
            out = out @ V
            out = out / np.linalg.norm(out)
        return out

    def blocks(place):
        heads = {h + 1: copy(h, place) for h in range(model.heads)}
        return {0: rows[place], **heads} if full else heads

    names = range(0 if full else 1, model.heads + 1)
    sets = [S for size in range(model.degree + 1) for S in combinations(names, size)]
    query = blocks(L)
    first = M if model.mask else 0
    scores = []
    for place in range(first, L):
        key = blocks(place)
        total = sum(
            weight**2 * np.prod([query[h] @ key[h] for h in S]) for weight, S in zip(c, sets, strict=True)
        )
        scores.append(total / (c**2).sum())
    return sum(
        s * rows[place] for s, place in zip(softmax([a * s for s in scores]), range(first, L), strict=True)
    )


@pytest.mark.parametrize("mask", [True, False])
@pytest.mark.parametrize("shape", [(1, 1, 2, 1), (3, 3, 3, 2), (2, 4, 3, 3), (4, 2, 2, 2), (3, 3, 3, 0)])
def test_the_output_is_the_printed_formula(shape, mask):
    window, heads, vocab, degree = shape
    model = randomize(TwoLayerTransformer(window, heads, vocab, degree, mask=mask), seed=1)
    x = np.random.default_rng(1).integers(vocab, size=(4, 11))
    y = model(torch.tensor(x)).detach().numpy()
    np.testing.assert_allclose(y, [by_hand(model, row) for row in x], rtol=1e-12)
    np.testing.assert_allclose(y.sum(axis=1), 1, rtol=1e-13)


@pytest.mark.parametrize("mask", [True, False])
@pytest.mark.parametrize("shape", [(2, 2, 3, 2), (3, 2, 2, 3)])
def test_the_full_model_is_the_printed_formula(shape, mask):
    window, heads, vocab, degree = shape
    model = randomize(FullTransformer(window, heads, vocab, degree, mask=mask), seed=2)
    x = np.random.default_rng(2).integers(vocab, size=(4, 9))
    y = model(torch.tensor(x)).detach().numpy()
    np.testing.assert_allclose(y, [by_hand(model, row, full=True) for row in x], rtol=1e-11)


@pytest.mark.parametrize("kind", [TwoLayerTransformer, FullTransformer])
def test_features_realize_the_kernel(kind):
    """Lemma C.1: the inner product of the monomials (C.3) is (2.3)."""
    model = randomize(kind(3, 3, 3, 2), seed=3)
    n_blocks = len(model._blocks())
    left, right = torch.randn(2, n_blocks, 5, 3, dtype=torch.float64)
    features = model.features(left) @ model.features(right).mT
    torch.testing.assert_close(features, model.kernel(left, right), rtol=1e-12, atol=1e-12)
    tokens = torch.randint(3, (4, 12))
    torch.testing.assert_close(model(tokens), model(tokens, through_kernel=True), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("shape", [(3, 3, 2), (3, 4, 3), (2, 5, 1), (4, 2, 0)])
def test_the_number_of_features_is_the_printed_one(shape):
    vocab, heads, degree = shape
    model = TwoLayerTransformer(3, heads, vocab, degree)
    n_features = model.features(torch.zeros(heads, 1, vocab, dtype=torch.float64)).shape[-1]
    assert n_features == sum(comb(heads, k) * vocab**k for k in range(degree + 1))
    if shape == (3, 3, 2):
        assert n_features == 37


def test_features_have_unit_length_where_every_copy_is_one_token():
    model = randomize(TwoLayerTransformer(3, 3, 3, 2), seed=4)
    z = torch.eye(3, dtype=torch.float64)[torch.randint(3, (3, 7))]
    U = model.features(z) / (model.c**2).sum().sqrt()
    torch.testing.assert_close(U.norm(dim=-1), torch.ones(7, dtype=torch.float64))


def test_sets_go_by_size_then_lexicographically():
    model = TwoLayerTransformer(3, 3, 3, 2)
    assert model.sets == ((), (1,), (2,), (3,), (1, 2), (1, 3), (2, 3))


def test_the_position_matrix_is_a_band_below_the_diagonal():
    model = randomize(TwoLayerTransformer(2, 1, 2, 1), seed=5)
    near, far = model.w[0].tolist()
    inf = float("inf")
    assert model.position_matrices(4)[0].tolist() == [
        [-inf, -inf, -inf, -inf],
        [near, -inf, -inf, -inf],
        [far, near, -inf, -inf],
        [-inf, far, near, -inf],
    ]


def test_the_loss_is_the_mean_of_minus_the_logarithm():
    model = randomize(TwoLayerTransformer(2, 2, 3, 2), seed=6)
    tokens = torch.tensor([[0, 1, 2, 0, 1, 2], [1, 1, 0, 1, 1, 0]])
    y = [by_hand(model, row[:-1])[row[-1]] for row in tokens.numpy()]
    assert model.loss(tokens, epsilon=0.2).item() == pytest.approx(
        -np.log(np.array(y) + 0.2).mean(), rel=1e-12
    )


@pytest.mark.parametrize("mask", [True, False])
def test_the_sequential_loss_adds_up_all_prefixes(mask):
    model = randomize(TwoLayerTransformer(2, 2, 3, 2, mask=mask), seed=7)
    tokens = torch.randint(3, (3, 8))
    expected = 0.0
    for row in tokens.numpy():
        for end in range(3 if mask else 1, 8):
            expected -= np.log(by_hand(model, row[:end])[row[end]] + 0.1) / 3
    assert model.sequential_loss(tokens).item() == pytest.approx(expected, rel=1e-12)


def test_the_query_depends_on_the_last_tokens_only():
    """With relative positions the weights serve every length."""
    model = randomize(TwoLayerTransformer(3, 3, 3, 2), seed=8)
    long = torch.randint(3, (2, 20))
    V_long, V_short = (model.copies(model.embed(x))[..., -1, :] for x in (long, long[:, -3:]))
    torch.testing.assert_close(V_long, V_short, rtol=1e-13, atol=1e-15)


def induction_head(row, subset, window):
    hits = [
        x for p, x in enumerate(row) if p >= window and all(row[p - s] == row[len(row) - s] for s in subset)
    ]
    kept = hits or row[window:]
    return np.bincount(kept, minlength=3) / len(kept)


@pytest.mark.parametrize("subset", [(1,), (1, 2), (2, 3), ()])
def test_the_hand_set_weights_become_the_induction_head(subset):
    tokens = np.random.default_rng(9).integers(3, size=(40, 14)).tolist()
    tokens.append([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 1])  # nothing matches (1, 2): the fallback
    head = np.array([induction_head(row, subset, 3) for row in tokens])
    distances = []
    for size in (2.0, 5.0, 20.0, 60.0):
        model = TwoLayerTransformer.construction(3, 3, 3, 2, subset=subset, rho=size, a=size)
        distances.append(np.abs(model(torch.tensor(tokens)).detach().numpy() - head).max())
    assert (np.diff(distances[:3]) < 0).all() or distances[0] < 1e-12
    assert distances[-1] < 1e-12


def test_the_construction_sets_the_printed_weights():
    model = TwoLayerTransformer.construction(3, 3, 3, 2, subset=(1, 2), rho=7.0, a=4.0, mask=False)
    assert model.w.tolist() == [[7, 0, 0], [0, 7, 0], [0, 0, 7]]
    assert model.c.tolist() == [0, 0, 0, 0, 1, 0, 0]
    assert model.a.item() == 4.0
    assert not model.mask


def test_initial_weights_are_the_papers():
    model = TwoLayerTransformer(3, 3, 3, 2)
    assert model.w.tolist() == [[3, 0.01, 0.01], [0.01, 3, 0.01], [0.01, 0.01, 3]]
    assert model.c.tolist() == [0.01] * 7 and model.a.item() == 0.01
    full = FullTransformer(3, 3, 3, 2)
    assert full.w.tolist() == [[1, 0.01, 0.01], [0.01, 1, 0.01], [0.01, 0.01, 1]]
    for matrix in (full.query, full.key, full.value):
        assert torch.equal(matrix[1], 0.001 * torch.eye(3, dtype=torch.float64))


@pytest.mark.parametrize("kind", [TwoLayerTransformer, FullTransformer])
def test_gradients_have_no_nan_without_the_mask(kind):
    model = kind(3, 3, 3, 2, mask=False)
    model.loss(torch.randint(3, (4, 9))).backward()
    for parameter in model.parameters():
        assert torch.isfinite(parameter.grad).all()


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((0, 3, 3, 2), "window must be"),
        ((3, 0, 3, 2), "heads must be"),
        ((3, 3, 1, 2), "vocab_size must be"),
        ((3, 3, 3, 4), "degree must be"),
        ((3, 3, 3, 1.5), "degree must be"),
    ],
)
def test_bad_sizes_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        TwoLayerTransformer(*arguments)


@pytest.mark.parametrize("subset", [(4,), (1, 2, 3), (0,), (1, 1), 1])
def test_sets_that_cannot_be_matched_are_refused(subset):
    for kind in (TwoLayerTransformer, FullTransformer):
        with pytest.raises(ValueError, match="subset must be"):
            kind.construction(3, 3, 3, 2, subset=subset, rho=1.0, a=1.0)


def test_contexts_without_a_key_are_refused():
    with pytest.raises(ValueError, match="tokens must be"):
        TwoLayerTransformer(3, 3, 3, 2)(torch.tensor([[0, 1, 2]]))
    with pytest.raises(ValueError, match="tokens must be"):
        TwoLayerTransformer(3, 3, 3, 2)(torch.tensor([0, 1, 2, 0, 1]))
