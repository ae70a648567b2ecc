"""The directive `exercise-list`: every exercise of the book in one table, from the library's own list."""

from __future__ import annotations

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import markov_transformers as mt


class ExerciseList(SphinxDirective):
    """Write the table in Markdown and let the parser turn its references into links."""

    def run(self) -> list[nodes.Node]:
        """Return the parsed table."""
        rows = ["| Chapter | Exercise | Level | Minutes |", "|---|---|---|---|"]
        shown = ""
        for exercise in mt.exercises.catalogue():
            chapter = "" if exercise.chapter == shown else f"{{ref}}`chapter-{exercise.chapter}`"
            shown = exercise.chapter
            link = f"{{ref}}`{exercise.title} <ex-{exercise.name}>`"
            rows.append(f"| {chapter} | {link} | {exercise.marks} | {exercise.minutes} |")
        container = nodes.container()
        self.state.nested_parse(StringList(rows, self.env.docname), self.content_offset, container)
        return container.children


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("exercise-list", ExerciseList)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
