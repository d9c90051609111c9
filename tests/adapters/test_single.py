"""What adapters of hosts with rows of their own share: places, parts of messages, refusals."""

import subprocess
import sys
from dataclasses import dataclass
from types import SimpleNamespace as Fields

import pytest

from reward_functions.adapters import _single, ms_swift, openrlhf, rllm, verifiers
from reward_functions.core.errors import BadParameter, BadSample, ConfigurationError, NoJudge
from reward_functions.core.types import Message

ONE_AT_A_TIME = [
    verifiers.reward_func,
    openrlhf.reward_function,
    openrlhf.last_step,
    rllm.evaluator,
]


@pytest.mark.parametrize("make", [*ONE_AT_A_TIME, ms_swift.reward_class])
def test_what_cannot_be_bound_is_refused_before_anything_is_scored(make):
    with pytest.raises(ConfigurationError, match="Did you mean 'math'"):
        make("mth")
    with pytest.raises(BadParameter, match=r"has no parameter 'roundd'. Did you mean 'rounded'"):
        make("math", roundd=2)
    with pytest.raises(NoJudge, match="asks a judge model"):
        make("reference")


@pytest.mark.parametrize("make", ONE_AT_A_TIME)
def test_a_reward_of_a_group_needs_a_host_that_shows_groups(make):
    from reward_functions import Needs, Sample, Score, reward_function

    @reward_function(version=1, needs=Needs(group=True))
    def first(sample: Sample, group: list[Sample]) -> Score:
        """Whether a response is the first of its group."""
        return Score(float(sample is group[0]))

    with pytest.raises(ConfigurationError, match="first compares the responses to one prompt"):
        make(first)


@pytest.mark.parametrize("module", [verifiers, rllm, ms_swift])
def test_a_registered_reward_is_an_attribute_for_hosts_that_import_by_name(module):
    assert module.gsm8k.__qualname__ == "gsm8k"
    assert not hasattr(module, "__path__")
    with pytest.raises(ConfigurationError, match="Did you mean 'gsm8k'"):
        module.gsm8  # noqa: B018 - asking is the test


@dataclass
class Row:
    answer: str = "42"
    info: object = None


@pytest.mark.parametrize(
    ("row", "path", "found"),
    [
        ({"answer": "42"}, None, "42"),
        (Row(), None, "42"),
        ({"solution": "1", "reference_answer": "2"}, None, "2"),
        ({"answer": None, "ground_truth": "7"}, None, "7"),
        ({"info": {"gold": 7}}, "info.gold", 7),
        (Row(info={"gold": [1]}), "info.gold", [1]),
        (Fields(info=Fields(gold="7")), "info.gold", "7"),
        ({"answer": 0}, None, 0),
        ({"gold": None}, "gold", None),
        (Fields(solution=print, ground_truth="no method"), None, "no method"),
    ],
)
def test_a_reference_is_found_in_rows_of_any_kind(row, path, found):
    assert _single.reference_in(row, path) == (found, None)


@pytest.mark.parametrize(
    ("row", "path"),
    [
        ({"question": "?"}, "answer"),
        ({"info": "text"}, "info.gold"),
        ({"info": "text"}, "info.title"),
        (Row(), "__class__"),
        (Row(), "info.__class__"),
        (Row(), "answer._private"),
        ({"a": 1}, ""),
    ],
)
def test_a_path_that_leads_nowhere_names_the_fields_there_are(row, path):
    with pytest.raises(BadSample, match=r"there is no field .*; the fields are"):
        _single.reference_in(row, path)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        (None, ""),
        ([], ""),
        (["a", {"type": "text", "text": "b"}], "a\nb"),
        ([{"type": "thinking", "text": "hm"}, {"type": "text", "text": "b"}], "b"),
        ([Fields(type="reasoning", reasoning="hm"), Fields(type="text", text="b")], "b"),
        ([{"type": "image_url", "image_url": {"url": "…"}}, {"type": "text", "text": "b"}], "b"),
        ({"type": "text", "text": "b"}, "b"),
        ([{"text": "b"}], "b"),
        ([{"type": "text", "text": None}], ""),
    ],
)
def test_the_text_of_a_message_is_its_parts_without_reasoning(content, text):
    assert _single.text_of(content) == text


@pytest.mark.parametrize("content", [7, [7], {"answer": 7}, [["nested"]]])
def test_content_of_another_kind_is_the_rows_fault(content):
    with pytest.raises(BadSample, match="not text"):
        _single.text_of(content)


@pytest.mark.parametrize("prompt", [7, {"role": "user"}, [{"content": "x"}], ["text"]])
def test_a_prompt_of_another_kind_is_the_rows_fault(prompt):
    with pytest.raises(BadSample, match="prompt"):
        _single.messages_of(prompt)


def test_the_context_ends_before_the_last_turn_of_the_policy():
    said = [Message(role=role, content=role) for role in ("user", "assistant", "tool", "assistant")]
    assert _single.before_the_response(tuple(said)) == tuple(said[:3])
    assert _single.before_the_response((said[0],)) == (said[0],)


def test_adapters_load_neither_their_hosts_nor_anything_heavy():
    code = (
        "import sys\n"
        "from reward_functions.adapters import "
        "inspect_ai, ms_swift, openenv, openrlhf, rllm, verifiers\n"
        "heavy = {'sympy', 'pydantic', 'boto3', 'torch', 'openenv', 'inspect_ai', 'rich'}\n"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    ran = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_the_tests_of_hosts_run_without_the_hosts():
    assert not {"torch", "verifiers", "inspect_ai", "rllm", "openenv"} & sys.modules.keys()
