"""The credentials and region of whoever types a command: boto3's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boto3.session import Session


def aws_session() -> Session:
    """One session for a whole command: each would read the SDK's models again, for half a second.

    Raises:
        AwsFailed: AWS_PROFILE names none.
    """
    import boto3

    from reward_functions.tools.deployed.failures import in_words

    with in_words("reading the AWS configuration"):
        return boto3.Session()
