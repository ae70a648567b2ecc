r"""Question tasks: a sentence goes in, one word comes out.

A question is a sequence of words :math:`x_1, \dots, x_{N-1}` and its answer is a word as well, so
the transformer that learns walks can be trained on it as it is. The question tasks of Shi and Cao
(2025), section 6, have as many input words in every question, and so has every `TemplateTask`.

At zero initialization all attention weights are equal, and the model sees the average of its
inputs: how often each word occurs, and nothing about order. `bag_of_words_test` says, exactly, how
far that much can lead.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from . import _validation as check

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_EQUAL = 1e-12  # accuracies this close differ by rounding alone

_FRUIT = (
    "apple orange Based on the which type of fruit list appears most frequently sentence I prefer an to do"
)


@dataclass(frozen=True)
class BagOfWordsTest:
    """What the words of an input tell without their order.

    Attributes
    ----------
    accuracy : float
        Largest probability of a right answer for a function of the bag of words.
    best_accuracy : float
        Largest probability of a right answer for a function of the whole sequence.
    collisions : tuple of tuple of int
        Groups of rows that share a bag of words although they need different answers.
    linear : bool
        Whether the best answer to every bag has the highest score under one matrix of scores per
        answer and word: the form that the one-layer model has while attention ignores places.

    Examples
    --------
    >>> told = preference_task().bag_of_words()
    >>> told.accuracy, told.best_accuracy, told.sufficient
    (0.5, 1.0, False)
    """

    accuracy: float
    best_accuracy: float
    collisions: tuple[tuple[int, ...], ...]
    linear: bool

    @property
    def sufficient(self) -> bool:
        """Whether order can be ignored: the bag of words allows the best possible accuracy."""
        return self.best_accuracy - self.accuracy < _EQUAL


def bag_of_words_test(tokens: np.ndarray, probabilities: np.ndarray | None = None) -> BagOfWordsTest:
    r"""Return the accuracy that can be reached without the order of words, exactly.

    Inputs with equal word counts get one answer from any function of the bag. The best choice is
    their likeliest answer, so the accuracy is :math:`\sum_b \max_y P(b, y)` over bags b.

    Parameters
    ----------
    tokens : array of int, shape (n_sequences, length)
        Every possible sequence; the last column is the answer. `CircleWalk.enumerate` gives such
        a list too.
    probabilities : array, shape (n_sequences,), optional
        They sum to one; equal by default.

    Returns
    -------
    BagOfWordsTest

    Raises
    ------
    ValueError
        If a shape does not fit, a token is negative or the probabilities do not sum to one.

    Notes
    -----
    The counting sorts each row, and costs as much. `linear` asks a linear program with one
    unknown per answer and word and one row per bag and wrong answer.

    References
    ----------
    Shi and Cao (2025), sections 4 and 6: why equal averages stall training.

    Examples
    --------
    >>> bag_of_words_test([[0, 1, 0], [1, 0, 1]])
    BagOfWordsTest(accuracy=0.5, best_accuracy=1.0, collisions=((0, 1),), linear=True)

    A deterministic walk visits every node equally often if N - 1 is a multiple of K:

    >>> from markov_transformers import CircleWalk
    >>> [round(bag_of_words_test(*CircleWalk(6, 1.0).enumerate(n)).accuracy, 3) for n in (13, 14)]
    [0.167, 1.0]
    """
    tokens = check.token_array("tokens", tokens, min_length=2)
    if probabilities is None:
        probabilities = np.full(len(tokens), 1 / len(tokens))
    probabilities = check.probability_array("probabilities", probabilities, (len(tokens),))
    # Only which words are equal matters, not their numbers.
    words, inputs = np.unique(tokens[:, :-1], return_inverse=True)
    inputs = inputs.reshape(len(tokens), -1)
    answers, answer = np.unique(tokens[:, -1], return_inverse=True)
    sequence = _groups(inputs)
    bag = _groups(np.sort(inputs, axis=1))
    by_sequence = _joint(sequence, answer, probabilities, len(answers))
    by_bag = _joint(bag, answer, probabilities, len(answers))
    best = np.bincount(bag[_first(sequence)], by_sequence.max(axis=1), minlength=len(by_bag))
    lost = np.flatnonzero(best - by_bag.max(axis=1) > _EQUAL)
    collisions = tuple(tuple(np.flatnonzero(bag == b).tolist()) for b in lost)
    used = by_bag.sum(axis=1) > 0
    n_rows = np.count_nonzero(used) * (len(answers) - 1)
    check.room("tokens", tokens.shape, 3 * n_rows * len(answers) * len(words))
    counts = np.array([np.bincount(row, minlength=len(words)) for row in inputs[_first(bag)]])
    return BagOfWordsTest(
        min(float(by_bag.max(axis=1).sum()), 1.0),
        min(float(by_sequence.max(axis=1).sum()), 1.0),
        collisions,
        _linear(counts[used], by_bag[used].argmax(axis=1), len(answers)),
    )


class TemplateTask:
    """Questions of one length, each a sequence of words with one word as its answer.

    Punctuation is ignored; upper and lower case differ. A text that is given twice with different
    answers has a random answer.

    Parameters
    ----------
    questions : sequence of (text, answer)
        At least one; all texts have the same number of words.
    vocabulary : sequence of str, optional
        The words in the order of their tokens. By default those of the questions, in the order of
        first appearance; an answer must then occur in a question.
    probabilities : sequence of float, optional
        Probability of each question; equal by default.

    Attributes
    ----------
    questions : tuple of (str, str)
        The questions as given.
    vocabulary : tuple of str
        The word of each token.
    vocab_size : int
        Number of words K.
    length : int
        Words of a question and the answer, N.

    Raises
    ------
    ValueError
        If there is no question, a text has no words or another number of them than the first, an
        answer is not one word of the vocabulary, or the vocabulary lacks a word or repeats one.

    References
    ----------
    Shi and Cao (2025), section 6.

    Examples
    --------
    >>> task = TemplateTask([("The dog bites the man: who?", "dog"), ("The man bites the dog: who?", "man")])
    >>> task.vocabulary
    ('The', 'dog', 'bites', 'the', 'man', 'who')
    >>> task.bag_of_words().accuracy
    0.5
    """

    def __init__(
        self,
        questions: Sequence[tuple[str, str]],
        *,
        vocabulary: Sequence[str] | None = None,
        probabilities: Sequence[float] | None = None,
    ) -> None:
        self.questions = _pairs(questions)
        texts = [_words(f"questions[{i}]", text) for i, (text, _) in enumerate(self.questions)]
        for i, words in enumerate(texts):
            if len(words) != len(texts[0]):
                raise ValueError(
                    f"questions must all have the same number of words, got {len(texts[0])} in "
                    f"{self.questions[0][0]!r} and {len(words)} in {self.questions[i][0]!r}"
                )
        if vocabulary is None:
            self.vocabulary = tuple(dict.fromkeys(word for words in texts for word in words))
        else:
            self.vocabulary = _vocabulary(vocabulary)
        if len(self.vocabulary) < 2:
            check.refuse("questions", questions, "made of at least two different words")
        self._token = {word: token for token, word in enumerate(self.vocabulary)}
        self.vocab_size = len(self.vocabulary)
        self.length = len(texts[0]) + 1
        answers = [self._answer(i, answer) for i, (_, answer) in enumerate(self.questions)]
        inputs = [self._encoded(f"questions[{i}]", words) for i, words in enumerate(texts)]
        self._tokens = np.column_stack([np.array(inputs, dtype=np.intp), answers])  # (n, N)
        if probabilities is None:
            probabilities = np.full(len(texts), 1 / len(texts))
        self._probabilities = check.probability_array("probabilities", probabilities, (len(texts),))

    def __repr__(self) -> str:
        return (
            f"TemplateTask({len(self.questions)} questions of {self.length - 1} words, "
            f"vocabulary of {self.vocab_size})"
        )

    def encode(self, text: str) -> np.ndarray:
        """Return the tokens of a text.

        Parameters
        ----------
        text : str
            Any number of words of the vocabulary; punctuation is ignored.

        Returns
        -------
        numpy.ndarray of int, shape (n_words,)

        Raises
        ------
        ValueError
            If the text has no words, or one outside the vocabulary.

        Examples
        --------
        >>> preference_task().encode("an apple, an orange")
        array([16,  0, 16,  1])
        """
        return np.array(self._encoded("text", _words("text", text)), dtype=np.intp)

    def decode(self, tokens: np.ndarray) -> str:
        """Return the words of a sequence of tokens.

        Parameters
        ----------
        tokens : array of int, shape (length,)

        Returns
        -------
        str

        Raises
        ------
        ValueError
            If `tokens` has another number of axes, or a token outside 0 ... K - 1.

        Examples
        --------
        >>> preference_task().decode([14, 15, 0])
        'I prefer apple'
        """
        tokens = check.token_array("tokens", tokens, self.vocab_size, ndim=1)
        return " ".join(self.vocabulary[token] for token in tokens)

    def enumerate(self) -> tuple[np.ndarray, np.ndarray]:
        """List every question, with its answer and its probability.

        An average over this list is an exact expectation: the population loss.

        Returns
        -------
        tokens : numpy.ndarray of int, shape (n_questions, length)
            The answer is the last column.
        probabilities : numpy.ndarray, shape (n_questions,)
            They sum to one.

        Examples
        --------
        >>> tokens, probabilities = preference_task().enumerate()
        >>> tokens[:, -1], probabilities
        (array([0, 1]), array([0.5, 0.5]))
        """
        return self._tokens.copy(), self._probabilities.copy()

    def sample(self, n_sequences: int, *, rng: np.random.Generator | int) -> np.ndarray:
        """Draw questions with their answers.

        Parameters
        ----------
        n_sequences : int
            Number of independent draws, at least 1.
        rng : numpy.random.Generator or int
            Source of randomness, or a seed.

        Returns
        -------
        numpy.ndarray of int, shape (n_sequences, length)
            The answer is the last column.

        Raises
        ------
        ValueError
            If an argument is out of range.

        Examples
        --------
        >>> preference_task().sample(5, rng=0)[:, -1]
        array([1, 0, 0, 0, 1])
        """
        n_sequences = check.integer("n_sequences", n_sequences, minimum=1)
        check.room("n_sequences", n_sequences, n_sequences * (self.length + 2))
        rng = check.generator(rng)
        return self._tokens[rng.choice(len(self._tokens), size=n_sequences, p=self._probabilities)]

    def predict(self, tokens: np.ndarray) -> np.ndarray:
        """Return the optimal predictor, the law of the answer to each question.

        Parameters
        ----------
        tokens : array of int, shape (n_sequences, length - 1)
            Questions of this task, without answers.

        Returns
        -------
        numpy.ndarray, shape (n_sequences, vocab_size)
            Probabilities of each word as the answer.

        Raises
        ------
        ValueError
            If a row is not a question of this task.

        Examples
        --------
        >>> task = preference_task()
        >>> task.predict(task.sample(3, rng=0)[:, :-1])[:, :2]
        array([[0., 1.],
               [1., 0.],
               [1., 0.]])
        """
        tokens = check.token_array("tokens", tokens, self.vocab_size)
        if tokens.shape[1] != self.length - 1:
            raise ValueError(f"tokens must be questions of {self.length - 1} words, got shape {tokens.shape}")
        law: dict[tuple, np.ndarray] = {}
        for row, probability in zip(self._tokens.tolist(), self._probabilities):
            law.setdefault(tuple(row[:-1]), np.zeros(self.vocab_size))[row[-1]] += probability
        rows = [tuple(row) for row in tokens.tolist()]
        for row in rows:
            if row not in law or law[row].sum() == 0:
                check.refuse("tokens", self.decode(row), "questions of this task")
        mass = np.array([law[row] for row in rows])
        return mass / mass.sum(axis=1, keepdims=True)

    def bag_of_words(self) -> BagOfWordsTest:
        """Return what accuracy the words allow without their order; see `bag_of_words_test`.

        Examples
        --------
        >>> majority_task().bag_of_words().sufficient, preference_task().bag_of_words().sufficient
        (True, False)
        """
        return bag_of_words_test(self._tokens, self._probabilities)

    def _answer(self, i: int, answer: str) -> int:
        words = _WORD.findall(answer)
        if len(words) != 1 or words[0] not in self._token:
            known = ", ".join(map(repr, self.vocabulary[:8])) + (", ..." if self.vocab_size > 8 else "")
            check.refuse(
                f"the answer of questions[{i}]", answer, f"one word of the vocabulary ({known}), same case"
            )
        return self._token[words[0]]

    def _encoded(self, name: str, words: list[str]) -> list[int]:
        for word in words:
            if word not in self._token:
                check.refuse(f"every word of {name}", word, "a word of the vocabulary")
        return [self._token[word] for word in words]


def majority_task() -> TemplateTask:
    """Return Task 1 of Shi and Cao: which fruit appears most often in a list of five?

    All 32 lists of apples and oranges are equally likely. A question has 16 words, from the
    vocabulary of 19 that both tasks share.

    Returns
    -------
    TemplateTask

    References
    ----------
    Shi and Cao (2025), section 6, Task 1.

    Examples
    --------
    >>> task = majority_task()
    >>> task
    TemplateTask(32 questions of 16 words, vocabulary of 19)
    >>> text, answer = task.questions[9]
    >>> text[18:58], answer
    ('apple, orange, apple, apple, orange, whi', 'apple')
    """
    return TemplateTask(
        [
            (
                f"Based on the list {', '.join(fruit)}, which type of fruit appears most frequently?",
                max("apple", "orange", key=fruit.count),
            )
            for fruit in product(("apple", "orange"), repeat=5)
        ],
        vocabulary=_FRUIT.split(),
    )


def preference_task() -> TemplateTask:
    """Return Task 2 of Shi and Cao: which fruit do I prefer?

    Two questions, equally likely, that differ in the order of two words. A question has 18 words,
    from the vocabulary of 19 that both tasks share.

    Returns
    -------
    TemplateTask

    References
    ----------
    Shi and Cao (2025), section 6, Task 2.

    Examples
    --------
    >>> for text, answer in preference_task().questions:
    ...     print(text, answer)
    Based on the sentence I prefer an apple to an orange, which type of fruit do I prefer? apple
    Based on the sentence I prefer an orange to an apple, which type of fruit do I prefer? orange
    """
    return TemplateTask(
        [
            (
                f"Based on the sentence I prefer an {one} to an {other}, which type of fruit do I prefer?",
                one,
            )
            for one, other in (("apple", "orange"), ("orange", "apple"))
        ],
        vocabulary=_FRUIT.split(),
    )


def _pairs(questions: object) -> tuple[tuple[str, str], ...]:
    expected = "a non-empty sequence of (text, answer) pairs of str"
    if isinstance(questions, str):
        check.refuse("questions", questions, expected)
    try:
        pairs = [(pair,) if isinstance(pair, str) else tuple(pair) for pair in questions]
    except TypeError:
        check.refuse("questions", questions, expected)
    if not pairs or not all(len(p) == 2 and all(isinstance(part, str) for part in p) for p in pairs):
        check.refuse("questions", questions, expected)
    return tuple(pairs)


def _words(name: str, text: object) -> list[str]:
    words = _WORD.findall(text) if isinstance(text, str) else []
    if not words:
        check.refuse(name, text, "a text with at least one word")
    return words


def _vocabulary(vocabulary: object) -> tuple[str, ...]:
    expected = "a sequence of different single words"
    if isinstance(vocabulary, str):
        check.refuse("vocabulary", vocabulary, expected)
    try:
        words = tuple(vocabulary)  # type: ignore[arg-type]
    except TypeError:
        check.refuse("vocabulary", vocabulary, expected)
    single = all(isinstance(word, str) and _WORD.fullmatch(word) for word in words)
    if not single or len(set(words)) < len(words):
        check.refuse("vocabulary", vocabulary, expected)
    return words


def _groups(rows: np.ndarray) -> np.ndarray:
    """Number equal rows alike: 0, 1, ..., shape (n_rows,)."""
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)


def _first(group: np.ndarray) -> np.ndarray:
    """Return a row of each group, in the order of their numbers."""
    return np.unique(group, return_index=True)[1]


def _joint(group: np.ndarray, answer: np.ndarray, probabilities: np.ndarray, n_answers: int) -> np.ndarray:
    """Return P(group, answer), shape (n_groups, n_answers)."""
    cells = np.bincount(group * n_answers + answer, probabilities, minlength=(group.max() + 1) * n_answers)
    return cells.reshape(-1, n_answers)


def _linear(counts: np.ndarray, answer: np.ndarray, n_answers: int) -> bool:
    """Ask for V with V[answer] @ counts >= V[other] @ counts + 1, for every bag and other answer."""
    from scipy.optimize import linprog

    if n_answers == 1:
        return True
    bag, other = np.nonzero(np.arange(n_answers) != answer[:, None])
    rows = np.zeros((len(bag), n_answers, counts.shape[1]))
    rows[np.arange(len(bag)), other] += counts[bag]
    rows[np.arange(len(bag)), answer[bag]] -= counts[bag]
    rows = rows.reshape(len(bag), -1)
    found = linprog(np.zeros(rows.shape[1]), A_ub=rows, b_ub=-np.ones(len(bag)), bounds=(None, None))
    return found.status == 0
