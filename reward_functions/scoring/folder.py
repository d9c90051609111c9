"""A run is a folder, and nothing else holds its state.

    run.json                what was asked: reward, version, parameters, inputs, how rows are read
    manifest.jsonl          a shard each line
    part-000003.jsonl       the results of a shard, as `reward score` writes them
    part-000003.facts.json  their size, checksum and figures; written after them
    unusable.json           object, line and problem, where a line is no row
    cancelled.json          somebody cancelled it
    summary.json            the figures of all parts, when all are there

A part is done when its facts are there. Going on is doing what is missing, on any engine. A run of
other inputs, another version or another reward is never gone on with.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reward_functions.scoring.facts import Facts
    from reward_functions.scoring.places import Place
    from reward_functions.scoring.ranges import Counted
    from reward_functions.scoring.shards import Shard

RUN: Final = "run.json"
MANIFEST: Final = "manifest.jsonl"
SUMMARY: Final = "summary.json"
UNUSABLE: Final = "unusable.json"
CANCELLED: Final = "cancelled.json"


class OtherRun(ConfigurationError):
    """The folder holds a run of something else; the message says what differs."""


class RunNotUsable(ConfigurationError):
    """A line of the input is no row: the run has no summary, and its parts are not handed out."""


class RunIncomplete(ConfigurationError):
    """Parts of the run are missing; the message says how many, and why the first is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a run was asked: all that decides what its results are. `run.json` holds it.

    Args:
        source: the address of the place that the objects are in.
        inputs: the SHA-256 over names, sizes and ETags of the objects, in order.
        reward: a registered name, or the path of a file.
        version: of the reward.
        digest: of the reward's code, as the catalogue has it; "" where nobody knows.
        function: the ARN of the numbered version that scores; "" where the reward runs in the
            engine's own processes.
        parameters: of the reward, by name.
        rows: how rows are read, pinned from the first of them, as `PinnedRows.item` writes it.
        shard_bytes: of a range, at most.
        max_unscored: the share of rows that may be without a score, 0 to 1.
    """

    source: str
    inputs: str
    reward: str
    version: int
    digest: str = ""
    function: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    rows: Mapping[str, Any] = field(default_factory=dict)
    shard_bytes: int
    max_unscored: float = 1.0


class State(NamedTuple):
    """How far a run is.

    Args:
        parts: of the run.
        done: of them.
        unusable: object, line and problem, where a line is no row; else "".
        cancelled: whether somebody cancelled it.
        finished: whether the summary is written.
    """

    parts: int
    done: int
    unusable: str = ""
    cancelled: bool = False
    finished: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """A run in its folder.

    Safe to use from many threads and machines: no call changes a part that is done.

    Args:
        place: the folder.
        asked: what it was asked.
    """

    place: Place
    asked: Asked

    @classmethod
    def begun(
        cls, place: Place, asked: Asked, shards: Sequence[Shard], *, resume: bool = False
    ) -> Run:
        """A new run in a folder, or the one that stands there already.

        Args:
            place: the folder.
            asked: what is asked.
            shards: of the run, in order.
            resume: go on with a run of the same that stands there.

        Raises:
            OtherRun: the folder holds a run, and it is of something else or not to be resumed; or
                it holds something that is no run.
            AwsFailed, OSError: the folder cannot be read or written.
        """
        raise NotImplementedError

    @classmethod
    def opened(cls, place: Place) -> Run:
        """The run of a folder.

        Raises:
            ConfigurationError: the folder holds none.
            AwsFailed, OSError: it cannot be read.
        """
        raise NotImplementedError

    def shards(self) -> list[Shard]:
        """The shards of the manifest, in order.

        Raises:
            ConfigurationError: the manifest cannot be read.
            AwsFailed, OSError: nor the folder.
        """
        raise NotImplementedError

    def missing(self, shards: Sequence[Shard] | None = None) -> list[Shard]:
        """The shards whose parts are not done, in order; by one listing of the folder."""
        raise NotImplementedError

    def number(self, counts: Mapping[int, Counted]) -> list[Shard]:
        """Write how many lines and rows stand before each shard into the manifest.

        Args:
            counts: by part, of every shard.

        Returns:
            the shards with their numbers.
        """
        raise NotImplementedError

    def state(self) -> State:
        """How far it is, by one listing of the folder."""
        raise NotImplementedError

    def cancel(self) -> None:
        """Let no further shard be begun; what is done stays, and resuming takes the mark away."""
        raise NotImplementedError

    def mark_unusable(self, problem: str) -> None:
        """Say that a line is no row; the first to say so is kept.

        Args:
            problem: object, line and what is wrong with it.
        """
        raise NotImplementedError

    def facts(self) -> Facts:
        """The facts of all parts that are done, merged in their order, in bounded memory."""
        raise NotImplementedError

    def finish(self) -> Facts:
        """Write the summary.

        Raises:
            RunNotUsable: a line is no row.
            RunIncomplete: parts are missing.
        """
        raise NotImplementedError

    def join(self, out: IO[bytes]) -> int:
        """Write all results, in the order of the input.

        Returns:
            how many bytes.

        Raises:
            RunNotUsable: a line is no row.
            RunIncomplete: parts are missing, or one is not what its facts say.
        """
        raise NotImplementedError

    def parts(self) -> Iterator[dict[str, Any]]:
        """The facts of every part that is done, as they are written, in order."""
        raise NotImplementedError
