"""Removes from the zip what a Lambda never reads: tests, stubs, scripts, most of botocore's data.

The names, versions and entry points of this project and of every package that registers a reward
stay, because `importlib.metadata` reads them. All other dist-info goes.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Final

from reward_functions.core.registry import ENTRY_POINT_GROUP

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

AWS_SERVICES: Final = frozenset(
    {
        "bedrock-agentcore",
        "bedrock-runtime",
        "dynamodb",
        "lambda",
        "s3",
        "sagemakerjobruntime",
        "secretsmanager",
        "sqs",
        "sts",
    }
)
"""What rewards, judges and rollouts call; botocore's models of the other four hundred go."""

UNUSED_FOLDERS: Final = frozenset({"tests", "benchmarks", "__pycache__"})

UNUSED_SUFFIXES: Final = frozenset({".pyi", ".pyx", ".pxd", ".c", ".h", ".rst"})

OURS: Final = "reward_functions"


def prune(tree: Path, services: Iterable[str] = ()) -> None:
    """Remove from an installed tree what no function reads.

    Args:
        tree: the folder that becomes the zip.
        services: botocore's names of what is called beyond `AWS_SERVICES`.
    """
    for folder in [path for path in tree.rglob("*") if path.is_dir()]:
        inner = folder.relative_to(tree)
        if inner.name in UNUSED_FOLDERS and folder.exists():
            shutil.rmtree(folder)
    for path in [path for path in tree.rglob("*") if path.is_file()]:
        if path.suffix in UNUSED_SUFFIXES or path.name == ".lock":
            path.unlink()
    for scripts in ("bin", "share"):
        shutil.rmtree(tree / scripts, ignore_errors=True)
    (tree / "isympy.py").unlink(missing_ok=True)
    for record in tree.glob("*.dist-info"):
        _prune_record(record)
    for sdk in ("botocore", "boto3"):
        _prune_models(tree / sdk / "data", AWS_SERVICES | set(services))


def _prune_record(record: Path) -> None:
    points = record / "entry_points.txt"
    registers = points.is_file() and f"[{ENTRY_POINT_GROUP}]" in points.read_text(encoding="utf-8")
    if not registers and not record.name.startswith(f"{OURS}-"):
        shutil.rmtree(record)
        return
    for path in sorted(record.rglob("*"), reverse=True):
        if path.is_dir():
            path.rmdir()
        elif path.relative_to(record).as_posix() not in ("METADATA", "entry_points.txt"):
            path.unlink()


def _prune_models(data: Path, services: frozenset[str]) -> None:
    for service in data.glob("*/"):
        if service.name not in services:
            shutil.rmtree(service)
    for examples in data.glob("*/*/examples-1.json*"):
        examples.unlink()
