"""Laboratories: a transformer that trains in the reader's own browser, with no kernel.

A laboratory is one piece of HTML in a notebook's output. It carries its style, its engine and its
page, asks no host for anything, and works the same in the book, in Jupyter and in Colab.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from urllib.parse import urlencode

from .. import _validation as check
from ._bundle import ENGINES, names, program, style

__all__ = ["Lab", "induction", "walk"]


class Lab:
    """A laboratory, shown by a notebook as one self-contained piece of HTML.

    Parameters
    ----------
    name : {'induction', 'walk'}
        Which one.
    controls, panels : list of str, optional
        Names of what to show of it, by default everything. A part of a laboratory comes without
        presets. The names of the controls stand in the link that the laboratory makes.
    settings : dict, optional
        Where controls stand at first, shown or not. The page says so if a control has no such value.

    Raises
    ------
    ValueError
        If there is no laboratory, control or panel of a name.

    Examples
    --------
    >>> Lab("walk", controls=["at", "p"], panels=["attention"], settings={"p": 0.5})
    Lab(Walk laboratory)
    """

    def __init__(
        self,
        name: str,
        *,
        controls: Iterable[str] | None = None,
        panels: Iterable[str] | None = None,
        settings: Mapping[str, object] | None = None,
    ) -> None:
        self.name = check.choice("name", name, tuple(ENGINES))
        self.title = f"{self.name.capitalize()} laboratory"
        known = names(self.name)
        self.shown = {
            kind: " ".join(_listed(kind, parts, known[kind]))
            for kind, parts in (("controls", controls), ("panels", panels))
            if parts is not None
        }
        if settings is not None and not isinstance(settings, Mapping):
            check.refuse("settings", settings, "a dict from names of controls to values")
        if self.shown.get("panels") == "":
            check.refuse("panels", panels, "a list of at least one name")
        self.settings = dict(settings or {})
        _listed("settings", self.settings, known["controls"])

    def __repr__(self) -> str:
        return f"Lab({self.title})"

    def page(self) -> str:
        """Return the laboratory as HTML: style, a place for it, and the script that fills it."""
        title = html.escape(self.title)
        data = {"lab": self.name, **self.shown}
        if self.settings:
            data["start"] = f"#lab-{self.name}:{urlencode(self.settings)}"
        attributes = " ".join(f'data-{key}="{html.escape(value)}"' for key, value in data.items())
        return (
            f"<style>{style()}</style>"
            f'<section class="mt-lab" {attributes} aria-label="{title}">'
            f'<p class="mt-lab-title">{title}</p>'
            '<p class="mt-lab-wait">This laboratory trains in your browser. It needs JavaScript, and in a '
            "notebook its cell has to be run.</p>"
            f"</section><script>{program(self.name)}</script>"
        )

    def _repr_html_(self) -> str:
        return self.page()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": self.page(), "text/plain": repr(self)}


def _listed(kind: str, parts: object, known: tuple[str, ...]) -> list[str]:
    if isinstance(parts, str) or not isinstance(parts, Iterable):
        check.refuse(kind, parts, "a list of names")
    return [check.choice(kind, part, known) for part in parts]


def induction(**part: object) -> Lab:
    """Return the laboratory in which a two-layer transformer learns to copy by matching.

    Parameters
    ----------
    **part
        `controls`, `panels` and `settings` of :class:`Lab`.

    Examples
    --------
    >>> induction(panels=["race", "heads", "growth"])
    Lab(Induction laboratory)
    """
    return Lab("induction", **part)


def walk(**part: object) -> Lab:
    """Return the laboratory in which a one-layer transformer learns a walk on a circle.

    Parameters
    ----------
    **part
        `controls`, `panels` and `settings` of :class:`Lab`.

    Examples
    --------
    >>> "<script>" in walk(settings={"p": 0.5}).page()
    True
    """
    return Lab("walk", **part)
