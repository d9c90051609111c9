"""Files of rows: results of `reward score`, runs over shards, rollouts, trajectories.

A result without a reward is never counted as 0. A file does not say its reward unless it is being
written; the page of `--report` beside it does.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from math import fsum, isfinite, isnan
from typing import TYPE_CHECKING, Any, ClassVar, Final

from reward_functions.core.spec import UNIT_SCALE, Scale
from reward_functions.reports.pages.charts.plots import histogram as bars
from reward_functions.reports.pages.page import Case, Page, Section, excerpt, one_line
from reward_functions.reports.score_report.reasons import (
    ATTRIBUTIONS,
    NO_REASON,
    ReasonCount,
    normal_form,
    remedy_of,
)
from reward_functions.reports.sheets import Sheet
from reward_functions.view.entries import Facts
from reward_functions.view.reading import Gone, decoded, is_locked, opened_in
from reward_functions.view.row_index import ReadRow, RowIndex, all_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from reward_functions.reports.pages.page import Part
    from reward_functions.scoring import Run
    from reward_functions.view.samples import ScoredSamples

ROOM: Final = 4_000
"""Bytes of a text of a row on a page."""

LINES: Final = 20
"""Reasons, and errors, of a table."""

SENTENCE: Final = 160
"""Characters of a message in a finding."""

PARTIAL: Final = "partial results of reward score"
"""The first name in the first line of such a file, as `scoring.journal` writes it."""

FULL: Final = 20_000
"""Rows up to which a page of rollouts or trajectories has all figures at once; of more, on demand:
they take seconds."""


def share_of_rows(count: int, of: int, what: str) -> str:
    """How many rows are something, as the beginning of a sentence."""
    return f"{count:,} of {of:,} {what}"


def reward_of(value: Any) -> float | None:
    """A reward as JSON has it.

    Raises:
        ValueError: it is neither null nor a finite number.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ValueError("a reward is null or a finite number")
    return float(value)


def texts_of(line: bytes) -> str:
    """All texts of a row, a line break between them."""
    return "\n".join(all_texts(decoded(row_text(line))))


def row_text(line: bytes) -> bytes:
    """The JSON object of a line: without the comma of an array, and the facts of a partial file."""
    return _item(line.split(b"\t", 1)[0])


def _item(line: bytes) -> bytes:
    """A line of an array without what stands around its object."""
    return line.strip().removeprefix(b"[").removesuffix(b"]").rstrip().removesuffix(b",")


@dataclass
class RowsResult:
    """A file of rows, read as far as it was looked at.

    Args:
        folder: resolved.
        name: of the result, relative to it.
    """

    folder: Path
    name: str
    what: ClassVar[str] = "rows"
    samples: ScoredSamples | None = None
    growing: bool = False
    index: RowIndex = field(init=False)
    _pages: dict[bool, tuple[tuple[int, bool], Page]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.index = RowIndex(self.folder, self.read, [])

    @property
    def files(self) -> list[str]:
        """The files that hold the rows, in order."""
        return [self.name]

    def advance(self, enough: Callable[[], bool]) -> None:
        """Read what came since.

        Args:
            enough: asked now and then whether to stop.

        Raises:
            Gone: it cannot be read.
        """
        self.index.advance(self.files, enough)

    @property
    def complete(self) -> bool:
        """Whether it was read to its end."""
        return self.index.complete

    def become(self, fresh: Any) -> None:  # noqa: ARG002 - of partial results
        """Take over what the file says of itself by now, and read on.

        Args:
            fresh: the same file, as it would be met now.
        """
        self.index.complete = False

    def is_held(self) -> bool:
        """Whether a process writes to it, however long ago its last row came."""
        return False

    @staticmethod
    def read(line: bytes) -> ReadRow | None:
        """The row of a line; None of a line that holds no row."""
        raise NotImplementedError

    def facts(self, *, growing: bool) -> Facts:
        """The facts for the list.

        Args:
            growing: whether it changed a moment ago.
        """
        raise NotImplementedError

    def page(self, *, whole: bool = True) -> Page:
        """Its figures; rows are added where it is shown.

        Args:
            whole: all of them, or those that take no seconds.
        """
        raise NotImplementedError

    def figures(self, *, whole: bool = True) -> Page:
        """The same, made once for the rows that are there."""
        known, now = self._pages.get(whole), (self.index.changed, self.growing)
        if known is None or known[0] != now:
            self._pages[whole] = known = now, self.page(whole=whole)
        return known[1]

    def case(self, at: int) -> Case:
        """A row for a reader.

        Raises:
            Gone, LookupError: it is not there any more.
        """
        row = decoded(row_text(self.index.line(at)))
        case = self._case(at, row)
        if self.samples is None:
            return case
        return self.samples.beside(case, row, at, len(self.index))

    def _case(self, at: int, row: Any) -> Case:
        raise NotImplementedError

    def own_page(self, at: int) -> Page | None:  # noqa: ARG002 - of trajectories
        """The page of a row; None where it has none."""
        return None

    def unread(self) -> Iterator[str]:
        """Lines of the file that are no rows."""
        if self.index.bad_lines:
            lines = (
                "1 line is" if self.index.bad_lines == 1 else f"{self.index.bad_lines:,} lines are"
            )
            yield f"{lines} not read, the first: {one_line(self.index.bad)}"
        if self.index.torn and self.index.complete and not self.growing:
            yield "the last line is half written"

    def progress(self, *, growing: bool) -> str:
        """How far it is; "" where it is complete."""
        count = len(self.index)
        if not self.index.complete:
            return f"reading: {count:,} {self.what} so far"
        return f"being written, or just ended: {count:,} {self.what}" if growing else ""


class Scores(RowsResult):
    """Results of `reward score`: objects of the Lambda's own form, as lines or as an array."""

    reward: str = ""
    version: str = ""
    scale: Scale = UNIT_SCALE
    _counted: tuple[int, list[ReasonCount], list[tuple[str, str, int]]] | None = None

    @staticmethod
    def read(line: bytes) -> ReadRow | None:
        """As `RowsResult` says."""
        line = _item(line)
        if not line:  # of an array
            return None
        row = decoded(line)
        value, explained = reward_of(row["aggregate_reward_score"]), row.get("explanation")
        if value is None:
            error = row["error"]
            return ReadRow(None, str(error["type"]), str(error["message"]))
        cut = False
        for each in row["metrics_list"]:
            cut = cut or (each["name"] == "truncated" and each["value"] == 1)
        return ReadRow(value, normal_form(explained["reason"]) if explained else "", cut=cut)

    def counted(self) -> tuple[list[ReasonCount], list[tuple[str, str, int]]]:
        """The scored rows by reason, the most frequent at the minimum first; errors likewise.

        An error is its type, the message of the first row, and how many rows have it.
        """
        if self._counted is None or self._counted[0] != self.index.changed:
            self._counted = (self.index.changed, *self._count())
        return self._counted[1:]

    def _count(self) -> tuple[list[ReasonCount], list[tuple[str, str, int]]]:
        minimum = self.bounds.minimum
        each = Counter(
            (reason, value == minimum, cut and value == minimum)
            for value, reason, cut in self.index.each()
        )
        reasons: dict[str, ReasonCount] = {}
        failures: Counter[tuple[str, str]] = Counter()
        for (reason, low, cut), rows in each.items():
            if reason.error:
                failures[reason.reason, reason.message] += rows
                continue
            found = reasons.setdefault(reason.reason, ReasonCount(reason.reason))
            found.rows += rows
            found.low += rows * low
            found.cut += rows * cut
        for found in reasons.values():
            found.remedy = remedy_of(self.reward, found.reason, found.low, found.cut)
        ordered = sorted(reasons.values(), key=lambda one: (-one.low, -one.rows))
        return ordered, [(*error, rows) for error, rows in failures.most_common()]

    @property
    def bounds(self) -> Scale:
        """The reward's scale, wide enough for every reward that is there."""
        values = [value for value in self.index.values if not isnan(value)]
        low, high = self.scale
        return Scale(min([low, *values]), max([high, *values])) if values else self.scale

    def facts(self, *, growing: bool) -> Facts:
        """The facts for the list."""
        rows = len(self.index)
        reasons, failures = self.counted()
        return Facts(
            reward=self.reward,
            version=self.version,
            rows=rows,
            mean=self.index.mean,
            unscored=sum(count for *_, count in failures),
            finding=next(self.findings(reasons, failures), ""),
            progress=self.progress(growing=growing),
        )

    def progress(self, *, growing: bool) -> str:
        """A file of results appears whole, but where a shell writes it."""
        return super().progress(growing=growing and self.index.torn)

    def findings(
        self, reasons: Sequence[ReasonCount], failures: Sequence[tuple[str, str, int]]
    ) -> Iterator[str]:
        """Findings, the worst first: unscored rows, then reasons, then truncation."""
        rows = len(self.index)
        unscored, low = sum(count for *_, count in failures), sum(each.low for each in reasons)
        yield from self.unread()
        if unscored:
            name, message, _ = failures[0]
            words = one_line(f"{name}: {message}", SENTENCE)
            yield f"{share_of_rows(unscored, rows, 'rows')} have no reward, mostly {words}"
        if low:
            of = rows - unscored
            mostly = (
                f", mostly: {one_line(reasons[0].reason, SENTENCE)}" if reasons[0].reason else ""
            )
            yield f"{low / of:.1%} at the minimum{mostly}"
        if cut := sum(each.cut for each in reasons):
            yield f"{share_of_rows(cut, rows, 'responses')} at the minimum seem cut off"
        if not rows:
            yield "no row is written yet"

    def page(self, *, whole: bool = True) -> Page:  # noqa: ARG002 - of rollouts
        """The figures; rows are added where the page is shown."""
        reasons, failures = self.counted()
        rows, middle = len(self.index), self.index.mean
        unscored = sum(count for *_, count in failures)
        words = [f"{rows - unscored:,} of {rows:,} rows scored"]
        words += [f"mean {middle:.4g}"] if middle is not None else []
        known = {"file": self.name, "reward": self.reward, "version": self.version}
        return Page(
            f"Scores of {one_line(self.name, 90)}",
            f"{'; '.join(words)}.",
            warnings=[
                f"{each[:1].upper()}{each[1:]}." for each in self.findings(reasons, failures)
            ],
            facts=[
                (name, one_line(value)) for name, value in [*known.items(), *self.more()] if value
            ],
            sections=list(self._sections(reasons, failures)),
        )

    def more(self) -> Iterator[tuple[str, str]]:
        """Further facts of a page."""
        yield from ()

    def _sections(
        self, reasons: Sequence[ReasonCount], failures: Sequence[tuple[str, str, int]]
    ) -> Iterator[Section]:
        values = self.index.rewards()
        if failures:
            errors = [
                (one_line(name, 60), f"{count:,}", one_line(message), _remedy(name))
                for name, message, count in failures[:LINES]
            ]
            heads = ("error", "rows", "the first", "what to do")
            yield Section("Unscored rows", [Sheet("Unscored rows", heads, errors, words=heads[2:])])
        if values:
            yield Section("Rewards", [self._drawn(values)])
        if [each for each in reasons if each.reason]:
            yield Section("Reasons", [_reasons(reasons, len(values))])

    def _drawn(self, values: Sequence[float]) -> Part:
        from reward_functions.rollouts.drive.figures import histogram  # noqa: PLC0415

        label = f"The rewards of {len(values):,} scored rows."
        return bars(label, histogram(values), x="reward", y="rows")

    def _case(self, at: int, row: Any) -> Case:
        explained = row.get("explanation") or {}
        value, error = row["aggregate_reward_score"], row.get("error") or {}
        facts = [
            ("row", f"{at + 1:,}"),
            *((name, _shown(each)) for name, each in explained.items()),
        ]
        facts += [(name, _shown(error.get(name))) for name in ("type", "message")] if error else []
        measured = [f"{each['name']} {each['value']:.4g}" for each in row.get("metrics_list", ())]
        facts += [("metrics", ", ".join(measured))] if measured else []
        earned = "unscored" if value is None else f"reward {value:.6g}"
        return Case(
            f"{one_line(str(row['id']), 90)} · {earned}",
            [(name, one_line(text)) for name, text in facts if text],
        )


class PartialScores(Scores):
    """Results while `reward score -o` goes on: lines with their facts, below what is scored."""

    total: int | None = None

    @staticmethod
    def read(line: bytes) -> ReadRow | None:
        """As `RowsResult` says. A row that was scored again counts once."""
        text, tab, given = line.rpartition(b"\t")
        if not tab:
            return None
        at, value, reason, _, _, signs, *error = decoded(given)
        earned = reward_of(value)
        if earned is None:
            message = decoded(text)["error"]["message"]
            return ReadRow(None, str(error[0][0]), str(message), key=int(at))
        return ReadRow(earned, str(reason), cut=bool(int(signs) & _CUT), key=int(at))

    def started(self, head: Any) -> PartialScores:
        """With what the first line says of the run."""
        self.reward, self.version = str(head["the reward"][0]), str(head["the reward's version"])
        total = head.get("rows")
        self.total = total if isinstance(total, int) and total > 0 else None
        return self

    def become(self, fresh: Any) -> None:
        """As `RowsResult` says."""
        super().become(fresh)
        if isinstance(fresh, PartialScores):
            self.reward, self.version, self.total = fresh.reward, fresh.version, fresh.total

    def is_held(self) -> bool:
        """As `RowsResult` says."""
        try:
            with opened_in(self.folder, self.name) as stream:
                return is_locked(stream)
        except Gone:
            return False

    def progress(self, *, growing: bool) -> str:
        """How far the run is: it is interrupted, where no process writes to the file."""
        count = len(self.index)
        of = "" if self.total is None else f" of {self.total:,} ({count / self.total:.0%})"
        state = "being written" if growing else "interrupted: --resume goes on"
        return f"{state}, {count:,}{of} rows"


_CUT: Final = 2
"""`CUT` of `reports.score_report.digest`."""


@dataclass
class RunScores(Scores):
    """A run over shards: the parts that are done, in their order when all are."""

    run: Run | None = None
    state: str = ""
    parts: tuple[int, int] = (0, 0)
    _files: list[str] = field(default_factory=list)

    @property
    def files(self) -> list[str]:
        """The results of the parts that are done."""
        return self._files

    def advance(self, enough: Callable[[], bool]) -> None:
        """Look which parts are done by now, and read them."""
        from reward_functions.scoring import Run, place_of  # noqa: PLC0415 - of runs alone

        run = Run.opened(place_of(str(self.folder / self.name)))
        shards, state, names = run.shards(), run.state(), run.names()
        if any((self.folder / self.name / each).is_symlink() for each in names):
            raise Gone(f"{self.name} holds links: it is not read")
        asked = run.asked
        self.reward, self.version = str(asked.reward_name), str(asked.version)
        self.scale = Scale(*map(float, asked.scale))
        self.run, self.state, self.parts = run, state.word, (state.done, state.parts)
        done = [f"{self.name}/{each.results}" for each in shards if each.is_done(names)]
        if not state.finished:  # parts end in any order: what was read is not read again
            kept = [each for each in self._files if each in done]
            done = [*kept, *(each for each in done if each not in kept)]
        self._files = done
        super().advance(enough)

    def progress(self, *, growing: bool) -> str:
        """How many parts are done."""
        if not self.index.complete:
            return super().progress(growing=growing)
        done, of = self.parts
        state = "being written" if growing and self.state == "not finished" else self.state
        return "" if state == "finished" else f"{state}: {done:,} of {of:,} parts"

    def findings(
        self, reasons: Sequence[ReasonCount], failures: Sequence[tuple[str, str, int]]
    ) -> Iterator[str]:
        """Why parts are not done stands first."""
        if self.run is not None and self.state != "finished":
            failed = self.run.failures()
            if failed:
                first = next(iter(failed.values()))
                yield f"{len(failed):,} parts failed, the first: {one_line(first, SENTENCE)}"
        yield from super().findings(reasons, failures)

    def more(self) -> Iterator[tuple[str, str]]:
        """Settings of the run."""
        if self.run is not None:
            yield "source", self.run.asked.source
            yield "function", self.run.asked.function
            yield "parameters", _shown(self.run.asked.parameters or None)


class Rollouts(RowsResult):
    """A file of `reward rollouts run`."""

    what = "rollouts"
    setup: Any = None

    @staticmethod
    def read(line: bytes) -> ReadRow | None:
        """As `RowsResult` says. The last of several lines of one rollout counts."""
        if not line.strip():
            return None
        row = decoded(line)
        key = int(row["row"]), int(row["sample"])
        status, error = str(row["status"]), str(row["error"])
        words = f"{status}: {error}" if error else status
        return ReadRow(_sum_of(row["rewards"]), words, error, key=key)

    def facts(self, *, growing: bool) -> Facts:
        """The facts for the list."""
        scorer = self._setup().get("scorer") or {}
        unscored = sum(reason.error for _, reason, _ in self.index.each())
        return Facts(
            reward=str(scorer.get("name") or ""),
            version=str(scorer.get("version") or ""),
            rows=len(self.index),
            mean=self.index.mean,
            unscored=unscored,
            finding=next(self.findings(), ""),
            progress=self.progress(growing=growing),
        )

    def _setup(self) -> dict[str, Any]:
        if self.setup is None and len(self.index):
            self.setup = decoded(self.index.line(0)).get("setup")
        return self.setup if isinstance(self.setup, dict) else {}

    def findings(self) -> Iterator[str]:
        """Findings, the worst first."""
        rows = len(self.index)
        yield from self.unread()
        failures = Counter(reason.reason for _, reason, _ in self.index.each() if reason.error)
        if failures:
            ((words, _),) = failures.most_common(1)
            count = share_of_rows(failures.total(), rows, self.what)
            yield f"{count} have no reward, mostly {one_line(words, SENTENCE)}"
        values = self.index.rewards()
        if len(values) > 1 and min(values) == max(values):
            yield f"every reward is {values[0]:.4g}: no group has an advantage"
        if not rows:
            yield "no rollout has ended yet"

    def page(self, *, whole: bool = True) -> Page:
        """The figures of the command's own page; of a large file on demand alone."""
        if not whole or not len(self.index):
            return self._short()
        from reward_functions.rollouts.drive.figures import figures_of  # noqa: PLC0415
        from reward_functions.rollouts.drive.records import read_records  # noqa: PLC0415
        from reward_functions.rollouts.drive.report_page import report_page  # noqa: PLC0415

        return report_page(figures_of(read_records(str(self.folder / self.name), texts=False)))

    def _short(self) -> Page:
        rows, middle = len(self.index), self.index.mean
        words = [f"{rows:,} {self.what}"] + ([] if middle is None else [f"mean {middle:.4g}"])
        statuses = Counter(reason.reason for _, reason, _ in self.index.each())
        counted = [
            (one_line(name, 60), f"{count:,}") for name, count in statuses.most_common(LINES)
        ]
        sheet = Sheet("How they ended", ("status", self.what), counted)
        return Page(
            f"{self.what.capitalize()} of {one_line(self.name, 90)}",
            f"{'; '.join(words)}.",
            warnings=[f"{each[:1].upper()}{each[1:]}." for each in self.findings()],
            sections=[Section(sheet.title, [sheet])],
        )

    def _case(self, at: int, row: Any) -> Case:  # noqa: ARG002 - it has a number of its own
        earned = _earned(_sum_of(row["rewards"]))
        names = ("status", "error", "scored_by", "rollout", "turns", "tool_calls", "seconds")
        facts = [("row", f"{row.get('row')}, sample {row.get('sample')}")]
        facts += [(name, _shown(row.get(name))) for name in names]
        texts = {name: row.get(name) for name in ("response", "content")}
        return Case(
            f"{one_line(str(row.get('id')), 90)} · {earned}",
            [(name, one_line(text)) for name, text in facts if text],
            [(name, excerpt(_shown(text), ROOM)) for name, text in texts.items() if text],
        )


class Trajectories(Rollouts):
    """A file of `reward rollouts run --trajectories`."""

    what = "trajectories"

    @staticmethod
    def read(line: bytes) -> ReadRow | None:
        """As `RowsResult` says."""
        if not line.strip():
            return None
        row = decoded(line)
        return ReadRow(_sum_of(row["rewards"]), str(row["status"]), key=str(row["id"]))

    def _setup(self) -> dict[str, Any]:
        return {}

    def page(self, *, whole: bool = True) -> Page:
        """As `Rollouts` says."""
        if not whole or not len(self.index):
            return self._short()
        from reward_functions.rollouts.drive.trajectories import page  # noqa: PLC0415
        from reward_functions.rollouts.record.jsonl import TrajectoryFile  # noqa: PLC0415
        from reward_functions.rollouts.record.statistics import statistics_of  # noqa: PLC0415

        return page(statistics_of(iter(TrajectoryFile(self.folder / self.name))))

    def own_page(self, at: int) -> Page | None:
        """The page of one trajectory.

        Raises:
            Gone, LookupError: it is not there any more.
            BadTrajectory: it is no trajectory.
        """
        from reward_functions.rollouts.drive.trajectories import page  # noqa: PLC0415
        from reward_functions.rollouts.record.jsonl import read  # noqa: PLC0415

        return page(read(self.index.line(at)))

    def _case(self, at: int, row: Any) -> Case:
        earned = _earned(_sum_of(row["rewards"]))
        turns = row["turns"]
        facts = [
            ("row", f"{at + 1:,}"),
            ("status", _shown(row["status"])),
            ("turns", f"{len(turns):,}"),
        ]
        return Case(
            f"{one_line(str(row['id']), 90)} · {earned}",
            [(name, one_line(text)) for name, text in facts if text],
        )


def _sum_of(rewards: Any) -> float | None:
    """The return of an episode; None where it has no reward."""
    return reward_of(fsum(map(float, rewards))) if rewards else None


def _earned(reward: Any) -> str:
    return "no reward" if reward is None else f"reward {reward:.6g}"


def _shown(value: Any) -> str:
    """A value of a row as a text; "" for null."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _remedy(error: str) -> str:
    known = ATTRIBUTIONS.get(error)
    return known.remedy if known else "read the message"


def _reasons(reasons: Sequence[ReasonCount], scored: int) -> Sheet:
    heads = ("reason", "rows", "share", "at the minimum", "try")
    rows = [
        (
            one_line(each.reason or NO_REASON),
            f"{each.rows:,}",
            f"{each.rows / scored:.1%}",
            f"{each.low:,}",
            f"{each.remedy.attempt} (perhaps {each.remedy.cause})" if each.remedy else "",
        )
        for each in reasons[:LINES]
    ]
    left_out = len(reasons) - len(rows)
    note = f"{left_out:,} more reasons are left out." if left_out else ""
    return Sheet("Reasons", heads, rows, note, words=("try",))
