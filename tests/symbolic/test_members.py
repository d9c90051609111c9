"""Members of a list that is one answer, the order of names, and sums that leave terms out."""

import pytest

from reward_functions.symbolic import Unreadable, equal, equal_members, finite_sum

GIVEN = {
    # members, answer, what is ordered beside what says so, outcome
    "a set": (["1", "2"], r"\{2, 1\}", "as-written", "equal"),
    "a set where all is ordered": (["1", "2"], r"\{2, 1\}", "always", "undecided"),
    "an and": (["1", "2"], "2 and 1", "as-written", "equal"),
    "an and where it is ordered": (["1", "2"], "2 and 1", "and", "undecided"),
    "an or": (["1", "2"], "2 or 1", "and", "equal"),
    "an or where all is ordered": (["1", "2"], "1 or 2", "always", "undecided"),
    "signs": (["3", "-3"], r"\pm 3", "as-written", "equal"),
    "a member too often": (["1", "2"], r"\{1, 1, 2\}", "as-written", "different"),
    "a member less often": (["1", "2", "2"], r"\{1, 2\}", "as-written", "different"),
    "other members as often": (["1", "2", "2"], r"\{1, 1, 2\}", "as-written", "different"),
    "a point": (["2", "0"], "(2, 0)", "as-written", "equal"),
    "a point the other way round": (["2", "0"], "(0, 2)", "as-written", "undecided"),
    "half an interval": (["0", "2"], "[0, 2)", "as-written", "different"),
    "a column": (["2", "0"], r"\begin{pmatrix}2\\0\end{pmatrix}", "as-written", "equal"),
    "bare commas": (["2", "0"], "2, 0", "as-written", "equal"),
    "digits that are no group": (["12", "345"], "12,345", "as-written", "equal"),
    "names": (["2", "0"], "y=0, x=2", "as-written", "equal"),
    "names that exchange": (["2", "0"], "x=0, y=2", "as-written", "different"),
    "one name": (["2", "0"], "x=0, x=2", "as-written", "equal"),
    "a tuple of names": (["2", "0"], "(x,y)=(2,0)", "as-written", "equal"),
    "a tuple of names turned round": (["2", "0"], "(y,x)=(2,0)", "as-written", "different"),
    "a name of the whole": (["2", "0"], r"v=\langle 2,0\rangle", "as-written", "equal"),
    "one member": (["2", "0"], "2", "as-written", "different"),
    "prose": (["2", "0"], "two and nothing?", "as-written", "undecided"),
    "decimals": (["0.333", "0.25"], r"\frac13, \frac14", "as-written", "equal"),
}


@pytest.mark.parametrize(("members", "answer", "ordered", "outcome"), GIVEN.values(), ids=GIVEN)
def test_members_are_given_as_often_and_in_an_order_that_is_written(
    members, answer, ordered, outcome
):
    verdict = equal_members(members, answer, ordered)
    assert verdict.outcome.value == outcome, verdict.reason


def test_a_member_that_is_not_read_is_the_references_fault():
    with pytest.raises(Unreadable):
        equal_members(["1", r"\inch"], "1, 2")


NAMED = {
    "neighbours in the alphabet": ("(3,-2)", "y=-2, x=3", "equal"),
    "neighbours exchanged": ("(3,-2)", "y=3, x=-2", "different"),
    "lone letters that agree": ("3, 5", "b=3, k=5", "equal"),
    "lone letters that do not": ("5, 3", "k=5, b=3", "undecided"),
    "lone letters of a reference": ("k=5, b=3", "5, 3", "equal"),
    "lone letters of a reference exchanged": ("k=5, b=3", "3, 5", "undecided"),
    "names as written": ("7, 24", "BC=7, AD=24", "equal"),
    "names against the order written": ("7, 24", "AD=24, BC=7", "undecided"),
    "a function beside a letter": (r"3, 1", r"\theta=3, f(2)=1", "equal"),
    "a function beside a letter exchanged": (r"3, 1", r"\theta=1, f(2)=3", "undecided"),
    "in rounds": ("(1,2),(3,4)", "k=1,b=2;k=3,b=4", "undecided"),
    "in rounds of neighbours": ("(1,2),(3,4)", "b=2,a=1;b=4,a=3", "equal"),
    "a tuple against the alphabet": ("(1,2)", "(y,x)=(1,2)", "different"),
    "a tuple of lone letters": ("(1,2)", "(k,b)=(1,2)", "equal"),
}


@pytest.mark.parametrize(("reference", "answer", "outcome"), NAMED.values(), ids=NAMED)
def test_values_with_names_are_never_exchanged(reference, answer, outcome):
    verdict = equal(reference, answer)
    assert verdict.outcome.value == outcome, verdict.reason


SUMS = {
    "arithmetic": (r"2+4+6+\ldots+100", "2550"),
    "geometric": (r"\frac12+\frac14+\frac18+\cdots+\frac{1}{64}", r"\frac{63}{64}"),
    "harmonic": (r"1+\frac13+\frac15+\dots+\frac17", r"\frac{176}{105}"),
    "two terms that one pattern leads on": (r"1+2+\ldots+100", "5050"),
    "two last terms": (r"1+2+3+\ldots+9+10", "55"),
    "a first term that is repeated": (r"1+1+\frac12+\ldots+\frac17", r"\frac{503}{140}"),
    "falling": ("10 + 9 + 8 + … + 1", "55"),
    "from zero": (r"0+2+4+\ldots+10", "30"),
    "zero behind a step": (r"0+5+\ldots+50", ""),
    "down to zero": (r"5+3+\ldots+0", ""),
    "numbers that grow too large": (r"1+10^{900}+\ldots+3", ""),
    "factorials from two terms": (r"1+2+\ldots+24", ""),
    "Fibonacci's from two terms": (r"1+2+\ldots+13", ""),
    "two patterns": (r"1+2+\ldots+8", ""),
    "squares from two terms": (r"1+4+\ldots+100", ""),
    "factorials that are reciprocals": (r"1+1+\frac12+\ldots+\frac{1}{24}", ""),
    "odd numbers that triangular ones may be": (r"1+3+\ldots+55", ""),
    "no pattern": (r"1+4+9+\ldots+100", ""),
    "a pattern that misses the last term": (r"2+4+6+\ldots+99", ""),
    "letters": (r"1+2+\ldots+n", ""),
    "too many terms": (r"1+2+3+\ldots+1000000", ""),
    "no sum": (r"1,2,\ldots,9", ""),
    "two ellipses": (r"1+2+\ldots+5+\ldots+9", ""),
    "none": ("1+2+3", ""),
    "too long": ("1+" * 200 + r"\ldots+2", ""),
}


@pytest.mark.parametrize(("text", "value"), SUMS.values(), ids=SUMS)
def test_an_ellipsis_stands_for_the_terms_of_one_pattern(text, value):
    assert finite_sum(text) == value
