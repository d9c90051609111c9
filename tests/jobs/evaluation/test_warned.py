"""What a reader of an evaluation must not overlook."""

from types import SimpleNamespace

from reward_functions.jobs.evaluation.evaluation import warned

NOTHING = SimpleNamespace(
    warnings=(),
    repeated=0,
    unread=0,
    left_out=0,
    needed=None,
    reasoning_effort=None,
    difference=SimpleNamespace(prompts=1_000, width=0.1, holds_zero=False),
)


def test_the_three_commonest_errors_are_said_and_no_more():
    errors = {f"error {number}": number for number in (4, 3, 2, 1)}
    found = warned(NOTHING, NOTHING, NOTHING, NOTHING, errors=errors, groups_left_out=0)
    assert [each.split(": ")[1] for each in found] == ["error 4", "error 3", "error 2"]
