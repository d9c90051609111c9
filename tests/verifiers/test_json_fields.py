"""`json_fields`: which values are right, which objects are read, and what a near miss earns."""

import json
import sys
from dataclasses import replace
from functools import partial
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reward_functions import get, sample, score_batch
from reward_functions.core.errors import BadReference, ConfigurationError
from reward_functions.core.types import Scored, Unscored
from reward_functions.verifiers._matching import most_matched
from tests.growth import assert_linear
from tests.verifiers.objects import MUTATIONS, mutated, records

REWARD = get("json_fields")

ORDER = {
    "id": "A-12",
    "total": 12.5,
    "paid": True,
    "note": None,
    "tags": [],
    "lines": [{"sku": "A", "count": 1}, {"sku": "B", "count": 2}],
}


def text(value):
    return json.dumps(value, ensure_ascii=False)


SAME = [
    # One JSON value in several spellings (RFC 8259).
    ('{"a": 3.0}', {"a": 3}),
    ('{"a": 0.30e1}', {"a": 3}),
    ('{"a": 1.50}', {"a": 1.5}),
    ('{"a": -0}', {"a": 0}),
    ('{"a": "caf\\u00e9"}', {"a": "cafe\u0301"}),
    ('{"b": 2, "a": 1}', {"a": 1, "b": 2}),
    ('{"a": 123456789012345678901234567890}', {"a": 123456789012345678901234567890}),
    ('{"a": {}, "b": []}', {"a": {}, "b": []}),
    # A null of the reference may be given or left out.
    ('{"a": 1, "b": null}', {"a": 1, "b": None}),
    ('{"a": 1}', {"a": 1, "b": None}),
    # An array is a multiset, its elements whole.
    ('{"a": [2, 1, 1]}', {"a": [1, 2, 1]}),
    ('{"a": [{"x": 3, "y": 4}, {"x": 1, "y": 2}]}', {"a": [{"x": 1, "y": 2}, {"x": 3, "y": 4}]}),
    # The object may stand in a fence, after reasoning, before a sentence.
    ('```json\n{"a": 1}\n```', {"a": 1}),
    ('I read the invoice.\n\n{"a": 1}\n\nThat is all.', {"a": 1}),
    ('<think>{"a": 2}?</think>{"a": 1}', {"a": 1}),
    ('{"a": 1}\nAgain: {"a": 1}', {"a": 1}),
    ('Braces {of prose} and {x}. {"a": 1}', {"a": 1}),
    # A number and the text that looks like it.
    ('{"a": ["3.5", 3.5]}', {"a": ["3.5", 3.5]}),
    # A reference's text has its numbers as they are written.
    ('{"a": 0.12345678901234567890123}', '{"a": 0.12345678901234567890123}'),
    ('{"a": 0.12345678901234567890123}', {"text": '{"a": 0.12345678901234567890123}'}),
    # A reference as trainers wrap it.
    ('{"a": 1}', '{"a": 1}'),
    ('{"a": 1}', {"text": '{"a": 1}'}),
    ('{"text": "x"}', {"text": "x"}),
]


@pytest.mark.parametrize(("response", "reference"), SAME)
def test_the_same_object_is_paid_in_full(response, reference):
    assert REWARD(response, reference).value == 1.0


WRONG = [
    # No leaf is right.
    ('{"a": 1}', {"a": True}),
    ('{"a": "3"}', {"a": 3}),
    ('{"a": "Paris (this is wrong)"}', {"a": "Paris"}),
    ('{"a": "paris"}', {"a": "Paris"}),
    ('{"a": 123456789012345678901234567891}', {"a": 123456789012345678901234567890}),
    ('{"a": 5.9}', {"a": 5}),
    ('{"a": null}', {"a": 1}),
    ('{"a": {}}', {"a": []}),
    ('{"b": 1}', {"a": 1}),
    # No object that can be read.
    ("", {"a": 1}),
    (" \u200b\n", {"a": 1}),
    ("a: 1", {"a": 1}),
    ("[1]", {"a": 1}),
    ('[{"a": 1}]', {"a": 1}),
    ('```json\n[\n  {"a": 1},\n  {"a": 1}\n]\n```', {"a": 1}),
    ('{"a": 1', {"a": 1}),
    ('{"a": 1, "a": 1}', {"a": 1}),
    ('{"a": NaN}', {"a": 1}),
    ("{'a': 1}", {"a": 1}),
    ('{"b": {"a": 1}, "b": 2}', {"a": 1}),
    # Several objects, or one that is taken back.
    ('{"a": 1} or {"a": 2}', {"a": 1}),
    ('{"a": 2}\n{"a": 1}', {"a": 1}),
    ('{"a": 1}\n\nThat is wrong.', {"a": 1}),
    ('```json\n{"a": 1}\n```\nThis is not right.', {"a": 1}),
    ('<think>{"a": 1}</think>', {"a": 1}),
    ('<think>{"a": 1}', {"a": 1}),
]


@pytest.mark.parametrize(("response", "reference"), WRONG)
def test_what_has_no_right_value_earns_nothing(response, reference):
    assert REWARD(response, reference).value == 0.0


PARTS = [
    ({"total": None}, 0.0, "names with nulls"),
    (ORDER, 1.0, "the object itself"),
    ({**ORDER, "total": 12.4}, 7 / 8, "one value is wrong"),
    ({**ORDER, "more": 1}, 16 / 17, "one more is given"),
    ({**ORDER, "more": None}, 16 / 17, "a null that nobody asked for is one, too"),
    ({**ORDER, "note": "x"}, 16 / 17, "a value where the right one is null"),
    ({key: ORDER[key] for key in ORDER if key != "total"}, 14 / 15, "one is left out"),
    ({**ORDER, "lines": []}, 8 / 13, "a container is emptied"),
    ({**ORDER, "lines": [{"sku": "A", "count": 2}, {"sku": "B", "count": 1}]}, 6 / 8, "swapped"),
    ({**ORDER, "lines": [*ORDER["lines"], {"sku": "C", "count": 9}]}, 16 / 18, "a superset"),
    (dict.fromkeys(ORDER, "A-12"), 2 / 14, "one right value in every field"),
]


@pytest.mark.parametrize(("answer", "value", "why"), PARTS, ids=[each[2] for each in PARTS])
def test_values_that_are_right_are_paid_by_their_f1(answer, value, why):
    score = REWARD(text(answer), ORDER)
    assert score.value == pytest.approx(value), why
    assert score.value < 1.0 or answer is ORDER


RULED = [
    ({"total": "number±0.01"}, '{"total": "1,000.004"}', {"total": 1000}, True),
    ({"total": "number±0.01"}, '{"total": 1000.02}', {"total": 1000}, False),
    ({"total": "number±1"}, '{"total": 1e999}', {"total": 1000}, False),
    ({"total": "number±1"}, '{"total": true}', {"total": 1}, False),
    ({"date": "iso"}, '{"date": "20240105"}', {"date": "2024-01-05"}, True),
    ({"date": "iso"}, '{"date": "2024-05-01"}', {"date": "2024-01-05"}, False),
    ({"a.b": "casefold"}, '{"a": {"b": "PARIS"}}', {"a": {"b": "Paris"}}, True),
    ({"a.b": "strip"}, '{"a": {"b": " Paris\\n"}}', {"a": {"b": "Paris"}}, True),
    ({"n": "casefold strip"}, '{"n": " PARIS"}', {"n": "Paris"}, True),
    ({"n": "casefold"}, '{"n": 1}', {"n": True}, False),
    ({"n": "rouge_l>=0.5"}, '{"n": "the red fox"}', {"n": "a red fox"}, True),
    ({"n": "rouge_l>=0.5"}, '{"n": "a hen"}', {"n": "a red fox"}, False),
    ({"l[].n": "casefold"}, '{"l": [{"n": "B"}, {"n": "A"}]}', {"l": [{"n": "a"}, {"n": "b"}]}, 1),
    ({"l[]": "in order"}, '{"l": [2, 1]}', {"l": [1, 2]}, False),
    ({"l[]": "by k"}, '{"l": [{"k": 1, "v": 3}]}', {"l": [{"k": 1, "v": 3}]}, True),
    ({"l[]": "by k"}, '{"l": [{"k": 2, "v": 3}]}', {"l": [{"k": 1, "v": 3}]}, False),
    (
        {"l[]": "by k"},
        '{"l": [{"k": "cafe\u0301"}, {"k": 1.0}]}',
        {"l": [{"k": 1}, {"k": "café"}]},
        1,
    ),
    ({"l[]": "by k", "l[].k": "casefold"}, '{"l": [{"k": "A"}]}', {"l": [{"k": "a"}]}, True),
    (  # several elements of one name are matched among each other
        {"l[]": "by k"},
        '{"l": [{"k": 1, "v": 4}, {"k": 1, "v": 3}]}',
        {"l": [{"k": 1, "v": 3}, {"k": 1, "v": 4}]},
        True,
    ),
    ({"n": "rouge_l>=0.5"}, '{"n": ""}', {"n": ""}, True),
    ({"n": "rouge_l>=0.5"}, '{"n": "!"}', {"n": "?"}, False),
]


@pytest.mark.parametrize(("fields", "response", "reference", "right"), RULED)
def test_rules_of_fields(fields, response, reference, right):
    score = REWARD(response, reference, fields=json.dumps(fields))
    assert score.value == float(right)


EXTRACTED = [
    ("only", 'Draft: {"a": 2}\n{"a": 1}', 0.0),
    ("last", 'Draft: {"a": 2}\n{"a": 1}', 1.0),
    ("last", '{"a": 1}\n{"a": 2}', 0.0),
    ("last", '{"a": 1}\n{"a": ', 0.0),
    ("last", '{"a": {"a": 1},, }', 0.0),
    ("last", '[{"a": 2}, {"a": 1}]', 0.0),
    ("last", '\\[{"a": 1}\\]', 1.0),
    ("fence", 'Like {"a": 2}:\n```json\n{"a": 1}\n```', 1.0),
    ("fence", '```json\n{"a": 2}\n```\n{"a": 1}', 0.0),
    ("fence", '{"a": 1}', 0.0),
    ("whole", ' {"a": 1}\n', 1.0),
    ("whole", '```json\n{"a": 1}\n```\n', 1.0),
    ("whole", 'Here: {"a": 1}', 0.0),
    ("whole", '{"a": 1}.', 0.0),
]


@pytest.mark.parametrize(("extract", "response", "value"), EXTRACTED)
def test_which_object_is_the_answer(extract, response, value):
    assert REWARD(response, {"a": 1}, extract=extract).value == value


SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "string", "pattern": "^(x+)+$"}},
    "additionalProperties": False,
}


def test_a_schema_is_kept_or_nothing_is_paid(tmp_path):
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(SCHEMA), encoding="utf-8")
    for schema in (json.dumps(SCHEMA), str(path)):
        assert REWARD('{"a": 1}', {"a": 1}, schema=schema).value == 1.0
        assert REWARD('{"a": 1, "c": 2}', {"a": 1}, schema=schema).value == 0.0
        long = REWARD(json.dumps({"a": 1, "b": "x" * 5_000 + "!"}), {"a": 1}, schema=schema)
        assert long.evidence.rule == "schema"
        said = REWARD('{"a": "one"}', {"a": 1}, schema=schema).reason
        assert said == 'the object breaks the schema at "a", by its type'
        with pytest.raises(BadReference, match='breaks the schema at "a", by its type'):
            REWARD('{"a": 1}', {"a": "one"}, schema=schema)


def test_half_a_surrogate_pair_breaks_a_schema():
    half = json.dumps({"b": "\ud800"})
    assert REWARD(half, {"a": 1}, schema=json.dumps(SCHEMA)).evidence.rule == "schema"
    with pytest.raises(BadReference, match="breaks the schema"):
        REWARD('{"a": 1}', {"b": "\ud800"}, schema=json.dumps(SCHEMA))


BAD_PARAMETERS = [
    ({"schema": "nowhere.json"}, "there is no file 'nowhere.json'"),
    ({"schema": '{"type": "objct"}'}, "objct"),
    ({"schema": '{"$ref": "http://127.0.0.1/x.json"}'}, "Retrieval is disabled"),
    ({"schema": "{"}, "not JSON"),
    ({"fields": "[1]"}, "a list, not an object"),
    ({"fields": '{"a": "close"}'}, "'a' has no rule 'close'"),
    ({"fields": '{"a": 1}'}, "no rule 1"),
    ({"fields": '{"a": "by sku"}'}, "no rule"),
    ({"fields": '{"a": "number±x"}'}, "no rule"),
    ({"fields": '{"a": "rouge_l>=0"}'}, "no rule"),
    ({"fields": '{"a": "rouge_l>=5"}'}, "no rule"),
]


@pytest.mark.parametrize(("parameters", "words"), BAD_PARAMETERS)
def test_a_parameter_that_cannot_be_used_is_named(parameters, words):
    with pytest.raises(ConfigurationError, match=words.replace("[", r"\[")):
        REWARD.bind(parameters)


@pytest.mark.parametrize(
    "reference",
    [
        *(None, "", "x", 3, {}, [], [{"a": 1}], '{"a": 1', "[1]"),
        *({"a": None}, {"a": [None]}, {"a": float("nan")}, '{"a": 1, "a": 2}', '{"a": NaN}'),
    ],
)
def test_a_reference_without_a_value_leaves_the_row_unscored(reference):
    with pytest.raises(BadReference):
        REWARD('{"a": 1}', reference)


def test_a_bad_row_harms_no_neighbour():
    rows = [sample('{"a": 1}', {"a": 1}), sample('{"a": 1}', None), sample('{"a": 1}', {"a": 1})]
    first, second, third = score_batch(REWARD, rows)
    assert [type(each) for each in (first, second, third)] == [Scored, Unscored, Scored]


def test_a_prompt_in_a_value_is_no_echo_and_an_object_of_the_prompt_is():
    review = "The food was cold, and the waiter was rude."
    right = {"text": review, "label": "negative"}
    assert score_batch(REWARD, [sample(text(right), right, prompt=review)])[0].score.value == 1.0
    task = 'Fill in this form, please: {"a": 2}'
    copied = sample(f'{task}\n{{"a": 1}}', {"a": 1}, prompt=task)
    assert score_batch(REWARD, [copied])[0].score.value == 1.0


def test_nulls_may_be_taken_for_absent():
    assert REWARD('{"a": 1, "b": null}', {"a": 1}, nulls_are_absent=True).value == 1.0
    assert REWARD('{"a": 1, "b": null}', {"a": 1, "b": 2}, nulls_are_absent=True).value == 2 / 3


def test_the_field_that_decided_is_named():
    score = REWARD(text({**ORDER, "total": 1}), ORDER)
    assert (score.evidence.rule, score.evidence.reference) == ("some-fields", "total")
    assert 'the first that differs is "total"' in score.reason
    inner = REWARD('{"a": {"b": {"c": 1, "d": 2}}}', {"a": {"b": {"c": 1}}})
    assert inner.evidence.reference == "a.b.d"


def test_a_long_array_is_compared_in_order_and_the_reason_says_so():
    right = {"a": list(range(300))}
    assert REWARD(text(right), right).value == 1.0
    turned = REWARD(text({"a": right["a"][::-1]}), right)
    assert turned.value == 0.0
    assert "compared in order" in turned.reason
    short = {"a": right["a"][:200]}
    assert REWARD(text({"a": short["a"][::-1]}), short).value == 1.0


@pytest.mark.parametrize("seed", range(20))
def test_every_single_change_earns_less_and_mending_it_never_less(seed):
    for gold in records(seed, 15):
        assert REWARD(text(gold), gold).value == 1.0
        credit = REWARD.credit(sample("", gold))
        for name in MUTATIONS:
            other = mutated(name, gold, seed)
            if other is not None:
                value = REWARD(text(other), gold).value
                assert value <= credit < 1.0, (name, gold, other)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(min_size=1, max_size=3), VALUES, min_size=1, max_size=4)


def reversed_names(value):
    if isinstance(value, dict):
        return {name: reversed_names(value[name]) for name in reversed(value)}
    return [reversed_names(each) for each in value] if isinstance(value, list) else value


@given(OBJECTS, OBJECTS)
def test_scores_are_shares_and_names_have_no_order(right, other):
    try:
        score = REWARD(text(other), right)
    except BadReference:
        return
    assert 0.0 <= score.value <= 1.0
    assert REWARD(text(reversed_names(other)), reversed_names(right)) == replace(
        score,
        answer=text(reversed_names(other)),
        evidence=score.evidence._replace(answer=text(reversed_names(other))),
    )
    assert REWARD(text(right), right).value == 1.0


@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=4))
def test_the_best_pairs_are_those_of_all_permutations(table):
    wide = table if len(table) <= len(table[0]) else [*zip(*table, strict=True)]
    best = max(
        sum(row[at] for row, at in zip(wide, places, strict=True))
        for places in permutations(range(len(wide[0])), len(wide))
    )
    assert most_matched(table) == best


ROUGE, NEAR = ({"l[]": rule} for rule in ("rouge_l>=0.5", "number±0.1"))
MARKS = "\u0301\u0323"
WORK = {
    # 10,000 characters of combining marks are put in order in 0.3 s, 100,000 in 30 s.
    "marks": lambda size: ({}, {"a": "a" + MARKS * (50 * size)}, {"a": "b"}),
    "marks of a metric": lambda size: (
        {"a": "rouge_l>=0.5"},
        {"a": "a" + MARKS * (50 * size)},
        {"a": "b"},
    ),
    # Each element of an array is read once, and texts of many words are work.
    "long texts": lambda size: (
        ROUGE,
        {"l": ["a b c " * 80] * 200},
        {"l": [f"a b {at}" for at in range(size // 5)]},
    ),
    "numbers": lambda size: (
        NEAR,
        {"l": [f"{at},000.5" for at in range(size // 5)]},
        {"l": [*range(200)]},
    ),
    "digits of a fraction": lambda size: (
        {"a": "number±0.1"},
        '{"a": 0.%s}' % ("1" * (100 * size)),
        {"a": 1},
    ),
}


@pytest.mark.parametrize("name", WORK)
def test_what_is_compared_is_made_ready_once(name):
    def compare(size):
        fields, given, right = WORK[name](size)
        response = given if isinstance(given, str) else text(given)
        assert REWARD(response, right, fields=json.dumps(fields)).value < 1.0

    assert_linear(compare, 250, 1_000)


FLOODS = {
    "objects": '{"a":1}',
    "nested": '{"a":',
    "lines": '\n{"a":[\n',
    "braces": "{",
    "fences": "```json\n",
    "names": '{"',
}


def calls_of(work):
    """How many functions some work calls, those of C among them: its cost on any machine."""
    count = 0

    def note(_, event, __):
        nonlocal count
        count += event.endswith("call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("flood", FLOODS)
def test_a_flood_takes_no_more_than_its_length(flood):
    costs = [
        calls_of(partial(REWARD, FLOODS[flood] * (length // len(FLOODS[flood])), ORDER))
        for length in (25_000, 50_000, 100_000)
    ]
    assert costs[1] <= 2.5 * costs[0]
    assert costs[2] <= 2.5 * costs[1]


def test_numbers_keep_every_digit():
    assert REWARD('{"a": 0.1}', {"a": 0.1}).value == 1.0
    nines = "9" * 5_000
    assert REWARD(f'{{"a": {nines}}}', f'{{"a": {"9" * 4_000}}}').value == 0.0
