"""A policy call whose request is known only inside the client that makes it.

    with Asking() as asking:           # the client is called; it formats its request, and
        ...                            #   current_asking().ask(request) begins the call
        asking.answering()             # an answer begins: a turn of the episode
        asking.answered(reply)         # the whole of it, in OpenAI's form

An answer that came is an answer, even if the client raises over it: one that does not fit its type
is a turn too.
"""

from __future__ import annotations

from contextlib import ExitStack
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from reward_functions.rollouts.policy.calls import policy_call, require_time

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextvars import Token
    from types import TracebackType

    from reward_functions.rollouts.policy.calls import PolicyCall


@dataclass(slots=True)
class Latest:
    """The call that an agent made last; its framework may throw the answer away."""

    call: PolicyCall | None = None


class Asking:
    """One attempt at a policy call: a block around the client that makes it.

    Attributes:
        request: as it was sent; empty before.
        chunks: of a streamed answer, in OpenAI's form; their reader puts them there.

    Raises:
        PolicyFailure: the episode's window is over.
    """

    def __init__(self) -> None:
        self.request: Mapping[str, Any] = {}
        self.chunks: list[Mapping[str, Any]] = []
        self._stack = ExitStack()
        self._call: PolicyCall | None = None
        self._answered = False
        self._token: Token[Asking | None] | None = None

    def __enter__(self) -> Self:
        require_time()
        self._token = _asking.set(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._token is not None:
            _asking.reset(self._token)
        if self._answered:
            self._stack.close()
        else:
            self._stack.__exit__(kind, error, trace)

    def ask(self, request: Mapping[str, Any] | None) -> PolicyCall:
        """Begin the call, unless it has begun.

        Args:
            request: in OpenAI's form; None where it is not known.
        """
        if self._call is None:
            self.request = request or {}
            self._call = self._stack.enter_context(policy_call(request))
            if (latest := _latest.get()) is not None:
                latest.call = self._call
        return self._call

    def answering(self) -> None:
        """An answer begins: a turn of the episode, once."""
        self.ask(None).answering()

    def answered(self, reply: Mapping[str, Any]) -> None:
        """The whole answer is there, in OpenAI's form; what comes later of it is not read."""
        if not self._answered:
            self.ask(None).answered(reply)
            self._answered = True


def current_asking() -> Asking | None:
    """The attempt that this code is part of; None outside any."""
    return _asking.get()


def latest_call() -> Latest:
    """Where the next policy call of this context, and of copies of it, is to be found."""
    latest = Latest()
    _latest.set(latest)
    return latest


_asking: ContextVar[Asking | None] = ContextVar("policy_asking", default=None)
_latest: ContextVar[Latest | None] = ContextVar("policy_latest", default=None)
