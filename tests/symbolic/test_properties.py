"""Trees rendered two ways are equal, changed trees are not, and no text escapes."""

from dataclasses import dataclass, replace
from fractions import Fraction

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from reward_functions.symbolic import Outcome, Unreadable, equal, readable

VARIABLES = {"x": 7 / 3, "y": 11 / 5, "z": 13 / 2}
TINY = 1e-9


@dataclass(frozen=True)
class Leaf:
    """A whole number or a variable."""

    text: str

    def value(self):
        return complex(VARIABLES.get(self.text) or int(self.text))


@dataclass(frozen=True)
class Mixed:
    """A whole number before a fraction of two digits and, maybe, a variable.

    A proper fraction is added to the number, any other one multiplies it.
    """

    whole: int
    over: int
    under: int
    variable: str

    def value(self):
        part = self.over / self.under
        number = self.whole + part if self.over < self.under else self.whole * part
        return complex(number * VARIABLES.get(self.variable, 1))


@dataclass(frozen=True)
class Raised:
    """A tree to a rational power."""

    base: "Tree"
    exponent: Fraction

    def value(self):
        base = self.base.value()
        assume(base.real > TINY and abs(base.imag) < TINY)
        assume(base.real < 10**6)
        return base ** float(self.exponent)


@dataclass(frozen=True)
class Branch:
    """Two trees under an operation."""

    sign: str
    left: "Tree"
    right: "Tree"

    def value(self):
        left, right = self.left.value(), self.right.value()
        match self.sign:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
        assume(abs(right) > TINY)
        return left / right


Tree = Leaf | Mixed | Raised | Branch

LEAVES = st.one_of(
    st.one_of(st.integers(0, 30).map(str), st.sampled_from(sorted(VARIABLES))).map(Leaf),
    st.builds(
        Mixed, st.integers(1, 9), st.integers(1, 9), st.integers(1, 9), st.sampled_from(["", "x"])
    ),
)
EXPONENTS = st.sampled_from([Fraction(n, d) for n in (-3, -1, 1, 2, 3) for d in (1, 2, 3, 4)])
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(Branch, st.sampled_from("+-*/"), inner, inner),
        st.builds(Raised, inner, EXPONENTS),
    ),
    max_leaves=6,
)


def in_plain_text(tree):
    match tree:
        case Leaf(text):
            return text
        case Mixed(whole, over, under, variable):
            sign = "+" if over < under else "*"
            return f"({whole} {sign} {over}/{under})" + (variable and f"*{variable}")
        case Raised(base, exponent):
            return f"({in_plain_text(base)})^({exponent})"
    return f"({in_plain_text(tree.left)}) {tree.sign} ({in_plain_text(tree.right)})"


def in_latex(tree):
    """The same tree with the operands of + and * turned round, and roots as radicals."""
    match tree:
        case Leaf(text):
            return text
        case Mixed(whole, over, under, variable):
            return rf"{whole}\frac{over}{under}{variable}"
        case Raised(base, exponent) if exponent.denominator > 1:
            root = rf"\sqrt[{exponent.denominator}]{{{in_latex(base)}}}"
            return rf"\left({root}\right)^{{{exponent.numerator}}}"
        case Raised(base, exponent):
            return rf"\left({in_latex(base)}\right)^{{{exponent}}}"
    left, right = in_latex(tree.left), in_latex(tree.right)
    match tree.sign:
        case "+":
            return rf"\left({right}+{left}\right)"
        case "-":
            return rf"\left({left}-\left({right}\right)\right)"
        case "*":
            return rf"\left({right}\right)\cdot\left({left}\right)"
    return rf"\dfrac{{{left}}}{{{right}}}"


def changed(tree, by):
    """The tree with its first number raised; None when it has none."""
    match tree:
        case Leaf(text):
            return None if text in VARIABLES else Leaf(str(int(text) + by))
        case Mixed():
            return replace(tree, whole=tree.whole + by)
        case Raised(base, exponent):
            other = changed(base, by)
            return other and Raised(other, exponent)
    left = changed(tree.left, by)
    if left is not None:
        return Branch(tree.sign, left, tree.right)
    right = changed(tree.right, by)
    return None if right is None else Branch(tree.sign, tree.left, right)


def powers_of_leaves(tree):
    """Whether only numbers and variables are raised."""
    match tree:
        case Raised(base, _):
            return isinstance(base, Leaf | Mixed)
        case Branch(_, left, right):
            return powers_of_leaves(left) and powers_of_leaves(right)
    return True


@settings(max_examples=300, deadline=None)
@given(TREES, st.integers(1, 5))
def test_a_tree_rendered_two_ways_is_equal_and_with_a_changed_constant_never(tree, by):
    value, other = tree.value(), changed(tree, by)
    if abs(value) < 10**6:
        verdict = equal(in_plain_text(tree), in_latex(tree))
        # Exact algebra need not decide powers of sums and of powers, but nothing is unreadable.
        assert verdict.equal or (verdict.rule == "exact-algebra" and not powers_of_leaves(tree))
        assert verdict.outcome is not Outcome.DIFFERENT
    if other is not None and abs(value - other.value()) > TINY * max(1, abs(value)):
        assert not equal(in_plain_text(tree), in_latex(other)).equal


@settings(max_examples=100, deadline=None)
@given(st.integers(-(10**30), 10**30), st.integers(1, 10**6))
def test_a_fraction_is_equal_to_itself_unreduced(over, under):
    assert equal(f"{over}/{under}", rf"\frac{{{over * 6}}}{{{under * 6}}}").equal
    assert equal(f"{over}/{under}", rf"\frac{{{over * 6 + 1}}}{{{under * 6}}}").outcome is (
        Outcome.DIFFERENT
    )


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 60), st.integers(1, 60), st.integers(2, 5))
def test_a_root_is_equal_to_its_reduced_form_only(factor, radicand, index):
    merged = rf"\sqrt[{index}]{{{factor**index * radicand}}}"
    assert equal(merged, rf"{factor}\sqrt[{index}]{{{radicand}}}").equal
    assert not equal(merged, rf"{factor}\sqrt[{index}]{{{radicand + 1}}}").equal


PIECES = st.sampled_from(
    r"""
    \frac \sqrt \left( \right) { } ( ) [ ] \{ \} ^ _ , ; : . | ! % $ & \\ = < > \le \ne \in \cup
    + - * / \pm \cdot \text{ \mathrm{ \begin{pmatrix} \end{pmatrix} \pi e i x y \infty \sin \ln
    \log 0 1 2 34 5.6 1,234 cm m/s dollars and or \circ ° ½ ² √ \mathbb{R} \emptyset ' \overline
    \binom million percent
    """.split()
)


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=25), st.lists(PIECES, min_size=1, max_size=12), st.booleans())
def test_no_pieces_of_notation_raise_but_for_a_reference_that_is_not_read(
    candidate, reference, spaced
):
    glue = " " if spaced else ""
    reference = "7" + glue.join(reference)
    try:
        verdict = equal(reference, glue.join(candidate))
    except Unreadable:
        assert not readable(reference)
    else:
        assert verdict.outcome in Outcome


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40), st.sampled_from(["5", "x^2", "(1,2)", "yes", r"\{1,2\}", "0.25"]))
def test_no_text_raises(candidate, reference):
    assert equal(reference, candidate).outcome in Outcome


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 99), st.integers(1, 29))
def test_a_decimal_that_goes_on_is_the_fraction_whose_block_it_shows_twice(above, below):
    whole, rest = divmod(above, below)
    digits = []
    for _ in range(70):
        digit, rest = divmod(10 * rest, below)
        digits.append(str(digit))
    decimal = f"{whole}.{''.join(digits)}"
    assert equal(f"{above}/{below}", decimal + r"\ldots").equal
    assert not equal(f"{above + 1}/{below}", decimal + "...").equal


@settings(max_examples=100, deadline=None)
@given(st.integers(-99, 99), st.integers(-99, 99), st.integers(-9, 9))
def test_a_chain_of_constants_is_its_value_or_a_contradiction(first, second, error):
    chain = f"{first}+({second})={first + second + error}"
    assert equal(str(first + second), chain).equal == (not error)
    assert not equal(str(first + second + 1), chain).equal


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 99), min_size=2, max_size=5), st.sampled_from(["12345", "abcde"]))
def test_numbered_parts_are_equal_in_their_order_only(values, marks):
    def numbered(each):
        return " ".join(f"({mark}) {value}" for mark, value in zip(marks, each, strict=False))

    assert equal(numbered(values), numbered(values).replace(" (", "; (")).equal
    turned = values[1:] + values[:1]
    assert equal(numbered(values), numbered(turned)).equal == (values == turned)
