"""`reward data generate`: our own rows have the data set's shape, and say what they are."""

import json

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.data.generated import records
from reward_functions.data.generated.writing import generate
from reward_functions.data.public import REWARDS

DATASETS = ("gsm8k", "math", "finqa", "spider", "invoices")
OURS = {**REWARDS, "invoices": "json_fields"}


@pytest.fixture(scope="module", params=DATASETS)
def written(request, tmp_path_factory):
    """(data set, folder) with a file to train on and one to hold out."""
    folder = tmp_path_factory.mktemp(request.param)
    generate(request.param, folder, rows=120, test_rows=100)
    return request.param, folder


def test_the_linter_says_that_they_are_synthetic_and_nothing_else(written, reward):
    _, folder = written
    ran = reward("data", "lint", folder / "train.jsonl", folder / "test.jsonl")
    assert ran.exit_code == 0, ran.output
    assert "errors 0 · warnings 2" in ran.stderr
    assert "synthetic rows" in ran.stdout


def test_the_reward_of_the_data_set_can_judge_them(written, reward):
    name, folder = written
    ran = reward(
        *("audit", OURS[name], folder / "test.jsonl", "--format", "json"),
        *("--without", "FN-VALUE", "--allow-undecided"),
    )
    assert ran.exit_code == 0, ran.output
    figures = {each["id"]: each["value"] for each in json.loads(ran.stdout)["figures"]}
    assert figures["fn.right"] == 0.0
    assert figures["exploit"] <= 0.02


PUBLIC = {
    "gsm8k": ({"final_answer"}, {"dataset", "split", "solution"}),
    "math": ({"final_answer"}, {"dataset", "split", "subject", "level", "solution"}),
    "invoices": (
        {"number", "date", "buyer", "paid", "lines", "total"},
        {"dataset", "split"},
    ),
    "spider": ({"sql", "database"}, {"dataset", "split", "database"}),
    "finqa": (
        {"value", "unit", "scale", "direction", "decimals", "aliases", "program", "noise"},
        {"dataset", "split", "page", "agreement"},
    ),
}


def test_rows_have_the_shape_of_prepared_ones_and_say_that_they_are_synthetic(written, read):
    name, folder = written
    reference, metadata = PUBLIC[name]
    for row in read(folder / "train.jsonl"):
        assert list(row) == ["id", "messages", "reference_answer", "metadata"]
        assert [turn["role"] for turn in row["messages"]] == ["system", "user"]
        assert row["reference_answer"].keys() == reference
        assert row["metadata"].keys() == metadata | {"synthetic"}
        assert row["metadata"]["synthetic"] is True


def test_no_id_and_no_prompt_is_there_twice(written, read):
    _, folder = written
    rows = [*read(folder / "train.jsonl"), *read(folder / "test.jsonl")]
    assert len({row["id"] for row in rows}) == len(rows) == 220
    assert len({row["messages"][-1]["content"] for row in rows}) == 220


def test_no_page_is_in_both_files(tmp_path, read):
    generate("finqa", tmp_path, rows=12, test_rows=12)
    train, test = (
        {row["metadata"]["page"] for row in read(tmp_path / f"{split}.jsonl")}
        for split in ("train", "test")
    )
    assert train.isdisjoint(test)


def test_the_command_writes_equal_files_for_equal_seeds(reward, tmp_path):
    for folder, seed in (("a", 1), ("b", 1), ("c", 2)):
        ran = reward(
            *("data", "generate", "math", "--rows", 30, "--test-rows", 0),
            *("--seed", seed, "--out", tmp_path / folder),
        )
        assert ran.exit_code == 0, ran.output
        assert "do not train on them" in ran.stderr
    first, same, other = ((tmp_path / name / "train.jsonl").read_text() for name in "abc")
    assert first == same != other
    assert not (tmp_path / "a" / "test.jsonl").exists()


OTHERS = {
    "rows of your own": '{"messages": []}\n',
    "what cannot be read": "\x01",
}


@pytest.mark.parametrize("content", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("name", ["train", "test"])
def test_a_file_of_your_own_is_replaced_with_force_alone(name, content, reward, tmp_path):
    (tmp_path / f"{name}.jsonl").write_text(content)
    words = ("data", "generate", "gsm8k", "--rows", 5, "--test-rows", 5, "--out", tmp_path)
    refused = reward(*words)
    assert refused.exit_code == 2
    assert f"{name}.jsonl holds rows that are not synthetic" in refused.stderr
    assert [each.read_text() for each in tmp_path.iterdir()] == [content]
    assert reward(*words, "--force").exit_code == 0
    assert reward(*words, "--seed", 2).exit_code == 0


def test_the_report_says_where_the_rows_are_from(tmp_path):
    generate("gsm8k", tmp_path, rows=5, test_rows=0, seed=7)
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["sources"] == {"generated from templates, seed 7": None}
    assert report["rows"] == {"train": 5}


def test_more_rows_than_the_templates_hold_are_refused_and_leave_nothing(tmp_path, monkeypatch):
    one = dict(records.templates()["gsm8k"]["stories"][0])
    one["ranges"] = {"a": (6, 7), "b": (6, 7), "c": (15, 15)}
    own = {"gsm8k": {"stories": [one], "who": ["Ana"]}}
    monkeypatch.setattr(records, "templates", lambda: own)
    with pytest.raises(ConfigurationError, match="about 4 different prompts: ask for fewer rows"):
        generate("gsm8k", tmp_path / "out", rows=10)
    assert not (tmp_path / "out").exists()
