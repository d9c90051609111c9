r"""Right answers written in other ways, and made into other answers: what `math` pays must follow.

The answers are those of our own tables of cases. `PRESERVING` writes one as another model would,
and it stays right; `CHANGING` makes another answer of it, or no answer at all. A rewrite says None
where it does not apply.
"""

import json
import re
from pathlib import Path

from reward_functions import Unscored, get, sample, score_batch
from reward_functions.extraction.candidates.boxes import last_boxed

CASES = Path(__file__).parents[1] / "cases"
TABLES = "differential.jsonl", "math.jsonl"

OTHER = 99_991
"""A prime that is no answer of the tables."""

_NUMBER = re.compile(r"-?\d+")
_VALUE = re.compile(r"-?(?:\d+(?:\.\d+)?|\\[dt]?frac\{\d+\}\{\d+\}|\d+/\d+)")
_MEMBERS = re.compile(r"[^,{}()\[\]\\]+(?:,[^,{}()\[\]\\]+)+")
_TEXT = re.compile(r":|!$|\$|boxed|\\text\{[^{}]*\w [^{}]*\}|\\text\{\(")
_FULL_WIDTH = {ord(digit): ord(digit) + 0xFEE0 for digit in "0123456789"}


def bases():
    """(answer, reference) of each reference in our tables that a plain box is paid for."""
    found = {}
    for name in TABLES:
        for line in (CASES / name).read_text().splitlines():
            row = json.loads(line)
            box = last_boxed(row["response"]) if row["right"] else None
            if box and row["response"] == f"\\boxed{{{box.text}}}" and not _odd(row, box.text):
                found.setdefault(str(row["reference"]), box.text)
    return [(answer, reference) for reference, answer in found.items()]


def _odd(row, answer):
    """Whether a case needs more than its reference and answer, or its answer is a small text."""
    named = "=" in answer and "=" not in row["reference"]
    rounded = "10^" in row["reference"]
    return row.keys() & {"prompt", "parameters"} or named or rounded or _TEXT.search(answer)


def _said(text):
    """A rewrite that puts the answer X into a text."""
    return lambda answer: text.replace("X", answer)


def _if(pattern, text):
    """The same, for answers of one form."""
    return lambda answer: text.replace("X", answer) if pattern.fullmatch(answer) else None


def _with(old, new):
    """A rewrite that spells a part of the answer otherwise, in a box."""
    return lambda answer: f"\\boxed{{{answer.replace(old, new)}}}" if old in answer else None


def _full_width(answer):
    return f"\\boxed{{{answer.translate(_FULL_WIDTH)}}}" if _NUMBER.fullmatch(answer) else None


def _sized(answer):
    if answer.count("(") != answer.count(")") or "(" not in answer or "\\" in answer:
        return None
    sized = answer.replace("(", "\\left(").replace(")", "\\right)")
    return f"\\boxed{{{sized}}}"


PRESERVING = {
    "in a sentence": _said("So it is $\\boxed{X}$."),
    "a statement": _said("The answer is $X$."),
    "a bold statement": _said("**The answer is $X$.**"),
    "a final answer": _said("Final answer: $X$"),
    "a frame": _said("\\fbox{X}"),
    "a space before the brace": _said("\\boxed {X}"),
    "a displayed formula": _said("\\[ \\boxed{X} \\]"),
    "a formula in the line": _said("\\( \\boxed{X} \\)"),
    "two dollars": _said("$$\\boxed{X}$$"),
    "a sentence after it": _said("$\\boxed{X}$\n\nI hope this helps."),
    "lines of Windows": _said("We add up.\r\n\r\n$\\boxed{X}$\r\n"),
    "after reasoning": _said(f"<think>Perhaps {OTHER}.</think>\n\\boxed{{X}}"),
    "a box in a tag": _said("<answer>\\boxed{X}</answer>"),
    "a formula in a tag": _said("<answer>$X$</answer>"),
    "said twice": _said("It is $\\boxed{X}$. The answer is $\\boxed{X}$."),
    "large": _said("\\boxed{\\displaystyle X}"),
    "spaces in the box": _said("\\boxed{ X }"),
    "a thin space": _said("\\boxed{X\\,}"),
    "braces in the box": _said("\\boxed{{X}}"),
    "a full stop in the formula": _said("$\\boxed{X}.$"),
    "a glued marker": _said("\\boxed{X}<|im_end|>"),
    "an end of sequence": _said("The answer is $X$.</s>"),
    "a marker of an answer's end": _said("【答案】$X$ <eoa>"),
    "an object of JSON": lambda answer: json.dumps({"answer": answer}),
    "Chinese": _said("所以答案是 $X$。"),
    "Chinese, a colon": _said("答案：$X$"),
    "Spanish": _said("La respuesta es $X$."),
    "French": _said("La réponse est $X$."),
    "German": _said("Die Antwort ist $X$."),
    "Russian": _said("Ответ: $X$"),
    "Portuguese": _said("A resposta é $X$."),
    "Korean": _said("정답은 $X$입니다."),
    "Hindi": _said("उत्तर: $X$"),
    "a heading": _said("### Answer\n\n$\\boxed{X}$"),
    "an item": _said("- $\\boxed{X}$"),
    "a proof's end": _said("$\\boxed{X}$ $\\blacksquare$"),
    "HTML": _said("<p><b>\\boxed{X}</b></p>"),
    "fractions of display": _with("\\frac", "\\dfrac"),
    "fractions of text": _with("\\frac", "\\tfrac"),
    "a typographic minus": _with("-", "\N{MINUS SIGN}"),
    "full-width digits": _full_width,
    "brackets with sizes": _sized,
}

CHANGING = {
    "denied": _said("The answer is not $X$."),
    "a bound": _said("The answer is at least $X$."),
    "either or": _said(f"It is either $\\boxed{{X}}$ or $\\boxed{{{OTHER}}}$."),
    "corrected": _said(f"$\\boxed{{X}}$. Wait, that is wrong. It is $\\boxed{{{OTHER}}}$."),
    "a later box": _said(f"First we get $\\boxed{{X}}$, and at last we get $\\boxed{{{OTHER}}}$."),
    "an unclosed box": _said("So it is \\boxed{X"),
    "reasoning alone": _said("<think>So it is \\boxed{X}."),
    "supposed": _said("Suppose the answer is $X$."),
    "asked": _said("Is the answer $X$?"),
    "said by others": _said("Some say that the answer is $X$, but they are wrong."),
    "part of a formula": _said(f"${OTHER}-\\boxed{{X}}$"),
    "added to": _said(f"$\\boxed{{X}}+{OTHER}$"),
    "one member more": _said(f"\\boxed{{X, {OTHER}}}"),
    "a guess": _said("I give up. Maybe it is $X$."),
    "one member less": lambda answer: (
        f"\\boxed{{{answer.rpartition(',')[0]}}}" if _MEMBERS.fullmatch(answer) else None
    ),
    "one more": _if(_VALUE, "\\boxed{X+1}"),
    "one digit more": _if(_NUMBER, "\\boxed{X7}"),
    "a million times": _if(re.compile(r"-?[1-9]\d*"), "\\boxed{X\\text{ million}}"),
    "tenfold": _if(re.compile(r"-?[1-9]\d*"), "\\boxed{X0}"),
    "a relation": _if(_VALUE, "\\boxed{x \\neq X}"),
}


def paid(response, reference):
    """Whether `math` pays a response in full; None where it leaves it unscored."""
    (result,) = score_batch(get("math"), [sample(response, reference)])
    return None if isinstance(result, Unscored) else result.score.value == 1.0


def flips(rewrites, chosen, *, right):
    """(tried, (rewrite, answer, reference) of each that is not paid as it should be)."""
    tried, wrong = 0, []
    for answer, reference in chosen:
        for name, rewrite in rewrites.items():
            response = rewrite(answer)
            if response is not None:
                tried += 1
                if paid(response, reference) is not right:
                    wrong.append((name, answer, reference))
    return tried, wrong
