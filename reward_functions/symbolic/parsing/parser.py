"""Tokens to the tree: one recursive-descent parser, depth-limited, with no evaluation in it.

    answer     statement (("," | ";" | "and" | "or") statement)*
    statement  sets (relation sets)*                       x = 5, 1 < x ≤ 2, x ∈ [0, 1)
    sets       ratio (("∪" | "∖") ratio)*
    ratio      sum ((":" | "to") sum)*
    sum        sign? term (sign term)*
    term       factor (("*" | "/" | nothing) factor)*  %?  unit?
    factor     atom ("^" argument | "!" | "_" base | degrees)*

Precedence is that of print: implicit multiplication binds no tighter than a written one, so 1/2x is
half of x. Where a notation has two readings in use (a slash before a product, a function without
brackets), the reading is fixed here and applies to both sides of a comparison.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from reward_functions.quantities.units import SCALE_ABBREVIATIONS, SCALES, canonical
from reward_functions.symbolic.budget import DEPTH, ITEMS, OPERANDS, TOKENS, OverBudget, Unreadable
from reward_functions.symbolic.expr.literals import (
    is_whole,
    negated,
    number,
    product,
    with_common_unit,
)
from reward_functions.symbolic.expr.nodes import (
    Apply,
    Based,
    Degrees,
    Listing,
    Measured,
    NamedSet,
    Node,
    Number,
    Percent,
    Power,
    Product,
    Ratio,
    Relation,
    Signed,
    Symbol,
    Union,
)
from reward_functions.symbolic.parsing.cursor import END
from reward_functions.symbolic.parsing.lexer import Token, tokens
from reward_functions.symbolic.parsing.naming import RELATIONS, Naming
from reward_functions.symbolic.parsing.vocabulary import BASE_WORDS, CURRENCY_SIGNS

_SIGNS: Final = frozenset("+-±∓")
_CLOSING_COMMANDS: Final = frozenset(
    {
        "\\",
        "&",
        "rfloor",
        "rceil",
        "rangle",
        "choose",
        "over",
        "rVert",
        "pmod",
        "bmod",
        "mod",
        "pod",
    }
)
_AFTER_TERM: Final = frozenset({END.kind, *"+-=<>≤≥,;:)]}&", "\\}"})
"""What ends a term at once, whatever stands further behind."""

_AFTER_ATOM: Final = frozenset("^!°_")
_LARGEST_BASE: Final = 36


def parse(text: str) -> Node:
    """The tree of an answer.

    Raises:
        Unreadable: the text is not in the grammar.
        OverBudget: the text passes a ceiling of length, depth or size.
    """
    return parse_tokens(tokens(text))


def parse_tokens(stream: list[Token]) -> Node:
    """The tree of an answer's tokens, which end where the answer does; raises as `parse` does."""
    if len(stream) > TOKENS:
        raise OverBudget(f"{len(stream)} tokens; {TOKENS} are read")
    if not stream:
        raise Unreadable("nothing to read")
    return Parser(stream).answer()


class Parser(Naming):
    """The whole grammar. Each method reads one rule and leaves the cursor after it."""

    # ---- lists and statements

    def answer(self) -> Node:
        """The whole answer, which must use up the tokens."""
        node = self.over_the_rest(self.listing())
        if self.position < len(self.stream):
            raise Unreadable(f"{self.peek().kind} after the end of the answer")
        return node

    def listing(self) -> Node:
        """Statements side by side; with semicolons and commas, a list of lists."""
        groups: list[list[Node]] = [[self.statement()]]
        words: set[str] = set()
        semicolon = False
        while (separator := self.separator()) is not None:
            if separator == ";":
                semicolon = True
                groups.append([])
            words.add(separator)
            groups[-1].append(self.statement())
            if sum(map(len, groups)) > ITEMS:
                raise OverBudget(f"a list of more than {ITEMS}")
        word = "or" if "or" in words else "and" if "and" in words else ""
        if semicolon and any(len(group) > 1 for group in groups):
            rows = tuple(g[0] if len(g) == 1 else Listing(tuple(g)) for g in groups)
            return Listing(rows, word)
        items = tuple(item for group in groups for item in group)
        return items[0] if len(items) == 1 else Listing(items, word)

    def separator(self) -> str | None:
        """A comma, semicolon, "and" or "or", or a comma with a word after it."""
        found = None
        if self.kind() == END.kind:
            return None
        if self.kind() in (",", ";"):
            found = self.next().kind
        if self.kind() in ("and", "or"):
            found = self.next().kind
        elif self.word("and", "or"):
            found = self.next().text.lower()
        elif found is None and self.command("&"):
            return None
        return found

    def statement(self) -> Node:
        """A value or a chain of relations."""
        operands = [self.name_of_value() or self.sets()]
        operators: list[str] = []
        while self.kind() in RELATIONS:
            operators.append(self.next().kind)
            operands.append(self.name_of_value() or self.sets())
        stated = Relation(tuple(operands), tuple(operators)) if operators else operands[0]
        return self.with_modulus(stated)

    def sets(self) -> Node:
        """Sets united or taken from one another; an ordinary value without such an operator."""
        united = self.kind() == "∪" and self.peek(1).kind == "_"
        first = self.united() if united else self.ratio()
        parts, minus = [first], False
        while self.kind() in ("∪", "∖") or (self.kind() == "-" and isinstance(first, NamedSet)):
            minus = self.next().kind != "∪"
            if minus and len(parts) > 1:
                raise Unreadable("a union and a difference without brackets")
            parts.append(self.ratio())
        return Union(tuple(parts), minus=minus) if len(parts) > 1 else first

    def ratio(self) -> Node:
        """Terms in proportion."""
        parts = [self.sum()]
        while (self.kind() == ":" and not self.bars) or self.word("to"):
            self.next()
            parts.append(self.sum())
        return Ratio(tuple(parts)) if len(parts) > 1 else parts[0]

    # ---- arithmetic

    def sum(self) -> Node:
        """Signed terms. A unit behind the last one measures the whole."""
        self.down()
        terms = [self.signed_term()]
        while self.kind() in _SIGNS and not self.difference_of_sets(terms[-1]):
            terms.append(self.signed_term())
            _afford(terms)
        self.up()
        return terms[0] if len(terms) == 1 else with_common_unit(terms)

    def difference_of_sets(self, before: Node) -> bool:
        """Whether a minus sign comes next that takes one set from another."""
        return self.kind() == "-" and isinstance(before, NamedSet)

    def signed_term(self) -> Node:
        """A term with its signs: an odd number of minus signs negates, ± stays."""
        negative, choice = False, None
        while self.kind() in _SIGNS:
            sign = self.next().kind
            if sign == "-":
                negative = not negative
            elif sign != "+":
                if choice is not None:
                    raise Unreadable("two signs ± for one term")
                choice = sign
        node = self.term()
        if negative:
            node = negated(node)
        return node if choice is None else Signed(node, flipped=choice == "∓")

    def term(self) -> Node:
        """Factors, with the percent sign, scale and unit behind them."""
        over, under = [self.first_factor()], list[Node]()
        while (kind := self.kind()) not in _AFTER_TERM:
            if kind == "*":
                self.next()
                over.append(self.signed_factor())
            elif kind == "/" and not self.unit_follows(1):
                self.next()
                self.refuse_derivative(over)
                under.append(self.signed_factor())
            elif self.percent():
                return self.after_percent(product(over, under))
            elif self.measure_follows():
                return self.measured(product(over, under))
            elif self.measure_in_brackets():
                return self.bracketed_measure(product(over, under))
            elif self.starts_factor():
                self.juxtaposed(over, under)
            else:
                break
            _afford(over)
        return product(over, under)

    def first_factor(self) -> Node:
        """The first factor, or an amount of money behind its sign."""
        name = canonical(self.kind()) if self.kind() in CURRENCY_SIGNS else None
        if name is None:
            return self.factor()
        self.next()
        amount = self.mixed(self.factor())
        token = self.peek()
        if token.kind == "letters" and token.text in SCALE_ABBREVIATIONS:
            amount = product([amount, Number(Fraction(SCALES[self.next().text]))], [])
        return self.money(amount, name)

    def money(self, amount: Node, name: str) -> Node:
        """An amount with its currency, a scale word between them, and what one pays it for."""
        amount = self.scaled(amount)
        if self.word("dollar", "dollars", "usd", "euro", "euros", "eur"):
            self.next()
        return Measured(amount, self.unit_powers(((name, Fraction(1)),)))

    def juxtaposed(self, over: list[Node], under: list[Node]) -> None:
        """A factor without a sign before it: a product, or the fraction of a mixed number."""
        before = over[-1]
        if self.digits_continue(before):
            if not under and len(over) == 1:
                mixed = self.mixed(before)
                if mixed is not before:
                    over[-1] = mixed
                    return
            raise Unreadable("two numbers side by side")
        if len(over) == 1 and not under and (mixed := self.mixed(before)) is not before:
            over[-1] = mixed
            return
        if self.power_of_ten_follows(over):
            over[-1] = self.factor()
            return
        if self.kind() == "number" and self.peek(-1).text in ("x", "X"):
            raise Unreadable("a letter that may be a multiplication sign")
        over.append(self.factor())

    def power_of_ten_follows(self, over: list[Node]) -> bool:
        """Whether the x before is a sign, 2.5 x 10^3; no letter stands there."""
        return (
            len(over) == 2  # noqa: PLR2004
            and isinstance(over[0], Number)
            and self.peek(-1).text in ("x", "X")
            and self.peek().text == "10"
            and self.peek(1).kind == "^"
        )

    def digits_continue(self, before: Node) -> bool:
        """Whether digits come next that print as more digits of a number: 1 2, 2{5}, {2}5."""
        if not isinstance(before, Number) or self.peek(-1).kind not in ("number", "}"):
            return False
        ahead = 0
        while self.peek(ahead).kind == "{":
            ahead += 1
        return self.peek(ahead).kind == "number"

    def mixed(self, whole: Node) -> Node:
        """A whole number with a proper fraction behind it added on; else the number itself."""
        if not is_whole(whole) or self.peek(-1).kind != "number":
            return whole
        start = self.place()
        if self.command("frac") or (self.kind() == "{" and self.fraction_in_braces()):
            fraction = self.factor()
        elif self.kind() == "number" and self.peek(1).kind == "/" and self.peek(2).kind == "number":
            over, under = self.next(), (self.next(), self.next())[1]
            fraction = Product((number(over.text),), (number(under.text),))
        else:
            return whole
        match fraction:
            case Product((Number(part, None),), (Number(parts, None),)) if 0 < part < parts:
                if part.denominator == parts.denominator == 1:
                    return Number(whole.value + part / parts)  # type: ignore[union-attr]
        self.back_to(start)
        return whole

    def fraction_in_braces(self) -> bool:
        r"""Whether a fraction comes next behind a brace: {\frac12}, {1 \over 2}."""
        over = self.peek(1).kind == "number" and self.peek(2)[:2] == ("command", "over")
        return over or self.peek(1)[:2] == ("command", "frac")

    def after_percent(self, body: Node) -> Node:
        """A percentage; what it is of, in a noun or two, may follow."""
        if self.scale_follows() or (self.starts_factor() and not self.noun_follows()):
            raise Unreadable("a factor after a percent sign")
        self.nouns()
        return Percent(body)

    def signed_factor(self) -> Node:
        """A factor after a multiplication sign may carry its own minus."""
        negative = False
        while self.kind() in ("-", "+"):
            negative ^= self.next().kind == "-"
        node = self.factor()
        return negated(node) if negative else node

    def starts_factor(self) -> bool:
        """Whether a factor can begin here."""
        token = self.peek()
        if token.kind in ("number", "{", "\\{", "begin", "set", "∅"):
            return True
        if token.kind == "(":
            return not self.modulus_follows()
        if token.kind == "[":
            return not self.closes_outwards()
        if token.kind == "letters":
            return token.text.lower() not in ("and", "or", "to", "mod")
        if token.kind == "|":
            return not self.bars
        return token.kind == "command" and token.text not in _CLOSING_COMMANDS

    def factor(self) -> Node:
        """An atom with what is written behind and above it."""
        node = self.atom()
        levels = 0
        while self.kind() in _AFTER_ATOM:
            levels += 1
            if levels > DEPTH:
                raise OverBudget(f"more than {DEPTH} signs behind one factor")
            if self.kind() == "^" and not self.side_follows():
                self.next()
                node = self.raised(node)
            elif self.kind() == "!":
                self.next()
                name = "doublefactorial" if self.take("!") else "factorial"
                node = Apply(name, (node,))
            elif self.kind() == "°":
                self.next()
                node = self.degrees(node)
            elif self.kind() == "_" and isinstance(node, Number):
                self.next()
                node = self.based()
            else:
                break
        return node

    def raised(self, base: Node) -> Node:
        """What stands above a base: an exponent, the degree sign or a prime."""
        braced = self.take("{")
        if self.take("°"):
            if braced:
                self.expect("}")
            return self.degrees(base)
        if self.kind() == "'" and isinstance(base, Symbol):
            result: Node = Symbol(base.name + self.primes())
        elif braced:
            self.position -= 1
            return Power(base, self.group())
        else:
            return Power(base, self.argument())
        if braced:
            self.expect("}")
        return result

    def degrees(self, base: Node) -> Node:
        """An angle, or a temperature where a number of degrees is followed by its scale."""
        if isinstance(base, Number) and self.peek().text in ("C", "F"):
            return Measured(base, ((f"deg{self.next().text}", Fraction(1)),))
        return Degrees(base)

    def based(self) -> Node:
        """A numeral with the base of its digits below it."""
        text, digits = self.subscript().strip("{()}"), self.digits_before
        base = BASE_WORDS.get(text) or (int(text) if text.isdecimal() and len(text) <= 2 else 0)  # noqa: PLR2004
        if not digits or not 1 < base <= _LARGEST_BASE:
            raise Unreadable("a subscript that is no base")
        if any(int(digit) >= base for digit in digits):
            raise Unreadable(f"{digits} has digits that base {base} lacks")
        return Based(digits.lstrip("0") or "0", base, int(digits, base))


def _afford(operands: list[Node]) -> None:
    if len(operands) > OPERANDS:
        raise OverBudget(f"more than {OPERANDS} terms or factors side by side")
