"""Rows of a file are read a piece at a time, and what is wrong with one is message of that one."""

import json
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reward_functions.data import json_rows
from reward_functions.data.json_rows import BadInput, read_rows, scan_rows

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)
OBJECTS = st.lists(st.dictionaries(st.text(max_size=5), VALUES, max_size=4), max_size=6)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("rows") / "rows.json"


def contents(file):
    return [row.content for row in read_rows(str(file))]


# Making the rows takes ten times as long as reading them: what is made is read in every way.
@given(rows=OBJECTS, cuts=st.lists(st.integers(1), min_size=3, max_size=3))
@settings(derandomize=True, max_examples=50)
def test_an_array_is_read_as_json_reads_it_whole_or_cut_short(file, rows, cuts):
    is_read_however_little_at_a_time(file, rows)
    is_named_where_json_names_it(file, rows, cuts)


def is_read_however_little_at_a_time(file, rows):
    for indent in (None, 0, 2):
        file.write_text(json.dumps(rows, indent=indent))
        for stretch in (1, 7, 1 << 16):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(json_rows, "STRETCH", stretch)
                assert contents(file) == rows, (indent, stretch)


def is_named_where_json_names_it(file, rows, cuts):
    whole = json.dumps(rows, indent=1)
    for cut in cuts:
        text = whole[: -1 - cut % (len(whole) - 1)]
        file.write_text(text)
        with pytest.raises(json.JSONDecodeError) as expected:
            json.loads(text.rstrip())
        where = f"line {expected.value.lineno}, column {expected.value.colno}: not JSON: "
        for stretch in (1, 1 << 16):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(json_rows, "STRETCH", stretch)
                with pytest.raises(BadInput) as caught:
                    contents(file)
            assert where in str(caught.value), stretch


def test_a_broken_line_leaves_the_others(file):
    file.write_text('{"a": 1}\n{"a":\n\n{"a": 2}\n[1]\n{"a"\n{"a": 3}\n')
    rows = list(scan_rows(str(file)))
    assert [row.content["a"] for row in rows if not isinstance(row, BadInput)] == [1, 2, 3]
    wrong = [str(row).removeprefix(f"{file}, ") for row in rows if isinstance(row, BadInput)]
    assert [message.partition(":")[0] for message in wrong] == [
        "line 2, column 6",
        "line 5",
        "line 6, column 5",
    ]


def test_thousands_of_broken_lines_are_no_deeper_than_one(file):
    file.write_text('{"a":\n' * 5_000)
    assert sum(isinstance(row, BadInput) for row in scan_rows(str(file))) == 5_000


def test_what_stands_before_a_break_in_an_array_is_read(file):
    file.write_text('[{"a": 1},\n{"a": 2},\n{"a": nonsense}]')
    *rows, error = scan_rows(str(file))
    assert [row.content["a"] for row in rows] == [1, 2]
    assert "line 3, column 7: not JSON: Expecting value" in str(error)


def test_a_large_array_is_never_in_memory_at_once(file):
    with file.open("w") as stream:
        stream.write("[\n")
        stream.writelines(json.dumps({"text": "x" * 10_000}) + ",\n" for _ in range(2_000))
        stream.write("{}]")
    tracemalloc.start()
    assert sum(1 for _ in read_rows(str(file))) == 2_001
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < file.stat().st_size / 10


def nested(depth):
    return '{"a":' + "[" * (depth - 1) + "]" * (depth - 1) + "}"


@pytest.mark.parametrize("form", ["{}\n", "[{}]"], ids=["a line", "an item"])
@pytest.mark.parametrize("depth", [101, 900, 100_000])
def test_a_row_nested_deeper_than_is_handled_is_refused_where_it_is_read(file, form, depth):
    file.write_text(form.format(nested(depth)) if form == "{}\n" else f"[{nested(depth)}]")
    with pytest.raises(BadInput, match="nested more than 100 deep: write the inner part as a str"):
        contents(file)


def test_a_row_of_one_hundred_levels_and_of_many_brackets_is_read(file):
    wide = json.dumps({"a": [{} for _ in range(500)], "b": "[" * 500})
    file.write_text(f"{nested(100)}\n{wide}\n")
    assert len(contents(file)) == 2
    file.write_text(f"[{nested(100)},{wide}]")
    assert len(contents(file)) == 2


@pytest.mark.parametrize("form", ["{}\n", "[{}]"], ids=["a line", "an item"])
@pytest.mark.parametrize("value", ["{}", "[]", "1", '""', '{"a":1}'])
def test_a_row_of_very_many_values_is_refused_before_it_is_decoded(file, form, value):
    row = '{"a": [' + ",".join([value] * 600_000) + "]}"
    file.write_text(form.replace("{}", row))
    with pytest.raises(BadInput, match="more than 500,000 values: leave out what no reward reads"):
        contents(file)


@pytest.mark.parametrize("form", ["{}\n", "[{}]"], ids=["a line", "an item"])
def test_punctuation_inside_a_string_is_no_value(file, form):
    text = '{"a": "' + ',[{:\\"' * 300_000 + '"}'
    file.write_text(form.replace("{}", text))
    (row,) = contents(file)
    assert len(row["a"]) == 5 * 300_000


def test_a_long_row_is_refused_in_both_forms_and_a_long_line_of_short_items_is_read(
    file, monkeypatch
):
    monkeypatch.setattr(json_rows, "MAX_TEXT", 1 << 17)
    long = '{"a": "' + "x" * (1 << 17) + '"}'
    file.write_text(f"{long}\n")
    with pytest.raises(BadInput, match="line 1: longer than"):
        contents(file)
    file.write_text(f"[{long}]")
    with pytest.raises(BadInput, match="an item is longer than"):
        contents(file)
    file.write_text("[" + ",".join(['{"a": "b"}'] * 30_000) + "]")
    assert len(contents(file)) == 30_000


def test_blanks_without_end_are_no_array(file, monkeypatch):
    monkeypatch.setattr(json_rows, "MAX_TEXT", 1 << 18)
    file.write_text("[" + " " * (1 << 20) + "{}]")
    with pytest.raises(BadInput, match="nothing but blanks"):
        contents(file)


def test_blank_lines_before_the_rows_count_as_lines(file):
    file.write_text("\n\n" + "[{},\n7]")
    *_, error = scan_rows(str(file))
    file.write_text("\n \n{}\n[]\n")
    first, second = scan_rows(str(file))
    assert "item 2: not a JSON object" in str(error)
    assert first.where.endswith("line 3")
    assert "line 4" in str(second)


def test_an_error_in_an_array_on_one_line_names_its_column(file):
    items = ",".join(['{"a": "b"}'] * 20_000)
    file.write_text(f"[{items},oops]")
    with pytest.raises(BadInput) as caught:
        contents(file)
    assert f"line 1, column {len(items) + 3}: not JSON" in str(caught.value)


def test_a_letter_that_is_cut_between_two_stretches_is_read(file, monkeypatch):
    monkeypatch.setattr(json_rows, "STRETCH", 1)
    file.write_text(json.dumps([{"a": "é😀"}], ensure_ascii=False))
    assert contents(file) == [{"a": "é😀"}]
