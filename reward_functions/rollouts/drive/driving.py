"""Rollouts as a trainer runs them: rows of a data set, requests out, rewards, a record for each.

| the row has | its prompt is |
| --- | --- |
| the field, by default `prompt`, a string | that string |
| the field, anything else | its JSON: the trainer passes a cell on without reading it |
| no such field, but `messages` | the last user turn: an agent has a system prompt of its own |

The managed trainer sends the prompt alone; the models of sagemaker.train.rft demand the row, as
`instance`, too. Both are sent unless `send` says otherwise, so that a reward finds its reference.

| what the runtime saw | the agent's answer | the record |
| --- | --- | --- |
| a reward | any | `rewarded`, by the agent |
| reported as failed | any | `failed` |
| a response; the run has a scorer | the episode is over, or complete | `rewarded`, by the scorer |
| anything else | an error | `failed`, with its type |
| anything else | one | `lost` |
| anything else | none | `timeout` |

A late report is waited for until the window closes, as the trainer does. The wait is `grace`
seconds where nothing is to come: after an error, where a scorer stands by, or where a function of
this process has returned and the outbox has nothing of it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import sha256
from queue import Empty, SimpleQueue
from secrets import token_hex
from threading import Event, Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core.errors import RewardError
from reward_functions.data.json_rows import BadInput, read_rows
from reward_functions.data.splitting import prompt_of
from reward_functions.rollouts.drive import FIELD, Sent
from reward_functions.rollouts.drive.agents import ENDED, READY, answered
from reward_functions.rollouts.drive.records import (
    MAX_RESPONSE,
    Attempt,
    RolloutRecord,
    Scores,
    scored,
)
from reward_functions.rollouts.request.contract import (
    InferenceParams,
    RolloutMetadata,
    RolloutRequest,
    read_params,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from reward_functions.data.json_rows import Row
    from reward_functions.rollouts.drive.agents import Agent, AgentAnswer, Runtime, SeenRollout
    from reward_functions.rollouts.drive.records import Setup


class Task(NamedTuple):
    """One row.

    Args:
        number: of the row in its file, from 1.
        id: its own, or one by its number.
        prompt: what the trainer would pass.
        content: the row.
    """

    number: int
    id: str
    prompt: str
    content: Mapping[str, Any]


class Tasks(NamedTuple):
    """The rows of a file.

    Args:
        tasks: in order.
        digest: of all of them, with any spacing and order of their names.
    """

    tasks: Sequence[Task]
    digest: str


def read_tasks(file: str, field: str = FIELD) -> Tasks:
    """The rows of a JSONL file or of a JSON array; `-` is standard input.

    Raises:
        BadInput: a row is no object, holds a number that is not finite, or has neither a prompt nor
            a user turn; or there are no rows.
        OSError: the file cannot be read.
    """
    tasks, digest = [], sha256()
    for number, row in enumerate(read_rows(file, whole=True), 1):
        digest.update(_strictly(row).encode() + b"\n")
        tasks.append(Task(number, _identity(row, number), _prompt(row, field), row.content))
    if not tasks:
        raise BadInput(f"{file}: there are no rows")
    return Tasks(tasks, digest.hexdigest()[:16])


def _strictly(row: Row) -> str:
    try:
        return json.dumps(row.content, sort_keys=True, allow_nan=False)
    except ValueError:
        raise BadInput(
            f"{row.where}: a number that is not finite: JSON has none, and no trainer sends one"
        ) from None


def _identity(row: Row, number: int) -> str:
    given = row.content.get("id")
    plain = isinstance(given, str | int) and not isinstance(given, bool)
    return str(given) if plain and given != "" else f"row-{number}"


def _prompt(row: Row, field: str) -> str:
    if field in row.content:
        cell = row.content[field]
        prompt = cell if isinstance(cell, str) else json.dumps(cell)
    else:
        prompt = prompt_of(row.content)
    if not prompt.strip():
        raise BadInput(
            f"{row.where}: no prompt: it has no {field!r} and no user turn among its messages; "
            "name the field with --field"
        )
    return prompt


REGION: Final = "us-west-2"

PAUSE: Final = 1.0
"""Seconds before a busy agent is asked again, where it names none."""

LONGEST_PAUSE: Final = 30.0

STATES: Final = {
    "PENDING": "never completed",
    READY: "completed without a reward",
    "FAILED": "reported as failed",
}
"""What a record without a reward says of its state."""

NEVER_SAMPLED: Final = "never sampled the policy"
NOT_KEPT: Final = "the runtime has not kept its response"


def job_arn() -> str:
    """The ARN of a job that no service knows; another one for each run.

    An agent whose outbox remembers a rollout would not run it again under the same one.
    """
    return f"arn:aws:sagemaker:{REGION}:000000000000:job/AgentRFT/local-{token_hex(6)}"


def rollout_id(setup: Setup, attempt: Attempt) -> str:
    """The id of a rollout: the same in every run of the same data and seed.

    The double's policy and faults draw their random numbers by it.
    """
    whole = json.dumps([setup.data, setup.seed, attempt.row, attempt.sample])
    return sha256(whole.encode()).hexdigest()[:36]


def attempts_for(tasks: Sequence[Task], n: int) -> list[Attempt]:
    """The order of rollouts: every row's group, one after the other, as a trainer sends them."""
    return [Attempt(task.number, sample) for task in tasks for sample in range(n)]


@dataclass(frozen=True, kw_only=True)
class RolloutDriver:
    """Runs one rollout after the other, on many threads.

    Args:
        agent: who acts.
        runtime: what it samples from and reports to.
        tasks: the rows, by their numbers.
        setup: of the run.
        window: seconds from a request to the end of waiting.
        grace: seconds that an agent's own reward is waited for where none is likely to come.
        scorer: scores the responses of an agent that gives no reward; None for none.
        sent: whether a request has the prompt, the row, or both.
        texts: whether records keep the response and the row.
        job: of this run.
        clock: monotonic seconds.
        ending: set when nobody waits any longer.
    """

    agent: Agent
    runtime: Runtime
    tasks: Mapping[int, Task]
    setup: Setup
    window: float = 600.0
    grace: float = 5.0
    scorer: Scores | None = None
    sent: Sent = "both"
    texts: bool = True
    job: str = field(default_factory=job_arn)
    clock: Callable[[], float] = monotonic
    ending: Event = field(default_factory=Event)

    def request(self, attempt: Attempt) -> RolloutRequest:
        """The request of a trainer."""
        task = self.tasks[attempt.row]
        return RolloutRequest(
            prompt="" if self.sent == "instance" else task.prompt,
            instance={} if self.sent == "prompt" else task.content,
            metadata=RolloutMetadata(
                job_arn=self.job,
                trajectory_id=rollout_id(self.setup, attempt),
                endpoint=self.runtime.endpoint,
                region=REGION,
            ),
            inference_params=read_params(dict(self.setup.sampling)),
        )

    def run(self, attempt: Attempt) -> RolloutRecord:
        """One rollout, from its request to its record.

        Raises:
            ConfigurationError: the runtime cannot be asked.
        """
        began = self.clock()
        request = self.request(attempt)
        rollout = request.metadata.trajectory_id
        self.runtime.register(self.job, rollout)
        answer = self._asked(request, began + self.window)
        seen = self._awaited(request, answer, began + self.window)
        self.agent.release(request)
        task = self.tasks[attempt.row]
        fields = self._judged(task, answer, seen)
        response = None if seen.response is None else seen.response[:MAX_RESPONSE]
        record = RolloutRecord(
            row=attempt.row,
            id=task.id,
            sample=attempt.sample,
            rollout=rollout,
            turns=seen.turns,
            tool_calls=seen.tool_calls,
            seconds=round(self.clock() - began, 3),
            duplicates=seen.duplicates,
            response=response,
            content=task.content,
            setup=self.setup,
            **fields,
        )
        return record if self.texts else record.without_texts()

    def _asked(self, request: RolloutRequest, end: float) -> AgentAnswer:
        """The agent's answer; a busy one is asked again while the window is open."""
        while True:
            answer = answered(self.agent, request, max(0.0, end - self.clock()))
            pause = min(answer.wait or PAUSE, LONGEST_PAUSE)
            busy = answer.kind == "busy" and self.clock() + pause < end
            if not busy or self.ending.wait(pause):
                return answer

    def _awaited(self, request: RolloutRequest, answer: AgentAnswer, end: float) -> SeenRollout:
        """What the runtime knows once nothing more is waited for."""
        rollout = request.metadata.trajectory_id
        states = ENDED if self.scorer is None else ENDED | {READY}
        if self._hopeful(request, answer):
            seen = self._wait(rollout, states, end)
            if seen.state != READY or self.scorer is None:
                return seen
        return self._wait(rollout, ENDED, min(end, self.clock() + self.grace))

    def _hopeful(self, request: RolloutRequest, answer: AgentAnswer) -> bool:
        """Whether a reward is likely to come behind an answer."""
        if answer.kind == "over":
            return self.scorer is None and self.agent.reporting(request)
        return answer.kind in {"working", "silent"}

    def _wait(self, rollout: str, states: Iterable[str], end: float) -> SeenRollout:
        left = max(0.0, end - self.clock())
        return self.runtime.wait(self.job, rollout, frozenset(states), left)

    def _judged(self, task: Task, answer: AgentAnswer, seen: SeenRollout) -> dict[str, Any]:
        """The fields of the table of this module."""
        if seen.state == "REWARD_RECEIVED" and seen.rewards:
            return {"status": "rewarded", "rewards": seen.rewards, "scored_by": "agent"}
        if seen.state == "FAILED":
            reason = answer.error if answer.kind == "error" else STATES["FAILED"]
            return {"status": "failed", "error": reason}
        ended = answer.kind == "over" or seen.state == READY
        if self.scorer is not None and ended and seen.turns:
            if seen.response is None:
                return {"status": "failed", "error": NOT_KEPT, "scored_by": "scorer"}
            return scored(self.scorer, task.content, seen.response)
        if answer.kind in {"error", "busy"}:
            return {"status": "failed", "error": answer.error}
        sampled = seen.turns or seen.state != "PENDING"
        reason = STATES.get(seen.state, seen.state) if sampled else NEVER_SAMPLED
        silent = answer.kind == "silent"
        return {"status": "timeout" if silent else "lost", "error": reason}


def drive(
    driver: RolloutDriver, attempts: Iterable[Attempt], concurrency: int
) -> Iterator[RolloutRecord]:
    """The records, as the rollouts end.

    A reader who stops, by Ctrl-C too, ends the run: threads that still wait are given up, and end
    with the process.

    Args:
        driver: of the run.
        attempts: to run.
        concurrency: rollouts at once.

    Raises:
        ConfigurationError, OSError: of the runtime; what was running is not recorded.
    """
    left, lock = iter(attempts), Lock()
    results: SimpleQueue[RolloutRecord | RewardError | OSError | None] = SimpleQueue()

    def work() -> None:
        try:
            while not driver.ending.is_set():
                with lock:
                    attempt = next(left, None)
                if attempt is None:
                    return
                results.put(driver.run(attempt))
        except (RewardError, OSError) as error:
            results.put(error)
        finally:
            results.put(None)

    for _ in range(concurrency):
        Thread(target=work, name="rollouts", daemon=True).start()
    working = concurrency
    try:
        while working:
            try:
                result = results.get(timeout=1.0)
            except Empty:  # a signal that comes just before an endless wait does not wake it
                continue
            if result is None:
                working -= 1
            elif isinstance(result, Exception):
                raise result
            else:
                yield result
    finally:
        driver.ending.set()


def sampling_of(
    temperature: float | None, top_p: float | None, max_tokens: int | None
) -> dict[str, float]:
    """The parameters that a trainer sends, as it writes them."""
    return dict(InferenceParams(temperature=temperature, top_p=top_p, max_tokens=max_tokens).wire())
