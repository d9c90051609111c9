"""`reward data prepare --from`: one's own questions, in any shape, are rows a trainer takes."""

import gzip
import json
from hashlib import sha256

import pytest

QUESTIONS = [{"question": f"What is {at}+1?", "answer": str(at + 1)} for at in range(4)]


@pytest.fixture
def prepare(reward, read, tmp_path):
    def run(source, *arguments):
        out = tmp_path / "out"
        ran = reward("data", "prepare", "--from", source, "--out", out, *arguments)
        rows = {path.stem: read(path) for path in out.glob("*.jsonl")}
        report = json.loads((out / "report.json").read_text()) if rows else {}
        return ran, rows, report

    return run


def as_csv(path):
    lines = ["Question,Gold", *(f'"{each["question"]}",{each["answer"]}' for each in QUESTIONS)]
    path.write_text("\n".join(lines))


def as_gzip(path):
    with gzip.open(path, "wt") as stream:
        stream.writelines(f"{json.dumps(each)}\n" for each in QUESTIONS)


def as_verl(path):
    rows = [
        {
            "data_source": "x",
            "prompt": [{"role": "user", "content": each["question"]}],
            "reward_model": {"ground_truth": each["answer"]},
        }
        for each in QUESTIONS
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def as_answered(path):
    rows = [
        {
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": each["question"]}]},
                {"role": "assistant", "content": "I think so."},
            ],
            "reference_answer": each["answer"],
        }
        for each in QUESTIONS
    ]
    path.write_text(json.dumps(rows))


def as_responses(path):
    rows = [{"prompt": q["question"], "completion": "x", "answer": q["answer"]} for q in QUESTIONS]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


SOURCES = {
    "a CSV with columns of its own": ("q.csv", as_csv, ["--map", "prompt=Question,reference=Gold"]),
    "gzip": ("q.jsonl.gz", as_gzip, []),
    "verl": ("q.jsonl", as_verl, []),
    "messages with a response, which is left out": ("q.json", as_answered, []),
    "several columns, the response left out": ("q.jsonl", as_responses, []),
}


@pytest.mark.parametrize(("name", "write_to", "arguments"), SOURCES.values(), ids=SOURCES)
def test_questions_come_in_any_shape(name, write_to, arguments, prepare, tmp_path):
    write_to(tmp_path / name)
    ran, rows, report = prepare(tmp_path / name, "--reward", "math", *arguments)
    assert ran.exit_code == 0, ran.stderr
    assert rows.keys() == {"all"}
    for row, each in zip(rows["all"], QUESTIONS, strict=True):
        assert row["messages"] == [{"role": "user", "content": each["question"]}]
        assert row["reference_answer"] == each["answer"]
        assert row["id"].startswith("q-")
    content = (tmp_path / name).read_bytes()
    assert report["sources"] == {str(tmp_path / name): sha256(content).hexdigest()}


BAD = {
    "no reference": ({"question": "a"}, [], "there is no reference"),
    "a blank one": ({"question": "a", "answer": " "}, [], "there is no reference"),
    "not a number": (
        {"question": "a", "answer": "Paris"},
        ["--reward", "gsm8k"],
        "the reference is not one number",
    ),
    "a list in a list": (
        {"question": "a", "answer": ["1", ["2"]]},
        ["--reward", "math"],
        "holds a list",
    ),
    "NaN, which is not JSON": ({"question": "a", "answer": float("nan")}, [], "not numbers of"),
    "NaN deep inside": ({"question": "a", "answer": "1", "x": [float("inf")]}, [], "not numbers"),
    "an empty question": ({"question": " ", "answer": "1"}, [], "the question is empty"),
    "a path as a split": ({"question": "a", "answer": "1", "split": "../x"}, [], "split is not a"),
    "an id that is a list": ({"question": "a", "answer": "1", "id": []}, [], "id is"),
}


@pytest.mark.parametrize(("bad", "arguments", "complaint"), BAD.values(), ids=BAD)
def test_what_cannot_be_trained_on_is_named_and_dropped_only_on_demand(
    bad, arguments, complaint, prepare, write
):
    file = write("q.jsonl", [*QUESTIONS, bad])
    ran, rows, _ = prepare(file, *arguments)
    assert (ran.exit_code, rows) == (2, {})
    assert "q.jsonl, line 5: " in ran.stderr
    assert complaint in ran.stderr
    assert "1 of 5 records cannot be used" in ran.stderr
    ran, rows, report = prepare(file, *arguments, "--skip-bad")
    assert ran.exit_code == 1
    assert len(rows["all"]) == 4
    assert len(report["problems"]) == 1


def test_a_question_again_is_dropped_and_under_another_reference_wherever_it_stands(prepare, write):
    again = [QUESTIONS[0], QUESTIONS[1] | {"answer": "77"}]
    ran, rows, report = prepare(write("q.jsonl", [*QUESTIONS, *again]))
    assert ran.exit_code == 0
    assert [row["reference_answer"] for row in rows["all"]] == ["1", "3", "4"]
    assert report["dropped"] == {
        "the same question again": 1,
        "the same question under another reference": 2,
    }


def test_splits_are_kept_under_the_names_they_have(prepare, write):
    rows = [
        each | {"split": split}
        for each, split in zip(
            QUESTIONS, ["train", "validation", "test_hard", "train"], strict=True
        )
    ]
    ran, parts, _ = prepare(write("q.jsonl", rows))
    assert ran.exit_code == 0
    assert {name: len(part) for name, part in parts.items()} == {
        "dev": 1,
        "test_hard": 1,
        "train": 2,
    }
    ran, parts, _ = prepare(write("lost.jsonl", [*rows[:3], QUESTIONS[3]]))
    assert ran.exit_code == 2
    assert "lost.jsonl, line 4: split is missing, and other rows have one" in ran.stderr


def test_a_folder_has_a_checksum_for_every_file(prepare, write, tmp_path):
    for split in ("train", "test"):
        write(f"data/{split}.jsonl", [each | {"of": split} for each in QUESTIONS[:2]])
    write("data/dataset_info.json", [])
    ran, rows, report = prepare(tmp_path / "data")
    assert ran.exit_code == 0
    assert {name: len(part) for name, part in rows.items()} == {"test": 2, "train": 2}
    assert report["sources"].keys() == {
        str(tmp_path / "data" / name) for name in ("test.jsonl", "train.jsonl")
    }
    assert "prompt of 2 rows" in ran.stderr


@pytest.mark.parametrize("to", ["openai", "qrr", "sagemaker", "trl", "trl-chat", "verl"])
def test_rows_are_written_in_the_shape_of_a_trainer(to, prepare, write, reward, tmp_path):
    ran, _, _ = prepare(write("q.jsonl", QUESTIONS), "--to", to)
    assert ran.exit_code == 0
    ran = reward(
        "data", "lint", tmp_path / "out" / "all.jsonl", "--min-rows", 0, "--reward", "math"
    )
    assert ran.exit_code == 0, ran.stdout


REFUSED = {
    "both": (["gsm8k", "--from", "q.jsonl"], "name one of bfcl, bird, finqa, gsm8k"),
    "neither": ([], "name one of bfcl, bird, finqa, gsm8k"),
    "a pipe": (["--from", "-"], "standard input is read once"),
    "a source of one's own": (
        ["--from", "q.jsonl", "--source", "x"],
        "--source goes with a public",
    ),
    "a mapping of GSM8K": (["gsm8k", "--source", "q.jsonl", "--map", "id=x"], "--map goes with"),
    "no such reward": (["--from", "q.jsonl", "--reward", "maths"], "no reward function is called"),
    "a parameter of nothing": (["--from", "q.jsonl", "-p", "flexible=true"], "give --reward NAME"),
    "no such shape": (["--from", "q.jsonl", "--to", "verll"], "Did you mean 'verl'?"),
}


@pytest.mark.parametrize(("arguments", "complaint"), REFUSED.values(), ids=REFUSED)
def test_options_that_say_nothing_are_one_line(
    arguments, complaint, reward, write, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    write("q.jsonl", QUESTIONS)
    ran = reward("data", "prepare", *arguments, "--out", "out")
    assert ran.exit_code == 2
    assert complaint in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()
