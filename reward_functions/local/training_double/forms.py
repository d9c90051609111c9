r"""The forms in which prompts ask for an answer.

`####`, a box, an ANSWER line, a tag, a JUDGMENT line (of two responses), a sentence.

The form a prompt names last is the one it asks for. Where it names none, the reference shows one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from reward_functions.data.answer_kinds import BOXED


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """A row of the table.

    Args:
        name: of the form.
        asked: what a prompt holds that asks for it; None for one that none asks for.
        lines: ways to write an answer in it, `%s` being the answer.
        empty: the form with no content.
        alternative: stands between two answers in it.
    """

    name: str
    asked: re.Pattern[str] | None
    lines: tuple[str, ...]
    empty: tuple[str, ...]
    alternative: str = " or "


HASH: Final = AnswerForm("####", re.compile("####"), ("#### %s",), ("####", "#### <number>"))

BOX: Final = AnswerForm(
    "box",
    BOXED,
    (r"\boxed{%s}", r"The answer is $\boxed{%s}$.", r"So the final answer is $\boxed{%s}$."),
    (r"\boxed{}", r"The answer is $\boxed{}$."),
    r" \text{ or } ",
)

ANSWER_LINE: Final = AnswerForm(
    "ANSWER:",
    re.compile(r"\banswer\s?:", re.IGNORECASE),
    ("ANSWER: %s",),
    ("ANSWER:", "ANSWER: <value>"),
)

ANSWER_TAG: Final = AnswerForm(
    "<answer>",
    re.compile("<answer>"),
    ("<answer>%s</answer>",),
    ("<answer></answer>", "<answer>…</answer>"),
)

JUDGMENT_LINE: Final = AnswerForm(
    "JUDGMENT:",
    re.compile(r"\bjudge?ment\s?:", re.IGNORECASE),
    ("JUDGMENT: %s",),
    ("JUDGMENT:", "JUDGMENT: [Response 1 / Response 2 / Tie]"),
)

SENTENCE: Final = AnswerForm(
    "sentence",
    None,
    ("The answer is %s.", "So the answer is %s."),
    ("The answer is as follows.", "The answer is:"),
)

FORMS: Final = (HASH, BOX, ANSWER_LINE, ANSWER_TAG, JUDGMENT_LINE, SENTENCE)


def asked_for(prompt: str) -> AnswerForm | None:
    """The form that a prompt names last; None where it names none."""
    found: list[tuple[int, AnswerForm]] = []
    for form in FORMS:
        places = [match.start() for match in form.asked.finditer(prompt)] if form.asked else []
        found += [(places[-1], form)] if places else []
    return max(found, key=lambda pair: pair[0])[1] if found else None
