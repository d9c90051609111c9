"""The words that divide a sentence into clauses: what opens one, its verb, what joins two."""

from __future__ import annotations

from typing import Final

from reward_functions.core import patterns as re
from reward_functions.extraction.cues.phrase import vocabulary

CONDITIONS: Final = frozenset("if assuming provided".split())
"""What opens a clause on which the main one depends."""

VERBLESS: Final = frozenset("for at with given as".split())
"""What opens a part without a verb: for x = 2, at the origin, with n = 4 intervals."""

RELATIVES: Final = frozenset("that which who what".split())
"""What may have the word right behind it as its verb: the angle that lands."""

RELATIONS: Final = frozenset("<>≤≥≠∈")
"""Signs of a condition, beside that of equality."""

FUNCTION_WORDS: Final = frozenset(
    "the and its for are was were has have had her his our any all not one two from with that this"
    " than then into such each every these those their there when where which while value".split()
)
"""Words that name nothing, of three letters and more."""

PRONOUNS: Final = frozenset("we i you one they he she it there".split())
"""Subjects of one word, in front of a verb: the value that we need."""

NO_VERBS: Final = PRONOUNS | frozenset(
    "the a an this these those its their his her our my your each every all any some no of in on to"
    " by from into both most many".split()
)
"""Words behind a relative pronoun that are no verb."""

TOKEN: Final = re.compile(
    r"""
    ^\s{0,4}that(?=\ (?:is|equals)\b)
  | (?P<limit>\b(?:approaches|(?:goes|tends|converges)(?:\ in\ [a-z]{1,12})?\ to)\b|→|->)
  | (?P<verb>\b(?:(?:is|are)(?:\ equal\ to)?|equals|totals|becomes
      |(?:comes(?:\ out)?|amounts|evaluates|simplifies|reduces)\ to
      |(?:should|must|will)\ be(?:\ equal\ to)?)\b | (?:(?<=\bit)|(?<=\bthere))['’]s\b | ≈)
  | (?P<has>\b(?:has|have|contains?|carries|carry|holds?|needs?|requires?|takes?|gets?|earns?|pays?
      |costs?|sells?|makes?|buys?|uses?|produces?|can\ be\ [a-z]{2,20}\ in)\b)
  | (?P<steps>\b(?:(?<!or\ )so(?!\ (?:on|that|far|many|much|long)\b)|thus|hence|therefore|then
      |giving|which\ (?:gives|means|yields|implies)(?:\ that)?)\b)
  | (?P<opens>\b(?:(?:for|at|with|in|of|on|by|from|to)\ which|if|assuming|provided
      |given(?:\ that)?|when|whenever|where|since
      |because|although|though|that|which|who|whose|what|for|at|with|as)\b)
  | (?P<joins>\b(?:and|or|but|while|whereas)\b)
  | (?P<sign>(?<![<>≤≥≠=!])=(?!=))
  | (?P<pause>(?!(?<=\d),\s(?:[-+−]?\d{1,20}(?:\.\d{1,20})?,\s){0,8}
      (?:[-+−]?\d{1,20}(?:\.\d{1,20})?\s)?and\s[-+−]?\d)   # 2, 3, and 4 are one list
      [,;:](?=\s|$))
  | (?P<word>(?<![\w\\])(?:(?:it|there)(?=['’]s)|[^\W\d_]{1,40}(?:['’-][^\W\d_]{1,20}){0,3}))
  | [^\s\0] | \0+
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""The pieces of a sentence; those of no kind are no part of its structure."""

VERB: Final = re.compile(r"\b(?:is|are|equals?|becomes|be|if|when|unless)\b|=", re.IGNORECASE)
"""What a sentence has that says what something is, or when."""

WORD: Final = re.compile(r"(?<!\\)(?<![^\W\d_])[^\W\d_]{2,}+(?![(\[{_^\0])")
"""A word that is no function with its argument."""

DOUBTED: Final = vocabulary("""
    maybe perhaps possibly guess guesses guessed not_sure whether think thinks
    believe believes suppose supposing claim claims said says wrong incorrect mistaken mistake false
    unless contradict contradicts contradicting contradiction ?
""")
"""Words that take a sentence back wherever they stand in it."""

EITHER: Final = re.compile(r"\btrue(?:/| or | and )false\b", re.IGNORECASE)
"""Both values of a bit, which say nothing about an answer."""

PROPOSES: Final = re.compile(
    r"[\s,]*(?:(?:so|then|now|next|we|can|to|first|finally)\s){0,3}(?:let|assume|suppose|try|check|verify"
    r"|recall|consider|take|set|test|note|substitut\w{1,4}|plug\w{0,5})\b",
    re.IGNORECASE,
)
"""How a sentence begins that proposes or tests a value."""

CASED: Final = re.compile(
    r"\b(?:case|scenario|possibility|option)\s\(?(?:\d{1,2}|[a-h]|[ivx]{1,4})\b", re.IGNORECASE
)
"""One of several cases, each with a value of its own."""

HEDGED: Final = vocabulary("or either maybe perhaps possibly answer answers option choice")
"""Words of a box that is one of several answers, and no step to the last one."""

DENIED: Final = vocabulary("no not never neither nor none hardly")
"""Words of a clause that states nothing, but in the prompt's own words."""

OPEN: Final = vocabulary("""
    misconception trap pitfall myth lie naive tempting erroneous candidate candidates wrong
    incorrect false mistaken error mistake
    rejected other another previous earlier old original initial first second third next last step
    part example estimate format placeholder bound upper_limit lower_limit would should could might
    may assumed assumption assumptions possible possibly many some they problem question page
    exercise chapter instead unlike except opposite however twice thrice half double
""")
"""Words of a subject that is another value than the asked one, but in the prompt's own words."""

ANSWER: Final = OPEN | vocabulary("answer answers option options choice choices")
"""The same for a whole response: a statement of the answer is read as one or not at all."""

DETERMINED: Final = re.compile(
    r"\s*(?:(?:the|its|their|his|her|our|my|this|that|it|there|each|every|both)\b|[a-z]{1,20}['’]s\s)",
    re.IGNORECASE,
)
"""How a subject begins that is known from what was said before."""

INDEFINITE: Final = re.compile(r"[\s,]*(?:an?|one|another|some|any)\s", re.IGNORECASE)
"""How a subject begins that is one of several: a candidate."""

CLEFT: Final = re.compile(r"\s*(?:that|which|who)\b", re.IGNORECASE)
"""What follows a value that is only pointed at: it is 5 that we exclude."""

APPOSED: Final = re.compile(
    r"^(?:the\s)?(?!(?:plus|minus|times|less|versus|perhaps)\s)[a-z]{2,19}s\s(?=[-+−]?\d)",
    re.IGNORECASE,
)
"""What several numbers are, before them: eigenvalues 2 and 3."""

SEVERAL: Final = re.compile(
    r"(?P<first>[-+−]?\d{1,20}(?:\.\d{1,20})?(?:,\s[-+−]?\d{1,20}(?:\.\d{1,20})?){0,8}),?"
    r"\sand\s(?P<last>[-+−]?\d{1,20}(?:\.\d{1,20})?)(?:,?\srespectively)?"
)
"""Several numbers: 2 and 3."""

COUNTED_OF: Final = re.compile(
    r"(?P<value>[-+−]?(?:\\?\$)?\d[\d.,/]*+(?:\s?\\?%)?|\$[^$\n]{1,150}\$)"
    r"(?P<unit>(?!\sper\s?cent)(?:\s[a-zA-Z][a-zA-Z'’-]{1,23}){1,3}?)"
    r"(?:(?P<ways>(?<=ways)\s(?:to|of|in|the|that|for))"
    r"|\s(?:of|in|on|from|among|within|between|over|by"
    r"|to(?=\s[a-z])(?!\s(?:one|two|three|four|five|six|seven|eight|nine|ten)\b)))\b"
)
"""A value with what it counts, before more about that: "20 values of x", "8 ways to choose"."""

COMPUTED_OF: Final = re.compile(
    r"\b(?:or|not|nor|plus|minus|times|instead|rather|and(?=\s\$?\d))\b", re.IGNORECASE
)
"""What the words behind that may not hold: it is another number, or two."""

COMPUTED_WAYS: Final = re.compile(r"\b(?:or|not|nor|plus|minus|instead|rather)\b", re.IGNORECASE)
"""The same where it says in how many ways: "to choose 2 men and 3 women"."""

PRECISION: Final = re.compile(
    r"\s\((?:in|to|with)\s\d{1,2}\s(?:sig|dec)[^()]{0,30}\)|,?\s(?:correct|rounded|accurate)?\s?(?:up\s)?to\s(?:the\snearest\s[a-z]{3,12}"
    r"|[a-z\d]{1,8}\s(?:decimals?|significant|sig)\b[^,;]{0,20})",
    re.IGNORECASE,
)
"""How exact a value is said to be."""

REMARK: Final = re.compile(
    r"\s\(\s?(?:since|as|because|note|i\.e|that is|by|using|from)\b"
    r"(?![^()]{0,200}\b(?:or|not|but|else|otherwise)\b)[^()]{1,200}\)$",
    re.IGNORECASE,
)
"""What stands in brackets behind a value and gives a reason."""

POSSIBLE: Final = re.compile(
    r"\b((?:larg|small|great|long|short|high|low|bigg|fast|slow|near)est|least|most|best|fewest"
    r"|m(?:ax|in)im(?:al|um)|number of|only) possible\b",
    re.IGNORECASE,
)
"""The one possible value of its kind, which doubts nothing."""

SUFFICES: Final = re.compile(
    r"\s*(?:needed|required|necessary|sufficient|enough|possible|available)\b[^\d$\\]{0,120}",
    re.IGNORECASE,
)
"""What is said of the asked number where that is the subject: 8 questions are needed."""

ADVERBS: Final = re.compile(
    r"(?:\s*(?:approximately|about|roughly|around|exactly|precisely|simply|just|then|thus|therefore"
    r"|indeed|now|only|also|equal to|given by|a total of|the (?:number|value))(?=\s)){0,4}\s*",
    re.IGNORECASE,
)
"""What may stand before a value."""
