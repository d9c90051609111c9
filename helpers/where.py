"""Where a notebook runs: the region, the endpoint and the stage. Only `account` calls AWS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import boto3

from reward_functions.tools.deployed.failures import in_words

if TYPE_CHECKING:
    from boto3.session import Session

LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})

LOCAL_STAGE: Final = "local"
"""The stage of `cdk.json` for the local AWS emulator."""


@dataclass(frozen=True, slots=True)
class Where:
    """The AWS that this session's calls reach.

    Args:
        session: boto3's.
        region: the session's; None where none is set.
        endpoint: the address of STS, or the one address of the local AWS emulator.
        stage: the stage of `cdk.json` to use here.
    """

    session: Session
    region: str | None
    endpoint: str
    stage: str

    @property
    def is_local(self) -> bool:
        """Whether the endpoint is the local AWS emulator."""
        return _is_loopback(self.endpoint)

    def account(self) -> str:
        """The account's twelve digits, from STS.

        Raises:
            AwsFailed: STS cannot be reached or refuses the credentials.
        """
        with in_words("reading the account"):
            identity = self.session.client("sts", region_name=self.region).get_caller_identity()
        return str(identity["Account"])

    def __str__(self) -> str:
        """One line for a cell's output."""
        aws = "the local AWS emulator" if self.is_local else "AWS"
        return f"{aws} at {self.endpoint}, region {self.region}, stage {self.stage!r}"


def where_am_i(session: Session | None = None, *, stage: str = "dev") -> Where:
    """Read the session and the environment; nothing is called.

    Args:
        session: boto3's; the environment's own where not given.
        stage: the stage to use in an account. The local AWS emulator has the stage `local`.
    """
    session = session or boto3.Session()
    endpoint: str = session.client("sts").meta.endpoint_url
    here = LOCAL_STAGE if _is_loopback(endpoint) else stage
    return Where(session, session.region_name, endpoint, here)


def _is_loopback(endpoint: str) -> bool:
    return urlsplit(endpoint).hostname in LOOPBACK
