"""The directive `exercise-list`: every exercise of the book in one table, from the library's own list."""

from __future__ import annotations

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import markov_transformers as mt


def rows() -> list[str]:
    """Return the table in Markdown: for each chapter a line with its sum, then its exercises."""
    catalogue = mt.exercises.catalogue()
    lines = ["| Chapter and exercises | Level | Minutes |", "|---|---|---:|"]
    for number, chapter in enumerate(mt.exercises.CHAPTERS, start=1):
        exercises = [exercise for exercise in catalogue if exercise.chapter == chapter]
        minutes = sum(exercise.minutes for exercise in exercises)
        lines.append(f"| **{number}. {{ref}}`chapter-{chapter}`** | | **{minutes}** |")
        for exercise in exercises:
            link = f"{{ref}}`{exercise.title} <ex-{exercise.name}>`"
            lines.append(f"| {link} | {exercise.marks} | {exercise.minutes} |")
    return lines


class ExerciseList(SphinxDirective):
    """Let the parser turn the references of the table into links."""

    def run(self) -> list[nodes.Node]:
        """Return the parsed table."""
        container = nodes.container()
        self.state.nested_parse(StringList(rows(), self.env.docname), self.content_offset, container)
        return container.children


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("exercise-list", ExerciseList)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
