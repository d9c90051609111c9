"""BFCL's rows, in their public shape and of our own making, as training data for `tool_calls`."""

import json

import pytest

from reward_functions import get
from reward_functions.data.bfcl import ANSWERS
from reward_functions.serving.contract import decode_row

SCHEMA = {
    "type": "dict",
    "properties": {
        "door": {"type": "integer"},
        "coats": {"type": "float"},
        "colours": {"type": "tuple", "items": {"type": "any"}},
        "frame": {"type": "dict", "properties": {"wood": {"type": "string"}}},
    },
    "required": ["door"],
}


def question(name="simple_python_0", **fields):
    return {
        "id": name,
        "question": [[{"role": "user", "content": f"Paint door 7, {name}."}]],
        "function": [{"name": "house.paint", "description": "Paints.", "parameters": SCHEMA}],
    } | fields


def answer(name="simple_python_0", *calls):
    given = {"door": [7], "coats": [2.0, 3.0, ""], "unit": [""]}
    return {"id": name, "ground_truth": [*calls] or [{"house.paint": given}]}


@pytest.fixture
def prepared(reward, write, read, tmp_path):
    """(the run, the rows): of questions and answers, by their file."""

    def run(questions, answers, *options, category="simple_python"):
        for file, rows in (
            (f"BFCL_v4_{category}", questions),
            (f"{ANSWERS}/BFCL_v4_{category}", answers),
        ):
            write(f"public/{file}.jsonl", rows).rename(tmp_path / "public" / f"{file}.json")
        source, out = tmp_path / "public", tmp_path / "out"
        ran = reward("data", "prepare", "bfcl", "--source", source, "--out", out, *options)
        return ran, read(out / "all.jsonl") if (out / "all.jsonl").is_file() else []

    return run


def value(row, *calls):
    written = [{"function": {"name": name, "arguments": given}} for name, given in calls]
    turn = {"role": "assistant", "content": None, "tool_calls": written}
    return get("tool_calls")(decode_row(row | {"messages": [*row["messages"], turn]}, 0)).value


def test_a_question_becomes_a_row_that_its_right_calls_are_paid_in(prepared):
    ran, (row,) = prepared([question()], [answer()])
    assert ran.exit_code == 0, ran.stderr
    assert row["reference_answer"] == {
        "tool_calls": [
            {
                "name": "house_paint",
                "arguments": {
                    "door": 7,
                    "coats": {"any_of": [2.0, 3.0], "optional": True},
                    "unit": {"any_of": [], "optional": True},
                },
            }
        ]
    }
    (tool,) = row["metadata"]["tools"]
    assert tool["function"]["name"] == "house_paint"
    properties = tool["function"]["parameters"]["properties"]
    assert tool["function"]["parameters"]["type"] == "object"
    assert [each["type"] for each in properties.values()] == [
        *("integer", "number", "array", "object"),
    ]
    assert '"house_paint"' in row["messages"][-1]["content"]
    assert value(row, ("house_paint", {"door": 7})) == 1.0
    assert value(row, ("house_paint", {"door": 7, "coats": 3})) == 1.0
    assert value(row, ("house_paint", {"door": 7, "coats": 4})) == 0.0
    assert value(row, ("house_paint", {"door": 7, "unit": "m"})) == 0.0
    assert value(row) == 0.0


def test_values_in_objects_and_lists_have_alternatives_of_their_own(prepared):
    frames = [{"wood": ["oak", "Oak"], "cm": ["", 5]}, [{"wood": ["ash"]}], ""]
    call = {"house.paint": {"frame": frames, "colours": [["red", "blue"], ["blue", "red"]]}}
    _, (row,) = prepared([question()], [answer("simple_python_0", call)])
    colours = {"colours": ["blue", "red"]}
    assert value(row, ("house_paint", {"frame": {"wood": "Oak"}, **colours})) == 1.0
    assert value(row, ("house_paint", {"frame": {"wood": "Oak", "cm": 5}, **colours})) == 1.0
    assert value(row, ("house_paint", {"frame": [{"wood": "ash"}], **colours})) == 1.0
    assert value(row, ("house_paint", colours)) == 1.0
    assert value(row, ("house_paint", {"frame": {"cm": 5}, **colours})) == 0.0
    assert value(row, ("house_paint", {"colours": ["red"]})) == 0.0


def test_no_call_is_wanted_where_no_tool_helps(prepared, reward, tmp_path):
    names = [f"irrelevance_{at}" for at in range(100)]
    ran, rows = prepared([question(name) for name in names], [], category="irrelevance")
    assert ran.exit_code == 0, ran.stderr
    assert rows[0]["reference_answer"] == {"tool_calls": []}
    assert value(rows[0], ("house_paint", {"door": 7})) == 0.0
    ran = reward("data", "lint", tmp_path / "out" / "all.jsonl")
    assert ran.exit_code == 0, ran.stdout


BAD = {
    "no answer": (question("simple_python_1"), "id has no right calls"),
    "no turns": (question(question=[]), "question is not a list of a list of messages"),
    "another last turn": (
        question(question=[[{"role": "system", "content": "x"}]]),
        "question does not end with a user turn",
    ),
    "tools that are none": (question(function={}), "function is not a list of objects"),
    "a tool without a name": (question(function=[{}]), "function has a tool without a name"),
}


@pytest.mark.parametrize(("bad", "problem"), BAD.values(), ids=BAD)
def test_a_question_that_cannot_be_used_is_named(bad, problem, prepared):
    ran, rows = prepared([bad], [answer()])
    assert ran.exit_code == 2
    assert f"BFCL_v4_simple_python.json, line 1: {problem}" in ran.stderr.replace("\n", " ")
    assert rows == []


@pytest.mark.parametrize("calls", [[5], [{}], [{"f": 1}], [{"f": {}, "g": {}}]])
def test_right_calls_that_cannot_be_used_are_named(calls, prepared):
    ran, _ = prepared([question()], [{"id": "simple_python_0", "ground_truth": calls}])
    assert ran.exit_code == 2
    assert "ground_truth" in ran.stderr


LINTED = {
    "no arguments": ([{"name": "f"}], {}, "call 1 of the reference has no name, or no arguments"),
    "a tool that is not offered": (
        [{"name": "f", "arguments": {}}],
        {"tools": [{"name": "g"}]},
        "call 1 of the reference is of a tool that tools do not have: 'f'",
    ),
    "tools that are none": ([{"name": "f", "arguments": {}}], {"tools": 5}, "the row's tools"),
    "alternatives that are none": (
        [{"name": "f", "arguments": {"x": {"any_of": []}}}],
        {},
        "an any_of without alternatives",
    ),
}


@pytest.mark.parametrize(("reference", "metadata", "problem"), LINTED.values(), ids=LINTED)
def test_lint_finds_what_the_reward_refuses(reference, metadata, problem, reward, write):
    good = [{"name": "f", "arguments": {"x": 1}}]
    rows = [
        {
            "id": str(at),
            "messages": [{"role": "user", "content": f"Do {at}."}],
            "reference_answer": good if at % 2 else [],
        }
        for at in range(100)
    ]
    path = write("train.jsonl", rows)
    assert reward("data", "lint", path, "--reward", "tool_calls").exit_code == 0
    rows[41] |= {"reference_answer": reference, "metadata": metadata}
    ran = reward(
        "data", "lint", write("bad.jsonl", rows), "--reward", "tool_calls", "--format", "json"
    )
    assert ran.exit_code == 1
    (found,) = [each for each in json.loads(ran.stdout)["findings"] if each["level"] == "error"]
    assert problem in found["detail"]
    assert "line 42" in found["where"]
