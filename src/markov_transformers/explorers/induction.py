"""Explorers of the generalized induction head: matches in a sequence, and five predictors."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..explorer import Choice, Explorer, Slider
from ..figures.induction import IN_WORDS, MatchPicture, line_style
from ..figures.style import freeze_layout, looks_of
from ..induction import best_report

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Matches in a sequence ---------------------------------------------------------------------------

_WINDOW = 3
_SHOWN = 31  # tokens of each sequence: two rows of cells with the one that is asked for
_SUBSETS = {
    "∅": (),
    "{1}": (1,),
    "{2}": (2,),
    "{3}": (3,),
    "{1, 2}": (1, 2),
    "{1, 3}": (1, 3),
    "{2, 3}": (2, 3),
    "{1, 2, 3}": (1, 2, 3),
}


def match_a_sequence() -> Explorer:
    """Return the explorer that lights up the matches of the generalized induction head.

    Examples
    --------
    >>> figure, description = match_a_sequence().render(subset="{1}", seen=11)
    >>> description[:37]
    'A sequence of 11 tokens, abracadabra.'
    """
    sequences = list(_sequences())
    return Explorer(
        _draw_match,
        {
            "sequence": Choice(
                "sequence",
                sequences,
                sequences[0],
                page=[name for name in sequences if name != "lags 1 and 2"],
                free=f"your own, {_WINDOW + 1} to {_SHOWN} letters",
            ),
            "subset": Choice("lags S", list(_SUBSETS), "{1, 2}", page=["{1}", "{2}", "{1, 2}", "{1, 2, 3}"]),
            "seen": Slider(
                "tokens seen L",
                range(_WINDOW + 1, _SHOWN + 1),
                start=22,
                page=[8, 12, 22, 24],
                play=True,
            ),
        },
        name="match-a-sequence",
        title="Match a sequence: window M = 3; lit positions vote for their token",
        presets={
            "One lag: an ambiguous query": {"subset": "{1}"},
            "No match: the fallback": {"subset": "{1, 2, 3}", "seen": 8},
            "A coin: certain after one match": {
                "sequence": "coin tosses",
                "subset": "{1, 2, 3}",
                "seen": 8,
            },
            "The parent is two steps back": {"sequence": "lag 2 only", "subset": "{2}", "seen": 24},
        },
        size=(7.2, 3.6),
    )


@lru_cache(maxsize=1)
def _sequences() -> dict[str, str]:
    from ..chains import DirichletPrior, NGramChain

    def letters(tokens: np.ndarray) -> str:
        return "".join("abcdef"[k] for k in tokens)

    far = np.full((3, 3), 0.075) + 0.775 * np.roll(np.eye(3), 1, axis=1)
    return {
        "abracadabra": ("abracadabra" * 3)[:_SHOWN],
        "lags 1 and 2": letters(DirichletPrior(3, (1, 2), 0.2).sample(1, _SHOWN, rng=8)[0]),
        "lag 2 only": letters(NGramChain(far, (2,)).sample(1, _SHOWN, rng=0)[0]),
        "coin tosses": letters(np.random.default_rng(1).integers(2, size=_SHOWN)),
    }


def _draw_match(figure: Figure, sequence: str, subset: str, seen: int) -> str:
    text = _sequences().get(sequence, sequence)
    if not _WINDOW < len(text) <= _SHOWN:
        raise ValueError(f"A sequence needs {_WINDOW + 1} to {_SHOWN} letters; this one has {len(text)}.")
    kept = figure.artists_kept
    if not kept:
        kept["picture"] = MatchPicture(figure, _SHOWN)
    return kept["picture"].update(text, _SUBSETS[subset], _WINDOW, min(seen, len(text)))


# Five predictors over the context length ---------------------------------------------------------

_CHAINS, _VOCABULARY, _PARENTS = 2000, 3, (1, 2)
_LENGTHS = [5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000]
_CONCENTRATIONS = [0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0]
_MEASURES = {
    "log-loss, ε = 0.1": (0.1, False),
    "KL, ε = 0.1": (0.1, True),
    "KL, ε = 0.001": (0.001, True),
}


def context_length() -> Explorer:
    """Return the explorer that compares five predictors over context length and concentration.

    Examples
    --------
    >>> figure, description = context_length().render(alpha=1.0, length=50)
    >>> description[:42]
    'Concentration 1, context of 50 tokens, mea'
    """
    measures = list(_MEASURES)
    return Explorer(
        _draw_context_length,
        {
            "alpha": Slider("concentration α", _CONCENTRATIONS, start=0.3, page=[0.1, 0.3, 1.0]),
            "length": Slider("context length L", _LENGTHS, start=50, page=[10, 50, 100, 1000], play=True),
            "measure": Choice("measure", measures, start=measures[0], page=[measures[0], measures[2]]),
        },
        name="context-length",
        title="Five predictors: parents {1, 2}, three tokens, S* = {1, 2}, M = 3",
        presets={
            "More history hurts": {"alpha": 1.0, "length": 50},
            "Too little data to match": {"alpha": 1.0, "length": 10},
            "Bayes is beaten": {"alpha": 0.1, "length": 100},
            "Zeros are punished": {"alpha": 1.0, "length": 50, "measure": "KL, ε = 0.001"},
        },
        size=(7.2, 4.2),
    )


@lru_cache(maxsize=16)
def _predictions(alpha: float) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Laws of the token after each length: the true ones, and those of the five predictors.

    One sequence a chain serves all lengths. Shapes (n_lengths, n_chains, d).
    """
    from ..chains import DirichletPrior

    prior = DirichletPrior(_VOCABULARY, _PARENTS, alpha)
    tokens, kernels = prior.sample(_CHAINS, _LENGTHS[-1], rng=0, return_kernels=True)
    near, far = (np.stack([tokens[:, L - lag] for L in _LENGTHS]) for lag in _PARENTS)
    truth = kernels[np.arange(_CHAINS), near, far]
    laws = {
        name: _matched_frequencies(tokens, subset, window)
        for name, subset, window in (
            ("Unigram", (), 0),
            ("InductionHead", (1,), _WINDOW),
            ("GIH", _PARENTS, _WINDOW),
            ("FullHistoryMatch", (1, 2, 3), _WINDOW),
        )
    }
    counts = _matched_counts(tokens, _PARENTS, _PARENTS[-1])
    laws["BayesOptimal"] = (counts + alpha) / (counts.sum(axis=-1, keepdims=True) + _VOCABULARY * alpha)
    return truth, laws


def _matched_frequencies(tokens: np.ndarray, subset: tuple[int, ...], window: int) -> np.ndarray:
    counts = _matched_counts(tokens, subset, window)
    unmatched = counts.sum(axis=-1) == 0
    counts[unmatched] = _matched_counts(tokens, (), window)[unmatched]
    return counts / counts.sum(axis=-1, keepdims=True)


def _matched_counts(tokens: np.ndarray, subset: tuple[int, ...], window: int) -> np.ndarray:
    """Count what followed the present pattern, for all lengths at once, (n_lengths, n_chains, d)."""
    n, d, size = len(tokens), _VOCABULARY, _VOCABULARY ** len(subset)
    pattern = np.zeros((n, tokens.shape[1] + 1 - window), dtype=np.intp)  # of l = window + 1 ... L + 1
    for lag in subset:
        pattern = pattern * d + tokens[:, window - lag : tokens.shape[1] + 1 - lag]
    chain = np.arange(n)
    cell = (chain[:, None] * size + pattern[:, :-1]) * d + tokens[:, window:]
    table, counts, done = np.zeros(n * size * d), [], 0
    for length in _LENGTHS:
        table += np.bincount(cell[:, done : length - window].ravel(), minlength=n * size * d)
        done = length - window
        counts.append(table.reshape(n, size, d)[chain, pattern[:, done]])
    return np.stack(counts)


@lru_cache(maxsize=64)
def _losses(alpha: float, epsilon: float, divergence: bool) -> dict[str, np.ndarray]:
    """Mean losses over the chains, each (n_lengths,)."""
    truth, laws = _predictions(alpha)
    laws = {**laws, "best possible": best_report(laws["BayesOptimal"], epsilon)}
    losses = {name: -(truth * np.log(law + epsilon)).sum(axis=-1).mean(axis=-1) for name, law in laws.items()}
    if not divergence:
        return losses
    entropy = -(truth * np.log(truth, where=truth > 0, out=np.zeros_like(truth))).sum(axis=-1).mean(axis=-1)
    shift = np.log(1 + truth.shape[-1] * epsilon) - entropy  # (y + ε) / (1 + dε) is a law
    return {name: loss + shift for name, loss in losses.items()}


def _draw_context_length(figure: Figure, alpha: float, length: int, measure: str) -> str:
    losses = _losses(alpha, *_MEASURES[measure])
    kept = figure.artists_kept
    if not kept:
        for value in _CONCENTRATIONS:  # about a second in all, so that no later change has to wait
            _predictions(value)
        _lay_out_context_length(figure, kept, losses)
    here = _LENGTHS.index(length)
    now = {name: values[here] for name, values in losses.items()}
    for name, values in losses.items():
        kept[name].set_ydata(values)
    low, high = min(v.min() for v in losses.values()), max(v.max() for v in losses.values())
    room = 0.06 * (high - low)
    unit = f"{measure.split(',')[0]} in nats"
    kept["curves"].set(ylim=(low - room, high + room), title=f"{measure}, α = {alpha:g}", ylabel=unit)
    kept["bars"].set_xlabel(unit)
    kept["now"].set_xdata([length, length])
    left = min(0.0, 1.25 * min(now.values()))
    largest = max(now.values())
    kept["bars"].set(xlim=(left, max(0.05, 1.3 * largest)), title=f"L = {length}, mean of {_CHAINS} chains")
    for bar, text, value in zip(kept["rectangles"], kept["texts"], now.values()):
        bar.set_width(value)
        text.set(x=max(value, 0) + 0.02 * (kept["bars"].get_xlim()[1] - left), text=f"{value:.3f}")
    ranked = sorted((name for name in now if name != "best possible"), key=now.get)
    return (
        f"Concentration {alpha:g}, context of {length} tokens, measure: {measure}, "
        f"mean over {_CHAINS} chains. From best to worst: "
        + ", ".join(f"{IN_WORDS.get(name, name)} {now[name]:.3f}" for name in ranked)
        + f"; the best possible is {now['best possible']:.3f}."
    )


def _lay_out_context_length(figure: Figure, kept: dict, losses: dict[str, np.ndarray]) -> None:
    curves, bars = figure.subplots(1, 2, width_ratios=(1.3, 1))
    for name, values in losses.items():
        (kept[name],) = curves.plot(_LENGTHS, values, **line_style(name))
    kept["now"] = curves.axvline(_LENGTHS[0], color="0.5", linewidth=1.2)
    curves.set(xscale="log", xlabel="context length L", ylabel="log-loss in nats", title="loss")
    curves.set_xticks([10, 100, 1000], ["10", "100", "1000"])
    curves.minorticks_off()  # ticks take most of the drawing time
    kept["rectangles"] = bars.barh(
        range(len(losses)),
        np.ones(len(losses)),
        color=[looks_of(name)[0] for name in losses],
        height=0.6,
    )
    kept["texts"] = [bars.text(0, i, "", va="center", fontsize=11) for i in range(len(losses))]
    bars.set_yticks(range(len(losses)), [IN_WORDS.get(name, name) for name in losses])
    bars.axvline(0, color="0.3", linewidth=0.8)
    bars.set(xlim=(0, 1), ylim=(len(losses) - 0.4, -0.6), xlabel="log-loss in nats", title="L")
    bars.grid(axis="y", visible=False)
    kept["curves"], kept["bars"] = curves, bars
    freeze_layout(figure)
