"""Figures of predictors that look for matches in the context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from .. import _validation as check
from ..induction import GeneralizedInductionHead
from . import _given as given
from .style import BLACK, BLUE, COLORS, VERMILION, freeze_layout, looks_of, new_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PER_ROW, _MOST = 16, 48
_SOFT = 0.25  # how much of its colour a token shows where it is not lit
IN_WORDS = {
    "InductionHead": "induction head",
    "FullHistoryMatch": "full-history match",
    "BayesOptimal": "Bayes-optimal",
    "Unigram": "unigram",
}


def matching(text: Sequence, subset: tuple[int, ...], window: int, *, seen: int | None = None) -> Figure:
    """Draw how the generalized induction head predicts the token that follows a sequence.

    Parameters
    ----------
    text : str or sequence
        The whole sequence, one symbol a token, at most 48.
    subset : tuple of int
        The lags S to match.
    window : int
        Window M.
    seen : int, optional
        Length L of the context, more than `window`; by default the whole sequence.
    """
    text = given.symbols("text", text)
    if seen is not None:
        seen = check.integer("seen", seen, minimum=1)
    GeneralizedInductionHead(subset, window)  # checks them before anything is drawn
    with style():
        figure = new_figure(7.2, _height(len(text)))
        MatchPicture(figure, len(text)).update(text, subset, window, len(text) if seen is None else seen)
    return figure


class MatchPicture:
    """A sequence as cells, the query and its matches lit, and the votes as bars.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Where to draw.
    length : int
        The most tokens that a sequence may have.
    most_symbols : int, default 12
        The most different tokens that a sequence may have.
    """

    def __init__(self, figure: Figure, length: int, most_symbols: int = 12) -> None:
        from matplotlib.patches import Rectangle

        if length > _MOST:
            raise ValueError(f"text must have at most {_MOST} symbols, got {length}")
        rows = -(-(length + 1) // _PER_ROW)
        grid = figure.add_gridspec(2, 2, height_ratios=(0.62 * rows + 0.1, 1.9), width_ratios=(1, 1.35))
        cells, self.bars_axes = figure.add_subplot(grid[0, :]), figure.add_subplot(grid[1, 0])
        words = figure.add_subplot(grid[1, 1])
        cells.set(xlim=(-0.1, _PER_ROW + 0.1), ylim=(rows * 1.3 - 0.1, -0.15), aspect="equal")
        for axes in (cells, words):
            axes.axis("off")
        self.cells, self.letters, self.numbers = [], [], []
        for i in range(length + 1):
            x, y = i % _PER_ROW, 1.3 * (i // _PER_ROW)
            self.cells.append(cells.add_patch(Rectangle((x + 0.06, y + 0.06), 0.88, 0.88)))
            self.letters.append(cells.text(x + 0.5, y + 0.53, "", ha="center", va="center", fontsize=14))
            self.numbers.append(cells.text(x + 0.5, y + 1.1, "", ha="center", va="center", fontsize=8))
        self.bars = self.bars_axes.bar(range(most_symbols), np.zeros(most_symbols), width=0.7)
        self.counts = [
            self.bars_axes.text(i, 0, "", ha="center", va="bottom", fontsize=11) for i in range(most_symbols)
        ]
        self.bars_axes.set(ylim=(0, 1.18), ylabel="prediction", yticks=(0, 0.5, 1))
        self.bars_axes.grid(False)
        self.words = words.text(0, 1, "", va="top", fontsize=12, linespacing=1.5, transform=words.transAxes)
        freeze_layout(figure)

    def update(self, text: Sequence, subset: tuple[int, ...], window: int, seen: int) -> str:
        """Show the prediction of the token after the first `seen`, and return it in words."""
        head = GeneralizedInductionHead(subset, window)
        subset = head.subset
        symbols, tokens = np.unique(list(text), return_inverse=True)
        if not window < seen <= len(tokens) or len(symbols) > len(self.bars):
            raise ValueError(
                f"text must have more than {window} symbols, at most {len(self.bars)} different ones, "
                f"and seen lie between {window + 1} and {len(tokens)}, got {text!r} and seen = {seen}"
            )
        law = head.predict(tokens[None, :seen], len(symbols))[0]
        voters = [
            i for i in range(window, seen) if all(tokens[i - s] == tokens[seen - s] for s in subset)
        ]  # counted from zero, so that the token to predict stands at `seen`
        matched = bool(voters)
        voters = voters or list(range(window, seen))
        query = {seen - s for s in subset}
        past = {i - s for i in voters for s in subset} if matched else set()
        self._color(text, tokens, seen, window, voters if matched else [], query, past)
        votes = np.bincount(tokens[voters], minlength=len(symbols))
        for k, (bar, count) in enumerate(zip(self.bars, self.counts)):
            known = k < len(symbols)
            bar.set(height=law[k] if known else 0, facecolor=COLORS[k % 6], visible=known)
            count.set(y=(law[k] if known else 0) + 0.02, text=str(votes[k]) if known else "")
        self.bars_axes.set(xlim=(-0.6, len(symbols) - 0.4), xticks=range(len(symbols)))
        self.bars_axes.set_xticklabels([_shown(s) for s in symbols])
        return self._describe(text, symbols, law, subset, seen, voters, matched)

    def _color(
        self,
        text: Sequence,
        tokens: np.ndarray,
        seen: int,
        window: int,
        lit: list[int],
        query: set[int],
        past: set[int],
    ) -> None:
        from matplotlib.colors import to_rgb

        for i, (cell, letter, number) in enumerate(zip(self.cells, self.letters, self.numbers)):
            color = np.array(to_rgb(COLORS[tokens[i] % 6])) if i < seen else np.ones(3)
            if i < seen and i not in lit:
                color = 1 - _SOFT * (1 - color)
            edge, width = ("0.8", 0.8) if i > seen else ("white", 0.0)
            if i in past:
                edge, width = "0.45", 1.8
            if i in query:
                edge, width = "black", 3.2
            cell.set(
                facecolor=color,
                edgecolor="black" if i == seen else edge,
                linewidth=1.2 if i == seen else width,
                linestyle=":" if i == seen else "-",
                visible=i < len(text) or i == seen,
            )
            shown = "?" if i == seen else _shown(text[i]) if i < seen else ""
            ink = "white" if i in lit else "0.5" if i < window else "black"  # the first M have no vote
            letter.set(text=shown, color=ink, weight="bold" if i in lit else "normal")
            number.set(text=str(i + 1) if i == seen or i < len(text) else "", color="0.35")

    def _describe(
        self,
        text: Sequence,
        symbols: np.ndarray,
        law: np.ndarray,
        subset: tuple[int, ...],
        seen: int,
        voters: list[int],
        matched: bool,
    ) -> str:
        asked = ", ".join(f"x{_sub(seen + 1 - s)} = {_shown(text[seen - s])}" for s in subset)
        asked = asked or "nothing: everything matches"
        number = len(voters)
        if matched:
            found = f"{number} match{'es' if number > 1 else ''}, lit"
        else:
            found = f"no match: all {number} tokens after\nthe window vote"
        top = np.flatnonzero(law >= law.max() - 1e-9)
        guess = " or ".join(_shown(symbols[k]) for k in top)
        truth = "the sequence ends here" if seen == len(text) else f"what comes: {_shown(text[seen])}"
        self.words.set_text(
            f"S = {_set(subset)}, L = {seen}\nquery: {asked}\n{found}\n"
            f"prediction: {guess} ({law.max():.2f})\n{truth}"
        )
        laws = ", ".join(f"{_shown(s)} {p:.2f}" for s, p in zip(symbols, law))
        places = ", ".join(str(i + 1) for i in voters)
        if matched:
            where = f"Match at position {places}" if number == 1 else f"Matches at positions {places}"
        else:
            where = f"No match, so the {number} tokens after the window vote"
        return (
            f"A sequence of {seen} tokens, {''.join(_shown(s) for s in text[:seen])}. "
            f"With S = {_set(subset)} the query reads {asked}. {where}. "
            f"Prediction of token {seen + 1}: {laws}; {truth}."
        )


def match_kernels(grams: Mapping[str, np.ndarray], *, first: int = 1) -> Figure:
    """Draw match kernels side by side: which positions look alike at a set of lags.

    Parameters
    ----------
    grams : mapping of str to array
        Square matrices of zeros and ones, of one size, by title.
    first : int, default 1
        Number of the first position.
    """
    from matplotlib.colors import ListedColormap

    grams = given.mapping("grams", grams, given.square)
    first = check.integer("first", first)
    with style():
        figure = new_figure(max(7.2, 2.9 * len(grams)), 3.5)
        panels = figure.subplots(1, len(grams), sharey=True, squeeze=False)[0]
        for axes, (title, gram) in zip(panels, grams.items()):
            last = first + len(gram) - 1
            extent = (first - 0.5, last + 0.5, last + 0.5, first - 0.5)
            axes.imshow(gram, cmap=ListedColormap(["#eef3f7", BLUE]), vmin=0, vmax=1, extent=extent)
            axes.set(title=title, xlabel="position l")
            axes.axhspan(last - 0.5, last + 0.5, fill=False, edgecolor=VERMILION, linewidth=2)
            axes.grid(False)
        panels[0].set_ylabel("position m")
    return figure


def predictor_losses(
    losses: Mapping[str, Mapping[str, np.ndarray]],
    lengths: Sequence[int],
    *,
    ylabel: str,
    scale: str = "linear",
) -> Figure:
    """Draw the losses of predictors over the context length, one panel for each setting.

    Parameters
    ----------
    losses : mapping of str to mapping of str to array, shape (n_lengths,)
        Title of a panel, then name of a predictor, then its losses.
    lengths : sequence of int
        Context lengths L.
    ylabel : str
        Name of the loss.
    scale : {'linear', 'log'}, default 'linear'
        Of the losses.
    """
    lengths, ylabel = given.sizes("lengths", lengths), given.text("ylabel", ylabel)
    scale = given.scale("scale", scale)
    curves = partial(given.mapping, check_part=given.array(len(lengths)))
    losses = given.mapping("losses", losses, curves)
    with style():
        figure = new_figure(max(7.2, 3.1 * len(losses)), 4.2)
        panels = figure.subplots(1, len(losses), squeeze=False)[0]
        for axes, (title, curves) in zip(panels, losses.items()):
            for name, values in curves.items():
                axes.plot(lengths, values, **line_style(name), label=IN_WORDS.get(name, name))
            axes.set(xscale="log", yscale=scale, xlabel="context length L", title=title)
        panels[0].set_ylabel(ylabel)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure


def line_style(name: str) -> dict:
    """Return how the curve of a predictor is drawn, in all figures alike."""
    if name == "transformer":  # a ring around what it imitates
        return {"color": BLACK, "linestyle": "", "marker": "o", "markersize": 9, "fillstyle": "none"}
    marks = {"Unigram": "s", "InductionHead": "^", "FullHistoryMatch": "v", "BayesOptimal": "D"}
    color, dashes = looks_of(name)
    return {
        "color": color,
        "linestyle": dashes,
        "linewidth": 1.4 if name == "best possible" else 2,
        "marker": "" if name == "best possible" else marks.get(name, "o"),
        "markersize": 4.5,
    }


def vote_weights(weights: Mapping[str, np.ndarray], text: Sequence) -> Figure:
    """Draw the weight that each position's vote has, one panel for each predictor."""
    text = given.symbols("text", text)
    weights = given.mapping("weights", weights, given.array(len(text), finite=True))
    with style():
        figure = new_figure(7.2, 1.25 * len(weights) + 0.7)
        panels = figure.subplots(len(weights), 1, sharex=True, squeeze=False)[:, 0]
        _, tokens = np.unique(list(text), return_inverse=True)
        for axes, (title, weight) in zip(panels, weights.items()):
            axes.bar(range(1, len(text) + 1), weight, color=[COLORS[k % 6] for k in tokens], width=0.75)
            axes.set(title=title, ylabel="weight", ylim=(0, 1.1 * max(weight)))
            axes.grid(axis="x", visible=False)
        panels[-1].set_xticks(range(1, len(text) + 1), [_shown(s) for s in text])
    return figure


def _height(length: int) -> float:
    return 0.55 * -(-(length + 1) // _PER_ROW) + 2.3


def _shown(symbol: object) -> str:
    return "␣" if str(symbol) == " " else str(symbol)


def _sub(number: int) -> str:
    return str(number).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def _set(subset: tuple[int, ...]) -> str:
    return "{" + ", ".join(map(str, subset)) + "}" if subset else "∅"
