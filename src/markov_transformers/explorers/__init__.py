"""The explorers of the book; each function returns one, ready to be shown."""

from .induction import context_length, match_a_sequence
from .walks import learning_the_walk

__all__ = [
    "context_length",
    "learning_the_walk",
    "match_a_sequence",
]
