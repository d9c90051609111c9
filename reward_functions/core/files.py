"""A parameter that names a file of the user's: a schema, a rubric, a database.

    def json_fields(sample: Sample, *, schema: File = NO_FILE) -> Score: ...

A deployment carries the file: its zip holds it under the relative path that the parameter has, and
a Lambda function runs in the folder of its zip. The files are the user's own, and may raise.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NewType

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.jsons import no_constant, unique_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reward_functions.core.spec import RewardSpec

File = NewType("File", str)
"""The path of a file, relative to where a command runs or `cdk.json` lies; "" for none."""

Files = NewType("Files", str)
"""The path of a file, or of a folder of files; "" for none."""

NO_FILE: Final = File("")
NO_FILES: Final = Files("")

INLINE: Final = ("{", "[")
"""How JSON begins that stands in the parameter itself."""


def file_path(name: str) -> Path:
    """Where a file is: below the current folder, else below the zip of a Lambda function.

    Raises:
        ConfigurationError: it is at neither place.
    """
    for path in (Path(name), Path(os.environ.get("LAMBDA_TASK_ROOT", ""), name)):
        if path.is_file():
            return path
    raise ConfigurationError(f"there is no file {name!r}")


def json_of(given: str) -> Any:
    """The JSON of a parameter: that of the file it names, or its own text.

    Raises:
        ConfigurationError: there is no such file, or it is not JSON.
    """
    inline = given.lstrip().startswith(INLINE)
    try:
        text = given if inline else file_path(given).read_text(encoding="utf-8")
        return json.loads(text, object_pairs_hook=unique_names, parse_constant=no_constant)
    except (OSError, ValueError, RecursionError) as error:
        where = "the parameter" if inline else given
        raise ConfigurationError(f"{where} is not JSON: {error}") from None


def files_named(spec: RewardSpec, parameters: Mapping[str, Any]) -> Iterator[str]:
    """The files that a reward's parameters name, those of a composite's parts included.

    A `File` without a suffix is the name of something that ships with the reward.
    """
    for part in getattr(spec.function, "parts", ()):
        yield from files_named(part.spec, part.parameters)
    for name, value in parameters.items():
        kind = getattr(spec.parameters.get(name), "type", None)
        if (kind is Files and value) or (
            kind is File and Path(value).suffix and not value.lstrip().startswith(INLINE)
        ):
            yield value
