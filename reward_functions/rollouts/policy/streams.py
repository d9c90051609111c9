"""A stream of a policy call: every step of it runs in one context, which is the stream's own.

A generator runs in the context of whoever takes its next item. What it sets there, such as the
policy call that it is, would be seen by its reader between two items, and cannot be taken back
where another task closes it.
"""

from __future__ import annotations

from contextvars import copy_context
from typing import TYPE_CHECKING, TypeVar

from reward_functions.rollouts.episode.invocation import InContext

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

T = TypeVar("T")


async def in_own_context(items: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    """The items of an asynchronous generator, which runs in a copy of this context."""
    context = copy_context()
    try:
        while True:
            try:
                item = await InContext(anext(items), context)
            except StopAsyncIteration:
                return
            yield item
    finally:
        await InContext(items.aclose(), context)
