"""Every page of the built book, opened as a file: complete, light, legible, and open to everyone."""

from __future__ import annotations

import gzip
import importlib.util
import re
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urlparse

import pytest

ROOT = Path(__file__).parents[1]
DESKTOP, TELEPHONE = {"width": 1280, "height": 900}, {"width": 360, "height": 740}
ENLARGED = {"width": 640, "height": 450}  # what is left of the desktop at 200 %

# Layout -------------------------------------------------------------------------------------------

PROSE = """() => {
  const article = document.querySelector("article").cloneNode(true);
  article.querySelectorAll("pre, code, script, style, mjx-container").forEach((e) => e.remove());
  return article.textContent;
}"""

# Words and controls of the article that stick out of the window, unless a box of theirs scrolls.
CUT_OFF = """() => {
  const inside = (e) => {
    for (let box = e.parentElement; box && box !== document.body; box = box.parentElement) {
      if (["auto", "scroll"].includes(getComputedStyle(box).overflowX)) return true;
    }
    const { left, right } = e.getBoundingClientRect();
    return left >= -1 && right <= innerWidth + 1;
  };
  const words = "p, li, h1, h2, h3, dt, dd, figcaption", controls = "a, button, input, select, summary";
  return [...document.querySelectorAll(`article :is(${words}, ${controls})`)]
    .filter((e) => e.checkVisibility({ visibilityProperty: true }) && !inside(e))
    .map((e) => e.outerHTML.slice(0, 200));
}"""


def test_a_page_asks_no_other_host_and_typesets_its_mathematics(opened, name_of_page):
    page = opened(name_of_page)
    assert page.locator("article h1").count() == 1
    assert page.locator("mjx-merror").count() == 0
    assert page.locator(".math:not(:has(mjx-container)):not(:has(.math))").all_inner_texts() == []
    assert not re.search(r"\\[a-zA-Z(\[]|\$", page.evaluate(PROSE))


def test_a_page_fits_a_telephone_and_loses_nothing_at_200_percent(opened, name_of_page):
    page = opened(name_of_page)
    for viewport in (TELEPHONE, ENLARGED):
        page.set_viewport_size(viewport)
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
        assert page.evaluate(CUT_OFF) == []


def test_lines_of_80_characters_and_whole_figures_fit_a_desktop(opened, name_of_page):
    page = opened(name_of_page, mathematics=False)
    code = page.locator("article .cell > .cell_input pre")
    if code.count():
        width, padding, characters = code.first.evaluate(
            """pre => {
              const ruler = pre.appendChild(document.createElement("span"));
              ruler.textContent = "0".repeat(80);
              const { paddingLeft, paddingRight } = getComputedStyle(pre);
              return [pre.clientWidth, parseFloat(paddingLeft) + parseFloat(paddingRight), ruler.offsetWidth];
            }"""
        )
        assert characters + padding <= width
    cut = "pictures => pictures.filter((box) => box.scrollWidth > box.clientWidth + 1).length"
    assert page.locator("article .picture").evaluate_all(cut) == 0


def test_on_paper_there_is_the_chapter_alone_black_on_white(opened):
    page = opened("markov-chains", mathematics=False, color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.emulate_media(media="print")
    assert page.locator("h1:visible").all_inner_texts() == ["Markov chains"]
    assert page.locator("article p").last.is_visible()
    for part in (".bd-sidebar-primary", ".bd-sidebar-secondary", ".bd-header-article", ".prev-next-footer"):
        assert not page.locator(part).first.is_visible(), part


# Accessibility ------------------------------------------------------------------------------------

ALWAYS = {"resultTypes": ["violations"], "preload": False}  # style sheets cannot be read again from a file
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
ALL_RULES = {
    **ALWAYS,
    "runOnly": WCAG,
    "rules": {"label-content-name-mismatch": {"enabled": True}, "target-size": {"enabled": True}},
}
RULES_OF_COLOUR = {**ALWAYS, "runOnly": ["color-contrast", "link-in-text-block"]}
RULES_OF_WIDTH = {**ALWAYS, "runOnly": ["scrollable-region-focusable", "target-size", "meta-viewport"]}
UNFOLD = """() => {
  document.querySelectorAll("details").forEach((e) => { e.open = true; });
  document.querySelectorAll(".toggle-button-hidden").forEach((e) => e.click());
}"""


def told(violations):
    """Return rule, element and reason of each violation, for a message that can be acted upon."""
    return [
        (violation["id"], node["target"], node["html"][:200], node["failureSummary"])
        for violation in violations
        for node in violation["nodes"]
    ]


def test_axe_finds_no_fault_with_a_page_in_light_in_dark_and_on_a_telephone(opened, axe, name_of_page):
    # To save nine tenths of the time: MathJax's elements are not ours to mend, and code has the
    # same colours on every page.
    page = opened(name_of_page, mathematics=False, reduced_motion="reduce")
    but = None if name_of_page == "markov-chains" else {"exclude": ["pre"]}
    page.evaluate(UNFOLD)
    assert told(axe(page, but, ALL_RULES)) == []
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    assert told(axe(page, but, RULES_OF_COLOUR)) == []
    page.set_viewport_size(TELEPHONE)
    assert told(axe(page, None, RULES_OF_WIDTH)) == []


# Give each control that can be seen a number, in the order of the page.
NUMBERED = """() => {
  const controls = [...document.querySelectorAll("a[href], button, input, select, textarea, summary")];
  const seen = { visibilityProperty: true, opacityProperty: true };
  const usable = controls.filter((e) => e.checkVisibility(seen) && !e.disabled);
  usable.forEach((e, number) => { e.dataset.number = number; });
  return usable.map((e) => e.outerHTML.slice(0, 160));
}"""
FOCUSED = """() => {
  const e = document.activeElement, style = getComputedStyle(e);
  const marked = style.outlineStyle !== "none" || style.boxShadow !== "none";
  return [e.dataset.number === undefined ? null : Number(e.dataset.number), marked];
}"""


@pytest.mark.parametrize("name", ["index", "markov-chains"])
def test_the_tab_key_reaches_every_control_and_shows_where_it_is(opened, name):
    page = opened(name, mathematics=False)
    controls = page.evaluate(NUMBERED)
    reached, unmarked = [], []
    for _ in range(2 * len(controls) + 50):
        page.keyboard.press("Tab")
        number, marked = page.evaluate(FOCUSED)
        if number in reached[:1] and len(reached) > 1:
            break
        if number is not None:
            reached.append(number)
            if not marked:
                unmarked.append(controls[number])
    assert [controls[number] for number in sorted(set(range(len(controls))) - set(reached))] == []
    assert unmarked == []


# Size, search and what other programs are told ----------------------------------------------------


def test_a_page_with_all_that_it_loads_is_under_2_mb(opened, name_of_page):
    opened(name_of_page)
    paths = {unquote(urlparse(url).path) for url in opened.requests if url.startswith("file:")}
    assert len(paths) > 10
    packed = {path: len(gzip.compress(Path(path).read_bytes(), 6)) for path in paths}  # as servers send it
    assert sum(packed.values()) < 2_000_000, sorted(packed.items(), key=lambda item: -item[1])[:5]


def test_the_search_field_finds_the_information_set(opened):
    page = opened("index", mathematics=False)
    page.keyboard.press("Control+k")
    page.keyboard.type("information set")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=information+set*")
    page.locator("#search-results ul.search a").first.wait_for()
    page.wait_for_function("document.querySelector('.search-summary').textContent.includes('found')")
    found = {
        link.get_attribute("href").split("?")[0] for link in page.locator("#search-results ul.search a").all()
    }
    assert {"information-with-a-price.html", "glossary.html"} <= {link.split("#")[0] for link in found}


def test_a_page_says_its_language_title_and_subject_and_nothing_is_left_of_the_defaults(built, name_of_page):
    text = (built / f"{name_of_page}.html").read_text()
    assert '<html lang="en"' in text
    icon = re.search(r'<link rel="icon" href="([^"]*)"', text)
    assert (built / name_of_page).parent.joinpath(icon[1]).is_file()
    assert re.search(r"<title>.*How Transformers Learn Markov Chains</title>", text)
    for key in ('name="description"', 'property="og:title"', 'property="og:description"'):
        assert re.search(rf'<meta {key} content="[^"]{{5,}}" />', text), key
    for default in (
        "My sample book",
        "Sample Book",
        "The Jupyter Book community",
        "executablebooks",
        "Last updated",
    ):
        assert default not in text


def extension(name):
    """Return one of the book's own Sphinx extensions."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "book" / "_ext" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("repository", "baseurl", "address"),
    [
        ("", "", ""),
        ("https://github.com/Owner/name", "", "https://owner.github.io/name/"),
        ("https://github.com/owner/name.git", "", "https://owner.github.io/name/"),
        ("https://github.com/owner/name", "https://book.example/", "https://book.example/"),
        ("https://git.example/owner/name", "", ""),
    ],
)
def test_the_address_follows_from_the_repository_unless_another_is_given(repository, baseurl, address):
    pytest.importorskip("sphinx")
    config = SimpleNamespace(html_theme_options={"repository_url": repository}, html_baseurl=baseurl)
    extension("preview").publish_at(None, config)
    assert config.html_baseurl == address


def test_a_published_page_names_its_own_address_and_a_picture():
    pytest.importorskip("sphinx")
    from docutils import nodes
    from docutils.utils import new_document

    document = new_document("page")
    document += nodes.paragraph(text="What <it> is about. " + "More of it. " * 30)
    config = SimpleNamespace(html_title="Book", html_baseurl="https://o.github.io/n/", root_doc="index")
    context = {"title": "A <em>title</em>", "pageurl": "https://o.github.io/n/page.html"}
    extension("preview").add_preview(SimpleNamespace(config=config), "page", "", context, document)
    told = dict(re.findall(r'<meta (?:name|property)="([^"]*)" content="([^"]*)" />', context["metatags"]))
    assert told["og:title"] == "A title"
    assert told["og:url"] == context["pageurl"]
    assert told["og:image"] == "https://o.github.io/n/_static/cover.png"
    assert told["description"].startswith("What &lt;it&gt; is about. More")
    assert told["description"].endswith("More of it.") and len(told["description"]) < 220


def test_every_term_of_the_glossary_leads_to_a_chapter(built):
    text = (built / "glossary.html").read_text()
    explained = re.findall(r"<dd>.*?</dd>", text[text.index("simple glossary") :], flags=re.DOTALL)
    assert len(explained) >= 40
    targets = [re.search(r'href="([a-z-]+)\.html#', one) for one in explained]
    assert all(target and (ROOT / "book" / f"{target[1]}.ipynb").exists() for target in targets)
