"""Rows and targets of a few words, for tests of figures."""

from reward_functions import sample
from reward_functions.audit.groups import Earned
from reward_functions.core.spec import Scale
from reward_functions.core.types import Score, Scored, Unscored


def rows(*groups, **fields):
    """A sample for each response; each group is the responses to a prompt of its own.

    Args:
        groups: responses.
        fields: metadata by name: one for each response, in order.
    """
    made = []
    for number, group in enumerate(groups):
        for response in group:
            given = {name: values[len(made)] for name, values in fields.items()}
            given = {name: value for name, value in given.items() if value is not None}
            made.append(sample(response, prompt=f"question {number}", id=f"{len(made)}", **given))
    return made


class Paying:
    """A target that pays what a table or a function says of a response; None is not scored."""

    kind = "function"
    version = digest = ""
    convention = "plain"
    spec = None
    judges = False

    def __init__(self, pays, *, name="paying", scale=(0.0, 1.0), kind="function"):
        self.pays = pays if callable(pays) else pays.__getitem__
        self.name = name
        self.scale = scale and Scale(*scale)
        self.kind = kind
        self.described = f"{name}, a function"
        self.calls = 0
        self.batches = []
        self.closed = False
        self.parameters = {}

    def score(self, samples, *, group=False):
        assert group
        self.batches.append([each.id for each in samples])
        self.calls += 1
        return [self._result(each) for each in samples]

    def _result(self, each):
        value = self.pays(each.response)
        if value is None:
            return Unscored(each.id, ValueError("no reference"))
        return Scored(each.id, Score(float(value), reason=f"read {each.response}"))

    def probe(self, samples):
        return []

    def close(self):
        self.closed = True


def earned(samples, values, *, scale=None, pass_at=0.5):
    """What a reward gave, from a value for each sample; None is not scored."""
    results = [
        Unscored(each.id, ValueError("no reference"))
        if value is None
        else Scored(each.id, Score(float(value)))
        for each, value in zip(samples, values, strict=True)
    ]
    return Earned.of(samples, results, scale, pass_at)


def by_id(figures):
    """The figures by their id, each of which there is once."""
    assert len({each.id for each in figures}) == len(figures)
    return {each.id: each for each in figures}


def ends(figure):
    """A figure's value and its interval."""
    return (figure.value, figure.low, figure.high)
