"""The book's figures, one drawing function each, in one style."""

from .chains import (
    best_reports,
    decays,
    kernels_and_sequences,
    lag_diagram,
    occupations,
    sequences,
    simplex,
    spectra,
    state_diagrams,
    tables,
)
from .general import curves, matrices, matrix
from .induction import match_kernels, matching, predictor_losses, vote_weights
from .information import (
    estimates_over_context,
    exchange,
    information_scatter,
    selection_over_concentration,
    subset_bars,
    winner_maps,
)
from .style import COLORS, freeze_layout, new_figure, style, use_style
from .walks import accuracy, attention, circle, cover, walks

__all__ = [
    "COLORS",
    "accuracy",
    "attention",
    "best_reports",
    "circle",
    "cover",
    "curves",
    "decays",
    "estimates_over_context",
    "exchange",
    "freeze_layout",
    "information_scatter",
    "kernels_and_sequences",
    "lag_diagram",
    "match_kernels",
    "matching",
    "matrices",
    "matrix",
    "new_figure",
    "occupations",
    "predictor_losses",
    "selection_over_concentration",
    "sequences",
    "simplex",
    "spectra",
    "state_diagrams",
    "style",
    "subset_bars",
    "tables",
    "use_style",
    "vote_weights",
    "walks",
    "winner_maps",
]
