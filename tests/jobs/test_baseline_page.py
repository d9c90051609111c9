"""The page of a baseline: its verdicts, its figures, its reasons; a model's words are escaped."""

from reward_functions.jobs.baseline import EXAMPLE, Baseline, Reason, judged, page
from reward_functions.reports.statistics import Share, share
from tests.parsed_page import harmless

HOSTILE = "</pre><script>alert(1)</script>\x1b[31m\u202e"

BASELINE = Baseline(
    prompts=20,
    each=4,
    scored=78,
    unscored=2,
    mean=Share(0.41, 0.30, 0.52),
    at_minimum=share(46, 78, 20),
    at_maximum=share(32, 78, 20),
    mixed=share(9, 20, 20),
    cut=share(12, 80, 20),
    filtered=0,
    output=412.5,
    reasons=(
        Reason("the last #### equals the reference", 32, 1.0, "train.jsonl, line 4", "#### 42"),
        Reason("there is no ####", 30, 0.0, "train.jsonl, line 9", f"{'x' * 500}{HOSTILE}"),
    ),
    errors={f"JudgeUnavailable: {HOSTILE}": 2},
)


def shown(baseline, findings=()):
    return harmless(page(baseline, findings, "nova", [("grader", HOSTILE)]).html())


def test_what_a_job_can_learn_comes_first_and_every_figure_is_there():
    parsed = shown(BASELINE, list(judged(BASELINE)))
    assert [words for order, words in parsed.headings if order == 2] == [
        *("What a job can learn from it", "What it earns", "Reasons", "Without a reward"),
    ]
    for words in ("41.0%", "30.0% to 52.0%", "20 × 4", "412", "15.0% of the answers reach"):
        assert words in parsed.text
    assert parsed.tags["svg"] == 2
    begin = "Worst finding. 2 answers have no reward: JudgeUnavailable"
    assert parsed.text.index(begin) < parsed.text.index("Also. 15.0% of the answers reach")


def test_the_words_of_a_model_and_of_a_service_are_escaped_and_short():
    parsed = shown(BASELINE)
    assert parsed.text.count("<script>") >= 3
    assert "x" * EXAMPLE not in parsed.text


def test_a_baseline_of_nothing_scored_has_a_page_and_says_so():
    none = dict.fromkeys(("mean", "at_minimum", "at_maximum", "mixed"))
    nothing = BASELINE.model_copy(update=none | {"scored": 0, "reasons": ()})
    parsed = shown(nothing, list(judged(nothing)))
    assert "Worst finding. No answer of the model was scored." in parsed.text
    assert "share cut off" in parsed.text
    assert "share at the minimum" not in parsed.text
