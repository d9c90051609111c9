"""Where a policy call goes, and whether a bearer token is due there.

| the address | the credential |
| --- | --- |
| the user's own | the user's key; a token where there is none and the address is a runtime's |
| none: `/v1` of the rollout's endpoint | likewise |

An endpoint that a payload names is trusted, or refused: see `endpoints`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.rollouts.request.endpoints import (
    endpoint_of,
    region_of,
    require_trusted,
    signing_region,
)
from reward_functions.rollouts.request.errors import UntrustedEndpoint

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reward_functions.rollouts.request.contract import RolloutMetadata

PATH: Final = "/v1"
"""Of the runtime's OpenAI-compatible API."""


class PolicyAddress(NamedTuple):
    """Where a call goes.

    Args:
        base_url: without a slash at its end, unless the user wrote one.
        region: that a bearer token is due for; None where the user's key is sent.
    """

    base_url: str
    region: str | None


def policy_address(
    metadata: RolloutMetadata, named: str | None = None, *, key: bool, trusted: Iterable[str] = ()
) -> PolicyAddress:
    """Where a rollout's policy calls go.

    Args:
        metadata: of the rollout.
        named: the user's own address; None for the rollout's.
        key: whether the user has a key for it.
        trusted: endpoints that a payload may name beside AWS's.

    Raises:
        UntrustedEndpoint: the payload names a host that is no runtime, and it is needed.
    """
    trusted = tuple(trusted)
    base_url = named or endpoint_of(metadata, trusted=trusted) + PATH
    if key or not takes_tokens(base_url, trusted):
        return PolicyAddress(base_url, None)
    return PolicyAddress(base_url, signing_region(base_url, region_of(metadata)))


def takes_tokens(base_url: str, trusted: Iterable[str]) -> bool:
    """Whether a token of ours may be sent to an address."""
    try:
        require_trusted(base_url, trusted=trusted)
    except UntrustedEndpoint:
        return False
    return True
