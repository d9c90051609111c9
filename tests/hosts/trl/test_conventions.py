"""An audit calls TRL's own rewards as TRL does."""

from reward_functions.audit.targets import audit_target
from reward_functions.core.types import Scored, sample

ROWS = [
    sample("<think>\nAdd them.\n</think>\nIt is 4.", "4", prompt="2 + 2?", id="a"),
    sample("It is 4.", "4", prompt="2 + 2?", id="b"),
]


def values(results):
    return [each.score.value if isinstance(each, Scored) else None for each in results]


def test_a_reward_of_conversations_is_given_messages():
    target = audit_target("trl.rewards:think_format_reward", seconds=60)
    assert values(target.score(ROWS)) == [1.0, 0.0]
    assert target.convention == "TRL: completions as messages"
    assert target.probe(ROWS) == []
    target.close()


def test_an_object_that_counts_tokens_is_given_ids():
    from trl.rewards import get_soft_overlong_punishment

    target = audit_target(get_soft_overlong_punishment(max_completion_len=4, soft_punish_cache=2))
    assert target.convention == "TRL: completions as texts, its token ids are words"
    assert values(target.score(ROWS)) == [-1.0, -0.5]
