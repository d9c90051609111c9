"""cdk-nag's AwsSolutions rules at every synth, and every finding we accept, with its reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aws_cdk import Acknowledgment, Validations

if TYPE_CHECKING:
    from constructs import Construct

PACK: Final = "AwsSolutions"


def check(scope: Construct) -> None:
    """Apply the rules to a construct tree: a finding without an acknowledgement fails the synth."""
    from cdk_nag import AwsSolutionsChecks  # noqa: PLC0415 - a second, and an emulator needs none

    Validations.of(scope).add_plugins(AwsSolutionsChecks(scope))


def acknowledge(construct: Construct, rule: str, reason: str) -> None:
    """Accept one finding on one resource.

    Args:
        construct: the resource.
        rule: such as `S1`, or `IAM5[Resource::…]` for one of several findings.
        reason: why it is right here.
    """
    Validations.of(construct).acknowledge(
        Acknowledgment(id=f"{PACK}::{PACK}-{rule}", reason=reason)
    )
