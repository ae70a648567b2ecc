"""The replay of notebooks in isolation: a notebook that leans on anything else fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("nbval")
nbformat = pytest.importorskip("nbformat")

ROOT = Path(__file__).parents[1]
WARN = (
    "import warnings\n"
    "with warnings.catch_warnings():\n"
    "    warnings.warn_explicit('old', {kind}, 'x.py', 1, module={module!r})"
)
LARGE = "x = b'x' * 500_000_000"

# Notebooks by name: the code of each cell, and what is reported about it; nothing if it passes. The
# last report is about the notebook's footprint.
NOTEBOOKS = {
    "cut-off": (
        {
            "import os\nassert os.listdir() == []": None,
            "assert 'cut_off' not in globals()": None,
            "import urllib.request\nurllib.request.urlopen('http://localhost:9')": "without a network",
            "import socket\nsocket.socket().connect(('127.0.0.1', 9))": "without a network",
            WARN.format(kind="DeprecationWarning", module="markov_transformers.chains"): "old",
        },
        None,
    ),
    "untidy": ({"with open('note.txt', 'w') as file:\n    file.write('x')": None}, "leaves files behind"),
    "large": ({LARGE: None}, "too much memory"),
    "large-with-torch": ({f"import sys\nsys.modules['torch'] = sys\n{LARGE}": None}, None),
}


@pytest.fixture(scope="module")
def replayed(tmp_path_factory):
    """Replay all notebooks in one process: how each test fared, and what was printed."""
    folder = tmp_path_factory.mktemp("notebooks")
    for name, (cells, _) in NOTEBOOKS.items():
        cells = [nbformat.v4.new_code_cell(code, execution_count=1) for code in cells]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / f"{name}.ipynb")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "tests.isolation", "-p", "no:cacheprovider", "--nbval",
         "--nbval-current-env", f"--junitxml={folder / 'report.xml'}",
         *(folder / f"{name}.ipynb" for name in NOTEBOOKS)],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    cases = iter(ElementTree.parse(folder / "report.xml").iter("testcase"))
    told = {
        name: ["".join(child.text or "" for child in next(cases)) for _ in (*cells, "footprint")]
        for name, (cells, _) in NOTEBOOKS.items()
    }
    return told, done.stdout


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_passes_only_if_it_stands_alone(replayed, name):
    cells, footprint = NOTEBOOKS[name]
    for told, reason in zip(replayed[0][name], [*cells.values(), footprint]):
        assert (reason in told) if reason else (told == "")


def test_the_memory_of_every_notebook_is_told(replayed):
    for name in ("cut-off", "large"):
        assert f"MB  {name}.ipynb" in replayed[1]
    assert "MB with torch  large-with-torch.ipynb" in replayed[1]
