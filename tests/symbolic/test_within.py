"""Two sets within the domain that a question gives."""

import pytest

from reward_functions.symbolic.compare.within import equal_within


@pytest.mark.parametrize(
    ("reference", "candidate", "domain", "same"),
    [
        ("x>1", r"x\ge2", r"x\in\mathbb{Z}", True),
        ("1,2", "x=1,2", "0<x<3", True),
        ("x<2", "0<x<2", "0<x<3", True),
        ("x<1", "0<x<2", "0<x<3", False),
        # The domain bounds no letter of theirs, or one of the three is not understood.
        ("x>1", "x>1", "y", False),
        ("x>1", "x>1", "0<y<3", False),
        ("x>1", "x>1", "x+y", False),
        ("a,b", "x>1", "0<x<3", False),
        ("x>1", "((((", "0<x<3", False),
        (r"x\in\mathbb{Q}", "x>1", "0<x<3", False),
        ("x<0", "x<-1", "0<x<1", False),
        (r"x>\frac10", "x>1", "0<x<3", False),
        ("x>1", "x>1", "(" * 5000, False),
    ],
)
def test_sets_are_compared_within_a_domain(reference, candidate, domain, same):
    assert equal_within(reference, candidate, domain) is same
