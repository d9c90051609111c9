r"""Formulas and reactions of chemistry: \ce{CO2}, CO_2, Fe^{3+}, ^{14}_{6}C, 2H_2 + O_2 \to 2H_2O.

A formula is the order of its elements, with their numbers: two substances of the same elements are
two. A reaction has a multiset of substances on each side. Letters that are elements may be a
product of names as well; what is `sure` can be none.

Electrons by shell: 1s^2 2s^2 2p^6, [Ar] 4s^1 3d^5.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.core import patterns as re
from reward_functions.symbolic.budget import Unreadable

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from reward_functions.symbolic.parsing.lexer import Token


_SHELL: Final = re.compile(
    r"[ ,]?([1-7])([spdf])(?:\^?\{([0-9]{1,2})\}|(?:\^?([0-9]{1,2}?))?(?=[ ,]?[1-7][spdf]|$))"
)
_CORE: Final = re.compile(r"\[([A-Z][a-z])\]")
_ROOM: Final = {"s": 2, "p": 6, "d": 10, "f": 14}
"""Electrons that a shell has room for, by its letter."""

_CORES: Final = {
    "He": "1s2",
    "Ne": "[He]2s2 2p6",
    "Ar": "[Ne]3s2 3p6",
    "Kr": "[Ar]3d10 4s2 4p6",
    "Xe": "[Kr]4d10 5s2 5p6",
    "Rn": "[Xe]4f14 5d10 6s2 6p6",
}
"""The electrons of the noble gases."""

Shells = frozenset[tuple[str, int]]
"""The electrons of each shell."""


def shells(text: str) -> Shells | None:
    """The electrons that a text counts by shell, in any order; None for anything else.

    A lone 2p^3 may be a product, and 1s a second; 1s^2 and [He] 2s^1 are neither.
    """
    core = _CORE.match(text)
    if core and core[1] not in _CORES:
        return None
    inner = shells(_CORES[core[1]]) if core else frozenset()
    found: dict[str, int] = dict(inner or ())
    place, written, counted = core.end() if core else 0, 0, False
    while match := _SHELL.match(text, place):
        shell, electrons = match[1] + match[2], int(match[3] or match[4] or 1)
        if shell in found or electrons > _ROOM[match[2]]:
            return None
        found[shell] = electrons
        place, written = match.end(), written + 1
        counted = counted or bool(match[3] or match[4])
    known = bool(core) or (counted and (written > 1 or "1s" in found))
    return frozenset(found.items()) if place == len(text) and written and known else None


_ELEMENTS: Final = (
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se "
    "Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy "
    "Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf "
    "Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds Rg Cn Nh Fl Mc Lv Ts Og"
).split()
_NUMBERS: Final = {name: place for place, name in enumerate(_ELEMENTS, start=1)}
_PARTICLES: Final = {"n": 0, "p": 1, "e": -1}
"""Particles, with the number below them; each needs that number, or a charge."""

_UNKNOWN: Final = ""
"""A letter that has no number, and needs a charge to be a particle."""

_SIGNS: Final = {
    **dict.fromkeys(("to", "rightarrow", "longrightarrow"), "→"),
    **dict.fromkeys(("rightleftharpoons", "leftrightarrow"), "⇌"),
    **dict.fromkeys(("uparrow", "downarrow", "↑", "↓", "ce"), ""),
    "frac": "\\",
    "*": "·",
    "and": ",",
}
"""Commands, signs and words in one character, or in none where they say nothing."""

_PLAIN: Final = frozenset("_^{}()[]+-=,./⇌>") | {"<="}
_SMALL: Final = frozenset(("s", "p", "d", "f", "n", "e", "l", "g", "aq"))
"""Shells, particles and states."""

_LONGEST: Final = 400
"""Characters of chemistry that are read."""

_DEEP: Final = 6
"""Brackets in brackets."""

_BEGINS: Final = re.compile(r"[^A-Za-z]{0,20}(?:[A-Z]|[spdfne])")
_TIMES: Final = re.compile(
    r"\\(?:\{([0-9]{1,3})\}\{([0-9]{1,3})\}|([0-9])([0-9]))|([0-9]{1,6})(?:/([0-9]{1,3}))?"
)
_EMPTY: Final = re.compile(r"\{\}")
_SCRIPT: Final = re.compile(r"([_^])(?:\{(-?[0-9]{1,3})\}|([0-9]{1,3}))")
_NAME: Final = re.compile(r"[A-Z][a-z]?|[npe]")
_BELOW: Final = re.compile(r"(_?)(?:\{([2-9]|[1-9][0-9]{1,2})\}|([2-9]|[1-9][0-9]{1,2}))")
_CHARGE: Final = re.compile(
    r"\^(?:\{([1-9]?)([+-])\}|\{([+-])([1-9]?)\}|([1-9]?)([+-]))"
    r"|()([+-])(?= ?(?:$|[+=→⇌<,)\]]|->))"
)
_STATE: Final = re.compile(r" ?\((s|l|g|aq)\)")
_ARROW: Final = re.compile(r" ?(--?>|→|⇌|<=>|=) ?")
_BETWEEN: Final = re.compile(r" ?([+,]) ?")
_HYDRATE: Final = re.compile(r" ?[·.] ?")
_OPENING: Final = re.compile(r" ?([(\[])")
_SPACE: Final = re.compile(r" ?(?=[_^{A-Z])")
_CLOSING: Final = {"(": ")", "[": "]"}
_MIXED: Final = re.compile(r"[A-Z][A-Za-z]{1,20}")
"""Letters alone, which are a formula where they are several elements and not all capitals."""


class Chemistry(NamedTuple):
    """A string read as chemistry.

    Attributes:
        value: substances, a reaction, or electrons by shell.
        sure: whether it can be nothing else.
        states: the states of aggregation that are written.
    """

    value: Hashable
    sure: bool
    states: Hashable = ()


class _Species(NamedTuple):
    """A substance, ion or particle, so many times."""

    times: Fraction
    formula: Hashable
    charge: int
    atoms: Counter[str]


def chemistry(stream: Sequence[Token]) -> Chemistry | None:
    """Read an answer's tokens as chemistry; None where they are something else."""
    text = _text(stream)
    if text is None:
        return None
    electrons = shells(text)
    if electrons is not None:
        return Chemistry(electrons, sure=True)
    try:
        return _Reader(text, sure=any(token.text == "ce" for token in stream)).read()
    except Unreadable:
        return None


def _text(stream: Sequence[Token]) -> str | None:
    """The tokens as a text of few signs; None where one of them is none of chemistry."""
    parts: list[str] = []
    groups: list[bool] = []
    before = ""
    for token in stream:
        part = _SIGNS.get(token.text, _SIGNS.get(token.kind))
        if part is None:
            if not _known(token):
                return None
            part = token.text
        if part == "{":
            groups.append(before == "ce")
        if part in ("{", "}") and groups and (groups.pop() if part == "}" else groups[-1]):
            part = ""
        before = token.text
        parts.append(" " + part if token.spaced and parts else part)
    text = "".join(parts)
    return text if len(text) <= _LONGEST and _BEGINS.match(text) else None


def _known(token: Token) -> bool:
    """Whether a token may stand in chemistry: no word in small letters does, but for a few."""
    if token.kind == "letters":
        return not token.text[0].islower() or token.text in _SMALL
    return token.kind == "number" or token.text in _PLAIN


_Unit = tuple[tuple["Hashable", ...], int, "Counter[str]"]
"""What stands at one place of a formula, how many times, and the atoms of one of them."""


class _Reader:
    """One pass over a text. Raises `Unreadable` where it is no chemistry."""

    def __init__(self, text: str, *, sure: bool) -> None:
        self.text = text
        self.sure = sure
        self.place = 0
        self.begin = 0
        self.depth = 0
        self.states: list[tuple[Hashable, str]] = []

    def read(self) -> Chemistry:
        """The whole text: substances, or a reaction."""
        between, side = self.side()
        arrow = self.take(_ARROW)
        value: Hashable = between, _counted(side)
        if arrow:
            further, behind = self.side()
            if "," in (between, further) or (arrow[1] == "=" and not _balanced(side, behind)):
                raise Unreadable("no reaction")
            self.sure = True
            value = arrow[1] in ("⇌", "<=>"), _counted(side), _counted(behind)
        if self.place < len(self.text):
            raise Unreadable("something else than chemistry")
        elements = sum(side[0].atoms.values())
        mixed = _MIXED.fullmatch(self.text) is not None and not self.text.isupper()
        sure = self.sure or (mixed and elements > 1)
        return Chemistry(value, sure, tuple(sorted(self.states, key=repr)))

    def side(self) -> tuple[str, list[_Species]]:
        """Substances, and the sign between them: all plus signs or all commas."""
        found, signs = [self.species()], set()
        while between := self.take(_BETWEEN):
            signs.add(between[1])
            found.append(self.species())
        if len(signs) > 1:
            raise Unreadable("sums in a list")
        return "".join(signs), found

    def species(self) -> _Species:
        """A substance, with how many there are, its charge and its state."""
        times = self.times()
        self.begin = self.place
        formula, atoms = self.units()
        charge = self.charge()
        if charge is None and _UNKNOWN in atoms:
            raise Unreadable("a letter that is no particle")
        if state := self.take(_STATE):
            self.states.append((formula, state[1]))
        return _Species(times, formula, charge or 0, atoms)

    def times(self) -> Fraction:
        """The number before a substance."""
        match = self.take(_TIMES)
        if match is None:
            return Fraction(1)
        over, under = match[1] or match[3] or match[5], match[2] or match[4] or match[6] or "1"
        if not int(over) or not int(under):
            raise Unreadable("no substance at all")
        return Fraction(int(over), int(under))

    def units(self) -> tuple[tuple[Hashable, ...], Counter[str]]:
        """Elements and groups side by side, in order, and the atoms of them all."""
        items: list[Hashable] = []
        atoms: Counter[str] = Counter()
        while found := self.hydrate() or self.group() or self.element():
            inside, count, more = found
            items += inside if count == 1 else [(inside, count)]
            atoms.update({name: number * count for name, number in more.items()})
        if not items:
            raise Unreadable("no element")
        return tuple(items), atoms

    def hydrate(self) -> _Unit | None:
        """What crystallises with a substance: the ·5H_2O of CuSO_4·5H_2O."""
        if not self.take(_HYDRATE):
            return None
        times = self.times()
        if times.denominator != 1 or self.depth:
            raise Unreadable("a part of a molecule, or within one")
        self.depth += 1
        inside, atoms = self.units()
        self.depth -= 1
        many = {name: number * times.numerator for name, number in atoms.items()}
        return (("·", times.numerator, inside),), 1, Counter(many)

    def group(self) -> _Unit | None:
        """What stands in brackets, so many times."""
        if _STATE.match(self.text, self.place):
            return None
        opening = self.take(_OPENING)
        if opening is None:
            return None
        self.depth += 1
        if self.depth > _DEEP:
            raise Unreadable("brackets in brackets in brackets")
        inside, atoms = self.units()
        self.depth -= 1
        if self.text[self.place : self.place + 1] != _CLOSING[opening[1]]:
            raise Unreadable("a bracket is not closed")
        self.place += 1
        return inside, self.count(), atoms

    def element(self) -> _Unit | None:
        """An element, with the numbers of an isotope before it, or a particle."""
        start = self.place
        self.take(_SPACE)
        scripts = self.scripts()
        name = self.name()
        if not name:
            self.place = start
            return None
        number = _NUMBERS.get(name, _PARTICLES.get(name))
        if scripts.get("_", number) != number:
            raise Unreadable("the number of another element")
        known = name if name in _NUMBERS or "_" in scripts else _UNKNOWN
        count = self.count()
        if scripts.keys() == {"^"} and count > 1:
            raise Unreadable("a number of combinations: {}^5C_2")
        return ((name, scripts.get("^", 0), count),), 1, Counter({known: count})

    def scripts(self) -> dict[str, int]:
        """The numbers before the symbol of an isotope, as in {}^{14}_{6}C."""
        empty, first = self.take(_EMPTY), self.place == self.begin
        scripts: dict[str, int] = {}
        while (empty or first) and (script := self.take(_SCRIPT)):
            scripts[script[1]] = int(script[2] or script[3])
        power = not empty and self.text[self.begin - 1 : self.begin].isdigit() and len(scripts) == 1
        if power:
            raise Unreadable("a power of a number")
        self.sure = self.sure or bool(scripts)
        return scripts

    def name(self) -> str:
        """The symbol of an element or a particle; "" where none stands here."""
        match = _NAME.match(self.text, self.place)
        known = _NUMBERS.keys() | _PARTICLES.keys()
        name = (
            next((each for each in (match[0], match[0][0]) if each in known), "") if match else ""
        )
        self.place += len(name)
        return name

    def count(self) -> int:
        """The number below an element or a group; 1 where none is written."""
        match = self.take(_BELOW)
        if match is None:
            return 1
        self.sure = self.sure or (match[1] == "_" and self.text[match.start() - 1] in ")]")
        return int(match[2] or match[3])

    def charge(self) -> int | None:
        """The charge of an ion; None where none is written."""
        match = self.take(_CHARGE)
        if match is None:
            return None
        self.sure = self.sure or (match[0][0] == "^" and not match[3])  # e^{-1} is a number
        sign = match[2] or match[3] or match[6] or match[8]
        return int(f"{sign}{match[1] or match[4] or match[5] or 1}")

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """What a pattern matches here, which is taken."""
        match = pattern.match(self.text, self.place)
        if match:
            self.place = match.end()
        return match


def _counted(side: Sequence[_Species]) -> Hashable:
    """The substances of a side, in no order."""
    return frozenset(Counter((each.times, each.formula, each.charge) for each in side).items())


def _balanced(left: Sequence[_Species], right: Sequence[_Species]) -> bool:
    """Whether both sides have the same atoms, and are more than names in an equation."""
    sums = []
    for side in (left, right):
        total: Counter[str] = Counter()
        for each in side:
            for name, number in each.atoms.items():
                total[name] += each.times * number  # type: ignore[assignment]
        sums.append((total, sum(each.times * each.charge for each in side)))
    compound = any(len(each.atoms) > 1 for each in (*left, *right))
    several = any(number > 1 for each in (*left, *right) for number in each.atoms.values())
    return sums[0] == sums[1] and compound and several
