"""The metrics of a simulated run in the layouts of the services.

| service | where | columns or keys |
| --- | --- | --- |
| Bedrock | `…/training_artifacts/step_wise_training_metrics.csv` | `TRAINING_COLUMNS` |
| Bedrock | `…/post_fine_tuning_validation/validation_metrics.csv` | `VALIDATION_COLUMNS` |
| OpenAI-compatible | events of type `metrics` | `EVENT_KEYS`, step and total_steps |

**Unverified**: Bedrock documents the two files and their first three columns for every job of model
customization; which columns reinforcement fine-tuning adds is documented nowhere, and those here
are our own words for them. Whoever reads such a file takes any numeric column.

Sources: docs.aws.amazon.com/bedrock/latest/userguide/model-customization-analyze; the gpt-oss
notebook of aws-samples/amazon-bedrock-samples (85fba9d), whose run of 67 steps has 4 checkpoints.
"""

from __future__ import annotations

import csv
from io import StringIO
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reward_functions.local.training_double.training import Step

TRAINING_FILE: Final = (
    "model-customization-job-{job}/training_artifacts/step_wise_training_metrics.csv"
)
VALIDATION_FILE: Final = (
    "model-customization-job-{job}/validation_artifacts/post_fine_tuning_validation/"
    "validation_metrics.csv"
)
"""Below the job's output; `job` is the last part of its ARN."""

PAGE_FILE: Final = "model-customization-job-{job}/simulation.html"
"""What no service writes: the course of the simulation as a page."""

NUMBERED: Final = ("step_number", "epoch_number")

TRAINING_COLUMNS: Final = {
    "training_loss": "pg_loss",
    "reward_mean": "reward_mean",
    "reward_std": "reward_std",
    "reward_min": "reward_min",
    "reward_max": "reward_max",
    "frac_reward_zero_std": "frac_reward_zero_std",
    "entropy": "entropy",
    "grad_norm": "grad_norm",
    "response_length_mean": "response_length_mean",
}
"""Each column with the metric of a step that it holds."""

VALIDATION_COLUMNS: Final = {
    "validation_reward_mean": "reward_mean",
    "validation_reward_std": "reward_std",
    "validation_reward_min": "reward_min",
    "validation_reward_max": "reward_max",
}

EVENT_KEYS: Final = {
    "critic_rewards_mean": "reward_mean",
    "critic_advantages_mean": "advantage_mean",
    "actor_pg_loss": "pg_loss",
    "actor_entropy": "entropy",
    "actor_grad_norm": "grad_norm",
    "response_length_mean": "response_length_mean",
}

CHECKPOINTS: Final = 4


def training_csv(steps: Iterable[Step]) -> str:
    """The training file: a line for each step."""
    return _csv(
        TRAINING_COLUMNS,
        ([step.number, step.epoch, *_values(TRAINING_COLUMNS, step.metrics)] for step in steps),
    )


def validation_csv(steps: Iterable[Step]) -> str:
    """The validation file: a line for each step that was followed by an evaluation."""
    return _csv(
        VALIDATION_COLUMNS,
        (
            [step.number, step.epoch, *_values(VALIDATION_COLUMNS, step.validation)]
            for step in steps
            if step.validation
        ),
    )


def event_data(step: Step) -> dict[str, int | float]:
    """The `data` of the event of type `metrics` of a step."""
    figures = dict(zip(EVENT_KEYS, _values(EVENT_KEYS, step.metrics), strict=True))
    return {"step": step.number, "total_steps": step.total, **figures}


def checkpoint_steps(total: int) -> list[int]:
    """The steps of a run after which there is a checkpoint: its quarters, rounded up."""
    return sorted({-(-total * quarter // CHECKPOINTS) for quarter in range(1, CHECKPOINTS + 1)})


def _values(columns: Mapping[str, str], metrics: Mapping[str, float]) -> list[float]:
    return [metrics[name] for name in columns.values()]


def _csv(columns: Iterable[str], rows: Iterable[Sequence[float]]) -> str:
    stream = StringIO()
    lines = csv.writer(stream, lineterminator="\n")
    lines.writerow([*NUMBERED, *columns])
    lines.writerows(rows)
    return stream.getvalue()
