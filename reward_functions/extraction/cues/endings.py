"""The words of a last sentence: which state a value, which leave it open, as patterns.

"Therefore, the number of divisors is 9." states 9: connectives, a subject, a verb, one value and
what is counted. Any other word in one of these places, and the sentence states nothing.
"""

from __future__ import annotations

from typing import Final

from reward_functions.core import patterns as re
from reward_functions.extraction.cues import languages
from reward_functions.extraction.cues.phrase import vocabulary

STOP: Final = re.compile(
    r"(?:[!?;:]|(?<!\bMr)(?<!\bMs)(?<!\bDr)(?<!\bMrs)\.)(?=[\s*_\"'”’)\]]|$)|[。！？।]|\n"
)
"""The end of a sentence, or of a line."""

_CONNECTIVE: Final = (
    r"(?:(?:(?:yes(?=,)|so|thus|hence|therefore|then|and|finally|consequently|overall|altogether|now|accordingly)"
    r"|in\ (?:total|conclusion|all|summary|the\ end)|as\ a\ result|to\ conclude"
    r"|(?:this|which)\ (?:means|gives|shows|implies|yields)(?:\ us)?(?:\ that)?|it\ follows\ that"
    r"|(?:we|I)\ (?:can\ )?(?:find|get|conclude|see|have|obtain|know)(?:\ that)?)\b,?:?\s)"
)
CONNECTIVES: Final = re.compile(
    rf"[*_>\s-]*+(?:(?:step\s)?\d{{1,2}}\)\s)?(?P<words>{_CONNECTIVE}{{0,4}})", re.IGNORECASE
)
"""What a last sentence may begin with: the number of a step, and "Therefore, we find that"."""
_SUBJECT: Final = (
    r"(?:(?:the|its|their|his|her|our|my|this|that|it)\b[^.,;:!?=\n]{0,120}?"
    r"|(?P<name>[A-Za-z](?:_\{?\w{1,3}\}?)?(?:\([^()\s]{1,8}\))?))"
)
_VERB: Final = (
    r"(?:\s(?:is|are|(?:should|must|will)\ be"
    r"|equals|totals|amounts\ to|comes\ (?:out\ )?to)\b(?:\sequal\ to\b)?|['’]s\b"
    r"|\s?=)"
    r"(?:\s(?:approximately|about|roughly|around|exactly|simply|just|then|thus|therefore|indeed|now"
    r"|equal\ to|given\ by)\b)*\s?"
)
CHINESE: Final = re.compile(rf"[*_>\s]*+{languages.LAST_SENTENCE}")
"""A last Chinese sentence up to its value."""

COMPLEMENT: Final = re.compile(
    rf"[*_>\s]*+(?:{_CONNECTIVE}{{0,4}}(?P<subject>{_SUBJECT}){_VERB}|{_CONNECTIVE}{{1,4}})"
    r"(?P<value>\S[^\n]{0,300})",
    re.IGNORECASE,
)
"""A last sentence that says what something is: "The capital is Paris.", "Therefore, B."."""

MARKED: Final = re.compile(r"[*_]{0,3}A[*_]{0,3}:[*_]{0,3}\s?(?P<value>\S[^\n]{0,200})")
"""A last line "A: 9"."""

EMPHATIC: Final = re.compile(
    r"(?P<mark>\*\*|__)(?P<value>(?=[^\n]*[\d\\$])[^*_\n]{1,120})(?P=mark)\.?"
)
"""A last line that is nothing but one value in bold."""

CASE: Final = re.compile(
    r"\b(?:case|scenario|option|possibility|part|step|method|attempt|example)\s\(?[a-z\d]{1,4}\)?[*_]*:[\s*_]*$",
    re.IGNORECASE,
)
"""What opens one of several cases, each with a value of its own."""

STEP: Final = re.compile(r"step\b", re.IGNORECASE)
"""A case that may be the last step of a solution."""

OPEN: Final = vocabulary("""
    no not never neither nor none or cannot wrong incorrect false mistaken error mistake rejected
    other another previous earlier old original initial first second third next last step part
    example guess estimate format placeholder claim bound limit if unless whether suppose assume
    assumes assumed assuming assumption assumptions would could might may should maybe perhaps
    possible possibly many some they say says said think thinks believe believes supposed problem
    question page exercise chapter instead unlike except opposite when while but however though
    although because since twice thrice half double ? < > ≤ ≥ ≠ ≈
    不 非 或 若 设 假 第 至_少 至_多 最_多 大_于 小_于 超_过 错_误 可_能 如_果
""")
"""What the subject may not hold: it is then another value, or somebody else's."""

ANSWER: Final = OPEN | vocabulary("answer answers option options choice choices")
"""The same for a whole response: a statement of the answer is read as one or not at all."""

COMPUTED: Final = re.compile(
    r"\b(?:or|and|not|more|less|fewer|than|times|plus|minus|up|dozen|score|squared|cubed|factorial"
    r"|half|halves|thirds|fourths|quarters|fifths|sixths|sevenths|eighths|ninths|tenths|hundredths"
    r"|thousandths|short|early|late|ago|too|off|(?<!ways\s)to|modulo|mod|base|least|most|away|if|when|unless"
    r"|wrong|incorrect|false)\b",
    re.IGNORECASE,
)
"""Words behind a value that make another one of it, or doubt it: "2 thirds", "2 or more"."""

COUNTED: Final = re.compile(
    r"(?P<value>[-+−]?(?:\\?\$|[€£¥₹₩₽])?\s?\d[\d.,/]*+(?:\s?\\?%)?|\$[^$\n]{1,150}\$|\\\([^\n]{1,150}?\\\))"
    r"(?P<unit>(?:\s[a-zA-Z²³°/'’-]{1,24}){0,3}?|\s?[A-Za-zµμΩ°]{1,6}(?:\^\{?-?\d\}?|[/*·]\(?[A-Za-zµμΩ]{1,6}(?:\^\{?-?\d\}?)?\)?){1,4}|\s?(?-i:[一-鿿]{1,4}))"
    r"(?:(?:\s(?:of|in|on|for|left|each|altogether|remaining|during)|(?<=ways)\sto)\b(?:\s[a-zA-Z'’-]{1,24}){0,8})?",
    re.IGNORECASE,
)
"""A value, what is counted, and what that is of: "20 cups of feed"."""

LABEL: Final = re.compile(r"(?P<words>[A-Za-z]+(?:\s[A-Za-z]+){0,3})\s?[:=]\s?(?=\S)")
"""What a short line calls its value: "Total = 42"."""

ASIDE: Final = re.compile(r"\s\((?P<words>[^()\d]{1,60})\)$")
"""What stands in brackets behind a number: "42 (forty-two)"."""

TURNED: Final = re.compile(
    r"\b(?:give\s+up|no\s+idea|unable|stuck|impossible|insufficient|unclear|unknown|unsure|unfortunately"
    r"|contradict\w*|reject\w*|discard\w*|extraneous|instead|except|excluding|unlike|however|bound"
    r"|but|although|though|not|never|wrong|incorrect|false|cannot|can|unless|fails?"
    r"|invalid|too|then|guess|next|need|to\s+be)\b|n['’]t\b|^(?![,(\s]{0,3}(?:since|because|as|where|for|when|by)\b).*\d",
    re.IGNORECASE,
)
"""Words behind the last formula of a sentence that turn against it, or go on from it."""

WHOLE: Final = re.compile(
    r"[\s,]*+(?:(?:only|also|indeed|does|must|all|just)\s)?"
    r"(?:percent|works?|suffices?|only|exactly|altogether|overall|respectively|in\s(?:total|all|the\send)"
    r"|as\s(?:desired|required|wanted|claimed|needed|expected)|is\s(?:correct|right|it|minimal|maximal"
    r"|(?:the|our|my)\s(?:final\s)?(?:answer|result|solution|value|minimum|maximum)))",
    re.IGNORECASE,
)
"""Few words behind a formula that may end a response without a full stop: "works", "as desired"."""

GIVEN_UP: Final = re.compile(
    r"\bI(?:['’]m|\s+am)\s+(?:not\s+sure|unsure|stuck|unable|not\s+able)\b"
    r"|\bI\s+(?:give\s+up|gave\s+up|have\s+no\s+idea|(?:do\s+not|don['’]t)\s+know"
    r"|(?:can(?:no|['’])t|could\s?n[o'’]t|was\s+unable\s+to|am\s+unable\s+to)\s+(?:solve|find|determine))\b",
    re.IGNORECASE,
)
"""A response that says it has no answer."""

VALUED: Final = re.compile(r"[\d$\\]|day\b")
"""What a sentence has that names a number, a formula or a day."""

SUBORDINATE: Final = vocabulary("""
    since because where when whenever if given given_that using into than from via whether unless
    for for_all for_any for_every for_each for_some
""")
"""The words right before a formula that is a reason or a condition, and no result."""
