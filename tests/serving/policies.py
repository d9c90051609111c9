"""Every policy that this project makes, of one place, with names to ask them about."""

from __future__ import annotations

from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel
from reward_functions.serving import iam, people, permissions, sagemaker, sagemaker_people
from reward_functions.serving.iam import Place

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
ROLE = "arn:aws-cn:iam::123456789012:role/training"
KEY = HERE.arn("kms", "key/k")
FORWARDER = HERE.arn("lambda", "function:SageMaker-agent")
PINNED = HERE.arn("lambda", "function:SageMaker-pinned:7")
RUNTIME = HERE.arn("bedrock-agentcore", "runtime/agent-0123456789")
AGENTS = [FORWARDER, PINNED, RUNTIME]
JOB_ROLE, AGENT_ROLE, IMPORT_ROLE = f"{ROLE}-sm", f"{ROLE}-agents", f"{ROLE}-import"

REWARDS = [*iam.versions_of(FUNCTION), *iam.generations_of(f"{FUNCTION}-own")]

DOCUMENTS = {
    "trust_lambda": permissions.trust_lambda(),
    "trust_bedrock": permissions.trust_bedrock(HERE),
    "trust_training": sagemaker.trust_training(HERE),
    "trust_multi_turn": sagemaker.trust_multi_turn(HERE),
    "trust_import": sagemaker.trust_import(HERE),
    "customize": sagemaker.customize(HERE),
    "roll_out": sagemaker.roll_out(HERE, agents=AGENTS, bucket_arn=BUCKET),
    "run_agent": sagemaker.run_agent(HERE, KEY),
    "import_model": sagemaker.import_model(HERE, BUCKET),
    "join_vpc_of_sagemaker": sagemaker.join_vpc(
        HERE, subnets=["subnet-1"], security_groups=["sg-1"]
    ),
    "describe_key": sagemaker.describe_key(KEY),
    "run_customization": sagemaker_people.run_customization(HERE, stage="dev", role_arn=JOB_ROLE),
    "run_multi_turn": sagemaker_people.run_multi_turn(
        HERE, stage="dev", role_arn=AGENT_ROLE, agents=AGENTS, model_key=KEY
    ),
    "write_logs": permissions.write_logs(HERE.arn("logs", "log-group:/aws/lambda/f")),
    "ask_judge": permissions.ask_judge(HERE, JUDGING),
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
        HERE, stage="dev", function_arns=[FUNCTION], rewards=REWARDS, packages=True
    ),
    "keep_house": permissions.keep_house(HERE, stage="dev", rewards=REWARDS, bucket_arn=BUCKET),
}

PEOPLE = (
    *("prepare_data", "run_jobs", "evaluate", "operate"),
    *("run_customization", "run_multi_turn"),
)
TRUSTS = [name for name in DOCUMENTS if name.startswith("trust_") and name != "trust_lambda"]
