"""An audit or a comparison as JSON, JUnit, Markdown, lines for GitHub, tables, and a page.

JSON is `reward-audit/1`: `schema.json` beside this file describes it, and inside 1 it only gains.
Texts of responses are data: they stand in JSON and on a page where they are asked for, in Markdown
as code, and in JUnit never.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from xml.etree import ElementTree as ET

from reward_functions.audit.gates import figure_text
from reward_functions.audit.results import Audit, Comparison, pays_wrong
from reward_functions.aws.deployed.findings import code_span, xml_text
from reward_functions.reports.measured import Measured
from reward_functions.reports.pages.charts.rows import Row, Span, spans
from reward_functions.reports.pages.page import Case, Concern, Page, Section, excerpt
from reward_functions.reports.sheets import Sheet, escaped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from reward_functions.audit.results import Checked, Figure, Finding, Gate, SeenRow
    from reward_functions.reports.pages.charts.drawing import Chart
    from reward_functions.reports.pages.page import Kind

SCHEMA: Final = "reward-audit/1"

SCHEMA_FILE: Final = Path(__file__).with_name("schema.json")
"""The JSON Schema of `reward-audit/1`."""

MARKS: Final[Mapping[str, str]] = {
    "held": "✅ held",
    "broken": "❌ broken",
    "undecided": "⚠️ undecided",
    "accepted": "accepted",
    "absent": "⚠️ not measured",
}

OPEN: Final = ("place", "score", "wanted", "hits", "of", "such", "before")
"""What JSON has of a row where nobody asks for texts."""

ROOM: Final = 1_500
"""Bytes of a response on a page."""

NOTED: Final = 3
"""Findings without a gate that a page begins with."""


def audit_record(done: Checked, *, texts: bool = False) -> dict[str, Any]:
    """The whole as JSON's types.

    Args:
        done: an audit or a comparison.
        texts: whether responses are shown.
    """
    kind = "comparison" if isinstance(done, Comparison) else "audit"
    return {
        "schema": SCHEMA,
        "kind": kind,
        "target": dict(done.target),
        **({"other": dict(done.other)} if isinstance(done, Comparison) else {}),
        "data": dict(done.data),
        "notes": list(done.notes),
        "figures": [asdict(each) for each in done.figures],
        "findings": [_finding(each, texts=texts) for each in done.findings],
        "gates": [asdict(each) for each in done.gates],
        "measured": {
            each: getattr(done.measured, each) for each in ("measured", "missing", "unasked")
        },
        "passed": done.passed,
        "status": done.status,
        "seconds": round(done.seconds, 3),
        "calls": done.calls,
        "dollars": done.dollars,
    }


def _finding(finding: Finding, *, texts: bool) -> dict[str, Any]:
    rows = [each._asdict() for each in finding.rows]
    if not texts:
        rows = [{key: row[key] for key in OPEN} for row in rows]
    return asdict(finding) | {"rows": rows}


def audit_json(done: Checked, *, texts: bool = False) -> str:
    """One object of `reward-audit/1`."""
    return f"{json.dumps(audit_record(done, texts=texts), indent=2)}\n"


def audit_junit(done: Checked, *, texts: bool = False) -> str:  # noqa: ARG001 - never
    """A suite with a case for each gate, and one for what was measured; never a response.

    A gate that is broken, undecided or not measured is a failure. One that is accepted is skipped
    with its reason.
    """
    failed = done.failed
    skipped = [each for each in done.gates if each.decision == "accepted"]
    errors = 1 if done.nothing else 0
    suite = ET.Element(
        "testsuite",
        name=xml_text(done.called),
        tests=str(len(done.gates) + 1),
        failures=str(len(failed)),
        errors=str(errors),
        skipped=str(len(skipped)),
        time=f"{done.seconds:.3f}",
    )
    case = ET.SubElement(suite, "testcase", classname=xml_text(done.called), name="measured")
    if errors:
        ET.SubElement(case, "error", message=xml_text(done.nothing))
    for gate in done.gates:
        case = ET.SubElement(
            suite, "testcase", classname=xml_text(done.called), name=xml_text(gate.expression)
        )
        if gate in failed:
            ET.SubElement(case, "failure", type=gate.decision, message=xml_text(done.why(gate)))
        elif gate in skipped:
            ET.SubElement(case, "skipped", message=xml_text(gate.message))
    suites = ET.Element("testsuites", name="reward")
    suites.append(suite)
    ET.indent(suites)
    return f"{ET.tostring(suites, encoding='utf-8', xml_declaration=True).decode()}\n"


def audit_markdown(done: Checked, *, texts: bool = False) -> str:
    """Tables for a comment below a pull request."""
    lines = [f"### {code_span(done.called)}", "", f"**{escaped(done.verdict)}**", ""]
    lines += [f"{code_span(each)}  " for each in done.notes]
    lines += ["", "| | gate | figure |", "| --- | --- | --- |"] if done.gates else []
    for gate in done.gates:
        cells = (code_span(each) for each in (gate.expression, _gate_text(gate)))
        lines.append(f"| {MARKS[gate.decision]} | {' | '.join(cells)} |")
    worst = [each for each in done.findings if each.verdict in ("broken", "accepted")]
    if worst:
        lines += ["", "| finding | what | such as | rows |", "| --- | --- | --- | --- |"]
        lines += [
            f"| {each.id} {each.title} | {code_span(each.message)} "
            f"| {code_span(next((row.such for row in each.rows if row.such), '–'))} "
            f"| {code_span(_places(each, texts=texts))} |"
            for each in worst
        ]
    if isinstance(done, Comparison) and done.figures:
        for sheet in audit_sheets(done)[-2:]:
            lines += ["", *sheet.markdown()]
    end = [] if done.nothing else ["", f"{done.measured.sentence}."]
    return "\n".join([*lines, *end, ""])


def _places(finding: Finding, *, texts: bool) -> str:
    def one(row: SeenRow) -> str:
        beside = f", reference {row.reference}" if row.reference else ""
        return f"{row.place}: {row.response!r}{beside}" if texts else row.place

    return "; ".join(dict.fromkeys(map(one, finding.rows))) or "–"


def github_lines(done: Checked) -> list[str]:
    """A `::error` command for each gate that does not hold, as GitHub's runner reads it.

    Source: GitHub, "Workflow commands for GitHub Actions": "%", CR and LF are escaped.
    """
    escape = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
    return [
        f"::error title=reward {_kind(done)}::{each.translate(escape)}" for each in done.failures
    ]


def _kind(done: Checked) -> str:
    return "compare" if isinstance(done, Comparison) else "audit"


def unmade(names: Sequence[str], why: str) -> Checked:
    """The output where nothing could be looked at: no figure, no gate, the status 2.

    Args:
        names: of the target, or of the two.
        why: one sentence.
    """
    blank = dict.fromkeys(("kind", "version", "digest", "convention"), "")
    one, *others = (blank | {"name": name} for name in names)
    known: dict[str, Any] = {
        **dict.fromkeys(("figures", "findings", "gates"), ()),
        "target": one,
        "data": {"file": "", "rows": 0, "prompts": 0, "sha256": ""},
        "measured": Measured("rows", 0),
        "notes": [f"could not be {'compared' if others else 'audited'}: {why}"],
    }
    return Comparison(other=others[0], **known) if others else Audit(**known)


ORDER: Final = ("broken", "accepted", "note", "untested", "ok")
"""Verdicts as a page shows them."""

SEEN: Final = ("broken", "accepted", "note")
"""Verdicts that a short report shows; the others it counts."""


def short(done: Checked) -> tuple[list[Sheet], str]:
    """The findings that need a look, and a line that counts the rest and the gates that hold."""
    found = audit_sheets(done)[-2]
    rows = [
        row for row, each in zip(found.rows, done.findings, strict=True) if each.verdict in SEEN
    ]
    verdicts = [each.verdict for each in done.findings]
    held = sum(each.decision in ("held", "accepted") for each in done.gates)
    counted = [f"{verdicts.count('ok')} classes and properties are ok"]
    if untested := verdicts.count("untested"):
        counted.append(f"{untested} not tested")
    counted.append(f"{held} of {len(done.gates)} gates hold")
    if undecided := sum(each.decision == "undecided" for each in done.gates):
        counted.append(f"{undecided} undecided")
    return [replace(found, rows=rows)] if rows else [], ", ".join(counted)


def audit_sheets(done: Checked) -> list[Sheet]:
    """The tables of a terminal and of a page: gates, findings, other figures."""
    figures = {each.id: each for each in done.figures}
    of_findings = {each.figure for each in done.findings}

    def rate_of(finding: Finding) -> str:
        figure = figures.get(finding.figure)
        if figure is None or figure.value is None or finding.verdict in ("note", "untested"):
            return finding.message
        value, _, rest = _value(figure).partition(" (")
        interval = rest.rpartition(", ")[0]
        return f"{value} ({interval})" if interval else value

    gates = Sheet(
        "gates",
        ("gate", "decision", "figure"),
        [(each.expression, each.decision, _gate_text(each)) for each in done.gates],
        words=("decision", "figure"),
    )
    return [
        *([gates] if done.gates else []),
        Sheet(
            "classes and properties",
            ("id", "what", "verdict", "prompts", "rate"),
            [
                (each.id, each.title, each.verdict, f"{each.count:,} of {each.n:,}", rate_of(each))
                for each in done.findings
            ],
            words=("what", "verdict", "rate"),
        ),
        Sheet(
            "figures" if isinstance(done, Comparison) else "other figures",
            ("figure", "value"),
            [(each.id, _value(each)) for each in done.figures if each.id not in of_findings],
            words=("value",),
        ),
    ]


def _value(figure: Figure) -> str:
    return figure_text(figure).removeprefix(f"{figure.id} ").removeprefix("is ")


def _gate_text(gate: Gate) -> str:
    return gate.message.removeprefix(f"{gate.expression}: ")


def audit_page(done: Checked, *, texts: bool = True) -> Page:
    """The page: the worst first, every figure with its interval, the rows that show it.

    Args:
        done: an audit or a comparison.
        texts: whether responses are shown.
    """
    worst = sorted(
        done.findings,
        key=lambda one: (ORDER.index(one.verdict), not pays_wrong(one.figure), -one.count),
    )
    sheets = [
        replace(each, title=each.title.capitalize())
        for each in audit_sheets(replace(done, findings=worst))
    ]
    shown = [each for each in worst if each.rows and each.verdict != "ok"]
    drawn = _chart(done.figures)
    known = {**done.target, **done.data}
    known |= {f"B's {key}": each for key, each in getattr(done, "other", {}).items()}
    facts = [(key, str(each)) for key, each in known.items() if each]
    sections = [
        *(Section(each.title, [each] if each.rows else []) for each in (sheets[-2], *sheets[:-2])),
        *([Section("Rates with their 95 % intervals", [drawn])] if drawn else []),
        Section("Examples", [_case(each, texts=texts) for each in shown]),
        Section(sheets[-1].title, [sheets[-1]] if sheets[-1].rows else []),
        Section("What was looked at", [*done.notes, done.measured.sentence, Case("", facts)]),
    ]
    kept = [each for each in sections if each.parts]
    return Page(
        f"{type(done).__name__} of {done.called}",
        _sentence(done.verdict),
        sections=kept,
        concerns=list(concerns_of_audit(done)),
    )


KINDS: Final[tuple[tuple[str, Kind, str], ...]] = (
    ("exploit", "labels", "Wrong answers are paid"),
    ("fp", "labels", "Responses that labels call wrong are paid"),
    ("fn", "labels", "Right answers are not paid"),
    ("lost", "labels", "B does not pay what A pays"),
    ("flips", "labels", "Labels are against the rows that flip"),
    ("kappa", "labels", "The judge agrees too little with people"),
    ("accuracy", "labels", "The judge agrees too little with people"),
    ("unscored", "unscored", "Rows have no score"),
    ("contract", "reasons", "The contract does not hold"),
    ("determinism", "reasons", "The same answer does not earn the same again"),
    ("bias", "reasons", "The judge is biased"),
    ("", "reasons", "A gate is broken"),
)
"""The kind of a broken gate and its words, by the beginning of its figure's name."""


def concerns_of_audit(done: Checked) -> Iterator[Concern]:
    """Gates that do not hold, and findings of an audit that no gate holds."""
    if done.nothing:
        yield Concern("failed", _sentence(done.nothing))
    for gate in done.failed:
        why = done.why(gate)
        if gate.decision == "broken":
            kind, words = next(
                (kind, words) for name, kind, words in KINDS if gate.figure.startswith(name)
            )
            yield Concern(kind, _sentence(f"{words}: {why}"), "Gates")
        else:
            yield Concern("other", _sentence(why), "Gates")
    notes = [each for each in done.findings if each.verdict == "note"]
    for finding in notes[:NOTED] if isinstance(done, Audit) else ():
        words = f"{finding.id}, {finding.title}: {finding.message}"
        yield Concern("other", _sentence(words), "Classes and properties")


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:].removesuffix('.')}."


def _case(finding: Finding, *, texts: bool) -> Case:
    """A finding; each of its rows is behind a click where responses are shown."""
    such = next((row.such for row in finding.rows if row.such), "")
    facts = [("found", finding.message), ("such as", such), ("rows", _places(finding, texts=False))]
    rows = [(_earned(row), "\n\n".join(filter(None, _texts(row)))) for row in finding.rows]
    title = f"{finding.id}: {finding.title}"
    return Case(title, [each for each in facts if each[1]], rows if texts else [])


def _earned(row: SeenRow) -> str:
    """What a row earned, on one line."""
    gave = [f"earned {_number(row.score)}"]
    if row.before is not None:
        gave = [f"A {row.before:g}, B {_number(row.score)}"]
    gave += [f"limit {row.wanted:g}"] if row.wanted is not None else []
    gave += [f"at {row.hits:,} of {row.of:,} prompts"] if row.of else []
    return f"{row.place}: {'; '.join(gave)}"


def _texts(row: SeenRow) -> Iterator[str]:
    yield excerpt(row.response, ROOM)
    yield f"reference: {row.reference}" if row.reference else ""
    yield row.reason


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"


def _chart(figures: Sequence[Figure]) -> Chart | None:
    rows = [
        Row(each.id, [Span(each.value, (each.low, each.high))])
        for each in figures
        if each.unit == "share"
        and each.value is not None
        and each.low is not None
        and each.high is not None
    ]
    if not rows:
        return None
    return spans("Each rate with its 95 % interval.", rows, x="share of the prompts")


FORMATS: Final[Mapping[str, Callable[..., str]]] = {
    "json": audit_json,
    "junit": audit_junit,
    "markdown": audit_markdown,
    "html": lambda done, *, texts=False: audit_page(done, texts=texts).html(),
}
"""The formats that are written, by name."""

SUFFIXES: Final = {".json": "json", ".xml": "junit", ".md": "markdown", ".html": "html"}
"""The format of a file by the end of its name."""
