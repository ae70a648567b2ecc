"""The explorers of the three stages of training, which train again at each change."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..explorer import Explorer, Slider
from ..figures.information import name_of
from ..figures.stages import draw_regions, region_patch
from ..figures.style import BLACK, BLUE, VERMILION, freeze_layout, looks_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..dynamics import Trajectory
    from ..selection import SelectionMap
    from ..staged import StagedModel

_CHAINS, _LENGTH = 1000, 100
_OTHER = 0.01  # logit of the lags that are not a head's own, as in the paper
_UNTIL = 2000.0
_CONCENTRATIONS = (0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 2, 3)
_GAPS = (0.5, 1, 1.5, 2, 2.5, 2.99, 3.5, 4, 4.5, 5, 6, 8, 10)
_TICKS = (0, 100, 300, 1000, 3000, 10_000, 20_000, 50_000)
_TICKS = (*_TICKS, 50_001, 50_003, 50_010, 50_030, 50_100, 50_300, 51_000, 52_000, 55_000)


def stage_one() -> Explorer:
    """Return the explorer that trains the selector and shows where its setting lies in the plane.

    Examples
    --------
    >>> figure, description = stage_one().render(concentration=0.1, gap=2.99)
    >>> description[:63]
    'Concentration 0.1, copying gap 2.99, a(0) = 0.01: {1, 2} wins w'
    """
    return Explorer(
        _draw_stage_one,
        {
            "concentration": Slider("concentration α", _CONCENTRATIONS, start=0.1, page=[0.01, 0.1, 1]),
            "gap": Slider("copying gap", _GAPS, start=2.99, page=[1, 2.99, 4, 8]),
            "a": Slider("scale a(0)", [0.001, 0.01, 0.1, 1, 3, 10], start=0.01, page=[0.01, 1, 10]),
        },
        name="stage-one",
        title=f"Stage I on {_CHAINS:,} chains of {_LENGTH} tokens",
        presets={
            "The printed settings": {"concentration": 0.01},
            "A wider copying gap": {"concentration": 0.01, "gap": 4},
            "A larger a(0)": {"concentration": 0.01, "a": 1},
            "Far too large an a(0)": {"concentration": 0.01, "a": 10},
            "A start as theorem 3.6 wants it": {"concentration": 0.1, "gap": 8, "a": 0.001},
        },
        size=(7.2, 4.0),
    )


def stages_two_and_three() -> Explorer:
    """Return the explorer that plays Stage II, in which heads sharpen, and Stage III, in which a grows.

    Examples
    --------
    >>> figure, description = stages_two_and_three().render(concentration=0.1, time=50_000)
    >>> description[:58]
    'Concentration 0.1, Stage II at time 50,000 of 50,000: head'
    """
    return Explorer(
        _draw_stages_two_and_three,
        {
            "concentration": Slider("concentration α", [0.05, 0.1, 0.2, 0.5, 1, 2], start=0.1, page=[0.1, 2]),
            "time": Slider(
                "time since Stage II began",
                _TICKS,
                start=0,
                page=[0, 1000, 3000, 10_000, 50_000, 50_001, 50_010, 50_100, 51_000, 55_000],
                play=True,
            ),
        },
        name="stages-two-and-three",
        title=f"Stages II and III, trained on {_CHAINS:,} chains of {_LENGTH} tokens",
        presets={
            "End of Stage II": {"time": 50_000},
            "End of Stage III": {"time": 55_000},
            "Growth that ends": {"concentration": 2, "time": 55_000},
        },
        size=(7.2, 3.9),
    )


@lru_cache(maxsize=16)
def _model(concentration: float) -> StagedModel:
    from ..chains import DirichletPrior
    from ..staged import StagedModel
    from ..windows import WindowCounts

    tokens = DirichletPrior(3, (1, 2), concentration).sample(_CHAINS, _LENGTH + 1, rng=0)
    return StagedModel(WindowCounts.from_tokens(tokens, window=3, vocab_size=3), degree=2)


@lru_cache(maxsize=128)
def _race(concentration: float, gap: float, a: float) -> Trajectory:
    model = _model(concentration)
    start = model.initial_parameters(own=_OTHER + gap, other=_OTHER, a=a)
    stiff = "LSODA" if a > 3 else None  # spares the attempt with another method
    return model.flow(start, _UNTIL, "c", rtol=1e-4, method=stiff)


@lru_cache(maxsize=1)
def _regions() -> SelectionMap:
    from ..selection import predict_selection

    return predict_selection(np.geomspace(0.01, 3, 9), np.arange(0.25, 10.1, 0.25), n_chains=1000, rng=0)


def _draw_stage_one(figure: Figure, concentration: float, gap: float, a: float) -> str:
    sets, run = _model(concentration).sets, _race(concentration, gap, a)
    kept = figure.artists_kept
    if not kept:
        _lay_out_stage_one(figure, kept, sets)
    p = run.at(kept["times"]).p_S
    for line, values in zip(kept["curves"], p.T):
        line.set_ydata(values)
    kept["here"].set_data([concentration], [gap])
    last = run.p_S[-1]
    best = int(last.argmax())
    how = "wins with share" if last[best] > 0.95 else "leads a mixture with share"
    return (
        f"Concentration {concentration:g}, copying gap {gap:g}, a(0) = {a:g}: {name_of(sets[best])} {how} "
        f"{last[best]:.3f} after {_UNTIL:g} units of time; the parents {{1, 2}} have {last[4]:.3f}."
    )


def _lay_out_stage_one(figure: Figure, kept: dict, sets: tuple) -> None:
    left, right = figure.subplots(1, 2, width_ratios=(1.45, 1))
    kept["times"] = np.geomspace(0.03, _UNTIL, 160)
    kept["curves"] = []
    for subset in sets:
        color, dashes = looks_of(subset)
        kept["curves"] += left.plot(
            kept["times"], 0 * kept["times"], color=color, linestyle=dashes, label=name_of(subset)
        )
    left.set(xscale="log", ylim=(-0.03, 1.05), xlabel="time", title="share of each set")
    left.set_xlim(kept["times"][0], _UNTIL)
    draw_regions(right, _regions())
    (kept["here"],) = right.plot([], [], "o", color="white", markeredgecolor=BLACK, markersize=10)
    right.set(xscale="log", ylim=(0.2, 10.2), xlabel="concentration α", title="predicted winner (small a)")
    right.set_ylabel("copying gap")
    winners = [_regions().sets[i] for i in np.unique(_regions().winners)]
    handles = [region_patch(subset) for subset in winners]
    right.legend(handles=handles, loc="upper right", frameon=True, framealpha=0.9)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=7, columnspacing=1.2)
    freeze_layout(figure)


@lru_cache(maxsize=8)
def _run(concentration: float) -> Trajectory:
    return _model(concentration).three_stages(durations=(_UNTIL, 50_000.0, 5000.0), rtol=1e-5)


def _draw_stages_two_and_three(figure: Figure, concentration: float, time: float) -> str:
    run = _run(concentration)
    kept = figure.artists_kept
    if not kept:
        _lay_out_stages_two_and_three(figure, kept)
    state = run.at(_UNTIL + time)
    attention, a = state.attention, float(state.a)
    kept["attention"].set_data(attention)
    for text, value in zip(kept["entries"], attention.ravel()):
        text.set(text=f"{value:.3f}", color="black" if value > 0.5 else "white")
    growth = run.at(_UNTIL + 50_000 + kept["times"]).a
    kept["growth"].set_data(kept["times"], growth)
    in_three = time > 50_000
    kept["now"].set_data([max(time - 50_000, kept["times"][0])], [a])
    kept["now"].set_visible(in_three)
    stage, elapsed, total = ("III", time - 50_000, 5000) if in_three else ("II", time, 50_000)
    kept["title"].set_text(f"Stage {stage}, time {elapsed:,.0f} of {total:,}")
    own = ", ".join(f"{value:.3f}" for value in np.diag(attention))
    late = run.at([_UNTIL + 54_000, _UNTIL + 55_000]).a
    ending = " By the end it hardly grows any more." if late[1] - late[0] < 0.01 else ""
    return (
        f"Concentration {concentration:g}, Stage {stage} at time {elapsed:,.0f} of {total:,}: heads 1, 2 and "
        f"3 give their own lags attention {own}; a = {a:.2f}, on its way to {late[1]:.2f}.{ending}"
    )


def _lay_out_stages_two_and_three(figure: Figure, kept: dict) -> None:
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.3))
    kept["times"] = np.geomspace(0.5, 5000, 120)
    kept["attention"] = left.imshow(np.zeros((3, 3)), vmin=0, vmax=1)
    kept["entries"] = [
        left.text(x, y, "", ha="center", va="center", fontsize=12) for y in range(3) for x in range(3)
    ]
    left.set(xlabel="lag", title="attention of the heads")
    left.set_xticks(range(3), ["1", "2", "3"])
    left.set_yticks(range(3), ["head 1", "head 2", "head 3"])
    left.grid(False)
    (kept["growth"],) = right.plot([], [], color=BLUE)
    (kept["now"],) = right.plot([], [], "o", color=VERMILION, markersize=10)
    right.set(xscale="log", xlim=(0.4, 6500), ylim=(0, 10), xlabel="time in Stage III", title="the scale a")
    kept["title"] = figure.suptitle("Stage II, time 0 of 50,000")
    freeze_layout(figure)
