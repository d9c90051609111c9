"""What the tests deploy: the project's own `cdk.json`, with a little more in the local stage."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]

STAGE = "local"


AGENT = "arn:aws:lambda:us-east-1:000000000000:function:SageMaker-agent"

ASKED = {"sagemaker_role": True, "job_rights": {"agents": [AGENT]}}


def stages():
    """Those of the project's own cdk.json; the local one has the roles of SageMaker's jobs too."""
    found = json.loads((ROOT / "cdk.json").read_text())["context"]["stages"]
    return found | {STAGE: found[STAGE] | ASKED}
