"""What every operation of the double works with, and the call that it is to serve."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from reward_functions.cdk.policies.iam import Place
from reward_functions.local.loopback_service.requests import Refused, missing
from reward_functions.local.training_double.sagemaker_state import Import, Registry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.local.training_double.agent_runs import AgentRuns
    from reward_functions.local.training_double.clients import Clients
    from reward_functions.local.training_double.identity import Caller
    from reward_functions.local.training_double.prompts import Prompts
    from reward_functions.local.training_double.rights import Policies, Rights
    from reward_functions.local.training_double.runs import Runs
    from reward_functions.local.training_double.state import State


class Named(Protocol):
    """Something that was made, with a name in a place."""

    @property
    def name(self) -> str:
        """Its own."""

    @property
    def place(self) -> Place:
        """Where it is."""


Kept = TypeVar("Kept", bound=Named)


@dataclass(frozen=True, slots=True)
class Service:
    """The parts of the double.

    Args:
        clients: of the emulator, as its root.
        rights: decides by the emulator's IAM.
        state: what was made.
        prompts: which rows are known.
        runs: the jobs that run.
        agents: the multi-turn jobs, and the runtime that their agents sample.
        sagemaker: what SageMaker's operations have made.
        imports: Bedrock's import jobs, by ARN.
    """

    clients: Clients
    rights: Rights
    state: State
    prompts: Prompts
    runs: Runs
    agents: AgentRuns
    sagemaker: Registry = field(default_factory=Registry)
    imports: dict[str, Import] = field(default_factory=dict)


@dataclass(frozen=True)
class Call:
    """One request, of a caller who is known.

    Args:
        service: the parts.
        caller: who asks.
        parameters: as the client was given them.
    """

    service: Service
    caller: Caller
    parameters: dict[str, Any]

    @property
    def state(self) -> State:
        """What was made."""
        return self.service.state

    @property
    def sagemaker(self) -> Registry:
        """What SageMaker's operations have made."""
        return self.service.sagemaker

    @property
    def place(self) -> Place:
        """The caller's account, in the region that was asked."""
        return Place("aws", self.caller.region, self.caller.account)

    @cached_property
    def policies(self) -> Policies:
        """What the caller has been given, read once for each call."""
        return self.service.rights.policies(self.caller.arn)

    def require(self, action: str, resource: str, context: Mapping[str, str] | None = None) -> None:
        """Nothing, where the caller may do this.

        Raises:
            Refused: it may not; in AWS's words.
        """
        if self.caller.unrestricted:
            return
        if not self.service.rights.allow(self.policies, action, resource, context or {}):
            raise Refused(
                "AccessDeniedException",
                f"User: {self.caller.arn} is not authorized to perform: {action} on resource: "
                f"{resource} because no identity-based policy allows the {action} action",
            )

    def found(self, held: Mapping[str, Kept], kind: str, wanted: str, action: str) -> Kept:
        """What a request names by its ARN or its name, if the caller may do this to it.

        Args:
            held: everything of the kind, by ARN.
            kind: as an ARN has it, such as "custom-model".
            wanted: an ARN or a name.
            action: of IAM.

        Raises:
            Refused: the caller may not, or there is none of this account and region.
        """
        with self.state.lock:
            here = {arn: each for arn, each in held.items() if each.place == self.place}
        arn = next((arn for arn, each in here.items() if wanted in {arn, each.name}), None)
        named = (
            wanted if wanted.startswith("arn:") else self.place.arn("bedrock", f"{kind}/{wanted}")
        )
        self.require(action, arn or named)
        if arn is None:
            raise missing(f"The {kind.replace('-', ' ')} {wanted} does not exist")
        return here[arn]
