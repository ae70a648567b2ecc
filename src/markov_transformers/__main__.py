"""The command line: ``python -m markov_transformers reproduce`` and ``... benchmark``."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status: 0 if all ran, 1 if something could not, 2 for misuse."""
    parser = argparse.ArgumentParser(prog="python -m markov_transformers")
    commands = parser.add_subparsers(dest="command", required=True)
    checking = commands.add_parser("reproduce", help="put the claims of both papers to the test")
    checking.add_argument("ids", nargs="*", metavar="ID", help="claims to check, all by default")
    checking.add_argument("--json", action="store_true", help="print a list of objects instead of a table")
    checking.add_argument("--quick", action="store_true", help="fewer seeds, in under a minute")
    checking.add_argument("--list", action="store_true", help="print the ids and check nothing")
    checking.set_defaults(run=_reproduce)
    timing = commands.add_parser("benchmark", help="time the exact engines beside the literal models")
    timing.add_argument(
        "names", nargs="*", metavar="NAME", help="rows or groups of rows to time, all by default"
    )
    timing.add_argument("--json", action="store_true", help="print a list of objects instead of a table")
    timing.add_argument("--store", metavar="FILE", help="write rows, machine, date and versions to a file")
    timing.set_defaults(run=_benchmark)
    chosen = parser.parse_args(arguments)
    return chosen.run(chosen)


def _reproduce(chosen: argparse.Namespace) -> int:
    from . import reproduce

    if chosen.list:
        if chosen.ids or chosen.json or chosen.quick:
            print("--list prints every id; name no ids beside it, nor --json or --quick", file=sys.stderr)
            return 2
        print(reproduce.listing())
        return 0
    try:
        rows = reproduce.run(chosen.ids, quick=chosen.quick)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    if chosen.json:
        print(json.dumps(reproduce.as_objects(rows), indent=1, ensure_ascii=False))
    else:
        print(reproduce.table(rows, quick=chosen.quick))
    return 0 if all(row.ran for row in rows) else 1


def _benchmark(chosen: argparse.Namespace) -> int:
    from . import benchmark

    rows: list[benchmark.Row] = []
    if chosen.store is not None and not _can_write(chosen.store):
        print(f"--store is {chosen.store!r}; expected a file that can be written", file=sys.stderr)
        return 2
    try:
        timed = benchmark.run(chosen.names)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    try:
        for line in benchmark.lines(_kept(timed, rows)):
            if not chosen.json:
                print(line, flush=True)
    except ImportError as error:
        print(error, file=sys.stderr)
        if error.name == "torch":
            print("This row times a torch model; install it with: pip install torch", file=sys.stderr)
        return 1
    if chosen.json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
    if chosen.store is not None:
        benchmark.store(benchmark.here(rows), chosen.store)
    return 0


def _can_write(path: str) -> bool:
    """Tell whether a file can be written there, and leave what is there as it is."""
    existed = os.path.exists(path)
    try:
        open(path, "a", encoding="utf-8").close()
    except OSError:
        return False
    if not existed:
        os.remove(path)
    return True


def _kept(items: Iterable, kept: list) -> Iterator:
    """Pass items on and keep them."""
    for item in items:
        kept.append(item)
        yield item


if __name__ == "__main__":
    sys.exit(main())
