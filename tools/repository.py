"""Point launch buttons, badges and the notebooks' first cells at a repository.

Usage: python tools/repository.py https://github.com/OWNER/NAME
       python tools/repository.py ""    (takes the address back)

A folder that holds a clone is an address too: the first cells then install from there,
and since neither Binder nor Colab can reach it, there are no buttons and no badges.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

BINDER = "https://mybinder.org"
COLAB = "https://colab.research.google.com"
BRANCH = "main"
HOME = "book/index.ipynb"

_UNSET_CELL = """\
from importlib.util import find_spec

if find_spec("markov_transformers") is None:
    raise ModuleNotFoundError(
        "This notebook needs the small library of the book. "
        "To install it, run in the book's folder: pip install ."
    )"""

_SET_CELL = """\
from importlib.util import find_spec

if find_spec("markov_transformers") is None:
    %pip install --quiet "git+{url}\""""

_GITHUB = re.compile(r"(?:https://github\.com/|git@github\.com:)(\w[\w-]*)/([\w.-]+?)(?:\.git)?/?", re.ASCII)
_BADGES = re.compile(r"(<!-- badges -->\n).*?(<!-- end of badges -->)", re.DOTALL)


def normalised(address: str) -> str:
    """Return the address in the one form that is stored, or raise `ValueError`."""
    address = address.strip()
    if not address:
        return ""
    github = _GITHUB.fullmatch(address)
    if github and github[2] not in (".", "..", ".git"):
        return "https://github.com/{}/{}".format(*github.groups())
    path = unquote(urlsplit(address).path) if address.startswith("file://") else address
    folder = Path(path).expanduser()
    if (folder / ".git").exists():
        return folder.resolve().as_uri()
    raise ValueError(
        f"URL is {address!r}; expected https://github.com/OWNER/NAME, or a folder that holds a clone"
    )


def is_public(url: str) -> bool:
    """Tell whether Binder and Colab can reach the address."""
    return url.startswith("https://")


def install_cell(url: str) -> dict:
    """Return the cell that installs the library where it is missing."""
    source = _SET_CELL.format(url=url) if url else _UNSET_CELL
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": "",
        "metadata": {"tags": ["remove-cell"]},
        "outputs": [],
        "source": source.splitlines(keepends=True),
    }


def is_install_cell(cell: dict) -> bool:
    """Tell whether a cell is the one that this tool writes."""
    return any('find_spec("markov_transformers")' in line for line in cell["source"])


def with_install_cell(text: str, url: str) -> str:
    """Return a notebook's text with the install cell as its first code cell."""
    notebook = json.loads(text)
    cells = [cell for cell in notebook["cells"] if not is_install_cell(cell)]
    code = [number for number, cell in enumerate(cells) if cell["cell_type"] == "code"]
    if not code:
        raise ValueError("it has no code cell")
    cells.insert(code[0], install_cell(url))
    _renumber(cells)
    notebook["cells"] = cells
    return json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _renumber(cells: list[dict]) -> None:
    """Number cells and executions as a fresh run does."""
    count = 0
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number:03d}"
        if cell["cell_type"] == "code" and cell["source"]:
            count += 1
            for one in (cell, *cell["outputs"]):
                if "execution_count" in one:
                    one["execution_count"] = count


def with_address(config: str, url: str) -> str:
    """Return the text of `_config.yml` with the address, and buttons where they lead somewhere."""
    public = is_public(url)
    values = {"url": url, "binderhub_url": BINDER if public else "", "colab_url": COLAB if public else ""}
    for key, value in values.items():
        config, found = re.subn(rf"^(  {key}:).*$", rf'\1 "{value}"', config, flags=re.MULTILINE)
        if found != 1:
            raise ValueError(f"it has {found} lines '  {key}:', expected one")
    return config


def with_badges(readme: str, url: str) -> str:
    """Return the README's text with badges that lead to the repository, or with none."""
    badges = ""
    if is_public(url):
        name = url.removeprefix("https://github.com/")
        workflow = f"{url}/actions/workflows/book.yml"
        badges = (
            f"[![Book]({workflow}/badge.svg)]({workflow})\n"
            f"[![Binder]({BINDER}/badge_logo.svg)]({BINDER}/v2/gh/{name}/{BRANCH}?urlpath=lab/tree/{HOME})\n"
            f"[![Colab]({COLAB}/assets/colab-badge.svg)]({COLAB}/github/{name}/blob/{BRANCH}/{HOME})\n"
        )
    readme, found = _BADGES.subn(lambda block: block[1] + badges + block[2], readme)
    if found != 1:
        raise ValueError(f"it has {found} places for badges, expected one")
    return readme


def point(root: Path, url: str) -> list[Path]:
    """Point the copy of the book in `root` at a normalised address, and return the files that changed."""
    writers = {root / "_config.yml": with_address, root / "README.md": with_badges}
    writers |= dict.fromkeys(sorted(root.glob("book/*.ipynb")), with_install_cell)
    before, after = {}, {}
    for path, write in writers.items():
        try:
            before[path] = path.read_text(encoding="utf-8")
            after[path] = write(before[path], url)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} is not as expected: {error}") from error
    changed = [path for path in writers if after[path] != before[path]]
    for path in changed:
        path.write_text(after[path], encoding="utf-8")
    return changed


def main() -> None:
    """Read the command line, and say what was done."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url", help='https://github.com/OWNER/NAME, the folder of a clone, or ""')
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1], help="the copy to change")
    arguments = parser.parse_args()
    try:
        url = normalised(arguments.url)
        changed = point(arguments.root, url)
    except FileNotFoundError as error:
        parser.error(f"{arguments.root} holds no copy of the book: {error.filename} is missing")
    except (OSError, ValueError) as error:
        parser.error(str(error))
    print(f"The repository is {url or 'not set'}; {len(changed)} files changed.")


if __name__ == "__main__":
    main()
