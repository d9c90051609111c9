r"""The phrases beside an answer that decide whether it counts, one row a phrase.

All of it is data. To add a phrase, add its row to `before` or `after`; `compiling` derives from it
how it is matched and which word is looked for first, and the tests try its example. In `words` of a
row stand

    at least/most      words or slots, "/" between those that may take one place
    to the power (of)  in round brackets what may be missing
    {say} {value}      a slot: one word of `SLOTS`, or a number

in lower case and without markup: `\text{is }**not**` is "is not", "isn't" and "cannot" are "is not"
and "can not", `\ne` is "≠".
"""

from __future__ import annotations

from typing import Final

from reward_functions.extraction.cues.after import AFTER, CORRECTIONS
from reward_functions.extraction.cues.before import BEFORE
from reward_functions.extraction.cues.phrase import (
    BOUND,
    CORRECTED,
    DENIED,
    EXCLUDED,
    FORMAT,
    OTHERS,
    PART,
    SEVERAL,
    SUPPOSED,
    TAKEN_BACK,
    Phrase,
    vocabulary,
)

__all__ = ["AFTER", "BEFORE", "CORRECTED", "CORRECTIONS", "Phrase"]

COMMITTED: Final = frozenset({DENIED, TAKEN_BACK})
STRICT: Final = COMMITTED | {EXCLUDED, SEVERAL, OTHERS, BOUND, PART, SUPPOSED, FORMAT}
DISQUALIFIES: Final[dict[str, frozenset[str]]] = {
    "box": COMMITTED,
    "hash_marker": COMMITTED,
    "statement": STRICT,
    "math_span": STRICT,
}
"""Which kinds leave no answer. A marked answer is a commitment: what is compared is the one value
in it, so that a hedge gains nothing; only a denial of that very value counts."""

_COPULAS: Final = """
    the a an that this it 's answer is are was be to equal equals exactly simply actually really
    final correct right would number value result indeed also , : =
    der die das el la le il es est ist é è
"""
GAPS: Final[dict[str, str]] = {
    "none": "",
    "value": "the number value",
    "to": ", : = the a an of box form format",
    "is": _COPULAS,
    "not": """
        the a an equal equals to exactly simply actually really quite necessarily just possibly be =
        le la el il die der das den un una une ein eine igual égal gleich à
    """,
    "mark": ": – — - ,",
    "aside": "then again and but so well , .",
    "then": """
        . , ; : ! ? – — - ) 。 ， oh ah hmm wait hold on actually sorry but and though although
        however so well upon on after closer further inspection review reflection reevaluation
        then now again
    """,
}
"""Words between a phrase and its answer."""

SLOTS: Final[dict[str, str]] = {
    "is": "is are was were be seems looks 's",
    "adverb": """
        clearly obviously probably simply just really actually certainly definitely likely also
        therefore thus surely plainly indeed now still completely totally almost
    """,
    "it": "it that this which",
    "say": """
        say says said claim claims claimed think thinks thought believe believes believed guess
        guesses guessed argue argues argued assume assumes assumed suspect suspects suspected
        suggest suggests suggested answer answers answered write writes wrote expect expects
        expected insist insists insisted conclude concludes concluded
    """,
    "people": """
        some many most other others people students someone somebody they he she nobody none few
        friend friends critics teacher textbook solver student reader person
    """,
    "answer": """
        answer answers guess guesses result results solution solutions value values response
        responses choice option idea
    """,
    "right": "right correct true it valid possible",
    "wrong": """
        wrong incorrect false impossible mistaken invalid rejected discarded excluded eliminated
        extraneous untrue
    """,
    "fault": "mistake error trap lie myth overestimate underestimate",
    "operation": """
        square squares cube cubes root roots half third thirds quarter quarters fourth fourths fifth
        fifths tenth tenths double triple opposite negative inverse reciprocal multiple multiples
        factorial logarithm logarithms log logs sine cosine tangent complement negation percent
        digits digit divisor divisors successor predecessor
    """,
    "the": "a an the my our your",
    "final": "final correct right",
    "former": "previous above last first earlier",
    "notice": "realize realise see notice think",
    "more": "more less fewer greater larger smaller bigger higher lower",
    "wait": "wait hmm actually no oops sorry correction edit update instead equivalently",
}
"""Words of which one stands in a slot. Other slots are {value}, a number or a formula; {amount},
one in words as well; {choice}, a capital letter; {name}, any letter; {word} and {words}, one word
and up to four; {pause}, marks; {apart}, anything but a comma; {some}, anything but "none"; {rest},
anything but "to" and "that"; {start} and {stop}, where the sentence begins and ends; {end}, the
end of the response."""

UNCERTAIN: Final = vocabulary("""
    maybe perhaps possibly consider guess suppose let assume assuming could might may if whether
    unless not never neither nor wrong incorrect false
    give_up no_idea unable stuck impossible insufficient unclear unknown unsure unfortunately
    contradict contradicts contradicted contradicting contradiction contradictory contradictions
    reject rejects rejected rejecting discard discards discarded discarding
    extraneous instead except excluding unlike however bound rather_than
    next need_to have_to want_to going_to remains_to try trying let_'s lets step in_order
    substitute substituted substitutes substituting substitution plug plugs plugged plugging
    check checks checked checking recall
""")
"""Words of a sentence that states nothing: it supposes, denies, gives up or announces work."""
