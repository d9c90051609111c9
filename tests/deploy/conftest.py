"""One stage for the whole run: deployed by the real CDK, where permissions are enforced."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pytest

from reward_functions.aws.catalogue import DeployedStage, stage_parameter
from reward_functions.aws.deployed import DeployedFunction, deployments
from reward_functions.local.emulator.cdk import Cdk, CdkFailed
from reward_functions.local.emulator.emulator import TrainingOptions, lifeline, with_training
from reward_functions.local.runtime_double import serving
from tests.costs import EMULATORS, beside
from tests.deploy.agents_end import AgentsEnd
from tests.deploy.lasting import COMMAND_LINE, lasting
from tests.deploy.submitter import Account
from tests.deploy.what import NAMED_FILES, ROOT, STAGE, stages
from tests.loopback import served

if TYPE_CHECKING:
    from pathlib import Path


@dataclass
class Project:
    """A folder with a `cdk.json` of its own, deployed from there."""

    folder: Path
    cdk: Cdk

    def write(self, stages):
        """Say what its stages are."""
        about = json.loads((ROOT / "cdk.json").read_text())
        about["context"]["stages"] = stages
        (self.folder / "cdk.json").write_text(json.dumps(about))


@dataclass
class Stage:
    """What is deployed, as whoever comes later finds it."""

    aws: object
    project: Project
    said: str

    @cached_property
    def session(self):
        return self.aws.session()

    @property
    def catalogue(self):
        return {reward.name: reward for reward in deployments(STAGE, self.session)}

    @cached_property
    def shared(self):
        """The roles, the bucket, the policy."""
        parameter = self.session.client("ssm").get_parameter(Name=stage_parameter(STAGE))
        return DeployedStage.model_validate_json(parameter["Parameter"]["Value"])

    @contextmanager
    def without(self, role, policy, sid):
        """A role without one statement of a policy of its own."""
        iam, named = self.session.client("iam"), {"RoleName": role, "PolicyName": policy}
        whole = iam.get_role_policy(**named)["PolicyDocument"]
        left = [each for each in whole["Statement"] if each["Sid"] != sid]
        assert len(left) == len(whole["Statement"]) - 1
        try:
            iam.put_role_policy(**named, PolicyDocument=json.dumps(whole | {"Statement": left}))
            yield
        finally:
            iam.put_role_policy(**named, PolicyDocument=json.dumps(whole))

    def function(self, name, **options):
        return DeployedFunction(self.catalogue[name].live_arn, session=self.session, **options)


@pytest.fixture(scope="session")
def trainer():
    """The trainer's end of rollouts: a double of the job runtime."""
    with serving() as double:
        yield double


@pytest.fixture(scope="session")
def agent():
    """The agent's end of a forwarder."""
    with served(AgentsEnd()) as service:
        yield service


@pytest.fixture(scope="session")
def project(enforcing_aws, trainer, agent, tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    try:
        cdk = Cdk(enforcing_aws, folder, stage=STAGE)
    except CdkFailed as error:
        pytest.skip(str(error))
    made = Project(folder, cdk)
    for name, text in NAMED_FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    secrets = enforcing_aws.client("secretsmanager")
    secret = secrets.create_secret(Name="agents-key", SecretString=agent.key)["ARN"]
    made.write(stages(trainer.endpoint, agent.address, secret))
    return made


@pytest.fixture(scope="session")
def command_line(project):
    """The CDK's command line, for deployments that need not load it again."""
    with lasting(COMMAND_LINE, "cdk", project.folder, project.cdk._environment) as program:
        yield str(program)


@pytest.fixture(scope="session")
def bootstrapped(enforcing_aws, project, command_line):
    """The emulator, prepared as every account is once."""
    project.cdk.command = command_line
    project.cdk.bootstrap()
    return enforcing_aws


@pytest.fixture(scope="session")
def stage(bootstrapped, project):
    """The stage `local`, deployed once."""
    return Stage(bootstrapped, project, project.cdk.deploy())


@pytest.fixture(scope="session")
def trained(stage):
    """The training double beside the emulator, and all that root can do there."""
    with lifeline() as line:
        aws = with_training(stage.aws, TrainingOptions(), line)
        account = Account(aws, stage)
        account.control("speed", seconds_to_host=0.0)
        yield account
        with beside(EMULATORS):
            aws.record.training.process.end()
        aws.folder.write(stage.aws.record)


@pytest.fixture(scope="session")
def submitter(trained, tmp_path_factory):
    return trained.submitter(tmp_path_factory.mktemp("shell"))


@pytest.fixture(scope="module")
def account(trained):
    """Root, who leaves every deployment as it was."""
    yield trained
    trained.release()
    trained.clear()


@pytest.fixture(scope="module")
def me(submitter):
    """The submitter; what this process runs meanwhile, it runs as that user."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (submitter.environment | {"COLUMNS": "200"}).items():
            patch.setenv(name, value)
        patch.chdir(submitter.folder)
        yield submitter


@pytest.fixture(scope="module")
def data(me, stage):
    """A hundred rows, as a submitter makes them: the name of the training file."""
    me.types("data", "generate", "gsm8k", "--out", "rows", "--rows", 100, "--test-rows", 0)
    linted = me.types("data", "lint", "rows/train.jsonl", "--reward", "gsm8k")
    assert "errors 0 · warnings 1" in linted.stderr  # they are synthetic
    folder = f"s3://{stage.shared.bucket}/rft-data/"
    sent = me.types("data", "upload", "rows/train.jsonl", folder)
    assert sent.stdout == f"{folder}train.jsonl\n"
    return "rows/train.jsonl"
