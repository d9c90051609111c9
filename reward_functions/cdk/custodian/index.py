"""The custodian, a Lambda function of the stack: what templates ask for and CloudFormation cannot.

    resource                    request         what it does
    Custom::RewardGate          Create, Update  asks a new version for its self-test, before `live`
    Custom::RewardReadiness     Create, Update  keeps environments of a version ready
                                Delete          releases them
    Custom::RewardGenerations   Delete          deletes the functions of an immutable deployment
    Custom::RewardRoles         Delete          deletes the roles that a deployment's judges had
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
from functools import cache, partial
from time import monotonic, sleep
from typing import Any, Final
from urllib.request import Request, urlopen

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ReadTimeoutError

Properties = Mapping[str, str]

SELF_TEST: Final = "self_test"

ROLES_SETTLE: Final = 60.0
"""Seconds for which a call that AWS refuses is made again: new permissions take some to settle."""

JUDGE_RECOVERS: Final = 300.0
"""Seconds for which a function that is busy is asked again, and an example that could not be scored
for now: a throttled judge, say."""

BUSY: Final = frozenset(
    {
        *("TooManyRequestsException", "ThrottlingException", "ServiceException"),
        # A version whose snapshot is being made, or made again.
        *("SnapStartNotReadyException", "ResourceConflictException"),
    }
)

REFUSED_YET: Final = frozenset({"AccessDeniedException", "AccessDenied"})

FIRST_PAUSE: Final = 2.0
LONGEST_PAUSE: Final = 30.0

MARGIN: Final = 20.0
"""Seconds kept of the function's own time, to answer CloudFormation."""

MAX_REASON: Final = 1000
"""Bytes of a reason; CloudFormation takes 4,096 of an answer."""

GONE: Final = frozenset({"NoSuchBucket", "NoSuchEntity", "ResourceNotFoundException"})

STACK: Final = "aws:cloudformation:stack-id"
"""The tag by which CloudFormation says who made a function."""

IN_ONE_CALL: Final = 1000
"""Objects that S3 deletes in one call."""

STAYS: Final = "no version of this deployment goes live, and the next one begins anew"
"""How every refusal of the gate ends: what happens now."""

SHAPE: Final = {
    "reward": str,
    "version": int,
    "examples": int,
    "failures": list,
    "unavailable": list,
}
"""The report of a self-test: its fields, and what each is."""


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
        properties: `Function`, the ARN of a version; `Deployment`, its name; `Reward` and
            `Version`, what it is to serve; `Judge`, "recorded" or "model".
        until: the reading of `monotonic` at which it has to be decided.

    Raises:
        Refused: it does not start, serves something else, or an example earns something else, or
            nothing for too long.
    """
    name = properties["Deployment"]
    event = json.dumps({"reward_functions": {SELF_TEST: properties["Judge"]}})
    # A second attempt of the SDK's own would ask again what is still at work.
    lambda_ = _client("lambda", read_timeout=max(1.0, until - monotonic()), attempts=1)
    began = monotonic()
    for pause in _pauses():
        try:
            answer = lambda_.invoke(FunctionName=properties["Function"], Payload=event)
        except ReadTimeoutError:
            raise Refused(f"{name} does not answer the self-test in time; {STAYS}") from None
        except ClientError as error:
            busy = error.response["Error"]["Code"] in BUSY
            problem, patience = str(error), JUDGE_RECOVERS if busy else ROLES_SETTLE
        except BotoCoreError as error:
            problem, patience = str(error), ROLES_SETTLE
        else:
            payload = answer["Payload"].read()
            if "FunctionError" in answer:
                raise Refused(f"{name} does not start on Lambda: {_words(payload)}; {STAYS}")
            problem, patience = _waits_for(properties, payload), JUDGE_RECOVERS
        if not problem:
            return
        if monotonic() + pause > min(began + patience, until):
            raise Refused(f"{name} could not be asked for its examples: {problem}; {STAYS}")
        sleep(pause)


def _waits_for(properties: Properties, payload: bytes) -> str:
    """What could not be scored for now; empty where every example earns what it should.

    Raises:
        Refused: an example earns something else, or the answer is no report of this reward.
    """
    name = properties["Deployment"]
    report = _report(payload)
    if report is None:
        raise Refused(f"{name} answers the self-test with something else; {STAYS}")
    wanted = {"reward": properties["Reward"], "version": int(properties["Version"])}
    if not wanted.items() <= report.items():
        raise Refused(
            f"{name} serves {report['reward']} version {report['version']} on Lambda, and "
            f"{wanted['reward']} version {wanted['version']} where the stack is synthesised: "
            f"install there what is packaged; {STAYS}"
        )
    failures, unavailable = report["failures"], report["unavailable"]
    if failures:
        more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        raise Refused(f"{name} fails its examples on Lambda: {failures[0]}{more}; {STAYS}")
    return str(unavailable[0]) if unavailable else ""


def _report(payload: bytes) -> dict[str, Any] | None:
    """The report of a self-test that had examples; None where the answer is none."""
    try:
        report = json.loads(payload)
    except ValueError:
        return None
    if not isinstance(report, dict) or report.keys() != SHAPE.keys():
        return None
    right = all(type(report[field]) is kind for field, kind in SHAPE.items())
    return report if right and report["examples"] > 0 else None


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


def keep_ready(properties: Properties, until: float) -> None:
    """Have Lambda keep environments of a version initialised, and wait until all of them are.

    Args:
        properties: `Version`, its ARN; `Deployment`, its name; `Environments`, how many.
        until: the reading of `monotonic` at which they have to be.

    Raises:
        Refused: Lambda cannot provide them, or not in time.
    """
    lambda_ = _client("lambda")
    wanted = int(properties["Environments"])
    what = f"{properties['Deployment']}: {wanted} environments"
    version = _qualified(properties["Version"])
    asking = partial(
        lambda_.put_provisioned_concurrency_config,
        **version,
        ProvisionedConcurrentExecutions=wanted,
    )
    found = _once_permitted(asking)
    for pause in _pauses():
        if found["Status"] == "READY":
            return
        if found["Status"] == "FAILED":
            reason = found.get("StatusReason", "Lambda does not say why")
            raise Refused(f"{what} cannot be kept ready: {reason}; {STAYS}")
        if monotonic() + pause > until:
            raise Refused(f"{what} were not ready in time; {STAYS}")
        sleep(pause)
        found = lambda_.get_provisioned_concurrency_config(**version)


def release(properties: Properties, until: float) -> None:  # noqa: ARG001 - as every duty
    """Have Lambda keep no environment of a version; one that is gone had none."""
    releasing = _client("lambda").delete_provisioned_concurrency_config
    _unless_gone(releasing, **_qualified(properties["Version"]))


def _qualified(arn: str) -> dict[str, str]:
    """A version as these calls name it: they take no ARN that has a qualifier."""
    function, _, number = arn.rpartition(":")
    return {"FunctionName": function, "Qualifier": number}


def _once_permitted(call: Callable[[], Any]) -> Any:
    """The answer of a call whose permission may be as new as this deployment."""
    end, pauses = monotonic() + ROLES_SETTLE, _pauses()
    while True:
        pause = next(pauses)
        try:
            return call()
        except ClientError as error:
            denied = error.response["Error"]["Code"] in REFUSED_YET
            if not denied or monotonic() + pause > end:
                raise
        sleep(pause)


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
        if about and about["Tags"].get(STACK) == properties["Stack"]:
            _unless_gone(lambda_.delete_function, FunctionName=arn)


def delete_roles(properties: Properties, until: float) -> None:
    """Delete the roles under `Path`, with what they may do.

    Raises:
        Refused: the time is over before they all are.
    """
    iam, path = _client("iam"), properties["Path"]
    pages = iam.get_paginator("list_roles").paginate(PathPrefix=path)
    for name in [each["RoleName"] for page in pages for each in page["Roles"]]:
        _in_time(until, f"roles under {path} are left")
        policies = _unless_gone(iam.list_role_policies, RoleName=name)
        for policy in policies["PolicyNames"] if policies else ():
            _unless_gone(iam.delete_role_policy, RoleName=name, PolicyName=policy)
        _unless_gone(iam.delete_role, RoleName=name)


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
    ("Custom::RewardReadiness", "Create"): keep_ready,
    ("Custom::RewardReadiness", "Update"): keep_ready,
    ("Custom::RewardReadiness", "Delete"): release,
    ("Custom::RewardGenerations", "Delete"): delete_generations,
    ("Custom::RewardRoles", "Delete"): delete_roles,
    ("Custom::EmptyBucket", "Delete"): empty_bucket,
}


def _client(service: str, read_timeout: float = 60.0, attempts: int = 4) -> Any:
    retries = {"mode": "standard", "total_max_attempts": attempts}
    patience = Config(read_timeout=read_timeout, retries=retries)
    return session().create_client(service, config=patience)


@cache
def session() -> botocore.session.Session:
    """One for all requests of an environment: it reads the services' models once."""
    return botocore.session.get_session()


@cache
def _trusted(bundle: str | None) -> ssl.SSLContext:
    """The certificates of a file, or of the system; reading them takes longer than an answer."""
    return ssl.create_default_context(cafile=bundle)


def _answer(event: Mapping[str, Any], reason: str) -> None:
    """Report to CloudFormation, at the address it gave with the request."""
    known = ("StackId", "RequestId", "LogicalResourceId")
    answer = {name: event[name] for name in known} | {
        "Status": "FAILED" if reason else "SUCCESS",
        "Reason": reason.encode()[:MAX_REASON].decode(errors="ignore"),
        # Another name than before would have CloudFormation delete what had the first.
        "PhysicalResourceId": event.get("PhysicalResourceId", event["LogicalResourceId"]),
    }
    request = Request(  # noqa: S310 - CloudFormation's own address
        event["ResponseURL"],
        data=json.dumps(answer, ensure_ascii=False).encode(),
        headers={"Content-Type": ""},  # as the address is signed
        method="PUT",
    )
    trusted = _trusted(os.environ.get("AWS_CA_BUNDLE"))
    with urlopen(request, context=trusted, timeout=30):  # noqa: S310
        pass
