"""What stands between brackets of any kind: groups, points, sets, matrices, absolute values."""

from __future__ import annotations

from abc import abstractmethod
from typing import Final

from reward_functions.symbolic.budget import ITEMS, OverBudget, Unreadable
from reward_functions.symbolic.expr.literals import product
from reward_functions.symbolic.expr.nodes import (
    Apply,
    Braces,
    Bracket,
    BuiltSet,
    Listing,
    Matrix,
    Node,
    Relation,
)
from reward_functions.symbolic.parsing.cursor import END
from reward_functions.symbolic.parsing.units import Measures
from reward_functions.symbolic.parsing.vocabulary import ENVIRONMENTS

_CLOSERS: Final = {"(": ")", "[": "]"}
_AFTER_INTERVAL: Final = frozenset((END.kind, "∪", "∖", ",", ";", ")", "}", "\\}", "and", "or"))


class Brackets(Measures):
    """The rules for brackets; those for what may stand in them are the parser's."""

    @abstractmethod
    def listing(self) -> Node:
        """Statements side by side."""

    @abstractmethod
    def statement(self) -> Node:
        """A value or a relation."""

    @abstractmethod
    def separator(self) -> str | None:
        """What separates members of a list."""

    @abstractmethod
    def ratio(self) -> Node:
        """Terms in proportion."""

    @abstractmethod
    def sum(self) -> Node:
        """Signed terms."""

    @abstractmethod
    def signed_term(self) -> Node:
        """A term with its signs."""

    @abstractmethod
    def factor(self) -> Node:
        """An atom with what is written behind and above it."""

    @abstractmethod
    def signed_factor(self) -> Node:
        """A factor that may carry a sign."""

    @abstractmethod
    def starts_factor(self) -> bool:
        """Whether a factor can begin here."""

    def closes_outwards(self) -> bool:
        """Whether an opening square bracket comes next that ends an interval: [0,1[."""
        after = self.peek(1)
        return self.opened > 0 and (after.kind in _AFTER_INTERVAL or after.text in ("and", "or"))

    def side_follows(self) -> bool:
        """Whether a sign is raised alone before the end of a group, as in 0^+."""
        braced = self.peek(1).kind == "{"
        ends = [self.peek(ahead).kind for ahead in (range(2, 5) if braced else range(1, 3))]
        return self.kind() == "^" and ends[0] in ("+", "-") and all(end == "}" for end in ends[1:])

    def group(self) -> Node:
        """A group in braces, which print nothing: a value, or a list whose set braces got lost."""
        self.expect("{")
        self.down()
        bars, self.bars = self.bars, 0
        node = self.over_the_rest(self.listing())
        self.bars = bars
        self.up()
        self.expect("}")
        return node

    def over_the_rest(self, above: Node) -> Node:
        r"""What stands before \over or \choose, over the rest of its group: {x+1 \over 2}."""
        if not self.command("over", "choose"):
            return above
        name = self.next().text
        below = self.listing()
        if any(isinstance(each, Listing | Relation) for each in (above, below)):
            raise Unreadable(f"\\{name} between statements")
        return Apply("binom", (above, below)) if name == "choose" else product([above], [below])

    def bracket(self, left: str) -> Node:
        """Round or square brackets: one value is grouped, several are a point or an interval.

        A square bracket turned outwards leaves the end out: ]0,1] is (0,1].
        """
        self.down()
        bars, self.bars = self.bars, 0
        self.opened += 1
        items = [self.statement()]
        while self.take(",") or self.take(";"):
            items.append(self.statement())
            if len(items) > ITEMS:
                raise OverBudget(f"more than {ITEMS} entries")
        self.bars = bars
        self.opened -= 1
        self.up()
        right = self.next().kind
        if right not in (")", "]", "["):
            raise Unreadable("a bracket is not closed")
        if left == "]" or right == "[":
            if len(items) != 2:  # noqa: PLR2004 - the ends
                raise Unreadable("brackets turned outwards around no interval")
            left, right = left.replace("]", "("), right.replace("[", ")")
        if len(items) > 1:
            return Bracket(left, tuple(items), right)
        if right != _CLOSERS[left]:
            raise Unreadable("brackets that do not match")
        return items[0]

    def bracketed(self) -> tuple[Node, ...]:
        """The arguments between round brackets, the first of which is taken."""
        inside = self.bracket("(")
        return inside.items if isinstance(inside, Bracket) else (inside,)

    def braces(self) -> Node:
        """A set by its members or by a condition."""
        if self.take("\\}"):
            return Braces(())
        self.down()
        bars, self.bars = self.bars, 1
        first = self.statement()
        self.bars = bars
        if self.kind() in ("|", ":"):
            self.next()
            conditions = self.listing()
            self.up()
            self.expect("\\}")
            parts = conditions.items if isinstance(conditions, Listing) else (conditions,)
            return BuiltSet(first, parts)
        items = [first]
        while self.separator() is not None:
            items.append(self.statement())
            if len(items) > ITEMS:
                raise OverBudget(f"a set of more than {ITEMS}")
        self.up()
        self.expect("\\}")
        return Braces(tuple(items))

    def between_bars(self) -> Node:
        """An absolute value."""
        self.down()
        self.bars += 1
        node = self.sum()
        self.bars -= 1
        self.up()
        self.expect("|")
        return Apply("abs", (node,))

    def fenced(self, name: str) -> Node:
        """Floor, ceiling, or a vector in angle brackets."""
        self.down()
        items = [self.sum()]
        while self.take(","):
            items.append(self.sum())
        self.up()
        closing = {"lfloor": "rfloor", "lceil": "rceil", "langle": "rangle", "lVert": "rVert"}[name]
        if not self.command(closing):
            raise Unreadable(f"\\{name} is not closed")
        self.next()
        if name == "langle":
            return Bracket("<", tuple(items), ">")
        if len(items) > 1 or name == "lVert":
            raise Unreadable(f"\\{name} around a list")
        return Apply({"lfloor": "floor", "lceil": "ceil"}[name], (items[0],))

    def environment(self, name: str) -> Node:
        """A matrix or vector, whatever its brackets; a system of equations is a list of them."""
        if name not in ENVIRONMENTS:
            raise Unreadable(f"the environment {name} is not read")
        self.down()
        rows = self.rows()
        self.up()
        if self.next().text != name:
            raise Unreadable("a matrix that is not closed")
        if len({len(row) for row in rows}) != 1:
            raise Unreadable("rows of different lengths")
        if name != "cases":
            matrix = Matrix(tuple(rows))
            return Apply("det", (matrix,)) if name == "vmatrix" else matrix
        if len(rows[0]) > 1:
            raise Unreadable("a piecewise definition")
        return Listing(tuple(row[0] for row in rows), "and")

    def rows(self) -> list[tuple[Node, ...]]:
        """The rows of a matrix up to its end, the last row break being optional."""
        rows: list[tuple[Node, ...]] = []
        row = [self.statement()]
        while self.kind() != "end":
            if self.take("&"):
                row.append(self.statement())
            elif self.command("\\"):
                self.next()
                rows.append(tuple(row))
                if self.kind() == "end":
                    return rows
                row = [self.statement()]
            else:
                raise Unreadable("a matrix that is not closed")
            if len(rows) * len(row) > ITEMS:
                raise OverBudget(f"a matrix of more than {ITEMS} entries")
        return [*rows, tuple(row)]
