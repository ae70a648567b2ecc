"""What this book asks of Sphinx beyond Jupyter Book: pages that need no host, and none missing."""

from __future__ import annotations

import re
import shutil
from importlib.util import find_spec
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

# Parts of MathJax that a page may ask for: the program, its fonts, rarely used TeX packages, and
# the speech engine that a reader can switch on in the menu.
_MATHJAX_PARTS = ("tex-chtml.js", "output/chtml/fonts/woff-v2", "input/tex/extensions", "a11y", "sre")


def serve_mathjax(app: Sphinx, error: Exception | None) -> None:
    """Copy MathJax out of its Python package, so that pages ask no other host for it."""
    if error or app.builder.format != "html":
        return
    package = find_spec("mathjax")
    if package is None or not package.submodule_search_locations:
        raise ExtensionError("MathJax is missing; install the package django-static-mathjax")
    source = Path(package.submodule_search_locations[0], "static", "mathjax", "es5")
    target = Path(app.outdir, "_static", "mathjax")
    for part in _MATHJAX_PARTS:
        here, there = source / part, target / part
        if there.exists():
            continue
        there.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if here.is_dir() else shutil.copyfile)(here, there)


# What the theme and Sphinx write, and what stands there instead.
_MENDED = [
    # Browsers refuse to load fonts early for a page opened as a file.
    (r'<link rel="preload" as="font"[^>]*>\n?', ""),
    # Icons come twice, as a font and as a program of 1.5 MB. The font is enough.
    (r'<script src="[^"]*/fontawesome/[^"]*/js/[^"]*"></script>\n?', ""),
    # The sidebar lies outside of every landmark.
    (
        '<div class="bd-sidebar-primary bd-sidebar">',
        '<div class="bd-sidebar-primary bd-sidebar" role="complementary" aria-label="Book">',
    ),
    # A button's name has to begin with the words that can be read on it.
    (r'(class="btn search-button-field search-button__button" title="Search") aria-label="Search"', r"\1"),
    # The empty corner of a table heads nothing.
    (r'<th class="head"><p></p></th>', '<td class="head"></td>'),
    # A fold is named by the words on it.
    (r'<summary aria-label="Toggle hidden content">', "<summary>"),
    # A full stop stays with the formula before it.
    (
        r'(?<!unbroken">)(<span class="math notranslate nohighlight">[^<]*</span>[.,;:?!)]+)',
        r'<span class="unbroken">\1</span>',
    ),
    # A picture gets a box of its own, which scrolls on telephones while the caption stays.
    (r'(?<!picture">)(<img [^>]*src="_images/[^>]*>)', r'<span class="picture">\1</span>'),
    # Roles of the bibliography that are out of use, or promise a list that is none.
    (r' role="doc-biblioentry"', ""),
    (r'<div role="list" class="citation-list">', '<div class="citation-list">'),
]


def mend_pages(app: Sphinx, error: Exception | None) -> None:
    """Mend what would slow a page down, fail when it is opened as a file, or mislead a screen reader."""
    if error or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        text = mended = page.read_text(encoding="utf-8")
        for pattern, replacement in _MENDED:
            mended = re.sub(pattern, replacement, mended)
        if mended != text:
            page.write_text(mended, encoding="utf-8")


def miss_no_page(app: Sphinx, error: Exception | None) -> None:
    """Fail if a page that the table of contents names was not built."""
    if error or app.builder.format != "html":
        return
    pages = list(app.config.external_site_map)
    missing = [name for name in pages if not Path(app.outdir, f"{name}.html").is_file()]
    if missing:
        raise ExtensionError(f"pages in _toc.yml were not built: {', '.join(sorted(missing))}")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the three to the end of a build."""
    app.connect("build-finished", serve_mathjax)
    app.connect("build-finished", mend_pages)
    app.connect("build-finished", miss_no_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
