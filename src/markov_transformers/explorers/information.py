"""The explorer that weighs all sets of lags against each other."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..explorer import Choice, Explorer, Slider
from ..figures.information import lag_dots, name_of
from ..figures.style import BLUE, SKY, VERMILION, freeze_layout

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

_WINDOW, _CHAINS = 4, 500
_LAGS = {"1 and 2": (1, 2), "2 alone": (2,), "1 and 3": (1, 3), "1, 2 and 3": (1, 2, 3)}


def information_bars() -> Explorer:
    """Return the explorer of the information of all sets of lags, vanilla and modified.

    Examples
    --------
    >>> figure, description = information_bars().render(concentration=1)
    >>> description[:58]
    'Parents {1, 2}, concentration 1, noise 0, average of 500 c'
    """
    return Explorer(
        _draw_information_bars,
        {
            "lags": Choice(
                "lags of the parents", list(_LAGS), start="1 and 2", page=["1 and 2", "2 alone", "1, 2 and 3"]
            ),
            "concentration": Slider(
                "concentration α",
                [0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 2, 3, 10],
                start=0.3,
                page=[0.01, 0.03, 0.1, 0.3, 1],
            ),
            "noise": Slider("noise δ", np.arange(0, 0.91, 0.1), start=0, page=[0, 0.1, 0.2]),
        },
        name="information-bars",
        title="What 15 sets of lags tell, and what is left after the price: 500 chains over two tokens",
        presets={
            "The parents win": {"concentration": 0.3},
            "Lags 2 and 4 win": {"concentration": 0.01},
            "Noise brings the parents back": {"concentration": 0.01, "noise": 0.2},
            "One parent": {"lags": "2 alone", "concentration": 0.1},
        },
        size=(7.2, 5.4),
    )


@lru_cache(maxsize=256)
def _both(lags: tuple[int, ...], concentration: float, noise: float) -> tuple[list, np.ndarray, np.ndarray]:
    """Sets of lags, their chi-squared information and the modified one, averaged over the prior."""
    from ..chains import DirichletPrior, NGramChain
    from ..information import information_of_subsets

    kernels = DirichletPrior(2, lags, concentration).sample_kernels(_CHAINS, rng=0)
    chains = NGramChain((1 - noise) * kernels + noise / 2, lags)
    # A nearly deterministic chain can fall apart into several; a uniform start decides its limit.
    windows = chains.stationary_windows(_WINDOW + 1, initial="uniform")
    vanilla, modified = (
        information_of_subsets(windows, _WINDOW, measure=measure) for measure in ("chi2", "modified_chi2")
    )
    subsets = [subset for subset in vanilla if subset]
    return subsets, np.array([vanilla[s] for s in subsets]), np.array([modified[s] for s in subsets])


def _draw_information_bars(figure: Figure, lags: str, concentration: float, noise: float) -> str:
    parents = _LAGS[lags]
    subsets, vanilla, modified = _both(parents, concentration, noise)
    kept = figure.artists_kept
    if not kept:
        _lay_out_information_bars(figure, kept, subsets)
    at = subsets.index(parents)
    largest = np.flatnonzero(vanilla >= vanilla.max() * (1 - 1e-9))
    best = int(modified.argmax())
    for bars, heights, stand_out in (("vanilla", vanilla, largest), ("modified", modified, [best])):
        for i, (bar, height) in enumerate(zip(kept[bars], heights)):
            bar.set(height=height, color=VERMILION if i in stand_out else SKY)
        axes = kept[bars][0].axes
        axes.set_ylim(0, 1.12 * heights.max())
    for band in kept["bands"]:
        band.set_x(at - 0.5)
    second = int(np.argsort(modified)[-2])
    kept["title"].set_text(f"after the price: S* = {name_of(subsets[best])}")
    kept["title"].set_color(BLUE if best == at else VERMILION)
    relation = "the parents" if best == at else "not the parents"
    return (
        f"Parents {name_of(parents)}, concentration {concentration:g}, noise {noise:g}, average of {_CHAINS} "
        f"chains. Chi-squared information is largest, {vanilla.max():.3f}, for all {len(largest)} sets that "
        f"hold the parents. After the price the largest is {name_of(subsets[best])}, {relation}, with "
        f"{modified[best]:.4f}; next comes {name_of(subsets[second])} with {modified[second]:.4f}."
    )


def _lay_out_information_bars(figure: Figure, kept: dict, subsets: list[tuple[int, ...]]) -> None:
    top, bottom, below = figure.subplots(3, 1, height_ratios=(1.6, 1.6, 1.1), sharex=True)
    kept["bands"] = []
    for name, axes in (("vanilla", top), ("modified", bottom)):
        kept[name] = axes.bar(range(len(subsets)), np.ones(len(subsets)), width=0.72).patches
        kept["bands"].append(_band(axes))
        axes.grid(axis="x", visible=False)
        axes.tick_params(axis="x", length=0)
        axes.yaxis.set_major_formatter("{x:.3f}")
    top.set_title("chi-squared information (shaded: the parents)", loc="left")
    kept["title"] = bottom.set_title("after the price: S* = {1, 2, 3}", loc="left")
    lag_dots(below, subsets)
    kept["bands"].append(_band(below))
    freeze_layout(figure)


def _band(axes: Axes) -> Rectangle:
    """Shade one unit of the x axis; what `axvspan` returns cannot be moved in every matplotlib."""
    from matplotlib.patches import Rectangle

    transform = axes.get_xaxis_transform()
    return axes.add_patch(Rectangle((-0.5, 0), 1, 1, transform=transform, color="0.9", zorder=0))
