"""Mathematical signs of Unicode in the words of LaTeX: scripts, fractions, Greek, operators."""

from __future__ import annotations

from typing import Final

from reward_functions.core import patterns as re
from reward_functions.quantities.number_words import cardinal
from reward_functions.quantities.unicode_forms import typeset


def in_latex(text: str) -> str:
    """Unicode notation in the words of LaTeX, where the two mean the same."""
    if text.isascii():
        return text
    if "根" in text:
        text = _ROOT.sub(_root, text)
    text = _SCRIPTS.sub(_script, typeset(text))
    return text.translate(_NOTATION)


_ROOT: Final = re.compile(
    r"(?:(?P<order>[三四五六七八九])次)?根[号號](?:下(?=\s?[({]|\s?\w{1,20}\Z)|(?!下))\s?"
    r"(?P<under>[零一二两三四五六七八九十百]{0,9})"
)
"""Where 下 says that a root is over what follows, that is one number or stands in brackets."""


def _root(spelled: re.Match[str]) -> str:
    """The sign of a root that is spelled: 根号3, 三次根号下8, 根号三."""
    value = cardinal(spelled["under"])[0]
    order = cardinal(spelled["order"])[0] if spelled["order"] else None
    sign = "√" if order is None else rf"\sqrt[{order}] "
    return sign + (spelled["under"] if value is None else str(value))


_RAISED: Final = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱˣ", "0123456789+-=()nix", strict=True))
_LOWERED: Final = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₙ", "0123456789+-=()n", strict=True))
_SCRIPTS: Final = re.compile(f"[{''.join(_RAISED)}]+|[{''.join(_LOWERED)}]+")


def _script(match: re.Match[str]) -> str:
    run = match[0]
    if run[0] in _RAISED:
        return "^{" + "".join(_RAISED[mark] for mark in run) + "}"
    return "_{" + "".join(_LOWERED[mark] for mark in run) + "}"


_FRACTIONS: Final = {
    "½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5), "⅖": (2, 5),
    "⅗": (3, 5), "⅘": (4, 5), "⅙": (1, 6), "⅚": (5, 6), "⅐": (1, 7), "⅛": (1, 8), "⅜": (3, 8),
    "⅝": (5, 8), "⅞": (7, 8), "⅑": (1, 9), "⅒": (1, 10),
}  # fmt: skip
GREEK: Final[dict[str, str]] = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε",
    "zeta": "ζ", "eta": "η", "theta": "θ", "vartheta": "θ", "iota": "ι", "kappa": "κ",
    "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "rho": "ρ", "sigma": "σ", "tau": "τ",
    "upsilon": "υ", "phi": "φ", "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω",
    "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ",
    "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
}  # fmt: skip
"""Names of Greek letters that are ordinary symbols (so not π) to the letter."""

_CIRCLES: Final = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"
_NOTATION: Final = str.maketrans(
    {
        **{mark: f"\\frac{{{over}}}{{{under}}}" for mark, (over, under) in _FRACTIONS.items()},
        **{letter: f"\\{name} " for name, letter in GREEK.items()},
        "×": "*", "·": "*", "⋅": "*", "∙": "*", "∗": "*", "÷": "/", "≤": "\\le ", "≥": "\\ge ",
        "⩽": "\\le ", "⩾": "\\ge ", "≠": "\\ne ", "≈": "\\approx ", "∞": "\\infty ", "π": "\\pi ",
        "√": "\\sqrt ", "°": "^\\circ ", "∪": "\\cup ", "∩": "\\cap ", "∈": "\\in ",
        "∉": "\\notin ", "∅": "\\emptyset ", "±": "\\pm ", "∓": "\\mp ", "ℝ": "\\mathbb{R}",
        "ℤ": "\\mathbb{Z}", "ℚ": "\\mathbb{Q}", "ℕ": "\\mathbb{N}", "ℂ": "\\mathbb{C}",
        "′": "'", "∣": "|", "⟨": "\\langle ", "⟩": "\\rangle ", "⌊": "\\lfloor ",
        "∑": "\\sum ", "∏": "\\prod ", "∫": "\\int ", "∂": "\\partial ", "→": "\\to ",
        "⌋": "\\rfloor ", "⌈": "\\lceil ", "⌉": "\\rceil ", "≡": "\\equiv ", "∖": "\\setminus ",
        "…": "\\ldots ", "、": ",", "\u00c5": "\\AA ", "\u212b": "\\AA ",
        **{mark: f"\\textcircled{{{place}}}" for place, mark in enumerate(_CIRCLES, start=1)},
        **dict.fromkeys("✓✔✅☑", " "), "∀": "\\forall ",
        **dict.fromkeys("或∨", "\\lor "), **dict.fromkeys("且∧和与", "\\land "),
    }
)  # fmt: skip
