"""`reward data split`: no page and no prompt on two sides, and the same split every time."""

import json
from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reward_functions.data.splitting import BadRatio, assigned, components, parse_ratio

GROUPS = st.lists(st.sampled_from("abcdefghijklmnop"), min_size=40, max_size=200)


def row(number, page=None, prompt=None):
    return {
        "id": f"row-{number}",
        "messages": [{"role": "user", "content": f"Question {number}, in é?"}],
        "reference_answer": str(number),
        "metadata": {name: value for name, value in (("page", page), ("prompt", prompt)) if value},
    }


@pytest.fixture
def split(reward, write, tmp_path, read):
    def done(rows, *arguments, out="parts"):
        file = write("all.jsonl", rows)
        ran = reward("data", "split", file, *arguments, "--out", tmp_path / out)
        parts = {path.stem: read(path) for path in (tmp_path / out).glob("*.jsonl")}
        return ran, parts

    return done


@pytest.mark.parametrize("by", ["page", "prompt"])
def test_no_group_stands_on_two_sides_and_no_row_is_lost(by, split):
    rows = [row(at, **{by: f"group {at // 4}"}) for at in range(400)]
    ran, parts = split(rows, "--by", by)
    assert ran.exit_code == 0, ran.stderr
    assert parts.keys() == {"train", "val", "test"}
    groups = {part: {line["metadata"][by] for line in lines} for part, lines in parts.items()}
    assert sum(map(len, groups.values())) == 100
    assert sorted(line["id"] for lines in parts.values() for line in lines) == sorted(
        line["id"] for line in rows
    )
    assert {part: len(lines) for part, lines in parts.items()} == {
        "train": 320,
        "val": 40,
        "test": 40,
    }
    assert all(line in rows for lines in parts.values() for line in lines)
    assert "leak" not in ran.stderr


def test_a_prompt_without_a_group_is_its_own_words(split):
    rows = [row(at // 2) | {"id": str(at)} for at in range(100)]
    _, parts = split(rows, "--by", "prompt", "--ratio", "50/50")
    asked = [{line["messages"][0]["content"] for line in lines} for lines in parts.values()]
    assert not asked[0] & asked[1]
    assert len(asked) == 2


def test_the_seed_decides_and_the_order_of_the_rows_does_not(split):
    rows = [row(at, page=f"p{at // 3}") for at in range(300)]
    turned = Random(5).sample(rows, len(rows))
    ids = [
        {
            part: {line["id"] for line in lines}
            for part, lines in split(some, "--by", "page", "--seed", seed, out=f"o{n}")[1].items()
        }
        for n, (some, seed) in enumerate([(rows, 1), (turned, 1), (rows, 2)])
    ]
    assert ids[0] == ids[1]
    assert ids[0] != ids[2]


@given(groups=GROUPS, seed=st.integers(0, 50))
@settings(derandomize=True, max_examples=100)
def test_sizes_are_as_near_to_the_ratio_as_whole_groups_allow(groups, seed):
    try:
        parts = assigned(groups, {"train": 0.8, "test": 0.2}, seed)
    except BadRatio:
        return
    sizes = Counter(groups)
    held = sum(size for group, size in sizes.items() if parts[group] == "test")
    assert abs(held - 0.2 * len(groups)) <= max(sizes.values())


RATIOS = {
    "80/10/10": {"train": 0.8, "val": 0.1, "test": 0.1},
    "8/1/1": {"train": 0.8, "val": 0.1, "test": 0.1},
    "3/1": {"train": 0.75, "test": 0.25},
    "0.9/0.1": {"train": 0.9, "test": 0.1},
}


@pytest.mark.parametrize(("text", "shares"), RATIOS.items())
def test_a_ratio_is_shares(text, shares):
    assert parse_ratio(text) == pytest.approx(shares)


@pytest.mark.parametrize(
    "text", ["", "80", "80/20/0", "80/-10/30", "a/b", "nan/1", "inf/1", "1/1/1/1", "80,20"]
)
def test_what_is_no_ratio_is_named_to_be_none(text, split):
    ran, parts = split([row(1, page="p")], "--by", "page", "--ratio", text)
    assert (ran.exit_code, parts) == (2, {})
    assert "a ratio is two or three positive numbers" in ran.stderr


def test_too_few_groups_are_an_error_and_nothing_is_written(split, tmp_path):
    ran, parts = split([row(at, page="the only one") for at in range(100)], "--by", "page")
    assert (ran.exit_code, parts) == (2, {})
    assert "1 group is too few for 3 parts" in ran.stderr or "too few for 3 parts" in ran.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["all.jsonl"]


def test_a_row_without_a_page_is_named(split):
    ran, parts = split([row(0, page="p"), row(1)], "--by", "page")
    assert (ran.exit_code, parts) == (2, {})
    assert "all.jsonl, line 2: metadata.page is missing, so it belongs to no page" in ran.stderr


def test_by_themselves_the_parts_stand_in_a_folder_that_no_pattern_of_files_finds(
    reward, write, tmp_path
):
    file = write("pandalm.jsonl", [row(at) for at in range(50)])
    assert reward("data", "split", file, "--by", "prompt").exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "pandalm-split",
        "pandalm.jsonl",
    ]
    assert sorted(path.stem for path in (tmp_path / "pandalm-split").iterdir()) == [
        "test",
        "train",
        "val",
    ]


NAMES = {
    "three": (["--names", "train/dev/test"], {"train", "dev", "test"}),
    "two": (["--ratio", "90/10", "--names", "train/held_out"], {"train", "held_out"}),
    "too few": (["--names", "a/b"], "3 parts need 3 names, not 'a/b'"),
    "too many": (["--names", "a/b/c/d"], "3 parts need 3 names"),
    "one twice": (["--names", "a/b/a"], "3 parts need 3 names"),
    "a path": (["--names", "a/../b"], "a part is called a name of letters"),
    "nothing": (["--names", ""], "3 parts need 3 names"),
}


@pytest.mark.parametrize(("arguments", "expected"), NAMES.values(), ids=NAMES)
def test_parts_may_have_other_names(arguments, expected, split):
    ran, parts = split([row(at) for at in range(50)], "--by", "prompt", *arguments)
    if isinstance(expected, set):
        assert parts.keys() == expected
    else:
        assert (ran.exit_code, parts) == (2, {})
        assert expected in ran.stderr


def test_what_else_two_parts_share_is_reported(split):
    rows = [row(at, page=f"p{at}") for at in range(50)]
    for line in rows:
        line["messages"] = rows[0]["messages"]
    ran, _ = split(rows, "--by", "page")
    assert ran.exit_code == 0
    assert "train and val: prompt of 5 rows" in ran.stderr


def test_splitting_an_official_test_split_is_warned_of(split):
    rows = [row(at, page=f"p{at}") for at in range(50)]
    assert "official" not in split(rows, "--by", "page")[0].stderr
    for line in rows:
        line["metadata"]["split"] = "train"
    assert "official" not in split(rows, "--by", "page")[0].stderr
    rows[7]["metadata"]["split"] = "test"
    assert (
        "rows of the official test split are among these" in split(rows, "--by", "page")[0].stderr
    )


def test_the_file_that_is_split_is_never_replaced(reward, write, tmp_path):
    file = write("train.jsonl", [row(at, page=f"p{at}") for at in range(50)])
    before = file.read_text()
    ran = reward("data", "split", file, "--by", "page", "--out", tmp_path)
    assert ran.exit_code == 2
    assert ran.stderr == f"error: {file}: it is being read; write to another folder\n"
    assert file.read_text() == before
    assert list(tmp_path.iterdir()) == [file]


def test_standard_input_cannot_be_read_twice(reward):
    ran = reward("data", "split", "-", "--by", "page", stdin=json.dumps(row(1, page="p")))
    assert ran.exit_code == 2
    assert "standard input is read once" in ran.stderr


@pytest.mark.parametrize(
    ("keys", "groups"),
    [
        ([], {}),
        (["b a", "c"], {"a": "a", "b": "a", "c": "c"}),
        (["d e", "c d", "a", "e b"], {"a": "a", "b": "b", "c": "b", "d": "b", "e": "b"}),
        (["a b", "c d", "d b", "x"], dict.fromkeys("abcd", "a") | {"x": "x"}),
    ],
)
def test_rows_that_share_a_key_are_of_one_group_in_any_order(keys, groups):
    rows = [each.split() for each in keys]
    assert components(rows) == components(rows[::-1]) == groups
