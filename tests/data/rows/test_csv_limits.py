"""Rows of a CSV, and files that become far more than their size, are bounded as those of JSON."""

import gzip
import json

import pytest

from reward_functions.data import json_rows
from reward_functions.data.json_rows import BadInput
from reward_functions.data.rows import formats
from reward_functions.data.rows.formats import scan_file
from reward_functions.data.rows.reading import first_rows


def read(tmp_path, text, name="rows.csv"):
    file = tmp_path / name
    file.write_text(text)
    return [row.content for row in scan_file(str(file))]


REFUSED = {
    "cells": ("a,b\n" + "," * 600_000 + "\n", "line 2: more than 500,000 cells"),
    "columns": (",".join(f"c{at}" for at in range(2_001)) + "\n1\n", "2,001 columns, and 2,000"),
    "one long line": ("a,b\n1," + "x" * (1 << 18) + "\n", "line 2: longer than|row of more than"),
    "a quote that is not closed": ('a,b\n1,"' + "x\n" * (1 << 18), "is a quote never closed"),
}


@pytest.mark.parametrize(("text", "problem"), REFUSED.values(), ids=REFUSED)
def test_a_row_that_becomes_large_is_refused(text, problem, tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "MAX_TEXT", 1 << 18)
    if "cells" in problem:
        monkeypatch.undo()
    with pytest.raises(BadInput, match=problem):
        read(tmp_path, text)


def test_a_cell_that_looks_like_deep_json_stays_text(tmp_path):
    """A model may answer with any number of brackets: its response is a text."""
    for cell in ("[" * 900 + "]" * 900, "[" + ":" * 600_000 + "]", "[" * 100_000):
        (row,) = read(tmp_path, f'a,b\n1,"{cell}"\n')
        assert row["b"] == cell
    (row,) = read(tmp_path, 'a,b\n1,"[{""role"": ""user""}]"\n')
    assert row["b"] == [{"role": "user"}]


def test_a_compressed_file_that_repeats_itself_for_ever_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(json_rows, "FREE", 1 << 20)
    file = tmp_path / "rows.jsonl.gz"
    with gzip.open(file, "wb") as stream:
        stream.write(b'{"prompt": "p", "response": "r"}\n' * 200_000)
    assert file.stat().st_size * 200 < 6_000_000
    with pytest.raises(BadInput, match=r"become more than \d+ MB of rows"):
        list(scan_file(str(file)))


def test_the_rows_that_tell_the_shape_are_few_where_they_are_long(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text(f"{json.dumps({'a': 'x' * 3_000_000})}\n" * 8)
    assert len(list(first_rows(scan_file(str(file))))) == 3
