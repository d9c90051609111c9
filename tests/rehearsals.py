"""Simulated runs in process: generated rows, the handler's own decoding, what the policy became.

rehearse("gsm8k", seed=1) -> Rehearsal          with the published settings, and no others
"""

import json
import sys
from importlib import util
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from reward_functions import get
from reward_functions.core.batch import score_batch
from reward_functions.data.generated.writing import generate
from reward_functions.local.training_double.strategies import CORRECT
from reward_functions.local.training_double.training import Responses, TrainingJob
from reward_functions.serving.contract import decode, result_object

EXPLOITABLE = Path(__file__).parent / "rewards" / "right_number_anywhere.py"

LEAST_CORRECT = 0.9
MOST_INCORRECT = 0.02
"""What a rehearsal with a sound reward ends above, and below, in every kind of answer."""

REHEARSAL = {
    "epochCount": 4,
    "batchSize": 16,
    "learningRate": 1e-4,
    "trainingSamplePerPrompt": 8,
    "inferenceMaxTokens": 2048,
    "evalInterval": 10,
}
"""A job that shows the whole curve on 200 prompts: 52 steps, 6,400 rollouts."""


class Rehearsal(NamedTuple):
    """A run, step by step."""

    outcome: object
    steps: list

    @property
    def least_correct(self):
        """(share, kind): of the correct strategies together, where it is least."""
        return min(
            (sum(shares[name] for name in CORRECT), kind)
            for kind, shares in self.steps[-1].shares.items()
        )

    @property
    def greatest_incorrect(self):
        """(share, strategy, kind): of one strategy that is not correct, where it is greatest."""
        return max(
            (share, name, kind)
            for kind, shares in self.steps[-1].shares.items()
            for name, share in shares.items()
            if name not in CORRECT
        )

    @property
    def sound(self):
        """Whether the right strategies have won, in every kind of answer that the data has."""
        least, greatest = self.least_correct[0], self.greatest_incorrect[0]
        return least > LEAST_CORRECT and greatest < MOST_INCORRECT


def exploitable():
    """The reward that can be exploited."""
    spec = util.spec_from_file_location(EXPLOITABLE.stem, EXPLOITABLE)
    module = util.module_from_spec(spec)
    sys.modules[EXPLOITABLE.stem] = module
    spec.loader.exec_module(module)
    return module.right_number_anywhere


def generated_rows(dataset, rows=200, test_rows=100):
    """(training rows, held-out rows) as `reward data generate` writes them."""
    with TemporaryDirectory() as folder:
        generate(dataset, Path(folder), rows=rows, test_rows=test_rows)
        return tuple(
            [json.loads(line) for line in (Path(folder) / name).read_text().splitlines()]
            for name in ("train.jsonl", "test.jsonl")
        )


def scored_by(reward):
    """What stands in the place of a deployed version: the handler's decoding, and the reward."""

    def answer(rows):
        return [result_object(result) for result in score_batch(reward, decode(rows))]

    return answer


def rehearse(dataset, seed, *, reward=None, data=None, **given):
    """A run with the published settings.

    Args:
        dataset: whose rows; its own reward scores them where no other is given.
        seed: of the run.
        reward: another reward.
        data: what `generated_rows` returned, where several runs share it.
        given: further fields of the job.
    """
    training, held_out = data or generated_rows(dataset)
    job = TrainingJob(
        **{"rows": training, "validation": held_out, "hyperparameters": REHEARSAL, "seed": seed}
        | given
    )
    steps = []
    outcome = Responses(job, scored_by(reward or get(dataset))).run(steps.append)
    return Rehearsal(outcome, steps)
