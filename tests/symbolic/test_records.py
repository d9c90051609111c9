"""A record is what a frozen dataclass with slots would be."""

from dataclasses import FrozenInstanceError
from fractions import Fraction
from pickle import dumps, loads

import pytest

from reward_functions.symbolic.expr.nodes import KINDS, Degrees, Number, Percent, Symbol
from reward_functions.symbolic.expr.record import changed, values

HALF = Number(Fraction(1, 2))


def test_fields_are_given_by_place_or_by_name_and_the_last_ones_may_be_left_out():
    assert Number(Fraction(1), Fraction(2)) == Number(unit=Fraction(2), value=Fraction(1))
    assert HALF.unit is None
    for wrong in ((), (1, 2, 3)):
        with pytest.raises(TypeError, match="argument"):
            Number(*wrong)
    with pytest.raises(TypeError, match="worth"):
        Number(Fraction(1), worth=1)


def test_records_of_two_kinds_are_never_equal():
    assert Percent(HALF) == Percent(HALF)
    assert Percent(HALF) != Degrees(HALF)
    assert hash(Percent(HALF)) == hash(Percent(HALF))
    assert Symbol("x") != "x"


def test_a_record_never_changes():
    with pytest.raises(FrozenInstanceError):
        HALF.value = 2
    with pytest.raises(FrozenInstanceError):
        del HALF.value
    with pytest.raises(FrozenInstanceError):
        HALF.other = 2
    assert not hasattr(HALF, "__dict__")


def test_a_changed_record_is_another_one():
    assert changed(HALF, unit=Fraction(1)) == Number(Fraction(1, 2), Fraction(1))
    assert HALF.unit is None
    assert values(HALF) == (Fraction(1, 2), None)


def test_a_record_is_matched_by_place_printed_by_name_and_comes_back_from_a_pickle():
    match HALF:
        case Number(value, None):
            assert value == Fraction(1, 2)
        case _:
            pytest.fail("not matched")
    assert repr(Symbol("x")) == "Symbol(name='x')"
    assert loads(dumps(HALF)) == HALF


@pytest.mark.parametrize("kind", sorted(KINDS, key=lambda kind: kind.__name__))
def test_every_kind_of_node_keeps_its_docstring_and_has_no_dictionary(kind):
    assert kind.__doc__
    assert kind.__slots__ == kind.__match_args__ != ()
    assert kind.__module__ == "reward_functions.symbolic.expr.nodes"
