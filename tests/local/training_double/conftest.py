"""One double beside the enforcing emulator: a bucket of prompts, a grader, a role, and a person."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from zlib import crc32

import pytest

from reward_functions.local.training_double.policy import SETTINGS
from reward_functions.local.training_double.server import serving
from tests.waiting import until

ACCOUNT, REGION = "000000000000", "us-east-1"
BASE = "amazon.nova-2-lite-v1:0:256k"
NUMBERS = count(1)

GRADER = """
import re

def text(content):
    if isinstance(content, str):
        return content
    return content["text"] if isinstance(content, dict) else content[0]["text"]

def handler(event, context):
    results = []
    for row in event:
        reference = row.get("reference_answer") or row["metadata"]["reference_answer"]
        found = re.findall(r"(?m)^#### (.*)$", text(row["messages"][-1]["content"]))
        score = float(found == [reference["final_answer"]])
        results.append({"id": row["id"], "aggregate_reward_score": score})
    return results
"""
BROKEN = "def handler(event, context):\n    raise LookupError('the table of prices is gone')"
WRAPPED = "def handler(event, context):\n    return {'statusCode': 200, 'body': '[]'}"


def rows(number, first=0):
    """Prompts of sums; the prompt and the reference are of the gsm8k shape."""
    for n in range(first, first + number):
        prompt = f"What is {n} + {2 * n}?\nEnd with a line of the form:\n#### <number>"
        yield {
            "id": f"sum-{n}",
            "messages": [{"role": "user", "content": prompt}],
            "reference_answer": {"final_answer": str(3 * n)},
        }


def jsonl(some):
    return "".join(f"{json.dumps(row)}\n" for row in some).encode()


def allow(actions, *resources, **condition):
    """A statement."""
    statement = {"Effect": "Allow", "Action": actions, "Resource": [*resources]}
    return statement | ({"Condition": condition} if condition else {})


def document(*statements):
    return json.dumps({"Version": "2012-10-17", "Statement": [*statements]})


def trust(**condition):
    """Bedrock acts in the role, for this account's jobs where no other condition is given."""
    jobs = f"arn:aws:bedrock:{REGION}:{ACCOUNT}:model-customization-job/*"
    condition = condition or {
        "StringEquals": {"aws:SourceAccount": ACCOUNT},
        "ArnLike": {"aws:SourceArn": jobs},
    }
    statement = {"Effect": "Allow", "Action": "sts:AssumeRole", "Condition": condition}
    return document(statement | {"Principal": {"Service": "bedrock.amazonaws.com"}})


@dataclass
class World:
    """The emulator, the double, and what a stage would have made.

    All the tests of a process share one. What a test makes has a name of its own, so that no test
    finds another's role or file in the place of its own.
    """

    aws: object
    double: object
    zipped: object

    bucket = "training-double"

    @cached_property
    def iam(self):
        return self.aws.client("iam")

    @cached_property
    def s3(self):
        return self.aws.client("s3")

    @cached_property
    def lambda_(self):
        return self.aws.client("lambda")

    def put(self, name, content):
        """An object in a folder of its own under the prefix of data; its URI."""
        key = f"rft-data/{next(NUMBERS)}/{name}"
        self.s3.put_object(Bucket=self.bucket, Key=key, Body=content)
        return f"s3://{self.bucket}/{key}"

    def folder(self, files):
        """Objects of one folder, by their names; its URI."""
        place = f"rft-data/{next(NUMBERS)}/"
        for name, content in files.items():
            self.s3.put_object(Bucket=self.bucket, Key=f"{place}{name}", Body=content)
        return f"s3://{self.bucket}/{place}"

    def grader(self, name, source):
        """A published version of a function."""
        arn = self.lambda_.create_function(
            FunctionName=f"SageMaker-double-{name}",
            Runtime="python3.13",
            Role=self.role("functions", document(), service="lambda.amazonaws.com"),
            Handler="function.handler",
            Code={"ZipFile": self.zipped(source)},
            Timeout=60,
        )["FunctionArn"]
        return self.lambda_.publish_version(FunctionName=arn)["FunctionArn"]

    def role(self, name, policy, trusts=None, service=""):
        """A role with these rights that trusts these, made where there is none."""
        if service:
            trusts = document(
                {
                    "Effect": "Allow",
                    "Action": "sts:AssumeRole",
                    "Principal": {"Service": service},
                }
            )
        trusts = trusts or trust()
        role = f"training-double-{name}-{crc32(f'{policy}{trusts}'.encode()):08x}"
        try:
            arn = self.iam.create_role(RoleName=role, AssumeRolePolicyDocument=trusts)
        except self.iam.exceptions.EntityAlreadyExistsException:
            return f"arn:aws:iam::{ACCOUNT}:role/{role}"
        if json.loads(policy)["Statement"]:
            self.iam.put_role_policy(RoleName=role, PolicyName="rights", PolicyDocument=policy)
        return arn["Role"]["Arn"]

    def user(self, *statements):
        """The session of a person with these rights alone."""
        name = f"training-double-{next(NUMBERS)}"
        self.iam.create_user(UserName=name)
        if statements:
            policy = document(*statements)
            self.iam.put_user_policy(UserName=name, PolicyName="p", PolicyDocument=policy)
        key = self.iam.create_access_key(UserName=name)["AccessKey"]
        return self.keys(key["AccessKeyId"], key["SecretAccessKey"])

    def keys(self, key, secret, token=None):
        import boto3

        return boto3.Session(key, secret, token, region_name=REGION)

    @property
    def root(self):
        return self.keys(ACCOUNT, "test")

    def client(self, session, service="bedrock", **config):
        """A client of the double."""
        from botocore.config import Config

        retries = {"mode": "standard", "total_max_attempts": 1}
        return session.client(
            service,
            endpoint_url=self.double.endpoint,
            config=Config(retries=retries, **config),
        )

    def request(self, **changes):
        """The parameters of a job that succeeds, in one step, with some of them changed."""
        number = next(NUMBERS)
        return {
            "jobName": f"job-{number}",
            "customModelName": f"model-{number}",
            "roleArn": self.training_role,
            "baseModelIdentifier": BASE,
            "customizationType": "REINFORCEMENT_FINE_TUNING",
            "trainingDataConfig": {"s3Uri": self.train},
            "outputDataConfig": {"s3Uri": f"s3://{self.bucket}/rft-output/job-{number}/"},
            "customizationConfig": customization(self.version),
        } | changes

    def ended(self, client, job):
        """The description of a job once it has ended."""
        self.wait(job)
        return client.get_model_customization_job(jobIdentifier=job)

    def wait(self, job):
        """Return once a job has ended; asking the double all the time would slow it down."""
        found = self.double.service.state.made[job]
        until(lambda: found.ended is not None)

    def at_work(self, job):
        """Return once a job has made a step."""
        found = self.double.service.state.made[job]
        until(lambda: found.steps or found.ended is not None)
        assert found.ended is None, found.failure

    @contextmanager
    def slowed(self, **seconds):
        """The double at other speeds for a block, whatever becomes of it."""
        before = self.control("state", "GET")
        self.control("speed", **seconds)
        try:
            yield
        finally:
            self.control("speed", **{name: before[name] for name in seconds})

    def control(self, what, method="POST", **given):
        """The answer of one of the double's own controls."""
        from urllib.request import Request, urlopen

        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest

        body = json.dumps(given).encode() if given else None
        url = f"{self.double.endpoint}/_training/{what}"
        signed = AWSRequest(method, url, data=body)
        SigV4Auth(self.root.get_credentials(), "bedrock", REGION).add_auth(signed)
        request = Request(url, body, dict(signed.headers.items()), method=method)
        with urlopen(request, timeout=60) as answer:
            return json.load(answer)


def customization(grader, **hyperparameters):
    """The customizationConfig of a job of one step."""
    chosen = {"batchSize": 100, "trainingSamplePerPrompt": 2, "epochCount": 1} | hyperparameters
    lambda_grader = {"lambdaGrader": {"lambdaArn": grader}}
    return {"rftConfig": {"graderConfig": lambda_grader, "hyperParameters": chosen}}


@pytest.fixture(scope="session")
def world(enforcing_aws, function_zip):
    """A double, with all that a job needs."""
    settings = replace(SETTINGS, grader_attempts=2, grader_waits=(0.0,))
    with serving(enforcing_aws, settings) as double:
        made = World(enforcing_aws, double, function_zip)
        made.control("speed", seconds_to_host=0.0)
        made.s3.create_bucket(Bucket=made.bucket)
        made.train = made.put("train.jsonl", jsonl(rows(100)))
        made.dev = made.put("dev.jsonl", jsonl(rows(10, first=100)))
        made.version = made.grader("sums", GRADER)
        functions = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:SageMaker-double-*"
        bucket = f"arn:aws:s3:::{made.bucket}"
        may = (
            allow("lambda:InvokeFunction", functions),
            allow("s3:GetObject", f"{bucket}/rft-data/*"),
            allow("s3:PutObject", f"{bucket}/rft-output/*"),
        )
        made.training_role = made.role("training", document(*may))
        passed = {"StringEquals": {"iam:PassedToService": "bedrock.amazonaws.com"}}
        made.person = made.user(
            allow(["bedrock:*", "bedrock-mantle:*"], "*"),
            allow("lambda:InvokeFunction", functions),
            allow("iam:PassRole", f"arn:aws:iam::{ACCOUNT}:role/training-double-*", **passed),
        )
        made.bedrock = made.client(made.person)
        yield made


@pytest.fixture(scope="session")
def sm(world):
    """What SageMaker's jobs need beside it, made once: a hub has one name."""
    from tests.local.training_double.sagemaker_world import SageMakerWorld

    return SageMakerWorld(world)


@pytest.fixture(scope="session")
def trained(sm):
    """A job of an open-weight model that has succeeded; its package is left as it is."""
    from tests.local.training_double.sagemaker_world import channel

    done = sm.run(
        InputDataConfig=[channel("train", sm.train), channel("validation", sm.dev)],
        parameters={"max_epochs": "2", "learning_rate": "1e-3"},
    )
    assert done["TrainingJobStatus"] == "Completed", done
    return done


@pytest.fixture(scope="session")
def agents(world):
    """The agent, and its forwarder: a function's first call takes seconds, so there is one."""
    from reward_functions.rollouts import rollout_handler
    from reward_functions.rollouts.report.outbox.opening import open_outbox
    from reward_functions.rollouts.report.reporter import Reporter
    from reward_functions.rollouts.report.settings import RolloutSettings
    from reward_functions.rollouts.report.transports import open_transport
    from tests.local.training_double.agent_jobs import Jobs
    from tests.local.training_double.agents import serving as serving_agent
    from tests.local.training_double.agents import solver

    settings = RolloutSettings(outbox="memory:")
    reporter = Reporter(settings, open_outbox(settings.outbox), transports=open_transport)
    with serving_agent(rollout_handler(solver, reward="gsm8k", reporter=reporter)) as url:
        yield Jobs(world, url)


@pytest.fixture(scope="module")
def jobs(agents):
    """The same, where this process reaches the double."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
            patch.delenv(name, raising=False)
        for name, value in agents.world.aws.environment.items():
            patch.setenv(name, value)
        for name in ("AWS_ENDPOINT_URL_SAGEMAKERJOBRUNTIME", "RFT_RUNTIME_ENDPOINT"):
            patch.setenv(name, agents.world.double.endpoint)
        yield agents
