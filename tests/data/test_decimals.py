"""Decimal commas of a file's references: seen, warned of, and written with a point."""

import json

import pytest

from reward_functions.core.errors import BadSample
from reward_functions.data.decimals import Signs, pointed_reference, sign_of, with_point

SIGNS = {
    # reference: the sign that it shows, and what it is where the file has commas
    "9,50": ("comma", "9.50"),
    "119,94": ("comma", "119.94"),
    "0,125": ("comma", "0.125"),
    "3,14159": ("comma", "3.14159"),
    "1234,567": ("comma", "1234.567"),
    "1.250,00": ("comma", "1250.00"),
    "1.250.000": ("comma", "1250000"),
    "1.250.000,5": ("comma", "1250000.5"),
    "1 250,5": ("comma", "1250.5"),
    "1\u202f250,00": ("comma", "1250.00"),
    "1'250,05": ("comma", "1250.05"),
    "-9,5 %": ("comma", "-9.5 %"),
    "12,5 kg": ("comma", "12.5 kg"),
    "9,50 €": ("comma", "9.50 €"),
    "EUR 1.249,90": ("comma", "EUR 1249.90"),
    "CHF 1’250,5": ("comma", "CHF 1250.5"),
    "€ 7,5 per m²": ("comma", "€ 7.5 per m²"),
    "−3,75": ("comma", "−3.75"),
    "R$ 9,50": ("comma", "R$ 9.50"),
    "kr 9,50": ("comma", "kr 9.50"),
    "Fr. 1.009,50": ("comma", "Fr. 1009.50"),
    "19,99 EUR inkl. MwSt.": ("comma", "19.99 EUR inkl. MwSt."),
    "1.250": ("three", "1250"),
    "12.500 €": ("three", "12500 €"),
    "12": ("", "12"),
    "1 250": ("", "1250"),
    "1,250": ("", "1.250"),
    "9.50": ("point", None),
    "0.125": ("point", None),
    "1234.567": ("point", None),
    "1,250.00": ("point", None),
    "1'250.00": ("point", None),
    "1,250,000": ("point", None),
    "12,34,567.5": ("point", None),
    "1,2,3": (None, "1,2,3"),
    "(1,2)": (None, "(1,2)"),
    "9, 50": (None, "9, 50"),
    "1.2.3": (None, "1.2.3"),
    "12.03.2024": (None, "12.03.2024"),
    "9:50": (None, "9:50"),
    "8,5–9,5": (None, "8,5–9,5"),
    "1,0e3": (None, "1,0e3"),
    "late": (None, "late"),
    "": (None, ""),
}


@pytest.mark.parametrize(("text", "expected"), SIGNS.items(), ids=SIGNS)
def test_a_reference_shows_a_sign(text, expected):
    sign, point = expected
    assert sign_of(text) == sign
    if point is None:
        with pytest.raises(BadSample, match="has a decimal point"):
            with_point(text)
    else:
        assert with_point(text) == point


SHAPES = {
    "a solution": ("9,5 and 1\n#### 10,5", "9,5 and 1\n#### 10.5"),
    "an object": ({"answer": "9,50", "n": 2}, {"answer": "9.50", "n": 2}),
    "alternatives": (["9,5", "9,50"], ["9.5", "9.50"]),
    "a number": (9.5, 9.5),
    "nothing": (None, None),
}


@pytest.mark.parametrize(("reference", "expected"), SHAPES.values(), ids=SHAPES)
def test_a_reference_of_any_shape_is_written_with_a_point(reference, expected):
    assert pointed_reference(reference) == expected


FILES = {
    # references: how many have a comma for certain, and how many may be thousands
    "prices": (["9,50", "12", "119,94", "7"], (2, 0)),
    "a few words": ([*map(str, range(8)), "9,50", "unknown"], (1, 0)),
    "mostly words": (["late", "lost", "9,50"], (0, 0)),
    "pairs among formulas": (["x+1", r"\frac12", "3,5", "7"], (0, 0)),
    "points": (["9.50", "12"], (0, 0)),
    "both": (["9.50", "9,50"], (1, 0)),
    "thousands": (["1.250", "12", "3.499"], (0, 2)),
    "three places among others": (["1.250", "0.5"], (0, 0)),
    "thousands with commas": (["1,250", "1,250,000"], (0, 0)),
    "thousands among commas": (["1.250", "9,50"], (1, 0)),
    "numbers of JSON": ([1.25, 3, 2.5], (0, 0)),
    "of FinQA": ([{"value": "12.497", "unit": "percent"}], (0, 0)),
    "nothing": (["", None, {}], (0, 0)),
}


@pytest.mark.parametrize(("references", "expected"), FILES.values(), ids=FILES)
def test_a_file_has_commas_where_most_of_it_is_numbers(references, expected):
    signs = Signs()
    for each in references:
        signs.add(each)
    assert (len(signs.with_comma), len(signs.perhaps_thousands)) == expected


WARNED = {
    "9,50": ("a decimal comma", "'9,50': write 9.50"),
    "1.250": ("three places, or thousands with points", "if 1250 is meant, write that"),
}


@pytest.mark.parametrize(("reference", "warning"), WARNED.items(), ids=WARNED)
def test_lint_warns_with_the_place_and_what_to_write(reference, warning, reward, write):
    rows = [
        {
            "id": f"{at}",
            "messages": [{"role": "user", "content": f"What is {at}?"}],
            "reference_answer": reference if at == 4 else str(at),
        }
        for at in range(9)
    ]
    file = write("train.jsonl", rows)
    ran = reward("data", "lint", file, "--reward", "math", "--min-rows", 1, "--format", "json")
    assert ran.exit_code == 0, ran.output
    (found,) = json.loads(ran.stdout)["findings"]
    assert (found["level"], found["what"]) == ("warning", warning[0])
    assert found["where"].endswith("line 5")
    assert warning[1] in found["detail"]
    assert "--decimal comma" in found["detail"]


def test_prepare_writes_points(reward, write, read, tmp_path):
    rows = [{"question": f"{at}?", "answer": f"{at}.000,5"} for at in range(1, 4)]
    file = write("own.jsonl", rows)
    ran = reward("data", "prepare", "--from", file, "--out", tmp_path / "out", "--decimal", "comma")
    assert ran.exit_code == 0, ran.output
    written = read(tmp_path / "out" / "all.jsonl")
    assert [row["reference_answer"] for row in written] == ["1000.5", "2000.5", "3000.5"]
    file = write("mixed.jsonl", [*rows, {"question": "4?", "answer": "9.50"}])
    ran = reward("data", "prepare", "--from", file, "--out", tmp_path / "no", "--decimal", "comma")
    assert ran.exit_code == 2
    assert "line 4: '9.50' has a decimal point" in ran.stderr
