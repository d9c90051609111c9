"""The shapes of rows that trainers and evaluations write, a row of a table each.

A shape is known by its columns, and by what they hold where that tells two shapes apart. One file
has one shape. To add a shape, add a row to `SHAPES` and a file to `tests/cli/row_shapes.py`.
"""

from __future__ import annotations

from typing import Final

from reward_functions.data.rows.columns import REFERENCES, Columns, Shape

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
