"""Everything between a judge function and its models: prompts, panel, pipeline, backends, usage.

    from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel
    from reward_functions.judge_runtime.panel import JudgePool

    config = JudgeConfig(models=(JudgeModel(model="…", region="us-east-1"),))
    judge = JudgePool(config).batch(get("rubric"), {"criteria": "summarization"})
    results = score_batch(judge, samples)
    judge.account.usd

A judge function writes questions and reads verdicts. See docs/judges.md.
"""
