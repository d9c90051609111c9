"""Findings as they are written, and who signs: texts of others in pages, minutes that are left."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from reward_functions.aws.deployed import findings
from reward_functions.aws.deployed.findings import (
    CheckReport,
    code_span,
    credentials,
    failed,
    measured_questions,
    ok,
    unknown,
    warning,
    xml_text,
)
from reward_functions.aws.deployed.findings import failure as failing
from reward_functions.aws.deployed.function import FunctionEnded, FunctionError
from reward_functions.reports.measured import Measured


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "`plain`"),
        ("", "`  `"),
        ("a`b", "``a`b``"),
        ("`a", "`` `a ``"),
        ("a``b`", "``` a``b` ```"),
        ("a|b", "`a\\|b`"),
        ("a\nb\u202ec\ud800", "`a\\nb\\u202ec\\ud800`"),
    ],
)
def test_a_line_of_others_is_a_span_of_code(text, shown):
    assert code_span(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb\n<é😀>", "a\tb\n<é😀>"),
        ("\x00\x1b", "\\x00\\x1b"),
        ("\ufffe\ud800", "\\ufffe\\ud800"),
    ],
)
def test_what_xml_cannot_hold_is_shown_by_its_escape(text, shown):
    assert xml_text(text) == shown


class Signer:
    """Credentials that have so many seconds left."""

    method = "sso"

    def __init__(self, seconds):
        if seconds is not None:
            self._expiry_time = datetime.now(UTC) + timedelta(seconds=seconds)

    def get_frozen_credentials(self):
        return self


@pytest.mark.parametrize(
    ("seconds", "verdict", "words"),
    [
        ("nobody", "failure", "none found: log in, set AWS_PROFILE, or run where a role is given"),
        (None, "ok", "from sso, without an expiry"),
        (3_620, "ok", "from sso, for 60 more minutes"),
        (-1, "failure", "from sso, expired: log in again"),
    ],
)
def test_who_signs_and_until_when(seconds, verdict, words, monkeypatch):
    signer = None if seconds == "nobody" else Signer(seconds)
    session = SimpleNamespace(get_credentials=lambda: signer)
    monkeypatch.setattr(findings, "aws_session", lambda _: session)
    found = credentials()
    assert (found.question, found.verdict, found.message) == ("credentials", verdict, words)


def test_what_is_unknown_was_not_asked():
    found = (ok("a", "x"), warning("b", "x"), unknown("c", "x"), failing("d", "x"))
    assert measured_questions(found) == Measured("questions", 3)
    assert measured_questions(found[2:3]) == Measured("questions", 0)
    report = CheckReport("arn", found[:3])
    assert (report.passed, report.measured.measured) == (True, 2)
    assert not CheckReport("arn", found).passed
    samples = Measured("samples", 7)
    assert CheckReport("arn", found, samples).measured is samples


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (FunctionError("KeyError", "'a'."), "the function fails: KeyError: 'a'"),
        (FunctionError("", "Task timed out after 3 seconds"), "; raise its timeout, or send"),
    ],
)
def test_a_function_that_failed_is_said_with_its_remedy(error, words):
    assert words in failed(error)
    assert failed(error).startswith("the function fails: ")


def test_a_failed_function_answers_as_lambda_does():
    assert FunctionError("KeyError", "'a'").payload == {
        "errorMessage": "'a'",
        "errorType": "KeyError",
        "requestId": "",
        "stackTrace": [],
    }
    ended = FunctionEnded("Runtime.ExitError", "exited").payload
    assert ended == {"errorType": "Runtime.ExitError", "errorMessage": "exited"}
