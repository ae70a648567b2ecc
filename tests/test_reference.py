"""The reference pages of the book show every public name, and each comes with an example that runs."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import markov_transformers as mt

ROOT = Path(__file__).parents[1]
PAGES = sorted(ROOT.glob("book/api-*.md"))
PUBLIC = [name for names in mt._HOMES.values() for name in names]
SUBPACKAGES = ("figures", "explorers", "models")
BUILD_WITHOUT_TORCH = """
import sys

class NoTorch:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ImportError(name)

sys.meta_path.insert(0, NoTorch)
from jupyter_book.cli.main import main
main()
"""


def documented_modules():
    return [home for page in PAGES for home in re.findall(r"^\.\. public:: (\w+)$", page.read_text(), re.M)]


def test_every_module_with_public_names_has_its_place_on_one_page():
    homes = documented_modules()
    assert len(homes) == len(set(homes))
    assert set(homes) >= set(mt._HOMES) | set(SUBPACKAGES)


def test_the_first_page_of_the_reference_links_every_other_and_lists_its_names():
    parts = re.split(r"\{ref\}`([^`]+)`", (ROOT / "book" / "api.md").read_text())
    listed = {
        page: re.search(r"^\.\. names:: (.+)$", text, re.M)[1].split()
        for page, text in zip(parts[1::2], parts[2::2])
    }
    assert listed == {
        page.stem: re.findall(r"^\.\. public:: (\w+)$", page.read_text(), re.M) for page in PAGES
    }


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_explains_itself_with_an_example_that_the_doctests_run(name):
    explanation = inspect.getdoc(getattr(mt, name))
    assert explanation.splitlines()[0].endswith((".", "?"))
    assert ">>> " in explanation


@pytest.mark.parametrize("name", [name for name in PUBLIC if inspect.isfunction(getattr(mt, name))])
def test_a_public_function_documents_each_argument_and_what_it_returns(name):
    function = getattr(mt, name)
    explanation = inspect.getdoc(function)
    for argument in inspect.signature(function).parameters:
        assert re.search(rf"^(\w+, )*\*{{0,2}}{argument}(, \*{{0,2}}\w+)* : ", explanation, re.M), argument
    assert "Returns\n-------" in explanation or "Yields\n------" in explanation


def test_editors_and_type_checkers_see_the_names_that_are_loaded_at_first_use():
    stub = ast.parse((ROOT / "src" / "markov_transformers" / "__init__.pyi").read_text())
    seen = {
        (node.module, alias.name)
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    names = {(home, name) for home, names in mt._HOMES.items() for name in names}
    assert seen == names | {(None, module) for module in mt._MODULES}
    assert (ROOT / "src" / "markov_transformers" / "py.typed").exists()


@pytest.mark.parametrize("package", ["figures", "explorers"])
def test_every_figure_and_every_explorer_says_in_one_line_what_it_shows(package):
    module = importlib.import_module(f"markov_transformers.{package}")
    for name in module.__all__:
        value = getattr(module, name)
        if callable(value):
            assert inspect.getdoc(value).splitlines()[0].endswith((".", "?")), name


def test_the_pages_show_every_public_name_also_where_torch_is_missing(tmp_path):
    pytest.importorskip("jupyter_book", reason="needs the extra [book]")
    toc = {"format": "jb-book", "root": "api", "chapters": [{"file": page.stem} for page in PAGES]}
    (tmp_path / "_toc.yml").write_text(yaml.safe_dump(toc))
    command = [sys.executable, "-c", BUILD_WITHOUT_TORCH, "build", ROOT / "book", "-q", "-W", "--keep-going"]
    settings = ["--config", ROOT / "_config.yml", "--toc", tmp_path / "_toc.yml", "--path-output", tmp_path]
    done = subprocess.run([*command, *settings], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pages = "".join(page.read_text() for page in (tmp_path / "_build" / "html").glob("api-*.html"))
    entries = set(re.findall(r'<dt class="sig[^>]* id="markov_transformers\.([\w.]+)"', pages))
    models = {"FullTransformer", "OneLayerTransformer", "ReluTransformer", "TwoLayerTransformer"}
    assert entries >= set(PUBLIC) | {f"models.{name}" for name in models}
    assert entries >= {f"figures.{name}" for name in mt.figures.__all__}
    first = (tmp_path / "_build" / "html" / "api.html").read_text()
    assert entries == set(
        re.findall(r'<td>.*?href="api-[\w-]+\.html#markov_transformers\.([\w.]+)"', first)
    ) | {entry for entry in entries if entry.rpartition(".")[0] in entries}
    assert "*args" not in re.search(r'id="markov_transformers.models.One.*?</dt>', pages, re.S)[0]
