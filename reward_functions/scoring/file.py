"""A file of responses in, one result for each out, and a page about all of them.

The file is read twice. The first time, everything that can be wrong with the arguments or the file
is found; the second time rows are scored and forgotten, so that memory does not grow with the file.
Input through a pipe is kept in a temporary file. Results wait in a journal until all are there.
Output file and page appear complete and together, or not at all; an interrupt leaves the journal of
an output file, and `resume` goes on with it.

On a stream results may go as they come, in the order of the file. A reader that has read enough
ends the command; where a page is asked for, rows are scored on for it, and the command ends when
the page is written.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from reward_functions.core.errors import ConfigurationError, UnknownReward
from reward_functions.core.registry import get
from reward_functions.core.spec import RewardSpec
from reward_functions.data.atomic import Together
from reward_functions.data.rows.shapes import RowOptions
from reward_functions.reports.score_report.digest import Digest
from reward_functions.scoring import run
from reward_functions.scoring.rewards import ready, reward_named
from reward_functions.scoring.rows import require_rows, rows_of
from reward_functions.scoring.run import STANDARD, Selection, Streamed, spooled, write_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from typing import TextIO

    from reward_functions.core.spec import RewardFunction
    from reward_functions.judge_runtime.usage import Account
    from reward_functions.judge_runtime.verdict_store import VerdictStore
    from reward_functions.reports.score_report.labels import Confusion, Labels
    from reward_functions.scoring import Only, Sort
    from reward_functions.scoring.journal import Journal
    from reward_functions.scoring.rewards import Parameters
    from reward_functions.scoring.run import Form

    Writer = Callable[[TextIO, Iterator[str]], object]
    """Writes results, an object of JSON each, to a stream."""


def _check_destinations(file: str, output: str | None, report: str | None) -> None:
    """Refuse files that would take the place of the samples, or of each other.

    Raises:
        ConfigurationError: one would.
    """
    for name in (output, report):
        if name is not None and _same_file(file, name):
            raise ConfigurationError(f"{name} holds the samples; write the results to another file")
    if report and output and os.path.realpath(report) == os.path.realpath(output):
        raise ConfigurationError(f"{report} is to hold the results and the page; name two files")


def _same_file(file: str, output: str) -> bool:
    """Whether the results would take the place of the samples. Devices and pipes hold neither."""
    source = 0 if file == STANDARD else file
    try:
        return Path(output).is_file() and os.path.samefile(source, output)  # noqa: PTH121 - takes 0
    except OSError:  # one of them cannot be looked at; whoever opens it says so
        return False


def _is_file_to_be(output: str | None) -> Path | None:
    """The path of results that go to a file, which may exist; None of standard output, a device."""
    if output is None:
        return None
    path = Path(os.path.realpath(output))
    if not output or path.is_dir() or not path.exists() or path.is_file():
        return path
    return None


def _path_of(output: str) -> Path:
    """Where a file of this name is written."""
    return Path(os.path.realpath(output))


@contextmanager
def _destinations(
    output: str | None, report: str | None
) -> Iterator[tuple[Callable[[], TextIO] | None, TextIO | None]]:
    """What opens the file for the results, and the file for the page; None for either.

    Files take their names together, at the end.

    Raises:
        OSError: one cannot be written. The error names what was typed.
    """
    with naming(output), Together() as files:
        page = None
        if report is not None:
            with naming(report):
                page = _opened(report, files)
        yield None if output is None else partial(_opened, output, files), page


def _opened(name: str, files: Together) -> TextIO:
    return files.opened(Path(os.path.realpath(name)), name)


@contextmanager
def naming(name: str | None) -> Iterator[None]:
    """Let an error of writing name what was given; None is a stream, and standard output here."""
    try:
        yield
    except _Named:
        raise
    except BrokenPipeError:  # not our failure: the reader has read enough
        raise
    except OSError as error:
        if name is None and error.filename is not None:  # no failure of standard output
            raise
        typed = "standard output" if name is None else name
        raise _Named(error.errno, error.strerror, typed) from None


class _Named(OSError):
    """An error that names what was typed."""


@dataclass(frozen=True, slots=True)
class ScoredFile:
    """The outcome of a file.

    Attributes:
        rows: of the file.
        computed: rows scored by this call; those of an interrupted run are not.
        seconds: spent on that.
        written: rows that were chosen and written.
        path: of the results; None where they went to a stream, or nowhere.
        report: of the page; None where none was asked for.
        summary: the figures of all rows, their groups, reasons and errors.
        agreement: of the rewards with the labels; None without labels.
        account: what a judge's models were asked; None where the reward asks nobody.
    """

    rows: int
    computed: int
    seconds: float
    written: int
    path: Path | None
    report: str | None
    summary: Digest
    agreement: Confusion | None
    account: Account | None

    @property
    def scored(self) -> int:
        """Rows with a score."""
        return self.rows - self.unscored

    @property
    def unscored(self) -> int:
        """Rows without one, and with an error."""
        return self.summary.unscored


class ScoringInterrupted(KeyboardInterrupt):
    """Somebody interrupted the run. Scored rows are kept if the results have a file.

    Attributes:
        began: whether any row may have been scored; if not, nothing has changed.
        done: rows that have a result.
        rows: of the file.
        kept: where the results are, for `resume`, if any row is done; None without a destination.
        streamed: rows that were written to a stream; None where none is written as it comes.
        verdicts: of a judge that are in its store.
        calls_left: of a judge, that had no answer and may be billed.
    """

    def __init__(
        self,
        *,
        began: bool,
        done: int = 0,
        rows: int = 0,
        kept: Path | None = None,
        streamed: int | None = None,
        verdicts: int = 0,
        calls_left: int = 0,
    ) -> None:
        super().__init__(f"interrupted: {done:,} of {rows:,} scored")
        self.began = began
        self.done = done
        self.rows = rows
        self.kept = kept
        self.streamed = streamed
        self.verdicts = verdicts
        self.calls_left = calls_left


def score_file(
    reward: str | RewardSpec,
    source: str | Path,
    destination: str | Path | None = None,
    *,
    parameters: Parameters = (),
    judge: str | None = None,
    verdicts: AbstractContextManager[VerdictStore | None] | None = None,
    rows: RowOptions | None = None,
    allow_empty: bool = False,
    workers: int | None = None,
    explain: bool = False,
    resume: bool = False,
    label: str | None = None,
    report: str | Path | None = None,
    only: Only | None = None,
    sort: Sort | None = None,
    limit: int | None = None,
    form: Form | Writer = "jsonl",
    stream: TextIO | None = None,
    live: bool = False,
    progress: run.Progress = run.unheard,
    notify: Callable[[str], object] = run.unheard,
    signals: bool = False,
) -> ScoredFile:
    """Score a file of responses.

    Rows are read as trainers and evaluations write them. A row that cannot be scored has a null
    score and an error; a line that is no JSON object makes the whole file unusable, and nothing is
    scored or written.

    Args:
        reward: a registered name, the path of a file that defines one, or the reward itself.
        source: JSONL, JSON, CSV, gzip of these, parquet, or a data set's folder; "-" is standard
            input.
        destination: a file for the results, complete or not there at all. Its name with `.partial`
            holds them while the run goes on, and after an interrupt.
        parameters: of the reward, by name; or `name=value` strings.
        judge: the settings of a judge: a .toml or .json file, or a JSON object as text.
        verdicts: opens the store of a judge's verdicts; without one every question is asked.
        rows: which columns hold which part of a sample, and the shape of the rows; recognised from
            the first rows where not given.
        allow_empty: take a file without rows.
        workers: interpreters that compute side by side, or threads that wait for a judge; what the
            reward needs where not given. A reward that is not registered has no interpreters.
        explain: add the answer found, and the reason of each score, to every result.
        resume: go on with what an interrupted run has left beside `destination`; what our own
            failure left unscored is scored again.
        label: the field of a row that says whether a response is right, for `agreement`.
        report: a file for a page about the rewards and their reasons, NAME.html.
        only: write these rows alone; figures are of all of them.
        sort: write rows in this order; in the file's where not given.
        limit: write so many rows at most.
        form: of the results, or what writes them.
        stream: where results go without a destination; nowhere if not given.
        live: write to `stream` as rows are scored, where they are in the order of the file.
        progress: hears what is being done, how many rows are done, and of how many.
        notify: hears a sentence for a person who waits, after an interrupt.
        signals: let the signals to end, and the end of the terminal, be interrupts; on the main
            thread.

    Raises:
        UnknownReward: no reward has this name.
        BadParameter: an unknown parameter, or a value of the wrong type.
        NoJudge: a judge without settings.
        BadJudge: its settings cannot be used.
        BadInput: the file cannot be read as rows, or has none.
        ConfigurationError: arguments contradict each other, another run holds the destination, or
            the file changed meanwhile.
        OSError: a file cannot be read or written; the error names it.
        ScoringInterrupted: somebody interrupted it.
    """
    spec = reward if isinstance(reward, RewardSpec) else reward_named(reward)
    name = _found_by(reward)
    file, rows = str(source), rows or RowOptions()
    output = None if destination is None else str(destination)
    page_name = None if report is None else str(report)
    _check_destinations(file, output, page_name)
    selection = Selection(spec.scale, only, sort)
    selection.require_labels(label)
    kept = None if spec.needs.group else _is_file_to_be(output)
    if resume:
        run.require_resumable(spec, kept, page_name)
    with ExitStack() as stack:
        store = stack.enter_context(verdicts or nullcontext())
        bound = ready(spec, parameters, judge, store=store)
        if signals:
            stack.enter_context(run.ends_are_interrupts())
        stack.enter_context(_first_interrupts_known())
        spool = stack.enter_context(spooled(file))
        count, labels = run.surveyed(rows_of(spool.again(), rows), label, spec.scale, progress)
        require_rows(count, file, allow_empty=allow_empty)
        facts = run.source_facts(spool, file) if report else []
        with naming(output):
            identity = run.identity(
                spool, name, spec, bound, judge, rows=repr(rows), explain=explain
            )
            journal = stack.enter_context(run.journal_of(kept, identity, count, resume=resume))
        shown = stream if output is None else None
        flows = shown if live and selection.in_order else None
        streamed = _streamed(flows, form, limit, patient=report is not None)
        stack.enter_context(_interrupts_known(journal, bound, streamed))
        plan = run.Plan(
            name, parameters, workers, explain=explain, progress=progress, notify=notify
        )
        digest = Digest(spec.name, spec.scale)
        held = run.Held() if report else None
        keeps = bool(report) or spec.needs.group or (sort or "").endswith("id")
        scored = rows_of(spool.again(), rows, whole=keeps)
        start = perf_counter()
        with _destinations(output, page_name) as (out, page):
            with naming(output):
                run.score_rows(
                    scored,
                    spec=spec,
                    reward=bound,
                    plan=plan,
                    journal=journal,
                    counted=(digest, selection),
                    held=held,
                    streamed=streamed,
                )
            seconds = perf_counter() - start
            progress("writing", 0, None)
            spool.require_unchanged()
            found = _agreement(digest, labels) if labels else None
            positions = selection.positions(limit, found.disagreements if found else None)
            results = partial(_write, form, journal, positions)
            if page:
                _page_to(page, page_name, bound, held, labels, facts)
            if out:
                _put(output, None, lambda: results(out()))
        if shown is not None:  # the page has its name by now, whether this is read or not
            _put(None, shown, streamed.end if streamed else lambda: results(shown))
        return ScoredFile(
            rows=count,
            computed=journal.written,
            seconds=seconds,
            written=len(positions),
            path=None if output is None else _path_of(output),
            report=page_name,
            summary=digest,
            agreement=found,
            account=getattr(bound, "account", None),
        )


def _agreement(digest: Digest, labels: Labels) -> Confusion:
    from reward_functions.reports.score_report.labels import confusion  # noqa: PLC0415 - asked for

    return confusion(digest, labels)


def _found_by(reward: str | RewardSpec) -> str | None:
    """The name by which another interpreter finds a reward; None where it cannot."""
    if not isinstance(reward, RewardSpec):
        return reward
    try:
        return reward.name if get(reward.name) is reward else None
    except UnknownReward:
        return None


@contextmanager
def _first_interrupts_known() -> Iterator[None]:
    """Let an interrupt before anything is scored say so: of rows kept before, none is lost."""
    try:
        yield
    except ScoringInterrupted:
        raise
    except KeyboardInterrupt:
        raise ScoringInterrupted(began=False) from None


@contextmanager
def _interrupts_known(
    journal: Journal, reward: RewardFunction, streamed: Streamed | None
) -> Iterator[None]:
    """Let an interrupt know what is scored, and what is kept and where."""
    try:
        yield
    except KeyboardInterrupt:
        raise ScoringInterrupted(
            began=True,
            done=journal.done,
            rows=len(journal),
            kept=journal.path,
            streamed=streamed.written if streamed else None,
            verdicts=run.kept_verdicts(reward),
            calls_left=run.calls_left(reward),
        ) from None


def _streamed(
    stream: TextIO | None, form: Form | Writer, limit: int | None, *, patient: bool
) -> Streamed | None:
    """What writes results while rows are scored; None where they are written at the end."""
    if stream is None or callable(form):
        return None
    return Streamed(stream, form, limit, patient=patient)


def _put(name: str | None, stream: TextIO | None, write: Callable[[], None]) -> None:
    """Write to a file, or to a stream; an error names it."""
    with naming(name):
        write()
        if stream is not None:
            stream.flush()


def _write(form: Form | Writer, journal: Journal, positions: Any, stream: TextIO) -> None:
    lines = journal.lines(positions)
    if callable(form):
        form(stream, lines)
    else:
        write_lines(form, stream, lines)


def _page_to(stream: TextIO, name: str | None, *parts: Any) -> None:
    """Write the page; an error names the file."""
    with naming(name):
        stream.write(_page(*parts))


def _page(
    reward: RewardFunction,
    held: run.Held | None,
    labels: Labels | None,
    source: list[tuple[str, str]],
) -> str:
    from datetime import UTC, datetime  # noqa: PLC0415 - where a page is asked for

    from reward_functions.reports.score_report.page import score_page  # noqa: PLC0415

    assert held is not None, "a page is asked for"
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    page = score_page(reward, held.samples, held.results, labels=labels, source=source, made=made)
    return page.html()
