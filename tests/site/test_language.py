"""Pages, docstrings and messages speak in sentences that one reads once."""

import pytest

from tests.language import (
    ROOT,
    faults,
    in_docstrings,
    in_messages,
    in_page,
    of_code,
    of_pages,
    sentences,
    words,
)

MOST = 60_000
"""Words of prose below docs/, without decisions, generated parts and code."""

DOCSTRINGS = 20
"""Findings that public docstrings may have."""

MESSAGES = 12
"""Strings with a turn of `WORDS`: patterns, prompts of a judge, and comments of a drawing."""


@pytest.mark.parametrize("page", of_pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_has_no_sentence_that_one_reads_twice(page):
    assert in_page(page) == []


def test_the_pages_together_are_short():
    assert sum(words(page) for page in of_pages() if page.is_relative_to(ROOT / "docs")) <= MOST


def test_docstrings_have_few():
    found = [each for file in of_code() for each in in_docstrings(file)]
    assert len(found) <= DOCSTRINGS, "\n".join(map(str, found))


def test_messages_have_few():
    found = [each for file in of_code() for each in in_messages(file)]
    assert len(found) <= MESSAGES, "\n".join(map(str, found))


SENTENCES = {
    # a sentence, and what is wrong with it
    "You deploy the stage.": [],
    "Who may invoke it is the stage's affair.": ["relative"],
    "What does it cost?": [],
    "What to do next": [],
    "The line behind it counts.": ["behind"],
    "Whoever deploys pays for it.": ["relative", "whoever"],
    "Without a bucket there is none.": ["is none"],
    "Its unit is none of the three.": [],
    "Arguments as there.": ["as there"],
    "Nothing, where it is whole.": ["Nothing, where"],
    " ".join(["word"] * 35) + ".": [],
    " ".join(["word"] * 36) + ".": ["long"],
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_fault_is_seen(sentence):
    assert list(faults(sentence)) == SENTENCES[sentence]


def test_code_links_headings_and_labels_are_no_part_of_a_sentence():
    page = (
        "# What a reward costs when it is called often\n\n"
        "**What ran where.** Type `whoever is behind it`. Read [it](behind.md).\n\n"
        "- One item.\n- Another item: it goes on.\n\n| a | b |\n"
    )
    assert list(sentences(page)) == [
        "What ran where.",
        "Type CODE.",
        "Read it.",
        "One item.",
        "Another item: it goes on.",
        "a",
        "b",
    ]
