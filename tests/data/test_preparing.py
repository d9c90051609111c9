"""`reward data prepare`: public files become rows, and what cannot is named and leaves no trace."""

import json

import pytest

from reward_functions.data import preparing
from reward_functions.data.preparing import prepare as prepared
from reward_functions.data.records import digest

CONTENT = {"id", "messages", "reference_answer", "metadata"}


def files(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def prompt(row):
    return row["messages"][-1]["content"]


def test_gsm8k_becomes_rows_under_its_official_splits(reward, records, write, read, tmp_path):
    for split, count in (("train", 5), ("test", 3)):
        write(f"public/{split}.jsonl", [records["gsm8k"](at + 10 * count) for at in range(count)])
    write("public/test_socratic.jsonl", [records["gsm8k"](1)])
    ran = reward(
        "data", "prepare", "gsm8k", "--source", tmp_path / "public", "--out", tmp_path / "out"
    )
    assert ran.exit_code == 0, ran.stderr
    assert files(tmp_path / "out") == ["report.json", "test.jsonl", "train.jsonl"]
    rows = read(tmp_path / "out" / "train.jsonl")
    assert len(rows) == 5
    assert rows[0].keys() == CONTENT
    assert [turn["role"] for turn in rows[0]["messages"]] == ["system", "user"]
    assert prompt(rows[0]).startswith("A crate holds 50 apples.")
    assert "\n#### <number>" in prompt(rows[0])
    assert rows[0]["reference_answer"] == {"final_answer": "52"}
    assert rows[0]["metadata"] == {
        "dataset": "gsm8k",
        "split": "train",
        "solution": "50+2=52 apples.",
    }


def test_ids_do_not_depend_on_what_else_is_in_the_file(reward, records, write, read, tmp_path):
    rows = [records["gsm8k"](at) for at in range(6)]
    for name, some in (("whole", rows), ("part", rows[:1:-2])):
        file = write(f"{name}/test.jsonl", some)
        ran = reward("data", "prepare", "gsm8k", "--source", file, "--out", tmp_path / name / "out")
        assert ran.exit_code == 0
    whole, part = (read(tmp_path / name / "out" / "test.jsonl") for name in ("whole", "part"))
    ids = {prompt(row): row["id"] for row in whole}
    assert [ids[prompt(row)] for row in part] == [row["id"] for row in part]
    assert len(set(ids.values())) == 6


@pytest.mark.parametrize("name", ["gsm8k-test.jsonl", "test.jsonl", "test.json", "TEST_v2.json"])
def test_a_file_may_name_its_split(name, reward, records, write, tmp_path):
    file = write(name, [records["gsm8k"]()])
    assert (
        reward("data", "prepare", "gsm8k", "--source", file, "--out", tmp_path / "o").exit_code == 0
    )
    assert files(tmp_path / "o") == ["report.json", "test.jsonl"]


@pytest.mark.parametrize("name", ["latest.jsonl", "train_and_test.jsonl", "rows.json"])
def test_a_file_that_names_no_split_or_two_has_none(name, reward, records, write, tmp_path):
    file = write(name, [records["gsm8k"]()])
    assert (
        reward("data", "prepare", "gsm8k", "--source", file, "--out", tmp_path / "o").exit_code == 0
    )
    assert files(tmp_path / "o") == ["all.jsonl", "report.json"]


@pytest.mark.parametrize("source", ["folder", "split", "archive"])
def test_math_is_read_in_its_own_layout(source, reward, read, math_folder, math_archive, tmp_path):
    paths = {"folder": math_folder(), "split": math_folder() / "test", "archive": math_archive}
    ran = reward("data", "prepare", "math", "--source", paths[source], "--out", tmp_path / "out")
    assert ran.exit_code == 0, ran.stderr
    rows = read(tmp_path / "out" / "test.jsonl")
    names = [f"math-test-algebra-{number}" for number in (1, 2, 10)]
    assert sorted(row["id"] for row in rows) == sorted(names)
    assert source == "archive" or [row["id"] for row in rows] == names
    row = next(row for row in rows if row["id"] == names[0])
    assert row["reference_answer"] == {"final_answer": "\\frac{203}{2}"}
    assert row["metadata"]["level"] == "Level 2"
    assert row["metadata"]["subject"] == "Algebra"
    assert "\\boxed{" in prompt(row)
    assert (tmp_path / "out" / "train.jsonl").exists() == (source != "split")


@pytest.mark.parametrize("layout", ["arrays", "lines"])
def test_finqa_comes_as_arrays_or_as_lines_with_a_split(
    layout, reward, records, write, read, tmp_path
):
    rows = {
        split: [records["finqa"](at + 20 * n) for at in range(4)]
        for n, split in enumerate(["train", "dev", "test"])
    }
    if layout == "arrays":
        for split, some in rows.items():
            write(f"public/{split}.json", some)
        write("public/private_test.json", [{"id": "x"}])
        source = tmp_path / "public"
    else:
        source = write(
            "rows.jsonl", [row | {"split": split} for split, some in rows.items() for row in some]
        )
    ran = reward("data", "prepare", "finqa", "--source", source, "--out", tmp_path / "out")
    assert ran.exit_code == 0, ran.stderr
    assert files(tmp_path / "out") == ["dev.jsonl", "report.json", "test.jsonl", "train.jsonl"]
    row = read(tmp_path / "out" / "dev.jsonl")[0]
    assert row["id"] == "ACME/2013/page_10.pdf-20"
    assert row["metadata"]["page"] == "ACME/2013/page_10.pdf"
    reference = row["reference_answer"]
    assert (reference["value"], reference["unit"], reference["noise"]) == ("30", "number", None)


def test_the_finqa_prompt_holds_the_page_the_question_and_the_format(
    reward, records, write, read, tmp_path
):
    source = write("test.jsonl", [records["finqa"](3)])
    reward("data", "prepare", "finqa", "--source", source, "--out", tmp_path / "out")
    (row,) = read(tmp_path / "out" / "test.jsonl")
    page, question, request = (
        prompt(row).split("\n\nQuestion: ")[0],
        *prompt(row).split("\n\n")[-2:],
    )
    assert page == (
        "revenue grew in 2013 .\nnote 3 follows .\n\n"
        " | 2013 | 2012\nnet sales, (restated) | $ 33 | 20\n\n"
        "amounts are audited ."
    )
    assert question == "Question: what was the growth of sales, question 3?"
    assert request.endswith("\nANSWER: <value>")
    assert "13" not in question + request


NOISY = {"answer": "13", "exe_ans": 12.0, "program": "subtract(32, 20)"}
NOISE = [
    ("drop", None, None),
    ("keep", 2, [None, None, None]),
    ("mark", 2, [False, False, True]),
]


@pytest.mark.parametrize(("noise", "position", "reported"), NOISE)
def test_noisy_records_are_dropped_kept_or_marked(
    noise, position, reported, reward, records, write, read, tmp_path
):
    rows = [records["finqa"](0), records["finqa"](1), records["finqa"](2, qa=NOISY)]
    source = write("dev.json", rows)
    ran = reward(
        "data", "prepare", "finqa", "--source", source, "--out", tmp_path / "out", "--noise", noise
    )
    assert ran.exit_code == 0, ran.stderr
    kept = read(tmp_path / "out" / "dev.jsonl")
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["records"] == 3
    assert report["kept"]["plain"] == 2
    if position is None:
        assert report["dropped"] == {"value": 1}
        assert len(kept) == 2
    else:
        assert report["dropped"] == {}
        assert [line["metadata"].get("noisy") for line in kept] == reported
        assert kept[position]["reference_answer"]["noise"] == "value"
        assert kept[position]["reference_answer"]["aliases"] == ["13"]
        assert kept[position]["metadata"]["agreement"] == "value"
    assert "value" in ran.stdout


def test_dropping_is_what_happens_by_itself(records, write, tmp_path):
    source = write("dev.json", [records["finqa"](0), records["finqa"](2, qa=NOISY)])
    assert prepared("finqa", [source], tmp_path / "out").dropped == {"value": 1}


PANDALM = [
    ("true is a string", {"response1": True}, "## Response 1\ntrue\n"),
    ("a number is a string", {"response2": 7.5}, "## Response 2\n7.5\n"),
    ("an empty response is marked as empty", {"response2": ""}, "## Response 2\n(empty)\n"),
    ("null is an empty response", {"response2": None}, "## Response 2\n(empty)\n"),
    ("an input that says true", {"input": True}, "## Input\ntrue\n"),
]


@pytest.mark.parametrize(
    ("fields", "expected"), [case[1:] for case in PANDALM], ids=[case[0] for case in PANDALM]
)
def test_pandalm_texts_are_texts_again(fields, expected, reward, records, write, read, tmp_path):
    source = write("testset-v1.json", [records["pandalm"](4, **fields)])
    assert (
        reward("data", "prepare", "pandalm", "--source", source, "--out", tmp_path / "o").exit_code
        == 0
    )
    (row,) = read(tmp_path / "o" / "all.jsonl")
    assert expected in prompt(row)
    assert row["id"] == "pandalm-4"
    assert row["reference_answer"] == {"label": 1, "answer": "Response 1", "votes": [1, 1, 2]}


@pytest.mark.parametrize("nothing", ["", None, float("nan"), "  "])
def test_a_pandalm_prompt_without_input_has_no_heading_for_one(
    nothing, reward, records, write, read, tmp_path
):
    source = write("testset-v1.json", [records["pandalm"](input=nothing)])
    reward("data", "prepare", "pandalm", "--source", source, "--out", tmp_path / "o")
    (row,) = read(tmp_path / "o" / "all.jsonl")
    assert "## Input" not in prompt(row)


def test_a_pandalm_question_may_stand_in_the_input_alone(records, write, read, tmp_path):
    source = write("t.json", [records["pandalm"](instruction="", input="Who wrote Emma?")])
    prepared("pandalm", [source], tmp_path / "o")
    (row,) = read(tmp_path / "o" / "all.jsonl")
    assert prompt(row).startswith("## Input\nWho wrote Emma?\n\n## Response 1\n")


VOTES = [
    ((1, 1, 1), 1),
    ((2, 1, 2), 2),
    ((0, 0, 2), 0),
    (("1", 1, 2), 1),
    ((1.0, 1, 2), 1),
]


@pytest.mark.parametrize(("votes", "label"), VOTES)
def test_a_pandalm_label_is_what_most_voted(votes, label, records, write, read, tmp_path):
    fields = {f"annotator{at}": vote for at, vote in enumerate(votes, 1)}
    prepared("pandalm", [write("t.json", [records["pandalm"](**fields)])], tmp_path / "o")
    assert read(tmp_path / "o" / "all.jsonl")[0]["reference_answer"]["label"] == label


def test_pandalm_duplicates_go_and_contradictions_go_wholly(reward, records, write, read, tmp_path):
    make = records["pandalm"]
    same = {"instruction": "Say hi.", "response1": "Hi", "response2": "Hello"}
    torn = {"instruction": "Say bye.", "response1": "Bye", "response2": "So long"}
    rows = [
        make(0),
        make(1, **same),
        make(2, **same, cmp_key="two_three"),
        make(3, **torn),
        make(4, **torn, annotator1=2),
        make(5, annotator1=0, annotator2=1, annotator3=2),
        make(6, response1="Rain, 6.", response2="It is pouring, 6."),
        make(7, **same, input="Another input"),
    ]
    ran = reward(
        "data", "prepare", "pandalm", "--source", write("t.json", rows), "--out", tmp_path / "o"
    )
    assert ran.exit_code == 0
    assert [row["id"] for row in read(tmp_path / "o" / "all.jsonl")] == [
        "pandalm-0",
        "pandalm-1",
        "pandalm-6",
        "pandalm-7",
    ]
    assert json.loads((tmp_path / "o" / "report.json").read_text())["dropped"] == {
        "no two annotators agree": 1,
        "the same pair again": 1,
        "the same pair under another label": 2,
    }


def test_pandalm_pairs_of_one_prompt_share_a_group(records, write, read, tmp_path):
    prepared(
        "pandalm", [write("t.json", [records["pandalm"](at) for at in range(6)])], tmp_path / "o"
    )
    groups = [row["metadata"]["prompt"] for row in read(tmp_path / "o" / "all.jsonl")]
    assert groups[0] == groups[1] == groups[2] != groups[3]
    assert groups[0] == digest(
        "SHORTEN  text 0.", "It is raining very hard outside at this moment."
    )


BAD = {
    "a missing column": ("finqa", {"qa": {"question": "q"}}, "qa.answer is missing"),
    "no question": ("finqa", {"qa": None}, "qa is null, not an object"),
    "no page": ("finqa", {"filename": ""}, "filename is empty"),
    "no table": ("finqa", {"table": None}, "table is not a list of rows"),
    "a table with numbers": (
        "finqa",
        {"table": [["a", 1]]},
        "table has a row 1 that is not a list of strings",
    ),
    "a text that is no list": ("finqa", {"pre_text": "x"}, "pre_text is not a list of strings"),
    "a split that is none": ("finqa", {"split": "../up"}, "split is not one of train, dev, test"),
    "no hash signs": ("gsm8k", {"answer": "It is 7."}, "answer has no ####"),
    "no number": ("gsm8k", {"answer": "#### many"}, "answer has no number after its ####"),
    "no text": ("gsm8k", {"question": 7}, "question is a number, not a string"),
    "an empty question": ("gsm8k", {"question": " "}, "question is empty"),
    "a vote that is none": ("pandalm", {"annotator2": 3}, "annotator2 is 3, not 0, 1 or 2"),
    "a vote that is true": ("pandalm", {"annotator2": True}, "annotator2 is true, not 0, 1 or 2"),
    "a response that is a list": (
        "pandalm",
        {"response1": ["x"]},
        "response1 is a list, not a string",
    ),
    "nothing that was asked": (
        "pandalm",
        {"instruction": None, "input": ""},
        "instruction is empty, and so is input",
    ),
}
PROGRAMS = {
    "an unknown operation": "modulo(7, 2)",
    "division by zero": "subtract(3, 3), divide(7, #0)",
    "an unknown row": "table_sum(net income, none)",
    "a later step": "add(#1, 2), add(1, 2)",
    "an open parenthesis": "add(1, 2",
    "nothing": " ",
}


@pytest.mark.parametrize(("dataset", "fields", "complaint"), BAD.values(), ids=BAD)
@pytest.mark.parametrize("layout", ["jsonl", "json"])
def test_a_bad_record_is_named_by_file_row_and_field(
    dataset, fields, complaint, layout, reward, records, write, read, tmp_path
):
    rows = [records[dataset](1), records[dataset](2) | fields, records[dataset](3)]
    source = write(f"test.{layout}", rows)
    ran = reward("data", "prepare", dataset, "--source", source, "--out", tmp_path / "new" / "out")
    assert ran.exit_code == 2
    place = "line 2" if layout == "jsonl" else "item 2"
    assert f"{source}, {place}: {complaint}" in ran.stderr
    assert "1 of 3 records cannot be used; nothing was written" in ran.stderr
    assert not (tmp_path / "new").exists()

    ran = reward(
        "data", "prepare", dataset, "--source", source, "--out", tmp_path / "out", "--skip-bad"
    )
    assert ran.exit_code == 1
    assert f"{place}: {complaint}" in ran.stderr
    (name,) = {"all.jsonl", "test.jsonl"} & set(files(tmp_path / "out"))
    assert len(read(tmp_path / "out" / name)) == 2


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_that_cannot_be_executed_is_named(program, reward, records, write, tmp_path):
    rows = [records["finqa"](1), records["finqa"](2, qa={"program": program}), records["finqa"](3)]
    source = write("dev.jsonl", rows)
    ran = reward(
        "data", "prepare", "finqa", "--source", source, "--out", tmp_path / "out", "--skip-bad"
    )
    assert ran.exit_code == 1
    assert f"{source}, line 2: qa.program " in ran.stderr
    assert json.loads((tmp_path / "out" / "report.json").read_text())["rows"] == {"dev": 2}


def test_row_names_with_commas_and_parentheses_are_row_names(
    reward, records, write, read, tmp_path
):
    qa = {"program": "table_max(net sales, (restated), none)", "exe_ans": 32.0, "answer": "32"}
    source = write("dev.jsonl", [records["finqa"](2, qa=qa)])
    ran = reward("data", "prepare", "finqa", "--source", source, "--out", tmp_path / "out")
    assert ran.exit_code == 0, ran.stderr
    assert read(tmp_path / "out" / "dev.jsonl")[0]["reference_answer"]["value"] == "32"


TRUNCATED = [("jsonl", "line 2, column"), ("json", "line 1, column")]


@pytest.mark.parametrize(("layout", "place"), TRUNCATED)
def test_truncated_json_is_named_and_nothing_is_written(layout, place, reward, records, tmp_path):
    text = "\n".join(json.dumps(records["finqa"](at)) for at in range(2))
    source = tmp_path / f"dev.{layout}"
    source.write_text((f"[{text.replace(chr(10), ',')}]" if layout == "json" else text)[:-30])
    ran = reward("data", "prepare", "finqa", "--source", source, "--out", tmp_path / "out")
    assert ran.exit_code == 2
    assert f"{source}, {place}" in ran.stderr
    assert files(tmp_path) == [source.name]


@pytest.mark.parametrize(
    "content", ["{", "[1]", '{"problem": "p", "level": "1", "type": "t"}', b"\xff"]
)
def test_a_bad_problem_of_math_is_named_by_its_file(content, reward, read, math_folder, tmp_path):
    folder = math_folder()
    bad = folder / "test" / "algebra" / "3.json"
    bad.write_bytes(content if isinstance(content, bytes) else content.encode())
    ran = reward("data", "prepare", "math", "--source", folder, "--out", tmp_path / "out")
    assert ran.exit_code == 2
    assert f"{folder}: MATH/test/algebra/3.json: " in ran.stderr
    assert not (tmp_path / "out").exists()
    ran = reward(
        "data", "prepare", "math", "--source", folder, "--out", tmp_path / "out", "--skip-bad"
    )
    assert ran.exit_code == 1
    assert len(read(tmp_path / "out" / "test.jsonl")) == 3


UNUSABLE = {
    "nothing there": (["gsm8k", "--source", "missing.jsonl"], "missing.jsonl: No such file"),
    "no archive": (
        ["math", "--source", "file.txt"],
        "file.txt: neither a folder nor a tar archive",
    ),
    "no archive there": (["math", "--source", "missing.tar"], "missing.tar: No such file"),
    "no problems": (["math", "--source", "."], "holds no problem at train/<subject>/<n>.json"),
    "no split": (["finqa", "--source", "."], "no record became a row"),
    "noise elsewhere": (["gsm8k", "--source", "file.txt", "--noise", "keep"], "gsm8k has not"),
    "a mirror of nothing": (
        ["gsm8k", "--source", "f", "--mirror", "http://x"],
        "--mirror: nothing",
    ),
    "an empty file": (["gsm8k", "--source", "empty.jsonl"], "no record became a row"),
}


@pytest.mark.parametrize(("arguments", "complaint"), UNUSABLE.values(), ids=UNUSABLE)
def test_unusable_arguments_are_one_line(arguments, complaint, reward, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file.txt").write_text("text")
    (tmp_path / "empty.jsonl").touch()
    ran = reward("data", "prepare", *arguments, "--out", "out")
    assert ran.exit_code == 2
    assert complaint in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert files(tmp_path) == ["empty.jsonl", "file.txt"]
    assert not (tmp_path / "out").exists()


def test_an_interrupt_leaves_what_was_there(records, write, tmp_path, reward):
    source = write("test.jsonl", [records["gsm8k"](at) for at in range(3)])
    reward("data", "prepare", "gsm8k", "--source", source, "--out", tmp_path / "out")
    before = (tmp_path / "out" / "test.jsonl").read_text()

    def interrupted(outcomes):
        yield next(iter(outcomes))
        raise KeyboardInterrupt

    for folder in ("out", "new"):
        with pytest.raises(KeyboardInterrupt):
            prepared("gsm8k", [source], tmp_path / folder, watched=interrupted)
    assert not (tmp_path / "new").exists()
    assert files(tmp_path / "out") == ["report.json", "test.jsonl"]
    assert (tmp_path / "out" / "test.jsonl").read_text() == before


@pytest.mark.parametrize("source", ["public", "public/test.jsonl"])
def test_what_is_prepared_is_never_replaced(source, reward, records, write, tmp_path):
    before = write("public/test.jsonl", [records["gsm8k"](at) for at in range(3)]).read_text()
    folder = tmp_path / "public"
    ran = reward("data", "prepare", "gsm8k", "--source", tmp_path / source, "--out", folder)
    assert ran.exit_code == 2
    assert "test.jsonl: it is being read; write to another folder" in ran.stderr
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"test.jsonl": before}


def test_the_same_record_again_is_dropped_and_another_one_under_its_id_is_an_error(
    records, write, tmp_path
):
    source = write("test.jsonl", [records["gsm8k"](1), records["gsm8k"](2), records["gsm8k"](1)])
    report = prepared("gsm8k", [source], tmp_path / "out")
    assert report.splits == {"test": 2}
    assert report.dropped == {"the same row again": 1}
    source = write("test.jsonl", [records["gsm8k"](1), records["gsm8k"](1, answer="#### 9")])
    with pytest.raises(preparing.BadRecords) as caught:
        prepared("gsm8k", [source], tmp_path / "out")
    assert "two records have it, and they differ" in caught.value.problems[0]


def test_what_official_splits_share_is_reported(reward, records, write, tmp_path):
    write("public/train.jsonl", [records["gsm8k"](at) for at in range(5)])
    again = records["gsm8k"](4)["question"].replace("apples.", "APPLES!")
    write("public/test.jsonl", [records["gsm8k"](3), records["gsm8k"](4, question=again)])
    ran = reward(
        "data", "prepare", "gsm8k", "--source", tmp_path / "public", "--out", tmp_path / "o"
    )
    assert ran.exit_code == 0
    report = json.loads((tmp_path / "o" / "report.json").read_text())
    assert [leak.split(", such")[0] for leak in report["leaks"]] == [
        "test and train: prompt of 1 row",
        "test and train: near-duplicate of 1 row",
    ]
    assert ran.stderr.count("leak: ") == 2


def test_the_whole_of_the_labelled_records_is_executed_and_compared(shared, tmp_path):
    report = prepared("finqa", [shared / "finqa" / "records.jsonl"], tmp_path / "out", noise="mark")
    assert not report.problems
    assert report.splits == {"dev": 176, "test": 207}
    assert not report.leaks
    assert prepared("gsm8k", [shared / "gsm8k" / "test.jsonl"], tmp_path / "g").splits == {
        "test": 668
    }


def test_a_record_that_lost_its_split_is_reported(reward, records, write, tmp_path):
    rows = [records["finqa"](at) | {"split": "dev"} for at in range(3)]
    del rows[1]["split"]
    source = write("rows.jsonl", rows)
    ran = reward("data", "prepare", "finqa", "--source", source, "--out", tmp_path / "out")
    assert ran.exit_code == 2
    assert "rows.jsonl, line 2: split is missing" in ran.stderr
    assert not (tmp_path / "out").exists()


def test_an_object_that_is_none_is_reported_by_its_own_name(reward, records, write, tmp_path):
    source = write("test.jsonl", [records["finqa"](0), records["finqa"](1) | {"qa": "text"}])
    ran = reward("data", "prepare", "finqa", "--source", source, "--out", tmp_path / "out")
    assert "line 2: qa is a string, not an object" in ran.stderr


def test_a_split_of_an_earlier_run_is_reported_and_left(reward, records, write, tmp_path):
    out = tmp_path / "out"
    first = write("public/train.json", [records["finqa"](at) for at in range(3)])
    write("public/dev.json", [records["finqa"](at) for at in range(10, 13)])
    assert reward("data", "prepare", "finqa", "--source", first.parent, "--out", out).exit_code == 0
    (out / "mine.jsonl").write_text("")
    kept = (out / "dev.jsonl").read_text()
    ran = reward("data", "prepare", "finqa", "--source", first, "--out", out)
    assert ran.exit_code == 0
    assert "dev.jsonl is from an earlier run" in " ".join(ran.stderr.split())
    assert "mine.jsonl" not in ran.stderr
    assert "train.jsonl is from" not in ran.stderr
    assert (out / "dev.jsonl").read_text() == kept


@pytest.mark.parametrize("report", ["", "[]", '{"rows": 5}', '{"rows": {"../x": 1}}'])
def test_a_report_that_is_not_ours_says_nothing_about_earlier_runs(
    report, reward, records, write, tmp_path
):
    out = tmp_path / "out"
    out.mkdir()
    (out / "report.json").write_text(report)
    source = write("test.jsonl", [records["finqa"](at) for at in range(3)])
    ran = reward("data", "prepare", "finqa", "--source", source, "--out", out)
    assert ran.exit_code == 0, ran.stderr
    assert "earlier run" not in ran.stderr


SHOP = {
    "db_id": "shop",
    "table_names_original": ["customers", "order lines"],
    "column_names_original": [[-1, "*"], [0, "id"], [0, "name"], [1, "customer"], [1, "2nd item"]],
    "column_types": ["text", "number", "text", "number", "text"],
    "primary_keys": [1, [3, 4]],
    "foreign_keys": [[3, 1]],
}
"""A schema as Spider's file of tables has it, with a key of two columns as BIRD's has them."""

SCHEMA = (
    "CREATE TABLE customers (id number, name text, PRIMARY KEY (id));\n"
    'CREATE TABLE "order lines" (customer number, "2nd item" text, '
    'PRIMARY KEY (customer, "2nd item"), FOREIGN KEY (customer) REFERENCES customers (id));\n'
)

ASKED = {"db_id": "shop", "question": "Who buys lamps? "}
GOLD = "SELECT name FROM customers"


@pytest.mark.parametrize(
    ("dataset", "tables", "record", "asked", "metadata"),
    [
        ("spider", "tables.json", ASKED | {"query": GOLD, "sql": {}}, "Who buys lamps?", {}),
        ("bird", "dev_tables.json", ASKED | {"SQL": GOLD}, "Who buys lamps?", {}),
        (
            "bird",
            "dev_tables.json",
            ASKED | {"SQL": GOLD, "evidence": "lamps are items", "difficulty": "simple"},
            "Who buys lamps?\nHint: lamps are items",
            {"difficulty": "simple"},
        ),
    ],
)
def test_a_question_about_a_database_brings_its_schema(
    dataset, tables, record, asked, metadata, reward, write, read, tmp_path
):
    write(f"public/{tables}", [SHOP])
    file = write("public/dev.json", [record])
    for source in (file, file.parent):
        out = tmp_path / source.stem
        ran = reward("data", "prepare", dataset, "--source", source, "--out", out)
        assert ran.exit_code == 0, ran.stderr
        (row,) = read(out / "dev.jsonl")
        assert prompt(row).startswith(f"{SCHEMA}\nQuestion: {asked}\n\n")
        assert "```sql\n<query>\n```" in prompt(row)
        assert row["reference_answer"] == {"sql": GOLD, "database": "shop"}
        assert row["metadata"] == metadata | {
            "dataset": dataset,
            "split": "dev",
            "database": "shop",
        }
        report = json.loads((out / "report.json").read_text())
        assert sorted(path.rpartition("/")[2] for path in report["sources"]) == sorted(
            ["dev.json", tables]
        )


@pytest.mark.parametrize(
    ("tables", "record", "said"),
    [
        (None, ASKED | {"query": GOLD}, "tables.json, which has the schemas, is not beside it"),
        ([{"db_id": "shop"}], ASKED | {"query": GOLD}, "no schema of a database"),
        ([SHOP | {"foreign_keys": [[3, 99]]}], ASKED | {"query": GOLD}, "no schema of a database"),
        ([SHOP], ASKED | {"query": " "}, "query is empty"),
        ([SHOP], ASKED | {"query": GOLD, "db_id": "zoo"}, "db_id is of no database in tables.json"),
        ([SHOP], {"query": GOLD, "db_id": "shop"}, "question is missing"),
    ],
)
def test_what_makes_no_row_of_a_database_is_named(tables, record, said, reward, write, tmp_path):
    if tables:
        write("public/tables.json", tables)
    file = write("public/dev.json", [record])
    ran = reward("data", "prepare", "spider", "--source", file, "--out", tmp_path / "out")
    assert ran.exit_code == 2
    assert said in " ".join(ran.stderr.split())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("dev", [True, False])
def test_spiders_training_split_is_read_as_its_archive_names_it(dev, reward, write, read, tmp_path):
    names = ["train_spider", "train_others", *(["dev"] if dev else [])]
    for name in names:
        write(f"public/{name}.json", [ASKED | {"question": f"Of {name}?", "query": GOLD}])
    tables = write("public/tables.json", [SHOP])
    out = tmp_path / "out"
    ran = reward("data", "prepare", "spider", "--source", tables.parent, "--out", out)
    assert ran.exit_code == 0, ran.stderr
    assert {row["metadata"]["split"] for row in read(out / "train.jsonl")} == {"train"}
    assert len(read(out / "train.jsonl")) == 2
    assert (out / "dev.jsonl").is_file() == dev
    report = json.loads((out / "report.json").read_text())
    assert len(report["sources"]) == len(names) + 1


def test_what_stands_in_an_archive_is_asked_for(reward, tmp_path):
    ran = reward("data", "prepare", "bird", "--out", tmp_path / "out")
    assert ran.exit_code == 2
    assert "give --source PATH" in " ".join(ran.stderr.split())
