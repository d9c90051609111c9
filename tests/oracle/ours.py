"""What `math` says to a case, in one word."""

from reward_functions import BadReference, get, symbolic

RIGHT, WRONG, UNDECIDED, UNSCORED, CRASH = "right", "wrong", "undecided", "unscored", "crash"


def answered(sample):
    """Its verdict on a sample; `undecided` and `unscored` are never right, nor is a crash."""
    try:
        score = get("math")(sample)
    except BadReference:
        return UNSCORED
    except Exception:  # noqa: BLE001 - a crash is a finding of the benchmark, not its end
        return CRASH
    if score.value == 1.0:
        return RIGHT
    undecided = any(metric.value for metric in score.metrics if metric.name == "undecided")
    return UNDECIDED if undecided else WRONG


def agrees(case, answer):
    """Whether a verdict is the one of the label; cases that only need to finish agree always."""
    if answer in (UNSCORED, CRASH):
        return not case.judged and answer != CRASH
    return not case.judged or (answer == RIGHT) == case.right


def warmed():
    """Start what `math` starts late, as a Lambda does before its first batch."""
    symbolic.warm()
