"""What the tests deploy: the project's own `cdk.json`, with a little more in the local stage."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]

STAGE = "local"


AGENT = "arn:aws:lambda:us-east-1:000000000000:function:SageMaker-agent"

ASKED = {
    "sagemaker_role": True,
    "training_job_role": True,
    "hyperpod": True,
    "scale": {},
    "job_rights": {"agents": [AGENT]},
}


FAMILIES = [
    "answer_text",
    "instructions",
    {"reward": "json_fields", "parameters": {"schema": "files/invoice.json"}},
    {"reward": "tool_calls", "parameters": {"tools": "files/tools.json"}},
    {"reward": "sql_result", "parameters": {"databases": "databases"}},
]
"""Rewards beside math, with the files that their parameters name."""

PAINT = {"door": {"type": "integer"}, "colour": {"type": "string", "default": "red"}}

NAMED_FILES = {
    "files/invoice.json": json.dumps({"type": "object", "properties": {"paid": {}}}),
    "files/tools.json": json.dumps(
        [{"name": "paint", "parameters": {"type": "object", "properties": PAINT}}]
    ),
    "databases/shop.sql": (ROOT / "reward_functions/verifiers/_sql/shop.sql").read_text(),
}
"""What they hold, by the path below the folder of `cdk.json`."""


def stages(trainer="", agent="", secret=""):
    """Those of the project's own cdk.json; the local one has the roles of SageMaker's jobs too.

    With a trainer's endpoint it has the path of deferred rewards, which ends there; with an agent's
    and the secret of its key a forwarder that leads to it.
    """
    found = json.loads((ROOT / "cdk.json").read_text())["context"]["stages"]
    feedback = {"feedback": {"timeout_seconds": 60, "endpoint": trainer}} if trainer else {}
    leading = {"name": "agent", "endpoint": agent, "secret": secret, "timeout_seconds": 15}
    forwarders = {"forwarders": [leading]} if agent else {}
    deployed = {"deployments": [*found[STAGE]["deployments"], *FAMILIES]}
    return found | {STAGE: found[STAGE] | ASKED | deployed | feedback | forwarders}
