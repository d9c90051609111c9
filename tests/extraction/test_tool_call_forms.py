"""The calls that a text ends with; `tests/rollouts/record` has an example of every form."""

import pytest

from reward_functions.extraction.tool_call_forms import LONGEST, text_tool_calls

CALL = '<tool_call>{"name": "paint", "arguments": {"door": 1}}</tool_call>'

DEEPSEEK = "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
LLAMA = '<|python_tag|>{"name": "paint", "parameters": {}}'
QWEN = "<tool_call><function=paint>{}</function></tool_call>"
PARAMETER = "<parameter=door>1</parameter>"
FENCED = 'function<｜tool▁sep｜>paint\n```json\n{"door": 1}\n'

CALLED = [
    # the text, the tools that were offered, the text before the calls, their names
    (CALL, None, "", ["paint"]),
    (CALL, ["paint", "open"], "", ["paint"]),
    (f"I paint it.\n{CALL}", None, "I paint it.", ["paint"]),
    (f"I paint both.\n{CALL}\n{CALL}", None, "I paint both.", ["paint", "paint"]),
    (LLAMA + '; {"name": "open", "parameters": {}}', None, "", ["paint", "open"]),
    (DEEPSEEK.format(FENCED + "```"), None, "", ["paint"]),
    (QWEN.format(PARAMETER), None, "", ["paint"]),
    ('<tool_call>{"name": "paint", "arguments": "{}"}</tool_call>', None, "", ["paint"]),
    (f"<think>Which one?</think>\n{CALL}", None, "<think>Which one?</think>", ["paint"]),
]

NOT_CALLED = [
    ("", None),
    ("I paint it.", None),
    ("{ is a brace", None),
    (CALL, ["open"]),
    (CALL, []),
    (f"{CALL}\nDone.", None),
    (f"<think>\n{CALL}", None),
    (CALL[:-20], None),
    (" " * (LONGEST + 1) + CALL, None),
    (f"{LLAMA} and", None),
    (f"{LLAMA};", None),
    (DEEPSEEK.format(FENCED), None),
    (DEEPSEEK.format(FENCED + "```") + " and", None),
    (QWEN.format(PARAMETER * 2), None),
    ("<tool_call><function=paint</tool_call>", None),
    ("<tool_call>paint<arg_key>door</arg_key><arg_value>1</tool_call>", None),
    ("<tool_call>[1]</tool_call>", None),
    ("[TOOL_CALLS][1]", None),
    ('<tool_call>{"name": "paint", "arguments": "{} and"}</tool_call>', None),
    ('<tool_call>{"name": "paint", "arguments": [1]}</tool_call>', None),
    (f"I write <tool_call> and then\n{CALL[:-14]}", None),
]


@pytest.mark.parametrize(("text", "offered", "before", "names"), CALLED)
def test_calls_are_read_from_the_end_of_a_text(text, offered, before, names):
    rest, calls = text_tool_calls(text, offered)
    assert (rest, [call.name for call in calls]) == (before, names)


@pytest.mark.parametrize(("text", "offered"), NOT_CALLED)
def test_a_text_without_calls_stays_as_it_is(text, offered):
    assert text_tool_calls(text, offered) == (text, [])
