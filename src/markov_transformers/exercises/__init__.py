"""Exercises that check themselves.

Each chapter of the book ends with exercises. A reader types an answer and calls `check`, which says
what is right, what is off and in which direction, and never what the answer is.

One module a chapter holds its exercises. Each exercise is a class whose methods check one part of
the answer each, with the helpers of `_answers`; `_exercise` keeps the list.
"""

from __future__ import annotations

import difflib
from importlib import import_module

from .._validation import refuse
from ._exercise import Exercise, Feedback, exercises_of

__all__ = ["CHAPTERS", "Exercise", "Feedback", "catalogue", "check"]

CHAPTERS = (
    "markov-chains",
    "chains-with-memory",
    "information",
    "information-with-a-price",
    "generalized-induction-head",
    "transformer-in-your-hand",
    "what-the-loss-can-see",
    "three-stages",
    "phase-diagram",
    "all-at-once",
    "longer-and-stranger",
    "walk-and-transformer",
    "learning-the-walk",
    "easier-task-that-fails",
    "breaking-the-symmetry",
    "questions-and-averages",
    "what-it-costs",
    "ledger",
)


def catalogue() -> tuple[Exercise, ...]:
    """Return all exercises in the order of the book.

    Returns
    -------
    tuple of Exercise
        Each with its `name`, `title`, `chapter`, `level` from 1 (warm-up) to 3 (hard), `minutes`
        and the names of its `parts`.

    Examples
    --------
    >>> import markov_transformers as mt
    >>> first = mt.exercises.catalogue()[0]
    >>> first.chapter, first.marks
    ('markov-chains', '★☆☆')
    """
    return tuple(exercise for chapter in CHAPTERS for exercise in _load(chapter))


def check(name: str, /, *answer: object, **parts: object) -> Feedback:
    """Check a reader's answer to an exercise and say what is right and what is off.

    An answer never raises an error: one of the wrong type or shape, one with NaN in it, or a function
    that fails gets an explanation. A part left at ``...`` is waiting for its answer.

    Parameters
    ----------
    name : str
        The exercise, as the chapter's cell names it.
    *answer : object
        The answer to an exercise that has one part only.
    **parts : object
        The parts of the answer by name, for the others.

    Returns
    -------
    Feedback
        Shown as text; `right` is True when every part is.

    Raises
    ------
    ValueError
        If there is no such exercise or part; the message suggests the nearest.

    Examples
    --------
    >>> import markov_transformers as mt
    >>> mt.check("wet-spells", days=40)
    ✗ days: Too high. The spell ends each day with the probability of a dry day
      after a wet one.
    … balanced: waiting for your answer.
    """
    if not isinstance(name, str):
        refuse("name", name, "the name of an exercise, a str")
    known = {exercise.name: exercise for exercise in catalogue()}
    if name not in known:
        refuse("name", name, f"the name of an exercise{_nearest(name, list(known))}")
    exercise = known[name]
    if answer:
        if len(answer) > 1 or parts or len(exercise.parts) > 1:
            refuse("answer", answer, f"given as {', '.join(f'{part}=…' for part in exercise.parts)}")
        parts = {exercise.parts[0]: answer[0]}
    for part in parts:
        if part not in exercise.parts:
            refuse("part", part, f"one of {', '.join(exercise.parts)}")
    return exercise.check(parts)


def _load(chapter: str) -> tuple[Exercise, ...]:
    import_module("." + chapter.replace("-", "_"), __name__)
    return exercises_of(chapter)


def _nearest(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f' (did you mean "{close[0]}"?)' if close else ""
