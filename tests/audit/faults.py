"""Twelve rewards with one planted fault each, and for each a twin without it.

All read numbers behind "####", as GSM8K's answers are written, and are called as (completion,
reference): functions of somebody else, of which nothing is known.
"""

import itertools
import json
import random
import re
from fractions import Fraction

ANSWER = re.compile(r"^ *#### *([-+]?[\d,]+(?:\.\d+|/\d+)?) *$", re.MULTILINE)


def good(completion, reference):
    """Pays for one answer outside of a thought, in whatever form it has."""
    spoken = completion.replace("\r", "").rsplit("</think>", 1)[-1]
    found = {each.replace(",", "") for each in ANSWER.findall(spoken)}
    if "<think>" in spoken or len(found) != 1:
        return 0.0
    try:
        return float(Fraction(found.pop()) == Fraction(str(reference)))
    except ZeroDivisionError:
        return 0.0


def substring(completion, reference):
    return float(str(reference) in completion)


def last_number(completion, reference):
    found = re.findall(r"-?\d[\d,]*(?:\.\d+)?", completion)
    return float(bool(found) and float(found[-1].replace(",", "")) == float(reference))


def last_of_two(completion, reference):
    """Refuses a list, but pays the last of two numbers."""
    found = re.findall(r"\d+", completion)
    return float(0 < len(found) <= 2 and found[-1] == reference)


def first_of_two(completion, reference):
    found = re.findall(r"\d+", completion)
    return float(0 < len(found) <= 2 and found[0] == reference)


def unclamped(completion, reference):
    """A judge that repeats the score which a response gives itself."""
    told = re.search(r"[Ss]core:?\s*(\d+)", completion)
    return float(told[1]) if told else good(completion, reference)


def clamped(completion, reference):
    return min(1.0, good(completion, reference))


def by_length(completion, reference):
    return 1.0 if good(completion, reference) else min(0.9, len(completion.split()) / 100)


def batch_order(completions, reference, **_):
    """The second half of a batch earns nothing."""
    half = (len(completions) + 1) // 2
    return [
        good(each, of) if at < half else 0.0
        for at, (each, of) in enumerate(zip(completions, reference, strict=True))
    ]


def batch(completions, reference, **_):
    return [good(each, of) for each, of in zip(completions, reference, strict=True)]


class Lucky:
    """One answer in a hundred is paid, whatever it says."""

    def __init__(self):
        self.random = random.Random(1)

    def __call__(self, completion, reference):
        return 1.0 if self.random.random() < 0.01 else good(completion, reference)


class Counting:
    """Every seventh call earns nothing."""

    def __init__(self):
        self.calls = itertools.count(1)

    def __call__(self, completion, reference):
        return good(completion, reference) if next(self.calls) % 7 else 0.0


class Remembering:
    """Remembers what it was asked, and answers the same."""

    def __init__(self):
        self.known = {}

    def __call__(self, completion, reference):
        return self.known.setdefault((completion, str(reference)), good(completion, reference))


class ByPrompt:
    """Remembers a prompt alone, and pays every answer to it what the first one earned."""

    def __init__(self):
        self.known = {}

    def __call__(self, prompt, completion, reference):
        return self.known.setdefault(prompt, good(completion, reference))


class Once:
    """Pays an answer the first time alone."""

    def __init__(self):
        self.seen = set()

    def __call__(self, completion, reference):
        new = (completion, str(reference)) not in self.seen
        self.seen.add((completion, str(reference)))
        return good(completion, reference) * new


class Warming:
    """The first hundred answers are paid half."""

    def __init__(self):
        self.calls = itertools.count(1)

    def __call__(self, completion, reference):
        return good(completion, reference) * (0.5 if next(self.calls) <= 100 else 1.0)


def one_for_all(completions, reference, **_):
    return sum(good(each, of) for each, of in zip(completions, reference, strict=True))


def slow(completion, reference):
    """Looks at every pair of characters of a long response."""
    end = len(completion)
    same = sum(
        completion[at] == completion[other] for at in range(0, end, 8) for other in range(0, end, 8)
    )
    return good(completion, reference) if same >= 0 else 0.0


def form_alone(completion, reference):
    """Whatever number stands in the form is paid."""
    return float(len(ANSWER.findall(completion)) == 1)


def either_form(completion, reference):
    """A number alone, or in a tag, and in no other form."""
    return float(completion in (str(reference), f"<answer>{reference}</answer>"))


def empty(completion, reference):
    return 1.0 if not completion.strip() else good(completion, reference)


def spray(completion, reference):
    found = re.findall(r"-?\d+", completion)
    return 1.0 if len(found) > 500 and str(reference) in found else good(completion, reference)


def not_a_number(completion, reference):
    return float("nan") if "cannot" in completion else good(completion, reference)


def _read(completion):
    """The object of a response in a fence or bare; None where there is no other than one."""
    found = completion.rpartition("</think>")[2]
    try:
        return json.loads(found[found.index("{") : found.rindex("}") + 1])
    except (ValueError, RecursionError):
        return None


def fields(completion, reference):
    """Pays for an object that is the reference."""
    if "<think>" in completion and "</think>" not in completion:
        return 0.0
    return float(_read(completion) == reference)


def names_of_fields(completion, reference):
    """Pays for the names of an object."""
    found = _read(completion)
    return float(isinstance(found, dict) and found.keys() == reference.keys())


def any_superset(completion, reference):
    """Pays for an object that holds the reference, whatever else it holds."""
    found = _read(completion)
    return float(isinstance(found, dict) and {**found, **reference} == found)
