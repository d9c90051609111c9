"""RLAIF: rewards that ask a model. One reward function per file, its prompt beside it in Markdown.

    from reward_functions.judges import Bench, JudgeModel, Judging

    judging = Judging(models=(JudgeModel(model="…", region="us-east-1"),))
    sitting = Bench(judging).sit(get("rubric"), {"criteria": "summarization"})
    results = score_batch(sitting, samples)
    sitting.account.usd

A judge function writes questions and reads verdicts; everything between, from retries to money, is
the bench's. See docs/judges.md.
"""

from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.asking import Ask, Field, Question, Usage, Verdict
from reward_functions.judges._settings import JudgeModel, Judging

if TYPE_CHECKING:
    from reward_functions.judges._attacks import Attack, attacks
    from reward_functions.judges._bench import Bench, Sitting
    from reward_functions.judges._gates import gate
    from reward_functions.judges._material import asked
    from reward_functions.judges._probe import probe
    from reward_functions.judges._prompting import prompt_of, question
    from reward_functions.judges._replay import Recorder, Replay
    from reward_functions.judges._scores import METRICS, gated, judged

__all__ = [
    "METRICS",
    "Ask",
    "Attack",
    "Bench",
    "Field",
    "JudgeModel",
    "Judging",
    "Question",
    "Recorder",
    "Replay",
    "Sitting",
    "Usage",
    "Verdict",
    "asked",
    "attacks",
    "gate",
    "gated",
    "judged",
    "probe",
    "prompt_of",
    "question",
]

_HOMES: Final = {
    "METRICS": "_scores",
    "Attack": "_attacks",
    "Bench": "_bench",
    "Recorder": "_replay",
    "Replay": "_replay",
    "Sitting": "_bench",
    "asked": "_material",
    "attacks": "_attacks",
    "gate": "_gates",
    "gated": "_scores",
    "judged": "_scores",
    "probe": "_probe",
    "prompt_of": "_prompting",
    "question": "_prompting",
}


def __getattr__(name: str) -> Any:
    """What only judges need, loaded when it is asked for: verifiers share the settings alone."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - see above

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
