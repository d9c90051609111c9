"""OpenAI's client, in whichever rollout calls it.

A wrapped client is a copy of the user's, over the same connections. What each call carries is said
by `policy.outgoing`, and what becomes of it is recorded by the transport, so that streams, retries
and typed answers are OpenAI's own. What refuses a call, such as a deadline, is raised before it is
sent: an exception of a transport would come as `APIConnectionError`, behind two retries.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import anyio.to_thread
import httpx
import openai

from reward_functions.rollouts.policy.calls import UnsupportedClient, require_time
from reward_functions.rollouts.policy.httpx.client import copied_client
from reward_functions.rollouts.policy.outgoing import NO_KEY, TOKENS, check_call
from reward_functions.rollouts.request.context import get_rollout_context

if TYPE_CHECKING:
    from collections.abc import Iterable

_Client = TypeVar("_Client", openai.OpenAI, openai.AsyncOpenAI)


def wrap_client(
    client: _Client, *, trusted: Iterable[str] = (), recover_tool_calls: bool = False
) -> _Client:
    """A copy of a client whose calls carry the rollout that makes them; the client stays as it is.

    One copy serves any number of rollouts at a time, and outside any it is the user's client. It
    does `chat.completions` in all its forms; within a rollout the Responses API is refused.

    Args:
        client: `OpenAI` or `AsyncOpenAI`, or of a class of your own below them. Where its address
            is OpenAI's own, a call goes to the rollout's runtime, with a token that is minted when
            it is needed; another address keeps the client's key.
        trusted: endpoints that a payload may name beside AWS's.
        recover_tool_calls: whether tool calls that the policy wrote as text become tool calls.

    Raises:
        UnsupportedClient: any other client, Azure's too, or one over httpx2.
        PolicyFailure: at a call behind the deadline of its episode.
        UntrustedEndpoint, UnsupportedCall, CredentialsMissing: at a call.
    """
    if isinstance(client, _InRollouts):
        return client
    return _wrapped(client, trusted, recover_tool_calls=recover_tool_calls, owned=False)


def rollout_client(
    *, trusted: Iterable[str] = (), recover_tool_calls: bool = False, **kwargs: Any
) -> openai.OpenAI:
    """A new `OpenAI` in rollouts, which needs no key: each rollout brings address and token.

    Args:
        trusted: see `wrap_client`.
        recover_tool_calls: likewise.
        kwargs: of `OpenAI`.
    """
    client = openai.OpenAI(**_keyed(kwargs))
    return _wrapped(client, trusted, recover_tool_calls=recover_tool_calls, owned=True)


def async_rollout_client(
    *, trusted: Iterable[str] = (), recover_tool_calls: bool = False, **kwargs: Any
) -> openai.AsyncOpenAI:
    """As `rollout_client`, of an `AsyncOpenAI`."""
    client = openai.AsyncOpenAI(**_keyed(kwargs))
    return _wrapped(client, trusted, recover_tool_calls=recover_tool_calls, owned=True)


def _wrapped(
    client: _Client, trusted: Iterable[str], *, recover_tool_calls: bool, owned: bool
) -> _Client:
    inner = _require_openai(client)
    http = copied_client(inner, trusted=trusted, recover_tool_calls=recover_tool_calls, owned=owned)
    kind: Any = type(client)
    made: _Client = in_rollouts(kind).blank()
    vars(made).update(vars(client.with_options(http_client=http)))
    return made


class _InRollouts:
    """What both clients do before they send anything."""

    @classmethod
    def blank(cls) -> Any:
        """A client without its state."""
        return cls.__new__(cls)

    def _region(self: Any, options: Any) -> str | None:
        """The region that a token is due for; raises what refuses the call."""
        if get_rollout_context() is None:
            return None
        transport = self._client._transport  # noqa: SLF001 - the copy's own, as wrap_http_client made it
        region = check_call(options.method, str(self._prepare_url(options.url)), transport.trusted)
        if options.method.upper() == "POST":
            require_time()
        return region


class _Sync(_InRollouts):
    """An `OpenAI` in rollouts."""

    def _prepare_options(self, options: Any) -> Any:
        region = self._region(options)
        if region is not None:
            TOKENS.get(region)
        return super()._prepare_options(options)  # type: ignore[misc]


class _Async(_InRollouts):
    """An `AsyncOpenAI` in rollouts."""

    async def _prepare_options(self, options: Any) -> Any:
        region = self._region(options)
        if region is not None:
            await anyio.to_thread.run_sync(TOKENS.get, region)
        return await super()._prepare_options(options)  # type: ignore[misc]


@cache
def in_rollouts(kind: type[Any]) -> type[Any]:
    """The class of a client's own class that lives in rollouts."""
    base = _Sync if issubclass(kind, openai.OpenAI) else _Async
    body = {"__module__": __name__, "__doc__": base.__doc__}
    return type(kind.__name__, (base, kind), body)  # the client's name is in its `User-Agent`


def _keyed(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments with a key: a client cannot be made without one."""
    return {"api_key": os.environ.get("OPENAI_API_KEY") or NO_KEY} | kwargs


def _require_openai(client: Any) -> Any:
    """The HTTP client of a client that can be wrapped."""
    kinds = (openai.OpenAI, openai.AsyncOpenAI)
    azure = (openai.AzureOpenAI, openai.AsyncAzureOpenAI)
    inner = getattr(client, "_client", None)
    if not isinstance(client, kinds) or isinstance(client, azure):
        name = type(client).__name__
    elif not isinstance(inner, httpx.Client | httpx.AsyncClient):
        name = f"an {type(client).__name__} over httpx2, as openai 3 makes it (take 'openai<3')"
    else:
        return inner
    raise UnsupportedClient(
        f"wrap_client adapts OpenAI and AsyncOpenAI over httpx, not {name}: the runtime of a job "
        "speaks OpenAI's chat completions only; say wrap_client(OpenAI()), or rollout_client()"
    )
