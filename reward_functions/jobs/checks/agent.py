"""Whether the agent of a multi-turn job can be asked, and whether the rows tell it anything.

    question    looked at
    agent       it is there, has been deployed whole, and has the time to hand a request on
    version     whether a deployment can change it under the job
    answer      what it says to `{"smoke_test": true}`, which rolls nothing out
    rows        each has a prompt; those with an answer are JSON that an agent has to read
    rollouts    how many a step asks for

A smoke test has no ids of a rollout: a forwarder refuses it as a ValidationError, which shows that
it runs and speaks the contract, and not that the agent behind it does. `reward rollouts doctor`
looks at that one.

Sources: "Preparing your agent" of the SageMaker developer guide; botocore's models of Lambda and
`bedrock-agentcore`.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.calls import client as control_plane
from reward_functions.aws.deployed.findings import CheckFinding
from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.agent_rows import counted
from reward_functions.jobs.agents import DEFAULT
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.drivers.agent_rft_hyperparameters import DOCUMENTED
from reward_functions.jobs.failures import answer
from reward_functions.rollouts.episode.smoke import FIELD

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from boto3.session import Session

    from reward_functions.jobs.agents import Agent
    from reward_functions.jobs.job import HyperparameterValue

LEAST_SECONDS: Final = 30
"""Seconds of a forwarder: as long as an AgentCore runtime may take to start."""

LARGEST: Final = 64 * 1024
"""Bytes of an answer that are read."""

SHOWN: Final = 200

ERRORS: Final = frozenset({"ValidationError", "InternalServerError", "AccessDenied"})
"""The contract's own."""

SESSION: Final = "reward-functions-smoke-test".ljust(33, "0")
"""AgentCore's sessions have an id of 33 characters at least."""


def agent_findings(
    agent: Agent,
    files: Mapping[str, Path],
    hyperparameters: Mapping[str, HyperparameterValue],
    session: Session | None = None,
) -> Iterator[CheckFinding]:
    """What is to be said of a job before it costs anything; the agent is asked once.

    Args:
        agent: that the stage grants.
        files: of the job, by the field that names them.
        hyperparameters: that were given.
        session: boto3's; the caller's own where not given.

    Raises:
        AwsFailed: AWS cannot be reached.
        OSError: a file cannot be read.
    """
    yield from there(agent, session)
    if agent.moves:
        yield CheckFinding(
            "warning",
            "version",
            f"{agent.arn} moves: a deployment in the middle of the job changes the agent, which "
            "ends it; publish a version, and give its ARN",
        )
    yield from _smoke(agent, session)
    rows = 0
    for field, file in files.items():
        try:
            found = counted(file)
        except BadJob as error:
            yield CheckFinding("failure", field, str(error).removeprefix("data: "))
            continue
        rows = found.number if field == "data" else rows
        yield CheckFinding("ok", field, f"{found.number:,} rows have a prompt")
        if found.with_reference:
            yield CheckFinding(
                "warning",
                field,
                f"{found.with_reference:,} prompts are the JSON of their row, which holds the "
                "answer for the reward: an agent that hands its prompt on to the model shows it "
                "the answer; let it read the question out of it",
            )
    yield from _rollouts(rows, hyperparameters)


def there(agent: Agent, session: Session | None = None) -> Iterator[CheckFinding]:
    """Whether an agent's forwarder is there, and has the time to hand a request on.

    Of an AgentCore runtime nothing is said: it is asked.

    Args:
        agent: of either kind.
        session: boto3's; the caller's own where not given.

    Raises:
        AwsFailed: Lambda cannot be reached.
    """
    if agent.kind != "lambda":
        return
    client = control_plane("lambda", agent.region, session)
    try:
        found = answer(
            f"reading the settings of {agent.arn}",
            client.get_function_configuration,
            FunctionName=agent.arn,
        )
    except AwsFailed as error:
        if error.missing:
            yield CheckFinding(
                "failure", "agent", f"Lambda has no {agent.arn}: deploy the forwarder"
            )
        elif error.denied:
            yield CheckFinding(
                "unknown", "agent", "lambda:GetFunctionConfiguration is not allowed here"
            )
        else:
            raise
        return
    state, seconds = found.get("State", "Active"), found.get("Timeout")
    if state not in {"Active", "Inactive"}:
        yield CheckFinding("failure", "agent", f"{agent.arn} is {state}: deploy it again")
    elif isinstance(seconds, int) and seconds < LEAST_SECONDS:
        yield CheckFinding(
            "warning",
            "agent",
            f"{agent.arn} is ended after {seconds} s: give it {LEAST_SECONDS} or more, since an "
            "agent may have to start first",
        )
    else:
        yield CheckFinding("ok", "agent", f"{agent.arn} is there")


def _smoke(agent: Agent, session: Session | None) -> Iterator[CheckFinding]:
    asked = json.dumps({FIELD: True}).encode()
    ask = _asked_lambda if agent.kind == "lambda" else _asked_runtime
    try:
        failed, body = ask(agent, asked, session)
    except AwsFailed as error:
        if error.denied:
            yield CheckFinding("unknown", "answer", f"{agent.arn} may not be asked here")
        elif not error.missing:  # what is missing has been said
            yield CheckFinding("failure", "answer", str(error))
        return
    yield _judged(body, failed=failed)


def _judged(body: bytes, *, failed: bool) -> CheckFinding:
    """What an answer to the smoke test says of an agent."""
    try:
        answered: Any = json.loads(body)
    except (ValueError, RecursionError):
        answered = None
    named = answered if isinstance(answered, dict) else {}
    kind, message = str(named.get("errorType", "")), str(named.get("errorMessage", ""))[:SHOWN]
    if failed:
        return CheckFinding(
            "failure", "answer", f"the agent's function failed: {kind[:64]}: {message}"
        )
    if kind == "ValidationError":
        return CheckFinding(
            "ok", "answer", "it speaks the contract, and refuses a request without a rollout's ids"
        )
    if kind in ERRORS:
        return CheckFinding(
            "failure", "answer", f"the agent answered {kind}: {message}; a job would end at once"
        )
    if isinstance(answered, dict) and not kind:
        return CheckFinding("ok", "answer", "it answers, without an error")
    return CheckFinding(
        "warning",
        "answer",
        "it answers neither {} nor an errorType of the contract: the trainer may take that for a "
        "failure",
    )


def _asked_lambda(agent: Agent, body: bytes, session: Session | None) -> tuple[bool, bytes]:
    client = control_plane("lambda", agent.region, session)
    found = answer(f"asking {agent.arn}", client.invoke, FunctionName=agent.arn, Payload=body)
    return "FunctionError" in found, found["Payload"].read(LARGEST)


def _asked_runtime(agent: Agent, body: bytes, session: Session | None) -> tuple[bool, bytes]:
    client = control_plane("bedrock-agentcore", agent.region, session)
    named = {"agentRuntimeArn": agent.name, "qualifier": agent.qualifier or DEFAULT}
    found = answer(
        f"asking {agent.arn}",
        client.invoke_agent_runtime,
        **named,
        runtimeSessionId=SESSION,
        contentType="application/json",
        accept="application/json",
        payload=body,
    )
    content = found["response"].read(LARGEST)
    with suppress(AwsFailed):  # an idle session ends by itself
        answer("ending the session", client.stop_runtime_session, **named, runtimeSessionId=SESSION)
    return False, content


def _rollouts(
    rows: int, hyperparameters: Mapping[str, HyperparameterValue]
) -> Iterator[CheckFinding]:
    """How many rollouts a step asks for, beside how many rows there are."""
    given = {
        name: int(str(hyperparameters.get(name, DOCUMENTED[name].default)))
        for name in ("global_batch_size", "group_size")
    }
    batch, group = given.values()
    yield CheckFinding(
        "ok",
        "rollouts",
        f"a step asks the agent for up to {min(batch, rows or batch) * group:,} rollouts",
    )
