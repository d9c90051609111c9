"""What one row's call returned, or what it raised: an exception of one row ends no batch.

A caller's own client, a proxy or the network may raise anything: `OSError`, urllib3's errors, which
botocore lets through while it reads a body, or a `RuntimeError`. What ends a process or a task
(`KeyboardInterrupt`, `SystemExit`, `asyncio.CancelledError`) is no `Exception` and passes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


def attempted(call: Callable[[], T]) -> T | Exception:
    """What a call returns, or the exception that it raises."""
    try:
        return call()
    except Exception as error:  # noqa: BLE001 - one row's accident is its own
        return error


def code_of(error: Exception) -> str:
    """AWS's code of an error, and the type of any other; a text may quote a request."""
    if isinstance(error, ClientError) and (code := error.response.get("Error", {}).get("Code")):
        return str(code)[:64]
    return type(error).__name__
