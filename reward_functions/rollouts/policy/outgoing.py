"""A policy call as its rollout sends it: its address, its headers, its token, its body.

| the client's request | within a rollout |
| --- | --- |
| POST …/chat/completions | headers with a span id of its own, sampling parameters |
| … to OpenAI's own address | sent to `/v1` of the rollout's endpoint, with a token for a key |
| … to a runtime, without a key | with a token |
| … to any other address | with the user's key |
| POST …/responses | refused: a runtime has chat completions alone |
| anything else | as it is |

OpenAI's own address is what its client calls where nobody names one: a policy that is trained is
not served there. A key of `OPENAI_API_KEY` is no key at a runtime. A body that is no JSON object is
sent as it is, and recorded by nobody.

Where a policy call goes, and whether a bearer token is due there.

| the address | the credential |
| --- | --- |
| the user's own | the user's key; a token if the user has no key and the address is a runtime's |
| none: `/v1` of the rollout's endpoint | likewise |

An endpoint that a payload names is trusted, or refused: see `endpoints`.

Tell a policy call its rollout: headers with a span id of its own, and how to sample.

Bearer tokens of policy calls: one account for all models, looked up anew when a call is refused.

A role's credentials rotate while its rollouts run. Sixty-four calls that are refused at once have
the account looked up once, as its provider may be one that many questions starve.
"""

from __future__ import annotations

import json
import os
import re
import time
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit
from uuid import uuid4

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.episode.episode import SPAN_HEADER
from reward_functions.rollouts.report.credentials import Account, BearerTokens
from reward_functions.rollouts.request.context import get_rollout_context
from reward_functions.rollouts.request.contract import read_metadata
from reward_functions.rollouts.request.endpoints import (
    endpoint_of,
    region_of,
    require_trusted,
    signing_region,
)
from reward_functions.rollouts.request.errors import RolloutError, UntrustedEndpoint
from reward_functions.rollouts.request.headers import InferenceHeaders, LiveParams

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from reward_functions.rollouts.request.contract import RolloutMetadata


class CallHeaders(InferenceHeaders):
    """The headers of one policy call, for a client that reads them once a call.

    Those of `InferenceHeaders`, and `X-Span-Id`: another one each time they are read.
    """

    def _now(self) -> Mapping[str, Any]:
        headers = super()._now()
        if get_rollout_context() is None:
            return headers
        kept = {name: headers[name] for name in headers if name.lower() != SPAN_HEADER.lower()}
        return kept | {SPAN_HEADER: str(uuid4())}


def with_parameters(request: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a chat completion with the sampling parameters of its rollout over its own."""
    given = dict(LiveParams())
    sent = dict(request) | given
    if "max_tokens" in given:
        sent.pop("max_completion_tokens", None)  # the service refuses both
    return sent


PATH: Final = "/v1"
"""Of the runtime's OpenAI-compatible API."""


class PolicyAddress(NamedTuple):
    """Where a call goes.

    Args:
        base_url: without a slash at its end, unless the user wrote one.
        region: that a bearer token is due for; None where the user's key is sent.
    """

    base_url: str
    region: str | None


def policy_address(
    metadata: RolloutMetadata, named: str | None = None, *, key: bool, trusted: Iterable[str] = ()
) -> PolicyAddress:
    """Where a rollout's policy calls go.

    Args:
        metadata: of the rollout.
        named: the user's own address; None for the rollout's.
        key: whether the user has a key for it.
        trusted: endpoints that a payload may name beside AWS's.

    Raises:
        UntrustedEndpoint: the payload names a host that is no runtime, and it is needed.
    """
    trusted = tuple(trusted)
    base_url = named or endpoint_of(metadata, trusted=trusted) + PATH
    if key or not takes_tokens(base_url, trusted):
        return PolicyAddress(base_url, None)
    return PolicyAddress(base_url, signing_region(base_url, region_of(metadata)))


def takes_tokens(base_url: str, trusted: Iterable[str]) -> bool:
    """Whether a token of ours may be sent to an address."""
    try:
        require_trusted(base_url, trusted=trusted)
    except UntrustedEndpoint:
        return False
    return True


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
        request: the body as a mapping; None otherwise.
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
    """A body's JSON object; None otherwise."""
    try:
        read = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None


REFUSED: Final = (401, 403)
"""Statuses of a call whose token is not taken: any more, where credentials have rotated."""


class PolicyTokens:
    """Tokens by region, shared by threads.

    Args:
        clock: seconds, of any origin.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._lock = Lock()
        self._renewed = -1.0
        self._open()

    def _open(self) -> None:
        self._tokens = BearerTokens(Account())

    def get(self, region: str) -> str:
        """A token for a region; it may ask the credentials' provider.

        Raises:
            CredentialsMissing: nothing to sign with.
        """
        return self._tokens.get(region)

    def renew(self, began: float) -> None:
        """Look the account up anew, unless that was done since a refused call began."""
        with self._lock:
            if self._renewed <= began:
                self._open()
                self._renewed = self.clock()


TOKENS: Final = PolicyTokens()
"""Of this process."""
