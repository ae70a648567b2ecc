"""Where PyTorch is missing: what needs it says so, and all else works."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import nbformat

from markov_transformers import explorers

ROOT = Path(__file__).parents[1]
NOTE = "# Needs PyTorch. Where it is missing, run first: %pip install torch\n"


def test_every_cell_that_needs_torch_begins_by_saying_so_and_how_to_install_it():
    needing = [
        cell.source
        for path in ROOT.glob("book/*.ipynb")
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == "code"
        and re.search(r"import torch|_transformers\.models|literal_run", cell.source)
    ]
    assert needing
    assert all(source.startswith(NOTE) for source in needing)


def test_every_explorer_draws_without_torch():
    code = """
import sys
sys.modules["torch"] = None  # as if it were missing
from markov_transformers import explorers

for name in explorers.__all__:
    getattr(explorers, name)().render()
    print(name)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == explorers.__all__
