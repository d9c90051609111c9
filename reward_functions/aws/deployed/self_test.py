"""The self-test of one deployed version: its examples, scored by itself where it stands.

    {"reward_functions": {"self_test": "recorded"}}  →  {"failures": [...], "unavailable": [...], …}

A judge answers from its recorded examples, so that the test costs nothing and asks no model.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from reward_functions.aws.deployed.findings import failed
from reward_functions.aws.deployed.invocation import FunctionError
from reward_functions.core.errors import ConfigurationError

if TYPE_CHECKING:
    from reward_functions.aws.deployed.function import DeployedFunction

EVENT: Final = {"reward_functions": {"self_test": "recorded"}}


class SelfTestFailed(ConfigurationError):
    """A version that does not score its own examples as it declares them."""


def require_self_test(function: DeployedFunction) -> None:
    """Invoke a version's self-test.

    Raises:
        SelfTestFailed: it fails, does not answer, or an example earns something else.
        AwsFailed: it could not be invoked.
    """
    try:
        problem = _problem(function.invoke(EVENT).body)
    except FunctionError as error:
        problem = failed(error)
    if problem is not None:
        raise SelfTestFailed(f"{function.arn} does not pass its self-test: {problem}")


def _problem(body: bytes) -> str | None:
    """The first thing that is wrong, as the version says it; None where all examples pass."""
    try:
        report = json.loads(body)
    except ValueError:
        report = None
    if not isinstance(report, dict) or not isinstance(report.get("failures"), list):
        return "it has none, and answers as to a trainer"
    found = [*report["failures"], *report.get("unavailable", ())]
    return str(found[0]) if found else None
