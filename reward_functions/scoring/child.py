"""An interpreter that scores rows beside others of its kind: rows in, results out, by pipes.

It looks the reward up by the name and parameters that its parent was given. Standard
output of a reward's own code goes to standard error, so that it cannot be taken for a result. It
ends when its parent does, in the middle of a row as well; Ctrl-C is the parent's to act on.
"""

from __future__ import annotations

import marshal
import os
import pickle
import signal
import struct
import sys
from queue import SimpleQueue
from threading import Thread
from time import sleep
from typing import IO, TYPE_CHECKING, Any, Final

from reward_functions.scoring.results import exit_message, scored_rows
from reward_functions.scoring.rewards import ready, reward_named
from reward_functions.scoring.rows import Unread

if TYPE_CHECKING:
    from collections.abc import Sequence

LENGTH: Final = struct.Struct(">Q")

GRACE: Final = 2.0
"""Seconds in which an interpreter that is idle ends by itself once its parent is gone."""


def send(stream: IO[bytes], content: Any) -> None:
    """Write one object."""
    text = pickle.dumps(content, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(LENGTH.pack(len(text)) + text)
    stream.flush()


def received(stream: IO[bytes]) -> Any:
    """Read one object, of our own child or parent.

    Raises:
        EOFError: the other side is gone.
    """
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    (length,) = LENGTH.unpack(head)
    text = stream.read(length)
    if len(text) < length:
        raise EOFError
    return pickle.loads(text)  # noqa: S301 - between two processes of this command


def packed(rows: Sequence[Unread]) -> bytes:
    """Rows in one piece: `marshal` writes JSON of any depth at which it is read.

    `pickle` fails at half of it, and takes longer.
    """
    return marshal.dumps([tuple(row) for row in rows])


def unpacked(text: bytes) -> list[Unread]:
    """The rows again."""
    return [Unread(*row) for row in marshal.loads(text)]  # noqa: S302 - of our own parent


def main() -> None:
    """Score what comes until nothing more does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    questions: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_listen, args=(sys.stdin.buffer, questions), daemon=True).start()
    try:
        name, parameters, explain = questions.get()
        spec = reward_named(name)
        reward = ready(spec, parameters)
        while (rows := questions.get()) is not None:
            read = [row.read() for row in unpacked(rows)]
            send(answers, scored_rows(spec, reward, read, explain=explain))
    except SystemExit as error:
        send(answers, exit_message(error))


def _listen(stream: IO[bytes], questions: SimpleQueue[Any]) -> None:
    try:
        while True:
            questions.put(received(stream))
    except EOFError:
        questions.put(None)
        sleep(GRACE)
        os._exit(1)  # it is in the middle of a row that nobody waits for
