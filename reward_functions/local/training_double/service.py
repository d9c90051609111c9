"""What every operation works with: the parts of the double, and the call to be served."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.arn import BadArn, FunctionArn
from reward_functions.cdk.policies.iam import Place
from reward_functions.local.loopback_service.server import Refused, invalid, missing
from reward_functions.local.training_double.rights import Rights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from reward_functions.local.runtime_double.runtime import Runtime
    from reward_functions.local.training_double.agent_policy import AgentPolicy
    from reward_functions.local.training_double.identity import Caller
    from reward_functions.local.training_double.jobs import Runs, State
    from reward_functions.local.training_double.prompts import Prompts
    from reward_functions.local.training_double.rights import Clients, Policies

    Serve = Callable[["Call"], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Service:
    """The parts of the double.

    Args:
        clients: of the emulator, as its root.
        state: what was made.
        prompts: which rows are known.
        runs: the jobs that run.
        runtime: that the agents of multi-turn jobs sample.
        agents: the policy that it samples.
        endpoint: says where the double is reached.
    """

    clients: Clients
    state: State
    prompts: Prompts
    runs: Runs
    runtime: Runtime
    agents: AgentPolicy
    endpoint: Callable[[], str]

    @property
    def rights(self) -> Rights:
        """Decides by the emulator's IAM."""
        return Rights(self.clients)


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
    def place(self) -> Place:
        """The caller's account, in the region that was asked."""
        return Place("aws", self.caller.region, self.caller.account)

    @cached_property
    def policies(self) -> Policies:
        """What the caller has been given, read once for each call."""
        return self.service.rights.policies(self.caller.arn)

    def require(self, action: str, resource: str, context: Mapping[str, str] | None = None) -> None:
        """Refuse a caller who may not do this.

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

    def require_making(self, action: str, *arns: str, member: str = "Tags") -> dict[str, str]:
        """The tags of what the caller may make, with these tags.

        Args:
            action: of IAM.
            arns: of what it is made of and, last, of itself.
            member: of the request that holds its tags.

        Raises:
            Refused: it may not.
        """
        context = _context(tags_of(self.parameters.get(member, [])))
        for arn in arns:
            self.require(action, arn, context)
        return self.require_tagging(arns[-1], member)

    def require_tagging(self, arn: str, member: str) -> dict[str, str]:
        """The tags of the request for something, which the caller may give it.

        Raises:
            Refused: it may not.
        """
        if tags := tags_of(self.parameters.get(member, [])):
            action = TAGGING[arn.split(":")[2]]
            self.require(action, arn, _context(tags))
        return tags

    def tags(self, action: str, arn: str, gone: Callable[[str], Refused]) -> dict[str, str]:
        """The tags of something, if the caller may read them.

        Raises:
            Refused: the caller may not, or it does not exist.
        """
        self.require(action, arn)
        if arn not in self.state.tags:
            raise gone(f"The resource {arn} does not exist")
        return self.state.tags[arn]

    def hand_over(
        self, role: str, arn: str, service: str, actions: Sequence[str] = ("sts:AssumeRole",)
    ) -> Policies:
        """The rights of a role that the caller may pass to a service, which may assume it.

        Args:
            role: its ARN.
            arn: of what acts in it.
            service: such as `BEDROCK`.
            actions: that the role's trust policy has to allow.

        Raises:
            Refused: the caller may not, or the role does not trust the service.
        """
        self.require("iam:PassRole", role, {"iam:PassedToService": service})
        context = {"aws:SourceAccount": self.place.account, "aws:SourceArn": arn}
        self.service.rights.require_trust(role, context, service, actions)
        return self.service.rights.policies(role)

    def local_function(self, what: str, arn: str, parameter: str = "") -> str:
        """The ARN of a function of the caller's region and account.

        Raises:
            Refused: it is another's. That AWS refuses it too is inferred: it reads nothing from
                other regions.
        """
        try:
            function = FunctionArn.parse(arn)
        except BadArn as error:
            raise invalid(str(error), parameter) from None
        if (function.region, function.account) != (self.place.region, self.place.account):
            raise invalid(
                f"The {what} {arn} must be a function of {self.place.region} in account "
                f"{self.place.account}",
                parameter,
            )
        return arn

    def made_before(self, kind: str) -> str:
        """What this request's token has made before; "" where it made nothing."""
        token = self.parameters.get("clientRequestToken", "")
        return self.state.tokens.get((self.place, kind, token), "")

    def keep_token(self, kind: str, arn: str) -> None:
        """Know what this request's token has made."""
        if token := self.parameters.get("clientRequestToken"):
            self.state.tokens[self.place, kind, token] = arn

    def forget(self, arn: str, *held: dict[str, Any]) -> dict[str, Any]:
        """Remove something with its tags; the answer says nothing."""
        with self.state.lock:
            for each in (*held, self.state.tags):
                each.pop(arn, None)
        return {}

    def here(self, held: Mapping[str, Any]) -> list[Any]:
        """What there is of the caller's account and region."""
        with self.state.lock:
            return [each for each in held.values() if each.place == self.place]

    def found(self, held: Mapping[str, Any], kind: str, wanted: str, action: str) -> Any:
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
        named = wanted
        if not wanted.startswith("arn:"):
            named = self.place.arn("bedrock", f"{kind}/{wanted}")
        self.require(action, arn or named)
        if arn is None:
            raise missing(f"The {kind.replace('-', ' ')} {wanted} does not exist")
        return here[arn]

    def page(
        self,
        items: Iterable[Any],
        member: str,
        shown: Callable[[Any], dict[str, Any]],
        status: Callable[[Any], str] = lambda each: each.word,
    ) -> dict[str, Any]:
        """The answer of a list: filtered by what every list can be asked, sorted, one page of it.

        Args:
            items: all of the caller's, each with its name and when it was created.
            member: of the answer; SageMaker's members begin with a capital, Bedrock's do not.
            shown: an item as the list has it.
            status: of an item, in the service's words.

        Raises:
            Refused: the token is none of ours.
        """
        asked = {name[0].lower() + name[1:]: value for name, value in self.parameters.items()}
        after = asked.get("creationTimeAfter", asked.get("createdAfter"))
        before = asked.get("creationTimeBefore", asked.get("createdBefore"))
        wanted, name = asked.get("statusEquals"), asked.get("nameContains", "").lower()
        with self.state.lock:
            found = [
                each
                for each in items
                if name in each.name.lower()
                and (after is None or after <= each.created)
                and (before is None or before >= each.created)
                and (wanted is None or wanted == status(each))
            ]
            order = SORTS.get(asked.get("sortBy", "CreationTime"), SORTS["Name"])
            found.sort(key=order, reverse=asked.get("sortOrder") != "Ascending")
            token = asked.get("nextToken", "0")
            if not (re.fullmatch(r"[0-9]{1,9}", token) and int(token) <= len(found)):
                raise invalid("The provided nextToken is not valid")
            end = int(token) + asked.get("maxResults", PAGE)
            more = str(end) if end < len(found) else None
            key = "NextToken" if member[0].isupper() else "nextToken"
            return {member: [*map(shown, found[int(token) : end])], key: more}


PAGE: Final = 100
"""Items on a page that nobody limits."""

SORTS: Final[dict[str, Callable[[Any], Any]]] = {
    "CreationTime": lambda each: each.created,
    "Name": lambda each: each.name,
    "Status": lambda each: each.word,
}


TAGGING: Final = {"bedrock": "bedrock:TagResource", "sagemaker": "sagemaker:AddTags"}


def tags_of(given: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """The tags of a request, whose members Bedrock writes in small letters."""
    lowered = [{name.lower(): text for name, text in tag.items()} for tag in given]
    return {tag["key"]: tag["value"] for tag in lowered}


def _context(tags: Mapping[str, str]) -> dict[str, str]:
    return {f"aws:RequestTag/{key}": value for key, value in tags.items()}
