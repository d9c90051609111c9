"""SageMaker's hubs and what is in them: evaluators in a private one, models in the public one.

As documented: importing makes a new version, and a name without a version is its newest one. A
version that is there already is refused. Inferred: that an import is done at once.

The public hub has a few models under their real names (`hub.toml`). The document of a model holds
`RecipeCollection`; each recipe names a file of its hyperparameters in JumpStart's bucket, which is
made in the emulator at the first look and read with the reader's own rights. The names of models,
members and buckets are those of AWS's SDKs (sagemaker-python-sdk, nova-forge-sdk); ranges are those
of HYPERPARAMETERS.md of sagemaker-hyperpod-recipes where it has them. Inferred: default values, the
exact set of hyperparameters, versions.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.local.loopback_service.server import Refused, invalid

if TYPE_CHECKING:
    from reward_functions.cdk.policies.iam import Place
    from reward_functions.local.training_double.rights import Clients
    from reward_functions.local.training_double.service import Call, Serve

HUB: Final = "SageMakerPublicHub"

SEQUENCE: Final = "8K"

CREATED: Final = datetime.now(UTC)

KEPT: Final = (
    "DocumentSchemaVersion",
    "HubContentDisplayName",
    "HubContentDescription",
    "SupportStatus",
    "HubContentSearchKeywords",
)
"""Members of an import that lists and descriptions repeat."""

MARKDOWN: Final = "HubContentMarkdown"
"""One that descriptions alone repeat."""

Specification = dict[str, Any]


class HubModel(NamedTuple):
    """A model of the public hub.

    Args:
        name: in the public hub.
        asked: id of Bedrock's that answers for the base.
        version: of the content.
        techniques: that it has recipes of.
        gated: whether its licence has to be accepted.
        nova: whether its weights stay with the service.
    """

    name: str
    asked: str
    version: str
    techniques: tuple[str, ...] = ("SFT", "DPO", "RLVR", "RLAIF")
    gated: bool = False
    nova: bool = False

    @property
    def kinds(self) -> list[str]:
        """What it has recipes of: techniques, and evaluation where it has any of them."""
        return [*self.techniques, "Evaluation"] if self.techniques else []


_TABLES: Final = tomllib.loads(Path(__file__).with_name("hub.toml").read_text("utf-8"))

MODELS: Final = {name: HubModel(name, **row) for name, row in _TABLES["models"].items()}


@dataclass(frozen=True, slots=True)
class Hub:
    """A hub."""

    name: str
    place: Place
    description: str
    created: datetime = field(default_factory=partial(datetime.now, UTC))

    @property
    def arn(self) -> str:
        """Its own."""
        return self.place.arn("sagemaker", f"hub/{self.name}")


@dataclass(frozen=True, slots=True)
class Content:
    """A version of something in a hub.

    Args:
        hub: that it is in.
        kind: such as "JsonDoc".
        name: its own; its versions have it in common.
        version: three numbers with dots.
        document: JSON, as it was given.
        given: further members of the request, which descriptions repeat.
    """

    hub: Hub
    kind: str
    name: str
    version: str
    document: str
    given: dict[str, Any]
    created: datetime = field(default_factory=partial(datetime.now, UTC))

    @property
    def arn(self) -> str:
        """Its own, with its version."""
        name = f"hub-content/{self.hub.name}/{self.kind}/{self.name}/{self.version}"
        return self.hub.place.arn("sagemaker", name)

    def inner(self) -> dict[str, Any]:
        """What a document holds in its `JsonContent`; nothing where it holds none."""
        try:
            outer = json.loads(self.document)
            inner = json.loads(outer["JsonContent"])
        except (ValueError, TypeError, LookupError, RecursionError):
            return {}
        return inner if isinstance(inner, dict) else {}


def absent(message: str) -> Refused:
    """Something that does not exist, as SageMaker says it."""
    return Refused("ResourceNotFound", message)


def in_use(message: str) -> Refused:
    """Something that exists already, as SageMaker says it."""
    return Refused("ResourceInUse", message)


def specification(model: HubModel, technique: str) -> dict[str, Specification]:
    """The hyperparameters of a recipe, as its file has them.

    Args:
        model: that is trained or asked.
        technique: such as "RLVR", or "Evaluation".
    """
    found: dict[str, Specification] = _TABLES.get(technique, {})
    if technique == "Evaluation":
        return found
    own = _TABLES["nova"] if model.nova else _TABLES["open"] | found
    return {**_TABLES["shared"], **own}


def recipe_name(model: HubModel, technique: str) -> str:
    """The name of a recipe."""
    return f"{model.name.replace('-', '_')}_seq8k_gpu_lora_{technique.lower()}"


def document(model: HubModel, region: str) -> str:
    """The document of a model in a region."""
    found = {
        "GatedBucket": model.gated,
        "HostingArtifactUri": f"s3://{bucket(region)}/{model.name}/",
        "RecipeCollection": [_recipe(model, kind, region) for kind in model.kinds],
    }
    return json.dumps(found)


def _recipe(model: HubModel, kind: str, region: str) -> dict[str, Any]:
    what = {"Type": "FineTuning", "CustomizationTechnique": kind, "Peft": "LORA"}
    if kind == "Evaluation":
        what = {"Type": kind, "EvaluationType": "CustomScorerEvaluation"}
    name = recipe_name(model, kind)
    folder = f"s3://{bucket(region)}/recipes/{name}"
    return what | {
        "Name": name,
        "DisplayName": f"simulation: {kind} of {model.name}",
        "SequenceLength": SEQUENCE,
        "ServerlessMeteringType": "Hourly" if model.nova else "Token-based",
        "IsSubscriptionModel": False,
        "SmtjRecipeTemplateS3Uri": f"{folder}_payload_template_sm_jobs_v1.0.0.yaml",
        "SmtjOverrideParamsS3Uri": f"{folder}_override_params_sm_jobs_v1.0.0.json",
    }


def bucket(region: str) -> str:
    """JumpStart's bucket of a region."""
    return f"jumpstart-cache-prod-{region}"


def make_files(clients: Clients, region: str) -> None:
    """Put the files of every recipe into the emulator, where they are not there yet."""
    s3, name = clients.root("s3"), bucket(region)
    if name in {each["Name"] for each in s3.list_buckets()["Buckets"]}:
        return
    s3.create_bucket(Bucket=name)
    for model in MODELS.values():
        for kind in model.kinds:
            recipe = _recipe(model, kind, region)
            template = f"# simulation: the recipe {recipe['Name']} trains nothing\n"
            for member, body in (
                ("SmtjOverrideParamsS3Uri", json.dumps(specification(model, kind))),
                ("SmtjRecipeTemplateS3Uri", template),
            ):
                key = recipe[member].partition(f"{name}/")[2]
                s3.put_object(Bucket=name, Key=key, Body=body.encode())


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
    hub = Hub(call.parameters["HubName"], call.place, call.parameters["HubDescription"])
    tags = call.require_making("sagemaker:CreateHub", hub.arn)
    with call.state.lock:
        if hub.arn in call.state.hubs or hub.name == HUB:
            raise in_use(f"Hub {hub.name} already exists")
        call.state.hubs[hub.arn] = hub
        call.state.tags[hub.arn] = tags
    return {"HubArn": hub.arn}


def _hub(call: Call, action: str) -> Hub:
    """The hub that a request names, by its name or its ARN."""
    name = call.parameters["HubName"].rpartition("/")[2]
    if name == HUB:
        place = call.place._replace(account="aws")
        hub = Hub(name, place, "simulation: some models of the public hub", CREATED)
        call.require(action, hub.arn)
        return hub
    arn = call.place.arn("sagemaker", f"hub/{name}")
    call.require(action, arn)
    found: Hub | None = call.state.hubs.get(arn)
    if found is None:
        raise absent(f"Hub {name} does not exist")
    return found


def import_content(call: Call) -> dict[str, Any]:
    """ImportHubContent."""
    given, contents = call.parameters, call.state.contents
    hub = _hub(call, "sagemaker:ImportHubContent")
    if hub.name == HUB:
        raise invalid(f"{HUB} is AWS's own: nothing can be imported into it")
    kind, name = given["HubContentType"], given["HubContentName"]
    with call.state.lock:
        newest = max((_numbers(each) for each in _contents(call, hub, kind, name)), default=(0,))
        version = given.get("HubContentVersion", f"{newest[0] + 1}.0.0")
        kept: dict[str, Any] = {each: given[each] for each in (*KEPT, MARKDOWN) if each in given}
        made = Content(hub, kind, name, version, given["HubContentDocument"], kept)
        tags = call.require_making("sagemaker:ImportHubContent", made.arn)
        if made.arn in contents:
            raise in_use(f"Version {version} of hub content {name} already exists")
        contents[made.arn] = made
        call.state.tags[made.arn] = tags
    return {"HubArn": hub.arn, "HubContentArn": made.arn}


def describe_content(call: Call) -> dict[str, Any]:
    """DescribeHubContent."""
    content = _content(call, "sagemaker:DescribeHubContent")
    if content.hub.name == HUB:
        make_files(call.service.clients, call.place.region)
    return (
        content.given
        | _summary(content)
        | {
            "HubName": content.hub.name,
            "HubArn": content.hub.arn,
            "HubContentDocument": content.document,
            "LastModifiedTime": content.created,
        }
    )


def list_contents(call: Call) -> dict[str, Any]:
    """ListHubContents: of each name its newest version."""
    hub = _hub(call, "sagemaker:ListHubContents")
    held = sorted(_contents(call, hub, call.parameters["HubContentType"]), key=_numbers)
    newest = {each.name: each for each in held}
    return call.page(newest.values(), "HubContentSummaries", _summary)


def list_versions(call: Call) -> dict[str, Any]:
    """ListHubContentVersions."""
    hub, asked = _hub(call, "sagemaker:ListHubContentVersions"), call.parameters
    found = _contents(call, hub, asked["HubContentType"], asked["HubContentName"])
    if not found:
        raise absent(f"Hub content {asked['HubContentName']} does not exist")
    least = _in_order(asked.get("MinVersion", "0.0.0"))
    there = [each for each in found if _numbers(each) >= least]
    return call.page(there, "HubContentSummaries", _summary)


def _content(call: Call, action: str) -> Content:
    """The version that a request names; the newest where it names none."""
    asked, hub = call.parameters, _hub(call, action)
    kind, name = asked["HubContentType"], asked["HubContentName"]
    version = asked.get("HubContentVersion", "")
    named = f"hub-content/{hub.name}/{kind}/{name}"
    resource = hub.place.arn("sagemaker", f"{named}/{version}" if version else named)
    found = sorted(_contents(call, hub, kind, name), key=_numbers)
    chosen = next((each for each in reversed(found) if version in {"", each.version}), None)
    call.require(action, chosen.arn if chosen else resource)
    if chosen is None:
        which = f"Version {version} of hub content {name}" if version else f"Hub content {name}"
        raise absent(f"{which} does not exist in {hub.name}")
    return chosen


def _contents(call: Call, hub: Hub, kind: str, name: str = "") -> list[Content]:
    """What a hub has of a kind, and of a name where one is given."""
    if hub.name == HUB:
        models = MODELS.values() if kind == "Model" else ()
        held = [_public(hub, model) for model in models]
    else:
        with call.state.lock:
            held = [*call.state.contents.values()]
    there = [each for each in held if each.hub == hub and each.kind == kind]
    return [each for each in there if name in {"", each.name}]


def _public(hub: Hub, model: HubModel) -> Content:
    """A model of the public hub as content of it."""
    given = {
        "DocumentSchemaVersion": "2.3.0",
        "HubContentDisplayName": f"simulation: {model.name}",
        "HubContentSearchKeywords": [f"@capability:{'gated' if model.gated else 'open'}"],
    }
    text = document(model, hub.place.region)
    return Content(hub, "Model", model.name, model.version, text, given, CREATED)


def _summary(content: Content) -> dict[str, Any]:
    repeated = {name: value for name, value in content.given.items() if name in KEPT}
    return repeated | {
        "HubContentName": content.name,
        "HubContentArn": content.arn,
        "HubContentVersion": content.version,
        "HubContentType": content.kind,
        "HubContentStatus": "Available",
        "CreationTime": content.created,
    }


def _numbers(content: Content) -> tuple[int, ...]:
    return _in_order(content.version)


def _in_order(version: str) -> tuple[int, ...]:
    return tuple(int(each) if each.isdecimal() else 0 for each in version.split("."))


OPERATIONS: Final[dict[str, Serve]] = {
    "CreateHub": create_hub,
    "DescribeHub": describe_hub,
    "ImportHubContent": import_content,
    "DescribeHubContent": describe_content,
    "ListHubContents": list_contents,
    "ListHubContentVersions": list_versions,
}
"""By botocore's names."""
