"""The drawn pictures can be read: words fit their boxes, and stand out from what is behind them."""

from itertools import combinations, product
from xml.etree import ElementTree as ET

import pytest

from reward_functions.reports.pages.charts.drawing import PALETTE
from tests.contrast import contrast
from tests.diagrams import LOOKS, Arrow, Box, Diagram, Text, Words, surface_of, width_of
from tests.pictures import PICTURES

SCHEMES = ("light", "dark")


def boxes(diagram):
    return [shape for shape in diagram.shapes if isinstance(shape, Box)]


def apart(one, other):
    return (
        one.x + one.width <= other.x
        or other.x + other.width <= one.x
        or one.y + one.height <= other.y
        or other.y + other.height <= one.y
    )


def holds(outer, inner):
    return (
        outer.x < inner.x
        and outer.y < inner.y
        and inner.x + inner.width < outer.x + outer.width
        and inner.y + inner.height < outer.y + outer.height
    )


@pytest.fixture(params=PICTURES)
def diagram(request):
    return PICTURES[request.param]()


def test_words_fit_their_box(diagram):
    for box in boxes(diagram):
        for words in box.words:
            assert width_of(words) <= box.width - 4, f"{words.text!r} is too long for its box"


def test_boxes_are_apart_or_one_holds_the_other(diagram):
    for one, other in combinations(boxes(diagram), 2):
        assert apart(one, other) or holds(one, other) or holds(other, one), (one, other)


def test_everything_is_within_the_picture(diagram):
    card = Box(0, 0, diagram.width, diagram.height)
    assert all(holds(card, box) for box in boxes(diagram))


def test_every_word_of_the_picture_is_seen_and_its_sense_is_heard(diagram):
    tree = ET.fromstring(diagram.svg())
    assert tree.attrib["role"] == "img"
    named = {each.attrib.get("id"): each.text for each in tree}
    assert named["title"] == diagram.title
    assert len(named["description"]) > 200


@pytest.mark.parametrize(("look", "scheme"), list(product(LOOKS, SCHEMES)))
def test_words_stand_out_from_their_surface(look, scheme):
    paper = getattr(PALETTE["paper"], scheme)
    for name in ("ink", LOOKS[look].words):
        words = getattr(PALETTE[name], scheme)
        assert contrast(words, surface_of(look, scheme)) >= 4.5
        assert contrast(words, paper) >= 4.5


@pytest.mark.parametrize("scheme", SCHEMES)
def test_soft_words_and_arrows_stand_out(scheme):
    faint = getattr(PALETTE["faint"], scheme)
    for look in LOOKS:
        assert contrast(faint, surface_of(look, scheme)) >= 4.5


def test_a_corner_is_rounded_and_its_ends_stay():
    drawn = Arrow(((0, 0), (50, 0), (50, 50))).drawn()
    assert 'd="M0 0 L42 0 Q50 0 50 8 L50 50"' in drawn


def test_words_are_escaped():
    line = Text(0, 0, (Words("<script>"),))
    assert "<script>" not in Diagram("a < b", "c & d", 10, 10, (line,)).svg()
