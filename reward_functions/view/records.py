"""Files of one record: audits, comparisons, calibrations, evaluations, baselines, jobs; and pages.

A row of `DOCUMENTS` says how a record is known, what the list says of it, and what makes its page:
that of the command which wrote it. A page of this project is shown as it is, without scripts.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, fields
from datetime import datetime
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.reports.pages.page import Page, Section, one_line
from reward_functions.reports.sheets import Sheet
from reward_functions.view.entries import Facts
from reward_functions.view.reading import Gone, decoded, whole
from reward_functions.view.rows import share_of_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from reward_functions.audit.results import Checked
    from reward_functions.jobs.figures import Series
    from reward_functions.reports.pages.page import Part
    from reward_functions.view.entries import Kind

SENTENCE: Final = 200
"""Characters of a finding."""


NOTES: Final = 100
"""Notes of a record that its page shows."""


class DocumentKind(NamedTuple):
    """How a record of a kind is read.

    Args:
        marks: names of its fields, with which its text is searched before it is read.
        known: whether an object is one.
        facts: what the list says of it.
        page: its page.
    """

    marks: tuple[bytes, ...]
    known: Callable[[Mapping[str, Any]], bool]
    facts: Callable[[Any], Facts]
    page: Callable[[Any], Page]


@dataclass
class RecordResult:
    """A record that is read whole.

    Args:
        folder: resolved.
        name: of the file, relative to it.
        kind: which one.
    """

    folder: Path
    name: str
    kind: Kind
    index: None = None
    complete: bool = True

    def advance(self, enough: Callable[[], bool]) -> None:
        """Nothing: it is read where it is asked."""

    def become(self, fresh: object) -> None:
        """Nothing, as above."""

    def facts(self, *, growing: bool) -> Facts:  # noqa: ARG002 - as those of rows
        """The facts for the list.

        Raises:
            Gone: it cannot be read.
            ValueError: it is no record, or is half written.
        """
        return DOCUMENTS[self.kind].facts(self._found())

    def page(self, *, whole: bool = True) -> Page:  # noqa: ARG002 - as those of rows
        """Its page.

        Raises:
            Gone, ValueError: as above.
        """
        return DOCUMENTS[self.kind].page(self._found())

    def _found(self) -> Any:
        return decoded(whole(self.folder, self.name))


def _sound(kind: Any, item: Mapping[str, Any], **more: Any) -> Any:
    """A dataclass or a named tuple of the fields that it has; others are of a later version."""
    names = getattr(kind, "_fields", None) or [each.name for each in fields(kind)]
    return kind(**{name: item[name] for name in names if name in item and name not in more}, **more)


def _checked(item: Any) -> Checked:
    """An audit or a comparison as `audit.rendering.audit_record` wrote it."""
    from reward_functions.audit.results import (  # noqa: PLC0415 - of audits alone
        Audit,
        Comparison,
        Figure,
        Finding,
        Gate,
        SeenRow,
    )
    from reward_functions.reports.measured import Measured  # noqa: PLC0415

    texts = {"response": "", "reason": "", "reference": ""}
    seen = [
        _sound(Finding, each, rows=[_sound(SeenRow, texts | row) for row in each["rows"]])
        for each in item["findings"]
    ]
    return _sound(  # type: ignore[no-any-return]
        Comparison if item["kind"] == "comparison" else Audit,
        item,
        figures=[_sound(Figure, each) for each in item["figures"]],
        findings=seen,
        gates=[_sound(Gate, each) for each in item["gates"]],
        measured=_sound(
            Measured, item["measured"], items="rows" if item["kind"] == "comparison" else "answers"
        ),
        notes=item.get("notes", ())[:NOTES],
    )


def _audit_facts(item: Any) -> Facts:
    done = _checked(item)
    broken = [each for each in done.findings if each.verdict == "broken"]
    worst = [*done.failures, *(f"{each.id} {each.title}: {each.message}" for each in broken)]
    rows = done.data.get("rows")
    return Facts(
        reward=done.target["name"] + (f", {item['other']['name']}" if "other" in item else ""),
        version=str(done.target.get("version") or ""),
        rows=rows if isinstance(rows, int) else None,
        unscored=done.measured.missing if done.measured.measured or done.measured.missing else None,
        finding=one_line(worst[0], SENTENCE) if worst else "",
    )


def _audit_page(item: Any) -> Page:
    from reward_functions.audit.rendering import audit_page  # noqa: PLC0415 - of audits alone

    texts = any("response" in row for each in item["findings"] for row in each["rows"])
    return audit_page(_checked(item), texts=texts)


def _evaluation(item: Any) -> Any:
    from reward_functions.jobs.evaluation.evaluation_record import (  # noqa: PLC0415
        EvaluationRecord,
    )

    return EvaluationRecord.model_validate(item)


def _evaluation_facts(item: Any) -> Facts:
    found = _evaluation(item)
    wrong = [found.conclusion] if found.verdict != "better" else []
    return Facts(
        reward=found.reward,
        version=str(found.reward_version or ""),
        rows=found.prompts,
        mean=found.greedy.tuned,
        unscored=found.greedy.left_out,
        finding=one_line(next(iter([*wrong, *found.warnings]), ""), SENTENCE),
    )


def _evaluation_page(item: Any) -> Page:
    from reward_functions.jobs.evaluation.page import page  # noqa: PLC0415 - of evaluations alone

    return page(_evaluation(item))


def _baseline(item: Any) -> Any:
    from reward_functions.jobs.baseline import BaselineRecord  # noqa: PLC0415 - of jobs alone

    return BaselineRecord.model_validate(item)


def _baseline_facts(item: Any) -> Facts:
    from reward_functions.jobs.baseline import judged  # noqa: PLC0415 - of jobs alone

    found = _baseline(item)
    answers = found.scored + found.unscored
    wrong = []
    if found.unscored or not answers:
        wrong = [f"{share_of_rows(found.unscored, answers, 'answers')} have no reward"]
    elif not found.tuned:
        wrong = [each.message for each in judged(found) if each.verdict != "ok"]
    return Facts(
        reward=found.reward,
        version=str(found.version or ""),
        rows=answers,
        mean=found.mean.value if found.mean else None,
        unscored=found.unscored,
        finding=one_line(next(iter(wrong), ""), SENTENCE),
    )


def _baseline_page(item: Any) -> Page:
    from reward_functions.jobs.baseline import judged, page  # noqa: PLC0415 - of jobs alone

    found = _baseline(item)
    findings = [] if found.tuned and found.mean else list(judged(found))
    return page(found, findings, found.asked, found.facts())


def _card_facts(item: Any) -> Facts:
    kappa, verdict = item["agreement"]["wrong"].get("kappa"), item.get("verdict")
    found = "" if kappa is None else f"kappa {_interval(kappa)} with the label of people"
    if isinstance(verdict, str):  # which a card of an earlier version has not
        found = "" if verdict == "fit" else f"{verdict}: {item.get('why')}"
    return Facts(
        reward=str(item["judge"]),
        version=str(item["version"]),
        rows=int(item["cases"]),
        unscored=int(item["missing"]),
        finding=one_line(found, SENTENCE),
    )


def _card_page(item: Any) -> Page:
    """The figures of a card; the page beside it has its charts, too."""
    known = ("judge", "version", "models", "cases", "prompts", "missing", "file", "day", "calls")
    rows = [
        (f"{name}, invalid {way}", _interval(figure))
        for way, values in item["agreement"].items()
        for name, figure in values.items()
    ]
    rows += [(name, _interval(item[name])) for name in ("bias", "length bias")]
    names = [str(each) for each in item["classes"]]
    table = [
        (f"people: {name}", *(f"{each:,}" for each in counts))
        for name, counts in zip(names, item["confusion"], strict=True)
    ]
    heads = ("label", *(f"judge: {name}" for name in names), "invalid")
    return Page(
        f"Calibration of {item['judge']}",
        "The judge beside people. The page of the card, which lies beside this file, has charts.",
        facts=[(name, one_line(_words(item.get(name)))) for name in known],
        sections=[
            Section("Agreement", [Sheet("Agreement", ("figure", "value"), rows)]),
            Section("Labels and ratings", [Sheet("Labels and ratings", heads, table)]),
        ],
    )


def _interval(figure: Mapping[str, Any]) -> str:
    value, interval = figure["value"], figure.get("interval")
    if value is None:
        return "not known"
    return f"{value:.3f}" + (f" ({interval[0]:.3f} to {interval[1]:.3f})" if interval else "")


def _job_facts(item: Any) -> Facts:
    tags, failure = item.get("tags") or {}, str(item.get("failure") or "")
    over = item["status"] in ("succeeded", "failed", "stopped")
    wrong = f"{item['status']}: {failure}" if failure else str(item["status"])
    return Facts(
        reward=str(tags.get("reward") or ""),
        finding="" if item["status"] == "succeeded" else one_line(wrong, SENTENCE),
        progress="" if over else str(item["status"]),
    )


def _job_page(item: Any) -> Page:
    """The page of a job, as it was when `reward job show --json` wrote it."""
    from reward_functions.jobs.job import Job, MlflowRun, Progress  # noqa: PLC0415 - of jobs alone
    from reward_functions.jobs.page import JobView, job_page  # noqa: PLC0415

    progress, run = item.get("progress"), item.get("mlflow")
    created = datetime.fromisoformat(item["created"])
    ended = datetime.fromisoformat(item["ended"]) if item.get("ended") else None
    job = _sound(
        Job,
        item,
        created=created,
        ended=ended,
        progress=_sound(Progress, progress) if progress else None,
        mlflow=_sound(MlflowRun, run) if run else None,
    )
    heads = ("question", "verdict", "answer")
    beside = [
        (str(each["question"]), str(each["verdict"]), one_line(str(each["message"])))
        for each in item.get("deployed") or ()
    ]
    sheets = [Sheet("Beside what was deployed then", heads, beside, words=heads)] if beside else []
    simulated = bool(item.get("simulation"))
    seen = JobView(job, (), ended or created, simulated=simulated, recorded=True)
    return job_page(seen, sheets)


def _series(item: Any) -> list[Series]:
    from reward_functions.jobs.figures import LARGEST, Series  # noqa: PLC0415 - of jobs alone

    return [
        Series(
            str(each["name"]),
            str(each["split"]),
            each["unit"],
            tuple(
                (float(at), float(value))
                for at, value in each["points"]
                if max(abs(at), abs(value)) <= LARGEST
            ),
        )
        for each in item["series"]
    ]


def _metrics_facts(item: Any) -> Facts:
    from reward_functions.jobs.figures import reads  # noqa: PLC0415 - of jobs alone

    seen = [each for each in item["signs"] if each["state"] == "seen"]
    rewards = [each for each in _series(item) if reads(each, "reward", "mean") and each.points]
    return Facts(
        mean=rewards[0].values[-1] if rewards else None,
        rows=max((len(each.points) for each in _series(item)), default=0),
        finding=one_line(f"{seen[0]['sign']}: {seen[0]['figure']}", SENTENCE) if seen else "",
    )


def _metrics_page(item: Any) -> Page:
    from reward_functions.jobs.figures import (  # noqa: PLC0415 - of jobs alone
        NO_COURSE,
        charts,
        constant,
        overview,
    )

    found = _series(item)
    seen = [(each["sign"], each["state"], each["figure"] or "") for each in item["signs"]]
    heads = ("sign", "state", "figure")
    courses: list[Part] = [*charts(found)] or [NO_COURSE]
    unchanged = constant(found)
    return Page(
        f"Figures of {one_line(str(item['job']), 90)}{' (simulation)' * bool(item['simulation'])}",
        facts=[("note", one_line(str(each))) for each in item["notes"][:NOTES]],
        sections=[
            Section("Signs", [Sheet("Signs", heads, seen, words=heads)]),
            Section("Courses", [*courses, unchanged] if unchanged else courses),
            *([Section("The figures", [overview(found, "The figures")])] if found else []),
        ],
    )


def _words(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_words, value))
    if isinstance(value, dict):
        return ", ".join(f"{name} {_words(each)}" for name, each in value.items())
    return "" if value is None else str(value)


def _is_audit(kind: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda item: (
        str(item.get("schema")).startswith("reward-audit/1") and (item.get("kind") == kind)
    )


def _has(*names: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda item: all(name in item for name in names)


DOCUMENTS: Final[Mapping[Kind, DocumentKind]] = {
    "audit": DocumentKind((b'"reward-audit/1"',), _is_audit("audit"), _audit_facts, _audit_page),
    "comparison": DocumentKind(
        (b'"reward-audit/1"',), _is_audit("comparison"), _audit_facts, _audit_page
    ),
    "evaluation": DocumentKind(
        (b'"evaluation"',),
        _has("evaluation", "greedy", "verdict"),
        _evaluation_facts,
        _evaluation_page,
    ),
    "baseline": DocumentKind(
        (b'"baseline"',), _has("baseline", "at_minimum", "grader"), _baseline_facts, _baseline_page
    ),
    "calibration": DocumentKind(
        (b'"judge"',), _has("judge", "agreement", "confusion"), _card_facts, _card_page
    ),
    "job": DocumentKind(
        (b'"driver"',), _has("driver", "status", "model", "created"), _job_facts, _job_page
    ),
    "metrics": DocumentKind(
        (b'"series"', b'"job"'), _has("job", "series", "signs"), _metrics_facts, _metrics_page
    ),
}


BEGINS: Final = re.compile(
    rb'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    rb'<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
    rb"style-src 'unsafe-inline'(?:; script-src 'sha256-[A-Za-z0-9+/]{43}=')?\">\n"
    rb'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
)
"""The first bytes of every page of this project, of any version: its policy holds for the rest."""

_ACTIVE: Final = re.compile(
    r"<(meta|script|base|link|form|i?frame|frameset|object|embed|portal)(?![\w-])", re.IGNORECASE
)
KIT_TAGS: Final = {"meta": 3, "script": 1}
"""Tags that act, of a page of this project, and how often each is there at most."""


@dataclass
class PageResult:
    """A page that a command wrote, which is shown as it is.

    Args:
        folder: resolved.
        name: of the file, relative to it.
    """

    folder: Path
    name: str
    index: None = None
    complete: bool = True

    def advance(self, enough: Callable[[], bool]) -> None:
        """Nothing: it is read where it is asked."""

    def become(self, fresh: object) -> None:
        """Nothing, as above."""

    def text(self) -> str:
        """The document.

        Raises:
            Gone: it cannot be read, ends before its end, or holds tags that act and that no page
                of this project has.
        """
        found = whole(self.folder, self.name).decode("utf-8", "replace")
        if "</html>" not in found[-64:]:
            raise Gone(f"{self.name} is half written: it has no end")
        acting = Counter(each[1].lower() for each in _ACTIVE.finditer(found))
        if other := min(acting - Counter(KIT_TAGS), default=""):
            raise Gone(
                f"{self.name} has a <{other}> that no page of this project has: open it alone"
            )
        return found

    def facts(self, *, growing: bool) -> Facts:  # noqa: ARG002 - as those of rows
        """The facts for the list.

        Raises:
            Gone: as above.
        """
        head = PageHead()
        head.feed(self.text()[:HEAD_CHARACTERS].partition("<section")[0])
        reward, version = head.reward
        finding = next(iter([*head.warnings, head.lead]), "")
        return Facts(reward=reward, version=version, finding=one_line(finding, SENTENCE))


HEAD_CHARACTERS: Final = 1 << 17
"""Of a page, within which its title, its warnings and its facts stand."""

_REWARD: Final = re.compile(r"([\w.@-]{1,80}), version (\w{1,20})")


class PageHead(HTMLParser):
    """The title, the lead, the warnings and the reward of a page of this project."""

    def __init__(self) -> None:
        super().__init__()
        self.title = self.lead = ""
        self.warnings: list[str] = []
        self.reward = "", ""
        self._kind = ""
        self._text: list[str] = []
        self._name = ""
        self._link = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """As `HTMLParser` says."""
        kind = str(dict(attrs).get("class") or "").partition(" ")[0]
        self._link = tag == "a"
        if tag in ("title", "dt", "dd") or (tag == "p" and kind in _SENTENCES):
            self._kind, self._text = kind if tag == "p" else tag, []

    def handle_data(self, data: str) -> None:
        """As above."""
        if self._kind and not self._link:
            self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        """As above."""
        self._link = False
        if not self._kind or tag not in ("title", "dt", "dd", "p"):
            return
        text = "".join(self._text).strip()
        if self._kind in _SENTENCES[1:]:
            self.warnings.append(text.partition(". ")[2])
        elif self._kind == "dd" and self._name == "reward" and (found := _REWARD.match(text)):
            self.reward = found[1], found[2]
        elif self._kind == "dt":
            self._name = text
        elif self._kind in ("title", "lead"):
            setattr(self, self._kind, getattr(self, self._kind) or text)
        self._kind = ""


_SENTENCES: Final = ("lead", "worst", "warning", "failure")
