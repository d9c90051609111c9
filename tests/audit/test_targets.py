"""What an audit scores with, by its text or its object."""

from __future__ import annotations

import pytest

from reward_functions.audit.targets import audit_target
from reward_functions.aws.arn import BadArn
from reward_functions.aws.deployed import catalogue
from reward_functions.core.combine import weighted
from reward_functions.core.errors import BadParameter, ConfigurationError, NoJudge
from reward_functions.core.registry import get
from reward_functions.core.types import Scored, Unscored, sample
from tests.jobs.graders import FUNCTION, deployed, handler
from tests.lambda_api import Function, InProcess, function_error, result

RIGHT, WRONG = sample(r"\boxed{4}", "4"), sample(r"\boxed{5}", "4")


def values(results):
    return [each.score.value if isinstance(each, Scored) else None for each in results]


def test_a_name_is_a_reward_in_this_process():
    target = audit_target("math")
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
    assert audit_target("math", parameters=given).parameters == {"rounded": 2}
    with pytest.raises(BadParameter, match="Did you mean 'rounded'"):
        audit_target("math", parameters=["roundet=2"])


def test_a_composite_and_a_file_of_ones_own_have_a_digest(tmp_path):
    mix = tmp_path / "mix.toml"
    mix.write_text(
        'name = "acme.mix"\nversion = 1\nweighted = { math = 0.8, think_format = 0.2 }\n'
    )
    target = audit_target(mix)
    assert target.described == "acme.mix, a composite, version 1, in this process"
    assert len(target.digest) == 16
    own = tmp_path / "mine.py"
    own.write_text(
        "from reward_functions import reward_function\n"
        "@reward_function\n"
        "def mine(sample):\n"
        "    return sample.response == sample.reference\n"
    )
    mine = audit_target(str(own))
    assert mine.described == "mine, a prototype, in this process"
    assert mine.digest not in ("", target.digest)


def test_an_object_of_python_is_its_reward():
    spec = get("math")
    assert audit_target(spec, parameters={"rounded": 2}).parameters == {"rounded": 2}
    bound = audit_target(spec.bind({"rounded": 2}))
    assert (bound.name, bound.parameters["rounded"]) == ("math", 2)
    mix = audit_target(weighted({"math": 0.8, "think_format": 0.2}, name="mix"))
    assert (mix.kind, mix.name) == ("composite", "mix")
    with pytest.raises(ConfigurationError, match="math is bound already"):
        audit_target(spec.bind({}), parameters={"rounded": 2})
    with pytest.raises(ConfigurationError, match="int is int: name a function"):
        audit_target(3)


def test_a_judge_without_a_model_is_refused():
    with pytest.raises(NoJudge):
        audit_target("rubric")


@pytest.mark.parametrize("text", ["maht", "", "math ", "a b", "https://localhost/grade", "x@"])
def test_what_is_unknown_is_one_sentence_with_the_forms_there_are(text):
    with pytest.raises(ConfigurationError, match="a target is a reward's name") as refused:
        audit_target(text)
    assert "\n" not in str(refused.value)


def test_what_is_near_is_named():
    with pytest.raises(ConfigurationError, match="Did you mean 'math'"):
        audit_target("maht")


def test_a_score_outside_the_declared_scale_breaks_the_contract(tmp_path):
    own = tmp_path / "mine.py"
    own.write_text(
        "from reward_functions import reward_function\n"
        "@reward_function\n"
        "def mine(sample):\n"
        "    return 2.0 * len(sample.response)\n"
    )
    target = audit_target(own)
    assert isinstance(target.score([RIGHT])[0], Unscored)
    (breach,) = target.probe([RIGHT, sample("")])
    assert "outside (0.0, 1.0)" in breach


class Client(InProcess):
    """Lambda, which also says what a function's description is."""

    def get_function_configuration(self, FunctionName):  # noqa: N803 - boto3's
        return self._functions[FunctionName].configuration


@pytest.fixture
def functions(monkeypatch):
    """Deployed functions by their ARN, answered in this process."""
    found = {}
    monkeypatch.setattr(
        "reward_functions.aws.deployed.function.client", lambda *_, **__: Client(found)
    )
    return found


ALIAS = f"{FUNCTION}:live"

ROWS = [RIGHT, WRONG, sample("no answer", "4")]


def shuffled(event):
    """A handler that gives each number to the row after its own."""
    rows = handler("math")(event, None)
    ids = [row["id"] for row in rows]
    return [row | {"id": name} for row, name in zip(rows, ids[1:] + ids[:1], strict=True)]


def lenient(event):
    """A handler that answers what it cannot score with a 0, and says nothing."""
    return [result(row["id"], 0.0 if row["messages"] is None else 1.0) for row in event]


def short(event):
    return lenient(event)[:-1]


def strict(event):
    if any(row["messages"] is None for row in event):
        return function_error(errorType="TypeError", errorMessage="'NoneType' object")
    return lenient(event)


def spoilt(event):
    poisoned = any(row["messages"] is None for row in event)
    return [result(row["id"], float(poisoned)) for row in event]


def test_an_alias_is_invoked_and_says_its_version(functions):
    described = {"Description": "math 8 0123456789abcdef: mathematics"}
    settings = {"Timeout": 60, "MemorySize": 1769} | described
    functions[ALIAS] = Function([lambda event: handler("math")(event, None)], settings)
    target = audit_target(ALIAS)
    assert (target.kind, target.name) == ("deployment", "SageMaker-reward-dev-x")
    assert (target.version, target.digest) == ("8", "0123456789abcdef")
    assert target.described == (
        f"SageMaker-reward-dev-x, a deployment, version 8, invoked in batches as {ALIAS}"
    )
    assert (target.spec, target.scale, target.judges) == (None, None, False)
    results = target.score(ROWS)
    assert values(results) == [1.0, 0.0, 0.0]
    assert [each.id for each in results] == ["sample"] * 3  # the function sees ids that differ
    assert target.calls == 1
    assert target.seen == []
    assert target.probe(ROWS) == []
    said = {each.id: each.verdict for each in target.seen}
    assert said["DEPLOYED-VERSION"] == "note"  # an alias moves
    assert said["DEPLOYED-LATENCY"] == said["DEPLOYED-MALFORMED-ROW"] == "ok"
    assert said["DEPLOYED-SCORES"] == "untested"  # what it serves is not known here
    assert target.calls == len(functions[ALIAS].asked)
    target.close()


@pytest.mark.parametrize(
    ("answer", "breach"),
    [
        (shuffled, "another order than the samples"),
        (lenient, "a row that is not a valid sample earns 0, and no metric says that this is no"),
        (short, "2 results for 3 samples"),
        (strict, "one row that is not a valid sample fails the whole batch: "),
        (spoilt, "one row that is not a valid sample changes the rewards of "),
        (lambda event: 0.5, "the response is a number"),
    ],
)
def test_what_a_function_breaks_is_found_through_its_arn_alone(functions, answer, breach):
    functions[ALIAS] = Function([answer], {})
    target = audit_target(ALIAS)
    found = target.probe(ROWS)
    assert any(breach in each for each in found), found
    assert target.version == target.digest == ""
    assert len(target.score(ROWS)) == 3


def test_a_deployment_of_a_stage_is_its_version_with_the_reward_that_is_here(
    functions, monkeypatch
):
    asked = []
    record = deployed("math", parameters={"rounded": 2})
    monkeypatch.setattr(catalogue, "find", lambda *found: asked.append(found) or record)
    functions[f"{FUNCTION}:7"] = Function([lambda event: handler("math")(event, None)])
    target = audit_target("x@dev")
    assert asked == [("x", "dev", None)]
    assert (target.name, target.version) == ("x", str(get("math").version))
    assert (target.spec, target.scale) == (get("math"), get("math").scale)
    assert target.parameters == {"rounded": 2}
    assert values(target.score(ROWS)) == [1.0, 0.0, 0.0]
    assert target.described.endswith(f"invoked in batches as {FUNCTION}:7")


@pytest.mark.parametrize("text", ["arn:aws:s3:::bucket", "arn:", "arn:aws:lambda:x"])
def test_what_is_no_arn_of_a_function_is_refused(text):
    with pytest.raises(BadArn):
        audit_target(text)
