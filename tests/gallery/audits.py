"""Audits and a comparison: a reward that pays an empty answer, two that differ, an enemy's rows."""

from functools import cache

from reward_functions import sample
from reward_functions.audit.comparing import compare
from reward_functions.audit.engine import audit
from reward_functions.audit.rendering import audit_page
from reward_functions.audit.results import Audit, Figure, Finding, Gate, SeenRow
from reward_functions.reports.measured import Measured
from tests.audit import faults
from tests.gallery.hostile import NAME, UNBROKEN


@cache
def _rows():
    return [
        sample("", f"{at + 100}", prompt=f"What is {at} + 100?", id=f"r{at}") for at in range(12)
    ]


def broken():
    """A reward that pays what is empty."""
    return audit_page(audit(faults.empty, _rows(), search=20)).html()


def comparison():
    """Two rewards on the same responses, one of which reads a boxed answer."""
    words = ("#### {}", r"\boxed{{{}}}", "The answer is {}.", "no")
    responses = [
        sample(
            words[at % 4].format(100 + at // 4),
            f"{100 + at // 4}",
            prompt=f"{at // 4}?",
            id=f"{at}",
        )
        for at in range(80)
    ]
    return audit_page(compare("gsm8k", "math", responses, fail_on=["lost>0.02"])).html()


def hostile():
    """Every string an enemy's."""
    text = f"{NAME} {UNBROKEN}"
    row = SeenRow(text, text * 30, 1.0, 0.0, text, text, 3, 4, text)
    return audit_page(
        Audit(
            target={"kind": text, "name": text},
            data={"file": text, "rows": 4, "prompts": 4, "sha256": text},
            figures=[Figure("exploit", 0.75, 0.2, 0.9, 4), Figure(NAME, None, why=text)],
            findings=[
                Finding("EX-LIST", text, "broken", text, 3, 4, [row], "exploit"),
                Finding("LAZY", text, "note", text),
            ],
            gates=[Gate(f"exploit>0 {text}", "exploit", "broken", text)],
            measured=Measured("rows", 4),
            notes=[text],
        )
    ).html()
