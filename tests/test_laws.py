"""What holds for every valid input; hypothesis looks for one for which it does not."""

from __future__ import annotations

import math
from dataclasses import is_dataclass

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import markov_transformers as mt

some = settings(max_examples=8, deadline=None)
more = settings(max_examples=60, deadline=None)
seeds = st.integers(0, 2**32 - 1)
any_size = st.floats(1e-300, 1e300)  # from the smallest to the largest that makes sense


def drawn(seed, *shape, d=3):
    """Draw tokens: sequences of the given shape."""
    return np.random.default_rng(seed).integers(d, size=shape)


def dyadic_laws(seed, *shape):
    """Draw laws whose entries are multiples of 1/64, which every type of float holds exactly."""
    return np.random.default_rng(seed).multinomial(64, np.full(shape[-1], 1 / shape[-1]), shape[:-1]) / 64


def dyadic(seed, *shape):
    """Draw small multiples of 1/8."""
    return np.random.default_rng(seed).integers(-8, 9, size=shape) / 8


def plain(result):
    """Return a result as nested dicts, tuples and arrays, which can be compared."""
    if is_dataclass(result) or isinstance(result, (mt.WindowCounts, mt.Trajectory)):
        kept = {name: part for name, part in vars(result).items() if not name.startswith("_")}
        return {name: plain(part) for name, part in kept.items()}
    if isinstance(result, dict):
        return {name: plain(part) for name, part in result.items()}
    return tuple(plain(part) for part in result) if isinstance(result, tuple) else result


def numbers_in(result):
    """Return all numbers in a plain result."""
    if isinstance(result, dict):
        result = tuple(result.values())
    if isinstance(result, tuple):
        return np.concatenate([numbers_in(part) for part in result]) if result else np.empty(0)
    return np.ravel(np.asarray(result, dtype=float))


# Equal inputs, whatever holds them -----------------------------------------------------------------


def same_numbers(array, dtypes):
    """Yield an array once more: as a list, of other types, in another order in memory, and read-only."""
    yield array.tolist()
    yield from (array.astype(dtype) for dtype in dtypes)
    yield np.asfortranarray(array)
    yield array.repeat(2, axis=-1)[..., ::2]
    yield array[::-1].copy()[::-1]
    yield np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape)  # read-only
    yield array.astype(array.dtype.newbyteorder())


INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
FLOATS = ("float16", "float32", "longdouble")
CHAIN = mt.NGramChain(dyadic_laws(1, 3, 3, 3), lags=(1, 2))
MODEL = mt.OneLayerModel(3, 8, 9)
RELU = mt.ReluModel(3, 8, width=2, position_dim=9)
COUNTS = mt.WindowCounts.from_tokens(drawn(2, 3, 8), 2, 3)
STAGED = mt.StagedModel(COUNTS, degree=1)
SOLUTION = mt.symmetric_solution(mt.OneLayerModel(3, 7), learning_rate=0.1, steps=3)
CIRCLE = mt.OneLayerModel(3, 7, 9)

OF_TOKENS = {
    "CircleWalk.predict": mt.CircleWalk(3, 0.3).predict,
    "NGramChain.predict": CHAIN.predict,
    "DirichletPrior.predict": mt.DirichletPrior(3, (1,), 0.5).predict,
    "GeneralizedInductionHead.predict": mt.GeneralizedInductionHead((1, 2), 2).predict,
    "Unigram.predict": mt.Unigram().predict,
    "BayesOptimal.predict": mt.BayesOptimal((1, 2), 0.5).predict,
    "empirical_windows": lambda tokens: mt.empirical_windows(tokens, 3),
    "empirical_windows, apart": lambda tokens: mt.empirical_windows(tokens, 2, 3, per_sequence=True),
    "match_features": lambda tokens: mt.match_features(tokens, (1, 3), 3),
    "match_kernel": lambda tokens: mt.match_kernel(tokens, (1, 3)),
    "WindowCounts": lambda tokens: mt.WindowCounts.from_tokens(tokens, 2, 3),
    "bag_of_words_test": mt.bag_of_words_test,
    "OneLayerModel.loss_and_gradients": lambda tokens: MODEL.loss_and_gradients(
        MODEL.random(0.1, rng=0), tokens
    ),
    "OneLayerModel.train": lambda tokens: MODEL.train(tokens, learning_rate=0.1, steps=2, test=tokens),
    "OneLayerModel.predict": lambda tokens: MODEL.predict(
        MODEL.random(0.1, rng=0), np.asarray(tokens)[:, 1:]
    ),
    "ReluModel.train": lambda tokens: RELU.train(
        tokens, learning_rate=0.1, steps=2, start=RELU.random(1, rng=0)
    ),
}


@pytest.mark.parametrize("name", OF_TOKENS)
@some
@given(seeds)
def test_tokens_mean_the_same_in_a_list_and_in_every_integer_array(name, seed):
    tokens = drawn(seed, 2, 8)
    expected = plain(OF_TOKENS[name](tokens))
    for form in same_numbers(tokens, INTEGERS):
        np.testing.assert_equal(plain(OF_TOKENS[name](form)), expected)


def parameters(seed):
    """Draw parameters of the one-layer model that every type of float holds exactly."""
    return [dyadic(seed, *shape) for shape in ((3, 3), (3,), (8,))]


OF_FLOATS = {
    "NGramChain": lambda x: mt.NGramChain(x, (1,)).stationary_windows(3, initial="uniform"),
    "NGramChain, batch": lambda x: mt.NGramChain([x, x], (1,)).sample(4, 9, rng=0),
    "NGramChain.sample": lambda x: mt.NGramChain(np.eye(4), (1,)).sample(4, 9, rng=0, initial=x[0]),
    "chi2_divergence": lambda x: mt.chi2_divergence(x, [0.25] * 4),
    "best_report": lambda x: mt.best_report(x, 0.1),
    "monomial_features": lambda x: mt.monomial_features(x, np.ones(11), 2),
    "FullModel start": lambda x: mt.FullModel(COUNTS4, 1, 2).loss_and_gradients(
        [1, 2, 3, 4], [[1, 2], [3, 4]], 1, *[[x, x]] * 3
    ),
    "StagedModel.misspecification": lambda x: mt.StagedModel(LONG, 1).misspecification(
        [1, 2, 3, 4, 5], x, (2,)
    ),
    "OneLayerModel": lambda x: mt.OneLayerModel(4, 4, 9).predict(
        mt.OneLayerParameters(x, x[0], x[1]), [[0, 1, 2], [3, 3, 1]]
    ),
    "OneLayerModel.train": lambda x: mt.OneLayerModel(4, 4, 9).train(
        [[0, 1, 2, 3], [3, 1, 1, 0], [1, 1, 1, 2], [0, 0, 2, 1]],
        learning_rate=0.1,
        steps=1,
        weights=np.asarray(x)[0] + 1,
        truth=x,
    ),
    "ReluModel": lambda x: mt.ReluModel(4, 4, 4, 9).loss_and_gradients(
        mt.ReluParameters(x, x, x[0], x[1]), [[0, 1, 2, 3], [3, 1, 1, 0]], mt.SquareLoss()
    ),
    "follow_deviation": lambda x: mt.follow_deviation(
        CIRCLE, SOLUTION, 0, x[0][:3], x[1][:3], learning_rate=0.1
    ),
    "SoftmaxCrossEntropy": lambda x: mt.SoftmaxCrossEntropy()(x, [0, 1, 2, 3]),
    "LogLoss": lambda x: mt.LogLoss().derivative(x),
    "ExponentialLoss": lambda x: mt.ExponentialLoss().value(x),
    "induction_head_bound": lambda x: mt.induction_head_bound(1.0, 0.1, x, 9),
}
COUNTS4 = mt.WindowCounts.from_tokens(drawn(3, 3, 8, d=4), 2, 4)
LONG = mt.WindowCounts.from_tokens(drawn(4, 3, 8), 4, 3)


@pytest.mark.parametrize("name", OF_FLOATS)
@some
@given(seeds)
def test_numbers_mean_the_same_in_a_list_and_in_every_float_array(name, seed):
    laws = dyadic_laws(seed, 4, 4)
    expected = plain(OF_FLOATS[name](laws))
    for form in same_numbers(laws, FLOATS):
        np.testing.assert_equal(plain(OF_FLOATS[name](form)), expected)


INFORMATION = {
    "chi2_information": lambda w: mt.chi2_information(w, (1,)),
    "modified_chi2_information": lambda w: mt.modified_chi2_information(w, (2,)),
    "shannon_information": lambda w: mt.shannon_information(w, (1, 2)),
    "information_of_subsets": lambda w: mt.information_of_subsets(w, 2),
    "information_set": lambda w: mt.information_set(w, 2),
    "blurred_information": lambda w: mt.blurred_information(w, [[1, 2], [3, 4]], 2),
    "reweighted_law": lambda w: mt.reweighted_law(w, (1, 2), 0.5),
    "classifier_speed": lambda w: mt.classifier_speed(w, (1,), 0.5),
}


@pytest.mark.parametrize("name", INFORMATION)
@some
@given(seeds)
def test_laws_of_windows_mean_the_same_in_a_list_and_in_every_float_array(name, seed):
    windows = dyadic_laws(seed, 27).reshape(3, 3, 3)
    expected = plain(INFORMATION[name](windows))
    for form in same_numbers(windows, FLOATS):
        np.testing.assert_equal(plain(INFORMATION[name](form)), expected)


@some
@given(seeds)
def test_single_precision_costs_no_more_than_its_own_rounding(seed):
    rng = np.random.default_rng(seed)
    kernel = rng.dirichlet([1, 1, 1], size=(3, 3))
    exact, rounded = (
        mt.NGramChain(k, (1, 2)).stationary_windows(3) for k in (kernel, kernel.astype(np.float32))
    )
    np.testing.assert_allclose(rounded, exact, rtol=1e-3, atol=1e-6)
    assert rounded.dtype == np.float64
    assert rounded.sum() == pytest.approx(1, abs=1e-12)


# Seeds ---------------------------------------------------------------------------------------------


SAMPLERS = {
    "CircleWalk.sample": lambda rng: mt.CircleWalk(5, 0.4).sample(3, 9, rng=rng),
    "NGramChain.sample": lambda rng: CHAIN.sample(3, 9, rng=rng),
    "NGramChain.sample, many": lambda rng: CHAIN.sample(60, 9, rng=rng, initial="stationary"),
    "DirichletPrior.sample": lambda rng: mt.DirichletPrior(3, (1, 2), 0.1).sample(3, 9, rng=rng),
    "DirichletPrior.sample_kernels": lambda rng: mt.DirichletPrior(3, (1, 2), 0.1).sample_kernels(3, rng=rng),
    "OneLayerModel.random": lambda rng: MODEL.random(0.1, rng=rng),
    "ReluModel.random": lambda rng: RELU.random(0.1, rng=rng),
    "TemplateTask.sample": lambda rng: mt.majority_task().sample(9, rng=rng),
    "predict_selection": lambda rng: mt.predict_selection([0.1], [1.0], window=2, n_chains=5, rng=rng),
    "train_selection": lambda rng: mt.train_selection(
        [0.1], [1.0], window=2, n_chains=5, length=9, duration=1, rng=rng
    ),
}


@pytest.mark.parametrize("name", SAMPLERS)
@settings(max_examples=10, deadline=None)
@given(seeds)
def test_a_seed_of_any_integer_type_and_a_fresh_generator_draw_the_same(name, seed):
    expected = plain(SAMPLERS[name](seed))
    for same in (np.uint32(seed), np.int64(seed), np.random.default_rng(seed)):
        np.testing.assert_equal(plain(SAMPLERS[name](same)), expected)


@pytest.mark.parametrize("name", [name for name in SAMPLERS if "selection" not in name])
def test_a_generator_goes_on_and_another_seed_draws_otherwise(name):
    rng = np.random.default_rng(0)
    first, second, other = (numbers_in(plain(SAMPLERS[name](source))) for source in (rng, rng, 1))
    assert not np.array_equal(first, second)
    assert not np.array_equal(first, other)


# Laws that sum to one, at the extremes of every parameter ------------------------------------------


def assert_laws(rows):
    assert np.isfinite(rows).all()
    assert rows.min() >= 0
    np.testing.assert_allclose(rows.sum(axis=-1), 1, rtol=0, atol=1e-12)


@more
@given(seeds, st.integers(2, 5), st.floats(1e-12, 1e12), st.integers(1, 12))
def test_draws_from_every_prior_are_laws_and_their_sequences_tokens(seed, d, concentration, length):
    prior = mt.DirichletPrior(d, (1, 3), concentration)
    tokens, kernels = prior.sample(4, length, rng=seed, return_kernels=True)
    assert_laws(kernels)
    assert tokens.shape == (4, length)
    assert tokens.min() >= 0
    assert tokens.max() < d


@more
@given(seeds, any_size, st.floats(0, 1))
def test_every_predictor_returns_laws(seed, concentration, p):
    tokens = drawn(seed, 4, 7)
    predictors = [
        mt.GeneralizedInductionHead((2,), 3),
        mt.InductionHead(),
        mt.FullHistoryMatch(2),
        mt.Unigram(),
    ]
    for predictor in [*predictors, mt.BayesOptimal((1, 2), concentration), mt.CircleWalk(3, p), CHAIN]:
        assert_laws(predictor.predict(tokens))


@more
@given(seeds, st.one_of(st.just(0.0), any_size, st.just(1.7e308)))
def test_the_best_report_is_a_law_for_every_epsilon_and_goes_to_the_likeliest_tokens(seed, epsilon):
    law = np.random.default_rng(seed).dirichlet(np.full(4, 0.3))
    report = mt.best_report(law, epsilon)
    assert_laws(report)
    assert report[law.argmax()] == report.max()
    if epsilon == 0:
        np.testing.assert_allclose(report, law, rtol=1e-12)
    if epsilon > 1e17:
        assert report[law.argmax()] == 1


# Zero, the smallest number there is, and sizes up to the largest weight that is taken.
size = st.sampled_from([0.0, 5e-324, 1e-300, 1e-150, 1e-8, 1.0, 1e3, 1e8, 1e50, 1e100])


def signs(rng, *shape):
    return rng.choice([-1.0, 1.0], size=shape)


@more
@given(
    seeds,
    st.sampled_from([1e-249, 1e-150, 1.0, 1e150, 1e249]),
    size,
    size,
    st.floats(1e-300, 1e300),
    st.booleans(),
)
@example(0, 1e-249, 0.0, 1e100, 2.0, False)
def test_the_staged_model_returns_laws_and_a_finite_loss_at_every_size(seed, c, w, a, epsilon, mask):
    rng = np.random.default_rng(seed)
    model = mt.StagedModel(
        mt.WindowCounts.from_tokens(drawn(seed, 3, 9), 2, 3), 2, epsilon=epsilon, mask=mask
    )
    now = {"c": c * signs(rng, 4), "w": w * signs(rng, 2, 2), "a": a * signs(rng)}
    assert_laws(model.predict(**now))
    try:
        loss, gradients = model.loss_and_gradients(**now)
        assert math.isfinite(loss)
        assert np.isfinite(numbers_in(gradients)).all()
    except ValueError as error:
        assert "c must be so large beside a" in str(error)
        assert a / c > 1e290  # the factor 2 a / c of the gradient is at the end of the floats
    selector, copier = model.misspecification(now["c"], now["w"], (1,))
    assert 0 <= selector <= 1
    assert 0 <= copier <= 1


@pytest.mark.parametrize("Model", [mt.FullModel, mt.LayerNormModel])
@more
@given(seeds, st.sampled_from(["w", "a", "query", "key", "value"]), size, size)
def test_the_full_models_return_laws_and_a_finite_loss_at_every_size(Model, seed, name, scale, other):
    rng = np.random.default_rng(seed)
    model = Model(mt.WindowCounts.from_tokens(drawn(seed, 3, 9), 2, 3), 2)
    now = model.initial_parameters()
    now["query"] = other * signs(rng, 2, 3, 3)
    now[name] = scale * signs(rng, *np.shape(now[name]))
    assert_laws(model.predict(**now))
    assert math.isfinite(model.loss_and_gradients(**now)[0])


@more
@given(seeds, size, size, size, st.booleans())
def test_attention_is_a_law_and_predictions_are_tokens_at_every_size(
    seed, value, content, position, unit_length
):
    rng = np.random.default_rng(seed)
    model = mt.OneLayerModel(3, 8, 9, unit_length=unit_length)
    at = mt.OneLayerParameters(value * signs(rng, 3, 3), content * signs(rng, 3), position * signs(rng, 8))
    inputs = drawn(seed, 4, 7)
    assert_laws(model.attention(at, inputs))
    assert np.isfinite(model.scores(at, inputs)).all()
    assert set(model.predict(at, inputs)) <= {0, 1, 2}


@more
@given(seeds, size, st.one_of(st.just(0.0), any_size))
def test_the_blurred_information_is_finite_at_every_size(seed, w, epsilon):
    rng = np.random.default_rng(seed)
    windows = rng.dirichlet(np.ones(27)).reshape(3, 3, 3)
    found = mt.blurred_information(windows, w * signs(rng, 2, 2), 2, epsilon=epsilon)
    assert np.isfinite(list(found.values())).all()


@more
@given(st.floats(5e-324, 1.7e308), st.floats(0, 1), st.integers(1, 2**63 - 1))
def test_the_threshold_of_the_gap_is_a_number_and_falls_with_the_gap(information, share, window):
    at = mt.copying_gap_threshold(information, share * information, window)
    assert not math.isnan(at)
    assert at >= mt.copying_gap_threshold(information, information, window)


@pytest.mark.filterwarnings("ignore:training stopped:RuntimeWarning", "ignore:the recursion:RuntimeWarning")
@some
@given(size, st.integers(0, 6), st.sampled_from([(3, 7), (3, 13), (4, 9)]))
def test_training_at_any_rate_keeps_a_finite_run_or_says_that_it_stopped(learning_rate, steps, sizes):
    options = {"learning_rate": learning_rate, "steps": steps}
    walks = mt.CircleWalk(sizes[0], 1.0).enumerate(sizes[1])[0]
    solution = mt.symmetric_solution(mt.OneLayerModel(*sizes), **options)
    assert np.isfinite(numbers_in(plain(solution))).all()
    run = mt.OneLayerModel(*sizes).train(walks, **options)
    assert run.diverged or np.isfinite(run.attention).all()
    relu = mt.ReluModel(*sizes, 2)
    run = relu.train(walks, start=relu.random(0.1, rng=0), **options)
    assert run.diverged or np.isfinite(run.attention).all()


@some
@given(seeds, st.sampled_from([0.0, 5e-324, 1e-100, 1.0, 1e4]), st.sampled_from(["c", "w", "a"]))
def test_a_flow_of_any_duration_ends_at_it_with_laws(seed, duration, name):
    model = mt.StagedModel(mt.WindowCounts.from_tokens(drawn(seed, 3, 9), 2, 3), 2)
    run = model.flow(model.initial_parameters(), duration, name)
    assert run.stage_ends == (duration,)
    assert_laws(run.p_S)
    assert_laws(run.attention)
    assert np.isfinite(run.at(duration).loss)


@more
@given(st.one_of(st.just(0.0), any_size), st.floats(-1e100, 1e100))
def test_no_loss_of_a_number_is_nan(epsilon, score):
    for loss in (mt.LogLoss(epsilon), mt.SquareLoss(), mt.LogisticLoss(), mt.HingeLoss()):
        assert not np.isnan(loss.value([score])).any()


@more
@given(seeds, st.one_of(st.just(0.0), any_size))
def test_the_reweighted_law_is_one_and_the_speed_finite_for_every_a(seed, a):
    windows = mt.NGramChain(
        np.random.default_rng(seed).dirichlet([0.3] * 3, size=3), (1,)
    ).stationary_windows(3, initial="uniform")
    assert_laws(mt.reweighted_law(windows, (1, 2), a))
    speed = mt.classifier_speed(windows, (1,), a)
    assert 0 <= speed < math.inf


@more
@given(
    st.one_of(st.just(0.0), any_size), st.floats(0, 1), st.lists(st.integers(0, 50), min_size=1, max_size=5)
)
def test_the_bound_lies_between_zero_and_two(a, error, matches):
    bound = mt.induction_head_bound(a, error, matches, 50)
    assert bound.shape == (len(matches),)
    assert ((bound >= 0) & (bound <= 2)).all()


# Degenerate chains ---------------------------------------------------------------------------------


def cycles(step):
    """Return the cycles of a map from states to states, by following each state until it repeats."""
    found = set()
    for state in range(len(step)):
        for _ in step:
            state = step[state]
        cycle = [state]
        while step[cycle[-1]] != state:
            cycle.append(step[cycle[-1]])
        found.add(frozenset(cycle))
    return found


@more
@given(st.integers(2, 7).flatmap(lambda d: st.lists(st.integers(0, d - 1), min_size=d, max_size=d)))
def test_a_chain_of_point_masses_is_the_map_that_it_is(step):
    d, chain = len(step), mt.NGramChain(np.eye(len(step))[step], lags=(1,))
    closed = cycles(step)
    assert {
        frozenset(states.tolist()) for states, is_closed in chain.communicating_classes() if is_closed
    } == closed
    assert chain.period == math.lcm(*map(len, closed))
    assert chain.has_unique_stationary_law == (len(closed) == 1)
    assert chain.irreducible == (len(next(iter(closed))) == d)
    assert chain.absorbing == all(len(cycle) == 1 for cycle in closed)

    limit = np.zeros(d)  # follow every state into its cycle
    for state in range(d):
        for _ in range(d):
            state = step[state]
        cycle = next(c for c in closed if state in c)
        limit[list(cycle)] += 1 / d / len(cycle)
    np.testing.assert_allclose(chain.stationary_distribution(initial="uniform"), limit, rtol=0, atol=1e-14)

    tokens = chain.sample(50, 2 * d, rng=0)
    np.testing.assert_array_equal(tokens[:, 1:], np.array(step)[tokens[:, :-1]])
    np.testing.assert_array_equal(chain.predict(tokens), np.eye(d)[step][tokens[:, -1]])
    single = len(closed) == 1 and chain.absorbing
    assert math.isfinite(chain.mixing_time()) == single
    assert chain.second_eigenvalue == pytest.approx(0.0 if single else 1.0, abs=1e-2)


@more
@given(seeds, st.integers(2, 4), st.sampled_from([(1,), (2,), (1, 2), (1, 3)]), st.floats(0, 1))
def test_every_sparse_chain_has_finite_laws_and_bounded_information(seed, d, lags, density):
    rng = np.random.default_rng(seed)
    shape = (d,) * (len(lags) + 1)
    kernel = rng.dirichlet(np.ones(d), size=shape[:-1]) * (rng.random(shape) < density)
    kernel = np.where(
        kernel.sum(axis=-1, keepdims=True) > 0, kernel, np.eye(d)[rng.integers(d, size=shape[:-1])]
    )
    chain = mt.NGramChain(kernel / kernel.sum(axis=-1, keepdims=True), lags)
    windows = chain.stationary_windows(4, initial="uniform")
    assert_laws(windows.reshape(-1))
    np.testing.assert_allclose(windows.sum(axis=0), windows.sum(axis=-1), rtol=0, atol=1e-9)
    for measure, top in (("chi2", d - 1), ("modified_chi2", d - 1), ("shannon", math.log(d))):
        values = np.array(list(mt.information_of_subsets(windows, 3, measure=measure).values()))
        assert np.isfinite(values).all()
        assert values.min() >= 0
        assert values.max() <= top + 1e-9
    drawn = chain.sample(60, 20, rng=seed)
    steps = chain.kernel[(*tuple(drawn[:, 3 - lag : 20 - lag] for lag in lags), drawn[:, 3:])]
    assert steps.min() > 0


@more
@given(st.integers(3, 9), st.sampled_from([0.0, 1.0]), st.integers(2, 20))
def test_a_deterministic_walk_goes_round(n_nodes, p, length):
    walk = mt.CircleWalk(n_nodes, p)
    walks, probabilities = walk.enumerate(length)
    assert walks.shape == (n_nodes, length)
    np.testing.assert_array_equal(np.diff(walks, axis=1) % n_nodes, 1 if p else n_nodes - 1)
    np.testing.assert_allclose(probabilities, 1 / n_nodes, rtol=1e-15)
    chain = mt.NGramChain(walk.transition_matrix(), (1,))
    assert chain.period == walk.period == n_nodes
    np.testing.assert_allclose(chain.stationary_distribution(), walk.stationary_distribution(), rtol=1e-12)


# Known answers -------------------------------------------------------------------------------------


@more
@given(st.floats(0, 1), st.floats(0, 1))
def test_two_states_have_their_closed_forms(up, down):
    assume(up + down > 1e-6)
    chain = mt.NGramChain([[1 - up, up], [down, 1 - down]], (1,))
    law = np.array([down, up]) / (up + down)
    np.testing.assert_allclose(chain.stationary_distribution(), law, rtol=1e-10)
    r = 1 - up - down
    assert chain.second_eigenvalue == pytest.approx(abs(r), abs=1e-9)
    windows = chain.stationary_windows(2)
    if min(law) > 1e-6:
        assert mt.chi2_information(windows, (1,)) == pytest.approx(r * r, abs=1e-12)
        assert mt.modified_chi2_information(windows, (1,)) == pytest.approx(
            2 * law[0] * law[1] * r * r, abs=1e-12
        )


@more
@given(st.floats(0, 1))
def test_a_noisy_copy_tells_a_bit_less_the_entropy_of_its_noise(noise):
    windows = np.array([[1 - noise, noise], [noise, 1 - noise]]) / 2
    entropy = -sum(p * math.log(p) for p in (noise, 1 - noise) if p > 0)
    assert mt.shannon_information(windows, (1,)) == pytest.approx(math.log(2) - entropy, abs=1e-12)
    assert mt.chi2_information(windows, (1,)) == pytest.approx((1 - 2 * noise) ** 2, abs=1e-12)


KNOWN = [
    (lambda: mt.chi2_divergence([1, 0], [0.5, 0.5]), 1),
    (lambda: mt.chi2_divergence([0.25] * 4, [0.1, 0.2, 0.3, 0.4]), 0.302083333333333),
    (lambda: mt.shannon_information(np.eye(8) / 8, (1,)), math.log(8)),
    (lambda: mt.chi2_information(np.eye(8) / 8, (1,)), 7),
    (lambda: mt.modified_chi2_information(np.eye(8) / 8, (1,)), 7 / 8),
    (lambda: mt.copying_gap_threshold(1.0, 1.0, 2), -math.log((15 / 14) ** 0.25 - 1)),
    (lambda: mt.copying_gap_threshold(1.0, 0.0, 2), math.inf),
    (lambda: mt.n_monomial_features(3, 2, 3), 27),
    (lambda: mt.n_monomial_features(5, 3, 5), 4**5),
    (lambda: mt.sine_positions(2, 2), np.sqrt(3) / 2 * np.array([[1, 1], [1, -1]])),
    (lambda: mt.best_report([0.7, 0.2, 0.1], 0.0), [0.7, 0.2, 0.1]),
    (lambda: mt.best_report([0.7, 0.3], 0.25), [0.8, 0.2]),
    (lambda: mt.best_report([0.9, 0.1], 10.0), [1, 0]),
    (lambda: mt.Unigram().predict([[0, 0, 1, 2]]), [[0.5, 0.25, 0.25]]),
    (lambda: mt.InductionHead().predict([[0, 1, 0, 2, 0]]), [[0, 0.5, 0.5]]),
    (lambda: mt.BayesOptimal((1,), 1.0).predict([[0, 1, 0, 1, 0]]), [[0.25, 0.75]]),
    (lambda: mt.CircleWalk(4, 0.75).predict([[2, 3, 0]]), [[0, 0.75, 0, 0.25]]),
    (lambda: mt.CircleWalk(3, 0.5).enumerate(2)[1], [1 / 6] * 6),
    (lambda: mt.LogLoss(0.0).value([1.0, math.exp(-2)]), [0, 2]),
    (lambda: mt.LogLoss(0.5).derivative([0.5]), [-1]),
    (lambda: mt.SquareLoss().value([3.0]), [2]),
    (lambda: mt.LogisticLoss().value([0.0]), [math.log(2)]),
    (lambda: mt.LogisticLoss().derivative([0.0, 1e4, -1e4]), [-0.5, 0, -1]),
    (lambda: mt.LogisticLoss().value([-1e4, 1e4]), [1e4, 0]),
    (lambda: mt.HingeLoss().value([-1.0, 0.5, 2.0]), [2, 0.5, 0]),
    (lambda: mt.ExponentialLoss().derivative([0.0]), [-1]),
    (lambda: mt.SoftmaxCrossEntropy()([[0.5, 0.5]], [1])[0], [math.log(2)]),
    (lambda: mt.induction_head_bound(0.0, 0.0, [0, 5, 10], 10), [0, 2, 0]),
    (lambda: mt.induction_head_bound(math.log(4), 0.0, [8], 10), [0.125]),
    (lambda: mt.NGramChain(np.roll(np.eye(5), 1, axis=1), (1,)).period, 5),
    (lambda: mt.NGramChain(np.full((3, 3), 1 / 3), (2,)).mixing_time(0.01), 2),
    (lambda: mt.NGramChain([[0.5, 0.5], [0, 1]], (1,)).stationary_distribution(), [0, 1]),
    (lambda: mt.majority_task().bag_of_words().accuracy, 1),
    (lambda: mt.preference_task().bag_of_words().accuracy, 0.5),
]


@pytest.mark.parametrize("row", range(len(KNOWN)))
def test_answers_known_by_hand(row):
    call, expected = KNOWN[row]
    np.testing.assert_allclose(call(), expected, rtol=1e-12, atol=1e-15)


@more
@given(st.integers(1, 40))
def test_no_accuracy_exceeds_one_by_rounding(n):
    tokens = np.column_stack([np.arange(n), np.zeros(n, dtype=int), np.arange(n) % 7])
    found = mt.bag_of_words_test(tokens)
    assert found.accuracy <= 1
    assert found.best_accuracy <= 1
    assert found.accuracy == pytest.approx(1, abs=1e-12)
    assert found == mt.bag_of_words_test(tokens * 10**12)  # only which words are equal matters
