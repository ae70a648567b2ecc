"""The explorers of the book; each function returns one, ready to be shown."""

from .chains import circle_walk, dirichlet, two_and_three_states
from .escape import escape_time
from .failure import deterministic_failure
from .induction import context_length, match_a_sequence
from .information import information_bars
from .questions import two_questions
from .stages import stage_one, stages_two_and_three
from .transformer import construction
from .walks import learning_the_walk

__all__ = [
    "circle_walk",
    "construction",
    "context_length",
    "deterministic_failure",
    "dirichlet",
    "escape_time",
    "information_bars",
    "learning_the_walk",
    "match_a_sequence",
    "stage_one",
    "stages_two_and_three",
    "two_and_three_states",
    "two_questions",
]
