"""The deployed version that scores a file, a baseline or an audit, and the same reward here.

    asked for                     scores                         explains
    a deployment of the stage     the version a job is given     the reward installed here, where
    the ARN of any function       that function                  it is of that very version

A function returns numbers; why a response earned one, only the reward that is installed here says.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from reward_functions.aws.deployed.catalogue import deployment_named
from reward_functions.aws.deployed.findings import failed
from reward_functions.aws.deployed.function import (
    BrokenContract,
    DeployedFunction,
    FunctionError,
    ScoredElsewhere,
)
from reward_functions.core.batch import score_batch
from reward_functions.core.errors import BadParameter, UnknownReward
from reward_functions.core.spec import UNIT_SCALE, RewardSpec, Scale
from reward_functions.core.types import RewardResult, Sample, Scored, Unscored
from reward_functions.testing import wire_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from boto3.session import Session

    from reward_functions.aws.arn import FunctionArn
    from reward_functions.aws.catalogue import DeployedReward

BATCH: Final = 100
"""Samples of an invocation: the rows of a preflight are one, for each kind of answer. No trainer
documents how many it sends."""

JUDGED_BATCH: Final = 8
"""The same where each sample is a call to a judge model, which takes seconds."""

BATCH_BYTES: Final = 1_000_000
"""Bytes of an invocation, where prompts are long: a sixth of what Lambda takes."""


@dataclass(frozen=True)
class VersionScorer:
    """A function that scores, with what is known of it.

    Args:
        arn: what is invoked.
        deployed: the stage's record of it; None for a function that the catalogue does not name.
        session: boto3's; the caller's own where not given.
    """

    arn: FunctionArn
    deployed: DeployedReward | None = None
    session: Session | None = None

    @cached_property
    def function(self) -> DeployedFunction:
        """What is invoked."""
        return DeployedFunction(self.arn, session=self.session)

    @cached_property
    def spec(self) -> RewardSpec | None:
        """The reward as it is installed here, in any version; None where it is not."""
        try:
            return None if self.deployed is None else self.deployed.spec()
        except UnknownReward:
            return None

    @property
    def same_here(self) -> bool:
        """Whether the reward installed here is of the version that is deployed."""
        spec, deployed = self.spec, self.deployed
        return spec is not None and deployed is not None and spec.version == deployed.version

    @property
    def judges(self) -> bool:
        """Whether it asks a judge model, as far as is known here."""
        return self.spec is not None and self.spec.needs.judge

    def scale(self, values: Iterable[float] = ()) -> Scale:
        """The range of its rewards: declared, else 0 to 1, widened by all that it has returned."""
        if self.spec is not None:
            return self.spec.scale
        seen = [*UNIT_SCALE, *values]
        return Scale(min(seen), max(seen))

    def score(
        self, samples: Sequence[Sample], advance: Callable[[int], object] = lambda _: None
    ) -> list[RewardResult]:
        """The results of the deployed version, in order.

        An invocation that fails, or breaks the contract, leaves its samples unscored.

        Args:
            samples: of any ids; the function sees others, which differ.
            advance: called with the number of samples of each invocation that returned.

        Raises:
            AwsFailed: the function cannot be invoked.
        """
        results: list[RewardResult] = []
        for batch in _batches(samples, JUDGED_BATCH if self.judges else BATCH):
            results += self._batch(batch)
            advance(len(batch))
        return results

    def _batch(self, batch: Sequence[Sample]) -> list[RewardResult]:
        numbered = [replace(sample, id=f"{at:06}") for at, sample in enumerate(batch)]
        try:
            scored = self.function.score(numbered)
        except FunctionError as error:
            problem = ScoredElsewhere(failed(error))
            return [Unscored(sample.id, problem) for sample in batch]
        except BrokenContract as error:
            return [Unscored(sample.id, error) for sample in batch]
        return [replace(result, id=sample.id) for result, sample in zip(scored, batch, strict=True)]

    def reasons(self, samples: Sequence[Sample]) -> list[str | None]:
        """Why each earns what it does, in the words of the reward here.

        Returns:
            None for what cannot be explained: the reward is of another version, or is a judge,
            which would have to be asked again, or did not score the sample.
        """
        spec, deployed = self.spec, self.deployed
        if spec is None or deployed is None or not self.same_here or spec.needs.judge:
            return [None] * len(samples)
        try:
            results = score_batch(spec.bind(deployed.parameters), samples)
        except BadParameter:
            return [None] * len(samples)
        return [result.score.reason if isinstance(result, Scored) else None for result in results]


def scorer_named(asked: str, stage: str, session: Session | None = None) -> VersionScorer:
    """The scorer of a name: the version of a deployment, or a function by its ARN.

    Raises:
        NotDeployed: the stage has no such deployment.
        BadArn: it begins as an ARN and is not one of a function.
        AwsFailed: the catalogue cannot be read.
    """
    arn, record = deployment_named(asked, stage, session)
    known = record if record and record.version_arn == str(arn) else None
    return VersionScorer(arn, known, session)


def _batches(samples: Sequence[Sample], most: int) -> Iterator[list[Sample]]:
    """The samples in order, as many in a batch as its number and its bytes allow."""
    batch: list[Sample] = []
    size = 0
    for sample in samples:
        row = len(json.dumps(wire_row(sample)))
        if batch and (len(batch) == most or size + row > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(sample)
        size += row
    if batch:
        yield batch
