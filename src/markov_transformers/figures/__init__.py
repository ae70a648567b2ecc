"""The book's figures, one drawing function each, in one style."""

from .general import curves, matrices, matrix
from .induction import match_kernels, matching, predictor_losses, vote_weights
from .style import COLORS, freeze_layout, new_figure, style, use_style
from .walks import accuracy, attention, circle, cover, walks

__all__ = [
    "COLORS",
    "accuracy",
    "attention",
    "circle",
    "cover",
    "curves",
    "freeze_layout",
    "match_kernels",
    "matching",
    "matrices",
    "matrix",
    "new_figure",
    "predictor_losses",
    "style",
    "use_style",
    "vote_weights",
    "walks",
]
