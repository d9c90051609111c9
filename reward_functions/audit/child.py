"""A foreign function in an interpreter of its own: it may hang, exit or print, and is ended.

Rows go in and results come out by pipes, framed as `scoring.interpreters` frames them. The child
imports the function with the current folder first on its path. It ends when its parent does. A row
that takes too long, or that ends the child, is unscored; the rows after it go on in another child.
One child scores all rows: a function that keeps a state gives the verdicts that it gives a trainer.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from pickle import PicklingError
from queue import Empty, SimpleQueue
from subprocess import DEVNULL
from threading import Thread
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.audit.conventions import Adapted, code_file
from reward_functions.core import importing
from reward_functions.core.errors import BadSample, ConfigurationError, RewardError
from reward_functions.core.spec import spec_of
from reward_functions.core.types import Score, Scored, Unscored
from reward_functions.scoring import interpreters

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reward_functions.core.types import RewardResult

LONGEST: Final = 500
"""Characters of what an import raised."""


class Decorated(Exception):
    """The function is a reward, and belongs into the process that asks."""


class Answer(NamedTuple):
    """A child's message when the function is imported, and for each unit of rows."""

    name: str = ""
    batch: bool = False
    seconds: float = 0.0
    described: str = ""
    messages: bool = False
    settled: bool = False
    printed: int = 0
    code: str = ""
    results: Sequence[RewardResult] = ()
    breaches: Sequence[str] = ()


class Ended(Exception):
    """The child is gone, or must go. The message says why."""


class Silent(Ended):
    """It said nothing in time."""


class Hung(interpreters.InterpreterDied):
    """A row had no score in time."""


class _Dropped(io.TextIOWrapper):
    """Where prints go; their lines are counted."""

    lines = 0

    def write(self, text: str) -> int:
        """Count the lines of a text."""
        self.lines += text.count("\n")
        return len(text)


def led_to(place: str) -> Any:
    """Import the object of a place such as `my.py:accuracy` or `package.module:rewards.accuracy`.

    Raises:
        ConfigurationError: it leads nowhere, or its import raised; one sentence.
    """
    where, _, attribute = place.rpartition(":")
    first, *rest = attribute.split(".")
    try:
        thing = importing.named(f"{where}:{first}")
        for name in rest:
            thing = getattr(thing, name)
    except FileNotFoundError:
        raise ConfigurationError(f"there is no file {where}") from None
    except Exception as error:  # noqa: BLE001 - of anybody's module
        ours = isinstance(error, RewardError)
        text = str(error) if ours else f"{where}: {type(error).__name__}: {error}"
        raise ConfigurationError(" ".join(text.split())[:LONGEST]) from None
    return thing


def main() -> None:
    """Score what comes until nothing more does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    answers, asked = os.fdopen(os.dup(1), "wb"), os.fdopen(os.dup(0), "rb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    sys.stdin = os.fdopen(os.dup(nowhere))
    sys.stdout = sys.stderr = printed = _Dropped(os.fdopen(os.dup(nowhere), "wb"))
    questions: SimpleQueue[Any] = SimpleQueue()
    Thread(target=interpreters.listen, args=(asked, questions), daemon=True).start()
    sys.path.insert(0, str(Path.cwd()))
    try:
        for answer in _answers(questions, printed):
            interpreters.write_object(answers, answer)
    except RewardError as error:
        interpreters.write_object(answers, str(error))


def _answers(questions: SimpleQueue[Any], printed: _Dropped) -> Iterator[Answer | None]:
    place, messages, settled = questions.get()
    began = perf_counter()
    thing = led_to(place)
    if callable(thing) and spec_of(thing):
        yield None
        return
    adapted, code = Adapted(thing), code_file(thing)
    adapted.messages, adapted.settled = messages, settled or adapted.settled
    seconds = perf_counter() - began

    def reply(results: Sequence[RewardResult] = (), breaches: Sequence[str] = ()) -> Answer:
        name, found = adapted.name, adapted.convention
        now = adapted.described, adapted.messages, adapted.settled, printed.lines, code
        return Answer(name, found.batch, seconds, *now, [*map(_bare, results)], breaches)

    yield reply()
    while (question := questions.get()) is not None:
        samples, alone, probing, adapted.columns = question
        if probing:
            yield reply((), adapted.probe(samples))
        else:
            yield from (reply(adapted.unit(unit)) for unit in adapted.units(samples, alone=alone))


def _bare(result: RewardResult) -> RewardResult:
    """A result without objects of the user's, which the parent may not be able to import."""
    if isinstance(result, Unscored):
        return result
    return Scored(result.id, Score(float(result.score.value), reason=str(result.score.reason)))


class Child:
    """The process that `main` runs in."""

    def __init__(self) -> None:
        self._process = interpreters.begun(__name__, stderr=DEVNULL)
        self._answers: SimpleQueue[Any] = SimpleQueue()
        Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout
        with suppress(EOFError), self._process.stdout as answers:
            while True:
                self._answers.put(interpreters.received(answers))
        self._answers.put(EOFError)

    def ask(self, content: Any) -> None:
        """Send something.

        Raises:
            BadSample: it cannot be written: a row is nested too deeply.
        """
        assert self._process.stdin
        try:
            interpreters.write_object(self._process.stdin, content)
        except OSError:
            return  # it is gone, which its answer says
        except (RecursionError, TypeError, AttributeError, PicklingError) as error:
            raise BadSample(f"the row cannot be sent: {type(error).__name__}") from None

    def answer(self, seconds: float) -> Any:
        """Hear something.

        Raises:
            Ended: it is gone; `Silent`: it says nothing for too long.
            Decorated: it says so.
            ConfigurationError: it says that the function cannot be used.
        """
        try:
            answer = self._answers.get(timeout=seconds)
        except Empty:
            raise Silent(f"it took over {seconds:g} s") from None
        if answer is EOFError:
            raise Ended(f"its interpreter ended with {interpreters.how_ended(self._process)}")
        if answer is None:
            raise Decorated
        if isinstance(answer, str):
            raise ConfigurationError(answer)
        return answer

    def end(self) -> None:
        """End it with all that it began, at any moment."""
        with suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        with suppress(OSError):
            assert self._process.stdin
            self._process.stdin.close()
