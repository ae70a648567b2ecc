import numpy as np
import pytest

from markov_transformers.chains import NGramChain
from markov_transformers.claims import construction as claims
from markov_transformers.claims.information import polynomial_kernel
from markov_transformers.explorers import construction
from markov_transformers.reweighting import reweighted_law
from markov_transformers.staged import StagedModel
from markov_transformers.windows import WindowCounts

MATCHED = [2, 1, 0, 2, 2, 1, 0, 2, 0, 0, 1, 0, 1, 2, 0, 2, 2, 1, 0]  # after 1, 0 came 2, 2 and 1


def test_the_kernel_claim_holds_and_its_rule_notices_a_wrong_kernel_and_a_wrong_count():
    good = polynomial_kernel(rng=0, n_pairs=50)
    assert claims.rule_chen2024_kernel(good) == "reproduced"
    assert claims.rule_chen2024_kernel({**good, "error": 0.1}) == "contradicted"
    assert claims.rule_chen2024_kernel({**good, "n_features": 36}) == "contradicted"


def test_the_construction_tends_to_the_induction_head_only_if_both_sizes_grow():
    measured = claims.construction(rng=0, n_sequences=200)
    assert claims.rule_chen2024_construction(measured) == "reproduced"
    assert measured["n_without_match"] > 20
    assert measured["largest_ratio"] <= 1
    assert measured["a_alone"][-1] > 1  # a large, the copier soft: the distance does not vanish


@pytest.mark.parametrize(
    "change", [{"together": [1.0, 0.3]}, {"fallback": [1.0, 0.3]}, {"n_without_match": 0}]
)
def test_the_rule_for_the_construction_refuses_a_bad_measurement(change):
    good = {"together": [1.0, 1e-13], "fallback": [0.2, 1e-14], "n_without_match": 3}
    assert claims.rule_chen2024_construction(good) == "reproduced"
    assert claims.rule_chen2024_construction({**good, **change}) == "not reproduced"


def test_the_sequential_loss_is_the_sum_over_lengths_and_features_ignore_the_position():
    measured = claims.sequential_loss(rng=1, n_sequences=5, length=20)
    assert claims.rule_chen2024_sequential(measured) == "reproduced"
    assert measured["prefix_effect"] > 1e-4  # the output does depend on what came long ago


def test_the_sequential_loss_agrees_with_the_literal_model():
    torch = pytest.importorskip("torch")
    from markov_transformers.models import TwoLayerTransformer

    tokens = np.random.default_rng(2).integers(3, size=(4, 15))
    literal = TwoLayerTransformer(3, 3, 3, 2)
    with torch.no_grad():
        expected = literal.sequential_loss(torch.tensor(tokens)).item()
    summed = 0.0
    for n in range(4, 15):
        model = StagedModel(WindowCounts.from_tokens(tokens[:, : n + 1], 3, 3), degree=2)
        summed += model.loss_and_gradients(**model.initial_parameters())[0]
    assert summed == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    "change", [{"sum_difference": 0.01}, {"shift_difference": 0.01}, {"window_difference": 0.0}]
)
def test_the_rule_for_the_sequential_loss_refuses_a_bad_measurement(change):
    good = {"sum_difference": 1e-15, "shift_difference": 0.0, "window_difference": 0.2}
    assert claims.rule_chen2024_sequential(good) == "reproduced"
    assert claims.rule_chen2024_sequential({**good, **change}) == "contradicted"


def test_the_distance_to_the_induction_head_keeps_to_its_bound_and_its_rate():
    measured = claims.gih_distance(rng=3, n_sequences=500, lengths=(100, 1000), n_chains=30)
    assert claims.rule_chen2024_gih_distance(measured) == "reproduced"
    assert measured["trained"]["median"] < measured["trained"]["largest"]
    assert measured["distance"][1] < measured["distance"][0]


@pytest.mark.parametrize(
    "change, verdict",
    [
        ({"largest_ratio": 1.2}, "contradicted"),
        ({"scaled": [0.2, 5.0]}, "contradicted"),
        ({"exponent": -0.05}, "not reproduced"),
    ],
)
def test_the_rule_for_the_distance_refuses_a_bad_measurement(change, verdict):
    good = {"largest_ratio": 0.6, "scaled": [0.2, 0.2], "exponent": -0.125}
    assert claims.rule_chen2024_gih_distance(good) == "reproduced"
    assert claims.rule_chen2024_gih_distance({**good, **change}) == verdict


def test_weights_with_a_given_error_have_that_error():
    counts = WindowCounts.from_tokens(np.zeros((1, 8), dtype=int), 3, 3)
    model = StagedModel(counts, degree=2)
    c = claims._selector_with_error(0.01, model.sets, (1, 2))
    w = claims._copier_with_error(0.02, (1, 2), 3)
    assert model.misspecification(c, w, (1, 2)) == pytest.approx((0.01, 0.02))


def test_the_limit_of_the_distance_is_a_mean_over_contexts():
    kernel = np.random.default_rng(4).dirichlet(np.ones(3), size=(3, 3))
    chain, a = NGramChain(kernel, (1, 2)), 1.3
    windows = chain.stationary_windows(4)
    soft, total = reweighted_law(windows, (1, 2), a), 0.0
    for one, two in np.ndindex(3, 3):  # the tokens one and two places back
        chance = windows[:, two, one, :].sum()
        total += chance * np.abs(soft[one, two] - kernel[one, two]).sum()
    assert claims._limit_distance(windows[None], (1, 2), a) == pytest.approx(total, rel=1e-9)


def test_the_explorer_agrees_with_the_engine():
    from markov_transformers.explorers.transformer import _construct

    x = np.array(MATCHED)
    model = StagedModel(WindowCounts.from_tokens([[*MATCHED, 0]], 3, 3), degree=2)
    c = np.eye(7)[model.sets.index((1, 2))]
    for rho, a in [(0.0, 1.0), (3.0, 10.0), (3.0, 300.0), (12.0, 30.0)]:
        _, _, weights = _construct(x, rho, a)
        expected = model.predict(c, rho * np.eye(3), a)[0]
        assert weights @ np.eye(3)[x[3:]] == pytest.approx(expected, abs=1e-12)


def test_the_explorer_describes_all_its_presets_and_corners():
    explorer = construction()
    corners = [
        {"rho": rho, "a": a, "sequence": sequence}
        for rho in (0, 12)
        for a in (0, 300)
        for sequence in explorer.controls["sequence"].values
    ]
    figure = explorer.new_figure()
    for values in [*corners, *explorer.presets.values()]:
        description = explorer.draw(figure, **explorer.values(**values))
        assert "induction head" in description and "nan" not in description
    assert "falls back" in explorer.render(sequence="no match")[1]
    assert "Prediction 0.00, 0.33, 0.67" in explorer.render(rho=12, a=30)[1]
