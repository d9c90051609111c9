"""What a judge costs over a training run, by model: `reward judge estimate`. No model is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helpers.shown import Shown
from reward_functions import get
from reward_functions.calibration.cases import read_cases
from reward_functions.calibration.estimating import (
    ResponseCost,
    TrainingRun,
    estimate,
    measured,
)
from reward_functions.calibration.recorded_questions import recorded_questions
from reward_functions.calibration.settings import require_judge
from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel
from reward_functions.judge_runtime.usage import prices_as_of
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reward_functions.calibration.estimating import Estimate


def judge_costs(
    reward: str,
    cases: str | Path,
    models: Sequence[str],
    *,
    prompts: int,
    batch_size: int = 32,
    samples: int = 4,
    epochs: int = 1,
) -> Shown:
    """Calls, tokens and dollars of judging a run, at most; the questions are measured on cases.

    Args:
        reward: a judge.
        cases: a file of labelled responses: those that the judge's questions are measured on.
        models: ids of Bedrock; one without a known price costs an unknown sum.
        prompts: rows of training data.
        batch_size: prompts of a step.
        samples: responses to a prompt.
        epochs: passes over the data.

    Raises:
        ConfigurationError: the reward asks no judge, or the cases cannot be read.
        OSError: the file cannot be read.
    """
    spec = require_judge(get(reward))
    labelled = read_cases(str(cases), spec.scale).items
    calls, tokens = measured(recorded_questions(spec, {}, [case.sample for case in labelled]))
    run = TrainingRun(prompts=prompts, batch_size=batch_size, samples=samples, epochs=epochs)
    cost = ResponseCost(calls=calls, input=tokens)
    lines = [_line(name, run, cost) for name in models]
    heads = ("model", "calls", "tokens read", "tokens written", "dollars", "a step takes")
    title = f"Judging {run.responses:,} responses in {run.steps:,} steps, at most"
    assumed = (
        f"a question has about {tokens:,} tokens, a verdict is taken for {cost.output:,}, "
        f"a call for {cost.latency:g} s; prices as of {prices_as_of()}"
    )
    avoided = (
        "responses that code decides cost nothing: wrong verdicts, none, and those without reasons"
    )
    return Shown([Sheet(title, heads, lines)], [assumed, avoided])


def _line(model: str, run: TrainingRun, cost: ResponseCost) -> list[str]:
    config = JudgeConfig(models=(JudgeModel(model=model, region="us-east-1"),))
    found: Estimate = estimate(config, run, cost, config.concurrency)
    (only,) = found.models
    return [
        model,
        f"{only.calls:,}",
        f"{only.usage.input:,}",
        f"{only.usage.output:,}",
        "unknown" if only.usd is None else f"{only.usd:,.2f}",
        f"{found.step_seconds:,.0f} seconds",
    ]
