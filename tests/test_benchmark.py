"""The speed table: its rows, how it tells them, and that its baselines do the engines' work."""

from __future__ import annotations

import json

import numpy as np
import pytest

from markov_transformers import benchmark, explorers
from markov_transformers.__main__ import main
from markov_transformers.benchmark import Growth, Moves, Timing

TIMING = Timing("one-layer", 0.5, "plain", 10.0, 20.0, True)
GROWTH = Growth("growth-length-50", 0.001, "plain", 0.01, 10.0, False, "length", 50, 0.002, 123, 1.25)
MOVES = Moves("explorer-dirichlet", 0.05, 0.1, 0.2, 200)


def instant_row(name):
    if name.startswith("explorer-"):
        return Moves(name, 0.05, 0.1, 0.2, 200)
    return Timing(name, 0.5, "plain", 10.0, 20.0, True)


@pytest.fixture
def instant(monkeypatch):
    """Rows that take no time, and a list of those that were timed."""
    timed = []

    def row(name):
        timed.append(name)
        return instant_row(name)

    monkeypatch.setattr(benchmark, "ROWS", {name: lambda name=name: row(name) for name in benchmark.ROWS})
    return timed


def names(rows):
    return [row.name for row in rows]


def test_a_group_stands_for_all_of_its_rows_and_none_is_timed_twice(instant):
    expected = [f"explorer-{name.replace('_', '-')}" for name in explorers.__all__]
    assert names(benchmark.run(["explorers"])) == expected
    assert names(benchmark.run(["explorers", expected[0]])) == expected


def test_all_rows_are_timed_by_default(instant):
    assert names(benchmark.run()) == list(benchmark.ROWS)
    assert sorted(name for group in benchmark.GROUPS.values() for name in group) == sorted(benchmark.ROWS)


def test_the_rows_that_others_rely_on_keep_their_names():
    assert {"one-layer", "staged-flow", "staged-gd"} <= set(benchmark.ROWS)


def test_a_row_that_does_not_exist_is_refused_before_any_is_timed(instant):
    with pytest.raises(
        ValueError, match="names must be among the groups experiments, .*got 'one-lair'.*'one-layer'"
    ):
        benchmark.run(["one-layer", "one-lair"])
    assert instant == []


def test_a_row_is_handed_over_before_the_next_is_timed(instant):
    rows = benchmark.run(["staged-flow", "staged-gd"])
    next(rows)
    assert instant == ["staged-flow"]


def test_the_table_gives_each_kind_of_row_its_own_columns():
    lines = benchmark.table([TIMING, GROWTH, MOVES]).splitlines()
    assert lines[0].split()[:4] == ["name", "engine", "baseline", "ratio"]
    assert lines[1].split() == ["one-layer", "500", "ms", "10", "s", "20", "plain", "(extrapolated)"]
    assert lines[3].split() == ["name", "engine", "growth", "counting", "plain", "torch", "ratio"]
    assert lines[4].split() == ["growth-length-50", "1.0", "ms", "1.25x", "2.0", "ms", "10", "ms", "10"]
    assert lines[6].split() == ["name", "p50", "p95", "max", "moves"]
    assert lines[7].split() == ["explorer-dirichlet", "50", "ms", "100", "ms", "200", "ms", "200"]


def test_a_ratio_is_the_baselines_time_over_the_engines():
    assert Timing.against("row", 0.5, "plain", 10.0).ratio == 20.0


def test_the_command_prints_rows_as_json(instant, capsys):
    assert main(["benchmark", "one-layer", "explorer-dirichlet", "--json"]) == 0
    timing, moves = json.loads(capsys.readouterr().out)
    assert timing == {
        "name": "one-layer",
        "seconds": 0.5,
        "baseline": "plain",
        "baseline_seconds": 10.0,
        "ratio": 20.0,
        "extrapolated": True,
    }
    assert moves == {"name": "explorer-dirichlet", "p50": 0.05, "p95": 0.1, "max": 0.2, "moves": 200}


def test_the_command_refuses_a_name_that_it_does_not_know(instant, capsys):
    assert main(["benchmark", "nothing"]) == 2
    assert "got 'nothing'" in capsys.readouterr().err


def test_the_command_says_how_to_get_torch_where_a_row_misses_it(monkeypatch, capsys):
    def without_torch():
        raise ImportError("No module named 'torch'", name="torch")

    monkeypatch.setattr(benchmark, "ROWS", {**benchmark.ROWS, "one-layer": without_torch})
    assert main(["benchmark", "one-layer"]) == 1
    assert "pip install torch" in capsys.readouterr().err


def test_results_come_back_from_their_file_as_they_were(tmp_path):
    results = benchmark.here([TIMING, GROWTH, MOVES])
    benchmark.store(results, tmp_path / "results.json")
    assert benchmark.stored(tmp_path / "results.json") == results
    assert results["one-layer"] == TIMING
    assert results.growth("length") == [GROWTH]
    with pytest.raises(KeyError, match="no row is named 'nothing'"):
        results["nothing"]


def test_the_command_stores_the_rows_with_the_machine_that_timed_them(instant, tmp_path):
    path = tmp_path / "results.json"
    assert main(["benchmark", "one-layer", "--store", str(path)]) == 0
    results = benchmark.stored(path)
    assert names(results.rows) == ["one-layer"]
    assert results.machine == benchmark.machine()
    assert results.versions["numpy"] == np.__version__


@pytest.mark.parametrize("path", ["", ".", "no/such/folder/results.json"])
def test_a_place_where_nothing_can_be_stored_is_refused_before_any_row_is_timed(
    instant, tmp_path, monkeypatch, capsys, path
):
    monkeypatch.chdir(tmp_path)
    assert main(["benchmark", "one-layer", "--store", path]) == 2
    assert f"--store is {path!r}" in capsys.readouterr().err
    assert instant == [] and list(tmp_path.iterdir()) == []


def test_results_that_are_stored_already_outlive_a_run_that_is_refused(instant, tmp_path):
    path = tmp_path / "results.json"
    path.write_text("older results")
    assert main(["benchmark", "nothing", "--store", str(path)]) == 2
    assert path.read_text() == "older results"
    assert main(["benchmark", "one-layer", "--store", str(path)]) == 0
    assert names(benchmark.stored(path).rows) == ["one-layer"]


def test_the_stored_results_hold_every_row_of_the_table():
    assert names(benchmark.stored().rows) == list(benchmark.ROWS)


def test_the_stored_results_do_not_name_the_machine_or_its_user():
    import getpass
    import platform

    text = json.dumps(benchmark.stored().machine)
    assert set(benchmark.stored().machine) == {"processor", "cores", "memory_gb", "system"}
    assert platform.node() not in text
    assert f'"{getpass.getuser()}"' not in text


def test_moves_of_an_explorer_are_timed_one_by_one():
    row = benchmark.explorer("match_a_sequence", moves=5)
    assert row.name == "explorer-match-a-sequence"
    assert row.moves == 5
    assert 0 < row.p50 <= row.p95 <= row.max


def test_a_growth_row_knows_its_engines_time_over_that_of_half_the_size(monkeypatch):
    from markov_transformers.benchmark import growth

    monkeypatch.setattr(growth, "_engine", lambda chains, **_: (chains * 2.0, 1.0, 7))
    monkeypatch.setattr(growth, "_plain", lambda **_: 5000.0)
    first, second = growth.at("chains", 250), growth.at("chains", 500)
    assert first.growth is None
    assert second.growth == 2.0
    assert second.ratio == 5.0


@pytest.mark.parametrize("tables", [False, True])
@pytest.mark.parametrize("train", ["c", "w", "a", "cwa"])
def test_the_plain_two_layer_model_has_loss_and_gradients_of_the_definition(tables, train):
    torch = pytest.importorskip("torch")
    from markov_transformers.benchmark import baselines
    from markov_transformers.models import TwoLayerTransformer

    rng = np.random.default_rng(0)
    tokens = rng.integers(4, size=(30, 21))
    definition = TwoLayerTransformer(3, 3, 4, 2)
    values = {name: rng.normal(size=getattr(definition, name).shape) for name in "cwa"}
    with torch.no_grad():
        for name, value in values.items():
            getattr(definition, name).copy_(torch.as_tensor(value))
    loss = definition.loss(torch.as_tensor(tokens))
    loss.backward()

    plain = baselines.PlainTwoLayer(tokens, 3, 4, 2, train=train, tables=tables, start=values)
    ours, gradients = plain.loss_and_gradients()
    assert ours == pytest.approx(loss.item(), rel=1e-12)
    assert set(gradients) == set(train)
    for name, gradient in gradients.items():
        torch.testing.assert_close(gradient, getattr(definition, name).grad, rtol=1e-10, atol=1e-13)


def test_the_plain_two_layer_model_adds_up_the_pieces_of_its_data(monkeypatch):
    pytest.importorskip("torch")
    from markov_transformers.benchmark import baselines

    tokens = np.random.default_rng(0).integers(3, size=(50, 21))
    whole, gradients = baselines.PlainTwoLayer(tokens, 3, 3, 2).loss_and_gradients()
    monkeypatch.setattr(baselines, "PIECE", 15)
    pieces, added = baselines.PlainTwoLayer(tokens, 3, 3, 2).loss_and_gradients()
    assert pieces == pytest.approx(whole, rel=1e-12)
    for name, gradient in gradients.items():
        np.testing.assert_allclose(added[name], gradient, rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize("parts", [False, True])
def test_the_plain_one_layer_model_takes_the_steps_of_the_definition(parts):
    torch = pytest.importorskip("torch")
    from markov_transformers import CircleWalk
    from markov_transformers.benchmark.baselines import PlainOneLayer
    from markov_transformers.models import OneLayerTransformer

    tokens = CircleWalk(6, 0.7).sample(40, 9, rng=0)
    definition = OneLayerTransformer(6, 9, 20)
    plain = PlainOneLayer(tokens, 6, 20, parts=parts)
    for _ in range(5):
        expected = definition.gradient_step(torch.as_tensor(tokens), 0.5)
        assert plain.gradient_step(0.5) == pytest.approx(expected, rel=1e-10)
    torch.testing.assert_close(plain.value, definition.value.data, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(plain.query_key, definition.query_key.data, rtol=1e-9, atol=1e-12)


def test_the_loop_that_sampling_is_compared_with_draws_from_the_kernel():
    from markov_transformers.benchmark.sampling import _token_by_token

    kernel = np.random.default_rng(1).dirichlet(np.ones(3), size=(3, 3))
    tokens = np.array(_token_by_token(kernel, 20_000))
    counts = np.zeros((3, 3, 3))
    np.add.at(counts, (tokens[:-2], tokens[1:-1], tokens[2:]), 1)
    visits = counts.sum(axis=-1, keepdims=True)
    error = np.abs(counts / visits - kernel) / np.sqrt(kernel * (1 - kernel) / visits)
    assert error.max() < 5


def test_a_torch_model_is_timed_with_all_threads_and_with_one_and_gets_its_threads_back(monkeypatch):
    torch = pytest.importorskip("torch")
    from markov_transformers.benchmark import baselines

    before, seen = torch.get_num_threads(), []
    torch.set_num_threads(2)
    try:
        times = {2: 5.0, 1: 3.0}

        def median(work, repeats):
            seen.append(torch.get_num_threads())
            return times[torch.get_num_threads()]

        monkeypatch.setattr(baselines, "median", median)
        assert baselines.fastest(lambda: None, 3) == 3.0
        times[2] = 2.0
        assert baselines.fastest(lambda: None, 3) == 2.0
        assert seen == [2, 1, 2, 1]
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
