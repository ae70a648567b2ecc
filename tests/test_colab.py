"""A chapter alone in an empty folder, in an environment like Colab's: its first cell brings the library.

The test fetches some sixty packages, so it runs in CI and on demand: ``make test-colab``.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    not (os.environ.get("CI") or os.environ.get("COLAB")), reason="fetches packages; run: make test-colab"
)

ROOT = Path(__file__).parents[1]
CHAPTER = "markov-chains"
# Colab in August 2026, on whatever Python runs the tests. PyTorch is left out: it is large, and the
# library's requirements do not name it.
COLAB = {"ipywidgets": "7.7.1", "ipython": "7.34.0", "numpy": "2.1.3", "matplotlib": "3.10.0"}

RUN = """
import json, sys, nbformat
from importlib.metadata import version
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, kernel_name="python3", timeout=600).execute()
versions = {name: version(name) for name in sys.argv[2:]}
views = [kind for cell in notebook.cells for o in cell.get("outputs", []) for kind in o.get("data", {})]
print(json.dumps({"versions": versions, "views": views}))
"""


def succeed(*command, **settings):
    done = subprocess.run(command, capture_output=True, text=True, **settings)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def clone(tmp_path):
    """A repository that holds the library as it is now, committed or not."""
    folder = tmp_path / "clone"
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / name)
    identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-q", "-m", "The library"]):
        succeed("git", *command, cwd=folder)
    return folder


@pytest.fixture
def colab(tmp_path):
    """The interpreter of an environment with Colab's versions and without the library."""
    python = tmp_path / "colab" / ("Scripts" if os.name == "nt" else "bin") / "python"
    succeed(sys.executable, "-m", "venv", tmp_path / "colab")
    pinned = [f"{name}=={version}" for name, version in COLAB.items()]
    succeed(python, "-m", "pip", "install", "-q", *pinned, "ipykernel", "nbclient")
    return python


def test_the_first_cell_installs_the_library_and_the_chapter_runs_through(clone, colab, tmp_path):
    alone = tmp_path / "empty"
    alone.mkdir()
    spec = importlib.util.spec_from_file_location("repository", ROOT / "tools" / "repository.py")
    repository = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(repository)
    text = (ROOT / "book" / f"{CHAPTER}.ipynb").read_text(encoding="utf-8")
    text = repository.with_install_cell(text, repository.normalised(str(clone)))
    (alone / f"{CHAPTER}.ipynb").write_text(text, encoding="utf-8")
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}

    report = succeed(
        colab, "-c", RUN, f"{CHAPTER}.ipynb", "markov-transformers", *COLAB, cwd=alone, env=clean
    )

    ran = json.loads(report.splitlines()[-1])
    installed = ran["versions"].pop("markov-transformers")
    assert f'__version__ = "{installed}"' in (clone / "src/markov_transformers/__init__.py").read_text()
    assert ran["versions"] == COLAB
    assert "application/vnd.jupyter.widget-view+json" in ran["views"]
    assert "image/png" in ran["views"]
