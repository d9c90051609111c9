"""The words and signs around the value of a financial answer, as patterns.

The words are rows of `phrases`; here stands how they are looked for, and what is made of signs and
numbers. The modules named below match the patterns and hold no words of their own. Each pattern is
matched against the few characters next to a number, and none repeats an unbounded part inside
another, so that the cost is bounded by the length of an answer.
"""

from __future__ import annotations

from typing import Final

from reward_functions.core import patterns as re
from reward_functions.finqa.phrases import any_of, spelled
from reward_functions.quantities.number_words import GROUPS

# values: the value an answer states
PLAINEST: Final = re.compile(
    r"[\s*_~=\[]*(?P<sign>[-+]?)(?P<dollar>\$?)(?P<whole>[1-9][0-9]{0,2}(?:,[0-9]{3})+|[0-9]{1,15})"
    r"(?:\.(?P<fraction>[0-9]{1,15}))?\s?(?P<percent>%|percent)?[\s*_.\]]*"
)
MARKS: Final = {
    **dict.fromkeys(("**", "__", "`", "\\left", "\\right"), ""),
    "\\$": "$",
    "\\%": "%",
    "\\times": "×",
    "\\cdot": "·",
    "\\approx": "=",
    **dict.fromkeys("↓▼", "down "),
    **dict.fromkeys("↑▲", "up "),
    "\\": "",
}
MATHEMATICS: Final = re.compile(r"\$([^$\s](?:[^$]{0,60}[^$\s])?)\$(?!\d)")
DATE: Final = re.compile(
    rf"(?i)\b(?:{any_of('month')})\.? [0-9]{{1,2}}(?:st|nd|rd|th)?"
    r"(?:(?: ?, ?| )(?:19|20)[0-9]{2})?(?![\d.,]*\d|\s?%)"
    r"|(?<![\d/.])[0-9]{1,2}/[0-9]{1,2}/[0-9]{2,4}(?!\d)"
    r"|\b(?:between|from)(?: fiscal| year)* (?:19|20)[0-9]{2}"
    r" (?:and|to|through)(?: fiscal| year)* (?:19|20)[0-9]{2}(?![\d.,]*\d|\s?%)"
)
# A period that is named in front: "In fiscal 2013, 14.1%".
PERIOD: Final = re.compile(
    rf"(?i)(?:(?:so|thus|hence|therefore|overall),? )?(?=[a-z])"
    rf"(?:(?:in|for|during|as of|since|through|by|at)\b ?)?"
    rf"(?:(?:{any_of('period', 'month')}|q[1-4])\b ?)*"
    r"(?:19|20)[0-9]{2}(?:(?: (?:to|through) | ?[-–/] ?)(?:19|20)[0-9]{2})?"
    r"(?![\d.,]*\d|\s?%|-| (?:and|or|to|through)\b)"
    r"(?: ?[,:]| [-–—](?= ))? (?=.*[0-9])"
)
TAG: Final = re.compile(r"(?i)</?[a-z]{1,8}>")
NOTE: Final = re.compile(r"(?<=[\w%)] )\[([^\[\]()]{1,80})\]$")
BRACKETS: Final = re.compile(r"\(([^()]*)\)")
EQUALS: Final = re.compile(r"[=≈]|\bequals\b")
REFUSAL: Final = spelled("refusal")
_GROUP: Final = "|".join(GROUPS)
SCALE_WORD: Final = rf"(?:(?:{_GROUP})s?|{any_of('scale')})"
ACCOUNTING: Final = re.compile(
    rf"(?i)\s*+(?P<sign>-)?\s*+(?:US)?[$€£]?\s*+[0-9.][0-9.,]*+\s*+(?:%|percent\b)?"
    rf"(?:\s*+{SCALE_WORD}\b)?\s*+"
)
NUMBER: Final = re.compile(
    rf"""
    (?P<lead>(?<!\w)(?P<currency>(?:[A-Z]{{0,2}}\$|[€£¥₹¢]|USD|EUR|GBP|CAD|US\ \$)\s?)
        (?P<inner>[-+]\s?)?
      | (?<![\w\#^])(?<![0-9][.,/]))
    (?P<number>
      (?P<core>
        (?:[0-9]+\ [0-9]+/[0-9]+ | [0-9]+\s?/\s?[0-9]+)(?![0-9]*[.,]?[0-9])
      | [0-9]{{1,3}}(?:\ [0-9]{{3}})+(?:\.[0-9]+)?(?![\d])
      | [0-9](?:[0-9,.]*[0-9])? | \.[0-9]+
      )
      (?:[eE][-+]?[0-9]{{1,4}}\b|\s?[×x*·]\s?10\s?(?:\^|\*\*)\s?\{{?[-+]?[0-9]{{1,4}}\}}?)?
    )
    (?:(?P<short>k|K|m|M|mm|MM|mn|b|B|bn)\b|\ (?P<spaced>M|MM|B|bn|mm)\b)?
    (?P<behind>
      (?:\s?{SCALE_WORD}\b)*
      (?:\s?(?:%\s?-?points?|percentage[ -]points?|%|(?i:percent|per\ cent|pct|pp|ppts?|bps?
        |basis[ -]points?)\b))?
      (?:[ ](?:us\ |u\.s\.\ )?(?i:{any_of("currency")})\b|¢)?
    )
    (?:\s?(?::|to)\s?1(?:\.0+)?(?![\d.,]*\d|\s?[%x]|\s?{SCALE_WORD})|(?P<times>\s?(?:x|×|times)(?!\w)))?
    """,
    re.VERBOSE,
)
UNFINISHED: Final = re.compile(rf"\s?(?:[/÷]\s?[0-9]|\^|\*\*|!|{any_of('unfinished')})")
REFUSED: Final = re.compile(r"[±?‰‱]|\+\s?/\s?-")
OPERAND: Final = re.compile(r"[\d%)]\s?$|\w$")
YEAR: Final = re.compile(r"(?:19|20)[0-9]{2}")
PART_OF_A_NAME: Final = re.compile(r"(?i)-[A-Za-z]|(?:st|nd|rd|th)\b|[A-Za-z]")
NAMED: Final = re.compile(rf"(?i)(?:{any_of('named')}|#)\s?$")
_ABOUT: Final = rf"(?:\s*(?:{any_of('about')}|the|negative|minus|[~:,+-]))*\s*$"
_MARK: Final = r"\s*+(?:[~$]\s*+)?$"
_DOLLAR: Final = r"\s*+(?:\$\s*+)?$"
COPULA: Final = re.compile(
    rf"(?i)(?:\b(?:{any_of('copula')}|=)|:)(?:\s(?:therefore|thus|then))?"
    rf"(?:\s(?:an?|the)\s(?:\w+\s){{0,3}}of)?{_ABOUT}"
)
WEAK_COPULA: Final = re.compile(rf"(?i)\b(?:{any_of('weak_copula')}){_ABOUT}")
BOUND: Final = re.compile(
    rf"(?i)\b(?:{any_of('denied')})\b|n't\b|\b(?:{any_of('bound')}){_MARK}"
    rf"|\b(?:{any_of('multiple')})\s*$"
    rf"|\b(?:sqrt|log|ln|exp|abs)\b\W*$|[<>≤≥√∛{{|]{_DOLLAR}"
)
_DOWN: Final = any_of("down")
_UP: Final = any_of("up")
_EITHER: Final = rf"(?:an? )?(?:{_DOWN}|{_UP})"
OPEN_END: Final = re.compile(
    rf"(?i)\s*+(?:,\s*+)?(?:(?:{any_of('open_end')})\b|\+(?!\d)"
    r"|(?:(?:is|are|was|were|would be|seems?|looks?|appears?)\s)?"
    rf"(?:{any_of('disputed')})\b|{_EITHER}(?: or |/){_EITHER}\b)"
)
DIRECTION: Final = re.compile(
    rf"(?i)\b(?:(?P<down>{_DOWN})|(?P<loss>{any_of('loss')}|lost)|(?P<up>{_UP})|changed?|difference)\b"
)
ADJACENT: Final = re.compile(rf"(?i)(?:\s*(?:{any_of('about')}|of|by|[~:,$]))*\s*")
NEGATIVE: Final = re.compile(rf"(?i)\bnegative (?:\w+ ){{1,3}}(?:of|is|was){_ABOUT}")
STATED_OF: Final = re.compile(rf"(?i)\b(?:{any_of('stated_of')}){_ABOUT}")
DIRECTION_BEHIND: Final = re.compile(
    r"(?i)\s*+(?:,\s*+)?(?:(?:an?|the|overall|total|net|annual|yearly|year-over-year|percent(?:age)?"
    rf"|points?)\s){{0,3}}(?:(?P<down>{_DOWN}|{any_of('loss')}|below)|(?P<up>{_UP}|above))\b"
)
# "45 branches fewer": a counted noun or two, then the direction, and nothing that it compares.
DIRECTION_AFTER_NOUN: Final = re.compile(
    r"(?i)\s*+(?:(?!(?:and|or|with|had|have|has|is|are|was|were|of|to|no|not|reported|showed|at|by)\b)"
    r"[a-z-]{2,30}\s){1,2}(?:(?P<down>fewer|less|lower)|(?P<up>more|higher))"
    r"(?=\s*+(?:$|[.,;]|\b(?:than|in|compared|versus)\b))"
)
IN_SCALE: Final = re.compile(
    r"(?i)\s*+(?:,\s*+)?(?:(?:us )?(?:dollars?|usd|\$)\s)?(?:\$\s?)?(?:in\s)?(?:us\s?)?(?:\$\s?)?"
    rf"({any_of('in_scale')})\b"
)
# A sentence with one of these does not assert its number: somebody else's words, a plan, a step.
UNASSERTED: Final = re.compile(
    rf"(?i)^(?:had|were)\b|\b(?:{any_of('unasserted', 'perhaps')})\b|n['’]t\b"
)
OR: Final = spelled("or_else", "perhaps", "or")
COMPARATOR: Final = spelled("comparator")
CONNECTOR: Final = re.compile(r"(?i)(?:\s|,|and|to|through|-|/|by|in|of|[$€£])*")
PREPOSITION: Final = re.compile(
    rf"(?i)\b(?:(?:{any_of('preposition')})(?: (?:the|its|their|all|that|our))?|{any_of('dated')})"
    rf"{_DOLLAR}"
)
SUBJECT: Final = re.compile(rf"(?i)\b(?:{any_of('preposition', 'dated', 'subject')}){_DOLLAR}")
LISTED: Final = spelled("listed")
SAME_AS: Final = re.compile(
    rf"(?i)(?:{any_of('same_as')}|i\.?e\.?,?|that is,?|[=≈~])"
    r"(?:\s(?:about|approximately|roughly))?\s?"
)
CALCULATION: Final = re.compile(
    rf"(?i)^\s*[*/÷×]\s*\d|[\d%)](?:\s*[+*/÷×]|\s+-|\s*(?:{any_of('calculation')})\b)"
    r"\s*+(?:\(\s*+)?(?:[$€£]\s*+)?\d"
)
FACTOR: Final = re.compile(r"\s*[*/÷×]")
HEDGE: Final = spelled("or_else", "perhaps", "hedge")
WORDED: Final = re.compile(
    r"(?is)(?P<lead>(?:(?:approximately|about|around|roughly|exactly|it|is|was|the|answer|value|an?|of|by"
    rf"|{_DOWN}|loss|{_UP}|~|:)\s+)*)(?P<rest>.+)"
)
COUNTED: Final = re.compile(rf"(?i)\s*(?:{any_of('counted')})\b")
NEW_LEVEL: Final = re.compile(r"(?i)\s*+to\s*+(?:[$€£]\s*+)?")
CHANGED_BY: Final = re.compile(rf"(?i)\bby{_ABOUT}")
EXPLAINED: Final = spelled("explained")

# claims: what an unmarked sentence says of its number, or the question's own verb
_PAST: Final = rf"(?:[a-z]{{2,30}}ed|{any_of('past')})"
CLAIM: Final = re.compile(
    rf"(?i)\b(?:{any_of('found')})\b(?!.*[,;])|\b(?:{any_of('having')}){_ABOUT}"
    rf"|\b(?:{any_of('owner')}) {_PAST}(?: back| up| out)?{_ABOUT}"
    rf"|^(?:{any_of('summing')})\b"
    rf"(?!.*\b(?:the|these|those|this|that|its|an?){_DOLLAR})"
)
CHANGED: Final = re.compile(rf"(?i)\b(?:{_DOWN}|{_UP})\b")
PAST: Final = re.compile(rf"\b{_PAST}\b")
LETTERS: Final = re.compile(r"[a-z]{1,40}")
# Its number is a part, a step or left open, unless the question has the word as well.
QUALIFIED: Final = re.compile(rf"\b(?:{any_of('qualified')})\b")

# final: which words are the answer
# Most responses end so. Nothing else can follow without a letter, and there is no need to look.
# A set that shares a character with the next one keeps what it took: a flood is read once.
ANSWER_LINE: Final = re.compile(
    r"(?i)[*_#> ]*(?:final )?answer[*_ ]*:[*_ ]*+"
    r"([-+$(~=\[ ]*[0-9][-+$0-9.,%()~\] ]*+|yes|no)[*_. ]*"
)
RESULT: Final = re.compile(rf"(?i)(?:{any_of('result')})")
ALTERNATIVE: Final = re.compile(
    rf"(?i)\W*(?:{any_of('or_else', 'perhaps', 'alternative')})\b[^.\n]{{0,60}}\d"
)
VALUE: Final = re.compile(r"(?i)\d|\b(?:yes|no)\b")
# "12% or so, maybe 13%": a statement ends before its "so".
HANGING: Final = re.compile(r"(?i)\bor$")
CONTRAST: Final = re.compile(
    rf"(?i)\W{{0,4}}(?:{any_of('contrast')})\b,?(?: (?:it|that|this)(?:['’]s| is| was"
    r"| would be| becomes))?"
    r"(?= (?:about |approximately |around |roughly |only )?[-−–+(]?[$€£]?\.?\d"
    r"(?!\d{3}\b(?![.,%]\d|%)))"
)
WITHDRAWN: Final = re.compile(
    rf"(?i)\W{{0,4}}(?:{any_of('withdrawn')})\b[^.\n]{{0,60}}"
    rf"\b(?:cannot|can['’]?t|can not|could not) be (?:{any_of('withheld')})\b"
)
ASKED: Final = re.compile(rf"(?i)\s?\?|,?\s{{1,4}}(?:{any_of('asked')})\b")
DATED: Final = re.compile(r"(?i)\b(?:from|in|between|to|and|fiscal|year) (?:19|20)[0-9]{2}\b")
OFFERED: Final = re.compile(
    r"(?i)\b(?:could|might|may) (?:also |well )?be\b[^.\n]{0,40}\d"
    rf"|\b(?:{any_of('offered')})\b[^.\n]{{0,40}}\b(?:answer|value|result)\b[^.\n]{{0,30}}\d"
    r"|\bif (?:you|we|one|it|the)\b[^.\n]{0,60}[,:] [^.\n]{0,30}\d"
)
BARE_NO: Final = re.compile(r"(?i)no\b(?! answer)")
DENIAL: Final = spelled("denial")
REMARK: Final = re.compile(
    r"(?i)(?!.*\b(?:un(?:known|clear|certain|determined)|not|cannot|impossible|insufficient|none)\b)\D+"
)
# What a reward answers with, and what a judge says: no last sentence about a filing.
CONTRACT: Final = re.compile(rf"(?i)\"\s?:|(?<![a-z])(?:{any_of('contract')})\b")
BROKEN_OFF: Final = re.compile(
    rf"(?:[,:;(=+×/]|\b(?:{any_of('broken_off')})|, which I (?:\w+ ){{0,3}}\w+)$"
)

# question: what it fixes about its answer
QUESTION_LEAD: Final = re.compile(r"(?i)[#*_> ]*+q(?:uestion)?[*_ ]*+:[*_ ]*+")
WAITING_LABEL: Final = re.compile(r"(?i)[#*_> ]*+(?:final )?a(?:nswer)?[*_ ]*+:[*_ ]*+")
# A dot behind one letter, or behind one of these words, is an abbreviation's: "in U.S. dollars".
SENTENCE_BREAK: Final = re.compile(
    r"(?i)(?<=[.!?])(?<![\s.][A-Za-z]\.)(?<!\b(?:co|no|vs)\.)(?<!\b(?:inc|ltd|fig)\.)(?<!\bcorp\.)\s+"
)
QUESTION_SCALE: Final = re.compile(
    rf"(?i)(?:(?<![\d.)] )\b(?P<word>{_GROUP})s\b"
    rf"|\bin (?:(?:us ?)?\$ ?|u\.s\. |us )?(?:dollars? )?(?P<single>{_GROUP})\b"
    r"|\bin (?:\$ ?)?(?P<short>mm|mn|bn|b)\b)"
)
ASKS_PERCENT: Final = re.compile(rf"(?i)\b(?:{any_of('asks_percent')})\b|%")
ASKS_BASIS_POINTS: Final = re.compile(rf"(?i)\b(?:{any_of('asks_basis_points')})\b")
ASKS_DECREASE: Final = re.compile(
    rf"(?i)\b(?:{any_of('asks_decrease')})\b"
    r"|\bwhat (?:is|was|were|are) (?:the )?(?:(?:percent(?:age)?|total|net|average|annual|amount"
    r"|of|the|operating|overall|realized|unrealized|pre-?tax|after-?tax|estimated) ){0,4}"
    rf"(?:{any_of('loss')})\b"
    r"|\bhow much\b.{0,80}\blo(?:st|se)\b"
)
ASKS_CHANGE: Final = re.compile(rf"(?i)\b(?:{any_of('asks_change')})\b")
CIRCUMSTANCE: Final = re.compile(rf"(?i)\b(?:{any_of('circumstance')}) (?:\S+ ){{0,5}}$")

# yesno: the two words
# Before a noun "no" is a determiner: "no change", "no doubt". It answers where its clause ends.
_NO: Final = (
    r"no(?=\s*(?:[.,;:!?()\[\]{}\"'*_/…–—]|$)|\s+(?:[-+=$0-9]"
    rf"|(?:{any_of('no_goes_on')})\b))"
)
FIRST_WORD: Final = re.compile(rf"(?i)[\W_]*(yes|{_NO})\b(?!-)")
BOTH_WORDS: Final = re.compile(
    rf"(?i)\W{{0,4}}(?:\b(?:{any_of('both_words')})\b\W{{0,3}}){{0,3}}"
    rf"(?:(?:the\s)?(?:final\s)?answer(?:\sis)?\W{{1,4}})?(?P<word>yes|{_NO})\b"
)
# One answer or, in the same breath, one of the other kind: "12%, or ANSWER: yes", "yes or 12".
_OR_ELSE: Final = (
    rf"\W{{0,4}}\b(?:{any_of('or_else')})\b(?: else)?[\s,:*_]{{1,4}}"
    r"(?:(?:maybe|perhaps|possibly)\s)?(?:(?:the\s)?(?:final\s)?answer(?:\sis)?[\s:*_]{1,4})?"
)
OR_NUMBER: Final = re.compile(rf"(?i){_OR_ELSE}[-−+(]{{0,2}}[$€£]?[-−]?\.?[0-9]")
OR_WORD: Final = re.compile(rf"(?i){_OR_ELSE}(?:yes|no)\b(?=\W*$|[.,;!?\n])")
# "The answer is 12 or the answer is 13": the last statement is one of two.
OR_BEFORE: Final = re.compile(
    rf"(?i)\b(?:{any_of('or_else')})\b[\s,:*_]{{0,4}}(?:the\s)?(?:final\s)?$"
)
EITHER_WORD: Final = re.compile(
    rf"(?i)[^\n]{{0,80}}?(?:[,;.]|\b(?:{any_of('either_word')})\b)\s+"
    r"(?:(?:also|then|maybe|partly|is it)\s+){0,2}(?P<word>yes|no)"
    r"(?=\W*(?:[.,;\n]|$)|\s+(?:in|for|if|when|on|at|under|by)\b)"
)
WORD: Final = re.compile(rf"(?i)\b(yes|{_NO})\b")
WORD_LEAD: Final = re.compile(rf"(?i)\W*(?:{any_of('word_lead')})\b[\s,:]*")
WORD_STATED: Final = re.compile(
    r"(?i)\b(?:is|be|so|:)\W{0,4}(?:clearly\s|simply\s|a\s)?(yes|no)\W*"
)
WORD_ALONE: Final = re.compile(r"(?i)[\W_]*(yes|no)[\W_]*")
WORD_RETRACTED: Final = re.compile(
    rf"(?i)(?:(?:^|[.!?;:,…–—-])\W*|\b(?:{any_of('word_retracted')})\b\W{{1,4}})"
    r"(?:(?:actually|wait|rather|correction|sorry|hmm|also|partly)\W{1,4})*"
    r"(?P<word>yes|no)\b[*_\"')]*(?=\s*(?:[.!?;\n]|$))"
)
WORD_DENIED: Final = spelled("word_denied")

# stated_program: the label of a program
PROGRAM_LABEL: Final = re.compile(r"(?i)[\s*_#>-]*(?:[A-Za-z ]{0,40}program[*_ ]*[:=])?[\s*_`]*")
