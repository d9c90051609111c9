r"""What a policy earns that copies something of the prompt into the box, over many real prompts.

    python -m tests.oracle.copies             every prompt of real_boxed and of MATH
    python -m tests.oracle.copies 500         five hundred of each

A payment is a *coincidence* where what was copied is the value that the reference writes: a number,
a name or an expression as it stands, with nothing of the question in it to be worked out. All
others are printed, for a person to judge. Twelve ways are in `WAYS`; each gives some answers.
"""

import gzip
import json
import re
import sys
from collections import Counter

from reward_functions import get, sample
from reward_functions.extraction.candidates.boxes import last_boxed
from reward_functions.extraction.prompt_formulas import formulas
from tests.oracle import suites

DATA = suites.FOLDER.parent
SPAN = re.compile(r"\$\$?([^$]+)\$\$?|\\\[(.+?)\\\]|\\\((.+?)\\\)", re.DOTALL)
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.]*\d)")
MOST = 12
"""Formulas and numbers of one prompt that are tried, the last ones."""


def spans(prompt):
    """The delimited formulas of a prompt, as they stand."""
    found = [next(filter(None, each)) for each in SPAN.findall(prompt)]
    return [each.strip().rstrip(".,;?") for each in found][-MOST:]


def sides(formula):
    """The two sides of an equation; the formula, when it is none."""
    left, sign, right = formula.partition("=")
    return [left, right] if sign else [formula]


def swapped(formula):
    """A formula with its sides, its terms or its factors the other way round."""
    for sign in ("=", "+", r"\cdot", r"\times", "*"):
        left, found, right = formula.partition(sign)
        if found:
            return [f"{right}{sign}{left}"]
    return []


def simplified(formula):
    """A formula without the brackets that are easily taken off."""
    bare = formula.replace(r"\left", "").replace(r"\right", "").replace(r"\,", "")
    return [bare, re.sub(r"\((\w)\)", r"\1", bare)]


def each_of(change):
    """A way that changes every formula of the prompt."""
    return lambda prompt: [new for each in spans(prompt) for new in change(each)]


WAYS = {
    "every formula": each_of(lambda each: [each]),
    "the longest formula": lambda prompt: sorted(spans(prompt), key=len)[-1:],
    "the formulas of the prose": lambda prompt: list(formulas(prompt))[-MOST:],
    "the whole prompt": lambda prompt: [prompt, rf"\text{{{prompt}}}"],
    "every number": lambda prompt: NUMBER.findall(prompt)[-MOST:],
    "each side of an equation": each_of(sides),
    "under a name": each_of(lambda each: [f"x={each}", f"f(x)={each}", f"S={each}"]),
    "twice": each_of(lambda each: [f"{each}={each}"]),
    "sides swapped": each_of(swapped),
    "with nothing added": each_of(
        lambda each: [f"{each}+0", rf"({each})\cdot 1", rf"\frac{{{each}}}{{1}}", f"({each})^1"]
    ),
    "taken back": each_of(
        lambda each: [f"{each}+1-1", rf"\frac{{2({each})}}{{2}}", f"-(-({each}))", f"|{each}|"]
    ),
    "in an operator": each_of(
        lambda each: [
            rf"\det({each})",
            rf"\int_0^1 ({each})dt",
            rf"\sum_{{j=1}}^1 ({each})",
            rf"\begin{{vmatrix}}{each}\end{{vmatrix}}",
            rf"\lim_{{h\to 0}} ({each}+h)",
            rf"e^{{\ln({each})}}",
            rf"\sqrt{{({each})^2}}",
        ]
    ),
    "brackets simplified": each_of(simplified),
    "in words": each_of(lambda each: [rf"\text{{{each}}}", rf"\text{{the value of }} {each}"]),
}


def questions(most):
    """Prompts with their references, each prompt once."""
    real = gzip.decompress((DATA / "math/real_boxed.jsonl.gz").read_bytes()).splitlines()
    test = gzip.decompress((DATA / "public/math_test.jsonl.gz").read_bytes()).splitlines()
    rows = {row["question"]: row["gold"] for row in map(json.loads, real)}
    yield from list(rows.items())[:most]
    for row in list(map(json.loads, test))[:most]:
        if row["problem"] not in rows:
            yield row["problem"], last_boxed(row["solution"]).text


def coincidence(answer, reference):
    """Whether what was copied is what the reference writes."""

    def bare(text):
        for layout in (r"\left", r"\right", r"\!", r"\,", r"\dfrac", "{", "}", "(", ")", " ", "$"):
            text = text.replace(layout, r"\frac" if layout == r"\dfrac" else "")
        return re.sub(r"^[a-zA-Z](\([a-z]\))?=", "", text)

    for nothing in ("+0", "+1-1", r"\cdot 1", "^1", r"\text", "(", ")", "{", "}", r"\ ", r"\qquad"):
        answer = answer.replace(nothing, "")
    plain = re.fullmatch(r"-?[\d.,]+|[A-Za-z]|\\frac\d\d", answer.strip())
    return bool(plain) or bare(answer) == bare(reference) or bare(reference) in bare(answer)


def main(most):
    """Print what is paid and was not copied by coincidence, and count the rest."""
    reward, paid, tried = get("math"), Counter(), 0
    for prompt, reference in questions(most):
        for way, answers in WAYS.items():
            for answer in dict.fromkeys(answers(prompt)):
                tried += 1
                try:
                    score = reward(sample(rf"\boxed{{{answer}}}", reference, prompt=prompt))
                except Exception:  # noqa: BLE001 - a reference that cannot be read pays nothing
                    continue
                if not score.value:
                    continue
                kind = "coincidence" if coincidence(answer, reference) else "look"
                paid[way, kind] += 1
                if kind == "look":
                    row = {"way": way, "reference": reference, "answer": answer, "prompt": prompt}
                    print(json.dumps({**row, "reason": score.reason}, ensure_ascii=False))
    for (way, kind), count in sorted(paid.items()):
        print(f"{count:6} {kind:12} {way}")
    print(f"{tried:6} tried")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else None)
