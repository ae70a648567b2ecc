"""Explorers in their three homes: a test, a published page, a live kernel."""

from __future__ import annotations

import base64
import html
import io
import itertools
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from matplotlib import colormaps, rc_context
from PIL import Image

from markov_transformers import Choice, Explorer, Slider
from markov_transformers._progress import STORE_VARIABLE

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


@pytest.fixture(autouse=True)
def live(monkeypatch):
    """Start each test as a live kernel, whatever ran before."""
    monkeypatch.delenv(STORE_VARIABLE, raising=False)


def draw_curve(figure, power, height, colour):
    if height == 3:
        figure.subplots()  # a drawing that fails half way
        raise ArithmeticError("too <high>")
    figure.clear()
    x = np.linspace(0, 1, 20)
    figure.subplots().plot(x, height * x**power, color=colour)
    return f"A {colour} curve of power {power:g} and height {height:g}."


def curve(**changed):
    controls = {
        "power": Slider("power n", [1, 1.5, 2, 2.5, 3], start=2, page=[1, 2, 3], play=True),
        "height": Slider("height & more", [0, 1, 2, 3], start=1),
        "colour": Choice("colour", ["black", "red", "blue"], start="red", page=["red", "blue"]),
    }
    presets = {"A line": {"power": 1}, "Tall": {"height": 2, "colour": "black"}}
    return Explorer(
        draw_curve, controls, **{"name": "curve", "title": "A <curve>", "presets": presets, **changed}
    )


class Page(HTMLParser):
    """The elements of a page, and the texts within them."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.texts, self.inside = [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in ("img", "input"):
            self.inside.append(tag)

    def handle_endtag(self, tag):
        assert self.inside.pop() == tag

    def handle_data(self, text):
        self.texts.append((self.inside[-1] if self.inside else None, text))

    def all(self, tag, **attributes):
        return [a for t, a in self.elements if t == tag and attributes.items() <= a.items()]

    def frame(self, **values):
        """Return the stored frame of the explorer `curve` at these values."""
        told = {"power n": 2, "height & more": 1, "colour": "red", **values}
        return self.state()["frames"][", ".join(f"{label} = {value}" for label, value in told.items())]

    def state(self):
        index = [t for t, _ in self.elements].index("script")
        assert self.elements[index][1] == {"type": "application/json", "class": "mt-state"}
        return json.loads(next(text for tag, text in self.texts if tag == "script"))


@pytest.fixture(scope="module")
def page():
    return curve().page()


def picture(data):
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), dtype=float)


def frame_picture(frame):
    head, data = frame["image"].split(",")
    assert head == "data:image/webp;base64"
    return picture(base64.b64decode(data))


# A test -------------------------------------------------------------------------------------------


def test_every_corner_can_be_drawn():
    explorer = curve()
    for power, height, colour in itertools.product([1, 3], [0, 2], ["black", "blue"]):
        figure, text = explorer.render(power=power, height=height, colour=colour)
        assert text == f"A {colour} curve of power {power} and height {height}."
        line = figure.axes[0].lines[0]
        assert line.get_color() == colour
        assert line.get_ydata()[-1] == height


def test_controls_that_are_not_named_stand_at_their_start():
    assert curve().render()[1] == "A red curve of power 2 and height 1."
    assert curve().render(power=1.5)[1] == "A red curve of power 1.5 and height 1."
    assert curve().values(height=0) == {"power": 2, "height": 0, "colour": "red"}


def test_each_rendering_is_a_new_figure_of_the_size_asked_for():
    explorer = curve(size=(5, 3))
    first, second = explorer.render()[0], explorer.render()[0]
    assert first is not second
    np.testing.assert_array_equal(first.get_size_inches(), [5, 3])


def test_what_a_drawing_raises_reaches_the_caller():
    with pytest.raises(ArithmeticError, match="too <high>"):
        curve().render(height=3)


def test_drawing_leaves_pyplot_and_its_style_alone():
    import matplotlib
    from matplotlib import pyplot

    before, figures = dict(matplotlib.rcParams), pyplot.get_fignums()
    curve().render()
    assert dict(matplotlib.rcParams) == before
    assert pyplot.get_fignums() == figures


def test_a_slider_takes_the_entries_of_a_computed_grid():
    grid = np.arange(0, 1, 0.1)  # 0.30000000000000004 is among them
    slider = Slider("p", grid, start=grid[3], page=grid[3:5])
    assert slider.start == 0.3
    assert slider.page == (0.3, 0.4)
    assert slider.values == (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


# The published page -------------------------------------------------------------------------------


def test_the_page_is_the_same_to_the_byte_each_time(page):
    explorer = curve()
    assert explorer.page() == explorer.page() == page


def test_the_page_does_not_depend_on_the_style_of_the_session(page):
    with rc_context({"xtick.labelsize": 40, "axes.titley": 0.5, "font.size": 5}):
        assert curve().page() == page


def test_the_page_is_the_same_after_a_live_session(page):
    explorer = curve()
    explorer._live.fields["power"].value = 3
    assert explorer.page() == page


def test_the_page_carries_each_frame_with_its_own_picture_and_text(page):
    shown = Page(page)
    for power, colour in itertools.product([1, 2, 3], ["red", "blue"]):
        frame = shown.frame(**{"power n": power, "colour": colour})
        assert frame["alt"] == f"A {colour} curve of power {power} and height 1."
        assert frame["alt"] in page
        # The pixels that are more of one colour than of another tell what was drawn.
        shot = frame_picture(frame)
        assert shot.shape == (420, 720, 3)
        redness = (shot[..., 0] - shot[..., 2]).sum()
        assert (redness > 0) == (colour == "red")
    pictures = [frame["image"] for frame in shown.state()["frames"].values()]
    assert len(set(pictures)) == len(pictures) == 7  # six, and the black one of a preset


def test_a_frame_shows_what_a_drawing_from_scratch_shows(page):
    frame = Page(page).frame(**{"power n": 3, "colour": "blue"})
    figure, _ = curve().render(power=3, colour="blue")
    figure.canvas.draw()
    expected = np.asarray(figure.canvas.buffer_rgba())[..., :3].astype(float)
    gap = np.abs(frame_picture(frame) - expected)
    assert gap.mean() < 1  # compression apart


def test_a_frame_keeps_the_shades_of_a_heat_map_and_the_colour_of_a_small_mark_beside_it():
    vermilion = (213, 94, 0)
    shades = colormaps["cividis"](np.linspace(0, 1, 36), bytes=True)[:, :3]

    def draw(figure, x):
        figure.clear()
        left, right = figure.subplots(1, 2)
        left.imshow(np.arange(36).reshape(6, 6), cmap="cividis")
        right.plot(np.arange(1000), np.sin(np.arange(1000)), color="0.3")
        right.plot([500], [0], "s", color=np.array(vermilion) / 255, markersize=4)
        return f"Drawing {x}."

    explorer = Explorer(draw, {"x": Slider("x", [0, 1], 0, page=[0])}, name="n", title="T")
    (frame,) = Page(explorer.page()).state()["frames"].values()
    figure, _ = explorer.render()
    figure.canvas.draw()
    drawn = np.asarray(figure.canvas.buffer_rgba())[..., :3]
    shown = frame_picture(frame)
    assert len(np.unique(shown.reshape(-1, 3), axis=0)) <= 64 < len(np.unique(drawn.reshape(-1, 3), axis=0))
    for color in (vermilion, *shades):
        there = (drawn == color).all(axis=-1)
        assert there.any()
        assert (shown[there] == color).all()


def test_presets_lead_to_their_frames_and_control_positions(page):
    shown = Page(page)
    state = shown.state()
    names = [text for tag, text in shown.texts if tag == "button"]
    assert names == ["Play", "Start", "A line", "Tall"]
    texts = [state["frames"][p["frame"]]["alt"] for p in state["presets"]]
    assert texts == [
        "A red curve of power 2 and height 1.",
        "A red curve of power 1 and height 1.",
        "A black curve of power 2 and height 2.",
    ]
    assert [p["at"] for p in state["presets"]] == [[2, 1, 1], [0, 1, 1], [2, 2, 0]]
    buttons = [a["data-preset"] for a in shown.all("button") if "data-preset" in a]
    assert buttons == ["0", "1", "2"]


def test_the_page_opens_on_the_start(page):
    shown = Page(page)
    state = shown.state()
    start = state["frames"][state["presets"][0]["frame"]]
    (image,) = shown.all("img")
    assert image["src"] == start["image"]
    assert image["alt"] == start["alt"]
    assert shown.all("input")[0]["value"] == "1"
    assert ("output", state["presets"][0]["frame"]) in shown.texts
    (form,) = shown.all("form")
    assert "hidden" in form  # until the script that serves it has run


def test_every_field_has_its_label(page):
    shown = Page(page)
    fields = [a["id"] for tag, a in shown.elements if tag in ("input", "select")]
    assert fields == ["curve-power", "curve-colour"]
    assert [a["for"] for a in shown.all("label")] == fields
    identifiers = [a["id"] for _, a in shown.elements if "id" in a]
    assert len(set(identifiers)) == len(identifiers)
    (slider,) = shown.all("input")
    assert (slider["min"], slider["max"]) == ("0", "2")
    assert json.loads(slider["data-stops"]) == [0, 2, 4]
    assert shown.state()["controls"][0]["texts"] == ["1", "1.5", "2", "2.5", "3"]
    assert ("span", "2") in shown.texts  # what the slider says before any script runs


def test_the_page_says_which_controls_need_a_kernel_for_more(page):
    assert "A live kernel adds more values of: power n, height &amp; more, colour." in page
    whole = Explorer(
        lambda figure, x: "A picture.", {"x": Slider("x", [0, 1], 0, page=[0, 1])}, name="w", title="W"
    )
    assert "live kernel" not in whole.page()


def test_the_page_asks_no_other_host_for_anything(page):
    assert not re.search(
        r"https?:|//[a-z0-9.-]+\.[a-z]{2,}/|@import|url\(|fetch\(|import\(", page, re.IGNORECASE
    )
    for tag, attributes in Page(page).elements:
        assert not {"href", "srcset", "action", "data"} & attributes.keys(), tag
        assert attributes.get("src", "data:").startswith("data:")


@pytest.mark.parametrize("text", ["</script><b>", "<!-- <script>", '"><img src=x>', "a & b \\ < \u2028 'c'"])
def test_no_text_breaks_out_of_its_place(text):
    explorer = Explorer(
        lambda figure, x: text + x,
        {"x": Choice(text, [text, "b"], start=text, page=[text, "b"])},
        name="n",
        title=text,
        presets={text: {}},
    )
    source = explorer.page()
    shown = Page(source)
    assert not shown.inside
    assert [tag for tag, _ in shown.elements].count("script") == 2
    assert not shown.all("b") and len(shown.all("img")) == 1
    assert sorted(frame["alt"] for frame in shown.state()["frames"].values()) == sorted(
        [text + text, text + "b"]
    )
    assert shown.all("img")[0]["alt"] == text + text
    assert ("figcaption", text) in shown.texts
    # A browser reads a script that holds "<!--" and "<script" past its end.
    assert "<!--" not in source


def sides():
    """An explorer in which the number of corners matters for polygons only."""
    controls = {
        "shape": Choice("shape", ["line", "polygon"], start="line", page=["line", "polygon"]),
        "corners": Slider("corners", [3, 4, 5], start=4, page=[3, 4], when={"shape": "polygon"}),
    }

    def draw(figure, shape, corners):
        return f"A {shape} of {corners} corners."

    return Explorer(draw, controls, name="sides", title="Sides")


def test_a_control_that_does_not_matter_has_no_frames_of_its_own_and_is_not_told():
    state = Page(sides().page()).state()
    at = {caption: frame["at"] for caption, frame in state["frames"].items()}
    assert at == {
        "shape = line": [0, -1],
        "shape = polygon, corners = 3": [1, 0],
        "shape = polygon, corners = 4": [1, 1],
    }
    assert state["controls"][1]["when"] == [[0, 1]]


def test_a_live_control_is_there_only_while_it_matters():
    shown = sides()._live
    assert shown.fields["corners"].layout.display == "none"
    shown.fields["shape"].value = "polygon"
    assert shown.fields["corners"].layout.display == ""


@pytest.mark.parametrize("when", [{"shape": "circle"}, {"corners": 3}, {"colour": "red"}, ["shape"]])
def test_a_condition_that_no_other_control_can_meet_is_refused(when):
    shape = Choice("shape", ["line", "polygon"], start="line")
    with pytest.raises((ValueError, TypeError), match="when"):
        corners = Slider("corners", [3, 4], start=3, when=when)
        Explorer(lambda figure, **_: "", {"shape": shape, "corners": corners}, name="n", title="T")


def test_two_explorers_share_no_identifier_on_one_page(page):
    other = Page(curve(name="other").page())
    mine = {a["id"] for _, a in Page(page).elements if "id" in a}
    assert not mine & {a["id"] for _, a in other.elements if "id" in a}


def test_drawing_the_page_reuses_one_figure():
    figures = []

    def draw(figure, x):
        figures.append(figure)
        figure.artists_kept.setdefault("drawings", []).append(x)
        return f"Drawing {len(figure.artists_kept['drawings'])}."

    values = [0, 1, 2]
    Explorer(draw, {"x": Slider("x", values, 0, page=values)}, name="n", title="T").page()
    assert len(figures) == 3  # the preset Start is one of them
    assert len(set(map(id, figures))) == 1


# A live kernel ------------------------------------------------------------------------------------


def test_moving_a_field_replaces_the_image_and_its_text():
    shown = curve()._live
    before = shown.image.value
    assert picture(before).shape == (420, 720, 3)
    shown.fields["power"].value = 3
    assert shown.image.value != before
    assert shown.description == "A red curve of power 3 and height 1."
    assert shown.description in shown.message.value
    shown.fields["power"].value = 2
    assert shown.image.value == before


def test_the_live_image_shows_what_a_drawing_from_scratch_shows():
    explorer = curve()
    explorer._live.fields["colour"].value = "blue"
    figure, _ = explorer.render(colour="blue")
    figure.canvas.draw()
    expected = np.asarray(figure.canvas.buffer_rgba())[..., :3]
    np.testing.assert_array_equal(picture(explorer._live.image.value), expected)


def test_a_widget_for_a_large_screen_has_more_pixels_and_can_be_drawn_later():
    waiting = []
    box = curve().widget(dpi=150, schedule=waiting.append)
    image = next(widget for widget in box.children if "mt-live-image" in widget._dom_classes)
    assert not image.value
    for draw in waiting:
        draw()
    assert picture(image.value).shape == (630, 1080, 3)
    with pytest.raises(ValueError, match="dpi must"):
        curve().widget(dpi=0)


def test_a_live_field_offers_every_value():
    fields = curve()._live.fields
    assert [value for _, value in fields["power"].options] == [1, 1.5, 2, 2.5, 3]
    assert [value for _, value in fields["colour"].options] == ["black", "red", "blue"]


def free_text():
    def draw(figure, word):
        if not word.isalpha():
            raise ValueError(f"{word} is no word")
        figure.clear()
        figure.text(0.1, 0.5, word)
        return f"The word {word}."

    words = Choice("word", ["cat", "dog"], start="cat", page=["cat", "dog"], free="a word of your own")
    return Explorer(draw, {"word": words}, name="free", title="Free", presets={"Dog": {"word": "dog"}})


def test_a_reader_may_type_what_no_option_offers():
    shown = free_text()._live
    (text,) = [w for w in widgets(shown) if hasattr(w, "placeholder") and w.placeholder.startswith("or a")]
    before = shown.image.value
    text.value = " horse "
    assert shown.description == "The word horse."
    assert shown.image.value != before
    assert shown.fields["word"].value == "horse"
    text.value = "h0rse"
    assert "ValueError: h0rse is no word" in shown.message.value
    text.value = "dog"
    assert shown.description == "The word dog."
    text.value = ""
    assert shown.fields["word"].value == "dog"
    buttons(shown)["Reset"].click()
    assert shown.description == "The word cat."
    assert shown.image.value == before


def test_the_page_says_that_a_live_kernel_takes_text():
    assert "A live kernel adds more values of: word (also a word of your own)." in free_text().page()
    assert free_text().render(word="horse")[1] == "The word horse."
    with pytest.raises(ValueError, match="word must be one of"):
        free_text().render(word=" ")


def test_values_that_cannot_be_drawn_say_why_and_the_next_ones_recover():
    explorer = curve()
    shown = explorer._live
    good = shown.image.value
    shown.fields["height"].value = 3
    assert "cannot be drawn" in shown.message.value
    assert html.escape("ArithmeticError: too <high>") in shown.message.value
    assert shown.image.value == good
    shown.fields["height"].value = 1
    assert "cannot be drawn" not in shown.message.value
    assert shown.image.value == good
    shown.fields["height"].value = 2
    assert shown.image.value != good


def test_what_a_failed_drawing_left_behind_does_not_spoil_the_next_one():
    def draw(figure, x):
        kept = figure.artists_kept
        if "line" not in kept:
            kept["line"] = figure.subplots().plot([0, 1], [0, 1])[0]
        if x == 1:
            figure.text(0.5, 0.5, "half a drawing")
            raise ArithmeticError
        kept["line"].set_ydata([0, x])
        return f"A line to {x}."

    explorer = Explorer(draw, {"x": Slider("x", [0, 1, 2], start=0)}, name="n", title="T")
    good = explorer._live.image.value
    for x in (1, 0):
        explorer._live.fields["x"].value = x
    assert explorer._live.image.value == good


def widgets(shown):
    queue = [shown.box]
    while queue:
        widget = queue.pop()
        queue.extend(getattr(widget, "children", ()))
        yield widget


def buttons(shown):
    return {widget.description: widget for widget in widgets(shown) if hasattr(widget, "click")}


def test_reset_and_presets_set_every_control_and_draw_once():
    drawn = []

    def draw(figure, **values):
        drawn.append(values)
        return draw_curve(figure, **values)

    shown = Explorer(
        draw, curve().controls, name="n", title="T", presets={"Tall": {"height": 2, "power": 1}}
    )._live
    assert drawn == [{"power": 2, "height": 1, "colour": "red"}]
    start = shown.image.value
    buttons(shown)["Tall"].click()
    assert drawn[1:] == [{"power": 1, "height": 2, "colour": "red"}]
    shown.fields["colour"].value = "blue"
    buttons(shown)["Reset"].click()
    assert drawn[-1] == drawn[0]
    assert len(drawn) == 4
    assert {key: field.value for key, field in shown.fields.items()} == drawn[0]
    assert shown.image.value == start


def test_the_player_and_its_field_move_together():
    import ipywidgets

    shown = curve()._live
    controls = shown.box.children[-1]
    rows = [row for row in controls.children if isinstance(row, ipywidgets.HBox)]
    player, field = rows[0].children
    assert isinstance(player, ipywidgets.Play)
    assert field is shown.fields["power"]
    assert (player.min, player.max, player.value) == (0, 4, 2)
    player.value = 4
    assert field.value == 3
    assert shown.description == "A red curve of power 3 and height 1."
    field.value = 1.5
    assert player.value == 1


def test_a_live_kernel_shows_the_widget_and_a_still_for_those_who_have_none():
    explorer = curve()
    bundle = explorer._repr_mimebundle_()
    assert bundle.keys() == {"text/html", "text/plain", WIDGET_VIEW}
    assert bundle[WIDGET_VIEW]["model_id"] == explorer._live.box.model_id
    (image,) = Page(bundle["text/html"]).all("img")
    assert image["alt"] == "A red curve of power 2 and height 1."
    assert base64.b64decode(image["src"].split(",")[1]) == explorer._live.image.value
    assert bundle["text/plain"] == repr(explorer)


def test_a_stored_output_is_the_page_and_holds_no_widget(monkeypatch, page):
    monkeypatch.setenv(STORE_VARIABLE, "1")
    explorer = curve()
    bundle = explorer._repr_mimebundle_()
    assert bundle == {"text/html": page, "text/plain": "Explorer(A <curve>: power n, height & more, colour)"}
    assert "_live" not in vars(explorer)


def test_a_value_of_another_number_type_becomes_the_sliders_own():
    explorer = Explorer(
        lambda figure, n: f"the number {n}" * range(3)[n],
        {"n": Slider("n", [0, 1, 2], start=1)},
        name="numbers",
        title="Numbers",
    )
    assert explorer.values(n=2.0) == {"n": 2}
    assert isinstance(explorer.values(n=np.float64(2))["n"], int)
    for value in (True, np.array([1, 2]), "1", None, float("nan")):
        with pytest.raises(ValueError, match="n must be one of"):
            explorer.values(n=value)
