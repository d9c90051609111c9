r"""Whether a text matches a regular expression, in time linear in the text, whatever the pattern.

Python's `re` tries one way through a pattern after the other, which takes exponential time for some
patterns and texts; a policy that finds such a text stalls its own reward. Here all ways are
followed at once: the states that a pattern can be in after each character are one set, and a step
from set to set is computed once and kept (Thompson 1968, "Regular Expression Search Algorithm";
Cox 2007, "Regular Expression Matching Can Be Simple And Fast", for the steps that are kept).
Characters that the pattern does not tell apart are one symbol, so that a text of many scripts takes
no more steps than one of few. A pattern without any operator is searched for as text.

Python's own parser reads the pattern. What no such machine can follow is refused: references back
to a group, look arounds, and groups that give nothing back.
"""

from __future__ import annotations

import re
import re._constants as sre  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from functools import lru_cache
from re._casefix import _EXTRA_CASES  # type: ignore[import-not-found]
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import BadParameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Test = Callable[[str], bool]
    Between = Callable[[int, int], bool]
    States = frozenset[int]

MAX_STATES: Final = 2_000
"""States of a pattern: `(.{50}){50}` would have 2,500."""
MAX_KEPT: Final = 20_000
"""Steps that are kept; beyond them all are forgotten and computed again."""
MAX_CHARACTERS: Final = 100_000
"""Characters whose symbols are kept, likewise."""

KIND_BITS: Final = 3
"""Of a symbol; the bits above them say which tests the character passes."""

START, WORD, NEWLINE, OTHER, LAST_NEWLINE, END = range(6)
"""Kinds of neighbours, for anchors and borders; a last newline ends the text too."""

CATEGORIES: Final = {
    sre.CATEGORY_DIGIT: re.compile(r"\d").match,
    sre.CATEGORY_NOT_DIGIT: re.compile(r"\D").match,
    sre.CATEGORY_SPACE: re.compile(r"\s").match,
    sre.CATEGORY_NOT_SPACE: re.compile(r"\S").match,
    sre.CATEGORY_WORD: re.compile(r"\w").match,
    sre.CATEGORY_NOT_WORD: re.compile(r"\W").match,
}

_is_word: Final = CATEGORIES[sre.CATEGORY_WORD]

REFUSED: Final = {
    sre.GROUPREF: "a reference back to a group",
    sre.GROUPREF_EXISTS: "a condition on a group",
    sre.ASSERT: "a look around",
    sre.ASSERT_NOT: "a look around",
    sre.ATOMIC_GROUP: "a group that gives nothing back",
    sre.POSSESSIVE_REPEAT: "a repeat that gives nothing back",
}

ANCHORS: Final[dict[Any, Callable[[int, int], bool]]] = {
    **dict.fromkeys(
        (sre.AT_BEGINNING, sre.AT_BEGINNING_STRING),
        lambda before, after: before == START,  # noqa: ARG005
    ),
    sre.AT_BEGINNING_LINE: lambda before, after: before in (START, NEWLINE),  # noqa: ARG005
    sre.AT_END: lambda before, after: after in (LAST_NEWLINE, END),  # noqa: ARG005
    sre.AT_END_STRING: lambda before, after: after == END,  # noqa: ARG005
    sre.AT_END_LINE: lambda before, after: after in (NEWLINE, LAST_NEWLINE, END),  # noqa: ARG005
    sre.AT_BOUNDARY: lambda before, after: (before == WORD) is not (after == WORD),
    sre.AT_NON_BOUNDARY: lambda before, after: (before == WORD) is (after == WORD),
}
OF_LINES: Final = {sre.AT_BEGINNING: sre.AT_BEGINNING_LINE, sre.AT_END: sre.AT_END_LINE}


@lru_cache(maxsize=64)
def compiled(pattern: str) -> Pattern:
    """The machine of a pattern.

    Raises:
        BadParameter: Python's `re` refuses the pattern, or it needs what is not followed here.
    """
    return Pattern(pattern)


class Pattern:
    """The states of a pattern, the moves between them, and the steps taken so far.

    A state either reads a character and goes on, or moves without reading, perhaps only between
    certain neighbours.
    """

    def __init__(self, pattern: str) -> None:
        try:
            tree = parser.parse(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            raise BadParameter(f"{pattern!r} is not a regular expression: {error}") from None
        self._source = pattern
        exact = not tree.state.flags & re.IGNORECASE
        plain = exact and all(kind is sre.LITERAL for kind, _ in tree)
        self._text = "".join(chr(value) for _, value in tree) if plain else None
        self._literals: dict[str, int] = {}
        self._tests: dict[str, tuple[int, Test]] = {}
        self._reads: dict[int, tuple[int, int]] = {}
        self._moves: dict[int, list[tuple[int, Between | None]]] = {}
        self.anchored = False
        self._accepting = self._state()
        self._start = self._sequence(tree, tree.state.flags, self._accepting)
        self._symbols = _Symbols(self)
        self._whole, self._part = _Steps(self, frozenset()), _Steps(self, frozenset([self._start]))

    def fullmatch(self, text: str) -> bool:
        """Whether the whole text matches."""
        return text == self._text if self._text is not None else self._run(self._whole, text)

    def search(self, text: str) -> bool:
        """Whether any part of the text matches."""
        return self._text in text if self._text is not None else self._run(self._part, text)

    def _run(self, steps: _Steps, text: str) -> bool:
        row, symbols, over = steps.row(frozenset([self._start]), START), self._symbols, steps.over
        ending = self.anchored and text.endswith("\n")
        for character in text[:-1] if ending else text:
            row = row[symbols[character]]
            if row is over:
                return bool(steps.begins)
        if ending:
            row = row[symbols["\n"] >> KIND_BITS << KIND_BITS | LAST_NEWLINE]
            if row is over:
                return bool(steps.begins)
        before = NEWLINE if row.before == LAST_NEWLINE else row.before
        return self._accepting in self._closed(row.states, before, END)

    def symbol(self, character: str) -> int:
        """What the pattern sees of a character: the tests that it passes, and its kind."""
        passed = self._literals.get(character, 0)
        for bit, test in self._tests.values():
            if test(character):
                passed |= bit
        return passed << KIND_BITS | (_kind(character) if self.anchored else OTHER)

    def step(self, states: States, before: int, symbol: int) -> tuple[States, bool]:
        """The states behind a character, and whether the pattern has ended in front of it."""
        passed, after = symbol >> KIND_BITS, symbol & (1 << KIND_BITS) - 1
        closed = self._closed(states, before, after)
        reads = [self._reads[state] for state in closed if state in self._reads]
        return frozenset([to for bit, to in reads if bit & passed]), self._accepting in closed

    def _closed(self, states: States, before: int, after: int) -> States:
        """These states and all that can be reached from them without reading."""
        reached, todo = set(states), list(states)
        while todo:
            for to, between in self._moves.get(todo.pop(), ()):
                if to not in reached and (between is None or between(before, after)):
                    reached.add(to)
                    todo.append(to)
        return frozenset(reached)

    # Building, from the end of the pattern to its beginning: `to` is what follows.

    def _state(self) -> int:
        count = len(self._reads) + len(self._moves)
        if count >= MAX_STATES:
            raise BadParameter(
                f"the pattern {self._source[:60]!r} needs over {MAX_STATES:,} states"
            )
        self._moves[count] = []
        return count

    def _move(self, *ends: int, between: Between | None = None) -> int:
        state = self._state()
        self._moves[state] = [(end, between) for end in ends]
        return state

    def _sequence(self, items: Iterable[Any], flags: int, to: int) -> int:
        for kind, value in reversed(list(items)):
            to = self._item(kind, value, flags, to)
        return to

    def _item(self, kind: Any, value: Any, flags: int, to: int) -> int:
        if kind in (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN):
            return self._reading(self._bit(kind, value, flags), to)
        if kind is sre.SUBPATTERN:
            _, added, removed, items = value
            return self._sequence(items, (flags | added) & ~removed, to)
        if kind is sre.BRANCH:
            return self._move(*(self._sequence(branch, flags, to) for branch in value[1]))
        if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            least, most, body = value
            return self._repeat(least, most, body, flags, to)
        if kind is sre.AT:
            self.anchored = True
            anchor = OF_LINES.get(value, value) if flags & re.MULTILINE else value
            return self._move(to, between=ANCHORS[anchor])
        raise BadParameter(
            f"the pattern {self._source[:60]!r} has {REFUSED.get(kind, 'what is not read here')}; "
            "leave it out, as time linear in the response needs"
        )

    def _bit(self, kind: Any, value: Any, flags: int) -> int:
        """The bit of a symbol that says whether a state takes the character."""
        following = 1 << len(self._literals) + len(self._tests)
        if kind is sre.LITERAL and not flags & re.IGNORECASE:
            return self._literals.setdefault(chr(value), following)
        asked = f"{kind} {value} {flags & (re.IGNORECASE | re.DOTALL)}"
        return self._tests.setdefault(asked, (following, _test(kind, value, flags)))[0]

    def _reading(self, bit: int, to: int) -> int:
        state = self._state()
        del self._moves[state]
        self._reads[state] = bit, to
        return state

    def _repeat(self, least: int, most: Any, body: Any, flags: int, to: int) -> int:
        if most is sre.MAXREPEAT:
            loop = self._move(to)
            self._moves[loop].insert(0, (self._sequence(body, flags, loop), None))
            to = loop
        else:
            leave = to
            for _ in range(most - least):
                to = self._move(self._sequence(body, flags, to), leave)
        for _ in range(least):
            to = self._sequence(body, flags, to)
        return to


class _Symbols(dict[str, int]):
    """The symbols of the characters that were met."""

    def __init__(self, pattern: Pattern) -> None:
        super().__init__()
        self._pattern = pattern

    def __missing__(self, character: str) -> int:
        if len(self) >= MAX_CHARACTERS:
            self.clear()
        self[character] = symbol = self._pattern.symbol(character)
        return symbol


class _Row(dict[int, "_Row"]):
    """The steps from one set of states behind one kind of character, by symbol, as they are met."""

    __slots__ = ("before", "states", "steps")

    def __init__(self, steps: _Steps, states: States, before: int) -> None:
        super().__init__()
        self.steps, self.states, self.before = steps, states, before

    def __missing__(self, symbol: int) -> _Row:
        following = self.steps.following(self, symbol)
        self[symbol] = following
        return following


class _Steps:
    """The rows of one way to match: `begins` are the states that are begun in at each character.

    `over` is the row of a text whose end changes nothing: matched where a part is enough, else
    lost.
    """

    def __init__(self, pattern: Pattern, begins: States) -> None:
        self.begins = begins
        self.over = _Row(self, frozenset(), OTHER)
        self._pattern = pattern
        self._rows: dict[tuple[States, int], _Row] = {}
        self._kept = 0

    def row(self, states: States, before: int) -> _Row:
        return self._rows.setdefault((states, before), _Row(self, states, before))

    def following(self, row: _Row, symbol: int) -> _Row:
        if self._kept >= MAX_KEPT:
            forgotten, self._rows, self._kept = self._rows, {}, 0
            for each in list(forgotten.values()):
                each.clear()
        self._kept += 1
        states, accepted = self._pattern.step(row.states, row.before, symbol)
        if accepted if self.begins else not states:
            return self.over
        after = symbol & (1 << KIND_BITS) - 1
        return self.row(states | self.begins, after if self._pattern.anchored else OTHER)


def _kind(character: str) -> int:
    return NEWLINE if character == "\n" else WORD if _is_word(character) else OTHER


def _test(kind: Any, value: Any, flags: int) -> Test:
    """Whether a state takes a character."""
    if kind is sre.ANY:
        return (lambda _: True) if flags & re.DOTALL else (lambda character: character != "\n")
    items = value if kind is sre.IN else [(sre.LITERAL, value)]
    negated = kind is sre.NOT_LITERAL or items[0][0] is sre.NEGATE
    members = [item for item in items if item[0] is not sre.NEGATE]
    spellings = _cases if flags & re.IGNORECASE else (lambda character: {character})

    def takes(character: str) -> bool:
        within = any(
            _within(kind, value, each) for kind, value in members for each in spellings(character)
        )
        return within is not negated

    return takes


@lru_cache(maxsize=16)  # each test of a pattern asks for the same character in turn
def _cases(character: str) -> set[str]:
    """A character in its cases; those of several characters are none."""
    upper, lower = character.upper(), character.lower()
    cases = {each for each in (character, upper, lower, upper.lower()) if len(each) == 1}
    return cases.union(*(map(chr, _EXTRA_CASES.get(ord(each), ())) for each in cases))


def _within(kind: Any, value: Any, character: str) -> bool:
    if kind is sre.LITERAL:
        return bool(ord(character) == value)
    if kind is sre.RANGE:
        return bool(value[0] <= ord(character) <= value[1])
    matches: re.Match[str] | None = CATEGORIES[value](character)
    return matches is not None
