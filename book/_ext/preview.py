"""What other programs are told about a page: its address, and what to show where a link to it is shared."""

from __future__ import annotations

import posixpath
import re
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

_LONGEST = 200  # characters of a description that search engines and messengers still show
_COVER = ("_static/cover.png", "What a one-layer transformer learns from walks: attention and value matrix.")


def publish_at(app: Sphinx, config: Config) -> None:
    """Expect the book at its repository's GitHub Pages, unless `html: baseurl:` names another address."""
    repository = config.html_theme_options.get("repository_url", "")
    on_github = re.fullmatch(r"https://github\.com/([^/]+)/([^/]+?)(\.git)?/?", repository)
    if on_github and not config.html_baseurl:
        owner, name = on_github.group(1, 2)
        config.html_baseurl = f"https://{owner.lower()}.github.io/{name}/"


def describe(doctree: nodes.document) -> str:
    """Return the first paragraph, shortened to whole sentences where it is long."""
    first = next(doctree.findall(nodes.paragraph), None)
    text = "" if first is None else re.sub(r"\s+", " ", first.astext()).strip()
    if len(text) <= _LONGEST:
        return text
    sentences = re.match(rf".{{1,{_LONGEST}}}[.!?](?= )", text)
    return sentences[0] if sentences else text[:_LONGEST].rsplit(" ", 1)[0] + " …"


def add_preview(
    app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Add the description, and the Open Graph properties that link previews are made of."""
    if doctree is None:  # the search page
        return
    book, description = app.config.html_title, describe(doctree)
    properties = {
        "og:type": "website" if name == app.config.root_doc else "article",
        "og:site_name": book,
        "og:title": re.sub(r"<[^>]*>", "", context.get("title", "")) or book,
        "og:description": description,
    }
    address = app.config.html_baseurl
    if address:  # pictures and pages are named by full addresses, or not at all
        image, alternative = _COVER
        properties |= {
            "og:url": context["pageurl"],
            "og:image": posixpath.join(address, image),
            "og:image:alt": alternative,
            "twitter:card": "summary_large_image",
        }
    lines = [f'<meta name="description" content="{escape(description)}" />'] if description else []
    lines += [
        f'<meta property="{key}" content="{escape(text)}" />' for key, text in properties.items() if text
    ]
    context["metatags"] = context.get("metatags", "") + "\n    ".join(["", *lines])


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect both to the build."""
    app.connect("config-inited", publish_at, priority=900)  # once the theme's options are there
    app.connect("html-page-context", add_preview)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
