"""RLAIF: rewards that ask a model. One reward function per file, its prompt beside it in Markdown.

    from reward_functions.judges import Bench, JudgeModel, Judging

    judging = Judging(models=(JudgeModel(model="…", region="us-east-1"),))
    sitting = Bench(judging).sit(get("rubric"), {"criteria": "summarization"})
    results = score_batch(sitting, samples)
    sitting.account.usd

A judge function writes questions and reads verdicts; everything between, from retries to money, is
the bench's. See docs/judges.md.
"""

from typing import TYPE_CHECKING, Any

from reward_functions.judges._settings import JudgeModel, Judging

if TYPE_CHECKING:
    from reward_functions.judges._bench import Bench, Sitting

__all__ = ["Bench", "JudgeModel", "Judging", "Sitting"]


def __getattr__(name: str) -> Any:
    """The bench, loaded when it is asked for: verifiers, which share the settings, never do."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from reward_functions.judges import _bench  # noqa: PLC0415 - see above

    return getattr(_bench, name)
