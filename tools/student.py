"""Write copies of notebooks without the solutions, for a class.

Usage: python tools/student.py FOLDER NOTEBOOK [NOTEBOOK ...]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import nbformat


def without_solutions(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return a copy of a notebook that lacks the cells tagged `solution`."""
    copy = nbformat.from_dict(notebook)
    copy.cells = [cell for cell in notebook.cells if "solution" not in cell.metadata.get("tags", [])]
    return copy


def read(path: Path) -> nbformat.NotebookNode:
    """Return a notebook, or raise `ValueError` with the name of the file."""
    if not path.is_file():
        raise ValueError(f"{path} is not a file; expected a notebook")
    try:
        return nbformat.read(path, as_version=4)
    except Exception as error:  # nbformat has no one error for what is not a notebook
        raise ValueError(f"{path} cannot be read as a notebook") from error


def refuse_to_overwrite(folder: Path, paths: list[Path]) -> None:
    """Raise `ValueError` if a copy would replace its original or another copy."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file; expected a folder for the copies")
    names = [path.name for path in paths]
    for path in paths:
        copy = folder / path.name
        if copy.exists() and copy.samefile(path):
            raise ValueError(f"the copy would overwrite {path} and its solutions; choose another folder")
        if names.count(path.name) > 1:
            raise ValueError(f"{path.name} is named more than once; its copies would overwrite each other")


def write_copies(folder: Path, paths: list[Path]) -> None:
    """Write a copy of each notebook into the folder, or raise `ValueError` and write nothing."""
    notebooks = [read(path) for path in paths]
    refuse_to_overwrite(folder, paths)
    folder.mkdir(parents=True, exist_ok=True)
    for path, notebook in zip(paths, notebooks, strict=True):
        text = nbformat.writes(without_solutions(notebook), indent=1, sort_keys=True) + "\n"
        (folder / path.name).write_text(text, encoding="utf-8")


def main() -> None:
    """Read the command line, and say where the copies are."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the copies go")
    parser.add_argument("notebooks", nargs="+", type=Path, metavar="notebook", help="a notebook to copy")
    arguments = parser.parse_args()
    try:
        write_copies(arguments.folder, arguments.notebooks)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    print(f"{len(arguments.notebooks)} notebooks without solutions: {arguments.folder}")


if __name__ == "__main__":
    main()
