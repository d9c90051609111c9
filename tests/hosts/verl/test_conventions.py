"""An audit calls verl's own rewards as verl does."""

from reward_functions.audit.targets import audit_target
from reward_functions.core.types import Scored, sample

ROWS = [
    sample("2 + 2 = 4\n#### 4", "4", prompt="2 + 2?", id="a", data_source="openai/gsm8k"),
    sample("2 + 2 = 5\n#### 5", "4", prompt="2 + 2?", id="b", data_source="openai/gsm8k"),
]


def values(results):
    return [each.score.value if isinstance(each, Scored) else None for each in results]


def test_the_default_reward_is_given_the_four_arguments():
    target = audit_target("verl.utils.reward_score:default_compute_score", seconds=60)
    assert values(target.score(ROWS)) == [1.0, 0.0]
    assert target.convention == "verl"
    assert target.probe(ROWS) == []
    target.close()


def test_a_reward_with_two_of_them_is_called_and_what_verl_would_do_is_stated():
    target = audit_target("verl.utils.reward_score.gsm8k:compute_score", seconds=60)
    assert values(target.score(ROWS)) == [1.0, 0.0]
    assert target.probe(ROWS) == [
        "verl passes data_source, extra_info too, and it takes no **kwargs"
    ]
    target.close()
