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


@pytest.mark.parametrize("content", [b"\xff\x00", b"[1, 2]\n", b'{"no": "id"}\n'])
def test_a_file_of_others_is_refused(tmp_path, content):
    (tmp_path / "s").write_bytes(content)
    with pytest.raises(ConfigurationError, match="name the file of JSON lines"):
        ScoredSamples.of(tmp_path / "s")


def test_a_file_that_is_missing_or_goes_is_a_sentence(tmp_path):
    with pytest.raises(Gone, match="is not there"):
        ScoredSamples.of(tmp_path / "none")
    (tmp_path / "scores.jsonl").write_text(scored("a"))
    source = made.write_samples(tmp_path / "s", [made.sample(0, "1") | {"id": "a"}])
    library = Library(tmp_path, samples=ScoredSamples.of(source))
    _, result = library.opened(slug_of("scores.jsonl"))
    source.unlink()
    assert result.case(0).quotations == ()
