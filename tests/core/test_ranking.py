"""The bounds of random composites hold for every response, by brute force over their parts."""

from itertools import product
from random import Random

import pytest

from reward_functions import (
    Example,
    Sample,
    Score,
    cascade,
    clipped,
    gated,
    reward_function,
    weighted,
)
from reward_functions.core.errors import BadComposite
from reward_functions.core.parts import Bounds

SAMPLE = Sample(id="s", messages=())


class Leaf:
    """A reward that earns whatever it is set to, and what it may be set to."""

    def __init__(self, name, random):
        least = random.choice([-1.0, 0.0])
        most = random.choice([1.0, 2.0]) if least == 0.0 else random.choice([0.0, 1.0])
        credit = random.choice([None, None, least + (most - least) / 4, most])
        self.truth = credit != most
        self.incorrect = least if credit is None else credit
        self.least, self.most, self.value = least, most, least
        self.spec = reward_function(name=name, scale=(least, most), partial_credit=credit)(
            lambda sample: Score(self.value)
        )

    def values(self):
        """(value, whether correct): form alone says nothing of it."""
        if not self.truth:
            return [(self.least, None), (self.most, None)]
        wrong = {self.least, self.incorrect}
        return [(self.most, True), *((value, False) for value in sorted(wrong))]


def made(random, leaves, depth=2):
    """A random composite, and what makes it correct: a function of the leaves' own verdicts."""
    if depth == 0 or random.random() < 0.2:
        leaf = Leaf(f"leaf{len(leaves)}", random)
        at = len(leaves)
        leaves.append(leaf)
        return leaf.spec, lambda verdicts: verdicts[at]
    count = random.choice([2, 3])
    inner = [made(random, leaves, depth - 1) for _ in range(count)]
    named = [{"reward": spec, "name": f"p{at}"} for at, (spec, _) in enumerate(inner)]
    specs, verdicts = zip(*inner, strict=True)
    kind = random.choice(["weighted", "gated", "clipped", "cascade"])
    if kind == "weighted":
        weights = [random.choice([0.1, 0.3, 0.5, 1.0, -0.2]) for _ in inner]
        parts = {f"p{at}": (spec, weights[at]) for at, spec in enumerate(specs)}
        return weighted(parts, outranks=False), combined(verdicts, all)
    if kind == "gated":
        low, high = specs[0].scale
        threshold = random.choice([high, (low + high) / 2])
        closed = random.choice([0.0, -1.0])
        spec = gated(*named[:2], threshold=threshold, minimum=closed, outranks=False)
        return spec, combined(verdicts[:2], all)
    if kind == "clipped":
        low, high = specs[0].scale
        return clipped(named[0], low, low + (high - low) * 0.75, outranks=False), verdicts[0]
    enough = max(spec.scale.maximum for spec in specs)
    return cascade(*named, enough=enough, outranks=False), combined(verdicts, any)


def combined(verdicts, rule):
    def verdict(leaves):
        known = [found for each in verdicts if (found := each(leaves)) is not None]
        return rule(known) if known else None

    return verdict


@pytest.mark.parametrize("seed", range(150))
def test_no_response_earns_more_or_less_than_the_bounds_say(seed):
    random, leaves = Random(seed), []
    try:
        spec, verdict = made(random, leaves)
    except BadComposite:  # such as a gate that never opens
        return
    bounds = getattr(spec.function, "bounds", None)
    if bounds is None:
        return
    every = list(product(*(leaf.values() for leaf in leaves)))
    for values in every if len(every) <= 400 else random.sample(every, 400):
        for leaf, (value, _) in zip(leaves, values, strict=True):
            leaf.value = value
        correct = verdict([found for _, found in values])
        earned = spec(SAMPLE).value
        assert bounds.least <= earned <= bounds.most
        if correct is True:
            assert earned >= bounds.correct - 1e-12
        if correct is False:
            assert earned <= bounds.incorrect + 1e-12


def plain(name, least=0.0, most=1.0, credit=None):
    return reward_function(name=name, scale=(least, most), partial_credit=credit)(
        lambda sample: Score(least)
    )


TRUTH = plain("truth")
FORM = plain("form", credit=1.0)
PENALTY = plain("overlong", -1.0, 0.0, credit=0.0)
PROVEN = [
    # what, the least of a correct response, the most of an incorrect one
    (weighted({"truth": (TRUTH, 0.8), "form": (FORM, 0.2)}), 0.8, 0.2),
    (weighted({"truth": (TRUTH, 1.0), "overlong": (PENALTY, 0.5)}), 0.5, 0.0),
    (weighted({"truth": (plain("t", -1.0, 1.0), 1.0), "overlong": (PENALTY, 1.0)}), 0.0, -1.0),
    (weighted({"truth": (TRUTH, 1.0), "form": (FORM, -0.5)}), 0.5, 0.0),
    (weighted({"truth": (plain("t", credit=0.25), 1.0), "form": (FORM, 0.5)}), 1.0, 0.75),
    (gated(TRUTH, FORM, minimum=-1.0), 0.0, -1.0),
    (clipped(weighted({"truth": (TRUTH, 2.0), "form": (FORM, 0.5)}), 0.0, 1.0), 1.0, 0.5),
    (cascade(plain("strict"), plain("lenient")), 1.0, 0.0),
]


@pytest.mark.parametrize(("spec", "correct", "incorrect"), PROVEN)
def test_what_is_proven(spec, correct, incorrect):
    assert spec.function.bounds[2:4] == (pytest.approx(correct), pytest.approx(incorrect))
    assert spec.partial_credit == pytest.approx(incorrect)


REFUSED = [
    ("as much for form", lambda: weighted({"a": (TRUTH, 0.5), "form": (FORM, 0.5)}), "weigh form"),
    ("a whole penalty", lambda: weighted({"a": (TRUTH, 1.0), "o": (PENALTY, 1.0)}), "weigh o less"),
    ("two truths", lambda: weighted({"a": (TRUTH, -1.0), "b": (TRUTH, 1.0)}), "partial_credit"),
    ("a gate of form", lambda: gated(FORM, TRUTH), "swap form and truth"),
    ("truth that opens half", lambda: gated(plain("t", credit=0.5), FORM, threshold=0.5), "thresh"),
    ("a part above", lambda: clipped(weighted({"a": (TRUTH, 1.0)}), 1.5, 2.0), "every response"),
    ("enough for form", lambda: cascade(plain("f", credit=1.0), TRUTH), "`enough`"),
    ("rounding alone", lambda: weighted({"a": (TRUTH, 0.3), "b": (FORM, 0.3 - 1e-12)}), "weigh b"),
]


@pytest.mark.parametrize(
    ("make", "message"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_what_cannot_be_proven_is_refused(make, message):
    with pytest.raises(BadComposite, match=message):
        make()


def test_form_alone_has_nothing_to_prove():
    spec = weighted({"form": (FORM, 0.5), "overlong": (PENALTY, 0.5)})
    assert spec.partial_credit == spec.scale.maximum
    assert not spec.function.bounds.truth


def form(name, **declared):
    """A reward for form whose author did not declare it as one."""
    right = Example("positive", response="<a>", score=1.0, **declared)
    return reward_function(
        name=name, examples=[right, Example("negative", response="", score=0.0, **declared)]
    )(lambda sample: float(sample.response.startswith("<a>")))


def test_a_part_whose_examples_have_nothing_to_be_right_about_is_form():
    with pytest.raises(BadComposite, match="weigh tag less"):
        weighted({"truth": (TRUTH, 0.5), "tag": (form("tag"), 0.5)})
    assert weighted({"truth": (TRUTH, 0.8), "tag": (form("tag"), 0.2)}).partial_credit == 0.2


@pytest.mark.parametrize(
    "declared", [{"reference": 0}, {"prompt": "q"}, {"metadata": {"tests": 1}}, {"verdicts": [{}]}]
)
def test_a_part_whose_examples_have_something_to_be_right_about_is_truth(declared):
    spec = weighted({"truth": (TRUTH, 0.5), "tag": (form("tag", **declared), 0.5)})
    assert spec.function.bounds.outranks


def test_a_declared_partial_credit_is_taken_at_its_word():
    examples = form("tag").examples
    fixed = reward_function(name="fixed", partial_credit=0.0, examples=examples)(
        lambda sample: float(sample.response == "<a>")
    )
    assert weighted({"truth": (TRUTH, 0.5), "fixed": (fixed, 0.5)}).partial_credit == 0.5


def test_a_truth_that_is_the_gate_ranks_form_among_the_correct():
    spec = gated("exact_match", form("tag"), minimum=-1.0)
    assert spec.function.bounds[2:4] == (0.0, -1.0)


OUTRANKS = [
    # least, most, the least of a correct response, the most of an incorrect one
    (Bounds(0.0, 1.0, 1.0, 0.0, truth=True), True),
    (Bounds(0.0, 1.0, 0.5, 0.5, truth=True), False),
    (Bounds(0.0, 1.0, 0.4, 0.5, truth=True), False),
    (Bounds(0.0, 1.0, 0.5 + 1e-8, 0.5, truth=True), True),
    (Bounds(0.0, 1.0, 0.5 + 1e-10, 0.5, truth=True), False),
    (Bounds(0.0, 100.0, 50 + 1e-8, 50.0, truth=True), False),
    (Bounds(-1.0, 1.0, 1.0, -1.0, truth=True), True),
    (Bounds(0.5, 0.5, 0.5, 0.5, truth=True), False),  # it pays everything the same
]


@pytest.mark.parametrize(("bounds", "outranks"), OUTRANKS)
def test_a_correct_response_outranks_by_more_than_rounding(bounds, outranks):
    assert bounds.outranks == outranks
