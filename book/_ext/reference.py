"""The directive ``public``: a module's public names, documented from their docstrings."""

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
    return [
        f".. data:: {name.removeprefix(f'{PACKAGE}.')}",
        "",
        f"   {', '.join(f'``{item!r}``' for item in value)}",
        "",
    ]


class Public(SphinxDirective):
    """List a module: what it is about, then each of its public names."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        home = self.arguments[0]
        lines = [f".. automodule:: {PACKAGE}.{home}", "   :no-index:", ""]
        lines += [f".. currentmodule:: {PACKAGE}", ""]
        with mock(self.config.autodoc_mock_imports):
            for name in names_of(home):
                lines += documented(name)
        node = nodes.section()
        node.document = self.state.document
        self.state.nested_parse(StringList(lines, source=self.env.docname), 0, node)
        return node.children


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
    """Add the directive."""
    app.add_directive("public", Public)
    app.connect("autodoc-process-signature", see_past_the_mock)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
