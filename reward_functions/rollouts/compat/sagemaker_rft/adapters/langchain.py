"""httpx clients whose requests carry the rollout: `sagemaker.train.rft.adapters.langchain`.

Their asynchronous client fails at every request, as httpx awaits what its hook returns, and each
writes into the caller's `event_hooks`. These have a hook of either kind, on a copy.
"""

from __future__ import annotations

from typing import Any

import httpx

from reward_functions.rollouts.request.headers import get_inference_headers


def create_http_client(**kwargs: Any) -> httpx.Client:
    """A synchronous client, as LangChain's `http_client` takes it.

    Args:
        kwargs: of `httpx.Client`; `event_hooks` run before ours.
    """
    return httpx.Client(**_hooked(kwargs, _carry))


def create_async_http_client(**kwargs: Any) -> httpx.AsyncClient:
    """An asynchronous client, as LangChain's `http_async_client` takes it.

    Args:
        kwargs: of `httpx.AsyncClient`; `event_hooks` run before ours.
    """
    return httpx.AsyncClient(**_hooked(kwargs, _carry_async))


def create_http_clients(**kwargs: Any) -> tuple[httpx.Client, httpx.AsyncClient]:
    """Both clients, with the same arguments."""
    return create_http_client(**kwargs), create_async_http_client(**kwargs)


def _carry(request: httpx.Request) -> None:
    request.headers.update(get_inference_headers())


async def _carry_async(request: httpx.Request) -> None:
    _carry(request)


def _hooked(kwargs: dict[str, Any], hook: Any) -> dict[str, Any]:
    """The arguments with one request hook more; the caller's dict and lists stay as they are."""
    hooks = {event: list(each) for event, each in (kwargs.get("event_hooks") or {}).items()}
    hooks["request"] = [*hooks.get("request", []), hook]
    return kwargs | {"event_hooks": hooks}
