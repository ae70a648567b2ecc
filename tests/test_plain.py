"""Notebooks can be read wherever they run: plain Markdown, whose links say and reach what they should."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import nbformat
import pytest
from pybtex.database import parse_file

ROOT = Path(__file__).parents[1]
BOOK = ROOT / "book"
CELLS = {path.name: nbformat.read(path, as_version=4).cells for path in sorted(BOOK.glob("*.ipynb"))}
TEXTS = {
    name: "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    for name, cells in CELLS.items()
}
WORKS = parse_file(BOOK / "references.bib").entries
LINK = re.compile(r"\[([^\]]*)\]\(([\w-]+\.(?:ipynb|md))?(?:#([\w-]+))?\)")
# Chapters under a name of their own, each where the sentence wants it.
BY_ANOTHER_NAME = {"generalized induction head", "the chapter before"}

each_notebook = pytest.mark.parametrize("name", TEXTS)


def extension(name):
    """One of the book's own Sphinx extensions."""
    spec = importlib.util.spec_from_file_location(name, BOOK / "_ext" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def as_myst():
    """The book's translation of plain Markdown into MyST."""
    return extension("plain").as_myst


def title(name):
    return re.search(r"^# (.*)$", TEXTS.get(name) or (BOOK / name).read_text(encoding="utf-8"), re.MULTILINE)[
        1
    ]


def places(name):
    """What can be linked to in a notebook: blocks, equations and figures."""
    figures = (cell.metadata.get("mystnb", {}).get("figure", {}).get("name") for cell in CELLS[name])
    text = TEXTS[name]
    return {
        *re.findall(r'id="([\w-]+)"', text),
        *re.findall(r"^\$\$ \(([\w-]+)\)", text, re.MULTILINE),
        *figures,
    }


def cited(key):
    """Authors and year as a sentence has them."""
    people = WORKS[key].persons["author"]
    names = [" ".join(person.prelast_names + person.last_names) for person in people]
    shown = names[0] + " et al." if len(names) > 2 else " and ".join(names)
    return re.sub(r"[{}]", "", shown), WORKS[key].fields["year"]


@each_notebook
def test_a_notebook_has_no_markup_that_only_the_book_understands(name):
    assert re.findall(r"\{[\w:]+\}`|^ *(?:`{3,}|:{3,})\{.*|^\([\w-]+\)=$", TEXTS[name], re.MULTILINE) == []


@each_notebook
def test_a_link_to_a_chapter_gives_its_title(name):
    for words, file, place in LINK.findall(TEXTS[name]):
        if file and not place:
            assert words == title(file) or words in BY_ANOTHER_NAME


@each_notebook
def test_a_link_to_a_place_leads_to_the_notebook_that_has_it(name):
    for words, file, place in LINK.findall(TEXTS[name]):
        if place and file != "bibliography.md":
            assert place in places(file or name), words


@each_notebook
def test_a_citation_gives_authors_and_year(name):
    for words, file, key in LINK.findall(TEXTS[name]):
        if file == "bibliography.md":
            authors, year = cited(key)
            assert words in (f"{authors} ({year})", f"{authors}, {year}")


def test_the_bibliography_names_a_work_as_the_text_cites_it():
    pytest.importorskip("sphinxcontrib.bibtex", reason="needs the extra [book]")
    labels = extension("author_year").Labels().format_labels(list(WORKS.values()))
    assert list(labels) == [", ".join(cited(key)) for key in WORKS]


@each_notebook
def test_every_block_and_link_becomes_markup_of_the_book(name, as_myst):
    myst = as_myst(TEXTS[name])
    assert re.findall(r'<div class="(?!question)[^>]*>|<a id=.*|\]\([\w.-]*#.*', myst) == []
    blocks = re.findall(r'<div class="(?!question)(\w+)"', TEXTS[name])
    assert re.findall(r"^::::\{(?:prf:)?(\w+)\}", myst, re.MULTILINE) == blocks


def test_plain_markdown_and_what_the_book_reads(as_myst):
    plain = """<a id="chapter-two"></a>
# Two

By [Theorem “One”](one.ipynb#thm-one), [(eq-sum)](#eq-sum), [the figure](#fig-sum) and
[Shannon (1948)](bibliography.md#shannon1948), known for long ([Whittle, 1955](bibliography.md#whittle1955)).

<div class="theorem" id="thm-two">

**Theorem (Two (or more))**

Let $x = 2$.

So it is.

</div>

<div class="proof">

*Proof.*

Add.

</div>

<div class="exercise" id="ex-add">

**Exercise: Add · ★☆☆ · 5 min**

Add, as in [Add](#ex-add).

</div>"""
    assert (
        as_myst(plain)
        == """(chapter-two)=
# Two

By {prf:ref}`thm-one`, {eq}`eq-sum`, {numref}`fig-sum` and
{cite:t}`shannon1948`, known for long {cite:p}`whittle1955`.

::::{prf:theorem} Two (or more)
:label: thm-two

Let $x = 2$.

So it is.
::::

::::{prf:proof}
Add.
::::

::::{exercise} Add · ★☆☆ · 5 min
:label: ex-add

Add, as in {ref}`ex-add`.
::::"""
    )
