"""Adapters: one reward, called the way each trainer and evaluation framework calls.

    trl.py       `reward_func`: for `GRPOTrainer(reward_funcs=[…])`, and for callers of that form
    verl.py      `compute_score` of the reward loop, one by one, and of a batch reward manager
    verifiers.py    `reward_func`, and each reward by its import path, for a task's `rewards`
    inspect_ai.py   `scorer`
    openrlhf.py     `reward_function`, for `reward_func` of a file, and `last_step` of an agent
    ms_swift.py     `reward_class`, for `orms`
    rllm.py         `evaluator`, and each reward by its import path, for `[verifier]`
    openenv.py      `rubric`
    ray_data.py     `RewardScorer`, a class for `Dataset.map_batches`
    dask.py         `score_partition`, for `Bag.map_partitions`

Each module imports `core` alone, or of `scoring` how a result is written; its host only where a
function needs it: none is a dependency.
"""
