"""Results, metrics and the catalogue as tables, in a notebook (HTML) and in a terminal (text)."""

from __future__ import annotations

from itertools import chain
from math import fsum
from typing import TYPE_CHECKING

from helpers.shown import Shown
from reward_functions import Scored
from reward_functions.core.registry import specs
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reward_functions import RewardResult
    from reward_functions.aws.catalogue import DeployedReward


def results_table(results: Iterable[RewardResult]) -> Shown:
    """One row a result: its score, the answer that was found, and the reason or the error."""
    rows = [_result(result) for result in results]
    return Shown([Sheet("", ("id", "score", "answer", "reason"), rows, words=("answer", "reason"))])


def metrics_table(results: Iterable[RewardResult]) -> Shown:
    """One row a metric: its mean over the scored samples, after the mean of the scores."""
    scores = [result.score for result in results if isinstance(result, Scored)]
    columns: dict[str, list[float]] = {"score": [score.value for score in scores]} if scores else {}
    for metric in chain.from_iterable(score.metrics for score in scores):
        columns.setdefault(metric.name, []).append(metric.value)
    rows = [
        (name, f"{fsum(values) / len(values):.4g}", str(len(values)))
        for name, values in columns.items()
    ]
    return Shown([Sheet("", ("metric", "mean", "samples"), rows)])


def catalogue_table(deployed: Iterable[DeployedReward]) -> Shown:
    """One row a deployment of a stage, as `reward_functions.aws.deployed.deployments` lists."""
    columns = ("name", "reward", "version", "response mode", "ARN")
    rows = [
        (each.name, each.reward, str(each.version), each.response_mode, each.live_arn)
        for each in deployed
    ]
    return Shown([Sheet("", columns, rows, words=columns)])


def catalogue_of_rewards() -> Shown:
    """One row a reward that is installed: what it verifies, its scale, and who decides."""
    rows = [
        (
            name,
            spec.summary,
            f"{spec.scale.minimum:g} to {spec.scale.maximum:g}",
            "a judge model" if spec.needs.judge else "a rule",
        )
        for name, spec in sorted(specs().items())
    ]
    columns = ("name", "what it verifies", "scale", "who decides")
    return Shown([Sheet("", columns, rows, words=columns)])


def _result(result: RewardResult) -> tuple[str, str, str, str]:
    if isinstance(result, Scored):
        score = result.score
        return result.id, f"{score.value:g}", score.answer or "", score.reason
    return result.id, "unscored", "", f"{type(result.error).__name__}: {result.error}"
