"""Answers that deserve nothing whatever the question is, and that a policy could write.

    from                                     which
    `reward_functions.testing`               hostile ones, up to 20,000 characters each
    `judge_runtime.attack_corpus`            attacks on judges, around a wrong answer to the row
    here                                     one of 100,000 characters, that ends in a wrong answer

Longer ones are left out: 100,000 characters are some 25,000 tokens, more than a policy may write.
A judge gets eight of them, as every answer is a call to its model; `reward judge doctor` tries all.
"""

from __future__ import annotations

import shlex
from itertools import cycle
from typing import TYPE_CHECKING, Final

from reward_functions.aws.deployed.findings import SHOWN, CheckExample, CheckFinding
from reward_functions.core.errors import DatasetError
from reward_functions.core.types import Sample, Scored, Unscored
from reward_functions.data.other_answers import REASONED, ReplayCase
from reward_functions.data.replaying import Earnings, earnings
from reward_functions.jobs.checks.forms import reference_of
from reward_functions.judge_runtime.attack_corpus import attacks
from reward_functions.testing import hostile_responses
from reward_functions.testing.hostile import WRONG

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reward_functions.jobs.scorer import VersionScorer

MOST_CHARACTERS: Final = 20_000
"""Of a hostile answer of `reward_functions.testing`: some 5,000 tokens."""

LONGEST: Final = 100_000
"""Characters of the longest answer that is sent."""

JUDGED: Final = 8
"""How many a judge gets."""

NAMED: Final = 3
"""Hostile answers that a finding names; the rest is a number."""


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
        named = named[:: max(1, len(named) // JUDGED)][:JUDGED]
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
        yield CheckFinding(
            "failure",
            "hostile answers",
            f"{len(paid)} of {len(named)} are paid: {_some([*paid])}",
            next(iter(paid.values())),
        )
    if lost:
        error = next(iter(lost.values()))
        yield CheckFinding(
            "failure",
            "hostile answers",
            f"{len(lost)} of {len(named)} have no reward: {_some([*lost])}; {error}",
        )
    if not (paid or lost):
        yield CheckFinding(
            "ok", "hostile answers", f"{len(named)} earn {earned.most_wrong:g} or less"
        )


def _hostile(cases: Sequence[ReplayCase]) -> Iterator[tuple[str, ReplayCase, str]]:
    """Each answer by its name, with the row that it is sent for."""
    rows = cycle(cases)
    for name, text in hostile_responses():
        if len(text) <= MOST_CHARACTERS:
            yield name, next(rows), text
    for at, attack in enumerate(attacks(WRONG)):
        case = cases[at % len(cases)]
        yield f"{attack.kind}, {attack.name}", case, attack.response.replace(WRONG, _wrong(case))
    case = next(rows)
    prose = (REASONED + "\n") * (LONGEST // len(REASONED) + 1)
    yield "the longest", case, prose[-LONGEST:] + _wrong(case)


def _wrong(case: ReplayCase) -> str:
    """A wrong answer in one line."""
    return (case.wrong or WRONG).splitlines()[-1]


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
