"""What a claim put to the test consists of, and how it is tested.

A claim has a measurement, which runs an experiment and returns numbers, and a rule, which turns
those numbers into a verdict. Nothing else decides: where several parts or seeds are judged, the
claim gets the least favourable verdict among them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from .. import _validation as check

# From the most to the least favourable.
VERDICTS = ("reproduced", "reproduced with a change", "not reproduced", "contradicted")


@dataclass(frozen=True)
class Claim:
    """One claim of a paper, or one question beyond them, with its check.

    Attributes
    ----------
    id : str
        Fixed name.
    source : str
        Paper, and number of the figure, theorem or equation.
    claim : str
        What is claimed, in this book's words.
    printed : str
        The printed value, or settings; empty for a question.
    chapter : str
        File name of the chapter that teaches it, without its ending.
    measure : callable
        Returns a dictionary of numbers; takes ``rng``, unless `seeds` is zero.
    report : callable
        From the list of measurements to the sentence that states them.
    rule : callable
        From one measurement to a verdict, to a dictionary of verdicts for its parts, or to ``None``.
    judged : str
        The rule in words.
    change : str
        The change that the claim takes, or what is true instead.
    options : mapping
        Further arguments of `measure`.
    quick : mapping
        Those that replace them in a quick check.
    seeds : int, default 5
        Measurements at the seeds 0, 1, ...; zero if nothing is random.
    quick_seeds : int, default 1
        Their number in a quick check.
    inside : str, default ""
        Name of the argument by which `measure` repeats itself; it is then called once.
    """

    id: str
    source: str
    claim: str
    printed: str
    chapter: str
    measure: Callable[..., dict]
    report: Callable[[list[dict]], str]
    rule: Callable[[dict], str | Mapping[str, str] | None]
    judged: str
    change: str = ""
    options: Mapping[str, object] = field(default_factory=dict)
    quick: Mapping[str, object] = field(default_factory=dict)
    seeds: int = 5
    quick_seeds: int = 1
    inside: str = ""

    def measurements(self, quick: bool = False) -> list[dict]:
        """Run the experiment, for fewer seeds if it is to be quick."""
        options = {**self.options, **(self.quick if check.flag("quick", quick) else {})}
        seeds = self.quick_seeds if quick else self.seeds
        if not self.seeds:
            return [self.measure(**options)]
        if self.inside:
            return [self.measure(rng=0, **{self.inside: seeds}, **options)]
        return [self.measure(rng=seed, **options) for seed in range(seeds)]

    def judge(self, measurements: Iterable[dict]) -> tuple[str | None, dict[str, str]]:
        """Return the verdict, and those of the parts where the rule tells them apart."""
        parts: dict[str, str] = {}
        verdict = None
        for measurement in measurements:
            judged = self.rule(measurement)
            if isinstance(judged, Mapping):
                parts = {part: least_favourable([v, parts.get(part)]) for part, v in judged.items()}
                judged = least_favourable(parts.values())
            verdict = least_favourable([verdict, judged])
        return verdict, parts


def least_favourable(verdicts: Iterable[str | None]) -> str | None:
    """Return the least favourable verdict, ``None`` if there is none.

    Examples
    --------
    >>> least_favourable(["reproduced", "contradicted", "not reproduced"])
    'contradicted'
    """
    return max((v for v in verdicts if v is not None), key=VERDICTS.index, default=None)


@dataclass(frozen=True)
class Row:
    """The outcome of one check, a row of the ledger.

    Attributes
    ----------
    id, source, claim, printed, chapter : str
        As in `Claim`.
    measured : str
        What the check found.
    rule : str
        The rule, in words.
    verdict : str or None
        One of `VERDICTS`; ``None`` for a question, and for a check that could not run.
    change : str or None
        Where the verdict is another than "reproduced": what it takes, or what is true.
    seconds : float
        Time that the measurement took. Claims that share one report the same.
    ran : bool
        Whether the check could run.
    """

    id: str
    source: str
    claim: str
    printed: str
    measured: str
    rule: str
    verdict: str | None
    change: str | None
    seconds: float
    chapter: str
    ran: bool = True


def run(claim: Claim, quick: bool = False, known: dict | None = None) -> Row:
    """Check one claim.

    Parameters
    ----------
    claim : Claim
    quick : bool, default False
        Whether to use fewer seeds.
    known : dict, optional
        Measurements so far, for claims that share one; added to.

    Returns
    -------
    Row
        With ``ran`` false, and the reason as ``measured``, if the measurement raised.
    """
    known = {} if known is None else known
    key = (claim.measure, repr(sorted({**claim.options, **claim.quick}.items())), claim.seeds)
    if key not in known:
        start = time.perf_counter()
        try:
            outcome: list[dict] | Exception = claim.measurements(quick)
        except Exception as error:  # one check that fails must not stop the others
            outcome = error
        known[key] = outcome, time.perf_counter() - start
    outcome, seconds = known[key]
    verdict, change, ran = None, None, not isinstance(outcome, Exception)
    if ran:
        verdict, parts = claim.judge(outcome)
        measured = claim.report(outcome) + _parts(parts) + _seeds(claim, quick)
        change = claim.change if verdict not in (None, VERDICTS[0]) else None
    else:
        measured = f"could not run: {type(outcome).__name__}: {outcome}"
    return Row(
        id=claim.id,
        source=claim.source,
        claim=claim.claim,
        printed=claim.printed,
        measured=measured,
        rule=claim.judged,
        verdict=verdict,
        change=change or None,
        seconds=round(seconds, 3),
        chapter=claim.chapter,
        ran=ran,
    )


def _parts(parts: Mapping[str, str]) -> str:
    return f" Parts: {'; '.join(f'{part}: {verdict}' for part, verdict in parts.items())}." if parts else ""


def _seeds(claim: Claim, quick: bool) -> str:
    if not claim.seeds:
        return ""
    seeds = claim.quick_seeds if quick else claim.seeds
    return f" [{seeds} seed{'' if seeds == 1 else 's'}]"
