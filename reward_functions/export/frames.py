"""Rows of results as a pandas dataframe: one row a result, one column a metric."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.extras import require
from reward_functions.core.types import Scored, Unscored
from reward_functions.data.json_rows import BadInput
from reward_functions.data.rows.reading import objects_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import pandas as pd

    from reward_functions.core.types import RewardResult

EXPLAINED: Final = ("answer", "reason", "rule")
"""Columns of a result that was written with `--explain`."""

TAKEN: Final = frozenset({"id", "reward", "error", "message", *EXPLAINED})
"""Columns of a result itself: a metric of such a name is `metric.NAME`."""

UNFINISHED: Final = ".partial"

NO_RESULT: Final = (
    "a row is no result of `reward score`: it has no id, or no finite aggregate_reward_score"
)


class ResultRow(NamedTuple):
    """One result.

    Args:
        reward: finite; None for an unscored row, which has no metrics either.
        error: the type of an unscored row's error and its sentence; None for a scored row.
        metrics: by column.
        explained: what `--explain` adds.
    """

    id: str
    reward: float | None
    error: tuple[str, str] | None
    metrics: Mapping[str, float]
    explained: Mapping[str, Any]

    def columns(self) -> dict[str, Any]:
        """The columns of a frame."""
        kind, message = self.error or (None, None)
        reward = math.nan if self.reward is None else self.reward
        own = {"id": self.id, "reward": reward, "error": kind, "message": message}
        return {**own, **self.metrics, **self.explained}


def to_frame(results: str | Path | Iterable[RewardResult | Mapping[str, Any]]) -> pd.DataFrame:
    """The results as a pandas dataframe.

    Columns: `id`; `reward`, a float, NaN for an unscored row; `error` and `message`, the type of
    an unscored row's error and its sentence, else None; one column for each metric, `metric.NAME`
    where a metric has the name of another column. Results that were written with `--explain` have
    `answer`, `reason` and `rule` too.

    Args:
        results: a file that `reward score -o` wrote, or what `score_batch` returns, or result
            objects.

    Raises:
        MissingExtra: pandas is not installed.
        ConfigurationError: the file cannot be read or is unfinished, or a row of it is no result.
    """
    require("pandas", by="to_frame")
    import pandas as pd  # noqa: PLC0415 - 0.4 s, for those who ask for a frame

    if isinstance(results, str | Path):
        return pd.DataFrame.from_records([row.columns() for row in result_rows(results)])
    return pd.DataFrame.from_records([row_of(each).columns() for each in results])


def row_of(result: RewardResult | Mapping[str, Any]) -> ResultRow:
    """One result, from its object in a file or from `score_batch`.

    Raises:
        ConfigurationError: it is no result, or its reward is no finite number.
    """
    if isinstance(result, Scored):
        score = result.score
        metrics = {metric.name: float(metric.value) for metric in score.metrics}
        return ResultRow(
            result.id, float(score.value), None, _named(metrics), {"reason": score.reason}
        )
    if isinstance(result, Unscored):
        error = (type(result.error).__name__, str(result.error))
        return ResultRow(result.id, None, error, {}, {})
    try:
        return _read(result)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        raise ConfigurationError(NO_RESULT) from None


def _read(result: Mapping[str, Any]) -> ResultRow:
    value, given = result["aggregate_reward_score"], result.get("explanation")
    explained = {name: (given or {}).get(name) for name in EXPLAINED}
    explained = explained if "explanation" in result else {}
    if value is None:
        error = result.get("error") or {}
        failed = (str(error.get("type", "")), str(error.get("message", "")))
        return ResultRow(str(result["id"]), None, failed, {}, explained)
    if isinstance(value, bool) or not math.isfinite(value):
        raise ValueError(value)
    metrics = {each["name"]: float(each["value"]) for each in result.get("metrics_list") or ()}
    return ResultRow(str(result["id"]), float(value), None, _named(metrics), explained)


def _named(metrics: Mapping[str, float]) -> dict[str, float]:
    return {f"metric.{name}" if name in TAKEN else name: each for name, each in metrics.items()}


def result_rows(path: str | Path) -> Iterator[ResultRow]:
    """The rows of a file of results, one after another: lines or a JSON array, gzip or not.

    Raises:
        ConfigurationError: the file cannot be read or is unfinished, or a row of it is no result.
    """
    if str(path).endswith(UNFINISHED):
        raise ConfigurationError(f"{path} is an unfinished run: --resume goes on with it")
    if not Path(path).exists():
        raise ConfigurationError(f"{path} does not exist: write it with reward score -o")
    try:
        for row in objects_of(str(path)):
            yield row_of(row.content)
    except BadInput as error:
        raise ConfigurationError(str(error)) from None
    except (OSError, RecursionError) as error:
        raise ConfigurationError(f"{path} cannot be read: {error}") from None
