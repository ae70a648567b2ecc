"""Question tasks, the bag-of-words test and the ReLU variant, against counting and the literal model."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from markov_transformers import CircleWalk, LogLoss, OneLayerModel, SquareLoss
from markov_transformers.claims.questions import (
    question_run,
    random_starts,
    rule_shi2025_task1,
    rule_shi2025_task2,
    task1,
    task2,
)
from markov_transformers.explorers.questions import two_questions
from markov_transformers.questions import TemplateTask, bag_of_words_test, majority_task, preference_task
from markov_transformers.relu import ReluModel, ReluParameters

VOCABULARY = {
    *("apple", "orange", "Based", "on", "the", "which", "type", "of", "fruit", "list", "appears"),
    *("most", "frequently", "sentence", "I", "prefer", "an", "to", "do"),
}
DOGS = [("The dog bites the man. Who?", "dog"), ("The man bites the dog. Who?", "man")]


# The tasks of the paper --------------------------------------------------------------------------


def test_both_tasks_share_the_nineteen_words_of_the_paper():
    for task in (majority_task(), preference_task()):
        assert set(task.vocabulary) == VOCABULARY
        assert task.vocab_size == 19


def test_task_1_asks_sixteen_words_about_each_of_the_32_lists_once():
    task = majority_task()
    tokens, probabilities = task.enumerate()
    assert tokens.shape == (32, 17)
    np.testing.assert_array_equal(probabilities, 1 / 32)
    lists = {tuple(task.decode(row[4:9]).split()) for row in tokens}
    assert lists == set(itertools.product(("apple", "orange"), repeat=5))
    for row in tokens:
        assert task.decode(row[:4]) == "Based on the list"
        assert task.decode(row[9:16]) == "which type of fruit appears most frequently"
        n_apples = task.decode(row[4:9]).split().count("apple")
        assert task.vocabulary[row[-1]] == ("apple" if n_apples >= 3 else "orange")


def test_task_2_has_two_questions_of_eighteen_words():
    task = preference_task()
    tokens, probabilities = task.enumerate()
    assert [task.decode(row) for row in tokens] == [
        "Based on the sentence I prefer an apple to an orange which type of fruit do I prefer apple",
        "Based on the sentence I prefer an orange to an apple which type of fruit do I prefer orange",
    ]
    np.testing.assert_array_equal(probabilities, 0.5)
    assert task.length == 19


@pytest.mark.parametrize("task", [majority_task(), preference_task(), TemplateTask(DOGS)], ids=repr)
def test_a_sample_holds_questions_of_the_task_as_often_as_their_probability(task):
    tokens, probabilities = task.enumerate()
    sample = task.sample(20_000, rng=0)
    rows, counts = np.unique(sample, axis=0, return_counts=True)
    assert {tuple(row) for row in rows} == {tuple(row) for row in tokens}
    np.testing.assert_allclose(counts / 20_000, 1 / len(tokens), atol=4 * np.sqrt(probabilities[0] / 20_000))
    np.testing.assert_array_equal(sample, task.sample(20_000, rng=np.random.default_rng(0)))


def test_the_optimal_predictor_puts_all_on_the_answer():
    task = majority_task()
    tokens, _ = task.enumerate()
    np.testing.assert_array_equal(task.predict(tokens[:, :-1]), np.eye(19)[tokens[:, -1]])


# Tasks of a reader -------------------------------------------------------------------------------


def test_punctuation_is_ignored_and_case_is_not():
    task = TemplateTask([("“Don't stop!” said Tom, the well-known cat: The cat?", "cat")])
    assert task.vocabulary == ("Don't", "stop", "said", "Tom", "the", "well-known", "cat", "The")
    assert task.decode(task.encode("the cat, The cat!")) == "the cat The cat"


def test_the_vocabulary_follows_the_first_appearance_of_each_word():
    assert TemplateTask(DOGS).vocabulary == ("The", "dog", "bites", "the", "man", "Who")


def test_a_text_with_two_answers_has_a_random_answer():
    task = TemplateTask(
        [("a b", "a"), ("a b", "b"), ("b b", "b")], probabilities=[0.3, 0.1, 0.6]
    )  # fmt: skip
    np.testing.assert_allclose(task.predict([[0, 1], [1, 1]]), [[0.75, 0.25], [0, 1]])
    assert task.bag_of_words().best_accuracy == pytest.approx(0.9)


def test_the_lists_that_a_task_returns_are_copies():
    task = preference_task()
    tokens, probabilities = task.enumerate()
    tokens[:], probabilities[:] = 0, 0
    assert preference_task().enumerate()[0].tolist() == task.enumerate()[0].tolist()
    assert task.enumerate()[1].tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("build", "told"),
    [
        (lambda: TemplateTask([]), r"questions must be a non-empty sequence .* got \[\]"),
        (lambda: TemplateTask("a b"), "questions must be a non-empty sequence"),
        (lambda: TemplateTask(3), "questions must be a non-empty sequence"),
        (lambda: TemplateTask(["ab", "cd"]), "questions must be a non-empty sequence"),
        (lambda: TemplateTask([("a b", "a", "b")]), "questions must be a non-empty sequence"),
        (lambda: TemplateTask([("a b", 1)]), "questions must be a non-empty sequence"),
        (
            lambda: TemplateTask([("a b", "a"), ("?!", "a")]),
            r"questions\[1\] must be a text with at least one",
        ),
        (lambda: TemplateTask([("", "a")]), r"questions\[0\] must be a text .* got ''"),
        (
            lambda: TemplateTask([("a b", "a"), ("a b c", "a")]),
            "same number of words, got 2 in 'a b' and 3 in",
        ),
        (lambda: TemplateTask([("a b", "c")]), r"the answer of questions\[0\] must be one word .* got 'c'"),
        (lambda: TemplateTask([("a b", "A")]), "must be one word of the vocabulary .*same case, got 'A'"),
        (lambda: TemplateTask([("a b", "a b")]), "must be one word of the vocabulary"),
        (lambda: TemplateTask([("a b", "")]), "must be one word of the vocabulary"),
        (lambda: TemplateTask([("a a", "a")]), "at least two different words"),
        (
            lambda: TemplateTask([("a b", "a")], vocabulary=["a", "c"]),
            r"every word of questions\[0\].* got 'b'",
        ),
        (
            lambda: TemplateTask([("a b", "a")], vocabulary=["a", "b", "a"]),
            "vocabulary must be a sequence of",
        ),
        (lambda: TemplateTask([("a b", "a")], vocabulary=["a b"]), "vocabulary must be a sequence of"),
        (lambda: TemplateTask([("a b", "a")], vocabulary="ab"), "vocabulary must be a sequence of"),
        (lambda: TemplateTask([("a b", "a")], probabilities=[0.5]), "sum of 0.5"),
        (lambda: TemplateTask(DOGS).encode("cat"), "every word of text must be .* got 'cat'"),
        (lambda: TemplateTask(DOGS).encode(" . "), "text must be a text with at least one word"),
        (lambda: TemplateTask(DOGS).decode([6]), "got a token 6"),
        (lambda: TemplateTask(DOGS).sample(0, rng=0), "n_sequences must be"),
        (lambda: TemplateTask(DOGS).sample(1, rng=None), "rng must be"),
        (lambda: TemplateTask(DOGS).predict([[0, 1]]), "questions of 6 words"),
        (lambda: TemplateTask(DOGS).predict([[0] * 6]), "questions of this task, got 'The The"),
        (lambda: bag_of_words_test([[0]]), "length at least 2"),
        (lambda: bag_of_words_test([[0, -1]]), "got a token -1"),
        (lambda: bag_of_words_test([[0, 1]], [0.5]), "sum of 0.5"),
        (lambda: ReluModel(3, 4, width=0), "width must be"),
        (lambda: ReluModel(3, 4, width=2).random(-1, rng=0), "scale must be"),
        (lambda: random_starts(preference_task(), scale=0.1, rng=0, n_starts=0), "n_starts must be"),
    ],
)
def test_bad_input_is_refused_with_what_came_and_what_was_expected(build, told):
    with pytest.raises(ValueError, match=told):
        build()


# The bag of words --------------------------------------------------------------------------------


def best_of_all_functions(tokens, probabilities, ordered):
    """Try every function from bags (or sequences) to answers and return its best accuracy."""
    key = (lambda row: tuple(row)) if ordered else (lambda row: tuple(sorted(row)))
    keys = sorted({key(row[:-1]) for row in tokens.tolist()})
    answers = sorted(set(tokens[:, -1].tolist()))
    best = 0.0
    for choice in itertools.product(answers, repeat=len(keys)):
        says = dict(zip(keys, choice))
        right = [says[key(row[:-1])] == row[-1] for row in tokens.tolist()]
        best = max(best, float(probabilities @ np.array(right)))
    return best


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 3))
def test_the_bound_is_the_best_of_all_functions_of_the_bag(seed, n_rows, n_words):
    rng = np.random.default_rng(seed)
    tokens = rng.integers(3, size=(n_rows, n_words + 1))
    probabilities = rng.dirichlet(np.ones(n_rows))
    test = bag_of_words_test(tokens, probabilities)
    assert test.accuracy == pytest.approx(best_of_all_functions(tokens, probabilities, ordered=False))
    assert test.best_accuracy == pytest.approx(best_of_all_functions(tokens, probabilities, ordered=True))
    assert bool(test.collisions) == (not test.sufficient)


def test_collisions_name_the_rows_that_share_a_bag_and_need_different_answers():
    tokens = np.array([[0, 1, 2, 0], [2, 1, 0, 1], [0, 0, 1, 0], [1, 0, 0, 0], [1, 2, 0, 0]])
    assert bag_of_words_test(tokens).collisions == ((0, 1, 4),)


def test_the_verdicts_on_the_tasks_of_the_paper():
    one, two = majority_task().bag_of_words(), preference_task().bag_of_words()
    assert (one.accuracy, one.sufficient, one.linear, one.collisions) == (1.0, True, True, ())
    assert (two.accuracy, two.best_accuracy, two.sufficient, two.collisions) == (0.5, 1.0, False, ((0, 1),))


def test_full_rounds_of_a_deterministic_walk_leave_nothing_but_a_guess():
    assert bag_of_words_test(*CircleWalk(5, 1.0).enumerate(16)).accuracy == pytest.approx(1 / 5)
    assert bag_of_words_test(*CircleWalk(5, 1.0).enumerate(15)).accuracy == pytest.approx(1.0)


def test_an_odd_number_is_a_function_of_the_bag_but_not_a_linear_one():
    rows = [[*bits, 2 + sum(bits) % 2] for bits in itertools.product((0, 1), repeat=3)]
    test = bag_of_words_test(rows)
    assert test.sufficient
    assert not test.linear
    assert bag_of_words_test(
        [[*bits, 2 + (sum(bits) > 1)] for bits in itertools.product((0, 1), repeat=3)]
    ).linear


# What training from zero keeps -------------------------------------------------------------------


@pytest.mark.parametrize("loss", [LogLoss(), SquareLoss()], ids=["log", "square"])
@pytest.mark.parametrize("weights", [[0.5, 0.5], [0.3, 0.7]])
def test_task_2_stays_exactly_symmetric_from_zero(loss, weights):
    tokens, _ = preference_task().enumerate()
    model = OneLayerModel(19, 19, unit_length=True)
    run = model.train(tokens, weights=weights, learning_rate=0.1, steps=200, loss=loss, record_every=50)
    first, second = np.flatnonzero(tokens[0, :-1] != tokens[1, :-1])
    assert run.value[-1].max() > 0.1
    np.testing.assert_allclose(run.value[:, :, 0], run.value[:, :, 1], rtol=0, atol=1e-13)
    np.testing.assert_allclose(run.content[:, 0], run.content[:, 1], rtol=0, atol=1e-13)
    np.testing.assert_allclose(run.position[:, first], run.position[:, second], rtol=0, atol=1e-13)
    assert run.accuracy[-1] == pytest.approx(max(weights))


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6))
def test_training_from_zero_keeps_the_symmetry_of_any_task(seed):
    # A law made symmetric by adding to each sequence its images under the relabelling.
    rng = np.random.default_rng(seed)
    K, n = 4, 5
    places, words, answers = rng.permutation(n), rng.permutation(K), rng.permutation(K)
    rows, image = [], rng.integers(K, size=(2, n + 1))
    for _ in range(60):  # the order of any three permutations of 5, 4 and 4 things divides 60
        rows.append(image)
        image = np.column_stack([words[image[:, :-1][:, places]], answers[image[:, -1]]])
    np.testing.assert_array_equal(image, rows[0])
    run = OneLayerModel(K, n + 1, unit_length=True).train(
        np.concatenate(rows), learning_rate=0.3, steps=20, record_every=20
    )
    V, u, q = run.value[-1], run.content[-1], run.position[-1]
    np.testing.assert_allclose(V[np.ix_(answers, words)], V, rtol=0, atol=1e-10)
    np.testing.assert_allclose(u[words], u, rtol=0, atol=1e-10)
    np.testing.assert_allclose(q[:-1][places], q[:-1], rtol=0, atol=1e-10)


def test_equal_bags_can_be_told_apart_from_zero_if_no_symmetry_forbids_it():
    task = TemplateTask([("b c a a", "b"), ("a b c a", "a")])
    tokens, _ = task.enumerate()
    run = OneLayerModel(3, 5, unit_length=True).train(tokens, learning_rate=0.1, steps=100)
    assert task.bag_of_words().accuracy == 0.5
    assert run.accuracy[-1] == pytest.approx(1.0)


# The ReLU variant --------------------------------------------------------------------------------


@pytest.mark.parametrize("unit_length", [False, True], ids=["raw", "unit length"])
def test_the_relu_engine_follows_the_literal_model(unit_length):
    torch = pytest.importorskip("torch")
    from markov_transformers.models.relu import ReluTransformer

    tokens, _ = majority_task().enumerate()
    literal = ReluTransformer(19, 17, 7, 30, unit_length=unit_length)
    literal.reset(0.3, torch.Generator().manual_seed(0))
    A, V, W = (m.detach().numpy().copy() for m in (literal.output, literal.value, literal.query_key))
    reduced = OneLayerModel(19, 17, 30, unit_length=unit_length).from_matrices(np.zeros((19, 19)), W)
    model = ReluModel(19, 17, 7, 30, unit_length=unit_length)
    start = ReluParameters(A, V, reduced.content, reduced.position)
    run = model.train(tokens, start=start, learning_rate=0.1, steps=30, loss=LogLoss(1.0))
    losses = [literal.gradient_step(torch.tensor(tokens), 0.1, 1.0) for _ in range(30)]
    np.testing.assert_allclose(run.loss[:-1], losses, rtol=0, atol=1e-13)
    np.testing.assert_allclose(run.parameters.output, literal.output.detach().numpy(), rtol=0, atol=1e-13)
    np.testing.assert_allclose(run.parameters.value, literal.value.detach().numpy(), rtol=0, atol=1e-13)
    attention = literal.attention(literal.embed(torch.tensor(tokens[:, :-1]))).detach().numpy().mean(axis=0)
    np.testing.assert_allclose(run.attention[-1], attention, rtol=0, atol=1e-13)
    right = literal(torch.tensor(tokens[:, :-1])).argmax(dim=1).numpy() == tokens[:, -1]
    assert run.accuracy[-1] == pytest.approx(right.mean())


def test_the_relu_gradients_agree_with_finite_differences():
    rng = np.random.default_rng(0)
    model = ReluModel(3, 5, 4, 8)
    tokens = rng.integers(3, size=(7, 5))
    weights = rng.random(7)
    at = model.random(0.5, rng=1)
    _, gradients = model.loss_and_gradients(at, tokens, LogLoss(3.0), weights)
    for name, array in vars(at).items():
        for index in np.ndindex(array.shape):
            sides = []
            for h in (1e-6, -1e-6):
                moved = {k: v.copy() for k, v in vars(at).items()}
                moved[name][index] += h
                sides.append(
                    model.loss_and_gradients(ReluParameters(**moved), tokens, LogLoss(3.0), weights)[0]
                )
            slope = (sides[0] - sides[1]) / 2e-6
            assert getattr(gradients, name)[index] == pytest.approx(slope, abs=1e-8), (name, index)


def test_the_relu_model_has_no_gradient_at_zero():
    model = ReluModel(3, 4, 2)
    _, gradients = model.loss_and_gradients(model.random(0.0, rng=0), [[0, 1, 2, 0]])
    assert all(not gradient.any() for gradient in vars(gradients).values())


def test_a_relu_run_that_diverges_says_so_and_keeps_what_it_has():
    model = ReluModel(3, 4, 2)
    start = ReluParameters(-np.ones((3, 2)), np.ones((2, 3)), np.zeros(3), np.zeros(4))
    with pytest.warns(RuntimeWarning, match="stopped at iteration 0 of 5"):
        run = model.train([[0, 1, 2, 0]], start=start, learning_rate=1.0, steps=5)
    assert run.diverged
    assert len(run.loss) == 1


# The claims --------------------------------------------------------------------------------------


def test_counted_samples_train_as_the_samples_themselves():
    task, rng = preference_task(), np.random.default_rng(3)
    run = question_run(task, rng=3, n_samples=50, steps=20)
    train, test = task.sample(50, rng=rng), task.sample(50, rng=rng)
    model = OneLayerModel(19, 19, unit_length=True)
    plain = model.train(train, test=test, start=model.random(0.01, rng=rng), learning_rate=0.1, steps=20)
    np.testing.assert_allclose(run.value, plain.value, rtol=0, atol=1e-12)
    np.testing.assert_allclose(run.accuracy, plain.accuracy, rtol=0, atol=1e-12)


def test_task_1_is_learned_with_unit_length_alone():
    found = task1(rng=0, n_runs=3, steps=60)
    assert found["bag"] == 1.0
    assert found["solved_unit_length"] == 1.0
    assert found["first_unit_length"] <= 3
    assert found["solved_raw"] == 0.0
    assert rule_shi2025_task1(found) == "reproduced with a change"


def test_task_2_stays_near_one_half():
    found = task2(rng=0)
    assert found["bag"] == 0.5
    assert found["near_half_unit_length"] == 1.0
    assert rule_shi2025_task2(found) == "reproduced"


def test_the_rules_follow_the_measurement():
    one = {"solved_raw": 1.0, "solved_unit_length": 1.0}
    assert rule_shi2025_task1(one) == "reproduced"
    assert rule_shi2025_task1({**one, "solved_raw": 0.2}) == "reproduced with a change"
    assert rule_shi2025_task1({"solved_raw": 0.2, "solved_unit_length": 0.5}) == "not reproduced"
    near = {"near_half_raw": 1.0, "near_half_unit_length": 0.9, "solved_raw": 0.0, "solved_unit_length": 0.0}
    assert rule_shi2025_task2(near) == "reproduced"
    assert rule_shi2025_task2({**near, "near_half_raw": 0.3}) == "reproduced with a change"
    lost = {"near_half_raw": 0.1, "near_half_unit_length": 0.1}
    assert rule_shi2025_task2({**near, **lost}) == "not reproduced"
    solved = {"solved_raw": 0.9, "solved_unit_length": 0.8}
    assert rule_shi2025_task2({**near, **lost, **solved}) == "contradicted"


def test_with_no_other_word_in_the_question_the_attention_settles_on_a_fruit():
    bare = TemplateTask([("apple orange", "apple"), ("orange apple", "orange")])
    found = random_starts(bare, scale=0.01, rng=0, steps=300, n_starts=4)
    assert (found["solved"], found["telling"], found["diverged"]) == (1.0, 1.0, 0.0)
    assert found["winners"].sum() == 4


def test_starts_whose_loss_is_infinite_are_counted_and_have_no_winner():
    found = random_starts(preference_task(), scale=5.0, rng=0, steps=5, n_starts=6)
    assert found["diverged"] > 0
    assert found["winners"].sum() == round(6 * (1 - found["diverged"]))


# The explorer ------------------------------------------------------------------------------------


def test_the_explorer_draws_every_corner_and_tells_what_it_shows():
    explorer = two_questions()
    figure = explorer.new_figure()
    for corner in itertools.product(*((c.values[0], c.values[-1]) for c in explorer.controls.values())):
        values = dict(zip(explorer.controls, corner))
        told = explorer._draw(figure, values)
        assert values["questions"] in told
    for questions in explorer.controls["questions"].values:
        told = explorer._draw(figure, {**explorer.start, "questions": questions, "iteration": 20})
        assert "after 20 iterations" in told
        assert len(figure.axes) == 2
