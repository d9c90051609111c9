"""One exchange in every shape of rows: what `test_row_shapes` writes into files."""

from typing import Any, NamedTuple


class Exchange(NamedTuple):
    """A question, a response and a reference."""

    question: str
    response: str
    reference: str

    @property
    def asked(self) -> list[dict[str, str]]:
        return [{"role": "user", "content": self.question}]

    @property
    def answered(self) -> list[dict[str, str]]:
        return [{"role": "assistant", "content": self.response}]


def _inspect(one: Exchange) -> dict[str, Any]:
    output = {
        "model": "m",
        "choices": [{"message": one.answered[0], "stop_reason": "stop"}],
        "completion": one.response,
    }
    return {
        "epoch": 1,
        "input": one.question,
        "target": one.reference,
        "messages": [*one.asked, *one.answered],
        "output": output,
    }


def _lm_eval(one: Exchange) -> dict[str, Any]:
    return {
        "doc_id": 0,
        "doc": {"question": one.question, "answer": f"So it is.\n#### {one.reference}"},
        "target": f"So it is.\n#### {one.reference}",
        "arguments": {"gen_args_0": {"arg_0": f"Q: {one.question}", "arg_1": {}}},
        "resps": [[one.response]],
        "filtered_resps": [one.response],
        "filter": "strict-match",
    }


def _verl(one: Exchange) -> dict[str, Any]:
    return {
        "data_source": "openai/gsm8k",
        "prompt": one.asked,
        "ability": "math",
        "reward_model": {"style": "rule", "ground_truth": one.reference},
        "extra_info": {"split": "train", "index": 0},
    }


ANSWERED = {
    # A row with a response, by the name of its shape and what varies within it.
    "bedrock": lambda one: {
        "messages": [*one.asked, *one.answered],
        "reference_answer": one.reference,
    },
    "openai": lambda one: {"messages": [*one.asked, *one.answered], "answer": one.reference},
    "openai-item": lambda one: {
        "item": {"messages": one.asked, "reference_answer": one.reference},
        "sample": {"output_text": one.response, "output_json": None},
    },
    "openai-choices": lambda one: {
        "messages": one.asked,
        "choices": [{"index": 0, "message": one.answered[0], "finish_reason": "stop"}],
        "ground_truth": one.reference,
    },
    "openai-batch": lambda one: {
        "id": "batch_req_1",
        "custom_id": one.question,
        "response": {
            "status_code": 200,
            "body": {"object": "chat.completion", "choices": [{"message": one.answered[0]}]},
        },
        "error": None,
        "answer": one.reference,
    },
    "openai-batch, of responses": lambda one: {
        "custom_id": one.question,
        "response": {
            "status_code": 200,
            "body": {
                "object": "response",
                "output": [
                    {"type": "reasoning", "summary": []},
                    {
                        "type": "message",
                        "role": "assistant",
                        "content": [{"type": "output_text", "text": one.response}],
                    },
                ],
            },
        },
        "answer": one.reference,
    },
    "anthropic-batch": lambda one: {
        "custom_id": one.question,
        "result": {
            "type": "succeeded",
            "message": {
                "role": "assistant",
                "content": [{"type": "text", "text": one.response}],
            },
        },
        "answer": one.reference,
    },
    "bedrock-batch": lambda one: {
        "recordId": one.question,
        "modelInput": {"messages": [{"role": "user", "content": [{"text": one.question}]}]},
        "modelOutput": {
            "output": {"message": {"role": "assistant", "content": [{"text": one.response}]}}
        },
        "answer": one.reference,
    },
    "vllm": lambda one: {
        "request_id": one.question,
        "prompt": one.question,
        "outputs": [{"index": 0, "text": one.response, "finish_reason": "stop"}],
        "answer": one.reference,
    },
    "sglang": lambda one: {
        "prompt": one.question,
        "text": one.response,
        "meta_info": {"id": one.question, "finish_reason": {"type": "stop"}},
        "answer": one.reference,
    },
    "sharegpt": lambda one: {
        "conversations": [
            {"from": "human", "value": one.question},
            {"from": "gpt", "value": one.response},
        ],
        "answer": one.reference,
    },
    "messages, ms-swift": lambda one: {
        "response": one.response,
        "labels": one.reference,
        "messages": [*one.asked, *one.answered],
    },
    "messages": lambda one: {
        "messages": one.asked,
        "completion": one.response,
        "answer": one.reference,
    },
    "trl": lambda one: {
        "prompt": one.question,
        "completion": one.response,
        "answer": one.reference,
    },
    "trl, the table of log_completions": lambda one: {
        "step": "1",
        "prompt": one.question,
        "completion": one.response,
        "solution": one.reference,
        "accuracy_reward": 1.0,
        "advantage": 0.5,
    },
    "trl, solution": lambda one: {
        "prompt": one.question,
        "completion": one.response,
        "solution": one.reference,
    },
    "trl-chat": lambda one: {
        "prompt": one.asked,
        "completion": one.answered,
        "ground_truth": one.reference,
    },
    "verifiers": lambda one: {
        "prompt": one.asked,
        "completion": one.answered,
        "answer": one.reference,
        "task": "gsm8k",
        "info": {},
        "reward": 1.0,
    },
    "verl, evaluated": lambda one: {**_verl(one), "responses": [one.response]},
    "verl-rollouts": lambda one: {
        "input": one.question,
        "output": one.response,
        "gts": one.reference,
        "score": 0.0,
        "step": 1,
    },
    "rollouts": lambda one: {
        "record": 1,
        "row": 1,
        "id": "a",
        "sample": 0,
        "rollout": f"r-{one.question}",
        "status": "rewarded",
        "rewards": [1.0],
        "scored_by": "agent",
        "response": one.response,
        "content": {"id": "a", "messages": one.asked, "reference_answer": one.reference},
        "setup": {"data": "d", "n": 1, "agent": "a.py:agent"},
        "reward": 1.0,
    },
    "rollouts, of a prompt": lambda one: {
        "record": 1,
        "rollout": f"r-{one.question}",
        "status": "rewarded",
        "response": one.response,
        "content": {"prompt": one.question, "answer": one.reference},
    },
    "lm-eval": _lm_eval,
    "inspect": _inspect,
    "qrr": lambda one: {
        "question": one.question,
        "response": one.response,
        "reference": one.reference,
    },
    "qrr, ragas": lambda one: {
        "user_input": one.question,
        "response": one.response,
        "retrieved_contexts": [],
        "reference": one.reference,
    },
    "qrr, query": lambda one: {
        "query": one.question,
        "response": one.response,
        "answer": one.reference,
    },
    "sagemaker-eval": lambda one: {
        "query": one.question,
        "model_response": one.response,
        "response": one.reference,
        "reference_answer": {"text": one.reference},
        "metadata": {},
        "processor_config": {},
    },
    "qar": lambda one: {
        "question": one.question,
        "answer": one.response,
        "contexts": [],
        "ground_truth": one.reference,
    },
    "problem-response, OpenR1-Math": lambda one: {
        "problem": one.question,
        "solution": f"So it is {one.reference}.",
        "answer": one.reference,
        "generations": [one.response],
        "messages": [*one.asked, *one.answered],
    },
    "problem-response": lambda one: {
        "problem": one.question,
        "response": one.response,
        "answer": one.reference,
    },
}

ASKED = {
    # A row of a data set, without a response.
    "bedrock, a data set": lambda one: {
        "messages": one.asked,
        "reference_answer": one.reference,
    },
    "trl-prompts": lambda one: {"prompt": one.asked, "answer": one.reference},
    "verl": _verl,
    "verifiers-prompts": lambda one: {
        "prompt": one.asked,
        "answer": one.reference,
        "info": {},
        "task": "gsm8k",
    },
    "qr": lambda one: {"question": one.question, "reference": one.reference},
    "qa": lambda one: {"question": one.question, "answer": f"So.\n#### {one.reference}"},
    "math": lambda one: {
        "problem": one.question,
        "solution": f"So it is {one.reference}.",
        "answer": one.reference,
    },
    "alpaca": lambda one: {
        "instruction": "Answer.",
        "input": one.question,
        "output": one.reference,
    },
    "inspect-dataset": lambda one: {"input": one.question, "target": one.reference},
    "sagemaker-eval-prompts": lambda one: {
        "query": one.question,
        "response": one.reference,
        "system": "Be exact.",
        "metadata": {"split": "test"},
    },
    "query-solution": lambda one: {
        "query": one.question,
        "response": f"So.\n#### {one.reference}",
    },
    "query": lambda one: {"query": one.question, "answer": one.reference},
}

EXCHANGES = [
    Exchange("What is 6 times 7?", "6 × 7 = 42\n#### 42", "42"),
    Exchange("What is 9 times 7?", "9 × 7 = 62\n#### 62", "63"),
    Exchange("What is 8 times 7?", "8 × 7 = 56\n#### 56", "56"),
]
REWARDS = [1.0, 0.0, 1.0]
