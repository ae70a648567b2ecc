"""A pytest plugin that adds pictures to what nbval compares.

nbval replays each notebook and compares text and HTML to the letter; it passes over images. Here
images are compared as a viewer would, and the frames of an explorer likewise, so that a changed
figure fails while another processor's last rounding does not.
"""

from __future__ import annotations

import base64
import io
import os
import re

import numpy as np
from nbval.plugin import IPyNbCell
from PIL import Image

from markov_transformers._progress import STORE_VARIABLE

os.environ[STORE_VARIABLE] = "1"

MEAN_TOLERANCE = 0.5  # mean absolute difference, in grey levels out of 255
LOCAL_TOLERANCE = 24.0  # largest difference after averaging over blocks of 8 x 8 pixels
_FRAME = re.compile(r"data:image/webp;base64,([A-Za-z0-9+/=]+)")


def difference(stored: bytes, replayed: bytes) -> str | None:
    """Say how two pictures differ to a viewer, or return None if they do not."""
    old, new = (
        np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), dtype=float) for data in (stored, replayed)
    )
    if old.shape != new.shape:
        return f"size {new.shape[:2]} instead of {old.shape[:2]}"
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


_compare_text = IPyNbCell.compare_outputs


def compare_outputs(self, test, ref, skip_compare=None):
    """Compare text as nbval does, then the pictures one by one."""
    import nbformat

    cleaned = [[nbformat.from_dict(o) for o in without_frames(outputs)] for outputs in (test, ref)]
    if not _compare_text(self, *cleaned, skip_compare=skip_compare):
        return False
    stored = [picture for output in ref for picture in pictures(output)]
    replayed = [picture for output in test for picture in pictures(output)]
    if len(stored) != len(replayed):
        self.comparison_traceback.append(f"{len(replayed)} pictures instead of {len(stored)}")
        return False
    for number, pair in enumerate(zip(stored, replayed), start=1):
        told = difference(*pair)
        if told:
            self.comparison_traceback.append(f"picture {number} of {len(stored)}: {told}")
            return False
    return True


IPyNbCell.compare_outputs = compare_outputs
