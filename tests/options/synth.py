"""One stage as templates, and what is wrong with them."""

import json
import re
from contextlib import redirect_stderr
from functools import cache
from hashlib import sha256
from io import StringIO
from os import environ
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

from reward_functions.cdk.app.preview import alarms
from reward_functions.cdk.limits.quotas import (
    MAX_ENVIRONMENT_BYTES,
    MAX_INLINE_POLICIES,
    MAX_MANAGED_POLICY,
    MAX_RESOURCES,
    most_resources,
)
from tests.options.table import ACCOUNT, ROOT, checked

LOOPBACK = "http://127.0.0.1:4566"

NAMES = {
    # The property that is a resource's name, and how long AWS lets it be.
    "AWS::BedrockAgentCore::Runtime": ("AgentRuntimeName", 48),
    "AWS::CloudWatch::Alarm": ("AlarmName", 255),
    "AWS::CloudWatch::Dashboard": ("DashboardName", 255),
    "AWS::DynamoDB::Table": ("TableName", 255),
    "AWS::Events::Rule": ("Name", 64),
    "AWS::IAM::ManagedPolicy": ("ManagedPolicyName", 128),
    "AWS::IAM::Role": ("RoleName", 64),
    "AWS::Lambda::Alias": ("Name", 128),
    "AWS::Lambda::Function": ("FunctionName", 64),
    "AWS::Logs::LogGroup": ("LogGroupName", 512),
    "AWS::S3::Bucket": ("BucketName", 63),
    "AWS::SNS::Topic": ("TopicName", 256),
    "AWS::SQS::Queue": ("QueueName", 80),
    "AWS::SSM::Parameter": ("Name", 1011),
}

MAX_STACK_NAME = 128
MAX_OUTPUTS = 200
MAX_TEMPLATE = 1_000_000
"""Bytes ("CloudFormation quotas")."""

MAX_PARAMETER = 8192
"""Bytes of an advanced parameter of SSM."""

MAX_DESCRIPTION = {"AWS::IAM::Role": 1000, "AWS::Lambda::Function": 256}

PLACEHOLDER = re.compile(r"\$\{Token\[|TODO|CHANGEME|(?<!0)0{12}(?!0)")
"""What stands for something: of CDK's, of ours (`NO_ACCOUNT`; a digest of zeros is longer)."""

KNOWN = {"W3005": "CDK says what depends on what even where a reference says it already."}
OF_EMULATOR = {"W3037": "It asks about an action that AWS does not have."}


class Synthesised(NamedTuple):
    """A stage's templates.

    Args:
        resources: of the stage's own stack.
        seconds: to synthesise it, cdk-nag's rules with it.
        digest: of all templates.
        findings: sentences.
    """

    resources: int
    seconds: float
    digest: str
    findings: list


def synthesised(name, given, *, inspected=True):
    """A stage from `cdk.json` to its templates; findings only where it is inspected."""
    import aws_cdk as cdk

    from reward_functions.cdk.app.app import build

    started = perf_counter()
    stage = checked(given, name)
    context = json.loads((ROOT / "cdk.json").read_text())["context"]
    with TemporaryDirectory() as folder, redirect_stderr(StringIO()):
        context |= {"stages": {name: {"region": "us-east-1", "deployments": ["gsm8k"]} | given}}
        context |= {"stage": name, "aws:cdk:bundling-stacks": []}
        app = cdk.App(context=context, outdir=folder, builtin_cloud_formation_validation=False)
        environ.pop("AWS_ENDPOINT_URL", None)
        if stage.emulated:
            environ["AWS_ENDPOINT_URL"] = LOOPBACK
        build(app, ROOT)
        try:
            stacks = {each.stack_name: each.template for each in app.synth().stacks}
        except RuntimeError as error:
            return Synthesised(0, perf_counter() - started, "", [f"nag: {error}"])
    taken = perf_counter() - started
    text = json.dumps(stacks)
    resources = stacks[stage.names.stack]["Resources"]
    found = [*wrong(stage, stacks)] if inspected else []
    return Synthesised(len(resources), taken, sha256(text.encode()).hexdigest(), found)


def digest_of(name, given):
    """Of the same templates, made once more."""
    return synthesised(name, given, inspected=False).digest


def wrong(stage, stacks):
    """What AWS would refuse, what is not as it was counted, and what the linter says."""
    resources = stacks[stage.names.stack]["Resources"]
    counted = most_resources(stage)
    if len(resources) > min(counted, MAX_RESOURCES):
        yield f"{len(resources)} resources, and {counted} were counted"
    watched = sum(each["Type"] == "AWS::CloudWatch::Alarm" for each in resources.values())
    if watched != alarms(stage):
        yield f"{watched} alarms, and {alarms(stage)} are paid for"
    for name, template in stacks.items():
        if len(name) > MAX_STACK_NAME:
            yield f"{name} is too long for a stack's name"
        if (count := len(template.get("Outputs", {}))) > MAX_OUTPUTS:
            yield f"{name} has {count} outputs"
        if (size := len(json.dumps(template))) > MAX_TEMPLATE:
            yield f"{name} takes {size} bytes"
        if not stage.emulated and (found := PLACEHOLDER.search(json.dumps(template))):
            yield f"{name} has the placeholder {found.group()}"
        for logical, each in template["Resources"].items():
            yield from (f"{logical}: {said}" for said in refused(each))
        yield from linted(template, stage)


def refused(resource):
    """Which of AWS's limits a resource is over."""
    kind, properties = resource["Type"], resource.get("Properties", {})
    field, most = NAMES.get(kind, ("", 0))
    if len(name := flat(properties.get(field, ""))) > most:
        yield f"its name {name} is longer than {most}"
    if len(about := flat(properties.get("Description", ""))) > MAX_DESCRIPTION.get(kind, 1000):
        yield f"{about!r} is too long"
    if kind == "AWS::SSM::Parameter" and len(flat(properties["Value"])) > MAX_PARAMETER:
        yield f"a value of {len(flat(properties['Value']))} characters"
    variables = properties.get("Environment", {}).get("Variables", {})
    size = sum(len(name) + len(flat(value)) for name, value in variables.items())
    if size > MAX_ENVIRONMENT_BYTES:
        yield f"an environment of {size} bytes"
    if kind == "AWS::IAM::ManagedPolicy":
        written, most = length(properties["PolicyDocument"]), MAX_MANAGED_POLICY
    else:
        inline = properties.get("Policies", ())
        written, most = sum(length(each["PolicyDocument"]) for each in inline), MAX_INLINE_POLICIES
    if written > most:
        yield f"policies of {written} characters"


def length(document):
    """Characters of a document, without white space."""
    return len(json.dumps(whole(document), separators=(",", ":")))


def flat(value):
    """A template's value as text, with a name of 40 characters for what deployment decides."""
    match value:
        case {"Fn::Join": [between, parts]}:
            return between.join(map(flat, parts))
        case {"Ref": "AWS::AccountId"}:
            return ACCOUNT
        case {"Ref": "AWS::Region" | "AWS::Partition"}:
            return "aws"
        case {"Ref": _} | {"Fn::GetAtt": _}:
            return "x" * 40
        case _:
            return value if isinstance(value, str) else json.dumps(value)


def whole(value):
    """A document with every value as text."""
    match value:
        case {"Fn::Join": _} | {"Ref": _} | {"Fn::GetAtt": _}:
            return flat(value)
        case dict():
            return {name: whole(each) for name, each in value.items()}
        case list():
            return [whole(each) for each in value]
        case _:
            return value


@cache
def _runner():
    from cfnlint.config import ConfigMixIn
    from cfnlint.runner import Runner

    return Runner(ConfigMixIn())


def linted(template, stage):
    """What CloudFormation's own linter says."""
    from cfnlint.config import ConfigMixIn
    from cfnlint.decode.decode import decode_str

    ignored = [*KNOWN, *(OF_EMULATOR if stage.emulated else {})]
    _runner().config = ConfigMixIn(ignore_checks=ignored, regions=[stage.region])
    decoded, errors = decode_str(json.dumps(template))
    return [str(each) for each in (*errors, *_runner().validate_template(decoded))]
