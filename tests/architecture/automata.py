r"""A regular expression as a Glushkov automaton: its states are the characters of the pattern.

A step from one state to the next may have conditions on the characters of both, which is how look
arounds, anchors and borders are told. What a look ahead reads is a branch that ends. Possessive
repeats give nothing back. Repeats with a ceiling below `MANY` are no loops.
"""

from __future__ import annotations

import re
import re._constants as sre
from bisect import bisect_left, bisect_right
from collections import defaultdict
from itertools import product

MANY = 1000
"""A repeat that may go on for as long as this counts as endless."""

SHARED = 48
"""Ways through optional parts that are told apart; beyond them, assertions are left out."""

SAMPLES = sorted(
    {*map(chr, range(128)), *"éß中①−–…·×°：。，’“”｜▁\u00a0\u2003\u3000\u200b٣１Ж答ſK\U0001f600"}
)
"""Characters that stand for all: the automaton is built over these and those a pattern names."""

WORD = re.compile(r"\w").match
CATEGORIES = {
    sre.CATEGORY_DIGIT: re.compile(r"\d").match,
    sre.CATEGORY_NOT_DIGIT: re.compile(r"\D").match,
    sre.CATEGORY_SPACE: re.compile(r"\s").match,
    sre.CATEGORY_NOT_SPACE: re.compile(r"\S").match,
    sre.CATEGORY_WORD: WORD,
    sre.CATEGORY_NOT_WORD: re.compile(r"\W").match,
}


class Alphabet:
    """Some characters, and which of them a piece of a pattern reads."""

    def __init__(self, chars):
        self.chars = sorted(chars)
        self._folds = {each: {each, each.lower()[0], each.upper()[0]} for each in self.chars}
        self._every = sorted(set().union(*self._folds.values()))
        self._known = {}

    def read(self, kind, value, *, folded):
        """Those that are read where a pattern names a character, any but one, or a set."""
        key = (str(kind), tuple(value) if isinstance(value, list) else value, bool(folded))
        if key not in self._known:
            named = self._named(key[0], value)
            self._known[key] = (
                frozenset(c for c in self.chars if not named.isdisjoint(self._folds[c]))
                if folded
                else named.intersection(self.chars)
            )
        return self._known[key]

    def _named(self, kind, value):
        if kind == "LITERAL":
            return frozenset(chr(value))
        if kind == "NOT_LITERAL":
            return frozenset(self._every) - {chr(value)}
        found, every = set(), self._every
        for each, what in value:
            name = str(each)
            if name == "LITERAL":
                found.add(chr(what))
            elif name == "RANGE":
                low, high = map(chr, what)
                found.update(every[bisect_left(every, low) : bisect_right(every, high)])
            elif name == "CATEGORY":
                found.update(filter(CATEGORIES[what], every))
        negated = any(str(each) == "NEGATE" for each, _ in value)
        return frozenset(every) - found if negated else frozenset(found)


class Part:
    """A piece of a pattern: the states it can begin and end with, and its empty ways through."""

    def __init__(self, first=(), last=(), empty=()):
        self.first, self.last, self.empty = list(first), list(last), _few(empty)


def _few(ways):
    ways = list(dict.fromkeys(ways))
    return ways if len(ways) <= SHARED else [()]


class Automaton:
    """The states of a pattern and the steps between them.

    Args:
        tree: what `re._parser` makes of the pattern.
        flags: of the pattern.
        alphabet: a character of each class that the pattern tells apart.
        searched: whether a match may begin anywhere.
        whole: whether a match must end where the text does.
    """

    def __init__(self, tree, flags, alphabet, *, searched, whole):
        self.flags, self.alphabet, self.searched = flags, alphabet, searched
        self.samples = alphabet.chars
        self.sets, self.steps, self.inside = [], defaultdict(list), []
        self._atomic = ()
        part = self.part = self._sequence(tree)
        self.whole = whole
        self.accepting = {state for state, ways in part.last if self._ends(state, ways)}
        if not whole and () in part.empty:
            self.searched = False  # it matches everywhere, and never fails
        if self.searched:
            self.sets.append(frozenset(self.samples))
            self.inside.append(())
            start = len(self.sets) - 1
            self._step(start, start, ())
            for state, conditions in part.first:
                self._step(start, state, conditions)

    # Building.

    def _state(self, chars):
        self.sets.append(frozenset(chars))
        self.inside.append(self._atomic)
        state = len(self.sets) - 1
        return Part([(state, ())], [(state, ())])

    def _step(self, start, end, conditions):
        leaves = len(self.inside[start]) > len(self._atomic)  # and gives nothing back
        self.steps[start].append((end, conditions, leaves))

    def _sequence(self, items):
        whole = Part(empty=[()])
        for item in items:
            whole = self._joined(whole, self._item(*item))
        return whole

    def _joined(self, one, two):
        for (start, before), (end, after) in product(one.last, two.first):
            self._step(start, end, before + after)
        return Part(
            one.first + [(s, e + c) for e in one.empty for s, c in two.first],
            two.last + [(s, c + e) for s, c in one.last for e in two.empty],
            [a + b for a in one.empty for b in two.empty],
        )

    def _item(self, kind, value):
        name = str(kind)
        if name in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
            return self._state(self._chars(kind, value))
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            return self._repeat(value, possessive=name == "POSSESSIVE_REPEAT")
        if name == "SUBPATTERN":
            before, self.flags = self.flags, (self.flags | value[1]) & ~value[2]
            part = self._sequence(value[3])
            self.flags = before
            return part
        if name == "ATOMIC_GROUP":
            return self._atomically(lambda: self._sequence(value))
        if name == "BRANCH":
            parts = [self._sequence(branch) for branch in value[1]]
            return Part(
                [each for part in parts for each in part.first],
                [each for part in parts for each in part.last],
                [each for part in parts for each in part.empty],
            )
        if name in ("ASSERT", "ASSERT_NOT"):
            return self._assertion(name == "ASSERT", *value)
        if name == "AT":
            return Part(empty=[self._place(value)])
        if name == "GROUPREF":
            part = self._state(self.samples)
            return Part(part.first, part.last, [()])
        if name == "GROUPREF_EXISTS":
            return self._item(sre.BRANCH, (None, [value[1], value[2] or []]))
        raise AssertionError(f"what is {name}?")

    def _atomically(self, build):
        before, self._atomic = self._atomic, (*self._atomic, object())
        part = build()
        self._atomic = before
        return part

    def _repeat(self, value, *, possessive):
        least, most, body = value
        if possessive:
            return self._atomically(lambda: self._repeat(value, possessive=False))
        endless = most is sre.MAXREPEAT or most >= MANY
        if endless:
            part = self._sequence(body)
            for (start, before), (end, after) in product(part.last, part.first):
                self._step(start, end, before + after)
            return Part(part.first, part.last, part.empty if least else [*part.empty, ()])
        whole = Part(empty=[()])
        for index in reversed(range(min(most, 2))):
            whole = self._joined(self._sequence(body), whole)
            if index >= least:  # then the later ones are left out too: there is one way to read few
                whole = Part(whole.first, whole.last, [*whole.empty, ()])
        return whole

    def _chars(self, kind, value):
        if str(kind) == "ANY":
            return [c for c in self.samples if c != "\n" or self.flags & re.DOTALL]
        return self.alphabet.read(kind, value, folded=self.flags & re.IGNORECASE)

    def _assertion(self, wanted, direction, body):
        """A look around: a condition on the character beside it, and ahead a branch that ends."""
        if direction < 0:
            aside = Automaton(body, self.flags, self.alphabet, searched=False, whole=False)
            chars = frozenset(c for state, _ in aside.part.last for c in aside.sets[state])
            single = len(list(body)) == 1 and not aside.steps
            holds = aside.part
        else:
            count, steps = len(self.sets), sum(map(len, self.steps.values()))
            holds = self._sequence(body)
            chars = frozenset(c for state, _ in holds.first for c in self.sets[state])
            single = len(self.sets) <= count + 1 and sum(map(len, self.steps.values())) == steps
        if holds.empty or not chars or any(c for _, c in holds.first + holds.last):
            condition = ()
        elif wanted:
            condition = (("next" if direction > 0 else "before", chars),)
        elif single:
            condition = (("next" if direction > 0 else "before", frozenset(self.samples) - chars),)
        else:
            condition = ()
        return Part(first=holds.first if direction > 0 else (), empty=[condition])

    def _place(self, value):
        name = str(value)
        if name == "AT_BEGINNING":
            return (("before", frozenset("\n" if self.flags & re.MULTILINE else "")),)
        if name == "AT_BEGINNING_STRING":
            return (("before", frozenset()),)
        if name == "AT_END":
            return (("next", frozenset("\n")),)
        if name == "AT_END_STRING":
            return (("next", frozenset()),)
        return (("border", name == "AT_BOUNDARY"),)

    def _ends(self, state, conditions):
        """Whether a match that has come to a state cannot fail any more.

        It may go on to the end of the text or of the line, where its loop takes all else.
        """
        if not conditions and not self.whole:
            return True
        allowed = set(self.samples)
        for side, chars in conditions:
            if side != "next":
                return False
            allowed &= chars
        if self.whole:
            allowed = set()
        looped = any(end == state and not ways for end, ways, _ in self.steps[state])
        return looped and self.sets[state] >= set(self.samples) - allowed

    # Asking.

    def reads(self):
        """Successors of (state, character): those that hold the conditions, by character.

        Characters that no condition of a state tells apart share theirs.
        """
        found = {}
        for start, steps in self.steps.items():
            asked = {each for _, conditions, _ in steps for each in conditions if each[0] != "next"}
            made = {}
            for char in self.sets[start]:
                alike = tuple(
                    WORD(char) is None if side == "border" else char in chars
                    for side, chars in asked
                )
                if alike not in made:
                    made[alike] = self._follow(start, char)
                found[start, char] = made[alike]
        return found

    def _follow(self, start, char):
        found, kept = defaultdict(list), self._kept(start)
        for end, conditions, leaves in self.steps[start]:
            for follow in self.sets[end] - kept if leaves else self.sets[end]:
                if not conditions or all(_meets(c, char, follow) for c in conditions):
                    found[follow].append(end)
        return found

    def _kept(self, start):
        """The characters that a possessive loop of one state takes for itself."""
        return (
            self.sets[start]
            if any(end == start and not leaves for end, _, leaves in self.steps[start])
            else frozenset()
        )


def _meets(condition, before, after):
    side, chars = condition
    if side == "border":
        return (bool(WORD(before)) != bool(WORD(after))) is chars
    return (after if side == "next" else before) in chars
