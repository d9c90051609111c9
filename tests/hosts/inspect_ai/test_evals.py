"""Evals of inspect_ai over its mock model, scored by our scorers."""

import asyncio
from math import isnan
from time import perf_counter

import pytest
from inspect_ai import Task, eval  # noqa: A004 - the host's own name
from inspect_ai.dataset import MemoryDataset
from inspect_ai.dataset import Sample as Row
from inspect_ai.model import ChatMessageUser, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Target
from inspect_ai.solver import TaskState, generate, multiple_choice

from reward_functions import Score, get, reward_function, score_batch
from reward_functions.adapters.inspect_ai import scorer
from reward_functions.core.types import Message, Sample


def said(*texts):
    """A model that says these. Without a usage inspect fetches a file to count tokens with."""
    usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    outputs = [ModelOutput.from_content("mockllm/model", text) for text in texts]
    for output in outputs:
        output.usage = usage
    return get_model("mockllm/model", custom_outputs=outputs)


@pytest.fixture
def run(tmp_path):
    def run(rows, texts, scorers, solver=None):
        task = Task(dataset=MemoryDataset(rows), solver=solver or generate(), scorer=scorers)
        (log,) = eval(
            task, model=said(*texts), display="none", max_samples=1, log_dir=str(tmp_path)
        )
        assert log.status == "success", log.error
        return log

    return run


def metrics(log):
    return {
        score.name: {n: m.value for n, m in score.metrics.items()} for score in log.results.scores
    }


def test_an_eval_is_scored_and_its_log_says_why(run):
    rows = [Row(input="2 + 2?", target="4", id="a"), Row(input="2 + 2?", target="4", id="b")]
    log = run(rows, [r"\boxed{4}", r"\boxed{5}"], scorer("math"))
    assert metrics(log) == {"math": {"accuracy": 0.5, "stderr": 0.5}}
    first = log.samples[0].scores["math"]
    assert (first.value, first.answer, first.explanation) == (1.0, "4", "the same number")
    assert first.metadata["answered"] == 1.0


def test_what_cannot_be_scored_is_kept_and_counts_in_no_metric(run):
    rows = [Row(input="?", target="4", id="a"), Row(input="?", id="b")]
    log = run(rows, [r"\boxed{4}", r"\boxed{4}"], scorer("math"))
    assert metrics(log)["math"]["accuracy"] == 1.0
    (results,) = log.results.scores
    assert (results.scored_samples, results.unscored_samples) == (1, 1)
    unscored = log.samples[1].scores["math"]
    assert isnan(unscored.value)
    assert unscored.reason == "scoring_failed"
    assert unscored.explanation == "BadReference: there is no reference"


def test_the_tokens_are_those_that_the_model_reports(run):
    log = run([Row(input="?", id="a")], ["so it is"], scorer("overlong"))
    score = log.samples[0].scores["overlong"]
    assert (score.value, score.metadata) == (0.0, {"length": 1})


def test_several_targets_reach_the_reward_as_a_list(run):
    seen = []

    @reward_function(version=1)
    def among(sample: Sample) -> Score:
        """Whether the response is one of the references."""
        seen.append(sample.reference)
        return Score(float(sample.response in sample.reference))

    rows = [Row(input="?", target=["4", "four"]), Row(input="?", target=["4", "four"])]
    log = run(rows, ["four", "five"], scorer(among))
    assert seen == [["4", "four"]] * 2
    assert metrics(log)["among"]["accuracy"] == 0.5


def test_a_reference_of_the_metadata_and_a_parameter(run):
    rows = [Row(input="?", metadata={"gold": {"text": "7"}})]
    log = run(rows, ["The answer is 7."], scorer("gsm8k", reference="gold.text", flexible=True))
    assert metrics(log)["gsm8k"]["accuracy"] == 1.0
    assert log.eval.scorers[0].options == {"reference": "gold.text", "flexible": True}


def test_choices_are_the_options_of_a_multiple_choice_question(run):
    rows = [Row(input="Which?", choices=["red", "blue"], target="B")]
    log = run(rows, ["ANSWER: B"], scorer("multiple_choice"), multiple_choice())
    assert metrics(log)["multiple_choice"]["accuracy"] == 1.0


def test_a_thousand_completions(measured):
    texts = [rf"Step {at}: so it is \boxed{{{at}}}." for at in range(1024)]
    states = [state(text) for text in texts]
    score = scorer("math")

    async def all_of_them():
        targets = [Target(str(at)) for at in range(1024)]
        return await asyncio.gather(*(score(*pair) for pair in zip(states, targets, strict=True)))

    begun = perf_counter()
    through = [each.value for each in asyncio.run(all_of_them())]
    adapter = perf_counter() - begun
    samples = [
        Sample(id=str(at), messages=(Message(role="assistant", content=text),), reference=str(at))
        for at, text in enumerate(texts)
    ]
    begun = perf_counter()
    alone = [result.score.value for result in score_batch(get("math"), samples)]
    batch = perf_counter() - begun
    assert through == alone == [1.0] * 1024
    measured(
        f"inspect_ai: 1,024 states through the scorer {adapter:.2f} s, score_batch {batch:.2f} s"
    )


def state(text):
    """The state of a sample that was answered."""
    output = ModelOutput.from_content("mockllm/model", text)
    turns = [ChatMessageUser(content="n?"), output.message]
    return TaskState(
        model="mockllm/model", sample_id=1, epoch=1, input="n?", messages=turns, output=output
    )
