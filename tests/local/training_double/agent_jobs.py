"""What multi-turn jobs of the double are tried with: an agent behind a forwarder, and a role."""

import json
from itertools import count

from tests.local.training_double.agents import FORWARDER, REFUSING, sums
from tests.local.training_double.conftest import (
    ACCOUNT,
    REGION,
    allow,
    document,
    jsonl,
)
from tests.waiting import until

NUMBERS = count(1)
GROUPS = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:model-package-group"
HUB = f"arn:aws:sagemaker:{REGION}:aws:hub-content/SageMakerPublicHub/Model"
BASE = f"{HUB}/openai-reasoning-gpt-oss-20b/1.0.0"
SMALL = {"global_batch_size": "8", "group_size": "4", "max_steps": "3", "max_epochs": "9"}
TRUSTED = ["sts:AssumeRole", "sts:TagSession"]


def trust(actions, service="job.sagemaker.amazonaws.com"):
    principal = {"Service": service}
    return document({"Effect": "Allow", "Action": actions, "Principal": principal})


class Jobs:
    """A double with an agent behind a forwarder, and a role."""

    def __init__(self, world, url):
        self.world, self.held = world, world.double.service.state.made
        self.client = world.client(world.root, "sagemaker")
        self.agent = self.function("agent", FORWARDER, AGENT_ENDPOINT=url)
        self.refusing = self.function("refusing", REFUSING)
        self.data = world.put("cells.jsonl", jsonl(sums(24)))
        function = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:SageMaker-*"
        for group in ("results", "checkpoints", "one"):
            self.client.create_model_package_group(ModelPackageGroupName=group)
        bucket = f"arn:aws:s3:::{world.bucket}"
        self.rights = document(
            allow("lambda:InvokeFunction", function),
            allow("s3:GetObject", f"{bucket}/rft-data/*"),
            allow("s3:PutObject", f"{bucket}/rft-output/*"),
            allow("logs:*", "*"),
        )
        self.role = world.role("multi-turn", self.rights, trust(TRUSTED))

    def function(self, name, source, **environment):
        return self.world.lambda_.create_function(
            FunctionName=f"SageMaker-{name}",
            Runtime="python3.13",
            Role=self.world.role("functions", document(), service="lambda.amazonaws.com"),
            Handler="function.handler",
            Code={"ZipFile": self.world.zipped(source)},
            Timeout=60,
            Environment={"Variables": environment},
        )["FunctionArn"]

    def document(self, agent=None, data=None, **hyperparameters):
        source = {"S3DataType": "S3Prefix", "S3Uri": data or self.data}
        channel = {"ChannelName": "train", "DataSource": {"S3DataSource": source}}
        return {
            "AgentConfig": {"CustomAgentLambdaConfig": {"LambdaArn": agent or self.agent}},
            "InputDataConfig": [channel],
            "OutputDataConfig": {"S3OutputPath": "s3://training-double/rft-output/"},
            "ModelPackageConfig": {
                "OutputModelPackageGroupArn": f"{GROUPS}/results",
                "IntermediateCheckpointModelPackageGroupArn": f"{GROUPS}/checkpoints",
            },
            "TrainingConfig": {
                "BaseModelArn": BASE,
                "AcceptEula": True,
                "HyperParameters": SMALL | hyperparameters,
            },
        }

    def create(self, written, category="AgentRFT", version="1.0.0", role=None, client=None):
        name = f"multi-turn-{next(NUMBERS)}"
        arn = (client or self.client).create_job(
            JobName=name,
            RoleArn=role or self.role,
            JobCategory=category,
            JobConfigSchemaVersion=version,
            JobConfigDocument=written if isinstance(written, str) else json.dumps(written),
        )["JobArn"]
        return name, arn

    def ended(self, name, category="AgentRFT"):
        [job] = [each for each in self.held.values() if each.name == name]
        until(lambda: job.ended is not None)
        return self.client.describe_job(JobName=name, JobCategory=category)
