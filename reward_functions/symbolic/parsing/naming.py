"""What a statement gives a value to, where that is no product: f(x), f^{-1}(x), P(X = 3), ∠ABC."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.expr.names import FUNCTION_LETTERS
from reward_functions.symbolic.expr.nodes import Symbol
from reward_functions.symbolic.parsing.conditions import Conditions
from reward_functions.symbolic.parsing.cursor import END
from reward_functions.symbolic.parsing.vocabulary import CALLED_WORDS, EXPECTATIONS

if TYPE_CHECKING:
    from reward_functions.symbolic.parsing.lexer import Token

RELATIONS: Final = frozenset("=≠<≤>≥≈∈∉≡")
_ARGUMENT: Final = frozenset({"letters", "number", "+", "-"})
_OF_EVENTS: Final = RELATIONS | {"|", "∪", "∩"}


class Naming(Conditions):
    """The rules for names of values, which stand before the sign of a relation."""

    def name_of_value(self) -> Symbol | None:
        """The f(x) of f(x) = 2x, which is a name and no product; None for anything else."""
        if self.kind() not in ("letters", "command"):
            return None
        start = self.place()
        if self.names_function():
            name = self.function_name()
            arguments = self.arguments_of_name(name)
            if arguments and self.kind() in RELATIONS:
                return Symbol(f"{name}({arguments})")
        elif self.command("angle", "measuredangle"):
            self.next()
            if self.kind() == "letters" and self.peek(1).kind in ("=", "≈"):
                return Symbol("∠" + self.next().text)
        self.back_to(start)
        return None

    def names_function(self) -> bool:
        """Whether a letter comes next, or a word for a probability or an expectation."""
        token = self.peek()
        if token.kind == "command":
            return token.text in CALLED_WORDS
        return token.kind == "letters" and (len(token.text) == 1 or token.text in CALLED_WORDS)

    def function_name(self) -> str:
        """The name of a function, with its subscript, primes or the sign of its inverse."""
        name = self.symbol_name(self.next().text)
        inverse = ["^", "{", "-", "number", "}"]
        if [self.peek(ahead).kind for ahead in range(5)] == inverse and self.peek(3).text == "1":
            self.position += len(inverse)
            name += "^-1"
        return name

    def arguments_of_name(self, name: str) -> str:
        """What stands between the brackets of f(x), f(2) or P(X = 3); empty for a product.

        Any function may be named at letters or at several numbers; an event multiplies nothing.
        """
        closing = {"(": ")", "[": "]"}.get(self.kind(), "")
        if not closing or (closing == "]" and name not in EXPECTATIONS):
            return ""
        self.next()
        inside: list[Token] = []
        while self.kind() not in (closing, "(", "[", END.kind):
            inside.append(self.next())
        kinds = {token.kind for token in inside}
        named = kinds <= {"letters", ","} or kinds == {"number", ","}
        # But f(x + y) = f(x) + f(y) is an equation.
        if name in FUNCTION_LETTERS and kinds <= _ARGUMENT:
            named = named or all(name not in each.text for each in self.stream[self.position :])
        event = name[0].isupper() and not kinds.isdisjoint(_OF_EVENTS)
        if not self.take(closing) or not (named or event or name in CALLED_WORDS):
            return ""
        return "".join(token.text for token in inside)
