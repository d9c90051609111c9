r"""Values under conditions: definitions by cases, and congruences.

cases       \begin{cases} value & if condition \\ value & otherwise \end{cases}
congruence  value \equiv value \pmod{m}, or (mod m) in words
"""

from __future__ import annotations

from typing import Final

from reward_functions.symbolic.budget import ITEMS, OverBudget, Unreadable
from reward_functions.symbolic.expr.nodes import Congruence, Listing, Node, Piecewise, Relation
from reward_functions.symbolic.parsing.calculus import Calculus

_MODULO: Final = ("pmod", "bmod", "mod", "pod")


class Conditions(Calculus):
    """The rules for what holds only under a condition."""

    def environment(self, name: str) -> Node:
        """A matrix, vector or system of equations, or a definition by cases."""
        return self.cases() if name == "cases" else super().environment(name)

    def cases(self) -> Node:
        """Values with their conditions; without any conditions a system, all of which holds."""
        self.down()
        branches = [self.branch()]
        while self.command("\\"):
            self.next()
            if self.kind() != "end":
                branches.append(self.branch())
            if len(branches) > ITEMS:
                raise OverBudget(f"more than {ITEMS} cases")
        self.up()
        if self.next().text != "cases":
            raise Unreadable("cases that do not end")
        conditions = [condition for _, condition in branches]
        if all(condition is _NONE for condition in conditions):
            return Listing(tuple(value for value, _ in branches), "and")
        if _NONE in conditions:
            raise Unreadable("a case without a condition")
        return Piecewise(tuple(branches))

    def branch(self) -> tuple[Node, Node | None]:
        """One value and its condition; a comma or ampersand or both stand between them."""
        value = self.statement()
        separated = self.take(",") | self.take("&")
        if not separated or self.command("\\") or self.kind() == "end":
            return value, _NONE
        condition = self.condition()
        if not self.take(","):
            self.take(".")
        return value, condition

    def condition(self) -> Node | None:
        """A condition without the word that introduces it; None for "otherwise"."""
        while self.word("if", "for", "when", "where", "as"):
            self.next()
        if self.word("otherwise", "else", "elsewhere"):
            self.next()
            return None
        return self.statement()

    # ---- congruences

    def with_modulus(self, node: Node) -> Node:
        """A statement, or the congruence that the modulus behind it makes of it or of a value."""
        if not self.modulus_follows():
            return node
        match node:
            case Relation((left, right), ("≡" | "=",)):
                return Congruence(left, right, self.modulus())
            case Relation():
                return node
        return Congruence(None, node, self.modulus())

    def modulus_follows(self) -> bool:
        """Whether a modulus comes next, with or without its bracket."""
        token = self.peek()
        if token.kind == "(":
            token = self.peek(1)
        return token.text in _MODULO and token.kind in ("letters", "command")

    def modulus(self) -> Node:
        """The modulus of a congruence."""
        bracketed = self.take("(")
        command = self.next().kind == "command"
        node = self.argument() if command and not bracketed else self.sum()
        if bracketed:
            self.expect(")")
        return node

    def measure_follows(self) -> bool:
        """Whether a scale word, a unit, a currency or a counted noun comes next."""
        return super().measure_follows() and not self.modulus_follows()


_NONE: Final[Node] = Listing(())
"""The condition of a case that has none, which no text can state."""
