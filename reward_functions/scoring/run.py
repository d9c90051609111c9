"""A run over a file: who scores the rows, where results wait, and what an interrupt keeps.

Rows are scored a piece at a time, in order, however many pieces are under way at once. A piece is
one row for threads, which wait for a judge, and as many rows as take a moment for what computes:
this process or several interpreters. The rows that are read ahead are bounded, so that memory does
not grow with the file.
"""

from __future__ import annotations

import os
import signal
import sys
from array import array
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from io import TextIOWrapper
from itertools import islice
from math import inf
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile, gettempdir
from threading import current_thread, main_thread
from time import monotonic, perf_counter
from typing import IO, TYPE_CHECKING, Any, Final, Literal, NamedTuple

from reward_functions.core.batch import score_batch
from reward_functions.core.errors import ConfigurationError
from reward_functions.data.atomic import named
from reward_functions.data.json_rows import shown
from reward_functions.data.rows.formats import files_of
from reward_functions.reports.score_report.digest import CUT
from reward_functions.scoring import journal as journals
from reward_functions.scoring.results import row_results
from reward_functions.scoring.rewards import is_path

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import TextIO

    from reward_functions.core.spec import RewardFunction, RewardSpec, Scale
    from reward_functions.core.threads import Threads
    from reward_functions.core.types import RewardResult, Sample, Unscored
    from reward_functions.reports.score_report.digest import Digest, RowFacts
    from reward_functions.reports.score_report.labels import Labels
    from reward_functions.scoring import Only, Sort
    from reward_functions.scoring.interpreters import Interpreters
    from reward_functions.scoring.journal import Journal
    from reward_functions.scoring.results import RowResult
    from reward_functions.scoring.rewards import Parameters
    from reward_functions.scoring.rows import Unread


STANDARD: Final = "-"
"""Standard input as FILE."""


STRETCH: Final = 1 << 20
"""Bytes that are read at a time."""


class Source:
    """The rows of a command, to be read from their beginning as often as needed.

    Args:
        file: what to hand to a reader each time.
        spool: where the rows of a pipe are kept, which then stands for standard input.

    Raises:
        BadInput: of a folder it is not known what to read.
        OSError: a file cannot be looked at.
    """

    def __init__(self, file: str, spool: IO[bytes] | None = None) -> None:
        self.file = file
        self._spool = spool
        self._listed = None if spool else files_of(file)
        self._state = self._now()

    @property
    def piped(self) -> bool:
        """Whether it came through a pipe."""
        return self._spool is not None

    def again(self) -> str:
        """The file, to be read from its beginning."""
        if self._spool:
            self._spool.seek(0)
        return self.file

    def digest(self) -> str:
        """The SHA-256 of its bytes; of a folder, of its files' names and bytes.

        Raises:
            OSError: it cannot be read.
        """
        if self._spool:
            self._spool.seek(0)
            return sha256_of(self._spool)
        if len(files := self._files()) == 1 and files[0] == Path(self.file):
            return _digest_of(files[0])
        above = os.path.commonpath(files)
        listed = [f"{os.path.relpath(file, above)} {_digest_of(file)}" for file in files]
        return sha256("\n".join(listed).encode()).hexdigest()

    def require_unchanged(self) -> None:
        """Refuse results of a file that is another one by now.

        Raises:
            ConfigurationError: somebody has written to it since.
        """
        try:
            same = self._now() == self._state
        except OSError:  # a file of it is gone
            same = False
        if not same:
            raise ConfigurationError(f"{self.file} changed while it was scored; score it again")

    def _now(self) -> tuple[tuple[int, ...], ...]:
        states = [] if self._spool else [file.stat() for file in self._files()]
        return tuple((each.st_ino, each.st_size, each.st_mtime_ns) for each in states)

    def _files(self) -> list[Path]:
        """The file, or those of a folder that are read."""
        return self._listed or [Path(self.file)]


def _digest_of(file: Path) -> str:
    with file.open("rb") as stream:
        return sha256_of(stream)


def sha256_of(stream: IO[bytes]) -> str:
    """The SHA-256 of a stream from here on."""
    digest = sha256()
    while piece := stream.read(STRETCH):
        digest.update(piece)
    return digest.hexdigest()


@contextmanager
def spooled(file: str) -> Iterator[Source]:
    """The rows of a file, a pipe or standard input (`-`).

    Raises:
        OSError: there is no room for what comes through a pipe, or it cannot be read.
    """
    path = Path(file)
    piped = file == STANDARD or (os.path.exists(file) and not path.is_file() and not path.is_dir())  # noqa: PTH110 - "" is no path
    if not piped:
        yield Source(file)
        return
    with TemporaryFile() as spool:
        with named(f"{gettempdir()}, where a pipe is kept"):
            if file == STANDARD:
                copyfileobj(sys.stdin.buffer, spool)
            else:
                with path.open("rb") as pipe:
                    copyfileobj(pipe, spool)
        before, sys.stdin = sys.stdin, TextIOWrapper(spool)
        try:
            yield Source(STANDARD, spool)
        finally:
            sys.stdin.detach()
            sys.stdin = before


_CHOSEN: Final[Mapping[Only, Callable[[RowFacts, Scale], bool]]] = {
    "minimum": lambda facts, scale: facts.value == scale.minimum,
    "maximum": lambda facts, scale: facts.value == scale.maximum,
    "partial": lambda facts, scale: (
        facts.value is not None and scale.minimum < facts.value < scale.maximum
    ),
    "unscored": lambda facts, _: facts.value is None,
    "truncated": lambda facts, _: bool(facts.signs & CUT),
    "disagree": lambda _facts, _scale: True,  # known at the end, from the labels
}


@dataclass(slots=True)
class Selection:
    """The rows to write: a bit of each, and what they are sorted by.

    Args:
        scale: of the reward.
        only: which rows; None for all.
        sort: by what; None for the order of the file. "-" for the largest first.
    """

    scale: Scale
    only: Only | None = None
    sort: Sort | None = None
    _chosen: array[int] = field(default_factory=lambda: array("Q"))
    _values: array[float] = field(default_factory=lambda: array("d"))
    _ids: list[str] = field(default_factory=list)

    def require_labels(self, label: str | None) -> None:
        """Refuse to look for disagreement with nothing.

        Raises:
            ConfigurationError: there are no labels.
        """
        if self.only == "disagree" and label is None:
            raise ConfigurationError("--only disagree needs the labels: add --label FIELD")

    @property
    def in_order(self) -> bool:
        """Whether a row is known to be written, and where, as soon as it is looked at."""
        return self.sort is None and self.only != "disagree"

    def add(self, at: int, id: str, facts: RowFacts) -> bool:  # noqa: A002 - the wire's own word
        """Look at the row of a position, and say whether it is chosen."""
        chosen = self.only is None or _CHOSEN[self.only](facts, self.scale)
        if chosen:
            self._chosen.append(at)
            if self.sort:
                self._note(self.sort, id, facts)
        return chosen

    def _note(self, sort: Sort, id: str, facts: RowFacts) -> None:  # noqa: A002 - the wire's own word
        """Keep what the row is sorted by."""
        key = sort.removeprefix("-")
        if key == "id":
            self._ids.append(id)
        elif key == "value":
            last = -inf if key != sort else inf
            self._values.append(last if facts.value is None else facts.value)
        elif key == "length":
            self._values.append(facts.length)

    def positions(
        self, limit: int | None, disagreements: Collection[int] | None = None
    ) -> Sequence[int]:
        """The rows to write.

        Args:
            limit: how many at most.
            disagreements: those that differ from their labels.
        """
        found: Sequence[int] = self._chosen
        if self.sort:
            keys: Sequence[str] | Sequence[float] = self._ids or self._values
            order = sorted(
                range(len(found)), key=keys.__getitem__, reverse=self.sort.startswith("-")
            )
            found = array("Q", (found[at] for at in order))
        if self.only == "disagree":
            differing = set(disagreements or ())
            found = array("Q", (at for at in found if at in differing))
        return array("Q", islice(found, limit))


Form = Literal["jsonl", "json"]
"""A line for each row, or one array of all."""


class Streamed:
    """Lines of results, written as they come.

    Args:
        stream: where to.
        form: of the results.
        limit: lines at most; None for all.
        patient: whether an error of writing waits for `end`.
    """

    def __init__(
        self,
        stream: TextIO,
        form: Form,
        limit: int | None,
        *,
        patient: bool,
    ) -> None:
        self.written = 0
        self._stream = stream
        self._is_array = form == "json"
        self._limit = limit
        self._patient = patient
        self._error: OSError | None = None

    def add(self, line: str) -> None:
        """Write a result, unless enough are written.

        Raises:
            OSError: it cannot be written.
        """
        if self._limit is not None and self.written >= self._limit:
            return
        between = "," if self.written else "["
        self._put(f"{between}\n{line}" if self._is_array else f"{line}\n")
        self.written += 1

    def flush(self) -> None:
        """Hand on what is written.

        Raises:
            OSError: nobody takes it.
        """
        self._put("", flush=True)

    def end(self) -> None:
        """Write what closes an array.

        Raises:
            OSError: it cannot be written, or something before it could not.
        """
        if self._is_array:
            self._put("\n]\n" if self.written else "[\n]\n")
        self.flush()
        if self._error:
            raise self._error

    def _put(self, text: str, *, flush: bool = False) -> None:
        if self._error:
            return
        try:
            self._stream.write(text)
            if flush:
                self._stream.flush()
        except OSError as error:
            if not self._patient:
                raise
            self._error = error


def write_lines(form: Form, stream: TextIO, lines: Iterator[str]) -> None:
    """Write results that are all there.

    Args:
        form: of the results.
        stream: where to.
        lines: an object each.

    Raises:
        OSError: they cannot be written.
    """
    if form == "jsonl":
        stream.writelines(f"{line}\n" for line in lines)
        return
    stream.write("[")
    stream.writelines(f"{',' if at else ''}\n{line}" for at, line in enumerate(lines))
    stream.write("\n]\n")


LARGEST: Final = 256
"""Rows of a piece: 1 MB of long responses, and enough that handing it over costs little."""

HERE: Final = 32
"""The same where this process scores them: more would leave its caches before they are written."""

LONGEST: Final = 4 << 20
"""Bytes of a piece's rows, which may be beside those of many other pieces."""

MOMENT: Final = 0.1
"""Seconds that a piece should take: what Ctrl-C loses, and how often the bar moves."""

AHEAD: Final = 2
"""Pieces read ahead for each that is being scored."""


class Piece(NamedTuple):
    """Rows with their positions in the file."""

    positions: list[int]
    rows: list[Unread]


class Pieces:
    """The rows to score, cut into pieces that take a moment each.

    Args:
        rows: of the file, with their positions.
        largest: rows of a piece.
    """

    def __init__(self, rows: Iterable[tuple[int, Unread]], largest: int = LARGEST) -> None:
        self._rows = iter(rows)
        self._largest = largest
        self._size = 1

    def __iter__(self) -> Iterator[Piece]:
        while taken := list(self._taken()):
            positions, rows = zip(*taken, strict=True)
            yield Piece(list(positions), list(rows))

    def _taken(self) -> Iterator[tuple[int, Unread]]:
        """The rows of the next piece: fewer where they are long."""
        size = 0
        for at, row in islice(self._rows, self._size):
            yield at, row
            size += row.size
            if size > LONGEST:
                return

    def took(self, piece: Piece, seconds: float) -> None:
        """Let the next pieces be larger or smaller."""
        if seconds < MOMENT / 2 and len(piece.rows) >= self._size:
            self._size = min(self._largest, self._size * 2)
        elif seconds > MOMENT:
            self._size = max(1, self._size // 2)


class Run:
    """Pieces with their results, in order.

    Args:
        pieces: of the file.
        score: the results of a piece; called from as many threads as the run has workers.
        workers: pieces at once; 1 for this thread alone.
    """

    def __init__(
        self, pieces: Pieces, score: Callable[[Piece], list[RowResult]], workers: int
    ) -> None:
        self._pieces = pieces
        self._score = score
        self._workers = workers
        self._pool = self._threads() if workers > 1 else None
        self._begun: deque[tuple[Piece, Future[list[RowResult]]]] = deque()

    def _threads(self) -> Threads[Piece, list[RowResult]]:
        from reward_functions.core.threads import Threads  # noqa: PLC0415 - where there are several

        return Threads(self._timed, self._workers)

    def close(self) -> None:
        """Begin nothing more, and wait for nothing."""
        if self._pool:
            for _, future in self._begun:
                future.cancel()
            self._pool.close()

    def __iter__(self) -> Iterator[tuple[Piece, list[RowResult]]]:
        if not self._pool:
            for piece in self._pieces:
                yield piece, self._timed(piece)
            return
        for piece in self._pieces:
            future: Future[list[RowResult]] = Future()
            self._begun.append((piece, future))  # an interrupt may come right after the next line
            self._pool.submit(piece, future)
            if len(self._begun) > self._workers * AHEAD:
                yield from self._first()
        while self._begun:
            yield from self._first()

    def finished(self, patience: float) -> Iterator[tuple[Piece, list[RowResult]]]:
        """After an interrupt: begin nothing more, and wait for what is under way.

        Args:
            patience: seconds of waiting in all; what is not finished then is left.
        """
        for _, future in self._begun:
            future.cancel()
        end = monotonic() + patience
        while self._begun:
            piece, future = self._begun.popleft()
            if future.cancelled():
                continue
            try:
                failed = future.exception(max(0.0, end - monotonic()))
            except TimeoutError:
                continue
            if not failed:
                yield piece, future.result()

    @property
    def under_way(self) -> int:
        """How many pieces are being scored."""
        return sum(future.running() for _, future in self._begun)

    def _first(self) -> Iterator[tuple[Piece, list[RowResult]]]:
        """The first piece; it is under way until the caller comes back, and has kept it."""
        piece, future = self._begun[0]
        while not future.done():
            # A signal that comes just before a thread waits without end does not wake it.
            wait([future], timeout=LOOK)
        yield piece, future.result()
        self._begun.popleft()

    def _timed(self, piece: Piece) -> list[RowResult]:
        start = perf_counter()
        results = self._score(piece)
        self._pieces.took(piece, perf_counter() - start)
        return results


ROWS_OF_AN_INTERPRETER: Final = 64
"""Rows from which a further interpreter is begun: it takes half a second to start."""

LOOK: Final = 1.0
"""Seconds after which a run that waits sees an interrupt at the latest."""

PATIENCE: Final = 5.0
"""Seconds for which an interrupted run waits for the rows under way."""

CALLS: Final = 1.5
"""The same for one more answer of a judge."""

AFTERWARDS: Final = 0.4
"""The same for rows of a judge, whose calls have been waited for before."""

Progress = Callable[[str, int, int | None], object]
"""Hears what is being done ("reading", "scoring", "writing"), how many rows of it are done since
the beginning, and how many there are; None where nobody knows."""


def unheard(*_: object) -> None:
    """Nobody listens."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How rows are scored.

    Args:
        name: by which an interpreter finds the reward; None where none can.
        parameters: of the reward, as `ready` takes them.
        workers: as asked for; None for what the reward needs.
        explain: whether results explain themselves.
        progress: hears how far it is.
        notify: hears a sentence for a person who waits.
    """

    name: str | None
    parameters: Parameters
    workers: int | None
    explain: bool
    progress: Progress = unheard
    notify: Callable[[str], object] = unheard


@dataclass(slots=True)
class Held:
    """All samples and results, for a page."""

    _rows: dict[int, tuple[Sample | Unscored, RewardResult]] = field(default_factory=dict)

    def keep(
        self, piece: Piece, samples: Sequence[Sample | Unscored], results: Sequence[RewardResult]
    ) -> None:
        """Hold the rows of a piece; safe to call from many threads."""
        self._rows.update(zip(piece.positions, zip(samples, results, strict=True), strict=True))

    @property
    def samples(self) -> list[Sample | Unscored]:
        """In the order of the file."""
        return [self._rows[at][0] for at in sorted(self._rows)]

    @property
    def results(self) -> list[RewardResult]:
        """One for each sample."""
        return [self._rows[at][1] for at in sorted(self._rows)]


def require_resumable(spec: RewardSpec, output: Path | None, report: str | None) -> None:
    """Refuse to go on with what is not kept.

    Raises:
        ConfigurationError: the reward compares responses, there is no output file, or a page is
            asked for, which shows what only a whole run knows.
    """
    if spec.needs.group:
        why = f"{spec.name} compares the responses of a group, which are scored together"
    elif output is None:
        why = "rows are kept beside an output file: add -o OUT"
    elif report:
        why = "a page needs all rows of one run: leave --report out"
    else:
        return
    raise ConfigurationError(f"--resume: {why}")


def surveyed(
    rows: Iterable[Unread], label: str | None, scale: Scale, progress: Progress = unheard
) -> tuple[int, Labels | None]:
    """How many rows a file has, all of which can be read; and their labels.

    Raises:
        BadInput: one cannot be read.
        ConfigurationError: no row has the label, or a value of it is not one.
    """
    count = 0

    def samples() -> Iterator[Sample | Unscored]:
        nonlocal count
        for count, row in enumerate(seen, 1):  # noqa: B007 - the count is the point
            yield row.read().sample

    def watched() -> Iterator[Unread]:
        for done, row in enumerate(rows, 1):
            progress("reading", done, None)
            yield row

    seen = watched()
    if label is None:
        return sum(1 for _ in seen), None
    from reward_functions.reports.score_report.labels import labels_of  # noqa: PLC0415 - asked for

    labels = labels_of(samples(), label, scale)
    return count, labels


def source_facts(source: Source, file: str) -> list[tuple[str, str]]:
    """The facts of the file for a page; a pipe has no checksum."""
    checksum = [] if source.piped else [("SHA-256", source.digest())]
    return [("file", shown(file)), *checksum]


def identity(
    source: Source,
    name: str | None,
    spec: RewardSpec,
    reward: RewardFunction,
    judge: str | None,
    *,
    rows: str,
    explain: bool,
) -> Callable[[], dict[str, Any]]:
    """The reward and the rows of a run: it goes on only with the results of the same."""

    def found() -> dict[str, Any]:
        return {
            "the file": source.digest(),
            "the reward": [spec.name, sha256(Path(name).read_bytes()).hexdigest()]
            if name and is_path(name)
            else [spec.name],
            "the reward's version": spec.version,
            "the parameters": _parameters(reward),
            "the judge": _judge_digest(judge) if spec.needs.judge else None,
            "--map and --rows": rows,
            "--explain": explain,
        }

    return found


def journal_of(
    output: Path | None, identity: Callable[[], dict[str, Any]], rows: int, *, resume: bool
) -> AbstractContextManager[Journal]:
    """The journal beside an output file, or one without a name.

    Raises:
        ConfigurationError: it is of another run.
        OSError: it cannot be written.
    """
    if output is None:
        return journals.unnamed(rows)
    if output.is_dir():
        output.open("ab")  # raises what opening it to write would
    return journals.beside(output, identity(), rows, resume=resume)


def score_rows(
    rows: Iterable[Unread],
    *,
    spec: RewardSpec,
    reward: RewardFunction,
    plan: Plan,
    journal: Journal,
    counted: tuple[Digest, Selection],
    held: Held | None,
    streamed: Streamed | None,
) -> None:
    """Score what the journal does not have, and count all rows in the order of the file.

    Raises:
        OSError: there is no room for the results, or nobody takes those that are streamed.
        ConfigurationError: the code of the reward asked for the end of the command.
    """
    digest, selection = counted
    run = _Scoring(spec, reward, plan, journal, held)

    def count(at: int, result: RowResult) -> None:
        digest.add(result.id, result.facts, result.message)
        if selection.add(at, result.id, result.facts) and streamed:
            streamed.add(result.line)

    plan.progress("scoring", journal.kept, len(journal))
    with ExitStack() as stack:
        pieces = run.pieces(rows, stack)
        # Runs first: then rows have what they wait for.
        stack.push(partial(_end_calls, reward, plan.notify))
        for piece, results in pieces:
            journal.add(piece.positions, results)
            plan.progress("scoring", journal.kept + journal.written, len(journal))
            if not journal.kept:
                for at, result in zip(piece.positions, results, strict=True):
                    count(at, result)
            if streamed:
                streamed.flush()
    if journal.kept:
        for at in range(len(journal)):
            count(at, journal[at])


@dataclass(frozen=True, slots=True)
class _Scoring:
    """What the rows of a run are scored with, and where their results wait.

    Args:
        spec: of the reward.
        reward: with its parameters, and with who answers a judge's questions.
        plan: how.
        journal: has the results of earlier runs, and an interrupted run's.
        held: takes samples and results where a page is made of them.
    """

    spec: RewardSpec
    reward: RewardFunction
    plan: Plan
    journal: Journal
    held: Held | None

    def pieces(
        self, rows: Iterable[Unread], stack: ExitStack
    ) -> Iterator[tuple[Piece, list[RowResult]]]:
        """The rows without a result in pieces, each with its results, in the order of the file."""
        fresh: Iterable[tuple[int, Unread]] = enumerate(rows)
        if self.journal.kept:
            fresh = ((at, row) for at, row in fresh if at not in self.journal)
        needs, plan = self.spec.needs, self.plan
        if needs.group:
            return self._by_group(fresh)
        threads = needs.judge or needs.workers > 1
        if threads:
            workers = plan.workers or needs.workers
        else:
            many = len(self.journal) // ROWS_OF_AN_INTERPRETER
            alone = self.held or plan.name is None
            workers = 1 if alone else max(1, min(plan.workers or 1, many))
        if threads or workers == 1 or plan.name is None:
            cut = Pieces(fresh, 1 if threads and workers > 1 else HERE)
            run = Run(cut, partial(self._scored, workers=1), workers)
            patience = AFTERWARDS if needs.judge else PATIENCE
            stack.push(partial(_keep_finished, run, self.journal, plan.notify, patience=patience))
        else:
            from reward_functions.scoring.interpreters import RowInterpreters  # noqa: PLC0415

            interpreters = RowInterpreters(
                self.spec, plan.name, plan.parameters, workers, explain=plan.explain
            )
            run = Run(Pieces(fresh), lambda piece: interpreters(piece.rows), workers)
            stack.enter_context(interpreters)
            stack.push(
                partial(_keep_finished, run, self.journal, plan.notify, interpreters=interpreters)
            )
        return iter(run)

    def _by_group(
        self, fresh: Iterable[tuple[int, Unread]]
    ) -> Iterator[tuple[Piece, list[RowResult]]]:
        """All rows at once: each response is compared with the others to its prompt."""
        pairs = list(fresh)
        piece = Piece([at for at, _ in pairs], [row for _, row in pairs])
        yield piece, self._scored(piece, self.plan.workers or self.spec.needs.workers)

    def _scored(self, piece: Piece, workers: int) -> list[RowResult]:
        """Score a piece in this process."""
        rows = [row.read() for row in piece.rows]
        samples = [row.sample for row in rows]
        results = score_batch(self.reward, samples, workers=workers)
        if self.held:
            self.held.keep(piece, samples, results)
        return row_results(self.spec, rows, results, explain=self.plan.explain)


def _keep_finished(
    run: Run,
    journal: Journal,
    notify: Callable[[str], object],
    kind: type[BaseException] | None,
    *_error: object,
    interpreters: Interpreters | None = None,
    patience: float = PATIENCE,
) -> None:
    """After an interrupt: keep what is finished within a moment."""
    try:
        if kind and issubclass(kind, KeyboardInterrupt) and journal.path:
            if interpreters:
                interpreters.close()
            elif patience == PATIENCE and run.under_way:
                notify(f"waiting for {run.under_way:,} rows under way; Ctrl-C again leaves them")
            for piece, results in run.finished(patience):
                if piece.positions[0] not in journal:
                    journal.add(piece.positions, results)
    except KeyboardInterrupt:  # the second
        pass
    finally:
        run.close()


def _end_calls(
    reward: RewardFunction,
    notify: Callable[[str], object],
    kind: type[BaseException] | None,
    *_error: object,
) -> None:
    """After an interrupt: ask nothing more, and wait for the answers that are being given."""
    account = getattr(reward, "account", None)
    if account is None or not kind or not issubclass(kind, KeyboardInterrupt):
        return
    if count := account.under_way:
        calls = "1 call" if count == 1 else f"{count:,} calls"
        notify(f"waiting for {calls} under way; Ctrl-C again leaves them")
    account.end(CALLS)


def kept_verdicts(reward: RewardFunction) -> int:
    """How many of a judge's verdicts are kept."""
    account, store = getattr(reward, "account", None), getattr(reward, "store", None)
    if account is None or store is None or store.failure:
        return 0
    return int(account["judge_answers"] + account["judge_cache_hits"])


def calls_left(reward: RewardFunction) -> int:
    """How many of a judge's calls had no answer."""
    return int(getattr(getattr(reward, "account", None), "under_way", 0))


@contextmanager
def ends_are_interrupts() -> Iterator[None]:
    """Let a signal to end, and the end of the terminal, be what Ctrl-C is."""
    if current_thread() is not main_thread():  # where no handler can be set
        yield
        return
    names = (signal.SIGTERM, signal.SIGHUP)
    before = [(each, signal.signal(each, signal.default_int_handler)) for each in names]
    try:
        yield
    finally:
        for each, handler in before:
            signal.signal(each, handler)


def _parameters(reward: RewardFunction) -> str:
    """The parameters of a reward as they are bound, a judge's too."""
    found = [reward, *getattr(reward, "panel", [])]
    named = [each.keywords for each in found if isinstance(each, partial)]
    return repr([sorted(item for item in each.items() if item[0] != "ask") for each in named])


def _judge_digest(judge: str | None) -> str | None:
    if judge is None:
        return None
    path = Path(judge)
    typed = judge.lstrip().startswith("{")
    return sha256(judge.encode() if typed else path.read_bytes()).hexdigest()
