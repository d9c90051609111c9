"""The one Lambda entry point, `reward_functions.serving.handler.handler`: decode, score, encode.

A deployment serves one reward with its parameters. `bind` makes the function that does so, and is
all a test or a laptop needs. The runtime asks this module for its `handler` while the function
starts. The environment is read then: a misspelt reward or parameter, or a reward that fails its own
first example, is a failed start and never a batch of wrong scores.
"""

from __future__ import annotations

import os
import random
import sys
from dataclasses import dataclass
from functools import partial
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeVar

from reward_functions.core.batch import score_batch
from reward_functions.core.declared import composite_of
from reward_functions.core.errors import ConfigurationError, EngineUnavailable, NoJudge
from reward_functions.core.registry import get
from reward_functions.core.types import Metric, Scored
from reward_functions.serving.as_scored import as_scored, asks_as_scored
from reward_functions.serving.contract import (
    decode_rows,
    encode,
    mode_of,
    rows_of,
    shrink_to_limit,
)
from reward_functions.serving.imputation import Imputation
from reward_functions.serving.nova_metrics import PREPROCESS, nova_event, nova_reply, unchanged
from reward_functions.serving.observability import Telemetry
from reward_functions.serving.self_test import self_test, self_test_of
from reward_functions.serving.settings import LambdaSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aws_lambda_powertools.utilities.typing import LambdaContext

    from reward_functions.core.asking import Ask
    from reward_functions.core.parts import Part
    from reward_functions.core.spec import RewardFunction, RewardSpec
    from reward_functions.core.types import RewardResult, Sample, Unscored
    from reward_functions.judge_runtime.panel import BatchJudge, JudgePool
    from reward_functions.serving.contract import Envelope, ResponseMode, ResultObject
    from reward_functions.serving.isolation import Isolation
    from reward_functions.serving.nova_metrics import NovaReply
    from reward_functions.serving.self_test import AnsweredBy, SelfTestReport

    Reply = TypeVar("Reply")


INITIALIZATION: Final = "AWS_LAMBDA_INITIALIZATION_TYPE"
"""The variable by which Lambda says how an environment begins."""

SNAP_START: Final = "snap-start"

RUNTIME_API: Final = "AWS_LAMBDA_RUNTIME_API"
"""A variable that every Lambda has. There somebody else's reward never runs in this process."""

WARM: Final = "warm"
SELF_TEST: Final = "self-test"
"""What the child of an `Isolation` is asked for beside batches."""


class FailedWarmUp(ConfigurationError):
    """The reward does not score its own first example as it declares."""


class FailedStart(ConfigurationError):
    """A bug in the module of a reward: importing it, an attribute was missing."""


@dataclass(frozen=True, slots=True)
class Handler:
    """A reward as a Lambda function; call it with an event and, in Lambda, its context."""

    spec: RewardSpec
    reward: RewardFunction
    judge_pool: JudgePool | None
    isolation: Isolation | None
    imputation: Imputation
    telemetry: Telemetry
    settings: LambdaSettings

    def __call__(
        self, event: Any, context: LambdaContext | None = None
    ) -> list[ResultObject] | Envelope | NovaReply | SelfTestReport | list[dict[str, Any]]:
        """Score the batch in the event.

        Args:
            event: see `reward_functions.serving.contract`, `as_scored` and `nova_metrics`; or one
                that asks for the self-test.
            context: Lambda's; without one there is no deadline.

        Raises:
            BadEvent: the event is not a batch, or is over the limit.
            BatchFailed: too much of it could not be scored.
            ResponseTooLarge: the results exceed what Lambda can return.
        """
        began = monotonic()
        settings = self.settings
        deadline = None
        if context is not None:
            left = context.get_remaining_time_in_millis() - settings.deadline_margin_ms
            deadline = began + left / 1000
        if asked := self_test_of(event):
            return self._self_test(asked, deadline)
        nova = nova_event(event)
        if nova is None:
            rows = rows_of(event, max_samples=settings.max_samples)
            if asks_as_scored(event):
                return self._scored(decode_rows(rows), None, began, deadline, context)
            reply = partial(self._encoded, mode_of(rows, settings.response_mode))
            return self._scored(decode_rows(rows), reply, began, deadline, context)
        if nova.step == PREPROCESS:
            return unchanged(nova)
        return self._scored([nova.sample()], nova_reply, began, deadline, context)

    def suspend(self) -> None:
        """End what no snapshot can hold: connections, and processes."""
        if self.judge_pool is not None:
            self.judge_pool.close()
        if self.isolation is not None:
            self.isolation.end()
        if self.spec.needs.symbolic:
            _end_algebra()

    def resume(self) -> None:
        """Begin anew with what outlives a batch, and was ended or grew old in a snapshot.

        Raises:
            BadJudge: the judge can no longer be asked as the settings say.
        """
        if self.judge_pool is not None:
            self.judge_pool.reopen()
        if self.spec.needs.symbolic and self.isolation is None:
            _warm_algebra(self.telemetry)

    def _scored(
        self,
        samples: Sequence[Sample | Unscored],
        reply: Callable[[list[ResultObject]], Reply] | None,
        began: float,
        deadline: float | None,
        context: LambdaContext | None,
    ) -> Reply | list[dict[str, Any]]:
        """The reply to a batch, which is measured whether it succeeds or not.

        Without a `reply` it has the results as they were scored.
        """
        batch_judge = self._batch_judge(deadline)
        results = self._results(batch_judge or self.reward, samples, deadline)
        try:
            if reply is None:
                return as_scored(results)
            return reply(self.imputation(samples, results))
        finally:
            self.telemetry.batch(
                samples,
                results,
                seconds=monotonic() - began,
                out_of_time=len(self.imputation.out_of_time(results)),
                request_id=context.aws_request_id if context is not None else None,
                account=batch_judge.account.metrics() if batch_judge else {},
            )

    def _results(
        self, reward: RewardFunction, samples: Sequence[Sample | Unscored], deadline: float | None
    ) -> list[RewardResult]:
        workers = self.settings.workers
        if self.isolation is not None and deadline is not None:
            try:
                return self.isolation.score(samples, deadline=deadline, workers=workers)
            except OSError as error:
                self.telemetry.not_isolated(error)
        return score_batch(reward, samples, deadline=deadline, workers=workers)

    def _batch_judge(self, deadline: float | None) -> BatchJudge | None:
        """A judge for one batch, which keeps its deadline and its account; None for a verifier."""
        if self.judge_pool is None:
            return None
        limit = inf if deadline is None else deadline
        return self.judge_pool.batch(self.spec, self.settings.parameters, deadline=limit)

    def _self_test(self, answered_by: AnsweredBy, deadline: float | None) -> SelfTestReport:
        """Nothing of it is measured: alarms and shares are of what trainers send."""
        if self.isolation is not None and deadline is not None:
            try:
                return self.isolation.call(SELF_TEST, deadline=deadline)  # type: ignore[no-any-return]
            except OSError as error:
                self.telemetry.not_isolated(error)
        model = self._batch_judge(deadline) if answered_by == "model" else None
        return self_test(self.spec, self.settings.parameters, model)

    def _encoded(
        self, mode: ResponseMode, results: list[ResultObject]
    ) -> list[ResultObject] | Envelope:
        sent = shrink_to_limit(results, mode)
        if sent is not results:
            self.telemetry.metrics_dropped(len(results))
        return encode(sent, mode)


def bind(
    settings: LambdaSettings, spec: RewardSpec | None = None, *, ask: Ask | None = None
) -> Handler:
    """The function that serves a reward, warmed by the reward's first example.

    Args:
        settings: which reward, and how it is served.
        spec: the reward, where it is not registered under `settings.name`.
        ask: answers a judge's questions in place of the models the settings name: for tests.

    Raises:
        UnknownReward: there is no reward of that name.
        BadParameter: it has no such parameter, or one of another type.
        NoJudge: it asks a judge model, and the settings name none.
        BadJudge: the judge cannot be asked as the settings say.
        FailedWarmUp: it does not score its first example as declared.
    """
    spec = spec or served(settings)
    telemetry = Telemetry(spec, settings)
    reward = spec.bind(settings.parameters, ask=ask if spec.needs.judge else None)
    isolation = _isolation(spec, reward, settings, telemetry)
    return Handler(
        spec=spec,
        reward=reward,
        judge_pool=_judge_pool(spec, settings) if ask is None else None,
        isolation=isolation,
        imputation=Imputation(
            minimum=spec.scale.minimum,
            metrics=_started(spec, isolation, telemetry),
            on_unscored=settings.on_unscored,
            max_unscored=settings.max_unscored,
            bounded=ours(spec) and not spec.needs.judge,
        ),
        telemetry=telemetry,
        settings=settings,
    )


def served(settings: LambdaSettings) -> RewardSpec:
    """The reward that the settings name, or declare as a composite.

    Raises:
        UnknownReward: there is no reward of that name.
        BadComposite: the composite cannot be made.
    """
    if settings.composite is None:
        return get(settings.name)
    return composite_of({**settings.composite, "name": settings.name})


def _started(
    spec: RewardSpec, isolation: Isolation | None, telemetry: Telemetry
) -> tuple[Metric, ...]:
    """Start what the reward needs, and replay its first example where batches will be scored."""
    if isolation is not None and RUNTIME_API in os.environ:
        try:
            return isolation.call(WARM)  # type: ignore[no-any-return]
        except OSError as error:
            telemetry.not_isolated(error)
    if spec.needs.symbolic:
        _warm_algebra(telemetry)
    return _warmed(spec)


def _isolation(
    spec: RewardSpec, reward: RewardFunction, settings: LambdaSettings, telemetry: Telemetry
) -> Isolation | None:
    """What scores the batches of somebody else's reward; None for ours, which bound their time.

    None for judges too: they wait in threads, and what they share does not outlive a fork.
    """
    if spec.needs.judge or ours(spec):
        return None
    if not hasattr(os, "fork"):
        telemetry.not_isolated(OSError("no fork"))
        return None
    from reward_functions.serving.isolation import Isolation  # noqa: PLC0415 - ours never need it

    return Isolation(
        reward,
        calls={
            WARM: partial(_warmed, spec),
            SELF_TEST: partial(self_test, spec, settings.parameters),
        },
        begin=partial(_warm_algebra, telemetry) if spec.needs.symbolic else None,
    )


def _judge_pool(spec: RewardSpec, settings: LambdaSettings) -> JudgePool | None:
    """The judges of a reward that asks some."""
    if not spec.needs.judge:
        return None
    if settings.judge is None:
        raise NoJudge(
            f"{spec.name} asks a judge model, and none is the default: name one in "
            f"{LambdaSettings.variable('judge')}"
        )
    from reward_functions.judge_runtime.panel import JudgePool  # noqa: PLC0415 - verifiers never need it

    return JudgePool(settings.judge)


def _warm_algebra(telemetry: Telemetry) -> None:
    """Start the process that hard algebra needs, while the function starts.

    Hardly any answer needs it: where it cannot start, answers that need it come back unscored, and
    all others are scored.
    """
    from reward_functions import symbolic  # noqa: PLC0415 - most rewards never need it

    try:
        symbolic.warm(wait=False)
    except EngineUnavailable as error:
        telemetry.not_warmed(error)


def _end_algebra() -> None:
    from reward_functions import symbolic  # noqa: PLC0415 - most rewards never need it

    symbolic.end()


def ours(spec: RewardSpec) -> bool:
    """Whether a reward, and every part of a composite, is one of this package."""
    module = str(getattr(spec.function, "__module__", ""))
    parts: Sequence[Part] = getattr(spec.function, "parts", ())
    return module.startswith("reward_functions.") and all(ours(part.spec) for part in parts)


def _warmed(spec: RewardSpec) -> tuple[Metric, ...]:
    """Replay the first example; the metrics it reports, each 0.0."""
    if not spec.examples:
        return tuple(Metric(name, 0.0) for name in spec.metrics)
    example = spec.examples[0]
    (result,) = score_batch(spec.bound_to_example(example), [example.sample()], workers=1)
    if not isinstance(result, Scored):
        why = _kind(result.error)
        raise FailedWarmUp(f"{spec.name} fails on its first example: {why}") from result.error
    if result.score.value != example.score:
        raise FailedWarmUp(
            f"{spec.name} gives its first example {result.score.value:g}, not {example.score:g}"
        )
    return tuple(Metric(metric.name, 0.0, metric.type) for metric in result.score.metrics)


def _kind(error: Exception) -> str:
    """Its class, and behind it what AWS refused: a right that is missing ends a start here."""
    kind = type(error).__name__
    clients = sys.modules.get("botocore.exceptions")
    cause: BaseException | None = error
    while clients and cause is not None:
        if isinstance(cause, clients.ClientError):
            return f"{kind} ({cause.operation_name}: {cause.response['Error']['Code']})"
        cause = cause.__cause__ or cause.__context__
    return kind


def _becomes_snapshot(handler: Handler) -> None:
    """Have Lambda call `handler.suspend` before the snapshot, and after each restoration `_renew`.

    Lambda starts a function once, keeps the memory of its virtual machine, and begins every
    environment as a copy of that (SnapStart). What was drawn, opened or read off a clock before is
    the same in all of them. So what cannot be copied ends before the snapshot, and is made anew:

        random numbers      of `random`, of numpy's own generator, of `tempfile`'s names
        what a judge keeps  connections, keys, credentials, rate limits, the secret of its marks
        sympy's process     a snapshot in the middle of its start would start all
        a reward's child    the first batch forks another

    What a package of yours draws or opens while it is imported is its own affair, and so is what
    its judge keeps of the first example: its hooks register the same way. `os.urandom`, and so
    `secrets` and `uuid4`, differ by themselves.

    Source: "Lambda SnapStart runtime hooks for Python" and "Handling uniqueness with Lambda
    SnapStart" in the Lambda developer guide: hooks run in the reverse order of registration before
    the snapshot, in that order after it, and those have ten seconds then.

    Raises:
        ModuleNotFoundError: the runtime has no hooks, and what came of a snapshot would be unsafe.
    """
    from snapshot_restore_py import (  # noqa: PLC0415 - in Lambda's runtime alone
        register_after_restore,
        register_before_snapshot,
    )

    register_before_snapshot(handler.suspend)
    register_after_restore(_renew, handler)


def _renew(handler: Handler) -> None:
    """Make anew what copies must not share: first the random numbers, which the rest may draw.

    Raises:
        BadJudge: a judge's key can no longer be read, say.
    """
    _reseed()
    handler.resume()


def _reseed() -> None:
    """Seed every generator of random numbers that is loaded from the operating system."""
    random.seed()
    if numbers := sys.modules.get("numpy.random"):
        numbers.seed()
    if files := sys.modules.get("tempfile"):
        # It reseeds by the process's id alone, which a restored process has kept.
        files._name_sequence = None  # type: ignore[attr-defined]  # noqa: SLF001


def __getattr__(name: str) -> Any:
    """`handler`, bound when the runtime asks for it: importing this module reads no environment."""
    if name != "handler":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        bound = bind(LambdaSettings.from_env(os.environ))
    except AttributeError as error:  # which the runtime would report as a missing handler
        raise FailedStart(str(error)) from error
    if os.environ.get(INITIALIZATION) == SNAP_START:
        _becomes_snapshot(bound)
    globals()["handler"] = bound
    return bound
