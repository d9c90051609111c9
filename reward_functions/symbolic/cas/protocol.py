"""The messages between the client and its worker: JSON, and nothing that can run code.

A request carries a budget and two trees, a finding three strings. The worker has computed with an
answer that somebody else wrote, so its reply is read as data and checked field by field.
"""

from __future__ import annotations

import json
import struct
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from reward_functions.symbolic.expr.nodes import KINDS, Node
from reward_functions.symbolic.expr.record import values
from reward_functions.symbolic.verdict import Finding, Outcome

if TYPE_CHECKING:
    from socket import socket

FRAME: Final = 1 << 20
"""Bytes of one message. A tree at the limits of the parser takes about a tenth of that."""

REASON: Final = 300
"""Characters of a reason; some name what they found, which may be as long as an answer."""

READY: Final = b"ready"
"""The worker's first message: everything is loaded."""

LOST: Final = b""
"""The reply of a worker that could not try, or was ended from outside: no verdict."""

BLOWN: Final = b"blown"
"""The reply where the fuse blew: the request took its seconds of the processor before its calls."""

LATE: Final = b"late"
"""The reply where the wait is over, and the request is still at work: no verdict."""

_BUG: Final = b"bug "
"""Begins the reply where our own code has a bug, and is followed by the type and the place."""

_LENGTH: Final = struct.Struct("!I")
_BUDGET: Final = struct.Struct("!Qdd")
_KINDS: Final[dict[str, type]] = {kind.__name__: kind for kind in KINDS}
_TUPLE: Final = ""
_FRACTION: Final = "/"


def send(channel: socket, message: bytes) -> None:
    """Write one message. Raises `OSError` when the other side is gone."""
    channel.sendall(_LENGTH.pack(len(message)) + message)


def receive(channel: socket) -> bytes:
    """Read one message. Raises `EOFError` when the other side is gone or breaks the protocol."""
    (length,) = _LENGTH.unpack(_exactly(channel, _LENGTH.size))
    if length > FRAME:
        raise EOFError(f"a message of {length} bytes")
    return _exactly(channel, length)


def _exactly(channel: socket, count: int) -> bytes:
    parts = []
    while count:
        part = channel.recv(count)
        if not part:
            raise EOFError("the other side is gone")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


class Budget(NamedTuple):
    """The limits of a request.

    Attributes:
        calls: of Python functions, whose number is the answer's doing.
        seconds: of processor time, far more than so many calls take: a fuse for what makes none.
        wait: seconds on the wall until the worker gives the request up, which is no verdict.
    """

    calls: int
    seconds: float
    wait: float


def request(budget: Budget, reference: Node, candidate: Node) -> bytes:
    """Two trees to compare, and what that may take."""
    trees = [_packed(reference), _packed(candidate)]
    return _BUDGET.pack(*budget) + json.dumps(trees, separators=(",", ":")).encode()


def budget_of(message: bytes) -> Budget:
    """The budget of a request, which is all of it that the pristine worker reads."""
    return Budget(*_BUDGET.unpack_from(message))


def trees_of(message: bytes) -> tuple[Node, Node]:
    """The trees of a request."""
    reference, candidate = json.loads(message[_BUDGET.size :])
    return _unpacked(reference), _unpacked(candidate)


def reply(finding: Finding) -> bytes:
    """A finding as a message."""
    return json.dumps([finding.outcome.value, finding.rule, finding.reason[:REASON]]).encode()


def bug(kind: str, place: str) -> bytes:
    """A reply that blames our own code: the type of an exception, and the line that raised it."""
    return _BUG + f"{kind} at {place}"[:REASON].encode()


def bug_of(message: bytes) -> str | None:
    """The text of such a reply, in printable ASCII; None for any other reply."""
    if not message.startswith(_BUG):
        return None
    text = message[len(_BUG) :].decode("ascii", "replace")
    return "".join(each if each.isascii() and each.isprintable() else "?" for each in text)


def finding_of(message: bytes) -> Finding:
    """The finding in a reply. Raises `ValueError` for anything else."""
    row = json.loads(message)
    if not isinstance(row, list) or [type(each) for each in row] != [str, str, str]:
        raise ValueError("a reply is three strings")
    return Finding(Outcome(row[0]), row[1], row[2])


def _packed(value: Any) -> Any:
    """A node, or what stands in one, as lists that begin with their kind."""
    match value:
        case Fraction():
            return [_FRACTION, value.numerator, value.denominator]
        case tuple():
            return [_TUPLE, *map(_packed, value)]
        case None | str() | int():
            return value
    return [type(value).__name__, *map(_packed, values(value))]


def _unpacked(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    kind, *parts = value
    if kind == _FRACTION:
        return Fraction(*parts)
    inside = [_unpacked(part) for part in parts]
    return tuple(inside) if kind == _TUPLE else cast("Node", _KINDS[kind](*inside))
