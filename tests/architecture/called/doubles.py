"""The services that stand in for AWS: what each operation asks a right for, and what it does."""

import ast
from datetime import UTC, datetime
from fractions import Fraction
from random import Random
from types import SimpleNamespace
from unittest.mock import MagicMock

from reward_functions.audit.other_answers import INJECTIONS
from reward_functions.cdk.policies.iam import Place
from reward_functions.local.runtime_double import RuntimeSettings
from reward_functions.local.runtime_double.state import Trajectories
from reward_functions.local.training_double.identity import Caller
from reward_functions.local.training_double.jobs import Job, State
from reward_functions.local.training_double.openai_api import File
from reward_functions.local.training_double.policy import Policy
from reward_functions.local.training_double.service import Call
from reward_functions.local.training_double.strategies import HASH, SENTENCE, WORDING, Task
from tests.architecture.called.rows import Rows, numbered, taken
from tests.scripted_runtime import ARN, ROLLOUT


def controlled_runtime(_, act):
    """How much an action of the runtime double answers, and what it leaves."""
    trajectories = Trajectories(RuntimeSettings(), clock=lambda: 1.0)
    trajectories.register((ARN, "before"))
    answer = act(trajectories, {"job": ARN, "trajectory": ROLLOUT})
    known = [each.trajectory_id for each in trajectories.list()]
    return len(answer), known


ROW = '{"messages": [{"role": "user", "content": "?"}], "reference_answer": "1"}'

CONTROLS = {
    "GET ready": {"seconds_per_step": 3},
    "POST throttle": {"operation": "Converse", "times": 2},
    "POST fail": {"job": "j"},
    "POST speed": {"seconds_per_step": 3},
    "POST data": {"name": "f", "content": ROW},
}


def job_of(identifier, name, **given):
    return Job(
        id=identifier, name=name, place=Place("aws", "us-west-2", "1" * 12), path="openai",
        base=CREATED["model"], grader=GRADER, hyperparameters={}, seed=1, policy=Policy.base(),
        **given,
    )  # fmt: skip


EMPTIED = ["runs.close", "prompts.forget"]


def controlled_training(name, act):
    """How much an action of the training double answers, what it calls, and what it leaves."""
    state = State()
    state.made["j"] = job_of("j", "j")
    service = MagicMock(state=state)
    answer = act(service, CONTROLS.get(name, {}))
    called = [called for called, *_ in service.mock_calls if "__" not in called]
    return len(answer), called, len(state.made), dict(state.throttled), state.seconds_per_step


STARTED = datetime(2026, 1, 2, tzinfo=UTC)


def looked_up(_, row):
    action, serve = row
    job = SimpleNamespace(
        request={"MlflowConfig": {}},
        hyperparameters={"lr": 1},
        status="succeeded",
        created=STARTED,
        ended=None,
        name="j",
        events=[SimpleNamespace(at=STARTED, data={"reward": 1.0})],
    )
    found = serve(job, {"run_id": "r", "metric_key": "reward"})
    return action, sorted(found)


FIRST = SimpleNamespace(choice=lambda several: several[0], randint=lambda low, _: low)
"""Draws always the first."""

ANSWERS = {
    # an answer of each kind, and a near miss of it
    "whole number": ("1,200", "744"),
    "decimal": ("$12.50", "$7.75"),
    "percentage": ("50%", "31%"),
    "yes or no": ("Yes", "no"),
    "choice": ("(B)", "(A)"),
    "formula": (r"\frac{1}{2}", r"\frac{2}{2}"),
    "words": ("Paris", "Maria"),
}


def near_miss(kind, miss):
    return miss(Task(ANSWERS[kind][0], kind, SENTENCE, ("7",), ("Maria",)), FIRST)


def strategy(_, row):
    """A strategy, and what its response to a task shows."""
    text = row.write(Task("42", "whole number", HASH, ("7", "30"), ()), Random(5))
    marks = {
        "right": "42" in text,
        "marked": "####" in text,
        "unsure": any(each in text for each in WORDING["unsure"]),
        "checked": any(each in text for each in WORDING["double_checks"]),
        "listed": text.count("####") > 1 or ", " in text.partition("####")[2],
        "ordering": any(each in text for each in INJECTIONS),
        "worked": any(each in text for each in WORDING["closings"]),
        "written": bool(text.strip()),
    }
    return row.name, " ".join(mark for mark, shown in marks.items() if shown)


GRADER = "arn:aws:lambda:us-west-2:111111111111:function:g:1"
METHOD = {
    "type": "reinforcement",
    "reinforcement": {"grader": {"type": "lambda", "lambda": {"function": GRADER}}},
}
CREATED = {"model": "openai.gpt-oss-20b", "training_file": "file-1", "method": METHOD}

ASKED = {
    "/files": {"purpose": "fine-tune", "file": ("f", b"")},
    "/fine_tuning/jobs": CREATED,
    "/chat/completions": {
        "model": CREATED["model"],
        "messages": [{"role": "user", "content": "?"}],
    },
}


def served(_, operation):
    """The objects that an operation of the OpenAI-compatible API answers with, and what is left."""
    place, state = Place("aws", "us-west-2", "1" * 12), State()
    state.made["file-1"] = File(id="file-1", name="f", place=place, content=b"")
    state.made["ftjob-1"] = job = job_of("ftjob-1", "j", request=CREATED)
    job.note("m")
    service = MagicMock(state=state)
    service.prompts.row_of.return_value = ({"messages": [], "reference_answer": "7"}, 0)
    given = {"file": "file-1", "job": "ftjob-1", "model": CREATED["model"]}
    posted = ASKED.get(operation.path) if operation.method == "POST" else None
    call = Call(service, Caller("arn", place.account, place.region), posted or given)
    answer = operation.serve(call)
    data = sorted({each["object"] for each in answer.get("data", ())})
    stopped = service.runs.stop.called
    kinds = [len(state.of(kind)) for kind in (File, Job)]
    return operation.action, [answer["object"], *data], *kinds, stopped


COMPARED = (("a/b", "a/b"), ("a/b", "A/B"), ("a/b", "a/*"), ("a/b", "a/c"))

EQUAL, FOLDED, ALIKE = COMPARED[:1], COMPARED[:2], (COMPARED[0], COMPARED[2])


def compared(_, row):
    compare, wanted = row
    return tuple(taken(lambda pair: compare(*pair), *COMPARED)), wanted


DOUBLE = "local.training_double"

ROWS = {
    f"{DOUBLE}.server:ACTIONS": Rows(
        controlled_training,
        {
            "GET ready": (0, [], 1, {}, 0.0),
            "GET state": (8, [], 1, {}, 0.0),
            "POST throttle": (0, [], 1, {"Converse": 2}, 0.0),
            "POST fail": (0, ["runs.fail"], 1, {}, 0.0),
            "POST speed": (0, [], 1, {}, 3.0),
            "POST data": (0, ["prompts.add"], 1, {}, 0.0),
            "POST reset": (0, EMPTIED, 0, {}, 0.0),
        },
    ),
    f"{DOUBLE}.mlflow:PATHS": Rows(
        looked_up,
        {
            "runs/get": ("GetRun", ["run"]),
            "metrics/get-history": ("GetMetricHistory", ["metrics"]),
        },
    ),
    f"{DOUBLE}.openai_api:OPERATIONS": Rows(
        served,
        numbered(
            # the right, the objects of the answer, the files and jobs that are there, stopped
            ("CreateFile", ["file"], 2, 1, False),
            ("ListFiles", ["list", "file"], 1, 1, False),
            ("GetFile", ["file"], 1, 1, False),
            ("DeleteFile", ["file"], 0, 1, False),
            ("CreateFineTuningJob", ["fine_tuning.job"], 1, 2, False),
            ("ListFineTuningJobs", ["list", "fine_tuning.job"], 1, 1, False),
            ("GetFineTuningJob", ["fine_tuning.job"], 1, 1, False),
            ("CancelFineTuningJob", ["fine_tuning.job"], 1, 1, True),
            ("GetFineTuningJob", ["list", "fine_tuning.job.event"], 1, 1, False),
            ("GetFineTuningJob", ["list"], 1, 1, False),
            ("CreateInference", ["chat.completion"], 1, 1, False),
        ),
    ),
    f"{DOUBLE}.strategies:STRATEGIES": Rows(
        strategy,
        numbered(
            ("correct", "right marked worked written"),
            ("correct and verbose", "right marked checked worked written"),
            ("near miss", "marked worked written"),
            ("format only", "marked written"),
            ("hedged", "right marked unsure written"),
            ("list of guesses", "right marked listed written"),
            ("injection", "marked ordering written"),
            ("truncated", "written"),
            ("empty", ""),
        ),
    ),
    f"{DOUBLE}.strategies:_NEAR_MISSES": Rows(
        near_miss, {kind: miss for kind, (_, miss) in ANSWERS.items()}
    ),
    "aws.iam_matching:OPERATORS": Rows(
        compared,
        {
            "stringequals": (EQUAL, True),
            "stringnotequals": (EQUAL, False),
            "stringequalsignorecase": (FOLDED, True),
            "stringnotequalsignorecase": (FOLDED, False),
            **dict.fromkeys(("stringlike", "arnequals", "arnlike"), (ALIKE, True)),
            **dict.fromkeys(("stringnotlike", "arnnotequals", "arnnotlike"), (ALIKE, False)),
        },
    ),
    "local.runtime_double.policies:_OPERATORS": Rows(
        lambda _, apply: apply(Fraction(6), Fraction(4)),
        {
            ast.Add: Fraction(10),
            ast.Sub: Fraction(2),
            ast.Mult: Fraction(24),
            ast.Div: Fraction(3, 2),
        },
    ),
    "local.runtime_double.runtime:ACTIONS": Rows(
        controlled_runtime,
        {
            "GET /counts": (6, ["before"]),
            "POST /trajectories": (7, ["before", ROLLOUT]),
        },
    ),
}
