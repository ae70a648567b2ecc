"""The built book and a headless browser, shared by the tests that look at pages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
PAGES = re.findall(r"(?:root|file): (\S+)", (ROOT / "_toc.yml").read_text())


def pytest_generate_tests(metafunc):
    """Run a test that asks for `name_of_page` on every page."""
    if "name_of_page" in metafunc.fixturenames:
        metafunc.parametrize("name_of_page", PAGES)


def missing(what):
    """Skip on a reader's machine; fail where every test has to run."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(what)


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """The folder of the book's pages: the one that `make book` left, or a new one if that is out of date."""
    pages = ROOT / "_build" / "html"
    sources = [ROOT / "_toc.yml", ROOT / "_config.yml", *(p for p in ROOT.glob("book/**/*") if p.is_file())]
    changed = max(path.stat().st_mtime for path in sources if "__pycache__" not in path.parts)
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
    """Chromium, started once."""
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


@pytest.fixture(scope="session")
def axe():
    """A function that returns what the accessibility checker axe-core finds wrong with a page."""
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        missing("axe-core is missing: install the extra [test]")
    return lambda page, context, options: Axe().run(page, context, options).response["violations"]


@pytest.fixture
def opened(browser, built):
    """A function that opens a page of the book; whatever went wrong on it fails the test at its end."""
    contexts, complaints, requests = [], [], []

    def failure(request):  # but for one that ended because the page was left
        return [] if request.failure == "net::ERR_ABORTED" else [f"failed: {request.url}"]

    def open_page(name, mathematics=True, **settings):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **settings})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        if settings.get("java_script_enabled", True):  # a browser without it drops scripts half way
            page.on("requestfailed", lambda request: complaints.extend(failure(request)))
        if not mathematics:  # to save time
            page.route("**/mathjax/**", lambda route: route.fulfill(body=""))
        page.goto((built / f"{name}.html").as_uri())
        if mathematics:
            page.evaluate("window.MathJax?.startup?.promise")
        return page

    open_page.requests = requests
    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []


NUMBERS = """value => {
  const numbers = (value) =>
    ArrayBuffer.isView(value) || Array.isArray(value) ? Array.from(value, numbers)
    : value && typeof value === "object"
      ? Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, numbers(entry)]))
    : value;
  window.numbers = numbers;
}"""


@pytest.fixture(scope="session")
def laboratory(browser):
    """Open a page where a laboratory's engine is in scope, prepared by a script of the test's own.

    The result calls a JavaScript function with one argument and returns plain lists and numbers.
    """
    from markov_transformers.labs._bundle import engine

    def start(name, prepare):
        page = browser.new_page()
        page.goto("about:blank")
        page.evaluate(NUMBERS)
        page.evaluate(
            """source => import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })))
              .then((module) => { window.engine = module; })""",
            engine(name),
        )
        page.evaluate(prepare)
        return lambda function, argument=None: page.evaluate(f"x => numbers(({function})(x))", argument)

    return start


@pytest.fixture(scope="session")
def taken_apart(browser):
    """Open a page where names of a laboratory's program are in scope and nothing has been started.

    The result calls a JavaScript function with one argument.
    """
    from markov_transformers.labs._bundle import program

    def start(name, *names):
        page = browser.new_page()
        shared = f"Object.assign(window, {{ {', '.join(names)} }});"
        page.evaluate(program(name).replace("start(lab, program);", shared))
        return page.evaluate

    return start
