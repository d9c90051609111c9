"""What reads mathematical notation: each row of the grammar, in an answer that needs it."""

from unicodedata import lookup

from reward_functions.symbolic.expr.printer import rendered
from reward_functions.symbolic.parsing.bases import with_bases
from reward_functions.symbolic.parsing.lexer import tokens
from reward_functions.symbolic.parsing.parser import parse, parse_tokens
from tests.architecture.called.rows import Rows, placed

ATOMS = {
    # the kind of token, an answer that begins with it, and its tree
    "number": ("1.5", "3/2"),
    "letters": ("ab", "a·b"),
    "command": (r"\frac12", "1/2"),
    "(": ("(1, 2)", "(1, 2)"),
    "[": ("[1, 2]", "[1, 2]"),
    "]": ("]1, 2[", "(1, 2)"),
    "{": ("{1, 2}", "1, 2"),
    r"\{": (r"\{1, 2\}", "{1, 2}"),
    "|": ("|x|", "abs(x)"),
    "begin": (r"\begin{matrix} 1 & 2 \end{matrix}", "[1, 2]"),
    "set": (r"\mathbb{N}^+", "Z+"),
    "∅": (r"\emptyset", "{}"),
    "based": ("(2E)_{16}", "2E_16"),
}

ENVIRONMENTS = {
    **{
        name: (rf"\begin{{{name}}} 1 & 2 \\ 3 & 4 \end{{{name}}}", "[1, 2; 3, 4]")
        for name in "pmatrix bmatrix matrix array smallmatrix".split()
    },
    "vmatrix": (r"\begin{vmatrix} 1 & 2 \\ 3 & 4 \end{vmatrix}", "det([1, 2; 3, 4])"),
    "cases": (r"\begin{cases} 1 & x > 0 \\ 2 & x = 0 \end{cases}", "1 if x > 0; 2 if x = 0"),
}

POSTFIXES = {
    "^": ("x^2", "x^2"),
    "!": ("5!", "factorial(5)"),
    "°": (r"30\degree", "30°"),
    "_": ("101_2", "101_2"),
}

LEXED = {
    "mathbb": (r"\mathbb{R}", [("set", "R")]),
    "textcircled": (r"\textcircled{3}", [("label", "3")]),
    "AA": (r"\AA", [("letters", "Å")]),
    "mathring": (r"\mathring{A}", [("letters", "Å")]),
    "Omega": (r"\Omega", [("command", "Omega")]),
}

FUNCTIONS = (
    "sin cos tan cot sec csc arcsin arccos arctan arccot arcsec arccsc sinh cosh tanh coth sech "
    "csch arcsinh arccosh arctanh arccoth arcsech arccsch ln log "
    "exp sgn arg gcd lcm max min det deg cis"
).split()

OTHERWISE_CALLED = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "arsinh": "arcsinh",
    "arcosh": "arccosh",
    "artanh": "arctanh",
    "acoth": "arccoth",
    "asech": "arcsech",
    "acsch": "arccsch",
    "arcoth": "arccoth",
    "arsech": "arcsech",
    "arcsch": "arccsch",
    "tg": "tan",
    "ctg": "cot",
    "cosec": "csc",
    "arctg": "arctan",
    "sign": "sgn",
    "Re": "re",
    "Im": "im",
    "abs": "abs",
    "Abs": "abs",
    "floor": "floor",
    "ceil": "ceil",
    "ceiling": "ceil",
}

MARKS = {
    **{name: name for name in "bar hat vec tilde dot ddot".split()},
    "overline": "bar",
    "overrightarrow": "vec",
    "widehat": "hat",
    "widetilde": "tilde",
}

SMALL = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau "
    "upsilon phi chi psi omega"
).split()
CAPITAL = "Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega".split()


def greek(name):
    """A letter as Unicode calls it, to which LAMBDA has no B."""
    size = "CAPITAL" if name[0].isupper() else "SMALL"
    return lookup(f"GREEK {size} LETTER {name.upper().replace('LAMBDA', 'LAMDA')}")


COMMANDS = {
    **{name: (rf"\{name}(x)", f"{name}(x)") for name in FUNCTIONS},
    **{name: (rf"\{name}(x)", f"{called}(x)") for name, called in OTHERWISE_CALLED.items()},
    "lg": (r"\lg x", "log_(10, x)"),
    **{name: (rf"\{name}{{AB}}", f"{mark}(AB)") for name, mark in MARKS.items()},
    **{name: (rf"\{name}_1", f"{name}_1") for name in "ell hbar partial nabla square".split()},
    **{name: (rf"\{name}_1", f"{greek(name)}_1") for name in (*SMALL, *CAPITAL)},
    **{f"var{name}": (rf"\var{name}", greek(name)) for name in "epsilon theta phi".split()},
    "pi": (r"\pi", "π"),
    "infty": (r"\infty", "∞"),
    "sum": (r"\sum_{k=1}^n k", "sum(k, k = 1..n)"),
    "prod": (r"\prod_{k=1}^n k", "prod(k, k = 1..n)"),
    "int": (r"\int_0^1 x dx", "integral(x·1, x = 0..1)"),
    "iint": (r"\iint x dx dy", "integral(integral(x·1·1, x), y)"),
    "iiint": (r"\iiint x dx dy dz", "integral(integral(integral(x·1·1·1, x), y), z)"),
    "lim": (r"\lim_{x \to 0} x", "limit(x, x → 0)"),
    "frac": (r"\frac{d}{dx} x^2", "derivative(x^2, x)"),
    "sqrt": (r"\sqrt[3]{x}", "root(3, x)"),
    "binom": (r"\binom{4}{2}", "binom(4, 2)"),
    "lfloor": (r"\lfloor x \rfloor", "floor(x)"),
    "lceil": (r"\lceil x \rceil", "ceil(x)"),
    "langle": (r"\langle 1, 2 \rangle", "<1, 2>"),
    "diag": (r"\diag(1, 2)", "[1, 0; 0, 2]"),
    "top": (r"(1, 2)^\top", "(1, 2)^T"),
    "intercal": (r"(1, 2)^\intercal", "(1, 2)^T"),
}


def read(table, cases, reading=lambda text: rendered(parse(text)), alike=()):
    """The rows of a table of the grammar, each in its case."""
    return Rows(
        placed(table, lambda key: reading(cases[key][0])),
        {key: expected for key, (_, expected) in cases.items()},
        alike,
    )


def whole(text):
    """As a whole answer is read, after the tokens of a number in a base are one."""
    return rendered(parse_tokens(with_bases(tokens(text), text, letters=False)))


def lexed(text):
    return [(token.kind, token.text) for token in tokens(text)]


PARSING = "symbolic.parsing"

ROWS = {
    f"{PARSING}.atoms:ATOMS": read(
        f"{PARSING}.atoms:ATOMS", ATOMS, whole, alike=(("based", "set"), ("letters", "set"))
    ),
    f"{PARSING}.commands:COMMANDS": read(f"{PARSING}.commands:COMMANDS", COMMANDS),
    f"{PARSING}.environments:ENVIRONMENTS": read(
        f"{PARSING}.environments:ENVIRONMENTS", ENVIRONMENTS
    ),
    f"{PARSING}.postfixes:POSTFIXES": read(f"{PARSING}.postfixes:POSTFIXES", POSTFIXES),
    f"{PARSING}.lexer:_OWN_RULES": read(f"{PARSING}.lexer:_OWN_RULES", LEXED, lexed),
}
