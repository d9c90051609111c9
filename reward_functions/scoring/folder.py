"""A run is a folder, and nothing else holds its state.

    run.json                what was asked: reward, version, parameters, inputs, how rows are read
    manifest.jsonl          a shard each line
    part-000003.jsonl       the results of a shard, as `reward score` writes them
    part-000003.facts.json  their size, checksum and figures; written after them
    part-000003.failed.json why it is not done, where somebody tried in vain
    unusable.json           object, line and problem, where a line is no row
    stopped.json            why no further part is begun: somebody cancelled it, or nothing helps
    summary.json            the figures of all parts, when all are there

A part is done when its facts are there. Going on is doing what is missing, on any engine. A run of
other inputs, another version or another reward is never gone on with.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.spec import Scale
from reward_functions.scoring.asked import FREE, TITLES, Asked, unpinned
from reward_functions.scoring.facts import Facts
from reward_functions.scoring.places import SCHEME, NoSuchObject, place_of
from reward_functions.scoring.rewards import is_path
from reward_functions.scoring.shards import FAILED, Shard, digest_of, numbered

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from boto3.session import Session

    from reward_functions.data.rows.reading import Recognised
    from reward_functions.scoring.places import Place
    from reward_functions.scoring.ranges import Counted

RUN: Final = "run.json"
MANIFEST: Final = "manifest.jsonl"
SUMMARY: Final = "summary.json"
UNUSABLE: Final = "unusable.json"
STOPPED: Final = "stopped.json"

CANCELLED: Final = "cancelled"
"""Why a run is stopped that somebody cancelled."""

STRETCH: Final = 1 << 20
"""Bytes of a part that are copied at a time."""

MOST_SHOWN: Final = 100
"""Reasons, and errors, of a summary."""

MARKS: Final = (UNUSABLE, STOPPED)


class OtherRun(ConfigurationError):
    """The folder holds a run of something else; the message says what differs."""


class Unreadable(ConfigurationError):
    """An object of the folder was cut off, or is another program's."""


class RunNotUsable(ConfigurationError):
    """A line of the input is no row: the run has no summary, and its parts are not handed out."""


class RunIncomplete(ConfigurationError):
    """Parts of the run are missing; the message says how many, and why the first is."""


class State(NamedTuple):
    """How far a run is.

    Args:
        parts: of the run.
        done: of them.
        unusable: object, line and problem, where a line is no row; else "".
        stopped: why no further part is begun; "" where one is.
        finished: whether the summary is written.
    """

    parts: int
    done: int
    unusable: str = ""
    stopped: str = ""
    finished: bool = False

    @property
    def word(self) -> str:
        """How far it is, in a word or two."""
        for word in ("unusable", "finished", "stopped"):
            if getattr(self, word):
                return CANCELLED if self.stopped == CANCELLED else word
        return "not finished"


@dataclass(frozen=True)
class Run:
    """A run in its folder.

    Safe to use from many threads and machines: no call changes a part that is done.

    Args:
        place: the folder.
        asked: what it was asked.
        session: boto3's, for the credentials of the source and of the function.
    """

    place: Place
    asked: Asked
    session: Session | None = None

    @cached_property
    def source(self) -> Place:
        """Where the objects are that are scored."""
        return place_of(self.asked.source, self.session)

    @cached_property
    def how(self) -> Recognised:
        """How rows are read."""
        return unpinned(self.asked.rows)

    @classmethod
    def begun(
        cls,
        place: Place,
        asked: Asked,
        shards: Sequence[Shard],
        *,
        resume: bool = False,
        session: Session | None = None,
    ) -> Run:
        """A new run in a folder, or the one that stands there already.

        Args:
            place: the folder.
            asked: what is asked.
            shards: of the run, in order.
            resume: go on with a run of the same that stands there.
            session: boto3's.

        Raises:
            OtherRun: the folder holds a run, and it is of something else or not to be resumed; or
                it holds something that is no run.
            RunNotUsable: a line of the input of the run that stands there is no row.
            AwsFailed, OSError: the folder cannot be read or written.
        """
        run = cls(place, asked, session)
        names = run.names()
        if names and RUN not in names:
            raise OtherRun(
                f"{place.address} holds {min(names)}, and no run: name a folder of its own"
            )
        if not names and place.create(RUN, _json(asdict(asked))):  # who comes second has it not
            run._write_manifest(shards)
            return run
        before, now = asdict(cls.opened(place).asked), json.loads(_json(asdict(asked)))
        differ = [each for each in now if before[each] != now[each] and each not in FREE]
        if differ:
            named = ", ".join(TITLES.get(each, each) for each in differ)
            raise OtherRun(
                f"{place.address} holds another run: it differs in {named}; name another folder"
            )
        if not resume:
            raise OtherRun(f"{place.address} holds this run already: add --resume to go on with it")
        run.require_usable()
        if before != now:
            place.write(RUN, _json(now))
        if MANIFEST not in names:  # it ended before it was there
            run._write_manifest(shards)
        return run

    def allowing(self, max_unscored: float | None) -> Run:
        """The same run with another share of rows that may be without a score; None for its own."""
        if max_unscored is None:
            return self
        asked = replace(self.asked, max_unscored=max_unscored)
        self.place.write(RUN, _json(asdict(asked)))
        return replace(self, asked=asked)

    def require_portable(self) -> None:
        """Refuse to do what a folder in S3 says of this machine: others may have written it.

        Raises:
            ConfigurationError: it names a reward's file, a judge's settings or rows of a machine.
        """
        asked = self.asked
        mine = not asked.function and (is_path(asked.reward) or asked.judge)
        if self.place.address.startswith(SCHEME) and (mine or not asked.source.startswith(SCHEME)):
            raise ConfigurationError(
                f"{self.place.address} is of files or settings of a machine: go on with the "
                "command that began it, and --resume"
            )

    def let_go_on(self) -> None:
        """Take away what says why it was stopped, and why parts failed.

        Raises:
            RunNotUsable: a line of its input is no row.
        """
        self.require_usable()
        for name in self.names():
            if name == STOPPED or name.endswith(FAILED):
                self.place.delete(name)

    def require_usable(self) -> None:
        """Refuse a run whose input is not usable.

        Raises:
            RunNotUsable: a line is no row.
        """
        if problem := self._mark(UNUSABLE):
            raise RunNotUsable(problem)

    @classmethod
    def opened(cls, place: Place, session: Session | None = None) -> Run:
        """The run of a folder.

        Raises:
            ConfigurationError: the folder holds none.
            AwsFailed, OSError: it cannot be read.
        """
        try:
            return cls(place, Asked(**json.loads(place.read(RUN))), session)
        except NoSuchObject:
            raise ConfigurationError(f"{place.address} holds no run: there is no {RUN}") from None
        except (ValueError, TypeError):
            raise ConfigurationError(
                f"{place.address}/{RUN} is not of this version of the project"
            ) from None

    def shards(self) -> list[Shard]:
        """The shards of the manifest, in order.

        Raises:
            ConfigurationError: the manifest is not the one that the run began with.
            AwsFailed, OSError: it cannot be read.
        """
        with suppress(ValueError, TypeError):
            found = [Shard.of(json.loads(line)) for line in self.place.read(MANIFEST).splitlines()]
            if digest_of(found) == self.asked.cut:
                return found
        raise ConfigurationError(
            f"{self.place.address}/{MANIFEST} is not the one that the run began with: bring it "
            "back, or start a new run"
        )

    def missing(self, shards: Sequence[Shard] | None = None) -> list[Shard]:
        """The shards whose parts are not done, in order; by one listing of the folder."""
        names, shards = self.names(), self.shards() if shards is None else shards
        return [each for each in shards if not each.is_done(names)]

    def number(self, counts: Mapping[int, Counted]) -> list[Shard]:
        """Write how many lines and rows stand before each shard into the manifest.

        Args:
            counts: by part, of every shard.

        Returns:
            the shards with their numbers.
        """
        found = numbered(self.shards(), counts)
        self._write_manifest(found)
        return found

    def state(self) -> State:
        """How far it is, by one listing of the folder."""
        shards, names = self.shards(), self.names()
        done = sum(each.is_done(names) for each in shards)
        unusable, stopped = (self._mark(each) if each in names else "" for each in MARKS)
        return State(len(shards), done, unusable, stopped, SUMMARY in names)

    def stop(self, why: str = CANCELLED) -> None:
        """Let no further shard be begun; what is done stays, and resuming takes the mark away."""
        self._set_mark(STOPPED, why)

    def mark_unusable(self, problem: str) -> None:
        """Say that a line is no row.

        Args:
            problem: object, line and what is wrong with it.
        """
        self._set_mark(UNUSABLE, problem)

    def require_open(self) -> None:
        """Refuse to begin a further shard.

        Raises:
            RunNotUsable: a line of the input is no row.
            RunIncomplete: it is stopped; the message says why.
        """
        self.require_usable()
        if why := self._mark(STOPPED):
            raise RunIncomplete(f"{self.place.address}: {why}")

    def _mark(self, name: str) -> str:
        if self.place.found(name) is None:
            return ""
        return str(self._object(name).get("why"))

    def _set_mark(self, name: str, why: str) -> None:
        """Say why the run is over; the first to say so is kept."""
        if self.place.found(name) is None:
            self.place.write(name, _json({"why": why}))

    def failures(self) -> dict[int, str]:
        """Why parts are not done that somebody tried in vain, by their numbers."""
        names = self.names()
        return {
            shard.part: str(self._object(shard.failed).get("error"))
            for shard in self.missing()
            if shard.failed in names
        }

    def facts(self) -> Facts:
        """The facts of all parts that are done, merged in their order, in bounded memory."""
        found = Facts(self.asked.reward_name, Scale(*self.asked.scale))
        for shard, part in self.parts():
            try:
                found.merge(Facts.of(part["facts"]))
            except (ValueError, LookupError):
                raise self._unreadable(shard.facts) from None
        return found

    def finish(self) -> Facts:
        """Write the summary.

        Raises:
            RunNotUsable: a line is no row.
            RunIncomplete: parts are missing, or too many rows are without a score.
        """
        self._require_complete()
        found = self.facts()
        self.require_scored(len(found), found.unscored)
        self.place.write(SUMMARY, _json(summary_of(found)))
        return found

    def require_scored(self, rows: int, unscored: int) -> None:
        """Refuse to go on where more rows are without a score than were asked for.

        Raises:
            RunIncomplete: they are.
        """
        most = self.asked.max_unscored
        if unscored > most * rows:
            raise RunIncomplete(
                f"{unscored:,} of {rows:,} rows are without a score, more than {most:.0%}: the "
                "parts that are done say why; a resumed run may allow more"
            )

    def figures(self) -> dict[str, Any]:
        """Those of the summary, of the parts that are done by now."""
        return summary_of(self.facts())

    def join(self, out: IO[bytes]) -> int:
        """Write all results, in the order of the input.

        Returns:
            how many bytes.

        Raises:
            RunNotUsable: a line is no row.
            RunIncomplete: parts are missing, or one is not what its facts say.
        """
        self._require_complete()
        size = 0
        for shard, part in self.parts():
            digest = sha256()
            with self.place.opened(shard.results) as stream:
                while piece := stream.read(STRETCH):
                    digest.update(piece)
                    size += out.write(piece)
            if digest.hexdigest() != part.get("sha256"):
                raise RunIncomplete(
                    f"{self.place.address}: {shard.results} is not what its facts say; remove "
                    f"{shard.facts}, and resume"
                )
        return size

    def part(self, shard: Shard) -> dict[str, Any]:
        """The facts of a part that is done, as they are written.

        Raises:
            ConfigurationError: they cannot be read.
        """
        return self._object(shard.facts)

    def parts(self) -> Iterator[tuple[Shard, dict[str, Any]]]:
        """Every shard whose part is done, in order, with the part's facts as they are written."""
        names = self.names()
        for shard in self.shards():
            if shard.is_done(names):
                yield shard, self.part(shard)

    def _require_complete(self) -> None:
        state = self.state()
        if state.unusable:
            raise RunNotUsable(state.unusable)
        if state.done < state.parts:
            raise RunIncomplete(
                f"{self.place.address}: {state.parts - state.done:,} of {state.parts:,} parts are "
                "missing; resume the run"
            )

    def names(self) -> dict[str, int]:
        """The names of all objects of its folder, and their sizes."""
        return {each.name: each.size for each in self.place.objects()}

    def _object(self, name: str) -> dict[str, Any]:
        """An object of the folder as JSON.

        Raises:
            ConfigurationError: it is none.
        """
        with suppress(ValueError):
            if isinstance(found := json.loads(self.place.read(name)), dict):
                return found
        raise self._unreadable(name)

    def _unreadable(self, name: str) -> Unreadable:
        return Unreadable(
            f"{self.place.address}/{name} cannot be read: remove it, and resume the run"
        )

    def _write_manifest(self, shards: Sequence[Shard]) -> None:
        lines = [json.dumps(each.item()) for each in shards]
        self.place.write(MANIFEST, "".join(f"{line}\n" for line in lines).encode())


def runs_below(text: str, session: Session | None = None) -> list[Run]:
    """The runs in a folder, or below an address of S3, by their names.

    Args:
        text: as `place_of` takes it.
        session: boto3's.

    Raises:
        AwsFailed, OSError: it cannot be listed.
    """
    above = place_of(text, session)
    names = [f"/{each.name}" for each in above.objects()]
    found = [each.removesuffix(f"/{RUN}") for each in names if each.endswith(f"/{RUN}")]
    return [Run.opened(place_of(above.address + each, session), session) for each in found]


def summary_of(facts: Facts) -> dict[str, Any]:
    """The figures of rows for people and programs, as JSON."""
    figures = facts.figures()
    names = ("mean", "standard_deviation", "share_at_minimum")
    return {
        "reward": facts.reward,
        "rows": len(facts),
        "scored": len(facts) - facts.unscored,
        "unscored": facts.unscored,
        **dict(zip(names, figures or (None, None, None), strict=True)),
        "prompts_with_several": facts.groups()._asdict(),
        "share_of_prompts_kept": facts.share,
        "repeated_ids": facts.repeated_ids(),
        "without_response": facts.without_response,
        "cut_off": facts.cut_off,
        "reasons": [
            {"reason": each.reason, "rows": each.rows, "at_minimum": each.low}
            for each in facts.reasons()[:MOST_SHOWN]
        ],
        "errors": [
            {"error": each.title, "rows": each.rows, "first": each.first}
            for each in facts.errors()[:MOST_SHOWN]
        ],
    }


def _json(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, indent=1).encode() + b"\n"
