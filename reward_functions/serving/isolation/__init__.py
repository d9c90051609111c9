"""A batch scored by other processes, so that a sample which blocks costs its own score alone.

    this process            a child, forked before the reward has ever run
    the samples        →    one after another, or in the threads that the reward needs
    what has begun     ←
    what it earned     ←

The child serves batch after batch: what the reward keeps between them lives there. This process
runs none of the reward's code, so nothing the reward does keeps it from answering in time, be it a
sleep, a loop, or C code that holds the interpreter's lock.

- A child in which nothing begins or ends for a tenth of the time left, or twice the longest sample
  so far, is *put aside*. It goes on at the lowest priority, and a fresh child scores the samples
  that come after. When it does answer, the answer counts, and the child is ended.
- Where several samples had begun, in threads, each begins again alone: one may have held up others.
- When a child ends, the sample that it had begun is Unscored with `ProcessEnded`, and a fresh child
  scores those after it.
- At the deadline what had begun is Unscored with `SampleBlocked`, the rest with `DeadlineReached`,
  and each child that is at work is killed.

So a slow sample loses nothing, and each of several that block costs the others a tenth of their
time. `forked.py` has a child process, and the messages to and from it; `service.py` what it does.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.batch import blocked, not_reached, threads_of
from reward_functions.core.errors import DeadlineReached, ProcessEnded
from reward_functions.core.types import RewardResult, Sample, Unscored
from reward_functions.serving.isolation.forked import ChildEnded, Forked, waited
from reward_functions.serving.isolation.service import Answer, Batch, Begun, Finished, service

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reward_functions.core.spec import RewardFunction

PATIENCE: Final = 0.1
"""The share of the time left in which a child at work has to begin or to end a sample."""

FIRST_PATIENCE: Final = 1 / 3
"""The share of the time left in which a child has to begin its first sample. No sample can be the
cause of that: the machine is busy, or what the reward left behind holds the interpreter's lock."""

SLOW: Final = 2.0
"""A child has this many times as long as the longest sample of the batch that has answered, unless
that is more than `FIRST_PATIENCE`. Samples that all compute for seconds would only share a
processor when they are put aside, and none would be in time."""

LEAST_PATIENCE: Final = 0.25
"""Seconds of either at least: a machine that is busy with others takes tenths of a second."""

MAX_ASIDE: Final = 8
"""Children that are put aside at once, each with its memory. Where one more is, the one that has
had the longest time is killed: by then half of the batch's time is over."""

MAX_FALSE_STARTS: Final = 3
"""Children in a row that end before they have begun a sample; the next would end too."""

SENDING: Final = 5.0
"""Seconds that a child may take to read a request of 6 MB."""

LAST_WORD: Final = 0.1
"""Seconds that a child may take to say that it has finished, when all its answers are there."""


class Isolation:
    """Scores the batches of one deployment in children.

    Args:
        reward: bound to its parameters.
        calls: functions without arguments that a child can be asked to run, by name. They return
            what can be pickled, and raise a `RewardError`.
        begin: what a child does before its first request.
    """

    def __init__(
        self,
        reward: RewardFunction,
        *,
        calls: Mapping[str, Callable[[], Any]] | None = None,
        begin: Callable[[], object] | None = None,
    ) -> None:
        self._reward = reward
        self._service = service(reward, calls or {}, begin)
        self._idle: Forked | None = None
        self._startup = 0.0

    def score(
        self,
        samples: Sequence[Sample | Unscored],
        *,
        deadline: float,
        workers: int | None = None,
    ) -> list[RewardResult]:
        """As `score_batch` does, by the deadline for every sample.

        Args:
            samples: see `score_batch`.
            deadline: the reading of `time.monotonic()` at which this returns.
            workers: threads; what the reward declares where None.

        Raises:
            OSError: no process can be started; nothing was scored.
        """
        threads = threads_of(self._reward, len(samples), workers)
        run = Run(self._fresh, samples, deadline, threads, self._startup)
        child = self._taken()
        try:
            return run.results(child)
        finally:
            self._startup = run.startup
            self._keep(run.end())

    def call(self, name: str, *, deadline: float | None = None) -> Any:
        """The result of a function of `calls` in the child that scores the next batch.

        Args:
            name: of the function.
            deadline: the reading of `time.monotonic()` at which this returns; None for none.

        Raises:
            DeadlineReached: it did not return in time.
            ProcessEnded: the child ended.
            RewardError: as the function does.
            OSError: no process can be started.
        """
        child = self._taken() or self._fresh()
        began = monotonic()
        try:
            child.ask(name, seconds=SENDING)
            finished = _finished(child, deadline)
        except ChildEnded as ended:
            raise ProcessEnded(f"the process of the reward ended: {ended}") from None
        if finished is None:
            child.end()
            raise DeadlineReached("the reward did not return before the deadline")
        self._startup = self._startup or monotonic() - began
        self._keep(child)
        if finished.error is not None:
            raise finished.error.error()
        return finished.returned

    def end(self) -> None:
        """End the child that waits for a batch, if there is one; the next batch makes another."""
        child, self._idle = self._idle, None
        if child is not None:
            child.end()

    def _fresh(self) -> Forked:
        return Forked(self._service)

    def _taken(self) -> Forked | None:
        """The child that waits, which nobody else has until it is kept again."""
        child, self._idle = self._idle, None
        try:
            if child is not None:
                child.messages()
        except ChildEnded:
            return None
        return child

    def _keep(self, child: Forked | None) -> None:
        """Have an idle child wait for the next batch."""
        if child is not None and self._idle is not None:
            child.end()
        elif child is not None:
            self._idle = child


def _finished(child: Forked, deadline: float | None) -> Finished | None:
    """The end of a call; None where it does not come in time."""
    while True:
        left = None if deadline is None else deadline - monotonic()
        if left is not None and left <= 0:
            return None
        waited([child], left)
        for message in child.messages():
            if isinstance(message, Finished):
                return message


class _Task:
    """A child at work on samples."""

    def __init__(self, child: Forked, places: Sequence[int], *, fresh: bool, alone: bool) -> None:
        self.child = child
        self.places = places
        self.alone = alone
        self.began = monotonic()
        self.until = 0.0
        self.fresh = fresh
        self.seen: set[int] = set()
        self.running: dict[int, float] = {}
        """The reading of `time.monotonic()` at which each began, by its place."""
        self.idle = False


class Run:
    """One batch.

    Args:
        fork: makes a fresh child.
        samples: of the batch; an `Unscored` is its own result.
        deadline: the reading of `time.monotonic()` at which the batch is over.
        threads: in which a child scores.
        startup: seconds that a fresh child takes until its first answer, beyond all patience.
    """

    def __init__(
        self,
        fork: Callable[[], Forked],
        samples: Sequence[Sample | Unscored],
        deadline: float,
        threads: int,
        startup: float,
    ) -> None:
        self.startup = startup
        self._fork = fork
        self._samples = samples
        self._deadline = deadline
        self._threads = threads
        self._answers: dict[int, RewardResult] = {
            place: each for place, each in enumerate(samples) if isinstance(each, Unscored)
        }
        self._waiting = [place for place in range(len(samples)) if place not in self._answers]
        self._alone: list[int] = []
        self._begun: set[int] = set()
        self._main: _Task | None = None
        self._aside: list[_Task] = []
        self._false_starts = 0
        self._longest = 0.0

    def results(self, child: Forked | None) -> list[RewardResult]:
        """One result per sample, in order, by the deadline.

        Args:
            child: an idle one to begin with; a fresh one is made where None.

        Raises:
            OSError: no process can be started; nothing was scored.
        """
        if self._waiting:
            self._give(child or self._fork(), fresh=child is None)
        elif child is not None:
            self._main = _Task(child, (), fresh=False, alone=False)
            self._main.idle = True
        while len(self._answers) < len(self._samples) and monotonic() < self._deadline:
            self._employ()
            if not self._at_work():
                break
            self._listen(self._deadline)
            if (main := self._busy()) and monotonic() >= main.until:
                self._put_aside(main)
        return [
            self._answers[place] if place in self._answers else self._missing(place)
            for place in range(len(self._samples))
        ]

    def end(self) -> Forked | None:
        """Kill each child that is at work; the one that has finished is returned."""
        while self._aside:
            self._aside.pop().child.end()
        main, until = self._main, monotonic() + LAST_WORD
        while main and not (main.idle or main.running) and monotonic() < until:
            self._listen(until)
            main = self._main
        if main is None:
            return None
        if not main.idle:
            main.child.end()
            return None
        return main.child

    def _missing(self, place: int) -> RewardResult:
        sample = self._samples[place]
        if isinstance(sample, Unscored):
            return sample
        return blocked(sample) if place in self._begun else not_reached(sample)

    def _open(self, places: Sequence[int]) -> list[int]:
        return [place for place in places if place not in self._answers]

    def _employ(self) -> None:
        """Have a child at work while there are samples that none has begun."""
        main = self._main
        if main is not None and not main.idle:
            return
        self._waiting, self._alone = self._open(self._waiting), self._open(self._alone)
        if not (self._waiting or self._alone):
            return
        try:
            self._give(main.child if main else self._fork(), fresh=main is None)
        except OSError:
            self._give_up("no process for the reward can be started")

    def _give(self, child: Forked, *, fresh: bool) -> None:
        """Ask a child for all that waits; what is to be scored alone comes last."""
        alone = not self._waiting
        if alone:
            places, self._alone, threads = self._alone, [], 1
        else:
            places, self._waiting, threads = self._waiting, [], self._threads
        self._main = task = _Task(child, places, fresh=fresh, alone=alone)
        self._extend(task)
        seconds = min(SENDING, max(LEAST_PATIENCE, self._deadline - monotonic()))
        try:
            child.ask(Batch(self._samples, places, self._deadline, threads), seconds=seconds)
        except ChildEnded as ended:
            self._ended(task, str(ended))

    def _busy(self) -> _Task | None:
        """The task that is not put aside, unless it is done."""
        return None if self._main is None or self._main.idle else self._main

    def _at_work(self) -> list[_Task]:
        main = self._busy()
        return [*self._aside, main] if main else [*self._aside]

    def _listen(self, until: float) -> None:
        """Wait for the children until then at most, and take in what they say."""
        tasks, main = self._at_work(), self._busy()
        until = min(until, main.until) if main else until
        waited([task.child for task in tasks], until - monotonic())
        for task in tasks:
            try:
                messages = task.child.messages()
            except ChildEnded as ended:
                self._ended(task, str(ended))
                continue
            for message in messages:
                self._take(task, message)
            if messages:
                self._extend(task)
            if task in self._aside and not self._open([*task.running]):
                self._aside.remove(task)
                task.child.end()

    def _take(self, task: _Task, message: Begun | Answer | Finished) -> None:
        if isinstance(message, Begun):
            self._begin(task, message.place)
        elif isinstance(message, Answer):
            place = message.place
            self._longest = max(self._longest, monotonic() - task.running.pop(place))
            self._answers.setdefault(place, message.result(self._samples[place]))
            if message.then is not None:
                self._begin(task, message.then)
            if task.fresh:
                task.fresh = False
                taken = monotonic() - task.began
                self.startup = min(self.startup or taken, taken)
        else:
            task.idle = True

    def _begin(self, task: _Task, place: int) -> None:
        task.seen.add(place)
        task.running[place] = monotonic()
        self._begun.add(place)
        self._false_starts = 0

    def _extend(self, task: _Task) -> None:
        """Grant a child time until it has to say something again."""
        now = monotonic()
        left = self._deadline - now
        usual = min(max(PATIENCE * left, SLOW * self._longest), FIRST_PATIENCE * left)
        patience = max(LEAST_PATIENCE, usual if task.seen else FIRST_PATIENCE * left)
        task.until = now + patience + (self.startup if task.fresh else 0.0)

    def _put_aside(self, task: _Task) -> None:
        """Go on without a child that says nothing."""
        self._main = None
        running = self._open([*task.running])
        self._return(task, running)
        if not running:
            task.child.end()
            return
        task.child.defer()
        self._aside.append(task)
        if len(self._aside) > MAX_ASIDE:
            self._aside.pop(0).child.end()

    def _ended(self, task: _Task, how: str) -> None:
        """A child is gone."""
        running = self._open([*task.running])
        if len(running) == 1:
            error = ProcessEnded(f"the process of the reward ended: {how}")
            self._answers[running[0]] = Unscored(self._samples[running[0]].id, error)
        if task in self._aside:
            self._aside.remove(task)
            return
        self._main = None
        self._return(task, running)
        self._false_starts += not task.seen
        if self._false_starts > MAX_FALSE_STARTS:
            self._give_up(f"the process of the reward does not start: {how}")

    def _return(self, task: _Task, running: Sequence[int]) -> None:
        """What a child has not begun waits for another; of several begun, each begins again."""
        if len(running) > 1:
            self._alone += running
        rest = self._open([place for place in task.places if place not in task.seen])
        if task.alone:
            self._alone += rest
        else:
            self._waiting += rest

    def _give_up(self, why: str) -> None:
        for place in (*self._waiting, *self._alone):
            error = ProcessEnded(why)
            self._answers.setdefault(place, Unscored(self._samples[place].id, error))
