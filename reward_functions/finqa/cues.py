"""The words and signs around the value of a financial answer, as patterns.

Each is asked of the few characters next to a number (`values`), and none repeats an
unbounded part inside another, so that their cost is bounded by the length of an answer.
"""

from __future__ import annotations

import re
from typing import Final

DIGIT: Final = re.compile(r"\d")
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
TAG: Final = re.compile(r"</?[a-z]{1,8}>", re.IGNORECASE)
NOTE: Final = re.compile(r"(?<=[\w%)] )\[([^\[\]()]{1,80})\]$")
BRACKETS: Final = re.compile(r"\(([^()]*)\)")
EQUALS: Final = re.compile(r"[=≈]|\bequals\b")
REFUSAL: Final = re.compile(
    r"\b(?:cannot|can't|can not|could not|couldn't|unable|insufficient|impossible|unknown"
    r"|undetermined|not (?:possible|enough|available|sufficient|determinable|sure|known))\b",
    re.IGNORECASE,
)
SCALE_WORD: Final = r"(?:thousand|million|billion|trillion|hundred|dozen)s?"
CURRENCY_WORD: Final = r"(?:dollars?|usd|euros?|eur|cents?|pounds?|gbp|yen|rupees?|yuan)"
ACCOUNTING: Final = re.compile(
    rf"\s*(?P<sign>-)?\s*(?:US)?[$€£]?\s*[0-9.][0-9.,]*\s*(?:%|percent\b)?(?:\s*{SCALE_WORD}\b)?\s*",
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
    r"|under|above|below|exceed(?:s|ed|ing)?|upwards of|minimum of|maximum of|within)\s*[~$]?\s*$"
    r"|\b(?:twice|double|triple|half"
    r"|(?:half|multiples?|opposite|inverse|reciprocal|square|root) of)\s*$"
    r"|\b(?:from|than|versus|vs\.?|compared (?:with|to))\s*[~$]?\s*$"
    r"|\b(?:sqrt|log|ln|exp|abs)\b\W*$|[<>≤≥√∛{|]\s*\$?\s*$",
    re.IGNORECASE,
)
DOWN: Final = (
    r"decreas(?:e|ed|es|ing)|declin(?:e|ed|es|ing)|reduc(?:tion|ed|es|e)|drop(?:ped|s)?|f[ae]ll(?:en|s)?"
    r"|lower|less|down|negative|minus|shr[aiu]nk|shrunken|contract(?:ed|ion)|smaller|worsened|deficit|slip(?:ped)?|diminish(?:ed)?|slid|dip(?:ped)?|sank|plunged?|tumbled?"
)
UP: Final = (
    r"increas(?:e|ed|es|ing)|gr[eo]w(?:n|s)?|growth|r[io]sen?|gain(?:ed|s)?|higher|up|more|greater"
    r"|larger|improve(?:d|ment)|positive|plus|climb(?:ed)?|jump(?:ed)?|surged?|soared"
)
OPEN_END: Final = re.compile(
    r"\s*,?\s*(?:or (?:more|less|higher|lower|greater|so|above|below)\b|\+(?!\d)"
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
    rf"\s*,?\s*(?:(?:an?|the|overall|total|net|annual|yearly|year-over-year|percent(?:age)?|points?)\s)"
    rf"{{0,3}}(?:(?P<down>{DOWN}|loss(?:es)?|below)|(?P<up>{UP}|above))\b",
    re.IGNORECASE,
)
IN_SCALE: Final = re.compile(
    r"\s*,?\s*(?:(?:us )?(?:dollars?|usd|\$)\s)?(?:\$\s?)?(?:in\s)?(?:us\s?)?(?:\$\s?)?"
    r"(thousands?|millions?|billions?)\b",
    re.IGNORECASE,
)
OR: Final = re.compile(
    r"\b(?:or|alternatively|but|maybe|perhaps|possibly|else|otherwise|whereas|while|if|actually)\b",
    re.IGNORECASE,
)
COMPARATOR: Final = re.compile(
    r"\b(?:compared|versus|vs|relative|from|based|given|using|computed|calculated|derived|than"
    r"|out of|between|against|above|below|adding|subtracting|multiplying|dividing"
    r"|(?:sum|average|mean|product|quotient|ratio) of)\b",
    re.IGNORECASE,
)
CONNECTOR: Final = re.compile(r"(?:\s|,|and|to|through|-|/|by|in|of|[$€£])*", re.IGNORECASE)
PREPOSITION: Final = re.compile(
    r"\b(?:(?:of|in|for|on|at|during|as of|since|over)(?: (?:the|its|their|all|that|our))?"
    r"|per|fiscal|year|quarter)\s*\$?\s*$",
    re.IGNORECASE,
)
SUBJECT: Final = re.compile(
    r"\b(?:of|in|for|on|at|during|since|per|over|fiscal|year|quarter|to|by|until|through|the)"
    r"\s*\$?\s*$",
    re.IGNORECASE,
)
LISTED: Final = re.compile(r"\band\b|,|;", re.IGNORECASE)
SAME_AS: Final = re.compile(
    r"(?:or|i\.?e\.?,?|that is,?|approximately|about|roughly|rounded(?: to)?|equivalently|equals"
    r"|[=≈~])"
    r"(?:\s(?:about|approximately|roughly))?\s?",
    re.IGNORECASE,
)
CALCULATION: Final = re.compile(
    r"^\s*[*/÷×]\s*\d"
    r"|[\d%)](?:\s*[+*/÷×]|\s+-|\s*(?:minus|plus|divided by|less|times|over|out of)\b)"
    r"\s*\(?\s*[$€£]?\s*\d",
    re.IGNORECASE,
)
FACTOR: Final = re.compile(r"\s*[*/÷×]")
HEDGE: Final = re.compile(
    r"\b(?:or|also|another|alternative|alternatively|maybe|perhaps|possibly|could|might|may|not"
    r"|otherwise|else|if)\b",
    re.IGNORECASE,
)
WORDED: Final = re.compile(
    rf"(?P<lead>(?:(?:approximately|about|around|roughly|exactly|it|is|was|the|answer|value|an?|of|by"
    rf"|{DOWN}|loss|{UP}|~|:)\s+)*)(?P<rest>.+)",
    re.IGNORECASE,
)
COUNTED: Final = re.compile(
    r"\s*(?:years?|months?|weeks?|days?|hours?|shares?|stores?|employees|people|square feet)\b",
    re.IGNORECASE,
)
NEW_LEVEL: Final = re.compile(r"\s*to\s*[$€£]?\s*", re.IGNORECASE)
CHANGED_BY: Final = re.compile(rf"\bby{ABOUT}", re.IGNORECASE)
EXPLAINED: Final = re.compile(
    r"\b(?:see|steps?|using|formula|calculation|calculated|computed|decimals?|decimal places?"
    r"|significant (?:digits?|figures?))\b",
    re.IGNORECASE,
)
