"""Deferred rewards: an agent writes its episode into S3, and others score it.

    @rollout_handler(deferred=Deferred("s3://BUCKET/rollouts", version="arn:…:function:NAME:7"))

A record is written only where none of its rollout is (`If-None-Match: *`), so that the first one
counts: a second writer, with the same bytes or with others, finds it and reports nothing.

    {"record": 1, "reward": "deferred",
     "scorer": {"arn": "arn:…:function:NAME:7", "reward": "math", "version": 3},
     "metadata": {"jobArn": …, "rolloutId": …, "endpoint": …, "region": …},
     "sample": {"id": …, "messages": [{"role": …, "content": …}], "reference_answer": …,
                "metadata": {…}},
     "response": …, "created": 1764000000.0, "expires": 1764000600.0}

`scorer.reward` and `scorer.version` may be left out; so may the endpoint and the region. `sample`
is a row of the common contract without the response. Times are seconds since the epoch. Reading is
strict: an unknown field, a name that stands twice, NaN or another type is no record.

The key of a record follows from its job and rollout alone, so that a rollout has one record:

    PREFIX/JOB/ROLLOUT.json        both hexadecimal digests of the ids
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.function_calls import calls_in, turn_of
from reward_functions.core.jsons import json_kind, no_constant, unique_names
from reward_functions.core.types import Message, Sample
from reward_functions.rollouts.request.contract import RolloutMetadata, read_metadata
from reward_functions.rollouts.request.errors import (
    BadRequest,
    ConflictingReport,
    ResultNotKept,
    RolloutError,
)
from reward_functions.rollouts.request.s3 import NotTaken, put_once, s3_client

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT: Final = 1

DEFERRED: Final = "deferred"
"""The reward of an episode that somebody else scores."""

LARGEST: Final = 1024 * 1024
"""Bytes of a record."""

DEEPEST: Final = 64
"""Objects and lists inside one another: data sets have a handful."""

VERSION_ARN: Final = re.compile(
    r"(?P<function>arn:aws[a-z-]*:lambda:(?P<region>[a-z0-9-]+):[0-9]{12}:function:"
    r"(?P<name>[A-Za-z0-9_-]{1,64}))(?::(?P<version>[1-9][0-9]{0,8}))?"
)
"""A function and the number of its version. An immutable deployment's has none."""

FIELDS: Final = {
    "record": int,
    "reward": str,
    "scorer": dict,
    "metadata": dict,
    "sample": dict,
    "response": str,
    "created": (int, float),
    "expires": (int, float),
}
"""Of a record; all of them are needed."""

SCORER: Final = {"arn": str, "reward": str, "version": int}
SAMPLE: Final = {"id": str, "messages": list, "reference_answer": object, "metadata": dict}
MESSAGE: Final = {"role": str, "content": str, "tool_calls": list}
METADATA: Final = dict.fromkeys(("jobArn", "rolloutId", "endpoint", "region"), str)

LAST_TIME: Final = 1e12
"""Seconds since the epoch: what is larger is milliseconds, or no time."""

JOB_DIGITS, ROLLOUT_DIGITS = 16, 32
"""Hexadecimal digits of the digests in a key: 64 and 128 bits."""


class BadRecord(RolloutError, ValueError):
    """The bytes are no record. The message names the field, and quotes nothing of it."""


class NotDeferred(BadRecord):
    """It is a record of a reward that is not deferred."""


FOLDER: Final = re.compile(
    r"s3://(?P<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])/"
    r"(?P<prefix>[A-Za-z0-9_.!'()-]{1,100}(?:/[A-Za-z0-9_.!'()-]{1,100}){0,7})/?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedReward:
    """The version of a deployed reward that scores an episode.

    Args:
        arn: of a published version, or of an immutable deployment's function.
        reward: its name, where the version must serve that one; "" for any.
        version: the reward's own version, likewise; 0 for any.

    Raises:
        BadRecord: the ARN has another form.
    """

    arn: str
    reward: str = ""
    version: int = 0

    def __post_init__(self) -> None:
        if VERSION_ARN.fullmatch(self.arn) is None:
            raise BadRecord(
                "scorer.arn is not the ARN of a function's numbered version, or of an immutable "
                "deployment's function"
            )

    def wire(self) -> dict[str, Any]:
        """As a record has it."""
        given = {"arn": self.arn, "reward": self.reward, "version": self.version}
        return {name: value for name, value in given.items() if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class DeferredRecord:
    """One episode that is to be scored and reported.

    Args:
        scorer: who scores it.
        metadata: which rollout of which job.
        sample: what was asked, and the response to it.
        created: seconds since the epoch.
        expires: when the rollout's window closes, likewise.
    """

    scorer: PinnedReward
    metadata: RolloutMetadata
    sample: Sample = field(repr=False)
    created: float
    expires: float

    @property
    def row(self) -> dict[str, Any]:
        """It as a row of the common contract, under the rollout's digest.

        Two rollouts of a group come from one row of the data set; their ids must not be equal.
        """
        return _row(self.sample, self.sample.messages) | {"id": self.digest}

    @property
    def digest(self) -> str:
        """Of job and rollout."""
        return _digest([self.metadata.job_arn, self.metadata.trajectory_id], ROLLOUT_DIGITS)

    @property
    def key(self) -> str:
        """How the key of its object ends, after the prefix and a slash."""
        return f"{_digest(self.metadata.job_arn, JOB_DIGITS)}/{self.digest}.json"

    def body(self) -> bytes:
        """It as JSON.

        Raises:
            BadRecord: it holds what JSON cannot, or more than a record may.
        """
        record = {
            "record": FORMAT,
            "reward": DEFERRED,
            "scorer": self.scorer.wire(),
            "metadata": self.metadata.wire(),
            "sample": _row(self.sample, self.sample.context),
            "response": self.sample.response,
            "created": self.created,
            "expires": self.expires,
        }
        try:
            written = json.dumps(record, allow_nan=False, separators=(",", ":")).encode()
        except (TypeError, ValueError, RecursionError):
            raise BadRecord("the episode's row holds what JSON cannot") from None
        read_record(written)
        return written


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


def read_record(given: bytes) -> DeferredRecord:
    """A record from the bytes of its object.

    Raises:
        NotDeferred: its reward is not deferred.
        BadRecord: it is no record. The message names the field.
    """
    record = _fields(_object(given), FIELDS, "the record")
    if record["record"] != FORMAT:
        raise BadRecord(f"the record's format is not {FORMAT}: write it with this version")
    if record["reward"] != DEFERRED:
        raise NotDeferred(f"the record's reward is not {DEFERRED!r}: its agent reports it")
    scorer = _fields(record["scorer"], SCORER, "scorer", needs=("arn",))
    given_metadata = _fields(
        record["metadata"], METADATA, "metadata", needs=("jobArn", "rolloutId")
    )
    try:
        metadata = read_metadata(given_metadata)
    except BadRequest as error:
        raise BadRecord(str(error)) from None
    if not metadata.complete:
        raise BadRecord("metadata has an empty jobArn or rolloutId")
    created, expires = record["created"], record["expires"]
    if not (_is_time(created) and _is_time(expires) and created <= expires):
        raise BadRecord("created and expires are not seconds since the epoch, in this order")
    return DeferredRecord(
        scorer=PinnedReward(**scorer),
        metadata=metadata,
        sample=_sample(record["sample"]).answered(record["response"]),
        created=float(created),
        expires=float(expires),
    )


def _object(given: bytes) -> Any:
    if len(given) > LARGEST:
        raise BadRecord(f"the record has more than {LARGEST:,} bytes")
    try:
        found = json.loads(given, object_pairs_hook=unique_names, **_STRICT)
    except (ValueError, RecursionError):
        raise BadRecord("the object is not JSON, or names a field twice") from None
    if deeper(found, DEEPEST):
        raise BadRecord(f"the record nests more than {DEEPEST} levels")
    return found


def _finite(text: str) -> float:
    """A number; one too large for a float would leave as the word Infinity."""
    return float(text) if isfinite(float(text)) else no_constant("Infinity")


_STRICT: Final[dict[str, Any]] = {"parse_constant": no_constant, "parse_float": _finite}


def deeper(value: Any, levels: int) -> bool:
    """Whether objects and lists nest deeper than some levels; each is looked at once."""
    layer = [value] if isinstance(value, dict | list) else []
    for _ in range(levels):
        inside = (each.values() if isinstance(each, dict) else each for each in layer)
        layer = [each for each in chain.from_iterable(inside) if isinstance(each, dict | list)]
        if not layer:
            return False
    return True


def _fields(
    given: Any, known: Mapping[str, Any], where: str, *, needs: tuple[str, ...] | None = None
) -> dict[str, Any]:
    """An object with known fields of the right types."""
    if not isinstance(given, dict):
        raise BadRecord(f"{where} is {json_kind(given)}, not an object")
    for name in known if needs is None else needs:
        if name not in given:
            raise BadRecord(f"{where} has no {name}")
    if not given.keys() <= known.keys():
        raise BadRecord(f"{where} has a field that is none of {', '.join(known)}")
    for name, value in given.items():
        if not isinstance(value, known[name]) or (
            isinstance(value, bool) and known[name] is not object
        ):
            raise BadRecord(f"{where}'s {name} is {json_kind(value)}")
    return given


def _is_time(value: float) -> bool:
    """Whether it is a time of this age of computers; larger whole numbers are no floats either."""
    return 0 <= value < LAST_TIME and isfinite(value)


def _sample(given: Any) -> Sample:
    row = _fields(given, SAMPLE, "sample", needs=("id", "messages"))
    turns = [
        _fields(each, MESSAGE, f"message {at} of sample", needs=("role", "content"))
        for at, each in enumerate(row["messages"])
    ]
    return Sample(
        id=row["id"],
        messages=tuple(Message(turn["role"], turn["content"], calls_in(turn)) for turn in turns),
        reference=row.get("reference_answer"),
        metadata=row.get("metadata", {}),
    )


def _row(sample: Sample, messages: tuple[Message, ...]) -> dict[str, Any]:
    return {
        "id": sample.id,
        "messages": [turn_of(each) for each in messages],
        "reference_answer": sample.reference,
        "metadata": dict(sample.metadata),
    }


def _digest(ids: Any, digits: int) -> str:
    return sha256(json.dumps(ids).encode()).hexdigest()[:digits]
