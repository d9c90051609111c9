"""Two models are asked by turns, each answer timed; the training double is not asked at all."""

import json
from pathlib import Path
from types import SimpleNamespace

from helpers.speed import NOT_RUN, Timed, answers, side_by_side
from reward_functions.core.types import Usage
from reward_functions.jobs.asking import Busy, ModelAnswer

ROW = {"id": "1", "messages": [{"role": "user", "content": "6 × 7?"}], "reference_answer": "42"}


class Model:
    """Answers with its name; the first call it is too busy for, where it is to be.

    Args:
        name: its own.
        asked: who was asked, in their order.
        busy: calls that it does not take.
    """

    def __init__(self, name, asked, busy=0):
        self.model, self.asked, self.busy = name, asked, busy

    def __call__(self, prompt):
        (turn,) = prompt
        assert turn.content == "6 × 7?"
        self.asked.append(self.model)
        if self.busy:
            self.busy -= 1
            raise Busy("later")
        return ModelAnswer(f"I am {self.model}", usage=Usage(10, 20))


def test_models_are_asked_by_turns(tmp_path):
    file = Path(tmp_path, "train.jsonl")
    file.write_text(json.dumps(ROW) + "\n")
    job = SimpleNamespace(data=SimpleNamespace(path=file))
    asked = []
    both = [Timed(Model("base", asked)), Timed(Model("tuned", asked, busy=1))]
    (sheet,) = side_by_side(job, both, 2).sheets
    assert asked == ["base", "tuned", "tuned", "base", "tuned"], "a busy model is asked again"
    assert [len(model.seconds) for model in both] == [2, 2], "and only answers are timed"
    assert [(row[0], row[2], row[4]) for row in sheet.rows] == [
        ("base", "20", "I am base"),
        ("tuned", "20", "I am tuned"),
    ]


def test_the_training_double_is_not_asked():
    here = SimpleNamespace(place=SimpleNamespace(simulated=True))
    assert answers(SimpleNamespace(here=here)).notes == [NOT_RUN]
