"""The symmetric solution of the deterministic walk, what grows around it, and the claims."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from markov_transformers import CircleWalk, OneLayerModel, OneLayerParameters
from markov_transformers.claims import escape as escape

MODEL = OneLayerModel(6, 97, unit_length=True)


def engine(model, start, rate, steps, weights=None):
    walks, probabilities = CircleWalk(model.vocab_size, 1.0).enumerate(model.length)
    if weights is not None:
        probabilities = np.asarray(weights)[walks[:, -1]]
    return model.train(walks, weights=probabilities, start=start, learning_rate=rate, steps=steps)


@settings(deadline=None, max_examples=15)
@given(
    st.sampled_from([(3, 4), (3, 13), (6, 25), (5, 11)]),
    st.booleans(),
    st.floats(0.01, 2.0),
    st.integers(0, 1000),
)
def test_the_fast_run_takes_the_steps_of_the_engine(sizes, unit_length, rate, seed):
    model = OneLayerModel(*sizes, position_dim=40, unit_length=unit_length)
    start = model.random(0.01, rng=seed)
    weights = np.random.default_rng(seed).integers(1, 9, size=sizes[0])
    run = escape.deterministic_run(model, start, learning_rate=rate, steps=6, target_weights=weights)
    other = engine(model, start, rate, 6, weights)
    np.testing.assert_allclose(run.value, other.value, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(run.position, other.position, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(run.content, other.content, rtol=1e-9, atol=1e-12)


def test_the_fast_run_counts_accuracy_and_attention_as_the_engine_does():
    start = MODEL.random(0.01, rng=1)
    run = escape.deterministic_run(MODEL, start, learning_rate=10, steps=250)
    other = engine(MODEL, start, 10, 250)
    np.testing.assert_allclose(run.accuracy, other.accuracy, atol=1e-12)
    classes = escape.lag_classes(6, 97)
    shares = [[a[:-1][classes == d].sum() for d in range(6)] for a in other.attention]
    np.testing.assert_allclose(run.shares, shares, rtol=1e-6)


def test_every_column_of_a_lag_class_is_that_many_steps_behind_the_target():
    walks, _ = CircleWalk(5, 1.0).enumerate(16)
    lags = (walks[:, -1:] - walks[:, :-1]) % 5
    np.testing.assert_array_equal(lags, np.tile(escape.lag_classes(5, 16), (5, 1)))


def test_the_modes_are_means_over_diagonals_and_lag_classes():
    rng = np.random.default_rng(0)
    V, q = rng.normal(size=(3, 3)), rng.normal(size=7)
    D = np.array([np.mean([V[y, (y - d) % 3] for y in range(3)]) for d in range(3)])
    Q = np.array([q[[0, 3]].mean(), q[[2, 5]].mean(), q[[1, 4]].mean()])  # N - j = 6, 3; 4, 1; 5, 2
    modes = escape.offset_modes(V, q)
    np.testing.assert_allclose(modes, [D - D.mean(), Q - Q.mean()], atol=1e-15)


@settings(deadline=None, max_examples=10)
@given(st.sampled_from([(3, 13), (6, 25), (4, 41)]), st.booleans(), st.integers(0, 1000))
def test_the_linear_prediction_is_the_derivative_of_training(sizes, unit_length, seed):
    model = OneLayerModel(*sizes, position_dim=50, unit_length=unit_length)
    scale, rate = 1e-8, 0.05 if unit_length else 0.0005
    start = model.random(scale, rng=seed)
    run = engine(model, start, rate, 40)
    v, propagator = escape.linear_prediction(model, rate, 40)
    measured = np.array([escape.offset_modes(V, q) for V, q in zip(run.value, run.position)])
    predicted = propagator @ escape.offset_modes(start.value, start.position)
    np.testing.assert_allclose(measured, predicted, rtol=1e-4, atol=1e-3 * scale)
    np.testing.assert_allclose(run.value.mean(axis=(1, 2)), v, atol=1e-5)


def test_the_symmetric_solution_is_training_from_zero():
    run = engine(MODEL, MODEL.zero(), 3.0, 60)
    v, _ = escape.linear_prediction(MODEL, 3.0, 60)
    np.testing.assert_allclose(run.value, np.broadcast_to(v[:, None, None], run.value.shape), rtol=1e-12)


def test_small_asymmetries_grow_at_the_predicted_rate_in_v():
    rate, error = escape._growth(MODEL, 1e-7, 1.0, seed=3)
    assert rate == pytest.approx(escape.growth_rate(MODEL), rel=0.01)
    assert error < 0.01


def test_the_law_is_the_time_at_which_the_flow_has_grown_the_amplitude():
    amplitude, rate = 1e-5, 0.2
    T = escape.escape_law(MODEL, amplitude, rate)
    v = np.sqrt(0.1**2 + 2 * rate * T / 36) - 0.1  # solves v' = rate / (36 (v + 0.1))
    assert amplitude * np.exp(escape.growth_rate(MODEL) * v) == pytest.approx(1.0)
    assert escape.escape_law(MODEL, 2.0, rate) == 0.0


@pytest.mark.parametrize("sizes", [(6, 97), (4, 49), (12, 97)])
def test_the_law_predicts_escapes_to_within_a_quarter(sizes):
    model = OneLayerModel(*sizes, unit_length=True)
    for seed in range(3):
        start = model.random(1e-5, rng=seed)
        law = escape.escape_law(model, escape.seed_amplitude(model, start).max(), 10.0)
        run = escape.deterministic_run(model, start, learning_rate=10.0, steps=int(2 * law))
        assert run.attention_clock == pytest.approx(law, rel=0.25)


def test_training_chooses_the_column_that_its_start_predicts():
    assert all(escape.chosen_as_predicted(MODEL, 0.01, 10.0, rng=seed) for seed in range(5))


def test_within_a_lag_class_the_differences_of_inverse_weights_are_conserved():
    start = MODEL.random(0.01, rng=0)
    run = escape.deterministic_run(MODEL, start, learning_rate=0.2, steps=2000, record_every=500)
    inverse = np.exp(-run.position[:, :-1][:, escape.lag_classes(6, 97) == 1])
    np.testing.assert_allclose(inverse[-1] - inverse[-1, 0], inverse[0] - inverse[0, 0], atol=1e-5)


def test_a_start_outside_the_log_loss_ends_the_run_with_a_warning():
    start = OneLayerParameters(np.full((6, 6), -1.0), np.zeros(6), np.zeros(97))
    with pytest.warns(RuntimeWarning, match="training stopped at iteration 0"):
        run = escape.deterministic_run(MODEL, start, learning_rate=1, steps=5)
    assert len(run.iterations) == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda: escape.offset_modes(np.zeros((6, 6)), np.zeros(96)),
        lambda: escape.offset_modes(np.zeros((6, 5)), np.zeros(97)),
        lambda: escape.linear_prediction(OneLayerModel(6, 96), 1.0, 3),
        lambda: escape.escape_law(MODEL, 0.0, 1.0),
        lambda: escape.escape_law(MODEL, 0.1, -1.0),
        lambda: escape.deterministic_run(MODEL, MODEL.zero(), learning_rate=1, steps=-1),
        lambda: escape.deterministic_run(
            MODEL, MODEL.zero(), learning_rate=1, steps=1, target_weights=np.zeros(6)
        ),
        lambda: escape.figure_six(rng=0, n_seeds=0),
        lambda: escape.escape_times(rng=0, learning_rate=0),
    ],
)
def test_bad_arguments_are_refused(call):
    with pytest.raises(ValueError, match="must be"):
        call()


def reading(departures, reach_walk, reach_fixed, walk, fixed):
    base = {"departures": departures}
    return {
        0.5: {**base, "reach": reach_walk, "progress": walk},
        1.0: {**base, "reach": reach_fixed, "progress": fixed},
    }


GOOD = reading(0, [350, 450, 500], [None, None, None], [0.4, 0.5, 0.4], [0.0, 0.1, 0.0])
BAD = reading(0, [None, None, None], [100, 200, 100], [0.0, 0.0, 0.0], [0.9, 0.9, 0.9])


@pytest.mark.parametrize("rule", [escape.rule_shi2025_fig6_walk, escape.rule_shi2025_fig6_deterministic])
def test_a_verdict_counts_the_departures_of_the_best_reading(rule):
    changed, twice = copy.deepcopy(GOOD), copy.deepcopy(GOOD)
    for p in (0.5, 1.0):
        changed[p]["departures"], twice[p]["departures"] = 1, 2
    assert rule({"as printed": GOOD}) == "reproduced"
    assert rule({"as printed": BAD, "changed": changed}) == "reproduced with a change"
    assert rule({"as printed": BAD, "twice": twice}) == "not reproduced"
    assert rule({"as printed": BAD}) == "not reproduced"


def test_being_stuck_at_chance_with_both_walks_does_not_show_the_deterministic_claim():
    stuck = reading(0, [None] * 3, [None] * 3, [0.0] * 3, [0.0] * 3)
    assert escape.rule_shi2025_fig6_deterministic({"as printed": stuck}) == "not reproduced"


def test_figure_six_measures_every_reading_with_every_seed():
    readings = {"as printed": escape.READINGS["as printed"], "raw": escape.READINGS["raw embeddings"]}
    measured = escape.figure_six(rng=0, readings=readings, n_seeds=2, n_walks=60, steps=50, record_every=25)
    assert list(measured) == ["as printed", "raw"]
    for name, departures in (("as printed", 0), ("raw", 1)):
        for p in (0.5, 1.0):
            found = measured[name][p]
            assert found["accuracy"].shape == found["kl"].shape == (2, 3)
            assert found["departures"] == departures
    assert all(r is not None for r in measured["raw"][1.0]["reach"])
    assert measured["as printed"][1.0]["reach"] == [None, None]


def test_unit_keys_with_a_raw_query_are_the_literal_model_with_scaled_rates():
    keys = escape.Reading(embeddings="keys").model()
    unit, raw = OneLayerModel(6, 97, unit_length=True), OneLayerModel(6, 97)
    square = 1001 / 2
    np.testing.assert_allclose(keys.rates.position, unit.rates.position * square)
    np.testing.assert_allclose(keys.rates.content, raw.rates.content)


def test_escape_times_follow_from_the_scale():
    measured = escape.escape_times(
        rng=0, sigmas=(1e-2, 1e-5), walk_sigmas=(1e-2,), n_seeds=2, n_walks=100, walk_steps=25
    )
    small, smaller = measured["attention"]
    assert (smaller > 2 * small).all()
    assert (measured["accuracy"] < measured["attention"]).all()
    np.testing.assert_allclose(measured["linear"], measured["attention"], rtol=0.2)
    np.testing.assert_allclose(measured["rate_measured"], measured["rate_predicted"], rtol=0.01)
    assert measured["walk"].shape == (1, 2)
    assert measured["chosen"] == 2
    assert escape.rule_new_escape_time(measured) is None


def test_differences_between_nodes_grow_more_slowly_than_those_between_lag_classes():
    rng = np.random.default_rng(0)
    columns = 1e-9 * (rng.normal(size=6) * np.ones((6, 1)))  # V differs from column to column only
    start = OneLayerParameters(columns - columns.mean(), np.zeros(6), np.zeros(97))
    run = escape.deterministic_run(MODEL, start, learning_rate=1.0, steps=40_000, record_every=1000)
    v, size = run.value.mean(axis=(1, 2)), np.ptp(run.value.mean(axis=1), axis=1)
    late = v > 30
    rate = np.polyfit(v[late], np.log(size[late]), 1)[0]
    assert rate == pytest.approx(escape.growth_rate(MODEL) * np.sqrt(96 / (6 * 500.5)), rel=0.02)


def test_the_rows_of_a_sample_grow_like_the_root_of_its_counts():
    counts = np.array([150, 160, 170, 180, 165, 175])
    run = escape.deterministic_run(MODEL, MODEL.zero(), learning_rate=0.1, steps=2000, target_weights=counts)
    v = run.value[-1].mean(axis=1)
    expected = np.sqrt(0.1**2 + 2 * 0.1 * 2000 / 6 * counts / counts.sum()) - 0.1
    np.testing.assert_allclose(v, expected, rtol=0.01)
