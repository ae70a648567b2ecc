"""Figures of the two-layer transformer: its blocks, its construction, and what its loss can see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from .. import _validation as check
from ..windows import WindowCounts
from . import _given as given
from .style import BLACK, BLUE, COLORS, GREEN, ORANGE, VERMILION, new_figure, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NEVER = "0.8"  # the shade of minus infinity


def transformer_blocks() -> Figure:
    """Draw the two-layer transformer as a chain of blocks, with the shapes that pass between them."""
    with style():
        figure = new_figure(7.2, 2.9)
        axes = figure.subplots()
        axes.axis("off")
        axes.set(xlim=(0, 100), ylim=(0, 40))
        blocks = [
            (11, BLUE, "copier", "first attention", "positions w", "copies the tokens\nat lags 1 ... M"),
            (41, GREEN, "selector", "feed-forward", "set weights c", "multiplies copies\nover sets of heads"),
            (
                71,
                VERMILION,
                "classifier",
                "second attention",
                "scale a",
                "compares features,\ncollects votes",
            ),
        ]
        for x, color, name, layer, parameter, task in blocks:
            _box(axes, x, color)
            axes.text(x + 9, 31, name, ha="center", color=color, fontsize=14, weight="bold")
            axes.text(x + 9, 27.3, layer, ha="center", fontsize=9.5)
            axes.text(x + 9, 18, task, ha="center", fontsize=8.5, color="0.25", linespacing=1.5)
            axes.text(x + 9, 12.6, parameter, ha="center", fontsize=11, style="italic", color=color)
        arrows = [
            (0, 11, r"$\tilde{\mathrm{X}}$", "(L+1) × d"),
            (29, 41, "V", "H blocks"),
            (59, 71, "U", "features"),
            (89, 100, "y", "d numbers"),
        ]
        for start, end, name, shape in arrows:
            _arrow(axes, (start, 22.5), (end, 22.5))
            axes.text((start + end) / 2, 24.5, name, ha="center", fontsize=13)
            axes.text((start + end) / 2, 18.6, shape, ha="center", fontsize=8.5, color="0.35")
        axes.plot([4, 4, 80], [17.5, 4, 4], color="0.45", linewidth=1.4)
        _arrow(axes, (80, 4), (80, 10.6), color="0.45")
        axes.text(42, 5.4, "the tokens themselves, as values", ha="center", fontsize=10, color="0.35")
    return figure


def position_matrix(w: np.ndarray, size: int, attention: np.ndarray) -> Figure:
    """Draw the position matrix of one head, and what the softmax makes of each row.

    Parameters
    ----------
    w : array, shape (window,)
        Position weights of the head, lag 1 first.
    size : int
        Rows and columns to show.
    attention : array, shape (size, size)
        The softmax of the rows.
    """
    size = check.integer("size", size, minimum=1)
    w = given.numbers("w", w)
    attention = check.real_array("attention", attention, (size, size), finite=False)
    lag = np.arange(size)[:, None] - np.arange(size)[None, :]
    inside = (lag >= 1) & (lag <= len(w))
    logits = np.where(inside, w[np.clip(lag - 1, 0, len(w) - 1)], np.nan)
    with style():
        figure = new_figure(7.4, 3.9)
        panels = figure.subplots(1, 2, sharey=True)
        for axes, values, title in zip(
            panels,
            (logits, np.where(inside, attention, np.nan)),
            ("position matrix", "its softmax, row by row"),
        ):
            axes.set_facecolor(_NEVER)
            image = axes.imshow(values, extent=(0.5, size + 0.5, size + 0.5, 0.5), vmin=0)
            axes.set(title=title, xlabel="column j: looked at", xticks=range(1, size + 1))
            axes.set_yticks(range(1, size + 1))
            axes.grid(False)
            figure.colorbar(image, ax=axes, fraction=0.046)
        panels[0].set_ylabel("row l: looks")
    return figure


def copies(blocks: Mapping[str, np.ndarray], tokens: Sequence[int]) -> Figure:
    """Draw blocks of copies as strips, one column a position, one row a token.

    Parameters
    ----------
    blocks : mapping of str to array, shape (length + 1, vocab_size)
        By title; the last row belongs to the token to predict.
    tokens : sequence of int, length `length`
        What stands at each position.
    """
    tokens = given.tokens("tokens", tokens)
    blocks = given.mapping("blocks", blocks, given.array(len(tokens) + 1, None))
    with style():
        figure = new_figure(7.2, 1.15 * len(blocks) + 0.7)
        panels = figure.subplots(len(blocks), 1, sharex=True, squeeze=False)[:, 0]
        for axes, (title, block) in zip(panels, blocks.items()):
            n, d = block.shape
            image = axes.imshow(
                block.T, aspect="auto", vmin=0, vmax=1, extent=(0.5, n + 0.5, d - 0.5, -0.5), cmap="Blues"
            )
            axes.set(ylabel="token", yticks=range(d))
            axes.set_title(title, loc="left", fontsize=11, pad=3)
            axes.set_xticks(np.arange(1, n + 1), [*map(str, tokens), "?"])
            axes.set_xticks(np.arange(0.5, n + 1), minor=True)
            axes.grid(False)
            axes.grid(which="minor", axis="x", color="0.85", linewidth=0.8)
            axes.tick_params(which="both", length=0)
        panels[-1].set_xlabel("token at each position")
        figure.colorbar(image, ax=panels.tolist(), fraction=0.03, label="share")
    return figure


def feature_strips(features: Mapping[str, np.ndarray], sets: Sequence[tuple[int, ...]], d: int) -> Figure:
    """Draw feature vectors as strips of cells, grouped by the set of heads that they multiply.

    Parameters
    ----------
    features : mapping of str to array, shape (n_features,)
        By title, in the order of `sets`.
    sets : sequence of tuple of int
    d : int
        Number of tokens: a set of k heads has d ** k features.
    """
    d, sets = check.integer("d", d, minimum=1), given.sets("sets", sets)
    each = [d ** len(S) for S in sets]
    features = given.mapping("features", features, given.array(sum(each), finite=True))
    ends = np.cumsum(each)
    starts = ends - each
    with style():
        figure = new_figure(7.2, 0.82 * len(features) + 1.0)
        panels = figure.subplots(len(features), 1, sharex=True, squeeze=False)[:, 0]
        top = max(np.abs(values).max() for values in features.values())
        for axes, (title, values) in zip(panels, features.items()):
            axes.imshow(values[None, :], aspect="auto", cmap="Blues", vmin=0, vmax=top)
            axes.set_xticks(np.arange(-0.5, len(values)), minor=True)
            axes.grid(False)
            axes.grid(which="minor", axis="x", color="0.88", linewidth=0.7)
            axes.vlines(starts[1:] - 0.5, -0.5, 0.5, color=BLACK, linewidth=1.6)
            axes.set_title(title, loc="left", fontsize=11, pad=3)
            axes.set_yticks([])
            axes.tick_params(which="both", length=0)
        centers = (starts + ends - 1) / 2
        panels[-1].set_xticks(centers, [set_name(S) for S in sets], fontsize=10)
        panels[-1].set_xlabel("set of heads")
    return figure


def construction_weights(w: np.ndarray, c: np.ndarray, sets: Sequence[tuple[int, ...]]) -> Figure:
    """Draw the weights of copier and selector.

    Parameters
    ----------
    w : array, shape (heads, window)
    c : array, shape (n_sets,)
    sets : sequence of tuple of int
    """
    from .general import matrix

    w, c = given.array(None, None, finite=True)("w", w), given.numbers("c", c)
    sets = given.sets("sets", sets, len(c))
    with style():
        figure = new_figure(7.2, 3.2)
        left, right = figure.subplots(1, 2, width_ratios=(1, 1.5))
        matrix(left, w, title="copier: w", labels=("lag", "head"))
        left.set_xticks(range(w.shape[1]), range(1, w.shape[1] + 1))
        left.set_yticks(range(w.shape[0]), range(1, w.shape[0] + 1))
        right.bar(range(len(c)), c, color=GREEN, width=0.6)
        right.set_xticks(range(len(c)), [set_name(S) for S in sets])
        right.set(title="selector: c", xlabel="set of heads", ylim=(0, 1.1 * max(1e-12, np.max(c))))
        right.grid(axis="x", visible=False)
    return figure


def distance_and_bound(
    scales: np.ndarray, measured: Mapping[str, np.ndarray], bounds: Mapping[str, np.ndarray]
) -> Figure:
    """Draw the distance to the induction head over the scale a, and its bound, dashed.

    Parameters
    ----------
    scales : array, shape (n_scales,)
        Values of a.
    measured, bounds : mapping of str to array, shape (n_scales,)
        By the name of the copier.
    """
    scales = given.positive("scales", scales)
    measured = given.mapping("measured", measured, given.array(len(scales)), most=len(COLORS))
    bounds = given.entries("bounds", bounds, dict.fromkeys(measured, given.array(len(scales))))
    with style():
        figure = new_figure(7.2, 4.0)
        axes = figure.subplots()
        for color, (label, distance) in zip(COLORS, measured.items()):
            axes.plot(scales, distance, color=color, label=label)
            axes.plot(scales, bounds[label], color=color, linestyle="--", linewidth=1.4)
        axes.set(xscale="log", yscale="log", xlabel="scale a of the classifier", ylabel="distance to the GIH")
        axes.legend(title="solid: measured\ndashed: bound", loc="lower left")
    return figure


def spliced(sequences: Mapping[str, Sequence[int]], pieces: Mapping[str, Sequence[int]]) -> Figure:
    """Draw sequences as cells, coloured by the piece to which each cell belongs.

    Parameters
    ----------
    sequences : mapping of str to sequence of int
        Tokens, by title.
    pieces : mapping of str to sequence of int
        The number of the piece of each token, up to 3; 0 is the frame that does not move.
    """
    fills = ("#eef1f4", "#a9d3ee", "#f6c9a8", "#b5e0cf")
    sequences = given.mapping("sequences", sequences, given.tokens)
    numbers = partial(check.token_array, vocab_size=len(fills), ndim=1)
    pieces = given.entries("pieces", pieces, dict.fromkeys(sequences, numbers))
    for title, tokens in sequences.items():
        given.array(len(tokens))(f"pieces[{title!r}]", pieces[title])
    with style():
        figure = new_figure(7.2, 0.95 * len(sequences) + 0.3)
        panels = figure.subplots(len(sequences), 1, sharex=True, squeeze=False)[:, 0]
        for axes, (title, tokens) in zip(panels, sequences.items()):
            for i, (token, piece) in enumerate(zip(tokens, pieces[title])):
                axes.add_patch(_cell(i, fills[piece]))
                axes.text(i + 0.5, 0.5, str(token), ha="center", va="center", fontsize=12)
            axes.set(xlim=(-0.1, len(tokens) + 0.1), ylim=(-0.05, 1.05))
            axes.set_title(title, loc="left", fontsize=11, pad=3)
            axes.axis("off")
    return figure


def window_table(counts: WindowCounts, sequence: int) -> Figure:
    """Draw the window counts of one sequence: how often each window was followed by each token.

    Windows are written newest token first; that of the query is in bold.

    Parameters
    ----------
    counts : WindowCounts
    sequence : int
        Number of the sequence.
    """
    from .general import matrix

    counts = given.instance(WindowCounts)("counts", counts)
    sequence = check.integer("sequence", sequence, 0, counts.n_sequences - 1)
    own = counts.sequence == sequence
    windows, row = np.unique(counts.windows[own], axis=0, return_inverse=True)
    table = np.zeros((len(windows), counts.vocab_size))
    table[row.reshape(-1), counts.next_tokens[own]] = counts.counts[own]
    with style():
        figure = new_figure(7.2, 3.3)
        axes = figure.subplots()
        matrix(axes, table.T, labels=("window, newest token first", "next token"), aspect="auto")
        for text in axes.texts:
            text.remove()
        for (i, k), count in np.ndenumerate(table):
            color = "black" if count > table.max() / 2 else "white"
            axes.text(i, k, f"{count:.0f}", ha="center", va="center", color=color, fontsize=11)
        names = ["".join(map(str, window)) for window in windows]
        axes.set_xticks(range(len(names)), names, rotation=60 if len(names) > 12 else 0)
        for label, window in zip(axes.get_xticklabels(), windows):
            if np.array_equal(window, counts.queries[sequence]):
                label.set(color=VERMILION, weight="bold")
    return figure


def match_tables(pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Figure:
    """Draw which places of a query window equal which places of a key window.

    Parameters
    ----------
    pairs : sequence of (query, key)
        Windows, newest token first.
    """
    from matplotlib.colors import ListedColormap

    pairs = given.each("pairs", pairs, partial(given.parts, checks=(given.tokens, given.tokens)))
    with style():
        figure = new_figure(7.2, 2.9)
        panels = figure.subplots(1, len(pairs), squeeze=False)[0]
        for axes, (query, key) in zip(panels, pairs):
            equal = np.equal.outer(query, key)
            axes.imshow(equal, cmap=ListedColormap(["#eef3f7", BLUE]), vmin=0, vmax=1)
            axes.set_xticks(range(len(key)), key)
            axes.set_yticks(range(len(query)), query)
            axes.set_xticks(np.arange(-0.5, len(key)), minor=True)
            axes.set_yticks(np.arange(-0.5, len(query)), minor=True)
            axes.grid(False)
            axes.grid(which="minor", color="white", linewidth=2)
            axes.tick_params(which="both", length=0)
            axes.set(xlabel="key, lags 1, 2, 3", ylabel="query, lags 1, 2, 3" if axes is panels[0] else "")
    return figure


def savings(
    lengths: Sequence[int],
    panels: Mapping[str, Mapping[str, np.ndarray]],
    *,
    ylabel: str = "numbers to store",
) -> Figure:
    """Draw the size of a data set over the context length, before and after compression.

    Parameters
    ----------
    lengths : sequence of int
        Context lengths L.
    panels : mapping of str to mapping of str to array, shape (n_lengths,)
        Title of a panel, then name of a size, then its values.
    ylabel : str
    """
    colors = (BLACK, ORANGE, BLUE, VERMILION)
    lengths, ylabel = given.sizes("lengths", lengths), given.text("ylabel", ylabel)
    sizes = partial(given.mapping, check_part=given.array(len(lengths)), most=len(colors))
    panels = given.mapping("panels", panels, sizes)
    with style():
        figure = new_figure(7.4, 4.0)
        drawn = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, (title, sizes) in zip(drawn, panels.items()):
            for color, marker, (name, values) in zip(colors, "so^D", sizes.items()):
                axes.plot(lengths, values, marker=marker, color=color, markersize=5, linewidth=2, label=name)
            axes.set(xscale="log", yscale="log", xlabel="context length L", title=title)
        drawn[0].set_ylabel(ylabel)
        handles, names = drawn[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=2)
    return figure


def set_name(S: tuple[int, ...]) -> str:
    """Return a set as a label."""
    return "{" + ",".join(map(str, S)) + "}" if S else "∅"


def _box(axes: Axes, x: float, color: str) -> None:
    from matplotlib.patches import FancyBboxPatch

    axes.add_patch(
        FancyBboxPatch(
            (x + 0.6, 11.2),
            16.8,
            24.4,
            boxstyle="round,pad=0.6,rounding_size=1.5",
            facecolor="white",
            edgecolor=color,
            linewidth=2.2,
        )
    )


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], color: str = "black") -> None:
    style_ = {"arrowstyle": "-|>", "color": color, "linewidth": 1.6, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, start, arrowprops=style_)


def _cell(x: float, color: str) -> object:
    from matplotlib.patches import Rectangle

    return Rectangle((x + 0.04, 0.04), 0.92, 0.92, facecolor=color, edgecolor="0.6", linewidth=0.8)
