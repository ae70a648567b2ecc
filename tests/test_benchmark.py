"""The speed table: which rows it has and how it tells them. Its times are not tested."""

from __future__ import annotations

import json

import pytest

from markov_transformers import benchmark, explorers
from markov_transformers.__main__ import main
from markov_transformers.benchmark import Moves, Timing


@pytest.fixture
def instant(monkeypatch):
    """Rows that take no time."""
    rows = {
        name: (lambda name=name: Moves(name, 0.05, 0.1, 0.2, 200))
        if name.startswith("explorer-")
        else (lambda name=name: Timing(name, 0.5, "literal", 10.0, 20.0, True))
        for name in benchmark.ROWS
    }
    monkeypatch.setattr(benchmark, "ROWS", rows)


def test_explorers_stands_for_all_explorers(instant):
    names = [row.name for row in benchmark.run(["explorers"])]
    assert names == [f"explorer-{name.replace('_', '-')}" for name in explorers.__all__]
    assert [row.name for row in benchmark.run(["explorers", names[0]])] == names


def test_all_rows_are_timed_by_default_and_one_that_does_not_exist_is_refused(instant):
    assert [row.name for row in benchmark.run()] == list(benchmark.ROWS)
    with pytest.raises(ValueError, match="name must be explorers or one of one-layer, .*, got 'nothing'"):
        benchmark.run(["nothing"])


def test_the_table_gives_each_kind_of_row_its_own_columns(instant):
    lines = benchmark.table(benchmark.run(["staged-flow", "explorer-circle-walk"])).splitlines()
    assert lines[0].split()[:4] == ["name", "exact", "baseline", "ratio"]
    assert lines[1].split() == ["staged-flow", "0.500", "s", "10.00", "s", "20", "literal", "(extrapolated)"]
    assert lines[3].split() == ["name", "p50", "p95", "max", "moves"]
    assert lines[4].split() == ["explorer-circle-walk", "50", "ms", "100", "ms", "200", "ms", "200"]


def test_the_command_prints_rows_as_json(instant, capsys):
    assert main(["benchmark", "explorer-dirichlet", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row == {"name": "explorer-dirichlet", "p50": 0.05, "p95": 0.1, "max": 0.2, "moves": 200}


def test_moves_of_an_explorer_are_timed_one_by_one():
    row = benchmark.explorer("match_a_sequence", moves=5)
    assert row.name == "explorer-match-a-sequence"
    assert row.moves == 5
    assert 0 < row.p50 <= row.p95 <= row.max
