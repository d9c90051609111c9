"""Rewards for TRL, and for callers that call as TRL does: Unsloth, Axolotl.

    from reward_functions.adapters.trl import reward_func

    trainer = GRPOTrainer(reward_funcs=[reward_func("math", reference="answer")], …)

TRL 1.16 (`trl/trainer/grpo_trainer.py`, `_calculate_rewards`) calls a reward function with
keywords alone: `prompts`, `completions`, `completion_ids`, each further column of the data set as a
list, `trainer_state`, `log_extra` and `log_metric`. It wants a list of numbers. **A `None` becomes
NaN: the reward is left out of that row.** So a sample that could not be scored is `None`, and never
a zero. The number of a completion's ids is the `completion_tokens` of its row, for `overlong`.
"""

from __future__ import annotations

import json
import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from reward_functions.adapters._scoring import (
    Bound,
    bound,
    check_column,
    is_column,
    plain,
    values,
    with_tokens,
)
from reward_functions.core.errors import BadParameter, BadReference, RewardError
from reward_functions.core.means import mean
from reward_functions.core.suggest import did_you_mean
from reward_functions.core.types import Scored, Unscored

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reward_functions.adapters._scoring import Judges
    from reward_functions.core.spec import RewardFunction
    from reward_functions.core.types import RewardResult

REFERENCES: Final = ("reference_answer", "answer", "solution", "ground_truth")
"""Columns that hold the reference, the first that is there; `reference=` names another."""

NOT_COLUMNS: Final = frozenset({"environments"})
"""What TRL passes beside the columns and the arguments that `RewardFunc` names."""


def reward_func(
    reward: str | RewardFunction,
    *,
    reference: str | None = None,
    name: str | None = None,
    judge: Judges | None = None,
    **parameters: Any,
) -> RewardFunc:
    """A reward as a function for `reward_funcs`.

    Args:
        reward: its name, the path of its file (.py) or of a composite's (.toml or .json), a spec,
            or a function of one sample.
        reference: the column of the data set that holds the reference; the first of `REFERENCES`
            that is there where not given.
        name: what TRL's logs call it; the reward's own name where not given. Two functions of one
            trainer have different names.
        judge: the models that a judge asks: a `JudgePool`, opened for each batch anew.
        parameters: of the reward, such as `rounded=2`.

    Raises:
        UnknownReward: no reward has this name.
        BadParameter: it has no such parameter, or takes no such value.
        NoJudge: it asks a judge model, and none is named.
    """
    for key, value in {"reference": reference, "name": name}.items():
        if not isinstance(value, str | None):
            raise BadParameter(f"{key} is a string, not {value!r}")
    return RewardFunc(bound(reward, parameters, name, judge=judge), reference)


class RewardFunc:
    """Called as TRL calls; picklable where the reward is.

    Args:
        reward: with its parameters.
        reference: the column that holds the reference; None for the first of `REFERENCES`.
    """

    def __init__(self, reward: Bound, reference: str | None) -> None:
        self.__name__ = reward.name
        self.reward = reward
        self.reference = reference
        self._warned = False

    def __call__(
        self,
        /,
        prompts: Sequence[Any] | None,
        completions: Sequence[Any],
        *,
        completion_ids: object = None,
        trainer_state: object = None,  # noqa: ARG002 - TRL passes it, and no reward reads it
        log_extra: Callable[[str, list[Any]], None] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """The rewards of a batch.

        Args:
            prompts: strings or lists of turns; equal ones are a group.
            completions: strings, or lists of turns whose last one is scored.
            completion_ids: the tokens of each completion, which are counted and not read; before
                a column `completion_tokens`.
            trainer_state: not read.
            log_extra: takes the answer found, the reason and the reference of each row.
            log_metric: takes the share that could not be scored, and the mean of each metric.
            columns: the columns of the data set, each a list.

        Returns:
            One number per completion on the reward's own scale; None where it could not be scored,
            which TRL leaves out.

        Raises:
            BadParameter: the column of the reference is missing.
            BadSample: a column is not as long as the completions.
        """
        rows = {name: column for name, column in columns.items() if name not in NOT_COLUMNS}
        check_column("the column of completions", completions)
        count = len(completions)
        held = self._reference_column(rows)
        references = rows.pop(held) if held else [None] * count
        check_column(f"the column {held!r}", references, count)
        references = [plain(each) for each in references]
        metadata = with_tokens(_metadata(rows, count), completion_ids)
        results = values(self.reward.for_batch(), completions, references, prompts, metadata)
        if held is None:
            self._check_needs_no_reference(results, rows)
        self._log(results, references, log_extra, log_metric)
        self._warn_of_none(results)
        return [result.score.value if isinstance(result, Scored) else None for result in results]

    def _reference_column(self, columns: Mapping[str, Any]) -> str | None:
        """The name of the column that holds the reference; None where the table knows none."""
        if self.reference is None:
            return next((name for name in REFERENCES if name in columns), None)
        if self.reference not in columns:
            raise BadParameter(
                f"{self.__name__}: no column is called {self.reference!r}"
                f"{did_you_mean(self.reference, columns)}"
            )
        return self.reference

    def _check_needs_no_reference(
        self, results: Sequence[RewardResult], columns: Mapping[str, Any]
    ) -> None:
        """A reward of form alone needs none; another one is told where it could be.

        Raises:
            BadParameter: no row could be scored without it.
        """
        if results and all(
            isinstance(result, Unscored) and isinstance(result.error, BadReference)
            for result in results
        ):
            there = f"are {', '.join(sorted(columns))}" if columns else "stop at the prompt"
            raise BadParameter(
                f"{self.__name__} needs a reference, and no column is called "
                f"{', '.join(REFERENCES[:-1])} or {REFERENCES[-1]}: "
                f"pass reference='COLUMN' (of the columns there {there})"
            )

    def _log(
        self,
        results: Sequence[RewardResult],
        references: Sequence[Any],
        log_extra: Callable[[str, list[Any]], None] | None,
        log_metric: Callable[[str, float], None] | None,
    ) -> None:
        """Columns and metrics, under the same names in every process: TRL gathers them by name."""
        scores = [result.score for result in results if isinstance(result, Scored)]
        if log_extra is not None:
            log_extra(f"{self.__name__}/answer", [_answer(result) for result in results])
            log_extra(f"{self.__name__}/reason", [_reason(result) for result in results])
            log_extra(f"{self.__name__}/reference", [_shown(each) for each in references])
        if log_metric is not None and results:
            log_metric(f"{self.__name__}/unscored", 1 - len(scores) / len(results))
            for name in self.reward.spec.metrics if self.reward.spec else ():
                found = [
                    each.value for score in scores for each in score.metrics if each.name == name
                ]
                log_metric(f"{self.__name__}/{name}", mean(found) if found else float("nan"))

    def _warn_of_none(self, results: Sequence[RewardResult]) -> None:
        """Say once why a whole batch has no reward."""
        errors = [result.error for result in results if isinstance(result, Unscored)]
        if self._warned or not errors or len(errors) < len(results):
            return
        self._warned = True
        (why, count), *_ = Counter(_why(error) for error in errors).most_common(1)
        warnings.warn(
            f"{self.__name__} could score none of {len(results)} completions, "
            f"{count} of them by {why}: their rewards are None",
            RuntimeWarning,
            stacklevel=3,
        )


def _metadata(columns: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
    """The further columns, row by row; what is no column of this batch is left out."""
    held = {
        name: column
        for name, column in columns.items()
        if is_column(column) and len(column) == count
    }
    return [{name: column[at] for name, column in held.items()} for at in range(count)]


def _answer(result: RewardResult) -> str | None:
    return result.score.answer if isinstance(result, Scored) else None


def _reason(result: RewardResult) -> str:
    return result.score.reason if isinstance(result, Scored) else _why(result.error)


def _why(error: Exception) -> str:
    """What went wrong; another's exception may quote the response, and is named by its type."""
    kind = type(error).__name__
    return f"{kind}: {error}" if isinstance(error, RewardError) else kind


def _shown(reference: Any) -> str | None:
    """A reference as a cell of TRL's table, whose column has one type."""
    if reference is None or isinstance(reference, str):
        return reference
    return json.dumps(reference, ensure_ascii=False, default=str)
