"""Write copies of notebooks without the solutions, for a class.

Usage: python tools/student.py FOLDER NOTEBOOK [NOTEBOOK ...]
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat


def without_solutions(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return a copy of a notebook that lacks the cells tagged `solution`."""
    copy = nbformat.from_dict(notebook)
    copy.cells = [cell for cell in notebook.cells if "solution" not in cell.metadata.get("tags", [])]
    return copy


def main(folder: str, *notebooks: str) -> int:
    """Write the student copies and say where they are."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    for path in map(Path, notebooks):
        copy = without_solutions(nbformat.read(path, as_version=4))
        (target / path.name).write_text(
            nbformat.writes(copy, indent=1, sort_keys=True) + "\n", encoding="utf-8"
        )
    print(f"{len(notebooks)} notebooks without solutions: {target}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
