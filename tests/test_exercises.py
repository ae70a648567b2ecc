"""The exercises: the list, the checks, the cells of the chapters, and the copies for students."""

import importlib.util
import re
import symtable
from fractions import Fraction
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

import markov_transformers as mt
from markov_transformers.exercises._exercise import UNREADABLE

ROOT = Path(__file__).parents[1]
EXERCISES = mt.exercises.catalogue()
NOTEBOOKS = {path.stem: nbformat.read(path, as_version=4) for path in sorted((ROOT / "book").glob("*.ipynb"))}


def module_at(path):
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


WRONG = {
    name: rows
    for path in sorted((ROOT / "tests" / "wrong_answers").glob("*.py"))
    for name, rows in module_at(path).WRONG.items()
}
student = module_at(ROOT / "tools" / "student.py")


def has_tag(cell, tag):
    return tag in cell.metadata.get("tags", [])


def text_of(cell):
    return "\n".join(output["data"]["text/plain"] for output in cell.outputs if "data" in output)


def answered(exercise, answer):
    return exercise.check(answer if isinstance(answer, dict) else {exercise.parts[0]: answer})


def cells_of(exercise):
    """The statement, the reader's cell, and the solution in words and in code."""
    cells = NOTEBOOKS[exercise.chapter].cells
    [start] = [i for i, cell in enumerate(cells) if f'id="ex-{exercise.name}">' in cell.source]
    return cells[start : start + 4]


def module_names(source):
    """The names that code sets at its top level, and those that it reads from there, functions included."""
    plain = "\n".join("pass" if line.lstrip().startswith("%") else line for line in source.split("\n"))
    top = symtable.symtable(plain, "cell", "exec")
    tables, written = [top], {s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_namespace()}
    read = {s.get_name() for s in top.get_symbols() if s.is_referenced()}
    while tables:
        children = tables.pop().get_children()
        tables += children
        read |= {s.get_name() for table in children for s in table.get_symbols() if s.is_global()}
    return written, read


@pytest.mark.parametrize("chapter", mt.exercises.CHAPTERS)
def test_a_chapter_has_at_least_four_exercises_from_a_warm_up_to_a_hard_one(chapter):
    levels = [exercise.level for exercise in EXERCISES if exercise.chapter == chapter]
    assert len(levels) >= 4
    assert 1 in levels
    assert 3 in levels


def test_the_list_of_the_book_names_every_exercise_below_the_sum_of_its_chapter():
    pytest.importorskip("sphinx", reason="needs the extra [book]")
    found, sums = [], {}
    for row in module_at(ROOT / "book" / "_ext" / "exercise_list.py").rows()[2:]:
        chapter = re.fullmatch(r"\| \*\*(\d+)\. \{ref\}`chapter-([\w-]+)`\*\* \| \| \*\*(\d+)\*\* \|", row)
        if chapter:
            sums[chapter[2]] = [int(chapter[1]), int(chapter[3])]
        else:
            name, marks, minutes = re.fullmatch(
                r"\| \{ref\}`.* <ex-([\w-]+)>` \| (\S+) \| (\d+) \|", row
            ).groups()
            found.append((name, marks, int(minutes)))
            sums[list(sums)[-1]][1] -= int(minutes)
    assert found == [(one.name, one.marks, one.minutes) for one in EXERCISES]
    assert sums == {name: [number, 0] for number, name in enumerate(mt.exercises.CHAPTERS, start=1)}


def test_names_are_used_once():
    assert len({exercise.name for exercise in EXERCISES}) == len(EXERCISES)


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.name)
class TestCells:
    def test_the_statement_carries_the_title_the_level_and_the_time_of_the_list(self, exercise):
        statement = cells_of(exercise)[0].source
        assert statement.startswith(f'<div class="exercise" id="ex-{exercise.name}">\n')
        assert f"\n**Exercise: {exercise.title} · {exercise.marks} · {exercise.minutes} min**\n" in statement

    def test_the_unsolved_cell_waits_for_every_part(self, exercise):
        cell = cells_of(exercise)[1]
        assert f'mt.check("{exercise.name}"' in cell.source or f'"{exercise.name}",' in cell.source
        assert not has_tag(cell, "solution")
        told = text_of(cell)
        assert "✓" not in told and "✗" not in told
        assert told.lower().count("waiting for your") == len(exercise.parts)

    def test_the_solution_is_folded_and_passes_its_own_check(self, exercise):
        words, cell = cells_of(exercise)[2:]
        assert words.source.startswith('<details class="solution">\n<summary>Solution</summary>\n\n')
        assert words.source.endswith("</details>")
        assert has_tag(words, "solution") and has_tag(cell, "solution") and has_tag(cell, "hide-cell")
        assert cell.metadata["jupyter"]["source_hidden"]
        told = text_of(cell)
        assert told.count("✓") == len(exercise.parts)
        assert "✗" not in told and "…" not in told

    def test_two_wrong_answers_get_the_message_that_fits(self, exercise):
        rows = WRONG[exercise.name]
        assert len(rows) >= 2
        for answer, message in rows:
            feedback = answered(exercise, answer)
            told = " ".join(text for _, text in feedback.parts.values())
            assert any(verdict is False for verdict, _ in feedback.parts.values()), (answer, feedback)
            assert message in told

    @pytest.mark.parametrize(
        "answer",
        [
            float("nan"),
            float("inf"),
            10**400,
            True,
            1j,
            "some text",
            b"bytes",
            [],
            {},
            [[1], [2, 3]],
            ["a", "b"],
            object(),
            np.zeros(0),
            np.zeros((2, 3, 4)),
            np.full((3, 3), np.nan),
            [(1, 2), (3, float("nan"))],
            print,
            lambda: None,
            lambda *arguments, **options: 1 / 0,
            lambda *arguments, **options: "text",
            lambda *arguments, **options: float("nan"),
            lambda *arguments, **options: [[1], [2, 3]],
        ],
        ids=lambda answer: type(answer).__name__,
    )
    def test_no_answer_breaks_a_check(self, exercise, answer):
        for part in exercise.parts:
            verdict, told = exercise.check({part: answer}).parts[part]
            assert verdict is not True
            assert UNREADABLE not in told


@pytest.mark.parametrize("chapter", NOTEBOOKS)
def test_every_check_in_a_chapter_is_an_exercise_of_the_list(chapter):
    found = re.findall(
        r"mt\.check\(\s*\"([a-z0-9-]+)\"",
        "\n".join(c.source for c in NOTEBOOKS[chapter].cells if c.cell_type == "code"),
    )
    listed = [exercise.name for exercise in EXERCISES if exercise.chapter == chapter]
    assert found == [name for name in listed for _ in range(2)]


@pytest.mark.parametrize("chapter", NOTEBOOKS)
def test_nothing_outside_the_solutions_needs_them(chapter):
    code = [cell for cell in NOTEBOOKS[chapter].cells if cell.cell_type == "code"]
    kept = "\n".join(cell.source for cell in code if not has_tag(cell, "solution"))
    solved = "\n".join(cell.source for cell in code if has_tag(cell, "solution"))
    (set_there, _), (kept_names, needed) = module_names(solved), module_names(kept)
    assert not (set_there - kept_names) & needed


def test_a_student_copy_has_no_solution_and_runs_through(tmp_path):
    student.write_copies(tmp_path, [ROOT / "book" / "markov-chains.ipynb"])
    copy = nbformat.read(tmp_path / "markov-chains.ipynb", as_version=4)
    assert not any(has_tag(cell, "solution") for cell in copy.cells)
    NotebookClient(copy, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    told = [text_of(cell) for cell in copy.cells if cell.source.startswith("days = ...")]
    assert told == ["… days: waiting for your answer.\n… balanced: waiting for your answer."]


def questions():
    return [
        cell.source for notebook in NOTEBOOKS.values() for cell in notebook.cells if has_tag(cell, "question")
    ]


def test_every_question_has_three_options_or_more_and_one_right():
    for source in questions():
        options = re.findall(
            r'<details name="q-([a-z0-9-]+)">\n<summary>(.+)</summary>\n\n'
            r"\*\*(Yes|No)\.\*\* (.+)\n\n</details>",
            source,
        )
        assert len(options) >= 3, source
        assert len(options) == source.count("<details") == source.count("</details>")
        assert [verdict for *_, verdict, _ in options].count("Yes") == 1, source
        assert {name for name, *_ in options} == set(
            re.findall(r'class="question" id="q-([a-z0-9-]+)"', source)
        )


def test_there_is_a_question_before_each_surprise():
    found = questions()
    assert len(found) >= 25
    ids = [re.search(r'id="(q-[a-z0-9-]+)"', source).group(1) for source in found]
    assert len(set(ids)) == len(ids)


def test_an_unknown_exercise_suggests_the_nearest():
    with pytest.raises(ValueError, match='did you mean "wet-spells"'):
        mt.check("wet-spell", 2)


def test_an_unknown_part_names_the_parts():
    with pytest.raises(ValueError, match="one of days, balanced"):
        mt.check("wet-spells", length=2)


def test_a_fraction_worked_out_by_hand_is_a_number():
    assert mt.check("wet-spells", days=Fraction(5, 2)).parts["days"][0] is True


def test_feedback_fits_the_page():
    for exercise in EXERCISES:
        for answer, _ in WRONG[exercise.name]:
            assert max(map(len, repr(answered(exercise, answer)).split("\n"))) <= 76


def test_tensors_make_a_set():
    torch = pytest.importorskip("torch")
    assert mt.check("lengths-that-fail", on_five_nodes=torch.arange(6, 31, 5)).parts["on_five_nodes"][0]
    assert mt.check("uneven-flips", by_last_token=torch.tensor([2, 3, 4])).parts["by_last_token"][0]


def _differences(n_nodes, length):
    """The gradient of the cross-entropy at zero, by central differences."""
    walks = (np.arange(n_nodes)[:, None] - np.arange(length - 1, 0, -1)) % n_nodes
    average = np.eye(n_nodes)[walks].sum(axis=1) / length  # (target, node)

    def loss(value):
        scores = average @ value.T
        return np.mean(np.log(np.exp(scores).sum(axis=1)) - scores.diagonal())

    found, h = np.zeros((n_nodes, n_nodes)), 1e-4
    for place in np.ndindex(found.shape):
        nudge = np.zeros_like(found)
        nudge[place] = h
        found[place] = (loss(nudge) - loss(-nudge)) / (2 * h)
    return found


def test_right_answers_in_other_forms_are_right():
    there_and_back = mt.check("there-and-back", lambda pi: (lam := np.linalg.eigvals(pi)) * lam.conj())
    assert there_and_back.right
    assert mt.check("forty-steps-ago", clockwork=5 + 0j).parts["clockwork"][0]
    assert mt.check("parity-at-a-distance", n_windows=np.exp(np.log(8))).parts["n_windows"][0]
    assert mt.check("uneven-flips", by_last_token=(lag for lag in (2, 3, 4))).parts["by_last_token"][0]
    assert mt.check("a-small-rate", power_of_rate=1.99504, power_of_A=2.004).right
    assert mt.check("who-comes-to-rest", resting=["a", "b", "c", "f"]).parts["resting"][0]
    rounded = [1, -0.5 + 0.87j, -0.5 - 0.87j]
    assert mt.check("period-three", on_the_circle=rounded).parts["on_the_circle"][0]
    pairs = [([0, 0, 0], [1, 1, 2]), ([0, 0, 0], [1, 1, 1])]
    assert mt.check("tables-of-matches", twins=pairs).parts["twins"][0]
    assert mt.check("nearly-uniform", lambda d, n, k: Fraction(d**n - 1, d**n - d ** (n - k))).right
    zero_dimensional = [np.array(n) for n in (6, 11, 16, 21, 26)]
    assert mt.check("lengths-that-fail", on_five_nodes=zero_dimensional).parts["on_five_nodes"][0]
    assert mt.check("a-loss-that-objects", gradient=_differences).parts["gradient"][0]
    near_the_best = 0.005 * np.roll(np.eye(4), 1, axis=1) + 0.995 * (1 - np.eye(4)) / 3
    assert mt.check("never-staying", kernel=near_the_best).parts["kernel"][0]
    dusty = (1 - np.eye(4)) / 3 + 1e-17 * np.eye(4)
    assert mt.check("never-staying", kernel=dusty).parts["kernel"][0]


def test_a_function_that_ends_the_program_does_not_end_the_reader():
    assert "SystemExit" in repr(mt.check("lag-classes", lambda n_nodes, length: exit()))


def test_an_endless_list_gets_an_answer():
    from itertools import count

    assert mt.check("lengths-that-fail", on_five_nodes=count()).parts["on_five_nodes"][0] is False
