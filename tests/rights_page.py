"""The tables of rights of docs/deploy.md: what each may do is read from the documents themselves.

`rights-people` has the policies to attach to people, `rights-roles` what services and functions run
as. By hand are what is refused, and how a row is checked: tests/deploy/test_tried.py holds it to
what is tried there.
"""

from __future__ import annotations

import re
from functools import cache
from inspect import getdoc
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.cdk.policies import people, scale
from reward_functions.cdk.policies.documents import AGENTS, BEDROCK, IMPORT, SAGEMAKER, TRAINING
from tests.cdk import everybody

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

PEOPLE: Final[Mapping[str, Callable[..., object]]] = {
    "data": people.prepare_data,
    "jobs": people.run_jobs,
    "evaluate": people.evaluate,
    "operate": people.operate,
    "sagemaker": people.run_customization,
    "training": people.run_training_jobs,
    "hyperpod": people.submit_to_hyperpod,
    "agents": people.run_multi_turn,
    "score": scale.score,
}
"""The policies by their tasks, each with what makes it: its docstring says for whom."""


class Row(NamedTuple):
    """Somebody of the table of rights.

    Args:
        who: as the table names them.
        may_not: among others.
        checked: how.
        documents: whose documents they hold, by the names of `everybody.documents`.
        may: in words, where no document says it.
    """

    who: str
    may_not: str
    checked: str
    documents: tuple[str, ...] = ()
    may: str = ""


ABOVE: Final = "see its row above"
ENFORCED_IN_PART: Final = "data and functions enforced, else simulated"

ROWS: Final = (
    Row(
        "Bedrock's jobs",
        "ask other functions, read or write other prefixes, delete",
        "enforced",
        (f"{BEDROCK} role",),
    ),
    Row(
        "SageMaker's serverless jobs",
        "start jobs, register evaluators, ask agents",
        ENFORCED_IN_PART,
        (f"{SAGEMAKER} role",),
    ),
    Row(
        "SageMaker's training jobs",
        "push images, make packages, read the escrow, start jobs",
        f"{ENFORCED_IN_PART}; context with keys",
        (f"{TRAINING} role",),
    ),
    Row(
        "a HyperPod cluster's jobs",
        "pull images, write logs (the cluster's own role does), ask agents",
        ENFORCED_IN_PART,
        (everybody.CLUSTER,),
    ),
    Row(
        "multi-turn jobs",
        "invoke the stage's functions, report for an agent",
        "data and agents enforced, else simulated",
        (f"{AGENTS} role",),
    ),
    Row(
        "imports",
        "read data, invoke anything",
        "data enforced, packages simulated",
        (f"{IMPORT} role",),
    ),
    Row(
        "an agent",
        "start or stop a job, read data; read or delete a result, put one elsewhere",
        "simulated; results enforced",
        (everybody.AGENT,),
    ),
    Row(
        "a runtime on AgentCore",
        "read another's code, write another's log",
        "decided by the documents, with keys",
        (everybody.RUNTIME,),
    ),
    Row(
        "a forwarder",
        "read a queue, send to another, read another secret",
        "enforced; the key with keys",
        (everybody.KEYED, everybody.QUEUED),
    ),
    Row("a verifier", "anything else", "decided by the documents", (everybody.VERIFIER,)),
    Row(
        "a reward with rights of its own",
        "anything else; with one right less, score",
        "enforced; its key and its network simulated with keys",
        (everybody.WITH_RIGHTS,),
    ),
    Row(
        "a judge",
        "ask another model, scan or delete verdicts, read another table",
        "model and table enforced; profiles with keys",
        (everybody.JUDGE,),
    ),
    Row(
        "the custodian",
        "invoke a plain function, delete another role; in production, delete an object",
        "versions, buckets, roles and functions enforced, also with one right less; environments "
        "kept ready, with keys",
        (everybody.CUSTODIAN,),
    ),
    Row(
        "the function of deferred rewards",
        "ask a plain function, `$LATEST` or `live`; write a result; take dead letters",
        "enforced but for the queue and the job runtime, which are simulated",
        (everybody.SCORER,),
    ),
    Row(
        "the function of shards",
        "ask a plain function, `$LATEST` or `live`; write data, delete a part that is done",
        "enforced: without each right no part counts as done",
        (everybody.SHARDS,),
    ),
    Row(
        "the state machine",
        "ask a reward, write anything",
        "simulated",
        (everybody.MACHINE,),
    ),
    Row(
        "the rules of job events",
        "publish to another topic; no other rule or account acts as they do",
        "decided by the documents, with keys",
        (everybody.PUBLISHER,),
    ),
    Row(
        "who takes a role on",
        "other services, accounts, regions, kinds of jobs",
        "simulated with keys; Bedrock's also enforced",
        may="its own service, for jobs of this account and region; multi-turn jobs also tag the "
        "session",
    ),
    Row(
        "who hands over a role",
        "any other pair of the two",
        "simulated with keys",
        may="that one role, to its one service",
    ),
    Row(
        "`data`, `jobs`, `evaluate`, `operate`",
        "each other's changes",
        "enforced where the emulator has the action, else simulated",
        may=ABOVE,
    ),
    Row(
        "`operate`, with `feedback`",
        "read results, purge a queue",
        "enforced, refusals simulated",
        may="take dead letters, send to the queue",
    ),
    Row(
        "`score`",
        "ask a function, write data, change the machine",
        "enforced, refusals simulated",
        may=ABOVE,
    ),
    Row(
        "`agents`, `training`, `hyperpod`",
        "each other's jobs and logs, the rewards, changes of a cluster",
        "agents, logs and clusters enforced, else simulated",
        may=ABOVE,
    ),
    Row(
        "`sagemaker`",
        "each other's jobs, deletions of packages and evaluators",
        "simulated",
        may=ABOVE,
    ),
    Row(
        "all of these, and every operation that any of them has",
        "all others: a new grant fails until it has a row",
        "decided by the documents, with keys",
        may="[as its table says](../tests/cdk/test_who_may_what.py)",
    ),
)


@cache
def _documents() -> Mapping[str, list[Any]]:
    return everybody.documents()


def of_people() -> Iterator[list[str]]:
    """The policies for people: for whom each is, and what it holds."""
    yield ["policy", "for people who", "its statements"]
    for task, make in PEOPLE.items():
        whom = (getdoc(make) or "").partition(".\n")[0].partition("\n\n")[0].rstrip(".")
        whom = " ".join(whom.removeprefix("For people who ").split())
        held = [f"{words} ({_shown(actions)})" for words, actions in _held([task]).items()]
        yield [f"`{task}`", whom, "; ".join(held)]


def of_roles() -> Iterator[list[str]]:
    """Who runs as what: what each may and may not do, and how that is checked."""
    yield ["who", "may", "may not, among others", "checked"]
    for row in ROWS:
        may = ", ".join(_held(row.documents)) or row.may
        yield [row.who, may, row.may_not, row.checked]


def _held(names: Iterable[str]) -> Mapping[str, list[str]]:
    """The statements of some by their names in words, each with its actions."""
    held: dict[str, dict[str, None]] = {}
    for name in names:
        for document in _documents()[name]:
            for each in document["Statement"]:
                words = _words(each["Sid"], denied=each["Effect"] == "Deny")
                held.setdefault(words, {}).update(dict.fromkeys(each["Action"]))
    return {words: [*actions] for words, actions in held.items()}


def _words(sid: str, *, denied: bool) -> str:
    """`PutData1` as `put data`."""
    words = " ".join(re.findall(r"SageMaker|OpenAI|[A-Z][a-z]+", sid))
    for name in re.findall(r"(?!SageMaker|OpenAI)\b[A-Z][a-z]+\b", words):
        words = re.sub(rf"\b{name}\b", name.lower(), words)
    return f"denied: {words}" if denied else words


def _shown(actions: Iterable[str]) -> str:
    """Actions in code, those of one service together."""
    services: dict[str, list[str]] = {}
    for action in actions:
        service, _, operation = action.partition(":")
        services.setdefault(service, []).append(operation)
    return "; ".join(f"`{service}:` {', '.join(named)}" for service, named in services.items())


TABLES: Final = {"rights-people": of_people, "rights-roles": of_roles}
