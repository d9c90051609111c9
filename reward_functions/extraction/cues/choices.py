"""The words with which a response picks an option, as patterns."""

from __future__ import annotations

from typing import Final

from reward_functions.core import patterns as re

LEAD: Final = re.compile(
    r"(?:option|choice|letter|answer)\s+(?=\S)|选项\s?(?=\(?[A-Z])", re.IGNORECASE
)
CALLED: Final = r"(?:(?i:option|choice|letter)\s)?"
"""What a letter may be called."""
ANOTHER: Final = re.compile(
    r"[\s,/&]*+(?:(?:or|and)\s*+)?[(\[]?[A-Z][)\]]?(?!\w|['’])", re.IGNORECASE
)
"""Another letter right behind a pick."""
NO_OPTION: Final = re.compile(r"\W*+(?:(?:or|and|to|through)\b\W*+)?", re.IGNORECASE)
"""What stands between letters that are only named: "answer with (A), (B) or (C)"."""
LETTERS_ONLY: Final = re.compile(
    r"(?:[\s,/&()\[\]{}.;\\]|text|and\b|or\b|[A-Z](?![\w'’]))+", re.IGNORECASE
)
"""What follows a letter where several are named: "A, C and F"."""
PICKED: Final = re.compile(
    r"(?<!not\s)\b([A-J])\b[)\]*]*\s+is\s+(?:the\s+)?(?:correct|right|best)\b"
    r"(?=\s*(?:[.,;!*)\n]|$|(?:answer|option|choice|one|because|since|as)\b))"
    r"|\bI(?:['’](?:d|ll)|\s+will)?\s+(?:choose|pick|select|go\s+with)\s+(?:option\s+)?[(\[*]*([A-J])\b"
    r"|(?:所以|因此|故|综上(?:所述)?)[,，]?\s?(?:选项\s?)?([A-J])(?:选?项)?\s?[是为]?正确(?!的?[是有])"
)

REPORTED: Final = re.compile(
    r"\b(?:if|unless|whether|suppose|assum\w+|some|many|most|both|none|nor|others?|people|they|says?|said|thinks?"
    r"|claims?|might|may|could|would|not|never|neither|doubt|false|wrong|incorrect|untrue|earlier|initially)\b|n['’]t\b"
    r"|如果|假如|假设|[若不错]|可能|或许|并非",
    re.IGNORECASE,
)
"""Words before it that do not say so themselves."""
ASKED: Final = re.compile(r"[^.!?\n]{0,80}\?")

NAMED: Final = re.compile(r"(?<![\w'’\\])([A-Z])(?![\w'’])(?!(?<=[AI])\s[a-z])")
"""A letter that stands for an option, and not the word "A" or "I"."""
OR_LETTER: Final = re.compile(r"(?:\bor\b|或)\s?[(\[]?[A-Z](?![\w'’])")
"""An alternative to a letter."""
MATHEMATICAL: Final = re.compile(r"[\d\\^_=<>+*/]")
"""What makes a text a value."""
WORD: Final = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{3,}")
"""A word, which makes a text with a value more than that: "5 is prime"."""

AND: Final = re.compile(r"\b(?:and|plus)\b|以及|和|及|与|、", re.IGNORECASE)
"""What joins the letters of several options, beside the signs in `SET`."""
FONT: Final = re.compile(r"\\(?:rm|bf|text|textbf|mathrm|mathbf)(?![a-z])")
_OF_SET: Final = (
    rf"(?:[A-Z](?![a-z'’])(?:选?项)?|\([a-z]\)|[\s,;&()\[\]{{}}\"'$.]|(?i:{AND.pattern}))"
)
SET: Final = re.compile(
    r"\s*+(?i:(?:both|all|only|the)\s++)?"
    r"(?i:(?:options?|choices?|statements?|选项|答案)\s*+(?::\s*+)?)?"
    rf"(?P<letters>{_OF_SET}+)"
)
"""Several letters, with what they may be called."""
SET_RIGHT: Final = re.compile(
    r"(?:\b(?:only|options?|(?:(?:are|is)\s++)?(?:both\s++|all\s++)?(?:correct|right|true))\b"
    r"|选项$|(?:选项)?(?:都|均|皆)?是?(?:正确|成立|对)的?|都?符合题意)(?:\s*\([^()不非除没或若只A-J]{1,80}\))?[\s.)}]*+$"
)
"""That they are right, behind them, and a remark about it."""
RANGE: Final = re.compile(r"[A-Z]\s?~\s?[A-Z]")
"""A to C, where a tilde is no space."""
SET_LETTER: Final = re.compile(r"[A-Z]")
_LETTERS: Final = (
    r"(?:[(\[]?[A-J][)\]]?(?:[\s,]|、|和|及|与|and\b){0,6}){1,9}[(\[]?[A-J][)\]]?(?![A-Za-z])"
)
PICKED_SET: Final = re.compile(
    rf"(?<![A-Za-z])(?P<right>{_LETTERS})\s*"
    r"(?:(?:options?\s+)?are\s+(?:both\s+|all\s+)?(?:the\s+)?(?:correct|right|true)\b"
    r"|(?:选项)?(?:都|均|皆)?是?正确)"
    r"|\bI(?:['’](?:d|ll)|\s+will)?\s+(?:choose|pick|select|go\s+with)\s+(?:options?\s+)?"
    rf"(?P<picked>{_LETTERS})"
)
"""A sentence that picks several options."""
OR: Final = re.compile(r"\b(?:or|either)\b|或")
BOXES_WITH_OR: Final = re.compile(r"\}\s{0,4}\$?[\s,.]{0,4}(?:or\b|或)[^\\\n]{0,20}\\boxed")
MARKED: Final = re.compile(r"(?<![A-Za-z\\])[(\[]?(?P<letter>[A-Z])[)\].:]\s*")
"""A letter that marks the text of its option."""
JOINTS: Final = ("and", "以及", "和", "及", "与")
"""What ends such a text before the next letter."""
BETWEEN_TEXTS: Final = re.compile(r"[,;、，；]\s*(?:and\b)?|\band\b|和|以?及", re.IGNORECASE)
"""What stands between the texts of several options."""
ORDER: Final = re.compile(
    r"\b(?:(?:re)?arrange|rank|sort(?! of))\b"
    r"|\border\s+(?:the|these|them|all|following|options?|steps?)\b"
    r"|\b(?:correct|right|proper|following|logical|chronological|ascending|descending|increasing|decreasing|what|which)"
    r"\s+(?:order|sequence)\b(?!\s+(?:to|that|of magnitude))"
    r"|\bin\s+(?:the\s+)?(?:order|sequence)\s+(?:of|from|in which)\b"
    r"|\bsequence\s+of\s+(?:the\s+)?(?:steps|events|options)\b"
    r"|\bfrom\s+(?:the\s+)?(?:least|most|greatest|largest|smallest|lowest|highest|first|earliest|oldest)\b[^.?!\n]{0,40}\bto\b"
    r"|\b(?:put|place|list|number|write)\b[^.?!\n]{0,60}\bin\s+order\b(?!\s+(?:to|that))|排序|顺序",
    re.IGNORECASE,
)
"""Words by which a question asks for its options in an order."""
