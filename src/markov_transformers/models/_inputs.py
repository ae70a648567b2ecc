"""Checks of what the literal transformers are given, by the rules of the rest of the library."""

from __future__ import annotations

import torch

from .. import _validation as check


def token_tensor(
    tokens: object, vocab_size: int, *, min_length: int = 1, length: int | None = None
) -> torch.Tensor:
    """Return sequences of tokens as a tensor of int64; `length` is their length, if it is given."""
    given = tokens.detach().cpu().numpy() if isinstance(tokens, torch.Tensor) else tokens
    checked = check.token_array("tokens", given, vocab_size, min_length=min_length)
    if length not in (None, checked.shape[1]):
        raise ValueError(f"tokens must be sequences of length {length}, got shape {checked.shape}")
    return tokens.long() if isinstance(tokens, torch.Tensor) else torch.as_tensor(checked)


def float_type(dtype: object) -> torch.dtype:
    """Return `dtype` if it is a type of real numbers."""
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        check.refuse("dtype", dtype, "a floating-point type of torch")
    return dtype
