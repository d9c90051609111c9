"""What callers rely on beside the verdicts themselves."""

import subprocess
import sys

import pytest

from reward_functions.symbolic import EqualityVerdict, Outcome, Unreadable, equal, readable


@pytest.mark.parametrize("reference", ["", "   ", r"\text{}", "$$", r"\,"])
def test_a_reference_without_content_is_refused(reference):
    with pytest.raises(Unreadable):
        equal(reference, "5")


def test_a_reference_in_prose_is_compared_as_text():
    prose = "Yes. If not, there would be a vector outside the span."
    assert equal(prose, prose).equal
    assert equal(prose, "5").outcome is Outcome.UNDECIDED


def test_a_verdict_renders_both_normal_forms():
    verdict = equal(r"\frac{1}{2}", "x = 0.5")
    assert (str(verdict.reference), str(verdict.candidate)) == ("1/2", "x = 1/2")
    assert str(equal("18", "1,234").candidate) == "1234"


def test_a_verdict_cannot_be_changed():
    verdict = equal("1", "1")
    with pytest.raises(AttributeError):
        verdict.outcome = Outcome.DIFFERENT
    assert isinstance(verdict, EqualityVerdict)
    assert verdict.decided


@pytest.mark.parametrize("text", ["5", "$x^2$", r"\frac12", "x=5", "(1,2)", "1, 2", "5 apples"])
def test_mathematics_is_readable(text):
    assert readable(text)


@pytest.mark.parametrize("text", ["", "yes", "the answer is 5", "no solution", r"\frac", "{"])
def test_prose_and_debris_are_not_readable(text):
    assert not readable(text)


def test_plain_numbers_load_neither_grammar_nor_sympy():
    code = (
        "import sys; from reward_functions.symbolic import equal; equal('18', '1,234');"
        "parser = 'reward_functions.symbolic.parsing.parser';"
        "print([m for m in ('sympy', parser) if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("reference", "candidate", "reason"),
    [
        (r"5\text{ kg}", r"5\text{ m}", "kg is not m"),
        (r"5\text{ m}^2", r"5\text{ kg}", "m^2 is not kg"),
    ],
)
def test_units_that_differ_are_named_in_the_reason(reference, candidate, reason):
    assert reason in equal(reference, candidate).reason


@pytest.mark.parametrize(
    ("reference", "candidate", "reason"),
    [
        (r"\text{March 14}", r"\text{15 March}", "another day"),
        (r"\text{March 14, 2024}", r"\text{14 March}", "the answer leaves a part of the date out"),
        ("14", r"\text{14 March}", "the day of the month"),
        ("13", r"\text{14 March}", "the answer is a date, the reference none"),
        ("2024", r"\text{14 March 2024}", "the answer is a date, the reference none"),
    ],
)
def test_a_date_is_compared_as_its_reason_tells(reference, candidate, reason):
    assert equal(reference, candidate).reason == reason
