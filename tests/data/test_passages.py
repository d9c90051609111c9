"""`reward data prepare squad` and `hotpotqa`: their files, the hub's rows, and what is left out."""

import json

import pytest

from reward_functions import get

SEINE = "The Seine flows through Paris. It is 777 km long."


def asked(number, *answers, **more):
    return {
        "id": f"q{number}",
        "question": f"Question {number}?",
        "answers": [{"text": each, "answer_start": 0} for each in answers],
        **more,
    }


ARTICLES = {
    "version": "1.1",
    "data": [
        {
            "title": "Seine",
            "paragraphs": [
                {"context": SEINE, "qas": [asked(1, "the Seine", "Seine", "Seine"), asked(2)]},
                {"context": "Another passage.", "qas": [asked(3, "passage")]},
            ],
        }
    ],
}
OF_THE_HUB = {
    "id": "q1",
    "title": "Seine",
    "context": SEINE,
    "question": "Question 1?",
    "answers": {"text": ["the Seine", "Seine"], "answer_start": [0, 4]},
}
HOPS = {
    "_id": "h1",
    "question": "Which river is longer?",
    "answer": "Loire",
    "type": "comparison",
    "level": "hard",
    "context": [["Seine", ["It is 777 km", " long."]], ["Loire", ["It is 1,006 km long."]]],
}
HOPS_OF_THE_HUB = {
    **{name: HOPS[name] for name in ("question", "answer", "type", "level")},
    "id": "h1",
    "context": {"title": ["Seine", "Loire"], "sentences": [["It is 777 km", " long."], ["It is."]]},
}


@pytest.fixture
def prepared(reward, read, tmp_path):
    def run(dataset, name, *records):
        source = tmp_path / name
        source.write_text("".join(f"{json.dumps(each)}\n" for each in records), encoding="utf-8")
        ran = reward("data", "prepare", dataset, "--source", source, "--out", tmp_path / "o")
        rows = [row for file in (tmp_path / "o").glob("*.jsonl") for row in read(file)]
        return ran, rows

    return run


def test_a_file_of_articles_becomes_a_row_for_each_question(prepared):
    ran, rows = prepared("squad", "dev-v1.1.json", ARTICLES)
    assert ran.exit_code == 0, ran.stderr
    assert [row["id"] for row in rows] == ["squad-q1", "squad-q3"]
    first = rows[0]
    assert first["reference_answer"] == {"answer": ["the Seine", "Seine"]}
    assert rows[1]["reference_answer"] == {"answer": "passage"}
    assert first["messages"][-1]["content"].startswith(f"{SEINE}\n\nQuestion: Question 1?")
    assert first["metadata"]["split"] == "dev"
    score = get("answer_text")("It is near.\nAnswer: Seine", first["reference_answer"])
    assert score.value == 1.0


def test_rows_of_the_hub_are_read_as_well(prepared):
    _, (row,) = prepared("squad", "validation.jsonl", OF_THE_HUB)
    assert row["reference_answer"] == {"answer": ["the Seine", "Seine"]}
    assert row["metadata"]["page"]


@pytest.mark.parametrize("record", [HOPS, HOPS_OF_THE_HUB], ids=["file", "hub"])
def test_hops_have_their_passages_in_the_prompt(prepared, record):
    ran, (row,) = prepared("hotpotqa", "hotpot_dev_distractor_v1.jsonl", record)
    assert ran.exit_code == 0, ran.stderr
    assert row["id"] == "hotpotqa-h1"
    assert row["messages"][-1]["content"].startswith("Seine\nIt is 777 km long.\n\nLoire\n")
    assert row["reference_answer"] == {"answer": "Loire"}
    assert row["metadata"]["type"] == "comparison"


BAD = [
    ("squad", {**OF_THE_HUB, "answers": {"text": [""]}}, "answers holds an answer without text"),
    ("squad", {**OF_THE_HUB, "answers": "Seine"}, "answers is no list of answers"),
    ("squad", {**OF_THE_HUB, "context": 3}, "context is a number, not a string"),
    ("hotpotqa", {**HOPS, "context": "Seine"}, "context is no list of titles with sentences"),
    ("hotpotqa", {**HOPS, "answer": ""}, "answer is empty"),
]


@pytest.mark.parametrize(("dataset", "record", "words"), BAD)
def test_what_cannot_be_read_is_named(prepared, dataset, record, words):
    ran, _ = prepared(dataset, "dev.jsonl", record)
    assert ran.exit_code == 2
    assert words in ran.stderr + ran.stdout
