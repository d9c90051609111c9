"""What asks judge models: panel, pipeline, backends, and an account of what was asked.

    from reward_functions.judge_runtime.config import JudgeModel, Judging
    from reward_functions.judge_runtime.panel import Bench

    judging = Judging(models=(JudgeModel(model="…", region="us-east-1"),))
    sitting = Bench(judging).sit(get("rubric"), {"criteria": "summarization"})
    results = score_batch(sitting, samples)
    sitting.account.usd

A judge function writes questions and reads verdicts; everything between, from retries to money, is
done here. See docs/judges.md.
"""
