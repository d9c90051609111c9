"""The smallest complete values: numbers, symbols, functions, and whatever brackets hold."""

from __future__ import annotations

from fractions import Fraction

from reward_functions.quantities.units import links, may_name
from reward_functions.symbolic.budget import DIGITS, Unreadable
from reward_functions.symbolic.expr.literals import (
    MINUS_ONE,
    TEN,
    continued,
    negated,
    number,
    product,
    repeating,
)
from reward_functions.symbolic.expr.nodes import (
    Apply,
    Braces,
    Constant,
    NamedSet,
    Node,
    Number,
    Power,
    Product,
    Root,
    Symbol,
)
from reward_functions.symbolic.parsing.brackets import Brackets
from reward_functions.symbolic.parsing.lexer import GREEK, Token
from reward_functions.symbolic.parsing.vocabulary import (
    CALLED,
    CONJUGATED,
    DECORATIONS,
    FUNCTIONS,
    INFINITY,
    INVERSES,
    LETTER_FUNCTIONS,
    SHORT_PRODUCT,
    SHORT_ROMAN,
    SPELLINGS,
)


class Atoms(Brackets):
    """The rules for atoms; those for what is built of them are the parser's."""

    # The digits of the numeral just read, for the base that may stand below them.
    digits_before: str = ""

    def atom(self) -> Node:  # noqa: C901 - one case per kind of token
        """The smallest complete value."""
        token = self.next()
        match token.kind:
            case "number":
                return self.numeral(token)
            case "letters":
                return self.letters(token)
            case "(" | "[" | "]":
                return self.bracket(token.kind)
            case "\\{":
                return self.braces()
            case "{":
                self.position -= 1
                return self.group()
            case "|":
                return self.between_bars()
            case "command":
                return self.command_atom(token.text)
            case "begin":
                return self.environment(token.text)
            case "set":
                return NamedSet(token.text)
            case "∅":
                return Braces(())
        raise Unreadable(f"{token.kind} is no value")

    def numeral(self, token: Token) -> Node:
        """A number, with the repeating digits below a bar."""
        self.digits_before = token.text if token.text.isdecimal() else ""
        if "." in token.text and self.command("overline", "bar", "dot"):
            self.next()
            block = self.raw_group()
            if not block.isdecimal() or len(block) > DIGITS:
                raise Unreadable("a bar over something else than digits")
            return repeating(token.text, block)
        if token.text[-1:] == "." and self.digits_in_brackets():
            self.next()
            block = self.next().text
            self.next()
            return repeating(token.text, block)
        if "." in token.text and self.goes_on():
            return continued(token.text)
        return number(token.text)

    def digits_in_brackets(self) -> bool:
        """Whether (6) follows, as in 0.(6), which repeats; 0.5(6) may be a product."""
        kinds = [self.peek(ahead).kind for ahead in range(3)]
        return kinds == ["(", "number", ")"] and self.peek(1).text.isdecimal()

    def goes_on(self) -> bool:
        """Whether dots or a word say that digits go on as they began; they are taken."""
        if self.command("ldots", "dots", "cdots", "dotsc") or self.word("repeating", "recurring"):
            self.next()
            return True
        if [self.peek(ahead).kind for ahead in range(3)] != [".", ".", "."]:
            return False
        self.position += 3
        return True

    def letters(self, token: Token) -> Node:
        """A run of letters: a function, a named constant, a word of mathematics or a product."""
        run = token.text
        if run in LETTER_FUNCTIONS or (run in SPELLINGS and (token.roman or self.kind() == "(")):
            return self.function(run)
        if run in INFINITY:
            return Constant("∞")
        if run == "pi":
            return Constant("π")
        if run in GREEK:
            return Symbol(self.symbol_name(GREEK[run]))
        if len(run) > 1 and token.spaced and (links(run) or not may_name(run)):
            raise Unreadable("a word where a value should be")
        longest = SHORT_ROMAN if token.roman else SHORT_PRODUCT
        if len(run) > longest or not run.isascii():
            raise Unreadable("a word where a value should be")
        if len(run) > 1:
            return self.run_of_symbols(token)
        if run in ("e", "i") and run not in self.bound and self.kind() not in ("_", "'"):
            return Constant(run)
        if (run in CALLED or self.called_on_number(run)) and self.take("("):
            return Apply(run, self.bracketed())
        return Symbol(self.symbol_name(run))

    def called_on_number(self, letter: str) -> bool:
        """Whether a capital is applied to a number: I(0) is a value of I, x(3) a product."""
        return (
            letter.isupper()
            and [self.peek(ahead).kind for ahead in range(3)] == ["(", "number", ")"]
            and not self.peek().spaced
        )

    def word_follows(self, token: Token) -> bool:
        """Whether a run of letters and the next one look like words: she has, but not AB CD."""
        after = self.peek()
        return (
            after.kind == "letters"
            and after.spaced
            and min(len(token.text), len(after.text)) > 1
            and not (token.text.isupper() and after.text.isupper())
            and not self.function_follows()
            and not self.measure_follows()
            and after.text not in ("and", "or", "to")
        )

    def run_of_symbols(self, token: Token) -> Node:
        """The first letter of a run; the rest goes back, so that a power binds to the last."""
        if self.word_follows(token):
            raise Unreadable("words where a value should be")
        self.give_back(len(token.text) - 1)
        return self.single(token.text[0])

    def single(self, letter: str) -> Node:
        """One letter of a run."""
        named = letter in ("e", "i") and letter not in self.bound
        return Constant(letter) if named else Symbol(letter)

    def symbol_name(self, letter: str) -> str:
        """A letter with its subscript and primes."""
        name = letter
        if self.take("_"):
            name += "_" + self.subscript()
        return name + self.primes()

    def primes(self) -> str:
        """The primes that follow."""
        marks = ""
        while self.take("'"):
            marks += "'"
        return marks

    def subscript(self) -> str:
        """The text of a subscript, which is part of a name and not evaluated."""
        if self.kind() == "{":
            return self.raw_group()
        return self.next().text

    def argument(self) -> Node:
        """What a LaTeX command takes: a group, or the next atom with its own sign."""
        if self.kind() == "{":
            return self.group()
        if self.kind() in ("-", "+"):
            negative = self.next().kind == "-"
            node = self.argument()
            return negated(node) if negative else node
        self.down()
        node = self.factor() if self.kind() == "(" or self.peek(1).kind == "^" else self.atom()
        self.up()
        return node

    def digit_argument(self) -> Node:
        """The argument of a fraction: without braces a single digit, so that frac 12 is a half."""
        token = self.peek()
        if token.kind == "number" and len(token.text) > 1 and token.text.isdecimal():
            return Number(Fraction(int(self.next_character())))
        return self.argument()

    def command_atom(self, name: str) -> Node:
        """The value of a LaTeX command."""
        match name:
            case "frac":
                over = self.digit_argument()
                return Product((over,), (self.digit_argument(),))
            case "sqrt":
                return self.radical()
            case "binom":
                upper = self.digit_argument()
                return Apply("binom", (upper, self.digit_argument()))
            case "pi":
                return Constant("π")
            case "infty":
                return Constant("∞")
            case "lfloor" | "lceil" | "langle" | "lVert":
                return self.fenced(name)
        return self.named(name)

    def named(self, name: str) -> Node:
        """A symbol, decorated symbol or function by the name of its command."""
        if name in GREEK:
            return Symbol(self.symbol_name(GREEK[name]))
        if name in ("ell", "hbar", "partial", "nabla") or name in DECORATIONS:
            mark = DECORATIONS.get(name)
            letters = "" if mark is None else self.raw_group()
            if mark == "bar" and letters in CONJUGATED:
                return Apply("conj", (Symbol(letters),))
            decorated = name if mark is None else f"{mark}({letters})"
            return Symbol(self.symbol_name(decorated))
        if name in FUNCTIONS or name in SPELLINGS:
            return self.function(name)
        raise Unreadable(f"\\{name} is not read")

    def refuse_derivative(self, over: list[Node]) -> None:
        """Raise `Unreadable` for dy over dx, where d is no factor that cancels."""
        ahead = 1 if self.kind() == "{" else 0
        sign, name = self.peek(ahead), self.peek(ahead + 1)
        below = sign[:2] == ("command", "partial") or (
            sign.kind == "letters"
            and sign.text[0] == "d"
            and (len(sign.text) > 1 or (name.kind == "command" and name.text in GREEK))
        )
        if below and any(map(_begins_differential, over)):
            raise Unreadable("a derivative")

    def radical(self) -> Node:
        """A root, square without an index."""
        index: Node = Number(Fraction(2))
        if self.take("["):
            self.down()
            index = self.sum()
            self.up()
            self.expect("]")
        return Root(index, self.argument())

    def function(self, name: str) -> Node:
        """A named function: its power, its base, its argument with or without brackets."""
        power, base = None, None
        name = SPELLINGS.get(name, name)
        if name == "sqrt":
            return Root(Number(Fraction(2)), self.argument())
        while self.kind() in ("^", "_"):
            if self.next().kind == "^":
                power = self.argument()
            else:
                base = self.argument()
        arguments = self.arguments()
        if power == MINUS_ONE and name in INVERSES:
            name, power = INVERSES[name], None
        if name == "lg":
            name, base = "log", TEN
        if base is not None:
            if name != "log" or len(arguments) != 1:
                raise Unreadable(f"a subscript below {name}")
            arguments = (base, arguments[0])
            name = "log_"
        applied = Apply(name, arguments)
        return applied if power is None else Power(applied, power)

    def arguments(self) -> tuple[Node, ...]:
        """The arguments of a function: bracketed, or the factors up to the next sign."""
        if self.take("("):
            return self.bracketed()
        if self.kind() == "{":
            return (self.group(),)
        self.down()
        factors = [self.signed_factor()]
        while self.starts_factor() and not self.function_follows() and self.kind() != "(":
            if self.kind() == "number" or self.measure_follows():
                break
            factors.append(self.factor())
        self.up()
        return (product(factors, []),)

    def function_follows(self) -> bool:
        """Whether the name of a function comes next."""
        token = self.peek()
        return (token.kind == "command" and token.text in FUNCTIONS) or (
            token.kind == "letters" and token.text in LETTER_FUNCTIONS
        )


def _begins_differential(node: Node) -> bool:
    """Whether a factor begins with the sign of a differential: d, d^2, dy."""
    match node:
        case Symbol("d" | "partial") | Power(Symbol("d" | "partial"), _):
            return True
        case Product((first, *_), ()):
            return _begins_differential(first)
    return False
