"""The stack: what the custodian does, what `cdk.json` holds."""

import json
from unittest.mock import patch

from pydantic import ValidationError

from reward_functions.cdk.custodian import index
from reward_functions.cdk.model.stages import MODELS, Stage, sentence
from reward_functions.cdk.policies.grants import Made
from reward_functions.cdk.policies.iam import Place
from tests.architecture.called.rows import Rows, numbered, placed, taken


class Called(Exception):
    """A call of AWS that was about to be made."""


class Client:
    """A client of boto3's, whose calls are not made."""

    def __init__(self, service, **_):
        self.service = service

    def __getattr__(self, operation):
        def calling(*given, **_):
            raise Called(self.service, operation, *given)

        return calling


PROPERTIES = {
    "Function": "f",
    "Deployment": "d",
    "Judge": "recorded",
    "Version": "arn:f:1",
    "Environments": "1",
    "Prefix": "p",
    "Path": "/p/",
    "Bucket": "b",
}


def first_call(_, duty):
    """What a duty asks of AWS first."""
    with patch.object(index, "_client", Client):
        try:
            duty(PROPERTIES, 0.0)
        except Called as called:
            return called.args


KEEPS_READY = ("lambda", "put_provisioned_concurrency_config")

REPORT = {"reward": "length", "version": 3, "examples": 2, "failures": [], "unavailable": []}

VALUES = ("length", 3, [], True, 1.5, None, {})


def reported(field):
    """The values that a field of a self-test's report may have."""
    return taken(lambda value: index._report(json.dumps(REPORT | {field: value})), *VALUES)


VPC = {"subnets": ["subnet-0123456789abcdef0"], "security_groups": ["sg-0123456789abcdef0"]}

DEPLOYED = {"name": "a", "reward": "gsm8k"}
SECRET = {"arn": "arn:aws:secretsmanager:us-east-1:123456789012:secret:lookup-a1b2c3"}
RIGHT = {"actions": ["s3:GetObject"], "resources": ["arn:aws:s3:::acme-cases/math.jsonl"]}
AGENT = {"name": "a", "entry": "a:b", "packages": ["a==1"]}
FORWARDER = {"name": "a", "endpoint": "https://a.example"}

MISSPELT = {
    # settings with a key of what this field holds, misspelt, and what is meant
    "": ({"buckt": "b"}, "bucket"),
    "agents": ({"agents": [AGENT | {"idle_second": 1}]}, "idle_seconds"),
    "deployments": ({"deployments": [DEPLOYED | {"imutable": True}]}, "immutable"),
    "forwarders": ({"forwarders": [FORWARDER | {"qeue": True}]}, "queue"),
    "job_rights": ({"job_rights": {"invocation_log": True}}, "invocation_logs"),
    "vpc": ({"job_rights": {"vpc": VPC | {"subnet": []}}}, "subnets"),
    "allow": ({"deployments": [DEPLOYED | {"allow": [RIGHT | {"reson": ""}]}]}, "reason"),
    "secrets": ({"deployments": [DEPLOYED | {"secrets": {"A": SECRET | {"arm": ""}}}]}, "arn"),
    "read_buckets": ({"read_buckets": [{"address": "s3://acme/a", "adress": ""}]}, "address"),
    "callers": ({"callers": {"account": []}}, "accounts"),
    "feedback": ({"feedback": {"keep_result_days": 1}}, "keep_results_days"),
    "scale": ({"scale": {"spool_m": 512}}, "spool_mb"),
}


def meant(field):
    """What may have been meant by a setting that is not known."""
    try:
        Stage.model_validate({"name": "dev", "region": "us-east-1"} | MISSPELT[field][0])
    except ValidationError as error:
        return sentence(error, MODELS).partition("Did you mean ")[-1].strip("'?")


STAGES = {
    "": {},
    "sagemaker": {"sagemaker_role": True},
    "training": {"training_job_role": True},
    "hyperpod": {"hyperpod": True},
    "agents": {"agents": [AGENT]},
}

PLACE = Place("aws", "us-east-1", "123456789012")


def staged(name):
    given = {"name": "dev", "region": PLACE.region, "deployments": [DEPLOYED]}
    return Stage.model_validate(given | STAGES[name])


def role(_, kind):
    """The stages that have a kind of role, who takes it on and for what, and what it may do."""
    (statement,) = kind.trust(PLACE)["Statement"]
    source = statement["Condition"]["ArnLike"]["aws:SourceArn"]
    work = kind.work(PLACE, staged("sagemaker"), Made("arn:aws:s3:::b"))
    return (
        taken(lambda name: kind.wanted(staged(name)), *STAGES),
        statement["Principal"]["Service"],
        [arn.split(":")[-1] for arn in ([source] if isinstance(source, str) else source)],
        [*work],
    )


BEDROCK, SAGEMAKER = "bedrock.amazonaws.com", "sagemaker.amazonaws.com"


ROWS = {
    "cdk.app.preview:AT_REST": Rows(
        lambda _, price: (price.thing, price.count(staged(""))),
        numbered(("alarms", 7), ("dashboards", 1), ("keys", 0)),
    ),
    "cdk.policies.documents:KINDS": Rows(
        role,
        {
            "bedrock": ([*STAGES], BEDROCK, ["model-customization-job/*"], ["train"]),
            "sagemaker": (
                *(["sagemaker"], SAGEMAKER, ["training-job/*"]),
                ["train", "customize"],
            ),
            "agents": (["agents"], f"job.{SAGEMAKER}", ["job/*"], ["roll-out"]),
            "training": (["training"], SAGEMAKER, ["training-job/*"], ["train", "run"]),
            "import": (
                *([*STAGES][1:], BEDROCK),
                *(["model-import-job/*", "custom-model/*"], ["import"]),
            ),
        },
    ),
    "cdk.custodian.index:DUTIES": Rows(
        first_call,
        {
            ("Custom::RewardGate", "Create"): ("lambda", "invoke"),
            ("Custom::RewardGate", "Update"): ("lambda", "invoke"),
            ("Custom::RewardReadiness", "Create"): KEEPS_READY,
            ("Custom::RewardReadiness", "Update"): KEEPS_READY,
            ("Custom::RewardReadiness", "Delete"): (
                "lambda",
                "delete_provisioned_concurrency_config",
            ),
            ("Custom::RewardGenerations", "Delete"): ("lambda", "get_paginator", "list_functions"),
            ("Custom::RewardRoles", "Delete"): ("iam", "get_paginator", "list_roles"),
            ("Custom::EmptyBucket", "Delete"): ("s3", "list_object_versions"),
        },
    ),
    "cdk.custodian.index:SHAPE": Rows(
        placed("cdk.custodian.index:SHAPE", reported),
        {
            "reward": ["length"],
            "version": [3],
            "examples": [3],
            "failures": [[]],
            "unavailable": [[]],
        },
    ),
    "cdk.model.stages:MODELS": Rows(
        placed("cdk.model.stages:MODELS", meant),
        {field: written for field, (_, written) in MISSPELT.items()},
    ),
}
