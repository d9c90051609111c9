"""Mathematics: the final answer equals the reference, by value and not by spelling."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import Final

from reward_functions import symbolic
from reward_functions.core.errors import BadReference
from reward_functions.core.references import reference_text
from reward_functions.core.spec import Example, Needs, reward_function
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
PROMPT: Final = 20_000
"""Characters of a prompt, from its end, in which a restated expression is looked for."""

_OPERATION: Final = re.compile(
    r"[-+*/^!_=<>×·÷−√∗]|\\(?:cdot|times|div|ast|bullet|[dtc]?frac|sqrt|d?binom|choose|pm|log|ln|lg|sin"
    r"|cos|tan|cot|sec|csc|arc[a-z]+|lfloor|lceil|gcd|sum|prod|int|lim)(?![A-Za-z])|[\d)]\s*\("
)
_DRESS: Final = (
    "#",
    "$",
    "<",
    "~",
    "\n",
    "\\box",
    "\\fbox",
    "\\(",
    "\\[",
    "nswer",
    "NSWER",
    "答案",
)
"""What a text has that may be more than an answer: delimiters, markers, lines."""
_DIGIT: Final = re.compile(r"\d")
_SENTENCE: Final = re.compile(r".*\s(?:is|are|equals)\s(?P<value>.+)", re.DOTALL)
_COPULA: Final = re.compile(
    r"[^A-Za-z]*|.*\b(?:is|are|be|equals|number|value|namely)\W*", re.DOTALL | re.IGNORECASE
)
_DOUBT: Final = re.compile(
    r"\b(?:not|never|or|either|neither|maybe|perhaps|possibly|between|if|wrong)\b|n['’]t\b",
    re.IGNORECASE,
)
_SPACE: Final = re.compile(r"[\s{}()$]+|\\[,;:! ]|\\(?:left|right|displaystyle)(?![A-Za-z])")
_TIMES: Final = re.compile(
    r"\*\*|(?P<times>[×·∗*]|\\(?:cdot|times|ast|bullet)(?![A-Za-z])|(?<=[\d)])(?=\()|(?<=\))(?=\d))"
)
_RUN: Final = re.compile(r"\d{1,30}(?:\.\d{1,30})?(?:[*+]\d{1,30}(?:\.\d{1,30})?){1,20}")
_ARITHMETIC: Final = re.compile(rf"(?:[A-Za-z]=)?\+?(?P<run>{_RUN.pattern})")
_ROOT: Final = re.compile(r"\\sqrt(?![A-Za-z])|√")


@reward_function(
    version=1,
    metrics=[*METRICS, "undecided"],
    needs=Needs(symbolic=True),
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
    Metrics: `answered`, whether there was an answer to compare; `undecided`, whether the comparison
    was settled by no rung of the ladder, which earns the floor.

    What counts as equal is told by docs/math.md and decided by `reward_functions.symbolic`. Nothing
    in a response is evaluated as code. Not decided are, among others, piecewise answers of other
    forms, nonlinear inequalities, and solutions of differential equations.

    Args:
        sample: the response and its reference.
        include_reasoning: search reasoning sections as well.

    Raises:
        BadReference: there is no reference, or it has no content.
        EngineUnavailable: the reference needs sympy, whose process could not be had.
        EngineUnavailable: sympy is needed, and its process could not be had.
    """
    reference = _reference(reference_text(sample.reference))
    text = spoken(sample.response, sample.prompt, include_reasoning=include_reasoning)
    found = _mathematical(final_answer(text))
    if isinstance(found, NoAnswer):
        return not_answered(found.reason, None, _DECIDED)
    if _contradicts(found):
        return contradicted(found, _DECIDED)
    try:
        verdict = symbolic.equal(reference, found.text)
    except symbolic.Unreadable as error:
        raise BadReference(f"the reference cannot be read: {error}") from None
    if verdict.equal and _restates(found.text, reference, sample.prompt):
        return not_answered("the answer restates the question", found.text, _DECIDED)
    evidence = Evidence(verdict.rule, verdict.candidate, verdict.reference)
    decided = _DECIDED if verdict.decided else _UNDECIDED
    return compared(found, evidence, decided, right=verdict.equal, reason=verdict.reason)


def _reference(text: str) -> str:
    """The answer a reference states, when it is more than an answer."""
    if not any(mark in text for mark in _DRESS):
        return text
    text = said(text)
    if symbolic.readable(text):
        return text
    found = _mathematical(final_answer(text))
    if isinstance(found, Answer):
        return found.text
    if not text.strip() or "\n" in text.strip() or COMMAND in text:
        raise BadReference(f"the reference holds no answer: {found.reason}")
    return text


def _mathematical(found: Answer | NoAnswer) -> Answer | NoAnswer:
    """The mathematics of an answer: with the unit behind its box, without the words around it.

    A statement may be a sentence, "the volume of $ABCD$ is 12"; words that deny, doubt or compute
    ("twice $5$") leave it as it is, and it compares to nothing.
    """
    if isinstance(found, NoAnswer):
        return found
    if found.tail and symbolic.readable(found.text + found.tail):
        return replace(found, text=found.text + found.tail)
    if found.where != STATED or symbolic.readable(found.text) or _DOUBT.search(found.text):
        return found
    sentence = _SENTENCE.fullmatch(found.text)
    if sentence and symbolic.readable(sentence["value"]):
        return replace(found, text=sentence["value"])
    span = last_span(found.text)
    if span and span.text and _COPULA.fullmatch(found.text[: span.start]):
        return replace(found, text=span.text)
    return found


def _contradicts(found: Answer) -> bool:
    """Whether a later statement gives another value; a rounding of the same value does not."""
    if not _DIGIT.search(found.rival) or not symbolic.readable(found.rival):
        return False
    first, last = found.text, found.rival
    verdicts = (
        symbolic.equal(first, last, engine=False),
        symbolic.equal(last, first, engine=False),
    )
    return all(verdict.decided and not verdict.equal for verdict in verdicts)


def _restates(answer: str, reference: str, prompt: str) -> bool:
    """Whether an answer is an expression of the prompt that leaves the work to the verifier.

    A number as it stands is no expression. A fraction in lowest terms is none either where the
    reference is one, and the reference's own text never is: "Which is larger, 2^{10} or 10^3?".
    """
    if not prompt or answer == reference or not _OPERATION.search(answer):
        return False
    squeezed = _squeezed(answer)
    if squeezed == _squeezed(reference) or not _stands_in(squeezed, _squeezed(prompt[-PROMPT:])):
        return False
    stated, wanted = quantity(plain(answer)), quantity(plain(reference))
    if stated is None or wanted is None:
        return True
    lowest = stated.decimals is None and wanted.decimals is None and squeezed == str(stated.value)
    return stated.decimals is None and not lowest


def _stands_in(answer: str, prompt: str) -> bool:
    """Whether an expression stands in a prompt; a sum or product of numbers, in any order."""
    if answer in prompt:
        return True
    arithmetic = _ARITHMETIC.fullmatch(answer)
    return arithmetic is not None and any(
        _parts(run[0]) == _parts(arithmetic["run"]) for run in _RUN.finditer(prompt)
    )


def _parts(run: str) -> list[list[Fraction]]:
    """The terms of a sum, each the factors of a product, sorted; no zeros and no ones."""
    terms = [sorted(Fraction(factor) for factor in term.split("*")) for term in run.split("+")]
    return sorted([factor for factor in term if factor != 1] for term in terms if all(term))


def _squeezed(text: str) -> str:
    """A text without white space, delimiters, braces and brackets, one sign for each operation."""
    spelled = _TIMES.sub(lambda sign: "*" if sign["times"] is not None else "^", plain(text))
    return _SPACE.sub("", _ROOT.sub("√", spelled)).removeprefix("+")
