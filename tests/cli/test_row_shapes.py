"""Every shape of rows is read by `score`, `lint` and `audit`; what is no shape is one error."""

import csv
import gzip
import io
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reward_functions.cli import app
from reward_functions.data.rows.shapes import SHAPES
from tests.cli.row_shapes import ANSWERED, ASKED, EXCHANGES, REWARDS


def run(*args, **given):
    return CliRunner().invoke(app, [str(arg) for arg in args], **given)


def rewards(ran):
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
    return [json.loads(line)["aggregate_reward_score"] for line in ran.stdout.splitlines()]


@pytest.fixture
def write(tmp_path):
    def written(rows, name="rows.jsonl"):
        file = tmp_path / name
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        return file

    return written


def test_every_shape_has_a_case():
    assert {name.partition(",")[0] for name in (ANSWERED | ASKED)} == {s.name for s in SHAPES}


def test_every_shape_is_on_the_page_about_data():
    page = (Path(__file__).parents[2] / "docs" / "data.md").read_text()
    assert [shape.name for shape in SHAPES if f"| `{shape.name}` |" not in page] == []


ENDS = "the prompt ends with an assistant turn"
NONE = "messages is not a list of turns"
LINTED = {
    # In these the response is a turn of the messages, which a trainer would put before its own.
    "bedrock": ENDS,
    "openai": ENDS,
    "sharegpt": ENDS,
    "messages, ms-swift": ENDS,
    # These hold no prompt: a trainer has nothing to ask.
    "openai-batch": NONE,
    "openai-batch, of responses": NONE,
    "anthropic-batch": NONE,
}


@pytest.mark.parametrize("shape", ANSWERED | ASKED)
def test_a_shape_is_read_by_score_lint_and_audit(shape, write):
    made = (ANSWERED | ASKED)[shape]
    file = write([made(one) for one in EXCHANGES])
    scored = run("score", "gsm8k", file)
    if shape in ANSWERED:
        assert rewards(scored) == REWARDS, scored.stderr
    elif shape == "bedrock, a data set":  # AWS's launch checks send such rows
        assert rewards(scored) == [0.0, 0.0, 0.0]
    else:
        assert (scored.exit_code, scored.stdout) == (2, "")
        assert f"the rows hold no response (the shape {shape})" in scored.stderr
    linted = run("data", "lint", file, "--reward", "gsm8k", "--min-rows", "0", "--format", "json")
    found = {each["what"] for each in json.loads(linted.stdout)["findings"]} - {"no id"}
    assert found == ({LINTED[shape]} if shape in LINTED else set())
    audited = run(
        "audit", "gsm8k", file, "--class", "EX-WRONG", "--repeat", "2", "--format", "json"
    )
    figures = {each["id"]: each["value"] for each in json.loads(audited.stdout)["figures"]}
    assert (figures["fn.right"], figures["exploit"]) == (0.0, 0.0)


def as_csv(rows, delimiter=","):
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(
        {key: v if isinstance(v, str) else json.dumps(v) for key, v in row.items()} for row in rows
    )
    return text.getvalue().encode()


ROWS = [ANSWERED["qrr"](one) for one in EXCHANGES]
CHAT = [ANSWERED["trl-chat"](one) for one in EXCHANGES]
LINES = "".join(f"{json.dumps(row)}\n" for row in ROWS).encode()
FORMATS = {
    "rows.jsonl": LINES,
    "rows.json": json.dumps(ROWS, indent=1).encode(),
    "rows.csv": as_csv(ROWS),
    "excel.csv": b"\xef\xbb\xbf" + as_csv(ROWS, ";"),
    "rows.tsv": as_csv(ROWS, "\t"),
    "rows": as_csv(ROWS),
    "rows.jsonl.gz": gzip.compress(LINES),
    "no-ending": gzip.compress(LINES),
    "rows.csv.gz": gzip.compress(as_csv(ROWS)),
    "rows.json.gz": gzip.compress(json.dumps(ROWS).encode()),
    "two-members.jsonl.gz": gzip.compress(LINES[:40]) + gzip.compress(LINES[40:]),
    "chat.csv": as_csv(CHAT),
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_known_by_its_bytes(name, tmp_path):
    (tmp_path / name).write_bytes(FORMATS[name])
    assert rewards(run("score", "gsm8k", tmp_path / name)) == REWARDS
    assert rewards(run("score", "gsm8k", "-", input=FORMATS[name])) == REWARDS


def test_a_folder_is_read_by_its_splits(tmp_path):
    data = tmp_path / "set" / "data"
    data.mkdir(parents=True)
    for shard, line in enumerate(LINES.splitlines(keepends=True)):
        (data / f"train-{shard:05}-of-00003.jsonl").write_bytes(line)
    assert rewards(run("score", "gsm8k", data.parent)) == REWARDS
    (data / "test.csv").write_bytes(as_csv(ROWS[:1]))
    ran = run("score", "gsm8k", data.parent)
    assert ran.exit_code == 2
    assert f"name one, {data.parent / 'test'} or {data.parent / 'train'}" in ran.stderr
    assert rewards(run("score", "gsm8k", data.parent / "test")) == REWARDS[:1]
    assert (
        "no split 'tran'. Did you mean 'train'?"
        in run("score", "gsm8k", data.parent / "tran").stderr
    )


@pytest.mark.parametrize("suffix", ["parquet", "saved"])
def test_tables_are_read_with_the_extra(suffix, tmp_path):
    arrow = pytest.importorskip("pyarrow", reason="the extra `parquet` is not installed")
    from pyarrow import ipc, parquet

    table = arrow.Table.from_pylist([row | {"image": b"\0"} for row in CHAT])
    if suffix == "parquet":
        file = tmp_path / "train-00000-of-00001.parquet"
        parquet.write_table(table, file, row_group_size=2)
    else:
        file = tmp_path / "saved"
        file.mkdir()
        with ipc.new_stream(file / "data-00000-of-00001.arrow", table.schema) as stream:
            stream.write_table(table)
        (file / "state.json").write_text(
            json.dumps({"_data_files": [{"filename": "data-00000-of-00001.arrow"}]})
        )
    assert rewards(run("score", "gsm8k", file)) == REWARDS


def test_parquet_without_the_extra_says_what_to_install(tmp_path, monkeypatch):
    modules = __import__("sys").modules
    monkeypatch.setitem(modules, "pyarrow", None)
    monkeypatch.delitem(modules, "reward_functions.data.rows.tables", raising=False)
    monkeypatch.delattr("reward_functions.data.rows.tables", raising=False)
    (tmp_path / "rows.parquet").write_bytes(b"PAR1....PAR1")
    ran = run("score", "gsm8k", tmp_path / "rows.parquet")
    assert ran.exit_code == 2
    assert "parquet needs: pip install 'reward-functions[parquet]'" in ran.stderr


GERMAN = {"frage": "What is 6 times 7?", "antwort": {"text": "#### 42"}, "a.b": "42"}
MAPS = {
    "columns of any name": "prompt=frage,response=antwort.text,reference=a.b",
    "without a prompt": "response=antwort.text,reference=a.b",
    "spaces after commas": "prompt=frage, response=antwort.text, reference=a.b",
}


@pytest.mark.parametrize("mapping", MAPS.values(), ids=MAPS)
def test_a_mapping_names_the_columns(mapping, write):
    assert rewards(run("score", "gsm8k", write([GERMAN]), "--map", mapping)) == [1.0]


def test_a_mapping_replaces_one_column_of_a_known_shape(write):
    file = write([{"question": "6·7?", "answer": "#### 42", "truth": "42"}])
    assert rewards(run("score", "gsm8k", file, "--map", "response=answer,reference=truth")) == [1.0]


BAD_MAPS = {
    "an unknown part": ("reponse=antwort", "Did you mean 'response'?"),
    "no column": ("prompt", "--map takes PART=COLUMN, not 'prompt'"),
    "a column that no row has": ("prompt=frag", "Did you mean 'frage'?"),
    "twice": ("prompt=frage,prompt=a.b", "--map names prompt twice"),
    "two prompts": ("prompt=frage,messages=a.b", "a row has one of them"),
}


@pytest.mark.parametrize(("mapping", "complaint"), BAD_MAPS.values(), ids=BAD_MAPS)
def test_a_mapping_that_cannot_be_used_is_one_sentence(mapping, complaint, write):
    ran = run("score", "gsm8k", write([GERMAN]), "--map", mapping)
    assert (ran.exit_code, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert complaint in ran.stderr


TRL, VERL = ANSWERED["trl"](EXCHANGES[0]), ANSWERED["verl, evaluated"](EXCHANGES[0])
BAD_FILES = {
    # name, bytes, what the one line says
    "mixed shapes": (
        "a.jsonl",
        f"{json.dumps(TRL)}\n{json.dumps(TRL)}\n{json.dumps(VERL)}\n",
        "line 3: a row of the shape verl, and those before it are trl",
    ),
    "mixed with Bedrock's": (
        "a.jsonl",
        f"{json.dumps(ANSWERED['bedrock'](EXCHANGES[0]))}\n{json.dumps(TRL)}\n",
        "line 2: a row of the shape trl, and those before it are bedrock",
    ),
    "no known shape": (
        "a.jsonl",
        json.dumps({"Frage": "?", "model output": "42", "gold answer": "42"}),
        "add --map 'response=model output,reference=gold answer' (and prompt=COLUMN where",
    ),
    "answers of a baseline": (
        "base.jsonl",
        (
            '{"answers": 2, "setup": "ab"}\n'
            '{"prompt": "cd", "attempt": 1, "text": "42", "output": 3}\n'
        ),
        "`reward explain NAME ROWS --answers ",
    ),
    "usual names of no known shape": (
        "a.csv",
        "Question,Model Answer,Label\n6*7?,42,42\n",
        "add --map 'prompt=Question,response=Model Answer,reference=Label'",
    ),
    "a CSV with a short line": ("a.csv", "question,answer\na,b\nc\n", "line 3: 1 cells"),
    "a CSV with a name twice": (
        "a.csv",
        "question,question\na,b\n",
        "line 1: two columns are called 'question': rename one",
    ),
    "a CSV that ends in a quote": ("a.csv", 'question,answer\na,"b\n', "line 2: not CSV"),
    "messages as Python writes them": (
        "a.csv",
        "prompt,answer\n\"[{'role': 'user', 'content': '6*7?'}]\",42\n",
        "line 2: column prompt holds messages as Python writes them; write them as JSON",
    ),
    "gzip cut off": ("a.jsonl.gz", gzip.compress(LINES)[:-20], "gzip stream is broken or cut off"),
    "gzip in gzip": ("a.gz", gzip.compress(gzip.compress(LINES)), "inside gzip: unpack it"),
    "a workbook": ("a.xlsx", b"PK\x03\x04....", "is an Excel workbook: save it as CSV"),
    "a zip": ("a.zip", b"PK\x03\x04....", "is a zip archive: unpack it"),
    "rows under a key": (
        "a.json",
        json.dumps({"version": 1, "data": [TRL, TRL]}),
        "the rows are inside 'data': write them out with jq -c '.data[]' ",
    ),
    "columns of lists": (
        "a.json",
        json.dumps({"prompt": ["q", "r"], "completion": ["a", "b"], "answer": ["1", "2"]}),
        "one object of columns, not one object for each row: write rows, as pandas does with ",
    ),
    "columns by pandas": (
        "a.json",
        json.dumps({"prompt": {"0": "q", "1": "r"}, "completion": {"0": "a", "1": "b"}}),
        "one object of columns",
    ),
    "a data set of preferences": (
        "a.jsonl",
        json.dumps(
            {
                "prompt": "6*7?",
                "chosen": [{"role": "assistant", "content": "42"}],
                "rejected": [{"role": "assistant", "content": "41"}],
                "messages": [
                    {"role": "user", "content": "6*7?"},
                    {"role": "assistant", "content": "42"},
                ],
            }
        ),
        "add --map prompt=prompt,response=COLUMN (and reference=COLUMN where a column holds it)",
    ),
    "worked solutions beside the exchange": (
        "a.jsonl",
        json.dumps(
            {
                "problem": "6*7?",
                "solution": "42",
                "messages": [
                    {"role": "user", "content": "6*7?"},
                    {"role": "assistant", "content": "42"},
                ],
            }
        ),
        "the rows can be openai or math: say which with --rows openai or --rows math",
    ),
    "an exchange under another name": (
        "a.jsonl",
        json.dumps({"conversation": [*EXCHANGES[0].asked, *EXCHANGES[0].answered], "gold": "42"}),
        "add --map messages=conversation,reference=gold",
    ),
    "objects in objects": (
        "a.jsonl",
        json.dumps(
            {
                "inputs": {"question": "?"},
                "outputs": {"answer": "1"},
                "reference_outputs": {"answer": "2"},
            }
        ),
        "prompt=inputs.question,response=outputs.answer,reference=reference_outputs.answer",
    ),
    "options in a list": (
        "a.jsonl",
        json.dumps(
            {
                "question": "?",
                "choices": {"text": ["1", "2"], "label": ["A", "B"]},
                "answerKey": "B",
            }
        ),
        "add --map prompt=question,response=COLUMN (and reference=COLUMN",
    ),
    "Bedrock's and a response beside the messages": (
        "a.jsonl",
        f"{json.dumps(ANSWERED['bedrock'](EXCHANGES[0]))}\n{json.dumps(ANSWERED['messages'](EXCHANGES[0]))}\n",
        "line 2: a row of the shape messages, and those before it are bedrock",
    ),
    "an open quote": (
        "a.csv",
        'question,answer\na,b\nc,"d\ne,f\n',
        "lines 3 and on: not CSV: unexpected end of data; is a quote never closed?",
    ),
    "a tar": ("a.tar", b"a.jsonl".ljust(257, b"\0") + b"ustar\0", "is a tar archive: unpack it"),
    "a tar in gzip": (
        "a.tar.gz",
        gzip.compress(b"a.jsonl".ljust(257, b"\0") + b"ustar\0"),
        "is a tar archive: unpack it",
    ),
    "a pointer": (
        "a.parquet",
        b"version https://git-lfs.github.com/spec/v1\n",
        "is Git LFS's pointer: fetch the file, `git lfs pull`",
    ),
    "a page": ("a.jsonl", b"<!DOCTYPE html><html>", "is HTML or XML, as a download page is"),
    "null bytes": ("a.jsonl", b"\0" * 64, "begins with null bytes"),
    "UTF-16 without a mark": ("a.jsonl", '{"a": 1}'.encode("utf-16-le"), "is UTF-16"),
    "UTF-16": ("a.csv", "question,answer\na,b\n".encode("utf-16"), "is UTF-16: save it as UTF-8"),
    "zstd": ("a.jsonl.zst", b"\x28\xb5\x2f\xfd....", "zstd"),
}


@pytest.mark.parametrize(("name", "text", "complaint"), BAD_FILES.values(), ids=BAD_FILES)
@pytest.mark.parametrize("command", [("score", "gsm8k"), ("data", "stats")])
def test_a_file_that_cannot_be_read_is_one_sentence(command, name, text, complaint, tmp_path):
    file = tmp_path / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    ran = run(*command, file)
    assert (ran.exit_code, ran.stdout, ran.stderr.count("\n")) == (2, "", 1), ran.stderr
    assert complaint in ran.stderr
    assert str(file) in ran.stderr


def test_lint_says_once_that_a_file_has_no_known_shape(write):
    ran = run("data", "lint", write([{"Frage": "?", "Lösung": "42"}] * 240))
    assert (ran.exit_code, ran.stderr.count("\n")) == (2, 1)


def test_a_csv_may_have_pandas_row_numbers_and_trailing_separators(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text(",question,response,reference,\n0,q,#### 42,42,\n1,q,#### 41,42,\n")
    assert rewards(run("score", "gsm8k", file)) == [1.0, 0.0]


def test_a_response_that_the_prompt_holds_too_stands_there_once(write, tmp_path):
    asked, answered = EXCHANGES[0].asked, EXCHANGES[0].answered
    whole = [*asked, *answered]
    for prompt, completion in ((whole, answered), (asked, whole), (asked, answered)):
        file = write([{"prompt": prompt, "completion": completion, "answer": "42"}])
        out = tmp_path / "out.jsonl"
        run("data", "convert", file, "--to", "bedrock", "-o", out)
        assert json.loads(out.read_text())["messages"] == whole
        out.unlink()


ALIASED = {
    "TriviaQA's": {"answer": {"aliases": ["42", "forty two"], "value": "42"}},
    "SQuAD's": {"answers": {"text": ["42", "forty two"], "answer_start": [1, 2]}},
    "a list": {"answers": ["42", "forty two"]},
}


@pytest.mark.parametrize("answers", ALIASED.values(), ids=ALIASED)
def test_aliases_are_references_too(answers, write):
    file = write([{"question": "6*7?", "response": "forty two"} | answers])
    assert rewards(run("score", "exact_match", file)) == [1.0]


NUMBERS = {
    "aliases are alternatives": ({"answer": {"aliases": [41, 42]}}, 1.0),
    "an answer has members": ({"answer": [41, 42]}, 0.0),
}


@pytest.mark.parametrize(("answer", "score"), NUMBERS.values(), ids=NUMBERS)
def test_a_list_of_numbers_is_one_answer_unless_it_is_of_aliases(answer, score, write):
    file = write([{"question": "6*7?", "response": r"\boxed{42}"} | answer])
    assert rewards(run("score", "math", file)) == [score]


def test_a_bad_row_harms_no_other(write):
    rows = [TRL, TRL | {"completion": None}, TRL | {"prompt": 7}, TRL | {"answer": None}, TRL]
    ran = run("score", "gsm8k", write(rows))
    assert rewards(ran) == [1.0, None, None, None, 1.0]
    problems = [
        json.loads(line).get("error", {}).get("message") for line in ran.stdout.splitlines()
    ]
    assert problems[1].endswith("completion is missing")
    assert problems[2].endswith("prompt is a number, not a string or a list of messages")
    assert "there is no reference" in problems[3]


COMPLETIONS = {
    "blocks": [{"type": "text", "text": "It is\n#### 42"}],
    "blocks with reasoning": [
        {"type": "thinking", "thinking": "#### 41"},
        {"type": "text", "text": "#### 42"},
    ],
    "a message": {"role": "assistant", "content": "#### 42"},
    "messages with a tool": [
        {"role": "assistant", "content": "", "tool_calls": []},
        {"role": "tool", "content": "42"},
        {"role": "assistant", "content": [{"type": "text", "text": "#### 42"}]},
    ],
}


@pytest.mark.parametrize("completion", COMPLETIONS.values(), ids=COMPLETIONS)
def test_a_completion_of_parts_is_the_assistants_text(completion, write):
    row = {
        "prompt": [{"role": "user", "content": "6*7?"}],
        "completion": completion,
        "answer": "42",
    }
    assert rewards(run("score", "gsm8k", write([row]))) == [1.0]


def test_each_of_several_completions_is_a_sample_of_its_own_name(write):
    row = VERL | {"id": "q7", "responses": ["#### 42", "#### 41", "#### 42"]}
    ran = run("score", "gsm8k", write([row]))
    assert rewards(ran) == [1.0, 0.0, 1.0]
    assert [json.loads(line)["id"] for line in ran.stdout.splitlines()] == ["q7-1", "q7-2", "q7-3"]


def test_log_likelihoods_are_no_responses(write):
    row = ANSWERED["lm-eval"](EXCHANGES[0]) | {"resps": [[["-1.5", "False"]], [["-2.0", "True"]]]}
    ran = run("score", "gsm8k", write([row]))
    assert rewards(ran) == [None]
    assert "resps[0][0] is a list" in ran.stdout


UNANSWERED = {
    "a response under another name": (
        {"question": "6*7?", "answer": "42", "student_answer": "42"},
        "add --map response=student_answer",
    ),
    "no response at all": ({"question": "6*7?", "answer": "42"}, "add --map response=COLUMN"),
}


@pytest.mark.parametrize(("row", "hint"), UNANSWERED.values(), ids=UNANSWERED)
def test_a_data_set_is_no_file_of_wrong_responses(row, hint, write):
    ran = run("score", "gsm8k", write([row]))
    assert (ran.exit_code, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert hint in ran.stderr


def test_a_mistyped_name_is_no_split_of_the_folder_it_stands_in(write):
    file = write([TRL])
    assert "No such file" in run("score", "gsm8k", file.parent / "rows").stderr


def test_a_response_wrapped_too_deep_is_a_bad_row(write):
    completion = "#### 42"
    for _ in range(90):
        completion = {"message": completion}
    ran = run("score", "gsm8k", write([TRL, TRL | {"completion": [completion]}]))
    assert rewards(ran) == [1.0, None]


CALLS = [{"id": "c", "type": "function", "function": {"name": "now", "arguments": "{}"}}]


def test_a_response_of_json_in_a_cell_is_its_text(tmp_path):
    file = tmp_path / "invoices.csv"
    with file.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["question", "response", "reference"])
        for response in ('{"total": 12.50}', '{"total": 1, "total": 12.5}'):
            rows.writerow(["How much?", response, '{"total": 12.5}'])
    assert rewards(run("score", "json_fields", file)) == [1.0, 0.0]


@pytest.mark.parametrize("response", [CALLS, {"tool_calls": CALLS}])
def test_the_calls_of_a_message_alone_are_a_response(response, write):
    row = {"prompt": "When?", "completion": response, "answer": [{"name": "now", "arguments": {}}]}
    ran = run("score", "tool_calls", write([row]))
    assert rewards(ran) == [1.0], ran.stderr
    file = write([], "calls.csv")
    with file.open("w", newline="") as stream:
        csv.writer(stream).writerows([row, map(json.dumps, row.values())])
    assert rewards(run("score", "tool_calls", file)) == [1.0]


def test_an_object_that_is_no_message_is_told_to_be_a_string(write):
    ran = run(
        "score", "json_fields", write([{"prompt": "?", "completion": {"a": 1}, "answer": {"a": 1}}])
    )
    assert (
        "completion is an object, not a string or a message: JSON that a model wrote" in ran.stderr
    )
