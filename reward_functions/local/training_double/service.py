"""The tools of every operation: the parts of the double, the call, and what is made of a kind.

A row of a `Kind` says how requests name things of a kind and what is said of them; from it come
the operations that describe, list and delete them. A description repeats its request, and has all
that a summary, a filter or another operation reads: `wire.answer` leaves out what the answer has no
member for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.arn import BadArn, FunctionArn
from reward_functions.cdk.policies.iam import Place
from reward_functions.local.loopback_service.server import Refused, invalid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from reward_functions.local.runtime_double.runtime import Runtime
    from reward_functions.local.training_double.identity import Caller
    from reward_functions.local.training_double.jobs import Job, Made, MadeKind, Runs, State
    from reward_functions.local.training_double.policy import AgentPolicy
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


@dataclass(frozen=True)
class Call:
    """One request, of a caller who is known.

    Args:
        service: the parts.
        caller: who asks.
        parameters: as the client was given them.
        action: of IAM that the caller must be allowed.
    """

    service: Service
    caller: Caller
    parameters: dict[str, Any]
    action: str = ""

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
        """The policies of the caller, read once for each call."""
        return self.service.clients.policies(self.caller.arn)

    def require(
        self, resource: str, context: Mapping[str, str] | None = None, action: str = ""
    ) -> None:
        """Refuse a caller who may not do this.

        Args:
            resource: an ARN, or "*".
            context: what is known of the call, by condition key.
            action: of IAM; the call's own where not given.

        Raises:
            Refused: it may not; in AWS's words.
        """
        action = action or self.action
        if self.caller.unrestricted:
            return
        if not self.service.clients.allow(self.policies, action, resource, context or {}):
            raise Refused(
                "AccessDeniedException",
                f"User: {self.caller.arn} is not authorized to perform: {action} on resource: "
                f"{resource} because no identity-based policy allows the {action} action",
            )

    def require_making(self, *arns: str, member: str = "Tags") -> dict[str, str]:
        """The tags of what the caller may make, with these tags.

        Args:
            arns: of what it is made of and, last, of itself.
            member: of the request that holds its tags.

        Raises:
            Refused: it may not.
        """
        context = _context(tags_of(self.parameters.get(member, [])))
        for arn in arns:
            self.require(arn, context)
        return self.require_tagging(arns[-1], member)

    def require_tagging(self, arn: str, member: str) -> dict[str, str]:
        """The tags of the request for something, which the caller may give it.

        Raises:
            Refused: it may not.
        """
        if tags := tags_of(self.parameters.get(member, [])):
            self.require(arn, _context(tags), TAGGING[arn.split(":")[2]])
        return tags

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
        self.require(role, {"iam:PassedToService": service}, "iam:PassRole")
        context = {"aws:SourceAccount": self.place.account, "aws:SourceArn": arn}
        self.service.clients.require_trust(role, context, service, actions)
        return self.service.clients.policies(role)

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

    def of(self, kind: type[MadeKind], identifier: str = "") -> list[MadeKind]:
        """The resources of a class in the caller's account and region, or the one with an id."""
        there = [each for each in self.state.of(kind) if each.place == self.place]
        return [each for each in there if identifier in {"", each.id}]


Refusal = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of things that a service makes, by their ARNs.

    Args:
        service: of its ARNs.
        path: of its ARNs, less the thing's own name or id.
        named: member of requests that names one, by its ARN or its name.
        shown: what descriptions and summaries say beside the request.
        gone: the code and the words of a refusal if it does not exist.
        taken: those where its name is another's already.
        listed: member of a list's answer.
        status: member of `shown` that lists sort by and are filtered by.
        equal: parameters of a list that ask for an equal member of `shown`.
        there: whether a thing is there by now.
    """

    service: str
    path: str
    named: str
    shown: Callable[[Call, Any], dict[str, Any]]
    gone: Refusal
    taken: Refusal = ("", "")
    listed: str = ""
    status: str = "status"
    equal: tuple[str, ...] = ()
    there: Callable[[Call, Any], bool] = lambda _, __: True

    def arn(self, call: Call, name: str = "") -> str:
        """The ARN of one in the caller's account and region."""
        return call.place.arn(self.service, f"{self.path}/{name}")

    def here(self, call: Call) -> list[Any]:
        """The resources of the caller's account and region."""
        first = self.arn(call)
        with call.state.lock:
            return [
                each
                for arn, each in call.state.made.items()
                if arn.startswith(first) and self.there(call, each)
            ]

    def find(self, call: Call, wanted: str = "", action: str = "") -> Any:
        """The resource that a request names, if the caller may do this to it.

        Args:
            call: that names it.
            wanted: an ARN or a name; the request's own where not given.
            action: of IAM; the call's own where not given.

        Raises:
            Refused: the caller may not, or there is none of this account and region.
        """
        wanted = wanted or call.parameters[self.named]
        arn = wanted if wanted.startswith("arn:") else self.arn(call, wanted)
        found = [each for each in self.here(call) if each.id == arn or each.name == wanted]
        call.require(found[0].id if found else arn, action=action)
        return found[0] if found else self._missed(wanted)

    def at(self, call: Call, arn: str) -> Any:
        """The resource of an ARN, with any rights of the caller.

        Raises:
            Refused: there is none of this account and region.
        """
        found = [each for each in self.here(call) if each.id == arn]
        return found[0] if found else self._missed(arn)

    def _missed(self, wanted: str) -> Any:
        code, words = self.gone
        raise Refused(code, words.format(wanted))

    def describe(self, call: Call) -> dict[str, Any]:
        """The operation that describes one."""
        made = self.find(call)
        with call.state.lock:
            return self.described(call, made)

    def described(self, call: Call, made: Made) -> dict[str, Any]:
        """The description of one."""
        return made.request | self.shown(call, made)

    def list(self, call: Call) -> dict[str, Any]:
        """The operation that lists them."""
        call.require("*")
        return self.page(call, self.here(call))

    def delete(self, call: Call) -> dict[str, Any]:
        """The operation that removes one with its tags."""
        return forget(call, self.find(call))

    def stop(self, call: Call) -> dict[str, Any]:
        """The operation that stops a job."""
        job: Job = self.find(call)
        if job.ended is not None:
            code = "ConflictException" if self.service == "bedrock" else "ValidationException"
            raise Refused(code, f"The job {job.name} is {job.word} and cannot be stopped")
        call.service.runs.stop(job)
        return {}

    def made_before(self, call: Call) -> str:
        """The resource that this request's token has made before; "" where it made nothing."""
        token = call.parameters.get("clientRequestToken", "")
        return call.state.tokens.get((self.arn(call), token), "")

    def require_free(self, call: Call, name: str, also: Iterable[str] = ()) -> None:
        """Refuse a name that another has, or is about to have.

        Raises:
            Refused: it is taken.
        """
        first, made = self.arn(call), call.state.made
        if name in {*also, *(made[arn].name for arn in made if arn.startswith(first))}:
            code, words = self.taken
            raise Refused(code, words.format(name))

    def keep(self, call: Call, made: Made, tags: dict[str, str]) -> str:
        """Keep something, whose name nobody has; the ARN of what the request's token has made.

        Raises:
            Refused: its name is taken.
        """
        with call.state.lock:
            if before := self.made_before(call):
                return before
            self.require_free(call, made.name)
            call.state.made[made.id] = made
            call.state.tags[made.id] = tags
            if token := call.parameters.get("clientRequestToken"):
                call.state.tokens[self.arn(call), token] = made.id
        return made.id

    def page(self, call: Call, items: Iterable[Any]) -> dict[str, Any]:
        """The answer of a list: filtered by what every list can be asked, sorted, one page of it.

        Args:
            call: SageMaker's members begin with a capital, Bedrock's do not.
            items: all of the caller's.

        Raises:
            Refused: the token is none of ours.
        """
        asked = {name[0].lower() + name[1:]: value for name, value in call.parameters.items()}
        with call.state.lock:
            rows = [(each, self.described(call, each)) for each in items]
            found = [row for row in rows if self._asked_for(asked, *row)]
            by = asked.get("sortBy", "CreationTime")
            found.sort(
                key=lambda row: self._order(by, *row), reverse=asked.get("sortOrder") != "Ascending"
            )
        token = asked.get("nextToken", "0")
        if not (re.fullmatch(r"[0-9]{1,9}", token) and int(token) <= len(found)):
            raise invalid("The provided nextToken is not valid")
        end = int(token) + asked.get("maxResults", PAGE)
        more = str(end) if end < len(found) else None
        key = "NextToken" if self.listed[0].isupper() else "nextToken"
        return {self.listed: [shown for _, shown in found[int(token) : end]], key: more}

    def _order(self, by: str, made: Made, shown: Mapping[str, Any]) -> Any:
        return {"CreationTime": made.created, "Status": shown.get(self.status)}.get(by, made.name)

    def _asked_for(self, asked: Mapping[str, Any], made: Made, shown: Mapping[str, Any]) -> bool:
        after = asked.get("creationTimeAfter", asked.get("createdAfter", made.created))
        before = asked.get("creationTimeBefore", asked.get("createdBefore", made.created))
        return (
            asked.get("nameContains", "").lower() in made.name.lower()
            and after <= made.created <= before
            and asked.get("statusEquals") in {None, shown.get(self.status)}
            and all(
                shown.get(each.removesuffix("Equals")) == call_value
                for each in self.equal
                if (call_value := asked.get(each[0].lower() + each[1:])) is not None
            )
        )


def forget(call: Call, made: Made) -> dict[str, Any]:
    """Remove something with its tags; the answer says nothing."""
    with call.state.lock:
        call.state.made.pop(made.id, None)
        call.state.tags.pop(made.id, None)
    return {}


def tags_at(call: Call, arn: str, code: str) -> dict[str, str]:
    """The tags of something, if the caller may read them.

    Raises:
        Refused: the caller may not, or it does not exist.
    """
    call.require(arn)
    if arn not in call.state.tags:
        raise Refused(code, f"The resource {arn} does not exist")
    return call.state.tags[arn]


PAGE: Final = 100
"""Items on a page that nobody limits."""

TAGGING: Final = {"bedrock": "bedrock:TagResource", "sagemaker": "sagemaker:AddTags"}


def tags_of(given: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """The tags of a request, whose members Bedrock writes in small letters."""
    lowered = [{name.lower(): text for name, text in tag.items()} for tag in given]
    return {tag["key"]: tag["value"] for tag in lowered}


def _context(tags: Mapping[str, str]) -> dict[str, str]:
    return {f"aws:RequestTag/{key}": value for key, value in tags.items()}
