"""Explorers of Markov chains: two and three states, the circle walk, kernels from a prior."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..explorer import Choice, Explorer, Slider
from ..figures.chains import TOKEN_COLORS, draw_kernel, parent_table, strips, token_legend, unit_disc
from ..figures.style import BLACK, BLUE, VERMILION, freeze_layout

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..chains import NGramChain

_HEIGHTS = 200  # cells of a bar that stands for probability one


# Two and three states ---------------------------------------------------------------------------

_MOMENTS = 30


def two_and_three_states() -> Explorer:
    """Return the explorer of a small chain: its law over time from two starts, and its spectrum.

    Examples
    --------
    >>> figure, description = two_and_three_states().render(leave_0=0.1, leave_1=0.4)
    >>> description[:53]
    'Two states. Stationary law 0.80, 0.20. Second largest'
    """
    chances = [0, 0.02, 0.05, *np.arange(0.1, 1.01, 0.1)]
    three = {"states": "three"}
    return Explorer(
        _draw_small_chain,
        {
            "states": Choice("states", ["two", "three"], start="two", page=["two", "three"]),
            "leave_0": Slider("chance to leave state 0", chances, start=0.1, page=[0.02, 0.1, 1]),
            "leave_1": Slider("chance to leave state 1", chances, start=0.4, page=[0, 0.05, 0.4, 0.8, 1]),
            "leave_2": Slider("chance to leave state 2", chances, start=1, page=[0, 1], when=three),
            "onward": Slider("share of leavers who go up", np.arange(0, 1.01, 0.1), start=1, when=three),
        },
        name="two-and-three-states",
        title="A small chain: where it is over time, from two starts, and the powers of its eigenvalues",
        presets={
            "Streaks": {"leave_0": 0.02, "leave_1": 0.05},
            "No memory": {"leave_0": 0.2, "leave_1": 0.8},
            "Period two": {"leave_0": 1, "leave_1": 1},
            "Period three": {"states": "three", "leave_0": 1, "leave_1": 1, "leave_2": 1, "onward": 1},
            "A trap": {"states": "three", "leave_2": 0},
        },
        size=(7.2, 4.6),
    )


def _small_chain(states: str, leave: tuple[float, float, float], onward: float) -> np.ndarray:
    n = 2 if states == "two" else 3
    P = np.diag([1.0 - chance for chance in leave[:n]])
    for i in range(n):
        P[i, (i + 1) % n] += leave[i] * onward
        P[i, (i - 1) % n] += leave[i] * (1 - onward)
    return P


def _law_over_time(P: np.ndarray, start: int, steps: int) -> np.ndarray:
    law = np.eye(len(P))[start]
    laws = [law]
    for _ in range(steps):
        law = law @ P
        laws.append(law)
    return np.array(laws)  # (steps + 1, n)


def _draw_small_chain(
    figure: Figure, states: str, leave_0: float, leave_1: float, leave_2: float, onward: float
) -> str:
    from ..chains import NGramChain

    P = _small_chain(states, (leave_0, leave_1, leave_2), onward)
    n = len(P)
    kept = figure.artists_kept
    if not kept:
        _lay_out_small_chain(figure, kept)
    starts = (0, n - 1)
    laws = [_law_over_time(P, start, _MOMENTS) for start in starts]
    height = (np.arange(_HEIGHTS) + 0.5) / _HEIGHTS
    for image, title, start, law in zip(kept["laws"], kept["titles"], starts, laws):
        covering = (height[:, None, None] > np.cumsum(law, axis=1)[None, :, :-1]).sum(axis=2)
        image.set_data(covering)
        title.set_text(f"start in state {start}")
    eigenvalues = np.linalg.eigvals(P).astype(complex)
    powers = eigenvalues[None, :] ** np.arange(2, _MOMENTS + 1)[:, None]
    kept["powers"].set_data(powers.real.ravel(), powers.imag.ravel())
    kept["eigenvalues"].set_data(eigenvalues.real, eigenvalues.imag)
    edge = n - 0.5
    kept["matrix"].set(data=P, extent=(-0.5, edge, edge, -0.5))
    kept["matrix"].axes.set(xticks=range(n), yticks=range(n), xlim=(-0.5, edge), ylim=(edge, -0.5))
    for (y, x), text in np.ndenumerate(kept["entries"]):
        inside = max(x, y) < n
        entry = P[y, x] if inside else 0
        text.set(text=f"{entry:.3g}", color="black" if entry > 0.5 else "white", visible=inside)
    for part in kept["third state"]:
        part.set_visible(n == 3)
    chain = NGramChain(P, lags=(1,))
    apart = 0.5 * np.abs(laws[0][-1] - laws[1][-1]).sum()
    second = chain.second_eigenvalue
    if chain.has_unique_stationary_law:
        law = ", ".join(f"{v:.2f}" for v in chain.stationary_distribution())
        told = f"Stationary law {law}."
    else:
        told = "Several stationary laws."
    if chain.period > 1:
        end = f"It has period {chain.period}."
    else:
        end = f"After {_MOMENTS} steps the two starts differ by {apart:.3f} in total variation."
    return f"{states.capitalize()} states. {told} Second largest modulus {second:.3f}. {end}"


def _lay_out_small_chain(figure: Figure, kept: dict) -> None:
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    grid = figure.add_gridspec(2, 2, width_ratios=(1.3, 1))
    kept["laws"], kept["titles"] = [], []
    for row in range(2):
        axes = figure.add_subplot(grid[row, 0])
        image = axes.imshow(
            np.zeros((_HEIGHTS, _MOMENTS + 1)),
            cmap=ListedColormap(TOKEN_COLORS[:3]),
            vmin=-0.5,
            vmax=2.5,
            origin="lower",
            aspect="auto",
            interpolation="nearest",
            extent=(-0.5, _MOMENTS + 0.5, 0, 1),
        )
        axes.set(ylabel="probability", yticks=[0, 0.5, 1])
        axes.grid(False)
        kept["laws"].append(image)
        kept["titles"].append(axes.set_title("start in state 0"))
    axes.set_xlabel("time t")
    disc = figure.add_subplot(grid[0, 1])
    unit_disc(disc)
    disc.set_title("eigenvalues (powers: small)")
    (kept["powers"],) = disc.plot([], [], "o", color=BLUE, markersize=3, alpha=0.6)
    (kept["eigenvalues"],) = disc.plot([], [], "o", color=BLACK, markersize=8)
    table = figure.add_subplot(grid[1, 1])
    kept["matrix"] = table.imshow(np.zeros((3, 3)), vmin=0, vmax=1)
    centred = {"ha": "center", "va": "center"}
    kept["entries"] = np.array([[table.text(x, y, "", **centred) for x in range(3)] for y in range(3)])
    table.set(title="transition matrix", xlabel="to", ylabel="from", xticks=range(3), yticks=range(3))
    table.grid(False)
    for spine in table.spines.values():
        spine.set_visible(False)
    handles = [Patch(color=color, label=f"state {i}") for i, color in enumerate(TOKEN_COLORS[:3])]
    legend = figure.legend(handles=handles, loc="outside lower center", ncols=3)
    kept["third state"] = legend.get_patches()[2], legend.get_texts()[2]
    freeze_layout(figure)


# The circle walk --------------------------------------------------------------------------------

_WALK_MOMENTS = 60


def circle_walk() -> Explorer:
    """Return the explorer of the walk on a circle: occupation over time, distance and spectrum.

    Examples
    --------
    >>> figure, description = circle_walk().render(n_nodes=6, p=0.5)
    >>> description[:32]
    '6 nodes, p = 0.5: the period is '
    """
    return Explorer(
        _draw_circle_walk,
        {
            "n_nodes": Slider("nodes K", range(3, 17), start=7, page=[3, 5, 6, 7, 12, 15]),
            "p": Slider("step up p", np.arange(0, 1.01, 0.05), start=0.5, page=[0.5, 0.7, 0.9, 1]),
        },
        name="circle-walk",
        title="The walk on a circle: started at node 0, how soon is it anywhere?",
        presets={
            "Odd circle: forgets": {"n_nodes": 7, "p": 0.5},
            "Even circle: period two": {"n_nodes": 6, "p": 0.5},
            "Bias is slow": {"n_nodes": 7, "p": 0.9},
            "Clockwork": {"n_nodes": 7, "p": 1},
            "Large circle": {"n_nodes": 15, "p": 0.5},
        },
        size=(7.2, 4.4),
    )


def _draw_circle_walk(figure: Figure, n_nodes: int, p: float) -> str:
    from ..chains import NGramChain
    from ..walks import CircleWalk

    walk = CircleWalk(n_nodes, p)
    chain = NGramChain(walk.transition_matrix(), lags=(1,))
    kept = figure.artists_kept
    if not kept:
        _lay_out_circle_walk(figure, kept)
    law = _law_over_time(walk.transition_matrix(), 0, _WALK_MOMENTS)  # (time, nodes)
    kept["law"].set_data(law.T)
    kept["law"].set_extent((-0.5, _WALK_MOMENTS + 0.5, -0.5, n_nodes - 0.5))
    axes = kept["law"].axes
    axes.set_ylim(-0.5, n_nodes - 0.5)
    axes.set_yticks(range(0, n_nodes, 1 + n_nodes // 7))
    distance = 0.5 * np.abs(law - 1 / n_nodes).sum(axis=1)
    kept["distance"].set_data(np.arange(_WALK_MOMENTS + 1), distance)
    turn = 2 * np.pi * np.arange(n_nodes) / n_nodes
    circle = np.linspace(0, 2 * np.pi, 200)
    kept["ellipse"].set_data(np.cos(circle), (2 * p - 1) * np.sin(circle))
    x, y = np.cos(turn), (2 * p - 1) * np.sin(turn)
    rim = np.hypot(x, y) > 1 - 1e-9
    kept["inside"].set_data(x[~rim], y[~rim])
    kept["rim"].set_data(x[rim], y[rim])
    period, time = chain.period, chain.mixing_time()
    kept["facts"].set_text(
        f"period {period}\nsecond |λ| {chain.second_eigenvalue:.3f}\n"
        + ("never mixes" if period > 1 else f"mixing time {time:.0f}")
    )
    end = (
        "it never mixes."
        if period > 1
        else f"the second largest modulus is {chain.second_eigenvalue:.3f}, and it mixes in {time:.0f} steps."
    )
    return (
        f"{n_nodes} nodes, p = {p:g}: the period is {period}, {end} "
        f"At time {_WALK_MOMENTS} the distance from uniform is {distance[-1]:.3f}; {rim.sum()} of {n_nodes} "
        f"eigenvalues lie on the unit circle."
    )


def _lay_out_circle_walk(figure: Figure, kept: dict) -> None:
    from matplotlib import colormaps

    grid = figure.add_gridspec(2, 2, width_ratios=(1.7, 1), height_ratios=(1.3, 1))
    top, bottom = figure.add_subplot(grid[0, 0]), figure.add_subplot(grid[1, 0])
    disc, words = figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1])
    kept["law"] = top.imshow(
        np.zeros((3, _WALK_MOMENTS + 1)),
        cmap=colormaps["cividis"].resampled(25),  # a frame's 64 colours must do for the rest too
        vmin=0,
        vmax=0.5,
        origin="lower",
        aspect="auto",
        interpolation="nearest",
        extent=(-0.5, _WALK_MOMENTS + 0.5, -0.5, 15.5),
    )
    top.set(ylabel="node", title="where the walker is (bright: likely)", yticks=range(0, 16, 3))
    top.grid(False)
    (kept["distance"],) = bottom.plot([], [], color=VERMILION)
    bottom.axhline(0.25, color=BLACK, linestyle="--", linewidth=1.2)
    bottom.set(xlim=(-0.5, _WALK_MOMENTS + 0.5), ylim=(0, 1), xlabel="time t")
    bottom.set_title("distance from uniform (dashed: 1/4)")
    unit_disc(disc)
    disc.set_title("eigenvalues")
    (kept["ellipse"],) = disc.plot([], [], color="0.6", linewidth=1)
    (kept["inside"],) = disc.plot([], [], "o", color=BLUE, markersize=6)
    (kept["rim"],) = disc.plot([], [], "s", color=VERMILION, markersize=8)
    words.axis("off")
    kept["facts"] = words.text(
        0.5, 0.5, "", ha="center", va="center", fontsize=13, linespacing=1.6, transform=words.transAxes
    )
    freeze_layout(figure)


# Kernels from a Dirichlet prior -----------------------------------------------------------------

_TOKENS, _SHOWN, _LENGTH = 3, 10, 60
_LAGS = {"1": (1,), "2": (2,), "1 and 2": (1, 2)}


def dirichlet() -> Explorer:
    """Return the explorer of the Dirichlet prior: a kernel, and sequences that it makes.

    Examples
    --------
    >>> figure, description = dirichlet().render(concentration=0.1)
    >>> description[:46]
    'Concentration 0.1, lags 1 and 2, kernel 1: the'
    """
    levels = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100]  # every other on the page
    return Explorer(
        _draw_dirichlet,
        {
            "concentration": Slider(
                "concentration α", levels, start=0.1, page=[0.001, 0.01, 0.1, 1, 10, 100]
            ),
            "kernel": Slider("kernel number", range(1, 13), start=1, page=[1, 2, 3]),
            "lags": Choice("lags", list(_LAGS), start="1 and 2", page=["1", "1 and 2"]),
        },
        name="dirichlet",
        title="A kernel from the Dirichlet prior over three tokens, and ten sequences that it makes",
        presets={
            "Clockwork": {"concentration": 0.001},
            "Rhythms with slips": {"concentration": 0.1},
            "Nearly a fair die": {"concentration": 100},
        },
        size=(7.2, 4.0),
    )


@lru_cache(maxsize=512)
def _drawn_kernel(concentration: float, kernel: int, lags: str) -> tuple[NGramChain, np.ndarray]:
    from ..chains import DirichletPrior, NGramChain

    rng = np.random.default_rng(kernel)
    prior = DirichletPrior(_TOKENS, _LAGS[lags], concentration)
    chain = NGramChain(prior.sample_kernels(1, rng=rng)[0], _LAGS[lags])
    return chain, chain.sample(_SHOWN, _LENGTH, rng=rng)


def _draw_dirichlet(figure: Figure, concentration: float, kernel: int, lags: str) -> str:
    chain, tokens = _drawn_kernel(concentration, kernel, lags)
    kept = figure.artists_kept
    if not kept:
        _lay_out_dirichlet(figure, kept)
    patterns, table = parent_table(chain.kernel)
    kept["kernel"].set_data(table)
    kept["kernel"].set_extent((-0.5, _TOKENS - 0.5, len(patterns) - 0.5, -0.5))
    kept["kernel"].axes.set_yticks(range(len(patterns)), patterns)
    kept["kernel"].axes.set_ylim(len(patterns) - 0.5, -0.5)
    kept["tokens"].set_data(tokens)
    largest = chain.kernel.max(axis=-1).mean()
    number = sum(tokens[:, chain.memory - 1 - i : _LENGTH - i] * _TOKENS**i for i in range(chain.memory))
    seen = np.mean([len(np.unique(row)) for row in number])
    second = chain.second_eigenvalue
    return (
        f"Concentration {concentration:g}, lags {lags}, kernel {kernel}: the largest entry of a row is "
        f"{largest:.2f} on average; a sequence visits {seen:.1f} of {_TOKENS**chain.memory} windows in "
        f"{_LENGTH} tokens; second largest eigenvalue modulus {second:.3f}."
    )


def _lay_out_dirichlet(figure: Figure, kept: dict) -> None:
    left, right = figure.subplots(1, 2, width_ratios=(1, 4))
    kept["kernel"] = draw_kernel(left, np.zeros((_TOKENS, _TOKENS, _TOKENS)))
    left.set(title="kernel", xlabel="next token")
    kept["tokens"] = strips(right, np.zeros((_SHOWN, _LENGTH)), _TOKENS)
    right.set(title="ten sequences", xlabel="time t")
    token_legend(figure, _TOKENS)
    freeze_layout(figure)
