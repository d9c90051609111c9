"""What hosts with rows of their own hand over, by the call expressions of their source."""

from types import SimpleNamespace as Fields

RESPONSE = r"It is \boxed{42}."
PROMPT = "What is 6 × 7?"


def turn(role, content):
    return Fields(role=role, content=content)


def verifiers(response=RESPONSE, **data):
    """verifiers 0.4.0, v1/task.py, `Task.score`: the arguments of `invoke`, by their names."""
    task = Fields(idx=0, id=None, prompt=PROMPT, system_prompt=None, **({"answer": "42"} | data))
    trace = Fields(
        id="5f", info={}, metrics={}, last_reply=response,
        messages=[turn("user", PROMPT), turn("assistant", response)],
    )  # fmt: skip
    trace.record_metrics = trace.metrics.update
    return {"task": task, "trace": trace}


def inspect_ai(response=RESPONSE, target=("42",), **state):
    """inspect_ai 0.3.285, _eval/task/run.py: `await scorer(state, Target(sample.target))`.

    A Target is a sequence of strings, one of them empty where the sample has none.
    """
    fields = {
        "sample_id": 7, "metadata": {}, "choices": [], "output": Fields(completion=response),
        "messages": [turn("user", PROMPT), turn("assistant", [Fields(type="text", text=response)])],
    }  # fmt: skip
    return Fields(**fields | state), list(target)


def openrlhf(response=RESPONSE, label="42", end="<|im_end|>"):
    """openrlhf 0.11.2, utils/agent.py, `_fetch_rewards_via_func`: three lists, by position.

    The query is the whole sequence decoded, its special tokens kept; the prompt has its template.
    """
    prompt = f"<|im_start|>user\n{PROMPT}<|im_end|>\n<|im_start|>assistant\n"
    return [prompt + response + end], [prompt], [label]


def openrlhf_step(response=RESPONSE, label="42"):
    """openrlhf 0.11.2, utils/agent.py, `MultiTurnAgentExecutor.execute`: `step(states)`."""
    states = {"observation_text": PROMPT, "action_text": response, "label": label}
    return states | {"sampling_params": object()}


def ms_swift(*responses, **columns):
    """ms-swift 4.6.0, swift/rl_core/grpo_algorithm.py: `reward_func(completions, **reward_kwargs)`.

    The columns are those of `to_reward_row` in swift/rl_core/data.py.
    """
    rows = len(responses)
    told = [[{"role": "user", "content": PROMPT}, {"role": "assistant", "content": each}]
            for each in responses]  # fmt: skip
    sent = {"trainer_state": Fields(global_step=3), "messages": told, "solution": ["42"] * rows}
    sent |= {"prompt_id": ["p"] * rows, "finish_reason": ["stop"] * rows}
    return list(responses), sent | columns


def rllm(response=RESPONSE, **metadata):
    """rLLM, rllm/eval/_resolution.py, `_FunctionEvaluator.evaluate`: `fn(task, episode)`."""
    task = Fields(id="0", instruction=PROMPT, metadata={"ground_truth": "42"} | metadata)
    steps = [Fields(output=None, model_response=each) for each in ("Let me see.", response, "")]
    trajectory = Fields(output=None, steps=steps)
    return task, Fields(id="0:1", artifacts={}, trajectories=[trajectory])


def openenv(response=RESPONSE, **observed):
    """openenv-core 0.3.0, core/env_server/interfaces.py, `_apply_rubric`: two arguments."""
    action = Fields(message=response, metadata={})
    return action, Fields(done=True, reward=None, metadata={"answer": "42"}, **observed)
