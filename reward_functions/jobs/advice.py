"""What others set the hyperparameters of both APIs to, a row for each.

service   the service's default, where AWS's guide states it: `reinforcement-fine-tuning`
          @18b9898. All others are not documented.
sdk       of AWS's nova-forge-sdk @a4d5b3d, `recipe/templates/bedrock/override/rft_lora.json`
samples   of AWS: amazon-bedrock-samples @85fba9d and the guide's `rft-submit-job` @18b9898,
          `fine-tuning-openai-job-create` @076aa4d
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from reward_functions.jobs.job import DriverName, HyperparameterValue


class Advice(NamedTuple):
    """What others set a hyperparameter to; None where they leave it out.

    Args:
        service: the service's default.
        sdk: AWS's SDK's.
        samples: those of AWS's samples.
        recommended: what this project recommends; None where it depends on the data.
        why: the reason, with its source.
    """

    service: HyperparameterValue | None = None
    sdk: HyperparameterValue | None = None
    samples: tuple[HyperparameterValue, ...] = ()
    recommended: HyperparameterValue | None = None
    why: str = ""


SILENCE: Final = Advice()
"""Of a hyperparameter that is newer than `ADVICE`."""

BEST_PRACTICES: Final = "AWS's blog, RFT on Bedrock: best practices, 2026-04-08"

ADVICE: Final[dict[DriverName, dict[str, Advice]]] = {
    "sagemaker": {},
    "agent-rft": {},
    "bedrock": {
        "epochCount": Advice(None, 1, (1, 2), 1, "one pass shows whether the reward teaches"),
        "batchSize": Advice(None, 128, (16, 32, 64), 128, f"{BEST_PRACTICES}: 128 works well"),
        "learningRate": Advice(
            None, 1e-5, (1e-5, 5e-5), 1e-4, f"{BEST_PRACTICES}: 1e-4 for LoRA in most cases"
        ),
        "maxPromptLength": Advice(
            None, 8192, (310, 2500, 4000, 4096), None, "from your prompts: never below the longest"
        ),
        "trainingSamplePerPrompt": Advice(
            4, 8, (2, 4), 8, "AWS's SDK's: a group of 2 has a noisy baseline"
        ),
        "inferenceMaxTokens": Advice(
            None,
            2048,
            (500, 750, 1000, 8192),
            None,
            "generous: an answer that is cut earns the minimum",
        ),
        "reasoningEffort": Advice(None, "medium", ("high",), None, "as the model will be asked"),
        "evalInterval": Advice(
            None, 10, (10,), None, f"left out, the service computes it ({BEST_PRACTICES})"
        ),
    },
    "openai": {
        "n_epochs": Advice(
            samples=(1,), recommended=1, why="one pass shows whether the reward teaches"
        ),
        "batch_size": Advice(samples=(4,), why="AWS's samples give no reason for theirs"),
        "learning_rate_multiplier": Advice(
            samples=(1.0,), recommended=1.0, why="the service's own rate, times one"
        ),
    },
}
