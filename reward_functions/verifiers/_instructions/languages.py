"""Which language a text is in: by its script, and among languages that share one by its words.

The languages are IFEval's thirty, and some more that keep near ones apart. A word counts by whether
it is a common one, and by how many of its trigrams common words have.
"""

from __future__ import annotations

from collections import Counter
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple
from unicodedata import category

from reward_functions.core import patterns as re
from reward_functions.verifiers._instructions.words import SCRIPTS, WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LEAST_LETTERS: Final = 20
"""Letters, and the vowel signs of scripts that have them, of a text that shows its language."""

LONGEST_WORD: Final = 40
"""Characters of a word that are looked at."""

COMMON: Final = 3.0
ENOUGH: Final = 2
"""What a common word weighs, and the common words from which a trigram weighs no more."""

DISTINCT: Final = 2_000
"""Words, and letters, of a text that are looked at, the most frequent ones first."""

_WORD: Final = re.compile(r"[^\s\d_!-/:-@\[-^`{-~«»“”„…।؟،۔’‘]+")
_LATIN: Final = "Ͱ"
"""The first character beyond Latin's."""


class _Table(NamedTuple):
    scripts: Mapping[str, str]
    words: Mapping[str, Mapping[str, None]]
    trigrams: Mapping[str, Mapping[str, int]]


@cache
def _table() -> _Table:
    """The scripts, the common words, and of each of their trigrams how many words have it."""
    scripts = SCRIPTS.split()
    words: dict[str, dict[str, None]] = {}
    for line in WORDS.split("\n")[1:-1]:
        language, *common = line.split()
        words.setdefault(language, {}).update(dict.fromkeys(common))
    trigrams: dict[str, Counter[str]] = {}
    for name, listed in words.items():
        for word in listed:
            for each in _trigrams(word):
                trigrams.setdefault(each, Counter())[name] += 1
    return _Table(dict(zip(scripts[::2], scripts[1::2], strict=True)), words, trigrams)


def languages() -> frozenset[str]:
    """The codes (ISO 639-1) of the languages that are told apart."""
    return frozenset((*_table().scripts, *_table().words))


def words_in(language: str) -> tuple[str, ...]:
    """Common words of a language; letters, where it alone writes its script."""
    table = _table()
    if language in table.words:
        return tuple(word for word in table.words[language] if len(word) > 1)
    first, last = map(ord, table.scripts[language])
    letters = [chr(code) for code in range(first, last + 1) if chr(code).isalpha()]
    return tuple("".join(letters[at : at + 5]) for at in range(5))


def language_of(text: str) -> str:
    """The code of the language that most of a text is in; "" where it has under 20 letters."""
    found = Counter(text).most_common(DISTINCT)
    letters = {each: count for each, count in found if category(each)[0] in "LM"}
    if sum(letters.values()) < LEAST_LETTERS:
        return ""
    scripts: Counter[str] = Counter()
    for letter, count in letters.items():
        scripts[_script_of(letter)] += count
    scripts["ja"] += scripts["zh"] if scripts["ja"] else 0
    ((script, _),) = scripts.most_common(1)
    return script or _by_words(_WORD.findall(text.lower()))


def _script_of(letter: str) -> str:
    """The language that alone writes a letter's script; "" where several share it."""
    scripts = _table().scripts.items() if letter >= _LATIN else ()
    return next((name for name, ends in scripts if ends[0] <= letter <= ends[1]), "")


def _by_words(words: Iterable[str]) -> str:
    """The language whose common words these are most like; "" where none is like them."""
    scores: dict[str, float] = {}
    for word, count in Counter(words).most_common(DISTINCT):
        for name, weight in _weights(word[:LONGEST_WORD]):
            scores[name] = scores.get(name, 0.0) + weight * count
    return max(scores, key=lambda name: (scores[name], name)) if scores else ""


@lru_cache(20_000)
def _weights(word: str) -> tuple[tuple[str, float], ...]:
    """How much a word is of each language that knows it or its trigrams."""
    table, trigrams = _table(), _trigrams(word)
    weights = {name: COMMON for name, listed in table.words.items() if word in listed}
    for each in trigrams:
        for name, having in table.trigrams.get(each, {}).items():
            weights[name] = weights.get(name, 0.0) + min(having, ENOUGH) / len(trigrams)
    return tuple(weights.items())


def _trigrams(word: str) -> list[str]:
    padded = f" {word} "
    return [padded[at : at + 3] for at in range(len(padded) - 2)]
