"""A judge by a rubric file: what a reader gets wrong is a sentence, and scripts decide by rule."""

import json

import pytest

from helpers.faithfulness import (
    HALF,
    RATERS,
    UNFAITHFUL,
    WHOLE,
    answers,
    labelled_answers,
    rows,
    verdict,
)
from helpers.rubric_judge import of_bedrock, rubric_judge
from reward_functions.calibration.estimating import TrainingRun
from reward_functions.core.errors import BadJudge

RUBRIC = """
version = 1

[[criteria]]
id = "kind"
text = "The response is kind."

[[examples]]
kind = "positive"
prompt = "Say something."
response = "Well done."
score = 1.0
verdicts = [{ kind = "yes" }]
"""


@pytest.fixture
def written(tmp_path):
    return lambda text: rubric_judge(tmp_path / "rubric.toml", text)


def test_a_worked_example_earns_what_its_decisions_come_to(written):
    (sheet,) = written(RUBRIC).worked().sheets
    assert sheet.rows == [["positive", "Well done.", "1", "ok", "kind yes"]]


def test_a_worked_example_that_says_another_score_is_seen(written):
    (sheet,) = written(RUBRIC.replace('"yes" }', '"no" }')).worked().sheets
    assert sheet.rows[0][2:4] == ["0", "not 1"]


def test_a_file_that_is_written_again_is_read_again(written):
    assert "kind" in repr(written(RUBRIC))
    assert "polite" in repr(written(RUBRIC.replace('id = "kind"', 'id = "polite"')))


def test_a_rubric_without_criteria_is_one_sentence(written):
    with pytest.raises(BadJudge, match="it has no criteria"):
        written("version = 1")


def test_a_script_that_is_none_is_named(written):
    with pytest.raises(KeyError, match="script-wrods"):
        written(RUBRIC).asked_of("script-wrods")


def test_a_model_without_a_price_costs_nobody_knows_what(written):
    run = TrainingRun(prompts=10, batch_size=5, samples=2, epochs=1)
    priced, unknown = "amazon.nova-lite-v1:0", "a-model-of-ours"
    panels = {"priced": of_bedrock(priced), "unknown": of_bedrock(unknown)}
    (sheet,) = written(RUBRIC).cost(run, panels).sheets
    dollars = {row[0]: row[-1] for row in sheet.rows}
    assert dollars == {"priced": "0.00", "unknown": "unknown"}


def test_every_label_occurs_and_every_question_has_eight_answers(tmp_path):
    written = labelled_answers(tmp_path / "cases.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in written] == [*rows()]
    assert {row["label"] for row in rows()} == {WHOLE, HALF, UNFAITHFUL}
    assert len(written) == 30 * 8
    assert len({row["id"] for row in rows()}) == len(written)
    assert len({sample.prompt for sample in answers(16)}) == 2


ASKED = "About the mill: when did it open, and who planned it?"
PASSAGES = "The mill opened in 1841. The plans are by Ada Finch."

DECIDED = [
    ("It opened in 1841. The plans are by Ada Finch.", (True, True, True), "fully"),
    ("It opened in 1841.", (True, True, True), "partly"),
    ("The plans are by Karl Friedmann.", (False, True, False), "partly"),
    ("It opened in 1851.", (False, False, True), "partly"),
    ("Nobody remembers anything whatsoever.", (False, True, False), "not"),
]
"""(response, what by words, by numbers, by half is supported, how much it answers)"""


@pytest.mark.parametrize(("response", "supported", "answered"), DECIDED)
def test_a_script_decides_by_its_rule(response, supported, answered):
    data = {"prompt": ASKED, "material": PASSAGES, "response": response}
    text = "\n".join(
        f'<data name="{name}" mark="0">\n{json.dumps(value)}\n</data mark="0">'
        for name, value in data.items()
    )
    found = [verdict(text, rule) for rule in RATERS.values()]
    assert tuple(each["supported"] == "yes" for each in found) == supported
    assert {each["answers"] for each in found} == {answered}
    assert found[0]["answers_quote"] in response
