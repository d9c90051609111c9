"""The check of one deployed function: what a trainer relies on, tried before a trainer does.

Each question is an invocation, answered by findings in words. The function is asked about a dozen
times; nothing is written anywhere.

How long a function takes, and how many samples fit into what Lambda carries.
"""

from __future__ import annotations

import json
from itertools import chain
from math import ceil
from random import Random
from statistics import median
from typing import TYPE_CHECKING, Final

from reward_functions.aws.arn import OURS
from reward_functions.aws.deployed.configuration import (
    configuration,
    configuration_findings,
    envelope_findings,
    name_findings,
    timeout_of,
)
from reward_functions.aws.deployed.findings import CheckFinding, CheckReport, failed
from reward_functions.aws.deployed.function import flagged
from reward_functions.aws.deployed.invocation import MAX_PAYLOAD_BYTES, FunctionError
from reward_functions.aws.deployed.probes import (
    MALFORMED,
    as_evaluated,
    otherwise_written,
    renamed,
    repeated,
    without_turn,
)
from reward_functions.aws.deployed.response import read
from reward_functions.aws.failures import AwsFailed
from reward_functions.reports.measured import Measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reward_functions.aws.deployed.function import DeployedFunction
    from reward_functions.aws.deployed.invocation import Invocation
    from reward_functions.aws.deployed.probes import Expectation, Row
    from reward_functions.aws.deployed.response import Breach, Response
    from reward_functions.serving.contract import ResponseMode


STEP: Final = 512 * 16
"""Samples of Bedrock's largest optimiser step: the most one event could hold."""


def load_findings(
    rows: Sequence[Row], first: Invocation, warm: Sequence[Invocation], timeout: int | None
) -> Iterator[CheckFinding]:
    """What batches of this size mean for time and size.

    Args:
        rows: a batch.
        first: the first invocation of all, of whatever batch.
        warm: those of this batch.
        timeout: the function's, in seconds; None where it is not known.
    """
    seconds = [invocation.seconds for invocation in warm]
    start = " with a cold start" if first.cold else ""
    message = (
        f"{len(rows)} samples take {_time(median(seconds))}, {_time(max(seconds))} at most; "
        f"the first batch took {_time(first.seconds)}{start}"
    )
    if timeout is not None and max(*seconds, first.seconds) > timeout / 2:
        yield CheckFinding(
            "warning", "latency", f"{message}: more than half of its timeout of {timeout} s"
        )
    else:
        yield CheckFinding("ok", "latency", message)
    yield _size("request", len(json.dumps(list(rows)).encode()), len(rows))
    yield _size("response", len(warm[-1].body), len(rows))


def _size(what: str, size: int, samples: int) -> CheckFinding:
    fit = MAX_PAYLOAD_BYTES * samples // size
    message = (
        f"{ceil(size / samples):,} bytes a sample: {fit:,} such samples fit into Lambda's 6 MB"
    )
    if fit < STEP:
        message += f"; Bedrock's largest step has {STEP:,}, its largest event is undocumented"
    return CheckFinding("ok", what, message)


def _time(seconds: float) -> str:
    return f"{seconds * 1000:,.0f} ms" if seconds < 1 else f"{seconds:,.1f} s"


BATCH: Final = 64
"""Samples in a batch. No trainer documents how many it sends at once."""

WARM: Final = 3
"""Warm batches that are timed."""

NAMED: Final = 3
"""Examples that score otherwise and are named one by one."""

DRIFT: Final = "another version is deployed, or it has other parameters"
"""Why a function of this project gives other scores. Of anybody else's the cause is not known."""

READERS: Final[dict[ResponseMode, str]] = {
    "list": "a bare list: Bedrock and SageMaker's training of Nova models read it, and SageMaker's "
    "serverless customization of open-weight models does not",
    "envelope": "an envelope: SageMaker's serverless customization of open-weight models reads it, "
    "and Bedrock does not",
}


def check(
    function: DeployedFunction,
    expected: Expectation,
    *,
    batch_size: int = BATCH,
    progress: Callable[[str], object] = lambda _: None,
) -> CheckReport:
    """Try everything a trainer relies on.

    Args:
        function: any Lambda function.
        expected: what is known of it; `Expectation(made_up())` where nothing is.
        batch_size: samples in the batch that is timed.
        progress: called with the step that begins.

    Raises:
        AwsFailed: it could not be invoked at all. A function that fails is a finding.
    """
    asked = _Check(function, expected, batch_size, progress)
    found = tuple(chain(name_findings(function.arn), asked.answers()))
    scored, missing = asked.scored, len(asked.rows) - asked.scored
    return CheckReport(str(function.arn), found, Measured("samples", scored, missing))


class _Check:
    """The invocations of one check, in order; each is compared with the first response."""

    def __init__(
        self,
        function: DeployedFunction,
        expected: Expectation,
        batch_size: int,
        progress: Callable[[str], object],
    ) -> None:
        self.function = function
        self.expected = expected
        self.batch_size = batch_size
        self.progress = progress
        self.rows = list(expected.rows)
        self.scored = 0

    def answers(self) -> Iterator[CheckFinding]:
        self.progress("reading its configuration")
        settings = configuration(self.function)
        yield from configuration_findings(settings)
        self.progress("sending the first batch")
        try:
            first, answered = self.ask(self.rows)
        except FunctionError as error:
            yield CheckFinding("failure", "first batch", failed(error))
            return
        yield from self.contract(answered)
        timeout = None if settings is None else timeout_of(settings)
        try:
            yield from self.scores(answered)
            yield from self.again("determinism", "the second time", self.rows, answered)
            shuffled = Random(0).sample(self.rows, len(self.rows))  # noqa: S311
            yield from self.again("independence", "in another order", shuffled, answered)
            yield from self.again("one sample", "alone", self.rows[:1], answered)
            yield from self.accepted(
                "unusual ids",
                "ids of one digit, with quotes, with an emoji, of 300 letters",
                renamed(self.rows),
                answered,
            )
            yield from self.accepted(
                "no answer",
                "a row without a generated turn, as AWS's own checks before a job send",
                [without_turn(self.rows[0])],
                answered,
            )
            yield from self.dialects(answered)
            yield from self.evaluation(answered)
            yield from self.malformed(answered)
            yield from self.load(first, answered, timeout)
        except AwsFailed as error:  # it was reached before: now it is throttled, or too slow
            yield CheckFinding("failure", "reachable", str(error))

    def ask(self, rows: Sequence[Row]) -> tuple[Invocation, Response]:
        """Send a batch; read what comes back."""
        invocation = self.function.invoke(list(rows))
        ids = [row["id"] for row in rows]
        return invocation, read(invocation.body, ids, self.expected.scale)

    def contract(self, answered: Response) -> Iterator[CheckFinding]:
        """The first response, as whoever reads it does."""
        for breach in answered.breaches:
            yield CheckFinding("failure", breach.kind, breach.message)
        unscored = [name for name in answered.scores if flagged(answered.results[name])]
        self.scored = len(answered.scores) - len(unscored)
        if unscored:
            yield CheckFinding(
                "failure",
                "unscored",
                f"{len(unscored)} of {len(self.rows)} samples have a number that stands for no "
                "score: the function could not score them; its log says why",
            )
        if not answered.breaches:
            yield CheckFinding(
                "ok", "contract", f"{len(self.rows)} samples: ids, order, numbers and metrics"
            )
        wanted = self.expected.mode
        if answered.mode is not None:
            unlike = wanted is not None and wanted != answered.mode
            yield CheckFinding(
                "failure" if unlike else "ok",
                "response mode",
                f"{READERS[answered.mode]}{f'; it is deployed as {wanted!r}' if unlike else ''}",
            )
        if "envelope" in (answered.mode, wanted):
            yield from envelope_findings(self.function.arn)
        values = set(answered.scores.values())
        if len(values) == 1 and len(self.rows) > 1:
            yield CheckFinding(
                "warning",
                "equal rewards",
                f"all {len(self.rows)} samples earn {values.pop():g}: a group whose rewards are "
                "all equal has zero advantage",
            )

    def scores(self, answered: Response) -> Iterator[CheckFinding]:
        """Its examples earn what they earn here."""
        wanted, reward = self.expected.scores, self.expected.reward
        if not wanted:
            yield CheckFinding("unknown", "scores", "what these samples must earn is not known")
            return
        if not answered.scores:
            yield _unread("scores")
            return
        wrong = [name for name in wanted if answered.scores.get(name) != wanted[name]]
        cause = DRIFT if self.function.arn.name.startswith(OURS) else f"it is not {reward} as here"
        for name in wrong[:NAMED]:
            yield CheckFinding(
                "failure",
                "scores",
                f"{name} of {reward} earns {_shown(answered.scores.get(name))} there and "
                f"{wanted[name]:g} here: {cause}",
            )
        if len(wrong) > NAMED:
            yield CheckFinding("failure", "scores", f"and {len(wrong) - NAMED} more examples")
        if not wrong:
            yield CheckFinding(
                "ok", "scores", f"{len(wanted)} examples of {reward} earn what they must"
            )

    def again(
        self, question: str, how: str, rows: Sequence[Row], before: Response
    ) -> Iterator[CheckFinding]:
        """The same samples earn the same, however they are sent."""
        self.progress(f"sending the samples {how}")
        try:
            _, answered = self.ask(rows)
        except FunctionError as error:
            yield CheckFinding("failure", question, f"{how}: {failed(error)}")
            return
        new = _new(answered, before)
        for breach in new:
            yield CheckFinding("failure", question, f"{how}: {breach.message}")
        if not (new or answered.scores):
            yield _unread(question)
            return
        changed = [
            name
            for name, value in answered.scores.items()
            if before.scores.get(name, value) != value
        ]
        if changed:
            one = changed[0]
            yield CheckFinding(
                "failure",
                question,
                f"{len(changed)} of {len(rows)} samples earn something else {how}: {one} earned "
                f"{before.scores[one]:g} and now {answered.scores[one]:g}",
            )
        elif not new:
            yield CheckFinding("ok", question, f"{len(rows)} earn the same {how}")

    def accepted(
        self, question: str, what: str, rows: Sequence[Row], before: Response
    ) -> Iterator[CheckFinding]:
        """Rows a trainer may send are answered like any others."""
        self.progress(f"sending {what}")
        try:
            _, answered = self.ask(rows)
        except FunctionError as error:
            yield CheckFinding("failure", question, f"{what}: {failed(error)}")
            return
        new = _new(answered, before)
        for breach in new:
            yield CheckFinding("failure", question, f"{what}: {breach.message}")
        if not new:
            yield CheckFinding("ok", question, what) if answered.scores else _unread(question)

    def dialects(self, before: Response) -> Iterator[CheckFinding]:
        """The sample that earned most, as other trainers write it."""
        if not before.scores:
            yield _unread("dialects")
            return
        if len(set(before.scores.values())) == 1:
            yield CheckFinding(
                "unknown", "dialects", "where all samples earn the same, they cannot be compared"
            )
            return
        best, score = self.best(before)
        understood = []
        for how, row in otherwise_written(best).items():
            self.progress(f"sending {how}")
            try:
                _, answered = self.ask([row])
            except FunctionError as error:
                yield CheckFinding("warning", "dialects", f"{how}: {failed(error)}")
                continue
            now = answered.scores.get(row["id"])
            if now == score:
                understood.append(how)
                continue
            yield CheckFinding(
                "warning",
                "dialects",
                f"{how}: the sample earns {_shown(now)} in the place of {_shown(score)}; some "
                "trainers write it so",
            )
        if understood:
            yield CheckFinding("ok", "dialects", ", ".join(understood))

    def evaluation(self, before: Response) -> Iterator[CheckFinding]:
        """The same sample as an evaluation job sends it, which reads nothing but an envelope.

        Not asked of another's function that answers with a list: SageMaker gives it to no such job.
        """
        question = "evaluation"
        envelopes = "envelope" in (before.mode, self.expected.mode)
        if self.expected.reward is None and not envelopes:
            return
        if len(set(before.scores.values())) < 2:  # noqa: PLR2004 - nothing to tell apart
            yield CheckFinding("unknown", question, "there are no two rewards to tell apart")
            return
        best, score = self.best(before)
        row = as_evaluated(best)
        if row is None:
            yield CheckFinding(
                "unknown", question, "the sample is no single question, which is all a job asks"
            )
            return
        self.progress("sending a row of an evaluation job")
        what = "a row of SageMaker's evaluation jobs of open weights"
        try:
            _, answered = self.ask([row])
        except FunctionError as error:
            yield CheckFinding("warning", question, f"{what}: {failed(error)}")
            return
        now = answered.scores.get(row["id"])
        if now != score:
            yield CheckFinding(
                "warning",
                question,
                f"{what}: the sample earns {_shown(now)} in the place of {_shown(score)}",
            )
        elif answered.mode != "envelope":
            yield CheckFinding(
                "warning",
                question,
                f"{what} earns the same, and is not answered in the envelope that they read",
            )
        else:
            yield CheckFinding("ok", question, f"{what} earns the same, in the envelope they read")

    def best(self, before: Response) -> tuple[Row, float | None]:
        """The sample that earned most, and what it earned."""
        best = max(self.rows, key=lambda row: before.scores.get(row["id"], float("-inf")))
        return best, before.scores.get(best["id"])

    def malformed(self, before: Response) -> Iterator[CheckFinding]:
        """One row that is not a valid sample costs the others nothing."""
        self.progress("sending a row that is not a valid sample")
        try:
            _, answered = self.ask([*self.rows, MALFORMED])
        except FunctionError as error:
            yield CheckFinding(
                "warning",
                "malformed row",
                f"one row that is not a valid sample fails the whole batch: {failed(error)}",
            )
            return
        new = _new(answered, before)
        for breach in new:
            yield CheckFinding("failure", "malformed row", f"beside one: {breach.message}")
        if not (new or before.scores):
            yield _unread("malformed row")
            return
        changed = [
            name for name, value in before.scores.items() if answered.scores.get(name) != value
        ]
        if changed:
            yield CheckFinding(
                "warning",
                "malformed row",
                f"one row that is not a valid sample changes the rewards of {len(changed)} others",
            )
        elif not new:
            yield CheckFinding("ok", "malformed row", "the others keep their rewards beside it")

    def load(
        self, first: Invocation, before: Response, timeout: int | None
    ) -> Iterator[CheckFinding]:
        """A batch of the size a trainer sends, some times over."""
        rows = repeated(self.rows, self.batch_size)
        warm = []
        for turn in range(1, WARM + 1):
            self.progress(f"timing {len(rows)} samples, {turn} of {WARM}")
            try:
                invocation, answered = self.ask(rows)
            except FunctionError as error:
                yield CheckFinding("failure", "load", f"{len(rows)} samples: {failed(error)}")
                return
            warm.append(invocation)
            if new := _new(answered, before):
                for breach in new:
                    yield CheckFinding("failure", "load", f"{len(rows)} samples: {breach.message}")
                return
        yield from load_findings(rows, first, warm, timeout)


def _new(answered: Response, before: Response) -> list[Breach]:
    """The breaches that the first response does not have: each is reported once."""
    return [breach for breach in answered.breaches if breach not in before.breaches]


def _unread(question: str) -> CheckFinding:
    """What a response without a single reward leaves open."""
    return CheckFinding("unknown", question, "the response holds no reward that can be read")


def _shown(score: float | None) -> str:
    return "nothing" if score is None else f"{score:g}"
