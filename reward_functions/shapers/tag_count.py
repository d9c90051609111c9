"""Each tag that a response should have, once and in its place: credit before the form is whole."""

from __future__ import annotations

import re
from typing import Final

from reward_functions.core.errors import BadParameter
from reward_functions.core.means import mean
from reward_functions.core.spec import Example, reward_function
from reward_functions.core.types import Sample, Score
from reward_functions.shapers._sections import Tags

_NAMES: Final = re.compile(r"\w{1,40}(?:[ ,]\w{1,40}){0,9}")


def _check(*, sections: str) -> None:
    if not _NAMES.fullmatch(sections):
        raise BadParameter(
            f"parameter 'sections' takes up to ten names such as 'think answer', not {sections!r}"
        )


@reward_function(
    version=1,
    partial_credit=1.0,
    check=_check,
    examples=[
        Example(
            "positive", response="<think>6 × 7</think>\n<answer>42</answer>", score=1.0, why="all"
        ),
        Example("partial", response="<think>6 × 7</think> 42", score=0.5, why="two tags of four"),
        Example(
            "partial",
            response="6 × 7</think><answer>42</answer>",
            score=0.75,
            why="three tags of four",
        ),
        Example("negative", response="The answer is 42.", score=0.0),
        Example(
            "attack",
            response="<answer></answer>" * 2 + "<think></think>" * 2,
            score=0.0,
            why="a tag twice counts as none",
        ),
    ],
)
def tag_count(sample: Sample, *, sections: str = "think answer") -> Score:
    """The share of the expected tags that stand in the response once, in the expected order.

    Reference: none. Scale: 0.0 to 1.0, in steps of one tag: two for each section. A tag that stands
    there twice, or before one that should come first, counts as none. It does not read the inside
    of a section: `think_format` does. Source: the tag counting of open-r1's recipes, which checks
    neither order nor, for two of its tags, the line breaks apart.

    Args:
        sample: the response; a reference is ignored.
        sections: names of sections, in order, with a space or a comma between them.
    """
    tags = [tag for name in re.split("[ ,]", sections) for tag in Tags.of(name)]
    at, counted, missing = 0, [], []
    for tag in tags:
        place = sample.response.find(tag, at)
        once = place >= 0 and sample.response.count(tag) == 1
        counted.append(float(once))
        if once:
            at = place + len(tag)
        else:
            missing.append(tag)
    reason = f"not once in their place: {', '.join(missing)}" if missing else "every tag once"
    return Score(mean(counted), reason=reason)
