"""How foreign functions are called: functions of our own, with the signatures as published."""

from __future__ import annotations

import asyncio
import functools
import json
from decimal import Decimal
from fractions import Fraction

import pytest

from reward_functions.audit.conventions import CONVENTIONS, Adapted, called_name
from reward_functions.audit.targets import audit_target
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.types import Score, Scored, sample

ROWS = [
    sample("It is 4", "4", prompt="2 + 2?", id="a", level="easy"),
    sample("It is 5", "4", prompt="2 + 2?", id="b", level="hard"),
    sample("", "4", prompt="2 + 2?", id="c", level="hard"),
]
RIGHT = [1.0, 0.0, 0.0]


def values(results):
    return [each.score.value if isinstance(each, Scored) else None for each in results]


def errors(results):
    return [None if isinstance(each, Scored) else str(each.error) for each in results]


# As published: TRL's docs, "Using a custom reward function", and its rewards for conversations.


def trl_texts(completions, answer, **kwargs):
    assert kwargs["level"][0] == "easy"
    assert kwargs["trainer_state"] is None
    kwargs["log_extra"]("level", kwargs["level"])
    kwargs["log_metric"]("seen", 1.0)
    return [float(each.endswith(right)) for each, right in zip(completions, answer, strict=True)]


def trl_messages(completions, solution, **kwargs):
    contents = [completion[0]["content"] for completion in completions]
    return [1.0 if text[-1:] == gold else 0.0 for text, gold in zip(contents, solution)]  # noqa: B905


def trl_prompts(prompts, completions, level):
    assert prompts == ["2 + 2?"] * len(completions)
    return [float("4" in each) for each in completions]


async def trl_async(prompts, completions, ground_truth, **kwargs):
    await asyncio.sleep(0)
    return [float(right in each) for each, right in zip(completions, ground_truth, strict=True)]


def trl_ids(completion_ids, **kwargs):
    return [1.0 if len(ids) == 3 and len(set(ids)) == 3 else 0.0 for ids in completion_ids]


# verl: `compute_score` of a custom reward, and the batch manager's.


def verl(data_source, solution_str, ground_truth, extra_info=None):
    assert data_source == ""
    assert extra_info["level"] in ("easy", "hard")
    return {"score": float(ground_truth in solution_str), "acc": True}


def verl_batch(data_sources, solution_strs, ground_truths, extra_infos):
    return [
        {"score": float(gold in text)}
        for text, gold in zip(solution_strs, ground_truths, strict=True)
    ]


async def verl_async(data_source, solution_str, ground_truth, extra_info, **kwargs):
    return float(ground_truth in solution_str)


# verifiers before 0.4, and its v1.


async def correct_answer(completion, answer) -> float:
    response = completion[-1]["content"]
    return 1.0 if answer in response else 0.0


def with_parser(parser, completion, answer, **kwargs):
    return 1.0 if answer in (parser.parse_answer(completion) or "") else 0.0


def with_state(state, info, task):
    assert (info, task, state["prompt"]) == ({}, "default", "2 + 2?")
    return float(state["answer"] in state["completion"])


async def exact_match(task, trace) -> float:
    return float(trace.last_reply.endswith(task.answer) and task.level in ("easy", "hard"))


async def keyed(task, trace):
    return {"half": 0.5 * ("4" in trace.last_reply), "rest": 0.5 * ("4" in trace.transcript[-1])}


# OpenAI's Python grader, and functions of no framework.


def grade(sample, item) -> float:
    assert sample["choices"][0]["message"]["content"] == sample["output_text"]
    assert sample["output_tools"] == []
    assert "output_json" not in sample
    return 1.0 if item.pop("reference_answer") in sample["output_text"] else 0.0


def plain(completion, reference):
    return reference in completion


def one(text):
    return "4" in text


def letters(a, b):
    return b in a


def answered(answer, solution, /, *, strict=False):
    return solution in answer and not strict


def asked(prompt, completion):
    return prompt == "2 + 2?" and "4" in completion


def field(response, level, right):
    return right in response and level in ("easy", "hard")


def ours(sample):
    return Score(float(sample.reference in sample.response), reason="looked")


def decorated(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)

    return inner


class Callable:
    def __call__(self, completion, reference):
        return reference in completion

    def method(self, completion, reference):
        return reference in completion


FUNCTIONS = [
    (trl_texts, "TRL: completions as texts"),
    (trl_messages, "TRL: completions as messages"),
    (trl_prompts, "TRL: completions as texts"),
    (trl_async, "TRL: completions as texts"),
    (trl_ids, "TRL: completions as texts, its token ids are words"),
    (verl, "verl"),
    (verl_batch, "verl, batch"),
    (verl_async, "verl"),
    (correct_answer, "verifiers v0: completions as messages"),
    (with_parser, "verifiers v0: completions as texts"),
    (with_state, "verifiers v0: completions as texts"),
    (exact_match, "verifiers v1"),
    (keyed, "verifiers v1"),
    (grade, "OpenAI"),
    (plain, "plain: completion is the response"),
    (one, "plain: text is the response"),
    (letters, "plain: a is the response"),
    (answered, "plain: answer is the response"),
    (asked, "plain: completion is the response"),
    (field, "plain: response is the response"),
    (ours, "a Sample"),
    (decorated(plain), "plain: completion is the response"),
    (functools.partial(answered, strict=False), "plain: answer is the response"),
    (Callable(), "plain: completion is the response"),
    (Callable().method, "plain: completion is the response"),
]


@pytest.mark.parametrize(("function", "described"), FUNCTIONS, ids=called_name)
def test_each_convention_is_found_by_its_parameters(function, described):
    adapted = Adapted(function)
    scored = adapted.score(ROWS)
    wanted = [1.0, 1.0, 0.0] if function is trl_ids else RIGHT
    assert (values(scored), adapted.described) == (wanted, described), errors(scored)
    assert values(adapted.score(ROWS)) == wanted  # nothing that it changed is kept
    assert [each.id for each in scored] == ["a", "b", "c"]
    assert adapted.probe(ROWS) == list(BREACHES.get(function, ()))


BREACHES = {
    trl_prompts: [
        (
            "TRL passes completion_ids, trainer_state, log_extra, log_metric too, and it takes no "
            "**kwargs"
        )
    ],
}


def test_names_are_those_of_what_is_wrapped():
    assert called_name(decorated(plain)) == "plain"
    assert called_name(functools.partial(decorated(plain), reference=1)) == "plain"
    assert called_name(Callable()) == "Callable"
    assert called_name(Callable().method) == "method"


@pytest.mark.parametrize(
    ("returned", "value", "notes"),
    [
        (1, 1.0, None),
        (True, 1.0, None),
        (Decimal("0.5"), 0.5, None),
        (Fraction(1, 4), 0.25, None),
        ({"score": 0.5, "acc": "yes"}, 0.5, None),
        ({"reward": 1}, 1.0, None),
        (None, None, "it returns None, not a number"),
        (float("nan"), None, "it returns NaN, not a number"),
        (float("inf"), None, "it returns inf: the gradient of the whole step is spoilt"),
        ({"score": float("-inf")}, None, "it returns -inf: the gradient of the whole step is s"),
        ({"score": None}, None, "it returns None"),
        ({"acc": 1.0}, None, "it returns a dict without 'score' or 'reward'"),
        ({}, None, "it returns a dict without 'score' or 'reward'"),
        ("1.0", None, "it returns a value of type str, not a number"),
        (b"1", None, "it returns a value of type bytes, not a number"),
        ([1.0], None, "it returns a value of type list, not a number"),
        (1j, None, "it returns a value of type complex, not a number"),
        (10**400, None, "it returns a value of type int, not a number"),
    ],
)
def test_a_number_is_a_score_and_nothing_else_is(returned, value, notes):
    adapted = Adapted(lambda response: returned)
    (result,) = adapted.score(ROWS[:1])
    assert values([result]) == [value]
    assert (notes is None) == isinstance(result, Scored)
    assert notes is None or notes in errors([result])[0]
    assert bool(adapted.breaches) == ("inf" in (notes or ""))
    many = Adapted(lambda completions: [returned] * len(completions))
    assert values(many.score(ROWS)) == [value] * 3


class Scalar:
    """As a scalar of numpy, or a tensor of one number."""

    def __float__(self):
        return 0.5


def test_scalars_of_arrays_are_numbers():
    assert values(Adapted(lambda response: Scalar()).score(ROWS)) == [0.5] * 3
    assert values(Adapted(lambda completions: iter([Scalar()] * 3)).score(ROWS)) == [0.5] * 3


def test_a_row_that_raises_is_unscored_and_costs_the_others_nothing():
    def single(response, reference):
        return 1 / len(response)

    def batch(completions, **kwargs):
        return [1 / len(each) for each in completions]

    for function in (single, batch):
        adapted = Adapted(function)
        results = adapted.score(ROWS)
        assert values(results) == [1 / 7, 1 / 7, None]
        assert errors(results)[2].startswith(
            "it raised ZeroDivisionError at test_conventions.py, l"
        )
    assert Adapted(single).probe(ROWS[:2]) == []
    (breach,) = Adapted(batch).probe(ROWS[:2])
    assert "for 3 rows at once, one of them empty: one row costs all their" in breach


def test_what_an_exception_quotes_is_not_shown():
    def quoting(response):
        raise ValueError(f"cannot read {response}")

    (error,) = set(errors(Adapted(quoting).score(ROWS)))
    assert "It is" not in error
    assert "ValueError" in error


def test_sys_exit_is_a_row_that_is_not_scored():
    def careful(response):
        if "5" in response:
            raise SystemExit(3)
        return 1.0

    assert values(Adapted(careful).score(ROWS)) == [1.0, None, 1.0]
    assert errors(Adapted(careful).score(ROWS))[1] == "it called sys.exit"


@pytest.mark.parametrize(
    ("function", "notes"),
    [
        (lambda completions, **_: 0.5, "it returns a value of type float for 3 rows, not a list"),
        (lambda completions, **_: [0.5] * 3, "it returns 3 numbers for 4 rows"),
        (
            lambda completions, **_: [0.5] * (len(completions) + 1),
            "it returns 4 numbers for 3 rows",
        ),
        (lambda completions, **_: [0.5], "it returns 1 numbers for 3 rows"),
        (lambda completions, **_: {"score": 1.0}, "it returns a value of type dict for 3 rows"),
        (lambda completions, **_: "0.5", "it returns a value of type str for 3 rows"),
        (lambda completions, **_: None, "it returns None for 3 rows, not a list"),
    ],
)
def test_another_number_of_results_breaks_the_contract(function, notes):
    found = Adapted(function).probe(ROWS)
    assert any(notes in each for each in found), found


def test_another_order_breaks_the_contract():
    def sorting(completions, **kwargs):
        return sorted(float(len(each)) for each in completions)

    rows = [ROWS[0].answered("long enough"), ROWS[1], ROWS[2].answered("x")]
    (breach,) = Adapted(sorting).probe(rows)
    assert "another order" in breach


def test_what_a_framework_would_refuse_is_said():
    def few(solution_str, ground_truth):
        return 1.0

    def sync(task, trace):
        return 1.0

    assert Adapted(few).probe(ROWS) == [
        "verl passes data_source, extra_info too, and it takes no **kwargs"
    ]
    assert Adapted(sync).probe(ROWS) == ["verifiers v1 awaits it, and it is not async"]


def test_a_function_gets_fresh_copies_of_a_row():
    kept = []

    def spoiling(sample, item):
        kept.append(json.dumps([sample, item], sort_keys=True))
        sample.clear()
        item["tags"].append("seen")
        return 1.0

    row = sample('{"a": 1}', {"answer": "4", "tags": []}, tags=["ignored"])
    adapted = Adapted(spoiling)
    adapted.score([row, row])
    assert kept[0] == kept[1]
    assert '"output_json": {"a": 1}' in kept[0]
    assert '"tags": []' in kept[0]


def test_a_parameter_takes_the_field_that_is_called_so_before_the_reference():
    seen = []

    def looks(completions, answer, tolerance, **kwargs):
        seen.append((answer, tolerance, kwargs["level"], kwargs["solution"]))
        return [0.0] * len(completions)

    rows = [
        sample("4", "4", answer="field", tolerance=0.1, level=1, id="a"),
        sample("4", "4", tolerance=0.2, level=2, id="b"),
    ]
    Adapted(looks).score(rows)
    assert seen == [(["field", "4"], [0.1, 0.2], [1, 2], ["4", "4"])]


def test_a_parameter_that_no_row_has_is_one_sentence():
    def needs(completion, reference, tolerance):
        return 1.0

    adapted = Adapted(needs)
    with pytest.raises(ConfigurationError, match=r"needs needs 'tolerance'.*fields are level"):
        adapted.score(ROWS)
    mixed = [sample("4", "4", tolerance=1, id="x"), ROWS[0]]
    results = Adapted(needs).score(mixed)
    assert values(results) == [1.0, None]
    with pytest.raises(ConfigurationError, match="'reference'"):
        Adapted(plain).score([sample("4")])


@pytest.mark.parametrize("refused", [int, Callable, 3, "text", max, lambda: 1, lambda question: 1])
def test_what_cannot_be_called_with_a_response_is_one_sentence(refused):
    with pytest.raises(ConfigurationError) as error:
        Adapted(refused)
    assert "\n" not in str(error.value)


def test_a_function_that_scores_nothing_is_no_function_of_messages():
    def unsure(completion, answer):
        return None

    adapted = Adapted(unsure)
    assert values(adapted.score(ROWS)) == [None] * 3
    assert adapted.described == "verifiers v0: completions as texts"


def test_every_convention_gives_what_it_asks_by():
    for each in CONVENTIONS:
        known = each.gives.keys() | each.fixed.keys()
        assert all(set(asked.split()) <= known for asked in each.asks), each.name


def test_a_callable_of_python_is_a_target_of_this_process():
    target = audit_target(plain)
    assert values(target.score(ROWS)) == RIGHT
    assert (target.kind, target.name, target.convention) == (
        "function", "plain", "plain: completion is the response",
    )  # fmt: skip
    assert target.described.startswith("plain, a function of this process")
    assert target.probe(ROWS) == []
    many = [sample("4", "4", id=str(at)) for at in range(100)]
    seen = []
    counted = audit_target(
        lambda completions, **_: [seen.append(len(completions))] * len(completions)
    )
    assert len(counted.score(many)) == 100
    seen.clear()
    counted.score(many, group=True)
    assert 100 in seen
    assert 32 not in seen
    with pytest.raises(ConfigurationError, match="answered is no reward: bind them"):
        audit_target(answered, parameters=["strict=true"])


def with_columns(function, prompt, *names):
    """What a function is called like, and what of TRL's it does not take, for rows of columns."""
    adapted = Adapted(function)
    adapted.columns = {"prompt": prompt, **dict.fromkeys(names, False)}
    found = adapted.probe(ROWS)
    return adapted.described, found


def either(completions, answer, **kwargs):
    texts = [each if isinstance(each, str) else each[0]["content"] for each in completions]
    return [float(gold in text) for text, gold in zip(texts, answer, strict=True)]


def of_texts(completions, answer, **kwargs):
    return [float(each.endswith(gold)) for each, gold in zip(completions, answer, strict=True)]


def of_messages(completions, answer, **kwargs):
    return of_texts([each[0]["content"] for each in completions], answer)


@pytest.mark.parametrize(
    ("function", "prompt", "takes", "breach"),
    [
        (of_texts, False, "texts", ""),
        (of_messages, True, "messages", ""),
        (either, False, "texts", ""),
        (either, True, "messages", ""),
        (of_messages, False, "messages", "a text, so TRL passes completions as texts, and it take"),
        (of_texts, True, "texts", "a list of messages, so TRL passes completions as messages, and"),
    ],
)  # fmt: skip
def test_trl_passes_completions_as_the_rows_have_prompts(function, prompt, takes, breach):
    described, found = with_columns(function, prompt, "answer")
    assert described == f"TRL: completions as {takes}"
    assert len(found) == bool(breach)
    assert breach in "; ".join(found)


def test_trl_passes_columns_by_name_and_no_reference():
    wanted = (
        "TRL passes columns by name, and no column is called {0}: rename {1} to {0}, or call the "
    )
    wanted += "parameter {1}"
    assert with_columns(of_texts, False, "solution")[1] == [wanted.format("answer", "solution")]
    found = with_columns(trl_async, False, "answer")[1]
    assert found == [wanted.format("ground_truth", "answer")]
    assert with_columns(trl_prompts, False, "level")[1] == BREACHES[trl_prompts]
    assert with_columns(plain, False, "answer")[1] == []
