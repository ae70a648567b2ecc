"""The claims of both papers: for each a measurement, and a rule that turns it into a verdict.

One module a subject. `markov_transformers.reproduce` lists all claims and runs them.
"""

import importlib

_SUBJECTS = (
    "construction",
    "escape",
    "failure",
    "information",
    "joint",
    "questions",
    "stages",
    "success",
)
__all__ = list(_SUBJECTS)


def __getattr__(name: str) -> object:
    if name in _SUBJECTS:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
