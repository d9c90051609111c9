"""Where a policy call goes and with which credential, read when the call is made.

Strands builds an OpenAI client from `client_args` for every request. Handed a mapping that answers
for the rollout of whoever reads it, one shared model serves many rollouts.

| argument | within a rollout |
| --- | --- |
| `default_headers` | the user's, and over them the rollout's, with a span id for each client |
| `base_url` | the user's or `OPENAI_BASE_URL`; else `/v1` of the rollout's endpoint |
| `api_key` | the user's; else a bearer token, where the address may be given one |

Outside any rollout these are the user's arguments and nothing else.
"""

from __future__ import annotations

import asyncio
import inspect
import os
from typing import TYPE_CHECKING, Any

import openai

from reward_functions.rollouts.policy.outgoing import TOKENS, CallHeaders, policy_address
from reward_functions.rollouts.request.context import get_rollout_context
from reward_functions.rollouts.request.contract import read_metadata
from reward_functions.rollouts.request.headers import Live

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from reward_functions.rollouts.policy.outgoing import PolicyAddress
    from reward_functions.rollouts.request.contract import RolloutMetadata


def takes_functions(client: Callable[..., Any] = openai.AsyncOpenAI) -> bool:
    """Whether a client of the openai package calls a function for its key; older ones do not."""
    return "Callable" in str(inspect.signature(client).parameters["api_key"].annotation)


class ClientArgs(Live):
    """The arguments of an OpenAI client, of whichever rollout reads them.

    Args:
        own: of the user; they are copied.
        trusted: endpoints that a payload may name beside AWS's.
    """

    def __init__(self, own: Mapping[str, Any], trusted: Iterable[str] = ()) -> None:
        self._own = dict(own)
        self._trusted = tuple(trusted)

    def _now(self) -> Mapping[str, Any]:
        given = get_rollout_context()
        if given is None:
            return self._own
        base_url, region = self._address(read_metadata(given))
        headers = CallHeaders(self._own.get("default_headers"))
        args = self._own | {"default_headers": headers, "base_url": base_url}
        if region is not None:
            args["api_key"] = _key(region)
        return args

    @property
    def mints(self) -> bool:
        """Whether a call made now carries a token that is minted here."""
        given = get_rollout_context()
        return given is not None and self._address(read_metadata(given)).region is not None

    def _address(self, metadata: RolloutMetadata) -> PolicyAddress:
        """Raises UntrustedEndpoint where the payload names a host that is not a runtime."""
        named = self._own.get("base_url") or os.environ.get("OPENAI_BASE_URL")
        # A key of `OPENAI_API_KEY` is never sent to a runtime.
        key = bool(self._own.get("api_key"))
        own = None if named is None else str(named)
        return policy_address(metadata, own, key=key, trusted=self._trusted)


def _key(region: str) -> str | Callable[[], Awaitable[str]]:
    """A bearer token for each request: minted beside the event loop where the client waits."""

    async def minted() -> str:
        return await asyncio.to_thread(TOKENS.get, region)

    return minted if takes_functions() else TOKENS.get(region)
