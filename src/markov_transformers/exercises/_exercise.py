"""What an exercise is, and what a reader is told about an answer."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ._answers import Wrong

_WIDTH = 76
_WAITING = "waiting for your answer."
UNREADABLE = "This answer could not be read"


@dataclass(frozen=True)
class Exercise:
    """One exercise: where it stands, how hard it is, and how each part of an answer is checked."""

    name: str
    title: str
    chapter: str
    level: int
    minutes: int
    checkers: dict[str, Callable[[object], str | None]]

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts of an answer, in order."""
        return tuple(self.checkers)

    @property
    def marks(self) -> str:
        """The level as three stars: one filled for a warm-up, three for a hard exercise."""
        return "★" * self.level + "☆" * (3 - self.level)

    def check(self, answers: dict[str, object]) -> Feedback:
        """Check the parts that are there."""
        return Feedback(
            {part: _judge(checker, answers.get(part, ...)) for part, checker in self.checkers.items()}
        )


@dataclass(frozen=True)
class Feedback:
    """What a reader is told: for each part whether it is right (None: no answer yet), and a message."""

    parts: dict[str, tuple[bool | None, str]]

    @property
    def right(self) -> bool:
        """Whether every part is answered and right."""
        return all(verdict is True for verdict, _ in self.parts.values())

    def __repr__(self) -> str:
        lines = []
        for part, (verdict, message) in self.parts.items():
            sign = {True: "✓", False: "✗", None: "…"}[verdict]
            label = f"{sign} {part}: " if len(self.parts) > 1 else f"{sign} "
            if verdict is None and len(self.parts) == 1:
                message = message.capitalize()
            lines += textwrap.wrap(label + message, _WIDTH, subsequent_indent="  ")
        return "\n".join(lines)


_REGISTRY: dict[str, dict[str, Exercise]] = {}


def exercise(chapter: str, name: str, title: str, *, level: int, minutes: int) -> Callable[[type], type]:
    """Enter a class into the list of exercises; each of its public methods checks a part.

    A method takes the answer to its part. It raises `Wrong` with what is off, and returns the sentence
    that a reader with a right answer should take home, or None.
    """

    def enter(checkers: type) -> type:
        parts = {part: checker for part, checker in vars(checkers).items() if not part.startswith("_")}
        _REGISTRY.setdefault(chapter, {})[name] = Exercise(name, title, chapter, level, minutes, parts)
        return checkers

    return enter


def exercises_of(chapter: str) -> tuple[Exercise, ...]:
    """Return the exercises that a chapter has entered, in order."""
    return tuple(_REGISTRY.get(chapter, {}).values())


def _judge(checker: Callable[[object], str | None], answer: object) -> tuple[bool | None, str]:
    if answer is ... or answer is None:
        return None, _WAITING
    try:
        with np.errstate(all="ignore"):
            lesson = checker(answer)
    except Wrong as wrong:
        return (None if wrong.waiting else False), str(wrong)
    except Exception as error:  # a reader meets no traceback, whatever the answer was
        return False, f"{UNREADABLE} ({type(error).__name__}: {error}). Look at its type and its shape."
    return True, f"Right. {lesson}" if lesson else "Right."
