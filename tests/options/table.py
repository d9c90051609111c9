"""Every option of a stage and of what stands in it, and the stages that hold many of them.

An option is a field of the models that read `cdk.json`: a row says a value that is not its default.
Each makes a stage by itself; `together` puts into one stage what a stage may hold together.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from reward_functions.cdk.model.stages import MODELS, stage_of
from reward_functions.core.errors import ConfigurationError

ROOT = Path(__file__).parents[2]

REGION, ACCOUNT = "us-east-1", "123456789012"

SUBNETS = [f"subnet-0123456789abcdef{each}" for each in range(2)]

NETWORK = {"subnets": SUBNETS, "security_groups": ["sg-0123456789abcdef0"]}

SECRET = f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:agent-a1b2c3"

HAIKU = "anthropic.claude-haiku-4-5-20251001-v1:0"

NOVA = {"models": [{"model": "amazon.nova-lite-v1:0"}]}

PROFILE = {"models": [{"model": HAIKU, "profile": f"global.{HAIKU}"}], "cache_table": "verdicts"}

SERVED = {
    "models": [
        {
            "model": "qwen3",
            "backend": "openai",
            "endpoint": "https://models.example.com/v1",
            "key": f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:vllm-a1b2c3",
        }
    ]
}

COMPOSITE = {
    "name": "acme.tutor",
    "version": 1,
    "weighted": {"gsm8k": 3, "exact_match": 1},
    "examples": [{"kind": "positive", "response": "#### 4", "reference": "#### 4", "score": 1}],
}


def key(number):
    """The ARN of a key."""
    return f"arn:aws:kms:{REGION}:{ACCOUNT}:key/{number * 8}-89ab-cdef-0123-456789abcdef"


def statement(**more):
    """A right of a function's own."""
    return {"actions": ["s3:GetObject"], "resources": ["arn:aws:s3:::acme-cases/a.jsonl"], **more}


NOTHING = MappingProxyType({})


class Row(NamedTuple):
    """One value of an option.

    Args:
        option: its field, behind the field that holds its model.
        value: what a stage says.
        beside: other fields of the same object, without which it may not stand.
        of_stage: fields of the stage, without which it may not stand.
    """

    option: str
    value: Any
    beside: Mapping = NOTHING
    of_stage: Mapping = NOTHING

    @property
    def name(self):
        """The option, with a number where it has several rows."""
        alike = [row for row in ROWS if row.option == self.option]
        number = f" ({alike.index(self) + 1})" if len(alike) > 1 else ""
        return f"{self.option}{number}"

    @property
    def given(self):
        """What a stage says that says nothing else."""
        holder, _, field = self.option.rpartition(".")
        return {**self.of_stage, **HOLDERS[holder]({**self.beside, field: self.value})}


def deployment(given):
    """A stage whose one deployment says so."""
    return {"deployments": [{"name": "gsm8k", "reward": "gsm8k"} | given]}


HOLDERS = {
    "": lambda given: given,
    "deployments": deployment,
    "forwarders": lambda given: {
        "forwarders": [
            {"name": "agent"}
            | ({} if "queue" in given else {"endpoint": "https://agent.example.com"})
            | given
        ]
    },
    "agents": lambda given: {
        "agents": [
            {"name": "solver", "entry": "acme_agents.solver:agent"}
            | {"packages": ["strands-agents==1.62.0"]}
            | given
        ]
    },
    "feedback": lambda given: {"feedback": given},
    "scale": lambda given: {"scale": given},
    "callers": lambda given: {"callers": given},
    "job_rights": lambda given: {"job_rights": given},
    "read_buckets": lambda given: {"read_buckets": [{"address": "s3://acme-data/rft"} | given]},
    "allow": lambda given: deployment({"allow": [statement(**given)]}),
    "secrets": lambda given: deployment({"secrets": {"LOOKUP": {"arn": SECRET} | given}}),
}
"""How a stage holds an object of each of `stages.MODELS`."""

ROWS = (
    Row("account", ACCOUNT),
    Row("deployments", ["gsm8k", "math", "exact_match"]),
    Row("production", True),
    Row("emulated", True),
    Row("architecture", "x86_64"),
    *(Row("python", each) for each in ("3.12", "3.14")),
    Row("keep_versions", 3),
    Row("judge_gate", "model"),
    Row("strict", True),
    Row("packages", ["sympy==1.14.0"]),
    Row("aws_services", ["dynamodb"]),
    Row("subscriptions", ["team@example.com", "https://example.com/hook"]),
    Row("feedback", {}),
    Row("scale", {}),
    Row("sagemaker_role", True),
    Row("training_job_role", True),
    Row("hyperpod", True),
    Row("job_events", "account", of_stage={"sagemaker_role": True}),
    Row("customer_key", True),
    Row("bucket", "acme-sagemaker-data"),
    Row("key_arn", key("1")),
    Row("key_arn", key("1"), of_stage={"bucket": "acme-sagemaker-data"}),
    Row("name_prefix", "acme"),
    Row("role_path", "/acme/rewards/"),
    Row("permissions_boundary", "acme-boundary"),
    Row("permissions_boundary", f"arn:aws:iam::{ACCOUNT}:policy/acme-boundary"),
    Row("read_buckets", ["s3://acme-data/rft"]),
    Row("read_buckets.key", key("2")),
    Row("verdict_cache", True, of_stage=deployment({"reward": "pandalm", "judge": NOVA})),
    Row("callers", {"roles": ["arn:aws:iam::345678901234:role/trainer"]}),
    Row("callers.accounts", ["210987654321"]),
    Row("callers.roles", ["arn:aws:iam::345678901234:role/trainers/trainer"]),
    Row("callers.organization", "o-a1b2c3d4e5"),
    Row("job_rights", {"agents": [f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:SageMaker-a"]}),
    Row("job_rights.invocation_logs", "s3://company-logs/bedrock"),
    Row("job_rights.vpc", NETWORK, of_stage={"sagemaker_role": True}),
    Row("job_rights.model_key", key("3"), of_stage={"sagemaker_role": True}),
    Row(
        "job_rights.agents",
        [f"arn:aws:bedrock-agentcore:{REGION}:{ACCOUNT}:runtime/agent-0123456789"],
    ),
    Row("tags", {"team": "rewards"}),
    Row("forwarders", HOLDERS["forwarders"]({})["forwarders"]),
    Row("forwarders.endpoint", "https://agent.internal:8443/rollout"),
    Row("forwarders.queue", True),
    Row("forwarders.queue", f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/requests.fifo"),
    Row("forwarders.secret", SECRET),
    Row("forwarders.key", key("4"), {"secret": SECRET}),
    Row("forwarders.key", key("5"), {"queue": True}),
    Row("forwarders.vpc", NETWORK),
    Row("forwarders.timeout_seconds", 120),
    Row("forwarders.memory_mb", 512),
    Row("forwarders.reserved_concurrency", 8),
    Row("agents", HOLDERS["agents"]({})["agents"]),
    Row("agents.environment", {"REWARD_ROLLOUTS_RERUN": "1"}),
    Row("agents.vpc", NETWORK),
    Row("agents.result_buckets", ["rollout-results"]),
    Row("agents.idle_seconds", 1800),
    Row("agents.lifetime_seconds", 3600),
    Row("scale.timeout_seconds", 600),
    Row("scale.memory_mb", 1024),
    Row("scale.spool_mb", 10_240),
    Row("feedback.timeout_seconds", 60),
    Row("feedback.batch_size", 5),
    Row("feedback.concurrency", 20),
    Row("feedback.memory_mb", 1024),
    Row("feedback.keep_results_days", 30),
    Row("feedback.endpoint", "https://runtime.example.com"),
    Row("deployments.composite", COMPOSITE, {"reward": COMPOSITE}),
    Row("deployments.parameters", {"flexible": True}),
    Row("deployments.response_mode", "envelope"),
    Row("deployments.immutable", True),
    Row("deployments.memory_mb", 3538),
    Row("deployments.timeout_seconds", 120),
    Row("deployments.reserved_concurrency", 64),
    Row("deployments.provisioned_concurrency", 32),
    Row("deployments.snap_start", True),
    Row("deployments.ephemeral_storage_mb", 2048),
    Row("deployments.tracing", True),
    Row("deployments.judge", NOVA, {"reward": "reference"}),
    Row("deployments.judge", PROFILE, {"reward": "pandalm"}),
    Row("deployments.judge", SERVED, {"reward": "math_then_judge"}),
    Row("deployments.settings", {"on_unscored": "fail", "max_unscored": 0.5}),
    Row("deployments.allow", [statement()]),
    Row("deployments.environment", {"CASES": "s3://acme-cases/math.jsonl"}),
    Row("deployments.secrets", {"PLACE": f"arn:aws:ssm:{REGION}:{ACCOUNT}:parameter/place"}),
    Row("deployments.vpc", NETWORK),
    Row("allow.condition", {"Bool": {"aws:SecureTransport": True}}),
    Row("allow.reason", "A list.", {"actions": ["athena:GetQueryResults"], "resources": ["*"]}),
    Row("secrets.key", key("6")),
    Row("region", "eu-central-1"),
)

NAMED_BY_ALL = {"name", "reward"}
"""Fields without which no object stands: they are no options."""


def expected():
    """The options that the models have."""
    return {
        ".".join(filter(None, (holder, field)))
        for holder, model in MODELS.items()
        for field, about in model.model_fields.items()
        if field not in NAMED_BY_ALL and not (holder and about.is_required())
    }


def checked(given, name="dev"):
    """The stage that settings make."""
    return stage_of({name: {"region": REGION, "deployments": ["gsm8k"]} | given}, name, ROOT)


def accepted(given, name="dev"):
    """Whether a stage may say so."""
    try:
        checked(given, name)
    except ConfigurationError:
        return False
    return True


class Differ(Exception):
    """Two rows say two things."""


def joined(one, other, field=""):
    """Two values as one: objects by their fields, lists as both."""
    if one == other:
        return one
    match one, other:
        case dict(), dict():
            shared = {each: joined(one[each], other[each], each) for each in one if each in other}
            return one | other | shared
        case list(), list() if field not in LISTS:
            return [*one, *(each for each in other if each not in one)]
        case _:
            raise Differ(field)


LISTS = ("deployments", "forwarders", "agents")
"""Of objects that a row may change, or stand beside."""


def ways(given, row):
    """How a row may join a stage: changing what stands there, else beside it."""
    several = next((each for each in LISTS if each in row and each in given), None)
    try:
        rest = {name: value for name, value in row.items() if name != several}
        plain = joined({name: value for name, value in given.items() if name != several}, rest)
    except Differ:
        return
    if several is None:
        yield plain
        return
    standing = [each for each in given[several] if isinstance(each, dict)]
    (new,) = row[several] if len(row[several]) == 1 else (None,)
    if new is None:
        yield plain | {several: [*given[several], *row[several]]}
        return
    for number, each in enumerate(standing):
        try:
            changed = joined(each, {**new, "name": each["name"]})
        except Differ:
            continue
        yield plain | {several: [*standing[:number], changed, *standing[number + 1 :]]}
    beside = {**new, "name": f"{new['name']}-{len(standing) + 1}"}
    yield plain | {several: [*standing, beside]}


@cache
def together():
    """As few stages as hold every row, each as many as it may; the emulator's by itself.

    Of an emulator's stage cdk-nag is not asked, so that no row stands there alone.
    """
    (emulated,) = [row for row in ROWS if row.option == "emulated"]
    rows = [row for row in ROWS if row.option not in ("deployments", "emulated")]
    stages, left = [], rows
    while left:
        given, taken = _filled(left[0].given, [*left, *rows])
        stages.append(given)
        left = [row for row in left[1:] if row.name not in taken]
    return [*stages, _filled(emulated.given, rows)[0]]


def _filled(given, rows):
    """A stage with all rows that may join it, and the names of these."""
    taken = set()
    for row in rows:
        if found := next(filter(accepted, ways(given, row.given)), None):
            given = found
            taken.add(row.name)
    return given, taken
