"""The answers of every class, scored against their rows, and how each class fared.

The unit is the prompt. A class has paid a prompt where any of its answers to it earned more than it
may. It has refused one where any right answer to it earned less than it must.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle, islice
from math import nan
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.audit.child import Hung
from reward_functions.audit.conventions import FunctionFailed
from reward_functions.audit.corpus import AnswerClass, Corpus, class_answers
from reward_functions.audit.gold import short_reference
from reward_functions.audit.made_up import made_up
from reward_functions.audit.results import ROWS, Figure, Finding, SeenRow, both_ends, some
from reward_functions.core.errors import DatasetError
from reward_functions.core.means import mean
from reward_functions.core.types import Sample, Scored
from reward_functions.judge_runtime.scores import without_model
from reward_functions.reports.statistics import share
from reward_functions.scoring.interpreters import InterpreterDied

if TYPE_CHECKING:
    from reward_functions.audit.earning import Earnings
    from reward_functions.core.types import RewardResult

Score = Callable[[Sequence[Sample]], Sequence["RewardResult"]]

PIECE: Final = 2_048
"""Answers that are scored together, unless the reward compares those of a group."""

PIECE_BYTES: Final = 4_000_000

SHOWN: Final = 2_000
"""Characters of an answer that is kept to be shown: its beginning, and its end, which decides."""

RIGHT: Final = AnswerClass("FN-RIGHT", "right answers", "all", lambda case, _: [case.right])
"""The right answers themselves."""


class Tried(NamedTuple):
    """One answer and what it earned.

    Attributes:
        at: the position of its row.
        way: how it was written.
        value: its reward; not a number where it has none.
    """

    at: int
    way: int
    value: float


@dataclass(slots=True)
class Fared:
    """How one class fared.

    Args:
        answers: the class.
        tried: in the order of the rows.
        shown: answers that may be asked for, by position in `tried`: those not yet judged are kept
            as what writes them again.
        errors: (position in `tried`, error) of answers without a score that should have one.
        unusable: rows whose reference cannot be used, for any answer.
        unasked: how many a judge decided without its model.
    """

    answers: AnswerClass
    tried: list[Tried] = field(default_factory=list)
    errors: list[tuple[int, Exception]] = field(default_factory=list)
    unusable: int = 0
    unasked: int = 0

    @property
    def values(self) -> list[float]:
        """The rewards there are."""
        return [each.value for each in self.tried if each.value == each.value]

    @property
    def prompts(self) -> int:
        """Prompts with a scored answer."""
        return len({each.at for each in self.tried if each.value == each.value})


def tried(
    answers: AnswerClass,
    corpus: Corpus,
    score: Score,
    *,
    together: bool = False,
    thorough: bool = True,
) -> Fared:
    """Score the answers of a class.

    Args:
        answers: the class.
        corpus: the rows.
        score: the reward over a batch.
        together: whether the reward compares answers to a prompt: then a batch holds one of each,
            since a rank among wrong answers alone says nothing.
        thorough: as `written` takes it.
    """
    fared = Fared(answers)
    asked = class_answers(answers, corpus, thorough=thorough)
    for piece in _apart(asked) if together else _pieces(asked):
        samples = [corpus.cases[at].sample.answered(text) for at, text, _ in piece]
        for (at, _, way), result in zip(piece, score(samples), strict=True):
            if isinstance(result, Scored):
                fared.tried.append(Tried(at, way, result.score.value))
                fared.unasked += without_model(result.score)
                continue
            if isinstance(result.error, DatasetError):
                fared.unusable += 1
            else:
                fared.errors.append((len(fared.tried), result.error))
            fared.tried.append(Tried(at, way, nan))
    return fared


def _pieces(answers: Iterable[tuple[int, str, int]]) -> Iterator[list[tuple[int, str, int]]]:
    """The answers in pieces that are scored together; long ones in small pieces."""
    piece: list[tuple[int, str, int]] = []
    size = 0
    for each in answers:
        piece.append(each)
        size += len(each[1])
        if len(piece) == PIECE or size > PIECE_BYTES:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


def _apart(answers: Iterable[tuple[int, str, int]]) -> list[list[tuple[int, str, int]]]:
    """The answers in batches, none of which holds two to one row."""
    batches: list[list[tuple[int, str, int]]] = []
    earlier: Counter[int] = Counter()
    for each in answers:
        turn = earlier[each[0]]
        earlier[each[0]] += 1
        if turn == len(batches):
            batches.append([])
        batches[turn].append(each)
    return batches


def count(classes: Iterable[AnswerClass], corpus: Corpus, *, thorough: bool = True) -> int:
    """How many answers the classes have to these rows."""
    return sum(1 for each in classes for _ in class_answers(each, corpus, thorough=thorough))


@dataclass(frozen=True, slots=True)
class Judged:
    """A class held to what its answers may earn.

    Args:
        fared: how it fared.
        wrong: the prompts that were paid, or refused.
        figure: their share.
        finding: the same for a reader.
    """

    fared: Fared
    wrong: frozenset[int]
    figure: Figure
    finding: Finding


def judged(
    fared: Fared, corpus: Corpus, earned: Earnings, reason: Callable[[Sample], str]
) -> Judged:
    """Hold a class to what its answers may earn.

    Args:
        fared: how it fared.
        corpus: the rows.
        earned: what nothing and all are.
        reason: why a sample earns what it does; "" where nobody says.
    """
    answers = fared.answers
    must, credit = answers.earns == "all", answers.earns == "credit"
    credit = credit or (answers.beside_wrong and earned.by_row is not None)
    least, most = earned.least(own=answers is RIGHT), earned.most(credit=credit)
    limit = least if must else most

    def is_beyond(each: Tried) -> bool:
        if must or not each.value > most + EVEN:
            return must and each.value < least - EVEN
        return each.value > earned.most(credit=credit, row=corpus.cases[each.at].sample) + EVEN

    beyond = [at for at, each in enumerate(fared.tried) if is_beyond(each)]
    wrong = frozenset(fared.tried[at].at for at in beyond)
    if answers.choice:
        wrong -= {each.at for each in fared.tried if each.value >= limit - EVEN}
        beyond = [at for at in beyond if fared.tried[at].at in wrong]
    figure = _share(_figure_name(answers), len(wrong), fared)
    show = partial(_seen, fared, corpus, limit, reason)
    rows = [
        show(at)._replace(hits=hits, of=of) for at, hits, of in _worst(beyond, fared, must=must)
    ]
    return Judged(fared, wrong, figure, _finding(fared, figure, wrong, limit, rows))


EVEN: Final = 1e-9


def _figure_name(answers: AnswerClass) -> str:
    if answers.earns == "all":
        return answers.id.lower().replace("-", ".", 1)
    return f"exploit.{answers.id}"


def _share(name: str, wrong: int, fared: Fared) -> Figure:
    prompts = fared.prompts
    if not prompts:
        return Figure(name, None, why=_why_nothing(fared))
    found = share(wrong, prompts, prompts)
    return Figure(name, found.value, found.low, found.high, prompts)


def _why_nothing(fared: Fared) -> str:
    if fared.tried:
        return "no answer of the class has a score"
    return fared.answers.absent


def _worst(beyond: Sequence[int], fared: Fared, *, must: bool) -> list[tuple[int, int, int]]:
    """The worst answer of each way, and how many prompts fare so; what is furthest off first."""
    sign = 1 if must else -1
    hits = Counter(fared.tried[at].way for at in beyond)
    of = Counter(each.way for each in fared.tried if each.value == each.value)
    first: dict[int, int] = {}
    for at in sorted(beyond, key=lambda at: sign * fared.tried[at].value):
        first.setdefault(fared.tried[at].way, at)
    ways = sorted(first, key=lambda way: (sign * fared.tried[first[way]].value, -hits[way]))
    return [(first[way], hits[way], of[way]) for way in ways[:ROWS]]


def _seen(
    fared: Fared, corpus: Corpus, limit: float, reason: Callable[[Sample], str], at: int
) -> SeenRow:
    each = fared.tried[at]
    case = corpus.cases[each.at]
    response = fared.answers.ways(case, corpus)[each.way]
    why = reason(case.sample.answered(response))
    known = short_reference(case.sample)
    such = made_up(fared.answers, case, corpus, each.way)
    return SeenRow(case.place, both_ends(response, SHOWN), each.value, limit, why, known, such=such)


def _finding(
    fared: Fared, figure: Figure, wrong: frozenset[int], limit: float, rows: Sequence[SeenRow]
) -> Finding:
    answers = fared.answers
    if figure.value is None:
        return Finding(answers.id, answers.title, "untested", figure.why, figure=figure.id)
    values = fared.values
    prompts = some(figure.n, "prompt")
    earned = (
        f"{round(mean(values), 3):g} on average over {some(len(values), 'answer')} to {prompts}"
    )
    if answers.earns == "all":
        what = f"refused at {some(len(wrong), 'prompt')}" if wrong else "paid in full"
        message = f"right answers of this kind earn {earned}; {what}"
    else:
        what = (
            f"paid at {some(len(wrong), 'prompt')}" if wrong else f"none earns more than {limit:g}"
        )
        message = f"answers of this kind earn {earned}; {what}"
    return Finding(
        answers.id,
        answers.title,
        "broken" if wrong else "ok",
        message,
        len(wrong),
        figure.n,
        rows,
        figure.id,
    )


QUOTES_NOTHING: Final = (FunctionFailed, InterpreterDied)
"""Errors whose message holds no text of a row."""


def unscored(
    fared: Sequence[Fared], corpus: Corpus, unreadable: Sequence[tuple[str, Exception]]
) -> tuple[Figure, list[Finding]]:
    """The share of prompts with an answer that has no score, and the first for each reason.

    Answers on which a function hung are a finding of their own.

    Args:
        fared: every class.
        corpus: the rows.
        unreadable: (place, error) of rows without a right answer, or that are no sample.
    """
    lost = [(SeenRow(place, "", None, None, _message(error)), error) for place, error in unreadable]
    for each in fared:
        for at, error in each.errors:
            case, way = corpus.cases[each.tried[at].at], each.tried[at].way
            response = both_ends(each.answers.ways(case, corpus)[way], SHOWN)
            why, reference = _message(error), short_reference(case.sample)
            lost.append((SeenRow(case.place, response, None, None, why, reference), error))
    of = len({case.place for case in corpus.cases} | {place for place, _ in unreadable})
    if not of:
        none = "there are no rows"
        untested = Finding("UNSCORED", "without a score", "untested", none, figure="unscored")
        return Figure("unscored", None, why=none), [untested]

    def finding(name: str, title: str, what: str, rows: Sequence[SeenRow]) -> Finding:
        reasons = Counter(why for _, why in dict.fromkeys((row.place, row.reason) for row in rows))
        first = {row.reason: row for row in reversed(rows)}
        shown = [first[why]._replace(hits=hits, of=of) for why, hits in reasons.most_common(ROWS)]
        prompts = len({row.place for row in rows})
        message = f"{prompts:,} of {of:,} prompts have an answer {what}"
        return Finding(name, title, "broken", message, prompts, of, shown, "unscored")

    rows = [row for row, _ in lost]
    found = share(len({row.place for row in rows}), of, of)
    figure = Figure("unscored", found.value, found.low, found.high, of)
    if not rows:
        message = f"every answer to {of:,} prompts has a score"
        return figure, [
            Finding("UNSCORED", "without a score", "ok", message, 0, of, (), "unscored")
        ]
    reasons = Counter(str(error) for _, error in lost if isinstance(error, QUOTES_NOTHING))
    what = "; ".join(f"{count} × {reason}" for reason, count in reasons.most_common(ROWS))
    what = f"without a score{': ' * bool(what)}{what}"
    findings = [finding("UNSCORED", "without a score", what, rows)]
    if hung := [row for row, error in lost if isinstance(error, Hung)]:
        findings.insert(
            0, finding("HUNG", "it hangs", f"with {hung[0].reason.partition(': ')[2]}", hung)
        )
    return figure, findings


def _message(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


OFTEN: Final = 0.5
"""The share of the way to a right answer that one answer to everything should not earn."""


def lazy(fared: Fared, corpus: Corpus, earned: Earnings) -> tuple[Figure, Finding]:
    """The best mean of one fixed answer to every row."""
    by_way: dict[int, list[float]] = {}
    for each in fared.tried:
        if each.value == each.value:
            by_way.setdefault(each.way, []).append(each.value)
    if not by_way:
        why = _why_nothing(fared)
        return (
            Figure("lazy", None, unit="score", why=why),
            Finding("LAZY", "one answer to everything", "untested", why, figure="lazy"),
        )
    way, best = max(
        ((way, mean(values)) for way, values in by_way.items()), key=lambda found: found[1]
    )
    answer = both_ends(fared.answers.ways(corpus.cases[0], corpus)[way], SHOWN)
    message = (
        f"the best answer to everything earns {best:.4g} on average, "
        f"{earned.share(best):.1%} of the way to a right one"
    )
    return (
        Figure("lazy", best, n=len(by_way[way]), unit="score", why="it is a maximum"),
        Finding(
            "LAZY",
            "one answer to everything",
            "note" if earned.share(best) >= OFTEN and len(by_way[way]) > 1 else "ok",
            message,
            n=len(by_way[way]),
            rows=[SeenRow("every row", answer, best)],
            figure="lazy",
        ),
    )


def ceiling(all_judged: Iterable[Judged], corpus: Corpus) -> Figure:
    """The highest reward of any answer that must not be paid, as a score."""
    highest = max(
        (
            value
            for each in all_judged
            if each.fared.answers.earns in ("nothing", "credit")
            for value in each.fared.values
        ),
        default=None,
    )
    if highest is None:
        return Figure("ceiling", None, unit="score", why="no wrong answer has a score")
    return Figure("ceiling", highest, n=len(corpus.cases), unit="score", why="it is a maximum")


def by_form(fared: Fared, earned: Earnings) -> Figure:
    """The largest difference of mean rewards between two layouts of the same answers."""
    by_way: dict[int, list[float]] = {}
    for each in fared.tried:
        if each.value == each.value:
            by_way.setdefault(each.way, []).append(earned.share(each.value))
    if len(by_way) < 2:  # noqa: PLR2004 - to differ
        return Figure("format", None, unit="difference", why="fewer than two layouts have a score")
    means = [mean(values) for values in by_way.values()]
    return Figure("format", max(means) - min(means), n=fared.prompts, unit="difference")


PADDED: Final = 50
"""Rows whose answers are padded."""

WORDS: Final = (200, 1_000)

NEUTRAL: Final = ("there", "is", "some", "more", "to", "read", "here", "and", "that", "too")


def padding(corpus: Corpus, score: Score, earned: Earnings) -> tuple[Figure, float]:
    """The largest mean change of a reward, right or wrong, by neutral words before the answer.

    Returns:
        the figure, and the largest rise: what is refused for its layout is a class of its own.
    """
    cases = [case for case in corpus.cases if case.wrong][:PADDED]
    if not cases:
        return Figure("length", None, unit="difference", why="no row has a wrong answer"), 0.0
    texts = ["", *(" ".join(islice(cycle(NEUTRAL), count)) + ".\n\n" for count in WORDS)]
    changes: list[float] = []
    for of in ("right", "another"):
        means = []
        for text in texts:
            asked = [case.sample.answered(f"{text}{getattr(case, of)}") for case in cases]
            values = [each.score.value for each in score(asked) if isinstance(each, Scored)]
            means.append(mean([earned.share(value) for value in values]) if values else nan)
        changes += [each - means[0] for each in means[1:]]
    known = [each for each in changes if each == each]  # noqa: PLR0124 - nan
    if not known:
        return Figure("length", None, unit="difference", why="no padded answer has a score"), 0.0
    figure = Figure("length", max(map(abs, known)), n=len(cases), unit="difference")
    return figure, max(known)
