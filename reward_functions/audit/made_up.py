"""An answer to a row that nobody has, written as one to a row of the data: a log may hold it.

A class writes its answer once more, to a row whose right answer is of the same kind and stands in
the same form. That form is what all right answers of the data have around their last number or
word. It writes no such row where they have nothing alike, where a letter or digit of the form is
the reference's, and where the class has another number of answers to the row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.audit.corpus import ASKED, AnswerClass, Corpus, last_answer
from reward_functions.audit.gold import reference_words
from reward_functions.audit.other_answers import ReplayCase
from reward_functions.audit.results import both_ends
from reward_functions.core.types import sample
from reward_functions.reports.pages.charts.drawing import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

RIGHTS: Final[Sequence[tuple[str, str]]] = (
    ("42", "17"),
    ("1042", "1017"),
    ("8.5", "3.5"),
    ("3/4", "1/2"),
    ("yes", "no"),
    ("true", "false"),
    ("B", "C"),
    ("Paris", "Rome"),
)
"""Right answers of a kind each, with a wrong one."""

ROOM: Final = 120
"""Characters of an answer, half of them of its end."""

WORDS: Final = frozenset({"yes", "no", "true", "false"})


def made_up(answers: AnswerClass, case: ReplayCase, corpus: Corpus, way: int) -> str:
    """The answer that a class writes to a made-up row in the same way; "" without one.

    It is on one line and printable.

    Args:
        answers: the class.
        case: the row of the data.
        corpus: all rows.
        way: the position of the answer among those to the row.
    """
    found, rights = last_answer(case.right), corpus.rights
    if found is None or len(rights) == 1:
        if answers.needs_right:
            return ""
        found = "", "", ""
    before, answer, after = found
    if not all(each.startswith(before) and each.endswith(after) for each in rights):
        return ""
    known = reference_words(case.sample) or ""
    if known in case.right and any(map(str.isalnum, known.replace(answer, "", 1))):
        return ""
    asked = " ".join(sign for sign, form in ASKED.items() if form in corpus.asked)
    of = len(answers.ways(case, corpus))
    for pair in (each for each in RIGHTS if _kind(each[0]) == _kind(answer)):
        texts = [f"{before}{each}{after}" for each in pair]
        row = sample("", pair[0], prompt=f"What is it? {asked}".strip())
        one, other = (ReplayCase("", row, *each) for each in (texts, texts[::-1]))
        ways = answers.ways(one, Corpus([one, other]))
        if len(ways) == of:
            shown = printable(both_ends(ways[way], ROOM), 2 * ROOM)
            return f"'{shown}' where {pair[0]} is right"
    return ""


def _kind(answer: str) -> tuple[bool, bool, bool]:
    return answer.isalpha(), len(answer) == 1 and answer.isalpha(), answer.lower() in WORDS
