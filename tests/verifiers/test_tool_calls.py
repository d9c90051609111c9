"""`tool_calls`: which calls are the wanted ones, and what earns nothing."""

import json
import os
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reward_functions import get, sample, score_batch
from reward_functions.core.errors import BadReference, ConfigurationError
from reward_functions.core.types import FunctionCall, Message, Sample, Scored
from reward_functions.extraction.called_tools import begins_call
from reward_functions.serving.contract import decode_row
from tests.growth import assert_linear

REWARD = get("tool_calls")

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer", "default": 3},
        "where": {"type": "object", "properties": {"zip": {"default": "0"}}},
        "stops": {"type": "array", "items": {"properties": {"note": {"default": None}}}},
    },
    "required": ["city"],
}
TOOLS = [{"type": "function", "function": {"name": "f", "description": "F", "parameters": SCHEMA}}]


def called(*calls, text="", tools=None, prompt="?"):
    """A sample whose calls stand beside its text: (name, arguments) each."""
    written = tuple(
        FunctionCall(name, given if isinstance(given, str) else json.dumps(given))
        for name, given in calls
    )
    turns = (Message("user", prompt), Message("assistant", text, written))
    return Sample(id="a", messages=turns, metadata={"tools": tools} if tools else {})


def wanted(*calls):
    return [{"name": name, "arguments": given} for name, given in calls]


def paid(one, reference, **parameters):
    return REWARD(replace(one, reference=reference), **parameters).value


def with_argument(value, gold, **parameters):
    return paid(called(("f", {"x": value})), wanted(("f", {"x": gold})), **parameters)


# The cases of families.md 4, measured there beside BFCL's checker and rLLM's.
BFCL_PAID_RLLM_PAID_OURS = [
    ("3.0 for 3", called(("f", {"x": 3.0})), wanted(("f", {"x": 3})), {}, 1.0),
    ("true for 1", called(("f", {"x": True})), wanted(("f", {"x": 1})), {}, 0.0),
    ("3.14 for 314", called(("f", {"x": "3.14"})), wanted(("f", {"x": "314"})), {}, 0.0),
    ("a_b for ab", called(("f", {"x": "a_b"})), wanted(("f", {"x": "ab"})), {}, 0.0),
    ("Ab for ab", called(("f", {"x": "Ab"})), wanted(("f", {"x": "ab"})), {}, 0.0),
    ("… by option", called(("f", {"x": "Ab"})), wanted(("f", {"x": "ab"})), {"case": False}, 1.0),
    (
        "an optional one left out, by the schema's default",
        called(("f", {"city": "Bern"}), tools=TOOLS),
        wanted(("f", {"city": "Bern", "days": 3})),
        {},
        1.0,
    ),
    (
        "… with another value than the default",
        called(("f", {"city": "Bern"}), tools=TOOLS),
        wanted(("f", {"city": "Bern", "days": 4})),
        {},
        0.0,
    ),
    (
        "… by the reference",
        called(("f", {})),
        wanted(("f", {"x": {"any_of": [1], "optional": True}})),
        {},
        1.0,
    ),
    ("… without a schema", called(("f", {})), wanted(("f", {"x": 3})), {}, 0.0),
    ("alternatives", called(("f", {"x": 2})), wanted(("f", {"x": {"any_of": [1, 2]}})), {}, 1.0),
    ("none of them", called(("f", {"x": 3})), wanted(("f", {"x": {"any_of": [1, 2]}})), {}, 0.0),
    ("gold without arguments", called(("f", {"x": 1})), wanted(("f", {})), {}, 0.0),
    (
        "100 calls, one right",
        called(*[("f", {"x": at}) for at in range(100)]),
        wanted(("f", {"x": 7})),
        {},
        0.0,
    ),
    (
        "one call for two equal golds",
        called(("f", {"x": 1})),
        wanted(("f", {"x": 1}), ("f", {"x": 1})),
        {},
        0.0,
    ),
    (
        "one call and another for two equal golds",
        called(("f", {"x": 1}), ("f", {"x": 2})),
        wanted(("f", {"x": 1}), ("f", {"x": 1})),
        {},
        0.0,
    ),
    ("0.1 + 0.2 for 0.3", called(("f", {"x": 0.1 + 0.2})), wanted(("f", {"x": 0.3})), {}, 1.0),
    ("another tool", called(("g", {"x": 1})), wanted(("f", {"x": 1})), {}, 0.0),
    ("a text where none is wanted", called(text="It is sunny."), [], {}, 1.0),
    ("a call where none is wanted", called(("f", {}), text="Well."), [], {}, 0.0),
]


@pytest.mark.parametrize(
    ("one", "reference", "parameters", "value"),
    [row[1:] for row in BFCL_PAID_RLLM_PAID_OURS],
    ids=[row[0] for row in BFCL_PAID_RLLM_PAID_OURS],
)
def test_the_cases_that_checkers_differ_in(one, reference, parameters, value):
    assert paid(one, reference, **parameters) == value


@pytest.mark.parametrize("reference", [None, "", "no calls", {}, 5, {"name": "f"}, [None], ["f"]])
def test_no_gold_at_all_is_the_data_sets_failure(reference):
    for response in ("", "x", '{"name": "f", "arguments": {}}'):
        with pytest.raises(BadReference):
            REWARD(sample(response, reference))


BAD = [
    [{"name": "f"}],
    [{"name": "f", "arguments": None}],
    [{"name": "f", "arguments": [1]}],
    [{"name": "", "arguments": {}}],
    [{"name": "f", "arguments": "{"}],
    [{"name": "f", "arguments": {"x": {"any_of": []}}}],
    [{"name": "f", "arguments": {"x": {"any_of": 5}}}],
    [{"name": "f", "arguments": {"x": [{"any_of": None}]}}],
    [{"name": "f", "arguments": {"x": {"any_of": [], "optional": False}}}],
    [{"name": "f", "arguments": '{"x": 1, "x": 2}'}],
    [{"name": "f", "arguments": '{"x": NaN}'}],
    [{"name": "f", "arguments": {}}] * 129,
    "[" * 5_000,
]


@pytest.mark.parametrize("reference", BAD, ids=range(len(BAD)))
def test_a_reference_that_cannot_be_read_is_one_sentence(reference):
    with pytest.raises(BadReference, match="reference") as error:
        REWARD(sample("x", reference))
    assert str(error.value).count(".") == 0


@pytest.mark.parametrize(
    "tools", ["x", [1], [{}], [{"name": None, "parameters": 1}], {"name": "f"}, "[" * 5_000, 7]
)
def test_tools_of_a_row_that_are_none(tools):
    one = Sample(id="a", messages=(), reference=wanted(("f", {})), metadata={"tools": tools})
    with pytest.raises(BadReference, match="tools"):
        REWARD(one)


def test_a_gold_of_a_tool_that_is_not_offered_is_the_data_sets_failure():
    with pytest.raises(BadReference, match="call 2 of the reference is of a tool"):
        paid(called(tools=TOOLS), wanted(("f", {}), ("g", {})))


NUMBERS = [
    ("3", "3.0", True),
    ("3", "3.0000000001", True),
    ("3", "3.00000001", False),
    ("0", "-0.0", True),
    ("0", "1e-300", False),
    ("1e2", "100", True),
    ("123456789012345678901234567890", "123456789012345678901234567891", False),
    ("123456789012345678901234567890", "1.2345678901234568e29", False),
    ("1000000000014", "1000000000014.9", False),
    ("1000000000014", "1000000000014.0", True),
    ("1000000000014.0", "1000000000014.9", True),
    ("1000000000014.9", "1000000000015", False),
    ("1267000000.0", "1267000001.0", False),
    ("6.02e23", "6.0200000000000005e23", True),
    ("1", "true", False),
    ("0", "false", False),
    ("0", "null", False),
    ("0", '""', False),
    ("1", '"1"', False),
    ("1", "[1]", False),
    ("9" * 3_999, "9" * 3_999, True),
    ("9" * 3_999, "9" * 3_998 + "8", False),
    ("1.5", "9" * 100_000, False),
    ("1e308", "1e307", False),
]


@pytest.mark.parametrize(("gold", "value", "same"), NUMBERS, ids=range(len(NUMBERS)))
def test_numbers(gold, value, same):
    reference = json.dumps([{"name": "f", "arguments": f'{{"x": {gold}}}'}])
    assert paid(called(("f", f'{{"x": {value}}}')), reference) == float(same)


SAME = [
    (None, None),
    ("café", "cafe\u0301"),
    ([1, [2, {"a": "b"}]], [1, [2.0, {"a": "b"}]]),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ("", ""),
    ([], []),
    ({}, {}),
]
OTHER = [
    (None, "null"),
    (None, 0),
    ([1, 2], [2, 1]),
    ([1], [1, 1]),
    ([], {}),
    ({}, None),
    ("", None),
    ("a", "a "),
    ("a", "a\u200b"),
    ({"a": 1}, {"a": 1, "b": 2}),
    ({"a": 1}, {}),
    ({"a": 1}, {"A": 1}),
    (True, 1),
    (False, None),
    ("x" * 300, "x" * 299 + "y"),
]


@pytest.mark.parametrize(("gold", "value"), SAME)
def test_the_same_value(gold, value):
    assert with_argument(value, gold) == 1.0


@pytest.mark.parametrize(("gold", "value"), OTHER)
def test_another_value(gold, value):
    assert with_argument(value, gold) == 0.0


def test_alternatives_stand_anywhere_in_a_value():
    gold = {"to": {"name": {"any_of": ["Rome", "Roma"]}, "zip": {"any_of": [], "optional": True}}}
    for name, value in (("Rome", 1.0), ("Roma", 1.0), ("Romo", 0.0)):
        assert with_argument({"to": {"name": name}}, gold) == value
    assert with_argument({"to": {"name": "Rome", "zip": 1}}, gold) == 0.0
    assert with_argument([2, 5], {"any_of": [[1, 5], [{"any_of": [2, 3]}, 5]]}) == 1.0
    assert with_argument({"any_of": [1]}, {"any_of": [1]}) == 0.0


DEFAULTS = [
    ({"city": "B"}, {"city": "B"}, 1.0),
    ({"city": "B", "days": 3}, {"city": "B"}, 1.0),
    ({"city": "B", "days": 3.0}, {"city": "B"}, 1.0),
    ({"city": "B", "days": 4}, {"city": "B"}, 0.0),
    ({"city": "B", "days": "3"}, {"city": "B"}, 0.0),
    ({"city": "B", "where": {}}, {"city": "B", "where": {"zip": "0"}}, 1.0),
    ({"city": "B", "where": {"zip": "0"}}, {"city": "B", "where": {}}, 1.0),
    ({"city": "B", "where": {"zip": "1"}}, {"city": "B", "where": {}}, 0.0),
    ({"city": "B", "stops": [{"note": None}]}, {"city": "B", "stops": [{}]}, 1.0),
    ({}, {"city": "B"}, 0.0),
    ({"city": "B", "": 1}, {"city": "B"}, 0.0),
    ({"city": "B", "?": 1}, {"city": "B"}, 0.0),
]


@pytest.mark.parametrize(("given_", "gold", "value"), DEFAULTS)
def test_an_argument_left_out_has_the_default_of_its_schema(given_, gold, value, tmp_path):
    reference = wanted(("f", gold))
    assert paid(called(("f", given_), tools=TOOLS), reference) == value
    assert paid(called(("f", given_), tools=json.dumps(TOOLS)), reference) == value
    assert paid(called(("f", given_)), {"tool_calls": reference, "tools": TOOLS}) == value
    file = tmp_path / "tools.json"
    file.write_text(json.dumps([TOOLS[0]["function"]]))
    assert paid(called(("f", given_)), reference, tools=str(file)) == value


def test_what_is_required_has_no_default():
    tools = [{"name": "f", "parameters": {"properties": {"x": {"default": 1}}, "required": ["x"]}}]
    assert paid(called(("f", {}), tools=tools), wanted(("f", {"x": 1}))) == 0.0
    assert paid(called(("f", {"x": 1}), tools=tools), wanted(("f", {}))) == 1.0
    assert paid(called(("f", {}), tools=tools), wanted(("f", {}))) == 1.0


def test_what_the_schema_requires_is_compared_alone():
    reference, other = wanted(("f", {"city": "B", "days": 5})), {"city": "B", "days": 9, "x": 1}
    assert paid(called(("f", other), tools=TOOLS), reference, arguments="required") == 1.0
    assert paid(called(("f", other), tools=TOOLS), reference) == 0.0
    assert paid(called(("f", {}), tools=TOOLS), reference, arguments="required") == 0.0
    with pytest.raises(BadReference, match="a tool that tools do not have"):
        paid(called(("f", other)), reference, arguments="required")
    bare = [{"name": "f", "parameters": {"properties": {}}}]
    with pytest.raises(BadReference, match="no list `required`"):
        paid(called(("f", other), tools=bare), reference, arguments="required")


@pytest.mark.parametrize("content", [None, "x", "{}", "[1]", "[" * 5_000, "null"])
def test_a_file_of_tools_that_is_none(tmp_path, content):
    file = tmp_path / "tools.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ConfigurationError, match="cannot be read"):
        REWARD.bind({"tools": str(file)})


def test_order():
    one, two = ("f", {"x": 1}), ("g", {"x": 2})
    for order, value in (("any", 1.0), ("given", 0.0)):
        assert paid(called(two, one), wanted(one, two), order=order) == value
        assert paid(called(one, two), wanted(one, two), order=order) == 1.0


def test_a_share_is_paid_for_the_tools_alone():
    gold = wanted(("f", {"x": 1}), ("g", {}))
    cases = [
        ([("f", {"x": 2}), ("g", {})], 0.2),
        ([("f", {"x": 2})], 0.1),
        ([("f", {"x": 1})] * 10, 0.02),
        ([("h", {})], 0.0),
        ([], 0.0),
        ([("f", "{")], 0.0),
    ]
    for calls, value in cases:
        assert paid(called(*calls), gold, share=True) == pytest.approx(value)
        assert paid(called(*calls), gold) == 0.0
    assert paid(called(("f", {})), [], share=True) == 0.0


def test_most_calls_are_matched_where_alternatives_overlap():
    gold = wanted(
        ("f", {"x": {"any_of": [1, 2]}}), ("f", {"x": {"any_of": [1, 3]}}), ("f", {"x": 1})
    )
    assert paid(called(("f", {"x": 1}), ("f", {"x": 3}), ("f", {"x": 2})), gold) == 1.0
    assert paid(called(("f", {"x": 3}), ("f", {"x": 3}), ("f", {"x": 2})), gold) == 0.0


JSON = '{"name": "f", "arguments": {"x": 1, "s": "a b"}}'
GOLD = wanted(("f", {"x": 1, "s": "a b"}))
FORMS = {
    "Hermes": f"<tool_call>\n{JSON}\n</tool_call>",
    "prose before": f"I look.\n<tool_call>{JSON}</tool_call>",
    "reasoning before": f"<think>or {JSON}?</think>\n<tool_call>{JSON}</tool_call>",
    "a marker behind": f"<tool_call>{JSON}</tool_call><|im_end|>",
    "Qwen3-Coder": "<tool_call>\n<function=f>\n<parameter=x>\n1\n</parameter>\n<parameter=s>\na b\n"
    "</parameter>\n</function>\n</tool_call>",
    "GLM": "<tool_call>f\n<arg_key>x</arg_key>\n<arg_value>1</arg_value>\n<arg_key>s</arg_key>\n"
    "<arg_value>a b</arg_value>\n</tool_call>",
    "Mistral": f"[TOOL_CALLS][{JSON}]",
    "Mistral 11": '[TOOL_CALLS]f[ARGS]{"x": 1, "s": "a b"}',
    "Llama": f"<|python_tag|>{JSON}",
    "DeepSeek": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>"
    '{"x": 1, "s": "a b"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    "JSON": JSON,
    "fenced": f"```json\n{JSON}\n```",
}


@pytest.mark.parametrize("response", FORMS.values(), ids=FORMS)
def test_a_call_in_the_text(response):
    assert REWARD(response, GOLD).value == 1.0
    assert REWARD(response, []).value == 0.0
    assert REWARD(response.replace("1", "2"), GOLD).value == 0.0


def test_a_text_of_a_form_without_quotes_may_look_like_a_number():
    def zips(value):
        return f"<tool_call>f\n<arg_key>x</arg_key>\n<arg_value>{value}</arg_value>\n</tool_call>"

    for value in ("8000", "true", "null", "08000", "Bern"):
        assert REWARD(zips(value), wanted(("f", {"x": value}))).value == 1.0
    assert REWARD(zips("8e3"), wanted(("f", {"x": "8000"}))).value == 0.0
    assert REWARD(zips("8000"), wanted(("f", {"x": 8000}))).value == 1.0
    assert with_argument(8000, "8000") == 0.0


def test_calls_beside_the_text_count_before_those_in_it():
    one = called(("f", {"x": 1, "s": "a b"}), text=FORMS["Hermes"])
    assert paid(one, GOLD) == 1.0
    assert paid(called(("f", {"x": 2}), text=FORMS["Hermes"]), GOLD) == 0.0


@pytest.mark.parametrize("arguments", ["", " ", "null", "{}"])
def test_a_call_without_arguments(arguments):
    assert paid(called(("f", arguments)), wanted(("f", {}))) == 1.0


def test_the_wire_of_bedrock():
    for arguments in ({"x": 1, "s": "a b"}, '{"x": 1, "s": "a b"}'):
        call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}
        turn = {"role": "assistant", "content": None, "tool_calls": [call]}
        row = {
            "id": "a",
            "messages": [{"role": "user", "content": "?"}, turn],
            "reference_answer": {"tool_calls": [call]},
        }
        assert REWARD(decode_row(row, 0)).value == 1.0
        row["reference_answer"] = {"text": json.dumps([call])}
        assert REWARD(decode_row(row, 0)).value == 1.0


NO_ANSWER = ["", " \n", "\u200b\u200d", "...", "👍", "<think>It is sunny.</think>", "<think>It is"]
BEGUN = [
    "<tool_call>",
    "<tool_call>{",
    "Well.\n  <tool_call>\nf(x=1)",
    "<function=f>",
    "<|python_tag|>f.call(x=1)",
    "<｜tool▁calls▁begin｜>f",
    "[TOOL_CALLS]f",
    '{"name": "f", "arguments": {"x": 1}',
    '```json\n{"name": "f", "parameters": {}}\n',
    '[{"name": "f", "arguments": ',
    "<|tool_calls_section_begin|>f",
    f"{JSON}\nThat is all.",
    f"I call it.\n{JSON}",
    f"I call it.\n  [{JSON}, ",
]


@pytest.mark.parametrize("response", [*NO_ANSWER, *BEGUN])
def test_no_call_is_wanted_and_none_is_answered(response):
    assert REWARD(response, []).value == 0.0
    assert REWARD(response, GOLD).value == 0.0


@pytest.mark.parametrize(
    "response",
    [
        "No.",
        "I have no tool for this.",
        "[1] is a source.",
        "```python\nx = 1\n```",
        "`<tool_call>`",
    ],
)
def test_an_answer_without_a_call(response):
    assert REWARD(response, []).value == 1.0
    assert not begins_call(response)


def test_a_prompt_that_is_copied_is_no_answer():
    prompt = "What is the weather in Bern, and why do you ask?"
    assert REWARD(prompt, [], prompt=prompt).value == 0.0


ATTACKS = [
    f"{FORMS['Hermes']}\n" * 100,
    f"{FORMS['Hermes']}\nor\n{FORMS['Hermes']}",
    f"{FORMS['Hermes']} or not",
    f"<think>{FORMS['Hermes']}",
    f"<think>{FORMS['Hermes']}</think>",
    f"`{JSON}`",
    f"For example: {JSON}",
    f"```\n{FORMS['Hermes']}\n```",
    JSON.replace('"x": 1', '"x": 1, "x": 2'),
    JSON.replace('"x": 1', '"x": 2, "x": 1'),
    JSON.replace('"x": 1', '"x": {"any_of": [0, 1]}'),
    JSON.replace('"x": 1', '"x": [1]'),
    JSON.replace('"x": 1', '"x": "1"'),
    JSON.replace('"x": 1', '"x": true'),
    JSON.replace('"x": 1', '"x": 1, "": 0'),
    JSON.replace('"x": 1', '"x": NaN'),
    JSON.replace('"x": 1', '"x": 1e999'),
    JSON.replace('"x": 1', '"x": 1.0001'),
    JSON.replace("a b", "a  b"),
    JSON.replace("a b", "A b"),
    JSON.replace("a b", "a b (or c)"),
    JSON.replace("a b", "a <think>x</think>b"),
    JSON.replace('"f"', '"F"'),
    JSON.replace('"f"', '"f "'),
    JSON.replace('"f"', '"f", "name": "g"'),
    JSON.replace("}}", '}, "arguments": {}}'),
    f"[{JSON}, {JSON}]",
    f'{JSON[:-1]}, "parameters": {{}}}}',
    JSON.replace('"arguments"', '"args"'),
    "f(x=1, s='a b')",
    json.dumps(JSON),
]


@pytest.mark.parametrize("response", ATTACKS, ids=range(len(ATTACKS)))
def test_attacks(response):
    expected = 1.0 if '"parameters": {}' in response else 0.0  # a key that says nothing
    assert REWARD(response, GOLD).value == expected


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(-1e9, 1e9)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
CALLS = st.lists(
    st.tuples(st.sampled_from("fgh"), st.dictionaries(st.text(max_size=4), VALUES, max_size=4)),
    min_size=1,
    max_size=5,
)


def marked(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (isinstance(value, dict) and "any_of" in value) or any(map(marked, inner))


@given(CALLS)
def test_the_gold_response_earns_all(calls):
    reference = wanted(*calls)
    if not marked(reference):
        assert paid(called(*calls), reference) == 1.0
    one = sample("", reference)
    assert REWARD(one.answered(REWARD.gold_response(one))).value == 1.0


@given(st.text(max_size=60), st.lists(st.tuples(st.text(max_size=5), st.text(max_size=20))))
def test_any_response_is_scored(text, calls):
    one = replace(called(*calls, text=text), reference=GOLD)
    (result,) = score_batch(REWARD.bind({"share": True}), [one])
    assert isinstance(result, Scored)
    assert result.score.value <= 0.2 or result.score.value == 1.0


WORDS = "Bern Rome Oslo Lima red blue north 3.14 314 a_b ab 007".split()


def drawn(random_):
    """A value of an argument: mostly long integers, their texts, and objects with them."""
    kinds = [
        lambda: random_.randrange(10 ** random_.randrange(8, 30)),
        lambda: random_.choice(WORDS),
        lambda: random_.uniform(-1e6, 1e6),
        lambda: random_.choice([True, False, None]),
        lambda: [drawn(random_) for _ in range(random_.randrange(1, 3))],
        lambda: {word: drawn(random_) for word in random_.sample(WORDS, random_.randrange(1, 3))},
    ]
    return random_.choice(kinds)()


def changed(random_, value):
    """Another value, near to the one that is given."""
    if isinstance(value, bool):
        return random_.choice([not value, int(value), None])
    if isinstance(value, int):
        return random_.choice([value + 1, value - 1, str(value), -value - 1])
    if isinstance(value, float):
        return random_.choice([value * (1 + 1e-7) + 1e-7, -value - 1, str(value)])
    if isinstance(value, str):
        return random_.choice([f"{value} ", f"{value}.", value.swapcase() + "x", value[:-1], None])
    if isinstance(value, list):
        at = random_.randrange(len(value))
        other = [*value[:at], changed(random_, value[at]), *value[at + 1 :]]
        return random_.choice([other, [*value, value[0]], value[1:], {"0": value}])
    if isinstance(value, dict):
        key = random_.choice([*value])
        without = {name: each for name, each in value.items() if name != key}
        return random_.choice(
            [value | {key: changed(random_, value[key])}, without, value | {"more": None}]
        )
    return random_.choice([0, False, "", "null"])


def mutated(random_, calls):
    """The calls with one change."""
    calls = [(name, dict(given_)) for name, given_ in calls]
    at = random_.randrange(len(calls))
    name, arguments = calls[at]
    key = random_.choice([*arguments])
    ways = {
        "value": lambda: arguments.update({key: changed(random_, arguments[key])}),
        "missing": lambda: arguments.pop(key),
        "more": lambda: arguments.update({f"{key}x": 1}),
        "name": lambda: calls.__setitem__(at, (f"{name}_", arguments)),
        "twice": lambda: calls.append(calls[at]),
        "dropped": lambda: calls.pop(at),
        "unreadable": lambda: calls.__setitem__(at, (name, json.dumps(arguments)[:-1])),
    }
    ways[random_.choice([*ways])]()
    return calls


def swapped(random_, calls):
    """The calls with a value exchanged between two of them; None where both have the same."""
    if len(calls) < 2:
        return None
    (name, first), (other, second) = calls[0], calls[1]
    for key in first.keys() & second.keys():
        if json.dumps(first[key]) != json.dumps(second[key]):
            rest = {k: v for k, v in first.items() if k != key}
            if name == other and rest == {k: v for k, v in second.items() if k != key}:
                continue  # the two calls are exchanged, and nothing else
            return [
                (name, first | {key: second[key]}),
                (other, second | {key: first[key]}),
                *calls[2:],
            ]
    return None


def call_sets(count, seed=38):
    """Bar of families.md 4: the gold earns 1 in any order, any one change earns 0."""
    random_ = random.Random(seed)
    for _ in range(count):
        calls = [
            (
                random_.choice(["find", "book"]),
                {
                    word: drawn(random_)
                    for word in random_.sample(WORDS[:6], random_.randrange(1, 4))
                },
            )
            for _ in range(random_.randrange(1, 6))
        ]
        reference = wanted(*calls)
        shuffled = random_.sample(calls, len(calls))
        assert paid(called(*shuffled), reference) == 1.0, calls
        for _ in range(3):
            one = mutated(random_, shuffled)
            assert paid(called(*one), reference) == 0.0, (calls, one)
        exchanged = swapped(random_, calls)
        if exchanged:
            assert paid(called(*exchanged), reference) == 0.0, (calls, exchanged)


def test_generated_call_sets():
    call_sets(2_000 if os.environ.get("REWARD_TESTS_NIGHTLY") else 200)


def test_neighbouring_integers_of_every_length():
    for digits in range(9, 31):
        gold = int("123456789" * 4) % 10**digits
        assert with_argument(gold, gold) == 1.0
        for other in (gold + 1, gold - 1, -gold, gold * 10):
            assert with_argument(other, gold) == 0.0


def floods(size):
    deep = '{"x":' * (size // 5)
    keys = json.dumps({f"k{at}": at for at in range(size // 12)})
    return {
        "deep": deep,
        "keys": f'{{"name": "f", "arguments": {keys}}}',
        "markers": "<tool_call>" * (size // 11),
        "lines": "\n<tool_call>{" * (size // 13),
        "digits": f'{{"name": "f", "arguments": {{"x": {"9" * size}}}}}',
        "marks": f'{{"name": "f", "arguments": {{"s": "{"e" + chr(0x301) * size}"}}}}',
        "calls": json.dumps([{"name": "f", "arguments": {"x": 1}}] * (size // 40)),
        "braces": "{" * size,
        "prose": "I do not know. " * (size // 15),
    }


@pytest.mark.parametrize("kind", floods(10))
def test_a_flood_is_read_in_linear_time(kind):
    def read(size):
        flood = floods(size)[kind]
        assert REWARD(sample(flood, GOLD)).value == 0.0
        REWARD(sample(flood, []))

    assert_linear(read, 50_000, 200_000)


def test_calls_by_the_hundred_with_long_arguments():
    long = {f"k{at}": "x" * 50 for at in range(20)}
    gold = wanted(*[("f", long | {"n": at}) for at in range(128)])
    calls = [("f", long | {"n": at}) for at in range(127, -1, -1)]
    assert paid(called(*calls), gold) == 1.0
    assert paid(called(*calls, calls[0]), gold) == 0.0


def test_a_deep_argument_is_compared_once_at_each_level():
    deep = json.loads('{"k":' * 90 + "1" + "}" * 90)
    assert with_argument(deep, deep) == 1.0


@pytest.mark.parametrize("names", [[{"x": 1}], [["a"]], [1]])
def test_what_a_schema_requires_are_names(names):
    tools = [{"name": "f", "parameters": {"required": names}}]
    with pytest.raises(BadReference, match="no list `required`"):
        paid(called(("f", {}), tools=tools), wanted(("f", {})), arguments="required")


@pytest.mark.parametrize(
    "call",
    [
        '{ "name": "f", "arguments": {} }',
        '{\n  "name": "f",\n  "arguments": {}\n}',
        '```json\n[\n  {"arguments": {}, "name": "f"}\n]\n```',
        "{'name': 'f', 'arguments': {}}",
    ],
)
def test_a_call_in_json_behind_words_is_begun_however_it_is_laid_out(call):
    assert paid(called(text=f"Let me check.\n{call}"), []) == 0.0


def test_a_list_of_words_begins_no_call():
    assert paid(called(text="[1] the 'parameters' are in [2]."), []) == 1.0


@pytest.mark.parametrize("value", ["1.50", "1e2", "-0", "3.10", '{"x": 1}', "[1, 2]"])
def test_a_value_between_tags_is_the_text_that_it_is(value):
    qwen = f"<tool_call><function=f><parameter=x>{value}</parameter></function></tool_call>"
    glm = f"<tool_call>f<arg_key>x</arg_key><arg_value>{value}</arg_value></tool_call>"
    for response in (qwen, glm):
        assert paid(called(text=response), wanted(("f", {"x": value}))) == 1.0
        assert paid(called(text=response), wanted(("f", {"x": json.loads(value)}))) == 1.0
        assert paid(called(text=response), wanted(("f", {"x": value[:-1] + "7"}))) == 0.0


@pytest.mark.parametrize("tag", ["<function=", "<arg_key>"])
def test_a_tag_in_json_makes_no_text_of_a_number(tag):
    bare = json.dumps({"name": "f", "arguments": {"x": 100}, "note": tag})
    for response in (bare, f"<tool_call>{bare}</tool_call>"):
        assert paid(called(text=response), wanted(("f", {"x": "100"}))) == 0.0
        assert paid(called(text=response), wanted(("f", {"x": 100}))) == 1.0


@pytest.mark.parametrize("end", ["<|observation|>", "<end_of_turn>", "<｜end▁of▁sentence｜>"])
def test_what_a_turn_ends_with_is_no_part_of_a_call(end):
    response = f'<tool_call>{{"name": "f", "arguments": {{}}}}</tool_call>{end}'
    assert paid(called(text=response), wanted(("f", {}))) == 1.0


def test_a_name_that_stands_twice_in_a_reference_leaves_the_row_unscored():
    with pytest.raises(BadReference):
        paid(called(("g", {})), '[{"name": "f", "name": "g", "arguments": {}}]')
