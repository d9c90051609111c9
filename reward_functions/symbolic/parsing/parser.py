r"""Tokens to the tree: one recursive-descent parser, depth-limited, with no evaluation in it.

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

Congruences: value \equiv value \pmod{m}, or (mod m) in words.
"""

from __future__ import annotations

from typing import Final

from reward_functions.symbolic.budget import DEPTH, ITEMS, TOKENS, OverBudget, Unreadable
from reward_functions.symbolic.expr.literals import negated, product, with_common_unit
from reward_functions.symbolic.expr.nodes import (
    BuiltSet,
    Congruence,
    Listing,
    NamedSet,
    Node,
    Number,
    Ratio,
    Relation,
    Signed,
    Symbol,
    Union,
)
from reward_functions.symbolic.parsing.arguments import argument
from reward_functions.symbolic.parsing.atoms import ATOMS
from reward_functions.symbolic.parsing.brackets import over_the_rest
from reward_functions.symbolic.parsing.calculus import refuse_derivative, united
from reward_functions.symbolic.parsing.conditions import alternatives, states_condition
from reward_functions.symbolic.parsing.cursor import END
from reward_functions.symbolic.parsing.environments import condition_of
from reward_functions.symbolic.parsing.grammar import Grammar
from reward_functions.symbolic.parsing.lexer import Token, tokens
from reward_functions.symbolic.parsing.lookahead import modulus_follows, starts_factor
from reward_functions.symbolic.parsing.naming import RELATIONS, name_of_constant, name_of_value
from reward_functions.symbolic.parsing.postfixes import POSTFIXES
from reward_functions.symbolic.parsing.terms import (
    afford,
    amount_of_money,
    currency_follows,
    juxtaposed,
    percentage,
)
from reward_functions.symbolic.parsing.units import (
    bracketed_measure,
    measure_follows,
    measure_in_brackets,
    measured,
    percent,
    unit_follows,
)


def with_modulus(parser: Grammar, node: Node) -> Node:
    """A statement, or the congruence that the modulus after it makes of it or of a value."""
    if not modulus_follows(parser):
        return node
    match node:
        case Relation((left, right), ("≡" | "=",)):
            return Congruence(left, right, _modulus(parser))
        case Relation():
            return node
    return Congruence(None, node, _modulus(parser))


def _modulus(parser: Grammar) -> Node:
    """The modulus of a congruence."""
    bracketed = parser.take("(")
    command = parser.next().kind == "command"
    node = argument(parser) if command and not bracketed else parser.sum()
    if bracketed:
        parser.expect(")")
    return node


_TAKEN_FROM: Final = (BuiltSet, NamedSet)
"""Sets that a minus sign behind them takes another one from."""

_NUMBERS: Final[dict[Node, Node]] = {Symbol(name): NamedSet(name) for name in "RZNQ"}
"""Sets of numbers in the type of variables, which they are behind a sign of membership."""

_SIGNS: Final = frozenset("+-±∓")
_AFTER_TERM: Final = frozenset({END.kind, *"+-=<>≤≥,;:)]}&", "\\}"})
"""What ends a term at once, whatever stands further behind."""


def parse(text: str) -> Node:
    """The tree of an answer.

    Raises:
        Unreadable: the string is not in the grammar.
        OverBudget: the string passes a limit of length, depth or size.
    """
    return parse_tokens(tokens(text))


def parse_tokens(stream: list[Token]) -> Node:
    """The tree of an answer's tokens, which end where the answer does; raises as `parse` does."""
    if len(stream) > TOKENS:
        raise OverBudget(f"{len(stream)} tokens; {TOKENS} are read")
    if not stream:
        raise Unreadable("nothing to read")
    parser = Parser(stream)
    try:
        return parser.answer()
    except Unreadable as trouble:
        trouble.near = parser.near()
        raise


def parse_condition(stream: list[Token]) -> Node | None:
    """The condition of a case, with the word that introduces it; None for "otherwise"."""
    parser = Parser(stream)
    node = condition_of(parser)
    if parser.position < len(stream) and not all(
        token.kind == "." for token in parser.stream[parser.position :]
    ):
        raise Unreadable("words after a condition")
    return node


class Parser(Grammar):
    """The levels of the grammar. Each method reads one and leaves the cursor after it."""

    # ---- lists and statements

    def answer(self) -> Node:
        """The whole answer, which must use up the tokens."""
        node = over_the_rest(self, self.listing())
        if self.position < len(self.stream):
            raise Unreadable(f"{self.peek().kind} after the end of the answer")
        return node

    def listing(self) -> Node:
        """Statements side by side; with semicolons and commas, a list of lists."""
        groups: list[list[Node]] = [[self.statement()]]
        words: list[str] = []
        semicolon = False
        while (separator := self.separator()) is not None:
            if separator == ";":
                semicolon = True
                groups.append([])
            words.append(separator)
            groups[-1].append(self.statement())
            if sum(map(len, groups)) > ITEMS:
                raise OverBudget(f"a list of more than {ITEMS}")
        word = "or" if "or" in words else "and" if "and" in words else ""
        if semicolon and any(len(group) > 1 for group in groups):
            rows = tuple(g[0] if len(g) == 1 else Listing(tuple(g)) for g in groups)
            return Listing(rows, word)
        items = tuple(item for group in groups for item in group)
        if word == "or" and "and" in words and all(map(states_condition, items)):
            return alternatives(items, words)
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
        operands = [name_of_constant(self) or name_of_value(self) or self.sets()]
        operators: list[str] = []
        while self.kind() in RELATIONS:
            operators.append(self.next().kind)
            operands.append(name_of_value(self) or self.sets())
            if operators[-1] == "∈":
                operands[-1] = _NUMBERS.get(operands[-1], operands[-1])
        stated = Relation(tuple(operands), tuple(operators)) if operators else operands[0]
        return with_modulus(self, stated)

    def sets(self) -> Node:
        """Sets united or taken from one another; an ordinary value without such an operator."""
        over_a_range = self.kind() == "∪" and self.peek(1).kind == "_"
        first = united(self) if over_a_range else self.ratio()
        parts, minus = [first], False
        while self.kind() in ("∪", "∖") or (self.kind() == "-" and isinstance(first, _TAKEN_FROM)):
            minus = self.next().kind != "∪"
            if minus and len(parts) > 1:
                raise Unreadable("a union and a difference without brackets")
            parts.append(self.ratio())
        return Union(tuple(parts), minus=minus) if len(parts) > 1 else first

    def ratio(self) -> Node:
        """Terms in proportion; "1 in 5" is a share."""
        parts = [self.sum()]
        if self.word("in") and isinstance(parts[0], Number) and self.peek(1).kind == "number":
            self.next()
            return product(parts, [self.factor()])
        while (self.kind() == ":" and not self.bars) or self.word("to"):
            self.next()
            parts.append(self.sum())
        return Ratio(tuple(parts)) if len(parts) > 1 else parts[0]

    # ---- arithmetic

    def sum(self) -> Node:
        """Signed terms. A unit after the last one measures the whole."""
        self.down()
        terms = [self.signed_term()]
        while self.kind() in _SIGNS and not self._takes_set(terms[-1]):
            terms.append(self.signed_term())
            afford(terms)
        self.up()
        return terms[0] if len(terms) == 1 else with_common_unit(terms)

    def _takes_set(self, before: Node) -> bool:
        """Whether a minus sign comes next that takes one set from another."""
        return self.kind() == "-" and isinstance(before, _TAKEN_FROM)

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
        """Factors, with the percent sign, scale and unit after them."""
        currency = currency_follows(self)
        first = amount_of_money(self, currency) if currency else self.factor()
        over, under = [first], list[Node]()
        while (kind := self.kind()) not in _AFTER_TERM:
            if kind == "*":
                self.next()
                over.append(self.signed_factor())
            elif kind == "/" and not unit_follows(self, 1):
                self.next()
                refuse_derivative(self, over)
                under.append(self.signed_factor())
            elif percent(self):
                return percentage(self, product(over, under))
            elif measure_follows(self):
                return measured(self, product(over, under))
            elif measure_in_brackets(self):
                return bracketed_measure(self, product(over, under))
            elif starts_factor(self):
                juxtaposed(self, over, under)
            else:
                break
            afford(over)
        return product(over, under)

    def signed_factor(self) -> Node:
        """A factor after a multiplication sign may carry its own minus."""
        negative = False
        while self.kind() in ("-", "+"):
            negative ^= self.next().kind == "-"
        node = self.factor()
        return negated(node) if negative else node

    def factor(self) -> Node:
        """An atom with what is written after and above it."""
        node = self.atom()
        signs = 0
        while (rule := POSTFIXES.get(self.kind())) is not None:
            signs += 1
            if signs > DEPTH:
                raise OverBudget(f"more than {DEPTH} signs after one factor")
            after = rule(self, node)
            if after is None:
                break
            node = after
        return node

    def atom(self) -> Node:
        """The smallest complete value."""
        token = self.next()
        rule = ATOMS.get(token.kind)
        if rule is None:
            missing = token.kind == END.kind
            raise Unreadable("a value is missing" if missing else f"{token.kind} is no value")
        return rule(self, token)
