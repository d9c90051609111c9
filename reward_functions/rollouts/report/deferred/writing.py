"""Writing a record into S3: where records go, who scores them, and one durable write.

    @rollout_handler(deferred=Deferred("s3://BUCKET/rollouts", version="arn:…:function:NAME:7"))

A record is written only where none of its rollout is (`If-None-Match: *`), so that the first one
counts: whoever comes second, with the same bytes or with others, finds it and reports nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.report.deferred.record import BadRecord, PinnedReward
from reward_functions.rollouts.request.errors import ConflictingReport, ResultNotKept
from reward_functions.rollouts.request.s3 import NotTaken, put_once, s3_client

if TYPE_CHECKING:
    from reward_functions.rollouts.report.deferred.record import DeferredRecord

FOLDER: Final = re.compile(
    r"s3://(?P<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])/"
    r"(?P<prefix>[A-Za-z0-9_.!'()-]{1,100}(?:/[A-Za-z0-9_.!'()-]{1,100}){0,7})/?"
)


@dataclass(frozen=True, slots=True)
class Deferred:
    """Where records of episodes go, and which version of a deployed reward scores them.

    Args:
        results: `s3://BUCKET/FOLDER`, of a stage's feedback path.
        version: ARN of a published version, or of an immutable deployment's function.
        reward: its name, where the version must serve that one; "" for any.
        reward_version: the reward's own version, likewise; 0 for any.
        client: boto3's for S3; one of the environment where None.

    Raises:
        ConfigurationError: the folder or the ARN has another form.
    """

    results: str
    version: str
    reward: str = ""
    reward_version: int = 0
    client: Any = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if FOLDER.fullmatch(self.results) is None:
            raise ConfigurationError(
                f"deferred results go to s3://BUCKET/FOLDER, not to {self.results[:256]!r}"
            )
        try:
            _ = self.scorer
        except BadRecord:
            raise ConfigurationError(
                "a deferred reward is scored by a published version, whose ARN ends in its number, "
                f"or by an immutable deployment's function: {self.version[:256]!r} is neither"
            ) from None

    @property
    def scorer(self) -> PinnedReward:
        """The version, as a record has it."""
        return PinnedReward(arn=self.version, reward=self.reward, version=self.reward_version)

    def write(self, record: DeferredRecord) -> None:
        """Make a record durable.

        Raises:
            BadRecord: it holds what JSON cannot, or is too large.
            ConflictingReport: a record of this rollout is there already.
            ResultNotKept: S3 did not take it.
        """
        found = FOLDER.fullmatch(self.results)
        bucket, prefix = found.groups() if found else ("", "")
        try:
            put_once(
                s3_client() if self.client is None else self.client,
                bucket=bucket,
                key=f"{prefix}/{record.key}",
                body=record.body(),
            )
        except NotTaken as error:
            if error.there:
                raise ConflictingReport(
                    f"a result of rollout {record.metadata.trajectory_id[:256]!r} is in S3 "
                    "already: the first one counts"
                ) from None
            raise ResultNotKept(
                f"{self.results} did not take a deferred result: {error.code}"
            ) from None
