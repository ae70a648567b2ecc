"""The induction laboratory shows what the chapters say, and reads a typed sequence as the library does."""

from __future__ import annotations

import re

import numpy as np
import pytest

import markov_transformers as mt
from markov_transformers.labs import induction

TRAINED = "document.querySelector('.mt-lab-said').textContent.includes('After Stage II')"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("lab") / "induction.html"
    path.write_text(f'<!doctype html><html lang="en"><meta charset="utf-8">{induction().page()}', "utf-8")
    return path.as_uri()


@pytest.fixture
def opened(browser, address):
    """A function that opens the laboratory with some settings and waits until it has trained."""
    pages = []

    def open_lab(settings="", ready=TRAINED):
        page = browser.new_page()
        pages.append(page)
        page.goto(f"{address}#lab-induction:{settings}")
        page.wait_for_function(ready, timeout=60_000)
        return page

    yield open_lab
    for page in pages:
        page.close()


def said(page):
    return page.locator(".mt-lab-said").inner_text()


def alternative(page, panel):
    return page.locator(f"[data-panel={panel}] svg").get_attribute("aria-label")


@pytest.mark.parametrize(
    "settings, sentence",
    [
        ("", "Stage I chose {1, 2}, the parents."),
        ("alpha=0.01", "Stage I chose {3}, while the parents are {1, 2}."),
        ("alpha=0.01&gap=3.99", "Stage I chose {1, 2}, the parents."),
        ("alpha=0.01&a=1", "Stage I chose {1, 2}, the parents."),
        ("gap=0.5", "Stage I chose {1}, while the parents are {1, 2}."),
        ("alpha=0.5&lags=2", "Stage I chose {2}, the parent."),
        ("alpha=1&a=10", "No set has won Stage I"),
        ("lags=1,4", "Stage I chose {1}, while the parents are {1, 4}, of which no head can see lag 4."),
        ("lags=1,2,3", "Stage I chose {1, 2}, while the parents are {1, 2, 3}, too many for one set."),
    ],
)
def test_stage_one_chooses_the_set_that_the_chapters_name(opened, settings, sentence):
    assert said(opened(settings)).startswith(sentence)


def test_only_stage_three_cuts_the_loss(opened):
    page = opened()
    slider = page.locator("[id$=-moment]")
    losses = []
    for moment in (0, 15, 30, 45):
        slider.evaluate(
            "(field, value) => { field.value = value; field.dispatchEvent(new Event('input')); }", moment
        )
        page.wait_for_timeout(200)
        losses.append(float(re.search(r"(?:loss is|loss from [\d.]+ to) ([\d.]+\d)", said(page))[1]))
    assert losses[0] == pytest.approx(losses[2], rel=0.02)
    assert losses[3] < 0.2 * losses[2]


def test_a_typed_sequence_is_answered_as_the_induction_head_of_the_library_answers(opened):
    typed = "2012021011220121001"
    page = opened(f"typed={typed}")
    told = re.findall(r"(\d): transformer ([\d.]+) %, induction head ([\d.]+) %", alternative(page, "next"))
    head = mt.GeneralizedInductionHead((1, 2), 3).predict([[int(token) for token in typed]], 3)[0]
    assert [float(share) for _, _, share in told] == pytest.approx(100 * head, abs=0.06)
    assert [float(share) for _, share, _ in told] == pytest.approx(100 * head, abs=1)


def test_the_transformer_looks_where_the_typed_pair_occurred_before(opened):
    typed = "2012021011220121001"
    page = opened(f"typed={typed}")
    attention = re.findall(r"([\d.]+) %|none", alternative(page, "look").split(": ")[1])
    places = [place for place, share in enumerate(attention) if share and float(share) > 10]
    assert places == [place for place in range(3, len(typed)) if typed[place - 2 : place] == typed[-2:]]
    assert len(places) == 3


@pytest.mark.parametrize(
    "settings, hint",
    [
        ("typed=01", "Type at least 4 digits from 0 to 2."),
        ("typed=0 1 3 2 x 0 3", "Only digits from 0 to 2 are tokens here; left out: 3 x"),
        ("typed=0 1 3 2 0 3&d=4", "Digits from 0 to 3."),
    ],
)
def test_what_is_wrong_with_a_typed_sequence_stands_below_it(opened, settings, hint):
    page = opened(settings)
    field = page.locator("[data-panel=look] [id$=-typed]")
    assert page.locator(f"[id='{field.get_attribute('aria-describedby')}']").inner_text() == hint
    assert field.get_attribute("aria-invalid") == str(not hint.startswith("Digits")).lower()


def test_a_long_sequence_is_shown_whole(opened):
    typed = "0120" * 30
    page = opened(f"typed={typed}")
    page.locator("[data-panel=look] svg").wait_for(state="attached")
    tiles = page.locator("[data-panel=look] svg text").evaluate_all(
        """all => all.flatMap(({ x, y, textContent: digits }) => {
          const [left, top] = [x, y].map(({ baseVal }) => Array.from(baseVal, ({ value }) => value));
          return left.length === digits.length ? left.map((at, i) => [top[i], at, digits[i]]) : [];
        })"""
    )
    assert "".join(digit for _, _, digit in sorted(tiles)) == typed


def test_the_map_says_where_no_set_wins(opened):
    ready = "document.querySelector('.mt-lab').getAttribute('aria-busy') === 'false'"
    cells = opened("alpha=1&a=10", ready=ready).locator("[data-panel=map]")
    cells.locator("summary").click()
    cells.locator("td").first.wait_for()
    assert "none" in cells.locator("td").all_inner_texts()


@pytest.mark.parametrize(
    "settings, leaders",
    [("gap=0", "{1, 2}, {1, 3} and {2, 3} lead with 33.3 % each"), ("alpha=1&a=10", "{1} leads")],
)
def test_a_race_without_a_winner_names_all_who_lead(opened, settings, leaders):
    assert f"No set has won Stage I: {leaders}" in said(opened(settings))


def test_settings_that_would_take_hours_are_refused_with_a_way_out(opened):
    message = "document.querySelector('.mt-lab-message')"
    page = opened("descent=descent&two=50000000", ready=f"{message} && !{message}.hidden")
    assert "choose the flow" in page.locator(".mt-lab-message").inner_text()


TOLD = """changes => {
  const settings = settled(lab, { ...startOf(lab), chains: 300, ...changes });
  for (const result of lab.compute(settings, {})) {
    if (!result?.losses) continue;
    const [start, stageTwo, end] = [0, 30, 45].map((moment) => result.states[moment]);
    const [before, after] = [0, 45].map((moment) => lab.describe(result, { ...settings, moment }));
    const heads = result.parents.map((_, h) => start.attention[h * settings.window + h]);
    return { before, after, start, stageTwo, end, heads, window: settings.window, losses: result.losses };
  }
}"""


@pytest.fixture(scope="module")
def told(taken_apart):
    """A function that trains in the laboratory and returns its sentences with the numbers of the run."""
    run = taken_apart("induction", "lab", "startOf", "settled")
    return lambda settings: run(TOLD, settings)


unusual = pytest.mark.parametrize(
    "settings",
    [
        {},
        {"alpha": 1, "a": 10, "chains": 1000},
        {"alpha": 0.01, "a": 1},
        {"a": 0.1, "gap": 8},
        {"a": 0.3},
        {"gap": 0},
    ],
)


@unusual
def test_the_sentence_on_stage_three_gives_its_own_changes_in_the_right_direction(told, settings):
    run = told(settings)
    sentence = run["after"].replace("−", "-").split("Stage III ")[1].split(";")[0]
    for name, what in (("a", "a"), ("loss", "the loss")):
        began, ended = run["stageTwo"][name], run["end"][name]
        moved = re.search(rf"(raised|lowered) {what} from (\S+) to (\S+)", sentence)
        if moved:
            assert (moved[1] == "raised") == (ended > began)
            assert [float(moved[2]), float(moved[3])] == pytest.approx([began, ended], rel=5e-3)
        else:
            left = float(re.search(rf"left {what} at (\S+)", sentence)[1])
            assert [left, left] == pytest.approx([began, ended], rel=5e-3)


def test_stage_three_is_said_to_lower_a_scale_that_began_too_large(told):
    assert "Stage III lowered a from 10 to 9.9" in told({"alpha": 1, "a": 10, "chains": 1000})["after"]


@unusual
def test_the_sentence_before_training_agrees_with_the_heads_and_the_loss(told, settings):
    run = told(settings)
    gain = run["losses"][0] - run["start"]["loss"]  # over the frequencies
    assert ("nearly the frequencies" in run["before"]) == (gain < 0.02)
    leans = [share > 1.1 / run["window"] for share in run["heads"]]
    assert ("leans towards its own lag" in run["before"]) == all(leans)
    assert ("looks at all lags alike" in run["before"]) == (not any(leans))


PRESET = """name => {
  const settings = settled(lab, { ...startOf(lab), ...lab.presets[name].set });
  let last;
  for (const result of lab.compute(settings, {})) if (result?.lengths) { last = result; break; }
  const sets = last.sets.map(String), [start, two, end] = [0, 30, 45].map((moment) => last.states[moment]);
  const own = (state, h) => state.attention[(h - 1) * settings.window + h - 1];
  return {
    shares: Object.fromEntries(sets.map((set, S) => [set, end.p[S]])),
    start: [1, 2, 3].map((h) => own(start, h)),
    end: [1, 2, 3].map((h) => own(two, h)),
    loss: end.loss, losses: last.losses, growth: last.growth.a, lengths: last.lengths[0],
  };
}"""


@pytest.fixture(scope="module")
def preset(taken_apart):
    """A function that trains with the settings of a preset and returns the numbers that its line is about."""
    run = taken_apart("induction", "lab", "startOf", "settled")
    return lambda name: run(PRESET, name)


def wins(run, winner):
    """Whether a set has won Stage I, or none has."""
    return (max(run["shares"].values()) < 0.95) if winner is None else (run["shares"][winner] > 0.95)


PAIR = "1,2"
TRUE_OF = {
    "Figure 3 as printed": lambda run: wins(run, "3"),
    "Figure 3, α of the code": lambda run: wins(run, PAIR),
    "Repaired: wider gap": lambda run: wins(run, PAIR),
    "Repaired: larger a(0)": lambda run: wins(run, PAIR),
    "Too large an a(0)": lambda run: wins(run, None) and run["loss"] - run["losses"][2] < 0.005,
    "Figure 3(b): heads as sharp": lambda run: min(run["end"][:2]) > 0.9995,
    "Theorem 3.6": lambda run: wins(run, PAIR) and np.subtract(run["end"], run["start"]).max() < 1e-3,
    "Figure 7": lambda run: (
        (np.diff(run["lengths"]) < 0).all() and run["lengths"][-1] < 0.6 * run["lengths"][0]
    ),
    "One parent": lambda run: (
        wins(run, "2") and (np.subtract(run["end"], run["start"]) > 0.05).tolist() == [False, True, False]
    ),
    "Blurred heads": lambda run: wins(run, "1") and run["loss"] > 3 * run["losses"][1],
    "Growth that ends": lambda run: (
        abs(run["growth"][-1] - 4) < 0.5 and run["growth"][-1] < 1.01 * run["growth"][-25]
    ),
}


@pytest.mark.parametrize("name", TRUE_OF)
def test_the_line_of_a_preset_is_true(preset, name):
    assert TRUE_OF[name](preset(name))


def test_every_preset_has_its_line_tested(taken_apart):
    assert taken_apart("induction", "lab")("Object.keys(lab.presets)") == list(TRUE_OF)


EVERYWHERE = """seed => {
  const rng = new Random(seed), pick = (values) => values[rng.integer(values.length)], wrong = [];
  for (let trial = 0; trial < 15; trial++) {
    let settings = startOf(lab);
    for (const [key, control] of Object.entries(lab.controls)) {
      if (control.kind === "slider") settings[key] = pick(positions(control, settings));
      if (control.kind === "choice" && key !== "descent") settings[key] = pick(Object.keys(control.values));
    }
    const typed = pick(["", "0", "0 1 0 1 1 0 1", "<b>012</b>", "0".repeat(120), "4321043210"]);
    const small = { chains: 100, length: pick([20, 50]), typed, seed: rng.integer(1000) };
    settings = settled(lab, { ...settings, ...small });
    for (const result of lab.compute(settings, {})) {
      if (!result) continue;
      const pictures = lab.panels.map((panel) => panel.draw(result, settings, pick([240, 700])));
      const texts = [lab.describe(result, settings), lab.status(result, settings)];
      const all = [...texts, ...pictures.map((picture) => picture ? picture.svg + picture.alt : "")].join();
      if (/NaN|undefined|Infinity/.test(all)) wrong.push(JSON.stringify(settings));
      if (result.lengths) break;
    }
  }
  return wrong;
}"""


def test_all_panels_can_be_drawn_anywhere_in_the_space_of_settings(taken_apart):
    run = taken_apart("induction", "lab", "Random", "startOf", "settled", "positions")
    assert run(EVERYWHERE, 0) == []
