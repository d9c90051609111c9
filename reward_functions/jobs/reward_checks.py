"""The deployed version, asked as the job will ask it: the contract, and what it pays.

An audit of the job's own rows says what it pays: `audit.corpus` has the classes of answers, and
`reward audit` tries more rows.

| found | is |
| --- | --- |
| more than 2 % of the prompts are paid, or refused | a failure |
| fewer are | a warning |
| a hostile answer or words to the judge are paid, or an answer has no reward | a failure |
| right answers in another layout, or in another form of the same value, are refused | a warning |
| a wrong answer earns no more than the partial credit that the reward declares | a warning |
| one answer to everything earns half of the way to a right one | a warning |

A reward may read one form on purpose; whether it may, `reward audit` holds to a gate.
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.audit.corpus import BY_ID
from reward_functions.audit.deployment import Deployed
from reward_functions.audit.engine import AuditOptions, AuditRows, audited
from reward_functions.audit.gold import reference_words
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

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from reward_functions.audit.results import Finding, SeenRow
    from reward_functions.aws.deployed.scorer import VersionScorer
    from reward_functions.core.types import Sample
    from reward_functions.serving.contract import ResponseMode

ROWS: Final = 100
"""Rows that are tried, of the job's own: a share of 1 % shows."""

JUDGED_ROWS: Final = 8
"""The same for a judge: every answer is a call to its model."""

BATCH: Final = 16
"""Samples of the timed batch."""

MOST: Final = 0.02
"""The share of the prompts that may be paid or refused before a job is stopped."""

NAMED: Final = 3
"""Rows that a finding names; the rest is a number."""

STRICT: Final = ("FN-LAYOUT", "FN-VALUE")
"""Right answers that a reward may refuse on purpose."""

NEVER: Final = ("EX-HOSTILE", "EX-JUDGE", "UNSCORED", "EQUAL")
"""Findings that stop a job whatever the share is: a hostile answer is tried on one row alone."""

HINTS: Final[Mapping[str, str]] = {
    "FN-ASKED": "a model that does as it is asked would not be paid; change the prompts, or take a "
    "reward that reads the form",
    "LAZY": "the policy may settle on it; balance the answers of the data",
}
"""What to do, or what it means."""


def contract_findings(
    scorer: VersionScorer,
    progress: Callable[[str], object] = lambda _: None,
    *,
    mode: ResponseMode = "list",
) -> Iterator[CheckFinding]:
    """The findings of an audit about the contract that a trainer relies on.

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
    """The findings about what it pays on the job's own rows.

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
    name = scorer.deployed.name if scorer.deployed else scorer.arn.name
    asked = AuditOptions(
        rows=rows or (JUDGED_ROWS if scorer.judges else ROWS),
        repeat=1,
        thorough=not scorer.judges,
        answers_alone=True,
    )
    done = audited(
        Deployed(scorer, name), AuditRows("", samples, places), asked, progress, lambda _: True
    )
    shown = _Shown(scorer, dict(zip(places, samples, strict=True)), file)
    if all(each.id != "FN-RIGHT" for each in done.findings):
        yield unknown("right answers", done.notes[-1])
    good = [each for each in done.findings if each.verdict == "ok"]
    for each in done.findings:
        yield from _found(each, shown)
    if others := [each.title for each in good if each.id != "FN-RIGHT"]:
        yield ok("other answers", f"earn what they may: {', '.join(others)}")


class _Shown(NamedTuple):
    """What shows a finding: the rows by their place, and commands that ask for more."""

    scorer: VersionScorer
    rows: Mapping[str, Sample]
    file: str

    def example(self, finding: Finding) -> CheckExample | None:
        """The worst answer of a finding; None where it has no score."""
        for row in finding.rows[:1]:
            if row.score is not None:
                answer = "the prompt itself" if finding.id == "EX-PROMPT" else row.response[:SHOWN]
                return CheckExample(row.place, answer, row.score, self._command(finding, row))
        return None

    def declared(self, finding: Finding) -> bool:
        """Whether the worst answer earns no more than the reward declares to pay a wrong one."""
        spec = self.scorer.spec
        if spec is None or not finding.id.startswith("EX-"):
            return False
        if callable(spec.partial_credit) or not spec.partial_credit:
            return False  # the audit has held each row to its own credit
        most = spec.partial_credit + MOST * (spec.scale.maximum - spec.scale.minimum)
        return all(row.score is not None and row.score <= most for row in finding.rows)

    def _command(self, finding: Finding, row: SeenRow) -> str:
        """What shows more of it here; "" where the very version is not installed here."""
        scorer = self.scorer
        if not (scorer.same_here and scorer.deployed and scorer.spec):
            return ""
        given = [f"-p {shlex.quote(f'{of}={to}')}" for of, to in scorer.deployed.parameters.items()]
        text = row.response
        sample = self.rows.get(row.place)
        reference = reference_words(sample) if sample else None
        plain = 0 < len(text) <= SHOWN and text.isprintable() and text[:1] not in "@-"
        if finding.id == "EX-HOSTILE" and plain and reference and reference.isprintable():
            words = [scorer.spec.name, "--response", text, "--reference", reference]
            return " ".join([f"reward explain {shlex.join(words)}", *given])
        if not self.file:
            return ""
        tried = ["--class", finding.id] if finding.id in BY_ID else []
        words = [scorer.spec.name, self.file, *tried, "--texts"]
        return " ".join([f"reward audit {shlex.join(words)}", *given])


def _found(finding: Finding, shown: _Shown) -> Iterator[CheckFinding]:
    """A finding of an audit as one of a preflight; those of good classes are told together."""
    title, message = finding.title, finding.message
    if finding.id in HINTS and finding.verdict != "untested":
        message = f"{message}; {HINTS[finding.id]}"
    if finding.verdict == "ok":
        if finding.id == "FN-RIGHT":
            yield ok(title, message)
    elif finding.verdict == "untested":
        if finding.id == "EX-WRONG":
            yield failure(title, message)
        elif finding.id.startswith("EX-"):
            yield unknown(title, f"not tried: {message}")
    elif finding.verdict == "note":
        yield warning(title, message, shown.example(finding))
    else:
        if finding.rows:
            message = f"{message}; {_named(finding)}"
        of = finding.count / finding.n if finding.n else 1.0
        stops = finding.id in NEVER or (of > MOST and finding.id not in STRICT)
        stops = stops and not shown.declared(finding)
        yield (failure if stops else warning)(title, message, shown.example(finding))


def _named(finding: Finding) -> str:
    """The first rows, or the first that has no reward and why."""
    row = finding.rows[0]
    if row.score is None:
        return f"{row.place}: {row.reason}"
    return f"such as {', '.join(each.place for each in finding.rows[:NAMED])}"
