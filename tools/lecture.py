"""Open the explorers alone, one to a screen, in large type, with the code hidden.

Usage: python tools/lecture.py [NAME ...] [options of Voila]

Page Down and Page Up, which a presenter's remote control sends, lead to the next explorer and back.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from pathlib import Path

import yaml

from markov_transformers import explorers

ROOT = Path(__file__).parents[1]
# Voila's page links to icons on another host, which it also carries itself: a lecture hall may be offline.
POLICY = {"headers": {"Content-Security-Policy": "style-src 'self' 'unsafe-inline'"}}

HEAD = """<style>
body, #rendered_cells, .jp-Cell, .jp-OutputArea-output { margin: 0 !important; padding: 0 !important; }
.jp-OutputPrompt { display: none !important; }
.mt-screen { display: flex; justify-content: space-between; align-items: center; }
.mt-screen { height: 3rem; padding: 0 2vw; font: 1.2rem sans-serif; }
.mt-screen a { color: #0072b2; }
.mt-live {
  display: grid !important;
  grid-template: "title title" auto "image controls" auto "image message" 1fr / 2fr minmax(18rem, 1fr);
  gap: 0.5rem 2vw;
  height: calc(100vh - 3rem);
  padding: 0 2vw;
  overflow: hidden;
  --jp-widgets-font-size: 1.15rem;
  --jp-widgets-inline-height: 2.2rem;
}
.mt-live-title { grid-area: title; height: auto !important; }
.mt-live-image { grid-area: image; width: 100%; max-width: none !important; height: calc(100vh - 7rem); }
.mt-live-image { object-fit: contain; object-position: left top; }
.mt-live-controls { grid-area: controls; overflow: visible !important; }
.mt-live-controls .widget-hslider, .mt-live-controls .widget-dropdown { flex-wrap: wrap; height: auto; }
.mt-live-controls .widget-label { width: 100% !important; max-width: none; text-align: left; }
.mt-live-title .widget-html-content { font-size: 1.5rem; line-height: 1.3; white-space: normal; }
.mt-live-message .widget-html-content { font-size: 1.15rem; line-height: 1.4; }
</style>
<script>
document.addEventListener("keydown", (event) => {
  const step = { PageDown: 1, PageUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  event.stopPropagation(); // a slider that has the focus would move too
  const screens = [...document.querySelectorAll(".mt-screen")];
  const at = screens.filter((screen) => screen.getBoundingClientRect().top < 10).length - 1;
  screens[Math.min(Math.max(at + step, 0), screens.length - 1)].scrollIntoView();
}, true);
</script>"""

# All explorers are laid out at once and drawn one after another, so that the page opens early.
CODE = """\
import asyncio

import markov_transformers as mt
from IPython.display import HTML, display

drawings = []


async def draw_one_after_another():
    for draw in drawings:
        draw()
        await asyncio.sleep(0.05)  # whoever moves a slider goes first


display(HTML({head!r}))
for name, links in {screens!r}:
    display(HTML(links), getattr(mt.explorers, name)().widget(dpi=150, schedule=drawings.append))
task = asyncio.ensure_future(draw_one_after_another())"""


def in_the_order_of_the_book() -> list[str]:
    """Return the names of all explorers, as the chapters show them."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    files = [chapter["file"] for part in toc["parts"] for chapter in part["chapters"]]
    paths = [path for file in files if (path := ROOT / "book" / f"{file}.ipynb").exists()]
    cells = [cell for path in paths for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    shown = [name for name in re.findall(r"mt\.explorers\.(\w+)\(", code) if name in explorers.__all__]
    return list(dict.fromkeys([*shown, *explorers.__all__]))


def notebook(names: list[str]) -> dict:
    """Return a notebook, as JSON has it: explorers, each below a line with links to its neighbours."""
    screens = []
    for number, name in enumerate(names):
        before, after = names[max(number - 1, 0)], names[min(number + 1, len(names) - 1)]
        links = (
            f'<nav class="mt-screen" id="{name}"><a href="#{before}">Previous</a>'
            f'<span>{number + 1} of {len(names)}</span><a href="#{after}">Next</a></nav>'
        )
        screens.append((name, links))
    code = CODE.format(head=HEAD, screens=screens)
    cell = {"cell_type": "code", "id": "explorers", "metadata": {}, "source": code}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {
        "cells": [{**cell, "execution_count": None, "outputs": []}],
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def main() -> None:
    """Serve the explorers of the command line, all by default, until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="explorers to show, all by default")
    chosen, options = parser.parse_known_args()
    for name in chosen.names:
        if name not in explorers.__all__:
            parser.error(f"NAME must be one of {', '.join(explorers.__all__)}, got {name!r}")
    path = ROOT / "_build" / "lecture" / "lecture.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    names = chosen.names or in_the_order_of_the_book()
    path.write_text(json.dumps(notebook(names)), encoding="utf-8")
    settings = f"--Voila.tornado_settings={json.dumps(POLICY)}"
    os.execv(sys.executable, [sys.executable, "-m", "voila", str(path), settings, *options])


if __name__ == "__main__":
    main()
