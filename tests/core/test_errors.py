"""Why no judge's model could be asked: what a retry may cure, and what nobody pays for."""

import pytest

from reward_functions.core.errors import JudgeUnavailable

KINDS = [
    # kind, whether a retry may help, whether no provider charges for it
    ("throttled", True, True),
    ("busy", True, False),
    ("timeout", True, False),
    ("unreachable", True, False),
    ("denied", False, True),
    ("unrecorded", False, True),
    ("deadline", False, True),
    ("budget", False, True),
]


@pytest.mark.parametrize(("kind", "transient", "unbilled"), KINDS)
def test_the_kind_says_whether_a_retry_helps_and_who_pays(kind, transient, unbilled):
    error = JudgeUnavailable("m", kind)
    assert (error.transient, error.unbilled) == (transient, unbilled)
    assert not JudgeUnavailable("m", kind, final=True).transient
    assert JudgeUnavailable("m", kind, unbilled=True).unbilled
