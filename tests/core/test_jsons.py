"""What JSON becomes in memory is known from its text, before it is decoded."""

import json
import sys

import pytest

from reward_functions.core.jsons import (
    MAX_FINAL,
    decoded_size,
    final_object,
    is_too_deep,
    may_be_too_deep,
    parts_of,
    values_of,
)

COUNT = 2_000


def taken(value):
    """Bytes of a value and of all that it holds, each object once."""
    seen, found, left = set(), 0, [value]
    while left:
        each = left.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        found += sys.getsizeof(each)
        if isinstance(each, dict):
            left += [*each, *each.values()]
        elif isinstance(each, list):
            left += each
    return found


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


SHAPES = {
    "empty lists": [[]] * COUNT,
    "empty objects": [{}] * COUNT,
    "lists of a number": [[1000]] * COUNT,
    "objects of a name": [{"a": 1000}] * COUNT,
    "numbers": [1000] * COUNT,
    "fractions": [0.1] * COUNT,
    "digits": [1] * COUNT,
    "short texts": ["ab"] * COUNT,
    "texts of one accent": ["é"] * COUNT,
    "texts of one character of four bytes": ["😀"] * COUNT,
    "names": {f"n{at}": 0 for at in range(COUNT)},
    "deep lists": [nested(90)] * 20,
    "a text": "ab " * COUNT,
    "a text with one character of four bytes": f"{'ab ' * COUNT}😀",
    "messages": [{"role": "user", "content": "What is 1 + 1?"}] * COUNT,
    "booleans": [True] * COUNT,
}


@pytest.mark.parametrize("escaped", [True, False])
@pytest.mark.parametrize("value", SHAPES.values(), ids=SHAPES)
def test_a_value_takes_hardly_more_than_its_text_says(value, escaped):
    text = json.dumps(value, ensure_ascii=escaped, separators=(",", ":"))
    assert taken(json.loads(text)) < 1.6 * decoded_size(text.encode())


PROSE = [
    "Costs rose by 3%, then fell; sales: 12,345 [net]. " * 400,
    '{"role": "user", "content": [1, 2, 3]} ' * 400,
    "a, b, c: " * 2_000,
    "a, b, c: " * 20_000,
    '\\"\\" ",: [' * 1_000,
]


@pytest.mark.parametrize("text", PROSE)
def test_what_a_long_string_holds_is_no_value(text):
    line = json.dumps({"prompt": text, "response": "r"}).encode()
    assert values_of(line, 0) == 4
    assert decoded_size(line) < 10 * len(line)


def test_what_a_short_string_holds_may_count():
    """It is not worth a second look."""
    assert values_of(b'{"a":",,,"}', 0) == 5


@pytest.mark.parametrize(
    ("text", "about", "exactly"),
    [
        (b'{"a": ["b", {}]}', 5, 5),
        (b'{"a": "[[["}', 6, 3),
        (b'{"a": "{{{"}', 6, 3),
        (rb'{"a": "\"\"[\\"}', 5, 3),
        (b"[[], [1, 2]]", 3, 3),
        (b"12", 0, 0),
    ],
)
def test_objects_lists_and_strings_are_counted_exactly_where_there_seem_to_be_too_many(
    text, about, exactly
):
    assert parts_of(text, about) == about
    assert parts_of(text, about - 1) == exactly


@pytest.mark.parametrize(
    ("text", "found", "start"),
    [
        ('{"a": 1}', {"a": "1"}, 0),
        ('  {"a": 1} \n', {"a": "1"}, 2),
        ('so:\n{"a": 0.10}', {"a": "0.10"}, 4),
        ('{"a": {"b": "}"}}', {"a": {"b": "}"}}, 0),
        ('[1] {"a": []}', {"a": []}, 4),
        ('{"a": 1} and {"b": 2}', {"b": "2"}, 13),
        ('{"a": 1}.', None, None),
        ('{"a": 1, "a": 2}', None, None),
        ('{"a": NaN}', None, None),
        ('x "a": 1}', None, None),
        ("}", None, None),
        ("", None, None),
        ('{"a": "\\frac"}', {"a": "\frac"}, 0),
    ],
)
def test_the_object_at_the_end_of_a_text_is_found(text, found, start):
    assert final_object(text) == (None if found is None else (found, start))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r'{"a": "\frac{1}{2}"}', r"\frac{1}{2}"),
        (r'{"a": "say \"x\""}', 'say "x"'),
        (r'{"a": "\\frac"}', r"\frac"),
        (r'{"a": "\n"}', r"\n"),
    ],
)
def test_a_literal_backslash_is_one(written, read):
    assert final_object(written, literal=True) == ({"a": read}, 0)


@pytest.mark.parametrize(
    ("before", "size", "found"),
    [
        (0, MAX_FINAL, True),
        (0, MAX_FINAL + 1, False),
        (1, MAX_FINAL // 20 - 1, True),
        (MAX_FINAL, MAX_FINAL // 20, True),
        (MAX_FINAL, MAX_FINAL // 20 + 1, False),
    ],
)
def test_an_object_of_more_characters_is_not_looked_for(before, size, found):
    text = "x" * before + '{"a": "' + "b" * (size - 9) + '"}'
    assert len(text) == before + size
    assert (final_object(text) is not None) == found


@pytest.mark.parametrize("kind", ["list", "object", "both"])
@pytest.mark.parametrize(("depth", "deep"), [(1, False), (3, False), (4, True), (9, True)])
def test_what_is_too_deep_is_counted_in_objects_and_lists(kind, depth, deep):
    value = 1
    for at in range(depth):
        value = [value] if kind == "list" or (kind == "both" and at % 2) else {"a": value}
    assert is_too_deep(value, 3) == deep
    text = json.dumps(value)
    assert may_be_too_deep(text, 3) == may_be_too_deep(text.encode(), 3) == deep


def test_a_value_that_is_no_object_and_no_list_is_not_deep():
    assert not is_too_deep("[[[[", 1)
    assert not is_too_deep([[], {}, [], {}], 2)
