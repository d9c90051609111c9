"""The judge models of a deployment, and the reward of one batch that asks them.

A `JudgePool` outlives batches: it holds the models, their rate limits and the cache of verdicts. A
`BatchJudge` is the reward of one batch, with the batch's deadline and account. Several models are a
panel: their scores become one. A member that failed does not count; with fewer than `min_votes`
scores the sample has none.

One score from those of several panel members.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256
from math import inf
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import JudgeUnavailable, NoVerdict
from reward_functions.core.means import mean
from reward_functions.core.types import Metric
from reward_functions.judge_runtime.aws import forget_session
from reward_functions.judge_runtime.cache import open_cache
from reward_functions.judge_runtime.pipeline import PanelMember, ask_of
from reward_functions.judge_runtime.prompting import forget_secret
from reward_functions.judge_runtime.usage import Account

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reward_functions.core.asking import Ask
    from reward_functions.core.spec import RewardSpec
    from reward_functions.core.types import Sample, Score
    from reward_functions.judge_runtime.config import JudgeConfig
    from reward_functions.judge_runtime.verdict_store import VerdictStore


def aggregated(scores: Sequence[Score], aggregate: str) -> Score:
    """One score; its metrics are the means of theirs.

    Args:
        scores: at least one, all of the same reward.
        aggregate: "mean", "median", "majority" or "minimum".
    """
    values = [score.value for score in scores]
    metrics = tuple(
        Metric(column[0].name, mean([metric.value for metric in column]), column[0].type)
        for column in zip(*(score.metrics for score in scores), strict=True)
    )
    listed = ", ".join(f"{each:g}" for each in values)
    return replace(
        scores[0],
        value=_AGGREGATES[aggregate](values),
        metrics=metrics,
        reason=f"the {aggregate} of {listed}",
        parts=(),
    )


_AGGREGATES: Final[Mapping[str, Callable[[Sequence[float]], float]]] = {
    "mean": mean,
    "median": median,
    "majority": median,  # what more than half of the members say stands in the middle
    "minimum": min,
}


CONFIDENT: Final = 0.5
"""The confidence from which the first panel member's score is not escalated."""


class JudgePool:
    """The judge models of one deployment; safe to use from many threads.

    Args:
        config: the models and their limits.
        asks: used in place of the models' own APIs, by model id: for tests and recordings.
        store: verdicts kept on disk; None for none, as in a deployed function.

    Raises:
        BadJudge: a model has no key, no file, no region, or no price under a limit in dollars.
    """

    def __init__(
        self,
        config: JudgeConfig,
        *,
        asks: Mapping[str, Ask] | None = None,
        store: VerdictStore | None = None,
    ) -> None:
        self.config = config
        self.store = store
        self._given = asks or {}
        self._open()

    def _open(self) -> None:
        config, given = self.config, self._given
        fallback = config.fallback
        self.members = [
            PanelMember.opened(model, config, given, config.models[:at].count(model))
            for at, model in enumerate(config.models)
        ]
        self.fallback = PanelMember.opened(fallback, config, given) if fallback else None
        self.cache = open_cache(config)

    def close(self) -> None:
        """Close the connections to the models, where no batch is being scored."""
        for member in (*self.members, *([self.fallback] if self.fallback else ())):
            if close := getattr(member.ask, "close", None):
                close()

    def reopen(self) -> None:
        """Begin anew with all that outlives a batch.

        For a copy of a process, whose clocks stood still: connections, keys, credentials, rate
        limits, the cache and the secret of the marks are those of all its copies before.

        Raises:
            BadJudge: a model has no key, no file, or no region any more.
        """
        forget_session()
        forget_secret()
        self._open()

    def batch(
        self,
        spec: RewardSpec,
        parameters: Mapping[str, Any] | None = None,
        *,
        deadline: float = inf,
    ) -> BatchJudge:
        """The reward of one batch.

        Args:
            spec: a judge.
            parameters: its parameters that differ from their defaults.
            deadline: the reading of `time.monotonic()` by which every call returns.

        Raises:
            BadParameter: the judge has no such parameter, or one of another type.
        """
        account = Account(self.config.max_usd)
        asks = [
            ask_of(
                member,
                self.fallback,
                cache=self.cache,
                store=self.store,
                account=account,
                deadline=deadline,
            )
            for member in self.members
        ]
        panel = [spec.bind(parameters or {}, ask=ask) for ask in asks]
        return BatchJudge(
            spec=spec, panel=panel, config=self.config, account=account, store=self.store
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchJudge:
    """The reward of one batch; scores samples as any reward does.

    Args:
        spec: the judge.
        panel: the judge bound to each model.
        config: how their scores become one.
        account: the cost of the batch so far.
        store: verdicts kept on disk; None for none.
    """

    spec: RewardSpec
    panel: Sequence[Callable[..., Score]]
    config: JudgeConfig
    account: Account
    store: VerdictStore | None = None

    def __call__(self, sample: Sample, /, *, group: Sequence[Sample] = ()) -> Score:
        """Score one sample.

        Raises:
            DatasetError: the reference or the row is at fault.
            JudgeUnavailable: too few members could be asked.
            NoVerdict: too few members gave a legal verdict.
        """
        group_argument = {"group": group} if group else {}
        if len(self.panel) == 1:
            return self.panel[0](sample, **group_argument)
        if self.config.aggregate == "rotate":
            return self.panel[_group_hash(sample) % len(self.panel)](sample, **group_argument)
        return self._voted(sample, group_argument)

    def _voted(self, sample: Sample, group_argument: Mapping[str, Any]) -> Score:
        scores: list[Score] = []
        failure: JudgeUnavailable | NoVerdict | None = None
        for member in self.panel:
            try:
                scores.append(member(sample, **group_argument))
            except (JudgeUnavailable, NoVerdict) as error:
                failure = error
            if self.config.escalate and len(scores) == 1 and _confident(scores[0]):
                return scores[0]
        if failure and len(scores) < (self.config.min_votes or len(self.panel)):
            raise failure
        return aggregated(scores, self.config.aggregate)


def _group_hash(sample: Sample) -> int:
    """A number that the samples of a group share and that differs between prompts."""
    context = repr([(turn.role, turn.content, *turn.tool_calls) for turn in sample.context])
    return int.from_bytes(sha256(context.encode("utf-8", "replace")).digest()[:8])


def _confident(score: Score) -> bool:
    """Whether a member is confident; one that reports no confidence is."""
    reported = [metric.value for metric in score.metrics if metric.name == "confidence"]
    return not reported or reported[0] >= CONFIDENT
