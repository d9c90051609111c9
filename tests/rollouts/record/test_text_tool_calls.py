"""Tool calls that a policy wrote as text: each form, and what is an example of one."""

import json

import pytest

from reward_functions.rollouts.record.text_tool_calls import recovered
from tests.growth import assert_linear
from tests.rollouts.record.conftest import TOOLS

ONE = [("calc", {"q": 1})]
JSON = '{"name": "calc", "arguments": {"q": 1}}'
DEEPSEEK = "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
QWEN_CODER = """<tool_call>
<function=calc>
<parameter=q>
1
</parameter>
<parameter=s>
a b
</parameter>
</function>
</tool_call>"""
GLM = """<tool_call>calc
<arg_key>q</arg_key>
<arg_value>1</arg_value>
<arg_key>s</arg_key><arg_value>a b</arg_value>
</tool_call>"""
RM = '{"name": "rm", "arguments": {}}'
HERMES = f"<tool_call>{JSON}</tool_call>"
CUT = "<tool_call>\n<function=calc>\n<parameter=s>\nfor example:"
FORMS = {
    # name: (text, calls, what is left of the content)
    "hermes": (f"<tool_call>\n{JSON}\n</tool_call>", ONE, None),
    "hermes, prose before": (f"Let me see.\n<tool_call>{JSON}</tool_call>\n", ONE, "Let me see."),
    "hermes, two": (f"<tool_call>{JSON}</tool_call>\n<tool_call>{JSON}</tool_call>", ONE * 2, None),
    "hermes, no end": (f"<tool_call>{JSON}", ONE, None),
    "hermes, arguments as a string": (
        '<tool_call>{"name": "calc", "arguments": "{\\"q\\": 1}"}</tool_call>',
        ONE,
        None,
    ),
    "qwen3-coder": (
        QWEN_CODER,
        [("calc", {"q": 1, "s": "a b"})],
        None,
    ),
    "glm": (
        GLM,
        [("calc", {"q": 1, "s": "a b"})],
        None,
    ),
    "mistral v3": (f"[TOOL_CALLS] [{JSON}, {JSON}]", ONE * 2, None),
    "mistral v11": ('[TOOL_CALLS]calc[ARGS]{"q": 1}', ONE, None),
    "mistral v13": ('Hm.\n[TOOL_CALLS]calc{"q": 1}[TOOL_CALLS]calc{"q": 1}', ONE * 2, "Hm."),
    "llama": ('<|python_tag|>{"name": "calc", "parameters": {"q": 1}}', ONE, None),
    "llama, two": (f"<|python_tag|>{JSON}; {JSON}", ONE * 2, None),
    "deepseek v3": (
        DEEPSEEK.format('function<｜tool▁sep｜>calc\n```json\n{"q": 1}\n```'),
        ONE,
        None,
    ),
    "deepseek v3.1": (DEEPSEEK.format('calc<｜tool▁sep｜>{"q": 1}'), ONE, None),
    "json": ('{"name": "calc", "parameters": {"q": 1}}', ONE, None),
    "json list": (f" [{JSON},\n{JSON}] ", ONE * 2, None),
    "fence": (f"```json\n{JSON}\n```", ONE, None),
    "fence without a language": (f"```\n{JSON}\n```\n", ONE, None),
    "behind an example": (
        f"Not this:\n{HERMES}\nbut:\n{HERMES}",
        ONE,
        f"Not this:\n{HERMES}\nbut:",
    ),
    "behind a fence": (f"```\na\n```\n{HERMES}", ONE, "```\na\n```"),
    "behind a marker in a sentence": (f"By <tool_call>:\n{HERMES}", ONE, "By <tool_call>:"),
    "a value that holds a call": (
        f"{CUT}\n{HERMES}\n</parameter></function></tool_call>",
        [("calc", {"s": f"for example:\n{HERMES}"})],
        None,
    ),
    "behind reasoning": (f"<think>\nshall I?</think>\n{JSON}", ONE, "<think>\nshall I?</think>"),
    "behind reasoning, on its line": (
        f"I think.</think><tool_call>{JSON}</tool_call>",
        ONE,
        "I think.</think>",
    ),
}

TEXT = {
    "in reasoning": f"<think>\n<tool_call>{JSON}</tool_call>\n</think>\nNo tool.",
    "in reasoning that does not end": f"<think>\n<tool_call>{JSON}</tool_call>",
    "in a sentence": f"You write <tool_call>{JSON}</tool_call>",
    "in backticks": f"Like this:\n`<tool_call>{JSON}</tool_call>`",
    "in a fence": f"Like this:\n```\n<tool_call>{JSON}</tool_call>\n```",
    "before prose": f"<tool_call>{JSON}</tool_call>\nis how one calls it.",
    "fence behind prose": f"For example:\n```json\n{JSON}\n```",
    "json before prose": f"{JSON} is a call",
    "not offered": '{"name": "rm", "arguments": {}}',
    "one of two not offered": f'[{JSON}, {{"name": "rm", "arguments": {{}}}}]',
    "no arguments": '{"name": "calc"}',
    "arguments that are no object": '{"name": "calc", "arguments": [1]}',
    "a name twice": '{"name": "rm", "name": "calc", "arguments": {}}',
    "NaN": '{"name": "calc", "arguments": {"q": NaN}}',
    "an infinity": '{"name": "calc", "arguments": {"q": 1e999}}',
    "torn": '<tool_call>{"name": "calc", "arguments": {"q',
    "JSON of another kind": '{"answer": 42}',
    "an empty list": "[]",
    "one of two not offered, each marked": f"<tool_call>{RM}</tool_call>\n{HERMES}",
    "behind one that is broken": f"<tool_call>{{torn</tool_call>\n<tool_call>{JSON}</tool_call>",
    "two forms": f"<tool_call>{JSON}</tool_call>\n[TOOL_CALLS][{JSON}]",
    "two forms, the first without an end": f"[TOOL_CALLS][{JSON}]\n<tool_call>{JSON}</tool_call>",
    "in a value that was cut": f"{CUT}\n<tool_call>{JSON}</tool_call>",
    "in a value that was cut, another form": f"{CUT}\n[TOOL_CALLS][{JSON}]",
    "in a value that was cut, behind another": f"{CUT}\n{HERMES}\nsee\n{HERMES}",
    "in a value of GLM's that was cut": f"{GLM.partition('a b')[0]}\n{HERMES}",
    "in a fence that does not end": f"Like this:\n```\n{HERMES}",
    "in the second fence": f"```\na\n```\nand\n```xml\n\n{HERMES}\n",
    "arguments as a string, with more behind": '{"name": "calc", "arguments": "{} rm"}',
    "an argument twice": QWEN_CODER.replace("=s>", "=q>"),
    "an argument twice, of GLM": GLM.replace(">s<", ">q<"),
    "the tool's definition": '{"name": "calc", "description": "d", "parameters": {"q": {}}}',
    "the tool's schema": '{"name": "calc", "parameters": {"type": "object", "properties": {}}}',
    "a list in the list": f"[[{JSON}]]",
    "a name that is none": '{"name": null, "arguments": {}}',
    "a number of 5,000 digits": f'{{"name": "calc", "arguments": {{"q": {"9" * 5_000}}}}}',
    "levels without end": f'{{"name": "calc", "arguments": {{"q": {"[" * 50_000}{"]" * 50_000}}}}}',
    "nothing": "",
    "no text": None,
}


def functions(message):
    return [
        (each["function"]["name"], json.loads(each["function"]["arguments"]))
        for each in message["tool_calls"]
    ]


@pytest.mark.parametrize("form", FORMS)
def test_a_call_in_each_form_is_recovered(form):
    text, calls, left = FORMS[form]
    given = {"role": "assistant", "content": text}
    found = recovered(given, TOOLS)
    assert functions(found) == calls
    assert found["content"] == left
    assert given == {"role": "assistant", "content": text}
    ids = [each["id"] for each in found["tool_calls"]]
    assert len(set(ids)) == len(ids)
    assert found == recovered(given, ["calc"])


@pytest.mark.parametrize("form", FORMS)
def test_content_in_parts_is_read_as_its_text(form):
    text, calls, _ = FORMS[form]
    parts = [{"type": "text", "text": text[:9]}, {"type": "text", "text": text[9:]}]
    assert functions(recovered({"content": parts}, TOOLS)) == calls


@pytest.mark.parametrize("example", TEXT)
def test_what_is_no_call_stays_text(example):
    assert recovered({"role": "assistant", "content": TEXT[example]}, TOOLS) is None


@pytest.mark.parametrize("form", FORMS)
def test_nothing_is_recovered_beside_real_calls_or_without_tools(form):
    text = FORMS[form][0]
    assert recovered({"content": text, "tool_calls": [{}]}, TOOLS) is None
    assert recovered({"content": text}, []) is None


@pytest.mark.parametrize("argument", ['"\\ud800"', '{"\\udfff": 1}', '["a\\uD83D"]'])
def test_half_a_surrogate_pair_stays_an_escape_that_any_client_can_send(argument):
    text = f'{{"name": "calc", "arguments": {{"q": {argument}}}}}'
    (call,) = recovered({"content": text}, TOOLS)["tool_calls"]
    arguments = call["function"]["arguments"]
    assert arguments.isascii()
    assert json.loads(arguments) == {"q": json.loads(argument)}


PUMPED = [
    *("<tool_call>", "\n<tool_call>", '\n<tool_call>{"a":"', "[TOOL_CALLS]", "\n[TOOL_CALLS]["),
    *("<|python_tag|>{", "\n<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>", "<think>", "</think>"),
    *("[", '{"a":', "```json\n", "\n ", "\n<tool_call>calc<arg_key>a", f"\n<tool_call>{JSON}x"),
    *(
        f"<|python_tag|>{JSON};",
        f"[TOOL_CALLS][{JSON}]",
        "\n<tool_call><function=calc><parameter=a>",
    ),
]


@pytest.mark.parametrize("piece", PUMPED)
def test_200_kb_of_anything_are_read_at_once(piece):
    """A reader that looked at the rest of the text from each marker would take minutes."""

    def read(size):
        assert recovered({"content": piece * (size // len(piece))}, TOOLS) is None

    assert_linear(read, 50_000, 200_000)
