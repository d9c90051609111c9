"""Interpreters that score rows, or do shards, side by side, for files of responses alone (ADR 3).

Each is a process of its own with the reward it was told. One that dies is replaced, and the rows it
had are scored once more, one at a time: the row that kills an interpreter harms no other.

Questions go in and answers come out by pipes. `main` is what such a process runs: it looks the
reward up by the name and parameters that its parent was given. Standard output of a reward's own
code goes to standard error, so that it cannot be taken for a result. It ends when its parent does,
in the middle of a row as well; Ctrl-C is the parent's to act on.
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
from threading import Event, Lock, Semaphore, Thread
from time import sleep
from typing import IO, TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError, ScoringError
from reward_functions.core.types import Unscored
from reward_functions.scoring.results import RowResult, exit_message, row_results, scored_rows
from reward_functions.scoring.rewards import ready, reward_named
from reward_functions.scoring.rows import Unread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from reward_functions.core.spec import RewardSpec
    from reward_functions.scoring.rewards import Parameters


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
    """Score rows until no more come."""
    serve_orders(lambda order, _alone: _rows(*order))


def serve_orders(made: Callable[[Any, Event], Callable[[Any], Any]]) -> None:
    """Answer what comes until nothing more does.

    Args:
        made: makes what answers, of the first thing that comes, and of what is set as soon as
            nobody waits any more.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    questions: SimpleQueue[Any] = SimpleQueue()
    alone = Event()
    Thread(target=listen, args=(sys.stdin.buffer, questions, alone), daemon=True).start()
    try:
        do = made(questions.get(), alone)
        while (asked := questions.get()) is not None:
            write_object(answers, do(asked))
    except SystemExit as error:
        write_object(answers, exit_message(error))
        os._exit(1)
    except BrokenPipeError:  # nobody waits any more
        os._exit(1)


def listen(stream: IO[bytes], questions: SimpleQueue[Any], alone: Event | None = None) -> None:
    """Hear what the parent asks; None once it is gone, and then the end of this process.

    Args:
        stream: of the parent.
        questions: where they go.
        alone: set once the parent is gone.
    """
    try:
        while True:
            questions.put(received(stream))
    except EOFError:
        if alone is not None:
            alone.set()
        questions.put(None)
        sleep(GRACE)
        os._exit(1)  # it is in the middle of what nobody waits for


def _rows(name: str, parameters: Parameters, explain: bool) -> Callable[[bytes], list[RowResult]]:  # noqa: FBT001 - it crosses a pipe
    spec = reward_named(name)
    reward = ready(spec, parameters)
    return lambda text: scored_rows(
        spec, reward, [row.read() for row in unpacked(text)], explain=explain
    )


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


DEATHS: Final = 8
"""Of one piece of a file; what is left of it then is not tried."""


class InterpreterDied(ScoringError):
    """The interpreter that scored the row ended before it had a result, twice."""


class Interpreters:
    """Processes that answer; safe to use from any number of threads.

    Args:
        count: of the processes, each begun when it is needed.
        home: the module of this package whose `main` they run.
        order: what each is told first.
    """

    def __init__(self, count: int, home: str, order: Any = None) -> None:
        self._home, self._order = home, order
        self._free: list[_Interpreter] = []
        self._begun: list[_Interpreter] = []
        self._lock, self._room = Lock(), Semaphore(count)
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def hang_up(self) -> None:
        """Let each know that it is alone: it has a moment to write what it has."""
        with self._lock:
            for each in self._begun:
                each.hang_up()

    def close(self) -> None:
        """End all processes; a caller that waits for one gets an `InterpreterDied`."""
        with self._lock:
            self._closed = True
            begun, self._begun = self._begun, []
        for each in begun:
            each.end()

    def asked(self, content: Any) -> Any:
        """The answer of a process.

        Raises:
            EOFError: the process ended before it had an answer; the message says how.
            ConfigurationError: the reward's code asked for the end of the command.
        """
        with self._room:
            mine = self._taken()
            try:
                answer = mine.asked(content)
            except EOFError:
                with self._lock:
                    if self._closed:
                        raise InterpreterDied("the command ends") from None
                    self._begun.remove(mine)
                mine.end()
                raise EOFError(mine.ending()) from None
            self._free.append(mine)
            return answer

    def _taken(self) -> _Interpreter:
        with self._lock:
            if self._closed:
                raise InterpreterDied("the command ends")
            if self._free:
                return self._free.pop()
            begun = _Interpreter(self._home, self._order)
            self._begun.append(begun)
            return begun


class RowInterpreters(Interpreters):
    """Processes that score rows: who scores, as of `Scorer`.

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
        super().__init__(count, "interpreters", (name, parameters, explain))
        self._spec, self._explain = spec, explain

    def __call__(self, rows: Sequence[Unread]) -> list[RowResult]:
        """The results of rows.

        Raises:
            ConfigurationError: the reward's code asked for the end of the command.
        """
        try:
            return self._scored(rows)
        except EOFError:
            return self._one_at_a_time(rows)

    def _scored(self, rows: Sequence[Unread]) -> list[RowResult]:
        found: list[RowResult] = self.asked(packed(rows))
        return found

    def _one_at_a_time(self, rows: Sequence[Unread]) -> list[RowResult]:
        results: list[RowResult] = []
        deaths = 0
        for row in rows:
            if deaths == DEATHS:
                results += self._died(row, "those of the rows before it ended, too often to go on")
                continue
            try:
                results += self._scored([row])
            except EOFError as error:
                deaths += 1
                results += self._died(row, f"it ended with {error}")
        return results

    def _died(self, unread: Unread, why: str) -> list[RowResult]:
        error = InterpreterDied(f"the interpreter that scored it died twice: {why}")
        row = unread.read()
        return row_results(
            self._spec, [row], [Unscored(row.sample.id, error)], explain=self._explain
        )


class _Interpreter:
    """One process.

    Args:
        home: as of `Interpreters`.
        order: as of `Interpreters`.
    """

    def __init__(self, home: str, order: Any) -> None:
        self._process = begun(f"reward_functions.scoring.{home}")
        self._first = [order]

    def asked(self, content: Any) -> Any:
        assert self._process.stdin
        assert self._process.stdout
        try:
            while self._first:
                write_object(self._process.stdin, self._first.pop())
            write_object(self._process.stdin, content)
            answer = received(self._process.stdout)
        except (OSError, ValueError):  # a pipe that broke, or that we closed
            raise EOFError from None
        if isinstance(answer, str):
            raise ConfigurationError(answer)
        return answer

    def ending(self) -> str:
        return how_ended(self._process)

    def hang_up(self) -> None:
        if self._process.stdin:
            with suppress(OSError):  # what it never read
                self._process.stdin.close()

    def end(self) -> None:
        """End it, whatever it is doing: its results are here, or nobody waits for them."""
        self._process.kill()
        self._process.wait()
        self.hang_up()
        if self._process.stdout:
            self._process.stdout.close()
