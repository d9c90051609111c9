"""Pinned versions of deployed rewards, asked in the common contract.

Each version is asked by its own ARN, so that a run keeps its reward through later deployments. The
records of one version go in one batch. A batch that fails is asked again one by one, so that a
response which ends the function harms no other record.

| a result | becomes |
| --- | --- |
| a finite score, no flag raised | a reward |
| `bad_reference` 1 | the data set's fault: a dead letter |
| `unscored` or `imputed` 1, or no flags | ours: never a reward, tried again |
| a function error, a throttle, no answer in time, another version's answer | likewise |
"""

from __future__ import annotations

import json
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from math import inf, isfinite, nan
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from reward_functions.feedback.findings import UNSCORED, Stopped
from reward_functions.rollouts.report.deferred import VERSION_ARN
from reward_functions.serving.descriptions import described

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from reward_functions.rollouts.report.deferred import DeferredRecord, PinnedReward

    Judged = float | Stopped
    """A reward, or why there is none."""

GENERATION_DIGITS: Final = 8
"""Of the digest that ends the name of an immutable deployment's function."""

LARGEST_BATCH: Final = 5 * 1024 * 1024
"""Bytes of a request; a synchronous invocation takes 6 MB ("Lambda quotas"), and one record is at
most 3 MB of escaped JSON."""

ASKED_AT_ONCE: Final = 10
"""Invocations at a time: a batch has no more messages."""

GONE: Final = "ResourceNotFoundException"

FLAGS: Final = {
    "unscored": "the reward could not score it",
    "imputed": "the reward gave it the mean of others",
}
"""Of a result that is not the response's own: it is never reported."""


class PinnedRewards:
    """The versions of a stage's rewards.

    Args:
        client: boto3's for Lambda, which sends nothing twice by itself.
        functions: ARNs without a qualifier, as `FeedbackSettings` has them.
    """

    def __init__(self, client: Any, functions: Collection[str]) -> None:
        self._client = client
        self._plain = {arn for arn in functions if not arn.endswith("*")}
        self._prefixes = tuple(arn[:-1] for arn in functions if arn.endswith("*"))
        self._served: dict[str, tuple[str, int] | None] = {}

    def require(self, pinned: PinnedReward) -> None:
        """Refuse a version of another stage, or one that does not serve what its record says.

        Raises:
            Stopped: it is not, it is gone, or Lambda does not say.
        """
        if not self._is_ours(pinned.arn):
            raise Stopped(
                "other_stage", "scorer.arn is no numbered version of this stage's rewards"
            )
        if not (pinned.reward or pinned.version):
            return
        served = self._serves(pinned.arn)
        if served is None:
            raise Stopped("other_version", "the pinned version does not say which reward it serves")
        if pinned.reward not in {"", served[0]} or pinned.version not in {0, served[1]}:
            raise Stopped(
                "other_version",
                f"the pinned version serves {served[0]} {served[1]}, and the record says another",
            )

    def score(
        self, records: Sequence[DeferredRecord], *, seconds: Callable[[], float]
    ) -> Iterator[tuple[DeferredRecord, Judged]]:
        """Yield the outcome of each record, as soon as its version has answered.

        Args:
            records: of any versions, each of another rollout.
            seconds: that are left for asking, whenever it is called.
        """
        left = {record.digest: record for record in records}
        by_version: dict[str, list[DeferredRecord]] = {}
        for record in records:
            by_version.setdefault(record.scorer.arn, []).append(record)
        batches = [batch for each in by_version.values() for batch in _batches(each)]
        # Threads of its own: one that an earlier invocation gave up may still wait for its answer.
        pool = ThreadPoolExecutor(ASKED_AT_ONCE, thread_name_prefix="feedback-score")
        asked = {pool.submit(self._answered, each): each for each in batches if seconds() > 0}
        while done := wait(asked, max(seconds(), 0.0), return_when=FIRST_COMPLETED).done:
            for each in done:
                batch = asked.pop(each)
                for record in batch:
                    judged = each.result()[record.digest]
                    if isinstance(judged, BatchFailed) and len(batch) > 1 and seconds() > 0:
                        asked[pool.submit(self._answered, [record])] = [record]
                    else:
                        yield left.pop(record.digest), judged
        pool.shutdown(wait=False, cancel_futures=True)
        late = Stopped(UNSCORED, "the reward did not answer while there was time to report")
        for record in left.values():
            yield record, late

    def _answered(self, batch: Sequence[DeferredRecord]) -> dict[str, Judged]:
        """What becomes of the records of one version, by their digests."""
        try:
            results = self._invoked(batch[0].scorer.arn, [record.row for record in batch])
            return {record.digest: _judged(results[record.digest]) for record in batch}
        except Stopped as stopped:
            return {record.digest: stopped for record in batch}
        except Exception as error:  # noqa: BLE001 - one batch's accident ends no other
            accident = BatchFailed(UNSCORED, f"an accident of ours: {type(error).__name__}")
            return {record.digest: accident for record in batch}

    def _invoked(self, arn: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
        """Results of rows by their ids.

        Raises:
            Stopped: there are none.
        """
        try:
            reply = self._client.invoke(FunctionName=arn, Payload=json.dumps(rows).encode())
            payload = reply["Payload"].read()
        except ClientError as error:
            raise _refused(error, "invoke it") from None
        except BotoCoreError as error:
            raise Stopped(UNSCORED, f"Lambda was out of reach: {type(error).__name__}") from None
        if reply.get("FunctionError"):
            raise FunctionFailed(payload)
        version = _number(arn)
        # Lambda always says which it was; what does not say so is not Lambda.
        if reply.get("ExecutedVersion") != version:
            raise Stopped(UNSCORED, "another version than the pinned one has answered")
        return _by_id(payload, [row["id"] for row in rows])

    def _is_ours(self, arn: str) -> bool:
        found = VERSION_ARN.fullmatch(arn)
        if found is None:
            return False
        if found["version"] is not None:
            return found["function"] in self._plain
        digest = arn[-GENERATION_DIGITS:]
        prefix = arn[:-GENERATION_DIGITS]
        return prefix in self._prefixes and set(digest) <= set("0123456789abcdef")

    def _serves(self, arn: str) -> tuple[str, int] | None:
        """The reward and its version that a function's version serves; asked once."""
        if arn not in self._served:
            try:
                settings = self._client.get_function_configuration(FunctionName=arn)
            except ClientError as error:
                raise _refused(error, "describe it") from None
            except BotoCoreError as error:
                raise Stopped(
                    UNSCORED, f"Lambda was out of reach: {type(error).__name__}"
                ) from None
            found = described(settings.get("Description") or "")
            self._served[arn] = found[:2] if found else None
        return self._served[arn]


class BatchFailed(Stopped):
    """One row of the batch may be the cause: each is asked again by itself."""


class FunctionFailed(BatchFailed):
    """The function ended with an error."""

    def __init__(self, payload: bytes) -> None:
        super().__init__(UNSCORED, f"the reward function failed: {_error_type(payload)}")


def _refused(error: ClientError, what: str) -> Stopped:
    code = str(error.response.get("Error", {}).get("Code", ""))
    if code == GONE:
        return Stopped("gone", "the pinned version was deleted")
    return Stopped(UNSCORED, f"Lambda did not {what}: {code}")


def _number(arn: str) -> str:
    """How Lambda calls the version of an ARN; that of a plain one is $LATEST."""
    found = VERSION_ARN.fullmatch(arn)
    return (found and found["version"]) or "$LATEST"


def _error_type(payload: bytes) -> str:
    """The type of a function's error; its message may quote a response."""
    try:
        found = json.loads(payload)["errorType"]
    except (ValueError, TypeError, KeyError, RecursionError):
        found = None
    named = isinstance(found, str) and found.replace(".", "").isidentifier()
    return found if named else "it does not say why"


def _batches(records: Iterable[DeferredRecord]) -> Iterator[list[DeferredRecord]]:
    """Records in batches that a request has room for."""
    batch: list[DeferredRecord] = []
    used = 0
    for record in records:
        size = len(json.dumps(record.row)) + len(", ")
        if batch and used + size > LARGEST_BATCH:
            yield batch
            batch, used = [], 0
        batch.append(record)
        used += size
    if batch:
        yield batch


def _by_id(payload: bytes, ids: Sequence[str]) -> dict[str, Any]:
    """The results of a reply, in either mode, by their ids.

    Raises:
        Stopped: it is not one result for each id.
    """
    try:
        found = json.loads(payload)
        if isinstance(found, dict):
            found = json.loads(found["body"])
        results = {each["id"]: each for each in found}
    except (ValueError, TypeError, KeyError, RecursionError):
        raise Stopped(UNSCORED, "the reward's answer is no list of results") from None
    if len(found) != len(ids) or results.keys() != set(ids):
        raise Stopped(UNSCORED, "the reward's answer has other ids than it was sent")
    return results


def _judged(result: dict[str, Any]) -> Judged:
    """What a result says of its response."""
    try:
        flags = {each["name"]: each["value"] for each in result["metrics_list"]}
        value = result["aggregate_reward_score"]
    except (TypeError, KeyError):
        return Stopped(UNSCORED, "the reward's result has no score or no flags")
    if flags.get("bad_reference"):
        return Stopped("bad_reference", "the reward cannot read the reference of the data set")
    for name, reason in FLAGS.items():
        if flags.get(name, 1):
            return Stopped(UNSCORED, reason)
    try:
        score = float(value) if type(value) in {int, float} else nan
    except OverflowError:
        score = inf
    return score if isfinite(score) else Stopped(UNSCORED, "the reward's score is no finite number")
