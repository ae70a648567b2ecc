"""Every explorer of the book draws at every corner of its controls, at its presets and in between."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

from markov_transformers import explorers

each_explorer = pytest.mark.parametrize("name", explorers.__all__)
RANDOM_POINTS = 50


def draws_at(explorer, figure, values):
    """Draw in place, as a live kernel does, and return the alternative text."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        description = explorer._draw(figure, values)
        figure.canvas.draw()
    return description


def shown(explorer, values):
    return [control.show(values[key]) for key, control in explorer.controls.items()]


@each_explorer
def test_an_explorer_draws_at_corners_presets_and_random_points_without_a_warning(name):
    explorer = getattr(explorers, name)()
    rng = np.random.default_rng(0)
    ends = [(control.values[0], control.values[-1]) for control in explorer.controls.values()]
    corners = [dict(zip(explorer.controls, corner)) for corner in itertools.product(*ends)]
    points = [*corners, *explorer.presets.values()]
    for _ in range(RANDOM_POINTS):
        points.append({k: c.values[rng.integers(len(c.values))] for k, c in explorer.controls.items()})
    figure = explorer.new_figure()
    for values in points:
        assert len(draws_at(explorer, figure, values)) > 20


@each_explorer
def test_a_picture_updated_in_place_equals_one_drawn_afresh(name):
    explorer = getattr(explorers, name)()
    first = {k: c.values[-1] for k, c in explorer.controls.items()}
    used, fresh = explorer.new_figure(), explorer.new_figure()
    draws_at(explorer, used, first)
    assert draws_at(explorer, used, explorer.start) == draws_at(explorer, fresh, explorer.start)
    old, new = (np.asarray(figure.canvas.buffer_rgba(), dtype=float) for figure in (used, fresh))
    # Panels may move by a pixel where tick labels of the first drawing were wider.
    assert np.abs(old - new).mean() < 6


@each_explorer
def test_the_alternative_text_follows_each_control(name):
    explorer = getattr(explorers, name)()
    figure = explorer.new_figure()
    for key, control in explorer.controls.items():
        # From the start or from some preset: a control may have nothing to say to the others.
        bases = [explorer.start, *explorer.presets.values()]
        assert any(
            len({draws_at(explorer, figure, {**base, key: value}) for value in control.values[:6]}) > 1
            for base in bases
        ), key


@each_explorer
def test_each_explorer_has_a_name_of_its_own_and_something_to_show_on_the_page(name):
    explorer = getattr(explorers, name)()
    names = [getattr(explorers, other)().name for other in explorers.__all__]
    assert names.count(explorer.name) == 1
    assert any(len(control.page) > 1 for control in explorer.controls.values())


@each_explorer
def test_after_a_preset_no_control_without_a_field_on_the_page_changes_unseen(name):
    """Each preset leaves the controls that the page does not show where they are at the start."""
    explorer = getattr(explorers, name)()
    hidden = {key for key, control in explorer.controls.items() if not control.page}
    for label, values in explorer.presets.items():
        assert not [key for key in hidden if values[key] != explorer.start[key]], label
