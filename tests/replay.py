"""A pytest plugin that adds pictures, and numbers known only so far, to what nbval compares.

nbval replays each notebook and compares text and HTML to the letter; it passes over images. Here
images are compared as a viewer would, and the frames of an explorer likewise, so that a changed
figure fails while another processor's last rounding does not.

A number may depend on the steps that a solver chose. The metadata of its cell then say so,

    "approximate": {"relative": 0.001, "because": "the solver chooses its steps"}

and its numbers need to agree only that far; all else still has to, to the letter. A picture may show
what rounding does, which is another thing on another processor. The metadata of its cell then say

    "approximate": {"pictures": "size", "because": "rounding breaks the symmetry"}

and only the number and the sizes of its pictures are compared.
"""

from __future__ import annotations

import base64
import io
import math
import os
import re

import numpy as np
from nbval.plugin import IPyNbCell
from PIL import Image

from markov_transformers._progress import STORE_VARIABLE

MEAN_TOLERANCE = 0.5  # mean absolute difference, in grey levels out of 255
LOCAL_TOLERANCE = 24.0  # largest difference after averaging over blocks of 8 x 8 pixels
_NUMBER = re.compile(r"([-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)")
_FRAME = re.compile(r"data:image/webp;base64,([A-Za-z0-9+/=]+)")


def difference(stored: bytes, replayed: bytes, only_size: bool = False) -> str | None:
    """Say how two pictures differ to a viewer, or only in size, or return None if they do not."""
    old, new = (
        np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), dtype=float) for data in (stored, replayed)
    )
    if old.shape != new.shape:
        return f"size {new.shape[:2]} instead of {old.shape[:2]}"
    if only_size:
        return None
    gap = np.abs(old - new)
    height, width = (n - n % 8 for n in gap.shape[:2])
    blocks = (old - new)[:height, :width].reshape(height // 8, 8, width // 8, 8, 3).mean(axis=(1, 3))
    local = np.abs(blocks).max(initial=0.0)
    if gap.mean() > MEAN_TOLERANCE or local > LOCAL_TOLERANCE:
        return f"mean difference {gap.mean():.2f}, largest local difference {local:.1f}"
    return None


def split(page: str) -> tuple[str, list[bytes]]:
    """Take the pictures out of a piece of HTML: the text without them, and the pictures."""
    return _FRAME.sub("PICTURE", page), [base64.b64decode(data) for data in _FRAME.findall(page)]


def pictures(output: dict) -> list[bytes]:
    """Return the pictures in one cell output."""
    data = output.get("data", {})
    found = [base64.b64decode(data["image/png"])] if "image/png" in data else []
    return found + split("".join(data.get("text/html", "")))[1]


def without_frames(outputs: list[dict]) -> list[dict]:
    """Return the outputs with the pictures in their HTML taken out, for the comparison of text."""
    cleaned = []
    for output in outputs:
        data = dict(output.get("data", {}))
        if "text/html" in data:
            data["text/html"] = split("".join(data["text/html"]))[0]
        cleaned.append({**output, "data": data} if "data" in output else output)
    return cleaned


def settled(replayed: str, stored: str, relative: float) -> str:
    """Return the replayed text, each number that agrees with the stored one replaced by that."""
    new, old = _NUMBER.split(replayed), _NUMBER.split(stored)
    if new[::2] != old[::2]:
        return replayed
    for i in range(1, len(new), 2):
        if math.isclose(float(new[i]), float(old[i]), rel_tol=relative):
            new[i] = old[i]
    return "".join(new)


def with_settled_numbers(replayed: list[dict], stored: list[dict], relative: float) -> list[dict]:
    """Return the replayed outputs with every number settled that agrees with the stored one."""

    def settle(new, old):
        if isinstance(new, dict) and isinstance(old, dict):
            return {key: settle(value, old.get(key)) for key, value in new.items()}
        return settled(new, old, relative) if isinstance(new, str) and isinstance(old, str) else new

    return [settle(*pair) for pair in zip(replayed, stored)] if len(replayed) == len(stored) else replayed


_compare_text = IPyNbCell.compare_outputs


def compare_outputs(self, test, ref, skip_compare=None):
    """Compare text as nbval does, then the pictures one by one."""
    import nbformat

    texts = [without_frames(outputs) for outputs in (test, ref)]
    approximate = self.cell.metadata.get("approximate", {})
    if "relative" in approximate:
        texts[0] = with_settled_numbers(*texts, approximate["relative"])
    nodes = [[nbformat.from_dict(output) for output in outputs] for outputs in texts]
    if not _compare_text(self, *nodes, skip_compare=skip_compare):
        return False
    stored = [picture for output in ref for picture in pictures(output)]
    replayed = [picture for output in test for picture in pictures(output)]
    if len(stored) != len(replayed):
        self.comparison_traceback.append(f"{len(replayed)} pictures instead of {len(stored)}")
        return False
    for number, pair in enumerate(zip(stored, replayed), start=1):
        told = difference(*pair, only_size=approximate.get("pictures") == "size")
        if told:
            self.comparison_traceback.append(f"picture {number} of {len(stored)}: {told}")
            return False
    return True


def pytest_configure(config):
    """Put the comparison in place; the kernels' environment says that outputs are being stored."""
    config.pluginmanager.import_plugin("tests.isolation")
    os.environ[STORE_VARIABLE] = "1"
    IPyNbCell.compare_outputs = compare_outputs
