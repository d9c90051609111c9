r"""A string to tokens: LaTeX and plain text alike, in one pass without backtracking.

Spacing, sizes and styles disappear here; the content of \text{...} joins the stream, its letters
marked as roman. The meaning of a run of letters (a product of symbols, a unit, a word) depends on
its neighbours and is left to the parser.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from reward_functions.core import patterns as re
from reward_functions.quantities.numerals import in_rupees
from reward_functions.quantities.units import canonical
from reward_functions.symbolic.budget import CHARACTERS, DEPTH, DIGITS, OverBudget, Unreadable
from reward_functions.symbolic.parsing.unicode_notation import in_latex


class Token(NamedTuple):
    r"""One token.

    Attributes:
        kind: "number", "letters", "command", "set", "begin", "end", or the character itself.
        text: a number without separators, the letters, the name of a command or an environment.
        spaced: whether white space stands before it.
        roman: letters in upright type (\text, \mathrm), which are words or units, not symbols.
    """

    kind: str
    text: str
    spaced: bool = False
    roman: bool = False


def tokens(text: str, *, group_digits: bool = True) -> list[Token]:
    """The tokens of a string.

    Args:
        text: the answer.
        group_digits: whether bare commas group digits outside brackets, so that 1,234 is a number.

    Raises:
        OverBudget: the string or one of its numbers is longer than its limit.
        Unreadable: a command takes a group that is not there, or the content is struck out.
    """
    if len(text) > CHARACTERS:
        raise OverBudget(f"{len(text)} characters; {CHARACTERS} are read")
    return _Scanner(_unescaped(in_latex(in_rupees(text))), group_digits=group_digits).scan()


_SPACE_COMMANDS: Final = frozenset(
    ", ; : ! > ( ) [ ] quad qquad displaystyle textstyle scriptstyle limits nolimits thinspace "
    "medspace thickspace negthinspace enspace left right middle big Big bigg Bigg bigl bigr Bigl "
    "Bigr biggl biggr Biggl Biggr bigm Bigm allowbreak nobreak nonumber hfill null rm bf it sf tt "
    "mathbf mathit mathsf boldsymbol bm pmb mathcal mathscr mathfrak textbf textit boxed fbox "
    "mathtt ensuremath underline emph centering noindent large Large LARGE huge Huge small tiny "
    "scriptsize footnotesize normalsize smash strut checkmark".split()
) | {" ", "\n", "\t"}
"""Commands that change the looks and leave their group, if any, where it is."""

_ROMAN: Final = frozenset(
    "text mathrm mbox textrm textnormal operatorname operatorname* textup mathop rm hbox textsf "
    "texttt textsc textbf textit emph".split()
)
"""Commands whose group is upright type: words, units, names of functions."""

_HIDDEN: Final = frozenset(
    "phantom hphantom vphantom hspace vspace label tag hspace* vspace* color colorbox tag*".split()
)
"""Commands that print nothing of their first group."""

_STRUCK: Final = frozenset({"cancel", "bcancel", "xcancel", "sout", "st"})

_ALIASES: Final[dict[str, str]] = {
    **dict.fromkeys(("geqslant", "geq", "geqq", "ge"), "≥"),
    **dict.fromkeys(("leqslant", "leq", "leqq", "le"), "≤"),
    **dict.fromkeys(("neq", "ne"), "≠"),
    **dict.fromkeys(("approx", "thickapprox", "simeq", "doteq"), "≈"),
    "lt": "<",
    "gt": ">",
    **dict.fromkeys(("cdot", "times", "ast", "bullet"), "*"),
    "div": "/",
    **dict.fromkeys(("lvert", "rvert", "vert", "mid"), "|"),
    **dict.fromkeys(("lbrace", "{"), "\\{"),
    **dict.fromkeys(("rbrace", "}"), "\\}"),
    "lbrack": "[",
    "rbrack": "]",
    "lparen": "(",
    "rparen": ")",
    **dict.fromkeys(("emptyset", "varnothing"), "∅"),
    **dict.fromkeys(("setminus", "backslash", "smallsetminus"), "∖"),
    "cup": "∪",
    "bigcup": "∪",
    "cap": "∩",
    "in": "∈",
    "notin": "∉",
    "equiv": "≡",
    "pm": "±",
    "mp": "∓",
    "colon": ":",
    "degree": "°",
    "circ": "°",
    "prime": "'",
    "%": "%",
    "$": "$",
    "pounds": "£",
    "euro": "€",
    "_": "_",
    "lor": "or",
    "vee": "or",
    "land": "and",
    "wedge": "and",
}
"""Commands that are only another spelling of a character, which becomes their kind."""

_VARIANTS: Final[dict[str, str]] = {
    **dict.fromkeys(("dfrac", "tfrac", "cfrac", "sfrac", "nicefrac"), "frac"),
    **dict.fromkeys(("dbinom", "tbinom"), "binom"),
}
"""Commands that differ from another one in size only."""

_BARE_DEGREE: Final = re.compile(r"\}\s?\^\s?\{?\s?(?:\\circ\b|°)")
_TOKEN: Final = re.compile(
    r"""(?P<space>[\s~]+)
      | (?P<number>(?:[0-9]+\.[0-9]+[eE][+-]?|1e[+-]|[0-9]+(?:E[+-]?|e(?:[+-](?=0[0-9]))?))
            [0-9]{1,4}(?![0-9A-Za-z]|\.[0-9])  # 2e+3 has Euler's number, 2.5e+3 and 2e+03 not
          | [1-9][0-9]{0,2}
            (?:(?:,(?:\\!\ ?)?|\ ?\{,\ ?\}|\\[,;:\ ]|[ ])[0-9]{3}(?![0-9]))+(?:\.[0-9]+)?
          | [0-9]+(?:\.(?!\.)[0-9]*)?
          | \.[0-9]+)
      | \\(?P<command>[A-Za-z]+\*?|.)
      | (?P<letters>[^\W\d_]+(?:[ً-ْऀ-ॣ॰-෿ั-๎]+[^\W\d_]*)*)  # with vowel signs
      | (?P<pair><=|>=|!=|==|\*\*)
      | (?P<symbol>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_TYPESET: Final = frozenset({"\\,", "\\;", "\\:"})
_SQUARED: Final = re.compile(r"\s?\^\s?\{?\s?[23]\s?\}?\s?\$?\s*+\Z")
_UNGROUPED: Final = re.compile(r"[0-9]+(?:\.(?!\.)[0-9]*)?")
_STYLED: Final = re.compile(r"\s*+\{\s*+([A-Za-z])\s*+\}(?=\s*_)")
_BLACKBOARD: Final = re.compile(r"\s*(?:\{\s*([A-Z])\s*\}|([A-Z]))")
_CIRCLED: Final = re.compile(r"\s*+(?:\{\s*+(?:\\[a-z]+\s++)?([0-9]{1,2})\s*+\}|([0-9]))")
_SETS: Final = frozenset("RZQNC")
_RINGED: Final = re.compile(
    r"\s*+(?:\{\s*+(?:\\(?:mathrm|text|rm)\s*+(?:\{\s*+A\s*+\}|A(?![A-Za-z])|\s?A(?=\s*+\}))|A)\s*+\}|A(?![A-Za-z]))"
)
_ENVIRONMENT: Final = re.compile(r"\s*\{([A-Za-z]+)\*?\}")
_COLUMNS: Final = re.compile(r"\s*\{[lcr|\s]*\}")
_SEPARATORS: Final = re.compile(r"[^0-9.eE+-]+")
_QUADS: Final = ("quad", "qquad")
_PAIRS: Final = {"<=": "≤", ">=": "≥", "!=": "≠", "==": "=", "**": "^"}
_OPENING: Final = frozenset({"(", "[", "\\{"})
_CLOSING: Final = frozenset({")", "]", "\\}"})


class _Scanner:
    """One pass over a string. Braces are counted so that roman type ends where its group does."""

    def __init__(self, text: str, *, group_digits: bool) -> None:
        self.text = text
        self.group_digits = group_digits
        self.position = 0
        self.found: list[Token] = []
        self.spaced = False
        # One entry per open brace: whether it belongs to roman type (and is then no token).
        self.groups: list[bool] = []
        self.roman = 0
        self.brackets = 0
        self.spaced_commas = ", " in text or ",\\ " in text
        self.dollars_delimit = _dollars_delimit(text)

    def scan(self) -> list[Token]:
        text, end, match_at = self.text, len(self.text), _TOKEN.match
        while self.position < end:
            match = match_at(text, self.position)
            if match is None:  # pragma: no cover - the last alternative takes any character
                raise Unreadable("unreadable character")
            self.position = match.end()
            self._take(match.lastgroup or "symbol", match[match.lastgroup or 0])
        if self.groups:
            raise Unreadable("a brace is not closed")
        return self.found

    def _take(self, group: str, text: str) -> None:
        if group == "space":
            self.spaced = True
        elif group == "number":
            self._number(text)
        elif group == "command":
            self._command(text)
        elif group == "pair":
            self._pair(text)
        elif group == "letters":
            self._letters(text)
        else:
            self._symbol(text)

    def _emit(self, kind: str, text: str) -> None:
        if kind in _OPENING:
            self.brackets += 1
            _afford(self.brackets)
        elif kind in _CLOSING:
            self.brackets -= 1
        self.found.append(Token(kind, text, self.spaced, self.roman > 0))
        self.spaced = False

    def _number(self, text: str) -> None:
        r"""Groups of three digits are one number, but for bare commas between brackets.

        (312,123,231) is a point; with a spaced comma somewhere the other commas group digits. What
        is lowered or raised ends with its own digits: \log_2 125.
        """
        separate = not self.group_digits or (self.brackets and not self.spaced_commas)
        script = bool(self.found) and self.found[-1].kind in ("_", "^")
        if script or (separate and "," in _bare(text)):
            start = self.position - len(text)
            match = _UNGROUPED.match(self.text, start)
            if match is not None:
                text = match[0]
                self.position = match.end()
        text = _SEPARATORS.sub("", text)
        if len(text) > DIGITS:
            raise OverBudget(f"a number of {len(text)} digits; {DIGITS} are read")
        self._emit("number", text)

    def _letters(self, text: str) -> None:
        r"""Letters; metres raised at the end, behind a typeset space, are no variable: 5\;m^2."""
        before = self.text[self.position - 3 : self.position - 1]
        metres = text == "m" and before in _TYPESET and _SQUARED.match(self.text, self.position)
        roman = bool(metres) or self.roman > 0
        if not (roman and self._joins("command", "mu", "μ" + text)):
            self.found.append(Token("letters", text, self.spaced, roman))
        self.spaced = False

    def _joins(self, kind: str, text: str, unit: str) -> bool:
        """Whether the token before is the prefix of a unit that ends here; it becomes that unit."""
        before = self.found[-1] if self.found else None
        if before is None or before[:2] != (kind, text) or canonical(unit) is None:
            return False
        if self.spaced and not before.roman:
            return False
        self.found[-1] = Token("letters", unit, before.spaced, roman=True)
        return True

    def _pair(self, text: str) -> None:
        if (
            text == "!="
            and self.found
            and not self.spaced
            and self.found[-1].kind in ("number", ")")
        ):
            self._emit("!", "!")  # 5!=120 is a factorial
            text = "=="
        self._emit(_PAIRS[text], text)

    def _command(self, name: str) -> None:
        if name in _ROMAN and self._opens_group():
            self._group(roman=True)
        elif name in _SPACE_COMMANDS:
            self.spaced = True
            self._styled_letter()
            if name in ("left", "right") and self.text.startswith(".", self.position):
                self.position += 1  # a bracket that is not printed
        elif name in _HIDDEN or name == "textcolor":
            self._skip_group()
        elif name in _STRUCK:
            raise Unreadable("struck out content is no answer")
        elif name in ("begin", "end"):
            self._environment(name)
        elif name in _OWN_RULES:
            _OWN_RULES[name](self)
        elif name in _ALIASES:
            self._emit(_ALIASES[name], name)
        elif name.startswith(_QUADS):  # \quadx lost its space
            self.position -= len(name) - name.index("quad") - len("quad")
            self.spaced = True
        else:
            self._emit("command", _VARIANTS.get(name, name))

    def _styled_letter(self) -> None:
        r"""A letter in a type of its own, which its index belongs to: \mathbf{I}_2."""
        letter = _STYLED.match(self.text, self.position)
        if letter is not None:
            self.position = letter.end()
            self._letters(letter[1])

    def _symbol(self, text: str) -> None:
        if text == "{" and _BARE_DEGREE.match(self.text, self.position):
            self.position += 1  # 20\\,{}^\\circ: what the sign is raised from prints nothing
        elif text == "{":
            self._group(roman=False)
            self._emit("{", text)
        elif text == "}":
            if not self.groups:
                raise Unreadable("a brace closes nothing")
            roman = self.groups.pop()
            self.roman -= roman
            if not roman:
                self._emit("}", text)
        elif (text == "$" and self.dollars_delimit) or text == "\\":
            self.spaced = True  # a lone backslash is a control space that lost its space at the end
        else:
            self._emit(text, text)

    def _opens_group(self) -> bool:
        """Step over spaces and an opening brace, if one comes next."""
        position = self.position
        while self.text[position : position + 1].isspace():
            position += 1
        if self.text[position : position + 1] != "{":
            return False
        self.position = position + 1
        return True

    def _group(self, *, roman: bool) -> None:
        self.groups.append(roman)
        _afford(len(self.groups))
        self.roman += roman

    def _skip_group(self) -> None:
        if not self._opens_group():
            return
        depth = 1
        while depth:
            match = _TOKEN.match(self.text, self.position)
            if match is None:
                raise Unreadable("a brace is not closed")
            self.position = match.end()
            depth += {"{": 1, "}": -1}.get(match["symbol"] or "", 0)

    def angstrom(self) -> None:
        """The sign of the unit, which is upright."""
        self.found.append(Token("letters", "Å", self.spaced, roman=True))
        self.spaced = False

    def ring(self) -> None:
        """A ring over a letter, which is the sign of the unit over an A."""
        match = _RINGED.match(self.text, self.position)
        if match is None:
            raise Unreadable("a ring over another letter than A")
        self.position = match.end()
        self.angstrom()

    def omega(self) -> None:
        """The sign of the ohm in upright type or behind an upright prefix; else a letter."""
        before = self.found[-1] if self.found else None
        if before and before.roman and self._joins("letters", before.text, before.text + "Ω"):
            return
        if self.roman:
            self._emit("letters", "Ω")
        else:
            self._emit("command", "Omega")

    def circled(self) -> None:
        """A number in a circle, which labels a statement."""
        match = _CIRCLED.match(self.text, self.position)
        if match is None:
            raise Unreadable("a circle around something else than a number")
        self.position = match.end()
        self._emit("label", match[1] or match[2])

    def blackboard(self) -> None:
        """A set of numbers; other letters are symbols in another type: P for a probability."""
        match = _BLACKBOARD.match(self.text, self.position)
        if match is None:
            raise Unreadable("unknown blackboard letter")
        self.position = match.end()
        letter = match[1] or match[2]
        self._emit("set" if letter in _SETS else "letters", letter)

    def _environment(self, name: str) -> None:
        match = _ENVIRONMENT.match(self.text, self.position)
        if match is None:
            raise Unreadable("an environment without a name")
        self.position = match.end()
        columns = _COLUMNS.match(self.text, self.position)
        if name == "begin" and columns is not None:
            self.position = columns.end()
        self._emit(name, match[1])


_OWN_RULES: Final = {
    "mathbb": _Scanner.blackboard,
    "textcircled": _Scanner.circled,
    "AA": _Scanner.angstrom,
    "mathring": _Scanner.ring,
    "Omega": _Scanner.omega,
}
"""Commands whose group is read in a way of its own, or that are letters."""


def _afford(depth: int) -> None:
    """Refuse at once what the parser would find to be nested too deeply."""
    if depth > DEPTH:
        raise OverBudget(f"nested deeper than {DEPTH}")


def _bare(number: str) -> str:
    """A grouped number without those separators that can be nothing else."""
    return number.replace(",\\!", "").replace("{, }", "").replace("{,}", "").replace("\\,", "")


_DOLLAR: Final = re.compile(r"(?<!\\)\$")


def _dollars_delimit(text: str) -> bool:
    """Whether the dollar signs of a string come in pairs around mathematics, rather than cost it.

    `$5$` is mathematics; `$5` and `$5 and $6` are prices.
    """
    places = [match.start() for match in _DOLLAR.finditer(text)]
    if not places or len(places) % 2:
        return False
    return not all(
        text[place + 1 : place + 2].isdigit() and (not place or text[place - 1].isspace())
        for place in places
    )


def _unescaped(text: str) -> str:
    """LaTeX whose backslashes were doubled on the way, with single ones.

    A doubled backslash before a letter is also the end of a matrix row, so a string with an
    environment is left alone unless the environment's own backslash is doubled.
    """
    if "\\\\" not in text or ("\\begin" in text and "\\\\begin" not in text):
        return text
    return text.replace("\\\\", "\\")
