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
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.local.loopback_service.server import Refused, invalid
from reward_functions.local.training_double.jobs import Made, now
from reward_functions.local.training_double.service import Kind

if TYPE_CHECKING:
    from reward_functions.local.training_double.rights import Clients
    from reward_functions.local.training_double.service import Call, Serve

HUB: Final = "SageMakerPublicHub"

SEQUENCE: Final = "8K"

CREATED: Final = datetime.now(UTC)

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
        """The kinds of its recipes: techniques, and evaluation where it has any of them."""
        return [*self.techniques, "Evaluation"] if self.techniques else []


_TABLES: Final = tomllib.loads(Path(__file__).with_name("hub.toml").read_text("utf-8"))

MODELS: Final = {name: HubModel(name, **row) for name, row in _TABLES["models"].items()}


@dataclass(kw_only=True)
class Content(Made):
    """A version of something in a hub, under the name that all its versions have.

    Args:
        hub: that it is in.
    """

    hub: Made

    @property
    def version(self) -> tuple[int, ...]:
        """Three numbers, which dots separate."""
        return _in_order(self.request["HubContentVersion"])

    def inner(self) -> dict[str, Any]:
        """The content of a document's `JsonContent`; nothing without one."""
        try:
            outer = json.loads(self.request["HubContentDocument"])
            inner = json.loads(outer["JsonContent"])
        except (ValueError, TypeError, LookupError, RecursionError):
            return {}
        return inner if isinstance(inner, dict) else {}


ABSENT: Final = "ResourceNotFound"
IN_USE: Final = "ResourceInUse"


def absent(message: str) -> Refused:
    """Something that does not exist, as SageMaker says it."""
    return Refused(ABSENT, message)


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


def _hub(_: Call, hub: Made) -> dict[str, Any]:
    return {
        "HubName": hub.name,
        "HubArn": hub.id,
        "HubStatus": "InService",
        "CreationTime": hub.created,
        "LastModifiedTime": hub.created,
    }


def _content(_: Call, content: Content) -> dict[str, Any]:
    return {
        "HubName": content.hub.name,
        "HubArn": content.hub.id,
        "HubContentArn": content.id,
        "HubContentStatus": "Available",
        "CreationTime": content.created,
        "LastModifiedTime": content.created,
    }


HUBS: Final = Kind(
    service="sagemaker",
    path="hub",
    named="HubName",
    shown=_hub,
    gone=(ABSENT, "Hub {} does not exist"),
    taken=(IN_USE, "Hub {} already exists"),
)
CONTENTS: Final = Kind(
    service="sagemaker",
    path="hub-content",
    named="HubContentName",
    listed="HubContentSummaries",
    shown=_content,
    gone=(ABSENT, "Hub content {} does not exist"),
)


def create_hub(call: Call) -> dict[str, Any]:
    """CreateHub."""
    name = call.parameters["HubName"]
    arn = HUBS.arn(call, name)
    hub = Made(id=arn, name=name, place=call.place, request=call.parameters)
    tags = call.require_making(hub.id)
    HUBS.require_free(call, name, (HUB,))
    return {"HubArn": HUBS.keep(call, hub, tags)}


def describe_hub(call: Call) -> dict[str, Any]:
    """DescribeHub."""
    return HUBS.described(call, _named(call))


def _named(call: Call, action: str = "") -> Made:
    """The hub that a request names, by its name or its ARN, if the caller may do this to it."""
    name = call.parameters["HubName"].rpartition("/")[2]
    if name != HUB:
        found: Made = HUBS.find(call, name, action)
        return found
    place = call.place._replace(account="aws")
    request = {"HubDescription": "simulation: some models of the public hub"}
    arn = place.arn("sagemaker", f"hub/{name}")
    call.require(arn, action=action)
    return Made(id=arn, name=name, place=place, request=request, created=CREATED)


def import_content(call: Call) -> dict[str, Any]:
    """ImportHubContent."""
    given, hub = call.parameters, _named(call)
    if hub.name == HUB:
        raise invalid(f"{HUB} is AWS's own: nothing can be imported into it")
    name = given["HubContentName"]
    with call.state.lock:
        there = _contents(call, hub, name)
        newest = max((each.version for each in there), default=(0,))
        version = given.get("HubContentVersion", f"{newest[0] + 1}.0.0")
        made = _version(hub, given | {"HubContentVersion": version})
        tags = call.require_making(made.id)
        if made.id in call.state.made:
            raise Refused(IN_USE, f"Version {version} of hub content {name} already exists")
        call.state.made[made.id], call.state.tags[made.id] = made, tags
    return {"HubArn": hub.id, "HubContentArn": made.id}


def _version(hub: Made, given: dict[str, Any]) -> Content:
    """A version of something in a hub."""
    kind, name = given["HubContentType"], given["HubContentName"]
    version = given["HubContentVersion"]
    named = f"hub-content/{hub.name}/{kind}/{name}/{version}"
    arn = hub.place.arn("sagemaker", named)
    created = hub.created if hub.name == HUB else now()
    return Content(id=arn, name=name, place=hub.place, request=given, hub=hub, created=created)


def describe_content(call: Call) -> dict[str, Any]:
    """DescribeHubContent: the version that a request names; the newest where it names none."""
    asked, hub = call.parameters, _named(call)
    kind, name = asked["HubContentType"], asked["HubContentName"]
    version = asked.get("HubContentVersion", "")
    found = [
        each
        for each in _contents(call, hub, name)
        if version in {"", each.request["HubContentVersion"]}
    ]
    chosen = found[-1] if found else None
    named = f"hub-content/{hub.name}/{kind}/{name}/{version}".rstrip("/")
    call.require(chosen.id if chosen else hub.place.arn("sagemaker", named))
    if chosen is None:
        which = f"Version {version} of hub content {name}" if version else f"Hub content {name}"
        raise absent(f"{which} does not exist in {hub.name}")
    if hub.name == HUB:
        make_files(call.service.clients, call.place.region)
    return CONTENTS.described(call, chosen)


def list_contents(call: Call) -> dict[str, Any]:
    """ListHubContents: of each name its newest version."""
    newest = {each.name: each for each in _contents(call, _named(call))}
    return CONTENTS.page(call, newest.values())


def list_versions(call: Call) -> dict[str, Any]:
    """ListHubContentVersions."""
    name = call.parameters["HubContentName"]
    found = _contents(call, _named(call), name)
    if not found:
        raise absent(f"Hub content {name} does not exist")
    least = _in_order(call.parameters.get("MinVersion", "0.0.0"))
    there = [each for each in found if each.version >= least]
    return CONTENTS.page(call, there)


def _contents(call: Call, hub: Made, name: str = "") -> list[Content]:
    """What a hub has of the kind asked for, and of a name where one is given; the oldest first."""
    kind = call.parameters["HubContentType"]
    held = (
        [_public(hub, model) for model in MODELS.values()]
        if hub.name == HUB
        else call.state.of(Content)
    )
    there = [
        each
        for each in held  # of every hub, and of every kind
        if each.hub.id == hub.id and each.request["HubContentType"] == kind
    ]
    return sorted(
        (each for each in there if name in {"", each.name}), key=lambda each: each.version
    )


def _public(hub: Made, model: HubModel) -> Content:
    """A model of the public hub as content of it."""
    return _version(
        hub,
        {
            "HubContentType": "Model",
            "HubContentName": model.name,
            "HubContentVersion": model.version,
            "HubContentDocument": document(model, hub.place.region),
            "DocumentSchemaVersion": "2.3.0",
            "HubContentDisplayName": f"simulation: {model.name}",
            "HubContentSearchKeywords": [f"@capability:{'gated' if model.gated else 'open'}"],
        },
    )


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
