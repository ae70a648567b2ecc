"""The explorer that trains the one-layer transformer on pairs of questions."""

from __future__ import annotations

import warnings
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from ..explorer import Choice, Explorer, Slider
from ..figures.style import BLACK, BLUE, VERMILION, freeze_layout

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..one_layer import OneLayerRun
    from ..questions import BagOfWordsTest, TemplateTask

_FINE, _COARSE, _STEPS = 20, 20, 3000  # each of the first iterations is kept, then every twentieth
_WORDS = 18  # of the longest question
_SETS = (
    "Task 2: I prefer an apple to an orange",
    "Task 1: the most frequent of five",
    "odd or even: how many apples among four",
    "exchanged, no word twice",
    "exchanged, nothing else",
    "moved in a circle",
)
_TASK_2, _TASK_1, _PARITY, _EXCHANGED, _BARE, _CIRCLE = _SETS
_PAIRS = {
    _EXCHANGED: (
        ("Tom likes apple more than orange: which does he prefer?", "apple"),
        ("Tom likes orange more than apple: which does he prefer?", "orange"),
    ),
    _BARE: (("apple orange", "apple"), ("orange apple", "orange")),
    _CIRCLE: (
        ("orange, pear, apple, apple: which is first?", "orange"),
        ("apple, orange, pear, apple: which is first?", "apple"),
    ),
}


def two_questions() -> Explorer:
    """Return the explorer that trains the one-layer transformer on a set of questions.

    Examples
    --------
    >>> figure, description = two_questions().render(sigma=0, iteration=100)
    >>> description[:70]
    'Task 2: I prefer an apple to an orange. Bag of words: at most 50 % of '
    """
    shown = [0, 1, 2, 3, 5, 10, 20, 40, 60, *range(100, 1000, 100), *range(1000, _STEPS + 1, 500)]
    zero, random = ({"sigma": sigma, "iteration": _STEPS} for sigma in (0, 0.01))
    return Explorer(
        _draw_two_questions,
        {
            "questions": Choice(
                "questions",
                _SETS,
                start=_TASK_2,
                page=_SETS,
                free="your own: question answer / question answer",
            ),
            "sigma": Slider("random start σ", [0, 0.0001, 0.001, 0.01, 0.1], start=0, page=[0, 0.01]),
            "learning_rate": Slider("learning rate η", [0.03, 0.1, 0.3, 1], start=0.1),
            "seed": Slider("seed of the start", range(10), start=0),
            "iteration": Slider("iteration", shown, start=100, page=[20, 100, _STEPS], play=True),
        },
        name="two-questions",
        title="Questions: does the order of the words get through?",
        presets={
            "The paper's failure": {"sigma": 0.01, "iteration": 100},
            "Counting is enough": {"questions": _TASK_1, "iteration": 100},
            "Odd or even": {"questions": _PARITY, **zero},
            "Stuck for ever": {"questions": _BARE, **zero},
            "Noise breaks the tie": {"questions": _BARE, **random},
            "Equal bags, yet learned": {"questions": _CIRCLE, **zero},
            "Learned, then lost": {"questions": _CIRCLE, **random},
        },
        size=(7.2, 4.8),
    )


@lru_cache(maxsize=16)
def _task(questions: str) -> tuple[TemplateTask, BagOfWordsTest]:
    from ..questions import TemplateTask, majority_task, preference_task

    if questions == _TASK_2:
        task = preference_task()
    elif questions == _TASK_1:
        task = majority_task()
    elif questions == _PARITY:
        task = TemplateTask(_parity(), vocabulary=("apple", "pear", "even", "odd"))
    else:
        task = TemplateTask(_PAIRS.get(questions) or _typed(questions))
    return task, task.bag_of_words()


def _parity() -> list[tuple[str, str]]:
    """Return all lists of four fruits, each with the answer whether it has an odd number of apples."""
    lists = product(("apple", "pear"), repeat=4)
    return [(" ".join(fruit), ("even", "odd")[fruit.count("apple") % 2]) for fruit in lists]


def _typed(questions: str) -> list[tuple[str, str]]:
    """Return the questions of a typed text; the last word of each is its answer."""
    parts = [part.split() for part in questions.split("/")]
    if any(not 2 <= len(words) <= _WORDS + 1 for words in parts):
        raise ValueError(f"Each question needs 1 to {_WORDS} words, and one more: its answer.")
    return [(" ".join(words[:-1]), words[-1]) for words in parts]


@lru_cache(maxsize=256)
def _question_runs(
    questions: str, sigma: float, learning_rate: float, seed: int
) -> tuple[OneLayerRun, OneLayerRun | None]:
    from ..one_layer import OneLayerModel

    task, _ = _task(questions)
    tokens, probabilities = task.enumerate()
    model = OneLayerModel(task.vocab_size, task.length, unit_length=True)
    same = {"weights": probabilities, "learning_rate": learning_rate}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a run that diverges is shown as such
        start = model.random(sigma, rng=seed)
        early = model.train(tokens, start=start, steps=_FINE, **same)
        if early.diverged:
            return early, None
        rest = {"steps": _STEPS - _FINE, "record_every": _COARSE}
        return early, model.train(tokens, start=early.parameters(), **rest, **same)


def _draw_two_questions(
    figure: Figure, questions: str, sigma: float, learning_rate: float, seed: int, iteration: int
) -> str:
    task, bag = _task(questions)
    early, late = _question_runs(questions, sigma, learning_rate, seed if sigma else 0)
    iterations, accuracy, attention = early.iterations, early.accuracy, early.attention
    if late is not None:
        iterations = np.concatenate([iterations, _FINE + late.iterations[1:]])
        accuracy = np.concatenate([accuracy, late.accuracy[1:]])
        attention = np.concatenate([attention, late.attention[1:]])
    at = int(np.searchsorted(iterations, iteration, side="right")) - 1
    kept = figure.artists_kept
    if not kept:
        _lay_out_two_questions(figure, kept)
    kept["curve"].set_data(iterations, accuracy)
    kept["now"].set_data(iterations[at : at + 1], accuracy[at : at + 1])
    kept["bag"].set_ydata([bag.accuracy] * 2)
    weights = attention[at]
    words = _labels(task)
    axes = kept["axes"]
    for place, bar in enumerate(kept["bars"]):
        bar.set_width(weights[place] if place < len(words) else 0)
        bar.set_color(VERMILION if place < len(words) and " | " in words[place] else BLUE)
    if kept.get("words") != words:
        kept["words"] = words
        axes.set_yticks(range(len(words)), words)
        axes.set_ylim(len(words) - 0.4, -0.6)
    verdict = f"at most {100 * bag.accuracy:.0f} % of answers right without order"
    kept["verdict"].set_text(f"bag of words: {verdict}")
    highest = words[int(weights[: len(words)].argmax())]
    start = f"Start σ = {sigma:g}, seed {seed}" if sigma else "Start from zero"
    stopped = " Training stopped here: the loss is no longer finite." if iterations[at] < iteration else ""
    return (
        f"{questions}. Bag of words: {verdict}. {start}, learning rate {learning_rate:g}, "
        f"after {iterations[at]} iterations: accuracy {accuracy[at]:.3f}; "
        f"most attention on “{highest}”, {weights[: len(words)].max():.3f} of it.{stopped}"
    )


def _labels(task: TemplateTask) -> list[str]:
    """Name each place by the words that stand there."""
    tokens, _ = task.enumerate()
    return [" | ".join(dict.fromkeys(task.vocabulary[t] for t in place)) for place in tokens[:, :-1].T]


def _lay_out_two_questions(figure: Figure, kept: dict) -> None:
    kept["verdict"] = figure.suptitle("bag of words", fontsize=12)
    left, right = figure.subplots(1, 2, width_ratios=(1.1, 1))
    (kept["curve"],) = left.plot([], [], color=BLUE)
    (kept["now"],) = left.plot([], [], "o", color=VERMILION, markersize=9)
    kept["bag"] = left.axhline(0, color=BLACK, linestyle="--", linewidth=1.2)
    left.set_xscale("symlog", linthresh=1)
    ticks = [0, 1, 10, 100, 1000]
    left.set_xticks(ticks, map(str, ticks))
    left.set(xlim=(-0.1, 1.3 * _STEPS), ylim=(-0.04, 1.06))
    left.set(xlabel="iteration", title="accuracy (dashed: bag)")
    kept["bars"] = right.barh(range(_WORDS), [0] * _WORDS, color=BLUE)
    right.set(xlim=(0, 1), xlabel="attention", title="attention on each place")
    right.set_yticks(range(_WORDS), ["orange | apple"] * _WORDS)
    right.tick_params(axis="y", labelsize=9)
    right.grid(axis="y", visible=False)
    kept["axes"] = right
    freeze_layout(figure)
