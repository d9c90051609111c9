"""The words that say that something holds or does not, and the questions they answer, as patterns.

Words that mean other things as well ("Right, we first …", T) count as a reference and as the first
word of a response only where the prompt shows that their pair is meant.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from reward_functions.core import patterns as re
from reward_functions.extraction.cues.phrase import vocabulary


class Pair(NamedTuple):
    """Words with two meanings that exclude each other.

    Attributes:
        affirm: the words that say that it holds.
        deny: the words that say that it does not.
        meant: what a prompt has where this pair is meant; nothing of words that mean nothing else.
    """

    affirm: tuple[str, ...]
    deny: tuple[str, ...]
    meant: tuple[str, ...] = ()


PAIRS: Final = (
    Pair(("true",), ("false",)),
    Pair(("yes",), ("no",)),
    Pair(("正确", "正确的"), ("错误", "错误的", "不正确", "不正确的")),
    Pair(("是", "是的"), ("否", "不是", "不是的")),
    Pair(("correct",), ("incorrect",), ("correct",)),
    Pair(("right",), ("wrong",), ("wrong",)),
    Pair(("对", "对的"), ("错", "错的", "不对", "不对的"), ("判断", "对错", "对还是错", "对吗")),
    Pair(("真",), ("假",), ("真", "假")),
    Pair(("t",), ("f",), ("true", "t/f", "t or f")),
    Pair(("y",), ("n",), ("yes", "y/n", "y or n")),
    Pair(
        ("√", "✓", "✔", r"\checkmark", r"\surd"),
        ("×", "✗", "✘", r"\times"),
        ("√", "×", "✓", "判断", "对错"),
    ),
)

POLARITY: Final = {
    word: holds
    for pair in PAIRS
    for words, holds in ((pair.affirm, True), (pair.deny, False))
    for word in words
}
"""Whether a word affirms."""

PAIR_OF: Final = {word: pair for pair in PAIRS for word in (*pair.affirm, *pair.deny)}

_ANY: Final = "|".join(sorted(map(re.escape, POLARITY), key=len, reverse=True))
_STOP: Final = r"[.,;:!?。，；：！？)\]\n]"

WHOLE: Final = re.compile(
    r"(?:(?:it|that|this)(?:['’]s|\sis)\s)?"
    rf"(?P<word>{_ANY})(?=\s*+(?:{_STOP}|[—(（]|$)|\s+[-–]\s|,?\s+(?:because|since|as|that)\b)",
    re.IGNORECASE,
)
"""An answer that begins with one of the words, and says nothing else or goes on to explain it."""

AFFIRMED: Final = re.compile(
    r"(?:\\(?:text|mathrm|mbox)\s?\{)?\s?(?P<word>yes|true|no|false|是的?|否)\s?[,，.。;:：]\s?\}?(?P<rest>[^\n]{1,200})",
    re.IGNORECASE,
)
"""An answer to a question with a second part: "Yes, n = 4"."""

FIRST: Final = re.compile(
    rf"[\s*_`\"'“‘>#]*+(?P<word>{_ANY})[*_`\"'”’]{{0,4}}(?=\s*+(?:$|[.,;:!。，；：！\n]))",
    re.IGNORECASE,
)
"""A response that begins with one of the words before a stop."""

NUMBERED: Final = re.compile(r"\s?(?:\d|of\b)", re.IGNORECASE)
"""What stands behind "no." where it is short for number."""

CLAUSE: Final = re.compile(
    r"(?:[.,;:!?/(（—–。，；：！？\n]|\b(?:and|or|but|so|then|also|else|otherwise|maybe)\b"
    r"|(?P<copula>\b(?:is|are|be)\b)|[或和但]|\A)"
    rf"[ \t*_\"'“‘]*+(?P<word>{_ANY})(?=[ \t*_\"'”’]*+(?:{_STOP}|/|(?:and|or|but)\b|[或和但]|$))",
    re.IGNORECASE,
)
"""One of the words as a clause of its own, or as what a clause says."""

DOUBT: Final = vocabulary("""
    maybe perhaps possibly probably guess unsure not_sure depends sometimes partly let
    可_能 也_许 大_概
""")
"""Words that make no answer of the word before them: "Yes, maybe"."""

CONDITION: Final = re.compile(
    r"\s*+(?:(?:but|and|only)\s){0,2}(?:if|unless|provided|when|whenever|assuming|as\slong|except)\b",
    re.IGNORECASE,
)
"""What makes another answer of the word before it: "Yes, if n is even"."""

SUPPOSED: Final = re.compile(r"(?<!only\s)\bif\b(?!\sand\sonly)|\bunless\b|如果|若", re.IGNORECASE)
"""What makes a statement one for a case: "If yes, then the answer is True"."""

DENIED: Final = re.compile(r"\b(?:not|never)\b|n['’]t\b", re.IGNORECASE)
DENIED_LAST: Final = re.compile(
    r"(?:\b(?:not|never|either|neither|nor|or|whether|if|may\sbe|might\sbe|could\sbe|always)|n['’]t|不|非|未必)\s*\Z",
    re.IGNORECASE,
)
"""What stands right before a word that is not said plainly."""

NEGATED: Final = re.compile(rf"(?:\bnot\b|n['’]t\b)\s({_ANY})(?!\w)", re.IGNORECASE)
"""One of the words, denied."""

COPULAS: Final = ("is", "are", "was")

SIGNS: Final = frozenset({"t", "f", "y", "n"}) | frozenset(PAIRS[-1].affirm + PAIRS[-1].deny)
"""Words that are an answer only where nothing follows."""

STATED: Final = re.compile(
    r"[\s*_>]*+(?:(?:so|thus|hence|therefore|then|and|finally|consequently|overall|clearly"
    r"|in\sconclusion|(?:we|I)\s(?:can\s)?(?:conclude|see|find)(?:\sthat)?)\b,?\s"
    r"|(?:所以|因此|故|综上)[,，]?\s?){0,3}"
    r"(?P<subject>[^\n]{1,300}?)\s?"
    r"(?:\b(?:is|are|was)\b\s(?:indeed\s|also\s|thus\s|therefore\s|always\s)?|为|是)?"
    rf"(?<![A-Za-z])(?P<word>{_ANY})(?:[.!。！*\s]*+|(?:[,:]|\s[-–—]|\s(?:because|since|as)\b)[^\n]*)",
    re.IGNORECASE,
)
"""A last sentence that says of its subject that it holds."""

STATEMENT: Final = re.compile(
    r"(?:the|this|that|our|此|该|这个|这一|上述|本)\s?(?:(?:given|following|above|original|stated|proposed|initial)\s)?"
    r"(?:statement|claim|assertion|proposition|conjecture|hypothesis|命题|说法|陈述|论断|结论|判断|叙述)"
    r"(?:\s(?:in|of)\sthe\s(?:question|problem|prompt)|\sabove|,)?\s?(?:that\s)?(?P<put>[\"'“‘]?.{0,250})",
    re.IGNORECASE,
)
"""The statement of the prompt as a subject, and its words where the sentence quotes them."""

ASKED: Final = re.compile(
    r"\btrue\s?(?:or|/)\s?false\b|\byes\s?(?:or|/)\s?no\b|\bt\s?/\s?f\b|\by\s?/\s?n\b"
    r"|\b(?:in)?correct\s?(?:or|/)\s?(?:in)?correct\b|\b(?:right|wrong)\s?(?:or|/)\s?(?:right|wrong)\b"
    r"|判断|是否|是不是|正误|对错|真假|吗\s?[?？。]|对还是错|正确还是错误|真还是假",
    re.IGNORECASE,
)
"""What makes a question one that yes or no answers, wherever it stands."""

AUXILIARY: Final = re.compile(
    r"\b(?:is|are|was|were|am|do|does|did|can|could|will|would|should|shall|has|have|had|must|may|might"
    r"|isn['’]t|aren['’]t|don['’]t|doesn['’]t)\b(?=[^?？]{1,600}[?？])",
    re.IGNORECASE,
)
"""A verb that makes a question of the clause that it opens."""

OPENS: Final = re.compile(
    r"(?:\A|[.?!:;,)\]$\n]|\b(?:and|then|so))[\s*\"'“‘]{0,9}\Z", re.IGNORECASE
)
"""What stands before the first word of a clause."""

OF_TRUTH: Final = re.compile(
    r"\btrue\s?(?:or|/)\s?false\b|\bt\s?/\s?f\b|判断|正误|对错|真假|对还是错|正确还是错误"
    r"|\b(?:is|whether)\b[^.?!\n]{0,300}\b(?:true|correct|right|valid|false|incorrect|wrong)\b"
    r"|是否(?:正确|成立|为真)|(?:正确|对)吗",
    re.IGNORECASE,
)
"""A question whether what it states holds."""

ONE_FOR_YES: Final = re.compile(
    r"(?:\b1\b[\"'”’]?\s?(?:for|if|means|=|stands\sfor|表示|代表)\s?[\"'“‘]?(?:it\sis\s)?(?:yes|true|correct|是|正确|对)"
    r"|(?:yes|true|是|正确)[\"'”’]?\s?(?:is|as|=|:|用|为)\s?[\"'“‘]?1\b)",
    re.IGNORECASE,
)
"""A prompt that lets numbers stand for the words."""

BETWEEN: Final = re.compile(r"[,;，；、\s\"'`]++|\band\b|[和与]", re.IGNORECASE)
"""What stands between several of the words."""
