"""How trainers call a reward function: the arguments of their own call expressions, as recorded."""

from types import SimpleNamespace

TRL = {
    # trl 1.16.0, trl/trainer/grpo_trainer.py, `_calculate_rewards`: prompts, completions and
    # completion_ids by keyword, then the columns, the state of the trainer and the two loggers.
    "prompts": ["What is 6 × 7?", "What is 6 × 7?", "What is 1/4 + 1/4?"],
    "completions": ["It is \\boxed{42}.", "It is \\boxed{41}.", "\\boxed{0.5}"],
    "completion_ids": [[5, 6], [5, 7], [8]],
    "answer": ["42", "42", "\\frac{1}{2}"],
    "topic": ["products", "products", "sums"],
    "trainer_state": SimpleNamespace(global_step=3),
}

TRL_CHAT = TRL | {
    # The same for a conversational data set: prompts and completions are lists of turns.
    "prompts": [[{"role": "user", "content": prompt}] for prompt in TRL["prompts"]],
    "completions": [[{"role": "assistant", "content": each}] for each in TRL["completions"]],
}

VERL = {
    # verl 0.9.1, verl/experimental/reward_loop/reward_manager/naive.py, `run_single`; what
    # extra_info holds beside the row's own is written there.
    "data_source": "sums",
    "solution_str": "It is \\boxed{42}.",
    "ground_truth": "42",
    "extra_info": {
        "split": "train", "index": 0, "question": "What is 6 × 7?",
        "num_turns": None, "rollout_reward_scores": {},
    },
}  # fmt: skip

VERL_ROUTER = {
    # The same where a reward model is served: `extra_reward_kwargs` of naive.py.
    "reward_router_address": "127.0.0.1:1",
    "reward_model_tokenizer": object(),
}

VERL_BATCH = {
    # verl 0.9.1, verl/workers/reward_manager/batch.py, `verify`.
    "data_sources": ["sums", "sums"],
    "solution_strs": ["It is \\boxed{42}.", "It is \\boxed{41}."],
    "ground_truths": ["42", "42"],
    "extra_infos": [{"rollout_reward_scores": {}}, {"rollout_reward_scores": {}}],
}
