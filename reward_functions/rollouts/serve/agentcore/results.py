"""Where the result of a rollout is written: read from `_rollout`, and refused before it runs.

| `_rollout` | result |
| --- | --- |
| absent, or with none of `exp_id`, `input_id`, `s3_bucket` | nothing is written |
| with all three | `s3://{s3_bucket}/{exp_id}/{input_id}/{session_id}.json` |
| with one or two of them | BadRequest |
| with a bucket that the process does not name | UntrustedBucket |

A request decides which object of its bucket is written, so the process decides which buckets may
be: those of `REWARD_ROLLOUTS_RESULT_BUCKETS`, or of the app's constructor. The parts of a key are
names: no slash, no `.` or `..`, nothing that cannot be printed.

Source: `agentcore_rl_toolkit.app` 0.2.0, its keys and their spelling.

One object of S3 for each result: the first one counts, and a second one is a conflict.

A write whose reply was lost is sent again by boto3, and then finds itself: what is there is read,
and the same bytes are no conflict.

The stored result of a rollout: its agent's result in the envelope that agentcore-rl-toolkit reads.

| field | of a result | of a failure |
| --- | --- | --- |
| `status_code` | the agent's own, or 200 | 500 |
| `stop_reason` | the agent's own, or "end_turn" | one sentence, with no text of agent or model |
| `input_id`, `s3_bucket`, `result_key` | of the request | the same |
| `payload` | a copy of the request, of allowed fields | the same |
| `rewards` | a finite number or a list of them, where there are any | absent |
| `agent_fields` | the agent's own `input_id`, …, `payload`, where it had any | absent |
| `traceback` | absent | the type that was raised, and file:line of each frame |
| the rest | as the agent returned it | absent |

The copy of the request has `_rollout` with `STORED_CONFIG`, and of its other fields those that the
app names, by default `STORED`: neither a reference nor what a trainer adds. Credentials are
replaced in the copy and in the result alike: see `secrets`.

It is strict JSON. NaN, an infinite number, bytes, a reward that is a string or a boolean make the
result a failure, whose sentence says so.

The limits of AgentCore: an agent's app and its clients refuse the same.

Credentials in what is stored: replaced where a name says so, and wherever one is quoted.

| what | replaced |
| --- | --- |
| the value of a name of `NAMES`, or of one that ends so, in any spelling (`OPENAI_API_KEY`) | it |
| `["Authorization", "…"]` and `{"name": "Authorization", "value": "…"}` | the value |
| a value that the request, or this process's environment, has under such a name | in every string |

A value is looked for from `SHORTEST` characters on: "EMPTY" is the key of many a local engine. A
secret that no name gives away, and no request or variable holds, is not found: an agent keeps what
it returns.
"""

from __future__ import annotations

import json
import logging
import os
import re
from dataclasses import dataclass
from pathlib import PurePath
from traceback import extract_tb
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.jsons import json_kind
from reward_functions.rollouts.request.errors import (
    BadRequest,
    ConflictingReport,
    InvalidReward,
    RefusedResult,
    ResultNotKept,
    UntrustedBucket,
)
from reward_functions.rollouts.request.rewards import rewards_of
from reward_functions.rollouts.request.s3 import NotTaken, put_once, s3_client

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

ROLLOUT: Final = "_rollout"

FIELDS: Final = ("exp_id", "input_id", "s3_bucket")

RESULT_BUCKETS: Final = "REWARD_ROLLOUTS_RESULT_BUCKETS"
"""Names of buckets, with commas between."""

BUCKET: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")

LONGEST_PART: Final = 256
"""Characters of a part of a key; AgentCore's session ids have 33 to 256."""

LONGEST_KEY: Final = 1024
"""Bytes of a key, of S3."""

FORBIDDEN: Final = re.compile(r"[/\\]|\A\.\.?\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """One object of S3.

    Args:
        bucket: that the process may write to.
        key: of the object.
        input_id: of the row that was asked, as the request has it.
    """

    bucket: str
    key: str
    input_id: str | int

    @property
    def answer(self) -> dict[str, str]:
        """The answer to a request whose result will be there."""
        return {"status": "processing", "s3_bucket": self.bucket, "result_key": self.key}


def trusted_buckets(given: Iterable[str] | None = None) -> frozenset[str]:
    """The buckets that results may be written to.

    Args:
        given: their names; those of the environment where None.

    Raises:
        ConfigurationError: one is no bucket's name.
    """
    if given is None:
        listed = os.environ.get(RESULT_BUCKETS, "").split(",")
        names = [name.strip() for name in listed if name.strip()]
    else:
        names = [given] if isinstance(given, str) else list(given)
    for name in names:
        if BUCKET.fullmatch(name) is None:
            raise ConfigurationError(f"{name[:80]!r} is not the name of a bucket: {RESULT_BUCKETS}")
    return frozenset(names)


def destination_of(
    payload: Mapping[str, Any], session_id: str | None, buckets: frozenset[str]
) -> Destination | None:
    """Where the result of a request is written; None where nowhere.

    Args:
        payload: of the request.
        session_id: of AgentCore's header; a random one where it is missing or empty.
        buckets: that may be written to.

    Raises:
        BadRequest: `_rollout`, one of its fields, or the session's id is not valid.
        UntrustedBucket: it names another bucket.
    """
    config = payload.get(ROLLOUT)
    if config is None:
        return None
    if not isinstance(config, dict):
        raise BadRequest(f"{ROLLOUT} is {json_kind(config)}, not an object")
    if config.keys().isdisjoint(FIELDS):
        return None
    for name in FIELDS:
        if name not in config:
            raise BadRequest(
                f"Missing required rollout config field: {name!r}: give exp_id, input_id and "
                "s3_bucket, or none of them"
            )
    bucket = config["s3_bucket"]
    if not isinstance(bucket, str) or bucket not in buckets:
        raise UntrustedBucket(
            f"the bucket of {ROLLOUT}.s3_bucket is no bucket that this agent may write results to: "
            f"name it in {RESULT_BUCKETS}, or as result_buckets= of the app"
        )
    key = result_key(config["exp_id"], config["input_id"], session_id or str(uuid4()))
    return Destination(bucket=bucket, key=key, input_id=config["input_id"])


def result_key(exp_id: Any, input_id: Any, session_id: Any) -> str:
    """The key of a result, as an agent writes it and its client looks for it.

    Raises:
        BadRequest: a part is no name, or the key is longer than S3 takes.
    """
    parts = [
        key_part(exp_id, f"{ROLLOUT}.exp_id"),
        key_part(input_id, f"{ROLLOUT}.input_id"),
        key_part(session_id, "the session id"),
    ]
    key = f"{'/'.join(parts)}.json"
    if len(key.encode()) > LONGEST_KEY:
        raise BadRequest(f"the key of the result has more than {LONGEST_KEY} bytes")
    return key


def key_part(value: Any, name: str) -> str:
    """A part of a key: one folder, or the file.

    Raises:
        BadRequest: it is no name. The message says whose.
    """
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise BadRequest(f"{name} is {json_kind(value)}, not a string")
    if isinstance(value, int):
        value = f"{value:d}" if abs(value) < 10**18 else ""
    if not 0 < len(value) <= LONGEST_PART:
        raise BadRequest(f"{name} does not have 1 to {LONGEST_PART} characters")
    if FORBIDDEN.search(value) or not value.isprintable():
        raise BadRequest(
            f"{name} is not a name: it has a slash, is '.' or '..', or cannot be printed"
        )
    return str(value)


def write_result(destination: Destination, body: bytes, client: Any = None) -> None:
    """Make a result durable.

    Args:
        destination: where.
        body: JSON.
        client: boto3's for S3; the process's own where None.

    Raises:
        ConflictingReport: another result is there.
        ResultNotKept: S3 did not take it.
    """
    client = s3_client() if client is None else client
    try:
        put_once(client, bucket=destination.bucket, key=destination.key, body=body)
    except NotTaken as error:
        if not error.there:
            raise ResultNotKept(
                f"s3://{destination.bucket}/{destination.key} was not written: {error.code}"
            ) from None
        if not _is_there(client, destination, body):
            raise ConflictingReport(
                f"s3://{destination.bucket}/{destination.key} has a result already: the first "
                "one counts"
            ) from None


def _is_there(client: Any, destination: Destination, body: bytes) -> bool:
    """Whether what is there is this; no, where it may not be read."""
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - with boto3

    try:
        found = client.get_object(Bucket=destination.bucket, Key=destination.key)
        return bool(found["Body"].read(len(body) + 1) == body)
    except (BotoCoreError, ClientError):
        return False


LARGEST: Final = 100_000_000
"""Bytes of a payload, and so of a result that a client reads again (botocore's model of
InvokeAgentRuntime)."""


RESERVED: Final = ("input_id", "s3_bucket", "result_key", "payload")
"""Of the envelope: what an agent returns under these names is kept under `AGENT_FIELDS`."""

AGENT_FIELDS: Final = "agent_fields"

STORED: Final = ("id", "prompt")
"""Fields of a request that are stored unless the app names others."""

STORED_CONFIG: Final = ("exp_id", "input_id", "s3_bucket", "model_id", "sampling_params")
"""Of `_rollout`; never its `api_key` or `base_url`, which may carry a credential."""

FRAMES: Final = 64
"""Of a traceback, the innermost ones."""

_log = logging.getLogger(__name__)


def stored(
    result: Any,
    destination: Destination,
    payload: Mapping[str, Any],
    names: Collection[str] = STORED,
) -> bytes:
    """The object that is stored of a result.

    Args:
        result: what the agent returned.
        destination: where it goes.
        payload: of the request.
        names: of the fields of the request that are stored beside `_rollout`.

    Raises:
        RefusedResult: it is no object, or holds what JSON cannot.
    """
    if not isinstance(result, dict):
        raise RefusedResult(
            "Return value must be a dict when S3 save is configured, got "
            f"{type(result).__name__[:80]}"
        )
    content = dict(result)
    own = {name: content.pop(name) for name in RESERVED if name in content}
    if own:
        _log.warning("the agent returns %s, of the envelope's: in %s", ", ".join(own), AGENT_FIELDS)
        content[AGENT_FIELDS] = own
    content.setdefault("status_code", 200)
    content.setdefault("stop_reason", "end_turn")
    if isinstance(content["status_code"], bool) or not isinstance(content["status_code"], int):
        raise RefusedResult(f"status_code is {json_kind(content['status_code'])}, not a number")
    if "rewards" in content:
        content["rewards"] = _rewards(content["rewards"])
    try:
        known = known_secrets(payload)
        content = without_secrets(content, known)
        content |= {
            "input_id": destination.input_id,
            "s3_bucket": destination.bucket,
            "result_key": destination.key,
            "payload": without_secrets(_copy(payload, names), known),
        }
        body = json.dumps(content, indent=2, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError):
        raise RefusedResult(
            "the result is not strict JSON: it holds NaN, or an object that JSON does not know"
        ) from None
    if len(body) > LARGEST:
        raise RefusedResult(f"the result has more than {LARGEST:,} bytes")
    return body


def failure(sentence: str, error: BaseException | None = None) -> dict[str, Any]:
    """The content of a failure.

    Args:
        sentence: that says what went wrong, and quotes nothing.
        error: what was raised, for its type and frames.
    """
    return {
        "status_code": 500,
        "stop_reason": sentence,
        "traceback": "" if error is None else trace_of(error),
    }


def trace_of(error: BaseException) -> str:
    """The type of an error and its frames as file:line; no message, no source, no locals."""
    frames = extract_tb(error.__traceback__)[-FRAMES:]
    # Without the folders that name a machine.
    files = ("/".join(PurePath(frame.filename).parts[-3:]) for frame in frames)
    places = (f"  {file}:{frame.lineno}" for file, frame in zip(files, frames, strict=True))
    return "\n".join([type(error).__name__, *places])


def _rewards(given: Any) -> float | list[float]:
    """The rewards of a result in the form they have."""
    try:
        rewards = rewards_of(given)
    except InvalidReward as error:
        raise RefusedResult(f"rewards of the result: {error}") from None
    listed = hasattr(given, "__iter__") and getattr(given, "ndim", 1) != 0
    return list(rewards) if listed else rewards[0]


def _copy(payload: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """The fields of a request that are stored."""
    copy = {name: value for name, value in payload.items() if name in names and name != ROLLOUT}
    config = payload.get(ROLLOUT)
    if isinstance(config, dict):
        copy[ROLLOUT] = {name: config[name] for name in STORED_CONFIG if name in config}
    return copy


REDACTED: Final = "[redacted]"

SHORTEST: Final = 16

LONGEST_NAME: Final = 128

TOKENS: Final = (
    *("access", "api", "auth", "bearer", "bot", "csrf", "gh", "github", "gitlab", "hf", "id"),
    *("oauth", "refresh", "security", "session", "slack"),
)
"""Whose tokens are credentials: `eos_token` and `max_tokens` are none."""

NAMES: Final = frozenset(
    {
        *("api_key", "api_keys", "apikey", "apikeys", "authorization", "cookie"),
        *("credential", "credentials", "passphrase", "passwd", "password", "private_key"),
        *("secret", "secret_access_key", "secret_key", "signing_key", "subscription_key"),
        *(f"{whose}_token" for whose in TOKENS),
    }
)
"""In lower case, with underscores between their words."""

_ENDS: Final = tuple(f"_{name}" for name in sorted(NAMES))

_BETWEEN: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[-. ]")

_SCHEME: Final = re.compile(r"(?:Bearer|Basic|Token) +", re.IGNORECASE)


def is_secret(name: Any) -> bool:
    """Whether a name belongs to a credential."""
    if not isinstance(name, str) or len(name) > LONGEST_NAME:
        return False
    plain = _BETWEEN.sub("_", name).lower()
    return plain in NAMES or plain.endswith(_ENDS)


def known_secrets(payload: Any, environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The credentials of a request and of this process, the longest first.

    Args:
        payload: of the request.
        environ: variables of the process.

    Raises:
        RecursionError: the payload is nested too deeply.
    """
    found = {_SCHEME.sub("", value, count=1) for value in (*_secrets(payload), *_secrets(environ))}
    return tuple(sorted((each for each in found if len(each) >= SHORTEST), key=len, reverse=True))


def without_secrets(value: Any, known: Collection[str] = ()) -> Any:
    """The same, with credentials replaced.

    Args:
        value: JSON data; it is not changed.
        known: what is replaced in strings.

    Raises:
        RecursionError: it is nested too deeply.
    """
    if isinstance(value, dict):
        named = is_secret(value.get("name")) or is_secret(value.get("key"))
        return {
            name: REDACTED
            if inner and (is_secret(name) or (named and name == "value"))
            else without_secrets(inner, known)
            for name, inner in value.items()
        }
    if isinstance(value, list | tuple):
        if _is_pair(value):
            return [value[0], REDACTED]
        return [without_secrets(inner, known) for inner in value]
    if isinstance(value, str):
        for secret in known:
            value = value.replace(secret, REDACTED)
    return value


def _is_pair(value: Any) -> bool:
    """Whether it is a header as a list has it."""
    strings = len(value) == 2 and all(isinstance(each, str) for each in value)  # noqa: PLR2004
    return strings and is_secret(value[0])


def _secrets(value: Any) -> Iterator[str]:
    """The strings under names of credentials."""
    if isinstance(value, list):
        if _is_pair(value):
            yield value[1]
        for inner in value:
            yield from _secrets(inner)
    elif hasattr(value, "items"):
        for name, inner in value.items():
            if isinstance(inner, str) and is_secret(name):
                yield inner
            else:
                yield from _secrets(inner)
