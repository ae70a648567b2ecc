"""The command line: ``python -m markov_transformers benchmark [NAME ...] [--json]``."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m markov_transformers")
    commands = parser.add_subparsers(dest="command", required=True)
    timing = commands.add_parser("benchmark", help="time the exact engines beside the literal models")
    timing.add_argument("names", nargs="*", metavar="NAME", help="rows to time, all by default")
    timing.add_argument("--json", action="store_true", help="print a list of objects instead of a table")
    chosen = parser.parse_args(arguments)

    from . import benchmark

    try:
        rows = benchmark.run(chosen.names)
    except (ValueError, ImportError) as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps([asdict(row) for row in rows], indent=1) if chosen.json else benchmark.table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
