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
from reward_functions.judges._settings import LADDER, Form, JudgeModel, Judging

if TYPE_CHECKING:
    from reward_functions.judges._account import Account, price_of, prices_as_of
    from reward_functions.judges._attacks import Attack, attacks
    from reward_functions.judges._backends import open_model
    from reward_functions.judges._bench import Bench, Sitting
    from reward_functions.judges._forms import form_of
    from reward_functions.judges._gates import gate
    from reward_functions.judges._material import asked
    from reward_functions.judges._patience import Patient
    from reward_functions.judges._prompting import prompt_of, question
    from reward_functions.judges._replay import Recorder, Replay
    from reward_functions.judges._scores import METRICS, gated, judged

__all__ = [
    "LADDER",
    "METRICS",
    "Account",
    "Ask",
    "Attack",
    "Bench",
    "Field",
    "Form",
    "JudgeModel",
    "Judging",
    "Patient",
    "Question",
    "Recorder",
    "Replay",
    "Sitting",
    "Usage",
    "Verdict",
    "asked",
    "attacks",
    "form_of",
    "gate",
    "gated",
    "judged",
    "open_model",
    "price_of",
    "prices_as_of",
    "prompt_of",
    "question",
]

_HOMES: Final = {
    "METRICS": "_scores",
    "Account": "_account",
    "Attack": "_attacks",
    "Bench": "_bench",
    "Patient": "_patience",
    "Recorder": "_replay",
    "Replay": "_replay",
    "Sitting": "_bench",
    "asked": "_material",
    "attacks": "_attacks",
    "form_of": "_forms",
    "gate": "_gates",
    "gated": "_scores",
    "judged": "_scores",
    "open_model": "_backends",
    "price_of": "_account",
    "prices_as_of": "_account",
    "prompt_of": "_prompting",
    "question": "_prompting",
}


def __getattr__(name: str) -> Any:
    """What only judges need, loaded when it is asked for: verifiers share the settings alone."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - see above

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
