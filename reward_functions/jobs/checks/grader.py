"""The deployed version, asked as the job will ask it: the contract, and what it pays.

    answers                                                  must earn, of the way from nothing to
                                                             all, on average
    the right one to every row that is tried                 0.99 or more
    wrong, empty, cut off, the form alone, lists of guesses, both answers, the prompt, near misses,
    words to the judge …                                     0.02 or less, each kind
    the reference in the form that all prompts ask for       0.99 or more (`checks.forms`)
    hostile ones that a policy could write                   0.02 or less, each one

The kinds, and what nothing and all are, stand in `data.replaying`; the hostile ones in
`checks.hostile`.
Right answers are written by the reward's own `gold_response`. For a function that has none here,
the reference is put into the usual forms, and the form that earns most is taken for right.
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from math import fsum
from random import Random
from typing import TYPE_CHECKING, Final

from reward_functions.aws.deployed.checking import Expectation, check, expectation, made_up
from reward_functions.aws.deployed.findings import SHOWN, CheckExample, CheckFinding
from reward_functions.core.alternatives import right_writer
from reward_functions.core.references import reference_text
from reward_functions.core.types import Scored
from reward_functions.data.other_answers import ReplayCase
from reward_functions.data.replayed_answers import (
    CONSTANT,
    FORM_ALONE,
    ORDER,
    PROMPT,
    RIGHT,
    WRONG,
)
from reward_functions.data.replaying import (
    ALIKE,
    LEAST_RIGHT,
    MOST_WRONG,
    NO_WRONG,
    replay_written,
)
from reward_functions.jobs.checks.forms import FORMS, form_findings, reference_of
from reward_functions.jobs.checks.forms import ROWS as FORM_ROWS
from reward_functions.jobs.checks.hostile import hostile_findings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reward_functions.core.spec import GoldResponse
    from reward_functions.core.types import RewardResult, Sample
    from reward_functions.data.replaying import ReplayedKind, ReplayReport
    from reward_functions.jobs.scorer import VersionScorer
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
"""Rows that a finding names."""

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
        yield CheckFinding("unknown", "rewards", "there are no rows to try it on")
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
        yield CheckFinding(
            "unknown",
            "right answers",
            "nobody here can write one: the reward declares no gold_response, and the reference "
            "earns nothing in any usual form",
        )
    else:
        scored = _Scored(scorer)
        report = replay_written(
            gold,
            scorer.spec.scale if scorer.spec else None,
            tried,
            where,
            scored,
            partial_credit=scorer.spec.partial_credit if scorer.spec else None,
        )
        yield from _of_replay(report, _replay_command(scorer, file))
        if any(one.kind == RIGHT and not one.failed for one in report.played):
            yield from form_findings(scorer, tried, where, gold, report.earnings)
        cases, earned = report.cases or cases, report.earnings
    progress("scoring hostile answers")
    yield from hostile_findings(scorer, cases, earned)


class _Scored:
    """The scorer as a replay calls it, once for each kind of answer."""

    def __init__(self, scorer: VersionScorer) -> None:
        self.scorer = scorer

    def __call__(self, samples: Sequence[Sample]) -> Sequence[RewardResult]:
        return self.scorer.score(samples)


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
            yield CheckFinding(
                "ok", "right answers", f"earn {one.mean:.3f} of the scale on {one.scored:,} rows"
            )
    most = report.earnings.most_wrong
    gaming = [one.kind for one in well if one.kind != RIGHT]
    if gaming:
        yield CheckFinding("ok", "other answers", f"earn {most:g} or less: {', '.join(gaming)}")
    yield from _not_tried(report)
    yield from _of_constant(report.played)
    means = {one.mean for one in report.played if one.mean is not None}
    if len(means) == 1:
        yield CheckFinding(
            "failure",
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
        return CheckFinding("failure", "right answers", message, example)
    return CheckFinding(
        "failure",
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
        yield CheckFinding("warning", "one answer", f"{ALIKE}; wrong answers are near misses of it")
    if WRONG in missing and report.cases:
        yield CheckFinding("failure", WRONG, NO_WRONG)
    for kind in missing:
        if kind in NOT_TRIED and not report.alike:
            yield CheckFinding("unknown", kind, f"not tried: {NOT_TRIED[kind]}")


def _unscored(one: ReplayedKind) -> CheckFinding:
    place, error = one.errors[0]
    return CheckFinding(
        "failure", one.kind, f"{one.unscored:,} answers have no reward; {place}: {error}"
    )


def _of_constant(played: Sequence[ReplayedKind]) -> Iterator[CheckFinding]:
    for one in played:
        if one.kind == CONSTANT and one.mean is not None and one.mean >= ALWAYS:
            yield CheckFinding(
                "warning",
                CONSTANT,
                f"one answer to everything earns {one.mean:.3f} of the scale: the policy may "
                "settle on it; balance the answers of the data",
            )
