"""Mathematics: the final answer equals the reference, by value and not by spelling."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from reward_functions import symbolic
from reward_functions.core.errors import BadReference
from reward_functions.core.references import reference_text
from reward_functions.core.spec import Example, Needs, reward_function
from reward_functions.core.types import Evidence, Metric, Sample, Score
from reward_functions.extraction import (
    Answer,
    NoAnswer,
    final_answer,
    visible_response,
)
from reward_functions.extraction.candidates.boxes import COMMAND
from reward_functions.extraction.candidates.math_spans import last_span
from reward_functions.extraction.cues.matching import disqualifying_cue
from reward_functions.extraction.invisible import strip_invisible
from reward_functions.extraction.scores import METRICS, compared, contradicted, not_answered
from reward_functions.verifiers._math.option_texts import agreed
from reward_functions.verifiers._math.restatement import restates

KEPT: Final = 1024
"""References that are kept as they were read: all responses of a group meet the same one."""

KEPT_LENGTH: Final = 1000
"""Characters of a reference that is kept."""

_UNDECIDED: Final = Metric("undecided", 1.0)
_DECIDED: Final = Metric("undecided", 0.0)
_MARKUP: Final = (
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
"""What a reference has that may be more than an answer: delimiters, markers, lines."""
_PERCENT: Final = re.compile(r"^([^%\\]{1,80}?)\s*(?:\\?%|\s(?:percent|per cent))$")
_DECIMAL: Final = re.compile(r"[-+]?(\d*\.\d+)")
_DIGIT: Final = re.compile(r"\d")
_SENTENCE: Final = re.compile(
    r"(?:.*\s(?:is|are|equals)\s|the\s(?:number|value)\s)(?P<value>.+)", re.DOTALL
)
_CLAUSE: Final = re.compile(
    r"\b(?:whose|such|when|if|until|(?:that|which)\s+(?:when\b|\w+ed\b|plus|minus|times))\b"
    r"|\b(?:its|their)\s+(?:square|cube|root|half|double|inverse|reciprocal|opposite|negative)",
    re.IGNORECASE,
)
_ESCAPED_BRACE: Final = re.compile(r"\\[\\{}]")
_LABELLED: Final = re.compile(
    r"\\(?:text|textbf|mathrm|mbox)\s?\{"
    r"(?!.*(?:twice|double|half|minus|negative|opposite|square|inverse|incorrect|guess|bound))"
    r"\s?[A-Za-z][A-Za-z ]{1,40}(?:[:=]\s?\}|\}\s?[:=]|(?<=nswer is)\s?\})"
    r"(?P<value>(?:(?<=nswer:\})|(?<=nswer:\s\})).+|[^=]+)",
    re.IGNORECASE,
)
_COPULA: Final = re.compile(
    r"[^A-Za-z]*|.*\b(?:is|are|be|equals|number|value|namely)\W*", re.DOTALL | re.IGNORECASE
)
_DOUBT: Final = re.compile(
    r"\b(?:not|never|or|either|neither|maybe|perhaps|possibly|between|if|wrong)\b|n['’]t\b",
    re.IGNORECASE,
)


def _right(sample: Sample) -> str:
    return rf"\boxed{{{_reference(sample.reference)}}}"


@reward_function(
    version=1,
    gold_response=_right,
    metrics=[*METRICS, "undecided"],
    needs=Needs(symbolic=True),
    examples=[
        Example("positive", response="So $x = \\boxed{\\frac{1}{2}}$.", reference="0.5", score=1.0),
        Example("positive", response="The answer is 1,234 apples.", reference="1234", score=1.0),
        Example("positive", response="$(x+1)^2$", reference="x^2 + 2x + 1", score=1.0),
        Example(
            "positive", response="\\boxed{1} and \\boxed{2}", reference="\\{1, 2\\}", score=1.0
        ),
        Example("positive", response="\\boxed{35}", reference="35\\%", score=1.0),
        Example("negative", response="\\boxed{0.33}", reference="\\frac{1}{3}", score=0.0),
        Example(
            "positive",
            response="0.33",
            reference="\\frac{1}{3}",
            score=1.0,
            parameters={"rounded": 2},
        ),
        Example("negative", response="\\boxed{5 \\text{ m}}", reference="5 \\text{ cm}", score=0.0),
        Example("attack", response="\\boxed{1}, \\boxed{2}, \\boxed{3}", reference="2", score=0.0),
        Example("attack", response="The answer is not 5.", reference="5", score=0.0),
        Example("attack", response="It is at least \\boxed{5}.", reference="5", score=0.0),
        Example("attack", response="$10-\\boxed{5}$", reference="5", score=0.0),
        Example("attack", response="\\boxed{5}. The answer is 6.", reference="5", score=0.0),
        Example(
            "attack",
            prompt="Compute $17 \\cdot 23$.",
            response="\\boxed{17 \\cdot 23}",
            reference="391",
            score=0.0,
            why="restating the question is no answer",
        ),
    ],
)
def math(
    sample: Sample,
    *,
    rounded: int = 0,
    strict_percent: bool = False,
    include_reasoning: bool = False,
) -> Score:
    """The final answer is mathematically equal to the reference.

    The answer is the last box (a run of boxes is a list), else the last statement of an answer,
    else the last mathematical span, else the whole response when it is nothing but an answer.
    Reference: a number, a string, LaTeX with or without delimiters, or a whole solution; alone or
    in an object under `final_answer`, `answer`, `ground_truth`, `value` or `text`. Scale: 1.0 or
    0.0.
    Metrics: `answered`, whether there was an answer to compare; `undecided`, whether the comparison
    was settled by none of the tiers, which earns the minimum.

    What counts as equal is listed in docs/math.md and decided by `reward_functions.symbolic`.
    Nothing in a response is evaluated as code. Not decided are, among others, piecewise answers of
    other forms, nonlinear inequalities, and solutions of differential equations.

    Args:
        sample: the response and its reference.
        rounded: digits from which a decimal that is the exact reference rounded is right (0.333 for
            1/3 has three); 0 for never.
        strict_percent: whether 35% is only 35% and 0.35, and no longer a bare 35.
        include_reasoning: search reasoning sections as well.

    Raises:
        BadReference: there is no reference, it has no content, it is cut off, or it is mathematics
            that cannot be read and the answer is not the same text.
        EngineUnavailable: the reference needs sympy, whose process could not be had.
    """
    reference = _reference(sample.reference)
    text = visible_response(sample.response, sample.prompt, include_reasoning=include_reasoning)
    found = _mathematical(final_answer(text, _same))
    if isinstance(found, Answer):
        found = agreed(found, sample.prompt)
    if isinstance(found, NoAnswer):
        return not_answered(found.reason, None, _DECIDED)
    if _contradicts(found):
        return contradicted(found, _DECIDED)
    verdict = _verdict(reference, found.text, rounded=rounded, strict_percent=strict_percent)
    if verdict.equal and restates(found.text, reference, sample.prompt):
        return not_answered("the answer restates the question", found.text, _DECIDED)
    evidence = Evidence(verdict.rule, verdict.candidate, verdict.reference)
    decided = _DECIDED if verdict.decided else _UNDECIDED
    return compared(found, evidence, decided, right=verdict.equal, reason=verdict.reason)


def _verdict(
    reference: str, answer: str, *, rounded: int, strict_percent: bool
) -> symbolic.EqualityVerdict:
    """The verdict. A decimal rounds an exact value as a decimal reference would."""
    if strict_percent:
        reference, answer = (
            _PERCENT.sub(r"\\frac{\1}{100}", reference),
            _PERCENT.sub(r"\\frac{\1}{100}", answer),
        )
    try:
        verdict = symbolic.equal(reference, answer)
    except symbolic.Unreadable as error:
        raise BadReference(f"the reference cannot be read: {error}") from None
    if rounded and not verdict.equal and _digits(answer) >= rounded > _digits(reference):
        turned = symbolic.equal(answer, reference)
        return turned if turned.equal else verdict
    return verdict


def _digits(text: str) -> int:
    """The significant digits of a plain decimal; none of anything else."""
    decimal = _DECIMAL.fullmatch(text.strip())
    return len(decimal[1].replace(".", "").lstrip("0")) if decimal else 0


def _reference(reference: Any) -> str:
    """The answer a reference gives, in whatever shape."""
    if isinstance(reference, str) and len(reference) <= KEPT_LENGTH:
        return _kept(reference)
    return _read(reference)


def _read(reference: Any) -> str:
    return _whole(_stated(reference_text(reference)))


_kept = lru_cache(KEPT)(_read)


def _stated(text: str) -> str:
    """The answer a reference states, when it is more than an answer."""
    if not any(map(text.__contains__, _MARKUP)):
        return text
    text = strip_invisible(text)
    if symbolic.readable(text):
        return text
    found = _mathematical(final_answer(text, _same))
    if isinstance(found, Answer):
        return found.text
    if not text.strip() or "\n" in text.strip() or COMMAND in text:
        raise BadReference(f"the reference holds no answer: {found.reason}")
    return text


def _whole(reference: str) -> str:
    """The reference, unless it was cut off or garbled and no answer can be judged by it."""
    bare = _ESCAPED_BRACE.sub("", reference) if "\\" in reference else reference
    if bare.count("{") != bare.count("}"):
        raise BadReference("the reference cannot be read: its braces are not balanced")
    if "\0" in reference:
        raise BadReference("the reference cannot be read: it has a NUL character")
    return reference


def _mathematical(found: Answer | NoAnswer) -> Answer | NoAnswer:
    """The mathematics of an answer: with the unit behind its box, without the words around it.

    A statement may be a sentence, "the volume of $ABCD$ is 12"; words that deny, doubt or compute
    ("twice $5$") leave it as it is, and it compares to nothing.
    """
    if isinstance(found, NoAnswer):
        return found
    if found.tail and symbolic.readable(found.text + found.tail):
        return found._replace(text=found.text + found.tail)
    labelled = _LABELLED.fullmatch(found.text)
    if not labelled and found.kind != "statement":
        return found
    if symbolic.readable(found.text) or _DOUBT.search(found.text) or _CLAUSE.search(found.text):
        return found
    if labelled and symbolic.readable(labelled["value"]):
        return found._replace(text=labelled["value"])
    sentence = _SENTENCE.fullmatch(found.text)
    if sentence and symbolic.readable(sentence["value"]):
        return found._replace(text=sentence["value"])
    span = last_span(found.text)
    if span is None or not span.text or disqualifying_cue(found.text, span.start, span.end):
        return found
    return found._replace(text=span.text) if _COPULA.fullmatch(found.text[: span.start]) else found


def _same(first: str, second: str) -> bool:
    """Whether two strings have one value, as in "1/2 or 0.5"."""
    try:
        return symbolic.equal(first, second, solver=False).equal
    except symbolic.Unreadable:
        return False


def _contradicts(found: Answer) -> bool:
    """Whether a later statement gives another value; a rounding of the same value does not."""
    if (
        not found.conflicting_answer
        or not _DIGIT.search(found.conflicting_answer)
        or not symbolic.readable(found.conflicting_answer)
    ):
        return False
    first, last = found.text, found.conflicting_answer
    try:
        verdicts = (
            symbolic.equal(first, last, solver=False),
            symbolic.equal(last, first, solver=False),
        )
    except symbolic.Unreadable:
        return False
    return all(verdict.decided and not verdict.equal for verdict in verdicts)
