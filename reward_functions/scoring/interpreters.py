"""Interpreters that score rows side by side, for files of responses alone (ADR 3).

Each is a process of its own with the reward it was told. One that dies is replaced, and the rows it
had are scored once more, one at a time: the row that kills an interpreter harms no other.

Rows go in and results come out by pipes. `main` is what such a process runs: it looks the reward up
by the name and parameters that its parent was given. Standard output of a reward's own code goes to
standard error, so that it cannot be taken for a result. It ends when its parent does, in the middle
of a row as well; Ctrl-C is the parent's to act on.
"""

from __future__ import annotations

import marshal
import os
import pickle
import signal
import struct
import subprocess
import sys
from contextlib import suppress
from queue import SimpleQueue
from signal import Signals
from threading import Lock, Thread
from time import sleep
from typing import IO, TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError, ScoringError
from reward_functions.core.types import Unscored
from reward_functions.scoring.results import RowResult, exit_message, row_results, scored_rows
from reward_functions.scoring.rewards import ready, reward_named
from reward_functions.scoring.rows import Unread

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from reward_functions.core.spec import RewardSpec
    from reward_functions.scoring.rewards import Parameters

    Order = tuple[str, Parameters, bool]


LENGTH: Final = struct.Struct(">Q")

GRACE: Final = 2.0
"""Seconds in which an interpreter that is idle ends by itself once its parent is gone."""


def write_object(stream: IO[bytes], content: Any) -> None:
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
    Thread(target=listen, args=(sys.stdin.buffer, questions), daemon=True).start()
    try:
        name, parameters, explain = questions.get()
        spec = reward_named(name)
        reward = ready(spec, parameters)
        while (rows := questions.get()) is not None:
            read = [row.read() for row in unpacked(rows)]
            write_object(answers, scored_rows(spec, reward, read, explain=explain))
    except SystemExit as error:
        write_object(answers, exit_message(error))


def listen(stream: IO[bytes], questions: SimpleQueue[Any]) -> None:
    """Hear what the parent asks; None once it is gone, and then the end of this process."""
    try:
        while True:
            questions.put(received(stream))
    except EOFError:
        questions.put(None)
        sleep(GRACE)
        os._exit(1)  # it is in the middle of a row that nobody waits for


def begun(module: str, **options: Any) -> subprocess.Popen[bytes]:
    """A process of this interpreter that runs a module's `main`, with what is importable here.

    Args:
        module: of this package.
        options: of `Popen`.
    """
    program = f"import sys; sys.path[:] = sys.argv[1:]; from {module} import main; main()"
    return subprocess.Popen(  # noqa: S603 - our own interpreter, on our own text
        [sys.executable, "-P", "-c", program, *sys.path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # an interrupt at the terminal is not meant for it
        **options,
    )


def how_ended(process: subprocess.Popen[bytes]) -> str:
    """How a process ended: "signal SIGKILL", "status 1"."""
    code = process.wait()
    return f"signal {Signals(-code).name}" if code < 0 else f"status {code}"


PATIENCE: Final = 5.0
"""Seconds that an interpreter may take to end."""

DEATHS: Final = 8
"""Of one piece of a file; what is left of it then is not tried."""


class InterpreterDied(ScoringError):
    """The interpreter that scored the row ended before it had a result, twice."""


class Interpreters:
    """Processes that score rows; safe to use from as many threads as there are processes.

    Args:
        spec: the reward.
        name: by which `reward_named` finds it.
        parameters: as `ready` takes them.
        count: of the processes.
        explain: whether results explain themselves.
    """

    def __init__(
        self, spec: RewardSpec, name: str, parameters: Parameters, count: int, *, explain: bool
    ) -> None:
        self._spec = spec
        self._order: Order = (name, parameters, explain)
        self._explain = explain
        self._free: SimpleQueue[_Interpreter | None] = SimpleQueue()
        self._begun: list[_Interpreter] = []
        self._lock = Lock()
        self._closed = False
        for _ in range(count):
            self._free.put(None)  # begun when it is needed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End all processes; whoever waits for one gets an `InterpreterDied`."""
        with self._lock:
            self._closed = True
            begun, self._begun = self._begun, []
        for each in begun:
            each.end()

    def scored(self, rows: Sequence[Unread]) -> list[RowResult]:
        """The results of rows.

        Raises:
            ConfigurationError: the reward's code asked for the end of the command.
        """
        mine = self._free.get()
        try:
            mine = mine or self._another()
            return mine.scored(rows)
        except EOFError:
            assert mine is not None
            self._forget(mine)
            mine, results = self._one_at_a_time(rows)
            return results
        finally:
            self._free.put(mine if mine and mine.alive() else None)

    def _one_at_a_time(self, rows: Sequence[Unread]) -> tuple[_Interpreter | None, list[RowResult]]:
        results: list[RowResult] = []
        mine: _Interpreter | None = None
        deaths = 0
        for row in rows:
            if deaths == DEATHS:
                results += self._died(row, "those of the rows before it ended, too often to go on")
                continue
            mine = mine or self._another()
            try:
                results += mine.scored([row])
            except EOFError:
                deaths += 1
                self._forget(mine)
                results += self._died(row, f"it ended with {mine.ending()}")
                mine = None
        return mine, results

    def _died(self, unread: Unread, why: str) -> list[RowResult]:
        error = InterpreterDied(f"the interpreter that scored it died twice: {why}")
        row = unread.read()
        return row_results(
            self._spec, [row], [Unscored(row.sample.id, error)], explain=self._explain
        )

    def _another(self) -> _Interpreter:
        with self._lock:
            if self._closed:
                raise InterpreterDied("the command ends")
            begun = _Interpreter(self._order)
            self._begun.append(begun)
            return begun

    def _forget(self, each: _Interpreter) -> None:
        with self._lock:
            if self._closed:
                raise InterpreterDied("the command ends")
            self._begun.remove(each)
        each.end()


class _Interpreter:
    """One process."""

    def __init__(self, order: Order) -> None:
        self._process = begun(__name__)
        self._order: Order | None = order

    def scored(self, rows: Sequence[Unread]) -> list[RowResult]:
        assert self._process.stdin
        assert self._process.stdout
        try:
            if self._order:
                write_object(self._process.stdin, self._order)
                self._order = None
            write_object(self._process.stdin, packed(rows))
            answer = received(self._process.stdout)
        except OSError:
            raise EOFError from None
        if isinstance(answer, str):
            raise ConfigurationError(answer)
        found: list[RowResult] = answer
        return found

    def alive(self) -> bool:
        return self._process.poll() is None

    def ending(self) -> str:
        return how_ended(self._process)

    def end(self) -> None:
        """End it, whatever it is doing: its results are here, or nobody waits for them."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                with suppress(OSError):  # what it never read
                    pipe.close()
