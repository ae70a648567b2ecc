"""The built book in a headless browser, opened as files, the way a reader without a server opens it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from markov_transformers import Slider, explorers

ROOT = Path(__file__).parents[1]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text())
PAGES = [TOC["root"], *(chapter["file"] for part in TOC["parts"] for chapter in part["chapters"])]
each_page = pytest.mark.parametrize("name", PAGES)
each_explorer = pytest.mark.parametrize("name", explorers.__all__)


def missing(what):
    """Skip on a reader's machine; fail where every test has to run."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(what)


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """The folder of the book's pages: the one that `make book` left, or a new one if that is out of date."""
    pages = ROOT / "_build" / "html"
    sources = [ROOT / "_toc.yml", ROOT / "_config.yml", *(p for p in ROOT.glob("book/**/*") if p.is_file())]
    changed = max(path.stat().st_mtime for path in sources)
    complete = all((pages / f"{name}.html").exists() for name in [*PAGES, "search"])
    if complete and (pages / "searchindex.js").stat().st_mtime > changed:
        return pages
    command = shutil.which(
        "jupyter-book", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    )
    if command is None:
        missing('the book is not built: run "make book", or install the extra [book]')
    target = tmp_path_factory.mktemp("book")
    settings = ["--config", ROOT / "_config.yml", "--toc", ROOT / "_toc.yml", "--path-output", target, "-q"]
    build = subprocess.run([command, "build", ROOT / "book", *settings], capture_output=True, text=True)
    assert build.returncode == 0, build.stderr
    return target / "_build" / "html"


@pytest.fixture(scope="session")
def browser():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("Playwright is missing: install the extra [test]")
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        missing("no browser found: install Chromium, for example with apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=SWITCHES)
        yield browser
        browser.close()


@pytest.fixture
def opened(browser, built):
    """A function that opens a page of the book; whatever went wrong on it fails the test at its end."""
    contexts, complaints = [], []

    def open_page(name, mathematics=True, **settings):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **settings})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: complaints.append(request.url) if outside(request.url) else None)
        if settings.get("java_script_enabled", True):  # a browser without it drops scripts half way
            page.on("requestfailed", lambda request: complaints.append(f"failed: {request.url}"))
        if not mathematics:  # to save time
            page.route("**/mathjax/**", lambda route: route.fulfill(body=""))
        page.goto((built / f"{name}.html").as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def outside(url):
    return not url.startswith(("file:", "data:", "blob:"))


# Pages --------------------------------------------------------------------------------------------

PROSE = """() => {
  const article = document.querySelector("article").cloneNode(true);
  article.querySelectorAll("pre, code, script, style, mjx-container").forEach((e) => e.remove());
  return article.textContent;
}"""


@each_page
def test_a_page_asks_no_other_host_typesets_its_mathematics_and_fits_a_telephone(opened, name):
    page = opened(name)
    page.evaluate("window.MathJax?.startup?.promise")
    assert page.locator("article h1").count() == 1
    assert page.locator("mjx-merror").count() == 0
    assert page.locator(".math:not(:has(mjx-container)):not(:has(.math))").all_inner_texts() == []
    assert not re.search(r"\\[a-zA-Z(\[]|\$", page.evaluate(PROSE))
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


# Explorers ----------------------------------------------------------------------------------------


class Shown:
    """An explorer on a page, as a reader meets it."""

    def __init__(self, opened, built, name, **settings):
        self.explorer = getattr(explorers, name)()
        identifier = f"explorer-{self.explorer.name}"
        homes = [page for page in PAGES if f'id="{identifier}"' in (built / f"{page}.html").read_text()]
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

    def told(self, key, value):
        """Return how the line below the picture tells a value."""
        control = self.explorer.controls[key]
        return f"{control.label} = {control.show(value)}"


def picture_follows(shown, key, base):
    """Step a field through its values and return whether picture and alternative text change."""
    shown.press(base, "Enter")
    field, control, seen = shown.fields[key], shown.explorer.controls[key], []
    for value in control.page:
        forward = "ArrowRight" if isinstance(control, Slider) else "ArrowDown"
        shown.press(field, forward if seen else "Home")
        seen.append(shown.now())
        assert shown.told(key, value) in seen[-1][2]
        if isinstance(control, Slider):
            assert field.get_attribute("aria-valuetext") == control.show(value)
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
        assert all(shown.told(key, value) in shown.now()[2] for key, value in values.items())
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
