"""Whoever submits jobs, at a shell of their own, and the account that others change meanwhile.

A submitter is a user with three of the stage's policies and nothing else; what is typed runs in
this process, or in one of its own where it is to be killed. The account is root's.
"""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from dataclasses import dataclass, field
from functools import cached_property
from time import sleep

from typer.testing import CliRunner

from reward_functions.aws.catalogue import (
    DATA_PREFIX,
    OUTPUT_PREFIX,
    deployment_parameter,
)
from reward_functions.cli import app
from reward_functions.local.emulator.emulator import ACCOUNT
from reward_functions.serving.descriptions import description
from tests.commands import PIPE, Command
from tests.deploy.what import STAGE

POLICIES = ("data", "jobs", "evaluate")
"""What a submitter may do. To delete a model takes `operate`, which is somebody else's."""

HELD = 3600.0
"""Seconds of a step of a job that is to wait."""

MANY = 1_000
"""Calls that are throttled: more than any command makes."""

DRIVERS = {
    "bedrock": (
        *("-m", "amazon.nova-2-lite-v1:0:256k"),
        *("--set", "batchSize=25", "--set", "learningRate=1e-3"),
    ),
    # The table has it in us-west-2 alone: an ARN of the stage's region has the last word.
    "openai": (
        *("-m", "arn:aws:bedrock:us-east-1::foundation-model/openai.gpt-oss-20b"),
        *("--set", "batch_size=30", "--set", "learning_rate_multiplier=10"),
    ),
}
"""A short job on each API, as it is typed."""

CREATES = {"bedrock": "CreateModelCustomizationJob", "openai": "CreateFineTuningJob"}
"""What starts it."""

SIMULATION = "simulation: the training double trains no language model"

SEVERE = """
def handler(event, context):
    if not isinstance(event, list):
        return {"failures": [], "unavailable": []}
    return [{"id": row["id"], "aggregate_reward_score": 0.0} for row in event]
"""
"""The handler of a reward that pays nothing."""

GONE = "the table of prices is gone"

TABLE = f"""
from pathlib import Path
from reward_functions.serving.handler import handler as deployed

def handler(event, context):
    if not Path({{table!r}}).exists():
        raise LookupError("{GONE}")
    return deployed(event, context)
"""
"""The handler of what is deployed, which needs a file; `format` says which."""


@dataclass
class Submitter:
    """A user at a shell.

    Args:
        folder: where the shell is.
        environment: what it adds to the variables of this process.
    """

    folder: object
    environment: dict

    def types(self, *words, status=0, environment=None):
        """Run a command to its end, in this process, whose environment is the shell's.

        Args:
            words: the command.
            status: that it exits with.
            environment: variables of this command alone; None unsets one.
        """
        self.require_own_key()
        ran = CliRunner().invoke(app, [*map(str, words)], env=environment)
        assert isinstance(ran.exception, SystemExit | None), ran.exc_info
        assert ran.exit_code == status, ran.output
        return ran

    def job(self, command, *words, **options):
        """Run a command of `reward job` on the stage; the options are those of `types`."""
        return self.types("job", command, *words, "--stage", STAGE, **options)

    def process(self, command, *words):
        """The same in a process of its own."""
        self.require_own_key()
        return Command(["job", command, *words, "--stage", STAGE], stdout=PIPE)

    def require_own_key(self):
        """What is typed is signed by the user: root's key would prove nothing."""
        key = os.environ["AWS_ACCESS_KEY_ID"]
        assert key == self.environment["AWS_ACCESS_KEY_ID"] != ACCOUNT


@dataclass
class Account:
    """What root sees and does.

    Args:
        aws: the emulator, with the training double beside it.
        stage: that is deployed there.
    """

    aws: object
    stage: object
    published: dict = field(default_factory=dict)

    @cached_property
    def session(self):
        return self.aws.session()

    @cached_property
    def lambda_(self):
        return self.session.client("lambda")

    @cached_property
    def iam(self):
        return self.session.client("iam")

    @cached_property
    def s3(self):
        return self.session.client("s3")

    def submitter(self, folder, name="submitter"):
        """A user with the policies of a submitter, at a shell in a folder."""
        self.iam.create_user(UserName=name)
        for task in POLICIES:
            policy = getattr(self.stage.shared, f"{task}_policy_arn")
            self.iam.attach_user_policy(UserName=name, PolicyArn=policy)
        key = self.iam.create_access_key(UserName=name)["AccessKey"]
        own = {
            "AWS_ACCESS_KEY_ID": key["AccessKeyId"],
            "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"],
        }
        return Submitter(folder, self.aws.environment | own)

    def control(self, what, **given):
        """Ask the training double for an accident."""
        return self.aws.ask_training("POST", what, **given)

    def hold(self):
        """Let every job wait after its next step."""
        self.control("speed", seconds_per_step=HELD)

    def release(self):
        """Let them go on."""
        self.control("speed", seconds_per_step=0.0)

    def make_model(self, name):
        """A custom model of this name, by a job of another name, as if somebody else had."""
        shared = self.stage.shared
        bedrock = self.session.client("bedrock")
        grader = {"lambdaGrader": {"lambdaArn": self.stage.catalogue["gsm8k"].version_arn}}
        few = {"trainingSamplePerPrompt": 2}
        job = bedrock.create_model_customization_job(
            jobName=f"of-somebody-else-{name}",
            customModelName=name,
            roleArn=shared.training_role_arn,
            baseModelIdentifier="amazon.nova-2-lite-v1:0:256k",
            customizationType="REINFORCEMENT_FINE_TUNING",
            trainingDataConfig={"s3Uri": f"s3://{shared.bucket}/{DATA_PREFIX}train.jsonl"},
            outputDataConfig={"s3Uri": f"s3://{shared.bucket}/{OUTPUT_PREFIX}somebody-else/"},
            customizationConfig={"rftConfig": {"graderConfig": grader, "hyperParameters": few}},
        )["jobArn"]
        while "endTime" not in bedrock.get_model_customization_job(jobIdentifier=job):
            sleep(0.02)

    def throttle(self, operation, times):
        self.control("throttle", operation=operation, times=times)

    @property
    def state(self):
        """How much the training double holds."""
        return self.aws.ask_training("GET", "state")

    def objects(self, prefix=""):
        """When each object of the stage's bucket was written, by its key."""
        pages = self.s3.get_paginator("list_objects_v2").paginate(
            Bucket=self.stage.shared.bucket, Prefix=prefix
        )
        return {
            each["Key"]: each["LastModified"] for page in pages for each in page.get("Contents", ())
        }

    def belongings(self):
        """All that a job leaves or needs: data, output, jobs, models, files."""
        made = {kind: self.state[kind] for kind in ("jobs", "models", "deployments", "files")}
        return made | {prefix: self.objects(prefix) for prefix in (DATA_PREFIX, OUTPUT_PREFIX)}

    def publish(self, name, source=None, *, alone=False):
        """Deploy a deployment again: code, version, alias, catalogue.

        Args:
            name: of the deployment.
            source: of a module `function` with its `handler`; the same code where not given.
            alone: whether that module is all of the code; else it lies beside what is deployed.

        Returns:
            the ARN of the version that jobs are given from now on.
        """
        function = self.stage.catalogue[name].function_arn
        if name not in self.published:
            self.published[name] = self._deployed(name, function)
        record, archive, settings = self.published[name]
        digest = hashlib.sha256((source or "again").encode()).hexdigest()[:16]
        changed = {"Description": description(record.reward, record.version, digest, "changed")}
        if source:
            packed = io.BytesIO(b"" if alone else archive)
            with zipfile.ZipFile(packed, "a", zipfile.ZIP_DEFLATED) as file:
                file.writestr("function.py", source)
            self.lambda_.update_function_code(FunctionName=function, ZipFile=packed.getvalue())
            changed["Handler"] = "function.handler"
        self.lambda_.update_function_configuration(FunctionName=function, **settings | changed)
        made = self.lambda_.publish_version(FunctionName=function)["FunctionArn"]
        active = self.lambda_.get_waiter("published_version_active")
        active.wait(FunctionName=made, WaiterConfig={"Delay": 0.05})
        self._give(record.model_copy(update={"version_arn": made, "digest": digest}))
        return made

    def roll_back(self, name):
        """Give jobs the version of a deployment that they were given first."""
        self._give(self.published[name][0])

    def clear(self):
        """Make every deployment what it was, and empty the bucket of data and output."""
        for name, (record, archive, settings) in self.published.items():
            function = record.function_arn
            self.lambda_.update_function_code(FunctionName=function, ZipFile=archive)
            self.lambda_.update_function_configuration(FunctionName=function, **settings)
            self.roll_back(name)
            listed = self.lambda_.list_versions_by_function(FunctionName=function)["Versions"]
            for each in listed:
                if each["Version"] not in ("$LATEST", record.version_arn.rpartition(":")[2]):
                    self.delete(f"{function}:{each['Version']}")
        self.published.clear()
        for key in (*self.objects(DATA_PREFIX), *self.objects(OUTPUT_PREFIX)):
            self.s3.delete_object(Bucket=self.stage.shared.bucket, Key=key)

    def delete(self, version):
        """Delete a version of a function, by its ARN."""
        self.lambda_.delete_function(FunctionName=version)

    def _deployed(self, name, function):
        """The record, the code and the settings of a deployment as it is."""
        found = self.lambda_.get_function(FunctionName=function)
        connection = self.aws.connection(30)
        connection.request("GET", found["Code"]["Location"].partition("/_")[2].join(("/_", "")))
        archive = connection.getresponse().read()
        connection.close()
        settings = {key: found["Configuration"][key] for key in ("Handler", "Description")}
        return self.stage.catalogue[name], archive, settings

    def _give(self, record):
        """Point `live` and the catalogue to a version."""
        self.lambda_.update_alias(
            FunctionName=record.function_arn,
            Name="live",
            FunctionVersion=record.version_arn.rpartition(":")[2],
        )
        self._put(deployment_parameter(STAGE, record.name), record)

    def _put(self, parameter, record):
        self.session.client("ssm").put_parameter(
            Name=parameter, Value=record.model_dump_json(), Type="String", Overwrite=True
        )
