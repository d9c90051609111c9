"""A table is refused before it is decoded, where a few bytes of it stand for very many."""

import tracemalloc
from functools import cache, partial

import pytest

from reward_functions.data import json_rows
from reward_functions.data.json_rows import BadInput
from reward_functions.data.rows.formats import scan_file

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
ipc = pytest.importorskip("pyarrow.ipc")
tables = pytest.importorskip("reward_functions.data.rows.tables")

MB = 1 << 20


@cache
def long(megabytes, count=1):
    return pa.array(["x" * (megabytes * MB)] * count)


def shared(megabytes, count):
    """Many cells that all are one text."""
    return pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), long(megabytes))


def listed(values, count):
    """One list of many equal values."""
    inner = pa.nulls(count) if values is None else pa.repeat(values, count)
    return pa.ListArray.from_arrays(pa.array([0, count], pa.int32()), inner)


def nested_structs(count):
    inner = pa.StructArray.from_arrays([pa.nulls(count, pa.string())], names=["role"])
    return pa.ListArray.from_arrays(pa.array([0, count], pa.int32()), inner)


LONG = partial(long, 40)

REFUSED = {
    "a text of 40 MB": (LONG, {"compression": "zstd"}),
    "a text of 40 MB, snappy": (LONG, {"compression": "snappy"}),
    "a text of 40 MB, gzip": (LONG, {"compression": "gzip"}),
    "a text of 40 MB, brotli": (LONG, {"compression": "brotli"}),
    "a text of 40 MB, written plainly": (
        LONG,
        {"compression": "zstd", "use_dictionary": False},
    ),
    "a page of many texts": (
        partial(long, 4, 18),
        {"compression": "zstd", "use_dictionary": False},
    ),
    "a list of numbers": (partial(listed, 7, 5_000_000), {"compression": "zstd"}),
    "a list of nulls": (partial(listed, None, 5_000_000), {"compression": "zstd"}),
    "a list of structs": (partial(nested_structs, 5_000_000), {"compression": "zstd"}),
    "a row of 40 MB": (
        lambda: pa.array([["x" * (20 * MB)] * 2]),
        {"compression": "zstd"},
    ),
}
"""What makes a column, once its test begins: a run collects it in each of its processes."""


@pytest.mark.parametrize(("column", "written"), REFUSED.values(), ids=REFUSED)
def test_a_table_that_becomes_large_is_refused_in_one_sentence(column, written, tmp_path):
    file = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"prompt": column()}), file, **written)
    with pytest.raises(BadInput, match=r"rows\.parquet.* MB .*: (write it|leave out)"):
        list(scan_file(str(file)))


def test_cells_that_share_a_text_are_read_a_few_at_a_time(tmp_path):
    file = tmp_path / "rows.parquet"
    table = pa.table({"prompt": shared(2, 40).dictionary_decode()})
    parquet.write_table(table, file, compression="zstd")
    tracemalloc.start()
    lengths = [len(row.content["prompt"]) for row in scan_file(str(file))]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert lengths == [2 * MB] * 40
    assert peak < 32 * MB


@pytest.mark.parametrize("compression", ["zstd", "lz4", None])
@pytest.mark.parametrize("stream", [True, False])
def test_an_arrow_batch_that_becomes_large_is_refused(compression, stream, tmp_path):
    file, count = tmp_path / "rows.arrow", 100 if compression else 20
    table = pa.table({"prompt": shared(2, count).dictionary_decode()})
    options = ipc.IpcWriteOptions(compression=compression)
    new = ipc.new_stream if stream else ipc.new_file
    with new(file, table.schema, options=options) as writer:
        writer.write_table(table)
    if compression is None:
        assert sum(1 for _ in scan_file(str(file))) == count
        return
    with pytest.raises(BadInput, match=r"a batch takes \d+ MB once it is unpacked"):
        list(scan_file(str(file)))


def test_a_list_of_fixed_size_in_arrow_is_measured(tmp_path):
    file = tmp_path / "rows.arrow"
    count = 2_000_000
    column = pa.FixedSizeListArray.from_arrays(pa.nulls(count), count)
    with ipc.new_file(file, pa.schema([("a", column.type)])) as writer:
        writer.write_table(pa.table({"a": column}))
    with pytest.raises(BadInput, match="row 1: takes 61 MB as it is decoded, and a row may take"):
        list(scan_file(str(file)))


def test_columns_are_counted_before_a_row_is_read(tmp_path):
    file = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({f"c{at}": [1] for at in range(2_001)}), file)
    with pytest.raises(BadInput, match=r"2,001 columns, and 2,000 are read: write the columns"):
        list(scan_file(str(file)))


def test_a_footer_that_lies_about_its_sizes_changes_nothing(tmp_path):
    """The sizes of the footer say nothing that is believed: those of the pages do."""
    file = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"prompt": long(40)}), file, compression="zstd")
    honest = parquet.read_metadata(file).row_group(0).column(0).total_uncompressed_size
    text = file.read_bytes()
    lied = text.replace(varint(honest), varint(1000, len(varint(honest))))
    assert lied != text
    file.write_bytes(lied)
    assert parquet.read_metadata(file).row_group(0).column(0).total_uncompressed_size == 1000
    with pytest.raises(BadInput, match="MB have to be unpacked at once"):
        list(scan_file(str(file)))


def varint(value, length=0):
    """A number as Thrift's compact protocol has it, in so many bytes at least."""
    value, out = value << 1, bytearray()
    while value >= 128 or len(out) + 1 < length:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def test_a_file_of_broken_pages_is_one_sentence(tmp_path):
    file = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"prompt": ["a", "b"]}), file)
    text = bytearray(file.read_bytes())
    text[4:40] = b"\xff" * 36
    file.write_bytes(text)
    with pytest.raises(BadInput, match=r"column prompt cannot be read: .*: write the file again"):
        list(scan_file(str(file)))


ROWS = [
    {
        "id": f"i{at}",
        "messages": [
            {"role": "system", "content": "S" * 500},
            {"role": "user", "content": f"{at} é😀"},
        ],
        "ids": list(range(at % 5)),
        "answer": None if at % 7 == 0 else str(at),
        "at": 1.5,
        "on": None if at % 2 else True,
    }
    for at in range(700)
]
WRITTEN = {
    "as usual": {},
    "small row groups": {"row_group_size": 100},
    "without dictionaries": {"use_dictionary": False},
    "small dictionaries": {"dictionary_pagesize_limit": 100},
    "small pages": {"data_page_size": 500},
    "pages of the second version": {"data_page_version": "2.0", "compression": "zstd"},
    "texts by what they share": {
        "use_dictionary": False,
        "column_encoding": {"id": "DELTA_BYTE_ARRAY", "answer": "DELTA_LENGTH_BYTE_ARRAY"},
    },
}


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
@pytest.mark.parametrize("aim", [tables.AIM, 1], ids=["many rows at once", "one at a time"])
def test_rows_are_the_same_however_they_are_written_and_read(written, aim, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "AIM", aim)
    file = tmp_path / "rows.parquet"
    parquet.write_table(pa.Table.from_pylist(ROWS), file, **written)
    assert [row.content for row in scan_file(str(file))] == ROWS


def test_columns_of_bytes_are_left_out_within_objects_too(tmp_path):
    file = tmp_path / "rows.parquet"
    image = {"bytes": b"png", "path": "a.png"}
    parquet.write_table(pa.table({"prompt": ["p"], "raw": [b"x"], "image": [image]}), file)
    assert [row.content for row in scan_file(str(file))] == [
        {"prompt": "p", "image": {"path": "a.png"}}
    ]


def chat(at):
    """One system prompt for all, a question and an answer of its own."""
    return [
        {"role": "system", "content": "You are a careful assistant. " * 100},
        {"role": "user", "content": f"question {at} " * 20},
        {"role": "assistant", "content": f"#### {at}"},
    ]


@cache
def conversations():
    """Rows, and the table of them."""
    rows = [{"messages": chat(at), "reference_answer": str(at)} for at in range(3_000)]
    return rows, pa.Table.from_pylist(rows)


@pytest.mark.parametrize("compression", ["zstd", "snappy", "gzip", "brotli", None])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_one_large_row_group_of_lists_is_read_in_a_small_room(
    compression, version, tmp_path, monkeypatch
):
    """What is unpacked of it in all is more than its file may take at a time."""
    monkeypatch.setattr(json_rows, "_AT_A_TIME", 5 << 20)
    monkeypatch.setattr(json_rows, "_RATIO_AT_A_TIME", 0)
    file = tmp_path / "rows.parquet"
    rows, table = conversations()
    written = {"compression": compression, "data_page_version": version}
    parquet.write_table(table, file, row_group_size=1_000_000, use_dictionary=False, **written)
    assert table.nbytes > 9 << 20
    assert [row.content for row in scan_file(str(file))] == rows


def test_texts_whose_dictionary_was_given_up_are_not_collected(tmp_path):
    """pyarrow would keep every text of the row group until its end."""
    file = tmp_path / "rows.parquet"
    texts = [f"{at} {'x' * 4_000}" for at in range(5_000)]
    parquet.write_table(pa.table({"prompt": texts}), file, compression="zstd")
    pool, most = pa.default_memory_pool(), 0
    before = pool.bytes_allocated()
    for row in scan_file(str(file)):
        most = max(most, pool.bytes_allocated() - before)
        assert len(row.content["prompt"]) > 4_000
    assert most < 12 * MB


LENGTHS = {
    "one each": [1] * 40,
    "none": [0] * 9,
    "null": [None] * 9,
    "short and long": [1, 2, 0, 7, None, 3] * 20,
    "one long": [1] * 50 + [5_000] + [1] * 50,
    "all in one": [9_000],
    "long ones in a row": [100] * 30,
    "growing": list(range(60)),
}


@cache
def lists(name, deep):
    """Lists of so many values, or of so many lists of one, two or three values, and so on."""

    def made(length, level):
        if length is None:
            return None
        return [
            at if level == 0 else made(1 + at % 3, level - 1) for at in range(min(length, 9_000))
        ]

    return [made(length, deep) for length in LENGTHS[name]]


def values(row):
    """The places that a row takes in its column: one where a list is empty, or is not there."""
    return sum(map(values, row)) or 1 if isinstance(row, list) else 1


@pytest.mark.parametrize("deep", [0, 1, 2])
@pytest.mark.parametrize(
    "written",
    [
        {},
        {"data_page_version": "2.0", "compression": "zstd"},
        {"data_page_size": 64, "compression": "gzip"},
        {"use_dictionary": False, "data_page_version": "2.0", "compression": None},
    ],
)
@pytest.mark.parametrize("lengths", LENGTHS)
def test_the_longest_row_is_known_before_a_value_is_read(lengths, written, deep, tmp_path):
    kind = pa.int64()
    for _ in range(deep + 1):
        kind = pa.list_(kind)
    column = lists(lengths, deep)
    file = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"a": pa.array(column, kind)}), file, **written)
    with file.open("rb") as stream:
        table = parquet.ParquetFile(stream)
        (leaf,) = tables.leaves_of(table, "a")
        opened = tables.Opened(table, stream, 1 << 30, "a")
        chunk = tables.chunk_of(opened, leaf, table.metadata.row_group(0).column(0))
    assert chunk.longest == max(map(values, column))


def test_an_unknown_packing_counts_as_one_row(tmp_path):
    """The footer calls two packings LZ4, so that nothing is unpacked to look."""
    file = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"a": [[1]] * 10}), file, compression="lz4")
    with file.open("rb") as stream:
        table = parquet.ParquetFile(stream)
        (leaf,) = tables.leaves_of(table, "a")
        opened = tables.Opened(table, stream, 1 << 30, "a")
        assert tables.chunk_of(opened, leaf, table.metadata.row_group(0).column(0)).longest == 10
    assert [row.content for row in scan_file(str(file))] == [{"a": [1]}] * 10


CUT_OFF = {
    "nothing": b"",
    "a length that goes on": b"\xff\xff\xff\xff\xff\xff",
    "a run without its level": b"\x08",
    "a run of none": b"\x00\x00",
    "packed levels that are not there": b"\x05\x01",
    "packed levels of none": b"\x01",
}


@pytest.mark.parametrize("levels", CUT_OFF.values(), ids=CUT_OFF)
def test_levels_that_are_cut_off_are_a_bad_page(levels):
    with pytest.raises(tables.BadPage, match="cut off"):
        tables._read(levels, 1, 16, tables._Rows())


def test_a_page_of_zeros_is_counted_a_stretch_at_a_time():
    """A million rows of one value: few bytes of a packed file, and a long text of signs."""
    count = 1 << 20
    rows = tables._Rows()
    head = (count >> 3 << 1 | 1).to_bytes(3, "little")
    packed = bytes([head[0] & 127 | 128, (count >> 3 << 1 | 1) >> 7 & 127 | 128]) + bytes(
        [(count >> 3 << 1 | 1) >> 14]
    )
    tracemalloc.start()
    tables._read(packed + bytes(count >> 3), 1, count, rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert rows.longest == 1
    assert peak < 16 * MB


@pytest.mark.parametrize("dictionary", [b"", b"\x01\x00", b"\x04\x00\x00\x00abc"])
def test_a_dictionary_that_is_cut_off_is_a_bad_page(dictionary):
    with pytest.raises(tables.BadPage, match="cut off"):
        tables.longest_text(dictionary, 1)
