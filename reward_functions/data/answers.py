"""Read the answer that a reference states: its kind, and whether a reward can use it.

A reference is read in every shape that the data sets and trainers have. An evaluation compares
prompts by the kind of answer (a percentage, a choice, a formula), and the simulated policy learns
for each kind by itself.

A reward can use a row where it reads the reference and pays its right answer in the form asked.
The right response is scored where the reward can write it: some rewards look at the whole reference
only once there is an answer to compare. So is a wrong one: the very text of a reference equals it,
whether or not anything else can be held against it. A judge gets no model to ask, since a call
costs; it reads its reference before it asks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, Literal

from reward_functions.core.alternatives import right_writer
from reward_functions.core.asking import ScriptedAsk
from reward_functions.core.batch import score_batch
from reward_functions.core.errors import BadParameter, DatasetError
from reward_functions.core.references import reference_fields, reference_text
from reward_functions.core.types import Scored, Unscored
from reward_functions.extraction.answer import Answer
from reward_functions.extraction.markup import plain
from reward_functions.extraction.selection import boxed_answer, hash_answer
from reward_functions.extraction.selection import stated_answer as stated_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.core.spec import RewardSpec
    from reward_functions.core.types import RewardResult, Sample, Score


Shown = Literal["ANSWER:", "####", "box"]
"""A form in which a reference shows its answer."""

LONG: Final = 80
"""Characters from which a reference is free text, of which no slip of a figure can be made."""

NUMBER: Final = re.compile(
    r"(?P<lead>[-+−]?\s?(?:\\?\$|[€£¥]|EUR|USD|GBP|CHF|JPY)?\s?[-+−]?)"
    r"(?P<value>(?:\d{1,3}(?:,\d{3})+|\d{1,40})(?:\.\d{1,40})?|\.\d{1,40})"
    r"(?P<tail>\s?(?:\\?[%$]|[€£¥])|[A-Za-z .]{0,40})"
)
_YES_OR_NO: Final = re.compile(r"yes|no|true|false", re.IGNORECASE)
CHOICE: Final = re.compile(r"(\(?)([A-J])(\)?)")
_WORDS: Final = re.compile(r"(?=.*[A-Za-z]{3})[A-Za-z][A-Za-z' .,-]*", re.DOTALL)
BOXED: Final = re.compile(r"\\f?boxed|\\fbox")


def stated_answer(reference: Any) -> tuple[str, Shown | None]:
    """The answer of a reference, and the form in which the reference shows it, if any.

    Args:
        reference: in any shape that `core.references` reads, a FinQA record, or a prepared one.

    Raises:
        BadReference: no answer can be read from it.
    """
    fields = reference_fields(reference) or {}
    if isinstance(fields.get("qa"), dict):
        fields = fields["qa"]
    if "unit" in fields and "value" in fields:
        return f"{fields['value']}{'%' * (fields['unit'] == 'percent')}", "ANSWER:"
    if fields.get("exe_ans") is not None:
        written = str(fields.get("answer") or "").strip()
        known = NUMBER.fullmatch(written) or _YES_OR_NO.fullmatch(written)
        return written if known else reference_text(fields["exe_ans"]), "ANSWER:"
    text = reference_text(reference).strip()
    if "####" in text:
        return text.rpartition("####")[2].strip(), "####"
    boxed = boxed_answer(text) if BOXED.search(text) else None
    if isinstance(boxed, Answer):
        return boxed.text, "box"
    return text.removeprefix("$").removesuffix("$") if text.count("$") == 2 else text, None  # noqa: PLR2004 - a pair


def kind_of(answer: str) -> str:
    """The kind of an answer: "whole number", "percentage", "formula" and so on."""
    number = NUMBER.fullmatch(answer)
    if number:
        if "%" in number["tail"]:
            return "percentage"
        return "decimal" if "." in number["value"] else "whole number"
    if _YES_OR_NO.fullmatch(answer):
        return "yes or no"
    if CHOICE.fullmatch(answer):
        return "choice"
    return "words" if len(answer) > LONG or _WORDS.fullmatch(plain(answer)) else "formula"


_WRONG: Final = r"\boxed{987654321}"
"""A response that states an answer, and nobody's."""

NO_PARAMETERS: Final[Mapping[str, Any]] = {}


def reading_error(
    spec: RewardSpec, sample: Sample, parameters: Mapping[str, Any] = NO_PARAMETERS
) -> DatasetError | None:
    """The error a reward raises for a reference; None where it can read it."""
    for response in (None, _WRONG):
        result = _result(spec, sample, response, parameters)
        if isinstance(result, Unscored) and isinstance(result.error, DatasetError):
            return result.error
    return None


def complaint(
    spec: RewardSpec, sample: Sample, parameters: Mapping[str, Any] = NO_PARAMETERS
) -> str | None:
    """Why a reward cannot use a row: it cannot read it, or does not pay its own right answer."""
    error = reading_error(spec, sample, parameters)
    if error is not None:
        return str(error)
    if spec.gold_response is None or spec.needs.judge:
        return None
    result = _result(spec, sample, None, parameters)
    if isinstance(result, Unscored):
        return f"{spec.name} cannot score the right answer: {result.error}"
    if result.score.value < spec.scale.maximum:
        return f"{spec.name} does not pay the right answer in full"
    return None


def doubts(
    spec: RewardSpec, sample: Sample, parameters: Mapping[str, Any] = NO_PARAMETERS
) -> list[str]:
    """The doubts that remain about a row that a reward can use, each in a clause."""
    values = {name: each.default for name, each in spec.parameters.items()} | dict(parameters)
    return list(spec.doubts(sample, **values)) if spec.doubts else []


def unseen_format(
    spec: RewardSpec, sample: Sample, parameters: Mapping[str, Any], pattern: str
) -> str | None:
    """The advice for prompts that ask for a form of answer the reward does not pay.

    Args:
        spec: the reward.
        sample: a row it can use.
        parameters: of the reward.
        pattern: a response of that form, with %s for the answer.

    Returns:
        None where the reward pays the right answer in that form, or cannot be tried.
    """
    if spec.gold_response is None or spec.needs.judge:
        return None
    response = pattern % _answer(right_writer(spec.gold_response, parameters)(sample))
    if _paid(spec, sample, response, parameters):
        return None
    message = f"{spec.name} pays nothing for {pattern % '…'}"
    try:
        if _paid(spec, sample, response, {**parameters, "flexible": True}):
            return f"{message} unless it is told to: score and deploy it with -p flexible=true"
    except BadParameter:
        pass
    return f"{message}: ask for another form, or take another reward"


def _answer(gold: str) -> str:
    """The answer of a right response, without what marks it as one."""
    found = hash_answer(gold) or boxed_answer(gold) or stated_in(gold)
    return found.text if isinstance(found, Answer) else gold.strip()


def _paid(spec: RewardSpec, sample: Sample, response: str, parameters: Mapping[str, Any]) -> bool:
    result = _result(spec, sample, response, parameters)
    return isinstance(result, Scored) and result.score.value == spec.scale.maximum


def _result(
    spec: RewardSpec, sample: Sample, response: str | None, parameters: Mapping[str, Any]
) -> RewardResult:
    """The result of a response; None for the one that the reward writes itself."""
    read = spec.bind(parameters, ask=ScriptedAsk() if spec.needs.judge else None)

    def scored(asked: Sample) -> Score:
        if response is None and spec.gold_response:
            return read(asked.answered(right_writer(spec.gold_response, parameters)(asked)))
        return read(asked.answered(response or ""))

    (result,) = score_batch(scored, [sample])
    return result
