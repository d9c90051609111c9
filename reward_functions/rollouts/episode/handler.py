r"""`rollout_handler`: an agent becomes a rollout, whose reward is reported once.

    @rollout_handler                                   @rollout_handler(reward="math")
    def agent(payload, context):                       async def agent(payload):
        ...                                                ...
        return {"reward": 0.5}                             return "the answer is \boxed{4}"

    payload → request → begun, durable → the agent, in its Context → result → reward → reported
                                       └ deadline: the minimum → reported, the agent cancelled

The agent's visible signature stays, and so does its kind: a sync function stays sync, an async one
async, a generator one. The caller gets what the agent returns, and what it raises. `results` has
the table of results, `errors` that of failures, `invocation` the forms of an agent.

| in place of an agent's result | when |
| --- | --- |
| `{"status": "ok", …}` | a smoke test: see `smoke` |
| `{"status": "duplicate", "state": "running" or "reported", …}` | the rollout had begun before |
| `{"status": "timeout", …}` | an async agent was cancelled at its deadline, or any waited past it |

A payload without the ids of a rollout is run, and nothing is reported. One that is no request is
BadRequest before the agent runs.

The episodes of a handler that have not ended, and what becomes of them as their process ends.

A process that is asked to end waits for its episodes, but not for ever. An outage that outlasts it
is a failure of ours, and is reported as one at once. The next process may be hours away, or never
come where the disk dies with the machine. Work that the next process may run again is left to it.
"""

from __future__ import annotations

import inspect
import logging
import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from contextvars import ContextVar
from functools import WRAPPER_UPDATES, update_wrapper
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, cast
from weakref import WeakSet

from reward_functions.rollouts.episode.background import handed_in
from reward_functions.rollouts.episode.invocation import InContext, Steps, agent_of
from reward_functions.rollouts.episode.options import Options
from reward_functions.rollouts.episode.run import LATE, Run
from reward_functions.rollouts.episode.smoke import is_smoke_test, smoke_answer
from reward_functions.rollouts.record.sink import TrajectorySink
from reward_functions.rollouts.report.reporter import reporter as process_reporter
from reward_functions.rollouts.request.clock import steady
from reward_functions.rollouts.request.contract import RolloutRequest, read_request
from reward_functions.rollouts.request.threads import in_thread

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable
    from pathlib import Path

    from reward_functions.rollouts.episode.episode import TurnRewards
    from reward_functions.rollouts.episode.invocation import Call
    from reward_functions.rollouts.episode.options import OnReportFailure
    from reward_functions.rollouts.episode.policy_ping import Ping
    from reward_functions.rollouts.episode.scoring import Scorer
    from reward_functions.rollouts.record.sink import Write
    from reward_functions.rollouts.report.deferred import Deferred
    from reward_functions.rollouts.report.intents import OnFailure
    from reward_functions.rollouts.report.reporter import Reporter
    from reward_functions.rollouts.report.transports import Transport


AT_ONCE: Final = 64
"""Reports that are sent at a time: whoever asks a process to end kills it a few seconds later."""


class Unended:
    """Runs that may not have ended; safe to use from many threads. It keeps none alive."""

    def __init__(self) -> None:
        self._runs: WeakSet[Run] = WeakSet()
        self._lock = Lock()
        self._process = os.getpid()

    def add(self, run: Run) -> None:
        """Know a run that has begun."""
        with self._lock:
            self._of_this_process().add(run)

    def interrupt(self) -> None:
        """End all of them, and return after their reports."""
        with self._lock:
            left = [run for run in self._of_this_process() if not run.ended]
        if left:
            with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="rollout-interrupt") as pool:
                list(pool.map(lambda run: run.interrupt(), left))

    def _of_this_process(self) -> WeakSet[Run]:
        """The runs; those of a parent go on there, whatever becomes of a process it forked."""
        if self._process != os.getpid():
            self._process, self._runs = os.getpid(), WeakSet()
        return self._runs


Answer = dict[str, Any]
"""In place of an agent's result."""

END: Final = object()
"""In place of an item: there is none."""

_admitted: ContextVar[tuple[RolloutHandler, Any, Run] | None] = ContextVar(
    "rollout_admitted", default=None
)
"""A handler, a payload, and its run that has begun; the next call of them goes on with it."""

_log = logging.getLogger("reward_functions.rollouts")


def rollout_handler(
    function: Any = None,
    /,
    *,
    reward: Any = None,
    deferred: Deferred | None = None,
    window: float | None = None,
    margin: float | None = None,
    minimum: float | None = None,
    on_failure: OnFailure | None = None,
    on_report_failure: OnReportFailure = "log",
    ping: bool | Ping = False,
    turn_rewards: TurnRewards = "immediate",
    transport: str | Transport | None = None,
    trusted: Iterable[str] = (),
    trajectories: str | Path | Write | None = None,
    reporter: Reporter | None = None,
) -> Any:
    """Make an agent a rollout handler; with or without arguments.

    Args:
        function: the agent: see `invocation` for its forms.
        reward: scores the response that the agent returns: a reward's name, a declaration, one with
            its parameters bound, a function of a sample, or a `Scorer`. None where the agent
            returns its reward.
        deferred: where the response is written for a deployed reward to score: nothing else is
            reported of an episode that ends. None where the agent reports, or says otherwise by
            `{"reward": "deferred", "response": …}`, which needs the process's setting.
        window: seconds from a request to the end of the trainer's waiting; None for the process's
            setting, as in all that follows.
        margin: seconds before that at which the minimum is reported and the agent cancelled.
        minimum: of the reward's scale; None for that of `reward`, or 0.0.
        on_failure: "failed", or "minimum": what an episode that we could not run is reported as.
        on_report_failure: "log", or "raise" too: where the reward is not a number, cannot be
            scored, or is refused by the service. A report that the service could not take yet is in
            the outbox.
        ping: whether an episode in which no turn was recorded calls the policy once before it is
            reported; or a function of its `RolloutContext` that does so. It needs a model that
            records its calls.
        turn_rewards: "to_go" reports rewards for each turn as returns to go: see `episode`.
        transport: a row of `rollouts.report.transports.WIRES`.
        trusted: endpoints that a payload may name beside AWS's.
        trajectories: where what each episode did is kept: a JSONL file, `s3://BUCKET/FOLDER`, or a
            function of a `Trajectory`. It holds prompts and responses.
        reporter: None for the process's own.

    Returns:
        The agent, of the same kind and signature, called with a payload and perhaps a context. Its
        `rollout` is the `RolloutHandler`, its `__wrapped__` the agent.

    Raises:
        TypeError: no agent: it cannot be called with a payload.
        ConfigurationError: an option has no such value; UnknownReward or BadParameter of `reward`.
    """
    options = Options(
        scorer=None if reward is None else _scorer(reward),
        deferred=deferred,
        minimum=minimum,
        window=window,
        margin=margin,
        on_failure=on_failure,
        on_report_failure=on_report_failure,
        ping=ping,
        turn_rewards=turn_rewards,
        transport=transport,
        trusted=(trusted,) if isinstance(trusted, str) else tuple(trusted),
        sink=None if trajectories is None else TrajectorySink(trajectories),
    )

    def handled(agent: Any) -> Callable[..., Any]:
        return RolloutHandler(agent, options, reporter=reporter).run

    return handled if function is None else handled(function)


def _scorer(reward: Any) -> Scorer:
    from reward_functions.rollouts.episode.scoring import Scorer  # noqa: PLC0415 - only where one scores

    return Scorer.of(reward)


sagemaker_rft_handler = rollout_handler
"""The name of sagemaker.train.rft."""

rft_handler = rollout_handler
"""The name of aws-rft-sdk."""


class RolloutHandler:
    """An agent as a rollout; `rollout_handler` makes one.

    Args:
        function: the agent.
        options: how it reports.
        reporter: None for the process's own, which the first rollout opens.
        clock: seconds since the epoch.

    Attributes:
        agent: the agent, and how it is called.
        counts: how many rollouts ended in which way, by the names of `results`.
        run: takes a payload and perhaps a context, and is of the agent's kind: what
            `rollout_handler` returns.
    """

    def __init__(
        self,
        function: Any,
        options: Options,
        *,
        reporter: Reporter | None = None,
        clock: Callable[[], float] = steady,
    ) -> None:
        self.agent = agent_of(function)
        self.counts: Counter[str] = Counter()
        self._options = options
        self._reporter = reporter
        self._clock = clock
        self._counting = Lock()
        self._unended = Unended()
        self.run = self._wrapper(function)

    def __repr__(self) -> str:
        return f"RolloutHandler({self.agent.name!r})"

    def _wrapper(self, function: Any) -> Callable[..., Any]:
        """A function of the agent's kind, with the agent's signature."""

        def plain(*positional: Any, **named: Any) -> Any:
            return self._called(self.agent.read(positional, named))

        async def coroutine(*positional: Any, **named: Any) -> Any:
            call = self.agent.read(positional, named)
            run = await self._opened(call.payload)
            return (
                run if isinstance(run, dict) else await self._awaited(run, self._start(run, call))
            )

        def generator(*positional: Any, **named: Any) -> Generator[Any, Any, Any]:
            return (yield from self._iterated(self.agent.read(positional, named)))

        async def async_generator(*positional: Any, **named: Any) -> AsyncGenerator[Any, None]:
            call = self.agent.read(positional, named)
            run = await self._opened(call.payload)
            if isinstance(run, dict):
                yield run
                return
            async with aclosing(self._items(run, self._start(run, call))) as items:
                async for item in items:
                    yield item

        forms: dict[str, Any] = {
            "function": plain,
            "coroutine": coroutine,
            "generator": generator,
            "async generator": async_generator,
        }
        own = WRAPPER_UPDATES if inspect.isroutine(function) else ()
        wrapper: Any = update_wrapper(forms[self.agent.shape], function, updated=own)
        wrapper.__name__ = self.agent.name
        wrapper.__signature__ = self.agent.signature
        wrapper.rollout = self
        return cast("Callable[..., Any]", wrapper)

    def admit(self, payload: Any) -> Answer | None:
        """Begin a rollout before it is answered; a call with its payload, in this context, runs it.

        A server that answers at once does so first: an episode that it accepts is durable.

        Returns:
            The answer where the agent does not run.

        Raises:
            BadRequest: the payload is no request.
            UntrustedEndpoint: it names an endpoint that no credential is sent to.
        """
        run = self._open(payload)
        if isinstance(run, dict):
            return run
        _admitted.set((self, payload, run))
        return None

    def interrupt(self) -> None:
        """End the rollouts that have not ended, as their process ends.

        Each is reported as a failure of ours, counted as "interrupted"; with `rerun` one that has
        called no policy is left to the next process. It returns after the reports.
        """
        self._unended.interrupt()

    def _open(self, given: Any) -> Run | Answer:
        """Begin a rollout: its run, or the answer where the agent does not run.

        Raises:
            BadRequest: the payload is no request.
            UntrustedEndpoint: it names an endpoint that no credential is sent to.
        """
        handler, payload, admitted = _admitted.get() or (None, None, None)
        if admitted is not None and handler is self and payload is given and admitted.take():
            return _unless_late(admitted)
        request = given if isinstance(given, RolloutRequest) else read_request(given)
        if is_smoke_test(request):
            self._count("smoke_test")
            return smoke_answer(self.agent.name, self._options.of(self.reporter))
        reporting = None
        if request.metadata.complete:
            reporting = self._options.of(self.reporter)
        else:
            _log.warning("the payload has no jobArn or no rolloutId: nothing is reported")
        handed = handed_in.get()
        began = self._clock() if handed is None else handed
        sink = self._options.sink if reporting is None else reporting.sink
        run = Run(request, reporting, sink, count=self._count, began=began, clock=self._clock)
        state = run.begin()
        if state == "new":
            self._unended.add(run)
            return _unless_late(run)
        self._count("duplicate")
        _log.info("rollout %r is %s already: its agent does not run again", run.name, state)
        return {"status": "duplicate", "state": state, "trajectory_id": run.name}

    async def _opened(self, payload: Any) -> Run | Answer:
        """The same beside the event loop; a run has failed whose caller is cancelled meanwhile."""

        def fail(run: Run | Answer, error: BaseException) -> None:
            if isinstance(run, Run):
                run.fail(error)

        return await in_thread(self._open, payload, abandoned=fail)

    @property
    def reporter(self) -> Reporter:
        """Its reporter: its own, or the process's."""
        return self._reporter or process_reporter()

    def _count(self, event: str) -> None:
        with self._counting:
            self.counts[event] += 1

    def _start(self, run: Run, call: Call) -> Any:
        """Call the agent in its Context: its result, or the coroutine or generator that it is."""
        with run:
            return run.surroundings.run(self.agent.start, call, run.episode)

    def _called(self, call: Call) -> Any:
        """A function's result; what a function returned instead goes on in its own way."""
        run = self._open(call.payload)
        if isinstance(run, dict):
            return run
        result = self._start(run, call)
        with run:
            if inspect.isawaitable(result):
                return self._awaited(run, result)
            if inspect.isgenerator(result):
                return self._stepped(run, result)
            if inspect.isasyncgen(result):
                return self._items(run, result)
            run.finish(result)
        return result

    async def _awaited(self, run: Run, awaitable: Awaitable[Any]) -> Any:
        async with run:
            result = await run.in_time(awaitable)
            if result is LATE:
                return await _timeout(run)
            await in_thread(run.finish, result)
        return result

    def _iterated(self, call: Call) -> Generator[Any, Any, Any]:
        run = self._open(call.payload)
        if isinstance(run, dict):
            yield run
            return None
        return (yield from self._stepped(run, self._start(run, call)))

    def _stepped(self, run: Run, generator: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        """A generator's items; what it returns is its result, or else its last item."""
        with run:
            steps = Steps(generator, run.surroundings)
            returned = yield from steps
            run.finish(steps.last if returned is None else returned)
        return returned

    async def _items(
        self, run: Run, generator: AsyncGenerator[Any, Any]
    ) -> AsyncGenerator[Any, None]:
        """An async generator's items; the last is its result."""
        async with run:
            last = None
            try:
                while True:
                    item = await run.in_time(_next(generator))
                    if item is END:
                        break
                    last = await _timeout(run) if item is LATE else item
                    yield last
                    if item is LATE:
                        return
            finally:
                await InContext(generator.aclose(), run.surroundings)
            await in_thread(run.finish, last)


async def _next(generator: AsyncGenerator[Any, Any]) -> Any:
    """The next item, or `END`."""
    return await anext(generator, END)


async def _timeout(run: Run) -> Answer:
    """The answer of a cancelled agent, behind its report: a server may end with its last answer."""
    await in_thread(run.wait_until_reported)
    return _timed_out(run)


def _unless_late(run: Run) -> Run | Answer:
    """A run; of one that waited for its turn until its time was over, the answer after its report.

    It is reported here: the watchdog's threads may all wait for such reports.
    """
    if not run.late:
        return run
    _log.warning("rollout %r has waited past its deadline: its agent does not run", run.name)
    run.expire()
    run.wait_until_reported()
    return _timed_out(run)


def _timed_out(run: Run) -> Answer:
    return {"status": "timeout", "trajectory_id": run.name}
