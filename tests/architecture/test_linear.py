"""No pattern of the package takes more than linear time, but where its input has a ceiling.

What a model wrote can make a pattern try every way to share a text out, and `re` cannot be
interrupted. The proof is `growth`; the exceptions are quadratic at most, and a ceiling bounds them.
"""

import json
import re
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from reward_functions.extraction.cues import lexicon, matching
from reward_functions.extraction.cues.compiling import MAX_GAP
from reward_functions.finqa import final, values
from reward_functions.jobs.causes import CAUSES
from reward_functions.quantities import numerals
from tests.architecture import automata
from tests.architecture import growth as prover
from tests.architecture.compiled import compiled, keep
from tests.architecture.growth import growth

MOST = 400
"""Characters at most that a quadratic pattern may be given."""

MOST_STEPS = 1000
"""Words at most that a phrase may look at beside one answer."""

ROOMS = {
    *("extraction", "quantities", "symbolic", "finqa", "judge_runtime", "aws", "calibration"),
    *("cdk", "cli", "data", "jobs", "local", "reports"),
}

CEILINGS = {
    # where: the most characters that it is matched against.
    "extraction/cues/statements.py:ANOTHER": matching.REACH,
    "finqa/cues.py:CLAIM": values.MAX_LENGTH,
    "finqa/cues.py:NUMBER": values.MAX_LENGTH,
    "finqa/cues.py:COPULA": values.MAX_LENGTH,
    "finqa/cues.py:WORD_RETRACTED": final.AHEAD,
    "quantities/numerals.py:_MIXED": numerals.MAX_LENGTH,
    "quantities/numerals.py:_FRACTION": numerals.MAX_LENGTH,
    "quantities/numerals.py:_DECIMAL": numerals.MAX_LENGTH,
}


WHOLE = {"jobs/figures.py"}
"""Files whose patterns stand in a tuple, where nobody sees that whole texts are asked for."""


def asked(pattern):
    """What `growth` is asked about a pattern."""
    whole = pattern.where.partition(":")[0] in WHOLE and not pattern.uses
    searched = pattern.searched and not whole
    return pattern.pattern, pattern.flags, searched, whole or pattern.whole


PROVER = "".join(Path(each.__file__).read_text() for each in (automata, prover)) + sys.version

KEPT = Path(__file__).parents[2] / "build" / "growth.json"


def verdicts(patterns):
    """What the prover says to each; a proof is made once by a checkout."""
    names = [sha256(f"{asked(each)!r} {PROVER}".encode()).hexdigest() for each in patterns]
    known = json.loads(KEPT.read_text()) if KEPT.is_file() else {}
    said = {}
    for name, each in zip(names, patterns, strict=True):
        pattern, flags, searched, whole = asked(each)
        said[name] = known.get(name) or growth(pattern, flags, searched=searched, whole=whole)
    if said != known:
        keep(KEPT, json.dumps(said))
    return [said[name] for name in names]


def test_no_pattern_takes_more_than_linear_time_without_a_ceiling():
    """One test, since the patterns are collected once."""
    patterns = compiled()
    assert len(patterns) > 200
    assert sum(bool(each.uses) for each in patterns) > 200
    assert {each.where.partition("/")[0] for each in patterns} >= ROOMS
    wrong = [
        (each.where, each.pattern, said)
        for each, said in zip(patterns, verdicts(patterns), strict=True)
        if said != "linear" and not (each.where in CEILINGS and said.startswith("quadratic"))
    ]
    assert wrong == [], (
        "make its loops read different characters, or possessive, or begin at a border"
    )


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.name)
def test_no_cause_of_a_failed_job_takes_more_than_linear_time(cause):
    """What is compiled when it is looked for, and searched in what a service wrote."""
    assert growth(cause.pattern, re.IGNORECASE) == "linear"


def steps(row):
    """Words at most that a phrase of the lexicon looks at from one place beside an answer."""
    reached, looked = 1, 0
    for place in row.places:
        looked += reached * (place.most + 1)
        reached += place.most
    return looked


@pytest.mark.parametrize("form", lexicon.DISQUALIFIES)
def test_a_phrase_of_the_lexicon_looks_at_few_words(form):
    """Phrases are no patterns: they are matched word by word, beside an answer alone."""
    table = matching._table(form)
    rows = [*table.before.rows, *table.after.rows]
    assert rows
    assert max(map(steps, rows)) * MAX_GAP <= MOST_STEPS


def test_every_ceiling_is_low():
    assert max(CEILINGS.values()) <= MOST


@pytest.mark.parametrize(
    ("pattern", "uses", "said"),
    [
        # one loop behind another
        (r"a+b", "search", "quadratic"),
        (r"a+b", "match", "linear"),
        (r"a+", "search", "linear"),
        (r"\s+$", "search", "quadratic"),
        (r"(?<!\s)\s+$", "search", "linear"),
        (r"\s*\s*x", "match", "quadratic"),
        (r"\s*,?\s*x", "match", "quadratic"),
        (r"\s*+(?:,\s*+)?x", "match", "linear"),
        (r"\s*,\s*x", "match", "linear"),
        (r".*?\s+is", "match", "quadratic"),
        (r".*\s+", "fullmatch", "quadratic"),
        (r"\s+.*", "fullmatch", "quadratic"),
        (r"(?s)\s+.*", "fullmatch", "linear"),
        (r"[a-z]+[A-Z]+x", "match", "linear"),
        (r"(?i)[a-z]+[A-Z]+x", "match", "quadratic"),
        (r"x[^x]*y", "search", "linear"),
        (r"x.*y", "search", "quadratic"),
        (r"(?:ab)+c", "search", "quadratic"),
        (r"(?m)^ *(\w[^\n]*)$", "search", "linear"),
        (r"\b\w+\s*=", "search", "linear"),
        (r"[^$]*$", "search", "quadratic"),
        # look ahead
        (r"a(?=.*b)", "finditer", "quadratic"),
        (r"(?=.*b)a", "match", "linear"),
        (r"\n(?!\s*x)", "split", "quadratic"),
        # a loop in a loop
        (r"(a*)*b", "match", "exponential"),
        (r"(?:a+b?)*c", "match", "exponential"),
        (r"(?:a|ab|b)*c", "match", "exponential"),
        (r"(?:\\(?:[a-z]+|.))*x", "match", "exponential"),
        (r"(?:\\(?:[a-z]+|[^a-z]))*x", "match", "linear"),
        (r"(?:\s+|a)*", "match", "linear"),
        (r"(?:\s+|a)*", "fullmatch", "exponential"),
        (r"(?:\s++|a)*", "fullmatch", "linear"),
        # a high ceiling is none, and a low one is
        (r"a{0,5000}b", "search", "quadratic"),
        (r"a{0,80}b", "search", "linear"),
        (r"(?:,a{0,80})+b", "match", "linear"),
        (r"(?:,?a{0,80})+b", "match", "exponential"),
        (r"(?:,(?:a|ab|b){0,80})+c", "match", "exponential"),
    ],
)
def test_the_growth_of_a_pattern(pattern, uses, said):
    searched = uses not in ("match", "fullmatch")
    assert growth(pattern, searched=searched, whole=uses == "fullmatch").startswith(said)


def test_flags_count():
    assert growth("a + A + x", re.VERBOSE, searched=False) == "linear"
    assert growth("a + A + x", re.VERBOSE | re.IGNORECASE, searched=False) != "linear"
