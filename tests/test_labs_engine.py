"""The induction laboratory's engine in a headless browser, beside the Python one: same data, same numbers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import markov_transformers as mt
from markov_transformers.induction import best_report
from markov_transformers.information import copying_gap_threshold, empirical_windows

PREPARE = """() => {
  window.finish = (steps) => {
    for (;;) {
      const { value, done } = steps.next();
      if (done) return value;
    }
  };
  window.rows = (tokens) => tokens.map((row) => Uint8Array.from(row));
  window.modelOf = ({ tokens, M, d, degree, epsilon }) =>
    new engine.StagedModel(engine.WindowCounts.fromTokens(rows(tokens), M, d), degree, { epsilon });
  window.parametersOf = ({ c, w, a }) => ({ c: Float64Array.from(c), w: Float64Array.from(w.flat()), a });
}"""


@pytest.fixture(scope="module")
def run(laboratory):
    """A function that calls a JavaScript function with one argument, where the engine is in scope."""
    return laboratory("induction", PREPARE)


def settings(n, seed):
    """Draw settings of the laboratory, each with data and with parameters away from the start."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        d, M = int(rng.integers(2, 5)), int(rng.integers(1, 6))
        degree = int(rng.integers(0, min(M, 3) + 1))
        lags = tuple(sorted(rng.choice(np.arange(1, M + 1), rng.integers(1, min(M, 2) + 1), False).tolist()))
        alpha, epsilon = float(rng.choice([0.01, 0.05, 0.1, 0.5, 2])), float(rng.choice([0.01, 0.1, 0.5]))
        size, length = int(rng.integers(20, 80)), int(rng.integers(M + 2, 50))
        prior = mt.DirichletPrior(d, lags, alpha)
        tokens = prior.sample(size, length + 1, rng=rng)
        model = mt.StagedModel(mt.WindowCounts.from_tokens(tokens, M, d), degree, epsilon=epsilon)
        parameters = {
            "c": rng.normal(size=len(model.sets)),
            "w": rng.normal(size=(M, M), scale=2),
            "a": float(rng.uniform(0.01, 8)),
        }
        setting = dict(d=d, M=M, degree=degree, lags=lags, alpha=alpha, epsilon=epsilon)
        yield setting | {"tokens": tokens.tolist()}, tokens, model, parameters


def plain(parameters):
    return {name: np.asarray(value).tolist() for name, value in parameters.items()}


def test_sets_loss_and_gradients_equal_those_of_the_python_engine(run):
    cases = list(settings(60, seed=0))
    found = run(
        """cases => cases.map(([setting, at]) => {
          const model = modelOf(setting);
          return { sets: model.sets, ...model.lossAndGradients(parametersOf(at)) };
        })""",
        [[setting, plain(at)] for setting, _, _, at in cases],
    )
    for (_, _, model, at), here in zip(cases, found, strict=True):
        loss, gradients = model.loss_and_gradients(**at)
        assert [tuple(subset) for subset in here["sets"]] == list(model.sets)
        assert here["loss"] == pytest.approx(loss, rel=1e-9)
        for name, gradient in gradients.items():
            scale = max(np.abs(gradient).max(), 1e-3)
            np.testing.assert_allclose(np.ravel(here[name]), np.ravel(gradient), rtol=0, atol=1e-9 * scale)


def test_without_epsilon_a_target_out_of_reach_costs_infinity_and_pulls_nothing(run):
    tokens = np.array([[0, 1, 0, 1, 0, 2], [0, 1, 0, 1, 0, 1]])
    setting = dict(tokens=tokens.tolist(), d=3, M=1, degree=1, epsilon=0)
    at = {"c": [0.5, 1.0], "w": [[0.0]], "a": 1.0}
    here = run("([setting, at]) => modelOf(setting).lossAndGradients(parametersOf(at))", [setting, at])
    loss, gradients = mt.StagedModel(
        mt.WindowCounts.from_tokens(tokens, 1, 3), 1, epsilon=0
    ).loss_and_gradients(**at)
    assert here["loss"] == loss == np.inf
    assert here["a"] == pytest.approx(float(gradients["a"]), rel=1e-9)
    assert here["c"] == pytest.approx(gradients["c"].tolist(), rel=1e-9)


def test_predictions_equal_those_of_the_python_engine_and_attention_sums_to_one(run):
    cases = list(settings(20, seed=1))
    found = run(
        """cases => cases.map(([setting, at]) => {
          const { sets } = modelOf(setting);
          const read = engine.reader(sets, setting.M, setting.d, parametersOf(at));
          return rows(setting.tokens).map((row) => read(row.subarray(0, -1)));
        })""",
        [[setting, plain(at)] for setting, _, _, at in cases],
    )
    for (_, _, model, at), here in zip(cases, found, strict=True):
        np.testing.assert_allclose([row["law"] for row in here], model.predict(**at), rtol=0, atol=1e-12)
        np.testing.assert_allclose([sum(row["weights"]) for row in here], 1, rtol=1e-12)


def test_the_three_stages_end_where_the_python_flow_ends(run):
    cases, durations = list(settings(40, seed=2)), [200, 2000, 200]
    found = run(
        """([cases, durations]) => cases.map(([setting, start]) => {
          const steps = engine.threeStages(modelOf(setting), parametersOf(start), durations, { rtol: 1e-8 });
          const trained = finish(steps);
          return [50, ...trained.stageEnds].map((time) => trained.at(time));
        })""",
        [[[setting, plain(model.initial_parameters(a=0.1))] for setting, _, model, _ in cases], durations],
    )
    for (_, _, model, _), here in zip(cases, found, strict=True):
        expected = model.three_stages(model.initial_parameters(a=0.1), durations, rtol=1e-8)
        for state, time in zip(here, (50, *expected.stage_ends), strict=True):
            there = expected.at(time)
            share = np.square(state["c"]) / np.sum(np.square(state["c"]))
            np.testing.assert_allclose(share, there.p_S, rtol=0, atol=1e-6)
            np.testing.assert_allclose(np.ravel(state["w"]), there.w.ravel(), rtol=0, atol=1e-5)
            assert state["a"] == pytest.approx(float(there.a), abs=1e-5)


def test_the_third_stage_read_off_a_grid_is_that_of_the_python_flow(run):
    cases = list(settings(30, seed=3))
    starts = [0.0, 0.25, 0.01, 2.5, 10.0, 30.0]
    found = run(
        """([cases, starts]) => cases.map(([setting, at]) => starts.map((a) => {
          const start = { ...parametersOf(at), a }, exact = { rtol: 1e-11, atol: 1e-12 };
          return finish(engine.flow(modelOf(setting), start, 1000, "a", exact)).end.a;
        }))""",
        [[[setting, plain(at)] for setting, _, _, at in cases], starts],
    )
    for (_, _, model, at), here in zip(cases, found, strict=True):
        there = [model.flow(at | {"a": a}, 1000.0, "a", rtol=1e-11, atol=1e-12).a[-1] for a in starts]
        np.testing.assert_allclose(here, there, rtol=1e-8, atol=1e-8)


def test_a_stiff_first_stage_ends_where_the_python_flow_ends(run):
    tokens = mt.DirichletPrior(3, (1, 2), 0.01).sample(100, 101, rng=0)
    model = mt.StagedModel(mt.WindowCounts.from_tokens(tokens, 3, 3), 2)
    setting = dict(tokens=tokens.tolist(), d=3, M=3, degree=2, epsilon=0.1)
    for a in (1.0, 3.0, 10.0):
        start = model.initial_parameters(a=a)
        here = run(
            """([setting, start]) => {
              const model = modelOf(setting);
              return finish(engine.flow(model, parametersOf(start), 2000, "c", { rtol: 1e-5 })).end.c;
            }""",
            [setting, plain(start)],
        )
        expected = model.flow(start, 2000.0, "c", method="LSODA", rtol=1e-8).p_S[-1]
        np.testing.assert_allclose(np.square(here) / np.sum(np.square(here)), expected, rtol=0, atol=1e-3)


def test_gradient_descent_takes_the_steps_of_the_python_engine(run):
    cases = list(settings(20, seed=3))
    found = run(
        """cases => cases.map(([setting, start]) => {
          const model = modelOf(setting), durations = [5, 10, 10];
          const steps = engine.threeStages(model, parametersOf(start), durations, { learningRate: 0.5 });
          const trained = finish(steps);
          return [2.25, 9.9, 25].map((time) => trained.at(time));
        })""",
        [[setting, plain(model.initial_parameters(c=0.1, a=0.1))] for setting, _, model, _ in cases],
    )
    for (_, _, model, _), here in zip(cases, found, strict=True):
        start = model.initial_parameters(c=0.1, a=0.1)
        expected = model.three_stages(start, (5, 10, 10), learning_rate=0.5)
        for state, time in zip(here, (2.25, 9.9, 25), strict=True):
            for name, value in expected.at(time).parameters.items():
                np.testing.assert_allclose(np.ravel(state[name]), np.ravel(value), rtol=1e-9, atol=1e-12)


def test_information_from_counts_equals_that_of_the_empirical_windows(run):
    cases = [case for case in settings(20, seed=4) if case[0]["degree"]]
    found = run(
        """cases => cases.map(({ tokens, M, d, degree }) =>
          engine.informationOfSubsets(rows(tokens), M, d, degree))""",
        [setting for setting, *_ in cases],
    )
    for (setting, tokens, _, _), here in zip(cases, found, strict=True):
        windows = empirical_windows(tokens, setting["M"] + 1, setting["d"], per_sequence=True)
        expected = mt.information_of_subsets(windows, setting["degree"])
        assert [tuple(entry["subset"]) for entry in here] == list(expected)
        assert [entry["value"] for entry in here] == pytest.approx(
            list(expected.values()), rel=1e-9, abs=1e-15
        )


def test_the_threshold_on_the_copying_gap_equals_the_python_one(run):
    here = run("() => engine.copyingGapThreshold(0.1, 0.05, 3)")
    assert here == pytest.approx(copying_gap_threshold(0.1, 0.05, 3), rel=1e-12)


def test_predictors_equal_the_python_ones(run):
    cases = list(settings(20, seed=5))
    found = run(
        """cases => cases.map(({ tokens, M, d, lags, alpha, epsilon }) => {
          const head = new engine.GeneralizedInductionHead(lags, M);
          const bayes = new engine.BayesOptimal(lags, alpha);
          return rows(tokens).map((row) => {
            const context = row.subarray(0, -1), law = bayes.predict(context, d);
            return [head.predict(context, d), law, engine.bestReport(law, epsilon),
                    new engine.Unigram().predict(context, d)];
          });
        })""",
        [setting for setting, *_ in cases],
    )
    for (setting, tokens, _, _), here in zip(cases, found, strict=True):
        d, lags, context = setting["d"], setting["lags"], tokens[:, :-1]
        law = mt.BayesOptimal(lags, setting["alpha"]).predict(context, d)
        expected = [
            mt.GeneralizedInductionHead(lags, setting["M"]).predict(context, d),
            law,
            best_report(law, setting["epsilon"]),
            mt.Unigram().predict(context, d),
        ]
        np.testing.assert_allclose(np.swapaxes(here, 0, 1), expected, rtol=0, atol=1e-12)


def test_uniform_normal_and_exponential_numbers_follow_their_laws(run):
    drawn = run(
        """() => {
          const rng = new engine.Random(0), draw = (name) => Array.from({ length: 20000 }, () => rng[name]());
          return [draw("uniform"), draw("normal"), draw("exponential")];
        }"""
    )
    for values, law in zip(drawn, ("uniform", "norm", "expon"), strict=True):
        assert stats.kstest(values, law).pvalue > 0.01
        assert abs(np.corrcoef(values[1:], values[:-1])[0, 1]) < 0.02


@pytest.mark.parametrize("alpha", [0.01, 0.1, 1, 5])
def test_a_dirichlet_row_sums_to_one_and_its_entries_follow_the_beta_law(run, alpha):
    rows = np.array(
        run(
            """alpha => {
              const rng = new engine.Random(0);
              return Array.from({ length: 5000 }, () => {
                const row = new Float64Array(3);
                rng.dirichlet(alpha, row);
                return row;
              });
            }""",
            alpha,
        )
    )
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-12)
    for column in rows.T:
        # Compared where the law is not a near atom: at 0.01 most entries are zero or one to rounding.
        law = stats.beta(alpha, 2 * alpha)
        for bound in (1e-100, 1e-10, 0.01, 0.3, 0.7, 0.99):
            expected = law.cdf(bound)
            deviation = np.sqrt(expected * (1 - expected) / len(rows))
            assert abs((column <= bound).mean() - expected) < 4 * deviation + 1e-12


def test_a_chain_moves_as_its_kernel_says_and_a_seed_repeats_it(run):
    lags, d, length = [1, 3], 3, 60_000
    kernel, tokens, again, other = run(
        """([lags, d, length]) => {
          const chain = new engine.DirichletPrior(d, lags, 1).sampleChain(new engine.Random(1));
          return [chain.kernel, ...[2, 2, 3].map((seed) => chain.sample(length, new engine.Random(seed)))];
        }""",
        [lags, d, length],
    )
    assert tokens == again != other
    kernel, x = np.reshape(kernel, (d, d, d)), np.array(tokens)
    seen = np.zeros((d, d, d))
    np.add.at(seen, (x[2:-1], x[:-3], x[3:]), 1)
    expected = seen.sum(axis=-1, keepdims=True) * kernel
    assert stats.chi2.sf(((seen - expected) ** 2 / expected).sum(), 9 * 2) > 0.01


def test_a_token_of_probability_zero_is_never_drawn(run):
    tokens = run(
        """() => {
          const chain = new engine.NGramChain([0.3, 0.7, 0, 0.6, 0.4, 0, 1, 0, 0], 3, [1]);
          return chain.sample(20000, new engine.Random(0));
        }"""
    )
    assert 2 not in tokens[1:]
