"""A client of httpx whose policy calls belong to the rollout that makes them.

The client that is wrapped stays as it is: its copy has its own hooks, headers, cookies, timeouts
and proxies, and shares its connections.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, TypeVar

import httpx

from reward_functions.rollouts.policy.calls import UnsupportedClient
from reward_functions.rollouts.policy.httpx.transport import AsyncRolloutTransport, RolloutTransport

if TYPE_CHECKING:
    from collections.abc import Iterable

_Client = TypeVar("_Client", httpx.Client, httpx.AsyncClient)


def wrap_http_client(
    client: _Client, *, trusted: Iterable[str] = (), recover_tool_calls: bool = False
) -> _Client:
    """A copy of a client whose policy calls carry the rollout that makes them.

    Args:
        client: an `httpx.Client` or an `httpx.AsyncClient`. Its connections are shared: it closes
            them, and the copy does not.
        trusted: endpoints that a payload may name beside AWS's.
        recover_tool_calls: see `RolloutTransport`.

    Raises:
        UnsupportedClient: another client, one of httpx2 too.
    """
    return copied_client(
        client, trusted=trusted, recover_tool_calls=recover_tool_calls, owned=False
    )


def copied_client(
    client: _Client, *, trusted: Iterable[str], recover_tool_calls: bool, owned: bool
) -> _Client:
    """As `wrap_http_client`.

    Args:
        client: see there.
        trusted: likewise.
        recover_tool_calls: likewise.
        owned: whether its connections are closed with the copy.
    """
    if not isinstance(client, httpx.Client | httpx.AsyncClient):
        raise UnsupportedClient(
            "a client of httpx can be wrapped, httpx.Client or httpx.AsyncClient, and not "
            f"{type(client).__module__}.{type(client).__name__}"
        )
    kind: Any = RolloutTransport if isinstance(client, httpx.Client) else AsyncRolloutTransport
    options = {"trusted": tuple(trusted), "recover_tool_calls": recover_tool_calls, "owned": owned}

    def around(transport: Any) -> Any:
        done = transport is None or isinstance(transport, kind)
        return transport if done else kind(transport, **options)

    made = copy.copy(client)
    own = vars(made)
    own["wrapped"] = client  # OpenAI's own closes itself when nobody holds it any more
    own["_transport"] = around(own["_transport"])
    own["_mounts"] = {where: around(each) for where, each in own["_mounts"].items()}
    made.event_hooks = client.event_hooks
    return made


def recording_client(client: Any) -> Any:
    """A copy of a client inside a model that makes policy calls: each attempt is in the record.

    The model begins the call, and this sees what OpenAI's client hides: attempts that failed, each
    with a span id of its own, and the answer as it was sent, with its token ids.

    Args:
        client: of OpenAI's; one that is not of httpx is returned as it is, and its calls are
            recorded as the model reads them.
    """
    if isinstance(client, httpx.Client | httpx.AsyncClient):
        made: Any = wrap_http_client(client)  # type: ignore[type-var]
        return made
    return client


def rollout_http_client(
    *, trusted: Iterable[str] = (), recover_tool_calls: bool = False, **kwargs: Any
) -> httpx.Client:
    """A new client in rollouts.

    Args:
        trusted: endpoints that a payload may name beside AWS's.
        recover_tool_calls: see `RolloutTransport`.
        kwargs: of `httpx.Client`; its hooks are called as ever.
    """
    return copied_client(
        httpx.Client(**kwargs),
        trusted=trusted,
        recover_tool_calls=recover_tool_calls,
        owned=True,
    )


def async_rollout_http_client(
    *, trusted: Iterable[str] = (), recover_tool_calls: bool = False, **kwargs: Any
) -> httpx.AsyncClient:
    """As `rollout_http_client`, of an `httpx.AsyncClient`."""
    return copied_client(
        httpx.AsyncClient(**kwargs),
        trusted=trusted,
        recover_tool_calls=recover_tool_calls,
        owned=True,
    )
