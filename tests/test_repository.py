"""One command points launch buttons, badges and notebooks at a repository, and takes it back."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import yaml

ROOT = Path(__file__).parents[1]
URL = "https://github.com/ada/walks"
CHAPTER = "learning-the-walk"

_spec = importlib.util.spec_from_file_location("repository", ROOT / "tools" / "repository.py")
repository = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(repository)


@pytest.fixture
def copy(tmp_path):
    """A small copy of the book: the home page and one chapter."""
    shutil.copytree(ROOT / "book" / "_ext", tmp_path / "book" / "_ext")
    shutil.copytree(ROOT / "book" / "_static", tmp_path / "book" / "_static")
    for name in (
        "_config.yml",
        "README.md",
        "book/references.bib",
        "book/index.ipynb",
        f"book/{CHAPTER}.ipynb",
    ):
        shutil.copy(ROOT / name, tmp_path / name)
    repository.point(tmp_path, "")  # whatever the fork that runs this test has set
    return tmp_path


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def run(*arguments):
    command = [sys.executable, ROOT / "tools" / "repository.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def first_code_cell(path):
    return next(cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code")


def build(folder):
    """Build the copy's pages and return the chapter's, as text."""
    pytest.importorskip("jupyter_book", reason="needs the extra [book]")
    chapters = [{"file": CHAPTER}]
    (folder / "_toc.yml").write_text(
        yaml.safe_dump({"format": "jb-book", "root": "index", "chapters": chapters})
    )
    program = "from jupyter_book.cli.main import main; main()"
    command = [sys.executable, "-c", program, "build", "book", "-q", "--path-output", "."]
    settings = ["--config", folder / "_config.yml", "--toc", folder / "_toc.yml"]
    done = subprocess.run([*command, *settings], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return (folder / "_build" / "html" / f"{CHAPTER}.html").read_text()


def addresses(page):
    return set(re.findall(r'href="([^"]*)"', page))


def test_the_launch_buttons_of_a_chapter_open_that_chapter_in_binder_and_colab(copy):
    repository.point(copy, URL)
    found = addresses(build(copy))
    assert f"https://mybinder.org/v2/gh/ada/walks/main?urlpath=lab/tree/book/{CHAPTER}.ipynb" in found
    assert f"https://colab.research.google.com/github/ada/walks/blob/main/book/{CHAPTER}.ipynb" in found


def test_without_an_address_no_button_leads_anywhere(copy):
    page = build(copy)
    assert not re.search("mybinder|colab|launch-buttons", page)


def test_the_folder_of_a_clone_reaches_the_notebooks_but_makes_no_button_and_no_badge(copy):
    before = contents(copy)
    (copy / ".git").mkdir()
    url = repository.normalised(str(copy))
    repository.point(copy, url)
    assert f'"git+{url}"' in first_code_cell(copy / "book" / f"{CHAPTER}.ipynb").source
    settings = yaml.safe_load((copy / "_config.yml").read_text())
    assert settings["repository"]["url"] == url
    assert settings["launch_buttons"]["binderhub_url"] == settings["launch_buttons"]["colab_url"] == ""
    assert contents(copy)[copy / "README.md"] == before[copy / "README.md"]


def test_an_address_set_and_taken_back_leaves_every_byte_as_it_was(copy):
    before = contents(copy)
    assert len(repository.point(copy, URL)) == 4
    assert contents(copy) != before
    repository.point(copy, "")
    assert contents(copy) == before


def test_the_same_address_a_second_time_changes_nothing(copy):
    repository.point(copy, URL)
    assert repository.point(copy, URL) == []


def test_the_badges_lead_to_the_workflow_to_binder_and_to_colab(copy):
    repository.point(copy, URL)
    badges = (copy / "README.md").read_text().split("<!-- badges -->")[1].split("<!-- end of badges -->")[0]
    targets = re.findall(r"\)\]\((\S+)\)$", badges, re.MULTILINE)
    assert targets == [
        "https://github.com/ada/walks/actions/workflows/book.yml",
        "https://mybinder.org/v2/gh/ada/walks/main?urlpath=lab/tree/book/index.ipynb",
        "https://colab.research.google.com/github/ada/walks/blob/main/book/index.ipynb",
    ]
    assert (ROOT / ".github" / "workflows" / "book.yml").exists()


def test_every_notebook_begins_with_the_same_cell_which_the_pages_hide():
    address = yaml.safe_load((ROOT / "_config.yml").read_text())["repository"]["url"]
    expected = "".join(repository.install_cell(address)["source"])
    for path in ROOT.glob("book/*.ipynb"):
        cell = first_code_cell(path)
        assert cell.source == expected, path
        assert cell.metadata["tags"] == ["remove-cell"]
        assert not cell.outputs


def test_the_first_cell_says_how_to_install_where_there_is_no_address(monkeypatch):
    source = "".join(repository.install_cell("")["source"])
    exec(source, {})  # the library is here: nothing happens
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"book's folder: pip install \."):
        exec(source, {})


@pytest.mark.parametrize(
    "address",
    [URL, f" {URL}/ ", f"{URL}.git", "git@github.com:ada/walks.git"],
)
def test_the_usual_spellings_of_an_address_mean_the_same(address):
    assert repository.normalised(address) == URL


def test_the_folder_of_a_clone_is_an_address(tmp_path):
    clone = tmp_path / "my clone"
    (clone / ".git").mkdir(parents=True)
    expected = clone.as_uri()
    assert expected.startswith("file:///") and expected.endswith("my%20clone")
    assert repository.normalised(str(clone)) == repository.normalised(expected) == expected


@pytest.mark.parametrize(
    "address",
    [
        "nonsense",
        "https://github.com/ada",
        "https://github.com/ada/walks/tree/main",
        "https://example.org/ada/walks",
        'https://github.com/ada/walks"; rm -rf /',
        "file:///no/such/clone",
        "https://github.com/ada/..",
        "https://github.com/ada/.",
        "https://github.com/ada/..git",
        "https://github.com/ada/.git/",
        "git@github.com:ada/...git",
        "https://github.com/-/walks",
        "https://github.com/é/walks",
        "https://github.com/ada/ü",
    ],
)
def test_nonsense_is_refused_with_a_sentence_and_changes_nothing(copy, address):
    before = contents(copy)
    done = run(address, "--root", copy)
    assert done.returncode == 2
    assert repr(address) in done.stderr and "expected https://github.com/OWNER/NAME" in done.stderr
    assert contents(copy) == before


def test_a_name_may_hold_dots_and_begin_with_one():
    for name in ("ada.github.io", ".walks", "walks.gitlab"):
        assert repository.normalised(f"https://github.com/ada/{name}.git") == f"https://github.com/ada/{name}"


@pytest.mark.parametrize("place", ["no-such-folder", "README.md", "book"])
def test_a_root_without_the_book_is_named(copy, place):
    before = contents(copy)
    done = run(URL, "--root", copy / place)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert str(copy / place) in done.stderr
    assert contents(copy) == before


@pytest.mark.parametrize(
    "text, reason",
    [
        ("hello", "Expecting value"),
        ("[]", "list indices"),
        ('{"cells": []}', "it has no code cell"),
        ('{"cells": [{"cell_type": "markdown", "source": ["hello"]}]}', "it has no code cell"),
    ],
)
def test_a_file_that_is_no_notebook_is_named_and_nothing_changes(copy, text, reason):
    wrong = copy / "book" / "wrong.ipynb"
    wrong.write_text(text)
    before = contents(copy)
    done = run(URL, "--root", copy)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert f"{wrong} is not as expected: {reason}" in " ".join(done.stderr.split())
    assert contents(copy) == before


def test_the_command_says_what_it_did(copy):
    assert run(URL, "--root", copy).stdout == f"The repository is {URL}; 4 files changed.\n"
    assert run("", "--root", copy).stdout == "The repository is not set; 4 files changed.\n"


def test_the_image_of_binder_has_the_pinned_versions_as_far_as_it_pins_any():
    image = yaml.safe_load((ROOT / "binder" / "environment.yml").read_text())
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    pinned = {"python": "3.11.0"} | dict(line.split("==") for line in lines if "==" in line)
    exact = dict(line.split("=") for line in image["dependencies"] if re.fullmatch(r"[\w-]+=[\d.]+", line))
    assert set(exact) >= {"python", "numpy", "scipy", "matplotlib-base", "ipywidgets"}
    for name, version in exact.items():
        assert f"{pinned[name.removesuffix('-base')]}.".startswith(f"{version}."), name
    assert os.access(ROOT / "binder" / "postBuild", os.X_OK)


def test_the_workflow_tests_every_promised_python_and_runs_only_what_exists():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "book.yml").read_text())
    versions = workflow["jobs"]["library"]["strategy"]["matrix"]["python"]
    oldest = re.search(r'requires-python = ">=([\d.]+)"', (ROOT / "pyproject.toml").read_text())[1]
    assert versions[0] == oldest and "3.11" in versions
    makefile = (ROOT / "Makefile").read_text()
    for step in workflow["jobs"]["book"]["steps"]:
        for target in re.findall(r"\bmake ([a-z-]+)", step.get("run", "")):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
        for script in re.findall(r"\bbash (\S+)", step.get("run", "")):
            assert (ROOT / script).exists()
