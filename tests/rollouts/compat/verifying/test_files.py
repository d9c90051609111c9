"""A reward function in a file: the user's own code, in a process of its own."""

import pytest

from reward_functions.rollouts.compat.nova_forge import verify_reward_function
from reward_functions.rollouts.compat.verifying import CallFailed, ask_file

SAMPLES = [{"id": "s1", "messages": [{"role": "user", "content": "q"}], "reference_answer": "a"}]

NEIGHBOURS = """
from dataclasses import dataclass
from pathlib import Path

from neighbour import SCORE


@dataclass
class Output:
    score: "float"


def lambda_handler(event, context):
    print("what is printed is no part of the answer")
    assert Path(__file__).name == "reward.py" and context == {}
    return [{"id": each["id"], "aggregate_reward_score": Output(SCORE).score} for each in event]
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "neighbour.py").write_text("SCORE = 0.5\n")

    def written(code):
        path = tmp_path / "reward.py"
        path.write_text(code)
        return path

    return written


def test_a_file_is_called_strictly_with_its_neighbours(file):
    result = verify_reward_function(str(file(NEIGHBOURS)), SAMPLES, strict=True)
    assert result["results"][0]["output"] == {"id": "s1", "aggregate_reward_score": 0.5}


HANDLER = "def lambda_handler(event, context):\n    "
FAILING = [
    ("x = 1", "'lambda_handler'"),
    ("import nothing_of_this_name", "Failed to load Python file"),
    ("def (", "Failed to load Python file"),
    (HANDLER + "raise KeyError('reference')", "Handler execution failed: 'reference'"),
    (HANDLER + "raise RuntimeError", "Handler execution failed: RuntimeError"),
    (HANDLER + "return {1, 2}", "is no JSON"),
    (HANDLER + "import os; os._exit(3)", "its process ended with 3"),
    (HANDLER + "raise SystemExit(4)", "its process ended with 4"),
]


@pytest.mark.parametrize(("code", "words"), FAILING, ids=[row[0][-30:] for row in FAILING])
def test_a_file_that_fails_is_a_value_error_that_says_how(file, code, words):
    with pytest.raises(ValueError, match="verification failed") as failure:
        verify_reward_function(str(file(code)), SAMPLES)
    assert words in str(failure.value)


def test_a_file_that_is_not_there_is_a_value_error_that_names_it(tmp_path):
    with pytest.raises(ValueError, match=r"Python file not found: .*absent\.py"):
        verify_reward_function(str(tmp_path / "absent.py"), SAMPLES)


def test_a_file_that_never_ends_is_killed(file):
    with pytest.raises(CallFailed, match="no answer in"):
        ask_file(file("while True: pass"), SAMPLES, seconds=0.5)


def test_an_order_that_follows_from_hashes_fails_strictly(file):
    code = HANDLER + (
        "names = [*{f'{each}' for each in range(64)}]\n"
        "    metrics = [{'name': each, 'value': 1, 'type': 'Metric'} for each in names]\n"
        "    return [{'id': 's1', 'aggregate_reward_score': 1, 'metrics_list': metrics}]"
    )
    with pytest.raises(ValueError, match="a second call answers otherwise"):
        verify_reward_function(str(file(code)), SAMPLES, strict=True)
