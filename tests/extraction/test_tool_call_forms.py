"""The calls that a text ends with; `tests/rollouts/record` has an example of every form."""

import pytest

from reward_functions.extraction.tool_call_forms import LONGEST, text_tool_calls

CALL = '<tool_call>{"name": "paint", "arguments": {"door": 1}}</tool_call>'

CALLED = [
    # the text, the tools that were offered, the text before the calls, their names
    (CALL, None, "", ["paint"]),
    (CALL, ["paint", "open"], "", ["paint"]),
    (f"I paint it.\n{CALL}", None, "I paint it.", ["paint"]),
    (f"I paint both.\n{CALL}\n{CALL}", None, "I paint both.", ["paint", "paint"]),
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
    (f"I write <tool_call> and then\n{CALL[:-14]}", None),
]


@pytest.mark.parametrize(("text", "offered", "before", "names"), CALLED)
def test_calls_are_read_from_the_end_of_a_text(text, offered, before, names):
    rest, calls = text_tool_calls(text, offered)
    assert (rest, [call.name for call in calls]) == (before, names)


@pytest.mark.parametrize(("text", "offered"), NOT_CALLED)
def test_a_text_without_calls_stays_as_it_is(text, offered):
    assert text_tool_calls(text, offered) == (text, [])
