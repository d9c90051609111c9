"""Credentials in what is stored: replaced where a name says so, and wherever one is quoted.

| what | replaced |
| --- | --- |
| the value of a name of `NAMES`, or of one that ends so, in any spelling (`OPENAI_API_KEY`) | it |
| `["Authorization", "…"]` and `{"name": "Authorization", "value": "…"}` | the value |
| a value that the request, or this process's environment, has under such a name | in every string |

A value is looked for from `SHORTEST` characters on: "EMPTY" is the key of many a local engine. What
no name gives away, and no request or variable holds, is not found: an agent keeps what it returns.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

REDACTED: Final = "[redacted]"

SHORTEST: Final = 16

LONGEST_NAME: Final = 128

TOKENS: Final = (
    *("access", "api", "auth", "bearer", "bot", "csrf", "gh", "github", "gitlab", "hf", "id"),
    *("oauth", "refresh", "security", "session", "slack"),
)
"""Whose tokens are credentials: `eos_token` and `max_tokens` are none."""

NAMES: Final = frozenset(
    {
        *("api_key", "api_keys", "apikey", "apikeys", "authorization", "cookie"),
        *("credential", "credentials", "passphrase", "passwd", "password", "private_key"),
        *("secret", "secret_access_key", "secret_key", "signing_key", "subscription_key"),
        *(f"{whose}_token" for whose in TOKENS),
    }
)
"""In lower case, with underscores between their words."""

_ENDS: Final = tuple(f"_{name}" for name in sorted(NAMES))

_BETWEEN: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[-. ]")

_SCHEME: Final = re.compile(r"(?:Bearer|Basic|Token) +", re.IGNORECASE)


def is_secret(name: Any) -> bool:
    """Whether a name belongs to a credential."""
    if not isinstance(name, str) or len(name) > LONGEST_NAME:
        return False
    plain = _BETWEEN.sub("_", name).lower()
    return plain in NAMES or plain.endswith(_ENDS)


def known_secrets(payload: Any, environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The credentials of a request and of this process, the longest first.

    Args:
        payload: of the request.
        environ: variables of the process.

    Raises:
        RecursionError: the payload is nested too deeply.
    """
    found = {_SCHEME.sub("", value, count=1) for value in (*_secrets(payload), *_secrets(environ))}
    return tuple(sorted((each for each in found if len(each) >= SHORTEST), key=len, reverse=True))


def without_secrets(value: Any, known: Collection[str] = ()) -> Any:
    """The same, with credentials replaced.

    Args:
        value: JSON data; it is not changed.
        known: what is replaced in strings.

    Raises:
        RecursionError: it is nested too deeply.
    """
    if isinstance(value, dict):
        named = is_secret(value.get("name")) or is_secret(value.get("key"))
        return {
            name: REDACTED
            if inner and (is_secret(name) or (named and name == "value"))
            else without_secrets(inner, known)
            for name, inner in value.items()
        }
    if isinstance(value, list | tuple):
        if _is_pair(value):
            return [value[0], REDACTED]
        return [without_secrets(inner, known) for inner in value]
    if isinstance(value, str):
        for secret in known:
            value = value.replace(secret, REDACTED)
    return value


def _is_pair(value: Any) -> bool:
    """Whether it is a header as a list has it."""
    strings = len(value) == 2 and all(isinstance(each, str) for each in value)  # noqa: PLR2004
    return strings and is_secret(value[0])


def _secrets(value: Any) -> Iterator[str]:
    """The strings under names of credentials."""
    if isinstance(value, list):
        if _is_pair(value):
            yield value[1]
        for inner in value:
            yield from _secrets(inner)
    elif hasattr(value, "items"):
        for name, inner in value.items():
            if isinstance(inner, str) and is_secret(name):
                yield inner
            else:
                yield from _secrets(inner)
