r"""Units in plain text: the V of "0.17 V" is the volt, where that of $0.17V$ is a letter.

A lone letter is a unit where it is a capital behind a decimal, or where the prompt measures in it,
and never where the prompt has it in its formulas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.core import patterns as re
from reward_functions.extraction.cues import asking
from reward_functions.extraction.prompt_formulas import TAIL
from reward_functions.quantities.units import canonical
from reward_functions.verifiers._math.glued_commands import letters_of

if TYPE_CHECKING:
    from reward_functions.extraction.answer import Answer

_PROSE: Final = ("statement", "hash_marker", "last_sentence", "whole_response")
_MEASURED: Final = re.compile(
    r"(?P<amount>(?:[A-Za-z]\w{0,3}\s?=\s?)?[-+−]?\d[\d,]{0,20}(?P<point>\.\d{1,20})?)\s?"
    r"(?P<unit>[A-Za-zµμΩ°][A-Za-zµμΩ°\d^()/*· -]{0,30})"
)
_SYMBOL: Final = re.compile(r"[A-Za-zµμΩ°]{1,6}")


def with_unit(found: Answer, prompt: str) -> str | None:
    """An answer in plain text with its unit set upright; None where it names none for sure."""
    measured = _MEASURED.fullmatch(found.text.strip()) if found.kind in _PROSE else None
    if measured is None:
        return None
    symbols = _SYMBOL.findall(measured["unit"])
    if not all(map(canonical, symbols)):
        return None
    if len(symbols) == 1 and len(symbols[0]) == 1:
        precise = symbols[0].isupper() and bool(measured["point"])
        if not _is_unit(symbols[0], prompt, precise=precise):
            return None
    return measured["amount"] + _SYMBOL.sub(r"\\text{\g<0>}", measured["unit"])


def _is_unit(symbol: str, prompt: str, *, precise: bool) -> bool:
    """Whether a letter is a unit, as the prompt uses it or else as it looks."""
    if _any(asking.UNIT, symbol, prompt):
        return True
    if symbol in letters_of(prompt) or _any(asking.LETTER, symbol, prompt):
        return False
    return precise or _any(asking.MEASURED, symbol, prompt)


def _any(pattern: re.Pattern[str], symbol: str, prompt: str) -> bool:
    return any(symbol in found.groups() for found in pattern.finditer(prompt[-TAIL:]))
