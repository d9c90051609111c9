"""The shapes of rows that trainers and evaluations write, a row of a table each.

A shape is known by its columns, and by what they hold where that tells two shapes apart. One file
has one shape. To add a shape, add a row to `SHAPES` and a file to `tests/cli/row_shapes.py`.

A value inside an object is named by a path with points: `reward_model.ground_truth`,
`choices.0.text`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


def at(content: Any, path: str) -> Any:
    """The value at a path; None where there is none, as where it is null.

    A key that holds points itself comes first: `a.b` is the column "a.b" where there is one.
    A part of digits counts the items of a list from 0.
    """
    if isinstance(content, dict) and (path in content or "." not in path):
        return content.get(path)
    head, point, rest = path.partition(".")
    inner = _step(content, head)
    if not point:
        return inner
    return None if inner is None else at(inner, rest)


def first(content: Mapping[str, Any], paths: Iterable[str]) -> str | None:
    """The first of several paths that leads to a value."""
    for path in paths:
        if at(content, path) is not None:
            return path
    return None


def top(path: str, content: Mapping[str, Any]) -> str:
    """The column that a path begins with."""
    return path if path in content else path.partition(".")[0]


def _step(content: Any, key: str) -> Any:
    if isinstance(content, dict):
        return content.get(key)
    if isinstance(content, list) and key.isdecimal() and len(key) < 6:  # noqa: PLR2004 - an index
        index = int(key)
        return content[index] if index < len(content) else None
    return None


REFERENCES: Final = (
    "reference_answer",
    "answer.aliases",
    "answer",
    "ground_truth",
    "solution",
    "reference",
    "target",
    "label",
    "expected_answer",
    "gold",
    "answers.text",
    "answers",
)
"""The names under which data sets of TRL's users keep the reference, the shortest answer first: of
`answer` and `solution`, the second is the worked one. Aliases are TriviaQA's: the answer is one of
them. `answers.text` are SQuAD's."""


class Columns(NamedTuple):
    """Where the parts of a sample stand in a row: paths. The first that leads to a value counts.

    Args:
        prompt: a string, or a list of messages.
        context: strings that go on a prompt that is a string, after an empty line.
        response: a string, content blocks, or a list of messages; of several, each is a sample.
        reference: anything; a list means any of these.
        id: the sample's name.
        system: the system prompt, a string.
        metadata: objects whose fields are metadata. So is every column that is read by no path.
        needed: of "prompt" and "response", the parts without which a row is not valid.
    """

    prompt: tuple[str, ...] = ()
    response: tuple[str, ...] = ()
    reference: tuple[str, ...] = ()
    id: tuple[str, ...] = ("id",)
    system: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ("metadata",)
    needed: tuple[str, ...] = ("prompt",)


class Shape(NamedTuple):
    """One shape of rows.

    Args:
        name: what `--rows` takes.
        title: whose it is.
        known_by: columns, as alternatives `a|b`, each with what it must hold: `prompt:text`.
        without: columns that no row of this shape has.
        columns: where the parts stand.
        source: where the shape is published.
    """

    name: str
    title: str
    known_by: tuple[str, ...]
    columns: Columns
    source: str
    without: tuple[str, ...] = ()

    def fits(self, content: Mapping[str, Any]) -> bool:
        """Whether a row can be of this shape."""
        return all(_holds(content, condition) for condition in self.known_by) and not any(
            content.get(column) is not None for column in self.without
        )

    def names_columns(self, content: Mapping[str, Any]) -> bool:
        """Whether a row has the columns of this shape, whatever they hold."""
        return all(
            any(
                path.partition(".")[0] in content for path in condition.partition(":")[0].split("|")
            )
            for condition in self.known_by
        )


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_messages(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_message, value))


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("role"), str)


def _is_turns(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_turn, value))


def _is_turn(value: Any) -> bool:
    return _is_message(value) or (
        isinstance(value, dict) and isinstance(value.get("from"), str) and "value" in value
    )


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


_KINDS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "": lambda value: value is not None,
    "text": _is_text,
    "messages": _is_messages,
    "turns": _is_turns,
    "object": _is_object,
    "list": _is_list,
}


def _holds(content: Mapping[str, Any], condition: str) -> bool:
    paths, _, kind = condition.partition(":")
    return any(_KINDS[kind](at(content, path)) for path in paths.split("|"))


_RESPONSES: Final = (
    *("response", "responses", "completion", "completions", "prediction", "generation"),
    *("generated_text", "model_answer", "model_output", "model_response"),
)
_PAIR: Final = ("chosen", "rejected")
"""A pair of preferences: which of the two is to be scored, the user says."""

_BOTH: Final = ("prompt", "response")
_FROM_MESSAGES: Final = ("answer", "ground_truth", "solution", "target", "expected_answer")

BEDROCK: Final = "bedrock"
"""The shape that every other is read as: its rows are passed on as they are."""

SHAPES: Final = (
    Shape(
        BEDROCK,
        "Amazon Bedrock, Amazon Nova on SageMaker",
        ("messages",),
        Columns(("messages",), reference=("reference_answer",)),
        "docs.aws.amazon.com/bedrock, rft-prepare-data",
        without=("item", "completion", "response", "choices", "output", "generations", *_PAIR),
    ),
    Shape(
        "openai",
        "OpenAI: messages, the reference in a column of its own",
        ("messages", "|".join(_FROM_MESSAGES)),
        Columns(("messages",), reference=_FROM_MESSAGES),
        "developers.openai.com, reinforcement fine-tuning: every key beside `messages` is the "
        "item's",
        without=(
            *("reference_answer", "item", "completion", "response", "choices", "output"),
            *("generations", *_PAIR),
        ),
    ),
    Shape(
        "openai-item",
        "OpenAI graders: item and sample",
        ("item:object", "sample:object"),
        Columns(
            ("item.messages", "item.prompt", "item.question", "item.input"),
            ("sample.output_text",),
            tuple(f"item.{name}" for name in REFERENCES),
            id=("id", "item.id"),
            metadata=("metadata", "item"),
            needed=("response",),
        ),
        "openai 3.51.0, types/graders: templates {{item.*}} and {{sample.output_text}}",
    ),
    Shape(
        "openai-choices",
        "chat completions: the request's messages and the response's choices",
        ("messages|request.messages|request.body.messages", "choices|response.choices"),
        Columns(
            ("messages", "request.messages", "request.body.messages"),
            ("choices", "response.choices"),
            REFERENCES,
            id=("custom_id", "id"),
            needed=_BOTH,
        ),
        "openai 3.51.0, types/chat/chat_completion.py",
        without=("completion",),
    ),
    Shape(
        "openai-batch",
        "OpenAI: the output of a batch, of chat completions or of responses",
        ("custom_id:text", "response:object"),
        Columns(
            response=("response.body.choices", "response.body.output"),
            reference=REFERENCES,
            id=("custom_id",),
            needed=("response",),
        ),
        "developers.openai.com, guides/batch: custom_id, response.body, error",
        without=("messages", "request"),
    ),
    Shape(
        "anthropic-batch",
        "Anthropic: the results of a batch",
        ("custom_id:text", "result:object"),
        Columns(
            response=("result.message",),
            reference=REFERENCES,
            id=("custom_id",),
            needed=("response",),
        ),
        "docs.claude.com, batch processing: custom_id, result.message",
    ),
    Shape(
        "bedrock-batch",
        "Amazon Bedrock: the output of batch inference",
        ("modelInput:object", "modelOutput:object"),
        Columns(
            ("modelInput.messages", "modelInput.prompt", "modelInput.inputText"),
            tuple(
                f"modelOutput.{name}"
                for name in ("output.message", "choices", "content", "generation", "results")
            ),
            REFERENCES,
            id=("recordId",),
            needed=("response",),
        ),
        "docs.aws.amazon.com/bedrock, batch-inference-data: recordId, modelInput, modelOutput",
    ),
    Shape(
        "vllm",
        "vLLM: requests and their outputs",
        ("outputs:list",),
        Columns(
            ("prompt", "messages"),
            ("outputs",),
            REFERENCES,
            id=("id", "request_id"),
            needed=("response",),
        ),
        "vllm, outputs.py: RequestOutput",
        without=("completion", "response"),
    ),
    Shape(
        "sglang",
        "SGLang: the text generated and its meta_info",
        ("text", "meta_info:object"),
        Columns(
            ("prompt", "messages", "question"),
            ("text",),
            REFERENCES,
            id=("id", "meta_info.id"),
            needed=("response",),
        ),
        "docs.sglang.ai, offline engine: text, meta_info",
        without=("completion", "response"),
    ),
    Shape(
        "sharegpt",
        "ShareGPT: conversations of from and value",
        ("conversations:turns",),
        Columns(("conversations",), (), REFERENCES, system=("system",)),
        "huggingface.co/docs/trl, dataset formats: ShareGPT",
        without=_PAIR,
    ),
    Shape(
        "messages",
        "a list of messages, and the response beside it",
        ("messages:messages", "completion|response|output_text|output:text"),
        Columns(
            ("messages",),
            ("completion", "response", "output_text", "output"),
            (*REFERENCES, "labels"),
            needed=_BOTH,
        ),
        "the columns' own names; response, labels, messages are ms-swift's infer_result.jsonl",
        without=("item", "choices", "response.choices", "response.body"),
    ),
    Shape(
        "trl",
        "TRL: prompt and completion as text",
        ("prompt:text", "completion:text"),
        Columns(("prompt",), ("completion",), REFERENCES, needed=_BOTH),
        "TRL, dataset formats: standard prompt-completion",
        without=("info", "task"),
    ),
    Shape(
        "trl-chat",
        "TRL: prompt and completion as lists of messages",
        ("prompt", "completion", "prompt|completion:list"),
        Columns(("prompt",), ("completion",), REFERENCES, needed=_BOTH),
        "TRL, dataset formats: conversational prompt-completion",
        without=("info", "task"),
    ),
    Shape(
        "trl-prompts",
        "TRL: a prompt-only data set with a reference, such as DAPO's and OpenR1's",
        ("prompt", "|".join(REFERENCES)),
        Columns(("prompt",), (), REFERENCES),
        "TRL, dataset formats: prompt-only, with further columns",
        without=(
            *_RESPONSES,
            *("output", "outputs", "info", "task", "reward_model", "messages", "meta_info"),
        ),
    ),
    Shape(
        "verifiers",
        "verifiers: rollouts with info or task",
        ("prompt", "completion", "info|task"),
        Columns(
            ("prompt",),
            ("completion",),
            ("answer", "info.answer", "task.answer"),
            id=("id", "example_id"),
            metadata=("metadata", "info"),
            needed=_BOTH,
        ),
        "verifiers 0.1, types.RolloutOutput: prompt, completion, answer, info, task, example_id",
    ),
    Shape(
        "verifiers-prompts",
        "verifiers: a data set of prompts with info or task",
        ("prompt", "answer|info.answer", "info|task"),
        Columns(
            ("prompt",),
            (),
            ("answer", "info.answer"),
            id=("id", "example_id"),
            metadata=("metadata", "info"),
        ),
        "verifiers 0.1, docs: environments, a dataset of prompt, answer, info, task",
        without=("completion", "response", "responses", "reward", "reward_model"),
    ),
    Shape(
        "verl",
        "verl and SageMaker serverless: prompt, data_source, reward_model.ground_truth",
        ("prompt", "reward_model.ground_truth"),
        Columns(
            ("prompt",),
            ("responses", "response", "solution_str"),
            ("reward_model.ground_truth",),
            id=("id", "extra_info.id"),
            metadata=("metadata", "extra_info"),
        ),
        "verl, docs: prepare data; sagemaker-train 1.27.0, ai_registry/schemas/verl.json",
    ),
    Shape(
        "verl-rollouts",
        "verl: the dump of trainer.rollout_data_dir",
        ("input:text", "output:text", "score", "gts|step"),
        Columns(("input",), ("output",), ("gts",), needed=_BOTH),
        "verl, trainer/ppo/ray_trainer.py: _dump_generations",
    ),
    Shape(
        "lm-eval",
        "lm-evaluation-harness: --log_samples",
        ("doc", "resps:list", "target"),
        Columns(
            ("doc.question", "doc.problem", "doc.prompt", "arguments.gen_args_0.arg_0"),
            ("resps",),
            ("target",),
            id=("id",),
            needed=("response",),
        ),
        "lm_eval, evaluator.py: doc_id, doc, target, arguments, resps, filtered_resps",
    ),
    Shape(
        "inspect",
        "Inspect: a sample of an evaluation's log",
        ("input", "output.choices|output.completion", "target"),
        Columns(
            ("input",),
            ("output.choices", "output.completion"),
            ("target",),
            id=("id",),
            needed=_BOTH,
        ),
        "inspect_ai, log/_log.py: EvalSample",
    ),
    Shape(
        "inspect-dataset",
        "Inspect: a data set of input and target",
        ("input", "target"),
        Columns(("input",), (), ("target",)),
        "inspect_ai, dataset/_dataset.py: Sample",
        without=("output", "instruction", "response", "completion"),
    ),
    Shape(
        "qa",
        "question and answer, such as GSM8K's",
        ("question:text", "answer"),
        Columns(("question",), (), ("answer.aliases", "answer"), id=("id", "idx")),
        "huggingface.co/datasets/openai/gsm8k",
        without=(
            *_RESPONSES,
            *("output", "reference", "reference_answer", "ground_truth", "ground_truths"),
            *("query", "prompt", "messages"),
        ),
    ),
    Shape(
        "qr",
        "question and reference",
        ("question:text", "|".join(name for name in REFERENCES if name != "answer")),
        Columns(("question",), (), REFERENCES),
        "the columns' own names",
        without=(
            *("answer", "output", "prompt", "messages"),
            *_RESPONSES,
        ),
    ),
    Shape(
        "qrr",
        "question, response, reference",
        ("question|prompt|query|user_input", "|".join(_RESPONSES), "|".join(REFERENCES)),
        Columns(
            ("question", "prompt", "query", "user_input"),
            _RESPONSES,
            REFERENCES,
            needed=_BOTH,
        ),
        "the columns' own names; user_input, response, reference are ragas's",
        without=("reward_model", "choices", "messages", "info", "task", "processor_config"),
    ),
    Shape(
        "qar",
        "question, answer, ground_truth: the answer is the model's",
        ("question:text", "answer:text", "ground_truth|ground_truths|reference|reference_answer"),
        Columns(
            ("question",),
            ("answer",),
            ("ground_truth", "ground_truths", "reference", "reference_answer"),
            needed=_BOTH,
        ),
        "ragas before 0.2: question, answer, contexts, ground_truth",
        without=("response", "completion"),
    ),
    Shape(
        "math",
        "problem, solution, answer, such as MATH's and NuminaMath's",
        ("problem:text", "answer|solution|expected_answer"),
        Columns(
            ("problem",), (), ("answer", "expected_answer", "solution"), id=("id", "unique_id")
        ),
        "huggingface.co/datasets: HuggingFaceH4/MATH-500, open-r1/OpenR1-Math-220k",
        without=("response", "completion", "prompt", "output", "generations"),
    ),
    Shape(
        "problem-response",
        "problem, response, and a reference",
        ("problem:text", "response|completion|responses|output|generations", "|".join(REFERENCES)),
        Columns(
            ("problem",),
            ("response", "completion", "responses", "output", "generations"),
            REFERENCES,
            id=("id", "unique_id"),
            needed=_BOTH,
        ),
        "the columns' own names; problem, answer, generations are OpenR1-Math's",
        without=("prompt",),
    ),
    Shape(
        "alpaca",
        "instruction, input, output: the output is the reference",
        ("instruction:text", "output"),
        Columns(("instruction",), (), ("output",), context=("input",)),
        "github.com/tatsu-lab/stanford_alpaca: data release",
        without=("response", "completion", "reference", "reference_answer", "target", "answer"),
    ),
    Shape(
        "query",
        "query and answer, such as data of retrieval",
        ("query:text", "answer|reference|ground_truth"),
        Columns(("query",), (), ("answer", "reference", "ground_truth")),
        "the columns' own names",
        without=(*_RESPONSES, "question", "prompt", "output"),
    ),
    Shape(
        "sagemaker-eval",
        "SageMaker: an evaluation's answers, as a custom scorer gets them",
        ("query:text", "model_response", "response|reference_answer"),
        Columns(
            ("query",),
            ("model_response",),
            ("metadata.reference_answer", "reference_answer", "response"),
            id=("id", "metadata.id"),
            system=("system",),
            needed=_BOTH,
        ),
        "awslabs/agent-plugins, custom-scorer-evaluation-dataset-formats: the Lambda's payload",
        without=("prompt", "messages"),
    ),
    Shape(
        "sagemaker-eval-prompts",
        "SageMaker: the data set of an evaluation, whose response is the reference",
        ("query:text", "response:text", "system|metadata"),
        Columns(
            ("query",),
            (),
            ("metadata.reference_answer", "response"),
            id=("metadata.id", "id"),
            system=("system",),
        ),
        "awslabs/agent-plugins, custom-scorer-evaluation-dataset-formats: query, response, system",
        without=(*REFERENCES, "question", "prompt", "output", "model_response"),
    ),
    Shape(
        "query-solution",
        "query and response, the response being the reference, such as MetaMathQA's",
        ("query:text", "response:text"),
        Columns(("query",), (), ("response",)),
        "huggingface.co/datasets/meta-math/MetaMathQA: query, response",
        without=(*REFERENCES, "question", "prompt", "output"),
    ),
)

BY_NAME: Final = {shape.name: shape for shape in SHAPES}
