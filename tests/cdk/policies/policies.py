"""Every policy that this project makes, of one place, with names to ask them about."""

from __future__ import annotations

from reward_functions.aws.catalogue import ReadFolder
from reward_functions.cdk.model.brought import JobRights, JobVpc
from reward_functions.cdk.model.deployment import Deployment
from reward_functions.cdk.model.stages import Stage
from reward_functions.cdk.policies import (
    agents,
    custodian,
    deferred,
    iam,
    own_rights,
    people,
    permissions,
    sagemaker,
)
from reward_functions.cdk.policies.documents import (
    AGENTS as OF_AGENTS,
)
from reward_functions.cdk.policies.documents import BEDROCK, IMPORT, KINDS, SAGEMAKER
from reward_functions.cdk.policies.grants import Made
from reward_functions.cdk.policies.iam import Place
from reward_functions.cdk.policies.own_rights import Statement
from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel

HERE = Place("aws-cn", "cn-north-1", "123456789012")
FUNCTION = HERE.arn("lambda", "function:SageMaker-reward-dev-gsm8k")
BUCKET = "arn:aws-cn:s3:::data"
PROFILE = HERE.arn("bedrock", "inference-profile/cn.nova")
SECRET = HERE.arn("secretsmanager", "secret:key-a1b2c3")
JUDGING = JudgeConfig(
    models=(
        JudgeModel(model="nova"),
        JudgeModel(model="nova", tier="flex"),
        JudgeModel(model="nova", profile="cn.nova", destinations=("cn-north-1", "cn-northwest-1")),
    ),
    fallback=JudgeModel(
        model="qwen", backend="openai", endpoint="https://models.example.com/v1", key=SECRET
    ),
    cache_table="verdicts",
)
PARAMETER = HERE.arn("ssm", "parameter/lookup")
ROLE = "arn:aws-cn:iam::123456789012:role/training"
KEY = HERE.arn("kms", "key/k")
MODEL_KEY = HERE.arn("kms", "key/m")
FORWARDER = HERE.arn("lambda", "function:SageMaker-agent")
PINNED = HERE.arn("lambda", "function:SageMaker-pinned:7")
RUNTIME = HERE.arn("bedrock-agentcore", "runtime/agent-0123456789")
AGENTS = [FORWARDER, PINNED, RUNTIME]
SEALED = HERE.arn("kms", "key/sealed")
FOLDERS = [
    ReadFolder.model_construct(address="s3://acme/rft/", key=None),
    ReadFolder.model_construct(address="s3://sealed", key=SEALED),
]
GLOBAL = JudgeModel(model="nova", profile="global.nova")
JOB_ROLE, AGENT_ROLE, IMPORT_ROLE = f"{ROLE}-sm", f"{ROLE}-agents", f"{ROLE}-import"
TRAINING_JOB_ROLE = f"{ROLE}-jobs"
TOPIC = HERE.arn("sns", "topic")
QUEUE = HERE.arn("sqs", "SageMaker-rollouts-dev-queued")
RULE = HERE.arn("events", "rule/RewardFunctions-dev-bedrock")

REWARDS = [*iam.versions_of(FUNCTION), *iam.generations_of(f"{FUNCTION}-own")]
DEPLOYMENTS = (
    Deployment(name="gsm8k", provisioned_concurrency=1),
    Deployment(name="gsm8k-own", reward="gsm8k", immutable=True),
)


def stage_with(**given):
    """A stage whose deployments are those of `REWARDS`, with keys and ARNs of any form."""
    rights = {name: given.pop(name) for name in ("model_key", "agents") if name in given}
    fields = {"name": "dev", "region": HERE.region, "deployments": DEPLOYMENTS}
    rights = JobRights.model_construct(**rights)
    return Stage.model_construct(**fields, job_rights=rights, **given)


PLAIN = stage_with()
STAGE = stage_with(model_key=KEY, agents=tuple(AGENTS))
MADE = Made(BUCKET, KEY)
VPC = JobVpc.model_construct(subnets=("subnet-1",), security_groups=("sg-1",))


def statement(**given):
    """A statement of `allow`, of ARNs of any form."""
    return Statement.model_construct(**given)


DOCUMENTS = {
    "trust_lambda": permissions.trust_lambda(),
    "trust_bedrock": KINDS[BEDROCK].trust(HERE),
    "trust_training": KINDS[SAGEMAKER].trust(HERE),
    "trust_multi_turn": KINDS[OF_AGENTS].trust(HERE),
    "trust_rules": permissions.trust_rules(HERE, [RULE]),
    "publish_events": permissions.publish_events(TOPIC),
    "trust_import": KINDS[IMPORT].trust(HERE),
    "customize": sagemaker.customize(HERE),
    "roll_out": sagemaker.roll_out(HERE, agents=AGENTS, bucket_arn=BUCKET),
    "run_agent": sagemaker.run_agent(HERE, STAGE),
    "import_model": sagemaker.import_model(HERE, BUCKET),
    "import_from_escrow": sagemaker.import_model(HERE, BUCKET, sagemaker.read_escrow(HERE)),
    "run_container": sagemaker.run_container(HERE),
    "train_on_hyperpod": sagemaker.train_on_hyperpod(HERE, stage_with(model_key=MODEL_KEY), MADE),
    "join_vpc_of_sagemaker": sagemaker.join_vpc(HERE, VPC),
    "describe_key": sagemaker.describe_key(KEY),
    "run_customization": people.run_customization(HERE, STAGE, JOB_ROLE),
    "run_training_jobs": people.run_training_jobs(HERE, STAGE, TRAINING_JOB_ROLE),
    "submit_to_hyperpod": people.submit_to_hyperpod(HERE, STAGE),
    "run_multi_turn": people.run_multi_turn(HERE, STAGE, AGENT_ROLE),
    "write_logs": permissions.write_logs(HERE, "f"),
    "ask_judge": permissions.ask_judge(HERE, JUDGING),
    "ask_anywhere": permissions.ask_judge(HERE, JudgeConfig(models=(GLOBAL,))),
    "read_folders": iam.document(*permissions.read_folders(HERE, FOLDERS)),
    "train": permissions.train(REWARDS, BUCKET),
    "use_key": permissions.use_key(KEY, HERE),
    "use_model_key": permissions.use_model_key(KEY, HERE),
    "read_invocation_logs": permissions.read_invocation_logs(HERE, "s3://logs/bedrock/"),
    "read_a_whole_bucket": permissions.read_invocation_logs(HERE, "s3://logs"),
    "join_vpc": permissions.join_vpc(HERE, VPC),
    "prepare_data": people.prepare_data(HERE, STAGE, MADE),
    "run_jobs": people.run_jobs(HERE, STAGE, ROLE),
    "evaluate": people.evaluate(HERE, STAGE, IMPORT_ROLE),
    "operate": people.operate(HERE, STAGE),
    "keep_house": custodian.keep_house(HERE, STAGE),
    "send_traces": permissions.send_traces(),
    "stated": own_rights.stated(
        [
            statement(actions=["s3:GetObject"], resources=[f"{BUCKET}/cases.jsonl"]),
            statement(
                actions=["s3:ListBucket"],
                resources=[BUCKET],
                condition={"StringEquals": {"s3:prefix": "cases/"}},
            ),
        ]
    ),
    "read_secrets": own_rights.read_secrets(
        HERE, [(SECRET, KEY), (f"{SECRET}-2", ""), (PARAMETER, KEY)]
    ),
    "join_network": own_rights.join_network(HERE, [FUNCTION]),
    "trust_runtime": agents.trust_runtime(HERE, "reward_dev__solver"),
    "start_agent": agents.start_agent(HERE, "reward_dev__solver", f"{BUCKET}/solver.zip"),
    "report": deferred.report(HERE, STAGE, KEY),
    "put_results": iam.document(*deferred.put_results(HERE, STAGE.names, KEY)),
    "redrive": iam.document(*deferred.redrive(HERE, STAGE.names)),
    "hand_on": agents.hand_on(HERE, queue_arn=QUEUE, key_arn=KEY),
    "hand_on_with_a_key": agents.hand_on(HERE, secret_arn=SECRET, key_arn=KEY),
    "read_queues": iam.document(*agents.read_queues(HERE, [QUEUE], [KEY, KEY])),
}

DOCUMENTS["prepare_data_elsewhere"] = people.prepare_data(
    HERE, stage_with(read_buckets=FOLDERS), Made(BUCKET)
)

PEOPLE = (
    *("prepare_data", "run_jobs", "evaluate", "operate"),
    *("run_customization", "run_multi_turn", "run_training_jobs", "submit_to_hyperpod"),
)
TRUSTS = [name for name in DOCUMENTS if name.startswith("trust_") and name != "trust_lambda"]
