"""SageMaker's hubs and what is in them: evaluators in a private one, models in the public one.

As documented: importing makes a new version, and a name without a version is its newest one. A
version that is there already is refused. Inferred: that an import is done at once, and that hubs
with content are not deleted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reward_functions.cdk.policies.iam import Place
from reward_functions.local.loopback_service.requests import invalid
from reward_functions.local.training_double import sagemaker_public_hub as public
from reward_functions.local.training_double.sagemaker_calls import page, require_making, tags_of
from reward_functions.local.training_double.sagemaker_state import Content, Hub, absent, in_use

if TYPE_CHECKING:
    from reward_functions.local.training_double.service import Call

KEPT: Final = (
    "DocumentSchemaVersion",
    "HubContentDisplayName",
    "HubContentDescription",
    "HubContentMarkdown",
    "SupportStatus",
    "HubContentSearchKeywords",
)
"""Members of an import that descriptions repeat."""

SUMMARISED: Final = tuple(each for each in KEPT if each != "HubContentMarkdown")


def describe_hub(call: Call) -> dict[str, Any]:
    """DescribeHub."""
    hub = _hub(call, "sagemaker:DescribeHub")
    return {
        "HubName": hub.name,
        "HubArn": hub.arn,
        "HubDescription": hub.description,
        "HubStatus": "InService",
        "CreationTime": hub.created,
        "LastModifiedTime": hub.created,
    }


def create_hub(call: Call) -> dict[str, Any]:
    """CreateHub."""
    given = call.parameters
    hub = Hub(given["HubName"], call.place, given["HubDescription"])
    require_making(call, "sagemaker:CreateHub", hub.arn)
    with call.state.lock:
        if hub.arn in call.sagemaker.hubs or hub.name == public.HUB:
            raise in_use(f"Hub {hub.name} already exists")
        call.sagemaker.hubs[hub.arn] = hub
        call.state.tags[hub.arn] = tags_of(given)
    return {"HubArn": hub.arn}


def delete_hub(call: Call) -> dict[str, Any]:
    """DeleteHub."""
    hub = _hub(call, "sagemaker:DeleteHub")
    with call.state.lock:
        if any(each.hub == hub for each in call.sagemaker.contents.values()):
            raise in_use(f"Hub {hub.name} still has content")
        call.sagemaker.hubs.pop(hub.arn, None)
    return {}


def _hub(call: Call, action: str) -> Hub:
    """The hub that a request names, by its name or its ARN."""
    name = call.parameters["HubName"].rpartition("/")[2]
    if name == public.HUB:
        place = Place(call.place.partition, call.place.region, "aws")
        hub = Hub(name, place, "simulation: some models of the public hub", public.CREATED)
        call.require(action, hub.arn)
        return hub
    arn = call.place.arn("sagemaker", f"hub/{name}")
    call.require(action, arn)
    found = call.sagemaker.hubs.get(arn)
    if found is None:
        raise absent(f"Hub {name} does not exist")
    return found


def import_content(call: Call) -> dict[str, Any]:
    """ImportHubContent."""
    given, registry = call.parameters, call.sagemaker
    hub = _hub(call, "sagemaker:ImportHubContent")
    if hub.name == public.HUB:
        raise invalid(f"{public.HUB} is AWS's own: nothing can be imported into it")
    kind, name = given["HubContentType"], given["HubContentName"]
    with call.state.lock:
        before = _versions(call, hub, kind, name)
        newest = max((_numbers(each.version) for each in before), default=(0, 0, 0))
        version = given.get("HubContentVersion", f"{newest[0] + 1}.0.0")
        kept: dict[str, Any] = {member: given[member] for member in KEPT if member in given}
        made = Content(hub, kind, name, version, given["HubContentDocument"], kept)
        require_making(call, "sagemaker:ImportHubContent", made.arn)
        if made.arn in registry.contents:
            raise in_use(f"Version {version} of hub content {name} already exists")
        registry.contents[made.arn] = made
        call.state.tags[made.arn] = tags_of(given)
    return {"HubArn": hub.arn, "HubContentArn": made.arn}


def describe_content(call: Call) -> dict[str, Any]:
    """DescribeHubContent."""
    content = _content(call, "sagemaker:DescribeHubContent")
    if content.hub.name == public.HUB:
        public.make_files(call.service.clients, call.place.region)
    return content.given | {
        "HubName": content.hub.name,
        "HubArn": content.hub.arn,
        "HubContentName": content.name,
        "HubContentArn": content.arn,
        "HubContentVersion": content.version,
        "HubContentType": content.kind,
        "HubContentDocument": content.document,
        "HubContentStatus": "Available",
        "CreationTime": content.created,
        "LastModifiedTime": content.created,
    }


def list_contents(call: Call) -> dict[str, Any]:
    """ListHubContents: of each name its newest version."""
    hub = _hub(call, "sagemaker:ListHubContents")
    newest: dict[str, Content] = {}
    for each in _contents(call, hub, call.parameters["HubContentType"]):
        before = newest.get(each.name)
        if before is None or _numbers(before.version) < _numbers(each.version):
            newest[each.name] = each
    return page(call, newest.values(), "HubContentSummaries", _summary, lambda each: each.name)


def list_versions(call: Call) -> dict[str, Any]:
    """ListHubContentVersions."""
    hub, asked = _hub(call, "sagemaker:ListHubContentVersions"), call.parameters
    found = _versions(call, hub, asked["HubContentType"], asked["HubContentName"])
    if not found:
        raise absent(f"Hub content {asked['HubContentName']} does not exist")
    least = _numbers(asked.get("MinVersion", "0.0.0"))
    found = [each for each in found if _numbers(each.version) >= least]
    return page(call, found, "HubContentSummaries", _summary, lambda each: each.name)


def delete_content(call: Call) -> dict[str, Any]:
    """DeleteHubContent."""
    content = _content(call, "sagemaker:DeleteHubContent")
    if content.hub.name == public.HUB:
        raise invalid(f"{public.HUB} is AWS's own: nothing can be deleted from it")
    with call.state.lock:
        call.sagemaker.contents.pop(content.arn, None)
        call.state.tags.pop(content.arn, None)
    return {}


def _content(call: Call, action: str) -> Content:
    """The version that a request names; the newest where it names none."""
    asked = call.parameters
    hub = _hub(call, action)
    kind, name = asked["HubContentType"], asked["HubContentName"]
    version = asked.get("HubContentVersion", "")
    named = f"hub-content/{hub.name}/{kind}/{name}"
    resource = hub.place.arn("sagemaker", f"{named}/{version}" if version else named)
    found = sorted(_versions(call, hub, kind, name), key=lambda each: _numbers(each.version))
    chosen = next((each for each in reversed(found) if version in {"", each.version}), None)
    call.require(action, chosen.arn if chosen else resource)
    if chosen is None:
        which = f"Version {version} of hub content {name}" if version else f"Hub content {name}"
        raise absent(f"{which} does not exist in {hub.name}")
    return chosen


def _versions(call: Call, hub: Hub, kind: str, name: str) -> list[Content]:
    return [each for each in _contents(call, hub, kind) if each.name == name]


def _contents(call: Call, hub: Hub, kind: str) -> list[Content]:
    if hub.name == public.HUB:
        models = public.MODELS.values() if kind == "Model" else ()
        return [public_content(hub, model) for model in models]
    with call.state.lock:
        held = [*call.sagemaker.contents.values()]
    return [each for each in held if each.hub == hub and each.kind == kind]


def public_content(hub: Hub, model: public.HubModel) -> Content:
    """A model of the public hub as content of it."""
    gating = "@capability:gated" if model.gated else "@capability:open"
    given = {
        "DocumentSchemaVersion": "2.3.0",
        "HubContentDisplayName": f"simulation: {model.name}",
        "HubContentSearchKeywords": [gating],
    }
    text = public.document(model, hub.place.region)
    return Content(hub, "Model", model.name, model.version, text, given, public.CREATED)


def _summary(content: Content) -> dict[str, Any]:
    repeated = {name: value for name, value in content.given.items() if name in SUMMARISED}
    return repeated | {
        "HubContentName": content.name,
        "HubContentArn": content.arn,
        "HubContentVersion": content.version,
        "HubContentType": content.kind,
        "HubContentStatus": "Available",
        "CreationTime": content.created,
    }


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(each) if each.isdecimal() else 0 for each in version.split("."))
