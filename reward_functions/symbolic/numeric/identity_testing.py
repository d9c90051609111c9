"""Equality of two expressions by their values at points: the tier after exact algebra.

*Different* is a proof: at some point the reference is real and the values, with the bounds on their
errors, do not touch. Doubles find nearly all of these in tens of microseconds.

*Equal* is evidence beyond reasonable doubt: the values agree at several points of both signs, to at
least sixty digits more than the expressions are written with. Two analytic functions that agree at
a point in random position are identical but for a set of points of measure zero. Two numbers
written with d digits are one of some 10^d numbers. Known pairs that are close without being equal
agree to a few digits more than it takes to write them, never to sixty: e^(π√163) and an integer
agree to 30 digits, of 14 characters. Terms so small that they would drown are given the digits to
be seen.

The domain is the reference's: points where it is not real count for nothing, and an answer that is
not real where the reference is, is different. Only an expression with i, or with no real value at
any of the points, is compared as a complex number.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.budget import OverBudget, Unreadable, Work
from reward_functions.symbolic.expr.literals import negated
from reward_functions.symbolic.expr.names import renamed
from reward_functions.symbolic.expr.nodes import Sum
from reward_functions.symbolic.numeric.ball import Ball, BallArithmetic, NoValue
from reward_functions.symbolic.numeric.ball_double import COMPLEX, REAL
from reward_functions.symbolic.numeric.conventions import complex_names
from reward_functions.symbolic.numeric.evaluate import Evaluation, Interpretation, interpretations
from reward_functions.symbolic.numeric.sample_points import (
    Place,
    Point,
    complex_points,
    counted_late,
    mirrored,
    neighbours,
    points,
    unguessable,
)
from reward_functions.symbolic.numeric.traits import Traits
from reward_functions.symbolic.verdict import Finding, differ, same, unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from reward_functions.symbolic.expr.nodes import Node
    from reward_functions.symbolic.numeric.ball_mpmath import MpmathArithmetic

_RULE: Final = "values-at-points"
_APART: Final = "the values differ at a point of the domain"

EVALUATIONS: Final = 10_000
"""Steps of work for evaluation in one comparison of answers: a node in double precision is one, of
about a microsecond, and one in high precision twelve or more."""

_SEARCH: Final = 16_000
"""Steps for finding where formulas change and comparing them there, once two expressions seem to
be equal; and again as many for looking at these places with more digits."""

_CLOSE: Final = 192
"""Bits with which values are compared at such places: a bump of 10^-50 shows."""

_WAYS: Final = 3
"""Variables along which formulas are followed over their changes; felt right."""

_COMPARISON: Final = 15
"""Steps that one comparison is worth, beside those of its nodes."""

MARGIN: Final = 60
"""Digits that two values must agree to beyond those that they are written with."""

_SPARE: Final = 20
"""Digits more, for terms of different sizes; wider gaps are met when they are found."""

_DIGITS: Final = 900
"""Digits of the highest precision. What needs more is left undecided."""

_GRAIN: Final = 128
"""Precisions are multiples of so many bits, so that few contexts serve all comparisons."""

_BITS_PER_DIGIT: Final = 3.33
_GUARD: Final = 32
"""Bits for rounding, beside the two that every operation may lose."""

_ENOUGH: Final = 3
"""Points that must agree for one variable; each further variable asks for one more."""

_MOST: Final = 6


def odd_powers(reference: Node, candidate: Node) -> bool:
    """Whether a power with an odd root has both a real and a complex reading."""
    return Traits(reference, candidate).mixed_roots


class IdentityTest:
    """The tier, with one account of work for all members of the answers compared."""

    def __init__(self) -> None:
        self.work = Work(EVALUATIONS)

    def first_look(self, reference: Node, candidate: Node) -> Finding | None:
        """A difference that shows at the first point; None when none does, or it proves nothing.

        Only where both sides have variables or neither has: against a number, letters may be a
        unit.
        """
        try:
            traits = self._traits(reference, candidate)
            if not traits.one_reading or traits.one_sided:
                return None
            pair = _Pair(reference, candidate, traits, Interpretation(), self.work)
            return differ(_RULE, _APART) if pair.apart_at_first() else None
        except (OverBudget, Unreadable):
            return None

    def compare(self, reference: Node, candidate: Node) -> Finding:
        """Whether two values that exact algebra does not decide are equal."""
        return self._guarded(self._by_interpretations, reference, candidate)

    def compare_large(self, reference: Node, candidate: Node) -> Finding:
        """Whether two values that are too large for exact algebra are equal."""
        return self._guarded(self._by_residues, reference, candidate)

    def compare_shifted(self, reference: Node, candidate: Node) -> Finding:
        """Whether two values differ by a number: their difference is the same everywhere."""
        finding = self._guarded(self._by_difference, reference, candidate)
        if finding.equal:
            return same("arbitrary-constant", "equal up to the arbitrary constant")
        return finding

    def _traits(self, reference: Node, candidate: Node) -> Traits:
        traits = Traits(reference, candidate)
        self.work.spend(_COMPARISON + traits.nodes)
        return traits

    def _guarded(
        self, means: Callable[[Traits, Node, Node], Finding], reference: Node, candidate: Node
    ) -> Finding:
        try:
            return means(self._traits(reference, candidate), reference, candidate)
        except OverBudget as trouble:
            return unknown("budget", f"too much arithmetic: {trouble}")
        except Unreadable as trouble:
            return unknown(_RULE, str(trouble))

    def _by_residues(self, traits: Traits, reference: Node, candidate: Node) -> Finding:
        """By residues where the expressions are rational, else like all others."""
        from reward_functions.symbolic.numeric.modular import by_residues  # noqa: PLC0415 - for n!

        found = by_residues(reference, candidate, traits, self.work)
        return found or self._by_interpretations(traits, reference, candidate)

    def _by_difference(self, traits: Traits, reference: Node, candidate: Node) -> Finding:
        """Whether the difference has the same value for other values of the variables."""
        difference = Sum((reference, negated(candidate)))
        elsewhere = renamed(difference)
        both = self._traits(difference, elsewhere)
        both.counting = {name for name in both.variables if name.rstrip("*") in traits.counting}
        return self._by_interpretations(both, difference, elsewhere)

    def _by_interpretations(self, traits: Traits, reference: Node, candidate: Node) -> Finding:
        """Equal under one interpretation of ambiguous notations, or different under all."""
        findings = []
        for interpretation in interpretations(traits):
            finding = _Pair(reference, candidate, traits, interpretation, self.work).decided()
            if finding.equal:
                return finding
            findings.append(finding)
        return next((each for each in findings if not each.different), findings[0])


class _Pair:
    """Two expressions under one interpretation."""

    def __init__(
        self,
        reference: Node,
        candidate: Node,
        traits: Traits,
        interpretation: Interpretation,
        work: Work,
    ) -> None:
        self.reference = reference
        self.candidate = candidate
        self.traits = traits
        self.interpretation = interpretation
        self.work = work
        # Whether the reference has been real somewhere.
        self.has_domain = False
        # The points at which both were real, and in doubles not apart.
        self.agreed: list[Point] = []

    def apart_at_first(self) -> bool:
        """Whether the values differ for certain at the first point, which is positive."""
        return bool(self.apart_at(next(points(self.traits)), REAL, REAL))

    def decided(self) -> Finding:
        """The verdict of all points, and of complex ones where a name asks for them."""
        finding = self._decided()
        if finding.equal and self.traits.piecewise and self.traits.variables and self.has_domain:
            finding = self._across() or finding
        if finding.equal and self.traits.counting:
            finding = self._late() or finding
        if not finding.equal or not (self.traits.imaginary or self.traits.moduli):
            return finding
        names = complex_names(
            self.reference,
            self.traits.variables.keys() - self.traits.counting,
            imaginary=self.traits.imaginary,
            moduli=self.traits.moduli,
        )
        if not names:
            return finding
        return self._by_points(complex_points(self.traits, names), real=False) or finding

    def _decided(self) -> Finding:
        """The verdict of points with real coordinates."""
        if not self.traits.imaginary:
            finding = self._by_points(points(self.traits), real=True)
            if finding is not None:
                return finding
            if self.has_domain:
                return unknown(_RULE, "no point at which both expressions are real")
        finding = self._by_points(points(self.traits), real=False)
        if finding is None:
            return unknown(_RULE, "no point at which both expressions have a value")
        if finding.different and self.traits.variables and not self.traits.imaginary:
            return unknown(_RULE, "no point at which the reference is real")
        return finding

    def _by_points(self, where: Iterable[Point], *, real: bool) -> Finding | None:
        """The verdict of the points at which the reference has a value; None without any."""
        agreed: list[Point] = []
        missing: list[Point] = []
        strict = REAL if real else COMPLEX
        for point in where:
            apart = self.apart_at(point, strict, COMPLEX)
            if apart:
                return differ(_RULE, _APART)
            (missing if apart is None else agreed).append(point)
        if any(self.apart_at(point, strict, COMPLEX) for point in self._turned(agreed)):
            return differ(_RULE, _APART)
        self.agreed = agreed or missing
        return self._confirmed(self.agreed, real=real)

    def _across(self) -> Finding | None:
        """A difference, or a doubt, where the formulas change; None where they agree there too."""
        from reward_functions.symbolic.numeric.breakpoints import (  # noqa: PLC0415 - for jumps
            Breakpoints,
        )

        work = Work(_SEARCH)
        breakpoints = Breakpoints((self.reference, self.candidate), work)
        if breakpoints.many:
            return unknown(_RULE, "too many places where the formulas may change")
        there = self._with(work)
        names = [name for name in self.traits.variables if name not in self.traits.counting]
        hidden = []
        for point in (self.agreed[0], self.agreed[-1])[: len(names)]:
            for name in names[:_WAYS]:
                for place, tiny in breakpoints.around(point, name):
                    if there.apart_at(place, REAL, COMPLEX):
                        return differ(_RULE, _APART)
                    hidden += [place] * tiny
        return differ(_RULE, _APART) if self._hidden(hidden) else None

    def _hidden(self, where: list[Point]) -> bool:
        """Whether there is a difference at a point that doubles do not see."""
        there = self._with(Work(_SEARCH))
        strict, free = _digits(_CLOSE, real=True), _digits(_CLOSE, real=False)
        try:
            return any(there.apart_at(point, strict, free) for point in where)
        except OverBudget:
            return False

    def _late(self) -> Finding | None:
        """A difference, or a doubt, where C(n, 200) and the like begin, beside n!."""
        there = self._with(Work(_SEARCH))
        for points_of_one in counted_late(self.traits):
            found = [there.agree_at(point, real=self.has_domain) for point in points_of_one]
            for finding in found:
                if finding is not None and finding.different:
                    return finding
            if found[-1] is None:
                return unknown(_RULE, "numbers too large to be told apart")
        return None

    def _with(self, work: Work) -> _Pair:
        """The same pair with another account."""
        return _Pair(self.reference, self.candidate, self.traits, self.interpretation, work)

    def _turned(self, agreed: list[Point]) -> Iterable[Point]:
        """The mirror images of good points, where a formula may be another one there."""
        if self.traits.piecewise:
            for point in agreed[:_ENOUGH]:
                yield from mirrored(self.traits, point)

    def apart_at(
        self, point: Point, strict: BallArithmetic[Ball], free: BallArithmetic[Ball]
    ) -> bool | None:
        """Whether the values at a point differ for certain; None where one of them has none."""
        try:
            mine, theirs, real = self._values(point, strict, free)
        except NoValue:
            return None
        if free.apart(mine, theirs):
            return True
        return False if real else None

    def _values(
        self, point: Point, strict: BallArithmetic[Ball], free: BallArithmetic[Ball]
    ) -> tuple[Ball, Ball, bool]:
        """Both values, and whether the candidate's was reached as the reference's.

        An answer in variables that leaves the real numbers on the way and comes back proves nothing
        when it agrees; in a number (a cubic root of Cardano's) that is usual.
        """
        mine = self._value(self.reference, point, strict)
        self.has_domain = self.has_domain or strict.real
        try:
            return mine, self._value(self.candidate, point, strict), True
        except NoValue:
            return mine, self._value(self.candidate, point, free), not self.traits.variables

    def _value(self, node: Node, point: Point, numbers: BallArithmetic[Ball]) -> Ball:
        places = {name: _ball(place, numbers) for name, place in point.items()}
        return Evaluation(numbers, places, self.work, self.interpretation).value(node)

    # ---- many digits

    def _confirmed(self, where: list[Point], *, real: bool) -> Finding | None:
        """Whether the values agree to many digits at enough of the points."""
        needed = min(_ENOUGH + len(self.traits.variables) - 1, _MOST)
        if not self.traits.variables:
            needed = 1
        agreeing: list[Point] = []  # each once: whole numbers come again, and prove nothing new
        for point in self._enough(where, needed):
            if point in agreeing:
                continue
            finding = self.agree_at(unguessable(self.traits, point), real=real)
            if finding is not None and finding.different:
                return finding
            if finding is not None and finding.equal:
                agreeing.append(point)
            if len(agreeing) == needed:
                if self.traits.jumps:
                    return unknown(_RULE, "functions with steps are not compared by points")
                return same(_RULE, "the values agree wherever the reference has one")
        return unknown(_RULE, "too few points at which the values agree") if agreeing else None

    def _enough(self, where: list[Point], needed: int) -> Iterable[Point]:
        """The points, and neighbours of the first of them where they are too few."""
        if self.traits.counting:
            # A C(n, 25) that begins late drowns in a double, beside n!.
            yield from where[:0:-4]
        yield from where
        if 0 < len(where) < 2 * needed and self.traits.variables:
            yield from neighbours(self.traits, where[0])

    def agree_at(self, point: Point, *, real: bool) -> Finding | None:
        """The verdict of one point, with as many digits as it takes; None without values."""
        needed = MARGIN + self.traits.digits
        spare = _SPARE
        while needed + spare <= _DIGITS:
            lost = _GUARD + 2 * self.traits.nodes
            bits = _GRAIN * -(-(_bits(needed + spare) + lost) // _GRAIN)
            strict, free = _digits(bits, real=real), _digits(bits, real=False)
            try:
                mine, theirs, real_way = self._values(point, strict, free)
            except NoValue:
                return None
            if free.apart(mine, theirs):
                return differ(_RULE, _APART)
            if not real_way:
                return None
            gap = int(max(strict.gap, free.gap) / _BITS_PER_DIGIT) + 1
            if gap <= spare and free.close(mine, theirs, _bits(needed + gap)):
                return same(_RULE, "the values agree")
            if self.traits.variables and spare > _SPARE:
                return None  # another point will be better placed
            spare = max(gap, 2 * spare + needed)
        return None


def _digits(bits: int, *, real: bool) -> MpmathArithmetic:
    from reward_functions.symbolic.numeric import ball_mpmath  # noqa: PLC0415 - few need digits

    return ball_mpmath.MpmathArithmetic(bits, real=real)


def _bits(digits: int) -> int:
    return int(digits * _BITS_PER_DIGIT)


def _ball(place: Place, numbers: BallArithmetic[Ball]) -> Ball:
    if isinstance(place, Fraction):
        return numbers.rational(place)
    real, imaginary = map(numbers.rational, place)
    return numbers.add(real, numbers.multiply(imaginary, numbers.constant("i")))
