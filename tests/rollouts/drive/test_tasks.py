"""Rows as a trainer sends them."""

import json

import pytest

from reward_functions.data.json_rows import BadInput
from reward_functions.rollouts.drive.driving import read_tasks


def data(tmp_path, *rows):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return str(path)


SYSTEM = {"role": "system", "content": "Be brief."}
ASKED = {"role": "user", "content": "1+1?"}
BLOCKS = {"role": "user", "content": [{"type": "text", "text": "2+2?"}]}

PROMPTS = [
    # The SDK's notebook: "only the prompt column is read and it is passed as an opaque string".
    ({"prompt": "1+1?"}, "1+1?"),
    ({"prompt": '{"q": 1}'}, '{"q": 1}'),
    ({"prompt": [ASKED]}, json.dumps([ASKED])),
    ({"prompt": {"q": 1}, "messages": [ASKED]}, '{"q": 1}'),
    ({"messages": [SYSTEM, ASKED]}, "1+1?"),
    ({"messages": [ASKED, {"role": "assistant", "content": "2"}, BLOCKS]}, "2+2?"),
]


@pytest.mark.parametrize(("row", "prompt"), PROMPTS, ids=[str(at) for at in range(len(PROMPTS))])
def test_the_prompt_of_a_row(tmp_path, row, prompt):
    assert [task.prompt for task in read_tasks(data(tmp_path, row)).tasks] == [prompt]


NO_PROMPT = [{}, {"prompt": ""}, {"prompt": " "}, {"messages": [SYSTEM]}, {"messages": "1+1?"}]


@pytest.mark.parametrize("row", NO_PROMPT, ids=json.dumps)
def test_a_row_without_a_prompt_is_named_by_its_line(tmp_path, row):
    with pytest.raises(BadInput, match=r"rows\.jsonl, line 2: no prompt: .* --field"):
        read_tasks(data(tmp_path, {"prompt": "x"}, row))


NOT_FINITE = [
    '{"prompt": "x", "v": NaN}',
    '{"prompt": "x", "v": -Infinity}',
    '{"prompt": "x", "v": 1e999}',
    '{"prompt": {"v": [NaN]}}',
    '[{"prompt": "x", "v": {"w": NaN}}]',
]


@pytest.mark.parametrize("text", NOT_FINITE)
def test_a_number_that_json_has_not_is_refused_before_anything_is_run(tmp_path, text):
    path = tmp_path / "rows.jsonl"
    path.write_text(text)
    with pytest.raises(BadInput, match=r"rows\.jsonl, (line|item) 1: a number that is not finite"):
        read_tasks(str(path))


def test_a_file_without_rows_is_refused(tmp_path):
    with pytest.raises(BadInput, match="there are no rows"):
        read_tasks(data(tmp_path))


def test_another_field_may_be_the_prompt(tmp_path):
    assert read_tasks(data(tmp_path, {"q": "x", "prompt": "y"}), "q").tasks[0].prompt == "x"


IDS = [({"id": "a"}, "a"), ({"id": 7}, "7"), ({}, "row-1"), ({"id": True}, "row-1")]


@pytest.mark.parametrize(("row", "name"), IDS, ids=json.dumps)
def test_a_row_has_its_own_id_or_one_by_its_number(tmp_path, row, name):
    assert read_tasks(data(tmp_path, {"prompt": "x"} | row)).tasks[0].id == name


def test_a_digest_depends_on_what_the_rows_say_and_not_on_how(tmp_path):
    first = tmp_path / "a.jsonl"
    first.write_text('{"prompt": "x", "id": "1"}\n')
    second = tmp_path / "b.json"
    second.write_text('[ {"id":"1","prompt":"x"} ]')
    third = tmp_path / "c.jsonl"
    third.write_text('{"prompt": "y", "id": "1"}\n')
    digests = [read_tasks(str(path)).digest for path in (first, second, third)]
    assert digests[0] == digests[1] != digests[2]
