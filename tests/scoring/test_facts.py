"""Facts of parts add up to the figures that a digest of all rows has, in any cut."""

import json
import random

import pytest

from reward_functions.core.spec import Scale
from reward_functions.reports.score_report.digest import Digest, RowFacts
from reward_functions.scoring import facts as module
from reward_functions.scoring.facts import Facts
from reward_functions.scoring.results import RowResult

SCALE = Scale(0.0, 1.0)

REASONS = ("equal", "no answer", "different numbers")


def rows(count, seed, values=(0.0, 0.1, 0.7, 1.0), prompts=40):
    """Rows as they come of a shard: some unscored, some of one id."""
    draw = random.Random(seed)
    for at in range(count):
        name = f"id-{draw.randrange(count)}"
        prompt = draw.randrange(prompts) * 0x9E3779B97F4A7C15 % 2**64
        if draw.random() < 0.1:
            error = ("BadSample", "", "data", "mend it")
            yield RowResult(
                name, "{}", RowFacts(None, "bad", prompt, 3, 4, error), f"input line {at}: bad"
            )
            continue
        value = draw.choice(values)
        signs = draw.choice((0, 0, 1, 2))
        yield RowResult(name, "{}", RowFacts(value, draw.choice(REASONS), prompt, 5, signs), "")


def digest_of(results):
    found = Digest("math", SCALE)
    for each in results:
        found.add(each.id, each.facts, each.message)
    return found


def merged(results, size, most=module.RUN):
    """Facts of parts of a size, each through JSON, one after another."""
    found = Facts("math", SCALE, most=most)
    for at in range(0, len(results), size):
        part = Facts("math", SCALE, most=min(most, module.PART))
        part.add(results[at : at + size])
        found.merge(Facts.of(json.loads(json.dumps(part.item())), most))
    return found


def shown(digest):
    return {
        "rows": len(digest),
        "unscored": digest.unscored,
        "figures": digest.figures(),
        "groups": digest.groups(),
        "repeated": digest.repeated_ids(),
        "errors": digest.errors(),
        "kinds": digest.kinds(),
        "reasons": digest.reasons(),
        "measured": digest.measured,
        "counts": (digest.cut_off, digest.without_response, digest.no_samples),
    }


@pytest.mark.parametrize("size", [1, 7, 100, 1_000])
@pytest.mark.parametrize("values", [(0.0, 0.1, 0.7, 1.0), (0.1,), (0.0,)])
def test_facts_of_any_cut_are_those_of_a_digest(size, values):
    results = list(rows(600, seed=3, values=values))
    assert shown(merged(results, size)) == shown(digest_of(results))


def test_facts_of_no_row():
    assert shown(merged([], 5)) == shown(digest_of([]))


def test_more_values_than_are_counted_have_the_same_mean(monkeypatch):
    monkeypatch.setattr(module, "VALUES", 16)
    draw = random.Random(1)
    values = [draw.random() for _ in range(300)]
    results = list(rows(900, seed=4, values=values))
    found, whole = merged(results, 50), digest_of(results)
    assert found.moments.rows == len(whole) - whole.unscored
    for mine, theirs in zip(found.figures(), whole.figures(), strict=True):
        assert mine == pytest.approx(theirs, rel=1e-12)


def test_of_too_many_prompts_a_share_stands_for_all():
    draw = random.Random(2)
    results = [
        RowResult(f"{at}", "{}", RowFacts(float(at % 2), "equal", prompt, 5, 0), "")
        for at, prompt in enumerate(
            prompt for _ in range(4_000) for prompt in [draw.randrange(1, 2**64)] * 2
        )
    ]
    found, whole = merged(results, 500, most=256), digest_of(results)
    assert found.share < 1
    assert len(found.prompts.kept) <= 256
    assert found.groups().prompts == pytest.approx(whole.groups().prompts, rel=0.25)
    assert found.figures() == whole.figures()


def test_the_order_of_parts_changes_no_figure():
    results = list(rows(500, seed=5))
    one, other = merged(results, 50), merged(results[250:] + results[:250], 50)
    for name in ("rows", "figures", "groups", "repeated", "kinds", "counts"):
        assert shown(one)[name] == shown(other)[name]


@pytest.mark.parametrize(
    "item", [{}, {"reward": "math", "scale": [0, 1], "rows": 1}, {"scale": None}]
)
def test_what_are_no_facts_is_refused(item):
    with pytest.raises(ValueError, match="no facts"):
        Facts.of(item)
