"""Every policy that this project makes, of one place, with names to ask them about."""

from __future__ import annotations

from reward_functions.aws.catalogue import ReadFolder
from reward_functions.aws.names import Names
from reward_functions.cdk.policies import (
    agentcore,
    custodian,
    deferred,
    forwarding,
    iam,
    own_rights,
    people,
    permissions,
    sagemaker,
    sagemaker_instances,
    sagemaker_people,
)
from reward_functions.cdk.policies.iam import Place
from reward_functions.cdk.policies.own_rights import Stated
from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel
from reward_functions.rollouts.report.outbox.dynamodb import ACTIONS, INDEX

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

DOCUMENTS = {
    "trust_lambda": permissions.trust_lambda(),
    "trust_bedrock": permissions.trust_bedrock(HERE),
    "trust_training": sagemaker.trust_training(HERE),
    "trust_multi_turn": sagemaker.trust_multi_turn(HERE),
    "trust_rules": permissions.trust_rules(HERE, [RULE]),
    "publish_events": permissions.publish_events(TOPIC),
    "trust_import": sagemaker.trust_import(HERE),
    "customize": sagemaker.customize(HERE),
    "roll_out": sagemaker.roll_out(HERE, agents=AGENTS, bucket_arn=BUCKET),
    "run_agent": sagemaker.run_agent(HERE, KEY),
    "import_model": sagemaker.import_model(HERE, BUCKET),
    "import_from_escrow": sagemaker.import_model(
        HERE, BUCKET, sagemaker_instances.read_escrow(HERE)
    ),
    "run_container": sagemaker_instances.run_container(HERE),
    "train_on_hyperpod": sagemaker_instances.train_on_hyperpod(
        HERE, rewards=REWARDS, bucket_arn=BUCKET, keys=[KEY, MODEL_KEY]
    ),
    "join_vpc_of_sagemaker": sagemaker.join_vpc(
        HERE, subnets=["subnet-1"], security_groups=["sg-1"]
    ),
    "describe_key": sagemaker.describe_key(KEY),
    "run_customization": sagemaker_people.run_customization(HERE, stage="dev", role_arn=JOB_ROLE),
    "run_training_jobs": sagemaker_instances.run_training_jobs(
        HERE, stage="dev", role_arn=TRAINING_JOB_ROLE
    ),
    "submit_to_hyperpod": sagemaker_instances.submit_to_hyperpod(HERE, stage="dev"),
    "run_multi_turn": sagemaker_people.run_multi_turn(
        HERE, stage="dev", role_arn=AGENT_ROLE, agents=AGENTS, model_key=KEY
    ),
    "write_logs": permissions.write_logs(HERE.arn("logs", "log-group:/aws/lambda/f")),
    "ask_judge": permissions.ask_judge(HERE, JUDGING),
    "ask_anywhere": permissions.ask_judge(HERE, JudgeConfig(models=(GLOBAL,))),
    "read_folders": iam.document(*permissions.read_folders(HERE, FOLDERS)),
    "train": permissions.train(REWARDS, BUCKET),
    "use_key": permissions.use_key(KEY, HERE),
    "use_model_key": permissions.use_model_key(KEY, HERE),
    "read_invocation_logs": permissions.read_invocation_logs(HERE, "s3://logs/bedrock/"),
    "read_a_whole_bucket": permissions.read_invocation_logs(HERE, "s3://logs"),
    "join_vpc": permissions.join_vpc(HERE, subnets=["subnet-1"], security_groups=["sg-1"]),
    "prepare_data": people.prepare_data(
        HERE, stage="dev", bucket_arn=BUCKET, rewards=REWARDS, key_arn=KEY
    ),
    "run_jobs": people.run_jobs(
        HERE,
        stage="dev",
        role_arn=ROLE,
        rewards=REWARDS,
        model_key=KEY,
    ),
    "evaluate": people.evaluate(
        HERE, stage="dev", rewards=REWARDS, model_key=KEY, import_role=IMPORT_ROLE
    ),
    "operate": people.operate(
        HERE, names=Names("dev"), function_arns=[FUNCTION], rewards=REWARDS, packages=True
    ),
    "keep_house": custodian.keep_house(
        HERE,
        names=Names("dev"),
        rewards=REWARDS,
        bucket_arn=BUCKET,
        provided=[f"{FUNCTION}:*"],
    ),
    "send_traces": permissions.send_traces(),
    "stated": own_rights.stated(
        [
            Stated(["s3:GetObject"], [f"{BUCKET}/cases.jsonl"]),
            Stated(["s3:ListBucket"], [BUCKET], {"StringEquals": {"s3:prefix": "cases/"}}),
        ]
    ),
    "read_secrets": own_rights.read_secrets(
        HERE, [(SECRET, KEY), (f"{SECRET}-2", ""), (PARAMETER, KEY)]
    ),
    "join_network": own_rights.join_network(HERE, [FUNCTION]),
    "trust_runtime": agentcore.trust_runtime(HERE, "reward_dev__solver"),
    "start_agent": agentcore.start_agent(HERE, "reward_dev__solver", f"{BUCKET}/solver.zip"),
    "report": deferred.report(
        HERE,
        names=Names("dev"),
        rewards=REWARDS,
        outbox_actions=ACTIONS,
        outbox_index=INDEX,
        key_arn=KEY,
    ),
    "put_results": iam.document(*deferred.put_results(HERE, Names("dev"), KEY)),
    "redrive": iam.document(*deferred.redrive(HERE, Names("dev"))),
    "hand_on": forwarding.hand_on(HERE, queue_arn=QUEUE, key_arn=KEY),
    "hand_on_with_a_key": forwarding.hand_on(HERE, secret_arn=SECRET, key_arn=KEY),
    "read_queues": iam.document(*forwarding.read_queues(HERE, [QUEUE], [KEY, KEY])),
}

DOCUMENTS["prepare_data_elsewhere"] = people.prepare_data(
    HERE, stage="dev", bucket_arn=BUCKET, rewards=REWARDS, folders=FOLDERS
)

PEOPLE = (
    *("prepare_data", "run_jobs", "evaluate", "operate"),
    *("run_customization", "run_multi_turn", "run_training_jobs", "submit_to_hyperpod"),
)
TRUSTS = [name for name in DOCUMENTS if name.startswith("trust_") and name != "trust_lambda"]
