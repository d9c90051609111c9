"""ms-swift: a reward is a class in `orms`, which a plug-in file fills.

    # plugin.py, for swift rlhf --external_plugins plugin.py --reward_funcs exact …
    from swift.rewards import orms
    orms["exact"] = reward_class("math")

**The response** is the completion, the first positional argument; **the prompt** the row's messages
before it; **the reference** a column. **Unscored** is None, which ms-swift makes NaN and leaves out
of that row's reward (ms-swift 4.6.0, `swift/rl_core/grpo_algorithm.py`,
`compute_rewards_per_func`). Where every reward of a row is None, ms-swift warns with that row's
columns, so that they are in its log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reward_functions.adapters._scoring import bound
from reward_functions.adapters._single import (
    REFERENCES,
    by_name,
    explained,
    last_calls,
    messages_of,
    sampled,
)
from reward_functions.core.batch import score_batch
from reward_functions.core.errors import BadSample, ConfigurationError
from reward_functions.core.types import Scored, Unscored

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions.adapters._scoring import Bound, Judges
    from reward_functions.core.spec import RewardFunction
    from reward_functions.core.types import RewardResult, Sample


def reward_class(
    reward: str | RewardFunction,
    *,
    reference: str | None = None,
    judge: Judges | None = None,
    name: str | None = None,
    **parameters: Any,
) -> type[Any]:
    """A class that ms-swift makes by `R(args=args)` and calls by `r(completions, **columns)`.

    It is named as the reward, which is how ms-swift names its metrics.

    Args:
        reward: a registered name, the path of a composite (.toml or .json), or a spec.
        reference: the column; the first of `reference_answer`, `answer`, `solution`,
            `ground_truth` where not given.
        judge: the models that a judge asks: a `JudgePool`, opened for each batch anew.
        name: in the place of the reward's own.
        parameters: of the reward.

    Raises:
        ConfigurationError: the reward cannot be had.
    """
    scored = bound(reward, parameters, name, judge=judge)

    class Reward:
        """The call is positional: `completions`, then the columns of the data set by name."""

        def __init__(self, args: Any = None, **_: Any) -> None:
            self.args = args

        def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float | None]:
            results = _results(scored, completions, columns, reference)
            return [
                result.score.value if isinstance(result, Scored) else None for result in results
            ]

    Reward.__name__ = Reward.__qualname__ = scored.name
    return Reward


def _results(
    reward: Bound,
    completions: Sequence[Any],
    columns: Mapping[str, Any],
    reference: str | None,
) -> list[RewardResult]:
    rows = len(completions)
    per_row = {
        name: column
        for name, column in columns.items()
        if isinstance(column, list | tuple) and len(column) == rows
    }
    gold = reference or next((name for name in REFERENCES if name in per_row), None)
    if reference is not None and reference not in per_row:
        raise ConfigurationError(
            f"there is no column {reference!r} of {rows} rows; "
            f"the columns are {', '.join(sorted(per_row)) or 'none'}"
        )
    samples = [
        _sample(str(row), completion, {name: column[row] for name, column in per_row.items()}, gold)
        for row, completion in enumerate(completions)
    ]
    looked = None if gold else tuple(per_row)
    return [explained(result, looked) for result in score_batch(reward.for_batch(), samples)]


def _sample(
    id: str,  # noqa: A002 - the wire's own word
    completion: Any,
    row: Mapping[str, Any],
    gold: str | None,
) -> Sample | Unscored:
    """A row as a sample. The last of its messages is the completion itself."""
    try:
        turns = messages_of(row.get("messages"))
        reference, calls = row[gold] if gold else None, last_calls(turns[-1:])
        return sampled(id, turns[:-1], completion, reference, row, calls=calls)
    except BadSample as error:
        return Unscored(id, error)


def __getattr__(name: str) -> Any:
    return by_name(__name__, name, reward_class)
