r"""The last `\boxed{…}` of a response, or the last run of them.

Boxes joined by nothing but white space, punctuation, "and", "or" or the part of a question they
answer ("for part (a)") state one list: `\boxed{1}` and
`\boxed{2}` is the pair, so that boxing every candidate is an answer of many values, not a choice.
Only as much of the response is read as the last run needs, from its end backwards.
"""

from __future__ import annotations

from typing import Final

from reward_functions.core import patterns as re
from reward_functions.extraction.candidates.candidate import Candidate
from reward_functions.extraction.cues import clauses as cases
from reward_functions.extraction.cues import endings
from reward_functions.extraction.cues import formulas as words
from reward_functions.extraction.cues.compiling import says
from reward_functions.extraction.cues.matching import disqualifying_cue
from reward_functions.extraction.latex_groups import group_end

COMMAND: Final = "\\boxed"
_BRACED: Final = re.compile(r"\s{0,8}\{")
_BARE: Final = re.compile(r"\s{0,8}([^\s${}\\.,;]{1,80})")
_COMMENT: Final = re.compile(r"(?<!\\)%")

SIGN_REACH: Final = 40
"""Characters before a box that its sign may be spread over: `= -\\left( \\color{red} \\,$`."""

MAX_NESTED: Final = 4
"""Boxes around a box that are looked for."""

MAX_BOXES: Final = 100
"""Boxes of one list; of a longer one the last that many are read, and it equals nothing shorter."""


def last_boxed(text: str) -> Candidate | None:
    r"""The last run of boxes, or None where nothing is boxed.

    A sign glued to the front of a box belongs to it: `-\boxed{5}` is −5, `\pm\boxed{5}` is ±5. A
    box inside another is part of it. An empty box, or `\boxed{...}`, after a filled one mentions
    the format. Linear.
    """
    start = text.rfind(COMMAND)
    if start < 0:
        return None
    box, before = _outermost(text, start)
    for _ in range(MAX_BOXES):
        if box is None or before < 0 or not words.MENTION.fullmatch(box.text):
            break
        earlier, further = _outermost(text, before)
        if earlier is None or _joined(text, earlier.end, box.start):
            break
        box, before = earlier, further
    if box is None:
        return Candidate("box", "", start, len(text), boxes=0)
    if before < 0:
        return box
    run = [box]
    while len(run) < MAX_BOXES and before >= 0:
        earlier = _box(text, before)
        if earlier is None or not _joined(text, earlier.end, run[-1].start):
            break
        run.append(earlier)
        before = text.rfind(COMMAND, 0, before)
    if len(run) == 1 or _is_derivation([each.text for each in reversed(run)]):
        return box
    run.reverse()
    return Candidate("box", ", ".join(_named(text, run)), run[0].start, box.end, boxes=len(run))


def _is_derivation(run: list[str]) -> bool:
    """Whether the boxes before the last one are steps to it, in sentences, and no other answers."""
    *steps, last = run
    if not any(map(words.BOX_STEP.search, steps)):
        return False
    name = last.partition("=")[0].strip()
    return not any(
        not (words.BOX_STEP.search(step) or words.BOX_RELATION.search(step))
        or step.partition("=")[0].strip() == name
        or cases.CASED.search(step)
        or says(step, cases.HEDGED)
        for step in steps
    )


def _named(text: str, run: list[Candidate]) -> list[str]:
    """What a run of boxes holds, with the names before them where each has one of its own."""
    named = [words.BOX_NAME.search(text, max(0, box.start - SIGN_REACH), box.start) for box in run]
    names = {found[1] for found in named if found}
    if len(names) < len(run):
        return [box.text for box in run]
    return [f"{found[1]}{box.text}" for found, box in zip(named, run, strict=True) if found]


def boxes_in(text: str) -> list[str]:
    """The contents of the boxes of a text, the first `MAX_BOXES` of them."""
    found: list[str] = []
    start = text.find(COMMAND)
    while start >= 0 and len(found) < MAX_BOXES:
        box = _box(text, start)
        found.append(box.text if box else "")
        start = text.find(COMMAND, start + 1)
    return found


def labelled_boxes(text: str) -> list[str]:
    """The contents of a response's boxes, where each but the first has a label; else nothing.

    "The maximum is [9] and the minimum is [-7]." No label may deny, and none names a step.
    """
    found: list[Candidate] = []
    start = text.find(COMMAND)
    while start >= 0:
        box = _box(text, start)
        if box is None or (found and not _labelled(text, found[-1].end, box.start)):
            return []
        if disqualifying_cue(text, box.start, box.end, form="box"):
            return []
        found.append(box)
        start = text.find(COMMAND, box.end)
    return [box.text for box in found]


def _labelled(text: str, end: int, start: int) -> bool:
    """Whether the words between two boxes only say what the second one is."""
    label = words.BOX_LABEL.fullmatch(text, end, start)
    return label is not None and not says(label[0], endings.OPEN)


def _outermost(text: str, start: int) -> tuple[Candidate | None, int]:
    """The box whose command begins here, or the one around it, and the command before; -1 for none.

    The box is None when it is unclosed.
    """
    box = _box(text, start)
    before = text.rfind(COMMAND, 0, start)
    if box is None or before < 0:
        return box, before
    for _ in range(MAX_NESTED):
        around = _box(text, before) if before >= 0 else None
        if around is None or around.end < box.end:
            break
        box, before = around, text.rfind(COMMAND, 0, before)
    return box, before


def _box(text: str, start: int) -> Candidate | None:
    """The box whose command begins here; None when it is unclosed."""
    after = start + len(COMMAND)
    opening = _brace(text, after)
    if opening is not None:
        end = group_end(text, opening)
        if end is None:
            return None
        content = text[opening + 1 : end - 1]
    else:
        bare = _BARE.match(text, after)
        if bare is None:
            return None
        content, end = bare[1], bare.end()
    before = text[max(0, start - SIGN_REACH) : start]
    if "%" in content:
        content = _without_comments(content)
    content = content.strip()
    if "-" in before or "−" in before or "\\pm" in before:
        sign = words.BOX_SIGN.search(before)
        if sign:
            content = ("\\pm " if "pm" in sign[0] else "-") + content
    return Candidate("box", content, start, end)


def _without_comments(content: str) -> str:
    """A box without the comments at the ends of its lines, and without those ends."""
    *lines, last = content.split("\n")
    cut = (_COMMENT.split(line, 1) for line in lines)
    return "".join(kept + ("" if comment else "\n") for kept, *comment in cut) + last


def _brace(text: str, after: int) -> int | None:
    """Where the brace of a command that ends here opens; None where it has none."""
    if text.startswith("{", after):
        return after
    braced = _BRACED.match(text, after)
    return braced.end() - 1 if braced else None


def _joined(text: str, end: int, start: int) -> bool:
    """Whether nothing but a joint lies between two positions; they may not overlap."""
    return end <= start and words.BOX_JOINT.fullmatch(text, end, start) is not None
