"""The explorer of the construction: a transformer set by hand, from soft to hard."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..explorer import Choice, Explorer, Slider
from ..figures.style import BLACK, COLORS, freeze_layout

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WINDOW, _VOCABULARY, _SUBSET = 3, 3, (1, 2)
_MATCHED = (2, 1, 0, 2, 2, 1, 0, 2, 0, 0, 1, 0, 1, 2, 0, 2, 2, 1, 0)
_SHOWN = len(_MATCHED) + 1
_TOKEN_COLORS = np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in COLORS[:_VOCABULARY]])


def construction() -> Explorer:
    """Return the explorer of the hand-set transformer: sharpness of the copier, scale of the classifier.

    Examples
    --------
    >>> figure, description = construction().render(rho=12, a=30)
    >>> description[:53]
    'Position weight 12, scale 30. Prediction 0.00, 0.33, '
    """
    sequences = list(_sequences())
    return Explorer(
        _draw_construction,
        {
            "rho": Slider("position weight ρ", [0, 1, 2, 3, 4, 6, 8, 12], start=3, page=[0, 1, 3, 12]),
            "a": Slider("scale a", [0, 1, 3, 6, 10, 30, 100, 300], start=3, page=[3, 10, 30, 300]),
            "sequence": Choice("sequence", sequences, sequences[0], page=sequences[:2]),
        },
        name="construction",
        title="A transformer set by hand: S = {1, 2}, window M = 3, three tokens",
        presets={
            "An induction head": {"rho": 12, "a": 30},
            "a outruns ρ": {"rho": 3, "a": 300},
            "No match, too soft": {"sequence": "no match", "rho": 3, "a": 30},
            "No match: the fallback": {"sequence": "no match", "rho": 12, "a": 30},
        },
        size=(7.2, 4.9),
    )


@lru_cache(maxsize=1)
def _sequences() -> dict[str, np.ndarray]:
    from ..chains import DirichletPrior

    return {
        "three matches": np.array(_MATCHED),
        "no match": np.array(_MATCHED[:14]),
        "a chain": DirichletPrior(_VOCABULARY, (1, 2), 0.3).sample(1, len(_MATCHED), rng=5)[0],
    }


def _construct(x: np.ndarray, rho: float, a: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return head attention (H, M), scores and weights of the positions M + 1 ... L, each (L - M,)."""
    sigma = np.exp(rho * (np.eye(_WINDOW) - 1))
    sigma /= sigma.sum(axis=1, keepdims=True)
    lags = np.arange(1, _WINDOW + 1)
    past = np.eye(_VOCABULARY)[x[np.arange(_WINDOW, len(x) + 1)[:, None] - lags]]  # (L - M + 1, M, d)
    v = np.einsum("hm,lmd->hld", sigma, past)
    s = np.prod([v[h - 1, :-1] @ v[h - 1, -1] for h in _SUBSET], axis=0)
    weights = np.exp(a * (s - s.max()))
    return sigma, s, weights / weights.sum()


def _draw_construction(figure: Figure, rho: float, a: float, sequence: str) -> str:
    from ..induction import GeneralizedInductionHead

    x = _sequences()[sequence]
    L = len(x)
    sigma, s, weights = _construct(x, rho, a)
    y = weights @ np.eye(_VOCABULARY)[x[_WINDOW:]]
    target = GeneralizedInductionHead(_SUBSET, _WINDOW).predict(x[None], _VOCABULARY)[0]
    matched = [
        i for i in range(_WINDOW, L) if all(x[i - lag] == x[L - lag] for lag in _SUBSET)
    ]  # from zero, so that the token to predict stands at L
    kept = figure.artists_kept
    if not kept:
        _lay_out_construction(figure, kept)
    position = np.arange(1, _SHOWN + 1)
    inside = (position > _WINDOW) & (position <= L)
    lit = np.isin(position - 1, matched)
    colors = np.ones((_SHOWN, 3))
    colors[:L] = _TOKEN_COLORS[x]
    colors[~lit] = 1 - 0.35 * (1 - colors[~lit])
    kept["cells"].set_data(colors[None])
    kept["query"].set_x(L - max(_SUBSET) + 0.5)
    kept["asked"].set_x(L + 0.5)
    for i, letter in enumerate(kept["letters"]):
        letter.set(text=str(x[i]) if i < L else "?" if i == L else "", color="white" if lit[i] else "black")
    for name, values in (("scores", s), ("weights", weights)):
        heights = np.zeros(_SHOWN)
        heights[inside] = values
        kept[name].set_verts(_rectangles(position, heights))
        kept[name].set_facecolor(colors)
    kept["sigma"].set_data(sigma)
    for text, value in zip(kept["entries"], sigma.ravel()):
        text.set(text=f"{value:.2f}", color="black" if value > 0.5 else "white")
    kept["y"].set_verts(_rectangles(np.arange(_VOCABULARY), y))
    kept["target"].set_data(range(_VOCABULARY), target)
    distance = np.abs(y - target).sum()
    kept["panel"].set_title(f"output, off by {distance:.3f}")
    if matched:
        found = f"{len(matched)} positions match the query"
    else:
        found = "No position matches the query, and the induction head falls back to the average"
    return (
        f"Position weight {rho:g}, scale {a:g}. Prediction {_listed(y)}; induction head {_listed(target)}; "
        f"distance {distance:.3f}. {found}. "
        f"Each head puts {sigma[0, 0]:.3f} of its attention on its own lag. "
        f"Largest attention weight {weights.max():.3f}."
    )


def _listed(law: np.ndarray) -> str:
    return ", ".join(f"{value:.2f}" for value in law)


def _lay_out_construction(figure: Figure, kept: dict) -> None:
    from matplotlib.patches import Rectangle

    grid = figure.add_gridspec(3, 2, width_ratios=(2, 1), height_ratios=(0.36, 1, 1))
    strip, scores, weights = (figure.add_subplot(grid[i, 0]) for i in range(3))
    copier, output = figure.add_subplot(grid[:2, 1]), figure.add_subplot(grid[2, 1])
    kept["cells"] = strip.imshow(
        np.ones((1, _SHOWN, 3)), aspect="auto", extent=(0.5, _SHOWN + 0.5, 0, 1), interpolation="nearest"
    )
    strip.vlines(np.arange(1.5, _SHOWN), 0, 1, color="white", linewidth=2)
    frame = {"fill": False, "zorder": 5, "edgecolor": BLACK, "linewidth": 2.2, "clip_on": False}
    kept["query"] = strip.add_patch(Rectangle((0, 0), max(_SUBSET), 1, **frame))
    kept["asked"] = strip.add_patch(Rectangle((0, 0), 1, 1, linestyle=":", **frame))
    kept["letters"] = [
        strip.text(i + 1, 0.47, "", ha="center", va="center", fontsize=12) for i in range(_SHOWN)
    ]
    strip.set(xlim=(0.4, _SHOWN + 0.6), ylim=(-0.08, 1.08), title="tokens; matches lit, the query framed")
    strip.axis("off")
    kept["scores"] = _bars(scores, _SHOWN, "scores")
    kept["weights"] = _bars(weights, _SHOWN, "attention: who votes")
    for axes in (scores, weights):
        axes.set(xlim=(0.4, _SHOWN + 0.6), ylim=(0, 1.03), yticks=(0, 1), xticks=(1, 5, 10, 15, _SHOWN))
    weights.set_xlabel("position")
    kept["sigma"] = copier.imshow(np.zeros((_WINDOW, _WINDOW)), vmin=0, vmax=1)
    kept["entries"] = [
        copier.text(i, h, "", ha="center", va="center", fontsize=11)
        for h in range(_WINDOW)
        for i in range(_WINDOW)
    ]
    lags = range(1, _WINDOW + 1)
    copier.set_xticks(range(_WINDOW), lags)
    copier.set_yticks(range(_WINDOW), lags)
    copier.set(title="copier: where heads look", xlabel="lag", ylabel="head")
    copier.grid(False)
    kept["y"] = _bars(output, _VOCABULARY, "output, off by 0.000")
    kept["y"].set_facecolor(_TOKEN_COLORS)
    (kept["target"],) = output.plot([], [], "D", color=BLACK, markersize=7)
    output.set(ylim=(0, 1.03), xlim=(-0.6, _VOCABULARY - 0.4), xticks=range(_VOCABULARY), yticks=(0, 1))
    output.set_xlabel("token (◆: induction head)")
    kept["panel"] = output
    freeze_layout(figure)
    kept["target"].set_clip_on(False)


def _bars(axes: Axes, n: int, title: str) -> object:
    """Add `n` bars, one artist for all of them, which redraws far faster than one for each."""
    from matplotlib.collections import PolyCollection

    axes.set_title(title)
    axes.grid(axis="x", visible=False)
    return axes.add_collection(PolyCollection(_rectangles(np.arange(n), np.zeros(n)), linewidth=0))


def _rectangles(x: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """Return the corners of bars, shape (n, 4, 2)."""
    left, right, zero = x - 0.37, x + 0.37, np.zeros(len(x))
    columns = [(left, zero), (left, heights), (right, heights), (right, zero)]
    return np.stack([np.stack(corner, axis=-1) for corner in columns], axis=1)
