"""A composite in a TOML or JSON file, and one sentence for each that cannot be used."""

import json
from math import inf

import pytest

from reward_functions import sample
from reward_functions.core.declared import MAX_DEPTH, composite_file, composite_of
from reward_functions.core.errors import ConfigurationError

TUTOR = r"""
name = "acme.tutor"
version = 2
outranks = false
gold_response = "{math}"

[weighted]
math = 0.8
strict = { reward = "exact_match", weight = 0.1 }
inner = { weight = 0.1, cascade = ["gsm8k", "math"] }

[[examples]]
kind = "partial"
response = '\boxed{4}'
reference = "4"
score = 0.9
"""


def test_a_file_declares_a_reward(tmp_path):
    path = tmp_path / "tutor.toml"
    path.write_text(TUTOR)
    spec = composite_file(path)
    assert (spec.name, spec.version) == ("acme.tutor", 2)
    assert spec(r"\boxed{4}", "4").value == pytest.approx(0.9)
    assert spec.gold_response(sample("", "4")) == r"\boxed{4}"
    assert composite_file(path) == spec


def test_json_says_the_same_and_the_name_is_the_files(tmp_path):
    path = tmp_path / "first.json"
    path.write_text(json.dumps({"cascade": {"rewards": ["gsm8k", "math"], "enough": 1}}))
    assert (composite_file(path).name, composite_file(path).version) == ("first", 0)


@pytest.mark.parametrize(
    "declaration",
    [
        {"gated": {"gate": "exact_match", "reward": "math", "threshold": 1}},
        {"clipped": {"reward": {"weighted": {"math": 3}}, "low": 0, "high": 2}},
        {"weighted": {"truth": {"weight": 1, "reward": {"cascade": ["gsm8k", "math"]}}}},
        {"weighted": {"math": {"weight": 1.0, "rounded": 2}}},
        {"cascade": [{"reward": "math"}, {"reward": "math", "name": "loose", "rounded": 2}]},
    ],
)
def test_every_composite_is_declared(declaration):
    assert composite_of({"name": "acme.x", **declaration}).name == "acme.x"


def nested(depth):
    return {"clipped": {"reward": nested(depth - 1), "low": 0, "high": 1}} if depth else "math"


RIGHT = {"kind": "positive", "response": "5", "score": 1}

WRONG = [
    ({}, "declares no composite; there are weighted"),
    ({"wheighted": {"math": 1}}, "wheighted is not a composite. Did you mean 'weighted'"),
    ({"weighted": {"math": 1}, "cascade": []}, "not both"),
    ({"weighted": {"math": 1}, "verion": 1}, "verion is not a key. Did you mean 'version'"),
    ({"weighted": {"math": 1}, "version": "1"}, "version is a whole number, not a string"),
    ({"weighted": {"math": 1}, "version": True}, "version is a whole number, not a boolean"),
    ({"weighted": {"math": 1}, "version": -1}, "versions are whole numbers"),
    ({"weighted": {"math": 1}, "outranks": 1}, "outranks is true or false"),
    ({"weighted": ["math"]}, "weighted is an object, not a list"),
    ({"weighted": {"maht": 1}}, "Did you mean 'math'"),
    ({"weighted": {"math": None}}, "weight of math is missing"),
    ({"weighted": {"math": {"weight": 1, "roundd": 1}}}, "Did you mean 'rounded'"),
    ({"weighted": {"a": {"weight": 1, "reward": 3}}}, "reward is the name of one, not a number"),
    ({"gated": {"gate": "math"}}, "gated needs reward"),
    ({"gated": {"gate": "math", "reward": "gsm8k", "minium": 0}}, "Did you mean 'minimum'"),
    ({"gated": {"gate": "math", "reward": "gsm8k", "threshold": "1"}}, "threshold is a finite"),
    ({"gated": {"gate": 3, "reward": "gsm8k"}}, "a part is the name of a reward"),
    ({"clipped": {"reward": "math", "low": 1, "high": 0}}, "nothing lies between"),
    ({"cascade": "math"}, "cascade is an object, not a string"),
    ({"cascade": {"rewards": "math"}}, "are a list, not a string"),
    ({"cascade": [{"name": "x"}]}, 'says its "reward"'),
    ({"cascade": ["math", {"reward": "math", "name": 3}]}, "name is a string"),
    ({"weighted": {"math": 1}, "examples": {}}, "a list of objects"),
    ({"weighted": {"math": 1}, "examples": ["x"]}, "example 1 is an object"),
    ({"weighted": {"math": 1}, "examples": [{"kind": "positive"}]}, "example 1 needs response"),
    (
        {"weighted": {"math": 1}, "examples": [{"kind": "good", "response": "", "score": 1}]},
        "kind is one of positive",
    ),
    (
        {"weighted": {"math": 1}, "examples": [{"kind": "negative", "response": "", "scor": 1}]},
        "Did you mean 'score'",
    ),
    ({"weighted": {"math": 1}, "examples": [RIGHT | {"metadata": []}]}, "metadata is of another"),
    ({"weighted": {"math": 1}, "examples": [RIGHT | {"verdicts": {}}]}, "verdicts is of another"),
    ({"weighted": {"math": 1}, "examples": [RIGHT | {"verdicts": [1]}]}, "verdict is an object"),
    (
        {"weighted": {"math": 1}, "examples": [RIGHT | {"score": "1"}]},
        "finite number, not a string",
    ),
    ({"weighted": {"math": 1}, "examples": [RIGHT | {"score": True}]}, "number, not a boolean"),
    ({"weighted": {"math": 1}, "examples": [RIGHT | {"score": inf}]}, "score is a finite number"),
    ({"weighted": {"math": 1}, "examples": [RIGHT | {"response": 5}]}, "response is a string, not"),
    ({"weighted": {"math": 1}, "examples": [RIGHT | {"why": []}]}, "why is a string, not a list"),
    (nested(MAX_DEPTH + 3), "nested more than"),
    ({"weighted": {f"p{at}": {"reward": "math", "weight": 1} for at in range(99)}}, "more than 32"),
]


@pytest.mark.parametrize(("declaration", "message"), WRONG)
def test_what_is_wrong_is_one_sentence(declaration, message):
    with pytest.raises((ConfigurationError, ValueError), match=message) as caught:
        composite_of({"name": "acme.x", **declaration})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.toml", b"weighted = {", "a.toml: not TOML"),
        ("a.json", b"[1]", "a.json: a composite is an object, not a list"),
        ("a.json", b'{"weighted": {"math": 1, "math": 2}}', "a name is repeated"),
        ("a.json", b"[" * 100_000, "not JSON"),
        ("a.json", b"\xff\xfe", "not JSON"),
        ("a.toml", b"#" * 1_000_001, "more than 1,000,000 bytes"),
        ("My-Tutor.toml", b"weighted = { math = 1.0 }", "not a reward name"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=message):
        composite_file(path)
