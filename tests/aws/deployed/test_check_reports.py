"""A check's report as JSON, JUnit and Markdown: what a hostile function says stays text."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree as ET

import pytest

from reward_functions.aws.deployed import CheckFinding, CheckReport
from reward_functions.aws.deployed.findings import RENDERED, CheckExample

ARN = (
    "arn:aws-us-gov:lambda:us-gov-west-1:123456789012:function:"
    "SageMaker-reward-a-rather-long-stage-a-rather-long-deployment:17"
)

HOSTILE = {
    "the end of CDATA": "a ]]> b <![CDATA[ c",
    "an entity": '<!DOCTYPE x [<!ENTITY y SYSTEM "file:///etc/passwd">]>&y;',
    "a tag": "</failure></testcase><testcase name='passed'/>",
    "an attribute": '" onload="x',
    "controls": "\x00\x01\x08\x0b\x0c\x1b[2J\x7f\x9b",
    "what Unicode does not have": "\ud800 \udfff \ufffe \uffff",
    "white space": "a\nb\r\nc\td",
    "a row of a table": "| x | y |\n| --- | --- |",
    "a link and a picture": "[x](https://evil.example) ![](https://evil.example/p.png)",
    "mentions": "@everyone #1 https://evil.example",
    "HTML": "<img src=https://evil.example/p.png><!-- ",
    "code": "a `b` ``c`` ``` d",
    "only a backtick": "`",
    "bidi": "\u202eevil\u2066",
    "nothing": "",
}


def report(message, verdict="failure", example=None):
    findings = (
        CheckFinding("ok", "state", "the function is active"),
        CheckFinding(verdict, "rewards", message, example),
    )
    return CheckReport(ARN, findings)


@pytest.mark.parametrize("why", HOSTILE)
def test_xml_is_whole_and_has_two_cases_whatever_is_in_a_message(why):
    example = CheckExample("f.jsonl, line 3", HOSTILE[why], 0.5, HOSTILE[why])
    text = RENDERED["junit"]([report(HOSTILE[why], example=example)])
    text.encode("utf-8")
    assert "<![CDATA[" not in text
    root = ET.fromstring(text)
    assert [each.get("name") for each in root.iter("testcase")] == ["state", "rewards"]
    (failure,) = root.iter("failure")
    assert failure.text is not None
    if HOSTILE[why].isprintable():
        assert failure.get("message") == HOSTILE[why]
        assert HOSTILE[why] in failure.text


@pytest.mark.parametrize("why", HOSTILE)
def test_markdown_shows_a_message_as_one_span_of_code(why):
    text = RENDERED["markdown"]([report(HOSTILE[why])])
    text.encode("utf-8")
    (row,) = [line for line in text.splitlines() if line.startswith("| ❌")]
    cells = re.split(r"(?<!\\) \| ", row)
    assert len(cells) == 3, row
    fence = re.match(r"`+", cells[2])[0]
    inner = cells[2].removesuffix(" |").removeprefix(fence).removesuffix(fence)
    assert not re.search(rf"(?<!`){fence}(?!`)", inner)
    assert text.count("\n### ") == 0


@pytest.mark.parametrize(
    ("verdict", "attributes", "child"),
    [
        ("failure", {"failures": "1", "skipped": "0"}, "failure"),
        ("unknown", {"failures": "0", "skipped": "1"}, "skipped"),
        ("warning", {"failures": "0", "skipped": "0"}, "system-out"),
        ("ok", {"failures": "0", "skipped": "0"}, None),
    ],
)
def test_a_suite_counts_its_cases(verdict, attributes, child):
    root = ET.fromstring(RENDERED["junit"]([report("m", verdict)]))
    (suite,) = root
    assert {name: suite.get(name) for name in attributes} == attributes
    assert (suite.get("name"), suite.get("tests")) == (ARN, "2")
    case = suite[1]
    assert case.get("classname") == ARN.partition(":function:")[2]
    assert [each.tag for each in case] == ([child] if child else [])


@pytest.mark.parametrize("form", RENDERED)
def test_an_arn_stands_there_whole(form):
    assert ARN in RENDERED[form]([report("m")])


def test_json_has_all_findings_and_the_verdict():
    (found,) = json.loads(RENDERED["json"]([report("m", "warning")]))
    assert (found["passed"], [each["verdict"] for each in found["findings"]]) == (
        True,
        ["ok", "warning"],
    )


def test_no_function_is_an_empty_report():
    assert json.loads(RENDERED["json"]([])) == []
    assert list(ET.fromstring(RENDERED["junit"]([]))) == []
    assert RENDERED["markdown"]([]) == ""
