"""Rows that are written in a shape are read back as they were, but for what is reported lost."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from reward_functions.cli import app
from reward_functions.data.rows.shapes import canonical, fitting
from reward_functions.data.rows.writing import WRITERS, write

TEXT = st.text('a1 \n\r\t\0"\\{}[],é漢😀\u2028\ufeff', max_size=12)
ROWS = st.fixed_dictionaries(
    {
        "id": st.text("abc123", min_size=1, max_size=5),
        "messages": st.builds(
            lambda system, question, answer: [
                *([{"role": "system", "content": system}] if system else []),
                {"role": "user", "content": question},
                *([{"role": "assistant", "content": answer}] if answer is not None else []),
            ],
            st.none() | st.just("Be brief."),
            TEXT,
            st.none() | TEXT,
        ),
        "reference_answer": TEXT | st.lists(TEXT, min_size=1, max_size=3),
    },
    optional={"metadata": st.dictionaries(st.sampled_from(["page", "split"]), TEXT, min_size=1)},
)


@pytest.mark.parametrize("target", WRITERS)
@given(row=ROWS)
@settings(derandomize=True, max_examples=25)
def test_what_is_written_is_read_back(target, row):
    written = write(row, target)
    json.dumps(written.content)
    shapes = fitting(written.content)
    assert len(shapes) == 1, [shape.name for shape in shapes]
    (back,) = canonical(written.content, shapes[0].columns)
    if written.lost:
        return
    assert (back["id"], back["messages"]) == (row["id"], row["messages"])
    assert back["reference_answer"] == row["reference_answer"]
    assert back.get("metadata", {}).items() >= row.get("metadata", {}).items()


SYSTEM = {
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "6*7?"},
        {"role": "assistant", "content": [{"type": "image"}, {"type": "text", "text": "42"}]},
    ],
    "reference_answer": ["42", "42.0"],
    "metadata": {"answer": "x"},
}
LOST = {
    "bedrock": set(),
    "openai": set(),
    "trl-chat": {"metadata under a name that the shape uses"},
    "trl": {
        "turns before the last question",
        "content that is not text",
        "metadata under a name that the shape uses",
    },
    "qrr": {"turns before the last question", "content that is not text"},
    "verl": {"content that is not text"},
    "sagemaker": {"content that is not text"},
    "sagemaker-eval": {"a response: the evaluation job asks the model"},
    "verifiers": {"a reference that is not a string"},
}


@pytest.mark.parametrize("target", WRITERS)
def test_what_a_shape_has_no_place_for_is_named(target):
    assert set(write(SYSTEM, target).lost) == LOST[target]


def convert(*args):
    return CliRunner().invoke(app, ["data", "convert", *map(str, args)])


def test_a_conversion_reports_what_it_leaves_out_once_with_a_count(tmp_path):
    file, out = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    file.write_text(f"{json.dumps(SYSTEM)}\n" * 3)
    ran = convert(file, "--to", "trl", "-o", out)
    assert ran.exit_code == 1
    assert ran.stderr.count("left out, trl has no place for it") == 3
    assert "turns before the last question (3 rows)" in ran.stderr
    assert len(out.read_text().splitlines()) == 3


BAD = {
    "an unknown shape": (["--to", "trll"], "Did you mean 'trl'?"),
    "a broken line": (["--to", "trl"], "line 2, column 1: not JSON"),
}


@pytest.mark.parametrize(("args", "complaint"), BAD.values(), ids=BAD)
def test_a_conversion_that_fails_leaves_nothing(args, complaint, tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text(f"{json.dumps(SYSTEM)}\noops\n")
    ran = convert(file, *args, "-o", tmp_path / "out.jsonl")
    assert (ran.exit_code, ran.stderr.count("\n")) == (2, 1)
    assert complaint in ran.stderr
    assert list(tmp_path.iterdir()) == [file]


def test_a_conversion_never_replaces_its_own_file(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text(f"{json.dumps(SYSTEM)}\n")
    before = file.read_bytes()
    assert convert(file, "--to", "trl", "-o", file).exit_code == 2
    assert file.read_bytes() == before
