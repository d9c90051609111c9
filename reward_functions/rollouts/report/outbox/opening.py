"""An outbox by its URL, and where it is when nobody names one.

| URL | what |
| --- | --- |
| `sqlite:///PATH` | a file, by its absolute path |
| `dynamodb://TABLE?region=REGION&endpoint=URL` | a table; both parameters may be left out |
| `memory:` | this process: a report that is not delivered is lost with it |
| "" | `outbox.sqlite3` in `XDG_STATE_HOME/reward-functions/rollouts` |

Where that folder cannot be written, as in Lambda and in many containers, it is one of the temporary
folder, and a warning says so.
"""

from __future__ import annotations

import logging
import os
import re
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, unquote, urlsplit

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.platforms import require_posix
from reward_functions.core.suggest import did_you_mean
from reward_functions.rollouts.report.outbox.dynamodb import DynamoDBOutbox
from reward_functions.rollouts.report.outbox.sqlite import MemoryOutbox, SqliteOutbox

if TYPE_CHECKING:
    from collections.abc import Mapping
    from urllib.parse import SplitResult

    from reward_functions.rollouts.report.outbox import Outbox

log = logging.getLogger(__name__)

FILE: Final = "outbox.sqlite3"

FORMS: Final = "sqlite:///PATH, dynamodb://TABLE?region=REGION or memory:"

TABLE: Final = re.compile(r"[A-Za-z0-9_.-]{3,255}")
"""Names of DynamoDB's tables."""

PARAMETERS: Final = ("region", "endpoint")


def open_outbox(url: str = "", environ: Mapping[str, str] = os.environ) -> Outbox:
    """The outbox of a URL; a file or a table is reached at first use, and not here.

    Raises:
        ConfigurationError: the URL has none of the forms above.
    """
    if not url:
        return SqliteOutbox(default_path(environ))
    try:
        parts = urlsplit(url)
    except ValueError:
        raise _unknown(url) from None
    match parts.scheme:
        case "sqlite":
            return _sqlite(parts)
        case "dynamodb":
            return _dynamodb(parts)
        case "memory" if url in {"memory:", "memory://"}:
            return MemoryOutbox()
        case _:
            raise _unknown(url)


def default_path(environ: Mapping[str, str] = os.environ) -> Path:
    """The file of an outbox that nobody names."""
    state = _state(environ)
    if state is not None and _writable(folder := state / "reward-functions" / "rollouts"):
        return folder / FILE
    require_posix("an outbox in the folder for temporary files")
    temporary = Path(tempfile.gettempdir()) / f"reward-functions-{os.getuid()}"
    log.warning(
        "the outbox is %s, because no state folder can be written: if this disk dies with "
        "the machine, name a table, REWARD_ROLLOUTS_OUTBOX=dynamodb://TABLE",
        temporary / FILE,
    )
    if not _writable(temporary) or not _ours(temporary):
        raise ConfigurationError(
            f"{temporary} is not a folder that belongs to this user alone: name an outbox with "
            f"REWARD_ROLLOUTS_OUTBOX, as {FORMS}"
        )
    return temporary / FILE


def table_url(table: str, region: str = "") -> str:
    """The URL of an outbox in a table.

    Raises:
        ConfigurationError: no table can have that name.
    """
    if not TABLE.fullmatch(table):
        raise ConfigurationError(
            "an outbox in a table is dynamodb:// and the table's name: 3 to 255 letters, digits, "
            "_, . and -"
        )
    return f"dynamodb://{table}" + (f"?region={region}" if region else "")


def _sqlite(parts: SplitResult) -> SqliteOutbox:
    if parts.netloc or parts.query or not parts.path.strip("/") or parts.path.endswith("/"):
        raise ConfigurationError(
            "an outbox in a file is sqlite:/// and an absolute path: sqlite:///var/lib/outbox.sqlite3"
        )
    return SqliteOutbox("/" + unquote(parts.path).lstrip("/"))


def _dynamodb(parts: SplitResult) -> DynamoDBOutbox:
    given = parse_qs(parts.query)
    for name in given.keys() - set(PARAMETERS):
        raise ConfigurationError(
            f"the outbox has no parameter {name!r}{did_you_mean(name, PARAMETERS)}"
        )
    table_url(parts.netloc + parts.path.rstrip("/"))
    known = {name: values[-1] for name, values in given.items()}
    region, endpoint = (known.get(name, "") for name in PARAMETERS)
    return DynamoDBOutbox(parts.netloc, region=region, endpoint=endpoint)


def _unknown(url: str) -> ConfigurationError:
    scheme = url.partition(":")[0][:20]
    return ConfigurationError(f"an outbox is {FORMS}, and {scheme!r} is none of them")


def _state(environ: Mapping[str, str]) -> Path | None:
    """The user's state folder; None where there is no home."""
    if environ.get("XDG_STATE_HOME"):
        return Path(environ["XDG_STATE_HOME"])
    home = environ.get("HOME")
    return Path(home) / ".local" / "state" if home else None


def _writable(folder: Path) -> bool:
    """Whether files can be made in a folder, which is made where it is missing."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def _ours(folder: Path) -> bool:
    """Whether nobody else can have put the folder, or files in it, where everybody may write."""
    found = folder.lstat()
    alone = not stat.S_IMODE(found.st_mode) & 0o077
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and alone
