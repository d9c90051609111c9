r"""Choose the candidate of a response that is its final answer, and disqualify the others.

    the last box              \boxed{…}; a run of boxes is one list
    else the last statement   "The answer is …", "#### …", "<answer>…</answer>"
    else the last sentence    "The number of divisors is 9.", "A: 9"
    else the last span        $…$, \(…\), in the last sentence
    else the whole response   when it is nothing but an answer

The last one wins, and a weaker form never overrules a stronger one. The strongest form may turn out
empty, unclosed, disqualified by the words next to it, or a part of a formula: then the response has
no answer, and nothing else in it is searched. A box and a `####` are commitments: of the words next
to them only a denial or a retraction of that very value disqualifies them. A box, a statement or a
correction after the answer may contradict it, and is handed to the caller, who can compare values.

All functions read the response as `visible_response` leaves it, and are linear in its length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.core import patterns as re
from reward_functions.extraction.answer import UNCLOSED_BOX, Answer, NoAnswer
from reward_functions.extraction.candidates.boxes import COMMAND, last_boxed
from reward_functions.extraction.candidates.candidate import whole_response
from reward_functions.extraction.candidates.endings import ends_with, last_sentence
from reward_functions.extraction.candidates.math_spans import last_span, taken_back
from reward_functions.extraction.candidates.statements import last_hash_marker, last_statement
from reward_functions.extraction.cues.formulas import TAIL
from reward_functions.extraction.cues.matching import (
    correction,
    disqualifying_cue,
    response_ends,
)
from reward_functions.extraction.cues.phrase import RULES
from reward_functions.extraction.formula_context import inside_larger_formula
from reward_functions.extraction.prompt_facts import states
from reward_functions.quantities.units import canonical

if TYPE_CHECKING:
    from reward_functions.extraction.candidates.candidate import Candidate

_FRAMED: Final = re.compile(
    r"\\framebox(?:\[[^\[\]]{0,20}\]){0,2}(?=\s?\{)|\\fcolorbox(?:\s?\{[^{}]{1,30}\}){2}(?=\s?\{)"
)


def final_answer(text: str, prompt: str = "") -> Answer | NoAnswer:
    """The final answer of a visible response by the order at the top of this module.

    Args:
        text: the response.
        prompt: the question, which says what a sentence of the response repeats.
    """
    return boxed_answer(text) or stated_answer(text, prompt) or unmarked_answer(text, prompt)


def unmarked_answer(text: str, prompt: str = "") -> Answer | NoAnswer:
    """The final answer of a visible response that neither boxes nor states one."""
    return _closing_answer(text, prompt) or _span_answer(text) or _whole_answer(text)


def hash_answer(text: str) -> Answer | NoAnswer | None:
    """The text after the last `####`, up to the end of its line; None without one."""
    marked = last_hash_marker(text)
    if marked is None:
        return None
    line = marked.text
    if not line:
        return NoAnswer("nothing follows the last ####", "empty-answer")
    last = response_ends(text, marked.end)
    cue = disqualifying_cue(text, marked.start, marked.end, last=last, form="hash_marker")
    if cue:
        return NoAnswer(f"the last #### {cue}", RULES[cue])
    if "answer" in line.lower():
        return stated_answer(line) or Answer("hash_marker", line)
    later = "" if last else _conflicting_answer(text, marked.end)
    return Answer("hash_marker", line.strip("*_ "), later)


def boxed_answer(text: str) -> Answer | NoAnswer | None:
    """The content of the last box or run of boxes; None where nothing is boxed."""
    text, box = _box(text)
    if box is None:
        return None
    if not box.boxes:
        return NoAnswer(UNCLOSED_BOX, "unclosed-box")
    if not box.text.strip(" ,"):
        return NoAnswer("the last box is empty", "empty-answer")
    last = response_ends(text, box.end)
    cue = disqualifying_cue(text, box.start, box.end, last=last, form="box")
    if cue:
        return NoAnswer(f"the last box {cue}", RULES[cue])
    if inside_larger_formula(text, box.start, box.end, last=last):
        reason = "the last box is part of a longer number or formula"
        return NoAnswer(reason, "inside-larger-formula")
    if last:
        return Answer("box", box.text, boxes=box.boxes)
    tail = _tail(text, box.end) if box.boxes == 1 else ""
    return Answer("box", box.text, _conflicting_answer(text, box.end), tail, box.boxes)


def stated_answer(text: str, prompt: str = "") -> Answer | NoAnswer | None:
    """The last statement of an answer; None without one."""
    statement = last_statement(text)
    if statement is None:
        return None
    if statement.mood == "negated":
        return NoAnswer("the last statement about the answer denies one", "denied-statement")
    if statement.mood == "doubted" and not states(prompt, statement.condition):
        return NoAnswer("the stated answer is taken back", "taken-back")
    if not statement.text:
        return NoAnswer("the statement of the answer is empty", "empty-answer")
    if statement.boxes > 1:
        return NoAnswer("the statement of the answer lists several", "several")
    later = correction(text, statement.end)
    return Answer(
        "statement",
        statement.text,
        later,
        behind=statement.behind,
        sentence=statement.sentence,
    )


def one_stated_answer(text: str) -> Answer | NoAnswer | None:
    """The last statement of an answer, unless a list goes on after it: "A; B; C" states three.

    Text after a semicolon on its line is an item where it has no more words than the answer.
    """
    found = stated_answer(text)
    if not isinstance(found, Answer):
        return found
    behind = text.rpartition(found.text)[2].partition("\n")[0].strip(" .)*_")
    words = len(found.text.split())
    items = behind[1:].split(";") if behind.startswith(";") else []
    if items and all(0 < len(each.split()) <= words for each in items):
        return NoAnswer("the statement of the answer lists several", "several")
    return found


def _closing_answer(text: str, prompt: str) -> Answer | None:
    closing = last_sentence(text, prompt)
    return Answer("last_sentence", closing.text) if closing else None


def _span_answer(text: str) -> Answer | NoAnswer | None:
    span = last_span(text)
    if span is None:
        return None
    if not ends_with(text, span):
        return NoAnswer("the response goes on after its last formula", "last-formula-ends")
    if taken_back(text, span):
        reason = "the sentence of the last formula denies, supposes or bounds it"
        return NoAnswer(reason, "doubted-formula")
    return Answer("math_span", span.text) if span.text else None


def _whole_answer(text: str) -> Answer | NoAnswer:
    whole = whole_response(text)
    if whole is None:
        return NoAnswer("there is no final answer")
    if not whole.text:
        return NoAnswer("the response is empty", "empty-response")
    return Answer("whole_response", whole.text.strip("*_` "))


def _box(text: str) -> tuple[str, Candidate | None]:
    r"""The last box, and the text it stands in: one with every `\fbox` spelled `\boxed`."""
    if "\\" not in text:  # a tenth of the price of two characters
        return text, None
    if text.rfind("\\fbox") >= 0:  # half the price of `in` and `replace`
        text = text.replace("\\fbox", "\\boxed")
    box = last_boxed(text)
    if box is None and "\\f" in text:
        text, framed = _FRAMED.subn("\\\\boxed", text)
        box = last_boxed(text) if framed else None
    return text, box


def _tail(text: str, end: int) -> str:
    """The sign, scale word or known unit right behind a box; "" for anything else."""
    tail = TAIL.match(text, end)
    if tail is None or (tail["unit"] and not canonical(tail["unit"].strip("~ "))):
        return ""
    return tail[0].rstrip()


def _conflicting_answer(text: str, after: int) -> str:
    """A later answer, which may contradict it: a correction, a box, or a statement."""
    corrected = correction(text, after)
    if corrected:
        return corrected
    if text.find(COMMAND, after) >= 0:
        box = last_boxed(text)
        return box.text if box else ""
    later = last_statement(text, after)
    return later.text if later and later.mood == "stated" and not later.rounded else ""
