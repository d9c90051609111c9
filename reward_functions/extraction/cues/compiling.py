r"""From rows of the lexicon to what is matched: words, and the word that is looked for first.

A text is read once: commands, brackets and emphasis are dropped, and what is left is a list of
words, numbers and marks. A phrase becomes a list of places, each with what it accepts and how
often. It is matched place by place along the words, forwards or backwards, with the set of
positions reached so far. It needs no pattern and no backtracking: its work is bounded by the phrase
times the few words beside an answer.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.core import patterns as re
from reward_functions.extraction.cues.lexicon import GAPS, SLOTS, Phrase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

EDGE: Final = ""
"""The word that stands before the first and behind the last one."""

MAX_GAP: Final = 12
"""Words between a phrase and its answer."""

_DISPLAY: Final = re.compile(r"(?:\\\[|\$\$)\s{0,8}|\n\s{0,8}(?=\\\[|\$\$)")
_COMMAND: Final = re.compile(r"\\(?:([A-Za-z]+)|[^A-Za-z])")
_MEANT: Final = {
    **dict.fromkeys(("ne", "neq", "not"), " ≠ "),
    **dict.fromkeys(("or", "lor", "vee"), " or "),
    **dict.fromkeys(("frac", "dfrac", "tfrac", "sqrt", "boxed", "pi"), " 0 "),
    **dict.fromkeys(("lt", "gt", "le", "ge", "leq", "geq", "times", "cdot", "pm"), " & "),
}
"""What stands for a command that says something; every other one is markup."""
_MARKUP: Final = str.maketrans(
    dict.fromkeys('$({}[]*_~`"“”‘^', " ") | {"’": "'", "−": "-", "\n": " \n "}
)
_SPELLINGS: Final = (
    ("can't", "can not"),
    ("cannot", "can not"),
    ("won't", "will not"),
    ("n't", " not"),
    ("或", " or "),
    ("e.g.", "eg"),
)
SPELLED: Final = {
    "not": "cannot",
    "can": "cannot",
    "does": "doesn",
    "≠": "ne neq not !",
    "or": "lor vee",
    "eg": "e",
}
"""Letters and marks of a text that may become a word once its markup is off; `SHORT` is "not"."""

SHORT: Final = "n't"

_COMMON: Final = frozenset(f"{GAPS['is']} from of to in would should must value".split())

_UNEQUAL: Final = re.compile(r"(?<![\d)\s])\s!=")
_WORD: Final = re.compile(r"\d+(?:[.,/]\d+)*|'s\b|[A-Za-z]+|[^\s\w]|\n", re.ASCII)
_ANY_WORD: Final = re.compile(r"\d+(?:[.,/]\d+)*|'s\b|[一-鿿]|[^\W\d_一-鿿]+|[^\s\w]|\n")
"""The same in any script. Its 20,992 Chinese signs take more than a millisecond to compile."""

_COUNTS: Final = "one two three four five six seven eight nine ten".split()


class Place(NamedTuple):
    """A place of a phrase: what it accepts, and how many words of it at least and at most."""

    least: int
    most: int
    accepts: Callable[[str], bool]


_Accepting = tuple[int, int, "frozenset[str] | Callable[[str], bool]"]
"""How many words of a place at least and at most, and what they are."""


class Compiled(NamedTuple):
    """A phrase, its places in the order in which they are met from the answer, and its key."""

    phrase: Phrase
    places: tuple[Place, ...]
    gap: frozenset[str]
    keys: frozenset[str]


def words(text: str) -> list[str]:
    """The words, numbers and marks of a text without its markup; a lone capital keeps its case."""
    if "\\" in text or "$" in text:
        text = _COMMAND.sub(_meaning, _DISPLAY.sub(" ", text))
    if "!=" in text:
        text = _UNEQUAL.sub(" ≠ ", text)
    text = text.translate(_MARKUP)
    for spelled, instead in _SPELLINGS:
        if spelled in text:
            text = text.replace(spelled, instead)
    found = (_WORD if text.isascii() else _ANY_WORD).findall(text)
    return [each if len(each) == 1 and each != "I" else each.lower() for each in found]


def says(text: str, any_of: frozenset[str]) -> bool:
    """Whether a text holds one of these words, or a pair of them side by side: "give up"."""
    found = words(text)
    return not (any_of.isdisjoint(found) and any_of.isdisjoint(map(" ".join, pairwise(found))))


@cache
def compiled(phrase: Phrase) -> Compiled:
    """A row, ready to be matched; several forms of an answer share it."""
    places: list[Place] = []
    keys: list[frozenset[str]] = []
    for piece in phrase.words.split():
        optional = piece.startswith("(") and piece.endswith(")")
        bare = piece[1:-1] if optional else piece
        for least, most, accepted in _places(bare):
            if isinstance(accepted, frozenset):
                places.append(Place(0 if optional else least, most, accepted.__contains__))
                if least and not optional:
                    keys.append(accepted)
            else:
                places.append(Place(0 if optional else least, most, accepted))
    key = max(keys, key=_rarity) if keys else frozenset()
    ordered = places if phrase.side == "after" else places[::-1]
    gap = frozenset(GAPS[phrase.gap].split()) | ({"\n"} if phrase.reach != "line" else set())
    return Compiled(phrase, tuple(ordered), gap, key)


def reached(places: Sequence[Place], found: Sequence[str], start: int, step: int) -> set[int]:
    """The positions at which a phrase ends that begins at one, in the direction of `step`."""
    positions = {start}
    for least, most, accepts in places:
        following: set[int] = set()
        for first in positions:
            for position in range(first, first + (most + 1) * step, step):
                if abs(position - first) >= least:
                    following.add(position)
                if not 0 <= position < len(found) or not accepts(found[position]):
                    break
        if not following:
            return following
        positions = following
    return positions


def _meaning(command: re.Match[str]) -> str:
    return _MEANT.get(command[1], " ")


@cache
def _places(piece: str) -> tuple[_Accepting, ...]:
    """The places of a piece; a few pieces make most phrases."""
    return tuple(_read(piece))


def _read(piece: str) -> Iterable[_Accepting]:
    if piece.startswith("{") and "/" not in piece:
        name = piece[1:-1]
        if name in ("value", "amount"):
            yield 0, 1, frozenset("-–")
        yield _ANY[name] if name in _ANY else (1, 1, frozenset(SLOTS[name].split()))
        if name == "end":
            yield 1, 1, frozenset({EDGE})
        return
    if piece == "/":
        yield 1, 1, frozenset({piece})
        return
    if "/" in piece:
        yield 1, 1, frozenset().union(*map(_alternative, piece.split("/")))
    else:
        yield from [(1, 1, frozenset({each})) for each in words(piece)]


def _alternative(piece: str) -> Iterable[str]:
    return SLOTS[piece[1:-1]].split() if piece.startswith("{") else words(piece)[:1]


def _rarity(accepted: frozenset[str]) -> tuple[bool, bool, int]:
    """How rare the words of a place are: marks and the words of most sentences least."""
    return all(map(str.isalpha, accepted)), _COMMON.isdisjoint(accepted), min(map(len, accepted))


def _is_number(word: str) -> bool:
    return word[:1].isdigit()


def _is_amount(word: str) -> bool:
    return _is_number(word) or word in _COUNTS


def _is_choice(word: str) -> bool:
    return len(word) == 1 and "A" <= word <= "J"


def _is_name(word: str) -> bool:
    return len(word) == 1 and word.isalpha()


def _is_apart(word: str) -> bool:
    return word not in (",", EDGE)


def _is_some(word: str) -> bool:
    return word not in ("none", "no")


def _goes_on(word: str) -> bool:
    return word not in ("to", "that")


def _ends(word: str) -> bool:
    return word in (EDGE, ".", "!", ";", "\n")


_ANY: Final[dict[str, _Accepting]] = {
    "value": (1, 1, _is_number),
    "amount": (1, 1, _is_amount),
    "choice": (1, 1, _is_choice),
    "name": (1, 1, _is_name),
    "word": (1, 1, str.isalpha),
    "words": (0, 4, str.isalpha),
    "apart": (1, 1, _is_apart),
    "rest": (1, 1, _goes_on),
    "some": (1, 1, _is_some),
    "start": (1, 1, frozenset({EDGE})),
    "stop": (1, 1, _ends),
    "pause": (0, 3, frozenset(",.;:!–—-")),
    "end": (0, 3, frozenset(".!;\n")),
}
