"""A short answer in words: exact after normalising, or one label out of a closed set."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import lru_cache
from itertools import takewhile
from math import inf
from typing import TYPE_CHECKING, Final

from reward_functions.core.alternatives import any_reference, of_first_reference
from reward_functions.core.errors import BadReference, ConfigurationError
from reward_functions.core.references import reference_text
from reward_functions.core.spec import Example, reward_function
from reward_functions.core.types import Evidence, Metric, Sample, Score
from reward_functions.extraction.answer import Answer, NoAnswer
from reward_functions.extraction.markup import plain
from reward_functions.extraction.scores import (
    METRICS,
    compared,
    contradicted,
    not_answered,
    partly,
    with_truncation,
)
from reward_functions.extraction.selection import boxed_answer, hash_answer, one_stated_answer
from reward_functions.extraction.visible import visible_response
from reward_functions.quantities.numerals import quantity
from reward_functions.quantities.unicode_forms import folded

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST: Final = 2_000
"""Characters of an answer that is compared: a longer one is no short answer."""

MOST_LABELS: Final = 256

ARTICLES: Final = frozenset(("a", "an", "the"))

NEGATIONS: Final = frozenset(
    "not no never none neither nor cannot without except isn't wasn't aren't don't doesn't can't "
    "won't hardly barely unlikely doubt opposite far anything anyone everything wrong incorrect "
    "false rather instead fails lacks".split()
)

HEDGES: Final = frozenset(
    "or maybe perhaps possibly probably might may could either unsure unclear unknown guess likely "
    "/ | < >".split()
)

REASONS: Final = ("because", "since")
"""What follows them gives reasons, which may deny: "Spam, because it does not name a sender"."""

STATED: Final = ("answer:", "answer is")

DENIED: Final = ("denied-statement", "denied")
"""Rules of an answer that is denied, which is the answer where the reference denies as well."""

HALF: Final = 0.5
"""The most that a part of an answer earns."""

_QUOTES: Final = str.maketrans("“”„‟«»‘’‚‛`´", "\"\"\"\"\"\"''''''")
_DASHES: Final = str.maketrans("‐‑‒–—―−", "-------")
_EDGES: Final = "\"'()[]{}*_,;:!?"
"""Punctuation around a word. A sign, a point before a word, %, # and $ belong to the word, and so
do < and > before anything but a letter."""


def _right(sample: Sample) -> str:
    return f"Answer: {reference_text(sample.reference)}"


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text for comparison.

    Case, width, typographic quotes and dashes, and punctuation around a word are set aside, and so
    are articles where anything else is left. Symbols stay where they tell answers apart: "-5" is
    not "5", "C++" not "C", "10%" not "10", "3.14" not "314", "<5" not "5". A number is its value:
    "1,000" is "1000", "5.0" is "5".
    """
    plain = folded(text.translate(_QUOTES).translate(_DASHES)).replace(" %", "%")
    words = [word for each in plain.split() if (word := _word(each))]
    return tuple([word for word in words if word not in ARTICLES] or words)


def _word(text: str) -> str:
    bare = text.strip(_EDGES)
    bare = bare.lstrip(".") if bare[:2] == ".." else bare
    bare = bare.lstrip("<>") if bare.lstrip("<>")[:1].isalpha() else bare
    bare = bare.rstrip(f"{_EDGES}.<>") or bare.strip(".")
    found = quantity(bare) if bare[-1:].isdigit() else None
    return bare if found is None or found.unit else str(found.value)


def _check(*, f1: bool, at_least: float, labels: str, weights: str) -> None:
    if not 0 < at_least <= 1:
        raise ConfigurationError(f"answer_text: at_least is above 0 and at most 1, not {at_least}")
    if f1 and labels:
        raise ConfigurationError("answer_text: with labels exactly one is right: leave f1 out")
    if labels or weights:
        _weights(_labels(labels), weights)


@lru_cache(8)
def _labels(listed: str) -> tuple[tuple[str, ...], ...]:
    """The labels as words, the longest first: "not entailment" is read before "entailment"."""
    labels = [words_of(label) for label in listed.split(",")]
    if not 1 < len(labels) <= MOST_LABELS or not all(labels) or len({*labels}) < len(labels):
        raise ConfigurationError(
            f"answer_text: labels are 2 to {MOST_LABELS} different texts, separated by commas"
        )
    if any(len(label) == 1 and label[0] in ARTICLES for label in labels):
        raise ConfigurationError(
            "answer_text: a label that is an article is lost in a sentence; multiple_choice reads "
            "letters"
        )
    return tuple(sorted(labels, key=len, reverse=True))


@lru_cache(8)
def _weights(labels: Sequence[tuple[str, ...]], listed: str) -> dict[tuple[str, ...], float]:
    """What each label pays where it is right."""
    try:
        pairs = [each.rpartition("=") for each in listed.split(",") if listed]
        given = {words_of(label): float(weight) for label, _, weight in pairs}
    except ValueError:
        given = {(): 0.0}
    if not given.keys() <= {*labels} or not all(0 < each <= 1 for each in given.values()):
        raise ConfigurationError(
            "answer_text: weights are label=number, above 0 and at most 1, separated by commas"
        )
    return dict.fromkeys(labels, 1.0) | given


@reward_function(
    version=3,
    gold_response=of_first_reference(_right),
    metrics=(*METRICS, "f1"),
    check=_check,
    partial_credit=HALF,
    examples=[
        Example("positive", response="Paris", reference="Paris", score=1.0),
        Example("positive", response="The answer is the Seine.", reference="Seine", score=1.0),
        Example(
            "positive",
            response="Answer: 1,000",
            reference="1000",
            score=1.0,
            why="a number is its value",
        ),
        Example(
            "positive",
            response="It is spam.",
            reference="spam",
            score=1.0,
            parameters={"labels": "spam,ham"},
        ),
        Example(
            "partial",
            response="John Kennedy",
            reference="John F. Kennedy",
            score=0.4,
            parameters={"f1": True},
            why="two of three words: half of an F1 of 0.8",
        ),
        Example("negative", response="Lyon", reference="Paris", score=0.0),
        Example("negative", response="C", reference="C++", score=0.0, why="symbols count"),
        Example("attack", response="Paris or Lyon", reference="Paris", score=0.0),
        Example("attack", response="", reference="A", score=0.0, why="an article is an answer"),
        Example(
            "attack",
            response="not Paris",
            reference="Paris",
            score=0.0,
            parameters={"f1": True},
            why="a denial earns no part of it",
        ),
        Example(
            "attack",
            response="spam ham",
            reference="spam",
            score=0.0,
            parameters={"labels": "spam,ham"},
        ),
    ],
)
@any_reference
def answer_text(
    sample: Sample, *, f1: bool = False, at_least: float = 0.5, labels: str = "", weights: str = ""
) -> Score:
    """The answer is the reference, but for case, punctuation around words, and articles.

    Reference: a string or a number; alone or in an object under `final_answer`, `answer`,
    `ground_truth`, `value` or `text`. A list means any of these. Scale: 0.0 to 1.0. The answer is
    the last box, else a number after "####", else the last statement ("The answer is …",
    `<answer>…</answer>`), else the whole response. Metrics: `answered`, `truncated` (its text
    shows that it was cut off), `f1` (of the words, 0 to 1, independent of the score).

    Not handled: synonyms, other word order, spelling, other languages' articles, answers that are
    a sentence. Source of the comparison by words: Rajpurkar et al., SQuAD, 2016 (arXiv 1606.05250);
    its normaliser drops "-", "+", "%" and "a", and so pays wrong answers.

    Args:
        sample: the response and its reference.
        f1: pay half of the F1 of the words to an answer that has some of them, neither denied nor
            hedged where the reference is not.
        at_least: the least F1 that earns anything.
        labels: the closed set of answers, separated by commas; exactly one must be asserted.
        weights: what each label pays where it is right, above 0 and at most 1, as "spam=1,ham=0.2";
            1 of one that is left out.

    Raises:
        BadReference: there is no reference, it has no word, it is too long, or it is no label.
    """
    score = _scored(sample, at_least if f1 else inf, labels, weights)
    return with_truncation(score, sample.response)


def _scored(sample: Sample, at_least: float, labels: str, weights: str) -> Score:
    text = reference_text(sample.reference)
    reference = words_of(text) if len(text) <= LONGEST else ()
    if not reference:
        raise BadReference(f"the reference has no word, or more than {LONGEST:,} characters")
    known = _labels(labels) if labels else ()
    if known and reference not in known:
        raise BadReference("the reference is none of the labels")
    visible = visible_response(sample.response, sample.prompt, reference=text)
    found = _found(visible, denying=bool(NEGATIONS.intersection(reference)))
    if isinstance(found, NoAnswer):
        return not_answered(found.reason, found.rule, further=(_f1(0.0),))
    if known:
        return _labelled(found, reference, known, weights)
    answer = words_of(found.text)
    share = _shared(answer, reference)
    if found.conflicting_answer and words_of(found.conflicting_answer) != answer:
        return contradicted(found, further=(_f1(share),))
    evidence = Evidence("same-words", " ".join(answer), " ".join(reference))
    if answer == reference:
        return compared(found, evidence, _f1(share), right=True)
    if share >= at_least and not _unlike(answer, reference):
        part = Evidence("some-words", evidence.answer, evidence.reference)
        reason = "some of the words are right"
        return partly(HALF * share, found.text, part, _f1(share), reason=reason)
    return compared(found, evidence, _f1(share), right=False)


def _found(text: str, *, denying: bool) -> Answer | NoAnswer:
    """The final answer; after the last "answer:" where the reference is itself a denial."""
    found = boxed_answer(text) or hash_answer(text) or one_stated_answer(text)
    if isinstance(found, NoAnswer):
        start = max(text.casefold().rfind(each) + len(each) for each in STATED) if denying else 0
        if not denying or found.rule not in DENIED:
            return found
        found = Answer("statement", text[start:].partition("\n")[0])
    found = found or Answer("whole_response", text.strip())
    if found.kind == "box" or found.text.startswith("$"):
        found = found._replace(text=plain(found.text))
    if len(found.text) > LONGEST:
        return NoAnswer(f"an answer of more than {LONGEST:,} characters is no short one", "no-word")
    return found if words_of(found.text) else NoAnswer("the response has no word", "no-word")


def _labelled(
    found: Answer, reference: tuple[str, ...], labels: Sequence[tuple[str, ...]], weights: str
) -> Score:
    """Exactly one label is asserted, and it is the reference."""
    answer = words_of(f"{found.text} {found.conflicting_answer}")
    asserted, others = _asserted(answer, labels)
    first, beside = _asserted((*takewhile(lambda word: word not in REASONS, answer),), labels)
    against = {*(beside if first else others)} & (NEGATIONS | HEDGES)
    against -= NEGATIONS if answer[:1] == ("no",) in asserted else set()  # "No, it is not."
    if len(asserted) != 1 or against or found.text.endswith("?"):
        reason = f"the answer asserts {len(asserted)} labels, or denies or doubts one"
        return not_answered(reason, "one-label", found.text, further=(_f1(0.0),))
    (label,) = asserted
    evidence = Evidence("same-label", " ".join(label), " ".join(reference))
    score = compared(found, evidence, _f1(_shared(label, reference)), right=label == reference)
    return replace(score, value=score.value * _weights(labels, weights)[label])


def _asserted(
    words: tuple[str, ...], labels: Sequence[tuple[str, ...]]
) -> tuple[set[tuple[str, ...]], tuple[str, ...]]:
    """The labels in a text, the longest first where they overlap, and the words beside them."""
    found: set[tuple[str, ...]] = set()
    others: list[str] = []
    at = 0
    while at < len(words):
        label = next((each for each in labels if words[at : at + len(each)] == each), None)
        if label is None:
            others.append(words[at])
            at += 1
        else:
            found.add(label)
            at += len(label)
    return found, tuple(others)


def _unlike(answer: Sequence[str], reference: Sequence[str]) -> bool:
    """Whether an answer and a reference do not deny and hedge alike."""
    against = NEGATIONS | HEDGES
    return against.intersection(answer) != against.intersection(reference)


def _shared(answer: Sequence[str], reference: Sequence[str]) -> float:
    """The F1 of the words, each counted as often as it stands there."""
    both = sum((Counter(answer) & Counter(reference)).values())
    return 2.0 * both / (len(answer) + len(reference)) if answer else 0.0


def _f1(value: float) -> Metric:
    return Metric("f1", value)
