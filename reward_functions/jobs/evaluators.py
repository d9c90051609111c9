"""The registry of evaluators: how SageMaker knows a reward.

A job is not given a function. It is given the ARN of a hub's content, which refers to one:

    hub       the account's own, by the name that Studio and AWS's client compute
    content   JsonDoc NAME, {"SubType": "AWS/Evaluator", "JsonContent": …}; inside, a Reference
    version   1.0.0, 2.0.0, …: nobody changes one, and equal content makes none

The name is a deployment's, and each of its immutable functions is a version. Sources: botocore's
model of SageMaker; sagemaker-train 1.27.0, `ai_registry/air_hub.py` and `evaluator.py`, for the
hub's name and the keywords that make an evaluator visible in Studio.
"""

from __future__ import annotations

import json
import re
import time
from base64 import b32hexencode
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, Literal

from reward_functions.aws.arn import GENERATION_NAME, Arn, FunctionArn
from reward_functions.aws.calls import answer, pages, present, wait
from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.clients import client
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.job import Call
from reward_functions.jobs.recipes import PAGE, SUMMARIES, contents_of_hub

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from boto3.session import Session

Kind = Literal["RewardFunction", "RewardPrompt"]
"""What an evaluator refers to: a Lambda function, or the text of a judge's prompt in S3."""

CONTENT: Final = "JsonDoc"
SUBTYPE: Final = "AWS/Evaluator"
SCHEMA: Final = "2.0.0"

MAX_NAME: Final = 63
DIGITS: Final = 8
"""Hexadecimal digits that keep two long names apart."""

MAX_VERSION: Final = 9_999

MAX_COMPARED: Final = 200
"""Versions that are read, the newest first, before a new one is made."""

READY: Final = "Available"
COMING: Final = frozenset({"Importing", "PendingImport"})

PATIENCE: Final = 300.0
"""Seconds for an import."""

INTERVAL: Final = 2.0

_OTHER: Final = re.compile(r"[^a-zA-Z0-9]+")


@dataclass(frozen=True, slots=True)
class Evaluator:
    """One version of an evaluator.

    Args:
        arn: what a job is given.
        name: of the content.
        version: of it.
        kind: of what it refers to; "" where the service does not say.
        reference: a function's ARN, or the address of a prompt; "" where it does not say.
        status: the service's word, such as "Available".
    """

    arn: str
    name: str
    version: str
    kind: str = ""
    reference: str = ""
    status: str = READY


def hub_name(region: str, account: str) -> str:
    """The name of an account's hub, as Studio and AWS's client compute it: 52 characters."""
    digest = sha256(f"AiRegistry-{region}-{account}".encode()).digest()
    return b32hexencode(digest).decode().rstrip("=")


def name_of(function: FunctionArn) -> str:
    """The evaluator of a function: its deployment's name, which every digest of it shares."""
    found = GENERATION_NAME.fullmatch(function.name)
    return content_name(found["deployment"] if found else function.name)


def content_name(name: str) -> str:
    """A name that a hub takes: letters, digits and single hyphens, 63 of them at most."""
    made = _OTHER.sub("-", name).strip("-") or "reward"
    if len(made) <= MAX_NAME:
        return made
    return (
        f"{made[: MAX_NAME - DIGITS - 1].rstrip('-')}-{sha256(name.encode()).hexdigest()[:DIGITS]}"
    )


def require_fitting(function: FunctionArn) -> None:
    """Refuse a function that no evaluator can hold, or whose content a deployment can change.

    Raises:
        BadJob: it has a qualifier, or can change.
    """
    if function.qualifier is not None and GENERATION_NAME.fullmatch(function.name):
        plain = str(function).removesuffix(f":{function.qualifier}")
        raise BadJob(
            f"deployment: {function} has a qualifier, and SageMaker's evaluators take none: "
            f"leave it out, as in {plain}"
        )
    if function.qualifier is not None:
        raise BadJob(
            f"deployment: {function} has a qualifier, and SageMaker's evaluators take none: set "
            '"immutable": true for the deployment in cdk.json and deploy, which makes a function '
            "for every digest"
        )
    if function.moves:
        raise BadJob(
            f"deployment: {function} moves with a deployment, under a job that runs: set "
            '"immutable": true for it in cdk.json and deploy'
        )


class Registry:
    """The evaluators of one account and region.

    Args:
        region: of the hub.
        account: twelve digits.
        session: boto3's; the caller's own where not given.
        sleep: waits between two looks at an import.
        clock: seconds that pass.
    """

    def __init__(
        self,
        region: str,
        account: str,
        session: Session | None = None,
        sleep: Callable[[float], object] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.hub = hub_name(region, account)
        self._region, self._account, self._session = region, account, session
        self._sleep, self._clock = sleep, clock

    @cached_property
    def _client(self) -> Any:
        return client("sagemaker", self._region, self._session)

    def first(self, name: str) -> str:
        """The ARN of an evaluator's first version, even before it exists."""
        return self._arn(name, "1.0.0")

    def planned(self, name: str, kind: Kind, reference: str) -> tuple[Evaluator, list[Call]]:
        """The evaluator of a reference, and the calls that would make it; none where it is there.

        Args:
            name: of the content.
            kind: of the reference.
            reference: a function's ARN, or `s3://…` of a prompt.

        Raises:
            BadJob: the name has `MAX_VERSION` versions.
            AwsFailed: the hub cannot be asked.
        """
        versions = self._versions(name)
        for each in versions[:MAX_COMPARED]:
            if each["HubContentStatus"] in {READY, *COMING}:
                found = self._described(name, each["HubContentVersion"])
                if (found.kind, found.reference) == (kind, reference):
                    return found, []
        newest = _major(versions[0]["HubContentVersion"]) if versions else 0
        if newest == MAX_VERSION:
            raise BadJob(
                f"the evaluator {name} has {MAX_VERSION:,} versions: give the deployment a new name"
            )
        version = f"{newest + 1}.0.0"
        describe = self._client.describe_hub
        there = present("reading the hub of evaluators", describe, HubName=self.hub)
        calls = [] if there else [Call("sagemaker", "CreateHub", self._new_hub())]
        request = self._import(name, version, kind, reference)
        made = Evaluator(self._arn(name, version), name, version, kind, reference)
        return made, [*calls, Call("sagemaker", "ImportHubContent", request)]

    def register(self, name: str, kind: Kind, reference: str) -> Evaluator:
        """The evaluator of a reference, made if missing, and ready to be used.

        Raises:
            BadJob: as `planned`.
            AwsFailed: the hub refused, cannot be asked, or did not finish the import.
        """
        for _ in range(2):  # another start may take the version between the look and the import
            evaluator, calls = self.planned(name, kind, reference)
            if self._made(calls):
                break
        return self._awaited(evaluator)

    def all(self) -> Iterator[Evaluator]:
        """The newest version of every evaluator; none where there is no hub.

        Raises:
            AwsFailed: the hub cannot be asked.
        """
        try:
            for each in contents_of_hub(self._client, self.hub, CONTENT):
                found = self._described(each["HubContentName"], each["HubContentVersion"])
                if found.kind:
                    yield found
        except AwsFailed as error:
            if not error.missing:
                raise

    def _made(self, calls: list[Call]) -> bool:
        """Make what is missing; False where somebody else took the version meanwhile."""
        from botocore import xform_name  # noqa: PLC0415 - 100 ms

        for call in calls:
            try:
                method = getattr(self._client, xform_name(call.operation))
                answer(call.what, method, **call.request)
            except AwsFailed as error:
                if error.kind != "conflict":
                    raise
                if call.operation == "ImportHubContent":
                    return False
        return True

    def _awaited(self, evaluator: Evaluator) -> Evaluator:
        """The evaluator once its import is done.

        Raises:
            AwsFailed: it failed, or takes longer than `PATIENCE`.
        """
        found = wait(
            lambda: self._described(evaluator.name, evaluator.version),
            lambda at: at.status not in COMING,
            seconds=PATIENCE,
            pause=INTERVAL,
            sleep=self._sleep,
            clock=self._clock,
        )
        if found.status == READY:
            return found
        what = f"registering the evaluator: {evaluator.arn} is"
        if found.status in COMING:
            raise AwsFailed(f"{what} not ready after {PATIENCE:.0f} s; the same command waits on")
        raise AwsFailed(f"{what} {found.status}; the next attempt makes another version")

    def _versions(self, name: str) -> list[dict[str, Any]]:
        """Every version of a content, the newest first; none where there is no hub or content."""
        listed = pages(
            f"listing the versions of {name}",
            self._client.list_hub_content_versions,
            SUMMARIES,
            marker="NextToken",
            **self._content(name),
            MaxResults=PAGE,
        )
        try:
            found = list(listed)
        except AwsFailed as error:
            if error.missing:
                return []
            raise
        return sorted(found, key=lambda each: _major(each["HubContentVersion"]), reverse=True)

    def _described(self, name: str, version: str) -> Evaluator:
        found = answer(
            f"reading the evaluator {name}",
            self._client.describe_hub_content,
            **self._content(name),
            HubContentVersion=version,
        )
        document = json.loads(found["HubContentDocument"])
        inner = json.loads(document.get("JsonContent", "{}"))
        kind, reference = (inner.get(each, "") for each in ("EvaluatorType", "Reference"))
        status = found["HubContentStatus"]
        return Evaluator(found["HubContentArn"], name, version, kind, reference, status)

    def _content(self, name: str) -> dict[str, Any]:
        return {"HubName": self.hub, "HubContentType": CONTENT, "HubContentName": name}

    def _new_hub(self) -> Mapping[str, Any]:
        return {
            "HubName": self.hub,
            "HubDisplayName": f"AiRegistry-{self._region}-{self._account}",
            "HubDescription": "Evaluators of this account and region",
        }

    def _import(self, name: str, version: str, kind: Kind, reference: str) -> dict[str, Any]:
        inner = json.dumps({"Reference": reference, "EvaluatorType": kind})
        by = ["method:lambda"] if kind == "RewardFunction" else []
        content = "byolambda" if kind == "RewardFunction" else "byocode"
        return {
            **self._content(name),
            "HubContentVersion": version,
            "DocumentSchemaVersion": SCHEMA,
            "HubContentDocument": json.dumps({"SubType": SUBTYPE, "JsonContent": inner}),
            "HubContentSearchKeywords": [
                *by,
                f"@subtype:{SUBTYPE.lower()}",
                f"@evaluatortype:{kind.lower()}",
                f"@contenttype:{content}",
            ],
        }

    def _arn(self, name: str, version: str) -> str:
        place = f"arn:aws:sagemaker:{self._region}:{self._account}:hub-content"
        return f"{place}/{self.hub}/{CONTENT}/{name}/{version}"


def require_here(evaluator: str, region: str, account: str, field: str) -> None:
    """Refuse the ARN of an evaluator that a job of this account and region cannot use.

    Raises:
        BadJob: it is no evaluator, has no version, or is of another account or region.
    """
    form = r"hub-content/[^/]+/JsonDoc/[^/]+/[0-9]+\.[0-9]+\.[0-9]+"
    found = Arn.read(evaluator, "sagemaker", form)
    if found is None or found.partition != "aws":  # as AWS's client takes one
        raise BadJob(
            f"{field}: {evaluator[:200]!r} is not the ARN of an evaluator: "
            "arn:aws:sagemaker:REGION:ACCOUNT:hub-content/HUB/JsonDoc/NAME/VERSION"
        )
    if (found.region, found.account) != (region, account):
        raise BadJob(
            f"{field}: {evaluator} is in {found.region} of account {found.account}, and the job in "
            f"{region} of {account}: register it there"
        )


def _major(version: str) -> int:
    return int(version.partition(".")[0])
