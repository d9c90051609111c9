"""Runs of letters: a function, a constant, a word of mathematics, or a product of symbols."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from reward_functions.quantities.units import links, may_name
from reward_functions.symbolic.budget import Unreadable
from reward_functions.symbolic.expr.nodes import Apply, Constant, Node, Number, Symbol
from reward_functions.symbolic.parsing.brackets import bracketed
from reward_functions.symbolic.parsing.functions import function
from reward_functions.symbolic.parsing.grammar import symbol_name, variable
from reward_functions.symbolic.parsing.lookahead import function_follows
from reward_functions.symbolic.parsing.unicode_notation import GREEK
from reward_functions.symbolic.parsing.units import measure_follows
from reward_functions.symbolic.parsing.vocabulary import (
    CALLED,
    INFINITY,
    LETTER_FUNCTIONS,
    SHORT_PRODUCT,
    SHORT_ROMAN,
    SPELLINGS,
)

if TYPE_CHECKING:
    from reward_functions.symbolic.parsing.cursor import Cursor
    from reward_functions.symbolic.parsing.grammar import Grammar
    from reward_functions.symbolic.parsing.lexer import Token

_ONE: Final = Number(Fraction(1))


def letters(parser: Grammar, token: Token) -> Node:
    """The value of a run of letters, at whose end an integral finds its differential."""
    if parser.integrals and token.text[-2:-1] in ("d", ""):
        return _before_differential(parser, token)
    return _run(parser, token)


def _before_differential(parser: Grammar, token: Token) -> Node:
    """A differential, which is a factor of one; what stands before it in its run comes first."""
    if len(token.text) > 2:  # noqa: PLR2004 - xdx is x and dx
        parser.give_back(2)
        return _run(parser, token._replace(text=token.text[:-2]))
    name = token.text[1:] or (variable(parser) if token.text == "d" else None)
    if name is None:
        return _run(parser, token)
    parser.differentials.append(name)
    return _ONE


def _run(parser: Grammar, token: Token) -> Node:
    """The value of a run of letters that ends in no differential."""
    run = token.text
    if run in LETTER_FUNCTIONS or (run in SPELLINGS and (token.roman or parser.kind() == "(")):
        return function(parser, token)
    if run in INFINITY:
        return Constant("∞")
    if run == "pi":
        return Constant("π")
    if run in GREEK:
        return Symbol(symbol_name(parser, GREEK[run]))
    if len(run) > 1:
        return _product_of_symbols(parser, token)
    if not run.isascii():
        raise Unreadable("a word where a value should be")
    if run in ("e", "i") and run not in parser.bound and parser.kind() not in ("_", "'"):
        return Constant(run)
    if parser.kind() == "(" and (run in CALLED or _called_on_number(parser, run)):
        return Apply(run, bracketed(parser))
    return Symbol(symbol_name(parser, run))


def _product_of_symbols(parser: Grammar, token: Token) -> Node:
    """The first letter of a run; the rest goes back, so that a power binds to the last."""
    run = token.text
    if token.spaced and (links(run) or not may_name(run)):
        raise Unreadable("a word where a value should be")
    longest = SHORT_ROMAN if token.roman else SHORT_PRODUCT
    if len(run) > longest or not run.isascii():
        raise Unreadable("a word where a value should be")
    if _word_follows(parser, token):
        raise Unreadable("words where a value should be")
    parser.give_back(len(run) - 1)
    letter = run[0]
    named = letter in ("e", "i") and letter not in parser.bound
    return Constant(letter) if named else Symbol(letter)


def _called_on_number(cursor: Cursor, letter: str) -> bool:
    """Whether a capital is applied to a number: I(0) is a value of I, x(3) a product."""
    return (
        letter.isupper()
        and [cursor.peek(ahead).kind for ahead in range(3)] == ["(", "number", ")"]
        and not cursor.peek().spaced
    )


def _word_follows(cursor: Cursor, token: Token) -> bool:
    """Whether a run of letters and the next one look like words: she has, but not AB CD."""
    after = cursor.peek()
    return (
        after.kind == "letters"
        and after.spaced
        and min(len(token.text), len(after.text)) > 1
        and not (token.text.isupper() and after.text.isupper())
        and not function_follows(cursor)
        and not measure_follows(cursor)
        and after.text not in ("and", "or", "to")
    )
