"""The hostile corpus is written once, and what rewards read in a text alone is read once.

Every reward takes the same long texts to pieces before it looks at its reference, and a composite
does so for each of its parts. What these functions return follows from their arguments.
"""

import sys

import pytest

from reward_functions.core.turn_markers import within_turn, without_line_ends
from reward_functions.extraction.invisible import strip_invisible
from reward_functions.extraction.reasoning import without_reasoning
from reward_functions.extraction.truncation import cut_off, in_fence, in_reasoning
from reward_functions.judge_runtime.prompting import sanitize
from reward_functions.testing import contract

READ = (
    *(strip_invisible, within_turn, without_line_ends, without_reasoning),
    *(cut_off, in_fence, in_reasoning, sanitize),
)

LONG = 1000
"""Characters of a text that is worth remembering."""


def once(function):
    """A function of a text that remembers what it said to each."""
    known = {}

    def said(text, *more, **named):
        if len(text) < LONG:
            return function(text, *more, **named)
        key = (text, *more, *named.items())
        if key not in known:
            known[key] = function(text, *more, **named)
        return known[key]

    return said


@pytest.fixture(scope="session")
def remembering():
    """Those functions, each with one that remembers; and the corpus."""
    return [(each, once(each)) for each in READ], list(contract.hostile_responses())


@pytest.fixture(scope="module")
def texts_are_read_once(remembering):
    """For modules that take no time."""
    functions, hostile = remembering
    ours = [each for name, each in sys.modules.items() if name.startswith("reward_functions.")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contract, "hostile_responses", lambda: hostile)
        for function, other in functions:
            for module in ours:
                for name in [name for name, each in vars(module).items() if each is function]:
                    patch.setattr(module, name, other)
        yield
