"""The papers' transformers, printed literally: the reference for the exact engines.

Speed is not the point here, likeness to the printed equations is. Needs PyTorch.
"""

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError(
        "markov_transformers.models holds the literal transformers and needs PyTorch; install it with "
        "pip install torch, in a notebook with %pip install torch. "
        "Everything else in the library works without it."
    ) from error

from .one_layer import OneLayerTransformer
from .relu import ReluTransformer
from .two_layer import FullTransformer, TwoLayerTransformer

__all__ = ["FullTransformer", "OneLayerTransformer", "ReluTransformer", "TwoLayerTransformer"]
