r"""What a derivation concludes: 19 of \boxed{\sqrt{100-x}=9\Rightarrow x=19}.

A box that holds a text is a small response. Its own box counts where that is the only one with its
value, else its last sentence or step, where that states one value.
"""

from __future__ import annotations

from typing import Final

from reward_functions import symbolic
from reward_functions.extraction.answer import Answer
from reward_functions.extraction.candidates.boxes import COMMAND, boxes_in
from reward_functions.extraction.candidates.clauses import HIDDEN, hidden
from reward_functions.extraction.candidates.derivations import last_of, prose
from reward_functions.extraction.candidates.math_spans import last_span, taken_back
from reward_functions.extraction.candidates.predicates import amount, sentence_value, undelimited
from reward_functions.extraction.cues import asking, clauses, endings, sentences, statements
from reward_functions.extraction.cues import derivations as marks
from reward_functions.extraction.cues.compiling import says
from reward_functions.extraction.prompt_facts import names
from reward_functions.extraction.selection import boxed_answer

_AROUND: Final = "*_`$ \t"
"""What a value may stand in, which makes no other value of it."""

LENGTH: Final = 8_000
"""Characters of a derivation that is read."""


def concluded(found: Answer, reference: str, prompt: str) -> Answer:
    """A box as what it concludes; as it is where it is a value, or concludes none.

    An implication is one answer where neither the prompt asks for a value nor the reference is a
    number.
    """
    text = found.text
    if found.boxes > 1 or len(text) > LENGTH or not symbolic.readable(reference):
        return found
    if COMMAND in text:
        return _inner(found)
    numeric = any(map(str.isdigit, reference)) and not marks.RELATION.search(reference)
    if marks.IMPLIES.search(text) and not (numeric or asking.VALUE.search(prompt)):
        return found
    value = _last_formula(text) or _last_step(text, prompt)
    if not value or value.strip(_AROUND) == text.strip(_AROUND):
        return found
    return found._replace(text=undelimited(value))


def _inner(found: Answer) -> Answer:
    """A box in a box, where all of them have one value."""
    inner = boxed_answer(found.text) if len(set(boxes_in(found.text))) == 1 else None
    if not isinstance(inner, Answer):
        return found
    later = inner.conflicting_answer or found.conflicting_answer
    return found._replace(text=inner.text, conflicting_answer=later)


def _last_formula(text: str) -> str:
    """What follows the last arrow of a derivation without a word before it."""
    *before, last = marks.IMPLIES.split(text)
    wordless = before and not any(map(marks.WORDS.search, before))
    return last.strip() if wordless and symbolic.readable(last.strip(" .")) else ""


def _last_step(text: str, prompt: str) -> str:
    """The value of the last sentence of a derivation; "" where it states none."""
    sentence = last_of(prose(text.strip("$ ")))
    shown = hidden(sentence)
    chain = shown.count("=") > 1
    computed = () if chain else sentences.OPERATION.findall(shown.rpartition(HIDDEN)[0])
    proposed = clauses.PROPOSES.match(sentence) or says(sentence, statements.ROUNDED)
    if proposed or not all(names(prompt, each) for each in computed):
        return ""
    value = sentence_value(sentence, prompt, anything=True)
    if value or clauses.VERB.search(shown):
        return value
    return amount(sentence) or _counted(sentence)


def _counted(sentence: str) -> str:
    """The one formula of a sentence that says something of it: "$26$ animals have horns"."""
    span = last_span(sentence)
    if span is None or says(sentence, clauses.OPEN | clauses.DOUBTED):
        return ""
    rest = sentence[: span.start] + sentence[span.end :]
    if any(map(str.isdigit, rest)) or "$" in rest or endings.COMPUTED.search(rest):
        return ""
    return "" if taken_back(sentence, span) else span.text
