"""The progress bar: seen by a person who waits, by nobody else."""

from __future__ import annotations

import sys
import time

import pytest

from markov_transformers._progress import STORE_VARIABLE, progress, storing_outputs


@pytest.fixture(params=["", "1"], ids=["for a person", "storing outputs"])
def storing(request, monkeypatch):
    monkeypatch.setenv(STORE_VARIABLE, request.param)
    return bool(request.param)


def test_items_pass_through_unchanged(storing):
    items = [object(), None, 3]
    assert list(progress(items, "work")) == items
    assert list(progress(iter(items), "work", total=3)) == items
    assert list(progress([])) == []


def test_items_are_taken_one_at_a_time(storing):
    taken = []

    def items():
        for i in range(3):
            taken.append(i)
            yield i

    for i in progress(items()):
        assert taken == list(range(i + 1))


def test_what_an_item_raises_reaches_the_caller(storing):
    def items():
        yield 1
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        list(progress(items()))


def test_short_work_writes_nothing(storing, capsys):
    list(progress(range(1000), "quick"))
    written = capsys.readouterr()
    assert written.out == written.err == ""


def test_long_work_shows_a_bar_to_a_person_only(storing, capsys):
    for _ in progress(range(3), "patience"):
        time.sleep(0.6)
    written = capsys.readouterr()
    assert written.out == ""
    assert ("patience" in written.err) != storing
    assert written.err.rstrip("\r").rpartition("\r")[2].strip() == ""  # and wipes it out at the end


def test_storing_outputs_needs_no_bar_at_all(monkeypatch):
    monkeypatch.setenv(STORE_VARIABLE, "1")
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)  # importing it would raise
    assert list(progress(range(3))) == [0, 1, 2]


def test_only_a_set_variable_counts_as_storing(monkeypatch):
    monkeypatch.setenv(STORE_VARIABLE, "1")
    assert storing_outputs()
    monkeypatch.setenv(STORE_VARIABLE, "")
    assert not storing_outputs()
    monkeypatch.delenv(STORE_VARIABLE)
    assert not storing_outputs()
