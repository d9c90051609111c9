"""What the tests deploy: the project's own `cdk.json`, with a little more in the local stage."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]

STAGE = "local"


def stages():
    """Those of the project's own cdk.json; the local one has a role for SageMaker's jobs too."""
    found = json.loads((ROOT / "cdk.json").read_text())["context"]["stages"]
    return found | {STAGE: found[STAGE] | {"sagemaker_role": True}}
