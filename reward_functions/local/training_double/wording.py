"""The sentences that simulated responses are made of.

`{a}` and `{b}` are numbers of the prompt. No sentence states an answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

OPENINGS: Final = (
    "Let me work through this step by step.",
    "First, I collect what is given.",
    "The question asks for one value, so I begin with what is known.",
    "I start from the figures in the question.",
    "To solve this, I go through the parts one after the other.",
)

WITH_NUMBERS: Final = (
    "The text gives {a}, which I need first.",
    "I take {a} and put it beside {b}.",
    "Next comes {b}, which belongs to the second part.",
    "From {a} and {b} the first intermediate result follows.",
    "The figure {a} is used once, and only once.",
    "With {b} in place, the next part is simple arithmetic.",
    "I keep {a} exact for now and round nothing.",
)

WITHOUT_NUMBERS: Final = (
    "I write the relation that the question describes.",
    "Then I simplify both sides.",
    "The units agree, so nothing has to be converted.",
    "The parts are then put together in the order of the text.",
    "What is left is one short computation.",
    "I collect like terms before going on.",
    "Nothing else in the question changes this.",
)

DOUBLE_CHECKS: Final = (
    "Let me check the first part once more.",
    "Going over it again in another order leads to the same place.",
    "Another way to see it is to work backwards, which agrees.",
    "Let me make sure that no figure was used twice.",
    "I also check the size of the result, which is sensible.",
    "The second part deserves a closer look, so I repeat it.",
    "It helps to restate the question in my own words before going on.",
    "An estimate in the head gives about the same.",
)

CLOSINGS: Final = (
    "Putting it together:",
    "This settles it.",
    "That is everything the question asks for.",
    "Now the result can be stated.",
)

UNSURE: Final = (
    "I am not sure which reading is meant.",
    "There are two ways to read this.",
    "It depends on how the question is meant.",
)

LISTED: Final = ("", "Possible answers:", "One of these:", "Candidates:")


def reasoning(numbers: Sequence[str], random: Random, length: int) -> list[str]:
    """So many sentences of working, the first of them an opening.

    Args:
        numbers: of the prompt; where there are none, the sentences are without.
        random: draws.
        length: how many sentences, at least one.
    """
    sentences = WITH_NUMBERS + WITHOUT_NUMBERS if numbers else WITHOUT_NUMBERS
    drawn = random.sample(sentences, min(length - 1, len(sentences)))
    drawn += random.choices(DOUBLE_CHECKS, k=length - 1 - len(drawn))
    if numbers:
        drawn = [each.format(a=random.choice(numbers), b=random.choice(numbers)) for each in drawn]
    return [random.choice(OPENINGS), *drawn]
