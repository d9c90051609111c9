"""AWS's services by both of their names: IAM's, as actions begin, and botocore's, as clients are made.

botocore says of most services how IAM calls them: by the name that requests are signed with, or by
the beginning of the host. `BEHIND` has the names that IAM calls otherwise, and `WITHOUT_CLIENT`
those that it knows and botocore has no client for.

Sources: botocore's service models; the Service Authorization Reference.
"""  # noqa: E501

from __future__ import annotations

import gzip
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

HEAD: Final = 4096
"""Bytes of a service model that hold its metadata. Whole, the models take five seconds to read."""

NAMES: Final = re.compile(rb'"(?:signingName|endpointPrefix)"\s*:\s*"([\w.-]+)"')

BEHIND: Final = {
    "cloudformation": "cloudcontrol",
    "iot": "iot-data",
    "tag": "resourcegroupstaggingapi",
}
"""IAM's name, and a client of which botocore does not say that it goes by this name."""

WITHOUT_CLIENT: Final = frozenset(
    """
    bedrock-mantle codewhisperer ec2messages kafka-cluster private-networks rds-db s3-object-lambda
    s3express sagemaker-mlflow ssmmessages vpc-lattice-svcs
    """.split()
)
"""Names in IAM alone: other clients, drivers and agents ask these."""


@cache
def clients() -> frozenset[str]:
    """Everything that botocore can call, by its names."""
    return frozenset(path.parts[-3] for path in _models())


def known(prefix: str) -> bool:
    """Whether IAM has actions that begin so; the case of letters means nothing to it."""
    return prefix.lower() in prefixes()


@cache
def prefixes() -> frozenset[str]:
    """Every name by which an action may begin, in lower case."""
    return frozenset(_clients_by_prefix()) | WITHOUT_CLIENT


def called_by(actions: Iterable[str]) -> frozenset[str]:
    """The clients, by botocore's names, with which these actions may be asked for.

    Args:
        actions: as IAM writes them, such as `athena:StartQueryExecution`.
    """
    by_prefix = _clients_by_prefix()
    asked = {action.partition(":")[0].lower() for action in actions}
    return frozenset(client for prefix in asked for client in by_prefix.get(prefix, ()))


@cache
def _clients_by_prefix() -> Mapping[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in _models():
        client = path.parts[-3]
        named = (name.decode().lower() for name in NAMES.findall(_head(path)))
        for prefix in {client, *named}:
            found.setdefault(prefix, set()).add(client)
    for prefix, client in BEHIND.items():
        found.setdefault(prefix, set()).add(client)
    return found


def _models() -> Iterable[Path]:
    import botocore  # noqa: PLC0415 - with its data, and only where a stage names services

    return (Path(botocore.__file__).parent / "data").glob("*/*/service-2.json*")


def _head(path: Path) -> bytes:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as model:
        return model.read(HEAD)
