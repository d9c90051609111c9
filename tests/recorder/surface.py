"""The one module that touches the project: everything else of the recorder is plain JSON.

It runs in an old checkout and in a new one, so that it takes public names only; `either` finds
those that a change has renamed.
"""

from reward_functions import RewardError, Scored, get, score_batch, specs, testing
from reward_functions.serving.contract import decode
from tests.recorder import names
from tests.recorder.rows import Trial, digest, row
from tests.recorder.scripted import dice

NAMES = names.read()

ATTEMPTS = 3
"""How often a row is scored whose outcome rests on the machine: an engine that was ended is there
again at the next attempt."""

LARGEST = 100_100
"""Characters of a hostile response. The larger ones only cost patience."""

SHOWN = 160
"""Characters of a response or a reference that a record keeps for its reader, from the end."""

KEPT = 400
"""Characters of an answer in a record. Of longer ones a hash stands for the rest."""


def either(owner, name):
    """An attribute by its old name or by its new one."""
    for known in (name, NAMES.attributes.get(name, name)):
        if hasattr(owner, known):
            return getattr(owner, known)
    raise AttributeError(f"{owner!r} has no {name!r}: is it renamed in names.toml?")


def examples():
    """A trial for each worked example of every reward."""
    for spec in specs().values():
        for position, example in enumerate(spec.examples, 1):
            yield _shown(spec, example, f"examples/{spec.name}:{position}", example.response)


def hostile():
    """Every reward's first example, answered by each hostile response of the library."""
    for spec in specs().values():
        for position, (_, response) in enumerate(testing.hostile_responses(), 1):
            if len(response) <= LARGEST:
                where = f"hostile/{spec.name}:{position}"
                yield _shown(spec, spec.examples[0], where, response)


def _shown(spec, example, where, response):
    """A trial as an example shows it: with its parameters, and the verdicts of its judge."""
    answered = row(where, response, example.reference, example.prompt, **example.metadata)
    parameters = dict(either(example, "knobs"))
    if not spec.needs.judge:
        return Trial(spec.name, (answered,), parameters)
    return Trial(spec.name, (answered,), parameters, "example", _in_turn(example.verdicts))


def _in_turn(verdicts):
    def answer(question):
        return verdicts[question.turn] if question.turn < len(verdicts) else {}

    return answer


def outcomes(trial):
    """The lines of a trial, one for each of its rows."""
    for _ in range(ATTEMPTS):
        found = _outcomes(trial)
        if not any(map(NAMES.rests_on_the_engine, found)):
            break
    return found


def _outcomes(trial):
    spec, asked = get(trial.reward), {}
    samples = decode([{**each.wire, "id": f"row-{n}"} for n, each in enumerate(trial.rows)])
    answer = trial.answer or dice(trial.rows[0].name)

    def told(question):
        asked.setdefault(question.sample, []).append(question.key[:16])
        return answer(question)

    ask = either(testing, "FakeAsk")(answer=told) if spec.needs.judge else None
    reward, parameters = _bound(spec, trial.parameters, ask)
    results = score_batch(reward, samples, workers=1)
    return [
        {
            "case": trial.name(each),
            "reward": trial.reward,
            "parameters": parameters,
            "judge": trial.judge or ("scripted" if ask else ""),
            "where": each.where,
            "reference": str(each.reference)[-SHOWN:],
            "response": each.response[-SHOWN:],
            "version": spec.version,
            "asked": asked.get(result.id, []),
            **_outcome(result),
        }
        for each, result in zip(trial.rows, results, strict=True)
    ]


def _bound(spec, parameters, ask):
    """(the reward with these parameters, the parameters under the names it knows them by)."""
    try:
        return spec.bind(parameters, ask=ask), parameters
    except RewardError:
        renamed = NAMES.parameters_renamed(parameters)
        return spec.bind(renamed, ask=ask), renamed


def _outcome(result):
    if not isinstance(result, Scored):
        error = result.error
        return {
            "score": None,
            "metrics": [],
            "answer": None,
            "rule": None,
            "reason": str(error),
            "error": type(error).__name__,
        }
    score = result.score
    return {
        "score": score.value,
        "metrics": [[metric.name, metric.value, metric.type] for metric in score.metrics],
        "answer": _kept(score.answer),
        "rule": score.evidence.rule if score.evidence else None,
        "reason": score.reason,
        "error": None,
    }


def _kept(text):
    """An answer as a record keeps it."""
    if text is None or len(text) <= KEPT:
        return text
    return f"{text[:KEPT]}… {digest(text)}"
