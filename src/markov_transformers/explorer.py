"""Sliders that work with a kernel, on a published page, and in a test.

An `Explorer` is a drawing function and the controls that feed it. From that one description

* a live kernel shows ipywidgets and an image that is replaced in place;
* a stored notebook, and so the published page, keeps frames drawn ahead of time and a few lines
  of script that flip through them, with no kernel and no request to any host;
* a test calls `Explorer.render` at any values it likes.
"""

from __future__ import annotations

import base64
import html
import io
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources
from typing import Any

import numpy as np

from . import _validation as check
from ._progress import progress, storing_outputs

_WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


@dataclass(frozen=True)
class Slider:
    """A control that steps through numbers.

    Parameters
    ----------
    label : str
        What the reader sees.
    values : sequence of numbers
        All positions of the slider, at least two, in increasing order.
    start : number
        The position at first; one of `values`.
    page : sequence of numbers, default ()
        The positions that the published page carries. Empty: the control needs a live kernel.
    play : bool, default False
        Whether the control is a time axis that can be played.
    when : mapping, default {}
        Values that other controls must have for this one to matter; otherwise it is hidden.

    Examples
    --------
    >>> Slider("step up p", [0.0, 0.5, 1.0], start=0.5, page=[0.5, 1.0]).show(0.5)
    '0.5'
    """

    label: str
    values: Sequence[float]
    start: float
    page: Sequence[float] = ()
    play: bool = False
    when: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        values = [_plain(v) for v in check.real_array("values", self.values, (None,))]
        if len(values) < 2 or any(b <= a for a, b in itertools.pairwise(values)):
            check.refuse("values", values, "at least two numbers in increasing order")
        check.flag("play", self.play)
        object.__setattr__(self, "start", _plain(check.real("start", self.start)))
        _settle(self, values, [_plain(v) for v in check.real_array("page", self.page, (None,))])

    def takes(self, value: object) -> bool:
        """Return whether the control can stand at a value."""
        number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        return number and value in self.values

    def settled(self, value: float) -> float:
        """Return the control's own entry that equals a value, so that 2.0 becomes 2."""
        return self.values[self.values.index(value)]

    def show(self, value: float) -> str:
        """Return a value as the reader sees it."""
        return f"{value:g}"


@dataclass(frozen=True)
class Choice:
    """A control that picks one of several named options.

    Parameters
    ----------
    label : str
        What the reader sees.
    values : sequence of str
        The options, at least two.
    start : str
        The option at first; one of `values`.
    page : sequence of str, default ()
        The options that the published page carries. Empty: the control needs a live kernel.
    free : str, default ""
        What a reader with a live kernel may type instead of choosing, in words; empty: nothing.
        The drawing function then gets that text and raises ValueError if it cannot use it.
    when : mapping, default {}
        Values that other controls must have for this one to matter; otherwise it is hidden.

    Examples
    --------
    >>> Choice("start", ["zero", "random"], start="zero").show("zero")
    'zero'
    >>> Choice("text", ["abracadabra", "banana"], start="banana", free="a word").takes("cocoa")
    True
    """

    label: str
    values: Sequence[str]
    start: str
    page: Sequence[str] = ()
    free: str = ""
    when: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("values", "page"):
            options = getattr(self, name)
            if not isinstance(options, (tuple, list)) or not all(isinstance(v, str) for v in options):
                check.refuse(name, options, "a list of str")
        values = list(self.values)
        if len(values) < 2 or len(set(values)) < len(values):
            check.refuse("values", values, "at least two different options")
        if not isinstance(self.free, str):
            check.refuse("free", self.free, "a str")
        _settle(self, values, self.page)

    def takes(self, value: object) -> bool:
        """Return whether the control can stand at a value."""
        return isinstance(value, str) and (value in self.values or bool(self.free and value.strip()))

    def settled(self, value: str) -> str:
        """Return the value."""
        return value

    def show(self, value: str) -> str:
        """Return a value as the reader sees it."""
        return value


Control = Slider | Choice


class Explorer:
    """A picture that follows its controls.

    Parameters
    ----------
    draw : callable
        ``draw(figure, **values)`` draws the picture for these values into a matplotlib figure and
        returns its alternative text: what a reader who cannot see it should know. The figure keeps
        what an earlier call drew, and ``figure.artists_kept`` (a dict, empty at first) may hold
        artists to update in place, which is several times faster than drawing afresh.
    controls : mapping of str to Slider or Choice
        The controls by the names of the arguments of `draw`.
    name : str
        A short name, unique in its page; letters, digits and hyphens.
    title : str
        What the reader sees above the picture.
    presets : mapping of str to mapping, optional
        Named settings: values of some controls; the others go to their start.
    size : tuple of two floats, default (7.2, 4.2)
        Width and height of the figure, in inches.

    Raises
    ------
    ValueError
        If a control, a preset or the name is not usable; the message says why.

    Examples
    --------
    >>> def draw(figure, slope):
    ...     figure.clear()
    ...     figure.subplots().plot([0, 1], [0, slope])
    ...     return f"A line of slope {slope:g}."
    >>> explorer = Explorer(
    ...     draw, {"slope": Slider("slope", [0, 1, 2], start=1)}, name="line", title="A line"
    ... )
    >>> explorer.render(slope=2)[1]
    'A line of slope 2.'
    """

    def __init__(
        self,
        draw: Callable[..., str],
        controls: Mapping[str, Control],
        *,
        name: str,
        title: str,
        presets: Mapping[str, Mapping[str, Any]] | None = None,
        size: tuple[float, float] = (7.2, 4.2),
    ) -> None:
        if not callable(draw):
            raise TypeError(f"draw must be a function, got {draw!r}")
        usable = isinstance(controls, Mapping) and len(controls) > 0
        if not usable or not all(isinstance(c, (Slider, Choice)) for c in controls.values()):
            check.refuse("controls", controls, "a mapping from names to at least one Slider or Choice")
        if not isinstance(name, str) or not name.replace("-", "").isalnum():
            check.refuse("name", name, "letters, digits and hyphens")
        if not isinstance(title, str):
            check.refuse("title", title, "a str")
        presets = {} if presets is None else presets
        if not isinstance(presets, Mapping) or not all(isinstance(p, Mapping) for p in presets.values()):
            check.refuse("presets", presets, "a mapping from names to mappings")
        self.draw, self.name, self.title = draw, name, title
        self.controls = dict(controls)
        for key, control in self.controls.items():
            _check_when(key, control, self.controls)
        self.start = {key: control.start for key, control in self.controls.items()}
        self.presets = {label: self.values(**preset) for label, preset in presets.items()}
        size = check.real_array("size", size, (2,))
        self.size = (check.real("size", size[0], 1, 20), check.real("size", size[1], 1, 20))

    def __repr__(self) -> str:
        return f"Explorer({self.title}: {', '.join(c.label for c in self.controls.values())})"

    def values(self, **changed: Any) -> dict[str, Any]:
        """Return a value for every control: those given, and the start of the others."""
        for key, value in changed.items():
            if key not in self.controls:
                check.refuse("a control", key, "one of " + ", ".join(map(repr, self.controls)))
            control = self.controls[key]
            if not control.takes(value):
                check.refuse(key, value, f"one of {list(control.values)}")
        return {**self.start, **{key: self.controls[key].settled(value) for key, value in changed.items()}}

    def new_figure(self, dpi: float = 100) -> Any:
        """Return an empty figure of the explorer's size, ready for `draw`; `dpi` is pixels per inch."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        check.real("dpi", dpi, 50, 400)
        figure = Figure(figsize=self.size, dpi=dpi, layout="constrained", facecolor="white")
        FigureCanvasAgg(figure)
        figure.artists_kept = {}
        return figure

    def render(self, **changed: Any) -> tuple[Any, str]:
        """Draw once, in a new figure.

        Parameters
        ----------
        **changed
            Values of some controls; the others stand at their start.

        Returns
        -------
        figure : matplotlib.figure.Figure
        description : str
            The alternative text.
        """
        figure = self.new_figure()
        return figure, self._draw(figure, self.values(**changed))

    def _draw(self, figure: Any, values: Mapping[str, Any]) -> str:
        import matplotlib

        from .figures import style

        # Titles that stay where they are need not be placed anew at each drawing, which takes long.
        with style(), matplotlib.rc_context({"axes.titley": 1.0}):
            description = self.draw(figure, **values)
        if not isinstance(description, str) or not description:
            raise TypeError(
                f"draw must return the alternative text of the picture, a non-empty str, got {description!r}"
            )
        return description

    # A live kernel -----------------------------------------------------------------------------

    @cached_property
    def _live(self) -> Any:
        return _LiveExplorer(self)

    def widget(self, dpi: float = 100, schedule: Callable[[Callable], object] | None = None) -> Any:
        """Return the explorer as ipywidgets, new ones at each call.

        Parameters
        ----------
        dpi : float, default 100
            Pixels per inch of the picture; more for a large screen, which takes longer to draw.
        schedule : callable, optional
            Is handed the function that draws the first picture, to be called later. By default the
            picture is drawn at once.

        Returns
        -------
        ipywidgets.VBox
            Its parts bear the classes mt-live-title, -image, -message and -controls, for style sheets.
        """
        if schedule is not None and not callable(schedule):
            raise TypeError(f"schedule must be a function, got {schedule!r}")
        return _LiveExplorer(self, check.real("dpi", dpi, 50, 400), schedule).box

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        if storing_outputs():
            return {"text/html": self.page(), "text/plain": repr(self)}
        view = {"version_major": 2, "version_minor": 0, "model_id": self._live.box.model_id}
        return {"text/html": self._still(), "text/plain": repr(self), _WIDGET_VIEW: view}

    def _still(self) -> str:
        source = "data:image/png;base64," + base64.b64encode(self._live.image.value).decode()
        return f'<img src="{source}" alt="{html.escape(self._live.description, quote=True)}">'

    # The published page ------------------------------------------------------------------------

    def page(self) -> str:
        """Return the explorer as HTML that needs no kernel: frames, native controls, a script."""
        shown = {key: c for key, c in self.controls.items() if c.page}
        points = itertools.product(*(c.page for c in shown.values()))
        presets = {"Start": self.start, **self.presets}
        stored = {self._caption(values): values for values in presets.values()}
        for point in points:
            values = self.values(**dict(zip(shown, point)))
            stored.setdefault(self._caption(values), values)
        figure = self.new_figure()
        frames = {
            caption: self._frame(figure, values)
            for caption, values in progress(stored.items(), f"drawing {self.name}")
        }
        state = {
            "controls": [self._told(control) for control in self.controls.values()],
            "frames": frames,
            "presets": [
                {"frame": self._caption(values), "at": self._places(values)} for values in presets.values()
            ],
        }
        opening = self._caption(self.start)
        live_only = [
            f"{c.label} (also {c.free})" if getattr(c, "free", "") else c.label
            for c in self.controls.values()
            if set(c.page) != set(c.values) or getattr(c, "free", "")
        ]
        first = frames[opening]
        escape = html.escape
        rows = "".join(self._row(key, control) for key, control in shown.items())
        buttons = "".join(
            f'<button type="button" data-preset="{i}">{escape(label)}</button>'
            for i, label in enumerate(presets)
        )
        more = f'<p class="mt-more">A live kernel adds more values of: {escape(", ".join(live_only))}.</p>'
        title = escape(self.title)
        width, height = (f"{100 * inches:.0f}" for inches in self.size)
        return (
            f"<style>{_asset('explorer.css')}</style>"
            f'<figure class="mt-explorer" id="explorer-{self.name}" role="group" aria-label="{title}">'
            f'<figcaption class="mt-title">{title}</figcaption>'
            f'<div class="mt-view"><img class="mt-frame dark-light" width="{width}" height="{height}" '
            f'src="{first["image"]}" alt="{escape(first["alt"], quote=True)}"></div>'
            f'<form class="mt-controls" hidden>{rows}<div class="mt-presets">{buttons}</div></form>'
            f'<output class="mt-readout" aria-live="polite">{escape(opening)}</output>'
            f"{more if live_only else ''}"
            f'<script type="application/json" class="mt-state">{_json(state)}</script>'
            f"</figure><script>{_asset('explorer.js')}</script>"
        )

    def _frame(self, figure: Any, values: Mapping[str, Any]) -> dict[str, Any]:
        description = self._draw(figure, values)
        matters = [self._matters(key, values) for key in self.controls]
        at = [place if told else -1 for place, told in zip(self._places(values), matters)]
        return {"image": _webp(figure), "alt": description, "at": at}

    def _told(self, control: Control) -> dict[str, Any]:
        """Return what the script of the page knows of a control, others by their numbers."""
        keys = list(self.controls)
        when = [[keys.index(k), self.controls[k].values.index(v)] for k, v in control.when.items()]
        return {"label": control.label, "texts": [control.show(v) for v in control.values], "when": when}

    def _matters(self, key: str, values: Mapping[str, Any]) -> bool:
        return all(values[other] == value for other, value in self.controls[key].when.items())

    def _caption(self, values: Mapping[str, Any]) -> str:
        return ", ".join(
            f"{c.label} = {c.show(values[key])}"
            for key, c in self.controls.items()
            if self._matters(key, values)
        )

    def _places(self, values: Mapping[str, Any]) -> list[int]:
        return [control.values.index(values[key]) for key, control in self.controls.items()]

    def _row(self, key: str, control: Control) -> str:
        element, label = f"{self.name}-{key}", html.escape(control.label)
        at = list(control.page).index(control.start) if control.start in control.page else 0
        stops = json.dumps([control.values.index(value) for value in control.page])
        data = f'data-control="{list(self.controls).index(key)}" data-stops="{stops}"'
        if isinstance(control, Choice):
            options = "".join(
                f'<option value="{i}"{" selected" if i == at else ""}>{html.escape(v)}</option>'
                for i, v in enumerate(control.page)
            )
            row = f'<select id="{element}" {data}>{options}</select>'
        else:
            last, start = len(control.page) - 1, html.escape(control.show(control.start))
            ticks = "".join(f'<option value="{i}"></option>' for i in range(last + 1))
            row = (
                f'<input id="{element}" type="range" min="0" max="{last}" step="1" value="{at}" {data} '
                f'list="{element}-stops"><datalist id="{element}-stops">{ticks}</datalist>'
                f'<span class="mt-value" aria-hidden="true">{start}</span>'
            )
            if control.play:
                row += '<button type="button" class="mt-play" aria-pressed="false">Play</button>'
        return f'<div class="mt-row"><label for="{element}">{label}</label>{row}</div>'


class _LiveExplorer:
    """The ipywidgets of one explorer.

    A plain synchronous observer is enough: while a drawing runs, the frontend sends only the last
    of the values that a drag went through.
    """

    def __init__(self, explorer: Explorer, dpi: float = 100, schedule: Callable | None = None) -> None:
        import ipywidgets as widgets

        self.explorer, self.dpi, self.description = explorer, dpi, ""
        self.figure = explorer.new_figure(dpi)
        self.busy = False
        wide = {"description_width": "initial"}
        layout = widgets.Layout(width="98%", max_width="640px")
        self.fields: dict[str, Any] = {}
        self.rows: dict[str, Any] = {}
        for key, control in explorer.controls.items():
            options = [(control.show(v), v) for v in control.values]
            kind = widgets.Dropdown if isinstance(control, Choice) else widgets.SelectionSlider
            field = kind(
                options=options, value=control.start, description=control.label, style=wide, layout=layout
            )
            field.observe(self.update, "value")
            self.fields[key] = field
            if getattr(control, "play", False):
                self.rows[key] = self._with_play(field, control)
            elif getattr(control, "free", ""):
                self.rows[key] = self._with_text(field, options, control.free)
            else:
                self.rows[key] = field
        buttons = [self._button("Reset", explorer.start)]
        buttons += [self._button(label, values) for label, values in explorer.presets.items()]
        self.image = widgets.Image(format="png", layout=widgets.Layout(max_width="100%"))
        self.message = widgets.HTML()
        title = widgets.HTML(f"<b>{html.escape(explorer.title)}</b>")
        controls = widgets.VBox(
            [*self.rows.values(), widgets.HBox(buttons, layout=widgets.Layout(flex_flow="row wrap"))]
        )
        self.box = widgets.VBox([title, self.image, self.message, controls])
        self.box.add_class("mt-live")
        for part, name in zip(self.box.children, ("title", "image", "message", "controls")):
            part.add_class(f"mt-live-{name}")
        (schedule or _at_once)(self.update)

    def _button(self, label: str, values: Mapping[str, Any]) -> Any:
        import ipywidgets as widgets

        button = widgets.Button(description=label, layout=widgets.Layout(width="auto"))
        button.on_click(lambda _: self.set(values))
        return button

    def _with_play(self, field: Any, control: Slider) -> Any:
        import ipywidgets as widgets

        player = widgets.Play(
            min=0, max=len(control.values) - 1, value=list(control.values).index(control.start)
        )
        player.interval = 200
        player.observe(lambda change: setattr(field, "value", control.values[change["new"]]), "value")
        field.observe(
            lambda change: setattr(player, "value", list(control.values).index(change["new"])), "value"
        )
        return widgets.HBox([player, field])

    def _with_text(self, field: Any, options: list, free: str) -> Any:
        import ipywidgets as widgets

        text = widgets.Text(placeholder=f"or {free}", continuous_update=False)
        text.layout = widgets.Layout(width="98%", max_width="640px")

        def choose(change: Any) -> None:
            own = change["new"].strip()
            if not own:
                return
            self.busy = True  # new options move the field to the first of them
            try:
                field.options = options if (own, own) in options else [*options, (own, own)]
                field.value = own
            finally:
                self.busy = False
            self.update()

        text.observe(choose, "value")
        return widgets.VBox([field, text])

    def set(self, values: Mapping[str, Any]) -> None:
        """Move all controls at once and draw once."""
        self.busy = True
        try:
            for key, value in values.items():
                self.fields[key].value = value
        finally:
            self.busy = False
        self.update()

    def update(self, change: Any = None) -> None:
        """Draw the picture for the values that the controls show."""
        if self.busy:
            return
        values = {key: field.value for key, field in self.fields.items()}
        for key, row in self.rows.items():
            row.layout.display = "" if self.explorer._matters(key, values) else "none"
        try:
            self.description = self.explorer._draw(self.figure, values)
            self.image.value = _png(self.figure)
            self.message.value = f"<p>{html.escape(self.description)}</p>"
        except Exception as error:
            # What half a drawing left behind must not spoil the next one.
            self.figure = self.explorer.new_figure(self.dpi)
            told = html.escape(f"{type(error).__name__}: {error}")
            self.message.value = f"<p><b>These values cannot be drawn.</b> {told}</p>"


def _at_once(draw: Callable[[], None]) -> None:
    draw()


def _settle(control: Any, values: list, page: Sequence) -> None:
    if not isinstance(control.label, str) or not control.label:
        check.refuse("label", control.label, "a non-empty str")
    if control.start not in values:
        check.refuse("start", control.start, f"one of {values}")
    for value in page:
        if value not in values:
            check.refuse("page", value, f"chosen from {values}")
    if len({control.show(value) for value in values}) < len(values):
        check.refuse("values", values, "different from each other as the reader sees them, in six digits")
    if not isinstance(control.when, Mapping):
        check.refuse("when", control.when, "a mapping from names of controls to values")
    object.__setattr__(control, "values", tuple(values))
    object.__setattr__(control, "page", tuple(page))


def _check_when(key: str, control: Control, controls: Mapping[str, Control]) -> None:
    for other, value in control.when.items():
        if other == key or other not in controls or value not in controls[other].values:
            check.refuse(
                f"when of {key}", control.when, "a mapping from other controls to one of their values"
            )


def _plain(value: float) -> float:
    """Return a number as a plain int or float, without the noise of a computed grid."""
    value = float(np.round(float(value), 12))
    return int(value) if value.is_integer() else value


def _picture(figure: Any) -> Any:
    from PIL import Image

    from .figures import style

    with style():  # which also decides how many ticks fit
        figure.canvas.draw()
    width, height = figure.canvas.get_width_height()
    rgba = np.asarray(figure.canvas.buffer_rgba()).reshape(height, width, 4)
    return Image.fromarray(np.ascontiguousarray(rgba[:, :, :3]))


def _png(figure: Any) -> bytes:
    buffer = io.BytesIO()
    _picture(figure).save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


def _webp(figure: Any) -> str:
    # Few colours, kept without loss: half the size of the usual encoding, and sharp letters.
    buffer = io.BytesIO()
    _few_colours(_picture(figure), 64).save(buffer, "WEBP", lossless=True, method=6)
    return "data:image/webp;base64," + base64.b64encode(buffer.getvalue()).decode()


def _few_colours(picture: Any, n_colours: int) -> Any:
    """Return the picture in so many of its own colours, each pixel in the one nearest to it.

    Each colour in turn is the one that needs it most: far from those chosen before, and frequent.
    Pillow's own methods move the shades of a heat map, or lose a small mark beside it.
    """
    from PIL import Image

    pixels = np.asarray(picture).astype(int)  # (height, width, 3)
    packed, at, counts = np.unique(pixels @ [1 << 16, 1 << 8, 1], return_inverse=True, return_counts=True)
    colours = np.stack([packed >> 16, packed >> 8 & 255, packed & 255], axis=1)  # (n, 3)
    weight, distance = np.sqrt(counts), np.full(len(packed), 3 * 256**2)
    nearest = np.zeros(len(packed), dtype=int)
    for _ in range(n_colours):
        chosen = int(np.argmax(weight * distance))
        away = ((colours - colours[chosen]) ** 2).sum(axis=1)
        nearer = away < distance
        nearest[nearer], distance[nearer] = chosen, away[nearer]
    return Image.fromarray(colours[nearest][at].reshape(pixels.shape).astype(np.uint8))


def _json(value: object) -> str:
    # "</script" would end the element that carries the text, "<!--" would keep it from ending.
    return json.dumps(value, ensure_ascii=False, sort_keys=True).replace("<", "\\u003c")


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8").strip()
