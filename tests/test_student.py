"""Copies for a class lack the solutions, and making them never costs an original."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[1]
CHAPTER = ROOT / "book" / "markov-chains.ipynb"


@pytest.fixture
def book(tmp_path):
    """A folder with one chapter, which the tests may harm."""
    (tmp_path / "book").mkdir()
    shutil.copy(CHAPTER, tmp_path / "book")
    return tmp_path / "book"


def student(*arguments):
    command = [sys.executable, ROOT / "tools" / "student.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def refused(done):
    return done.returncode == 2 and "Traceback" not in done.stderr and done.stderr.count("error: ") == 1


def tags(path):
    return {tag for cell in nbformat.read(path, as_version=4).cells for tag in cell.metadata.get("tags", [])}


def test_a_copy_lacks_the_solutions_and_the_original_keeps_them(book):
    done = student(book / "class", book / CHAPTER.name)
    assert done.returncode == 0 and done.stdout == f"1 notebooks without solutions: {book / 'class'}\n"
    assert "solution" in tags(book / CHAPTER.name)
    assert "solution" not in tags(book / "class" / CHAPTER.name)


@pytest.mark.parametrize("folder", [".", "../book", "link"])
def test_a_folder_where_the_copy_would_replace_its_original_is_refused(book, folder):
    (book / "link").symlink_to(book, target_is_directory=True)
    before = (book / CHAPTER.name).read_bytes()
    done = student(book / folder, book / CHAPTER.name)
    assert refused(done) and "would overwrite" in done.stderr
    assert (book / CHAPTER.name).read_bytes() == before


def test_two_notebooks_of_one_name_are_refused_and_nothing_is_written(book):
    done = student(book / "class", book / CHAPTER.name, CHAPTER)
    assert refused(done) and f"{CHAPTER.name} is named more than once" in done.stderr
    assert not (book / "class").exists()


@pytest.mark.parametrize(
    "text", [None, "hello", "{}", "[]", '{"nbformat": 4, "nbformat_minor": 5, "cells": 3, "metadata": {}}']
)
def test_what_is_no_notebook_is_named_and_nothing_is_written(book, text):
    if text is not None:
        (book / "other.ipynb").write_text(text)
    done = student(book / "class", book / CHAPTER.name, book / "other.ipynb")
    assert refused(done) and str(book / "other.ipynb") in done.stderr
    assert not (book / "class").exists()


def test_a_file_in_place_of_the_folder_is_named(book):
    (book / "class").write_text("a file")
    for folder in (book / "class", book / "class" / "below"):
        done = student(folder, book / CHAPTER.name)
        assert refused(done) and str(folder) in done.stderr


def test_help_is_no_error():
    done = student("-h")
    assert done.returncode == 0 and "folder" in done.stdout and not done.stderr
