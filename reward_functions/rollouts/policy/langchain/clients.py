"""The OpenAI clients of one call: those of the chat model, for the rollout that makes it.

A chat model makes its clients once. A call of a rollout has copies of them with its headers,
the address of its runtime, and a bearer token where one is due. Those that wait share the model's
connections. Those that are awaited have connections of their own, unless the user keeps a client:
LangChain shares one among all event loops of a process, and connections of a loop that has ended
fail in the next one.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from contextlib import AsyncExitStack, asynccontextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import openai
from langchain_openai.chat_models.base import global_ssl_context

from reward_functions.rollouts.policy.httpx.client import recording_client
from reward_functions.rollouts.policy.openai.client_args import ClientArgs
from reward_functions.rollouts.policy.outgoing import TOKENS
from reward_functions.rollouts.request.context import get_rollout_context
from reward_functions.rollouts.request.contract import read_metadata
from reward_functions.rollouts.request.endpoints import region_of, signing_region

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

UNUSED_KEY: Final = "minted-when-it-is-needed"
"""In the place of a key, where there is none: a chat model cannot be made without."""


class CallClients:
    """What the clients of the current rollout's calls are made with.

    Args:
        model: a `ChatOpenAI`.
        trusted: endpoints that a payload may name beside AWS's.

    Raises:
        UntrustedEndpoint: the payload names a host that is not a runtime.
    """

    def __init__(self, model: Any, trusted: Iterable[str]) -> None:
        own = {"default_headers": model.default_headers, "base_url": model.openai_api_base}
        args = ClientArgs(own | {"api_key": has_own_key(model)}, trusted)
        self._model = model
        self.mints = args.mints
        self._options = {
            "base_url": args["base_url"],
            "set_default_headers": dict(args["default_headers"]),
        }
        known = region_of(read_metadata(get_rollout_context())) if self.mints else ""
        self._region = signing_region(str(args["base_url"]), known)

    def blocking(self) -> dict[str, Any]:
        """The fields of a model that calls and waits."""
        if self._model.root_client is None:
            return {}
        token = TOKENS.get(self._region) if self.mints else None
        own = self._model.root_client
        http = recording_client(own._client)  # noqa: SLF001 - a copy over the same connections
        root = own.with_options(**self._options, api_key=token, http_client=http)
        return {"root_client": root, "client": root.chat.completions}

    @asynccontextmanager
    async def waiting(self) -> AsyncIterator[dict[str, Any]]:
        """The fields of a model that awaits its answers; a token is minted beside the loop."""
        token = await asyncio.to_thread(TOKENS.get, self._region) if self.mints else None
        async with AsyncExitStack() as closing:
            http = self._model.http_async_client
            if http is None:
                http = openai.DefaultAsyncHttpxClient(
                    verify=_trust(os.environ.get("SSL_CERT_FILE"))
                )
                await closing.enter_async_context(http)
            root = self._model.root_async_client.with_options(
                **self._options, api_key=token, http_client=recording_client(http)
            )
            yield {"root_async_client": root, "async_client": root.chat.completions}


@lru_cache(1)
def _trust(file: str | None) -> ssl.SSLContext:
    """Whom clients trust, as httpx reads it: 23 of a client's 24 milliseconds do, if each does."""
    return ssl.create_default_context(cafile=file) if file else global_ssl_context


def has_own_key(model: Any) -> bool:
    """Whether a key was handed to a model: that of `OPENAI_API_KEY` is another service's."""
    key = model.openai_api_key
    if key is None or not hasattr(key, "get_secret_value"):
        return key is not None
    return key.get_secret_value() not in {"", UNUSED_KEY, os.environ.get("OPENAI_API_KEY")}
