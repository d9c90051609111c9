"""Read a string once, as mathematics, words or a choice, and keep it for every tier.

A string that is not in the grammar still has words, which can be compared.

Sets in words: all real numbers, no solution.

Only what names a set of values is here. "Does not exist", "undefined" and "infinitely many" are
other statements about a question, and stay words.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from itertools import pairwise, product
from typing import Final, NamedTuple

from reward_functions.core import patterns as re
from reward_functions.quantities.number_words import cardinal
from reward_functions.quantities.units import joined
from reward_functions.symbolic.budget import CHARACTERS, OverBudget, Unreadable
from reward_functions.symbolic.expr.literals import number
from reward_functions.symbolic.expr.nodes import (
    Braces,
    Bracket,
    Listing,
    NamedSet,
    Node,
    Number,
    Symbol,
)
from reward_functions.symbolic.expr.printer import rendered
from reward_functions.symbolic.expr.traversal import free_names, names_in, operations
from reward_functions.symbolic.parsing.bases import with_bases
from reward_functions.symbolic.parsing.cases_in_words import in_a_row
from reward_functions.symbolic.parsing.chemistry import Chemistry, chemistry
from reward_functions.symbolic.parsing.clauses import with_clause
from reward_functions.symbolic.parsing.dates import calendar_date, clock_time
from reward_functions.symbolic.parsing.enumeration import enumerated
from reward_functions.symbolic.parsing.lexer import Token, tokens
from reward_functions.symbolic.parsing.parser import parse_condition, parse_tokens
from reward_functions.symbolic.parsing.plus_minus import spelled_out
from reward_functions.symbolic.parsing.progressions import progression
from reward_functions.symbolic.parsing.unicode_notation import GREEK
from reward_functions.symbolic.parsing.vocabulary import (
    COMMAND_FUNCTIONS,
    LETTER_FUNCTIONS,
    SHORT_ROMAN,
    SPELLINGS,
)

_REALS: Final = {
    "": "R", "positive ": "R+", "negative ": "R-", "non-negative ": "R0+", "nonnegative ": "R0+",
    "non-zero ": "R*", "nonzero ": "R*",
}  # fmt: skip
_INTEGERS: Final = {"": "Z", "positive ": "Z+", "non-negative ": "N0", "nonnegative ": "N0"}
_EMPTY: Final = Braces(())
_NOTHING: Final = (
    ("", "there is ", "there are ", "it has ", "the equation has ", "the system has "),
    ("no ",),
    ("", "real "),
    ("solution", "solutions", "root", "roots"),
    ("", " exist", " exists"),
)
"""How people state that nothing solves a problem, word by word. Real numbers are meant anyway."""

PHRASES: Final[dict[str, Node]] = {
    **{"".join(words): _EMPTY for words in product(*_NOTHING)},
    **dict.fromkeys(("none", "empty set", "the empty set"), _EMPTY),
    **{
        f"{quantity}{sign}{noun}": NamedSet(kind)
        for quantity in ("all ", "any ", "the set of all ", "the set of ", "the ", "")
        for sign, kind in _REALS.items()
        for noun in ("real numbers", "real number", "reals")
    },
    **{
        f"{quantity}{sign}integers": NamedSet(kind)
        for quantity in ("all ", "the ", "the set of ")
        for sign, kind in _INTEGERS.items()
    },
}
"""What a phrase in lower case stands for."""


_NO_ROOM: Final = "nested deeper than the stack allows"
_SIGNS: Final = frozenset("±∓")
_BETWEEN_LABELS: Final = frozenset({",", ";", "and", "land"})


class Choice(NamedTuple):
    """A choice by its letter, with what stands after it when there is something."""

    letter: str
    content: Document | None = None


class Document:
    """A string with what could be made of it.

    Everything is worked out when it is first asked for, and kept; two threads that ask at once
    work out the same.

    Attributes:
        marks: its tokens by kind and text, without outer punctuation; empty when it has none.
        trouble: why there is no tree, once `tree` has been asked for.
        near: where that is in the string; empty where the whole is meant.
    """

    def __init__(self, stream: list[Token], trouble: str = "", unread: str = "") -> None:
        self.marks = [token[:2] for token in stream]
        self.trouble = trouble
        self.near = ""
        self._stream = stream
        self._unread = unread

    @cached_property
    def words(self) -> str:
        """Its words in one spelling."""
        return self._unread or _words(self._stream, wordy=self.wordy)

    @cached_property
    def wordy(self) -> bool:
        """Whether it is words in the first place, even if it parses (`yes` is not y·e·s)."""
        return _wordy(self._stream)

    @cached_property
    def spelled(self) -> frozenset[str]:
        """The letters read as symbols that may be something else: a word, a unit, digits."""
        found = _spelled(self._stream)
        return found and found & self.letters

    @cached_property
    def has_word(self) -> bool:
        """Whether letters of a word were read as factors: times 0, "not 0" is 0."""
        return bool(self.spelled) and any(
            token.kind == "letters" and token.text not in _SYMBOLIC and _is_word(token.text)
            for token in self._stream
        )

    @cached_property
    def letters(self) -> frozenset[str]:
        """The first letters of its symbols and constants, but for those an operation binds."""
        tree = self._grown
        if tree is None:
            return frozenset()
        names = free_names(tree) if operations(tree) else names_in(tree)
        return frozenset(name[0] for name in names)

    @cached_property
    def choice(self) -> Choice | None:
        """The choice it names, or None."""
        return _choice(self._stream)

    @property
    def chemistry(self) -> Chemistry | None:
        """The reading as chemistry, or None, also where the stack has no room for now."""
        try:
            return self._chemistry
        except RecursionError:
            return None

    @cached_property
    def _chemistry(self) -> Chemistry | None:
        return chemistry(self._stream)

    @property
    def letter(self) -> str:
        """The letter, as a capital, when it is a single letter and nothing else."""
        alone = len(self.marks) == 1 and self.marks[0][0] == "letters"
        return self.marks[0][1].upper() if alone and len(self.marks[0][1]) == 1 else ""

    @property
    def unreadable(self) -> bool:
        """Whether it is mathematics, not words, and not in the grammar."""
        return self.tree is None and self.choice is None and not _has_words(self._stream)

    @property
    def joints(self) -> frozenset[str]:
        """The words "and" and "or", as far as they stand in it."""
        return frozenset(_JOINTS.findall(self.words))

    @property
    def names(self) -> frozenset[str]:
        """The words of a list of words, in no order: "Ann, Bob and Cy"."""
        parts = _BETWEEN_NAMES.split(self.words.strip("{} "))
        return frozenset(stripped for part in parts if (stripped := part.strip()))

    @property
    def tree(self) -> Node | None:
        """Its mathematics; None when it is not in the grammar.

        A part for which the stack has no room is read again by a caller that has more of it.
        """
        try:
            return self._grown
        except RecursionError:
            self.trouble = self.trouble or _NO_ROOM
            return None

    @cached_property
    def _grown(self) -> Node | None:
        try:
            return _tree(self._stream)
        except (OverBudget, Unreadable) as trouble:
            if self.trouble in ("", _NO_ROOM):
                self.trouble = str(trouble)
            self.near = getattr(trouble, "near", "")
            return None

    def __str__(self) -> str:
        """The mathematics in one notation, or the words where there is none."""
        tree = None if self.wordy else self.tree
        return self.words if tree is None else rendered(tree)


_JOINTS: Final = re.compile(r"\b(?:and|or)\b")
_BETWEEN_NAMES: Final = re.compile(rf"[,;]|{_JOINTS.pattern}")


KEPT: Final = 512
"""Documents kept for the next comparison: every response to a prompt meets the same reference."""

KEPT_LENGTH: Final = 300
"""Characters of a string whose document is kept, so that all take a few megabytes at most."""


KEPT_LONG: Final = 4
"""Longer ones that are kept: one comparison reads both sides more than once, and a reference with
alternatives makes several comparisons of one answer."""


def read(text: str, *, group_digits: bool = True, letter_digits: bool = False) -> Document:
    """Read a string. Raises nothing: what is too long or unreadable has no tree, and its `trouble`.

    Args:
        text: the answer.
        group_digits: whether 1,234 is one number; else it is a list.
        letter_digits: whether the letters above a subscript are digits: 2E_{16}; else they are
            names.
    """
    if len(text) > CHARACTERS:
        return _read(text, group_digits, letter_digits)
    kept = _kept if len(text) <= KEPT_LENGTH else _long
    return kept(text, group_digits, letter_digits)


def _read(text: str, group_digits: bool, letter_digits: bool) -> Document:  # noqa: FBT001 - keys
    try:
        stream = tokens(text, group_digits=group_digits)
        return Document(_without_margins(with_bases(stream, text, letters=letter_digits)))
    except (OverBudget, Unreadable) as trouble:
        # Only whole strings may be compared: two long ones can agree in all but the last character.
        return Document([], str(trouble), _collapsed(text) if len(text) <= CHARACTERS else "")


_kept = lru_cache(KEPT)(_read)
_long = lru_cache(KEPT_LONG)(_read)


def _tree(stream: list[Token]) -> Node:
    """The tree of an answer; raises as the parser does."""
    if stream and stream[0].kind == "label":
        return _labels(stream)
    time = clock_time(stream) or calendar_date(stream)
    if time is not None:
        return time
    if all(token.kind in ("letters", "-") for token in stream):
        spelled = _spelled_number(stream) or PHRASES.get(_words(stream))
        if spelled is not None:
            return spelled
    if _spaced_decimals(stream):
        return Listing(tuple(number(token.text) for token in stream))
    parts = enumerated(stream)
    if parts:
        return _one_by_one(Bracket("<", tuple(map(parse_tokens, parts)), ">"), stream)
    return (
        progression(stream)
        or in_a_row(stream, parse_tokens, parse_condition)
        or with_clause(stream, _read_part)
        or _read_part(stream)
    )


def _read_part(stream: list[Token]) -> Node:
    """The tree of an answer without a clause behind it."""
    if all(token.kind == "letters" for token in stream) and (named := PHRASES.get(_words(stream))):
        return named
    return _one_by_one(parse_tokens(stream), stream)


def _one_by_one(tree: Node, stream: list[Token]) -> Node:
    """A tree with each of the answers that its signs ± mean."""
    return spelled_out(tree) if any(token.kind in _SIGNS for token in stream) else tree


def _labels(stream: list[Token]) -> Node:
    """Statements by the circled numbers they have in the question: ①③, ① and ③."""
    labels = [token.text for token in stream if token.kind == "label"]
    between = {token.text for token in stream if token.kind != "label"}
    if not between <= _BETWEEN_LABELS:
        raise Unreadable("circled numbers among something else")
    symbols = [Symbol(f"label({label})") for label in labels]
    return symbols[0] if len(symbols) == 1 else Braces(tuple(symbols))


def _spaced_decimals(stream: list[Token]) -> bool:
    """Whether it is numbers with nothing but spaces between: 5 4.6.

    Only where one of them has a decimal point: 5 46 may be digits of one number.
    """
    return (
        len(stream) > 1
        and all(token.kind == "number" for token in stream)
        and all(token.spaced for token in stream[1:])
        and any("." in token.text.rstrip(".") for token in stream)
    )


def _spelled_number(stream: list[Token]) -> Node | None:
    """A number in words: twelve, one thousand six hundred, 三个."""
    value, rest = cardinal(_words(stream))
    if value is None or not rest.strip():
        return None if value is None else Number(value)
    counted = joined(rest) and value.denominator == 1 and value >= 0
    tokens_of = [Token("number", str(value)), Token("letters", rest)]
    return parse_tokens(tokens_of) if counted else None


def _collapsed(text: str) -> str:
    return " ".join(text.split()).lower()


def _without_margins(stream: list[Token]) -> list[Token]:
    """Without a leading "≈" or "=", outer braces and the punctuation of the sentence around it."""
    start, end = 0, len(stream)
    while end - start > 2 and stream[start].kind == "{" and _closing(stream, start) == end - 1:  # noqa: PLR2004
        start, end = start + 1, end - 1
    if end - start > 2 and stream[start].text == stream[end - 1].text == "**":  # noqa: PLR2004
        start, end = start + 1, end - 1  # bold, in Markdown
    while start < end and stream[start].kind in ("≈", "=", ":"):
        start += 1
    if end - start > 1 and stream[end - 1].kind in (".", ",", ";", ":"):
        end -= stream[end - 2].kind != "."
    kept = stream[start:end]
    if kept and kept[-1].kind == "number" and kept[-1].text.endswith("."):
        kept[-1] = kept[-1]._replace(text=kept[-1].text.rstrip("."))
    return _by_cases(kept) if kept and kept[-1].kind == "end" else kept


def _by_cases(stream: list[Token]) -> list[Token]:
    r"""An array behind a brace that nothing closes has cases: \left\{ … \right."""
    last = len(stream) - 1
    for place in range(last - 1):
        brace, opening = stream[place], stream[place + 1]
        if brace.kind == "\\{" and (opening.kind, opening.text) == ("begin", "array"):
            inside = stream[place + 2 : last]
            if stream[last].text == "array" and all(each.kind != "begin" for each in inside):
                first, end = opening._replace(text="cases"), stream[last]._replace(text="cases")
                return [*stream[:place], first, *inside, end]
    return stream


def _closing(stream: list[Token], opening: int) -> int:
    """The place of the brace that closes an opening one; -1 where none does."""
    depth = 0
    for place in range(opening, len(stream)):
        depth += {"{": 1, "}": -1}.get(stream[place].kind, 0)
        if not depth:
            return place
    return -1


def _words(stream: list[Token], *, wordy: bool = True) -> str:
    """The words in one spelling."""
    parts: list[str] = []
    for token in stream:
        if token.spaced and parts:
            parts.append(" ")
        if token.kind == "command":
            parts.append("\\" + token.text)
        else:
            # A word has no case, a symbol has.
            parts.append(token.text.lower() if len(token.text) > 1 or wordy else token.text)
    text = "".join(parts).strip(" .,;:!`*")
    unquoted = text.strip(" .,;:!\"'`*")
    # Behind a digit they are minutes and seconds, or feet and inches.
    return text if unquoted[-1:].isdigit() and unquoted[:1].isdigit() else unquoted


# Two-letter runs that are words before they are products of two symbols.
_SHORT_WORDS: Final = frozenset("no on so it is if in at by we us do he up my go me".split())
_MATHEMATICAL: Final = COMMAND_FUNCTIONS | frozenset(SPELLINGS)
_SYMBOLIC: Final = LETTER_FUNCTIONS | set(GREEK) | {"pi", "infinity", "infty", "and", "or"}


def _wordy(stream: list[Token]) -> bool:
    """Whether it is words: a run of letters of its own, or a sentence of such runs."""
    runs = [token.text for token in stream if token.kind == "letters"]
    if not runs or any(token.kind in ("number", "command", "^", "_", "=") for token in stream):
        return False
    words = [run for run in runs if run not in _SYMBOLIC and _is_word(run)]
    return bool(words) and all(
        token.kind in ("letters", "-", "'", ".", "!", '"', ",", "\\{", "\\}") for token in stream
    )


_MARKS: Final = frozenset("'\"")


def _has_words(stream: list[Token]) -> bool:
    """Whether it has a word that is none of mathematics, or 30' or 5 ft 3'', or chemistry."""
    return any(token.kind in _MARKS or token.text == "ce" for token in stream) or any(
        token.kind == "letters"
        and len(token.text) > SHORT_ROMAN
        and token.text not in _MATHEMATICAL
        for token in stream
    )


def _spelled(stream: list[Token]) -> frozenset[str]:
    """Letters of runs, and of what may be digits above nine (1A below 16)."""
    found: set[str] = set()
    for place, token in enumerate(stream):
        if token.kind != "letters" or token.text in _SYMBOLIC:
            continue
        digits = place and stream[place - 1].kind == "number" and not token.spaced
        below = place + 1 < len(stream) and stream[place + 1].kind == "_"
        if len(token.text) > 1 or (digits and below):
            found.update(token.text)
    return frozenset(found)


def _is_word(run: str) -> bool:
    return len(run) > 2 or run.lower() in _SHORT_WORDS  # noqa: PLR2004


_LETTERS: Final = frozenset("ABCDEFGHIJ")


def _choice(stream: list[Token]) -> Choice | None:
    """A letter that names a choice: C, (C), C., C), (C) 12, "C: the text", "Option C".

    A bare letter in lower case is a variable; within a mark or in upright type it is a choice.
    """
    if len(stream) > 1 and stream[0].text.lower() in _CALLED:
        stream = stream[1:]
    opened = bool(stream) and stream[0].kind == "("
    place = 1 if opened else 0
    if _names_more(stream[place + 1 :]) or enumerated(stream):
        return None
    if len(stream) <= place or stream[place].kind != "letters":
        return None
    letter = stream[place]
    if letter.text.upper() not in _LETTERS:
        return None
    rest = stream[place + 1 :]
    if opened and (not rest or rest[0].kind != ")"):
        return None
    if any(token.kind in _SECOND for token in rest[opened : opened + 1]) or "?" in map(_kind, rest):
        return None
    marked = letter.roman or opened
    if rest and rest[0].kind in (")", ".", ":"):
        rest, marked = rest[1:], True
    elif rest:
        return None
    if not marked and letter.text.islower():
        return None
    return Choice(letter.text.upper(), Document(rest) if rest else None)


_CALLED: Final = frozenset({"option", "choice", "letter"})
_SECOND: Final = frozenset({",", ";", "=", "∪", "+", "^"})
"""What joins a letter to something else, where the text of its choice would stand."""


def _kind(token: Token) -> str:
    return token.kind


_TAKEN_BACK: Final = frozenset("not wrong incorrect false or and neither nor is isn".split())


def _names_more(rest: list[Token]) -> bool:
    """Whether what follows a letter names another choice or takes the first one back."""
    return any(
        token.kind == "letters"
        and (
            token.text.lower() in _TAKEN_BACK
            or (token.text in _LETTERS and following.kind in (")", ".", ":", ",", ""))
        )
        for token, following in pairwise([*rest, Token("", "")])
    )
