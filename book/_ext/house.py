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


def preload_no_font(app: Sphinx, error: Exception | None) -> None:
    """Drop the theme's hints to load fonts early, which browsers refuse for a page opened as a file."""
    if error or app.builder.format != "html":
        return
    for page in Path(app.outdir).glob("*.html"):
        text = page.read_text(encoding="utf-8")
        kept = re.sub(r'<link rel="preload" as="font"[^>]*>\n?', "", text)
        if kept != text:
            page.write_text(kept, encoding="utf-8")


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
    app.connect("build-finished", preload_no_font)
    app.connect("build-finished", miss_no_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
