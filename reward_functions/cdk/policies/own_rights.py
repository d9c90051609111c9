"""The grants of a deployment to a reward of one's own: rights, variables, secrets, a network.

    "allow": [{"actions": ["s3:GetObject"], "resources": ["arn:aws:s3:::acme-cases/math.jsonl"]}],
    "environment": {"CASES": "s3://acme-cases/math.jsonl"},
    "secrets": {"LOOKUP_KEY": "arn:aws:secretsmanager:us-east-1:123456789012:secret:lookup-a1b2c3"},
    "vpc": {"subnets": ["subnet-0123456789abcdef0"], "security_groups": ["sg-0123456789abcdef0"]}

A variable of `secrets` holds the secret's ARN and never its value, which the reward reads itself.
A statement that IAM would refuse, never match, or read as more than it says, is refused here. The
function may do what stands there, beside writing its log, and no more:

    stated          the statements of `allow`, as they were written
    read_secrets    the values of `secrets`, and nothing else of these services
    join_network    Lambda's own work on the interfaces of a function in a VPC

Sources: Sources: "Giving Lambda functions access to resources in an Amazon VPC" in the Lambda
    developer guide, whose statements those of the network are. Further: "Secret encryption and
    decryption in AWS Secrets Manager"; "How AWS Systems Manager Parameter Store uses AWS KMS"; "IAM
    JSON policy elements: Condition operators"; "Set operators for multivalued context keys", by
    which `ForAllValues` is true of a request that has no such key; the pattern of policy documents
    in IAM's API.
"""

from __future__ import annotations

import re
from ipaddress import ip_network
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, model_validator

from reward_functions.aws.arn import Arn, arn_form
from reward_functions.aws.catalogue import KeyArn, SecurityGroup, Subnet
from reward_functions.aws.regions import partition_of
from reward_functions.cdk.policies.iam import allow, document
from reward_functions.cdk.policies.services import called_by, known, prefixes
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reward_functions.cdk.model.deployment import Deployment
    from reward_functions.cdk.policies.iam import Document, Place

ACTION: Final = re.compile(r"[A-Za-z0-9-]+:[A-Za-z0-9*?]+")

ARN: Final = re.compile(r"arn:[^:]*:[a-z0-9-]+:[^:]*:[^:]*:.*\S")
"""Of one service: IAM takes no wildcard there."""

PLAIN: Final = re.compile(r"[ -~]+")
"""What a resource is written in: printable, and ASCII alone."""

HANDS_ON: Final = ("iam:", "sts:assumerole")
"""Actions by which who has a right passes it on, and so always with a reason."""

RESERVED: Final = ("REWARD_", "POWERTOOLS_", "AWS_", "LAMBDA_", "_")
"""How names of variables begin that are ours, Powertools' or Lambda's ("Defined runtime environment
variables" in the Lambda developer guide)."""

VARIABLE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]+")

PERHAPS_WITHOUT_END: Final = re.compile(arn_form("secretsmanager", "secret:[A-Za-z0-9/_+=.@-]+"))
SECRET: Final = re.compile(f"{PERHAPS_WITHOUT_END.pattern}-[A-Za-z0-9]{{6}}")
"""A secret's whole ARN. Secrets Manager adds the end, without which a grant names no secret."""

PARAMETER: Final = re.compile(arn_form("ssm", "parameter/[A-Za-z0-9_./-]+"))


OPERATORS: Final = frozenset(
    """
    StringEquals StringNotEquals StringEqualsIgnoreCase StringNotEqualsIgnoreCase StringLike
    StringNotLike NumericEquals NumericNotEquals NumericLessThan NumericLessThanEquals
    NumericGreaterThan NumericGreaterThanEquals DateEquals DateNotEquals DateLessThan
    DateLessThanEquals DateGreaterThan DateGreaterThanEquals Bool BinaryEquals IpAddress
    NotIpAddress ArnEquals ArnLike ArnNotEquals ArnNotLike Null
    """.split()
)

EMPTY_IS_TRUE: Final = "ForAllValues:"

KEY: Final = re.compile(r"[^\s:]+:(?:.*\S)?")

WRITTEN: Final = re.compile("[ -~\xa1-\xff]*")
"""What a policy is written in: printable characters of Latin-1."""

SHAPES: Final = {
    "Numeric": (re.compile(r"[+-]?[0-9]+(\.[0-9]+)?"), "numbers"),
    "Date": (
        re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?|\d+", re.ASCII),
        "dates, such as 2026-11-30T00:00:00Z",
    ),
    "Bool": (re.compile("true|false", re.IGNORECASE), "true or false"),
    "Null": (re.compile("true|false", re.IGNORECASE), "true or false"),
}
"""What operators compare with, by how their names begin; the others take any text."""


STATED: Final = "Stated"
"""How the Sids of `stated` begin; a number follows."""

INTERFACES: Final = (
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:AssignPrivateIpAddresses",
    "ec2:UnassignPrivateIpAddresses",
)

NETWORK: Final = ("ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets")


class Store(NamedTuple):
    """A service that keeps secrets.

    Args:
        action: that reads one.
        context: the key of its encryption's context that holds the secret's ARN.
    """

    action: str
    context: str


STORES: Final = {
    "secretsmanager": Store("secretsmanager:GetSecretValue", "SecretARN"),
    "ssm": Store("ssm:GetParameter", "PARAMETER_ARN"),
}
"""By the service in a secret's ARN."""


class BadRights(ConfigurationError):
    """A deployment gives its reward a right that cannot be given. The message names the field."""


def without_end(secret: str) -> str:
    """The advice for a secret's ARN that lacks its end; empty for any other text."""
    if SECRET.fullmatch(secret) or not PERHAPS_WITHOUT_END.fullmatch(secret):
        return ""
    return (
        f"{secret} lacks the six characters that end a secret's ARN: "
        "take all of it from `aws secretsmanager describe-secret --query ARN`"
    )


def _variables(names: Iterable[str]) -> None:
    """Whether Lambda takes these names of variables, and nobody else uses them."""
    for name in names:
        if reserved := next((each for each in RESERVED if name.startswith(each)), None):
            raise ValueError(
                f"{name!r}: names that begin with {reserved} are kept for settings, Powertools and "
                "Lambda: choose another"
            )
        if not VARIABLE.fullmatch(name):
            raise ValueError(
                f"{name!r} is no name of a variable: Lambda takes letters, digits and _, two at "
                "least and a letter first"
            )


def _environment(given: dict[str, str]) -> dict[str, str]:
    """Checked as a whole: no sentence shows what somebody may have put there against the rule."""
    _variables(given)
    for name, value in given.items():
        if "\0" in value or any("\ud800" <= each <= "\udfff" for each in value):
            raise ValueError(f"{name!r} holds what no variable can: write text")
    return given


def _secrets(given: dict[str, Secret]) -> dict[str, Secret]:
    """Checked as a whole: of one of them, the sentence would show what may be the secret itself."""
    _variables(given)
    for name, secret in given.items():
        if not SECRET.fullmatch(secret.arn) and not PARAMETER.fullmatch(secret.arn):
            otherwise = (
                "write the ARN of a secret in Secrets Manager or of a parameter of SSM, and "
                "neither a name nor the value"
            )
            raise ValueError(f"{name!r}: {without_end(secret.arn) or otherwise}")
    return given


def _actions(given: tuple[str, ...]) -> tuple[str, ...]:
    for text in given:
        prefix, colon, _ = text.partition(":")
        if text == "*" or (colon and set(prefix) & set("*?")):
            raise ValueError(f"{text!r} is of every service: write one, such as s3:GetObject")
        if not ACTION.fullmatch(text):
            raise ValueError(f"{text!r} is no service:Action, such as s3:GetObject")
        if not known(prefix):
            near = did_you_mean(prefix, prefixes()).partition(";")[0]
            raise ValueError(f"no service of IAM's is called {prefix!r}{near}")
    return given


def _resources(given: tuple[str, ...]) -> tuple[str, ...]:
    for text in given:
        if not PLAIN.fullmatch(text):
            raise ValueError(f"{text!a} holds what no ARN does: write printable ASCII")
        if text != "*" and not ARN.fullmatch(text):
            raise ValueError(
                f"{text!r} is no ARN, arn:PARTITION:SERVICE:REGION:ACCOUNT:RESOURCE, and not *"
            )
        _literal(text)
    return given


class Statement(BaseModel):
    """A right, as data: IAM's statement with the effect Allow."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    actions: Annotated[tuple[str, ...], AfterValidator(_actions)] = Field(
        min_length=1, description="As IAM writes them, such as `s3:GetObject`."
    )
    resources: Annotated[tuple[str, ...], AfterValidator(_resources)] = Field(
        min_length=1, description="ARNs; `*` where an action knows no resource."
    )
    condition: dict[str, dict[str, JsonValue]] | None = Field(
        default=None, description='IAM\'s, such as `{"StringEquals": {"s3:prefix": "cases/"}}`.'
    )
    reason: str | None = Field(
        default=None,
        max_length=200,
        description="One sentence, for your reviewer: needed for `*` or `?` in an action or a "
        "resource, for every action of `iam`, for `sts:AssumeRole` and for `ForAllValues:`.",
    )

    @model_validator(mode="after")
    def _reasoned(self) -> Statement:
        if self.reason is not None and (
            not self.reason.strip() or not self.reason.isprintable() or not self.reason.isascii()
        ):
            raise ValueError("reason: write one sentence, on one line and in ASCII")
        if self.reason is None and (open_ := next(self._open(), None)):
            raise ValueError(
                f"{open_!r} needs a `reason`: one sentence that says why no less will do"
            )
        return self

    @model_validator(mode="after")
    def _conditioned(self) -> Statement:
        if self.condition is not None:
            _check_condition(self.condition)
        return self

    def _open(self) -> Iterator[str]:
        """What names more than one thing, hands rights on, or holds where nothing is asked."""
        yield from (each for each in (*self.actions, *self.resources) if set(each) & set("*?"))
        yield from (each for each in self.actions if each.lower().startswith(HANDS_ON))
        yield from _open_operators(self.condition or {})


class Secret(BaseModel):
    """A secret that the reward reads; its ARN alone, where the account's own key encrypts it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    arn: str = Field(
        description="Of a secret in Secrets Manager, with its six last characters, or of a "
        "parameter of SSM."
    )
    key: KeyArn | None = Field(
        default=None, description="ARN of the KMS key that encrypts it, unless it is AWS's own."
    )

    @model_validator(mode="before")
    @classmethod
    def _by_its_arn(cls, given: Any) -> Any:
        return {"arn": given} if isinstance(given, str) else given


Environment = Annotated[dict[str, str], AfterValidator(_environment)]

Secrets = Annotated[dict[str, Secret], AfterValidator(_secrets)]


class FunctionVpc(BaseModel):
    """The network of a function. Both numbers are Lambda's own most ("VpcConfig")."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    subnets: tuple[Subnet, ...] = Field(min_length=1, max_length=16, description="Their ids.")
    security_groups: tuple[SecurityGroup, ...] = Field(
        min_length=1, max_length=5, description="Their ids."
    )


def needs_another_role(given: Deployment) -> bool:
    """Whether a deployment gives more than the log that every function has."""
    return bool(given.allow or given.secrets or given.vpc or given.tracing)


def reasons(given: Deployment) -> dict[str, str]:
    """Why a statement of `allow` is as wide as it is, by its Sid."""
    return {
        f"{STATED}{number}": each.reason
        for number, each in enumerate(given.allow, 1)
        if each.reason is not None
    }


def services(given: Deployment) -> frozenset[str]:
    """The clients that a reward with these rights may call, by botocore's names."""
    stated = [action for each in given.allow for action in each.actions]
    read = [STORES[each.arn.split(":")[2]].action for each in given.secrets.values()]
    return called_by([*stated, *read])


def check_reach(given: Deployment, region: str, account: str | None) -> None:
    """Whether what a deployment gives is of the place where it stands, and said once.

    Args:
        given: what it gives.
        region: the stage's.
        account: the stage's, where it names one.

    Raises:
        BadRights: it is of another partition, a secret is of another region, or of another account
            without its key, or a variable stands in `environment` and in `secrets`.
    """
    if both := sorted({*given.environment} & {*given.secrets}):
        raise BadRights(f"secrets.{both[0]}: `environment` has a variable of this name, too")
    partition = partition_of(region)
    for number, each in enumerate(given.allow):
        for resource in each.resources:
            if resource != "*" and (other := resource.split(":")[1]) != partition:
                raise BadRights(
                    f"allow.{number}: {resource} is of the partition {other!r}, and the stage's "
                    f"region {region} of {partition}: no role reaches across"
                )
    for name, secret in given.secrets.items():
        for arn in map(Arn.of, filter(None, (secret.arn, secret.key))):
            if (arn.partition, arn.region) != (partition, region):
                raise BadRights(
                    f"secrets.{name}: {arn} is of {arn.region} in the partition {arn.partition}, "
                    f"and the function of {region}: name one of there, such as a replica of the "
                    "secret"
                )
        own = Arn.of(secret.arn)
        # A parameter of another account may be plain text, which no key encrypts.
        foreign = account not in {None, own.account} and own.service == "secretsmanager"
        if foreign and not secret.key:
            raise BadRights(
                f"secrets.{name}: {secret.arn} is of another account than the stage's {account}, "
                "where AWS's own key decrypts for nobody else: name the `key` that encrypts it"
            )


def _check_condition(condition: Mapping[str, Mapping[str, JsonValue]]) -> None:
    """Whether IAM takes a condition, and it says something.

    Raises:
        ValueError: it does not; the message is one sentence.
    """
    if not condition:
        raise ValueError("condition: it is empty, and so allows always: leave it out")
    for operator, tests in condition.items():
        base = _base(operator)
        if base not in OPERATORS:
            near = did_you_mean(base, OPERATORS).partition(";")[0]
            raise ValueError(f"condition: IAM has no operator {operator!r}{near}")
        if not tests:
            raise ValueError(f"condition: {operator} tests no key")
        for key, value in tests.items():
            _check_key(key)
            _check_values(base, key, value if isinstance(value, list) else [value])


def _open_operators(condition: Mapping[str, object]) -> Iterator[str]:
    """Operators that are true where the request says nothing, though they read otherwise."""
    yield from (each for each in condition if each.startswith(EMPTY_IS_TRUE))


def _literal(text: str) -> None:
    """Whether IAM reads a text of a policy as it is written.

    Raises:
        ValueError: it would put something else into its place.
    """
    if "${" in text:
        raise ValueError(
            f"{text!r} holds a variable of IAM's: a function's role has no user, so write out what "
            "it stands for"
        )


def _base(operator: str) -> str:
    base = re.sub(r"^(ForAnyValue|ForAllValues):", "", operator)
    return base if base == "NullIfExists" else base.removesuffix("IfExists")


def _check_key(key: str) -> None:
    if not KEY.fullmatch(key) or not WRITTEN.fullmatch(key):
        raise ValueError(f"condition: {key!a} is no key, such as s3:prefix")
    _literal(key)


def _check_values(base: str, key: str, values: list[JsonValue]) -> None:
    if not values or not all(isinstance(each, str | bool | int | float) for each in values):
        raise ValueError(f"condition: {key} is compared with a value, or with a list of values")
    for each in map(str, values):
        if not WRITTEN.fullmatch(each):
            raise ValueError(f"condition: {each!a} holds what no policy does: write it in Latin-1")
        _literal(each)
        if wanted := _misses(base, each):
            raise ValueError(f"condition: {base} compares {key} with {wanted}, not {each!r}")


def _misses(base: str, value: str) -> str:
    """What an operator compares with, where this is none of it; else empty."""
    if "IpAddress" in base:
        return "" if _is_network(value) else "addresses, such as 10.0.0.0/16"
    for begin, (shape, wanted) in SHAPES.items():
        if base.startswith(begin) and not shape.fullmatch(value):
            return wanted
    return ""


def _is_network(value: str) -> bool:
    try:
        ip_network(value, strict=False)
    except ValueError:
        return False
    return True


def stated(statements: Iterable[Statement]) -> Document:
    """The text of a deployment's `allow`, statement by statement."""
    return document(
        *(
            allow(f"{STATED}{number}", each.actions, each.resources, each.condition)
            for number, each in enumerate(statements, 1)
        )
    )


def read_secrets(place: Place, secrets: Sequence[tuple[str, str]]) -> Document:
    """Read exactly these secrets, and decrypt them through their own service alone.

    Args:
        place: where the function runs.
        secrets: their ARNs, each with the ARN of the key that encrypts it, or "" where that is
            the account's own (`aws/secretsmanager`, `aws/ssm`), which needs no right.
    """
    read: dict[str, list[str]] = {}
    for arn, _ in secrets:
        read.setdefault(_service(arn), []).append(arn)
    reading = [
        allow(f"Read{service.capitalize()}", [STORES[service].action], list(dict.fromkeys(arns)))
        for service, arns in read.items()
    ]
    encrypted = [(arn, key) for arn, key in dict.fromkeys(secrets) if key]
    decrypting = [
        allow(f"DecryptSecret{number}", ["kms:Decrypt"], [key], _of_secret(place, arn))
        for number, (arn, key) in enumerate(encrypted, 1)
    ]
    return document(*reading, *decrypting)


def _of_secret(place: Place, arn: str) -> Document:
    service = _service(arn)
    return {
        "StringEquals": {
            "kms:ViaService": place.host(service),
            f"kms:EncryptionContext:{STORES[service].context}": arn,
        }
    }


def _service(arn: str) -> str:
    return arn.split(":")[2]


def join_network(place: Place, functions: Sequence[str]) -> Document:
    """Let Lambda make and remove a function's interfaces, and deny the function's code the same.

    Lambda asks without `lambda:SourceFunctionArn`, and what runs in a function always with it.
    IAM cannot say which interfaces these will be: AWS asks for all of the account and region.

    Args:
        place: where the function runs.
        functions: its ARN without a qualifier; a pattern, where generations share the role.
    """
    everything = [place.arn("ec2", "*/*")]
    own = {"ArnLike": {"lambda:SourceFunctionArn": [*functions]}}
    denied = allow("NeverFromTheCode", [*NETWORK, *INTERFACES], ["*"], own)
    return document(
        allow("SeeInterfaces", NETWORK, ["*"]),
        allow("KeepInterfaces", INTERFACES, everything),
        denied | {"Effect": "Deny"},
    )
