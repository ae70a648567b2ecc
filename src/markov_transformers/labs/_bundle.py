"""Joins the JavaScript files of a laboratory into one text, for the page and for its worker."""

from __future__ import annotations

import re
from collections import Counter
from importlib import resources

ENGINES = {
    "induction": ("random", "chains", "windows", "information", "induction", "staged", "dynamics"),
    "walk": ("random", "walks", "losses", "one_layer", "symmetry"),
}
_PAGE = ("controls", "draw", "worker", "fields", "shell")
_IMPORT = re.compile(r"^import\s*\{[^}]*\}\s*from\s*\"[^\"]+\";\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:const|let|function|class|async)\b)", re.MULTILINE)
_NAME = re.compile(r"^(?:export )?(?:const|let|class|(?:async )?function\*?) +(\w+)", re.MULTILINE)
# Comments, empty lines, indentation, breaks inside brackets: a browser can do without.
_COMMENT = re.compile(r"^ *//.*\n|[ ]+// .*$|^\n|^ +", re.MULTILINE)
_BREAK = re.compile(r"(?<=[,(\[{])\n")
_CSS_SPACE = re.compile(r"\s*([{};])\s*|(?<=[:,])\s+")
_CONTROL = re.compile(r"^    (\w+): (?:slider|choice|seed|text)\(", re.MULTILINE)
_PANEL = re.compile(r"^    \{\s*name: \"(\w+)\"", re.MULTILINE)


def engine(name: str) -> str:
    """Return the engine of a laboratory as one ES module, exports included.

    Examples
    --------
    >>> "export function" in engine("walk")
    True
    """
    return _joined([f"engine/{part}.js" for part in ENGINES[name]])


def program(name: str) -> str:
    """Return a laboratory as one classic script, which the page runs and hands on to its worker.

    Examples
    --------
    >>> program("walk").splitlines()[0]
    '(function program() {'
    """
    parts = [*(f"engine/{part}" for part in ENGINES[name]), *_PAGE, f"{name}-lab"]
    body = _BREAK.sub("", _EXPORT.sub("", _COMMENT.sub("", _joined([f"{part}.js" for part in parts]))))
    return f'(function program() {{\n"use strict";\n{body}\nstart(lab, program);\n}})();\n'


def style() -> str:
    """Return the style of every laboratory.

    Examples
    --------
    >>> style().startswith(".mt-lab{")
    True
    """
    return _CSS_SPACE.sub(r"\1", asset("lab.css"))


def names(name: str) -> dict[str, tuple[str, ...]]:
    """Return the names of a laboratory's controls and panels.

    Examples
    --------
    >>> names("walk")["panels"][:3]
    ('walk', 'accuracy', 'attention')
    """
    text = asset(f"{name}-lab.js")
    return {"controls": tuple(_CONTROL.findall(text)), "panels": tuple(_PANEL.findall(text))}


def _joined(files: list[str]) -> str:
    texts = [_IMPORT.sub("", asset(file)) for file in files]
    clashes = [name for name, count in Counter(_NAME.findall("".join(texts))).items() if count > 1]
    if clashes:
        raise ValueError(f"files of one laboratory define the same names: {', '.join(clashes)}")
    return "\n".join(texts)


def asset(file: str) -> str:
    """Return the text of a file in this package."""
    return resources.files(__package__).joinpath(file).read_text(encoding="utf-8")
