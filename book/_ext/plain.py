"""Notebooks in plain Markdown, which Jupyter, Colab and GitHub show as it is, and a book with references.

A chapter is written so that it can be read wherever it runs: a reference is a link with words of its
own, a theorem a block with a heading. Before Sphinx reads a notebook, this turns each into the role
or directive of MyST that numbers it.
"""

from __future__ import annotations

import json
import re

from sphinx.application import Sphinx

_RESULTS = "definition|theorem|proposition|lemma|corollary"
_ELSEWHERE = r"(?:[\w-]+\.ipynb)?"  # another notebook that a link leads to

# What stands in a notebook, and what MyST makes of it.
_FORMS = [
    # The place that other pages refer to.
    (r'^<a id="([\w-]+)"></a>$', r"(\1)="),
    # Blocks: a heading in bold, or the word Proof, then the text.
    (
        rf'^<div class="({_RESULTS})" id="([\w-]+)">\n\n\*\*\w+ \(([^\n]*)\)\*\*\n\n(.*?)\n\n</div>$',
        r"::::{prf:\1} \3\n:label: \2\n\n\4\n::::",
    ),
    (r'^<div class="proof">\n\n\*Proof\.\*\n\n(.*?)\n\n</div>$', r"::::{prf:proof}\n\1\n::::"),
    (
        r'^<div class="exercise" id="([\w-]+)">\n\n\*\*Exercise: ([^\n]*)\*\*\n\n(.*?)\n\n</div>$',
        r"::::{exercise} \2\n:label: \1\n\n\3\n::::",
    ),
    # Links, by where they lead.
    (r"\(\[[^\]]*\]\(bibliography\.md#(\w+)\)\)", r"{cite:p}`\1`"),
    (r"\[[^\]]*\]\(bibliography\.md#(\w+)\)", r"{cite:t}`\1`"),
    (rf"\[\(([\w-]+)\)\]\({_ELSEWHERE}#\1\)", r"{eq}`\1`"),
    (rf"\[[^\]]*\]\({_ELSEWHERE}#((?:def|thm|prop|lem|cor)-[\w-]+)\)", r"{prf:ref}`\1`"),
    (rf"\[[^\]]*\]\({_ELSEWHERE}#(fig-[\w-]+)\)", r"{numref}`\1`"),
    (rf"\[[^\]]*\]\({_ELSEWHERE}#(ex-[\w-]+)\)", r"{ref}`\1`"),
]


def as_myst(text: str) -> str:
    """Return the text of a cell with roles and directives in place of links and blocks."""
    for pattern, replacement in _FORMS:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE | re.DOTALL)
    return text


def read(app: Sphinx, name: str, source: list[str]) -> None:
    """Turn the Markdown cells of a notebook into MyST."""
    if app.env.doc2path(name).endswith(".ipynb"):
        notebook = json.loads(source[0])
        for cell in notebook["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = as_myst("".join(cell["source"]))
        source[0] = json.dumps(notebook)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect it to the reading of a page."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
