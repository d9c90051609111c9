"""What a batch of scores looks like as a whole, in two lines on standard error.

The second is for whoever trains on groups: prompts whose samples all score the same give GRPO no
advantage to learn from. `frac_reward_zero_std` is TRL's name for their share. Where rows are not
valid samples, a line before these shows the shape of one.
"""

from __future__ import annotations

from collections import Counter
from math import fsum, sqrt
from typing import TYPE_CHECKING, Final

from reward_functions.cli._console import errors, plain
from reward_functions.core.types import Sample, Scored, Unscored
from reward_functions.tools.json_rows import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reward_functions.core.spec import RewardSpec
    from reward_functions.core.types import Message, RewardResult
    from reward_functions.judge_runtime.usage import Account


SAMPLE: Final = (
    '{"id": …, "messages": [{"role": "user", "content": …}, {"role": "assistant", "content": …}], '
    '"reference_answer": …}'
)


def no_samples(file: str) -> None:
    """Say of an empty file that it is: nothing to score is no error, and rarely what was meant."""
    errors().print(f"{plain(shown(file))} holds no samples", soft_wrap=True, markup=False)


def summary(
    spec: RewardSpec,
    samples: Sequence[Sample | Unscored],
    results: Sequence[RewardResult],
    seconds: float,
) -> None:
    """Print mean, standard deviation, share at the minimum, failures, speed, and zero-std groups.

    The shape of a sample is printed once, however many rows do not have it.

    Args:
        spec: the reward; its minimum is counted.
        samples: what was scored.
        results: one per sample.
        seconds: spent on scoring.
    """
    console = errors()
    if any(isinstance(sample, Unscored) for sample in samples):
        console.print(f"a sample is written {SAMPLE}", soft_wrap=True, markup=False)
    console.print(" · ".join(_figures(spec, results, seconds)), soft_wrap=True)
    groups = _groups(samples, results)
    if groups:
        flat = sum(max(group) == min(group) for group in groups)
        console.print(
            f"prompts with several samples {len(groups):,} · "
            f"frac_reward_zero_std {flat / len(groups):.3f}: groups with zero advantage",
            soft_wrap=True,
            style="dim",
        )


def spent(account: Account) -> None:
    """Print what a judge's models were asked, and what that cost as far as prices are known."""
    counted = account.metrics()
    tokens = sum(value for name, value in counted.items() if name.endswith("_tokens"))
    figures = (
        f"judge calls {counted['judge_calls']:,.0f}",
        f"answers {counted['judge_answers']:,.0f}",
        f"questions without a verdict {counted['judge_failures']:,.0f}",
        f"tokens {tokens:,.0f}",
        f"dollars {counted['judge_usd']:.4f}",
    )
    errors().print(" · ".join(figures), soft_wrap=True)


def _figures(spec: RewardSpec, results: Sequence[RewardResult], seconds: float) -> Iterator[str]:
    values = [result.score.value for result in results if isinstance(result, Scored)]
    yield f"samples {len(results):,}"
    if values:
        mean = fsum(values) / len(values)
        std = sqrt(fsum([(value - mean) ** 2 for value in values]) / len(values))
        yield f"mean {mean:.4f}"
        yield f"std {std:.4f}"
        yield f"share at the minimum {values.count(spec.scale.minimum) / len(values):.1%}"
    yield f"unscored {len(results) - len(values):,}{_kinds(results)}"
    if results and seconds:
        yield f"{len(results) / seconds:,.0f} samples/s"


def _kinds(results: Sequence[RewardResult]) -> str:
    kinds = Counter(
        type(result.error).__name__ for result in results if not isinstance(result, Scored)
    )
    return f" ({', '.join(f'{kind} {n:,}' for kind, n in kinds.most_common())})" if kinds else ""


def _groups(
    samples: Sequence[Sample | Unscored], results: Sequence[RewardResult]
) -> list[list[float]]:
    """The scores of each prompt that has more than one: what GRPO takes its advantages from."""
    groups: dict[tuple[Message, ...], list[float]] = {}
    for sample, result in zip(samples, results, strict=True):
        if isinstance(sample, Sample) and isinstance(result, Scored):
            groups.setdefault(sample.context, []).append(result.score.value)
    return [values for values in groups.values() if len(values) > 1]
