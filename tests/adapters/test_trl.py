"""TRL's call expression, recorded: what comes back, what is logged, what is refused."""

import inspect
import math
import pickle
import subprocess
import sys
import warnings
from functools import partial

import pytest

from reward_functions import (
    Example,
    Metric,
    Needs,
    Sample,
    Score,
    get,
    reward_function,
    weighted,
)
from reward_functions.adapters._scoring import TOKENS
from reward_functions.adapters.ms_swift import reward_class
from reward_functions.adapters.trl import reward_func
from reward_functions.adapters.verl import compute_score
from reward_functions.core.asking import ScriptedAsk
from reward_functions.core.errors import (
    BadComposite,
    BadParameter,
    BadSample,
    ConfigurationError,
    JudgeUnavailable,
    NoJudge,
    UnknownReward,
)
from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel
from reward_functions.judge_runtime.panel import JudgePool
from reward_functions.shapers import _lengths
from reward_functions.testing import FakeAsk
from tests.adapters.calls import TRL, TRL_CHAT, VERL
from tests.adapters.recorded import ms_swift


@reward_function(version=1, name="acme.length", metrics=("length",))
def length(sample: Sample) -> Score:
    """The length of the response. Needs no reference."""
    return Score(0.0, (Metric("length", len(sample.response)),))


@reward_function(version=1, name="acme.group", needs=Needs(group=True))
def alone(sample: Sample, group) -> Score:
    """One where the sample is the only one of its prompt."""
    return Score(float(len(group) == 1))


@reward_function(version=1, name="acme.topic")
def topic(sample: Sample) -> Score:
    """One where the row's topic is named."""
    return Score(float(sample.metadata["topic"] in ("sums", "products")))


@reward_function(version=1, name="acme.bug")
def bug(sample: Sample) -> Score:
    """Fails by quoting the response."""
    raise KeyError(sample.response)


def called(reward, /, **changes):
    """The rewards of the recorded call with other arguments, and what was logged."""
    extra, metrics = {}, {}
    call = TRL | {"log_extra": extra.__setitem__, "log_metric": metrics.__setitem__} | changes
    return reward(**call), extra, metrics


@pytest.mark.parametrize("call", [TRL, TRL_CHAT], ids=["strings", "messages"])
def test_the_recorded_calls_are_scored(call):
    assert reward_func("math", reference="answer")(**call) == [1.0, 0.0, 1.0]


COMPLETIONS = [
    ("\\boxed{42}", 1.0),
    ("", 0.0),
    ([], 0.0),
    ([{"role": "assistant", "content": "\\boxed{42}"}], 1.0),
    ([{"role": "assistant", "content": [{"type": "text", "text": "\\boxed{42}"}]}], 1.0),
    ([{"role": "assistant", "content": None, "tool_calls": []}], 0.0),
    (
        [
            {"role": "assistant", "content": "", "tool_calls": []},
            {"role": "tool", "content": "41"},
            {"role": "assistant", "content": "\\boxed{42}"},
        ],
        1.0,
    ),
    ([{"role": "assistant", "content": "\\boxed{42}"}, {"role": "tool", "content": "1"}], 0.0),
    (
        [
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "text": "\\boxed{42}"},
                    {"type": "text", "text": "?"},
                ],
            }
        ],
        0.0,
    ),
    (({"role": "assistant", "content": "\\boxed{42}"},), 1.0),
    ([{"role": "assistant", "reasoning_content": "\\boxed{42}", "content": "I give up."}], 0.0),
    ([{"role": "nova_assistant", "content": "\\boxed{42}"}], 1.0),
    ("\ud800 \\boxed{42}", 1.0),
    (None, None),
    (7, None),
    ({"role": "assistant", "content": "\\boxed{42}"}, None),
    (["\\boxed{42}"], None),
    ([{"content": "\\boxed{42}"}], None),
]
"""A completion, and what it earns where the answer is 42."""


@pytest.mark.parametrize(("completion", "reward"), COMPLETIONS)
def test_a_completion_of_any_shape_never_harms_its_neighbour(completion, reward):
    found = reward_func("math")(
        prompts=["q", "q"], completions=["\\boxed{42}", completion], answer=["42", "42"]
    )
    assert found == [1.0, reward]


PROMPTS = [
    None,
    "",
    "6 × 7?",
    [],
    [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "6 × 7?"}],
    [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "6 × 7?"}]}],
]
"""Of any shape that data sets have."""


@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("completion", ["\\boxed{42}", COMPLETIONS[3][0]], ids=["string", "turns"])
def test_a_prompt_of_any_shape(prompt, completion):
    assert reward_func("math")([prompt], [completion], answer=["42"]) == [1.0]


def test_a_row_that_cannot_be_scored_is_none_and_a_bad_answer_is_the_minimum():
    assert called(reward_func("math"), answer=["42", None, "1"])[0] == [1.0, None, 0.0]


@pytest.mark.parametrize("column", ["reference_answer", "answer", "solution", "ground_truth"])
def test_the_usual_columns_are_found(column):
    call = {"prompts": ["q"], "completions": ["\\boxed{42}"], column: ["42"], "level": [3]}
    assert reward_func("math")(**call) == [1.0]


def test_the_named_column_wins():
    assert called(reward_func("math", reference="gold"), gold=["1", "41", "1"])[0] == [
        0.0,
        1.0,
        0.0,
    ]


def test_a_reward_of_form_needs_no_reference():
    call = {"prompts": ["q"], "completions": ["four"], "topic": ["sums"]}
    assert reward_func(length)(**call) == [0.0]


def test_further_columns_are_metadata_and_what_trl_adds_is_not():
    assert called(reward_func(topic), environments=[1, 2, 3])[0] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("call", [TRL, TRL_CHAT], ids=["strings", "messages"])
def test_the_tokens_of_a_completion_are_counted_for_rewards_of_its_length(call):
    overlong = reward_func("overlong", limit=2, buffer=1)
    assert overlong(**call) == [-1.0, -1.0, 0.0]
    assert overlong(**call | {"completion_tokens": [1, 1, 9]}) == [-1.0, -1.0, 0.0]
    uncounted = {name: column for name, column in call.items() if name != "completion_ids"}
    assert overlong(**uncounted | {"completion_tokens": [1, 1, 9]}) == [0.0, 0.0, -1.0]
    with pytest.warns(RuntimeWarning, match="does not count its tokens"):
        assert overlong(**uncounted) == [None, None, None]


@pytest.mark.parametrize("ids", [7, [[1]], "abc", [1, 2, 3], [None, None, None]])
def test_ids_of_another_shape_are_no_tokens_and_harm_no_reward(ids):
    assert reward_func("math")(**TRL | {"completion_ids": ids}) == [1.0, 0.0, 1.0]
    with pytest.warns(RuntimeWarning, match="does not count its tokens"):
        assert reward_func("overlong")(**TRL | {"completion_ids": ids}) == [None, None, None]


def test_a_part_of_a_composite_counts_tokens_too():
    parts = {"math": 1.0, "overlong": {"weight": 0.5, "limit": 2, "buffer": 1}}
    examples = [
        Example(kind, response=text, reference="42", score=score, metadata={TOKENS: 1})
        for kind, text, score in (
            ("positive", "42", 1.0),
            ("negative", "41", 0.0),
            ("attack", "41 or 42", 0.0),
        )
    ]
    punished = weighted(parts, name="punished", version=1, examples=examples)
    assert reward_func(punished)(**TRL) == [0.5, -0.5, 1.0]


@pytest.fixture
def tutor(tmp_path):
    path = tmp_path / "tutor.toml"
    path.write_text("version = 1\nweighted = { math = 0.8, tag_count = 0.2 }\n")
    return str(path)


def test_a_composite_is_named_by_its_file_as_on_the_command_line(tutor):
    reward = reward_func(tutor, reference="answer")
    assert reward.__name__ == "tutor"
    assert reward(**TRL) == [0.8, 0.0, 0.8]
    assert compute_score(**VERL, reward=tutor)["score"] == 0.8
    responses, columns = ms_swift("\\boxed{42}")
    assert reward_class(tutor)()(responses, **columns) == [0.8]


LAST_NUMBER = """
from reward_functions import Sample, Score, reward_function

@reward_function(version=1)
def {}(sample: Sample, *, half: bool = False) -> Score:
    return Score(("42" in sample.response) * (0.5 if half else 1.0))
"""


def test_a_reward_is_named_by_its_file_as_on_the_command_line(tmp_path):
    path = tmp_path / "last_number.py"
    path.write_text(LAST_NUMBER.format("last_number"))
    reward = reward_func(str(path), half=True)
    assert (reward.__name__, reward(**TRL)[0]) == ("last_number", 0.5)
    assert compute_score(**VERL, reward=str(path))["score"] == 1.0
    responses, columns = ms_swift("\\boxed{42}")
    assert reward_class(str(path))()(responses, **columns) == [1.0]


def test_a_file_without_one_reward_is_refused(tmp_path):
    path = tmp_path / "last_number.py"
    with pytest.raises(ConfigurationError, match=r"last_number\.py cannot be read: No such file"):
        reward_func(str(path))
    path.write_text("def last_number(completions, **kwargs): ...")
    with pytest.raises(ConfigurationError, match="decorated with @reward_function"):
        reward_func(str(path))
    with pytest.raises(UnknownReward, match=r"give its file alone, mine\.py, and decorate"):
        reward_func("mine.py:last_number")


def of_trl(completions, **kwargs):
    return [1.0 for _ in completions]


class OfTrl:
    __name__ = "of_class"

    def __call__(self, prompts, completions, answer, **kwargs):
        return [1.0 for _ in completions]


@pytest.mark.parametrize("function", [of_trl, OfTrl(), lambda completion, answer: 1.0])
def test_a_function_of_trl_is_refused_when_the_reward_is_made(function):
    with pytest.raises(BadParameter, match=r"not one sample: .* @reward_function"):
        reward_func(function)


@pytest.mark.parametrize(
    ("text", "error", "sentence"),
    [
        ("version = 1\nweighted = { maths = 1.0 }\n", BadComposite, "maths"),
        ("not toml", BadComposite, "tutor.toml: not TOML"),
        (None, BadComposite, "tutor.toml cannot be read"),
    ],
)
def test_a_file_that_declares_no_composite_is_refused(tmp_path, text, error, sentence):
    path = tmp_path / "tutor.toml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(error, match=sentence):
        reward_func(str(path))


def test_the_field_is_the_one_that_shapers_read():
    assert TOKENS == _lengths.TOKENS


@pytest.mark.parametrize("call", [TRL, TRL_CHAT], ids=["strings", "messages"])
def test_a_column_may_have_any_name(call):
    names = ("self", "reward", "reference", "name", "parameters", "columns", "messages")
    assert reward_func("math")(**call | dict.fromkeys(names, ["?"] * 3)) == [1.0, 0.0, 1.0]


@pytest.mark.parametrize("call", [TRL, TRL_CHAT], ids=["strings", "messages"])
def test_equal_prompts_are_a_group(call):
    assert reward_func(alone)(**call) == [0.0, 0.0, 1.0]


class Refusing(FakeAsk):
    """A model that cannot be asked at first."""

    down = True

    def __call__(self, question, /, *, deadline=math.inf):
        if self.down:
            raise JudgeUnavailable("nobody answers", "denied")
        return super().__call__(question, deadline=deadline)


def test_a_judge_is_opened_for_each_batch_and_a_failure_ends_with_it():
    """Within a batch equal questions share an answer or a failure: never across a training run."""
    ask = Refusing({"same": "yes"})
    model = JudgeModel(model="m", region="us-east-1")
    pool = JudgePool(JudgeConfig(models=(model,), retries=0), asks={"m": ask})
    reward = reward_func("reference", judge=pool)
    call = {"completions": ["The answer is the city of Canberra."] * 3, "answer": ["Canberra"] * 3}
    with pytest.warns(RuntimeWarning, match="JudgeUnavailable"):
        assert called(reward, **call)[0] == [None] * 3
    ask.down = False
    found, extra, _ = called(reward, **call)
    assert found == [1.0] * 3
    assert set(extra) == {"reference/answer", "reference/reason", "reference/reference"}


def test_a_judge_that_is_bound_already_is_scored():
    judge = partial(get("reference"), ask=ScriptedAsk(({"same": "yes"},)))
    assert set(called(reward_func(judge))[0]) <= {0.0, 1.0}


def test_what_is_logged_has_the_same_names_whatever_was_scored():
    found, extra, metrics = called(reward_func("math"), answer=["42", None, {"answer": "0.5"}])
    assert found == [1.0, None, 1.0]
    assert {name: len(column) for name, column in extra.items()} == {
        "math/answer": 3, "math/reason": 3, "math/reference": 3,
    }  # fmt: skip
    assert extra["math/reason"][1] == "BadReference: there is no reference"
    assert extra["math/reference"][1:] == [None, '{"answer": "0.5"}']
    assert metrics["math/unscored"] == pytest.approx(1 / 3)
    with pytest.warns(RuntimeWarning, match="math could score none of 3 completions"):
        _, none, without = called(reward_func("math"), answer=[None] * 3)
    assert (none.keys(), without.keys()) == (extra.keys(), metrics.keys())
    assert without["math/unscored"] == 1
    assert math.isnan(without["math/answered"])


def test_a_batch_without_any_reward_is_warned_of_once():
    reward = reward_func("math")
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for _ in range(3):
            called(reward, answer=[None] * 3)
    assert len(found) == 1
    assert "3 of them by BadReference" in str(found[0].message)


def test_anothers_exception_may_quote_the_response_and_is_logged_by_its_type():
    with pytest.warns(RuntimeWarning) as found:
        rewards, extra, _ = called(reward_func(bug))
    assert rewards == [None] * 3
    assert extra["acme.bug/reason"] == ["KeyError"] * 3
    assert "boxed" not in str(found[0].message)


def test_a_reward_survives_pickling_and_keeps_its_name_and_its_parameters():
    reward = pickle.loads(pickle.dumps(reward_func("math", reference="answer", rounded=2)))
    assert reward.__name__ == "math"
    call = TRL | {"completions": ["\\boxed{0.33}"] * 3, "answer": ["\\frac{1}{3}"] * 3}
    assert reward(**call) == [1.0] * 3
    assert reward_func("math", name="rounded", rounded=2).__name__ == "rounded"


def test_axolotl_finds_two_parameters_and_trl_no_coroutine():
    reward = reward_func("math")
    assert list(inspect.signature(reward).parameters)[:2] == ["prompts", "completions"]
    assert not inspect.iscoroutinefunction(reward.__call__)


REFUSED = [
    # (the function, the call, the error, its sentence)
    ({"reward": "maths"}, {}, UnknownReward, "Did you mean 'math'"),
    ({"reward": "math", "rounde": 2}, {}, BadParameter, "Did you mean 'rounded'"),
    ({"reward": "math", "rounded": "two"}, {}, BadParameter, "takes int"),
    ({"reward": "reference"}, {}, NoJudge, "pass judge=JudgePool"),
    ({"reward": "math", "judge": object()}, {}, BadParameter, "asks no judge model here"),
    ({"reward": "math", "name": 3}, {}, BadParameter, "name is a string, not 3"),
    ({"reward": "math", "reference": ["a"]}, {}, BadParameter, "reference is a string"),
    ({"reward": 3}, {}, BadParameter, "has no name of its own"),
    ({"reward": partial(max)}, {}, BadParameter, "pass name="),
    ({"reward": partial(length), "wide": 2}, {}, BadParameter, "bound already: bind 'wide'"),
    ({"reward": "math", "reference": "anwser"}, {}, BadParameter, "Did you mean 'answer'"),
    (
        {"reward": "math"},
        {"answer": ["42"]},
        BadSample,
        "'answer' is of length 1, and the responses are 3",
    ),
    ({"reward": "math"}, {"prompts": ["q"]}, BadSample, "prompts is of length 1"),
    ({"reward": "math"}, {"answer": "42!"}, BadSample, "'answer' is a string, not a list"),
    ({"reward": "math"}, {"completions": None}, BadSample, "completions is null, not a list"),
]


@pytest.mark.parametrize(("function", "changes", "error", "sentence"), REFUSED)
def test_what_cannot_be_used_is_refused_in_one_sentence(function, changes, error, sentence):
    with pytest.raises(error, match=sentence):
        called(reward_func(**function), **changes)


def test_a_data_set_without_a_reference_names_the_columns_that_are_there():
    call = {"prompts": ["q"], "completions": ["\\boxed{1}"], "gold": ["1"], "level": [3]}
    with pytest.raises(BadParameter, match="of the columns there are gold, level"):
        reward_func("math")(**call)


def test_an_empty_batch_is_scored():
    assert reward_func("math")(prompts=[], completions=[], answer=[]) == []


@pytest.mark.parametrize("host", ["trl", "verl"])
def test_an_adapter_loads_neither_its_host_nor_anything_heavy(host):
    code = f"import sys, reward_functions.adapters.{host}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    tops = {name.partition(".")[0] for name in done.stdout.split()}
    assert not tops & {"trl", "verl", "torch", "sympy", "mpmath", "pydantic", "boto3", "rich"}


class Array(list):
    """Stands for an array of numpy, or a tensor: its elements are not Python's."""

    def __getitem__(self, at):
        return Scalar(list.__getitem__(self, at))

    def __iter__(self):
        return map(Scalar, list.__iter__(self))


class Scalar:
    def __init__(self, value):
        self.value = value

    def tolist(self):
        return self.value


def test_references_in_an_array_are_read():
    assert reward_func("math")(None, ["4", "5"], answer=Array([4, 4])) == [1.0, 0.0]


@pytest.mark.parametrize("ids", [[[1, 2, 3], [1] * 9], [(1, 2, 3), (1,) * 9]])
def test_tokens_are_counted_where_trl_shows_them(ids):
    overlong = reward_func("overlong", limit=4, buffer=2)
    assert overlong(None, ["x", "y"], completion_ids=ids) == [-0.5, -1.0]


def test_the_tokens_of_the_completion_count_and_not_those_of_a_column():
    overlong = reward_func("overlong", limit=4, buffer=2)
    assert overlong(None, ["x"], completion_ids=[[1, 2, 3]], completion_tokens=[9]) == [-0.5]


def test_a_file_declares_a_composite(tmp_path):
    path = tmp_path / "tutor.toml"
    path.write_text("version = 1\nweighted = { math = 0.8, think_format = 0.2 }\n")
    scores = pickle.loads(pickle.dumps(reward_func(str(path))))
    assert scores.__name__ == "tutor"
    assert scores(None, ["<think>2 + 2</think>4", "4"], answer=["4", "4"]) == [1.0, 0.8]


def test_a_file_that_is_missing_is_one_sentence(tmp_path):
    with pytest.raises(BadComposite, match="cannot be read: No such file"):
        reward_func(str(tmp_path / "tutor.toml"))
