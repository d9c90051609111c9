"""Prompts and responses beside their scores, found by id or by place."""

import json

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.view.entries import slug_of
from reward_functions.view.library import Library
from reward_functions.view.reading import Gone
from reward_functions.view.samples import ScoredSamples
from tests.view import made


def scored(*ids):
    row = {"aggregate_reward_score": 1.0, "metrics_list": []}
    return "".join(f"{json.dumps({'id': each} | row)}\n" for each in ids)


CASES = {
    # ids of the scores, ids of the samples: the answers that are shown
    "in another order": (["b", "a"], ["a", "b"], ["1", "0"]),
    "some of them": (["b"], ["a", "b"], ["1"]),
    "ids repeat": (["a", "a"], ["a", "a"], ["0", "1"]),
    "ids repeat, and rows are missing": (["a"], ["a", "a"], [None]),
    "an id of no sample": (["c", "a"], ["a", "b"], [None, "0"]),
}


@pytest.mark.parametrize("name", CASES)
def test_a_row_shows_the_sample_that_it_is_of(tmp_path, name):
    scores, samples, answers = CASES[name]
    (tmp_path / "scores.jsonl").write_text(scored(*scores))
    rows = [made.sample(at, f"the answer {at}") | {"id": each} for at, each in enumerate(samples)]
    source = made.write_samples(tmp_path / "samples.jsonl", rows)
    library = Library(tmp_path, samples=ScoredSamples.of(source))
    _, result = library.opened(slug_of("scores.jsonl"))
    for at, answer in enumerate(answers):
        case = result.case(at)
        shown = [text for name, text in case.quotations if "response" in name]
        assert shown == ([] if answer is None else [f"the answer {answer}"])
        assert ("reference", "42") in case.texts or answer is None


def test_samples_of_other_shapes_are_read_as_score_reads_them(tmp_path):
    (tmp_path / "scores.jsonl").write_text(scored("a"))
    (tmp_path / "s").write_text('{"id": "a", "question": "2+2?", "answer": "4", "response": "4"}\n')
    library = Library(tmp_path, samples=ScoredSamples.of(tmp_path / "s"))
    _, result = library.opened(slug_of("scores.jsonl"))
    assert result.case(0).texts[0] == ("prompt, 4 characters", "2+2?")


SHAPES = {
    # rows of a trainer, with no id: the ids of the scores, and what is shown of each
    "trl": (
        [{"prompt": f"p{at}", "completion": f"c{at}", "answer": "4"} for at in range(2)],
        {"sample-1": ("p1", "c1"), "sample-0": ("p0", "c0")},
    ),
    "several responses": (
        [{"id": "a", "prompt": "p", "responses": ["c0", "c1"], "answer": "4"}],
        {"a-2": ("p", "c1"), "a-1": ("p", "c0")},
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_rows_have_the_ids_that_score_gives_them(tmp_path, name):
    rows, expected = SHAPES[name]
    (tmp_path / "scores.jsonl").write_text(scored(*expected))
    text = "\n".join(["", *map(json.dumps, rows)])  # a blank line, and none at the end
    (tmp_path / "s").write_text(text)
    made.typed("score", "exact_match", tmp_path / "s", "-o", tmp_path / "theirs.jsonl")
    theirs = (tmp_path / "theirs.jsonl").read_text().splitlines()
    assert {json.loads(each)["id"] for each in theirs} == {*expected}
    library = Library(tmp_path, samples=ScoredSamples.of(tmp_path / "s"))
    _, result = library.opened(slug_of("scores.jsonl"))
    for at, (prompt, response) in enumerate(expected.values()):
        texts = result.case(at).texts
        assert [text for _, text in texts[:2]] == [prompt, response]


def test_samples_that_are_cut_short_meanwhile_are_left_out(tmp_path):
    (tmp_path / "scores.jsonl").write_text(scored("a", "b"))
    rows = [made.sample(at, "1") | {"id": each} for at, each in enumerate("ab")]
    source = made.write_samples(tmp_path / ".s", rows)
    library = Library(tmp_path, samples=ScoredSamples.of(source))
    _, result = library.opened(slug_of("scores.jsonl"))
    assert result.case(1).texts
    source.write_text("")
    assert result.case(1).texts == ()


OTHERS = [
    b"\xff\x00",
    b"[1, 2]\n",
    b'{"no": "id"}\n',
    b'{"messages": [{"role": "user", "content": "q"}]}\n' * 40
    + b'{"prompt": "p", "completion": "c"}',
]


@pytest.mark.parametrize("content", OTHERS)
def test_a_file_of_others_is_refused(tmp_path, content):
    (tmp_path / "s").write_bytes(content)
    with pytest.raises(ConfigurationError, match="name the file of JSON lines"):
        ScoredSamples.of(tmp_path / "s")


def test_a_file_that_is_missing_or_goes_is_a_sentence(tmp_path):
    with pytest.raises(Gone, match="none: there is no such file"):
        ScoredSamples.of(tmp_path / "none")
    (tmp_path / "scores.jsonl").write_text(scored("a"))
    source = made.write_samples(tmp_path / "s", [made.sample(0, "1") | {"id": "a"}])
    library = Library(tmp_path, samples=ScoredSamples.of(source))
    _, result = library.opened(slug_of("scores.jsonl"))
    source.unlink()
    assert result.case(0).quotations == ()
