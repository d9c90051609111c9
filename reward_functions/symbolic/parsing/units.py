"""The words after an amount: scale words, units, currencies, counted nouns, percent signs.

Units are those of the table (`reward_functions.quantities.units`), in upright type, in words, or in
italics where the letters cannot be a product. Other upright words after a number name what it
counts.

Amounts in several units of one kind, side by side: 2 h 30 min, 5 ft 3 in, 2小时30分钟.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from reward_functions.quantities.units import (
    SCALES,
    UNIT_IN_ITALICS,
    canonical,
    compares,
    head,
    joined,
    links,
    may_name,
    noun,
    powered,
    says_where,
    size,
)
from reward_functions.symbolic.budget import DIGITS, OverBudget, Unreadable
from reward_functions.symbolic.expr.literals import number, product
from reward_functions.symbolic.expr.nodes import Degrees, Measured, Node, Number, Sum, UnitPowers
from reward_functions.symbolic.parsing.cursor import END, Cursor
from reward_functions.symbolic.parsing.lookahead import modulus_follows
from reward_functions.symbolic.parsing.unicode_notation import GREEK
from reward_functions.symbolic.parsing.vocabulary import (
    CURRENCY_SIGNS,
    INFINITY,
    LETTER_FUNCTIONS,
    NOUN_LETTERS,
    NOUN_WORDS,
    SHORT_ROMAN,
    is_scale,
)

_MINUTES: Final = frozenset("m分")
"""What are minutes behind hours and before seconds, and something else elsewhere."""


def smaller_follows(cursor: Cursor) -> bool:
    """Whether a unit comes next, in any type, and an amount in a smaller one after it."""
    return bool(_smaller(cursor, 1, _unit(cursor, 0)))


def in_several_units(cursor: Cursor, body: Node) -> Node:
    """The sum of a value in the unit that comes next, and amounts in smaller units after it."""
    unit = _unit(cursor, 0)
    cursor.next()
    amounts = [Measured(body, ((unit, Fraction(1)),))]
    while unit := _smaller(cursor, 0, unit):
        value = number(cursor.next().text)
        cursor.next()
        amounts.append(Measured(value, ((unit, Fraction(1)),)))
    return Sum(tuple(amounts))


def _smaller(cursor: Cursor, ahead: int, unit: str) -> str:
    """The unit of an amount ahead that is smaller than another one; "" for anything else."""
    if not unit or cursor.peek(ahead).kind != "number":
        return ""
    name = _unit(cursor, ahead + 1)
    if unit == "h" and cursor.peek(ahead + 1).text in _MINUTES:
        name = "min"
    (base, many), (other, fewer) = size(unit), size(name)
    return name if base == other and fewer < many else ""


def _unit(cursor: Cursor, ahead: int) -> str:
    """The unit that a token ahead names; "" for anything else."""
    token = cursor.peek(ahead)
    if token.kind != "letters":
        return ""
    seconds = cursor.peek(ahead + 1).kind == "number" and cursor.peek(ahead + 2).text == "s"
    return "min" if token.text in _MINUTES and seconds else canonical(token.text) or ""


_LARGEST: Final = 10**DIGITS
_IN_UNITS: Final = frozenset(("*", "^", "{", "}", "-", "number"))
"""What stands between the units of a product."""

_GOES_ON: Final = frozenset(("*", "/", "^", "(", "number", "command"))
"""What goes on with a product, in which letters are names."""


def percent(cursor: Cursor) -> bool:
    """Whether a percent sign or word comes next; it is taken."""
    if cursor.kind() == "%" or cursor.word("percent", "pct"):
        cursor.next()
        return True
    if cursor.word("per") and cursor.peek(1).text.lower() == "cent":
        cursor.position += 2
        return True
    return False


def measure_follows(cursor: Cursor) -> bool:
    """Whether a scale word, a unit, a currency or a counted noun comes next."""
    token = cursor.peek()
    if token.kind == "letters":
        found = unit_follows(cursor, 0) or noun_follows(cursor) or scale_follows(cursor)
        found = found or _rate_follows(cursor) or smaller_follows(cursor)
        return found and not modulus_follows(cursor)
    if token.kind == "command":
        return token.text == "frac" and _unit_fraction_follows(cursor)
    if token.kind == "/":
        return unit_follows(cursor, 1)
    return token.kind in CURRENCY_SIGNS and ends_after(cursor, 1)


def measure_in_brackets(cursor: Cursor) -> bool:
    """Whether a unit or noun of its own comes next in brackets: 12 (apples), 5 (cm)."""
    word = cursor.peek(1)
    if cursor.kind() != "(" or word.kind != "letters":
        return False
    if unit_follows(cursor, 1):
        return cursor.peek(2).kind in (")", "^", "/", "letters")
    if cursor.peek(2).kind != ")":
        return False
    long = len(word.text) > (SHORT_ROMAN if word.roman else NOUN_LETTERS)
    return long and may_name(word.text) and not links(word.text) and not is_scale(word.text)


def bracketed_measure(cursor: Cursor, body: Node) -> Node:
    """A value with the unit after it in brackets."""
    cursor.next()
    unit = unit_powers(cursor, ())
    cursor.expect(")")
    return Measured(body, unit) if unit else body


def ends_after(cursor: Cursor, ahead: int) -> bool:
    """Whether an amount may end before a token ahead."""
    return cursor.peek(ahead).kind in (END.kind, ",", ";", ")", "=", "/", "and", "or", "letters")


def scale_follows(cursor: Cursor) -> bool:
    """Whether a scale word comes next; where words are not spaced, a unit may be joined to it."""
    token = cursor.peek()
    return token.kind == "letters" and (is_scale(token.text) or _joined_scale(token.text))


def _joined_scale(word: str) -> bool:
    return joined(word) and is_scale(word[0])


def unit_follows(cursor: Cursor, ahead: int) -> bool:
    """Whether a unit of the table comes next, in upright type, in words or unmistakable."""
    token = cursor.peek(ahead)
    if token.kind != "letters":
        return False
    text = token.text
    if text.lower() in ("square", "sq", "cubic", "degrees", "degree") or _hyphenated(cursor, ahead):
        return True
    if joined(text):
        return canonical(powered(text)[0]) is not None
    if text == "in" and cursor.peek(ahead + 1).kind == "number":
        return False  # one in five
    if canonical(text) is None or text in ("to", "or", "and"):
        return False
    if token.roman or (token.spaced and _unit_below(cursor, ahead + 1)):
        return True
    return text in UNIT_IN_ITALICS or (len(text) > SHORT_ROMAN and text not in LETTER_FUNCTIONS)


def _hyphenated(cursor: Cursor, ahead: int) -> str:
    """The name of a unit of two words, kilowatt-hour; "" where none comes next."""
    first, hyphen, second = (cursor.peek(ahead + step) for step in range(3))
    if hyphen.kind != "-" or hyphen.spaced or second.spaced:
        return ""
    return canonical(f"{first.text}-{second.text}") or ""


def _unit_below(cursor: Cursor, ahead: int) -> bool:
    """Whether a slash and units come next, several of them in brackets: /s, /(mol K)."""
    if cursor.peek(ahead).kind != "/":
        return False
    if cursor.peek(ahead + 1).kind != "(":
        return names_unit(cursor, ahead + 1)
    ahead += 2
    while names_unit(cursor, ahead) or cursor.peek(ahead).kind in _IN_UNITS:
        ahead += 1
    return cursor.peek(ahead).kind == ")" and cursor.peek(ahead + 1).kind not in _GOES_ON


def names_unit(cursor: Cursor, ahead: int) -> bool:
    """Whether a token ahead is in the table of units, in any type."""
    token = cursor.peek(ahead)
    return token.kind == "letters" and canonical(token.text) is not None


def noun_follows(cursor: Cursor) -> bool:
    """Whether what is counted comes next: upright words, or a long word after a space."""
    token = cursor.peek()
    if token.kind != "letters" or not plain_word(cursor):
        return False
    if token.text in LETTER_FUNCTIONS or token.text in GREEK or token.text == "pi":
        return False
    if token.roman or joined(token.text):
        return len(token.text) > (SHORT_ROMAN if token.text.isascii() else 1) or joined(token.text)
    return token.spaced and len(token.text) >= NOUN_LETTERS and token.text not in INFINITY


def measured(cursor: Cursor, body: Node) -> Node:
    """A value with the scale word and unit after it."""
    body = scaled(cursor, body)
    if smaller_follows(cursor):
        body = in_several_units(cursor, body)
        _of_what(cursor)
        return body
    if cursor.word("degrees", "degree"):
        cursor.next()
        if not cursor.word("celsius", "fahrenheit", "c", "f"):
            return Degrees(body)
    if cursor.command("frac"):
        powers = _unit_fraction(cursor)
    elif unit_follows(cursor, 0) or cursor.kind() in CURRENCY_SIGNS:
        powers = unit_powers(cursor, ())
    else:
        powers = unit_powers(cursor, ((nouns(cursor) or "unit", Fraction(1)),))
    _of_what(cursor)
    return Measured(body, powers) if powers else body


def _of_what(cursor: Cursor) -> None:
    """What is measured, behind its unit: years old, cups of feed, feet in all."""
    words = 0
    while cursor.kind() == "letters" and _goes_on(cursor):
        cursor.next()
        words += 1
        if words > NOUN_WORDS + 1:
            raise Unreadable("a sentence after a number")


def _goes_on(cursor: Cursor) -> bool:
    """Whether a word comes next that changes nothing of the amount before it."""
    token = cursor.peek()
    if not token.roman and not token.spaced:
        return False
    if says_where(token.text):
        return cursor.peek(1).kind == "letters"
    return (
        len(token.text) > SHORT_ROMAN
        and plain_word(cursor)
        and not compares(token.text)
        and not is_scale(token.text)
        and token.text not in LETTER_FUNCTIONS
        and token.text not in GREEK
        and token.text not in INFINITY
    )


def scaled(cursor: Cursor, body: Node) -> Node:
    """Million and the like are factors."""
    while scale_follows(cursor):
        joint = cursor.peek().text
        word = cursor.next_character() if _joined_scale(joint) else cursor.next().text
        factor = Fraction(SCALES[word.lower()])
        match body:
            case Number(value, unit):
                if value > _LARGEST:
                    raise OverBudget("more scale words than any number has")
                body = Number(value * factor, unit and unit * factor)
            case _:
                body = product([body, Number(factor)], [])
    return body


def nouns(cursor: Cursor) -> str:
    """Up to four words naming what is counted, as their head; empty without any."""
    words: list[str] = []
    while noun_follows(cursor) or (words and cursor.kind() == "letters" and plain_word(cursor)):
        words.append(cursor.next().text)
        if len(words) > NOUN_WORDS:
            raise Unreadable("a sentence after a number")
    name = head(words)
    return "" if name == "unit" else name


def plain_word(cursor: Cursor) -> bool:
    """Whether the next word may belong to a noun."""
    word = cursor.peek().text
    return may_name(word) and not links(word)


def unit_powers(cursor: Cursor, known: UnitPowers, *, in_brackets: bool = False) -> UnitPowers:
    """A product of units and nouns: cm^2, m/s^2, square feet, dollars per hour, apples/day.

    Args:
        cursor: before the first of them.
        known: what was read of the product.
        in_brackets: whether it stands in the brackets below a slash, where italics are units too.
    """
    powers: dict[str, Fraction] = dict(known)
    sign = 1
    while True:
        if powers:
            if _rate_follows(cursor):
                cursor.next()
                sign = -1
                if cursor.take("("):  # kcal/(m^2 yr)
                    cursor.down()
                    for name, power in unit_powers(cursor, (), in_brackets=True):
                        powers[name] = powers.get(name, Fraction(0)) - power
                    cursor.expect(")")
                    cursor.up()
                    continue
            elif cursor.kind() == "*" and unit_follows(cursor, 1):
                cursor.next()
            elif not (
                unit_follows(cursor, 0)
                or _unit_in_italics_follows(cursor)
                or (in_brackets and names_unit(cursor, 0))
            ):
                break
        name, power = unit(cursor)
        above, _, below = name.partition("/")
        *further, above = above.split("*")  # a newton-metre is N*m, and Nm^2 is N m^2
        for factor in further:
            powers[factor] = powers.get(factor, Fraction(0)) + sign
        powers[above] = powers.get(above, Fraction(0)) + sign * power
        if below:
            powers[below] = powers.get(below, Fraction(0)) - sign * power
    powers.pop("unit", None)
    return tuple(sorted((name, power) for name, power in powers.items() if power))


def _rate_follows(cursor: Cursor) -> bool:
    """Whether "per" or a slash comes next, and a unit or noun behind it."""
    if cursor.kind() == "/":
        return _names_measure(cursor, 1) or (
            cursor.peek(1).kind == "(" and _names_measure(cursor, 2)
        )
    return cursor.word("per", "an", "a", "each", "every") and _names_measure(cursor, 1)


def _names_measure(cursor: Cursor, ahead: int) -> bool:
    """Whether a token ahead is a unit of the table, in whatever type, or a noun."""
    token = cursor.peek(ahead)
    if token.kind != "letters" or token.text in LETTER_FUNCTIONS or token.text in GREEK:
        return False
    if canonical(token.text) is not None or joined(token.text):
        return True
    long = len(token.text) > (SHORT_ROMAN if token.roman or token.spaced else NOUN_LETTERS - 1)
    return long and may_name(token.text) and not links(token.text) and not is_scale(token.text)


def _unit_in_italics_follows(cursor: Cursor) -> bool:
    """Whether another unit of a product comes next, spaced and raised: kcal m^{-2} yr^{-1}."""
    token = cursor.peek()
    return token.spaced and cursor.peek(1).kind == "^" and names_unit(cursor, 0)


def _unit_fraction_follows(cursor: Cursor) -> bool:
    """Whether a fraction of units comes next, upright as a product of symbols is not."""
    word = cursor.peek(2)
    upright = word.roman or word.text in UNIT_IN_ITALICS
    return cursor.peek(1).kind == "{" and upright and _names_measure(cursor, 2)


def _unit_fraction(cursor: Cursor) -> UnitPowers:
    """The units above and below a bar."""
    cursor.next()
    powers: dict[str, Fraction] = {}
    for sign in (1, -1):
        cursor.expect("{")
        for name, power in unit_powers(cursor, ()):
            powers[name] = powers.get(name, Fraction(0)) + sign * power
        cursor.expect("}")
    return tuple(sorted((name, power) for name, power in powers.items() if power))


def unit(cursor: Cursor) -> tuple[str, Fraction]:
    """One unit with its power."""
    power = Fraction(1)
    if cursor.word("square", "sq", "cubic"):
        power = Fraction(3 if cursor.next().text.lower() == "cubic" else 2)
        cursor.take(".")
    compound = _hyphenated(cursor, 0)
    token = cursor.next()
    text, joint = powered(token.text)
    power *= joint
    name = compound or canonical(text) or noun(text)
    if compound:
        cursor.position += 2
    if token.kind == "letters" and cursor.word("squared", "cubed"):
        power = Fraction(3 if cursor.next().text.lower() == "cubed" else 2)
    if cursor.take("^"):
        power *= unit_exponent(cursor)
    return name, power


def unit_exponent(cursor: Cursor) -> Fraction:
    """The power of a unit, a number with or without braces: cm^2, s^{-1}."""
    braced = cursor.take("{")
    sign = -1 if cursor.take("-") else 1
    exponent = cursor.next()
    if exponent.kind != "number":
        raise Unreadable("a unit to an unknown power")
    if braced:
        cursor.expect("}")
    return sign * number(exponent.text).value
