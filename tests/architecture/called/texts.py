"""What reads texts: phrases beside an answer, patterns, forms, programs, composites, settings."""

import re
import re._constants as sre
from fractions import Fraction
from types import SimpleNamespace

from reward_functions import sample
from reward_functions.core.declared import TYPES, composite_of
from reward_functions.core.errors import ConfigurationError
from reward_functions.judge_runtime.backends.replay import Replay
from reward_functions.shapers._regex import Pattern
from reward_functions.shapers._sections import Fault
from tests.architecture.called.rows import Rows, numbered, outcome, placed, taken

WORDS = ("5", "five", "B", "K", "word", "no", "that", ",", ";", ".", "\n", "-", "")

PLACES = {
    # at least and at most so many words, and those of WORDS that are accepted
    "value": (1, 1, ["5"]),
    "amount": (1, 1, ["5", "five"]),
    "choice": (1, 1, ["B"]),
    "name": (1, 1, ["B", "K"]),
    "word": (1, 1, ["five", "B", "K", "word", "no", "that"]),
    "words": (0, 4, ["five", "B", "K", "word", "no", "that"]),
    "apart": (1, 1, [each for each in WORDS if each not in (",", "")]),
    "rest": (1, 1, [each for each in WORDS if each != "that"]),
    "some": (1, 1, [each for each in WORDS if each != "no"]),
    "start": (1, 1, [""]),
    "stop": (1, 1, [";", ".", "\n", ""]),
    "pause": (0, 3, [",", ";", ".", "-"]),
    "end": (0, 3, [";", ".", "\n"]),
}


def place(_, row):
    least, most, accepts = row
    holds = accepts.__contains__ if isinstance(accepts, frozenset) else accepts
    return least, most, taken(holds, *WORDS)


CHARACTERS = "5٣a_ \n-"

CATEGORIES = {
    sre.CATEGORY_DIGIT: "5٣",
    sre.CATEGORY_NOT_DIGIT: "a_ \n-",
    sre.CATEGORY_SPACE: " \n",
    sre.CATEGORY_NOT_SPACE: "5٣a_-",
    sre.CATEGORY_WORD: "5٣a_",
    sre.CATEGORY_NOT_WORD: " \n-",
}

ANCHORED = {
    sre.AT_BEGINNING: "^b",
    sre.AT_BEGINNING_STRING: r"\Ab",
    sre.AT_BEGINNING_LINE: "(?m)^b",
    sre.AT_END: "a$",
    sre.AT_END_STRING: r"a\Z",
    sre.AT_END_LINE: "(?m)a$",
    sre.AT_BOUNDARY: r"\bb",
    sre.AT_NON_BOUNDARY: r"\Bb",
}
OF_LINES = {sre.AT_BEGINNING: "(?m)^b", sre.AT_END: "(?m)a$"}

TEXTS = ("a", "b", "ab", "ba", "a b", "a\n", "a\n\n", "a\nb", "b\na", "-b", "b-")


def as_python(table, patterns):
    """Each pattern finds what Python's own `re` finds."""
    return Rows(
        placed(table, lambda key: taken(Pattern(patterns[key]).search, *TEXTS)),
        {key: taken(re.compile(pattern).search, *TEXTS) for key, pattern in patterns.items()},
    )


INVISIBLE = (
    r"\phantom{1}",
    "<!-- 1 -->",
    "~~1~~",
    "5\n% 1",
    "[//]: # (1)",
    '[5](a "1")',
    r"![\boxed{1}](a.png)",
)

REASONED = ("<think>", "[THINK]", "◁think▷")


def signed(*texts):
    """The sign that a row looks for, and the texts in which it finds it."""
    return lambda _, row: (row[0], taken(row[1], *texts))


ANSWERS = (r"\boxed{1}", "#### 2", "Answer: 3")


def form(_, find):
    return [None if isinstance(found, Fault) else found for found in map(find, ANSWERS)]


COMPOSITES = {
    # a declaration, and what it earns for a right and a wrong answer
    "weighted": ({"exact_match": 0.25, "gsm8k": 0.25}, (0.5, 0.0)),
    "gated": ({"gate": "exact_match", "reward": "gsm8k", "minimum": -1}, (1.0, -1.0)),
    "clipped": ({"reward": "exact_match", "low": 0.25, "high": 0.75}, (0.75, 0.25)),
    "cascade": (["exact_match", "gsm8k"], (1.0, 0.0)),
}


def composite(kind, make):
    spec = make(COMPOSITES[kind][0], {"name": "made", "outranks": False}, 0)
    return tuple(spec(sample(said, "#### 5")).value for said in ("#### 5", "#### 6"))


SAID = ("a string", True, 3, 1.5, [])
NAMED, YES, COUNT, _, NONE = SAID


def declared(key):
    """The values that have the type of a key of a composite."""

    def fits(value):
        try:
            composite_of(
                {"name": "made", "outranks": False, "cascade": ["gsm8k", "math"], key: value}
            )
        except (ConfigurationError, ValueError) as error:
            return f"{key} is {TYPES[key][1]}" not in str(error)
        return True

    return taken(fits, *SAID)


def recorded_failure(name):
    replay = object.__new__(Replay)
    replay.model, replay.rows = "replay", {"k": {"error": name}}
    return outcome(replay, SimpleNamespace(key="k"))


PANELS = ([0.0, 0.25, 0.25, 0.25, 1.75], [0.5, 1.0])
"""In the first, more than half say one value."""

CELLS = (Fraction(1), Fraction(2), Fraction(6))

ROWS = {
    "extraction.cues.compiling:_ANY": Rows(place, PLACES),
    "extraction.invisible:_SIGNS": Rows(
        signed(*INVISIBLE),
        numbered(*((sign, [text]) for sign, text in zip("\\<~%#]!", INVISIBLE, strict=True))),
    ),
    "extraction.reasoning:_SIGNS": Rows(
        signed(*REASONED), numbered(*((text[0], [text]) for text in REASONED))
    ),
    "shapers._regex:CATEGORIES": Rows(
        lambda _, match: "".join(taken(match, *CHARACTERS)), CATEGORIES
    ),
    "shapers._regex:ANCHORS": as_python("shapers._regex:ANCHORS", ANCHORED),
    "shapers._regex:OF_LINES": as_python("shapers._regex:OF_LINES", OF_LINES),
    "shapers.answer_format:_FORMS": Rows(
        form,
        {"boxed": ["1", None, None], "hash": [None, "2", None], "answer": [None, None, "3"]},
    ),
    "core.declared:MADE": Rows(
        composite, {kind: earned for kind, (_, earned) in COMPOSITES.items()}
    ),
    "core.declared:TYPES": Rows(
        placed("core.declared:TYPES", declared),
        {
            **{key: [NAMED] for key in ("name", "summary", "gold_response")},
            "version": [COUNT],
            "outranks": [YES],
            "examples": [NONE],
        },
    ),
    "finqa.executor:_ARITHMETIC": Rows(
        lambda _, compute: compute(Fraction(6), Fraction(2)),
        {"add": 8, "subtract": 4, "multiply": 12, "divide": 3, "exp": 36, "greater": "yes"},
    ),
    "finqa.executor:_OVER_ROWS": Rows(
        lambda _, compute: compute(CELLS),
        {"table_max": 6, "table_min": 1, "table_sum": 9, "table_average": 3},
    ),
    "judge_runtime.panel:_AGGREGATES": Rows(
        lambda _, aggregate: [aggregate(each) for each in PANELS],
        {
            "mean": [0.5, 0.75],
            "median": [0.25, 0.75],
            "majority": [0.25, 0.75],
            "minimum": [0.0, 0.5],
        },
    ),
    "judge_runtime.backends.replay:_FAILURES": Rows(
        placed("judge_runtime.backends.replay:_FAILURES", recorded_failure),
        {name: name for name in ("NoVerdict", "JudgeUnavailable")},
    ),
}
