"""Figures of Markov chains: their diagrams and spectra, their sequences, their kernels and prior."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from .. import _validation as check
from .._lags import lag_set
from . import _given as given
from .general import matrix
from .style import BLACK, BLUE, COLORS, ORANGE, SKY, VERMILION, new_figure, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TOKEN_COLORS = (ORANGE, BLUE, SKY, VERMILION)  # light, dark, middle: told apart without colour too


def state_diagrams(
    transitions: Mapping[str, np.ndarray], *, names: Sequence[str] | None = None, numbers: bool = True
) -> Figure:
    """Draw chains as states and arrows, with the probabilities written beside the arrows.

    States that have names have the colours of the tokens that `sequences` draws.
    """
    transitions = given.mapping("transitions", transitions, given.square)
    if names is not None:
        given.words("names", names, max(map(len, transitions.values())))
    numbers = check.flag("numbers", numbers)
    with style():
        n = len(transitions)
        columns = min(n, 3)
        rows = -(-n // columns)
        figure = new_figure(7.2, 2.7 * rows) if n > 1 else new_figure(5.2, 2.4)
        panels = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes in panels[n:]:
            axes.axis("off")
        for axes, (title, values) in zip(panels, transitions.items()):
            _state_diagram(axes, values, names, numbers)
            axes.set_title(title)
    return figure


def _state_diagram(axes: Axes, values: np.ndarray, names: Sequence[str] | None, numbers: bool) -> None:
    from matplotlib.patches import FancyArrowPatch

    n = len(values)
    angle = (np.pi if n == 2 else np.pi / 2) - 2 * np.pi * np.arange(n) / n
    place = np.stack([np.cos(angle), np.sin(angle)], axis=1)  # (n, 2)
    radius = 0.26
    colors = [BLUE] * n if names is None else itertools.islice(itertools.cycle(TOKEN_COLORS), n)
    names = [str(i) for i in range(n)] if names is None else names

    def arrow(start: np.ndarray, end: np.ndarray, bend: float, chance: float) -> None:
        axes.add_patch(
            FancyArrowPatch(
                start,
                end,
                connectionstyle=f"arc3,rad={bend}",
                arrowstyle="-|>,head_width=3,head_length=6",
                color="0.25",
                linewidth=0.7 + 4 * chance**2,
                shrinkA=0,
                shrinkB=0,
                zorder=1,
            )
        )

    def label(at: np.ndarray, chance: float) -> None:
        if numbers:
            axes.text(*at, f"{chance:.3g}", ha="center", va="center", fontsize=11)

    for i, j in zip(*np.nonzero(values > 0)):
        chance = float(values[i, j])
        if i == j:
            out = place[i]
            side = np.array([-out[1], out[0]])
            arrow(out * (1 + radius) + 0.16 * side, out * (1 + radius) - 0.16 * side, -2.0, chance)
            label(out * (1.95 if n == 2 else 1.88), chance)
        else:
            along = (place[j] - place[i]) / np.linalg.norm(place[j] - place[i])
            right = np.array([along[1], -along[0]])
            shift = 0.07 * right + radius * along
            start, end = place[i] + shift, place[j] - shift + 0.14 * right
            arrow(start, end, 0.22, chance)
            middle = (start + end) / 2
            label(middle + (0.11 * np.linalg.norm(end - start) + 0.17) * right, chance)
    for (x, y), name, color in zip(place, names, colors):
        axes.add_patch(_disc(x, y, radius, color))
        ink = "black" if color == ORANGE else "white"
        axes.text(x, y, name, ha="center", va="center", color=ink, fontsize=12, zorder=3)
    wide = 1.5 if not np.diag(values).any() else 2.15 if numbers or n == 2 else 1.75
    axes.set(xlim=(-wide, wide), ylim=(-wide, wide) if n > 2 else (-0.95, 0.95), aspect="equal")
    axes.axis("off")


def _disc(x: float, y: float, radius: float, color: str) -> object:
    from matplotlib.patches import Circle

    return Circle((x, y), radius, facecolor=color, edgecolor="white", linewidth=1.5, zorder=2)


def spectra(transitions: Mapping[str, np.ndarray], *, ellipses: Mapping[str, float] | None = None) -> Figure:
    """Draw the eigenvalues of transition matrices in the unit disc of the complex plane.

    A multiple eigenvalue carries its multiplicity. `ellipses` gives the vertical half axis of an
    ellipse to draw behind the eigenvalues.
    """
    transitions = given.mapping("transitions", transitions, given.square)
    if ellipses is not None:
        ellipses = given.entries("ellipses", ellipses, dict.fromkeys(transitions, check.real))
    with style():
        n = len(transitions)
        columns = min(n, 3 if n != 4 else 4)
        rows = -(-n // columns)
        figure = new_figure(7.2 if columns < 4 else 8.4, 2.75 * rows if columns < 4 else 2.7)
        panels = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes in panels[n:]:
            axes.axis("off")
        turn = np.linspace(0, 2 * np.pi, 200)
        for axes, (title, values) in zip(panels, transitions.items()):
            unit_disc(axes)
            if ellipses is not None:
                axes.plot(np.cos(turn), ellipses[title] * np.sin(turn), color="0.6", linewidth=1)
            for value, times in _grouped(np.linalg.eigvals(values)):
                on_rim = abs(value) > 1 - 1e-9
                color = VERMILION if on_rim else BLUE
                axes.plot(value.real, value.imag, "s" if on_rim else "o", color=color, zorder=3)
                if times > 1:
                    inward = -0.2 if value.real > 0.3 else 0.2
                    axes.text(value.real + inward, value.imag + 0.14, f"×{times}", ha="center", fontsize=11)
            axes.set_title(title)
    return figure


def unit_disc(axes: Axes) -> None:
    """Prepare axes as a picture of the unit disc."""
    turn = np.linspace(0, 2 * np.pi, 200)
    axes.fill(np.cos(turn), np.sin(turn), color="0.94", zorder=0)
    axes.plot(np.cos(turn), np.sin(turn), color="0.5", linewidth=1, zorder=1)
    axes.axhline(0, color="0.8", linewidth=0.8, zorder=0)
    axes.axvline(0, color="0.8", linewidth=0.8, zorder=0)
    axes.set(xlim=(-1.12, 1.12), ylim=(-1.12, 1.12), aspect="equal")
    axes.axis("off")


def _grouped(values: np.ndarray) -> list[tuple[complex, int]]:
    """Eigenvalues with multiplicities; a defective one comes out scattered, hence the tolerance."""
    groups: list[tuple[complex, int]] = []
    left = list(values)
    while left:
        near = [v for v in left if abs(v - left[0]) < 1e-5]
        groups.append((complex(left[0]), len(near)))
        left = [v for v in left if abs(v - left[0]) >= 1e-5]
    return groups


def sequences(groups: Mapping[str, np.ndarray], *, names: Sequence[str] | None = None) -> Figure:
    """Draw sequences of tokens as strips of coloured cells, one panel for each group.

    Parameters
    ----------
    groups : mapping of str to array of int, shape (n_sequences, length)
        Title of a panel, then its sequences of at most four different tokens.
    names : sequence of str, optional
        What to call each token, from 0.
    """
    groups = given.mapping("groups", groups, _few_tokens)
    n_tokens = max(int(tokens.max()) for tokens in groups.values()) + 1
    if names is not None and len(given.words("names", names)) < n_tokens:
        check.refuse("names", names, f"a sequence of a str for each of {n_tokens} tokens")
    with style():
        n_rows = [len(t) for t in groups.values()]
        figure = new_figure(7.2, 0.55 + sum(0.42 + 0.2 * n for n in n_rows))
        panels = figure.subplots(len(groups), 1, squeeze=False, height_ratios=[n + 1 for n in n_rows])[:, 0]
        for axes, (title, tokens) in zip(panels, groups.items()):
            strips(axes, tokens, n_tokens)
            axes.set_title(title, fontsize=11.5)
            axes.set_xticks([])
        token_legend(figure, n_tokens, names)
    return figure


def _few_tokens(name: str, value: object) -> np.ndarray:
    return check.token_array(name, value, len(TOKEN_COLORS))


def strips(axes: Axes, tokens: np.ndarray, n_tokens: int) -> object:
    from matplotlib.colors import ListedColormap

    cells = axes.imshow(
        tokens,
        cmap=ListedColormap(TOKEN_COLORS[:n_tokens]),
        vmin=-0.5,
        vmax=n_tokens - 0.5,
        aspect="auto",
        interpolation="nearest",
    )
    axes.set_yticks([])
    axes.set_yticks(np.arange(len(tokens) - 1) + 0.5, minor=True)
    axes.grid(False)
    axes.grid(which="minor", color="white", linewidth=2.5, alpha=1)
    axes.tick_params(which="both", length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return cells


def token_legend(figure: Figure, n_tokens: int, names: Sequence[str] | None = None) -> None:
    from matplotlib.patches import Patch

    names = [f"token {i}" for i in range(n_tokens)] if names is None else names
    handles = [Patch(color=c, label=name) for c, name in zip(TOKEN_COLORS, names)]
    figure.legend(handles=handles, loc="outside lower center", ncols=n_tokens)


def occupations(laws: Mapping[str, np.ndarray]) -> Figure:
    """Draw laws over time, arrays (time, states), as shades: time to the right, states upward."""
    laws = given.mapping("laws", laws, given.array(None, None))
    with style():
        figure = new_figure(7.2, 1.75 * len(laws) + 0.4)
        panels = figure.subplots(len(laws), 1, squeeze=False, sharex=True)[:, 0]
        for axes, (title, law) in zip(panels, laws.items()):
            image = axes.imshow(law.T, origin="lower", aspect="auto", vmin=0, vmax=0.5)
            axes.set(ylabel="node", title=title)
            axes.set_yticks(range(0, law.shape[1], 1 + law.shape[1] // 7))
            axes.grid(False)
        panels[-1].set_xlabel("time t")
        figure.colorbar(image, ax=panels.tolist(), label="probability", extend="max", fraction=0.05)
    return figure


def decays(distances: Mapping[str, np.ndarray], rates: Mapping[str, float]) -> Figure:
    """Draw distances over time on a logarithmic axis, with powers of each rate dashed beside them."""
    distances = given.mapping("distances", distances, given.array(None), most=len(COLORS))
    rates = given.entries("rates", rates, dict.fromkeys(distances, check.real))
    with style():
        figure = new_figure(7.2, 3.6)
        axes = figure.subplots()
        for color, (label, distance) in zip(COLORS, distances.items()):
            time = np.arange(len(distance))
            axes.semilogy(time, distance, color=color, label=label)
            axes.semilogy(time, rates[label] ** time, "--", color=color, linewidth=1.4)
        axes.set(xlabel="steps t", ylabel="distance d(t)")
        axes.legend(title=r"dashed: $|\lambda_2|^t$")
    return figure


def lag_diagram(lags: Sequence[int], length: int = 6) -> Figure:
    """Draw which earlier tokens the next token looks at."""
    length = check.integer("length", length, minimum=1)
    lags = lag_set("lags", lags, length)
    with style():
        figure = new_figure(7.2, 1.5)
        axes = figure.subplots()
        for lag in range(length + 1):
            is_parent, is_target = lag in lags, lag == 0
            face = VERMILION if is_target else BLUE if is_parent else "0.9"
            axes.scatter(-lag, 0, s=1500, color=face, edgecolor="0.4", linewidth=1, zorder=2)
            name = "$x_t$" if is_target else f"$x_{{t-{lag}}}$"
            ink = "white" if is_parent or is_target else "0.25"
            axes.text(-lag, -0.02, name, ha="center", va="center", fontsize=16, color=ink, zorder=3)
        for lag in lags:
            arrow = {
                "arrowstyle": "-|>,head_width=0.35,head_length=0.6",
                "connectionstyle": f"arc3,rad={-0.55 if lag < 3 else -0.35}",
                "color": BLUE,
                "linewidth": 2,
                "shrinkA": 22,
                "shrinkB": 22,
            }
            axes.annotate("", (0, 0), (-lag, 0), arrowprops=arrow)
        axes.set(xlim=(-length - 0.5, 0.5), ylim=(-0.5, 0.9 if max(lags) < 3 else 1.1))
        axes.axis("off")
    return figure


def tables(
    values: Mapping[str, tuple[np.ndarray, Sequence[str], Sequence[str]]], labels: tuple[str, str]
) -> Figure:
    """Draw matrices whose rows and columns have names: ``{title: (matrix, rows, columns)}``."""
    values = given.mapping("values", values, _table)
    labels = given.words("labels", labels, 2)
    with style():
        tallest = max(len(v[0]) for v in values.values())
        figure = new_figure(7.2, max(3.0, 0.33 * tallest + 1.3))
        panels = figure.subplots(1, len(values), squeeze=False)[0]
        for axes, (title, (value, rows, columns)) in zip(panels, values.items()):
            matrix(axes, value, title=title, labels=labels, vmin=0, vmax=1)
            axes.set_xticks(range(len(columns)), columns)
            axes.set_yticks(range(len(rows)), rows)
    return figure


def _table(name: str, value: object) -> list:
    values, rows, columns = given.parts(name, value, (given.array(None, None), given.words, given.words))
    n, m = values.shape
    return [values, given.words(f"{name}[1]", rows, n), given.words(f"{name}[2]", columns, m)]


def simplex(rows: Mapping[str, np.ndarray]) -> Figure:
    """Draw laws of three tokens, arrays (n, 3), as points of a triangle, one panel for each group."""
    rows = given.mapping("rows", rows, partial(check.probability_array, shape=(None, 3)))
    with style():
        figure = new_figure(8.4, 2.5)
        panels = figure.subplots(1, len(rows), squeeze=False)[0]
        corners = np.array([[0, 0], [1, 0], [0.5, np.sqrt(3) / 2]])
        for axes, (title, laws) in zip(panels, rows.items()):
            axes.fill(*corners.T, facecolor="0.95", edgecolor="0.4", linewidth=1.2, zorder=0)
            axes.plot(*(laws @ corners).T, "o", color=BLUE, markersize=3.2, alpha=0.35, markeredgewidth=0)
            for (x, y), name in zip(corners, "012"):
                axes.text(
                    x, y + (0.06 if y else -0.06), name, ha="center", va="bottom" if y else "top", fontsize=12
                )
            axes.set(title=title, xlim=(-0.08, 1.08), ylim=(-0.2, 1.05), aspect="equal")
            axes.axis("off")
    return figure


def kernels_and_sequences(examples: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> Figure:
    """Draw kernels of two parents beside sequences that they made: ``{title: (kernel, tokens)}``."""
    examples = given.mapping("examples", examples, _kernel_and_tokens)
    with style():
        figure = new_figure(7.8, 1.95 * len(examples) + 0.5)
        grid = figure.subplots(len(examples), 2, squeeze=False, width_ratios=(1, 5))
        for (left, right), (title, (kernel, tokens)) in zip(grid, examples.items()):
            d = kernel.shape[-1]
            draw_kernel(left, kernel)
            strips(right, tokens, d)
            right.set_xticks([])
            right.set_title(title)
        grid[-1, 0].set_xlabel("next token")
        token_legend(figure, d)
    return figure


def _kernel_and_tokens(name: str, value: object) -> list:
    kernel, tokens = given.parts(name, value, (_kernel, _few_tokens))
    return [kernel, check.token_array(f"{name}[1]", tokens, len(kernel))]


def _kernel(name: str, value: object) -> np.ndarray:
    kernel = check.probability_array(name, value, (None, None, None))
    d = kernel.shape[-1]
    if kernel.shape != (d, d, d) or d > len(TOKEN_COLORS):
        raise ValueError(f"{name} must have three axes of one length up to 4, got shape {kernel.shape}")
    return kernel


def draw_kernel(axes: Axes, kernel: np.ndarray) -> object:
    """Draw a kernel as a table: a row for each pattern of the parents, oldest token first."""
    patterns, table = parent_table(kernel)
    image = axes.imshow(table, vmin=0, vmax=1, aspect="auto")
    axes.set_xticks(range(kernel.shape[-1]))
    axes.set_yticks(range(len(patterns)), patterns, fontsize=10)
    axes.set_ylabel("parents")
    axes.grid(False)
    axes.tick_params(length=0)
    return image


def parent_table(kernel: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Return the patterns of a kernel's parents, written as they are read, and its rows for them."""
    n, d = kernel.ndim - 1, kernel.shape[-1]
    table = kernel.transpose(*range(n - 1, -1, -1), n).reshape(-1, d)
    return [" ".join(map(str, pattern)) for pattern in np.ndindex(*[d] * n)], table


def best_reports(truth: np.ndarray, best: Mapping[str, np.ndarray]) -> Figure:
    """Draw the probability that is best reported against the true one."""
    truth = given.shares(None)("truth", truth)
    best = given.mapping("best", best, given.array(len(truth)), most=len(COLORS))
    with style():
        figure = new_figure(5.2, 4.2)
        axes = figure.subplots()
        axes.plot(truth, truth, "--", color=BLACK, linewidth=1.2, label="the truth itself")
        for color, (label, values) in zip(COLORS, best.items()):
            axes.plot(truth, values, color=color, label=label)
        axes.set(xlabel="true probability of token 0", ylabel="best report", aspect="equal")
        axes.legend(loc="upper left")
    return figure
