"""What an audit scores with, by its text or its object."""

from __future__ import annotations

import pytest

from reward_functions.audit.targets import target_of
from reward_functions.core.combine import weighted
from reward_functions.core.errors import BadParameter, ConfigurationError, NoJudge
from reward_functions.core.registry import get
from reward_functions.core.types import Scored, Unscored, sample

RIGHT, WRONG = sample(r"\boxed{4}", "4"), sample(r"\boxed{5}", "4")


def values(results):
    return [each.score.value if isinstance(each, Scored) else None for each in results]


def test_a_name_is_a_reward_in_this_process():
    target = target_of("math")
    assert target.described == f"math, version {get('math').version}, in this process"
    assert (target.kind, target.name, target.convention, target.digest) == (
        "reward",
        "math",
        "",
        "",
    )
    assert (target.spec, target.scale, target.judges) == (get("math"), get("math").scale, False)
    assert values(target.score([WRONG, RIGHT])) == [0.0, 1.0]
    assert target.probe([WRONG, RIGHT]) == []
    assert target.calls == 0
    target.close()


@pytest.mark.parametrize("given", [["rounded=2"], {"rounded": 2}])
def test_parameters_are_those_of_the_reward(given):
    assert target_of("math", parameters=given).parameters == {"rounded": 2}
    with pytest.raises(BadParameter, match="Did you mean 'rounded'"):
        target_of("math", parameters=["roundet=2"])


def test_a_composite_and_a_file_of_ones_own_have_a_digest(tmp_path):
    mix = tmp_path / "mix.toml"
    mix.write_text(
        'name = "acme.mix"\nversion = 1\nweighted = { math = 0.8, think_format = 0.2 }\n'
    )
    target = target_of(mix)
    assert target.described == "acme.mix, a composite, version 1, in this process"
    assert len(target.digest) == 16
    own = tmp_path / "mine.py"
    own.write_text(
        "from reward_functions import reward_function\n"
        "@reward_function\n"
        "def mine(sample):\n"
        "    return sample.response == sample.reference\n"
    )
    mine = target_of(str(own))
    assert mine.described == "mine, a prototype, in this process"
    assert mine.digest not in ("", target.digest)


def test_an_object_of_python_is_its_reward():
    spec = get("math")
    assert target_of(spec, parameters={"rounded": 2}).parameters == {"rounded": 2}
    bound = target_of(spec.bind({"rounded": 2}))
    assert (bound.name, bound.parameters["rounded"]) == ("math", 2)
    mix = target_of(weighted({"math": 0.8, "think_format": 0.2}, name="mix"))
    assert (mix.kind, mix.name) == ("composite", "mix")
    with pytest.raises(ConfigurationError, match="math is bound already"):
        target_of(spec.bind({}), parameters={"rounded": 2})
    with pytest.raises(ConfigurationError, match="int is int: name a function"):
        target_of(3)


def test_a_judge_without_a_model_is_refused():
    with pytest.raises(NoJudge):
        target_of("rubric")


@pytest.mark.parametrize("text", ["maht", "", "math ", "a b", "https://localhost/grade", "x@"])
def test_what_is_unknown_is_one_sentence_with_the_forms_there_are(text):
    with pytest.raises(ConfigurationError, match="a target is a reward's name") as refused:
        target_of(text)
    assert "\n" not in str(refused.value)


def test_what_is_near_is_named():
    with pytest.raises(ConfigurationError, match="Did you mean 'math'"):
        target_of("maht")


def test_a_score_outside_the_declared_scale_breaks_the_contract(tmp_path):
    own = tmp_path / "mine.py"
    own.write_text(
        "from reward_functions import reward_function\n"
        "@reward_function\n"
        "def mine(sample):\n"
        "    return 2.0 * len(sample.response)\n"
    )
    target = target_of(own)
    assert isinstance(target.score([RIGHT])[0], Unscored)
    (breach,) = target.probe([RIGHT, sample("")])
    assert "outside (0.0, 1.0)" in breach
