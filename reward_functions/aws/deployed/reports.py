"""Reports of checks for machines and for people elsewhere: JSON, JUnit's XML, Markdown.

What a function answered stands in its findings, and anybody may have written that function. In XML
a character that XML 1.0 has not is shown by its escape, and the rest is text, never CDATA. In
Markdown it stands in a span of code, so that it makes no link, picture, mention or column.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree as ET

from reward_functions.aws.arn import BadArn, FunctionArn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reward_functions.aws.deployed.findings import CheckFinding, CheckReport

NOT_XML: Final = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What an XML document cannot hold, not even escaped. Source: XML 1.0, 2.2, "Char"."""

UNSEEN: Final = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
"""What no page shows, or shows elsewhere than it stands."""

MARKS: Final = {
    "ok": "✅ ok",
    "warning": "⚠️ warning",
    "failure": "❌ failure",
    "unknown": "unknown",
}

FENCE: Final = re.compile(r"`+")


def as_json(reports: Sequence[CheckReport]) -> str:
    """A list with an object for each function."""
    rows = [asdict(report) | {"passed": report.passed} for report in reports]
    return f"{json.dumps(rows, indent=2)}\n"


def as_junit(reports: Sequence[CheckReport]) -> str:
    """A suite for each function and a case for each question.

    A failure is a failure and what could not be checked is skipped; a warning passes, and its
    message is the case's output.
    """
    suites = ET.Element("testsuites", name="reward deployed check")
    for report in reports:
        suites.append(_suite(report))
    ET.indent(suites)
    return f"{ET.tostring(suites, encoding='utf-8', xml_declaration=True).decode()}\n"


def as_markdown(reports: Sequence[CheckReport]) -> str:
    """A table for each function, for a comment below a pull request; an ARN is never broken."""
    return "\n".join("\n".join(_section(report)) for report in reports)


RENDERED: Final[Mapping[str, Callable[[Sequence[CheckReport]], str]]] = {
    "json": as_json,
    "junit": as_junit,
    "markdown": as_markdown,
}
"""The formats, by name."""


def _suite(report: CheckReport) -> ET.Element:
    verdicts = [each.verdict for each in report.findings]
    suite = ET.Element(
        "testsuite",
        name=_xml(report.arn),
        tests=str(len(verdicts)),
        failures=str(verdicts.count("failure")),
        errors="0",
        skipped=str(verdicts.count("unknown")),
    )
    for finding in report.findings:
        case = ET.SubElement(
            suite, "testcase", classname=_xml(_name(report.arn)), name=_xml(finding.question)
        )
        message = _xml(finding.message)
        if finding.verdict == "failure":
            failure = ET.SubElement(case, "failure", type="failure", message=message)
            failure.text = _xml("\n".join([finding.message, *_example(finding)]))
        elif finding.verdict == "unknown":
            ET.SubElement(case, "skipped", message=message)
        elif finding.verdict == "warning":
            ET.SubElement(case, "system-out").text = f"warning: {message}"
    return suite


def _section(report: CheckReport) -> list[str]:
    counts: dict[str, int] = {}
    for finding in report.findings:
        counts[finding.verdict] = counts.get(finding.verdict, 0) + 1
    summary = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    rows = [
        f"| {MARKS[each.verdict]} | {_code(each.question)} | {_code(_whole(each))} |"
        for each in report.findings
        if each.verdict != "ok"
    ]
    table = ["| | question | answer |", "| --- | --- | --- |", *rows, ""] if rows else []
    verdict = "passed" if report.passed else "failed"
    head = f"### {_code(_name(report.arn))} {verdict}"
    return [head, "", _code(report.arn), "", f"{summary}.", "", *table]


def _name(arn: str) -> str:
    """A function's name with its qualifier; what is no ARN stays."""
    try:
        parsed = FunctionArn.parse(arn)
    except BadArn:
        return arn
    return f"{parsed.name}:{parsed.qualifier}" if parsed.qualifier else parsed.name


def _whole(finding: CheckFinding) -> str:
    return "; ".join([finding.message, *_example(finding)])


def _example(finding: CheckFinding) -> list[str]:
    example = finding.example
    if example is None:
        return []
    seen = f"{example.where}: {example.answer!r} earns {example.score:g}"
    return [seen, f"see it: {example.command}"] if example.command else [seen]


def _xml(text: str) -> str:
    return NOT_XML.sub(_escape, text)


def _code(text: str) -> str:
    """One line in a span of code, as GitHub and GitLab read it in a table."""
    line = UNSEEN.sub(_escape, text).replace("|", "\\|")
    fence = "`" * (max((len(run) for run in FENCE.findall(line)), default=0) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") or not line else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape", "surrogatepass").decode()
