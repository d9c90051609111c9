"""Answers to a question that yes or no answers: True, "Yes, …", 正确, and what only looks like one.

A word counts as a whole answer: in a box, in a statement, or as the first word of a response. In a
sentence about something else it counts where the prompt puts that very statement and asks whether
it holds. Both words, and a word that is denied, are no answer.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from reward_functions import symbolic
from reward_functions.core import patterns as re
from reward_functions.extraction.answer import Answer, NoAnswer
from reward_functions.extraction.candidates.endings import LONGEST
from reward_functions.extraction.candidates.statements import last_statement
from reward_functions.extraction.cues import truths as words
from reward_functions.extraction.cues.compiling import says
from reward_functions.extraction.cues.endings import STOP
from reward_functions.extraction.cues.matching import REACH, cue_before
from reward_functions.extraction.markup import plain
from reward_functions.extraction.selection import boxed_answer, stated_answer
from reward_functions.symbolic import EqualityVerdict, Outcome

if TYPE_CHECKING:
    from reward_functions.extraction.candidates.candidate import Candidate

TAIL: Final = 20_000
"""Characters at the end of a prompt in which its question is looked for."""

KEPT: Final = 64
"""Prompts whose questions are kept: all responses of a group answer the same one."""

BEFORE: Final = 20
"""Characters before a verb in which its clause begins."""

SEARCHED: Final = 100_000
"""Characters behind a first word that are searched for one that contradicts it."""

LONGEST_WORD: Final = 40
"""Characters of one of the words in its markup."""

MAX_STATEMENTS: Final = 4
"""Statements that are looked at, from the last one back."""

MAX_MEMBERS: Final = 256
"""Words of a list that are read."""

SEVERAL: Final = "both"
"""What an answer says that says both."""

_BOTH: Final = NoAnswer("the answer says that it holds and that it does not", "two-truths")
_MARGIN: Final = " \t\r\n.。!！,;:*_`\"'“”‘’"
_OF_VALUE: Final = re.compile(r"[\d=\\]")
_WORD: Final = re.compile(r"\w++")
_TRUTHS: Final = frozenset({"True", "False"})
_DIGITS: Final = {"1": True, "0": False}


def is_truth(reference: str) -> bool:
    """Whether a reference is one of the words."""
    return len(reference) <= LONGEST_WORD and _word(reference) in words.POLARITY


def truth_asked_for(reference: str, prompt: str) -> bool | None:
    """What a reference says that is one of the words, where the prompt asks for one; else None."""
    word, tail = _word(reference), prompt[-TAIL:]
    asked = is_truth(reference) and _is_meant(word, tail) and _is_asked(tail)
    return words.POLARITY[word] if asked else None


def asks_for_truths(prompt: str) -> bool:
    """Whether a prompt lets 1 and 0 answer for yes and no."""
    return words.ONE_FOR_YES.search(prompt[-TAIL:]) is not None


def _word(reference: str) -> str:
    return plain(reference).strip(_MARGIN).lower()


def truth_stated(text: str, prompt: str) -> Answer | NoAnswer:
    """The truth that a visible response states, "True" or "False" as the text of an answer.

    An answer that states none is returned as it is.
    """
    found = boxed_answer(text) or _statement(text)
    if found is None:
        return _unmarked(text, prompt[-TAIL:])
    if isinstance(found, NoAnswer):
        return found
    value, other = truth(found.text, prompt), truth(found.conflicting_answer, prompt)
    if value and other and value != other:
        return NoAnswer("a later statement of the answer contradicts it", "contradicted")
    return _BOTH if value == SEVERAL else found._replace(text=value or found.text)


def truth(answer: str, prompt: str) -> str:
    """What an answer states: "True" or "False", `SEVERAL` for both, "" for neither."""
    bare, tail = plain(answer).strip(_MARGIN), prompt[-TAIL:]
    if bare in _DIGITS:
        return str(_DIGITS[bare]) if words.ONE_FOR_YES.search(tail) else ""
    found = words.WHOLE.match(bare)
    if found is None:
        return _of_statement(bare, tail)
    word, rest = found["word"].lower(), bare[found.end() :].strip(_MARGIN)
    if rest and (word in words.SIGNS or words.CONDITION.match(rest)):
        return ""
    return SEVERAL if _takes_back(rest, word) else str(words.POLARITY[word])


def truths(answer: str) -> list[bool] | None:
    """The truths of a list of the words, or of 1 and 0; None where a member is anything else."""
    bare = plain(answer).strip(_MARGIN + "()[]{}\\")
    parts = [part.lower() for part in words.BETWEEN.split(bare) if part]
    found = [words.POLARITY.get(part, _DIGITS.get(part)) for part in parts[:MAX_MEMBERS]]
    known = [each for each in found if each is not None]
    return known if len(known) == len(parts) else None


def truth_verdict(answer: str, truth: bool) -> EqualityVerdict:  # noqa: FBT001 - what is right
    """The verdict on an answer as `truth_stated` returns it."""
    if answer not in _TRUTHS:
        reason = "the answer says neither that it holds nor that it does not"
        return EqualityVerdict(Outcome.UNDECIDED, "truth", reason, truth, answer)
    right = answer == str(truth)
    outcome = Outcome.EQUAL if right else Outcome.DIFFERENT
    return EqualityVerdict(outcome, "truth", f"the answer is {answer}", truth, answer)


def affirmed(text: str) -> str:
    """The value behind "Yes,"; "" of any other text."""
    found = words.AFFIRMED.fullmatch(text.strip(" $"))
    if found is None or not words.POLARITY[found["word"].lower()]:
        return ""
    value = found["rest"].strip(" $")
    return value if any(map(str.isdigit, value)) and symbolic.readable(value) else ""


@lru_cache(KEPT)
def _is_asked(prompt: str) -> bool:
    """Whether yes or no answers the question of a prompt."""
    if words.ASKED.search(prompt):
        return True
    verbs = (verb.start() for verb in words.AUXILIARY.finditer(prompt))
    return any(words.OPENS.search(prompt, max(0, verb - BEFORE), verb) for verb in verbs)


def _is_meant(word: str, prompt: str) -> bool:
    """Whether one of the words means what it means here."""
    meant = words.PAIR_OF[word].meant
    asked = prompt.lower() if meant else ""
    return not meant or any(map(asked.__contains__, meant))


def _statement(text: str) -> Answer | NoAnswer | None:
    """The last statement of an answer; "no" as its value denies nothing.

    A solution or a result that is no truth, x = 0, is not the answer to such a question.
    """
    found = stated_answer(text)
    for _ in range(MAX_STATEMENTS):
        statement = last_statement(text)
        if statement is None:
            return found
        whole = words.WHOLE.match(statement.text)
        if whole or not _OF_VALUE.search(statement.text) or _names_answer(text, statement):
            break
        text = text[: statement.start]
        found = stated_answer(text) or found
    else:
        return found
    before = STOP.split(text[max(0, statement.start - LONGEST) : statement.start])[-1]
    if words.SUPPOSED.search(before):
        return NoAnswer("the answer is stated for a case only", "denied-statement")
    if statement.mood == "negated" and whole and not _is_denied(text, statement):
        return Answer("statement", statement.text)
    return found


def _names_answer(text: str, statement: Candidate) -> bool:
    """Whether a statement is one of the answer, and not of a solution or a result."""
    return text[statement.start : statement.start + len("answer")].lower() == "answer"


def _is_denied(text: str, statement: Candidate) -> bool:
    """Whether the words before a value deny it, and not the value, "No, …", itself."""
    if cue_before(text[max(0, statement.start - REACH) : statement.start]):
        return True
    value = text.find(statement.text, statement.start)
    return value < 0 or words.DENIED.search(text, statement.start, value) is not None


def _unmarked(text: str, prompt: str) -> Answer | NoAnswer:
    """The first word of a response, or what its last sentence says of the prompt's statement."""
    first, last = _first_word(text, prompt), _of_statement(_last_sentence(text), prompt)
    if first == SEVERAL or (first and last and first != last):
        return _BOTH
    found = first or last
    if not found:
        return NoAnswer("there is no final answer")
    return Answer("first_line" if first else "last_sentence", found)


def _first_word(text: str, prompt: str) -> str:
    found = words.FIRST.match(text)
    if found is None:
        return ""
    word, rest = found["word"].lower(), text[found.end() : found.end() + SEARCHED]
    if not _is_meant(word, prompt) or (word == "no" and words.NUMBERED.match(rest)):
        return ""
    rest = rest.lstrip(_MARGIN)
    if words.CONDITION.match(rest) or says(STOP.split(rest, maxsplit=1)[0], words.DOUBT):
        return ""
    if _takes_back(rest, word):
        return SEVERAL
    return str(words.POLARITY[word])


def _takes_back(rest: str, word: str) -> bool:
    """Whether what follows one of the words says another, or denies this one."""
    if any(denied[1].lower() == word for denied in words.NEGATED.finditer(rest)):
        return True
    pair = words.PAIR_OF[word]
    for clause in words.CLAUSE.finditer(rest):
        other = clause["word"].lower()
        of_pair = words.PAIR_OF[other]
        alone = not clause["copula"] and not of_pair.meant
        if words.POLARITY[other] != words.POLARITY[word] and (of_pair is pair or alone):
            return True
    return False


def _last_sentence(text: str) -> str:
    """The last sentence of a response; "" where it is longer than one that states something."""
    tail = text.rstrip()[-LONGEST:]
    stops = [stop.end() for stop in STOP.finditer(tail, 0, max(0, len(tail) - 1))]
    if not stops and len(tail) == LONGEST:
        return ""
    return tail[stops[-1] if stops else 0 :]


def _of_statement(sentence: str, prompt: str) -> str:
    """What a sentence says of the statement that the prompt puts; "" of any other subject."""
    stated = words.STATED.fullmatch(sentence)
    if stated is None or words.DENIED_LAST.search(stated["subject"]):
        return ""
    word, subject = stated["word"].lower(), stated["subject"].strip()
    if word in words.SIGNS:
        return ""
    asked = _spaced(prompt)
    statement = words.STATEMENT.fullmatch(subject)
    if statement:
        put = _spaced(statement["put"]).strip()
        about = put in asked and words.OF_TRUTH.search(prompt)
        return str(words.POLARITY[word]) if about else ""
    for other in (*words.PAIR_OF[word].affirm, *words.PAIR_OF[word].deny):
        if any(
            f" {verb}{_spaced(subject)}{other} " in asked
            or f" whether{_spaced(subject)}{verb} {other} " in asked
            for verb in words.COPULAS
        ):
            return str(words.POLARITY[word] == words.POLARITY[other])
    return ""


def _spaced(text: str) -> str:
    """The words of a text, each between two spaces."""
    return f" {' '.join(_WORD.findall(text.lower()))} "
