"""Run notebooks in fresh kernels and store their outputs, the same bytes each time.

Usage: python tools/execute.py NOTEBOOK [NOTEBOOK ...]
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

import markov_transformers
from markov_transformers._progress import STORE_VARIABLE

_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python", "file_extension": ".py", "mimetype": "text/x-python"},
}


def digest(notebook: nbformat.NotebookNode) -> str:
    """Return a digest of the code, by which outputs are known to belong to it."""
    # The cell that installs the library changes with the address of the repository.
    installs = 'find_spec("markov_transformers")'
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    sources = [source for source in code if installs not in source]
    return hashlib.sha256(json.dumps(sources).encode()).hexdigest()


def joined(outputs: list) -> list:
    """Join what a cell printed in several goes, which depends on the machine's speed."""
    kept: list = []
    for output in outputs:
        last = kept[-1] if kept else {}
        if output["output_type"] == "stream" == last.get("output_type") and output["name"] == last["name"]:
            last["text"] += output["text"]
        else:
            kept.append(output)
    return kept


def execute(path: Path) -> bool:
    """Run one notebook in place and return whether its file changed."""
    before = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(before, as_version=4)
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number:03d}"
        for volatile in ("collapsed", "scrolled", "execution", "ExecuteTime", "trusted"):
            cell.metadata.pop(volatile, None)
    NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=600,
        record_timing=False,
        store_widget_state=False,
        resources={"metadata": {"path": str(path.parent)}},
    ).execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = joined(cell.outputs)
    origin = {"version": markov_transformers.__version__, "code": digest(notebook)}
    notebook.metadata = nbformat.from_dict({**_METADATA, "markov_transformers": origin})
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    after = nbformat.writes(notebook, indent=1, sort_keys=True) + "\n"
    path.write_text(after, encoding="utf-8")
    if path.name == "index.ipynb":
        store_cover(notebook, path.parent / "_static" / "cover.png")
    return after != before


def store_cover(notebook: nbformat.NotebookNode, path: Path) -> None:
    """Keep the home page's figure as a file of its own, for the README."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    picture = next(o["data"]["image/png"] for o in outputs if "image/png" in o.get("data", {}))
    path.write_bytes(base64.b64decode(picture))


def main() -> int:
    """Run the notebooks of the command line, two at a time, and report each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", nargs="+", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="notebooks at a time")
    arguments = parser.parse_args()
    os.environ[STORE_VARIABLE] = "1"

    def run(path: Path) -> str | None:
        try:
            print(f"{path}: {'stored' if execute(path) else 'unchanged'}", flush=True)
        except CellExecutionError as error:
            return f"{path}: {error}"
        return None

    with ThreadPoolExecutor(arguments.jobs) as pool:
        failures = [failure for failure in pool.map(run, arguments.notebooks) if failure]
    print(*failures, sep="\n", file=sys.stderr)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
