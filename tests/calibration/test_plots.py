"""The charts of a card: what is drawn once, and what is left out."""

from xml.etree import ElementTree as ET

import pytest

from reward_functions.calibration import card
from reward_functions.calibration.asking import recorded
from reward_functions.calibration.figures import AGREEMENT, figures

SVG = "{http://www.w3.org/2000/svg}"
CLASSES = (0, 1, 2, 1, 2, 0, 1, 1)


def judged(read, *answers):
    rows = [
        {"id": str(at), "instruction": f"{at}?", "response1": "yes " * at, "response2": "no",
         "label": label, "judge": answer}
        for at, (label, answer) in enumerate(zip(CLASSES, answers, strict=True))
    ]  # fmt: skip
    cases = read(*rows)
    return cases, figures(cases, recorded(cases, "judge"))


def texts(chart):
    return [text.text for text in ET.fromstring(chart.picture()).iter(f"{SVG}text")]


def test_without_invalid_verdicts_the_three_ways_are_one_series(read):
    chart = card.agreement(judged(read, 0, 1, 2, 2, 2, 0, 1, 0)[1])
    assert "the judge" in texts(chart)
    assert not any("invalid " in text and "," not in text for text in texts(chart))
    assert chart.drawn.count('<path class="la"') == len(AGREEMENT)
    assert 'class="lb"' not in chart.drawn


def test_ways_that_differ_are_series_of_their_own(read):
    chart = card.agreement(judged(read, 0, 1, 2, None, None, 0, 1, 0)[1])
    named = [text for text in texts(chart) if text.startswith("invalid ")]
    assert named == ["invalid as wrong", "invalid left out", "invalid imputed"]
    for series in "abc":
        assert chart.drawn.count(f'<path class="l{series}"') == len(AGREEMENT)


def test_the_matrix_has_every_case(read):
    cases, found = judged(read, 0, 1, 2, None, 2, 0, 1, 0)
    counts = texts(card.both(cases, found))[-15:]
    assert sum(int(count) for count in counts if count.isdigit()) == len(CLASSES)


def test_the_chart_of_length_says_its_unit(read):
    chart = card.length(judged(read, 0, 1, 2, 1, 2, 1, 1, 0)[1])
    assert "length in doublings: +1 is twice as many characters" in texts(chart)
    assert "judge minus people; 0 is no bias" in texts(chart)


@pytest.mark.parametrize("answers", [[None] * len(CLASSES)])
def test_without_a_valid_verdict_there_is_no_chart_of_length(read, answers):
    found = judged(read, *answers)[1]
    assert card.length(found) is None
    ET.fromstring(card.agreement(found).picture())
