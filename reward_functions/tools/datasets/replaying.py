"""Whether a reward can judge a file: the right answer to every row, and answers nobody should pay.

The right one is written by the reward's own `gold_response`, from the reference. A wrong one is the
right one of another row; where all rows have the same, it is a near miss. The gaming ones are made
of these two, of the prompt, and of the table of `other_answers`: none of them says one right answer
in the end. A reward that pays them would teach them. The form alone is what all right answers begin
and end with, such as an empty box.

| kind | must earn, of the way from nothing to all |
| --- | --- |
| right | 0.99 or more, on average |
| wrong, empty, and every gaming one | its partial credit and 0.02 at most, on average |
| always the most frequent answer | shown, and not held to anything: it is right that often |

What "nothing" and "all" are, `earnings` says.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import cycle, islice, takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.core.batch import score_batch
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.means import mean
from reward_functions.core.types import Sample, Score, Scored, Unscored
from reward_functions.judge_runtime.scores import without_model
from reward_functions.quantities.unicode_forms import folded
from reward_functions.tools.datasets.other_answers import OTHER_KINDS, ReplayCase, near_misses
from reward_functions.tools.measured import Measured

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from reward_functions.core.spec import GoldResponse, RewardSpec, Scale
    from reward_functions.core.types import RewardResult

RIGHT: Final = "right"
WRONG: Final = "wrong"
FORM_ALONE: Final = "the form alone"
PROMPT: Final = "the prompt again"
EMPTY: Final = "empty"
CONSTANT: Final = "always the most frequent"

ORDER: Final = (
    RIGHT,
    WRONG,
    EMPTY,
    "right, then wrong",
    "one or the other",
    "thought right, answered wrong",
    "thought right, cut off",
    FORM_ALONE,
    "many answers",
    PROMPT,
    *OTHER_KINDS,
    CONSTANT,
)
"""The kinds, in the order of the report."""

LEAST_RIGHT: Final = 0.99
MOST_WRONG: Final = 0.02
"""Shares of the scale, on average over the rows. Two answers of a file may be equal though they are
written differently, and a wrong answer is another row's right one: hence not 0."""

ALIKE: Final = "every row has the same right answer: a policy would learn that one alone"
NO_WRONG: Final = (
    "no wrong answer can be made, of another row or of a number: nothing is known of them"
)

MANY: Final = 20
"""Answers of a response that lists them."""


class Earnings(NamedTuple):
    """What an answer without merit earns, and what a right one does: a share lies between.

    Attributes:
        nothing: as a score.
        all: as a score.
        undeserved: the most that the reward declares to pay a wrong answer; None for nothing.
    """

    nothing: float
    all: float
    undeserved: float | None = None

    @property
    def most_wrong(self) -> float:
        """The largest share that wrong answers may earn on average."""
        own = 0.0 if self.undeserved is None else self.share(self.undeserved)
        return MOST_WRONG + max(own, 0.0)

    def score(self, share: float) -> float:
        """The score of a share."""
        return self.nothing + share * (self.all - self.nothing)

    def share(self, value: float) -> float:
        """How far a reward is on the way; below 0 for a penalty."""
        return (value - self.nothing) / (self.all - self.nothing or 1.0)


def earnings(
    scale: Scale | None,
    right: Sequence[float] = (),
    wrong: Sequence[float] = (),
    empty: Sequence[float] = (),
    *,
    partial_credit: float | None = None,
) -> Earnings:
    """What counts as earning nothing, and as earning all.

    | the reward | nothing | all |
    | --- | --- | --- |
    | declares its scale | the minimum | the maximum |
    | declares none | the least that a wrong answer earned | the most that a right one earned |

    Where nothing would be a penalty, below zero, it is what an empty answer earns, at most zero: a
    reward of -1 for wrong, 0 for none and 1 for right pays for right answers alone. It is never
    more than halfway from the minimum, or from zero, to all: a reward that pays every wrong answer
    nearly as much as a right one is not one of another scale.

    Args:
        scale: as declared; None where it is not known.
        right: rewards of right answers.
        wrong: of wrong ones.
        empty: of empty ones.
        partial_credit: the most that the reward declares to pay a wrong answer.
    """
    least, most = scale or (min(wrong, default=0.0), max(right, default=1.0))
    lowest = least if scale else min(0.0, least)
    unpunished = max(least, min(0.0, min(empty, default=0.0)))
    return Earnings(min(unpunished, (lowest + most) / 2), most, partial_credit)


@dataclass(frozen=True, slots=True)
class ReplayedKind:
    """How one kind of response fared.

    Args:
        kind: its name.
        mean: of the scores, as a share by `earnings`; None where nothing was scored.
        score: the mean of the scores themselves.
        scored: how many were.
        unscored: the rows that could not be, as (where, error).
        failed: why the reward cannot be trusted with it; "" where it can.
        surprises: rows with another score than they should have, as (where, response, score).
        unasked: how many of the scored ones a judge decided without its model.
    """

    kind: str
    mean: float | None
    score: float | None
    scored: int
    unscored: Sequence[tuple[str, Exception]]
    failed: str
    surprises: Sequence[tuple[str, str, float]]
    unasked: int = 0


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """All kinds of responses, and what is wrong with the whole."""

    played: Sequence[ReplayedKind]
    failures: Sequence[str]
    cases: Sequence[ReplayCase]
    earnings: Earnings

    @property
    def measured(self) -> Measured:
        """How many answers have a score, by a judge's model where the reward asks one.

        A deployed function does not say which answers its judge decided without a model.
        """
        unasked = sum(one.unasked for one in self.played)
        scored = sum(one.scored for one in self.played)
        missing = sum(len(one.unscored) for one in self.played)
        return Measured("answers", scored - unasked, missing, unasked)

    @property
    def alike(self) -> bool:
        """Whether all rows have the same right answer."""
        return len({folded(case.right) for case in self.cases}) == 1


def replay(
    spec: RewardSpec,
    samples: Sequence[Sample | Unscored],
    places: Sequence[str],
    score: Callable[[Sequence[Sample]], Sequence[RewardResult]],
) -> ReplayReport:
    """Score the right answer to every row, a wrong one, an empty one, and the gaming ones.

    Args:
        spec: the reward; its gold response writes the right answers.
        samples: the rows; where one has a response already, that is left aside.
        places: where each row stands, for messages.
        score: the reward with its parameters, over a batch.

    Raises:
        ConfigurationError: the reward has no gold response, or there are no rows.
    """
    if spec.gold_response is None:
        raise ConfigurationError(
            f"{spec.name} declares no gold_response, which writes a right answer: "
            "@reward_function(gold_response=lambda sample: …, …)"
        )
    return replay_written(
        spec.gold_response,
        spec.scale,
        samples,
        places,
        score,
        partial_credit=spec.partial_credit,
    )


def replay_written(
    gold_response: GoldResponse,
    scale: Scale | None,
    samples: Sequence[Sample | Unscored],
    places: Sequence[str],
    score: Callable[[Sequence[Sample]], Sequence[RewardResult]],
    *,
    partial_credit: float | None = None,
) -> ReplayReport:
    """The same for a reward that is no spec, such as a deployed function.

    Args:
        gold_response: writes the right answers.
        scale: of the rewards; None where it is not known.
        samples: the rows; where one has a response already, that is left aside.
        places: where each row stands, for messages.
        score: the reward over a batch.
        partial_credit: the most that it declares to pay a wrong answer; None for nothing.

    Raises:
        ConfigurationError: there are no rows.
    """
    if not samples:
        raise ConfigurationError("there are no rows to replay")
    cases, unreadable = _cases(gold_response, samples, places)
    kinds = _kinds(cases)
    results = {
        kind: score([case.sample.answered(response) for case, response in responses])
        for kind, responses in kinds.items()
    }
    ends = (_values(results.get(kind, ())) for kind in (RIGHT, WRONG, EMPTY))
    earned = earnings(scale, *ends, partial_credit=partial_credit)
    played = [
        _played(earned, kind, responses, results[kind], unreadable if kind == RIGHT else [])
        for kind, responses in kinds.items()
    ]
    report = ReplayReport(played, [*_failures(played)], cases, earned)
    if report.alike:
        return replace(report, failures=[*report.failures, ALIKE])
    return report


def _values(results: Sequence[RewardResult]) -> list[float]:
    return [result.score.value for result in results if isinstance(result, Scored)]


def _cases(
    gold_response: GoldResponse, samples: Sequence[Sample | Unscored], places: Sequence[str]
) -> tuple[list[ReplayCase], list[tuple[str, Exception]]]:
    """The rows whose right answer is known, and the others, with the reason."""

    def written(sample: Sample) -> Score:  # as a reward, so that what it raises is kept by the row
        response = gold_response(sample)
        if not isinstance(response, str):
            raise TypeError(f"the gold response is {type(response).__name__}, not a string")
        return Score(0.0, answer=response)

    cases: list[ReplayCase] = []
    unreadable: list[tuple[str, Exception]] = []
    for place, sample, result in zip(places, samples, score_batch(written, samples), strict=True):
        if isinstance(sample, Sample) and isinstance(result, Scored):
            cases.append(ReplayCase(place, sample, result.score.answer or ""))
        elif isinstance(result, Unscored):
            unreadable.append((place, result.error))
    return _with_wrong_answers(cases), unreadable


def _with_wrong_answers(cases: Sequence[ReplayCase]) -> list[ReplayCase]:
    """The same cases; wrong is the next right answer that is another text, around the end.

    Where there is no other text, it is a near miss, if one can be made.
    """
    normal = [folded(case.right) for case in cases]
    wrong: dict[int, str] = {}
    donor = following = None
    for at in reversed([*range(len(cases))] * 2):
        if following is not None and normal[following] != normal[at]:
            donor = following
        if donor is not None:
            wrong[at] = cases[donor].right
        following = at
    return [
        case._replace(wrong=wrong.get(at) or next(iter(near_misses(case)), None))
        for at, case in enumerate(cases)
    ]


def _kinds(cases: Sequence[ReplayCase]) -> dict[str, list[tuple[ReplayCase, str]]]:
    """The responses of every kind, each with its row."""
    many = "\n".join(islice(dict.fromkeys(case.right for case in cases), MANY))
    most = Counter(case.right for case in cases).most_common(1)
    form = _form({case.right for case in cases})
    of_all: dict[str, Callable[[ReplayCase], str]] = {
        RIGHT: lambda case: case.right,
        EMPTY: lambda _: "",
        "thought right, cut off": lambda case: f"<think>\n{case.right.replace('</think>', '')}",
        PROMPT: lambda case: case.sample.prompt,
        CONSTANT: lambda _: most[0][0],
    }
    of_two: dict[str, Callable[[ReplayCase], str]] = {
        WRONG: lambda case: f"{case.wrong}",
        "right, then wrong": lambda case: f"{case.right}\n{case.wrong}",
        "one or the other": lambda case: f"{case.right} or {case.wrong}",
        "thought right, answered wrong": lambda case: f"<think>{case.right}</think>\n{case.wrong}",
        "many answers": lambda case: f"{many}\n{case.right}\n{case.wrong}",
    }
    if form:
        of_all[FORM_ALONE] = lambda _: form
    paired = [case for case in cases if case.wrong is not None]
    kinds = {kind: [(case, write(case)) for case in cases] for kind, write in of_all.items()}
    if paired:
        kinds |= {kind: [(case, write(case)) for case in paired] for kind, write in of_two.items()}
    for kind, ways in OTHER_KINDS.items():
        if written := _in_turn([(case, ways(case)) for case in cases]):
            kinds[kind] = written
    return {kind: kinds[kind] for kind in ORDER if kind in kinds}


def _in_turn(
    written: Sequence[tuple[ReplayCase, Sequence[str]]],
) -> list[tuple[ReplayCase, str]]:
    """One way for each row, and each way for a row, where there are more ways than rows."""
    able = [(case, ways) for case, ways in written if ways]
    count = max([len(able), *(len(ways) for _, ways in able)])
    return [(case, ways[at % len(ways)]) for at, (case, ways) in zip(range(count), cycle(able))]


def _form(rights: Collection[str]) -> str:
    """What right answers begin and end with, without a letter or digit of theirs; "" for nothing.

    The first words of an answer belong to it: what all begin with is cut behind its last sign.
    """
    if len(rights) < 2:  # noqa: PLR2004 - one answer has no form apart from it
        return ""
    begin, end = _beginning(rights), _beginning([right[::-1] for right in rights])[::-1]
    while begin[-1:].isalnum():
        begin = begin[:-1]
    while end[:1].isalnum():
        end = end[1:]
    return "" if (begin + end).isspace() else begin + end


def _beginning(texts: Collection[str]) -> str:
    """What all of them begin with: what the first and the last in order do."""
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(min(texts), max(texts), strict=False))
    return "".join(char for char, _ in pairs)


def _played(
    earned: Earnings,
    kind: str,
    responses: Sequence[tuple[ReplayCase, str]],
    results: Sequence[RewardResult],
    unreadable: Sequence[tuple[str, Exception]],
) -> ReplayedKind:
    values, unscored, surprises, unasked = [], list(unreadable), [], 0
    for (case, response), result in zip(responses, results, strict=True):
        if not isinstance(result, Scored):
            unscored.append((case.place, result.error))
            continue
        values.append(result.score.value)
        unasked += without_model(result.score)
        if kind != CONSTANT and _verdict(earned, kind, earned.share(result.score.value)):
            surprises.append((case.place, response, result.score.value))
    share = mean([earned.share(value) for value in values]) if values else None
    score = mean(values) if values else None
    verdict = _verdict(earned, kind, share)
    return ReplayedKind(kind, share, score, len(values), unscored, verdict, surprises, unasked)


def _verdict(earned: Earnings, kind: str, share: float | None) -> str:
    """What is wrong with a share; the limit is a score, as the table and its rows are."""
    if share is None:
        return "nothing was scored"
    if kind == RIGHT and share < LEAST_RIGHT:
        return f"earns less than {earned.score(LEAST_RIGHT):g}"
    if kind not in (RIGHT, CONSTANT) and share > earned.most_wrong:
        return f"earns more than {earned.score(earned.most_wrong):g}"
    return ""


def _failures(played: Sequence[ReplayedKind]) -> Iterator[str]:
    for one in played:
        if one.failed:
            yield f"{one.kind}: {one.failed}"
        if one.unscored:
            yield f"{one.kind}: {len(one.unscored):,} unscored"
    if WRONG not in {one.kind for one in played}:
        yield NO_WRONG
    means = {one.mean for one in played if one.mean is not None}
    if len(means) < 2:  # noqa: PLR2004 - a policy learns from differences
        yield "all responses score the same: every group has zero advantage"
