"""A JSON Schema of `cdk.json`'s stages, for editors: names, values and what they mean.

It is made of the models that read the stages, so that a new field is in it at once. Beside them it
knows what is read before them: `extends`, an object that a string stands for, a reward that is an
object, `null` for what an extended stage says. Checks that need more than the text, such as whether
a reward exists, belong to `reward stage check`.
"""

from __future__ import annotations

from typing import Any, Final

from reward_functions.cdk.model.brought import ReadFolder
from reward_functions.cdk.model.inheritance import EXTENDS
from reward_functions.cdk.model.stages import MODELS, Stage
from reward_functions.cdk.policies.own_rights import Secret

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

PYTHONS_OWN: Final = ((r"\A", "^"), (r"\Z", "$"))
"""Anchors that only Python's patterns know."""

BY_A_STRING: Final = ((ReadFolder, "address"), (Secret, "arn"))
"""Objects that a string stands for, each with the field that it says."""

EXTENDED: Final = {
    "type": "string",
    "description": "Another stage of this file, whose settings this one takes and changes: objects "
    "are merged key by key, anything else is replaced, and null takes the other's value away.",
}


def stages_schema() -> dict[str, Any]:
    """The schema of the object `stages`."""
    return {"$schema": DIALECT, **_stages(), "$defs": _definitions()}


def file_schema() -> dict[str, Any]:
    """The schema of a whole `cdk.json`; what it does not know, CDK's own keys, may be anything."""
    context = {
        "type": "object",
        "properties": {
            "stage": {"type": "string", "description": "The stage where no -c stage=NAME is."},
            "stages": _stages(),
            "interpreter": {
                "type": "string",
                "description": "Path of the Python that compiles the artifacts.",
            },
        },
        "required": ["stages"],
    }
    return {
        "$schema": DIALECT,
        "title": "cdk.json of reward-functions",
        "type": "object",
        "properties": {
            "app": {"type": "string", "description": "The command that synthesises."},
            "context": context,
        },
        "required": ["app", "context"],
        "$defs": _definitions(),
    }


def _stages() -> dict[str, Any]:
    name = Stage.model_json_schema()["properties"]["name"]
    return {
        "type": "object",
        "description": "The stages, each by its name.",
        "propertyNames": {key: _portable(name[key]) for key in ("pattern", "maxLength")},
        "additionalProperties": {"$ref": "#/$defs/Stage"},
        "minProperties": 1,
    }


def _definitions() -> dict[str, Any]:
    stage = Stage.model_json_schema()
    found = stage.pop("$defs")
    found["Stage"] = _of_stage(stage)
    found["Deployment"] = _of_deployment(found["Deployment"])
    for model, field in BY_A_STRING:
        found[model.__name__] = _or_string(found[model.__name__], field)
    for name in {model.__name__ for model in MODELS.values()} & set(found):
        found[name].pop("title", None)
    portable = _portable(found)
    assert isinstance(portable, dict)
    return portable


def _of_stage(stage: dict[str, Any]) -> dict[str, Any]:
    """Its name is its key, and what it extends may say what it must have."""
    fields = {key: _or_null(field) for key, field in stage["properties"].items() if key != "name"}
    required = [key for key in stage["required"] if key != "name"]
    return {
        **stage,
        "properties": {EXTENDS: EXTENDED, **fields},
        "required": [],
        "anyOf": [{"required": required}, {"required": [EXTENDS]}],
    }


def _of_deployment(deployment: dict[str, Any]) -> dict[str, Any]:
    """A string is a reward; name and reward stand for each other; a reward may be declared."""
    properties = dict(deployment["properties"])
    reward = properties["reward"]
    declared = {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
    }
    kept: dict[str, Any] = {key: reward[key] for key in ("title", "description") if key in reward}
    alone = {key: value for key, value in reward.items() if key not in kept}
    properties["reward"] = {**kept, "anyOf": [alone, declared]}
    required = set(deployment["required"])
    others = sorted(required - {"name", "reward"})
    whole = {
        **deployment,
        "properties": properties,
        "required": others,
        "anyOf": [{"required": ["name"]}, {"required": ["reward"]}],
    }
    return {
        "description": deployment.get("description", ""),
        "anyOf": [{"type": "string", "minLength": 1, "description": reward["description"]}, whole],
    }


def _or_string(whole: dict[str, Any], field: str) -> dict[str, Any]:
    return {
        "description": whole["description"],
        "anyOf": [whole["properties"][field], whole],
    }


def _or_null(field: dict[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {
        key: field[key] for key in ("title", "description", "default") if key in field
    }
    alone = {key: value for key, value in field.items() if key not in kept}
    if {"type": "null"} in alone.get("anyOf", ()):
        return field
    return {**kept, "anyOf": [alone, {"type": "null"}]}


def _portable(schema: Any) -> Any:
    """The same with patterns that an editor understands."""
    if isinstance(schema, dict):
        return {
            key: _anchored(value)
            if key == "pattern" and isinstance(value, str)
            else _portable(value)
            for key, value in schema.items()
        }
    if isinstance(schema, list):
        return [_portable(each) for each in schema]
    return _anchored(schema) if isinstance(schema, str) and schema.startswith(r"\A") else schema


def _anchored(pattern: str) -> str:
    for python, everywhere in PYTHONS_OWN:
        pattern = pattern.replace(python, everywhere)
    return pattern
