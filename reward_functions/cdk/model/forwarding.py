"""A stage's `forwarders`: Lambda functions that hand a trainer's requests to an agent.

    "forwarders": [
      {"name": "agent", "endpoint": "https://agent.example.com",
       "secret": "arn:aws:secretsmanager:us-east-1:123456789012:secret:agent-a1b2c3"},
      {"name": "queued", "queue": true}
    ]

The function is `reward_functions.rollouts.servers.forwarder`. The stage's multi-turn jobs may ask
each of them; `job_rights.agents` names those that others deployed.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, StringConstraints, field_validator, model_validator

from reward_functions.aws.arn import Arn
from reward_functions.aws.catalogue import MAX_FUNCTION_NAME, KeyArn, Name
from reward_functions.aws.regions import partition_of
from reward_functions.cdk.artifact.closure import PACKAGE
from reward_functions.cdk.model.deployment import MAX_MEMORY_MB, MAX_TIMEOUT_SECONDS, Settings
from reward_functions.cdk.policies.own_rights import SECRET, FunctionVpc, without_end
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.loopback import AMBIGUOUS, is_loopback

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reward_functions.aws.names import Names
    from reward_functions.cdk.policies.iam import Place

MODULE: Final = f"{PACKAGE.name}.rollouts.servers.forwarder"
"""What runs in Lambda; nothing here imports it."""

RESERVED: Final = "feedback"
"""How the names of the path of deferred rewards begin, which stand beside those of forwarders."""

DEAD: Final = "-dead-letters"

QUEUE_URL: Final = re.compile(
    r"https://sqs\.(?P<region>(?P<cn>cn-)[a-z0-9-]+|(?!cn-)[a-z0-9-]+)\.amazonaws\.com(?(cn)\.cn)/"
    r"(?P<account>[0-9]{12})/"
    r"(?P<name>[A-Za-z0-9_-]{1,75}(?:\.fifo)?)"
)


class BadForwarder(ConfigurationError):
    """A forwarder cannot be made. The message says which, and why."""


class Forwarder(Settings):
    """One function between the trainer and an agent."""

    name: Annotated[Name, StringConstraints(max_length=20)] = Field(
        description="Unique in the stage: lower case, digits, `-` and `_`, 20 characters."
    )
    endpoint: str | None = Field(
        default=None,
        max_length=2048,
        description="URL of the agent: https, or with `emulated` this machine's; `/rollout` where "
        "it has no path.",
    )
    queue: Literal[True] | str | None = Field(
        default=None,
        description="Or `true` for an SQS queue of the stage's own, from which the agent takes its "
        "requests; or the URL of another.",
    )
    secret: str | None = Field(
        default=None,
        description="ARN of the Secrets Manager secret that holds the agent's API key, whole or as "
        '`{"AGENT_API_KEY": …}`.',
    )
    key: KeyArn | None = Field(
        default=None, description="ARN of the KMS key that encrypts that secret, or the queue."
    )
    vpc: FunctionVpc | None = Field(
        default=None,
        description="`subnets` and `security_groups`, by their ids, in which the agent is reached.",
    )
    timeout_seconds: int = Field(
        default=60,
        ge=3,
        le=MAX_TIMEOUT_SECONDS,
        description="Lambda's timeout. The agent has a second less to answer, and our servers "
        "answer at once; AWS's own example waits 600 s, the window after which a rollout is said "
        "to be late.",
    )
    memory_mb: int = Field(
        default=256, ge=128, le=MAX_MEMORY_MB, description="Lambda's memory size."
    )
    reserved_concurrency: int | None = Field(
        default=None,
        ge=1,
        description="Invocations at a time, kept for this function and its most.",
    )

    @field_validator("endpoint")
    @classmethod
    def _one_reading(cls, endpoint: str | None) -> str | None:
        if endpoint is not None and not _is_url(endpoint):
            raise ValueError("write a URL such as https://agent.example.com")
        return endpoint

    @field_validator("queue")
    @classmethod
    def _of_sqs(cls, queue: Literal[True] | str | None) -> Literal[True] | str | None:
        # Python holds 1 for True, and so does pydantic.
        if not (queue is None or queue is True or QUEUE_URL.fullmatch(str(queue))):
            raise ValueError(
                "write true, or a URL such as "
                "https://sqs.us-east-1.amazonaws.com/123456789012/requests"
            )
        return queue

    @field_validator("secret")
    @classmethod
    def _by_arn(cls, secret: str | None) -> str | None:
        if secret is not None and SECRET.fullmatch(secret) is None:
            otherwise = "write the ARN of a secret, arn:aws:secretsmanager:…"
            raise ValueError(without_end(secret) or otherwise)
        return secret

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.endpoint is None) == (self.queue is None):
            raise ValueError(
                f"{self.name} needs one of 'endpoint' and 'queue', which say where requests go"
            )
        if self.queue is not None and self.secret is not None:
            raise ValueError(f"{self.name}: a queue takes no API key: leave 'secret' out")
        if self.key is not None and self.queue is None and self.secret is None:
            raise ValueError(f"{self.name}: 'key' encrypts a secret or a queue, and it has neither")
        return self

    @property
    def owns_queue(self) -> bool:
        """Whether the stage makes its queue."""
        return self.queue is True

    def function_name(self, names: Names) -> str:
        """The physical name of the function, and of a queue of the stage's own."""
        return names.rollouts(self.name)

    def function_arn(self, place: Place, names: Names) -> str:
        """The function without a qualifier."""
        return place.arn("lambda", f"function:{self.function_name(names)}")

    def queue_arn(self, place: Place, names: Names) -> str:
        """The queue's; "" without one."""
        if self.queue is None:
            return ""
        if self.queue is True:
            return place.arn("sqs", self.function_name(names))
        found = QUEUE_URL.fullmatch(self.queue)
        assert found is not None  # the validator saw it
        return place._replace(account=found["account"]).arn("sqs", found["name"])


def check_forwarders(
    forwarders: Sequence[Forwarder], *, names: Names, region: str, emulated: bool
) -> None:
    """Whether they can stand in a stage, beside each other.

    Raises:
        BadForwarder: one cannot.
    """
    plain = Counter(each.name.replace("-", "").replace("_", "") for each in forwarders)
    for each in forwarders:
        where = f"forwarders: {each.name}"
        name = each.function_name(names)
        if plain[each.name.replace("-", "").replace("_", "")] > 1:
            raise BadForwarder(f"{where}: two forwarders have this name")
        if each.name.startswith(RESERVED) or each.name.endswith(DEAD):
            raise BadForwarder(
                f"{where}: the name is taken by what stands beside it: choose another"
            )
        if len(name) > MAX_FUNCTION_NAME:
            raise BadForwarder(
                f"{where}: its function's name {name!r} is longer than Lambda's "
                f"{MAX_FUNCTION_NAME} characters"
            )
        if each.endpoint and urlsplit(each.endpoint).scheme != "https" and not emulated:
            raise BadForwarder(
                f"{where}: its endpoint is not https, and the agent's key would be readable"
            )
        if each.endpoint and is_loopback(each.endpoint) and not emulated:
            raise BadForwarder(
                f"{where}: its endpoint is this machine, which a function of AWS does not reach"
            )
        here = (partition_of(region), region)
        for field, partition, elsewhere in _used(each, here[0]):
            if (partition, elsewhere) != here:
                across = "" if partition == here[0] else f" of the partition {partition}"
                raise BadForwarder(
                    f"{where}: its {field} is in {elsewhere}{across}, and the stage in {region}: "
                    "name one of that region"
                )


def _used(forwarder: Forwarder, partition: str) -> Iterator[tuple[str, str, str]]:
    """What a forwarder uses: the field that names it, its partition and its region.

    Args:
        forwarder: whose.
        partition: of a queue, whose URL has one spelling in each region.
    """
    if isinstance(forwarder.queue, str) and (found := QUEUE_URL.fullmatch(forwarder.queue)):
        yield "queue", partition, found["region"]
    for field, arn in (("secret", forwarder.secret), ("key", forwarder.key)):
        if arn:
            place = Arn.of(arn)
            yield field, place.partition, place.region


def _is_url(endpoint: str) -> bool:
    """Whether a URL has one reading, and leads to a host that may be asked.

    The forwarder reads it the same way (`rollouts.serve.forwarder_settings.address_of`).
    """
    try:
        parts = urlsplit(endpoint)
        host, port = parts.hostname, parts.port
        (host or "").encode("idna")
    except ValueError:
        return False
    if AMBIGUOUS.search(endpoint) or "@" in parts.netloc or not host or parts.fragment:
        return False
    if "%" in host or port == 0 or not f"{parts.path}{parts.query}".isascii():
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(endpoint))
