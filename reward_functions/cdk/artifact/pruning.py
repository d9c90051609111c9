"""Removes from the zip what a function never reads of our own pinned requirements.

A rule is a row of a table: a path in one of the pins (`requirements/runtime.txt`), and why it goes.
The packages of a stage and their requirements are not touched: what they read, we do not know.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
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


class Rule(NamedTuple):
    """What goes.

    Args:
        pattern: paths below the folder of a zip, as `Path.glob` reads them.
        reason: why no function reads it.
    """

    pattern: str
    reason: str


RULES: Final = (
    Rule("bin", "scripts, which name the interpreter of the machine that installed them"),
    Rule("share", "manual pages"),
    Rule("isympy.py", "sympy's shell"),
    Rule("sympy/**/tests", "sympy's tests, a third of it"),
    Rule("sympy/**/benchmarks", "sympy's benchmarks"),
    Rule("mpmath/tests", "mpmath's tests"),
    Rule("boto3/examples", "boto3's documentation"),
    Rule("botocore/data/*/*/examples-1.json*", "examples of calls"),
    Rule("pydantic_core/**/*.pyi", "types for a type checker"),
    Rule("typing_inspection/*.pyi", "types for a type checker"),
    Rule(".lock", "what uv locks the folder with"),
)

MODELS: Final = ("boto3/data", "botocore/data")
"""Folders with one folder for every AWS service; those of services that are called stay."""

RECORDS: Final = ("METADATA", "entry_points.txt")
"""What stays of a distribution's record: its name and version, which libraries and scanners read,
and its plugins. The rest tells how, and where, it was installed."""


def prune(tree: Path, services: Iterable[str] = ()) -> None:
    """Remove from an installed tree of our pins what no function reads.

    Args:
        tree: the folder.
        services: botocore's names of what is called beyond `AWS_SERVICES`.
    """
    for rule in RULES:
        for path in matches(tree, rule):
            _remove(path)
    for folder in MODELS:
        for service in (tree / folder).glob("*/"):
            if service.name not in AWS_SERVICES | set(services):
                _remove(service)
    for record in tree.glob("*.dist-info"):
        _keep_alone(record, RECORDS)


def matches(tree: Path, rule: Rule) -> Iterator[Path]:
    """The files that a rule removes, where they exist, deepest first."""
    yield from sorted(tree.glob(rule.pattern), reverse=True)


def _keep_alone(record: Path, names: Collection[str]) -> None:
    for path in record.iterdir():
        if path.name not in names:
            _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
