"""A document against a JSON schema that a service published a moment ago."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def schema_problems(schema: Any, document: Mapping[str, Any]) -> list[str]:
    """What a document breaks of a schema: one sentence a place and rule; empty where it fits."""
    from jsonschema.validators import Draft202012Validator, validator_for  # noqa: PLC0415 - 0.1 s

    checks = validator_for(schema, default=Draft202012Validator)(schema)
    return [
        f"{each.json_path.removeprefix('$').lstrip('.') or 'the document'}: {each.message}"
        for each in checks.iter_errors(document)
    ]
