"""What a person sees of a run while it goes on."""

from reward_functions.cli.rollouts._watching import Course
from reward_functions.rollouts.drive.records import RolloutRecord, Setup

SETUP = Setup(data="d", n=1, agent="a")


def record(status, *rewards):
    named = {"row": 1, "id": "a", "sample": 0, "rollout": "r", "setup": SETUP}
    return RolloutRecord(status=status, rewards=rewards, **named)


def test_a_course_in_a_few_words():
    seconds = iter([0.0, 4.0])
    course = Course(clock=lambda: next(seconds))
    for each in (record("rewarded", 1.0), record("rewarded", 0.5), record("lost")):
        course.add(each)
    assert course.words == "0.8/s · mean reward 0.750 · lost 1"
