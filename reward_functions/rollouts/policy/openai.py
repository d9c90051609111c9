"""OpenAI's SDK: clients whose every call belongs to the rollout that makes it.

A wrapped client is a copy of the user's, over the same connections. `policy.outgoing` makes the
headers of each call. The transport records its outcome, so that streams, retries and typed answers
are OpenAI's own. A refusal of a call, such as a deadline, is raised before it is sent: an exception
of a transport would come as `APIConnectionError`, after two retries.

For what builds a client a call, as Strands does, `ClientArgs` answers for its reader's rollout:

| argument | within a rollout |
| --- | --- |
| `default_headers` | the user's, and over them the rollout's, with a span id for each client |
| `base_url` | the user's or `OPENAI_BASE_URL`; else `/v1` of the rollout's endpoint |
| `api_key` | the user's; else a bearer token, where the address may be given one |

Outside any rollout these are the user's arguments and nothing else.
"""

from __future__ import annotations

from reward_functions.core.extras import require

require("openai", by=__name__.replace(".policy", ""))

import asyncio
import inspect
import os
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

import anyio.to_thread
import httpx
import openai

from reward_functions.rollouts.episode.handler import rollout_handler
from reward_functions.rollouts.policy.calls import UnsupportedClient, require_time
from reward_functions.rollouts.policy.httpx import copied_client
from reward_functions.rollouts.policy.outgoing import (
    NO_KEY,
    TOKENS,
    CallHeaders,
    check_call,
    policy_address,
)
from reward_functions.rollouts.request.context import get_rollout_context
from reward_functions.rollouts.request.contract import read_metadata
from reward_functions.rollouts.request.headers import Live

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from reward_functions.rollouts.policy.outgoing import PolicyAddress
    from reward_functions.rollouts.request.contract import RolloutMetadata


__all__ = [
    "UnsupportedClient",
    "async_rollout_client",
    "rollout_client",
    "rollout_handler",
    "wrap_client",
]

DEFAULT_MODEL: Final = "default"
"""What the runtime calls the policy."""

REFUSED: Final = (openai.AuthenticationError, openai.PermissionDeniedError)
"""What a call raises whose token is not taken: any more, where credentials have rotated."""

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
        PolicyFailure: at a call after the deadline of its episode. UntrustedEndpoint,
            UnsupportedCall, CredentialsMissing: at a call.
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
