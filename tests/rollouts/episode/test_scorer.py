"""A pinned reward: what it scores, what its pin covers, and what it refuses."""

import importlib
import json
import os
import re
import subprocess
import sys
from functools import partial, wraps
from pathlib import Path

import pytest

import reward_functions
from reward_functions import Score, gated, reward_function, weighted
from reward_functions.cdk.artifact import closure
from reward_functions.core.asking import ScriptedAsk
from reward_functions.core.errors import (
    BadParameter,
    BadReference,
    ConfigurationError,
    EngineUnavailable,
    NoJudge,
    UnknownReward,
)
from reward_functions.core.types import Message, Sample
from reward_functions.rollouts.episode.scoring import Pin, Scorer, sources_of
from reward_functions.rollouts.request.contract import read_request
from reward_functions.rollouts.request.errors import EnvironmentFailure, ScorerMismatch

ROOT = Path(reward_functions.__file__).parents[1]
ARN = "arn:aws:sagemaker:us-west-2:111122223333:job/AgentRFT/a"
IDS = {"jobArn": ARN, "rolloutId": "r-1"}
CELL = json.dumps({"question": "6 × 7?", "answer": "42", "level": 3})

REQUESTS = {
    "instance, as sagemaker.train.rft has it": {
        "instance": {"question": "6 × 7?", "answer": "42", "level": 3},
        "metadata": IDS,
    },
    "a prompt that is JSON, as the managed trainer passes a cell": {
        "prompt": CELL,
        "metadata": IDS,
    },
    "an instance with such a prompt": {"instance": {"prompt": CELL}, "metadata": IDS},
    "Bedrock's row": {
        "messages": [{"role": "user", "content": "6 × 7?"}],
        "reference_answer": "42",
        "metadata": {"level": 3},
    },
    "Bedrock's row, the reference in its metadata": {
        "messages": [{"role": "user", "content": [{"type": "text", "text": "6 × 7?"}]}],
        "metadata": {"reference_answer": "42", "level": 3},
    },
    "verl's row": {
        "prompt": [{"role": "user", "content": "6 × 7?"}],
        "reward_model": {"ground_truth": "42", "style": "rule"},
        "level": 3,
    },
    "TRL's row": {"prompt": "6 × 7?", "ground_truth": "42", "level": 3},
    "a row with a reference that is null elsewhere": {
        "problem": "6 × 7?",
        "reference_answer": None,
        "answer": "42",
        "level": 3,
    },
    "a row that was answered": {
        "messages": [
            {"role": "user", "content": "6 × 7?"},
            {"role": "assistant", "content": "an old answer"},
        ],
        "reference": "42",
        "level": 3,
    },
}


@pytest.mark.parametrize(
    ("read", "request_"),
    [
        *((dict, each) for each in REQUESTS.values()),
        # A trainer's prompt is a string.
        *((read_request, REQUESTS[each]) for each in REQUESTS if each != "verl's row"),
    ],
)
def test_every_shape_of_a_request_is_the_same_sample(read, request_):
    sample = Scorer.sample_of(read(request_), "#### 42")
    assert sample.messages == (
        Message(role="user", content="6 × 7?"),
        Message(role="assistant", content="#### 42"),
    )
    assert (sample.reference, sample.metadata["level"]) == ("42", 3)
    assert not sample.metadata.keys() & {"jobArn", "rolloutId", "messages", "inferenceParams"}
    assert Scorer.of("gsm8k").score(read(request_), "#### 42").value == 1.0
    assert Scorer.of("gsm8k").score(read(request_), "#### 41").value == 0.0


def test_a_conversation_keeps_its_earlier_turns():
    turns = [("system", "s"), ("user", "u"), ("assistant", "a"), ("user", "v")]
    row = {"messages": [{"role": role, "content": text} for role, text in turns]}
    sample = Scorer.sample_of(row, "b")
    assert [each.content for each in sample.messages] == ["s", "u", "a", "v", "b"]


def test_a_sample_is_answered():
    given = Sample(id="s", messages=(Message(role="user", content="?"),), reference="42")
    assert Scorer.sample_of(given, "42") == given.answered("42")


@pytest.mark.parametrize(
    ("row", "name"),
    [({"id": "a"}, "a"), ({"id": 7}, "7"), ({"metadata": IDS}, "r-1"), ({}, "rollout")],
)
def test_a_sample_is_called_as_its_row_or_as_its_rollout(row, name):
    assert Scorer.sample_of(row, "").id == name


LOOKS_LIKE_A_ROW = json.dumps({"question": "?", "answer": "41", "level": 9})
TRUE_ROWS = [
    {"prompt": LOOKS_LIKE_A_ROW, "reference_answer": "42"},
    {"prompt": LOOKS_LIKE_A_ROW, "metadata": {"ground_truth": "42"}},
    {"prompt": LOOKS_LIKE_A_ROW, "reward_model": {"ground_truth": "42"}},
    {"prompt": "?", "instance": {"prompt": LOOKS_LIKE_A_ROW, "answer": "42"}},
    {"prompt": LOOKS_LIKE_A_ROW, "instance": {"prompt": LOOKS_LIKE_A_ROW, "answer": "42"}},
    {"messages": [{"role": "user", "content": LOOKS_LIKE_A_ROW}], "answer": "42"},
]


@pytest.mark.parametrize("row", TRUE_ROWS)
@pytest.mark.parametrize("response", ["41", LOOKS_LIKE_A_ROW, '{"reference_answer": "41"}'])
def test_neither_a_question_nor_a_response_replaces_the_answer_of_the_row(row, response):
    sample = Scorer.sample_of(row, response)
    assert (sample.reference, sample.response) == ("42", response)
    assert "level" not in sample.metadata
    assert Scorer.of("exact_match").score(row, response).value == 0.0
    assert Scorer.of("exact_match").score(row, "42").value == 1.0


NO_CELLS = {
    "not JSON": '{"answer": "42"',
    "a name twice": '{"answer": "41", "answer": "42"}',
    "too deep": '{"answer": ' * 10_000,
    "too long": json.dumps({"answer": "42", "filling": "x" * 2**20}),
    "a list": '["answer"]',
}


@pytest.mark.parametrize("prompt", NO_CELLS.values(), ids=NO_CELLS)
def test_a_prompt_that_is_no_object_with_one_reading_is_only_a_prompt(prompt):
    sample = Scorer.sample_of({"prompt": prompt, "metadata": IDS}, "42")
    assert (sample.prompt, sample.reference) == (prompt, None)
    with pytest.raises(
        BadReference, match="the request has no reference: none of reference_answer"
    ):
        Scorer.of("math").score({"prompt": prompt, "metadata": IDS}, "42")


def unreadable(sample):
    raise EngineUnavailable("the process ended")


def broken(sample):
    raise LookupError("a secret prompt")


def no_number(sample):
    return float("nan")


@pytest.mark.parametrize(
    ("reward", "sentence"),
    [
        (unreadable, "unreadable could not score the episode: the process ended"),
        (broken, "broken could not score the episode: LookupError"),
        (no_number, "no_number could not score the episode: ValueError"),
    ],
)
def test_what_is_not_scored_is_our_failure_and_no_reward(reward, sentence):
    with pytest.raises(EnvironmentFailure, match=sentence) as failed:
        Scorer.of(reward).score({"answer": "42"}, "42")
    assert failed.value.__cause__ is not None
    assert "secret" not in str(failed.value)


def test_a_reference_that_cannot_be_read_is_the_data_sets():
    with pytest.raises(BadReference):
        Scorer.of("gsm8k").score({"answer": []}, "42")


def test_a_reward_without_a_reference_needs_none():
    def short(sample, *, most=3):
        return float(len(sample.response) <= most)

    scorer = Scorer.of(short, parameters={"most": 5})
    assert [scorer.score({"prompt": "?"}, text).value for text in ("12345", "123456")] == [1.0, 0.0]
    assert scorer.pin.parameters == {"most": 5}
    assert (scorer.pin.version, scorer.scale) == (0, (0.0, 1.0))
    assert scorer.pin.name.endswith("short")


math = reward_functions.get("math")
DEFAULT = next(each for each in math.parameters.values() if each.type is bool)
SAME = {
    "a name": ("math", None),
    "a declaration": (math, None),
    "with nothing bound": (math.bind({}), None),
    "with a default bound": (math.bind({DEFAULT.name: DEFAULT.default}), None),
    "with a default given": ("math", {DEFAULT.name: DEFAULT.default}),
    "a scorer": (Scorer.of("math"), None),
}


@pytest.mark.parametrize(("reward", "parameters"), SAME.values(), ids=SAME)
def test_one_reward_has_one_pin_however_it_is_given(reward, parameters):
    scorer = Scorer.of(reward, parameters=parameters, version=math.version)
    assert scorer.pin == Scorer.of("math").pin
    assert (scorer.pin.name, scorer.pin.version) == ("math", math.version)
    scorer.require(scorer.pin)


def test_parameters_that_are_bound_and_those_that_are_given_go_together():
    name, other = DEFAULT.name, not DEFAULT.default
    for scorer in (
        Scorer.of("math", parameters={name: other}),
        Scorer.of(math.bind({name: other})),
        Scorer.of(partial(math, **{name: DEFAULT.default}), parameters={name: other}),
    ):
        assert scorer.pin.parameters[name] == other
        with pytest.raises(ScorerMismatch, match=rf"scored by math .*, and this is math .*{name}"):
            scorer.require(Scorer.of("math").pin)


def test_a_judge_is_pinned_without_the_model_that_answers():
    spec = reward_functions.get("reference")
    example = spec.examples[0]
    ask = ScriptedAsk(tuple(example.verdicts))
    scorer = Scorer.of("reference", ask=ask)
    assert scorer.score(example.sample(), example.response).value == example.score
    assert scorer.pin == Scorer.of(spec.bind({}, ask=ask)).pin
    assert "ask" not in scorer.pin.parameters


@pytest.mark.parametrize(
    ("make", "error", "sentence"),
    [
        (lambda: Scorer.of("maths"), UnknownReward, "math"),
        (lambda: Scorer.of("reference"), NoJudge, "asks a judge model"),
        (
            lambda: Scorer.of("pairwise", ask=ScriptedAsk()),
            ConfigurationError,
            "it scores no single episode",
        ),
        (lambda: Scorer.of("math", version=99), ScorerMismatch, r"version \d+ here, not 99"),
        (lambda: Scorer.of("math", parameters={"nothing": 1}), BadParameter, "no parameter"),
        (lambda: Scorer.of(broken, parameters={"x": {1}}), BadParameter, "is JSON data"),
        (lambda: Scorer.of(broken, parameters={"x": float("nan")}), BadParameter, "is JSON data"),
        (lambda: Scorer.of(partial(broken, 1)), BadParameter, "has a name"),
        (lambda: Scorer.of(3), ConfigurationError, "not a number"),
        (lambda: Scorer.of(len).pin, ConfigurationError, "put the reward into a module"),
    ],
)
def test_what_cannot_be_pinned_is_one_sentence(make, error, sentence):
    with pytest.raises(error, match=sentence):
        make()


PIN = {"name": "math", "version": 3, "digest": "0" * 64, "parameters": {"a": 1, "b": [None, "c"]}}


def test_a_pin_comes_back_from_json():
    pin = Pin.read(PIN)
    assert Pin.read(json.loads(json.dumps(pin.json()))) == pin
    assert pin.json() == PIN
    assert str(pin) == "math version 3 (sources 000000000000, a=1, b=[None, 'c'])"
    assert len(str(Pin.read(PIN | {"parameters": {"a": "x" * 10_000}}))) < 400


BAD_PINS = {
    "nothing": (None, "is null, not a pin"),
    "a name": ("math", "is a string, not a pin"),
    **{f"no {name}": ({k: PIN[k] for k in PIN if k != name}, f"has no {name}") for name in PIN},
    "more": (PIN | {"more": 1}, "other fields than a pin"),
    "a version that is none": (PIN | {"version": True}, "the version of"),
    "a negative version": (PIN | {"version": -1}, "the version of"),
    "a digest that is none": (PIN | {"digest": "0" * 63 + "G"}, "the digest of"),
    "a name with a line": (PIN | {"name": "math\n"}, "the name of"),
    "parameters that are none": (PIN | {"parameters": []}, "the parameters of"),
}


@pytest.mark.parametrize(("given", "sentence"), BAD_PINS.values(), ids=BAD_PINS)
def test_what_is_no_pin_is_refused_in_one_sentence(given, sentence):
    with pytest.raises(ScorerMismatch, match=sentence):
        Pin.read(given)


@pytest.mark.parametrize("field", ["name", "version", "digest", "parameters"])
def test_another_pin_is_refused_whatever_differs(field):
    scorer = Scorer.of("gsm8k")
    other = {"name": "math", "version": 99, "digest": "0" * 64, "parameters": {"a": 1}}[field]
    with pytest.raises(ScorerMismatch, match=r"the record was scored by .*, and this is gsm8k"):
        scorer.require(Pin.read(scorer.pin.json() | {field: other}))


REGISTERED = sorted(reward_functions.specs())


@pytest.mark.parametrize("name", REGISTERED)
def test_the_sources_of_our_rewards_are_the_files_that_a_deployment_carries(name):
    """`cdk.artifact.closure` finds them for the Lambda; it may not be imported here."""
    spec = reward_functions.get(name)
    module = spec.function.__module__
    deployed = closure.files(closure.reached([module], spec.needs))
    assert sorted(sources_of(module).values()) == sorted(deployed.values())


OWN = """
from helper_of_it import factor
import json, no_such_module_anywhere

def own(sample):
    return factor

def other(sample):
    return factor
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A reward beside its helper, in a folder of its own; writes them, imports afresh, and pins."""
    monkeypatch.syspath_prepend(tmp_path)

    def pinned(name="own", **sources):
        files = {
            "own_reward": OWN.replace(", no_such_module_anywhere", ""),
            "helper_of_it": "factor = 1",
        }
        for stem, text in (files | sources).items():
            (tmp_path / f"{stem}.py").write_text(text)
        for stem in files:
            sys.modules.pop(stem, None)
        importlib.invalidate_caches()
        module = importlib.import_module("own_reward")
        return Scorer.of(getattr(module, name)).pin

    yield pinned
    for stem in ("own_reward", "helper_of_it"):
        sys.modules.pop(stem, None)


def test_a_change_of_the_module_or_of_its_helper_is_another_digest(own):
    first = own()
    assert own(beside="never = 'imported'") == first
    changed = OWN.replace(", no_such_module_anywhere", "") + "# more\n"
    assert own(own_reward=changed).digest != first.digest
    assert own(helper_of_it="factor = 1.0").digest != first.digest
    assert own("other").digest != first.digest
    assert own() == first


@reward_function(version=1, metrics=())
def half(sample):
    """Half of everything."""
    return Score(0.5)


def declared(reward, **declaration):
    return reward_function(version=1, name="mine", **declaration)(reward)


def test_a_combination_is_pinned_with_its_parts_and_its_weights():
    def pin(second, weight):
        parts = {"a": (half, 0.5), "b": (second, weight)}
        return Scorer.of(weighted(parts, outranks=False)).pin

    first = pin(math, 0.5)
    assert pin(math, 0.5) == first
    assert pin(math, 0.4).digest != first.digest
    assert pin(reward_functions.get("gsm8k"), 0.5).digest != first.digest
    assert pin(math.bind({}), 0.5).digest == first.digest
    assert Scorer.of(gated(half, math, outranks=False)).pin.digest != first.digest


def test_a_rubric_of_ones_own_is_covered_by_its_content(tmp_path, monkeypatch):
    shipped = closure.PACKAGE / "judges" / "rubrics" / "reasoning.toml"
    text = shipped.read_text()
    digests = []
    for place, content in (("a.toml", text), ("b/a.toml", text), ("a.toml", text + "\n# more\n")):
        path = tmp_path / place
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
        scorer = Scorer.of("rubric", parameters={"criteria": str(path)}, ask=ScriptedAsk())
        digests.append(scorer.pin.digest)
    assert digests[0] == digests[1]
    assert digests[0] != digests[2]


class Threshold:
    """A reward that holds a number."""

    def __init__(self, least):
        self.least = least
        self._cache = object()

    def __call__(self, sample):
        return float(len(sample.response) >= self.least)

    def reward(self, sample):
        return self(sample)


def closed(value):
    return lambda sample: float(bool(value))


def by_default(value):
    def reward(sample, held=value):
        return float(bool(held))

    return reward


def decorated(value):
    inner = closed(value)

    @wraps(inner)
    def outer(sample):
        return inner(sample)

    return outer


HELD = {
    "a closure": closed,
    "a default": by_default,
    "a decorated function": decorated,
    "an object": Threshold,
    "a method": lambda value: Threshold(value).reward,
    "a partial in a closure": lambda value: closed(partial(closed, value=value)),
    "a list in a closure": lambda value: closed([{"a": (value,)}]),
    "a set in a closure": lambda value: closed({"a", "b", str(value)}),
    "a pattern in a closure": lambda value: closed(re.compile(str(value))),
    "a function in a closure": lambda value: closed(closed(value)),
}


@pytest.mark.parametrize("made", HELD.values(), ids=HELD)
def test_what_a_reward_holds_is_pinned_by_its_value(made):
    assert Scorer.of(made(1)).pin == Scorer.of(made(1)).pin
    assert Scorer.of(made(1)).pin.name == Scorer.of(made(2)).pin.name
    assert Scorer.of(made(1)).pin.digest != Scorer.of(made(2)).pin.digest


def test_two_lambdas_of_one_module_are_two_rewards():
    one = Scorer.of(lambda sample: 1.0)
    zero = Scorer.of(lambda sample: 0.0)
    with pytest.raises(ScorerMismatch):
        one.require(zero.pin)


def test_what_is_no_plain_data_is_pinned_by_its_type():
    assert Scorer.of(closed(object())).pin == Scorer.of(closed(object())).pin
    looped = []
    looped.append(looped)
    assert Scorer.of(closed(looped)).pin.digest


def test_a_digest_is_the_same_in_every_process(tmp_path):
    (tmp_path / "made_of.py").write_text(
        "def make(*values):\n    return lambda sample: float(len(values))\n"
    )
    program = (
        "from made_of import make; from reward_functions.rollouts import Scorer; import re\n"
        "values = {'a', 'b', 'c', 'd'}, re.compile('x'), object(), make, {'k': {'x', 'y'}}\n"
        "print(Scorer.of(make(*values)).pin.digest)"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ
            | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1
