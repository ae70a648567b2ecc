r"""Measurements behind what the paper says of its two question tasks.

Each measuring function trains on samples as printed, under two readings of the attention: with the
columns scaled to length one (section 5 says so of random initialization) and without (section 6
does not). It returns what it found as a dictionary of numbers: no verdict, nothing printed. Beside
each stands the rule that turns such a dictionary into a verdict.

Source: Shi and Cao (2025), section 6 and Figure 7.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np

from .. import _validation as check
from .._progress import progress
from ..one_layer import OneLayerModel, OneLayerRun
from ..questions import TemplateTask, majority_task, preference_task
from . import _arguments as given

_SCALE, _RATE = 0.01, 0.1  # of the paper's experiment
_RIGHT = 1 - 1e-9  # an accuracy of one, with the rounding of a weighted mean


def question_run(
    task: TemplateTask,
    *,
    rng: np.random.Generator | int,
    unit_length: bool = True,
    n_samples: int = 1000,
    scale: float = _SCALE,
    learning_rate: float = _RATE,
    steps: int = 100,
    record_every: int = 1,
) -> OneLayerRun:
    """Train once from a random start on sampled questions, and test on others.

    Equal questions of a sample are counted and trained on once, with their count as weight: the
    loss is the same.

    Parameters
    ----------
    task : TemplateTask
    rng : numpy.random.Generator or int
        Source of randomness, or a seed: training sample, test sample and start.
    unit_length : bool, default True
        Whether embeddings are scaled to length one in the attention.
    n_samples : int, default 1000
        Questions to train on, and as many to test.
    scale : float, default 0.01
        Standard deviation of the start.
    learning_rate : float, default 0.1
    steps, record_every : int, default 100 and 1

    Returns
    -------
    OneLayerRun
        One that diverges is kept as far as it got.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Shi and Cao (2025), section 6.

    Examples
    --------
    >>> run = question_run(majority_task(), rng=0, steps=20)
    >>> round(float(run.accuracy[-1]), 6)
    1.0
    """
    given.instance("task", task, TemplateTask)
    rng = check.generator(rng)
    n_samples = given.size("n_samples", n_samples, task.length + 2)
    (train, count), (test, test_count) = (
        np.unique(task.sample(n_samples, rng=rng), axis=0, return_counts=True) for _ in range(2)
    )
    model = OneLayerModel(task.vocab_size, task.length, unit_length=unit_length)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the run itself says that it diverged
        return model.train(
            train,
            weights=count.astype(float),
            test=test,
            test_weights=test_count.astype(float),
            truth=task.predict(test[:, :-1]),
            start=model.random(scale, rng=rng),
            learning_rate=learning_rate,
            steps=steps,
            record_every=record_every,
        )


def random_starts(
    task: TemplateTask,
    *,
    scale: float,
    rng: np.random.Generator | int,
    learning_rate: float = 1.0,
    steps: int = 1000,
    n_starts: int = 20,
) -> dict[str, object]:
    """Train on the population of questions from many random starts, and see where attention settles.

    Parameters
    ----------
    task : TemplateTask
    scale : float
        Standard deviation of the start.
    rng : numpy.random.Generator or int
        Source of randomness, or a seed.
    learning_rate : float, default 1
    steps : int, default 1000
    n_starts : int, default 20
        Independent starts, at least 1.

    Returns
    -------
    dict
        ``solved``: share of starts that end with every answer right; ``telling``: share that end with
        most attention on a place at which the questions differ; ``winners``, shape (N - 1,): how many
        starts end with most attention on each place; ``diverged``: share of starts from which the loss
        stopped being finite, which count as unsolved and have no winner.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> found = random_starts(preference_task(), scale=0.01, rng=0, steps=300, n_starts=3)
    >>> found["solved"], found["telling"]
    (0.0, 0.0)
    """
    given.instance("task", task, TemplateTask)
    n_starts = given.repetitions("n_starts", n_starts)
    steps = given.steps("steps", steps)
    rng = check.generator(rng)
    tokens, probabilities = task.enumerate()
    model = OneLayerModel(task.vocab_size, task.length, unit_length=True)
    solved, diverged, winners = 0, 0, np.zeros(task.length - 1, dtype=int)
    for _ in progress(range(n_starts), "random starts"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # counted instead
            run = model.train(
                tokens,
                weights=probabilities,
                start=model.random(scale, rng=rng),
                learning_rate=learning_rate,
                steps=steps,
                record_every=max(1, steps),
            )
        if run.diverged:
            diverged += 1
            continue
        solved += run.accuracy[-1] > _RIGHT
        winners[run.attention[-1, :-1].argmax()] += 1
    telling = (tokens[:, :-1] != tokens[0, :-1]).any(axis=0)
    return {
        "solved": float(solved / n_starts),
        "telling": float(winners[telling].sum() / n_starts),
        "winners": winners,
        "diverged": diverged / n_starts,
    }


def task1(*, rng: np.random.Generator | int, n_runs: int = 20, steps: int = 100) -> dict[str, float]:
    """Measure Task 1: does training reach every answer?

    Parameters
    ----------
    rng : numpy.random.Generator or int
        Source of randomness, or a seed.
    n_runs : int, default 20
        Independent runs of each reading, at least 1.
    steps : int, default 100
        Gradient steps, the paper's number by default.

    Returns
    -------
    dict
        For each reading, ``..._unit_length`` and ``..._raw``: ``solved``, the share of runs that end
        with every test answer right; ``worst`` and ``best``, the extreme accuracies at the end;
        ``first``, the median first iteration at which all answers are right, NaN if none is. And
        ``bag``, the best accuracy of a function of the bag of words.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Shi and Cao (2025), section 6, Task 1 and Figure 7 (a), (b).
    """
    return _both_readings(majority_task(), rng, n_runs, steps)


def rule_shi2025_task1(measurement: Mapping[str, float]) -> str:
    """Judge: training reaches all answers as printed, or with normalization alone, or not."""
    if measurement["solved_raw"] >= 0.9 and measurement["solved_unit_length"] >= 0.9:
        return "reproduced"
    if max(measurement["solved_raw"], measurement["solved_unit_length"]) >= 0.9:
        return "reproduced with a change"
    return "not reproduced"


def task2(*, rng: np.random.Generator | int, n_runs: int = 20, steps: int = 100) -> dict[str, float]:
    """Measure Task 2: does the accuracy stay near one half?

    Parameters
    ----------
    rng : numpy.random.Generator or int
        Source of randomness, or a seed.
    n_runs : int, default 20
        Independent runs of each reading, at least 1.
    steps : int, default 100
        Gradient steps, the paper's number by default.

    Returns
    -------
    dict
        As `task1`, and for each reading ``near_half``: the share of runs whose accuracy at the end
        lies between 0.4 and 0.6.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Shi and Cao (2025), section 6, Task 2 and Figure 7 (c), (d).
    """
    return _both_readings(preference_task(), rng, n_runs, steps)


def rule_shi2025_task2(measurement: Mapping[str, float]) -> str:
    """Judge: the accuracy stays near one half as printed, or with normalization alone, or not."""
    near, solved = (
        [measurement[f"{what}_{reading}"] for reading in ("raw", "unit_length")]
        for what in ("near_half", "solved")
    )
    if min(near) >= 0.75:
        return "reproduced"
    if max(near) >= 0.75:
        return "reproduced with a change"
    return "contradicted" if min(solved) > 0.5 else "not reproduced"


def _both_readings(
    task: TemplateTask, rng: np.random.Generator | int, n_runs: int, steps: int
) -> dict[str, float]:
    n_runs = given.repetitions("n_runs", n_runs)
    steps = check.integer("steps", steps, minimum=1)
    rng = check.generator(rng)
    found = {"bag": task.bag_of_words().accuracy}
    for name, unit_length in (("unit_length", True), ("raw", False)):
        runs = [
            question_run(task, rng=rng, unit_length=unit_length, steps=steps)
            for _ in progress(range(n_runs), f"question task, {name}")
        ]
        end = np.array([run.accuracy[-1] for run in runs])
        solved = [run.iterations[run.accuracy > _RIGHT] for run in runs]
        first = [float(times[0]) for times in solved if len(times)]
        found |= {
            f"solved_{name}": float((end > _RIGHT).mean()),
            f"near_half_{name}": float((np.abs(end - 0.5) <= 0.1).mean()),
            f"worst_{name}": float(end.min()),
            f"best_{name}": float(end.max()),
            f"first_{name}": float(np.median(first)) if first else float("nan"),
        }
    return found
