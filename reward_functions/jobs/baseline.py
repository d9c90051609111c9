"""What a model earns before any training, and whether a job can teach it anything.

    of the model's answers                        verdict
    none earns more than the minimum              failure: teach the format first, by supervised
                                                  fine-tuning
    under 5 % earn more than the minimum          warning: sparse, most groups have zero advantage
    over 95 % of the scale is earned on average   failure: nothing to learn
    no group has two different rewards            failure: every group has zero advantage
    an eighth or more are cut off                 warning: the limit of tokens is too low

Source of the first three: "Reward functions" for open-weight models in the Bedrock user guide and
"Reinforcement fine-tuning" in the Nova user guide. A failure stands only where the sample is large
enough to be sure of it: the far end of a 95 % interval lies on the same side. Else it is a warning.
`group_figures` makes the intervals.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.aws.deployed.findings import CheckFinding
from reward_functions.core.means import mean
from reward_functions.core.types import Scored
from reward_functions.reports.group_figures import (
    Share,
    mean_reward,
    share,
    share_among,
    share_mixed,
)
from reward_functions.reports.measured import Measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from reward_functions.core.spec import Scale
    from reward_functions.core.types import RewardResult
    from reward_functions.jobs.answers import AnswerAttempt
    from reward_functions.jobs.asking import AskedPrompt
    from reward_functions.jobs.model_calls import ModelAnswer
    from reward_functions.jobs.scorer import VersionScorer

SPARSE: Final = 0.05
LEARNED: Final = 0.95
CUT_OFF: Final = 0.125

REASONS: Final = 5
"""Reasons shown, the most frequent first."""


class Reason(NamedTuple):
    """Why answers earned what they did.

    Args:
        text: the reward's own words.
        answers: how many.
        reward: what the example earned.
        place: where the example's prompt stands.
        example: the text of one answer; a model wrote it.
    """

    text: str
    answers: int
    reward: float
    place: str
    example: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """Figures of a model's answers, without their texts, but for one example of each reason.

    Args:
        prompts: that were asked.
        each: answers to a prompt.
        scored: answers that have a reward.
        unscored: answers that have none.
        mean: of the rewards, as a share of the scale; None where nothing was scored.
        at_minimum: the share of answers that earn the minimum.
        at_maximum: the share that earns the maximum.
        mixed: the share of prompts whose answers earn different rewards; a group of equal rewards
            has zero advantage. None where no prompt has two scored answers.
        cut: the share of answers that reached the limit of tokens.
        filtered: answers that the model, or a filter before it, withheld.
        output: tokens of an answer on average; 0 where the service counts none.
        reasons: the most frequent.
        errors: why answers have no reward, by how often.
    """

    prompts: int
    each: int
    scored: int
    unscored: int
    mean: Share | None
    at_minimum: Share | None
    at_maximum: Share | None
    mixed: Share | None
    cut: Share
    filtered: int
    output: float
    reasons: tuple[Reason, ...] = ()
    errors: Mapping[str, int] = field(default_factory=dict)

    @property
    def measured(self) -> Measured:
        """How many answers have a reward."""
        return Measured("answers", self.scored, self.unscored)


def measured(
    prompts: Sequence[AskedPrompt],
    answers: Mapping[AnswerAttempt, ModelAnswer],
    scorer: VersionScorer,
    advance: Callable[[int], object] = lambda _: None,
) -> Baseline:
    """Score a model's answers by the deployed version, and count.

    Args:
        prompts: that were asked.
        answers: to them.
        scorer: the deployed version.
        advance: called with the number of answers of each batch that was scored.

    Raises:
        AwsFailed: the version cannot be invoked.
    """
    by_digest = {prompt.digest: prompt for prompt in prompts}
    samples = [
        by_digest[attempt.prompt].sample.answered(answer.text)
        for attempt, answer in answers.items()
    ]
    results = scorer.score(samples, advance)
    rewards = [result.score.value if isinstance(result, Scored) else None for result in results]
    scale = scorer.scale([value for value in rewards if value is not None])
    groups: dict[str, list[float]] = defaultdict(list)
    for attempt, value in zip(answers, rewards, strict=True):
        if value is not None:
            groups[attempt.prompt].append(_share(value, scale))
    given = list(answers.values())
    count = len(prompts)
    return Baseline(
        prompts=count,
        each=len(answers) // count,
        scored=sum(map(len, groups.values())),
        unscored=rewards.count(None),
        mean=mean_reward(list(groups.values())),
        at_minimum=share_among(groups.values(), lambda value: value == 0),
        at_maximum=share_among(groups.values(), lambda value: value == 1),
        mixed=share_mixed(groups.values()),
        cut=share(sum(answer.ended == "length" for answer in given), len(given), count),
        filtered=sum(answer.ended == "filtered" for answer in given),
        output=mean([answer.usage.output for answer in given]),
        reasons=_reasons(
            scorer.reasons(samples),
            rewards,
            [by_digest[attempt.prompt].place for attempt in answers],
            given,
        ),
        errors=_errors(results),
    )


def judged(baseline: Baseline) -> Iterator[CheckFinding]:
    """Whether a job can teach the model anything: the table of this module."""
    if baseline.mean is None or baseline.at_minimum is None:
        yield CheckFinding("failure", "baseline", "no answer of the model was scored")
        return
    positive = 1 - baseline.at_minimum.value
    most_positive = 1 - baseline.at_minimum.low
    mean = baseline.mean
    if positive == 0:
        sure = most_positive <= SPARSE
        yield CheckFinding(
            "failure" if sure else "warning",
            "baseline",
            f"none of {baseline.scored:,} answers earns more than the minimum: teach the format "
            f"first, by supervised fine-tuning{_unsure(sure, most_positive)}",
        )
    elif positive < SPARSE:
        yield CheckFinding(
            "warning",
            "baseline",
            f"{positive:.1%} of the answers earn more than the minimum: under {SPARSE:.0%} the "
            "reward is sparse, and most groups have zero advantage; begin with easier prompts, or "
            "with supervised fine-tuning",
        )
    elif mean.value > LEARNED:
        sure = mean.low > LEARNED
        yield CheckFinding(
            "failure" if sure else "warning",
            "baseline",
            f"the model earns {mean.value:.1%} of the scale before any training: over "
            f"{LEARNED:.0%} there is nothing to learn; take harder prompts"
            f"{_unsure(sure, mean.low)}",
        )
    else:
        yield CheckFinding(
            "ok",
            "baseline",
            f"the model earns {mean.value:.1%} of the scale ({mean.low:.1%} to {mean.high:.1%}); "
            f"{positive:.1%} of its answers earn more than the minimum",
        )
    yield from _further(baseline)


def _further(baseline: Baseline) -> Iterator[CheckFinding]:
    mixed = baseline.mixed
    earns = baseline.at_minimum is not None and baseline.at_minimum.value < 1
    if mixed is not None and earns and mixed.value == 0:
        sure = mixed.high <= SPARSE
        yield CheckFinding(
            "failure" if sure else "warning",
            "groups",
            f"of {baseline.prompts:,} prompts none has answers of different rewards: every group "
            f"has zero advantage{_unsure(sure, mixed.high)}",
        )
    elif mixed is not None and earns:
        yield CheckFinding(
            "ok",
            "groups",
            f"{mixed.value:.1%} of the prompts have answers of different rewards, with "
            f"{baseline.each} to a prompt: the other groups have zero advantage",
        )
    if baseline.cut.value >= CUT_OFF:
        yield CheckFinding(
            "warning",
            "cut off",
            f"{baseline.cut.value:.1%} of the answers reach the limit of tokens: raise "
            "inferenceMaxTokens, or the job punishes long answers",
        )
    if baseline.unscored:
        worst = next(iter(baseline.errors), "")
        yield CheckFinding(
            "warning", "unscored", f"{baseline.unscored:,} answers have no reward: {worst}"
        )


def _unsure(sure: bool, bound: float) -> str:  # noqa: FBT001 - reads as a word of the sentence
    if sure:
        return ""
    return f"; so few prompts leave {bound:.1%} possible: ask more with --prompts"


def _share(value: float, scale: Scale) -> float:
    return (value - scale.minimum) / (scale.maximum - scale.minimum)


def _reasons(
    words: Sequence[str | None],
    rewards: Sequence[float | None],
    places: Sequence[str],
    given: Sequence[ModelAnswer],
) -> tuple[Reason, ...]:
    counts = Counter(text for text in words if text)
    found = []
    # Those that are equally frequent by their words: answers come in any order.
    often = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    for text, count in often[:REASONS]:
        at = words.index(text)
        found.append(Reason(text, count, rewards[at] or 0.0, places[at], given[at].text))
    return tuple(found)


def _errors(results: Sequence[RewardResult]) -> dict[str, int]:
    problems = Counter(str(result.error) for result in results if not isinstance(result, Scored))
    return dict(problems.most_common())
