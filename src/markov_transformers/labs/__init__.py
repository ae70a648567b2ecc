"""Laboratories: a transformer that trains in the reader's own browser, with no kernel.

A laboratory is one piece of HTML in a notebook's output. It carries its style, its engine and its
page, asks no host for anything, and works the same in the book, in Jupyter and in Colab.
"""

from __future__ import annotations

import html

from .. import _validation as check
from ._bundle import ENGINES, asset, program

__all__ = ["Lab", "induction", "walk"]


class Lab:
    """A laboratory, shown by a notebook as one self-contained piece of HTML.

    Parameters
    ----------
    name : {'induction', 'walk'}
        Which one.

    Raises
    ------
    ValueError
        If there is no laboratory of that name.

    Examples
    --------
    >>> Lab("walk")
    Lab(Walk laboratory)
    """

    def __init__(self, name: str) -> None:
        self.name = check.choice("name", name, tuple(ENGINES))
        self.title = f"{self.name.capitalize()} laboratory"

    def __repr__(self) -> str:
        return f"Lab({self.title})"

    def page(self) -> str:
        """Return the laboratory as HTML: style, a place for it, and the script that fills it."""
        title = html.escape(self.title)
        return (
            f"<style>{asset('lab.css')}</style>"
            f'<section class="mt-lab" data-lab="{self.name}" aria-label="{title}">'
            f'<p class="mt-lab-title">{title}</p>'
            '<p class="mt-lab-wait">This laboratory trains in your browser. It needs JavaScript, and in a '
            "notebook its cell has to be run.</p>"
            f"</section><script>{program(self.name)}</script>"
        )

    def _repr_html_(self) -> str:
        return self.page()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": self.page(), "text/plain": repr(self)}


def induction() -> Lab:
    """Return the laboratory in which a two-layer transformer learns to copy by matching.

    Examples
    --------
    >>> induction()
    Lab(Induction laboratory)
    """
    return Lab("induction")


def walk() -> Lab:
    """Return the laboratory in which a one-layer transformer learns a walk on a circle.

    Examples
    --------
    >>> "<script>" in walk().page()
    True
    """
    return Lab("walk")
