"""Citations by authors and year: in the bibliography as in the text, and in the text as in the notebooks."""

from __future__ import annotations

from collections.abc import Iterator

import pybtex.plugin
import sphinxcontrib.bibtex.plugin
from pybtex.database import Entry
from pybtex.style.formatting.unsrt import Style
from pybtex.style.labels import BaseLabelStyle
from sphinx.application import Sphinx
from sphinxcontrib.bibtex.style.referencing import BracketStyle
from sphinxcontrib.bibtex.style.referencing.author_year import AuthorYearReferenceStyle


class Labels(BaseLabelStyle):
    """Labels such as "Shi and Cao, 2025"."""

    def format_labels(self, sorted_entries: list[Entry]) -> Iterator[str]:
        """Yield the label of each work."""
        for work in sorted_entries:
            names = [" ".join(map(str, one.rich_last_names)) for one in work.persons["author"]]
            shown = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
            yield f"{shown}, {work.fields['year']}"


class Bibliography(Style):
    """The plain style, sorted by author and labelled by authors and year."""

    default_label_style = Labels
    default_sorting_style = "author_year_title"


class References(AuthorYearReferenceStyle):
    """Shi and Cao (2025), with round brackets."""

    def __init__(self) -> None:
        round_ones = BracketStyle("(", ")")
        super().__init__(bracket_textual=round_ones, bracket_parenthetical=round_ones)


def setup(app: Sphinx) -> dict[str, bool]:
    """Give both styles a name that _config.yml can use."""
    pybtex.plugin.register_plugin("pybtex.style.formatting", "book", Bibliography)
    sphinxcontrib.bibtex.plugin.register_plugin("sphinxcontrib.bibtex.style.referencing", "book", References)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
