"""Public names from their docstrings: ``public`` documents those of a module, ``names`` lists them."""

from __future__ import annotations

import importlib
import inspect
from operator import attrgetter

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.ext.autodoc.mock import mock
from sphinx.util.docutils import SphinxDirective

import markov_transformers

PACKAGE = markov_transformers.__name__


def names_of(home: str) -> list[str]:
    """Return the public names of a module, as a reader reaches them."""
    if home in markov_transformers._HOMES:
        return [f"{PACKAGE}.{name}" for name in markov_transformers._HOMES[home]]
    module = importlib.import_module(f"{PACKAGE}.{home}")
    return [f"{PACKAGE}.{home}.{name}" for name in module.__all__]


def documented(name: str) -> list[str]:
    """Return the lines that document one public name."""
    value = attrgetter(name.removeprefix(f"{PACKAGE}."))(markov_transformers)
    if inspect.isclass(value):
        return [f".. autoclass:: {name}", "   :members:", ""]
    if callable(value):
        return [f".. autofunction:: {name}", ""]
    return [f".. data:: {name.removeprefix(f'{PACKAGE}.')}", "", f"   {values(value)}", ""]


def values(constant: tuple) -> str:
    """Return the values of a constant as they are shown."""
    return ", ".join(f"``{item!r}``" for item in constant)


def listed(name: str) -> list[str]:
    """Return the lines of a row: a public name, and the first line of its docstring."""
    value = attrgetter(name.removeprefix(f"{PACKAGE}."))(markov_transformers)
    told = inspect.getdoc(value).splitlines()[0] if callable(value) else values(value)
    return [f"   * - :py:obj:`{name.removeprefix(f'{PACKAGE}.')}`", f"     - {told}"]


class FromLines(SphinxDirective):
    """Write lines of reStructuredText and have them parsed."""

    def lines(self) -> list[str]:
        """Return the lines."""
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        """Return what the lines say."""
        with mock(self.config.autodoc_mock_imports):
            lines = [f".. currentmodule:: {PACKAGE}", "", *self.lines()]
        node = nodes.section()
        node.document = self.state.document
        self.state.nested_parse(StringList(lines, source=self.env.docname), 0, node)
        return node.children


class Public(FromLines):
    """Document a module: what it is about, then each of its public names."""

    required_arguments = 1

    def lines(self) -> list[str]:
        """Return the module's docstring and the entries of its names."""
        home = self.arguments[0]
        about = [
            f".. automodule:: {PACKAGE}.{home}",
            "   :no-index:",
            "",
            f".. currentmodule:: {PACKAGE}",
            "",
        ]
        return about + [line for name in names_of(home) for line in documented(name)]


class Names(FromLines):
    """List the public names of modules in a table, a line each."""

    required_arguments = 1
    final_argument_whitespace = True

    def lines(self) -> list[str]:
        """Return the table."""
        names = [name for home in self.arguments[0].split() for name in names_of(home)]
        head = [".. list-table::", "   :header-rows: 1", "", "   * - Name", "     - What it is or does"]
        return head + [line for name in names for line in listed(name)]


def see_past_the_mock(
    app: Sphinx, what: str, name: str, value: object, options: object, signature: str, returns: str
) -> tuple[str, str] | None:
    """Take the arguments of a literal model from itself where its base class, torch's, is a mock."""
    if what != "class" or signature != "(*args, **kwargs)":
        return None
    arguments = list(inspect.signature(value.__init__).parameters.values())[1:]
    plain = [one.replace(annotation=inspect.Parameter.empty) for one in arguments]
    return str(inspect.Signature(plain)), ""


def setup(app: Sphinx) -> dict[str, bool]:
    """Add both directives."""
    app.add_directive("public", Public)
    app.add_directive("names", Names)
    app.connect("autodoc-process-signature", see_past_the_mock)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
