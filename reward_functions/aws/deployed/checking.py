"""The check of one deployed function: what a trainer relies on, tried before a trainer does.

Its name and settings are looked at; then each question is an invocation, answered by findings in
words. The function is asked about a dozen times; nothing is written anywhere.

The examples of a reward of this project are sent, and must earn what they earn here: parameters are
the deployment's own, so that both must return the same. Of any other function only the contract is
known; rows of a file, or four made up here, are enough to test that.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import chain
from math import ceil
from random import Random
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.arn import OURS
from reward_functions.aws.calls import wait
from reward_functions.aws.deployed.findings import (
    CheckFinding,
    CheckReport,
    failed,
    failure,
    ok,
    unknown,
    warning,
)
from reward_functions.aws.deployed.function import MAX_PAYLOAD_BYTES, FunctionError, flagged, read
from reward_functions.aws.failures import OF_FUNCTIONS, AwsFailed, in_words
from reward_functions.core.batch import score_batch
from reward_functions.core.errors import BadReference, UnknownReward
from reward_functions.core.types import Scored, Unscored
from reward_functions.data.rows.writing import write
from reward_functions.reports.measured import Measured
from reward_functions.testing import wire_row

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence

    from reward_functions.aws.arn import FunctionArn
    from reward_functions.aws.catalogue import DeployedReward
    from reward_functions.aws.deployed.function import (
        Breach,
        DeployedFunction,
        Invocation,
        Response,
    )
    from reward_functions.core.spec import RewardSpec, Scale
    from reward_functions.serving.contract import ResponseMode


VCPU_MEMORY: Final = 1769
"""Megabytes with which Lambda gives a function one whole processor."""

DEFAULT_TIMEOUT: Final = 3
"""Lambda's own default, in seconds, with which SDKs deploy."""

DEFAULT_MEMORY: Final = 128

PATIENCE: Final = 30.0
"""Seconds to wait for a function that was created or updated a moment ago."""

PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 2.0
"""Seconds between two looks at it; each pause is twice the one before."""


def name_findings(arn: FunctionArn) -> Iterator[CheckFinding]:
    """Findings about the function's name and ARN."""
    if "SageMaker" not in arn.name:
        yield warning(
            "name",
            f"{arn.name} has no 'SageMaker' in it, in this case: HyperPod and SageMaker's own "
            "policies invoke no other functions",
        )
    if arn.moves:
        yield warning(
            "version",
            f"{_moving(arn)}: a deployment in the middle of a job changes the reward under it; "
            "give the job the version",
        )


def _moving(arn: FunctionArn) -> str:
    """Why an ARN moves."""
    if arn.qualifier in (None, "$LATEST"):
        return "the ARN names the version that is deployed last"
    return f"the alias {arn.qualifier!r} moves"


def envelope_findings(arn: FunctionArn) -> Iterator[CheckFinding]:
    """Findings about the ARN of a function that answers SageMaker's serverless customization.

    Its client, the SageMaker Python SDK, takes neither a qualifier nor a dot. A reader of a bare
    list may be Bedrock, which takes both: a check of such a function does not speak of it.
    """
    if not arn.immutable:
        yield warning(
            "ARN",
            "SageMaker's own client takes no qualifier and no dot, and a plain ARN moves: give it "
            'the ARN of a deployment with "immutable": true',
        )


def configuration(function: DeployedFunction) -> dict[str, Any] | None:
    """Lambda's settings of the function; None where the caller may not read them.

    One that is being created or updated is waited for, some seconds: until then Lambda refuses to
    run it, or runs what was deployed before.

    Raises:
        AwsFailed: they cannot be read for another reason.
    """
    try:
        return wait(
            lambda: _read(function),
            lambda found: not _changing(found),
            seconds=PATIENCE,
            pause=PAUSE,
            longest=LONGEST_PAUSE,
        )
    except AwsFailed as error:
        if error.denied:
            return None
        raise


def _read(function: DeployedFunction) -> dict[str, Any]:
    with in_words(f"reading the configuration of {function.arn.name}", OF_FUNCTIONS):
        return dict(function.client.get_function_configuration(FunctionName=str(function.arn)))


def _changing(settings: dict[str, Any]) -> bool:
    return settings.get("State") == "Pending" or (settings.get("LastUpdateStatus") == "InProgress")


def timeout_of(settings: dict[str, Any]) -> int:
    """Seconds an invocation may take."""
    return int(settings.get("Timeout", DEFAULT_TIMEOUT))


def configuration_findings(settings: dict[str, Any] | None) -> Iterator[CheckFinding]:
    """Findings about its timeout, memory and state."""
    if settings is None:
        yield unknown("configuration", "lambda:GetFunctionConfiguration is not allowed here")
        return
    timeout, memory = timeout_of(settings), settings.get("MemorySize", DEFAULT_MEMORY)
    state = settings.get("State", "Active")
    if timeout <= DEFAULT_TIMEOUT:
        yield failure(
            "timeout",
            f"{timeout} seconds is no more than Lambda's default: a cold start and a batch do not "
            "fit",
        )
    if memory < VCPU_MEMORY:
        yield warning(
            "memory",
            f"{memory} MB get a part of a processor; a whole one comes with {VCPU_MEMORY:,} MB",
        )
    if state not in ("Active", "Inactive"):  # the second starts again when it is invoked
        yield failure("state", f"the function is {state}")
    updated = settings.get("LastUpdateStatus", "Successful")
    if updated != "Successful":
        yield warning(
            "update", f"its last update is {updated}: it may answer with what was deployed before"
        )


Row = dict[str, Any]

QUESTION: Final = "What is 17 + 25? Write the answer behind ####."

ANSWERS: Final = ("17 + 25 = 42\n#### 42", r"\boxed{42}", "#### 43", "")
"""Right in two forms, wrong, and nothing at all."""

UNUSUAL: Final = ("0", "é🎉", 'a "quoted" id\n', "x" * 300)
"""Ids a data set may well have."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """The facts about a function before it is asked.

    Args:
        rows: samples as a trainer sends them, of different ids.
        scores: what rows must earn, by id; empty where they are not known.
        scale: the range of its rewards; None where it is not known.
        mode: its response mode; None where either is right.
        reward: the reward function's name, where it is one of this project's.
        unusable: the ids of rows whose references the reward cannot read with its parameters.
    """

    rows: tuple[Row, ...]
    scores: Mapping[str, float] = field(default_factory=dict)
    scale: Scale | None = None
    mode: ResponseMode | None = None
    reward: str | None = None
    unusable: frozenset[str] = frozenset()


def expectation(deployed: DeployedReward) -> Expectation:
    """The required answers of a deployment: the examples of its reward, with its own parameters.

    Where the reward is not installed here, nothing is known but how it answers.

    Raises:
        BadParameter: the reward that is installed here has no such parameter.
    """
    try:
        spec = deployed.spec()
    except UnknownReward:
        return Expectation(made_up(), mode=deployed.response_mode)
    return expectation_of(spec, deployed.parameters, deployed.response_mode)


def expectation_of(
    spec: RewardSpec, parameters: Mapping[str, Any], mode: ResponseMode | None = None
) -> Expectation:
    """The same for a reward and its parameters; the scores of a judge are not known.

    Raises:
        BadParameter: the reward has no such parameter, or one of another type.
    """
    samples = [example.sample(f"example-{at}") for at, example in enumerate(spec.examples)]
    results = [] if spec.needs.judge else score_batch(spec.bind(parameters), samples)
    return Expectation(
        rows=tuple(wire_row(sample) for sample in samples) or made_up(),
        scores={result.id: result.score.value for result in results if isinstance(result, Scored)},
        scale=spec.scale,
        mode=mode,
        reward=spec.name,
        unusable=frozenset(
            result.id
            for result in results
            if isinstance(result, Unscored) and isinstance(result.error, BadReference)
        ),
    )


def made_up() -> tuple[Row, ...]:
    """Rows for a function nothing is known of: one question, four answers."""
    return tuple(
        {
            "id": f"sample-{at}",
            "messages": [
                {"role": "user", "content": QUESTION},
                {"role": "assistant", "content": answer},
            ],
            "reference_answer": "42",
            "metadata": {"reference_answer": "42"},
        }
        for at, answer in enumerate(ANSWERS)
    )


def repeated(rows: Sequence[Row], count: int) -> list[Row]:
    """A batch of so many rows: these over and over, each under an id of its own."""
    return [rows[at % len(rows)] | {"id": f"{at:06}"} for at in range(count)]


def renamed(rows: Sequence[Row]) -> list[Row]:
    """One row under ids a data set may have."""
    return [rows[0] | {"id": unusual} for unusual in UNUSUAL]


def without_turn(row: Row) -> Row:
    """A row without a generated turn, as AWS's own checks before a job send them."""
    return row | {"id": "no turn", "messages": row["messages"][:-1]}


def otherwise_written(row: Row) -> dict[str, Row]:
    """The same sample as other trainers write it, by what is different."""
    *before, last = row["messages"]
    blocks = [{"type": "text", "text": last["content"]}]
    reference = {"reference_answer": row.get("reference_answer")}
    bare = {key: value for key, value in row.items() if key != "reference_answer"}
    return {
        "the role nova_assistant": row | {"messages": [*before, last | {"role": "nova_assistant"}]},
        "a list of content blocks": row | {"messages": [*before, last | {"content": blocks}]},
        "the reference in metadata": bare
        | {"metadata": {**(row.get("metadata") or {}), **reference}},
    }


def as_evaluated(row: Row) -> Row | None:
    """The same sample as an evaluation job of open weights sends it.

    None where it cannot be one: a job of that kind asks a single question.
    """
    *before, last = row["messages"]
    asked = {key: row[key] for key in ("reference_answer", "metadata") if row.get(key) is not None}
    data, lost = write({"messages": before, **asked}, "sagemaker-eval")
    if lost or not before:
        return None
    gold = {"reference_answer": {"text": data["response"]}}
    return {"id": row["id"], "metadata": {}, **data, "model_response": last["content"], **gold} | {
        "processor_config": {}
    }


MALFORMED: Final[Row] = {"id": "malformed", "messages": None, "reference_answer": None}
"""A row that is not a valid sample."""


STEP: Final = 512 * 16
"""Samples of Bedrock's largest optimiser step: the most one event could hold."""


def load_findings(
    rows: Sequence[Row], first: Invocation, warm: Sequence[Invocation], timeout: int | None
) -> Iterator[CheckFinding]:
    """The meaning of batches of this size for time and size.

    Args:
        rows: a batch.
        first: the first invocation of all, of any batch.
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
        yield warning("latency", f"{message}: more than half of its timeout of {timeout} s")
    else:
        yield ok("latency", message)
    yield _size("request", len(json.dumps(list(rows)).encode()), len(rows))
    yield _size("response", len(warm[-1].body), len(rows))


def _size(what: str, size: int, samples: int) -> CheckFinding:
    fit = MAX_PAYLOAD_BYTES * samples // size
    message = (
        f"{ceil(size / samples):,} bytes a sample: {fit:,} such samples fit into Lambda's 6 MB"
    )
    if fit < STEP:
        message += f"; Bedrock's largest step has {STEP:,}, its largest event is undocumented"
    return ok(what, message)


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
    return CheckReport(str(function.arn), found, Measured("samples", scored, missing), asked.calls)


@dataclass
class _Check:
    """The invocations of one check, in order; each is compared with the first response."""

    function: DeployedFunction
    expected: Expectation
    batch_size: int
    progress: Callable[[str], object]
    scored: int = 0
    calls: int = 0

    @property
    def rows(self) -> tuple[Row, ...]:
        return self.expected.rows

    def answers(self) -> Iterator[CheckFinding]:
        self.progress("reading its configuration")
        settings = configuration(self.function)
        yield from configuration_findings(settings)
        self.progress("sending the first batch")
        try:
            first, answered = self.ask(self.rows)
        except FunctionError as error:
            yield failure("first batch", failed(error))
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
            yield failure("reachable", str(error))

    def ask(self, rows: Sequence[Row]) -> tuple[Invocation, Response]:
        """Send a batch; read what comes back."""
        self.calls += 1
        invocation = self.function.invoke(list(rows))
        ids = [row["id"] for row in rows]
        return invocation, read(invocation.body, ids, self.expected.scale)

    def contract(self, answered: Response) -> Iterator[CheckFinding]:
        """The first response, as whoever reads it does."""
        for breach in answered.breaches:
            yield failure(breach.kind, breach.message)
        flags = [name for name in answered.scores if flagged(answered.results[name])]
        self.scored = len(answered.scores) - len(flags)
        unscored = [name for name in flags if name not in self.expected.unusable]
        if len(flags) > len(unscored):
            yield unknown(
                "unscored",
                f"{len(flags) - len(unscored)} of {len(self.rows)} examples of "
                f"{self.expected.reward} do not fit its parameters here, such as its files, and "
                "have no score there: rows of yours say more",
            )
        if unscored:
            yield failure(
                "unscored",
                f"{len(unscored)} of {len(self.rows)} samples have a number that stands for no "
                "score: the function could not score them; its log says why",
            )
        if not answered.breaches:
            yield ok("contract", f"{len(self.rows)} samples: ids, order, numbers and metrics")
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
            yield warning(
                "equal rewards",
                f"all {len(self.rows)} samples earn {values.pop():g}: a group whose rewards are "
                "all equal has zero advantage",
            )

    def scores(self, answered: Response) -> Iterator[CheckFinding]:
        """Its examples earn what they earn here."""
        wanted, reward = self.expected.scores, self.expected.reward
        if not wanted:
            yield unknown("scores", "what these samples must earn is not known")
            return
        if not answered.scores:
            yield _unread("scores")
            return
        wrong = [name for name in wanted if answered.scores.get(name) != wanted[name]]
        cause = DRIFT if self.function.arn.name.startswith(OURS) else f"it is not {reward} as here"
        for name in wrong[:NAMED]:
            yield failure(
                "scores",
                f"{name} of {reward} earns {_shown(answered.scores.get(name))} there and "
                f"{wanted[name]:g} here: {cause}",
            )
        if len(wrong) > NAMED:
            yield failure("scores", f"and {len(wrong) - NAMED} more examples")
        if not wrong:
            yield ok("scores", f"{len(wanted)} examples of {reward} earn what they must")

    def sent(
        self, question: str, what: str, rows: Sequence[Row], before: Response, begins: str
    ) -> Generator[CheckFinding, None, Response | None]:
        """The response to a batch; None where the function fails.

        What is wrong with it is a finding, unless that is wrong with the first response too.
        """
        self.progress(begins)
        try:
            self.last, answered = self.ask(rows)
        except FunctionError as error:
            yield failure(question, f"{what}: {failed(error)}")
            return None
        for breach in _new(answered, before):
            yield failure(question, f"{what}: {breach.message}")
        return answered

    def again(
        self, question: str, how: str, rows: Sequence[Row], before: Response
    ) -> Iterator[CheckFinding]:
        """The same samples earn the same, however they are sent."""
        answered = yield from self.sent(question, how, rows, before, f"sending the samples {how}")
        if answered is None:
            return
        new = _new(answered, before)
        changed = [
            name
            for name, value in answered.scores.items()
            if before.scores.get(name, value) != value
        ]
        if changed:
            one = changed[0]
            yield failure(
                question,
                f"{len(changed)} of {len(rows)} samples earn something else {how}: {one} earned "
                f"{before.scores[one]:g} and now {answered.scores[one]:g}",
            )
        elif not new:
            same = ok(question, f"{len(rows)} earn the same {how}")
            yield same if answered.scores else _unread(question)

    def accepted(
        self, question: str, what: str, rows: Sequence[Row], before: Response
    ) -> Iterator[CheckFinding]:
        """Rows a trainer may send are answered like any others."""
        answered = yield from self.sent(question, what, rows, before, f"sending {what}")
        if answered is not None and not _new(answered, before):
            yield ok(question, what) if answered.scores else _unread(question)

    def rewritten(
        self, question: str, what: str, row: Row, score: float | None, because: str = ""
    ) -> Generator[CheckFinding, None, Response | None]:
        """The response to one sample, written otherwise; None where it earns something else."""
        try:
            _, answered = self.ask([row])
        except FunctionError as error:
            yield warning(question, f"{what}: {failed(error)}")
            return None
        now = answered.scores.get(row["id"])
        if now == score:
            return answered
        earned = f"the sample earns {_shown(now)} in the place of {_shown(score)}"
        yield warning(question, f"{what}: {earned}{because}")
        return None

    def dialects(self, before: Response) -> Iterator[CheckFinding]:
        """The sample that earned most, as other trainers write it."""
        question = "dialects"
        if not before.scores:
            yield _unread(question)
            return
        if len(set(before.scores.values())) == 1:
            yield unknown(question, "where all samples earn the same, they cannot be compared")
            return
        best, score = self.best(before)
        understood = []
        for how, row in otherwise_written(best).items():
            self.progress(f"sending {how}")
            because = "; some trainers write it so"
            if (yield from self.rewritten(question, how, row, score, because)) is not None:
                understood.append(how)
        if understood:
            yield ok(question, ", ".join(understood))

    def evaluation(self, before: Response) -> Iterator[CheckFinding]:
        """The same sample as an evaluation job sends it, which reads nothing but an envelope.

        Not asked of another's function that answers with a list: SageMaker gives it to no such job.
        """
        question = "evaluation"
        envelopes = "envelope" in (before.mode, self.expected.mode)
        if self.expected.reward is None and not envelopes:
            return
        if len(set(before.scores.values())) < 2:  # noqa: PLR2004 - nothing to tell apart
            yield unknown(question, "there are no two rewards to tell apart")
            return
        best, score = self.best(before)
        row = as_evaluated(best)
        if row is None:
            yield unknown(question, "the sample is no single question, which is all a job asks")
            return
        self.progress("sending a row of an evaluation job")
        what = "a row of SageMaker's evaluation jobs of open weights"
        answered = yield from self.rewritten(question, what, row, score)
        if answered is None:
            return
        if answered.mode == "envelope":
            yield ok(question, f"{what} earns the same, in the envelope they read")
        else:
            yield warning(
                question,
                f"{what} earns the same, and is not answered in the envelope that they read",
            )

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
            yield warning(
                "malformed row",
                f"one row that is not a valid sample fails the whole batch: {failed(error)}",
            )
            return
        new = _new(answered, before)
        for breach in new:
            yield failure("malformed row", f"beside one: {breach.message}")
        name = MALFORMED["id"]
        if name in answered.scores and not flagged(answered.results[name]):
            yield warning(
                "malformed row",
                f"a row that is not a valid sample earns {answered.scores[name]:g}, and no metric "
                "says that this is no score",
            )
        if not (new or before.scores):
            yield _unread("malformed row")
            return
        changed = [
            name for name, value in before.scores.items() if answered.scores.get(name) != value
        ]
        if changed:
            yield warning(
                "malformed row",
                f"one row that is not a valid sample changes the rewards of {len(changed)} others",
            )
        elif not new:
            yield ok("malformed row", "the others keep their rewards beside it")

    def load(
        self, first: Invocation, before: Response, timeout: int | None
    ) -> Iterator[CheckFinding]:
        """A batch of the size a trainer sends, some times over."""
        rows = repeated(self.rows, self.batch_size)
        warm = []
        for turn in range(1, WARM + 1):
            begins = f"timing {len(rows)} samples, {turn} of {WARM}"
            answered = yield from self.sent("load", f"{len(rows)} samples", rows, before, begins)
            if answered is None or _new(answered, before):
                return
            warm.append(self.last)
        yield from load_findings(rows, first, warm, timeout)


def asked_rows(expected: Expectation, batch_size: int = BATCH) -> int:
    """How many rows a check sends, over all its invocations."""
    whole = 4  # the first batch, the second, the shuffled, the one with a malformed row
    single = 1 + len(UNUSUAL) + 1 + len(otherwise_written(expected.rows[0])) + 1 + 1
    return whole * len(expected.rows) + single + WARM * batch_size


def _new(answered: Response, before: Response) -> list[Breach]:
    """The breaches that the first response does not have: each is reported once."""
    return [breach for breach in answered.breaches if breach not in before.breaches]


def _unread(question: str) -> CheckFinding:
    """What a response without a single reward leaves open."""
    return unknown(question, "the response holds no reward that can be read")


def _shown(score: float | None) -> str:
    return "nothing" if score is None else f"{score:g}"
