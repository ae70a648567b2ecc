"""The explorers of the book; each function returns one, ready to be shown."""

from .chains import circle_walk, dirichlet, two_and_three_states
from .construction import construction
from .induction import context_length, match_a_sequence
from .information import information_bars
from .walks import learning_the_walk

__all__ = [
    "circle_walk",
    "construction",
    "context_length",
    "dirichlet",
    "information_bars",
    "learning_the_walk",
    "match_a_sequence",
    "two_and_three_states",
]
