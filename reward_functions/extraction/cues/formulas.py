"""The words between boxes and spans, and those that belong to the one they touch, as patterns."""

from __future__ import annotations

from typing import Final

from reward_functions.core import patterns as re

# The first set keeps what it took: without a word in between, two equal sets would share it out.
MENTION: Final = re.compile(r"[\s.…]*+(?:(?:your |the |final )*answer)?[\s.…]*", re.IGNORECASE)
_LABEL: Final = r"\bfor\s+part\s+(?:\([a-z\d]\)|[a-z\d]\b)"
_CASE: Final = r"(?:option|case|answer|possibility)\s[\dA-J]\s?"
_NAME: Final = (
    r"(?:\\(?:alpha|beta|gamma|delta|(?:var)?epsilon|eta|theta|kappa|lambda|mu|nu|rho|sigma|tau"
    r"|(?:var)?phi|psi|omega)|(?<![\w\\])(?:[A-Za-z]|[A-Za-z]{2,3}(?=\()))"
    r"(?:_(?:\w|\{[^{}$\n]{1,20}\}))?'{0,2}(?:\([^()$=\n]{1,40}\))?\s?="
)
_JOINED: Final = (
    r"以?及|和|与|或者?|と|や|および|または|및|와|과|그리고|또는"
    r"|\b(?:and|und|sowie|et|y|e|i|oraz|och|og|en|ve|va|dan|и|та|και|و|और|तथा|एवं"
    r"|or|oder|ou|o|lub|eller|of|veya|atau|или|або|ή|أو|या)\b"
)
"""Words between the members of a list, in many languages."""
BOX_JOINT: Final = re.compile(
    r"(?:[\s,;$&~/|*•，、；،؛・·-]|\d{1,2}[.)]\s|\\[,;:! \\()\[\]]|\\q?quad|\\l?or\b|\\vee\b"
    rf"|{_JOINED}|\b(?:maybe|perhaps|possibly|alternatively|else|either|also|vs)\b"
    rf"|\b{_CASE}:|\.\s(?={_CASE}:)"
    rf"|{_LABEL}|\\(?:text|mathrm|mbox)\s?\{{[\s,，、]*(?:{_LABEL}[\s,]*)?(?:(?:{_JOINED})\s*)?\}})*"
    rf"(?:{_NAME}[\s&]*)?",
    re.IGNORECASE,
)
BOX_NAME: Final = re.compile(rf"({_NAME})\s?(?:\\displaystyle\s?)?$")
r"""What a box is called in a formula: $f(2)=\boxed{5}$."""
BOX_STEP: Final = re.compile(
    r"\\(?:implies|iff|(?:long|Long)?[rR]ightarrow)(?![a-z])|[⇒⟹]"
    r"|\\(?:text|mbox)[a-z]{0,2}\s?\{[^{}]*\b(?:is|are|be|has|have|let|since|then|so|thus|hence|therefore"
    r"|there|if|given|gives?|because|we|consider|compute)\b",
    re.IGNORECASE,
)
"""What a box holds that is a step of a derivation in boxes."""
BOX_RELATION: Final = re.compile(
    r"[=<>≤≥≠]|\\(?:leq?|geq?|neq?|lt|gt|in|to|begin)(?![a-z])"
    r"|\\(?:text|mbox)\s?\{[^{}\s]*(?:\s[^{}\s]+){3}"
)
"""What another step holds, and a bare value does not: a relation, or a sentence."""
DERIVED: Final = re.compile(
    r"\\(?:text|mbox|newline|begin|boxed|therefore|implies|iff|(?:long|Long)?(?:left|Left)?[rR]ightarrow)"
    r"(?![a-z]|\s?\{[A-Za-z]{2,12}\}\s?\(\\?[A-Za-z0-9]{1,8}\)\s?=)|\\text[a-z]{2}(?![a-z])|\\\\|[⇒⟹∴]|(?<![\\A-Za-z])[A-Za-z]{2,20}\s"
)
"""What a derivation has, and hardly any value; \\text{trace}(A) = is a name."""
SENTENCE: Final = re.compile(r"\s{0,4}\\(?:text|mbox)[a-z]{0,2}\s?\{\s{0,4}[A-Za-z]{2}")
"""How a box begins that the grammar may take for a product of letters: \\text{So, }26…"""
BOX_LABEL: Final = re.compile(r"[^\d]{1,120}?(?:\b(?:is|are|equals)|[:=)])[\s$*\\(\[]{0,9}")
"""Between two boxes, what the second one is called."""
_OPENER: Final = (
    r"(?:~|\\[,;:! (\[]|[$(\[{]|\\q?quad\b\s?|\\left\b|\\[bB]igg?l?\b|\\displaystyle\s?"
    r"|\\math[a-z]{2}\b|\\(?:text)?color\s?\{[a-z]{1,8}\})"
)
BOX_SIGN: Final = re.compile(
    r"(?:[=(:$\[>]|\\[(\[]|\b(?:is|are))"
    rf"[ \t]{{0,4}}(?:[-−]|\\pm\b)[ \t]{{0,4}}(?:{_OPENER}\s?){{0,6}}\s{{0,2}}$"
    rf"|(?<![\w)}}\]!'%])\s{{0,4}}[-−]{_OPENER}{{0,6}}$"
)
SPAN_JOINT: Final = re.compile(r"[\s,;]*+(?:(?:and|or)\b[\s,]*+)?", re.IGNORECASE)
SPAN_VALUE: Final = re.compile(
    r"\s+(?:is|equals|=)\s+(?:(?:about|approximately|exactly|then|therefore|equal to)\s+)?"
    r"(?=[^.\n;]{0,60}\d)([^.\n;]{0,60}?(?:\.\d[^.\n;]{0,60}?)?)(?=[.;\n](?!\d)|,\s|$)"
)
CONDITION: Final = re.compile(r"\((?:since|for|where|when|as|if|with|because)\s[^()]*$")
TAIL: Final = re.compile(
    r"(?:\\[,;! ]|~|\s){0,4}(?:\\?%|\^?\{?\s?\\circ\}?|°"
    r"|\\(?:text|mathrm|mbox)\s?\{(?P<unit>[^{}]{1,30})\}(?:\^\{?[23]\}?)?"
    r"|(?:hundred|thousand|million|billion|trillion|dozen|percent|degrees)\b)"
)
"""A sign, a scale word or a unit right behind a box."""
