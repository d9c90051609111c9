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


def stages(trainer="", agent="", secret=""):
    """Those of the project's own cdk.json; the local one has the roles of SageMaker's jobs too.

    With a trainer's endpoint it has the path of deferred rewards, which ends there; with an agent's
    and the secret of its key a forwarder that leads to it.
    """
    found = json.loads((ROOT / "cdk.json").read_text())["context"]["stages"]
    feedback = {"feedback": {"timeout_seconds": 60, "endpoint": trainer}} if trainer else {}
    leading = {"name": "agent", "endpoint": agent, "secret": secret, "timeout_seconds": 15}
    forwarders = {"forwarders": [leading]} if agent else {}
    return found | {STAGE: found[STAGE] | ASKED | feedback | forwarders}
