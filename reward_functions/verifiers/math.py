"""Mathematics: the final answer equals the reference, by value and not by spelling."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from reward_functions import symbolic
from reward_functions.core.errors import BadReference
from reward_functions.core.references import reference_text
from reward_functions.core.spec import Example, reward_function
from reward_functions.core.types import Evidence, Metric, Sample, Score
from reward_functions.text.answers import STATED, Answer, NoAnswer, final_answer, spoken
from reward_functions.text.boxes import COMMAND
from reward_functions.text.hidden import said
from reward_functions.text.latex import plain
from reward_functions.text.numerals import quantity
from reward_functions.text.spans import last_span
from reward_functions.verifiers._scores import METRICS, compared, contradicted, not_answered

_UNDECIDED: Final = Metric("undecided", 1.0)
_DECIDED: Final = Metric("undecided", 0.0)
_OPERATION: Final = re.compile(
    r"[-+*/^!×·÷−]|\\(?:cdot|times|div|[dtc]?frac|sqrt|d?binom|pm)(?![A-Za-z])"
)
_SENTENCE: Final = re.compile(r".*\s(?:is|are|equals)\s(?P<value>.+)", re.DOTALL)
_DOUBT: Final = re.compile(
    r"\b(?:not|never|or|either|neither|maybe|perhaps|possibly|between|if|wrong)\b|n['’]t\b",
    re.IGNORECASE,
)
_SPACE: Final = re.compile(r"[\s{}$]+|\\[,;:! ]|\\(?:left|right|displaystyle)(?![A-Za-z])")
_TIMES: Final = re.compile(r"[×·*]|\\(?:cdot|times)(?![A-Za-z])")


@reward_function(
    version=1,
    metrics=[*METRICS, "undecided"],
    examples=[
        Example("full", response="So $x = \\boxed{\\frac{1}{2}}$.", reference="0.5", score=1.0),
        Example("full", response="The answer is 1,234 apples.", reference="1234", score=1.0),
        Example("full", response="$(x+1)^2$", reference="x^2 + 2x + 1", score=1.0),
        Example("full", response="\\boxed{1} and \\boxed{2}", reference="\\{1, 2\\}", score=1.0),
        Example("full", response="\\boxed{35}", reference="35\\%", score=1.0),
        Example("floor", response="\\boxed{0.33}", reference="\\frac{1}{3}", score=0.0),
        Example("floor", response="\\boxed{5 \\text{ m}}", reference="5 \\text{ cm}", score=0.0),
        Example("gaming", response="\\boxed{1}, \\boxed{2}, \\boxed{3}", reference="2", score=0.0),
        Example("gaming", response="The answer is not 5.", reference="5", score=0.0),
        Example("gaming", response="\\boxed{5}. The answer is 6.", reference="5", score=0.0),
        Example(
            "gaming",
            prompt="Compute $17 \\cdot 23$.",
            response="\\boxed{17 \\cdot 23}",
            reference="391",
            score=0.0,
            why="restating the question is no answer",
        ),
    ],
)
def math(sample: Sample, *, include_reasoning: bool = False) -> Score:
    """The final answer is mathematically equal to the reference.

    The answer is the last box (a run of boxes is a list), else the last statement of an answer,
    else the last mathematical span, else the whole response when it is nothing but an answer.
    Reference: a number, a text, LaTeX with or without delimiters, or a whole solution; alone or in
    an object under `final_answer`, `answer`, `ground_truth`, `value` or `text`. Scale: 1.0 or 0.0.
    Metrics: `answered`, whether there was an answer to compare; `undecided`, whether exact means
    did not suffice to compare it, which earns the floor.

    What counts as equal is told by `reward_functions.symbolic`. Nothing in a response is evaluated
    as code. Not decided yet are equations and inequalities that differ by more than their sides.

    Args:
        sample: the response and its reference.
        include_reasoning: search reasoning sections as well.

    Raises:
        BadReference: there is no reference, or it has no content.
    """
    reference = _reference(reference_text(sample.reference))
    text = spoken(sample.response, sample.prompt, include_reasoning=include_reasoning)
    found = _mathematical(final_answer(text))
    if isinstance(found, NoAnswer):
        return _with(not_answered(found.reason), _DECIDED)
    if _contradicts(found):
        return _with(contradicted(found), _DECIDED)
    if _restates(found.text, reference, sample.prompt):
        return _with(not_answered("the answer restates the question", found.text), _DECIDED)
    verdict = symbolic.equal(reference, found.text)
    evidence = Evidence(verdict.rule, verdict.candidate, verdict.reference)
    score = compared(found, evidence, right=verdict.equal, reason=verdict.reason)
    return _with(score, _DECIDED if verdict.decided else _UNDECIDED)


def _with(score: Score, undecided: Metric) -> Score:
    return replace(score, metrics=(*score.metrics, undecided))


def _reference(text: str) -> str:
    """The answer a reference states, when it is more than an answer."""
    if symbolic.readable(text):
        return text
    found = _mathematical(final_answer(said(text)))
    if isinstance(found, Answer):
        return found.text
    if "\n" in text.strip() or COMMAND in text:
        raise BadReference(f"the reference holds no answer: {found.reason}")
    return text


def _mathematical(found: Answer | NoAnswer) -> Answer | NoAnswer:
    """The mathematics of a statement that wraps words around it: "the volume of $ABCD$ is 12".

    Words that deny or doubt leave the statement as it is, which compares to nothing.
    """
    if isinstance(found, NoAnswer) or found.where != STATED or symbolic.readable(found.text):
        return found
    if _DOUBT.search(found.text):
        return found
    sentence = _SENTENCE.fullmatch(found.text)
    if sentence and symbolic.readable(sentence["value"]):
        return replace(found, text=sentence["value"])
    span = last_span(found.text)
    return replace(found, text=span.text) if span and span.text else found


def _contradicts(found: Answer) -> bool:
    """Whether a later statement gives another value; a rounding of the same value does not."""
    if not found.rival or not symbolic.readable(found.rival):
        return False
    verdicts = (symbolic.equal(found.text, found.rival), symbolic.equal(found.rival, found.text))
    return all(verdict.decided and not verdict.equal for verdict in verdicts)


def _restates(answer: str, reference: str, prompt: str) -> bool:
    """Whether an answer is an expression of the prompt that leaves the work to the verifier.

    A number as it stands is no expression. A fraction in lowest terms is none either where the
    reference is one, and the reference's own text never is: "Which is larger, 2^{10} or 10^3?".
    """
    if not _OPERATION.search(answer):
        return False
    squeezed = _squeezed(answer)
    if squeezed not in _squeezed(prompt) or squeezed == _squeezed(reference):
        return False
    stated, wanted = quantity(plain(answer)), quantity(plain(reference))
    if stated is None or wanted is None:
        return True
    lowest = stated.decimals is None and wanted.decimals is None and squeezed == str(stated.value)
    return stated.decimals is None and not lowest


def _squeezed(text: str) -> str:
    """A text without white space, delimiters and braces, every product written with one sign."""
    return _SPACE.sub("", _TIMES.sub("*", plain(text)))
