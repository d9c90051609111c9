"""The largest of each kind that is read, and one more."""

import pytest

from reward_functions.core.types import FunctionCall, Message, Sample
from reward_functions.extraction.called_tools import called_tools
from reward_functions.extraction.candidates.boxes import boxes_in
from reward_functions.extraction.candidates.candidate import whole_response
from reward_functions.extraction.candidates.echoes import echoed_value
from reward_functions.extraction.candidates.endings import complement, last_sentence
from reward_functions.extraction.candidates.math_spans import last_span
from reward_functions.extraction.candidates.other_languages import value_elsewhere
from reward_functions.extraction.candidates.predicates import sentence_value
from reward_functions.extraction.candidates.statements import (
    is_heading,
    last_hash_marker,
)
from reward_functions.extraction.choices import lettered, options_of
from reward_functions.extraction.cues.matching import response_ends
from reward_functions.extraction.markup import plain
from reward_functions.extraction.option_sets import option_set
from reward_functions.extraction.prompt_formulas import asked_formulas, formulas
from reward_functions.extraction.tool_call_forms import text_tool_calls
from reward_functions.extraction.visible import visible_response

OPTIONS = {"A": "one", "B": "two"}


def padded(size, before, after):
    """A text of a size, with one long word in its middle."""
    return before + "x" * (size - len(before) - len(after)) + after


def sentence(size):
    return padded(size, "The total of ", " is 7")


def line(size):
    return padded(size, "It holds for ", ". The total is 7.")


def calls(size):
    return '<tool_call>{"name": "f", "arguments": {}}</tool_call>' * size


def asking(size):
    return f"Find ${padded(size, '1+', '2')}$."


def called(arguments):
    turn = Message("assistant", "", (FunctionCall("f", arguments),))
    return called_tools(Sample(id="1", messages=(turn,))).calls[0].name


READ = [
    # what grows, its most, whether one of a size is read
    ("a response that is its answer", 200, lambda size: whole_response("7" * size)),
    ("a last line", 400, lambda size: last_sentence(line(size))),
    ("a last line that says what it is", 400, lambda size: complement(line(size))),
    ("a last line without a full stop", 200, lambda size: last_sentence(sentence(size))),
    ("a sentence", 600, lambda size: sentence_value(sentence(size))),
    ("a German sentence", 300, lambda size: value_elsewhere(padded(size, "Die ", " beträgt 7"))),
    (
        "a repeated question",
        200,
        lambda size: echoed_value(
            padded(size, "Ann has ", " 7 eggs"), padded(size, "How many ", " eggs has Ann?")
        ),
    ),
    ("a line behind a marker", 200, lambda size: not is_heading(sentence(size))),
    (
        "blanks behind a marker",
        198,
        lambda size: last_hash_marker(f"####\n{' ' * (size - 1)}7\n").text,
    ),
    (
        "headings behind an answer",
        49,
        lambda size: last_hash_marker("#### 7\n" + "#### Check\n" * size),
    ),
    ("a text with a formula", 20_000, lambda size: last_span("$7$".ljust(size, "x"))),
    ("boxes", 100, lambda size: len(boxes_in(r"\boxed{7}" * size)) == size),
    ("marks behind an answer", 16, lambda size: response_ends("7" + "." * size, 1)),
    ("an answer in bold", 4000, lambda size: plain(padded(size, "**", "**")).startswith("x")),
    ("an option", 2000, lambda size: lettered(padded(size, "(C) ", "."))),
    ("options", 2000, lambda size: option_set("A" + " " * (size - 6) + "and B", OPTIONS)),
    ("an integer that is an option", 10**15 - 1, lambda size: options_of([size, 1])),
    ("a formula of a prompt", 300, lambda size: size in map(len, formulas(asking(size)))),
    (
        "a formula that is asked for",
        300,
        lambda size: size in map(len, asked_formulas(asking(size))),
    ),
    ("calls", 128, lambda size: text_tool_calls(calls(size), None)[1]),
    ("a text with a call", 1_000_000, lambda size: text_tool_calls(calls(1).rjust(size), None)[1]),
    ("arguments", 1_000_000, lambda size: called(padded(size, '{"a": "', '"}'))),
    (
        "a prompt whose sentences are no answer",
        20_000,
        lambda size: (
            not visible_response("The answer is 7.", "The answer is 7.\n".ljust(size, "x"))
        ),
    ),
]


@pytest.mark.parametrize(("grows", "most", "read"), READ, ids=[row[0] for row in READ])
def test_it_is_read_up_to_its_limit(grows, most, read):
    assert read(most)
    assert not read(most + 1)


@pytest.mark.parametrize(
    ("prompt", "seen"), [("3 + 45 = 48 or ?", ""), ("3 + 45 = 48 or", "3 + 45 = 48 or")]
)
def test_a_prompt_of_fifteen_characters_is_no_echo(prompt, seen):
    assert visible_response(prompt, prompt).strip() == seen
