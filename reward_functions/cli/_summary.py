"""What a batch of scores looks like as a whole, in three lines on standard error.

The second is for whoever trains on groups: prompts whose samples all score the same give GRPO no
advantage to learn from. `frac_reward_zero_std` is TRL's name for their share. The third says why
responses score the minimum, and what to try. Where rows are not valid samples, a line before these
shows the shape of one.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from reward_functions.cli._console import MESSAGE, cell, errors, plain, table
from reward_functions.core.means import mean
from reward_functions.core.types import Scored, Unscored
from reward_functions.tools.json_rows import shown
from reward_functions.tools.score_report.figures import groups, std
from reward_functions.tools.score_report.reasons import sentence, tallied
from reward_functions.tools.score_report.tables import agreement_table, confusion_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reward_functions.core.spec import RewardSpec
    from reward_functions.core.types import RewardResult
    from reward_functions.judge_runtime.usage import Account
    from reward_functions.tools.score_report.batch import Batch
    from reward_functions.tools.score_report.labels import Confusion


SAMPLE: Final = (
    '{"id": …, "messages": [{"role": "user", "content": …}, {"role": "assistant", "content": …}], '
    '"reference_answer": …}'
)


def no_samples(file: str) -> None:
    """Say of an empty file that it is: nothing to score is no error, and rarely what was meant."""
    errors().print(f"{plain(shown(file))} holds no samples", soft_wrap=True, markup=False)


def summary(spec: RewardSpec, batch: Batch, seconds: float) -> None:
    """Print mean, standard deviation, share at the minimum, failures, speed, groups and reasons.

    The shape of a sample is printed once, however many rows do not have it.

    Args:
        spec: the reward.
        batch: what was scored.
        seconds: spent on scoring.
    """
    console = errors()
    if any(isinstance(sample, Unscored) for sample in batch.samples):
        console.print(f"a sample is written {SAMPLE}", soft_wrap=True, markup=False)
    console.print(" · ".join(_figures(batch, seconds)), soft_wrap=True)
    found = groups(batch)
    if found.count:
        console.print(
            f"prompts with several samples {found.count:,} · frac_reward_zero_std "
            f"{found.without_advantage / found.count:.3f}: groups with zero advantage",
            soft_wrap=True,
            style="dim",
        )
    if reasons := sentence(tallied(batch, spec.name)):
        console.print(plain(reasons, MESSAGE), soft_wrap=True, markup=False)


def agreement(found: Confusion) -> None:
    """Print rewards against labels: the counts, then precision, recall and accuracy."""
    console = errors()
    for sheet in (confusion_table(found), agreement_table(found)):
        rows = table(*sheet.heads, numbers=sheet.numbers)
        for row in sheet.rows:
            rows.add_row(*map(cell, row))
        console.print(rows)
    console.print(plain(confusion_table(found).note, MESSAGE), soft_wrap=True, markup=False)


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


def _figures(batch: Batch, seconds: float) -> Iterator[str]:
    values = batch.values(batch.scored)
    yield f"samples {len(batch.results):,}"
    if values:
        yield f"mean {mean(values):.4f}"
        yield f"std {std(values):.4f}"
        yield f"share at the minimum {len(batch.at_minimum) / len(values):.1%}"
    yield f"unscored {len(batch.unscored):,}{_kinds(batch.results)}"
    if batch.results and seconds:
        yield f"{len(batch.results) / seconds:,.0f} samples/s"


def _kinds(results: Sequence[RewardResult]) -> str:
    kinds = Counter(
        type(result.error).__name__ for result in results if not isinstance(result, Scored)
    )
    return f" ({', '.join(f'{kind} {n:,}' for kind, n in kinds.most_common())})" if kinds else ""
