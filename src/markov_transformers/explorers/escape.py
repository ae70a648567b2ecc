"""The explorer of how a random initialization breaks the symmetry of the deterministic walk."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..explorer import Explorer, Slider
from ..figures.style import BLACK, BLUE, VERMILION, freeze_layout

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NODES, _LENGTH, _STEPS, _EVERY = 6, 97, 2000, 20


def escape_time() -> Explorer:
    """Return the explorer of the time that the deterministic walk needs to break its symmetry.

    Examples
    --------
    >>> figure, description = escape_time().render(log_sigma=-4, seed=1)
    >>> description[:41]
    'σ = 1e-04, learning rate 10, start 1: one'
    """
    return Explorer(
        _draw_escape_time,
        {
            "log_sigma": Slider(
                "scale log₁₀ σ", np.arange(-7, -1.4, 0.5), start=-3, page=[-6, -4, -3, -2, -1.5]
            ),
            "learning_rate": Slider("learning rate η", [0.01, 0.1, 1, 3, 10, 30], start=10, page=[0.01, 10]),
            "seed": Slider("random start", range(6), start=0, page=[0, 1, 2]),
        },
        name="escape-time",
        title="Breaking the symmetry: p = 1, 6 nodes, population loss, unit-length embeddings",
        presets={
            "As printed": {"log_sigma": -2, "learning_rate": 0.01},
            "Summed loss": {"log_sigma": -2},
            "Small start": {"log_sigma": -6},
            "Large start": {"log_sigma": -1.5},
        },
        size=(7.4, 5.0),
    )


@lru_cache(maxsize=256)
def _escape(log_sigma: float, learning_rate: float, seed: int) -> dict[str, object]:
    from ..claims import escape as escape
    from ..one_layer import OneLayerModel
    from ..walks import CircleWalk

    model = OneLayerModel(_NODES, _LENGTH, unit_length=True)
    start = model.random(10.0**log_sigma, rng=seed)
    run = escape.deterministic_run(
        model, start, learning_rate=learning_rate, steps=_STEPS, record_every=_EVERY
    )
    classes = run.position[:, :-1].reshape(len(run.position), -1, _NODES)  # columns K apart are one class
    spread = np.ptp(classes.mean(axis=1), axis=-1)
    inputs = CircleWalk(_NODES, 1.0).enumerate(_LENGTH)[0][:, :-1]
    return {
        "run": run,
        "spread": spread,
        "linear": np.ptp(
            _propagator(learning_rate) @ escape.offset_modes(start.value, start.position), axis=-1
        ),
        "attention": model.attention(run.parameters(), inputs)[:, :-1].mean(axis=0),
        "law": escape.escape_law(model, float(escape.seed_amplitude(model, start).max()), learning_rate),
        "predicted": escape.predicted_column(model, start),
    }


@lru_cache(maxsize=8)
def _propagator(learning_rate: float) -> np.ndarray:
    """The row of the linear prediction that gives Q, at each record: (n_records, 2)."""
    from ..claims.escape import linear_prediction
    from ..one_layer import OneLayerModel

    model = OneLayerModel(_NODES, _LENGTH, unit_length=True)
    return linear_prediction(model, learning_rate, _STEPS)[1][::_EVERY, 1]


def _draw_escape_time(figure: Figure, log_sigma: float, learning_rate: float, seed: int) -> str:
    found = _escape(log_sigma, learning_rate, seed)
    kept = figure.artists_kept
    if not kept:
        _lay_out_escape_time(figure, kept)
    run, law, weights = found["run"], found["law"], found["attention"]
    kept["accuracy"].set_data(run.iterations, run.accuracy)
    kept["share"].set_data(run.iterations, run.shares.max(axis=1))
    kept["spread"].set_data(run.iterations, found["spread"])
    kept["linear"].set_data(run.iterations, np.where(found["linear"] < 1e3, found["linear"], np.nan))
    for line in kept["law"]:
        line.set_xdata([law, law])
        line.set_visible(law <= _STEPS)
    column = np.arange(1, _LENGTH)
    kept["dots"].set_data(column, weights)
    kept["stems"].set_segments([[(j, 0), (j, w)] for j, w in zip(column, weights)])
    escaped = run.attention_clock
    first = (
        f"the accuracy is {run.accuracy[-1]:.2f} and no lag class has half of the attention within "
        f"{_STEPS:,} iterations"
        if escaped is None
        else f"one lag class has half of the attention after {escaped:,} iterations"
    )
    above = run.accuracy_clock
    second = "never" if above is None else f"after {above:,}"
    best = int(weights.argmax()) + 1
    return (
        f"σ = {10.0**log_sigma:.0e}, learning rate {learning_rate:g}, start {seed}: {first}; accuracy above "
        f"one half: {second}. The law predicts the escape after {law:,.0f} iterations. Most attended column "
        f"{best}, with {weights.max():.2f} of the attention; predicted column {found['predicted']}."
    )


def _lay_out_escape_time(figure: Figure, kept: dict) -> None:
    grid = figure.add_gridspec(2, 2)
    top, growth = figure.add_subplot(grid[0, 0]), figure.add_subplot(grid[0, 1])
    below = figure.add_subplot(grid[1, :])
    (kept["accuracy"],) = top.plot([], [], color=BLUE, label="accuracy")
    (kept["share"],) = top.plot([], [], color=VERMILION, label="best class")
    top.axhline(1 / _NODES, color=BLACK, linestyle=":", linewidth=1.2)
    top.set(xlim=(0, _STEPS), ylim=(0, 1.06), xlabel="iteration")
    (kept["spread"],) = growth.plot([], [], color=VERMILION, label="measured")
    (kept["linear"],) = growth.plot([], [], color=BLACK, linestyle="--", linewidth=1.5, label="linear")
    growth.set(xlim=(0, _STEPS), ylim=(1e-9, 1e3), yscale="log", xlabel="iteration")
    kept["law"] = [axes.axvline(0, color=BLACK, linestyle="--", linewidth=1) for axes in (top, growth)]
    kept["law"][0].set_label("law")
    for axes, title in ((top, "accuracy and attention"), (growth, "spread of the scores Q")):
        axes.set_title(title, pad=24)
        place = {"loc": "lower center", "bbox_to_anchor": (0.5, 0.98)}  # where no curve can pass
        axes.legend(**place, ncols=3, fontsize=10, columnspacing=1)
    (kept["dots"],) = below.plot([], [], "o", color=VERMILION, markersize=4)
    kept["stems"] = below.vlines([1], 0, [0], color=VERMILION)
    below.set(xlim=(0, _LENGTH), ylim=(-0.03, 1.06), xlabel="column")
    below.set(title=f"attention after {_STEPS:,} iterations")
    freeze_layout(figure)
