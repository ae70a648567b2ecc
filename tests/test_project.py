"""What the repository promises about its notebooks, its pages and its README."""

from __future__ import annotations

import base64
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


def texts(path):
    """Everything that the outputs of a notebook say, pictures left out."""
    for cell in code_cells(path):
        for output in cell.outputs:
            yield output.get("text", "")
            for kind, data in output.get("data", {}).items():
                if kind.startswith("text/"):
                    yield re.sub(r"data:image/webp;base64,[A-Za-z0-9+/=]+", "", data)


def pages_of(toc):
    yield toc["root"]
    for part in toc["parts"]:
        yield from (chapter["file"] for chapter in part["chapters"])


@each_notebook
def test_cells_were_run_in_order_from_one_by_this_version_of_the_library(path):
    counts = [cell.execution_count for cell in code_cells(path) if cell.source.strip()]
    assert counts == list(range(1, len(counts) + 1))
    version = nbformat.read(path, as_version=4).metadata["markov_transformers"]["version"]
    assert version == markov_transformers.__version__


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
