"""The schemas of Spider's and BIRD's databases, as their files of tables hold them.

`tables.json`, BIRD's `dev_tables.json`: an array with an object for each database. It has `db_id`,
`table_names_original`, `column_names_original` (the number of its table, and its name),
`column_types`, `primary_keys` and `foreign_keys` (numbers of columns; keys of several are lists).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.data.records import Record
from reward_functions.data.sources import records_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

NAMED: Final = "tables.json"
"""How the name of such a file ends."""


def schema_files(sources: Sequence[Path]) -> list[Path]:
    """The files of schemas among some sources, in their folders, or beside them."""
    found: dict[Path, None] = {}
    for source in sources:
        folder = source if source.is_dir() else source.parent
        named = [source] if source.name.endswith(NAMED) else sorted(folder.glob(f"*{NAMED}"))
        found |= dict.fromkeys(named)
    return list(found)


def schemas_of(sources: Sequence[Path]) -> Mapping[str, str]:
    """The tables of each database by its name, as statements that would make them.

    Raises:
        ConfigurationError: there is no such file, or it cannot be read.
    """
    found: dict[str, str] = {}
    for record in (each for file in schema_files(sources) for each in records_of(file)):
        if not isinstance(record, Record):
            raise ConfigurationError(str(record))
        try:
            found[str(record.content["db_id"])] = "\n".join(_tables(record.content))
        except (KeyError, TypeError, ValueError, IndexError, AttributeError):
            raise ConfigurationError(f"{record.where}: no schema of a database") from None
    if not found:
        raise ConfigurationError(f"{sources[0]}: {NAMED}, which has the schemas, is not beside it")
    return found


def _tables(schema: Mapping[str, Any]) -> Iterator[str]:
    tables = [_quoted(each) for each in schema["table_names_original"]]
    columns = [(of, _quoted(name)) for of, name in schema["column_names_original"]]
    keys = [each if isinstance(each, list) else [each] for each in schema["primary_keys"]]
    for number, table in enumerate(tables):
        own = {at: name for at, (of, name) in enumerate(columns) if of == number}
        lines = [f"{name} {schema['column_types'][at]}" for at, name in own.items()]
        primary = [own[at] for key in keys for at in key if at in own]
        lines += [f"PRIMARY KEY ({', '.join(primary)})"] if primary else []
        lines += [
            f"FOREIGN KEY ({own[at]}) REFERENCES {tables[columns[to][0]]} ({columns[to][1]})"
            for at, to in schema["foreign_keys"]
            if at in own
        ]
        yield f"CREATE TABLE {table} ({', '.join(lines)});"


def _quoted(name: str) -> str:
    plain = name.replace("_", "").isalnum() and not name[0].isdigit()
    return name if plain else '"' + name.replace('"', '""') + '"'
