"""The replay of stored notebooks: what must fail does, what must pass does."""

from __future__ import annotations

import base64
import importlib.util
import io
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image, ImageDraw

import markov_transformers

pytest.importorskip("nbval")
nbformat = pytest.importorskip("nbformat")

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def replay():
    """The plugin as a module."""
    spec = importlib.util.spec_from_file_location("replay_under_test", ROOT / "tests" / "replay.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def encode(pixels, kind="PNG"):
    buffer = io.BytesIO()
    Image.fromarray(np.asarray(pixels, dtype=np.uint8)).save(buffer, kind)
    return buffer.getvalue()


def chart(slope=0.5, width=320):
    """A line in a frame on white, smoothed as matplotlib smooths."""
    image = Image.new("RGB", (4 * width, 960), "white")
    pen = ImageDraw.Draw(image)
    pen.rectangle((80, 80, 4 * width - 80, 880), outline="black", width=4)
    pen.line((80, 880, 4 * width - 80, 880 - slope * 800), fill="#0072b2", width=8)
    return np.asarray(image.resize((width, 240), Image.Resampling.BOX)).astype(int)


def noisy(pixels, amount=40):
    """Shake the half-covered pixels along each edge, as another processor's rounding may."""
    edge = (pixels.max(axis=2, keepdims=True) < 250) & (pixels.min(axis=2, keepdims=True) > 5)
    shake = np.random.default_rng(0).integers(-amount, amount + 1, pixels.shape)
    return np.clip(pixels + edge * shake, 0, 255)


def one_pixel_off(pixels):
    pixels = pixels.copy()
    pixels[100, 100] = 0
    return pixels


SAME = {
    "the same": chart(),
    "antialiasing noise": noisy(chart()),
    "one black pixel": one_pixel_off(chart()),
}
DIFFERENT = {
    "a line that moved": chart(0.55),
    "no line": chart(0),
    "a shade": chart() * 9 // 10,
    "black": chart() * 0,
    "upside down": chart()[::-1],
}


@pytest.mark.parametrize("name", SAME)
def test_noise_that_no_viewer_sees_is_no_difference(replay, name):
    assert replay.difference(encode(chart()), encode(SAME[name])) is None
    assert replay.difference(encode(SAME[name]), encode(chart())) is None


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_picture_that_looks_different_is_told(replay, name):
    for pair in ((chart(), DIFFERENT[name]), (DIFFERENT[name], chart())):
        told = replay.difference(*map(encode, pair))
        assert "mean difference" in told


def test_a_picture_of_another_size_is_told(replay):
    assert (
        replay.difference(encode(chart()), encode(chart(width=328)))
        == "size (240, 328) instead of (240, 320)"
    )


def test_a_changed_digit_in_a_figure_is_told(replay):
    from matplotlib.figure import Figure

    def titled(text):
        figure, buffer = Figure(figsize=(7.2, 4.2), dpi=100), io.BytesIO()
        figure.subplots().set_title(text)
        figure.savefig(buffer)
        return buffer.getvalue()

    assert replay.difference(titled("accuracy 0.71"), titled("accuracy 0.71")) is None
    assert replay.difference(titled("accuracy 0.71"), titled("accuracy 0.74"))


def as_html(pixels, text="A line."):
    data = base64.b64encode(encode(pixels, "WEBP")).decode()
    return f'<img src="data:image/webp;base64,{data}" alt="{text}">'


def test_html_is_split_into_its_text_and_its_pictures(replay):
    page = as_html(chart()) + "<p>0.71</p>" + as_html(chart(0), "Flat.")
    text, pictures = replay.split(page)
    assert text == '<img src="PICTURE" alt="A line."><p>0.71</p><img src="PICTURE" alt="Flat.">'
    assert pictures == [encode(chart(), "WEBP"), encode(chart(0), "WEBP")]
    assert replay.split("<p>nothing</p>") == ("<p>nothing</p>", [])


def test_all_pictures_of_an_output_are_found_and_its_text_is_kept(replay):
    png = encode(chart())
    data = {"image/png": base64.b64encode(png).decode(), "text/html": ["<b>", as_html(chart(0)), "</b>"]}
    output = {"output_type": "display_data", "data": {**data, "text/plain": "x"}, "metadata": {}}
    assert replay.pictures(output) == [png, encode(chart(0), "WEBP")]
    assert replay.pictures({"output_type": "stream", "name": "stdout", "text": "x"}) == []
    (cleaned,) = replay.without_frames([output])
    assert cleaned["data"]["text/html"] == '<b><img src="PICTURE" alt="A line."></b>'
    assert cleaned["data"]["text/plain"] == "x"
    assert isinstance(output["data"]["text/html"], list)  # the stored output itself is untouched


@pytest.mark.parametrize(
    ("replayed", "settled"),
    [
        ("c = 0.70712 after 3.1e+05 steps", "c = 0.70711 after 3.1e+05 steps"),  # 1.4e-5 off: close enough
        ("c = 0.70782 after 3.1e+05 steps", "c = 0.70782 after 3.1e+05 steps"),  # 1.004e-3 off
        ("c = -0.70711 after 3.1e+05 steps", "c = -0.70711 after 3.1e+05 steps"),
        ("c = 0.70711 after 3.1e-05 steps", "c = 0.70711 after 3.1e-05 steps"),
        ("a = 0.70712 after 3.1e+05 steps", "a = 0.70712 after 3.1e+05 steps"),  # other words
        ("c = 0.70712", "c = 0.70712"),
        ("c = nan after 3.1e+05 steps", "c = nan after 3.1e+05 steps"),
    ],
)
def test_a_number_is_settled_only_if_it_is_close_and_all_words_are_the_same(replay, replayed, settled):
    assert replay.settled(replayed, "c = 0.70711 after 3.1e+05 steps", 1e-3) == settled


def test_whole_numbers_are_held_to_the_same_tolerance(replay):
    assert replay.settled("6 nodes, 2002 walks", "6 nodes, 2000 walks", 2e-3) == "6 nodes, 2000 walks"
    assert replay.settled("7 nodes, 2000 walks", "6 nodes, 2000 walks", 2e-3) == "7 nodes, 2000 walks"


# A notebook from end to end -----------------------------------------------------------------------

IMPORTS = "from IPython.display import Image, HTML, display\nimport base64\n"


def printing(stored, code):
    """Return a cell that runs some code and was stored with a printed line."""
    return code, nbformat.v4.new_output("stream", name="stdout", text=stored + "\n")


def showing(stored, *codes):
    """Return a cell that displays some expressions and was stored with some data."""
    code = IMPORTS + "\n".join(f"display({code})" for code in codes)
    return code, nbformat.v4.new_output("display_data", stored)


def image(pixels):
    return f"Image(base64.b64decode({base64.b64encode(encode(pixels)).decode()!r}))"


def approximately(cell):
    """Return a cell whose numbers need to agree to one in a thousand."""
    return *cell, {"approximate": {"relative": 1e-3, "because": "the solver chooses its steps"}}


def roughly(cell):
    """Return a cell of whose pictures only number and size count."""
    return *cell, {"approximate": {"pictures": "size", "because": "rounding breaks the symmetry"}}


PLAIN = "<IPython.core.display.Image object>"
FIGURE = {"image/png": base64.b64encode(encode(chart())).decode(), "text/plain": PLAIN}
TABLE = {"text/html": "<td>0.6666", "text/plain": "<IPython.core.display.HTML object>"}
FRAME = {"text/html": as_html(chart()), "text/plain": "<IPython.core.display.HTML object>"}

# What a cell stands for, the cell, and what the report says about it; nothing if it passes.
CELLS = {
    "the right number": (printing("0.6667", "print(round(2 / 3, 4))"), None),
    "a wrong number": (printing("0.6666", "print(round(2 / 3, 4))"), "mismatch 'stdout'"),
    "changed text": (printing("fails", "print('learns')"), "mismatch 'stdout'"),
    "a close number": (approximately(printing("at 0.6666", "print('at', 2 / 3)")), None),
    "a close number in a table": (
        approximately(showing(TABLE, "HTML('<td>0.6667')")),
        None,
    ),
    "a number not close enough": (approximately(printing("0.6666", "print(0.6674)")), "mismatch 'stdout'"),
    "another word": (approximately(printing("at 0.6666", "print('of', 2 / 3)")), "mismatch 'stdout'"),
    "a close number in an exact cell": (printing("0.6666", "print(2 / 3)"), "mismatch 'stdout'"),
    "a second line": (
        approximately(printing("0.6666", "print(2 / 3)\nprint(2 / 3)")),
        "mismatch 'stdout'",
    ),
    "a second table": (
        approximately(showing(TABLE, "HTML('<td>0.6667')", "HTML('<td>0.6667')")),
        "dissimilar number of outputs",
    ),
    "a changed figure in an approximate cell": (
        approximately(showing(FIGURE, image(chart(0.55)))),
        "picture 1 of 1: mean difference",
    ),
    "a changed figure of which only the size counts": (roughly(showing(FIGURE, image(chart(0.55)))), None),
    "a larger figure of which only the size counts": (
        roughly(showing(FIGURE, image(chart(width=328)))),
        "picture 1 of 1: size (240, 328)",
    ),
    "a close number beside such a figure": (roughly(printing("0.6666", "print(2 / 3)")), "mismatch 'stdout'"),
    "a missing output": (printing("1", "x = 1"), "Missing output fields"),
    "an error": (printing("1", "print(1)\nraise ValueError"), "exception"),
    "the same figure": (showing(FIGURE, image(chart())), None),
    "a noisy figure": (showing(FIGURE, image(noisy(chart()))), None),
    "a changed figure": (showing(FIGURE, image(chart(0.55))), "picture 1 of 1: mean difference"),
    "a larger figure": (showing(FIGURE, image(chart(width=328))), "picture 1 of 1: size (240, 328)"),
    "a second figure": (showing(FIGURE, image(chart()), image(chart())), "dissimilar number of outputs"),
    "a missing figure": (showing(FIGURE), "Missing output fields"),
    "a figure lost from its output": (
        showing(FIGURE, f"{{'text/plain': {PLAIN!r}}}, raw=True"),
        "0 pictures instead of 1",
    ),
    "the same frame": (showing(FRAME, f"HTML({as_html(chart())!r})"), None),
    "a noisy frame": (showing(FRAME, f"HTML({as_html(noisy(chart()))!r})"), None),
    "a changed frame": (showing(FRAME, f"HTML({as_html(chart(0.55))!r})"), "picture 1 of 1: mean difference"),
    "a changed description": (showing(FRAME, f"HTML({as_html(chart(), 'A.')!r})"), "mismatch 'text/html'"),
    "a missing frame": (showing(FRAME, "HTML('<p>no picture</p>')"), "mismatch 'text/html'"),
    "the variable for storing outputs": (
        printing("1", "import os\nprint(os.environ['MARKOV_TRANSFORMERS_STORE_OUTPUTS'])"),
        None,
    ),
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """Replay one notebook in its own process, as `make test` does, and return how each cell fared."""
    folder = tmp_path_factory.mktemp("notebooks")
    cells = [
        nbformat.v4.new_code_cell(
            code, outputs=[output], execution_count=number, metadata=metadata[0] if metadata else {}
        )
        for number, ((code, output, *metadata), _) in enumerate(CELLS.values(), start=1)
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "chapter.ipynb")
    source = str(Path(markov_transformers.__file__).parents[1])
    path = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))
    environment = {k: v for k, v in os.environ.items() if k != "MARKOV_TRANSFORMERS_STORE_OUTPUTS"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "tests.replay", "-p", "no:cacheprovider", "--nbval",
         "--nbval-current-env", f"--junitxml={folder / 'report.xml'}", str(folder / "chapter.ipynb")],
        cwd=ROOT, env={**environment, "PYTHONPATH": path}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    cases = list(ElementTree.parse(folder / "report.xml").iter("testcase"))
    assert [case.get("name") for case in cases] == [*(f"Cell {n}" for n in range(len(CELLS))), "footprint"]
    return {name: "".join(child.text for child in case) for name, case in zip(CELLS, cases)}


@pytest.mark.parametrize("name", CELLS)
def test_a_replayed_cell_passes_or_fails_for_the_reason_that_it_should(outcomes, name):
    _, reason = CELLS[name]
    if reason is None:
        assert outcomes[name] == ""
    else:
        assert reason in outcomes[name]
