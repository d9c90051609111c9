"""Whoever acts for a stage that has everything, with all that each may do, whole, as deployed.

No synth is needed: the documents are plain data. `test_who_may_what` compares them with templates.
"""

from __future__ import annotations

from reward_functions.cdk.model.stages import stage_of
from reward_functions.cdk.policies import (
    agents,
    custodian,
    deferred,
    own_rights,
    permissions,
    scale,
)
from reward_functions.cdk.policies.documents import (
    AGENTS,
    BEDROCK,
    IMPORT,
    KINDS,
    SAGEMAKER,
    TRAINING,
    kinds,
    of_agent,
    of_function,
)
from reward_functions.cdk.policies.grants import Made
from reward_functions.cdk.policies.iam import Place
from reward_functions.cdk.policies.people import of_people
from reward_functions.cdk.policies.sagemaker import train_on_hyperpod
from tests.cdk.conftest import EVERYTHING, ROOT

HERE = Place("aws", "eu-central-1", "123456789012")
NETWORK = {"subnets": ["subnet-0123456789abcdef0"], "security_groups": ["sg-0123456789abcdef0"]}
OWN_KEY = HERE.arn("kms", "key/22222222-89ab-cdef-0123-456789abcdef")
SEALED = HERE.arn("kms", "key/33333333-89ab-cdef-0123-456789abcdef")
API_KEY, AGENT_KEY, LOOKUP = (
    HERE.arn("secretsmanager", f"secret:{name}-a1b2c3") for name in ("api", "agent", "lookup")
)
PLACE = HERE.arn("ssm", "parameter/lookup/place")
MODEL, PLAIN = "amazon.nova-lite-v1:0", "amazon.nova-micro-v1:0"

GIVEN = {
    "allow": [
        {
            "actions": ["s3:GetObject"],
            "resources": ["arn:aws:s3:::acme-cases/math.jsonl"],
            "condition": {"StringEquals": {"aws:ResourceAccount": "123456789012"}},
        }
    ],
    "secrets": {"KEY": {"arn": LOOKUP, "key": OWN_KEY}, "PLACE": PLACE},
    "tracing": True,
    "vpc": NETWORK,
}

JUDGED = {
    "reward": "reference",
    "judge": {
        "models": [
            {"model": PLAIN},
            {"model": MODEL, "profile": f"global.{MODEL}"},
            {"model": MODEL, "profile": f"eu.{MODEL}", "destinations": ["eu-west-3"]},
        ],
        "fallback": {
            "model": "qwen3",
            "backend": "openai",
            "endpoint": "https://models.example.com/v1",
            "key": API_KEY,
        },
    },
}

WHOLE = EVERYTHING | {
    "production": False,
    "verdict_cache": True,
    "read_buckets": [{"address": "s3://acme-data/rft/", "key": SEALED}],
    "forwarders": [
        {
            "name": "keyed",
            "endpoint": "https://agent.internal",
            "secret": AGENT_KEY,
            "key": OWN_KEY,
            "vpc": NETWORK,
        },
        {"name": "queued", "queue": True, "key": OWN_KEY},
    ],
    "agents": [
        {"name": "solver", "entry": "acme:agent", "packages": ["strands-agents==1.62.0"]},
    ],
    "deployments": [
        "math",
        {"name": "strict", "reward": "gsm8k", "provisioned_concurrency": 2},
        {"name": "given", "reward": "gsm8k", **GIVEN},
        {"name": "held", "reward": "gsm8k", "immutable": True},
        JUDGED,
    ],
}

# What services run as, what is attached to roles of others, people by their tasks, and functions.
AGENT, CLUSTER = "an agent", "a cluster"
VERIFIER, WITH_RIGHTS, JUDGE = "a verifier", "a verifier with rights", "a judge"
KEYED, QUEUED = "a forwarder with a secret", "a forwarder with a queue"
CUSTODIAN, SCORER = "the custodian", "the function of deferred rewards"
SHARDS, MACHINE = "the function of shards", "the state machine"
PUBLISHER, RUNTIME = "the rules of job events", "a runtime"

STAGE = stage_of({"everything": WHOLE}, "everything", ROOT)
BUCKET = f"arn:aws:s3:::{STAGE.names.bucket(HERE.account, HERE.region)}"
MADE = Made(BUCKET, HERE.arn("kms", "key/bucket"))
ROLES = {
    kind: f"arn:aws:iam::123456789012:role/{kind}"
    for kind in (BEDROCK, SAGEMAKER, AGENTS, TRAINING, IMPORT)
}
TOPIC = HERE.arn("sns", "everything-topic")
CODE = "arn:aws:s3:::cdk-assets/solver.zip"


def documents():
    """What everybody may do, by who."""
    assert [*kinds(STAGE)] == [*ROLES]
    work = {
        f"{kind} role": [*KINDS[kind].work(HERE, STAGE, MADE).values()] for kind in kinds(STAGE)
    }
    attached = {
        AGENT: [of_agent(HERE, STAGE, MADE)],
        CLUSTER: [train_on_hyperpod(HERE, STAGE, MADE)],
    }
    people = {task: [each] for task, each in of_people(HERE, STAGE, MADE, ROLES).items()}
    return work | attached | people | _functions()


def _functions():
    """What the stage's functions, its rules and its runtime may do."""
    deployments = {each.name: each for each in STAGE.deployments}
    rewarding = {
        who: [*of_function(HERE, STAGE, deployments[name]).values()]
        for who, name in ((VERIFIER, "math"), (WITH_RIGHTS, "given"), (JUDGE, "reference"))
    }
    house = custodian.keep_house(HERE, STAGE)
    return rewarding | {
        CUSTODIAN: [_logs(STAGE.names.custodian), house],
        SCORER: [
            _logs(STAGE.names.rollouts(deferred.FEEDBACK)),
            deferred.report(HERE, STAGE, MADE.key_arn),
        ],
        SHARDS: [_logs(STAGE.names.scale), scale.shards(HERE, STAGE, MADE)],
        MACHINE: [scale.machine(HERE, STAGE, MADE)],
        KEYED: _forwarding(STAGE.forwarders[0]),
        QUEUED: _forwarding(STAGE.forwarders[1]),
        PUBLISHER: [permissions.publish_events(TOPIC)],
        RUNTIME: [
            agents.start_agent(
                HERE, STAGE.agents[0].runtime_name(STAGE.names), CODE, ["rollout-results"]
            )
        ],
    }


def _forwarding(forwarder):
    handing_on = agents.hand_on(
        HERE,
        queue_arn=forwarder.queue_arn(HERE, STAGE.names),
        secret_arn=forwarder.secret or "",
        key_arn=forwarder.key or "",
    )
    own = forwarder.function_arn(HERE, STAGE.names)
    network = [own_rights.join_network(HERE, [own])] if forwarder.vpc else []
    return [_logs(forwarder.function_name(STAGE.names)), handing_on, *network]


def _logs(function):
    return permissions.write_logs(HERE, function)
