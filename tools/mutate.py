"""Change one sign, index, constant or comparison at a time and see whether a test notices.

Usage: python tools/mutate.py MODULE [MODULE ...] [--sample N] [--again FILE] [--tests FILE ...]

MODULE is a name such as `one_layer`; its tests are tests/test_one_layer.py and those of --tests.
Tests are collected once. Each mutant then lives in a forked process of its own, where the functions
of the module run changed code; no file is touched. A mutant that outlives all tests is printed as a
survivor: write the test that it calls for, or convince yourself that it computes the same.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import inspect
import json
import os
import random
import signal
import sys
import tempfile
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "markov_transformers"

SWAPS = {
    ast.Add: [ast.Sub],
    ast.Sub: [ast.Add],
    ast.Mult: [ast.Div],
    ast.Div: [ast.Mult],
    ast.FloorDiv: [ast.Mult],
    ast.Mod: [ast.Mult],
    ast.Pow: [ast.Mult],
    ast.LShift: [ast.RShift],
    ast.BitAnd: [ast.BitOr],
    ast.BitOr: [ast.BitAnd],
    ast.And: [ast.Or],
    ast.Or: [ast.And],
    ast.Lt: [ast.LtE, ast.GtE],
    ast.LtE: [ast.Lt, ast.Gt],
    ast.Gt: [ast.GtE, ast.LtE],
    ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
    ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
}


def numbers(value: object) -> list:
    """Return what a constant is replaced with."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1]
    return [value * 1.5 or 1.0] if isinstance(value, float) else []


def computing(node: ast.AST) -> Iterator[ast.AST]:
    """Walk over what computes: neither annotations, nor decorators, nor the words of an error."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list") or isinstance(node, ast.Raise):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from computing(child)


def mutants(path: Path) -> Iterator[tuple[str, ast.Module, range]]:
    """Yield each mutant of a module: what it is, its tree, and the lines of the function it is in."""
    text = path.read_text()
    tree, lines = ast.parse(text), text.splitlines()
    spans = [
        range(min([node.lineno, *(one.lineno for one in node.decorator_list)]), node.end_lineno + 1)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    ]

    def changed(node, field, old, new):
        before = ast.unparse(node)
        setattr(node, field, new)
        where = f"{path.name}:{node.lineno}:{node.col_offset + 1}"
        what = f"{before} -> {ast.unparse(node)}  in  {lines[node.lineno - 1].strip()}"
        span = next((span for span in spans if node.lineno in span), range(len(lines)))
        yield f"{where}: {what}", copy.deepcopy(tree), span
        setattr(node, field, old)

    for node in computing(tree):
        match node:
            case ast.BinOp(op=op) | ast.AugAssign(op=op) | ast.BoolOp(op=op):
                for swap in SWAPS.get(type(op), []):
                    yield from changed(node, "op", op, swap())
            case ast.Compare(ops=[op]):
                for swap in SWAPS[type(op)]:
                    yield from changed(node, "ops", [op], [swap()])
            case ast.UnaryOp(op=ast.USub() as op):
                yield from changed(node, "op", op, ast.UAdd())
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                twice = ast.copy_location(ast.UnaryOp(ast.Not(), operand), operand)
                yield from changed(node, "operand", operand, twice)
            case ast.Constant(value=value):
                for number in numbers(value):
                    yield from changed(node, "value", value, number)


def functions(owner: object, home: str) -> Iterator[tuple[str, types.FunctionType]]:
    """Yield the functions of a module and the methods of its classes, by qualified name."""
    for member in vars(owner).values():
        member = getattr(member, "fget", None) or inspect.unwrap(getattr(member, "__func__", member))
        if isinstance(member, types.FunctionType) and member.__module__ == home:
            yield member.__qualname__, member
        elif isinstance(member, type) and member.__module__ == home and member is not owner:
            yield from functions(member, home)


def become(module: types.ModuleType, tree: ast.Module) -> None:
    """Let the functions and constants of a module be those of another syntax tree."""
    changed = types.ModuleType(module.__name__)
    changed.__package__ = module.__package__
    exec(compile(tree, module.__file__, "exec"), vars(changed))
    mine = dict(functions(module, module.__name__))
    for name, function in functions(changed, module.__name__):
        for part in ("__code__", "__defaults__", "__kwdefaults__"):
            setattr(mine[name], part, getattr(function, part))
    for name, value in vars(changed).items():
        if isinstance(value, (int, float, np.ndarray)):
            setattr(module, name, value)


class Hunt:
    """A pytest plugin that runs the collected tests on one mutant after the other."""

    def __init__(self, module: str, sample: int | None, again: Path | None) -> None:
        self.path = PACKAGE / f"{module}.py"
        self.candidates = list(mutants(self.path))
        if again is not None:
            listed = set(again.read_text().splitlines())
            self.candidates = [one for one in self.candidates if f"survived  {one[0]}" in listed]
        if sample is not None:
            self.candidates = random.Random(0).sample(self.candidates, min(sample, len(self.candidates)))
        self.survivors = 0

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        module = importlib.import_module(f"{PACKAGE.name}.{self.path.stem}")
        with tempfile.NamedTemporaryFile() as file:
            if not succeeds(lambda: survey(session.items, self.path, file.name), 1000):
                raise pytest.UsageError(f"{self.path.name}: the tests fail without a mutant")
            seen = json.loads(Path(file.name).read_text())
        patience = 30 + int(5 * sum(seconds for seconds, _ in seen))

        def hunted(tree: ast.Module, span: range) -> bool:
            # Tests that call the changed function come first, quick ones before slow ones.
            order = sorted(
                range(len(seen)), key=lambda i: (not any(line in span for line in seen[i][1]), seen[i][0])
            )
            become(module, tree)
            return passes([session.items[i] for i in order])

        for name, tree, span in self.candidates:
            if succeeds(lambda: hunted(tree, span), patience):  # noqa: B023
                self.survivors += 1
                print(f"survived  {name}", flush=True)
        print(f"{self.path.name}: {self.survivors} of {len(self.candidates)} mutants survived", flush=True)
        return True


def succeeds(task: Callable[[], bool], seconds: int) -> bool:
    """Tell whether a task, done in a forked process, returns True in time."""
    child = os.fork()
    if child == 0:
        signal.alarm(seconds)  # a mutant may never end
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1), os.dup2(nowhere, 2)
        try:
            os._exit(not task())
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def passes(items: list[pytest.Item]) -> bool:
    """Run tests up to the first that fails, and tell whether all passed."""
    for item, following in zip(items, [*items[1:], None]):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if item.session.testsfailed:
            return False
    return True


def survey(items: list[pytest.Item], path: Path, report: str) -> bool:
    """Write down each test's seconds and the lines of a file where the functions that it calls begin."""
    lines: set[int] = set()
    seen = []

    def trace(frame: types.FrameType, event: str, value: object) -> None:
        if frame.f_code.co_filename == str(path):
            lines.add(frame.f_code.co_firstlineno)

    for item in items:
        lines.clear()
        started = time.monotonic()
        sys.settrace(trace)
        passed = passes([item])
        sys.settrace(None)
        seen.append((time.monotonic() - started, sorted(lines)))
        if not passed:
            return False
    Path(report).write_text(json.dumps(seen))
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="+")
    parser.add_argument("--sample", type=int, help="this many mutants of each module, drawn at random")
    parser.add_argument("--again", type=Path, help="only the survivors that this output of a run lists")
    parser.add_argument("--tests", nargs="*", default=[], help="further files of tests")
    arguments = parser.parse_args()
    if arguments.again is not None:
        arguments.again = arguments.again.resolve()
    os.chdir(ROOT)
    sys.path.insert(0, str(PACKAGE.parent))
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    # A mutant is to be found, not shrunk to its simplest example; the examples are always the same.
    explore = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
    hypothesis.settings.register_profile("mutants", phases=explore, database=None, derandomize=True)
    hypothesis.settings.load_profile("mutants")
    survivors = 0
    for module in arguments.modules:
        hunt = Hunt(module, arguments.sample, arguments.again)
        options = ["-q", "-s", "--tb=no", "--no-header", "--no-summary", "-p", "no:cacheprovider"]
        pytest.main([*options, f"tests/test_{module}.py", *arguments.tests], plugins=[hunt])
        survivors += hunt.survivors
    return bool(survivors)


if __name__ == "__main__":
    sys.exit(main())
