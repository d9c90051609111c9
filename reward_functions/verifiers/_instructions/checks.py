"""IFEval's 25 instructions, a row each: what is counted in a text, and with what arguments.

Each check has a least content of its own: "[]" is no placeholder, "P.S." alone no postscript,
`null` no JSON document. Every pattern is linear. A row's first argument is how many are asked,
where it is a number; else one is.

Source: Zhou et al., Instruction-Following Evaluation for Large Language Models, 2023 (arXiv
2311.07911), whose checker is google-research/instruction_following_eval. What is checked otherwise
here, and why, is a list in `tests/verifiers/instructions_differences.toml`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core import patterns as re
from reward_functions.core.jsons import no_constant
from reward_functions.quantities.unicode_forms import visible
from reward_functions.verifiers._instructions.languages import language_of, languages
from reward_functions.verifiers._instructions.sentences import sentence_count

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Arguments = Mapping[str, Any]
    Counts = Callable[[str, Arguments], int]

MOST: Final = 10_000
"""The largest number that an instruction may ask for."""

MOST_TEXTS: Final = 32
LONGEST: Final = 100
PASSAGE: Final = 20_000
"""Texts of an argument that is a list, characters of a text, and of one that is repeated."""

RELATIONS: Final[Mapping[str, Callable[[int, int], bool]]] = {
    "less than": lambda count, number: count < number,
    "at least": lambda count, number: count >= number,
    "at most": lambda count, number: count <= number,
    "exactly": lambda count, number: count == number,
}

_WORD: Final = re.compile(r"[^\W_]++")
_WORDS: Final = re.compile(r"\w++")
_MEANING: Final = re.compile(r"[^\W\d_]{2}|\d|[^\W\x00-\u036f]")
"""Two letters, a digit, or one letter that is not Latin."""

_TOKEN: Final = re.compile(r"[^\s?!\"();&,<>\[\]{}%$#@:]++")
_FIRST: Final = re.compile(r"\s*+['\"]*+([^\s.,?!'\"]*+)")
OPTIONS: Final = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
_COMMA: Final = re.compile("[,‚，،、﹐﹑､]")
_MARKUP: Final = str.maketrans("", "", "*_`~")
_UNSPACED: Final = "\u0e00"
"""From here on scripts write words without spaces, or glue particles to them."""


def has_word(text: str) -> bool:
    """Whether a text has a letter or a digit."""
    return _WORD.search(text) is not None


def has_meaning(text: str) -> bool:
    """Whether a part of a text says anything: one Latin letter does not."""
    return _MEANING.search(text) is not None


def word_count(text: str) -> int:
    """The words of a text, as IFEval counts them: "don't" is two; underscores alone are none."""
    return sum(1 for word in _WORDS.findall(text) if word.strip("_"))


def _times(text: str, phrase: str) -> int:
    """How often a phrase is there as whole words, whatever their case."""
    text, phrase = text.lower(), phrase.strip().lower()
    count, at = 0, text.find(phrase)
    while at >= 0:
        end = at + len(phrase)
        whole = not (
            _glued(text[at - 1 : at], phrase[0]) or _glued(phrase[-1], text[end : end + 1])
        )
        count += whole
        at = text.find(phrase, end if whole else at + 1)
    return count


def _glued(one: str, other: str) -> bool:
    """Whether two neighbours are of one word, in scripts that part words."""
    return one.isalnum() and other.isalnum() and max(one, other) < _UNSPACED


def _worded(pattern: str) -> Counts:
    """Counts what a pattern finds that has a letter or a digit."""
    compiled = re.compile(pattern)
    return lambda text, _: sum(map(has_word, compiled.findall(text)))


def _sections(text: str, given: Arguments) -> int:
    """Markers with a number, each before some content of its own."""
    marker = re.escape(given["section_spliter"].strip())
    marks = list(re.compile(rf"(?<![^\W_]){marker}\s?+\d++").finditer(text))
    ends = [*[mark.start() for mark in marks[1:]], len(text)]
    return sum(has_word(text[mark.end() : end]) for mark, end in zip(marks, ends, strict=False))


def _documents(text: str, _: Arguments) -> int:
    """1 where the text is a JSON object or list that is not empty, in a fence or bare."""
    bare = text.strip().removesuffix("```").removeprefix("```")
    bare = bare[4:] if bare[:4].lower() == "json" else bare
    try:
        found = json.loads(bare, parse_constant=no_constant)
    except (ValueError, RecursionError):
        return 0
    return int(isinstance(found, dict | list) and has_word(bare.replace("null", "")))


def _parts(text: str, divider: str) -> Sequence[str]:
    """What dividers part; nothing where one of the parts, but before and behind all, is empty."""
    parts = [part.strip() for part in text.split(divider)]
    inner = parts[not parts[0] : len(parts) - (not parts[-1])]
    return inner if all(map(has_meaning, inner)) else ()


def _two(text: str, _: Arguments) -> int:
    """1 where there are exactly two responses, in other words."""
    words = [_WORD.findall(part.casefold()) for part in _parts(text, "******")]
    return int(len(words) == 2 and words[0] != words[1])  # noqa: PLR2004 - two responses


def _first_words(text: str, given: Arguments) -> int:
    """1 where the paragraphs, parted by an empty line, are as many as asked, and one begins so."""
    parts = [part for part in text.split("\n\n") if part.strip()]
    if len(parts) != given["num_paragraphs"]:
        return 0
    found = _FIRST.match(parts[int(given["nth_paragraph"]) - 1])
    return int(found is not None and found[1].lower() == given["first_word"].strip().lower())


def _forbidden(text: str, given: Arguments) -> int:
    """How many of the forbidden words the text has, also between marks of emphasis."""
    bare = text.translate(_MARKUP)
    return sum(bool(_times(text, word) + _times(bare, word)) for word in given["forbidden_words"])


def _postscripts(text: str, given: Arguments) -> int:
    """1 where the marker stands behind a text and before one."""
    marker = given["postscript_marker"].strip().rstrip(".").lower()
    spaced = r"\.\s?+".join(map(re.escape, marker.split(".")))
    found = re.compile(rf"(?<![^\W_]){spaced}\.?+", re.IGNORECASE).search(text)
    around = (text[: found.start()], text[found.end() :]) if found else ("",)
    return int(all(map(has_meaning, around)))


def _repeated(text: str, given: Arguments) -> int:
    """1 where the text begins with the request, and says something behind it."""
    text, asked = text.strip().lower(), given["prompt_to_repeat"].strip().lower()
    return int(text.startswith(asked) and has_meaning(text.replace(asked, "")))


def _ended(text: str, given: Arguments) -> int:
    """1 where the text says something, and then ends with the phrase."""
    text, asked = text.strip().strip('"').lower(), given["end_phrase"].strip().lower()
    return int(text.endswith(asked) and has_meaning(text.replace(asked, "")))


class Row(NamedTuple):
    """An instruction.

    Attributes:
        counts: what a text has of what is asked.
        takes: the names of the arguments.
        relation: of the count to the number that is asked, where no argument says so.
    """

    counts: Counts
    takes: str = ""
    relation: str = "at least"


ROWS: Final[Mapping[str, Row]] = {
    "change_case:capital_word_frequency": Row(
        lambda text, _: sum(map(str.isupper, _TOKEN.findall(text))),
        "capital_frequency capital_relation",
    ),
    "change_case:english_capital": Row(
        lambda text, _: int(text.isupper() and language_of(text) == "en")
    ),
    "change_case:english_lowercase": Row(
        lambda text, _: int(text.islower() and language_of(text) == "en")
    ),
    "combination:repeat_prompt": Row(_repeated, "prompt_to_repeat"),
    "combination:two_responses": Row(_two),
    "detectable_content:number_placeholders": Row(_worded(r"\[[^\[\]\n]++\]"), "num_placeholders"),
    "detectable_content:postscript": Row(_postscripts, "postscript_marker"),
    "detectable_format:constrained_response": Row(
        lambda text, _: sum(option in text for option in OPTIONS), relation="exactly"
    ),
    "detectable_format:json_format": Row(_documents),
    "detectable_format:multiple_sections": Row(_sections, "num_sections section_spliter"),
    "detectable_format:number_bullet_lists": Row(
        _worded(r"(?m)^[ \t]*+(?:\*(?!\*)|-)(.*+)$"), "num_bullets", "exactly"
    ),
    "detectable_format:number_highlighted_sections": Row(
        _worded(r"(?<!\*)\*{1,3}+(?=[^\s*])[^\n*]*+(?<=[^\s*])\*"), "num_highlights"
    ),
    "detectable_format:title": Row(_worded(r"<<[^<>\n]++>>")),
    "keywords:existence": Row(
        lambda text, given: int(all(_times(text, word) for word in given["keywords"])), "keywords"
    ),
    "keywords:forbidden_words": Row(_forbidden, "forbidden_words", "less than"),
    "keywords:frequency": Row(
        lambda text, given: _times(text, given["keyword"]), "frequency keyword relation"
    ),
    "keywords:letter_frequency": Row(
        lambda text, given: text.lower().count(given["letter"].lower()),
        "let_frequency letter let_relation",
    ),
    "language:response_language": Row(
        lambda text, given: int(language_of(text) == given["language"]), "language"
    ),
    "length_constraints:nth_paragraph_first_word": Row(
        _first_words, "first_word nth_paragraph num_paragraphs"
    ),
    "length_constraints:number_paragraphs": Row(
        lambda text, _: len(_parts(text.replace("* * *", "***"), "***")),
        "num_paragraphs",
        "exactly",
    ),
    "length_constraints:number_sentences": Row(
        lambda text, _: sentence_count(text), "num_sentences relation"
    ),
    "length_constraints:number_words": Row(lambda text, _: word_count(text), "num_words relation"),
    "punctuation:no_comma": Row(lambda text, _: len(_COMMA.findall(text)), relation="less than"),
    "startend:end_checker": Row(_ended, "end_phrase"),
    "startend:quotation": Row(
        lambda text, _: int(text.strip()[:1] == text.strip()[-1:] == '"' and has_meaning(text))
    ),
}

GROUPS: Final = tuple(sorted({name.partition(":")[0] for name in ROWS}))


def _is_text(value: Any, most: int = LONGEST) -> bool:
    return isinstance(value, str) and 0 < len(value) <= most and bool(visible(value).strip())


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and 0 < len(value) <= MOST_TEXTS and all(map(_is_text, value))


KINDS: Final[Mapping[str, tuple[str, Callable[[Any], bool]]]] = {
    "number": (
        f"a whole number from 1 to {MOST:,}",
        lambda value: type(value) in (int, float) and 1 <= value <= MOST and value % 1 == 0,
    ),
    "relation": (
        f"one of {', '.join(RELATIONS)}",
        lambda value: _is_text(value) and value in RELATIONS,
    ),
    "text": (f"a text of at most {LONGEST:,} characters", _is_text),
    "passage": (
        f"a text of at most {PASSAGE:,} characters",
        lambda value: _is_text(value, PASSAGE),
    ),
    "texts": (f"a list of 1 to {MOST_TEXTS} texts", _are_texts),
    "letter": ("one character", lambda value: _is_text(value) and len(value) == 1),
    "language": (
        "the code of a known language",
        lambda value: _is_text(value) and value in languages(),
    ),
}
"""What arguments of each kind are, and whether a value is one."""


def argument_kind(argument: str) -> str:
    """The kind of an argument, which its name shows."""
    if argument.endswith(("frequency", "_paragraphs", "_paragraph")) or argument[:4] == "num_":
        return "number"
    if argument in ("keywords", "forbidden_words"):
        return "texts"
    if argument in ("prompt_to_repeat", "end_phrase"):
        return "passage"
    found = argument.rpartition("_")[2]
    return found if found in KINDS else "text"


class Asked(NamedTuple):
    """One instruction of a row of data.

    Attributes:
        id: IFEval's.
        arguments: complete, each of its kind.
    """

    id: str
    arguments: Arguments

    @property
    def number(self) -> int:
        """How many are asked."""
        first = ROWS[self.id].takes.partition(" ")[0]
        return int(self.arguments[first]) if argument_kind(first) == "number" else 1

    @property
    def relation(self) -> str:
        """How the count stands to the number."""
        named = [name for name in ROWS[self.id].takes.split() if name.endswith("relation")]
        return str(self.arguments[named[0]]) if named else ROWS[self.id].relation

    def counted(self, text: str) -> int:
        """What a text has of what is asked."""
        return ROWS[self.id].counts(text, self.arguments)

    def holds(self, text: str) -> bool:
        """Whether a text follows the instruction."""
        return RELATIONS[self.relation](self.counted(text), self.number)


def problem(name: Any, given: Arguments) -> str:
    """What is wrong with an instruction of a data set, in a clause; "" where it can be checked."""
    if not isinstance(name, str) or name not in ROWS:
        return "its id is none of IFEval's 25"
    takes = ROWS[name].takes.split()
    if further := [argument for argument in given if argument not in takes]:
        return f"{name} takes no {further[0][:40]!r}"
    for argument in takes:
        described, fits = KINDS[argument_kind(argument)]
        if argument not in given:
            return f"{name} lacks {argument}"
        if not fits(given[argument]):
            return f"{argument} of {name} is not {described}"
    if given.get("nth_paragraph", 1) > given.get("num_paragraphs", MOST):
        return f"nth_paragraph of {name} is above num_paragraphs"
    return ""
