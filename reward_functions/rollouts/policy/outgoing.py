"""A request of an HTTP client, as the rollout that makes it sends it.

| the client's request | within a rollout |
| --- | --- |
| POST …/chat/completions | headers with a span id of its own, sampling parameters |
| … to OpenAI's own address | sent to `/v1` of the rollout's endpoint, with a token for a key |
| … to a runtime, without a key | with a token |
| … to any other address | with the user's key |
| POST …/responses | refused: a runtime has chat completions alone |
| anything else | as it is |

OpenAI's own address is what its client calls where nobody names one: a policy that is trained is
not served there. A key of `OPENAI_API_KEY` is none at a runtime. What a body says that is no JSON
object is sent as it is, and recorded by nobody.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.policy.address import policy_address
from reward_functions.rollouts.policy.headers import CallHeaders, with_parameters
from reward_functions.rollouts.request.context import get_rollout_context
from reward_functions.rollouts.request.contract import read_metadata
from reward_functions.rollouts.request.errors import RolloutError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

COMPLETIONS: Final = "/chat/completions"
RESPONSES: Final = "/responses"

OPENAI: Final = re.compile(r"https://api\.openai\.com(?::443)?/v1(?=/)")
"""Where OpenAI's clients send what nobody has given another address."""

NO_KEY: Final = "a-rollout-brings-its-own"
"""The key of a client that has none: OpenAI's cannot be made without."""


class UnsupportedCall(RolloutError, ConfigurationError, TypeError):
    """A call that the runtime of a job does not serve. The message says which one does."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What is sent.

    Args:
        url: of the request.
        headers: all of them; a token is added where it is due.
        body: of the request.
        region: that a bearer token is due for; None where none is.
        request: the body as a mapping; None where it is none.
    """

    url: str
    headers: dict[str, str]
    body: bytes
    region: str | None
    request: dict[str, Any] | None

    @property
    def has_tools(self) -> bool:
        """Whether the policy is offered tools."""
        return bool((self.request or {}).get("tools"))


def check_call(method: str, url: str, trusted: Iterable[str] = ()) -> str | None:
    """Whether a call may be made in the current rollout, before it is.

    Returns:
        The region that a token is due for where the call goes to the rollout's own address.

    Raises:
        UnsupportedCall: it is of the Responses API.
        UntrustedEndpoint: it goes to the rollout's endpoint, which is no runtime.
    """
    given, path = get_rollout_context(), urlsplit(url).path.rstrip("/")
    if given is None or method.upper() != "POST":
        return None
    if path.endswith(RESPONSES):
        raise UnsupportedCall(
            "the runtime of a job has no Responses API: call chat.completions, or build the "
            "agent's model as OpenAIChatCompletionsModel"
        )
    if not path.endswith(COMPLETIONS) or not OPENAI.match(url):
        return None
    return policy_address(read_metadata(given), key=False, trusted=trusted).region


def outgoing(
    method: str, url: str, headers: Mapping[str, str], body: bytes, trusted: Iterable[str] = ()
) -> Outgoing | None:
    """A request as the current rollout sends it; None outside any, and of what calls no policy.

    Raises:
        UnsupportedCall, UntrustedEndpoint: as `check_call`.
    """
    given = get_rollout_context()
    check_call(method, url, trusted)
    if given is None or method.upper() != "POST":
        return None
    if not urlsplit(url).path.rstrip("/").endswith(COMPLETIONS):
        return None
    own = {name.lower(): value for name, value in headers.items()}
    moved = OPENAI.match(url)
    named = None if moved else url.partition(COMPLETIONS)[0]
    key = not moved and _is_key(own.get("authorization"))
    address = policy_address(read_metadata(given), named, key=key, trusted=trusted)
    if moved:
        url = address.base_url + url[moved.end() :]
        del own["host"]
    if moved or address.region:
        own.pop("authorization", None)
    own |= {"accept-encoding": "identity"}  # a compressed answer could not be recorded
    own.pop("content-length", None)
    request = json_object(body)
    if request is not None:
        request = with_parameters(request)
        body = json.dumps(request, ensure_ascii=False).encode()
    return Outgoing(url, dict(CallHeaders(own)), body, address.region, request)


def _is_key(authorization: str | None) -> bool:
    """Whether a user's key is one for this address: not OpenAI's own, and not a placeholder."""
    given = (authorization or "").removeprefix("Bearer ")
    return bool(given) and given not in {NO_KEY, os.environ.get("OPENAI_API_KEY")}


def json_object(body: bytes | bytearray | str) -> dict[str, Any] | None:
    """A body's JSON object; None where it is none."""
    try:
        read = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None
