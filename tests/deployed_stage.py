"""A stage on the local AWS emulator as deployments leave it: versions, an alias, the catalogue."""

from __future__ import annotations

from itertools import count

from reward_functions.aws.catalogue import (
    DeployedReward,
    DeployedStage,
    deployment_parameter,
    stage_parameter,
)
from reward_functions.aws.names import Names
from reward_functions.serving.descriptions import description

SOURCE = """
import json, os
def handler(event, context):
    if event == {"reward_functions": {"self_test": "recorded"}}:
        return json.loads(os.environ.get("REPORT", '{"failures": [], "unavailable": []}'))
    return []
"""
SETTINGS = {"REWARD_NAME": "gsm8k", "REWARD_PARAMETERS": "{}", "REWARD_RESPONSE_MODE": "list"}
NUMBERS = count(1)


class StageOnEmulator:
    """A stage on the emulator, as deployments leave it."""

    def __init__(self, session, deployed_function, stage, prefix=""):
        self.stage, self.session, self.deployed_function = stage, session, deployed_function
        self.names = Names(stage, prefix)
        self.lambda_, self.ssm = session.client("lambda"), session.client("ssm")
        record = DeployedStage(
            stage=stage, region="us-east-1", keep_versions=2, bucket="b", training_role_arn="r",
            data_policy_arn="d", jobs_policy_arn="j", evaluate_policy_arn="e",
            operate_policy_arn="o", job_events_topic_arn="t", dashboard="d",
            name_prefix=prefix,
        )  # fmt: skip
        self.put(stage_parameter(stage), record)

    def put(self, name, record):
        self.ssm.put_parameter(
            Name=name, Value=record.model_dump_json(), Type="String", Overwrite=True
        )

    def record(self, name, function, version=None):
        """Let the catalogue name a version of a function, or a whole function."""
        mutable = {"version_arn": f"{function}:{version}", "alias_arn": f"{function}:live"}
        whole = {"version_arn": function, "alias_arn": None}
        self.put(
            deployment_parameter(self.stage, name),
            DeployedReward(
                name=name, reward="gsm8k", version=1, digest="0" * 16, parameters={},
                response_mode="list", function_arn=function, timeout_seconds=60, memory_mb=1769,
                architecture="x86_64", python="3.13", **(mutable if version else whole),
            ),
        )  # fmt: skip

    def publish(self, function, environment=(), **settings):
        """Another version of a function, with further variables and settings."""
        described = {"Description": description("gsm8k", 1, f"{next(NUMBERS):016}", "x")}
        self.lambda_.update_function_configuration(
            FunctionName=function,
            Environment={"Variables": SETTINGS | dict(environment)},
            **described | settings,
        )
        return self.lambda_.publish_version(FunctionName=function)["Version"]

    def deployment(self, name="gsm8k", versions=5, live="3"):
        """A deployment with so many versions; `live` and the catalogue name one."""
        function = self.deployed_function(SOURCE, name=self.names.function(name))
        assert [self.publish(function) for _ in range(versions)][-1] == str(versions)
        self.lambda_.create_alias(FunctionName=function, Name="live", FunctionVersion=live)
        self.record(name, function, live)
        return function

    def generation(self, name, digest):
        """A function of an immutable deployment."""
        return self.deployed_function(SOURCE, name=self.names.immutable(name, digest))

    def stored(self, function):
        """The published versions of a function."""
        found = self.lambda_.list_versions_by_function(FunctionName=function)["Versions"]
        return [each["Version"] for each in found][1:]

    def functions(self):
        """The names of the stage's functions, without what they have in common."""
        common = self.names.function("")
        pages = self.lambda_.get_paginator("list_functions").paginate()
        names = [each["FunctionName"] for page in pages for each in page["Functions"]]
        return sorted(name.removeprefix(common) for name in names if name.startswith(common))
