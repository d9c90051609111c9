"""The words that open a statement of an answer, end it, and take it back, as patterns."""

from __future__ import annotations

from typing import Final

from reward_functions.core import patterns as re
from reward_functions.extraction.cues import languages
from reward_functions.extraction.cues.phrase import vocabulary

_ENGLISH: Final = ("answer", "option", "choice", "result", "solution")
WORDS: Final = (*_ENGLISH, *languages.words("answer"))
EXACT: Final = ("####", "Ans", "ANS", "ans:", "ans.", "Final:", "选", *languages.JOINED)
_CASES: Final = [form for word in WORDS for form in languages.cases(word)]
KEYWORDS: Final = (*EXACT, *_CASES)
KEYWORD: Final = re.compile("|".join(map(re.escape, KEYWORDS)))
KEYWORD_IN_ASCII: Final = re.compile("|".join(map(re.escape, filter(str.isascii, KEYWORDS))))
EXACT_IN_ASCII: Final = tuple(filter(str.isascii, EXACT))
WORDS_IN_ASCII: Final = tuple(filter(str.isascii, WORDS))
"""Those that a text of ASCII may hold, as most do."""

FOREIGNERS: Final = frozenset(("选", *languages.JOINED, *_CASES)) - frozenset(
    [form for word in _ENGLISH for form in languages.cases(word)]
)
"""Keywords that open no English statement."""


def _any_of(column: str) -> str:
    return "|".join(map(re.escape, languages.words(column)))


OPENING: Final = re.compile(
    r"""
    \#{4}(?!\#)
  | (?:(?<=<)|(?<=<final_))answer>
  | (?P<word>\b(?:answers?|options?|choices?|result|solution|ans|final)\b)["*_]{0,3}\s{0,4}+
    (?: [:：=] | (?<=ans)\.(?=[\s:：*])[:：]?
      | (?:(?:to|of|for|in|here)\b[^.\n:?!=$\\]{0,80}?\s)?
        (?:is|are|was|=|equals|(?:comes|turns)\ (?:out\ )?to(?:\ be)?
          |(?:should|must|(?P<would>would)|will)(?P<never>n['’]t|not|\ not|\ never)?(?:\ then)?\ be
          |(?P<cannot>ca|wo)n['’]t\ be|['’]s)
        (?P<not>n['’]t\b|\s{1,4}(?:not|never)\b)?
        (?!\w)
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
FOREIGN: Final = re.compile(
    rf"""
    (?:{"|".join(languages.JOINED)})\s?(?:(?:{languages.STATES}|[:：】])+|(?<=답은))
  | (?:(?<=[故案以此题我])|(?<=(?<!不)[应该当])|(?<![^\s,，。;；:：]))选(?:择|项?[是为])?[:：]?
    (?=[\s*$\\(（{{]{{0,4}}(?:text\{{\(?)?[A-J]{{1,9}}(?![A-Za-z]))
  | (?:(?<=(?<!不)正确)|(?<=(?<!不)正确的))选项\s?(?:{languages.STATES}|[:：])+
  | \b(?:{_any_of("answer")})\b
    (?:\s(?:(?P<foreign>{_any_of("denies")})|[^\W\d_]{{1,14}})\b){{0,3}}
    (?:\s?[:：]|\s(?:{_any_of("states")})(?!\w))
    """,
    re.VERBOSE | re.IGNORECASE,
)
HEADING: Final = re.compile(
    r"[#*_> \t]{0,8}(?:final )?answers?[*_: \t]{0,8}$", re.IGNORECASE | re.MULTILINE
)
VALUE: Final = re.compile(
    r"[\s*]*[-+−$\\(\[{]{0,4}\s?(?:\d|\\[a-z]|[A-Za-z]\s?="
    r"|(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)[.!*]*\s*(?:\n|$))"
)
BEST: Final = re.compile(r"\b(?:correct|right|best)\s$", re.IGNORECASE)
ROUNDED: Final = vocabulary("approximately about roughly around ≈")
HEADING_LINE: Final = re.compile(r"[*_ ]*(?!(?:not|no|never|answer)\b)[A-Za-z]{2}", re.IGNORECASE)
MARGIN: Final = re.compile(
    rf"""
    (?: [\s*_:："]+ | (?<=\n)>
      | (?:approximately|about|roughly|around|exactly|simply|just|thus|therefore|clearly|indeed|then
          |actually|really|definitely|certainly|in\ fact
          |that|equal\ to|given\ by|now|hence|option|choice|letter)\b[,:]?
    )*
    (?:{languages.WORKING}[:：]?\s?)?
    """,
    re.VERBOSE | re.IGNORECASE,
)
STOP: Final = re.compile(
    r"""
    # the end of the sentence, not of a whole number, nor of "3 sig. fig." or 0.\overline{3}
    (?<!\\)(?<!\bsig)(?<!\bfig)(?<!\bapprox)[.;?。]
    (?=[\s*_<)"'”$]|\\(?!(?:overline|dot|bar)\b)|$)
  | !(?=[\s*_<)"'”]|$)                    # nor the factorial of a formula
  | \n | </(?:final_)?answer> | です | 입니다
  | ,?\s{1,4}\(?(?:because|since|as|so|which|where|given|after|when|by|if|assuming|provided
      |i\.e)\b
  | [,，]\s?(?:不|而)
  | \s{1,4}\(not\b | (?<=(?-i:[A-J]))\s?选?项(?!\s?[或和与及、])
  | ,\s{1,4}(?:for|but|not|I\s+(?:think|believe)(?=[.!\n]|$)|and\s+(?:we|the|so|thus|this|that))\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
SENTENCE_END: Final = re.compile(
    r"(?:(?<!\bsig)(?<!\bfig)(?<!\bapprox)[.;?。]|(?<=[a-z])!)(?=[\s*_<)\"'”$\\]|$)"
    r"|\n|</(?:final_)?answer>"
)
"""What ends the whole sentence of a statement."""
TAG_END: Final = re.compile(r"</(?:final_)?answer>")
TAG_STOP: Final = re.compile(
    STOP.pattern.replace("[.;?。]", "[.?。]").replace("  | !(?=[", r"  | (?<![\d)])!(?=["),
    STOP.flags,
)
"""Between tags a semicolon separates members, and 5! is a factorial: the answer ends with it."""
NEGATION: Final = re.compile(
    r"(?:not|never|neither|anything but|other than|different from"
    r"|nicht|pas|no|non|não|niet|inte)\b",
    re.IGNORECASE,
)
NONE: Final = re.compile(
    r"(?:\\text\{|\$)?(?:no|never|neither)(?:\s+[a-z]{4,}){0,4}\}?\$?", re.IGNORECASE
)
"""An answer in words, which denies none: no, no real solution."""
ANOTHER: Final = re.compile(
    r"\b(?:if|whether|suppose|assume|assuming|unless|some say|out|opposite of)"
    r"\s+(?:that\s+)?(?:the|my|our|this|your)?[:\s]*(?:final\s+|correct\s+)?$"
    r"|\b(?:wrong|incorrect|false|another|previous|earlier|initial|tempting|possible|likely|second|next"
    r"|second best|their|his|her)\s+(?:best\s+)?$",
    re.IGNORECASE,
)
IF: Final = vocabulary("if had were suppose supposing")
NAMED: Final = re.compile(
    r"[\s*_>]*(?:(?:so|thus|hence|therefore|then|and)\b,?\s+)*(?:option\s+|the\s+(?:number|value)\s+)?"
    r"(?P<value>[*_]{0,2}(?:[a-z]\s?=\s?)?(?:[-+−$\\(\d].{0,60}?|[A-J]))\s+(?:is|are)\s+"
    r"(?:indeed\s+|therefore\s+|thus\s+)?(?:the|our|my)\s+[*_]{0,2}(?:final\s+|correct\s+|right\s+|real\s+|true\s+|actual\s+)*",
    re.IGNORECASE,
)
OVER: Final = re.compile(
    r"(?:answer|option|choice)[*_]{0,2}(?:\s+to\s+(?:the|this|your)\s+(?:question|problem))?\s*(?=[.!,;\n]|$)",
    re.IGNORECASE,
)
DOUBT: Final = re.compile(
    r"\s?\?|,?\s{1,4}(?:(?P<if>if|assuming|provided)|unless)\b(?:\s{1,4}that\b)?", re.IGNORECASE
)
