"""What stands behind an amount: scale words, units, currencies, counted nouns, percent signs.

Units are those of the table (`reward_functions.quantities.units`), in upright type, in words, or in
italics where the letters cannot be a product. Other upright words behind a number name what it
counts.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from reward_functions.quantities.units import SCALES, canonical, head, links, may_name, noun
from reward_functions.symbolic.budget import DIGITS, OverBudget, Unreadable
from reward_functions.symbolic.expr.literals import number, product
from reward_functions.symbolic.expr.nodes import Degrees, Measured, Node, Number, UnitPowers
from reward_functions.symbolic.parsing.cursor import END, Cursor
from reward_functions.symbolic.parsing.lexer import GREEK
from reward_functions.symbolic.parsing.vocabulary import (
    CURRENCY_SIGNS,
    INFINITY,
    LETTER_FUNCTIONS,
    NOUN_LETTERS,
    NOUN_WORDS,
    SHORT_ROMAN,
    UNIT_IN_ITALICS,
    is_scale,
)

_LARGEST: Final = 10**DIGITS


class Measures(Cursor):
    """The rules for units and the like."""

    def percent(self) -> bool:
        """Whether a percent sign or word comes next; it is taken."""
        if self.kind() == "%" or self.word("percent", "pct"):
            self.next()
            return True
        if self.word("per") and self.peek(1).text.lower() == "cent":
            self.position += 2
            return True
        return False

    def measure_follows(self) -> bool:
        """Whether a scale word, a unit, a currency or a counted noun comes next."""
        token = self.peek()
        if token.kind != "letters":
            return token.kind in CURRENCY_SIGNS and self.ends_after(1)
        return self.unit_follows(0) or self.noun_follows() or self.scale_follows()

    def measure_in_brackets(self) -> bool:
        """Whether a unit or noun of its own comes next in brackets: 12 (apples), 5 (cm)."""
        word = self.peek(1)
        if self.kind() != "(" or word.kind != "letters":
            return False
        if self.unit_follows(1):
            return self.peek(2).kind in (")", "^", "/", "letters")
        if self.peek(2).kind != ")":
            return False
        long = len(word.text) > (SHORT_ROMAN if word.roman else NOUN_LETTERS)
        return long and may_name(word.text) and not links(word.text) and not is_scale(word.text)

    def bracketed_measure(self, body: Node) -> Node:
        """A value with the unit behind it in brackets."""
        self.next()
        unit = self.unit_powers(())
        self.expect(")")
        return Measured(body, unit) if unit else body

    def ends_after(self, ahead: int) -> bool:
        """Whether an amount may end before a token ahead."""
        return self.peek(ahead).kind in (END.kind, ",", ";", ")", "=", "/", "and", "or", "letters")

    def scale_follows(self) -> bool:
        """Whether a scale word comes next."""
        token = self.peek()
        return token.kind == "letters" and is_scale(token.text)

    def unit_follows(self, ahead: int) -> bool:
        """Whether a unit of the table comes next, in upright type, in words or unmistakable."""
        token = self.peek(ahead)
        if token.kind != "letters":
            return False
        text = token.text
        if text.lower() in ("square", "sq", "cubic", "degrees", "degree"):
            return True
        if canonical(text) is None or text in ("to", "or", "and"):
            return False
        if token.roman or (
            token.spaced and self.peek(ahead + 1).kind == "/" and self.names_unit(ahead + 2)
        ):
            return True
        return text in UNIT_IN_ITALICS or (len(text) > SHORT_ROMAN and text not in LETTER_FUNCTIONS)

    def names_unit(self, ahead: int) -> bool:
        """Whether a token ahead is in the table of units, in whatever type."""
        token = self.peek(ahead)
        return token.kind == "letters" and canonical(token.text) is not None

    def noun_follows(self) -> bool:
        """Whether what is counted comes next: upright words, or a long word after a space."""
        token = self.peek()
        if token.kind != "letters" or not self.plain_word():
            return False
        if token.text in LETTER_FUNCTIONS or token.text in GREEK or token.text == "pi":
            return False
        if token.roman:
            return len(token.text) > SHORT_ROMAN
        return token.spaced and len(token.text) >= NOUN_LETTERS and token.text not in INFINITY

    def measured(self, body: Node) -> Node:
        """A value with the scale word and unit behind it."""
        body = self.scaled(body)
        if self.word("degrees", "degree"):
            self.next()
            if not self.word("celsius", "fahrenheit", "c", "f"):
                return Degrees(body)
        if self.unit_follows(0) or self.kind() in CURRENCY_SIGNS:
            return Measured(body, self.unit_powers(()))
        phrase = self.nouns()
        return Measured(body, ((phrase, Fraction(1)),)) if phrase else body

    def scaled(self, body: Node) -> Node:
        """Million and the like are factors."""
        while self.scale_follows():
            factor = Fraction(SCALES[self.next().text.lower()])
            match body:
                case Number(value, unit):
                    if value > _LARGEST:
                        raise OverBudget("more scale words than any number has")
                    body = Number(value * factor, unit and unit * factor)
                case _:
                    body = product([body, Number(factor)], [])
        return body

    def nouns(self) -> str:
        """Up to four words naming what is counted, as their head; empty when there are none."""
        words: list[str] = []
        while self.noun_follows() or (words and self.kind() == "letters" and self.plain_word()):
            words.append(self.next().text)
            if len(words) > NOUN_WORDS:
                raise Unreadable("a sentence behind a number")
        name = head(words)
        return "" if name == "unit" else name

    def plain_word(self) -> bool:
        """Whether the next word may belong to a noun."""
        word = self.peek().text
        return may_name(word) and not links(word)

    def unit_powers(self, known: UnitPowers) -> UnitPowers:
        """A product of units: cm^2, m/s^2, square feet, dollars per hour."""
        powers: dict[str, Fraction] = dict(known)
        sign = 1
        while True:
            if known or powers:
                if (self.kind() == "/" and self.names_unit(1)) or (
                    self.word("per", "an") and self.peek(1).kind == "letters"
                ):
                    self.next()
                    sign = -1
                elif self.kind() == "*" and self.unit_follows(1):
                    self.next()
                elif not self.unit_follows(0):
                    break
            name, power = self.unit()
            above, _, below = name.partition("/")
            powers[above] = powers.get(above, Fraction(0)) + sign * power
            if below:
                powers[below] = powers.get(below, Fraction(0)) - sign * power
            known = ()
        powers.pop("unit", None)
        return tuple(sorted((name, power) for name, power in powers.items() if power))

    def unit(self) -> tuple[str, Fraction]:
        """One unit with its power."""
        power = Fraction(1)
        if self.word("square", "sq", "cubic"):
            power = Fraction(3 if self.next().text.lower() == "cubic" else 2)
            self.take(".")
        token = self.next()
        name = canonical(token.text) or noun(token.text)
        if token.kind == "letters" and self.word("squared", "cubed"):
            power = Fraction(3 if self.next().text.lower() == "cubed" else 2)
        if self.take("^"):
            power *= self.unit_exponent()
        return name, power

    def unit_exponent(self) -> Fraction:
        """The power of a unit, a number with or without braces: cm^2, s^{-1}."""
        braced = self.take("{")
        sign = -1 if self.take("-") else 1
        exponent = self.next()
        if exponent.kind != "number":
            raise Unreadable("a unit to an unknown power")
        if braced:
            self.expect("}")
        return sign * number(exponent.text).value
