"""What the repository promises about its notebooks, its pages and its README."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

import nbformat
import pytest
import yaml

import markov_transformers

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted(ROOT.glob("book/*.ipynb"))
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])


def code_cells(path):
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


def tags(cell):
    return cell.metadata.get("tags", [])


def texts(path):
    """Everything that the outputs of a notebook say, pictures left out."""
    for cell in code_cells(path):
        for output in cell.outputs:
            yield output.get("text", "")
            for kind, data in output.get("data", {}).items():
                if kind.startswith("text/"):
                    yield re.sub(r"data:image/webp;base64,[A-Za-z0-9+/=]+", "", data)


def pages_of(entry):
    """Every page that an entry of the table of contents names, and those below it."""
    if isinstance(entry, list):
        for one in entry:
            yield from pages_of(one)
    elif isinstance(entry, dict):
        for key, value in entry.items():
            yield from [value] if key in ("root", "file") else pages_of(value)


@each_notebook
def test_cells_were_run_in_order_from_one_by_this_version_of_the_library(path):
    counts = [cell.execution_count for cell in code_cells(path) if cell.source.strip()]
    assert counts == list(range(1, len(counts) + 1))
    version = nbformat.read(path, as_version=4).metadata["markov_transformers"]["version"]
    assert version == markov_transformers.__version__


@each_notebook
def test_no_code_was_edited_after_its_outputs_were_stored(path):
    # `make repository` rewrites the cell that installs the library; it has no output.
    installs = 'find_spec("markov_transformers")'
    code = json.dumps([cell.source for cell in code_cells(path) if installs not in cell.source])
    digest = hashlib.sha256(code.encode()).hexdigest()
    stored = nbformat.read(path, as_version=4).metadata["markov_transformers"].get("code")
    assert stored == digest, (
        f"code in {path.name} is not the code whose outputs are stored there; "
        f"store them afresh: .venv/bin/python tools/execute.py book/{path.name}"
    )


# How many cells of a notebook are compared only approximately; none is skipped. Lower a number where
# you can. A larger one needs a reason, in the cell's metadata and in the review.
APPROXIMATE = {
    "easier-task-that-fails": 1,  # the figure of a symmetry that rounding breaks
    "three-stages": 1,  # the table of the long second stage, whose solver chooses its steps
}


@each_notebook
def test_no_cell_is_exempt_from_the_replay_and_few_are_approximate(path):
    settings = [cell.metadata["approximate"] for cell in code_cells(path) if "approximate" in cell.metadata]
    assert len(settings) == APPROXIMATE.get(path.stem, 0), "cells with the metadata `approximate`"
    for setting in settings:
        assert setting.keys() in ({"relative", "because"}, {"pictures", "because"})
        assert 0 < setting.get("relative", 0.001) <= 0.01
        assert setting.get("pictures", "size") == "size"
        assert len(setting["because"]) > 20
    for cell in code_cells(path):
        assert not re.search(r"NBVAL_|PYTEST_VALIDATE", cell.source)
        assert not any(tag.startswith("nbval") or tag == "raises-exception" for tag in tags(cell))


@each_notebook
def test_stored_outputs_hold_no_path_no_warning_no_error_and_no_live_widget(path):
    for cell in code_cells(path):
        for output in cell.outputs:
            assert output.output_type != "error"
            assert output.get("name") != "stderr"
            assert not any("widget" in kind for kind in output.get("data", {}))
    for text in texts(path):
        assert not re.search(r"(/home/|/root/|/work/|/tmp/|/Users/|[A-Z]:\\\\)", text)
        assert "Warning" not in text
        assert not re.search(r"<[^>]+(src|href)=\"(https?:)?//", text)


@each_notebook
def test_every_figure_has_a_name_a_caption_and_alternative_text(path):
    for cell in code_cells(path):
        if any("image/png" in output.get("data", {}) for output in cell.outputs):
            settings = cell.metadata["mystnb"]
            assert settings["figure"]["name"].startswith("fig-")
            assert len(settings["figure"]["caption"]) > 20
            assert len(settings["image"]["alt"]) > 20


@each_notebook
def test_an_explorer_takes_less_than_500_kilobytes(path):
    for cell in code_cells(path):
        for output in cell.outputs:
            page = output.get("data", {}).get("text/html", "")
            assert page.count('<figure class="mt-explorer"') <= 1
            assert len(page) < 500_000


def test_the_table_of_contents_and_the_files_of_the_book_agree():
    pages = list(pages_of(yaml.safe_load((ROOT / "_toc.yml").read_text())))
    files = {path.stem for path in ROOT.glob("book/*.ipynb")} | {path.stem for path in ROOT.glob("book/*.md")}
    assert len(pages) == len(set(pages))
    assert set(pages) == files


def test_the_readme_shows_the_figure_of_the_home_page():
    outputs = [output for cell in code_cells(ROOT / "book/index.ipynb") for output in cell.outputs]
    picture = next(o["data"]["image/png"] for o in outputs if "image/png" in o.get("data", {}))
    assert (ROOT / "book/_static/cover.png").read_bytes() == base64.b64decode(picture)


def test_the_readme_names_only_files_and_commands_that_exist():
    readme = (ROOT / "README.md").read_text()
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"\bmake ([a-z-]+)", readme):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for link in re.findall(r"\]\(([^)#]+)\)", readme):
        assert link.startswith("https://") or (ROOT / link).exists(), link
    for name in re.findall(r"^\| `([^`]+)`", readme, re.MULTILINE):
        assert (ROOT / name).exists(), name


def test_the_pinned_versions_lie_within_the_ranges_of_the_library():
    from packaging.requirements import Requirement

    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    pinned = dict(line.lower().split("==") for line in lines if line and not line.startswith("#"))
    pinned = {name.replace("_", "-"): version for name, version in pinned.items()}
    extras = project["optional-dependencies"].values()
    for requirement in map(
        Requirement, [*project["dependencies"], *(one for extra in extras for one in extra)]
    ):
        assert requirement.specifier.contains(pinned[requirement.name.lower()]), requirement
