"""The report of a scored batch in a notebook: correct and harmless, whatever was scored."""

import pytest

from helpers.reading import score_report
from helpers.sample_data import demo_samples
from reward_functions import Unscored, get, sample
from reward_functions.core.errors import BadSample
from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel
from reward_functions.judge_runtime.panel import JudgePool
from reward_functions.testing import FakeAsk

HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e"


@pytest.fixture
def judged(tmp_path):
    """The report of what a model decides on a hostile response, by the rubric of the judge."""
    model = JudgeModel(model="fake", backend="openai", endpoint="http://127.0.0.1:9/v1")
    asked = FakeAsk(answer=lambda question: {
        each.name: HOSTILE for each in question.fields if each.name.endswith("_reason")
    })  # fmt: skip
    pool = JudgePool(JudgeConfig(models=(model,)), asks={"fake": asked})
    rows = [sample(HOSTILE, prompt="Say something.")]
    return score_report(pool.batch(get("rubric")), rows, tmp_path / "page.html")


def test_the_page_and_the_figures_are_those_of_the_batch(tmp_path):
    report = score_report(get("gsm8k"), demo_samples("gsm8k"), tmp_path / "page.html")
    rows = {row[0]: row[1] for row in report._shown().sheets[0].rows}
    assert (rows["rows"], rows["scored"], rows["unscored"]) == ("16", "14", "2")
    assert "<h1>Rewards of gsm8k</h1>" in (tmp_path / "page.html").read_text()
    assert "rows at the minimum" in report.charts._repr_svg_()


def test_where_nothing_was_scored_the_charts_say_so(tmp_path):
    rows = [Unscored("a", BadSample("no messages"))]
    report = score_report(get("gsm8k"), rows, tmp_path / "page.html")
    assert "none was scored" in report.charts._repr_svg_()
    assert report.decided(0).sheets[0].rows == []


def test_the_evidence_of_a_judge_is_escaped(judged):
    shown = judged.decided(0)
    assert shown.sheets[0].rows[0][1:3] == ["0", "on_task"]
    shown_texts = [shown._repr_html_(), judged.criteria._repr_html_(), judged._repr_html_()]
    for each in ("<script", "\x1b", "\u202e"):
        assert not [text for text in shown_texts if each in text]
