"""Lecture mode and the lecturer's guide show every explorer, as it is."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path

import pytest

from markov_transformers import explorers

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "book" / "lecturers-guide.md").read_text(encoding="utf-8")
SECTIONS = {
    match[1]: text for text in GUIDE.split("\n### ")[1:] if (match := re.search(r"Explorer `(\w+)`", text))
}
each_explorer = pytest.mark.parametrize("name", explorers.__all__)


@pytest.fixture(scope="module")
def lecture():
    spec = importlib.util.spec_from_file_location("lecture", ROOT / "tools" / "lecture.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_guide_has_a_section_for_each_explorer_in_the_order_of_the_book(lecture):
    assert list(SECTIONS) == lecture.in_the_order_of_the_book()
    assert sorted(SECTIONS) == sorted(explorers.__all__)


@each_explorer
def test_the_guide_asks_shows_and_tells_what_happens(name):
    for part in ("**Ask.**", "**Show.**", "**What happens.**"):
        assert SECTIONS[name].count(part) == 1


@each_explorer
def test_the_guide_names_every_preset_as_it_is_and_no_other(name):
    named = re.findall(r"^\* \*\*(.+?)\*\*:", SECTIONS[name], re.MULTILINE)
    assert named == list(getattr(explorers, name)().presets)


@each_explorer
def test_a_number_that_the_guide_gives_for_a_preset_is_in_the_text_of_its_picture(name):
    explorer = getattr(explorers, name)()
    figure = explorer.new_figure()
    for label, told in re.findall(r"^\* \*\*(.+?)\*\*: (.+)$", SECTIONS[name], re.MULTILINE):
        description = explorer._draw(figure, explorer.presets[label])
        for number in re.findall(r"\d+\.\d+|\d+,\d+", told):
            assert number in description, (label, number)


def test_the_lecture_opens_all_explorers_and_leads_from_each_to_the_next(lecture):
    names = lecture.in_the_order_of_the_book()
    (cell,) = lecture.notebook(names)["cells"]
    (loop,) = [
        node
        for node in ast.walk(ast.parse(cell["source"]))
        if isinstance(node, ast.For) and isinstance(node.iter, ast.List)
    ]
    screens = ast.literal_eval(loop.iter)
    assert [name for name, _ in screens] == names
    for number, (name, links) in enumerate(screens):
        assert f'id="{name}"' in links
        before, after = names[max(number - 1, 0)], names[min(number + 1, len(names) - 1)]
        assert re.findall(r'href="#(\w+)"', links) == [before, after]
