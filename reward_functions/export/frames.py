"""Rows of results as a pandas dataframe: one row a result, one column a metric."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.extras import require
from reward_functions.core.types import Scored, Unscored

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import pandas as pd

    from reward_functions.core.types import RewardResult

REWARD: Final = "reward"
"""The column of the reward; not a number for an unscored row."""

EXPLAINED: Final = ("answer", "reason", "rule")
"""Columns of a result that was written with `--explain`."""


def to_frame(results: str | Path | Iterable[RewardResult | Mapping[str, Any]]) -> pd.DataFrame:
    """The results as a pandas dataframe.

    Columns: `id`; `reward`, a float, NaN for an unscored row; `error` and `message`, the type of
    an unscored row's error and its sentence, else None; one column for each metric. Results that
    were written with `--explain` have `answer`, `reason` and `rule` too.

    Args:
        results: a file that `reward score -o` wrote (.jsonl or .json), or what `score_batch`
            returns, or result objects.

    Raises:
        MissingExtra: pandas is not installed.
        ConfigurationError: the file cannot be read, or a line of it is no result.
    """
    require("pandas", by="to_frame")
    import pandas as pd  # noqa: PLC0415 - 0.4 s, for those who ask for a frame

    objects = result_objects(results) if isinstance(results, str | Path) else results
    return pd.DataFrame.from_records([columns(each) for each in objects])


def columns(result: RewardResult | Mapping[str, Any]) -> dict[str, Any]:
    """The columns of one result.

    Raises:
        ConfigurationError: it is no result.
    """
    if isinstance(result, Scored):
        score = result.score
        metrics = {metric.name: float(metric.value) for metric in score.metrics}
        return _columns(result.id, float(score.value), None, metrics) | {"reason": score.reason}
    if isinstance(result, Unscored):
        error = {"type": type(result.error).__name__, "message": str(result.error)}
        return _columns(result.id, None, error, {})
    try:
        metrics = {each["name"]: float(each["value"]) for each in result.get("metrics_list", ())}
        made = _columns(
            result["id"], result["aggregate_reward_score"], result.get("error"), metrics
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ConfigurationError(
            "a row is no result of `reward score`: it has no id and aggregate_reward_score"
        ) from None
    explained = result.get("explanation") or {}
    return made | {name: explained.get(name) for name in EXPLAINED if "explanation" in result}


def _columns(
    name: str, value: float | None, error: Mapping[str, str] | None, metrics: Mapping[str, float]
) -> dict[str, Any]:
    error = error or {}
    return {
        "id": name,
        REWARD: math.nan if value is None else float(value),
        "error": error.get("type"),
        "message": error.get("message"),
        **metrics,
    }


def result_objects(path: str | Path) -> Iterator[dict[str, Any]]:
    """The result objects of a file, one after another. A half-written last line is left out.

    Raises:
        ConfigurationError: the file cannot be read, or has a line that is no JSON object.
    """
    path = Path(path)
    try:
        with path.open(encoding="utf-8") as lines:
            if path.suffix == ".json":
                yield from json.load(lines)
                return
            for number, line in enumerate(lines, start=1):
                try:
                    yield json.loads(line)
                except ValueError:
                    if not line.endswith("\n"):
                        return  # it is being written
                    raise ConfigurationError(f"{path}, line {number}: not JSON") from None
    except FileNotFoundError:
        raise ConfigurationError(f"{path} does not exist: write it with reward score -o") from None
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path} cannot be read: {error}") from None
