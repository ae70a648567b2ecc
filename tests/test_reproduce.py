"""The ledger: complete, honest about its rules, and clear on the command line."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

from markov_transformers import reproduce
from markov_transformers.__main__ import main
from markov_transformers.claims import _claim, _ledger

IDS = [
    "chen2024-dpi",
    "chen2024-superset",
    "chen2024-uniform",
    "chen2024-one-parent",
    "chen2024-known-size",
    "chen2024-degree",
    "chen2024-kernel",
    "chen2024-construction",
    "chen2024-sequential",
    "chen2024-norm",
    "chen2024-fig3a",
    "chen2024-rate1",
    "chen2024-fig3b",
    "chen2024-rate2",
    "chen2024-fig3c",
    "chen2024-rate3",
    "chen2024-gih-distance",
    "chen2024-fig5",
    "chen2024-fig6",
    "chen2024-fig7",
    "shi2025-optimal",
    "shi2025-positions",
    "shi2025-first-step",
    "shi2025-accuracy",
    "shi2025-output",
    "shi2025-value",
    "shi2025-attention",
    "shi2025-fig4",
    "shi2025-any-loss",
    "shi2025-fig5",
    "shi2025-fig6-walk",
    "shi2025-fig6-deterministic",
    "shi2025-task1",
    "shi2025-task2",
    "new-phase-diagram",
    "new-escape-time",
    "new-rounding",
    "new-bayes-gap",
    "new-square-root",
]
GOOD, CHANGED, FAILED, WRONG = _claim.VERDICTS
CHEAP = ["chen2024-kernel", "chen2024-known-size", "shi2025-positions"]
BOOK = Path(__file__).parents[1] / "book"


def direction(limit, exponent):
    row = {f"{what}_{name}": 0.02 for what in ("value", "output") for name in ("to_step", "to_root")}
    row |= {f"{what}_{name}_rate": -0.5 for what in ("value", "output") for name in ("step", "root")}
    row |= {f"{what}_between": 0.17 for what in ("value", "output")}
    changed = {f"{what}_to_step": limit for what in ("value", "output")}
    return {0.7: row | changed | {f"{what}_step_rate": exponent for what in ("value", "output")}}


def joint(**changes):
    run = {"first": (2, 3), "last": (1, 2), "pairs": [0.6, 0.2, 0.2], "loss": (1.0, 0.5), "query_key": 0.001}
    run |= {"diagonal": [0.07], "proportional": [0.1], "with_constant": [0.1]}
    return {"printed": [run | changes], "framework": [run | changes]}


def reading(reach, walk, fixed):
    runs = {0.5: {"reach": [reach], "progress": [walk]}, 1.0: {"reach": [None], "progress": [fixed]}}
    return {"as printed": {p: run | {"departures": 0} for p, run in runs.items()}}


def task(**changes):
    return {
        f"{what}_{key}": 1.0 for what in ("solved", "near_half") for key in ("raw", "unit_length")
    } | changes


THEOREM = {"accuracy": 0.7, "learned_at": 2, "attention": 1.0, "sample_attention": [1.0]}
THEOREM |= {"large_accuracy": 0.7, "large_attention": 1.0, "large_lead": -0.1}
FIRST = {"formula_error": 0.0, "spread": 0.0, "moved": 0.0, "printed": 97, "expected": {0.5: (1, 5)}}
LENGTHS = {"trained_on": 0.01, "rise": {0.2: 5.0}}
SYMMETRIC = {"value_spread": 0.0, "attention_spread": 0.0}
FIGURE_5 = {"uneven": 0.1, "column_spread": 0.0, "attention_spread": 0.0}

# For each claim a measurement that shows it, one that does not, and the verdicts on both.
MEASUREMENTS = {
    "chen2024-dpi": (
        {"largest_ratio": 1.0, "largest_subset_ratio": 1.0, "superset_difference": 1e-15},
        {"largest_ratio": 1.0, "largest_subset_ratio": 1.2, "superset_difference": 1e-15},
        WRONG,
    ),
    "chen2024-superset": (
        {"n_not_smaller": 0, "largest_ratio": 0.9},
        {"n_not_smaller": 3, "largest_ratio": 1.1},
        WRONG,
    ),
    "chen2024-uniform": (
        {"within": 1e-15, "beyond": 1e-15, "nonuniformity_beyond": 1e-15},
        {"within": 1e-15, "beyond": 0.7, "nonuniformity_beyond": 0.5},
        WRONG,
    ),
    "chen2024-one-parent": ({"n_other": 0}, {"n_other": 1}, WRONG),
    "chen2024-known-size": ({3: {"share": 0.0}}, {3: {"share": 0.0}, 4: {"share": 0.3}}, WRONG),
    "chen2024-degree": (
        {"n_larger": 0, "ratio": {6: 0.99}},
        {"n_larger": 0, "ratio": {5: 0.9, 6: 1.02}},
        WRONG,
    ),
    "chen2024-kernel": (
        {"error": 1e-15, "n_features": 37, "n_features_formula": 37},
        {"error": 1e-15, "n_features": 36, "n_features_formula": 37},
        WRONG,
    ),
    "chen2024-construction": (
        {"together": [1.0, 1e-14], "fallback": [1.0, 1e-14], "n_without_match": 5},
        {"together": [1.0, 0.3], "fallback": [1.0, 1e-14], "n_without_match": 5},
        FAILED,
    ),
    "chen2024-sequential": (
        {"sum_difference": 1e-15, "shift_difference": 0.0, "window_difference": 0.2},
        {"sum_difference": 0.1, "shift_difference": 0.0, "window_difference": 0.2},
        WRONG,
    ),
    "chen2024-norm": ({"drift": 1e-9, "cosine": 1e-12}, {"drift": 0.5, "cosine": 1e-12}, WRONG),
    "chen2024-fig3a": (
        {"settings": {(0.01, 2.99): {"shares": [1.0]}}, "printed": (0.01, 2.99)},
        {
            "settings": {(0.01, 2.99): {"shares": [0.0]}, (0.1, 2.99): {"shares": [1.0]}},
            "printed": (0.01, 2.99),
        },
        CHANGED,
    ),
    "chen2024-rate1": (
        {"bound_ratio": 1.0, "least": 2.0, "bend": 0.01, "ratios": {1: 1.0}, "sharp_ratios": {1: 1.0}},
        {"bound_ratio": 1.0, "least": 2.0, "bend": 0.01, "ratios": {1: 0.5}, "sharp_ratios": {1: 1.0}},
        CHANGED,
    ),
    "chen2024-fig3b": (
        {"alphas": {0.01: {"attention": [1.0, 1.0, 0.9], "moved": [1.0, 1.0, 0.0]}}, "printed": 0.01},
        {"alphas": {0.01: {"attention": [0.9, 0.9, 1.0], "moved": [0.0, 0.0, 1.0]}}, "printed": 0.01},
        FAILED,
    ),
    "chen2024-rate2": ({"bound_ratio": 0.8, "slope": -1.0}, {"bound_ratio": 0.8, "slope": -0.5}, FAILED),
    "chen2024-fig3c": (
        {"alphas": {0.01: {"a": [0.0, 1.0, 1.5]}}, "steps": [0.0, 1.0, 100.0], "printed": 0.01},
        {"alphas": {0.01: {"a": [0.0, 1.0, 0.5]}}, "steps": [0.0, 1.0, 100.0], "printed": 0.01},
        FAILED,
    ),
    "chen2024-rate3": ({"small": 0.97, "bounded": -2.0}, {"small": 0.97, "bounded": -1.0}, WRONG),
    "chen2024-gih-distance": (
        {"largest_ratio": 0.5, "scaled": [0.2], "exponent": -0.125},
        {"largest_ratio": 1.5, "scaled": [0.2], "exponent": -0.125},
        WRONG,
    ),
    "chen2024-fig5": (joint(), joint(first=(1, 2)), FAILED),
    "chen2024-fig6": (joint(), joint(query_key=1.0), FAILED),
    "chen2024-fig7": (
        LENGTHS | {"loss": {0.2: {"transformer": [4, 3, 2, 1, 0.5]}}},
        LENGTHS | {"loss": {0.2: {"transformer": [4, 3, 2, 1, 9.0]}}},
        FAILED,
    ),
    "shi2025-optimal": (
        {"law_error": 0.0, "accuracy_error": 0.0, "gain": 0.0},
        {"law_error": 0.0, "accuracy_error": 0.0, "gain": 0.1},
        WRONG,
    ),
    "shi2025-positions": (
        {"dim": 1000, "float32": 1e-4, "float64": 1e-13},
        {"dim": 1000, "float32": 1e-4, "float64": 1e-4},
        WRONG,
    ),
    "shi2025-first-step": (
        FIRST | {"largest": {(0.5, 97): (1, 5)}},
        FIRST | {"largest": {(0.5, 97): (0, 1, 5), (0.5, 98): (1, 5)}},
        CHANGED,
    ),
    "shi2025-accuracy": ({0.7: THEOREM}, {0.7: THEOREM | {"accuracy": 0.6}}, WRONG),
    "shi2025-output": (direction(0.02, -0.5), direction(0.171, -0.01), WRONG),
    "shi2025-value": (direction(0.02, -0.5), direction(0.171, -0.01), WRONG),
    "shi2025-attention": ({0.7: THEOREM}, {0.7: THEOREM | {"attention": 0.5}}, FAILED),
    "shi2025-fig4": (
        {"accuracy": [0.5], "end": [0.5], "contrast": [6.0], "attention": [1.0]},
        {"accuracy": [0.5], "end": [0.5], "contrast": [1.0], "attention": [1.0]},
        FAILED,
    ),
    "shi2025-any-loss": (
        SYMMETRIC | {"chance": 0.25, "accuracy": (0.25, 0.25), "n_diverged": 0},
        SYMMETRIC | {"chance": 0.25, "accuracy": (0.25, 1.0), "n_diverged": 0},
        WRONG,
    ),
    "shi2025-fig5": (
        FIGURE_5 | {"accuracy": (0.167, 0.1, 0.2), "escapes": {"float64": None}},
        FIGURE_5 | {"accuracy": (1.0, 1.0, 1.0), "escapes": {"float64": None}},
        FAILED,
    ),
    "shi2025-fig6-walk": (reading(400, 0.5, 0.0), reading(None, 0.5, 0.0), FAILED),
    "shi2025-fig6-deterministic": (reading(400, 0.5, 0.0), reading(400, 0.0, 0.5), FAILED),
    "shi2025-task1": (task(), task(solved_raw=0.0), CHANGED),
    "shi2025-task2": (task(), task(near_half_raw=0.0), CHANGED),
}


@pytest.fixture(scope="module")
def cheap():
    return reproduce.run(CHEAP, quick=True)


def test_every_claim_is_there_once_and_in_the_fixed_order():
    assert list(reproduce.CLAIMS) == IDS
    assert all(claim.id == name for name, claim in reproduce.CLAIMS.items())


def test_every_claim_of_a_paper_has_a_pair_of_measurements_below():
    assert list(MEASUREMENTS) == [name for name in IDS if not name.startswith("new-")]


@pytest.mark.parametrize("name", MEASUREMENTS)
def test_a_rule_gives_another_verdict_for_another_measurement(name):
    good, bad, verdict = MEASUREMENTS[name]
    claim = reproduce.CLAIMS[name]
    assert claim.judge([good])[0] == GOOD
    assert claim.judge([bad])[0] == verdict
    # One bad seed among good ones decides.
    assert claim.judge([good, bad, good])[0] == verdict


@pytest.mark.parametrize("name", [name for name in IDS if name.startswith("new-")])
def test_a_question_gets_no_verdict_and_prints_no_value(name):
    claim = reproduce.CLAIMS[name]
    assert claim.judge([{}]) == (None, {})
    assert claim.printed == ""


@pytest.mark.parametrize("claim", reproduce.CLAIMS.values(), ids=IDS)
def test_a_claim_states_where_it_stands_and_how_it_is_judged(claim):
    assert claim.claim.endswith((".", "?"))
    assert claim.source and claim.judged
    assert claim.printed or claim.id.startswith("new-")
    assert (BOOK / f"{claim.chapter}.ipynb").exists()


@pytest.mark.parametrize("claim", reproduce.CLAIMS.values(), ids=IDS)
def test_a_random_claim_runs_over_at_least_five_seeds(claim):
    assert claim.seeds == 0 or claim.seeds >= 5
    assert claim.quick_seeds <= max(claim.seeds, 1)


def test_the_least_favourable_verdict_decides():
    assert [_claim.least_favourable([GOOD, verdict]) for verdict in _claim.VERDICTS] == list(_claim.VERDICTS)
    assert _claim.least_favourable([None, None]) is None


def test_parts_are_listed_each_with_its_worst_verdict():
    claim = replace(reproduce.CLAIMS["chen2024-known-size"], rule=lambda found: found)
    seeds = [{"a": GOOD, "b": FAILED}, {"a": GOOD, "b": GOOD}]
    assert claim.judge(seeds) == (FAILED, {"a": GOOD, "b": FAILED})


def test_cheap_rows_run_in_the_order_of_the_ledger(cheap):
    assert [row.id for row in reproduce.run(reversed(CHEAP), quick=True)] == [
        "chen2024-known-size",
        "chen2024-kernel",
        "shi2025-positions",
    ]
    assert {row.id: row.verdict for row in cheap} == {
        "chen2024-known-size": WRONG,
        "chen2024-kernel": GOOD,
        "shi2025-positions": GOOD,
    }
    assert all(row.ran and row.seconds >= 0 for row in cheap)


def test_what_is_true_instead_stands_beside_a_claim_that_fails_and_beside_no_other(cheap):
    changes = {row.id: row.change for row in cheap}
    assert changes.pop("chen2024-known-size").startswith("True instead")
    assert set(changes.values()) == {None}


def test_fewer_seeds_are_used_when_quick_and_the_output_says_so():
    seen = []

    def measure(*, rng):
        seen.append(rng)
        return {"error": 0.0, "n_features": 1, "n_features_formula": 1}

    claim = replace(reproduce.CLAIMS["chen2024-kernel"], measure=measure)
    full, quick = _claim.run(claim), _claim.run(claim, quick=True)
    assert seen == [0, 1, 2, 3, 4, 0]
    assert full.measured.endswith("[5 seeds]")
    assert quick.measured.endswith("[1 seed]")
    assert "fewer seeds" in _ledger.table([quick], quick=True)
    assert "fewer seeds" not in _ledger.table([full])


def test_claims_that_share_a_measurement_measure_once(monkeypatch):
    calls = []

    def measure(*, rng):
        calls.append(rng)
        return {0.7: THEOREM}

    for name in ("shi2025-accuracy", "shi2025-attention"):
        claim = replace(
            reproduce.CLAIMS[name], measure=measure, inside="", seeds=1, quick={}, report=lambda found: "seen"
        )
        monkeypatch.setitem(reproduce.CLAIMS, name, claim)
    rows = reproduce.run(["shi2025-accuracy", "shi2025-attention"])
    assert calls == [0]
    assert [row.verdict for row in rows] == [GOOD, GOOD]
    assert rows[0].seconds == rows[1].seconds


@pytest.mark.parametrize(
    "wrong, nearest", [("chen2024-fig8", "chen2024-fig"), ("shi2025-valeu", "'shi2025-value'"), ("zzz", "'")]
)
def test_an_unknown_id_is_an_error_that_names_the_nearest(wrong, nearest, capsys):
    with pytest.raises(ValueError, match=f"{wrong}.*nearest is"):
        reproduce.run([wrong])
    assert main(["reproduce", wrong]) not in (0, 1)
    assert nearest in capsys.readouterr().err


def test_the_json_has_exactly_the_promised_fields(capsys):
    assert main(["reproduce", *CHEAP, "--quick", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    fields = [
        "id",
        "source",
        "claim",
        "printed",
        "measured",
        "rule",
        "verdict",
        "change",
        "seconds",
        "chapter",
    ]
    assert [list(row) for row in rows] == [fields] * len(CHEAP)
    assert all(row["verdict"] in _claim.VERDICTS and math.isfinite(row["seconds"]) for row in rows)


def test_the_text_shows_every_row_and_sums_up(capsys):
    assert main(["reproduce", *CHEAP, "--quick"]) == 0
    out = capsys.readouterr().out
    assert all(f"{name}: " in out for name in CHEAP)
    assert out.rstrip().endswith("reproduced: 2, contradicted: 1")
    assert max(map(len, out.splitlines())) <= 110


def test_the_list_names_every_claim_and_checks_nothing(capsys, monkeypatch):
    monkeypatch.setattr(reproduce, "run", None)
    assert main(["reproduce", "--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == IDS


def test_the_list_with_ids_is_refused(capsys):
    for name in ("nonsense", CHEAP[0]):
        assert main(["reproduce", "--list", name]) == 2
        told = capsys.readouterr()
        assert not told.out and "name no ids beside it" in told.err


def test_a_check_that_cannot_run_says_why_and_stops_no_other(capsys, monkeypatch):
    def measure(**options):
        raise ImportError("PyTorch is missing")

    claim = replace(reproduce.CLAIMS["shi2025-fig5"], measure=measure)
    monkeypatch.setitem(reproduce.CLAIMS, "shi2025-fig5", claim)
    assert main(["reproduce", "shi2025-fig5", "shi2025-positions", "--json"]) == 1
    good, bad = json.loads(capsys.readouterr().out)
    assert good["verdict"] == GOOD
    assert bad["verdict"] is None and bad["change"] is None
    assert bad["measured"] == "could not run: ImportError: PyTorch is missing"


def test_the_table_of_the_book_links_each_row_to_its_chapter_and_shows_no_time(cheap):
    ledger = reproduce.Ledger([replace(row, seconds=12.345) for row in cheap])
    page = ledger._repr_html_()
    for row in cheap:
        assert f'<a href="{row.chapter}.html"><code>{row.id}</code></a>' in page
    assert "12.3" not in page + repr(ledger)
    assert page.count("<details>") == page.count("</details>") == len(cheap)


def test_the_overview_leads_to_each_row_from_its_verdict(cheap):
    overview = reproduce.Ledger(cheap)._repr_html_().partition("<fieldset>")[0]
    lines = re.findall(r'<tr class="([\w-]+)">(.*?)</tr>', overview)
    assert {verdict: re.findall(r'href="#([\w-]+)"', line) for verdict, line in lines} == {
        GOOD: ["chen2024-kernel", "shi2025-positions"],
        WRONG: ["chen2024-known-size"],
    }


def test_an_index_or_an_exponent_stands_where_it_belongs(cheap):
    row = replace(cheap[0], claim="W_V, x_{N−1}, T^(−1/2) and e^(−Ω(N)) < 1", measured="1e-9 at p = 1")
    page = reproduce.Ledger([row])._repr_html_()
    assert "W<sub>V</sub>, x<sub>N−1</sub>, T<sup>−1/2</sup> and e<sup>−Ω(N)</sup> &lt; 1" in page
    assert "1e-9 at p = 1" in page


def test_readings_with_a_name_each_are_told_one_by_one(cheap):
    row = replace(
        cheap[0], measured="Loss: rate 1: 0.2; falls (p = 1: 0.1); rate 2: 0.4. Parts: a: b. [5 seeds]"
    )
    page = reproduce.Ledger([row])._repr_html_()
    points = ["Loss: rate 1: 0.2; falls (p = 1: 0.1)", "rate 2: 0.4", "Parts: a: b", "[5 seeds]"]
    assert re.findall("<li>(.*?)</li>", page) == points


def test_the_choice_of_a_verdict_hides_all_other_rows(browser):
    rows = reproduce.stored()
    page = browser.new_page(java_script_enabled=False)
    page.set_content(reproduce.Ledger(rows)._repr_html_())
    shown = page.locator("tr[id]:visible")
    assert shown.count() == len(rows)
    page.get_by_label("all (").focus()
    for verdict, count in reproduce.summary(rows).items():
        if count:
            page.keyboard.press("ArrowDown")
            assert page.get_by_label(f"{verdict} ({count})", exact=True).is_checked()
            assert shown.count() == count
            assert set(shown.locator(".verdict").all_inner_texts()) == {verdict}


def test_the_sums_by_verdict_count_every_row_once(cheap):
    lost = replace(cheap[0], verdict=None, ran=False)
    asked = replace(cheap[0], verdict=None)
    counts = reproduce.summary([*cheap, lost, asked])
    assert counts[GOOD] == 2 and counts[WRONG] == 1
    assert counts["answered"] == counts["could not run"] == 1
    assert sum(counts.values()) == len(cheap) + 2


def test_the_stored_outcome_is_complete_and_speaks_of_the_claims_as_they_are_now(cheap):
    rows = reproduce.stored()
    assert [row.id for row in rows] == IDS
    for row in rows:
        claim = reproduce.CLAIMS[row.id]
        stated = (row.source, row.claim, row.printed, row.rule, row.chapter)
        assert stated == (claim.source, claim.claim, claim.printed, claim.judged, claim.chapter)
        assert row.change in (None, claim.change)
        assert row.ran and (row.verdict is None) == row.id.startswith("new-")
    verdicts = {row.id: row.verdict for row in rows}
    assert all(verdicts[row.id] == row.verdict for row in cheap)
