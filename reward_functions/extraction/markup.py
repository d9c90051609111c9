r"""Takes LaTeX and Markdown markup off a short answer: `**\$1{,}000**` is `$1,000`.

For answers that are words or numbers; mathematics is read as LaTeX by `reward_functions.symbolic`.
"""

from __future__ import annotations

from typing import Final

from reward_functions.core import patterns as re

_PAIRS: Final = (
    ("$$", "$$"),
    ("\\[", "\\]"),
    ("\\(", "\\)"),
    ("$", "$"),
    ("**", "**"),
    ("__", "__"),
    ("*", "*"),
    ("_", "_"),
    ("`", "`"),
    ('"', '"'),
)
_FONT: Final = re.compile(
    r"\\(?:boxed|text(?:bf|it|rm|normal)?|math(?:rm|bf|it|sf|tt)?|mbox|bm|boldsymbol)\s?\{([^{}]*)\}"
)
_FRACTION: Final = re.compile(
    r"\\[dtc]?frac\s?(?:\{(\d{1,40})\}\s?\{(\d{1,40})\}|(\d)\s?(\d)(?!\d))"
)
_SPACE: Final = re.compile(r"\\[,;:! ]|~|\\q?quad\b")
_ESCAPED: Final = re.compile(r"\\([$%#&_{}])")

MAX_LENGTH: Final = 4_000
"""Characters of an answer that is short; a longer one is left as it is."""

MAX_LAYERS: Final = 6
"""Layers of markup taken off: `**$\\boxed{\\text{5}}$**` has four."""


def plain(answer: str) -> str:
    """A short answer without delimiters, emphasis, font commands, escapes and thin spaces."""
    answer = answer.strip()
    if answer.isalnum() or len(answer) > MAX_LENGTH:
        return answer
    for _ in range(MAX_LAYERS):
        bare = _FONT.sub(r"\1", _undelimited(answer))
        if bare == answer:
            break
        answer = bare
    if "\\" not in answer and "{" not in answer and "~" not in answer:
        return answer
    # The space keeps `1\frac{1}{2}` a mixed number.
    answer = _FRACTION.sub(r" \1\3/\2\4", answer.replace("{,}", ","))
    return _ESCAPED.sub(r"\1", _SPACE.sub(" ", answer)).strip()


def _undelimited(text: str) -> str:
    """Without one pair of delimiters around the whole, if it has one."""
    for opening, closing in _PAIRS:
        if (
            text.startswith(opening)
            and text.endswith(closing)
            and len(text) > len(opening) + len(closing)
            and opening not in text[len(opening) : -len(closing)]
        ):
            return text[len(opening) : -len(closing)].strip()
    return text
