"""Stacks, synthesised once for the whole run, without the artifact unless a test asks for it.

The CDK is imported where it is used: of the workers of a parallel run all collect these tests, and
one runs them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reward_functions.cdk.model.stages import stage_of
from tests.cdk.agent_stage import AGENTS

if TYPE_CHECKING:
    from reward_functions.cdk.constructs.stack import RewardStack

ROOT = Path(__file__).parents[2]

CDK_JSON = json.loads((ROOT / "cdk.json").read_text())

OWN_RIGHTS = {
    "allow": [
        {
            "actions": ["s3:GetObject", "s3:ListB*"],
            "resources": ["arn:aws:s3:::acme-cases", "arn:aws:s3:::acme-cases/*"],
            "condition": {"Bool": {"aws:SecureTransport": True}},
            "reason": "Cases lie in a file for each subject.",
        },
        {"actions": ["athena:GetQueryResults"], "resources": ["*"], "reason": "A list."},
    ],
    "environment": {"CASES": "s3://acme-cases/math.jsonl"},
    "secrets": {
        "LOOKUP_KEY": {
            "arn": "arn:aws:secretsmanager:eu-central-1:123456789012:secret:lookup-a1b2c3",
            "key": "arn:aws:kms:eu-central-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef",
        },
        "LOOKUP_PLACE": "arn:aws:ssm:eu-central-1:123456789012:parameter/lookup/place",
    },
    "vpc": {"subnets": ["subnet-0123456789abcdef0"], "security_groups": ["sg-0123456789abcdef0"]},
}
"""What a deployment gives a reward of one's own."""

EVERYTHING = {
    "region": "eu-central-1",
    "account": "123456789012",
    "production": True,
    "customer_key": True,
    "sagemaker_role": True,
    "training_job_role": True,
    "hyperpod": True,
    "architecture": "x86_64",
    "python": "3.12",
    "subscriptions": ["team@example.com", "https://example.com/hook"],
    "feedback": {"timeout_seconds": 60, "batch_size": 5, "concurrency": 20},
    "scale": {"timeout_seconds": 600, "memory_mb": 1024},
    "job_rights": {
        "invocation_logs": "s3://company-logs/bedrock",
        "vpc": {
            "subnets": ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"],
            "security_groups": ["sg-0123456789abcdef0"],
        },
        "model_key": "arn:aws:kms:eu-central-1:123456789012:key/"
        "01234567-89ab-cdef-0123-456789abcdef",
        "agents": [
            "arn:aws:lambda:eu-central-1:123456789012:function:SageMaker-agent",
            "arn:aws:bedrock-agentcore:eu-central-1:123456789012:runtime/agent-0123456789",
        ],
    },
    "tags": {"team": "rewards"},
    "deployments": [
        "math",
        {"name": "gsm8k-strict", "reward": "gsm8k", "snap_start": True},
        {
            "name": "gsm8k-flexible",
            "reward": "gsm8k",
            "parameters": {"flexible": True},
            "response_mode": "envelope",
            "memory_mb": 3538,
            "timeout_seconds": 120,
            "reserved_concurrency": 64,
            "provisioned_concurrency": 32,
            "ephemeral_storage_mb": 2048,
            "tracing": True,
            "settings": {"on_unscored": "fail", "max_unscored": 0.5, "log_level": "DEBUG"},
            **OWN_RIGHTS,
        },
        {"name": "gsm8k-sagemaker", "reward": "gsm8k", "immutable": True},
    ],
}

JUDGED = {
    "region": "us-east-1",
    "job_events": "account",
    "account": "123456789012",
    "deployments": [
        "exact_match",
        {
            "reward": "reference",
            "judge": {"models": [{"model": "amazon.nova-lite-v1:0", "tier": "flex"}]},
        },
        {
            "reward": "math_then_judge",
            "parameters": {"rounded": 3},
            "judge": {"models": [{"model": "amazon.nova-lite-v1:0"}]},
        },
        {
            "reward": "pandalm",
            "judge": {
                "models": [
                    {
                        "model": "anthropic.claude-haiku-4-5-20251001-v1:0",
                        "profile": "us.anthropic.claude-haiku-4-5-20251001-v1:0",
                        "region": "us-west-2",
                        "destinations": ["us-east-1", "us-west-2"],
                    }
                ],
                "fallback": {"model": "amazon.nova-pro-v1:0", "region": "us-east-2"},
                "cache_table": "verdicts",
                "max_usd": 2,
            },
        },
        {
            "name": "faithful",
            "reward": "rubric",
            "parameters": {"criteria": "rag_faithfulness"},
            "judge": {
                "models": [
                    {
                        "model": "qwen3",
                        "backend": "openai",
                        "endpoint": "https://models.example.com/v1",
                        "key": "arn:aws:secretsmanager:us-east-1:123456789012:secret:vllm-a1b2c3",
                    }
                ]
            },
        },
    ],
}

COMPANY = {
    "region": "eu-central-1",
    "account": "123456789012",
    "sagemaker_role": True,
    "bucket": "acme-sagemaker-data",
    "key_arn": "arn:aws:kms:eu-central-1:210987654321:key/11111111-89ab-cdef-0123-456789abcdef",
    "name_prefix": "acme",
    "role_path": "/acme/rewards/",
    "permissions_boundary": "acme-boundary",
    "feedback": {},
    "read_buckets": [
        "s3://acme-data/rft/",
        {
            "address": "s3://acme-sealed",
            "key": "arn:aws:kms:eu-central-1:210987654321:key/22222222-89ab-cdef-0123-456789abcdef",
        },
    ],
    "verdict_cache": True,
    "callers": {
        "accounts": ["210987654321"],
        "roles": ["arn:aws:iam::345678901234:role/trainers/trainer"],
        "organization": "o-a1b2c3d4e5",
    },
    "deployments": [
        "exact_match",
        {"name": "held", "reward": "exact_match", "immutable": True},
        {
            "reward": "reference",
            "judge": {
                "models": [
                    {
                        "model": "anthropic.claude-haiku-4-5-20251001-v1:0",
                        "profile": "global.anthropic.claude-haiku-4-5-20251001-v1:0",
                    }
                ]
            },
        },
        {
            "reward": "pandalm",
            "judge": {"models": [{"model": "amazon.nova-lite-v1:0"}], "cache_table": "ours"},
        },
    ],
}

DEFERRED = {
    "region": "us-east-1",
    "deployments": ["gsm8k", {"name": "gsm8k-held", "reward": "gsm8k", "immutable": True}],
    "feedback": {},
}

SCALED = {
    "region": "us-east-1",
    "deployments": ["gsm8k", {"name": "gsm8k-held", "reward": "gsm8k", "immutable": True}],
    "scale": {},
}

MERGED = (
    JUDGED
    | AGENTS
    | {"deployments": JUDGED["deployments"], "callers": COMPANY["callers"], "verdict_cache": True}
)
"""What `EVERYTHING` has not, for the linter."""

STAGES = CDK_JSON["context"]["stages"] | {
    "merged": MERGED,
    "everything": EVERYTHING,
    "judged": JUDGED,
    "company": COMPANY,
    "agents": AGENTS,
    "deferred": DEFERRED,
    "scaled": SCALED,
}

LOOPBACK = {"AWS_ENDPOINT_URL": "http://127.0.0.1:4566"}
"""Of a shell that points at an emulator; nobody asks it anything without `CDK_DEFAULT_ACCOUNT`."""


@dataclass(frozen=True)
class FakeArtifact:
    """What a function runs from: any file, under the digest that a test chose."""

    digest: str

    def build(self, path):
        """Write something that may be a zip."""
        path.write_bytes(b"")


@dataclass(frozen=True)
class FakeArtifacts:
    """Artifacts whose digests are those given, by reward, and else the letter a."""

    digests: dict

    def artifact(self, reward):
        """Of a reward."""
        return FakeArtifact(self.digests.get(reward, "a" * 64))

    def of_handler(self, module):
        """Of a function that is no reward."""
        return FakeArtifact(self.digests.get(module, "b" * 64))


def _part(name):
    """The part of a stack that is asked for by itself, by the logical name of a resource."""
    return next((part for part in ("Feedback", "Scale") if name.startswith(part)), "")


@dataclass(frozen=True)
class Synthesised:
    """One stage as CloudFormation would get it."""

    stack: RewardStack
    template: dict

    def resources(self, kind, *, path=False):
        """The resources of a CloudFormation type, by logical name.

        Those of the path of deferred rewards are asked for by themselves, and those of scored files
        with `path="Scale"`.
        """
        found = self.template["Resources"].items()
        return {
            name: each
            for name, each in found
            if each["Type"] == kind and _part(name) == ("Feedback" if path is True else path or "")
        }

    def properties(self, kind):
        """Their properties, in order."""
        return [each.get("Properties", {}) for each in self.resources(kind).values()]

    def rewards(self):
        """The properties of the reward functions by deployment; the custodian is none."""
        found = {
            each.get("FunctionName", ""): each for each in self.properties("AWS::Lambda::Function")
        }
        return {
            each.deployment.name: next(
                properties
                for name, properties in found.items()
                if name.partition("--")[0] == each.settings.service
            )
            for each in self.stack.functions
        }


@pytest.fixture(scope="module")
def followed_once():
    """Which of our files a reward reaches: no test of a module that uses this changes an import."""
    from reward_functions.cdk.artifact import closure

    with pytest.MonkeyPatch.context() as patch:
        for name in ("all_files", "files", "imported_packages", "reached"):
            patch.setattr(closure, name, _once(getattr(closure, name), closure))
        yield


def _once(function, closure):
    known = {}

    def called(*given, **named):
        given = [tuple(each) if isinstance(each, list) else each for each in given]
        key = (closure.PACKAGE, *given, *named.items())
        if key not in known:
            known[key] = function(*given, **named)
        return known[key]

    return called


@pytest.fixture(scope="session")
def stack_of(tmp_path_factory):
    """A stage as it would be deployed, its artifacts and what stands there given."""
    import aws_cdk as cdk

    from reward_functions.cdk.constructs.stack import RewardStack

    made = {}

    def synthesise(given, digests=None, before=None, name="dev"):
        key = json.dumps([given, digests, name]) if before is None else object()
        if key not in made:
            stage = stage_of({name: {"region": "us-east-1"} | given}, name, ROOT)
            app = cdk.App(
                context=CDK_JSON["context"],
                outdir=str(tmp_path_factory.mktemp("cdk.out")),
                builtin_cloud_formation_validation=False,
            )
            artifacts = FakeArtifacts(digests or {})
            stack = RewardStack(app, stage=stage, artifacts=artifacts, before=before)
            template = app.synth().get_stack_by_name(stack.stack_name).template
            made[key] = Synthesised(stack, template)
        return made[key]

    return synthesise


@pytest.fixture(scope="session")
def synthesised(tmp_path_factory):
    """A stage of `STAGES` by name, synthesised without its artifact."""
    import aws_cdk as cdk

    from reward_functions.cdk.app.app import build

    @cache
    def synthesise(stage):
        context = CDK_JSON["context"] | {
            "stages": STAGES,
            "stage": stage,
            "aws:cdk:bundling-stacks": [],
        }
        app = cdk.App(
            context=context,
            outdir=str(tmp_path_factory.mktemp("cdk.out")),
            builtin_cloud_formation_validation=False,
        )
        with pytest.MonkeyPatch.context() as shell:
            for name, value in LOOPBACK.items() if STAGES[stage].get("emulated") else ():
                shell.setenv(name, value)
            stack = build(app, ROOT)
        assembly = app.synth()
        return Synthesised(stack, assembly.get_stack_by_name(stack.stack_name).template)

    return synthesise
