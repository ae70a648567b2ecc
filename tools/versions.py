"""Run the library's tests with other versions of what it stands on, each set in its own environment.

Usage: python tools/versions.py [SET ...]

`oldest` takes the lowest release of everything that pyproject.toml allows, `newest` the highest,
`colab` what Google Colab offers. None has PyTorch, so tests of the literal models are skipped.
Environments are kept in .venv-versions and brought up to date by the next run.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
ENVIRONMENTS = ROOT / ".venv-versions"


def lowest(project: str) -> list[str]:
    """Pin every dependency of the library to the release that its lower bound names."""
    dependencies = re.search(r"^dependencies = \[(.*?)\]", project, re.DOTALL | re.MULTILINE)[1]
    return [f"{name}=={bound}.*" for name, bound in re.findall(r'"([\w-]+)>=([\d.]+)', dependencies)]


# What is asked for, and the Pythons that can serve it, the preferred one first.
SETS = {
    "oldest": (
        [*lowest((ROOT / "pyproject.toml").read_text()), "pyparsing<3.3"],  # at a later one matplotlib warns
        ["3.10", "3.11", "3.12"],
    ),
    "newest": ([], ["3.14", "3.13", "3.12", "3.11"]),
    "colab": (
        ["ipython==7.34.*", "ipywidgets==7.7.1", "numpy==2.1.*", "matplotlib==3.10.*"],
        ["3.12", "3.11"],
    ),
}
# Tests of the book, its pages and tools, which need far more; all others are the library's.
OF_THE_BOOK = [
    "browser",
    "colab",
    "exercises",
    "isolation",
    "labs_*",
    "lecture",
    "pages",
    "plain",
    "project",
    "reference",
    "replay",
    "repository",
    "without_torch",
]


def runs(python: str) -> bool:
    """Tell whether a Python is on the path and starts; a shim may be there and not start."""
    try:
        return subprocess.run([python, "--version"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def tested(name: str) -> str:
    """Set one environment up, run the tests there, and say how they went."""
    pins, versions = SETS[name]
    python = next((f"python{version}" for version in versions if runs(f"python{version}")), None)
    if python is None:
        return "skipped: none of Python " + ", ".join(versions) + " is on the path"
    own = ENVIRONMENTS / name / "bin" / "python"
    print(f"== {name}: {python} with {' '.join(pins) or 'the newest of everything'}", flush=True)
    for command in (
        [python, "-m", "venv", ENVIRONMENTS / name],
        [own, "-m", "pip", "install", "-q", "--upgrade", "--upgrade-strategy", "eager",
         "-e", ROOT, *pins, "hypothesis>=6.100", "pytest>=8,<9", "pyyaml"],
        [own, "-m", "pip", "list", "--format=freeze"],
        [own, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--doctest-ignore-import-errors",
         *(f"--ignore-glob=*/test_{about}.py" for about in OF_THE_BOOK)],
    ):  # fmt: skip
        if subprocess.run(command, cwd=ROOT).returncode:
            return f"failed at: {' '.join(map(str, command[1:4]))} ..."
    return f"passed on {python}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", choices=[[], *SETS], metavar="SET")
    outcome = {name: tested(name) for name in parser.parse_args().sets or SETS}
    print(*(f"{name:8} {told}" for name, told in outcome.items()), sep="\n")
    return any(told.startswith("failed") for told in outcome.values())


if __name__ == "__main__":
    sys.exit(main())
