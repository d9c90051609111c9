"""The outcome of each rollout: a line of JSON for each, on the disk as soon as it ends.

| status | meaning |
| --- | --- |
| `rewarded` | a reward reached the trainer, or the pinned scorer of this run gave it |
| `failed` | the agent reported it as failed, or could not be asked, or could not be scored |
| `lost` | the agent answered, and no reward came before the window closed: never a reward of 0.0 |
| `timeout` | nothing came before the window closed |

A line holds all that it depends on, so that a file can be resumed, compared and scored again. That
is the data's digest, the size of a group, the seed, the agent, the policy, and the pin of the
reward. `reward score NAME FILE` scores the responses again, and `reward compare` says what flips.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field, fields, replace
from math import fsum, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, Self, get_args

from reward_functions.core.errors import ConfigurationError, RewardError
from reward_functions.data.atomic import AppendedLines
from reward_functions.rollouts.request.errors import ScorerMismatch

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence


Status = Literal["rewarded", "failed", "lost", "timeout"]
STATUSES: Final[tuple[Status, ...]] = get_args(Status)

MAX_RESPONSE: Final = 1_000_000
"""Characters of a response that are kept: more than any policy writes in one turn."""


LARGEST: Final = 1e100
"""No reward counts as larger, in size: what is would overflow a mean."""


class Attempt(NamedTuple):
    """One rollout of a row's group.

    Args:
        row: number of the row, from 1.
        sample: number in the group, from 0.
    """

    row: int
    sample: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """All that a record depends on beside its row.

    Args:
        data: digest of the rows.
        n: rollouts of each row: the size of a group.
        agent: as it was named.
        policy: likewise.
        seed: of the policy's and the faults' random numbers.
        sampling: the parameters that the trainer sends, as it writes them.
        scorer: the pin of the reward, as JSON; None where the agent rewards itself.
    """

    data: str
    n: int
    agent: str
    policy: str = ""
    seed: int = 0
    sampling: Mapping[str, float] = field(default_factory=dict)
    scorer: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutRecord:
    """One rollout that has ended.

    Args:
        row: number of its row, from 1.
        id: of the row.
        sample: number in the group, from 0.
        rollout: the id that the agent received.
        status: what became of it.
        rewards: one, or one a turn; empty without one.
        scored_by: "agent", or "scorer" where it gave the reward or failed to; "" where nobody did.
        turns: policy calls that the runtime recorded.
        tool_calls: that the policy asked for.
        seconds: from the request to its end.
        error: type of what went wrong, such as "HTTP 500", and for a function of the run's process
            its line; "" where nothing did.
        duplicates: reports that came again; the runtime counts a report once.
        response: the policy's last turn; None where it is not kept or not known.
        content: the row; None where it is not kept.
        setup: of the run.
    """

    row: int
    id: str
    sample: int
    rollout: str
    status: Status
    rewards: tuple[float, ...] = ()
    scored_by: Literal["agent", "scorer", ""] = ""
    turns: int = 0
    tool_calls: int = 0
    seconds: float = 0.0
    error: str = ""
    duplicates: int = 0
    response: str | None = field(default=None, repr=False)
    content: Mapping[str, Any] | None = field(default=None, repr=False)
    setup: Setup

    @property
    def attempt(self) -> Attempt:
        """Which one it is."""
        return Attempt(self.row, self.sample)

    @property
    def reward(self) -> float | None:
        """The return of the episode: the sum of its rewards; None without one."""
        bounded = [max(-LARGEST, min(LARGEST, reward)) for reward in self.rewards]
        return fsum(bounded) if bounded else None

    def without_texts(self) -> RolloutRecord:
        """The same, without what a person or a model wrote."""
        return replace(self, response=None, content=None)

    def line(self) -> dict[str, Any]:
        """It as a JSON object."""
        given = asdict(self) | {"rewards": list(self.rewards), "reward": self.reward}
        return {"record": 1} | {name: value for name, value in given.items() if value is not None}


class Scores(Protocol):
    """A pinned reward: `reward_functions.rollouts.episode.scoring.Scorer`."""

    def score(self, request_or_row: Any, result: Any) -> Any:
        """The score of a response to a row."""


class RecordFile:
    """Records, open for appending.

    Args:
        path: of the file.
        setup: of this run.
        resume: whether an existing file is gone on with.

    Attributes:
        kept: what had ended before, and what ends; without the texts.

    Raises:
        ConfigurationError: it exists and you did not ask to resume it, it belongs to another run,
            it is no record, or another command writes to it.
        ScorerMismatch: its records were scored by another reward, version or digest.
        OSError: it cannot be read or written.
    """

    def __init__(self, path: Path, setup: Setup, *, resume: bool) -> None:
        self._lines = AppendedLines(path)
        try:
            found = self._found(path, setup, resume=resume)
            self.kept = {record.attempt: record.without_texts() for record in found}
        except (ConfigurationError, OSError):
            self._lines.close()
            raise

    def _found(self, path: Path, setup: Setup, *, resume: bool) -> Iterator[RolloutRecord]:
        """The records that are there; a torn one is run again."""
        if not resume and (self._lines.length or self._lines.torn):
            raise ConfigurationError(
                f"{path} is there already: go on with it by --resume, or give another file with "
                "--out"
            )
        begun = self._lines.torn[: len(_BEGINNING)]
        if not self._lines.length and not _BEGINNING.startswith(begun):
            raise ConfigurationError(f"{path} is no file of rollouts: give another with --out")
        return _of_one_run(path, self._lines.whole(), setup)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._lines.close()

    def add(self, record: RolloutRecord) -> None:
        """Append a record; it is on the disk when the method returns."""
        self._lines.append(record.line())
        self.kept[record.attempt] = record.without_texts()


def read_records(path: str, *, texts: bool = True) -> list[RolloutRecord]:
    """The records of a file; of several of one rollout the last.

    An incomplete last line, which a killed run leaves, is left out.

    Args:
        path: of the file.
        texts: whether responses and rows are kept, which are most of a file.

    Raises:
        ConfigurationError: it holds something else, or nothing, or records of several runs.
        OSError: it cannot be read.
    """
    with Path(path).open("rb") as stream:
        whole = (line for line in stream if line.endswith(b"\n"))
        records = _of_one_run(Path(path), whole)
        if not texts:
            records = (record.without_texts() for record in records)
        found = {record.attempt: record for record in records}
    if not found:
        raise ConfigurationError(f"{path} holds no rollouts: `reward rollouts run` writes them")
    return list(found.values())


def rollouts_of_rows(path: str, rows: Collection[int]) -> list[RolloutRecord]:
    """The records of some rows, with their texts; of several of one rollout the last.

    Args:
        path: of the file.
        rows: their numbers, from 1.

    Raises:
        ConfigurationError: it holds something else, or records of several runs.
        OSError: it cannot be read.
    """
    with Path(path).open("rb") as stream:
        whole = (line for line in stream if line.endswith(b"\n"))
        every = _of_one_run(Path(path), whole)
        found = {record.attempt: record for record in every if record.row in rows}
    return list(found.values())


def written(records: Sequence[RolloutRecord]) -> Iterator[str]:
    """The lines of a file of records."""
    for record in records:
        yield f"{json.dumps(record.line(), allow_nan=False)}\n"


def counted(records: Sequence[RolloutRecord]) -> Counter[Status]:
    """How many have each status."""
    return Counter(record.status for record in records)


def _require(path: Path, found: Setup, wanted: Setup) -> None:
    """Nothing, where two setups are one.

    Raises:
        ScorerMismatch: they differ in the reward.
        ConfigurationError: they differ in something else, which the message names.
    """
    if found.scorer != wanted.scorer:
        raise ScorerMismatch(
            f"{path} was scored by {pin_words(found.scorer)}, and this run is by "
            f"{pin_words(wanted.scorer)}: give another file with --out, or score its responses "
            "with `reward score`"
        )
    ours, theirs = asdict(wanted), asdict(found)
    different = [name for name in ours if ours[name] != theirs[name]]
    if different:
        name = different[0]
        raise ConfigurationError(
            f"{path} holds rollouts of another {'data set' if name == 'data' else name}, "
            f"{theirs[name]!r} and not {ours[name]!r}: give another file with --out"
        )


def pin_words(pin: Mapping[str, Any] | None) -> str:
    """The pin of a reward, as JSON, for people."""
    if pin is None:
        return "the agent itself"
    digest, parameters = str(pin.get("digest"))[:12], pin.get("parameters")
    known = parameters.items() if isinstance(parameters, dict) else ()
    more = ", ".join(f"{name}={value}" for name, value in known)
    words = f"{pin.get('name')} version {pin.get('version')} ({digest})"
    return f"{words} with {more}" if more else words


def _of_one_run(
    path: Path, lines: Iterable[bytes], setup: Setup | None = None
) -> Iterator[RolloutRecord]:
    """The records of lines; their setup is that of the run, or that of the first of them."""
    known: dict[str, Setup] = {}
    for number, text in enumerate(lines, 1):
        try:
            line = json.loads(text)
            key = repr(line["setup"])
            if key not in known:
                known[key] = _setup(line["setup"])
                setup = setup or known[key]
                _require(path, known[key], setup)
            yield _record(line, known[key])
        except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError):
            raise ConfigurationError(f"{path}, line {number}: not a record of a rollout") from None


def _setup(given: Any) -> Setup:
    """The setup of a line.

    Raises:
        KeyError, TypeError, ValueError: it is no record.
    """
    found = Setup(**{each.name: given[each.name] for each in fields(Setup)})
    texts = (found.data, found.agent, found.policy)
    mappings = (found.sampling, found.scorer or {})
    if not all(isinstance(each, str) for each in texts):
        raise ValueError
    if not all(isinstance(each, dict) for each in mappings):
        raise ValueError
    return found


_TEXTS: Final = ("id", "rollout", "error")
_COUNTS: Final = ("row", "sample", "turns", "tool_calls", "duplicates")

MOST: Final = 2**63 - 1
"""Of a count: what a file has beyond it is no count of anything, and no sum takes it."""


def _is_typed(given: Mapping[str, Any]) -> bool:
    """Whether texts are texts, counts whole numbers from 0, and seconds a number of a sum."""
    seconds = given.get("seconds", 0.0)
    return (
        all(isinstance(given.get(name, ""), str) for name in _TEXTS)
        and all(type(each := given.get(name, 0)) is int and 0 <= each <= MOST for name in _COUNTS)
        and type(seconds) in (int, float)
        and abs(seconds) <= LARGEST
        and isinstance(given.get("response"), str | None)
        and isinstance(given.get("content"), dict | None)
    )


def _record(line: Any, setup: Setup) -> RolloutRecord:
    """One line that `RolloutRecord.line` wrote.

    Raises:
        KeyError, TypeError, ValueError: it is no record.
    """
    given = {each.name: line[each.name] for each in fields(RolloutRecord) if each.name in line}
    rewards = tuple(map(float, given.pop("rewards")))
    sound = line["record"] == 1 and line["status"] in STATUSES and all(map(isfinite, rewards))
    if not (sound and _is_typed(given)) or (line["status"] == "rewarded") != bool(rewards):
        raise ValueError
    return RolloutRecord(**given | {"rewards": rewards, "setup": setup})


_BEGINNING: Final = b'{"record": 1'
"""Of every line, a torn one too."""


def scored(scorer: Scores, content: Any, response: Any) -> dict[str, Any]:
    """The record of a response that a pinned reward scores, or cannot score.

    Raises:
        ConfigurationError: the reward cannot score anything, such as a judge that does not answer.
    """
    try:
        score = scorer.score(content, response)
    except ConfigurationError:
        raise
    except RewardError as error:
        problem = type(error.__cause__ or error).__name__
        return {"status": "failed", "rewards": (), "scored_by": "scorer", "error": problem}
    return {"status": "rewarded", "rewards": (score.value,), "scored_by": "scorer", "error": ""}
