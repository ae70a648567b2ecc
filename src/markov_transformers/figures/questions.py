"""Figures of the question tasks: words that are counted, and training that needs their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from .. import _validation as check
from ..one_layer import OneLayerRun
from ..questions import TemplateTask
from . import _given as given
from .style import BLACK, BLUE, VERMILION, new_figure, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def word_counts(questions: Mapping[str, tuple[TemplateTask, Sequence[int]]]) -> Figure:
    """Draw how often each word occurs in some questions of each task, one panel a task.

    Parameters
    ----------
    questions : mapping of str to (TemplateTask, sequence of int)
        Title of a panel, then its task and the numbers of the questions, from 0.
    """
    questions = given.mapping("questions", questions, _some_questions)
    heights = [1.3 + len(rows) for _, rows in questions.values()]
    with style():
        figure = new_figure(7.2, 0.8 + 0.62 * sum(heights))
        panels = figure.subplots(len(questions), 1, squeeze=False, height_ratios=heights)[:, 0]
        for axes, (title, (task, rows)) in zip(panels, questions.items()):
            tokens, _ = task.enumerate()
            chosen = tokens[rows]
            counts = np.array([np.bincount(row[:-1], minlength=task.vocab_size) for row in chosen])
            used = np.flatnonzero(counts.any(axis=0))
            _numbers(axes, counts[:, used], [task.vocabulary[word] for word in used], size=10)
            axes.set_yticks(range(len(rows)), [f"answer: {task.vocabulary[row[-1]]}" for row in chosen])
            axes.set_title(title)
    return figure


def question_training(
    runs: Mapping[str, Mapping[str, Sequence[OneLayerRun]]], *, divergence: bool = True
) -> Figure:
    """Draw accuracy, and divergence from the truth, of runs over iterations; one column a task.

    Parameters
    ----------
    runs : mapping of str to mapping of str to sequence of OneLayerRun
        Title of a column, then the name of up to three groups of runs.
    divergence : bool, default True
        Whether to draw the divergence as well; each run must then have recorded it.
    """
    divergence = check.flag("divergence", divergence)
    several = partial(
        given.each, check_part=_run_with_divergence if divergence else given.instance(OneLayerRun)
    )
    runs = given.mapping("runs", runs, partial(given.mapping, check_part=several, most=3))
    with style():
        figure = new_figure(7.2, 5.2 if divergence else 3.2)
        panels = figure.subplots(1 + divergence, len(runs), squeeze=False, sharex="col", sharey="row")
        for column, (title, readings) in zip(panels.T, runs.items()):
            for color, line, (label, several) in zip(
                (BLUE, VERMILION, BLACK), ("-", "--", ":"), readings.items()
            ):
                for i, run in enumerate(several):
                    named = {"color": color, "linestyle": line, "linewidth": 1.4}
                    column[0].plot(run.iterations, run.accuracy, label=None if i else label, **named)
                    if divergence:
                        column[1].plot(run.iterations, run.kl, **named)
            column[0].set(title=title, ylim=(-0.04, 1.06))
            column[-1].set_xlabel("iteration")
        panels[0, 0].set_ylabel("test accuracy")
        if divergence:
            panels[1, 0].set_ylabel("KL divergence (nats)")
        panels[0, -1].legend(loc="lower right")
    return figure


def attention_by_word(words: Sequence[str], weights: Mapping[str, np.ndarray]) -> Figure:
    """Draw the attention on each word of a question as bars, one panel for each set of weights."""
    words = given.words("words", words)
    weights = given.mapping("weights", weights, given.array(len(words), finite=True))
    with style():
        figure = new_figure(7.2, 0.9 + 0.23 * len(words))
        panels = figure.subplots(1, len(weights), sharey=True, squeeze=False)[0]
        for axes, (title, values) in zip(panels, weights.items()):
            axes.barh(range(len(words)), values, color=BLUE)
            axes.set(title=title, xlabel="attention", xlim=(0, 1.05 * max(np.max(values), 0.2)))
            axes.grid(axis="y", visible=False)
        panels[0].set_yticks(range(len(words)), words)
        panels[0].set_ylim(len(words) - 0.4, -0.6)
    return figure


def shares(
    values: np.ndarray, rows: Sequence[str], columns: Sequence[str], *, labels: tuple[str, str]
) -> Figure:
    """Draw a table of shares between 0 and 1 as shades with their numbers."""
    values = given.shares(None, None)("values", values)
    rows, columns = given.words("rows", rows, len(values)), given.words("columns", columns, values.shape[1])
    labels = given.words("labels", labels, 2)
    with style():
        figure = new_figure(7.2, 1.3 + 0.55 * len(rows))
        axes = figure.subplots()
        axes.imshow(values, vmin=0, vmax=1, aspect="auto")
        for (row, column), value in np.ndenumerate(values):
            color = "black" if value > 0.5 else "white"
            axes.text(column, row, f"{value:.2f}", ha="center", va="center", color=color, fontsize=12)
        axes.set(xlabel=labels[0], ylabel=labels[1])
        axes.set_xticks(range(len(columns)), columns)
        axes.set_yticks(range(len(rows)), rows)
        _bare(axes)
    return figure


def _some_questions(name: str, value: object) -> list:
    task, rows = given.parts(name, value, (given.instance(TemplateTask), given.tokens))
    return [task, check.token_array(f"{name}[1]", rows, len(task.questions), ndim=1)]


def _run_with_divergence(name: str, value: object) -> OneLayerRun:
    run = given.instance(OneLayerRun)(name, value)
    if run.kl is None:
        check.refuse(name, run, "a run that recorded its divergence, kl")
    return run


def _numbers(axes: Axes, values: np.ndarray, columns: Sequence[str], *, size: int) -> None:
    axes.imshow(values, vmin=0, vmax=5, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        color = "black" if value > 2 else "white"
        axes.text(column, row, str(value), ha="center", va="center", color=color, fontsize=size)
    axes.set_xticks(range(len(columns)), columns, rotation=50, ha="right", rotation_mode="anchor")
    _bare(axes)


def _bare(axes: Axes) -> None:
    axes.tick_params(length=0)
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(False)
