"""A response ends and begins without the markers of its turn, and keeps what is text."""

import pytest

from reward_functions.core.turn_markers import within_turn, without_line_ends


@pytest.mark.parametrize(
    ("text", "kept", "within"),
    [
        ("5", "", "5"),
        ("<s>5</s>", "", "5"),
        ("<s><s>5", "", "5"),
        ("<s>6</s>5", "", "<s>6</s>5"),
        ("<|im_start|>assistant\n5", "", "\n5"),
        ("5<|im_end|>", "", "5"),
        ("5</b>", "", "5"),
        ("<b>5</b>", "", "<b>5</b>"),
        ("<think>6</think>5<|im_end|>", "", "<think>6</think>5"),
        ("5</think>", "", "5</think>"),
        ("<|im_end|>", "", ""),
        ("  <s>", "", "  "),
        ("5<pad>", "", "5"),
        ("<s><pad>", "<pad>", "<s><pad>"),
        ("</s><s>", "<s>", "</s><s>"),
    ],
)
def test_the_markers_around_a_response_are_no_part_of_it(text, kept, within):
    assert within_turn(text, kept) == within


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("5</s>\n6<|im_end|>\n", "5\n6\n"),
        ("<s>5", "<s>5"),
        ("x: <pad>5", "x: 5"),
        ("x: <pad> 5", "x: <pad> 5"),
        ("a <b>5</b>\n", "a <b>5</b>\n"),
        ("5</b>\n", "5\n"),
        ("<think>\n5\n</think>\n", "<think>\n5\n</think>\n"),
        ("x < 5", "x < 5"),
    ],
)
def test_the_markers_that_end_lines_are_no_part_of_them(text, without):
    assert without_line_ends(text) == without
