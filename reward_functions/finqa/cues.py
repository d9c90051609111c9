"""The words and signs around the value of a financial answer, as patterns.

The one table of FinQA's words; the modules named in it match them and hold none of their own. Each
pattern is matched against the few characters next to a number, and none repeats an unbounded part
inside another, so that the cost is bounded by the length of an answer.
"""

from __future__ import annotations

import re
from typing import Final

from reward_functions.extraction.cues.phrase import vocabulary

# values: the value an answer states
PLAINEST: Final = re.compile(
    r"[\s*_~=\[]*(?P<sign>[-+]?)(?P<dollar>\$?)(?P<whole>[1-9][0-9]{0,2}(?:,[0-9]{3})+|[0-9]{1,15})"
    r"(?:\.(?P<fraction>[0-9]{1,15}))?\s?(?P<percent>%|percent)?[\s*_.\]]*"
)
MARKS: Final = {
    "**": "",
    "__": "",
    "`": "",
    "\\$": "$",
    "\\%": "%",
    "\\times": "×",
    "\\cdot": "·",
    "\\approx": "=",
    "\\left": "",
    "\\right": "",
    "↓": "down ",
    "▼": "down ",
    "↑": "up ",
    "▲": "up ",
    "\\": "",
}
MATHEMATICS: Final = re.compile(r"\$([^$\s](?:[^$]{0,60}[^$\s])?)\$(?!\d)")
MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
DATE: Final = re.compile(
    rf"\b{MONTH}\.? [0-9]{{1,2}}(?:st|nd|rd|th)?(?:(?: ?, ?| )(?:19|20)[0-9]{{2}})?"
    r"(?![\d.,]*\d|\s?%)"
    r"|(?<![\d/.])[0-9]{1,2}/[0-9]{1,2}/[0-9]{2,4}(?!\d)"
    r"|\b(?:between|from)(?: fiscal| year)* (?:19|20)[0-9]{2}"
    r" (?:and|to|through)(?: fiscal| year)* (?:19|20)[0-9]{2}(?![\d.,]*\d|\s?%)",
    re.IGNORECASE,
)
_PERIOD_WORD: Final = (
    rf"(?:the|of|in|end|beginning|start|fiscal|calendar|full|first|second|third|fourth|last|half"
    rf"|quarter|months?|year(?:-end|s)?|ended|ending|period|fy|q[1-4]|{MONTH})"
)
# A period that is named in front: "In fiscal 2013, 14.1%".
PERIOD: Final = re.compile(
    rf"(?:(?:so|thus|hence|therefore|overall),? )?(?=[a-z])"
    rf"(?:(?:in|for|during|as of|since|through|by|at)\b ?)?(?:{_PERIOD_WORD}\b ?)*"
    r"(?:19|20)[0-9]{2}(?:(?: (?:to|through) | ?[-–/] ?)(?:19|20)[0-9]{2})?"
    r"(?![\d.,]*\d|\s?%|-| (?:and|or|to|through)\b)"
    r"(?: ?[,:]| [-–—](?= ))? (?=.*[0-9])",
    re.IGNORECASE,
)
TAG: Final = re.compile(r"</?[a-z]{1,8}>", re.IGNORECASE)
NOTE: Final = re.compile(r"(?<=[\w%)] )\[([^\[\]()]{1,80})\]$")
BRACKETS: Final = re.compile(r"\(([^()]*)\)")
EQUALS: Final = re.compile(r"[=≈]|\bequals\b")
REFUSAL: Final = vocabulary("""
    can_not could_not unable insufficient impossible unknown undetermined null
    not_possible not_enough not_available not_sufficient not_determinable not_sure not_known
""")
SCALE_WORD: Final = r"(?:thousand|million|billion|trillion|hundred|dozen)s?"
CURRENCY_WORD: Final = r"(?:dollars?|usd|euros?|eur|cents?|pounds?|gbp|yen|rupees?|yuan)"
ACCOUNTING: Final = re.compile(
    rf"\s*+(?P<sign>-)?\s*+(?:US)?[$€£]?\s*+[0-9.][0-9.,]*+\s*+(?:%|percent\b)?"
    rf"(?:\s*+{SCALE_WORD}\b)?\s*+",
    re.IGNORECASE,
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
      (?:[ ](?:us\ |u\.s\.\ )?(?i:{CURRENCY_WORD})\b|¢)?
    )
    (?:\s?(?::|to)\s?1(?:\.0+)?(?![\d.,]*\d|\s?[%x]|\s?{SCALE_WORD})|(?P<times>\s?(?:x|×|times)(?!\w)))?
    """,
    re.VERBOSE,
)
UNFINISHED: Final = re.compile(
    r"\s?(?:[/÷]\s?[0-9]|\^|\*\*|!|squared|cubed|factorial|doubled|halved)"
)
REFUSED: Final = re.compile(r"[±?‰‱]|\+\s?/\s?-")
OPERAND: Final = re.compile(r"[\d%)]\s?$|\w$")
YEAR: Final = re.compile(r"(?:19|20)[0-9]{2}")
PART_OF_A_NAME: Final = re.compile(r"-[A-Za-z]|(?:st|nd|rd|th)\b|[A-Za-z]", re.IGNORECASE)
NAMED: Final = re.compile(
    r"(?:s&p|russell|nasdaq|fortune|ftse|section|step|steps|note|item|table|row|column|line|page|no\.?|tier|#)\s?$",
    re.IGNORECASE,
)
ABOUT: Final = (
    r"(?:\s*(?:about|approximately|approx\.?|around|roughly|nearly|almost|exactly|only|just|an?|the"
    r"|some|circa|~|:|,|-|\+|negative|minus))*\s*$"
)
COPULA: Final = re.compile(
    rf"(?:\b(?:is|are|was|were|be|being|equals|equal to|totals|totaled|totalled|gives|yields"
    rf"|came to|comes to|amounts to|amounted to|reached|would be|=)|:)"
    rf"(?:\s(?:therefore|thus|then))?"
    rf"(?:\s(?:an?|the)\s(?:\w+\s){{0,3}}of)?{ABOUT}",
    re.IGNORECASE,
)
WEAK_COPULA: Final = re.compile(rf"\b(?:by|of|to|rose|fell|grew|up|down){ABOUT}", re.IGNORECASE)
BOUND: Final = re.compile(
    r"\b(?:between|either|neither|never|not|no|rang(?:e|es|ing)|anything but|other than|instead of"
    r"|rather than|if|unless|whether)\b|n't\b"
    r"|\b(?:at least|at most|more than|less than|greater than|fewer than|no more than|up to|over"
    r"|under|above|below|exceed(?:s|ed|ing)?|upwards of"
    r"|minimum of|maximum of|within)\s*+(?:[~$]\s*+)?$"
    r"|\b(?:twice|double|triple|half"
    r"|(?:half|multiples?|opposite|inverse|reciprocal|square|root) of)\s*$"
    r"|\b(?:from|than|versus|vs\.?|compared (?:with|to))\s*+(?:[~$]\s*+)?$"
    r"|\b(?:sqrt|log|ln|exp|abs)\b\W*$|[<>≤≥√∛{|]\s*+(?:\$\s*+)?$",
    re.IGNORECASE,
)
DOWN: Final = (
    r"decreas(?:e|ed|es|ing)|declin(?:e|ed|es|ing)|reduc(?:tion|ed|es|e)|drop(?:ped|s)?|f[ae]ll(?:en|s)?"
    r"|lower|less|fewer|down|negative|minus|shr[aiu]nk|shrunken|contract(?:ed|ion)|smaller|worsened|deficit|slip(?:ped)?|diminish(?:ed)?|slid|dip(?:ped)?|sank|plunged?|tumbled?"
)
UP: Final = (
    r"increas(?:e|ed|es|ing)|gr[eo]w(?:n|s)?|growth|r[io]sen?|gain(?:ed|s)?|higher|up|more|greater"
    r"|larger|improve(?:d|ment)|positive|plus|climb(?:ed)?|jump(?:ed)?|surged?|soared"
)
OPEN_END: Final = re.compile(
    r"\s*+(?:,\s*+)?(?:or (?:more|less|fewer|higher|lower|greater|so|above|below)\b|\+(?!\d)"
    r"|and (?:above|up|over)\b"
    r"|at (?:least|most)\b|unless\b"
    r"|(?:(?:is|are|was|were|would be|seems?|looks?|appears?)\s)?"
    r"(?:not|wrong|incorrect|false|implausible|unlikely|too (?:high|low|large|small|big))\b"
    rf"|(?:an? )?(?:{DOWN}|{UP})(?: or |/)(?:an? )?(?:{DOWN}|{UP})\b)",
    re.IGNORECASE,
)
DIRECTION: Final = re.compile(
    rf"\b(?:(?P<down>{DOWN})|(?P<loss>loss(?:es)?|lost)|(?P<up>{UP})"
    r"|changed?|difference)\b",
    re.IGNORECASE,
)
ADJACENT: Final = re.compile(
    r"(?:\s*(?:of|by|an?|about|approximately|approx\.?|around|roughly|nearly|almost|exactly|only|just"
    r"|some|circa|[~:,$]))*\s*",
    re.IGNORECASE,
)
NEGATIVE: Final = re.compile(rf"\bnegative (?:\w+ ){{1,3}}(?:of|is|was){ABOUT}", re.IGNORECASE)
STATED_OF: Final = re.compile(
    rf"\b(?:is|was|are|were|of|by|equals|totals|totaled){ABOUT}", re.IGNORECASE
)
DIRECTION_BEHIND: Final = re.compile(
    rf"\s*+(?:,\s*+)?(?:(?:an?|the|overall|total|net|annual|yearly|year-over-year|percent(?:age)?|points?)\s)"
    rf"{{0,3}}(?:(?P<down>{DOWN}|loss(?:es)?|below)|(?P<up>{UP}|above))\b",
    re.IGNORECASE,
)
# "45 branches fewer": a counted noun or two, then the direction, and nothing that it compares.
DIRECTION_AFTER_NOUN: Final = re.compile(
    r"\s*+(?:(?!(?:and|or|with|had|have|has|is|are|was|were|of|to|no|not|reported|showed|at|by)\b)"
    r"[a-z-]{2,30}\s){1,2}(?:(?P<down>fewer|less|lower)|(?P<up>more|higher))"
    r"(?=\s*+(?:$|[.,;]|\b(?:than|in|compared|versus)\b))",
    re.IGNORECASE,
)
IN_SCALE: Final = re.compile(
    r"\s*+(?:,\s*+)?(?:(?:us )?(?:dollars?|usd|\$)\s)?(?:\$\s?)?(?:in\s)?(?:us\s?)?(?:\$\s?)?"
    r"(thousands?|millions?|billions?)\b",
    re.IGNORECASE,
)
# A sentence with one of these does not assert its number: somebody else's words, a plan, a step.
UNASSERTED: Final = re.compile(
    r"^(?:had|were)\b|\b(?:accord(?:ing|s)|report(?:s|ed)?|list(?:s|ed)?|show(?:s|n|ed)?|mention(?:s|ed)?|says?|said"
    r"|state[sd]?|claim(?:s|ed)?|cite[sd]?|quote[sd]?|disclose[sd]?|indicate[sd]?|read|reads"
    r"|tables?|filings?|pages?|rows?|columns?|notes?|footnotes?|documents?|exhibits?|steps?|releases?|articles?"
    r"|statements?|prospectus"
    r"|guess(?:ed|es)?|believe[sd]?|hope[sd]?|expect\w*|estimat\w*|project(?:s|ed|ion)?|forecast\w*"
    r"|plan(?:s|ned)?|target\w*|aim\w*|budget\w*|intend\w*|assum\w*|suppos\w*|imagin\w*"
    r"|consider\w*|let|need\w*|must|should|would|will|going|try|tries|tried|tempt\w*|start\w*"
    r"|begin\w*|uses?|using|used|takes?|taking|plug\w*|substitut\w*|subtract\w*|divid\w*"
    r"|multipl\w*|adds?|adding|given|recall\w*|remember\w*|see|look\w*|compared?|versus"
    r"|wrong\w*|incorrect\w*|false\w*|un(?:likely|sure|clear)|nobody|none|nothing|never|hardly"
    r"|neither|nor|without|fail\w*|den(?:y|ies|ied)|refus\w*|or|another|alternative\w*|maybe"
    r"|perhaps|possibly|probably|could|might|may|not|cannot|otherwise|else|if|unless|whether|why"
    r"|what|how|who)\b|n['’]t\b",
    re.IGNORECASE,
)
OR: Final = vocabulary("""
    or alternatively but maybe perhaps possibly else otherwise whereas while if actually
""")
COMPARATOR: Final = vocabulary("""
    compared versus vs relative from based given using computed calculated derived than out_of
    between against above below adding subtracting multiplying dividing sum_of average_of mean_of
    product_of quotient_of ratio_of
""")
CONNECTOR: Final = re.compile(r"(?:\s|,|and|to|through|-|/|by|in|of|[$€£])*", re.IGNORECASE)
PREPOSITION: Final = re.compile(
    r"\b(?:(?:of|in|for|on|at|during|as of|since|over)(?: (?:the|its|their|all|that|our))?"
    r"|per|fiscal|year|quarter)\s*+(?:\$\s*+)?$",
    re.IGNORECASE,
)
SUBJECT: Final = re.compile(
    r"\b(?:of|in|for|on|at|during|since|per|over|fiscal|year|quarter|to|by|until|through|the)"
    r"\s*+(?:\$\s*+)?$",
    re.IGNORECASE,
)
LISTED: Final = vocabulary("and , ;")
SAME_AS: Final = re.compile(
    r"(?:or|i\.?e\.?,?|that is,?|approximately|about|roughly|rounded(?: to)?|equivalently|equals"
    r"|[=≈~])"
    r"(?:\s(?:about|approximately|roughly))?\s?",
    re.IGNORECASE,
)
CALCULATION: Final = re.compile(
    r"^\s*[*/÷×]\s*\d"
    r"|[\d%)](?:\s*[+*/÷×]|\s+-|\s*(?:minus|plus|divided by|less|times|over|out of)\b)"
    r"\s*+(?:\(\s*+)?(?:[$€£]\s*+)?\d",
    re.IGNORECASE,
)
FACTOR: Final = re.compile(r"\s*[*/÷×]")
HEDGE: Final = vocabulary("""
    or also another alternative alternatively maybe perhaps possibly could might may not otherwise
    else if
""")
WORDED: Final = re.compile(
    rf"(?P<lead>(?:(?:approximately|about|around|roughly|exactly|it|is|was|the|answer|value|an?|of|by"
    rf"|{DOWN}|loss|{UP}|~|:)\s+)*)(?P<rest>.+)",
    re.IGNORECASE | re.DOTALL,
)
COUNTED: Final = re.compile(
    r"\s*(?:years?|months?|weeks?|days?|hours?|shares?|stores?|employees|people|square feet)\b",
    re.IGNORECASE,
)
NEW_LEVEL: Final = re.compile(r"\s*+to\s*+(?:[$€£]\s*+)?", re.IGNORECASE)
CHANGED_BY: Final = re.compile(rf"\bby{ABOUT}", re.IGNORECASE)
EXPLAINED: Final = vocabulary("""
    see step steps using formula calculation calculated computed decimal decimals
    significant_digit significant_digits significant_figure significant_figures
""")

# final: which words are the answer
# Most responses end so. Nothing else can follow without a letter, and there is no need to look.
# A set that shares a character with the next one keeps what it took: a flood is read once.
ANSWER_LINE: Final = re.compile(
    r"[*_#> ]*(?:final )?answer[*_ ]*:[*_ ]*+([-+$(~=\[ ]*[0-9][-+$0-9.,%()~\] ]*+|yes|no)[*_. ]*",
    re.IGNORECASE,
)
RESULT: Final = re.compile(r"(?:result|option|choice|solution)", re.IGNORECASE)
ALTERNATIVE: Final = re.compile(
    r"\W*(?:or|alternatively|otherwise|else|maybe|perhaps|possibly|but (?:it )?(?:may|might|could))"
    r"\b[^.\n]{0,60}\d",
    re.IGNORECASE,
)
VALUE: Final = re.compile(r"\d|\b(?:yes|no)\b", re.IGNORECASE)
# "12% or so, maybe 13%": a statement ends before its "so".
HANGING: Final = re.compile(r"\bor$", re.IGNORECASE)
CONTRAST: Final = re.compile(
    r"\W{0,4}(?:but|while|whereas|however|although|though)\b,?(?: (?:it|that|this)(?:['’]s| is| was"
    r"| would be| becomes))?"
    r"(?= (?:about |approximately |around |roughly |only )?[-−–+(]?[$€£]?\.?\d"
    r"(?!\d{3}\b(?![.,%]\d|%)))",
    re.IGNORECASE,
)
WITHDRAWN: Final = re.compile(
    r"\W{0,4}(?:but|although|though|however|yet)\b[^.\n]{0,60}"
    r"\b(?:cannot|can['’]?t|can not|could not) be"
    r" (?:found|determined|computed|calculated|known|given)\b",
    re.IGNORECASE,
)
ASKED: Final = re.compile(
    r"\s?\?|,?\s{1,4}(?:if|unless|assuming|provided|depending)\b", re.IGNORECASE
)
DATED: Final = re.compile(
    r"\b(?:from|in|between|to|and|fiscal|year) (?:19|20)[0-9]{2}\b", re.IGNORECASE
)
OFFERED: Final = re.compile(
    r"\b(?:could|might|may) (?:also |well )?be\b[^.\n]{0,40}\d"
    r"|\b(?:another|other|alternative|second|possible)\b[^.\n]{0,40}\b(?:answer|value|result)\b[^.\n]{0,30}\d"
    r"|\bif (?:you|we|one|it|the)\b[^.\n]{0,60}[,:] [^.\n]{0,30}\d",
    re.IGNORECASE,
)
BARE_NO: Final = re.compile(r"no\b(?! answer)", re.IGNORECASE)
DENIAL: Final = vocabulary("not never neither hardly")
REMARK: Final = re.compile(
    r"(?!.*\b(?:un(?:known|clear|certain|determined)|not|cannot|impossible|insufficient|none)\b)\D+",
    re.IGNORECASE,
)
# What a reward answers with, and what a judge says: no last sentence about a filing.
CONTRACT: Final = re.compile(
    r"\"\s?:|(?<![a-z])(?:rewards?|scores?|verdict|metrics_list)\b", re.IGNORECASE
)
BROKEN_OFF: Final = re.compile(
    r"(?:[,:;(=+×/]|\b(?:and|or|but|the|an?|of|to|by|with|from|for|in|on|is|are|was|we|I|now|then|next"
    r"|gives|which|that|so|because|since|if|plus|minus|times)|, which I (?:\w+ ){0,3}\w+)$"
)

# question: what it fixes about its answer
QUESTION_LEAD: Final = re.compile(r"[#*_> ]*+q(?:uestion)?[*_ ]*+:[*_ ]*+", re.IGNORECASE)
WAITING_LABEL: Final = re.compile(r"[#*_> ]*+(?:final )?a(?:nswer)?[*_ ]*+:[*_ ]*+", re.IGNORECASE)
# A dot behind one letter, or behind one of these words, is an abbreviation's: "in U.S. dollars".
SENTENCE_BREAK: Final = re.compile(
    r"(?<=[.!?])(?<![\s.][A-Za-z]\.)(?<!\b(?:co|no|vs)\.)(?<!\b(?:inc|ltd|fig)\.)(?<!\bcorp\.)\s+",
    re.IGNORECASE,
)
QUESTION_SCALE: Final = re.compile(
    r"(?:(?<![\d.)] )\b(?P<word>thousand|million|billion|trillion)s\b"
    r"|\bin (?:(?:us ?)?\$ ?|u\.s\. |us )?(?:dollars? )?"
    r"(?P<single>thousand|million|billion|trillion)\b"
    r"|\bin (?:\$ ?)?(?P<short>mm|mn|bn|b)\b)",
    re.IGNORECASE,
)
ASKS_PERCENT: Final = re.compile(r"\bpercent|\bper cent\b|%|\brates? of change\b", re.IGNORECASE)
ASKS_BASIS_POINTS: Final = re.compile(r"\bbasis[ -]points?\b|\bbps?\b", re.IGNORECASE)
ASKS_DECREASE: Final = re.compile(
    r"\b(?:decreas(?:e|ed|ing)|declin(?:e|ed|ing)|reduc(?:tion|ed|e)|drop(?:ped)?|f[ae]ll)\b"
    r"|\b(?:lower|less|fewer|smaller) (?:is|was|are|were|than)\b|\bhow many fewer\b"
    r"|\bwhat (?:is|was|were|are) (?:the )?(?:(?:percent(?:age)?|total|net|average|annual|amount"
    r"|of|the|operating|overall|realized|unrealized|pre-?tax|after-?tax|estimated) ){0,4}"
    r"loss(?:es)?\b"
    r"|\bhow much\b.{0,80}\blo(?:st|se)\b",
    re.IGNORECASE,
)
ASKS_CHANGE: Final = re.compile(
    r"\b(?:increas(?:e|ed|ing)|growth|gr[eo]w|r[io]se|chang(?:e|ed)|difference|ratio|variation)\b",
    re.IGNORECASE,
)
CIRCUMSTANCE: Final = re.compile(
    r"\b(?:due to|because of|after|before|considering|given|without|with|if|when|assuming|excluding"
    r"|including|despite|from) (?:\S+ ){0,5}$",
    re.IGNORECASE,
)

# yesno: the two words
# Before a noun "no" is a determiner: "no change", "no doubt". It answers where its clause ends.
_NO: Final = (
    r"no(?=\s*(?:[.,;:!?()\[\]{}\"'*_/…–—]|$)|\s+(?:[-+=$0-9]|(?:and|or|but|yes|not|because|since|as|so"
    r"|if|when|unless|it|its|they|their|he|she|we|you|i|this|that|these|those|there|the|a|an|both|all"
    r"|in|on|at|by|for|from|with|during|due|based|given|according|compared|is|are|was|were|did|does|do"
    r"|has|have|had)\b))"
)
FIRST_WORD: Final = re.compile(rf"[\W_]*(yes|{_NO})\b(?!-)", re.IGNORECASE)
BOTH_WORDS: Final = re.compile(
    r"\W{0,4}(?:\b(?:and|or|but|maybe|perhaps|also|then|wait)\b\W{0,3}){0,3}"
    rf"(?:(?:the\s)?(?:final\s)?answer(?:\sis)?\W{{1,4}})?(?P<word>yes|{_NO})\b",
    re.IGNORECASE,
)
# One answer or, in the same breath, one of the other kind: "12%, or ANSWER: yes", "yes or 12".
_OR_ELSE: Final = (
    r"\W{0,4}\b(?:or|alternatively|otherwise)\b(?: else)?[\s,:*_]{1,4}"
    r"(?:(?:maybe|perhaps|possibly)\s)?(?:(?:the\s)?(?:final\s)?answer(?:\sis)?[\s:*_]{1,4})?"
)
OR_NUMBER: Final = re.compile(rf"{_OR_ELSE}[-−+(]{{0,2}}[$€£]?[-−]?\.?[0-9]", re.IGNORECASE)
OR_WORD: Final = re.compile(rf"{_OR_ELSE}(?:yes|no)\b(?=\W*$|[.,;!?\n])", re.IGNORECASE)
# "The answer is 12 or the answer is 13": the last statement is one of two.
OR_BEFORE: Final = re.compile(
    r"\b(?:or|alternatively|otherwise)\b[\s,:*_]{0,4}(?:the\s)?(?:final\s)?$", re.IGNORECASE
)
EITHER_WORD: Final = re.compile(
    r"[^\n]{0,80}?(?:[,;.]|\b(?:but|also|or|and|unless|otherwise|else|is it)\b)\s+"
    r"(?:(?:also|then|maybe|partly|is it)\s+){0,2}(?P<word>yes|no)"
    r"(?=\W*(?:[.,;\n]|$)|\s+(?:in|for|if|when|on|at|under|by)\b)",
    re.IGNORECASE,
)
WORD: Final = re.compile(rf"\b(yes|{_NO})\b", re.IGNORECASE)
WORD_LEAD: Final = re.compile(
    r"\W*(?:therefore|thus|hence|so|in conclusion|overall|finally|in short)\b[\s,:]*", re.IGNORECASE
)
WORD_STATED: Final = re.compile(
    r"\b(?:is|be|so|:)\W{0,4}(?:clearly\s|simply\s|a\s)?(yes|no)\W*", re.IGNORECASE
)
WORD_ALONE: Final = re.compile(r"[\W_]*(yes|no)[\W_]*", re.IGNORECASE)
WORD_RETRACTED: Final = re.compile(
    r"(?:(?:^|[.!?;:,…–—-])\W*|\b(?:actually|wait|rather|correction|sorry|instead|hmm|but|is"
    r"|should be|make (?:that|it))\b\W{1,4})"
    r"(?:(?:actually|wait|rather|correction|sorry|hmm|also|partly)\W{1,4})*"
    r"(?P<word>yes|no)\b[*_\"')]*(?=\s*(?:[.!?;\n]|$))",
    re.IGNORECASE,
)
WORD_DENIED: Final = vocabulary("not neither unclear unsure ?")

# stated_program: the label of a program
PROGRAM_LABEL: Final = re.compile(
    r"[\s*_#>-]*(?:[A-Za-z ]{0,40}program[*_ ]*[:=])?[\s*_`]*", re.IGNORECASE
)
