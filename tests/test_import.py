"""The package as a whole: light to import, complete, and clear about what it lacks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import markov_transformers as mt

SOURCE = str(Path(mt.__file__).parents[1])
HEAVY = ("torch", "scipy", "matplotlib", "ipywidgets", "PIL", "tqdm")


def run(code):
    """Run code in a fresh interpreter and return what it prints."""
    path = os.pathsep.join(filter(None, [SOURCE, os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_the_package_loads_none_of_the_heavy_libraries():
    loaded = run("import sys, markov_transformers; print(*sys.modules)").split()
    assert "markov_transformers" in loaded
    assert not set(HEAVY) & set(loaded)


def test_the_engines_load_no_heavy_library_either():
    code = """
import sys, os
os.environ["MARKOV_TRANSFORMERS_STORE_OUTPUTS"] = "1"  # a person would see a bar, from tqdm
import markov_transformers as mt
walk = mt.CircleWalk(3, 0.5)
mt.OneLayerModel(3, 4).train(walk.sample(5, 4, rng=0), learning_rate=1, steps=2, loss=mt.SquareLoss())
print(*sys.modules)
"""
    assert not set(HEAVY) & set(run(code).split())


def test_every_public_name_is_listed_and_can_be_reached():
    assert set(mt.__all__) <= set(dir(mt))
    assert len(mt.__all__) == len(set(mt.__all__))
    for name in mt.__all__:
        assert getattr(mt, name) is getattr(mt, name)


def test_names_are_listed_before_anything_is_loaded():
    listed = run("import markov_transformers as mt; print(*dir(mt))").split()
    assert set(mt.__all__) <= set(listed)


def test_a_public_name_means_the_same_whatever_module_was_loaded_before():
    # A module that is loaded becomes an attribute of its package and must not hide a public name.
    code = """
import importlib, pkgutil, types, markov_transformers as mt
for module in pkgutil.iter_modules(mt.__path__):
    if module.name not in ("models", "__main__"):
        importlib.import_module("markov_transformers." + module.name)
print(*(name for name in mt._HOME_OF if isinstance(getattr(mt, name), types.ModuleType)))
"""
    assert run(code) == ""


def test_an_unknown_name_raises_an_attribute_error_that_names_it():
    with pytest.raises(AttributeError, match=r"'markov_transformers'.*'no_such_name'"):
        _ = mt.no_such_name
    assert not hasattr(mt, "no_such_name")


def test_without_torch_only_the_literal_models_fail_and_say_how_to_get_it():
    code = """
import sys
sys.modules["torch"] = None
import markov_transformers as mt
mt.OneLayerModel(3, 4)
try:
    mt.models
except ImportError as error:
    print(error)
"""
    told = run(code)
    assert "needs PyTorch" in told
    assert "pip install torch" in told


def test_the_version_is_a_version():
    assert all(part.isdigit() for part in mt.__version__.split("."))
