"""Which form of verdict a model really takes: tried once, before a deployment depends on it.

The table of families is a guess about models that change. A probe asks one small question, with the
form the table says and then with every weaker one, and says which first gave a legal verdict. The
first call with a schema makes Bedrock compile it, which can take minutes: a probe warms it, too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reward_functions.core.asking import Field
from reward_functions.core.errors import JudgeUnavailable, NoVerdict
from reward_functions.core.types import Sample
from reward_functions.judges._backends import open_model
from reward_functions.judges._forms import form_of
from reward_functions.judges._prompting import prompt_of, question
from reward_functions.judges._settings import LADDER

if TYPE_CHECKING:
    from reward_functions.core.asking import Question
    from reward_functions.judges._settings import Form, JudgeModel

FIELDS: Final = (
    Field("reason", "one sentence"),
    Field("same", "whether the answer says what the reference says", ("no", "yes")),
)


def probe(model: JudgeModel, about: Question | None = None) -> Form:
    """The first form, from the one the model's family should take downwards, that it does take.

    Args:
        model: which, and where. Its own `form` is where the search begins, unless it is "auto".
        about: a question to ask, such as one of the judge to deploy: its schema is then warm. A
            small one where not given.

    Raises:
        BadJudge: the model cannot be asked as it is set.
        JudgeUnavailable: it took no form; the last failure.
        NoVerdict: it took none with a legal verdict; the last failure.
    """
    about = about or _small()
    form, *weaker = LADDER[LADDER.index(form_of(model)) :]
    while True:
        try:
            open_model(replace(model, form=form), 1)(about)
        except (JudgeUnavailable, NoVerdict) as error:
            outage = isinstance(error, JudgeUnavailable) and error.kind != "denied"
            if outage or not weaker:
                raise
            form, *weaker = weaker
        else:
            return form


def _small() -> Question:
    data = {"prompt": "How many legs has a horse?", "reference": "4", "answer": "four"}
    return question(prompt_of("reference"), Sample(id="probe", messages=()), FIELDS, data)
