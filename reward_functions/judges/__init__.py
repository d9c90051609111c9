"""RLAIF: rewards that ask a model. One reward function per file, its prompt beside it in Markdown.

    from reward_functions.judges import Bench, JudgeModel, Judging

    judging = Judging(models=(JudgeModel(model="…", region="us-east-1"),))
    sitting = Bench(judging).sit(get("rubric"), {"criteria": "summarization"})
    results = score_batch(sitting, samples)
    sitting.account.usd

A judge function writes questions and reads verdicts; everything between, from retries to money, is
the bench's. See docs/judges.md.
"""

from reward_functions.judges._bench import Bench, Sitting
from reward_functions.judges._settings import JudgeModel, Judging

__all__ = ["Bench", "JudgeModel", "Judging", "Sitting"]
