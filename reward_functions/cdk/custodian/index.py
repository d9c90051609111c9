"""The custodian, a Lambda function of the stack: what templates ask for and CloudFormation cannot.

    resource                    request         what it does
    Custom::RewardGate          Create, Update  asks a new version for its self-test, before `live`
    Custom::RewardGenerations   Delete          deletes the functions of an immutable deployment
    Custom::EmptyBucket         Delete          deletes every object and every version of it

Every other request succeeds at once, so that nothing here keeps a stack from rolling back. A duty
that fails says why in one sentence, which CloudFormation shows. This file runs alone, with what
Lambda's Python runtime brings: it imports nothing of this project.
"""

from __future__ import annotations

import json
import os
import ssl
from collections.abc import Callable, Iterator, Mapping
from time import monotonic, sleep
from typing import Any, Final
from urllib.request import Request, urlopen

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

Properties = Mapping[str, str]

SELF_TEST: Final = "self_test"

ROLES_SETTLE: Final = 60.0
"""Seconds for which a call that AWS refuses is made again: new permissions take some to settle."""

JUDGE_RECOVERS: Final = 300.0
"""Seconds for which an example that could not be scored is asked again: a throttled judge, say."""

FIRST_PAUSE: Final = 2.0
LONGEST_PAUSE: Final = 30.0

MARGIN: Final = 20.0
"""Seconds kept of the function's own time, to answer CloudFormation."""

MAX_REASON: Final = 1000
"""Characters of a reason; CloudFormation takes 4,096 bytes of an answer."""

GONE: Final = frozenset({"NoSuchBucket", "ResourceNotFoundException"})

STACK: Final = "aws:cloudformation:stack-id"
"""The tag by which CloudFormation says who made a function."""

IN_ONE_CALL: Final = 1000
"""Objects that S3 deletes in one call."""


class Refused(Exception):
    """A duty that failed, as one sentence."""


def handler(event: dict[str, Any], context: Any) -> None:
    """Do what a custom resource asks for, and say to CloudFormation how it went.

    Args:
        event: CloudFormation's request ("Custom resource request objects" in its user guide).
        context: Lambda's.
    """
    duty = DUTIES.get((event["ResourceType"], event["RequestType"]))
    until = monotonic() + context.get_remaining_time_in_millis() / 1000 - MARGIN
    reason = ""
    try:
        if duty:
            duty(event["ResourceProperties"] | {"Stack": event["StackId"]}, until)
    except Refused as refusal:
        reason = str(refusal)
    except (ClientError, BotoCoreError) as error:
        reason = f"{event['LogicalResourceId']}: {error}"
    except Exception as error:  # noqa: BLE001 - without an answer CloudFormation waits for an hour
        reason = f"{event['LogicalResourceId']}: {type(error).__name__}: {error}"
    _answer(event, reason)


def ask_for_self_test(properties: Properties, until: float) -> None:
    """The gate: the version has to score its own examples.

    Args:
        properties: `Function`, the ARN of a version; `Deployment`, its name; `Judge`, "recorded" or
            "model".
        until: the reading of `monotonic` at which it has to be decided.

    Raises:
        Refused: it does not start, or an example earns something else, or nothing for too long.
    """
    name = properties["Deployment"]
    event = json.dumps({"reward_functions": {SELF_TEST: properties["Judge"]}})
    lambda_ = _client("lambda", read_timeout=max(1.0, until - monotonic()))
    began = monotonic()
    for pause in _pauses():
        try:
            answer = lambda_.invoke(FunctionName=properties["Function"], Payload=event)
        except ClientError as error:
            problem, patience = str(error), ROLES_SETTLE
        else:
            payload = answer["Payload"].read()
            if "FunctionError" in answer:
                raise Refused(f"{name} does not start on Lambda: {_words(payload)}; {STAYS}")
            problem, patience = _waits_for(name, payload), JUDGE_RECOVERS
        if not problem:
            return
        if monotonic() + pause > min(began + patience, until):
            raise Refused(f"{name} could not be asked for its examples: {problem}; {STAYS}")
        sleep(pause)


STAYS: Final = "nothing has moved, and the next deployment begins anew"


def _waits_for(name: str, payload: bytes) -> str:
    """What could not be scored for now; empty where every example earns what it should.

    Raises:
        Refused: an example earns something else, or the answer is no report.
    """
    try:
        report = json.loads(payload)
        failures, unavailable = report["failures"], report["unavailable"]
    except (ValueError, KeyError, TypeError):
        raise Refused(f"{name} answers the self-test with something else; {STAYS}") from None
    if failures:
        more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        raise Refused(f"{name} fails its examples on Lambda: {failures[0]}{more}; {STAYS}")
    return str(unavailable[0]) if unavailable else ""


def _words(payload: bytes) -> str:
    """The error of a function that failed, as Lambda reports it."""
    try:
        error = json.loads(payload)
        return f"{error.get('errorType', 'error')}: {error.get('errorMessage', '')}"
    except (ValueError, AttributeError):
        return payload.decode(errors="replace")


def _pauses() -> Iterator[float]:
    pause = FIRST_PAUSE
    while True:
        yield pause
        pause = min(2 * pause, LONGEST_PAUSE)


def delete_generations(properties: Properties, until: float) -> None:
    """Delete the functions of one immutable deployment: those of this stack named `Prefix…`.

    Another stage may have such names too: `dev` with `eu-math`, and `dev-eu` with `math`.

    Raises:
        Refused: the time is over before they all are.
    """
    lambda_ = _client("lambda")
    pages = lambda_.get_paginator("list_functions").paginate()
    prefix = properties["Prefix"]
    found = [
        each["FunctionArn"]
        for page in pages
        for each in page["Functions"]
        if each["FunctionName"].startswith(prefix)
    ]
    for arn in found:
        _in_time(until, f"functions named {prefix}… are left")
        about = _unless_gone(lambda_.list_tags, Resource=arn)
        if about and about["Tags"].get(STACK) in (None, properties["Stack"]):
            _unless_gone(lambda_.delete_function, FunctionName=arn)


def empty_bucket(properties: Properties, until: float) -> None:
    """Delete every object of `Bucket`, with every version and every marker of a deleted one.

    Raises:
        Refused: the time is over before it is empty, or S3 refuses an object.
    """
    bucket = properties["Bucket"]
    s3 = _client("s3")
    while found := _unless_gone(s3.list_object_versions, Bucket=bucket, MaxKeys=IN_ONE_CALL):
        versions = [*found.get("Versions", ()), *found.get("DeleteMarkers", ())]
        if not versions:
            return
        _in_time(until, f"s3://{bucket} is not empty yet")
        keys = [{"Key": each["Key"], "VersionId": each["VersionId"]} for each in versions]
        done = s3.delete_objects(Bucket=bucket, Delete={"Objects": keys, "Quiet": True})
        if errors := done.get("Errors"):
            raise Refused(f"s3://{bucket}: {errors[0].get('Message', 'S3 keeps an object')}")


def _unless_gone(call: Callable[..., Any], **arguments: Any) -> Any:
    """The answer of a call; None where what it is about is gone already."""
    try:
        return call(**arguments)
    except ClientError as error:
        if error.response["Error"]["Code"] in GONE:
            return None
        raise


def _in_time(until: float, left: str) -> None:
    if monotonic() > until:
        raise Refused(f"{left}: the time is over; ask again")


DUTIES: Final[Mapping[tuple[str, str], Callable[[Properties, float], None]]] = {
    ("Custom::RewardGate", "Create"): ask_for_self_test,
    ("Custom::RewardGate", "Update"): ask_for_self_test,
    ("Custom::RewardGenerations", "Delete"): delete_generations,
    ("Custom::EmptyBucket", "Delete"): empty_bucket,
}


def _client(service: str, read_timeout: float = 60.0) -> Any:
    patience = Config(read_timeout=read_timeout, retries={"mode": "standard"})
    return botocore.session.get_session().create_client(service, config=patience)


def _answer(event: Mapping[str, Any], reason: str) -> None:
    """Report to CloudFormation, at the address it gave with the request."""
    known = ("StackId", "RequestId", "LogicalResourceId")
    answer = {name: event[name] for name in known} | {
        "Status": "FAILED" if reason else "SUCCESS",
        "Reason": reason[:MAX_REASON],
        # Another name than before would have CloudFormation delete what had the first.
        "PhysicalResourceId": event.get("PhysicalResourceId", event["LogicalResourceId"]),
    }
    request = Request(  # noqa: S310 - CloudFormation's own address
        event["ResponseURL"],
        data=json.dumps(answer).encode(),
        headers={"Content-Type": ""},  # as the address is signed
        method="PUT",
    )
    trusted = ssl.create_default_context(cafile=os.environ.get("AWS_CA_BUNDLE"))
    with urlopen(request, context=trusted, timeout=30):  # noqa: S310
        pass
