"""The explorers of the built book in a headless browser, opened as files, without a kernel."""

from __future__ import annotations

import json

import pytest

from markov_transformers import Slider, explorers

each_explorer = pytest.mark.parametrize("name", explorers.__all__)


class Shown:
    """An explorer on a page, as a reader meets it."""

    def __init__(self, opened, built, name, **settings):
        self.explorer = getattr(explorers, name)()
        identifier = f"explorer-{self.explorer.name}"
        homes = [page.stem for page in built.glob("*.html") if f'id="{identifier}"' in page.read_text()]
        assert homes, f"no page shows {identifier}"
        self.page = opened(homes[0], mathematics=False, **settings)
        self.root = self.page.locator(f"#{identifier}")
        self.image, self.play = self.root.locator("img"), self.root.locator(".mt-play")
        self.presets = self.root.locator("[data-preset]")
        self.fields = {
            field.get_attribute("id").removeprefix(f"{self.explorer.name}-"): field
            for field in self.root.locator("input, select").all()
        }

    def now(self):
        """Return what can be seen and heard: the picture, its alternative text, the line below."""
        return tuple(
            self.root.evaluate(
                """root => {
                  const image = root.querySelector("img");
                  return [image.src, image.alt, root.querySelector("output").textContent];
                }"""
            )
        )

    def press(self, element, key):
        element.evaluate("element => element.focus()")
        self.page.keyboard.press(key)

    def matter(self, values):
        """Return the controls that matter where these values stand, with their values."""
        when = {key: control.when.items() for key, control in self.explorer.controls.items()}
        return {k: v for k, v in values.items() if all(values[other] == x for other, x in when[k])}

    def told(self, key, value):
        """Return how the line below the picture tells a value."""
        control = self.explorer.controls[key]
        return f"{control.label} = {control.show(value)}"


def picture_follows(shown, key, base):
    """Step a field through its values and return whether picture and alternative text change."""
    shown.press(base, "Enter")
    field, control, seen = shown.fields[key], shown.explorer.controls[key], []
    if not field.is_visible():
        return False
    for value in control.page:
        forward = "ArrowRight" if isinstance(control, Slider) else "ArrowDown"
        shown.press(field, forward if seen else "Home")
        seen.append(shown.now())
        assert shown.told(key, value) in seen[-1][2]
        if isinstance(control, Slider):
            assert field.get_attribute("aria-valuetext") == control.show(value)
            assert field.locator("xpath=..").locator(".mt-value").text_content() == control.show(value)
    assert field.evaluate("field => field.matches(':focus-visible')")
    pictures, alternatives, _ = map(set, zip(*seen))
    return len(pictures) > 1 and len(alternatives) > 1


@each_explorer
def test_an_explorer_obeys_the_keyboard(opened, built, name):
    shown = Shown(opened, built, name)
    start = shown.now()
    assert list(shown.fields) == [key for key, c in shown.explorer.controls.items() if c.page]
    for key in shown.fields:
        # From the start or from some preset: a control may have nothing to say to the others.
        assert any(picture_follows(shown, key, base) for base in shown.presets.all()), key
    for number, (label, values) in enumerate(shown.explorer.presets.items(), 1):
        button = shown.presets.nth(number)
        shown.press(button, "Enter")
        assert button.inner_text() == label
        assert button.get_attribute("aria-pressed") == "true"
        told = [shown.told(key, value) for key, value in shown.matter(values).items()]
        assert shown.now()[2] == ", ".join(told)
        for key, field in shown.fields.items():
            page = shown.explorer.controls[key].page
            assert values[key] not in page or page[int(field.input_value())] == values[key]
    shown.presets.first.press("Space")
    assert shown.now() == start
    assert shown.image.evaluate("image => image.decode().then(() => image.naturalWidth)") > 300


@each_explorer
def test_every_part_of_an_explorer_has_a_name_and_without_javascript_the_first_frame_stays(
    opened, built, name
):
    shown = Shown(opened, built, name, java_script_enabled=False)
    assert shown.root.count() == 1
    assert shown.root.get_attribute("aria-label") == shown.explorer.title
    for key, field in shown.fields.items():
        label = shown.root.locator(f"label[for='{field.get_attribute('id')}']")
        assert label.text_content() == shown.explorer.controls[key].label
        assert not field.is_visible()
    assert all(shown.root.locator("button").all_text_contents())
    state = json.loads(shown.root.locator(".mt-state").text_content())
    first = state["frames"][state["presets"][0]["frame"]]
    assert shown.image.get_attribute("src") == first["image"]
    assert shown.image.get_attribute("alt") == first["alt"]
    assert shown.image.bounding_box()["width"] > 300


@each_explorer
def test_a_move_after_a_preset_changes_one_control_or_says_which_others_went_where(opened, built, name):
    shown = Shown(opened, built, name)
    for button, values in zip(shown.presets.all(), [shown.explorer.start, *shown.explorer.presets.values()]):
        for key, field in shown.fields.items():
            shown.press(button, "Enter")
            if not field.is_visible():
                continue
            if isinstance(shown.explorer.controls[key], Slider):
                shown.press(field, "ArrowLeft" if field.evaluate("f => f.value === f.max") else "ArrowRight")
            else:
                field.select_option(index=0 if field.input_value() != "0" else 1)
            settings, _, remark = shown.now()[2].partition(". This page has no picture")
            for other, value in shown.matter(values).items():
                label = shown.explorer.controls[other].label
                kept, gone = shown.told(other, value) in settings, f"{label} = " not in settings
                assert other == key or kept or gone or f"{label} went from" in remark, (key, other)


def test_a_control_shows_only_while_it_matters(opened, built):
    shown = Shown(opened, built, "two_and_three_states")
    assert not shown.fields["leave_2"].is_visible()
    shown.fields["states"].select_option(label="three")
    assert shown.fields["leave_2"].is_visible()
    assert "chance to leave state 2 = 1" in shown.now()[2]


def test_play_runs_to_the_end_and_can_be_stopped(opened, built):
    shown = Shown(opened, built, "learning_the_walk")
    field, before = shown.fields["iteration"], shown.now()
    assert shown.play.inner_text() == "Play"
    shown.play.press("Enter")
    assert (shown.play.inner_text(), shown.play.get_attribute("aria-pressed")) == ("Stop", "true")
    assert shown.now() != before
    shown.play.press("Enter")
    assert (shown.play.inner_text(), shown.play.get_attribute("aria-pressed")) == ("Play", "false")
    for key in ("End", "ArrowLeft", "ArrowLeft"):
        field.press(key)
    shown.play.press("Enter")
    shown.page.wait_for_function("field => field.value === field.max", arg=field.element_handle())
    assert shown.play.inner_text() == "Play"


def test_for_those_who_want_calm_play_takes_one_step(opened, built):
    shown = Shown(opened, built, "learning_the_walk", reduced_motion="reduce")
    field = shown.fields["iteration"]
    before = int(field.input_value())
    assert shown.play.inner_text() == "Step"
    shown.play.press("Enter")
    shown.page.wait_for_timeout(700)
    assert int(field.input_value()) == before + 1


def test_an_explorer_leaves_its_neighbours_alone(opened, built):
    shown = Shown(opened, built, "circle_walk")
    sources = "[...document.querySelectorAll('.mt-frame')].map((image) => image.src)"
    before = shown.page.evaluate(sources)
    shown.fields["n_nodes"].press("ArrowRight")
    after = shown.page.evaluate(sources)
    assert len(before) > 1
    assert sum(a != b for a, b in zip(before, after)) == 1
