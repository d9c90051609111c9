r"""The deployed version, asked as the job will ask it: the contract, and what it pays.

    answers                                                  must earn, of the way from nothing to
                                                             all, on average
    the right one to every row that is tried                 0.99 or more
    wrong, empty, cut off, the form alone, lists of guesses, both answers, the prompt, near misses,
    words to the judge …                                     0.02 or less, each kind
    the reference in the form that all prompts ask for       0.99 or more
    hostile ones that a policy could write                   0.02 or less, each one

The kinds, and what nothing and all are, stand in `audit.replaying`.
Right answers are written by the reward's own `gold_response`. For a function that has none here,
the reference is put into the usual forms, and the form that earns most is taken for right.

A reward that compares the whole response with the reference pays a bare answer. Where every prompt
demands `#### <number>`, a model that does as it is asked then earns nothing, and learns nothing or
the wrong thing. A form that all prompts name, and that the reward's own right answers lack, is
tried: the reference is put into it. 0.02 or less on average is a failure, less than 0.99 a warning.

Hostile answers deserve nothing whatever the question is, and a policy could write them:

    from                                     which
    `reward_functions.testing`               hostile ones, up to 20,000 characters each
    `judge_runtime.attack_corpus`            attacks on judges, around a wrong answer to the row
    here                                     one of 100,000 characters, that ends in a wrong answer

Longer ones are left out: 100,000 characters are some 25,000 tokens, more than a policy may write.
A judge gets eight of them, as every answer is a call to its model; `reward judge doctor` tries all.
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from itertools import cycle
from math import fsum
from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.audit.other_answers import REASONED, ReplayCase
from reward_functions.audit.replayed_answers import (
    CONSTANT,
    FORM_ALONE,
    ORDER,
    PROMPT,
    RIGHT,
    WRONG,
)
from reward_functions.audit.replaying import (
    ALIKE,
    LEAST_RIGHT,
    MOST_WRONG,
    NO_WRONG,
    Earnings,
    earnings,
    replay_written,
)
from reward_functions.aws.deployed.checking import Expectation, check, expectation, made_up
from reward_functions.aws.deployed.findings import (
    SHOWN,
    CheckExample,
    CheckFinding,
    failure,
    ok,
    unknown,
    warning,
)
from reward_functions.core.alternatives import right_writer
from reward_functions.core.batch import score_batch
from reward_functions.core.errors import DatasetError
from reward_functions.core.means import mean
from reward_functions.core.references import reference_text
from reward_functions.core.types import Sample, Score, Scored, Unscored
from reward_functions.judge_runtime.attack_corpus import attacks
from reward_functions.testing import hostile_responses
from reward_functions.testing.hostile import WRONG as WRONG_ANSWER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reward_functions.audit.replaying import ReplayedKind, ReplayReport
    from reward_functions.aws.deployed.scorer import VersionScorer
    from reward_functions.core.spec import GoldResponse
    from reward_functions.serving.contract import ResponseMode

ROWS: Final = 100
"""Rows that are tried, of the job's own: a share of 1 % shows, and it takes some twenty calls."""

JUDGED_ROWS: Final = 8
"""The same for a judge: every answer is a call to its model."""

BATCH: Final = 16
"""Samples of the timed batch."""

ALWAYS: Final = 0.5
"""A share of the scale that one answer to everything should not earn."""

NAMED: Final = 3
"""Rows and hostile answers that a finding names; the rest is a number."""

NOT_TRIED: Final = {
    FORM_ALONE: "right answers to these rows begin and end with nothing in common",
    "near misses": "no right answer to these rows is a number, a letter or a word",
    "a part of the right one": "no right answer to these rows has a part",
}
"""Kinds that some rows have no answers of, and why; one of two answers needs a wrong one."""


def contract_findings(
    scorer: VersionScorer,
    progress: Callable[[str], object] = lambda _: None,
    *,
    mode: ResponseMode = "list",
) -> Iterator[CheckFinding]:
    """What a trainer relies on, as `reward deployed check` tries it.

    Args:
        scorer: the deployed version.
        progress: called with the step that begins.
        mode: how the service reads answers; all but SageMaker's open-weight models, a bare list.

    Raises:
        AwsFailed: the version cannot be invoked at all.
        BadParameter: the reward that is installed here has no such parameter.
    """
    deployed = scorer.deployed
    known = expectation(deployed) if deployed else Expectation(made_up())
    wanted = replace(known, mode=mode)
    yield from check(scorer.function, wanted, batch_size=BATCH, progress=progress).findings


def reward_findings(
    scorer: VersionScorer,
    samples: Sequence[Sample],
    places: Sequence[str],
    *,
    rows: int = 0,
    file: str = "",
    progress: Callable[[str], object] = lambda _: None,
) -> Iterator[CheckFinding]:
    """What it pays on the job's own rows.

    Args:
        scorer: the deployed version.
        samples: the rows.
        places: where each row stands, for messages.
        rows: how many are tried; 0 for `ROWS`, or `JUDGED_ROWS` of a judge.
        file: that holds the rows; "" where none does.
        progress: called with the step that begins.

    Raises:
        AwsFailed: the version cannot be invoked.
    """
    if not samples:
        yield unknown("rewards", "there are no rows to try it on")
        return
    count = rows or (JUDGED_ROWS if scorer.judges else ROWS)
    drawn = Random(0).sample(range(len(samples)), min(count, len(samples)))  # noqa: S311
    tried, where = [samples[at] for at in drawn], [places[at] for at in drawn]
    progress(f"scoring right, wrong and gaming answers to {len(tried)} rows")
    gold = _gold_response(scorer, tried)
    cases: Sequence[ReplayCase] = [
        ReplayCase(place, sample, "") for place, sample in zip(where, tried, strict=True)
    ]
    earned = None
    if gold is None:
        yield unknown(
            "right answers",
            "nobody here can write one: the reward declares no gold_response, and the reference "
            "earns nothing in any usual form",
        )
    else:
        report = replay_written(
            gold,
            scorer.spec.scale if scorer.spec else None,
            tried,
            where,
            scorer.score,
            partial_credit=scorer.spec.partial_credit if scorer.spec else None,
        )
        yield from _of_replay(report, _replay_command(scorer, file))
        if any(one.kind == RIGHT and not one.failed for one in report.played):
            yield from form_findings(scorer, tried, where, gold, report.earnings)
        cases, earned = report.cases or cases, report.earnings
    progress("scoring hostile answers")
    yield from hostile_findings(scorer, cases, earned)


def _gold_response(scorer: VersionScorer, tried: Sequence[Sample]) -> GoldResponse | None:
    """What writes right answers; None where nothing does."""
    if scorer.spec is not None and scorer.spec.gold_response is not None:
        parameters = scorer.deployed.parameters if scorer.deployed else {}
        return right_writer(scorer.spec.gold_response, parameters)
    some = [sample for sample in tried if reference_of(sample) is not None][:FORM_ROWS]
    written = [
        sample.answered(form.format(reference_of(sample))) for form in FORMS for sample in some
    ]
    values = [
        result.score.value if isinstance(result, Scored) else 0.0
        for result in scorer.score(written)
    ]
    earned = {
        form: fsum(values[at * len(some) : (at + 1) * len(some)]) for at, form in enumerate(FORMS)
    }
    best = max(FORMS, key=lambda form: earned[form])
    if earned[best] <= MOST_WRONG * len(some):
        return None
    return lambda sample: best.format(reference_text(sample.reference))


def _replay_command(scorer: VersionScorer, file: str) -> str:
    """What scores the same answers here; "" where the very version is not installed here."""
    if not (file and scorer.same_here and scorer.deployed and scorer.spec):
        return ""
    given = [f"-p {name}={value}" for name, value in scorer.deployed.parameters.items()]
    words = ["reward data replay", shlex.quote(file), "--reward", scorer.spec.name, *given]
    return " ".join(words)


def _of_replay(report: ReplayReport, command: str) -> Iterator[CheckFinding]:
    """A finding for each kind that fares badly, and one for all that fare well."""
    well = [one for one in report.played if not one.failed and one.kind != CONSTANT]
    for one in report.played:
        if one.unscored:
            yield _unscored(one)
        if one.failed and one.mean is not None:
            yield _badly(one, report.earnings.most_wrong, command)
    for one in well:
        if one.kind == RIGHT:
            yield ok("right answers", f"earn {one.mean:.3f} of the scale on {one.scored:,} rows")
    most = report.earnings.most_wrong
    gaming = [one.kind for one in well if one.kind != RIGHT]
    if gaming:
        yield ok("other answers", f"earn {most:g} or less: {', '.join(gaming)}")
    yield from _not_tried(report)
    yield from _of_constant(report.played)
    means = {one.mean for one in report.played if one.mean is not None}
    if len(means) == 1:
        yield failure(
            "differences",
            "right, wrong and empty answers earn the same: every group has zero advantage",
        )


def _badly(one: ReplayedKind, most: float, command: str) -> CheckFinding:
    example = None
    if one.surprises:
        where, response, score = one.surprises[0]
        shown = "the prompt itself" if one.kind == PROMPT else response[:SHOWN]
        example = CheckExample(where, shown, score, command)
    places = ", ".join(place for place, *_ in one.surprises[:NAMED])
    earned = f"{one.mean:.3f} of the scale on average over {one.scored:,} rows"
    if one.kind == RIGHT:
        message = f"earn {earned}, and {LEAST_RIGHT} is needed; not so {places}"
        return failure("right answers", message, example)
    return failure(
        one.kind,
        f"answers of this kind earn {earned}, and {most:g} is the most: the policy would learn "
        f"to write them; such as {places}",
        example,
    )


def _not_tried(report: ReplayReport) -> Iterator[CheckFinding]:
    """What these rows do not show, and why."""
    played = {one.kind for one in report.played}
    missing = [kind for kind in ORDER if kind not in played]
    if report.alike and WRONG in played:
        yield warning("one answer", f"{ALIKE}; wrong answers are near misses of it")
    if WRONG in missing and report.cases:
        yield failure(WRONG, NO_WRONG)
    for kind in missing:
        if kind in NOT_TRIED and not report.alike:
            yield unknown(kind, f"not tried: {NOT_TRIED[kind]}")


def _unscored(one: ReplayedKind) -> CheckFinding:
    place, error = one.errors[0]
    return failure(one.kind, f"{one.unscored:,} answers have no reward; {place}: {error}")


def _of_constant(played: Sequence[ReplayedKind]) -> Iterator[CheckFinding]:
    for one in played:
        if one.kind == CONSTANT and one.mean is not None and one.mean >= ALWAYS:
            yield warning(
                CONSTANT,
                f"one answer to everything earns {one.mean:.3f} of the scale: the policy may "
                "settle on it; balance the answers of the data",
            )


FORM_ROWS: Final = 8
"""Rows on which forms are tried."""

ASKED: Final = {
    "####": "#### {}",
    r"\boxed": r"\boxed{{{}}}",
    "<answer>": "<answer>{}</answer>",
    "ANSWER:": "ANSWER: {}",
    "JUDGMENT:": "JUDGMENT: {}",
}
"""What stands in a prompt that asks for a form, and the form: GSM8K's, MATH's and the others of the
data sets that AWS's samples train on."""

FORMS: Final = ("{}", *(form for sign, form in ASKED.items() if sign != "JUDGMENT:"))
"""How a right answer is written where a reward does not say it: bare, or in a usual form."""


class _Tried(NamedTuple):
    """A form that the prompts ask for, and what right answers in it earn of the scale."""

    sign: str
    mean: float
    example: CheckExample


def reference_of(sample: Sample) -> str | None:
    """The reference as a text; None for any other value."""
    try:
        return reference_text(sample.reference)
    except DatasetError:
        return None


def form_findings(
    scorer: VersionScorer,
    tried: Sequence[Sample],
    places: Sequence[str],
    gold_response: GoldResponse,
    earned: Earnings,
) -> Iterator[CheckFinding]:
    """What the form earns that the prompts ask for.

    Nothing is said where they ask for none, or for one that the reward's own right answers have.

    Args:
        scorer: the deployed version.
        tried: rows whose right answers earn the maximum.
        places: where each stands.
        gold_response: writes the right answers.
        earned: what nothing and all are.

    Raises:
        AwsFailed: the version cannot be invoked.
    """
    asked = [sign for sign in ASKED if all(sign in _prompt(sample) for sample in tried)]
    rows = [
        (sample, place, reference)
        for sample, place in zip(tried, places, strict=True)
        if (reference := reference_of(sample)) is not None
    ][:FORM_ROWS]
    if not asked or not rows:
        return
    rights = _rights(gold_response, [sample for sample, *_ in rows])
    if any(sign in right for sign in asked for right in rights):
        return
    forms = [_form(scorer, sign, rows, earned) for sign in asked]
    best = max(filter(None, forms), key=lambda form: form.mean, default=None)
    if best is not None and best.mean < LEAST_RIGHT:
        yield CheckFinding(
            "failure" if best.mean <= MOST_WRONG else "warning",
            "form",
            f"the prompts ask for {best.sign}, and right answers in that form earn {best.mean:.3f} "
            f"of the scale on average over {len(rows)} rows: a model that does as it is asked "
            "would not be paid; change the prompts, or take a reward that reads the form",
            best.example,
        )


def _rights(gold_response: GoldResponse, samples: Sequence[Sample]) -> list[str]:
    """The reward's own right answers, as far as it writes them."""

    def written(sample: Sample) -> Score:  # as a reward, so that what it raises is kept by the row
        return Score(0.0, answer=gold_response(sample))

    results = score_batch(written, samples)
    return [result.score.answer or "" for result in results if isinstance(result, Scored)]


def _form(
    scorer: VersionScorer,
    sign: str,
    rows: Sequence[tuple[Sample, str, str]],
    earned: Earnings,
) -> _Tried | None:
    """The reference of each row in a form; None where nothing was scored."""
    answers = [sample.answered(ASKED[sign].format(reference)) for sample, _, reference in rows]
    results = scorer.score(answers)
    values = [result.score.value for result in results if isinstance(result, Scored)]
    if not values:
        return None
    share = mean([earned.share(value) for value in values])
    (_, place, _), answer = rows[0], answers[0].response or ""
    return _Tried(sign, share, CheckExample(place, answer[:SHOWN], values[0]))


def _prompt(sample: Sample) -> str:
    """All that the model reads: instructions may stand in the system turn."""
    return "\n".join(turn.content for turn in sample.messages if turn.role != "assistant")


MOST_CHARACTERS: Final = 20_000
"""Of a hostile answer of `reward_functions.testing`: some 5,000 tokens."""

LONGEST: Final = 100_000
"""Characters of the longest answer that is sent."""


def hostile_findings(
    scorer: VersionScorer, cases: Sequence[ReplayCase], earned: Earnings | None = None
) -> Iterator[CheckFinding]:
    """Whether answers that deserve nothing are paid, each on one row.

    Args:
        scorer: the deployed version.
        cases: the rows; a wrong answer of theirs stands in an attack.
        earned: what nothing and all are; None for the scale's.

    Raises:
        AwsFailed: the version cannot be invoked.
    """
    named = [*_hostile(cases)]
    if scorer.judges:
        named = named[:: max(1, len(named) // JUDGED_ROWS)][:JUDGED_ROWS]
    results = scorer.score([case.sample.answered(text) for _, case, text in named])
    values = [result.score.value for result in results if isinstance(result, Scored)]
    credit = scorer.spec.partial_credit if scorer.spec else None
    earned = earned or earnings(scorer.scale(values), partial_credit=credit)
    paid: dict[str, CheckExample] = {}
    lost: dict[str, Exception] = {}
    for (name, case, text), result in zip(named, results, strict=True):
        if isinstance(result, Unscored) and isinstance(result.error, DatasetError):
            continue  # its row cannot be used, whatever is answered: that is a finding above
        if isinstance(result, Unscored):
            lost[name] = result.error
        elif earned.share(result.score.value) > earned.most_wrong:
            command = _explain_command(scorer, case.sample, text)
            paid[name] = CheckExample(case.place, text[:SHOWN], result.score.value, command)
    if paid:
        yield failure(
            "hostile answers",
            f"{len(paid)} of {len(named)} are paid: {_some([*paid])}",
            next(iter(paid.values())),
        )
    if lost:
        error = next(iter(lost.values()))
        yield failure(
            "hostile answers",
            f"{len(lost)} of {len(named)} have no reward: {_some([*lost])}; {error}",
        )
    if not (paid or lost):
        yield ok("hostile answers", f"{len(named)} earn {earned.most_wrong:g} or less")


def _hostile(cases: Sequence[ReplayCase]) -> Iterator[tuple[str, ReplayCase, str]]:
    """Each answer by its name, with the row that it is sent for."""
    rows = cycle(cases)
    for name, text in hostile_responses():
        if len(text) <= MOST_CHARACTERS:
            yield name, next(rows), text
    for at, attack in enumerate(attacks(WRONG_ANSWER)):
        case = cases[at % len(cases)]
        yield (
            f"{attack.kind}, {attack.name}",
            case,
            attack.response.replace(WRONG_ANSWER, _wrong(case)),
        )
    case = next(rows)
    prose = (REASONED + "\n") * (LONGEST // len(REASONED) + 1)
    yield "the longest", case, prose[-LONGEST:] + _wrong(case)


def _wrong(case: ReplayCase) -> str:
    """A wrong answer in one line."""
    return (case.wrong or WRONG_ANSWER).splitlines()[-1]


def _explain_command(scorer: VersionScorer, sample: Sample, text: str) -> str:
    """What explains a score here; "" for a text that no shell takes as it is shown."""
    reference = reference_of(sample)
    plain = 0 < len(text) <= SHOWN and text.isprintable() and text[:1] not in "@-"
    if not (plain and reference and reference.isprintable() and scorer.same_here and scorer.spec):
        return ""
    words = [scorer.spec.name, "--response", text, "--reference", reference]
    return f"reward explain {shlex.join(words)}"


def _some(names: Sequence[str]) -> str:
    named = ", ".join(names[:NAMED])
    return named if len(names) <= NAMED else f"{named} and {len(names) - NAMED} more"
