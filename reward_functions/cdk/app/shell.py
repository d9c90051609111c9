"""Whether the shell points at the AWS that a stage is for: the real one, or an emulator here.

The variables by which every AWS tool finds an endpoint tell them apart. An emulator's stage belongs
to an account that AWS does not have, and every other one to an account of AWS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.cdk.model.stages import EMULATED_ACCOUNT, BadStage
from reward_functions.core.loopback import is_loopback

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.cdk.model.stages import Stage

ENDPOINT: Final = "AWS_ENDPOINT_URL"
"""And `AWS_ENDPOINT_URL_S3` and its like, for one service each."""

ACCOUNT: Final = "CDK_DEFAULT_ACCOUNT"

IGNORED: Final = "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"
"""By which every AWS tool passes over the variables above."""

AWAY: Final = 'eval "$(reward local down --print-env)"'
TOWARDS: Final = 'eval "$(reward local up --print-env)"'


def check_shell(stage: Stage, variables: Mapping[str, str], choose: str = "-c stage=NAME") -> None:
    """Refuse a stage where its resources would go to the other AWS.

    Args:
        stage: what is synthesised.
        variables: of the shell, as the CDK command line passes them on.
        choose: the option of the command that is typed which names a stage.

    Raises:
        BadStage: the shell points elsewhere. The message says how to turn it.
    """
    ignored = variables.get(IGNORED, "").lower() == "true"
    named = {name: url for name, url in variables.items() if name.startswith(ENDPOINT) and url}
    endpoints = {} if ignored else named
    here = [name for name, url in endpoints.items() if is_loopback(url)]
    if stage.emulated:
        if ENDPOINT not in here or len(here) < len(endpoints):
            raise BadStage(
                f"stage {stage.name!r} is for the local AWS emulator, and this shell points "
                f"elsewhere: {TOWARDS}, or choose another stage with {choose}"
            )
        if variables.get(ACCOUNT, EMULATED_ACCOUNT) != EMULATED_ACCOUNT:
            raise BadStage(
                f"stage {stage.name!r} is for the local AWS emulator, and these credentials are "
                f"those of an account of AWS: {TOWARDS}, or choose another stage with {choose}"
            )
    elif here:
        raise BadStage(
            f"stage {stage.name!r} is for an account of AWS, and {here[0]} points to this "
            f"machine: {AWAY}, or choose an emulated stage with {choose}"
        )
    elif variables.get(ACCOUNT) == EMULATED_ACCOUNT:
        raise BadStage(
            f"stage {stage.name!r} is for an account of AWS, and these credentials are the local "
            f"emulator's: {AWAY}, or choose an emulated stage with {choose}"
        )
