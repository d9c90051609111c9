"""The emulator's own server, some of whose ways are changed: they cost seconds and show nothing.

    python -P serve.py ARGUMENT…        in the emulator's interpreter; the arguments are hypercorn's

ministack 1.5.33 unpacks the code of a function for every process that runs it: thousands of files,
for each version and copy of a few rewards. Here equal code is unpacked once, and a file that an
earlier zip had is linked: most are of packages. On Lambda a function cannot write where its code
is; here it had better not.

Each of these processes imports botocore to count how deep functions invoke functions. None of ours
invokes one, and most need no botocore.

For what a function writes to its log, each invocation looks a thousand times a second, fifty times
where it writes nothing. Here it waits until there is something, as long as before.

Each list of an account's policies escapes the text of all of them, byte by byte. Here a text is
escaped once.

Each pattern of a policy becomes a regular expression. 4,096 are kept, of which one of AWS's own
policies takes 2,600; all others are made again for each request. Here a pattern is cut at its
wildcards, once.

At the first request to a service that it does not have, ministack reads the models of all that AWS
has, four seconds in which it answers nobody. SageMaker, for which it is asked who signs a request,
is known beforehand.

A function that failed before it answered for a custom resource never will. ministack waits for its
answer as CloudFormation does, up to an hour. Here the resource fails at once, with that error.
"""

from __future__ import annotations

import json
import re
import sys
import urllib.parse
import zipfile
from functools import lru_cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from queue import Empty
from tempfile import gettempdir, mkdtemp
from threading import Lock
from time import monotonic
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

CODE: Final = Path(gettempdir()) / "code"
"""Where unpacked code is, by the digest of its zip; it goes with the emulator's folder."""

UNPACKING: Final = Lock()


Known = tuple[str, int, int]

UNPACKED: Final[dict[Known, Path]] = {}
"""Where a file of a name, a checksum and a size was unpacked first."""


class SharedCode(zipfile.ZipFile):
    """The zip of a function's code, whose folder becomes a link to what equal zips share."""

    def extractall(self, path: Any = None, members: Any = None, pwd: Any = None) -> None:  # noqa: ARG002 - zipfile's
        """Let a folder, which is there and empty, hold what is in the zip."""
        folder = CODE / sha256(Path(str(self.filename)).read_bytes()).hexdigest()
        CODE.mkdir(parents=True, exist_ok=True)
        with UNPACKING:
            if not folder.is_dir():
                unfinished = Path(mkdtemp(dir=CODE))
                unpacked = self._unpacked(unfinished)
                unfinished.rename(folder)
                UNPACKED.update({key: folder / key[0] for key in unpacked})
        Path(path).rmdir()
        Path(path).symlink_to(folder)

    def _unpacked(self, folder: Path) -> list[Known]:
        """Fill a folder: what no zip had before."""
        found = []
        for member in {each.filename: each for each in self.infolist()}.values():
            place, key = folder / member.filename, (member.filename, member.CRC, member.file_size)
            if same := UNPACKED.get(key):
                place.parent.mkdir(parents=True, exist_ok=True)
                place.hardlink_to(same)
            elif Path(self.extract(member, folder)) == place and not member.is_dir():
                found.append(key)
        return found


def logged(worker: Any, first_line_wait: float = 0.05, hard_cap: float = 0.25) -> str:
    """The lines that a function has written since it was last asked; the waits are ministack's.

    Args:
        worker: the function's process, of ministack.
        first_line_wait: seconds to wait for a line; for one more, a tenth of it.
        hard_cap: seconds to wait for all.
    """
    lines: list[str] = []
    end, patience = monotonic() + hard_cap, first_line_wait
    while (left := min(patience, end - monotonic())) > 0:
        try:
            lines.append(worker._stderr_queue.get(timeout=left))  # noqa: SLF001 - ministack's
        except Empty:
            break
        patience = first_line_wait / 10
    return "\n".join(lines)


class Wildcards:
    """A pattern of IAM's: `*` stands for any characters, `?` for one.

    Args:
        pattern: as a policy has it.
        ignore_case: whether capitals make no difference, as in actions.
    """

    __slots__ = ("_expression", "_fold", "_pieces")

    def __init__(self, pattern: str, ignore_case: bool) -> None:  # noqa: FBT001 - ministack's
        self._fold = ignore_case
        pattern = pattern.lower() if ignore_case else pattern
        self._pieces = pattern.split("*")
        self._expression = _expression(pattern) if "?" in pattern else None

    def match(self, value: str) -> bool | None:
        """True where all of a value fits; None as of an expression that does not match."""
        value = value.lower() if self._fold else value
        if self._expression is not None:
            return self._expression.match(value) is not None or None
        first, *others = self._pieces
        if not others:
            return value == first or None
        *inner, last = others
        end = len(value) - len(last)
        at = len(first)
        if at > end or not value.startswith(first) or not value.endswith(last):
            return None
        for piece in inner:
            at = value.find(piece, at, end)
            if at < 0:
                return None
            at += len(piece)
        return True


def _expression(pattern: str) -> re.Pattern[str]:
    wild = {"*": ".*", "?": "."}
    pieces = (wild.get(piece) or re.escape(piece) for piece in re.split(r"([*?])", pattern))
    return re.compile(f"(?s:{''.join(pieces)})\\Z")


def answering(run: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Run a function, and answer for one that failed before it did so itself.

    Args:
        run: ministack's: a function and its event to what became of it.
    """

    def running(function: Any, event: Any) -> Any:
        ended = run(function, event)
        if ended.get("error") and isinstance(event, dict):
            _fail(event.get("ResponseURL"), ended.get("body"))
        return ended

    return running


def _fail(address: Any, error: Any) -> None:
    """Let the custom resource fail that still waits for an answer at an address, if one does."""
    resources = import_module("ministack.services.cloudformation.custom_resource")
    token = str(address).rpartition("/")[2]
    if resources._pending.get(token, {"result": True})["result"] is None:  # noqa: SLF001
        words = f"the function failed before it answered: {json.dumps(error, ensure_ascii=False)}"
        resources.deliver_response(token, {"Status": "FAILED", "Reason": words})


def main() -> None:
    """Change it, and let it serve."""
    functions = vars(import_module("ministack.core.lambda_runtime"))
    functions["zipfile"] = SimpleNamespace(**vars(zipfile) | {"ZipFile": SharedCode})
    script, counts = functions["_PYTHON_WORKER_SCRIPT"], "import botocore.handlers"
    functions["_PYTHON_WORKER_SCRIPT"] = script.replace(counts, "raise ImportError")
    functions["Worker"]._drain_stderr_bounded = logged  # noqa: SLF001
    vars(urllib.parse)["quote_from_bytes"] = lru_cache(1024)(urllib.parse.quote_from_bytes)
    evaluator = vars(import_module("ministack.core.iam_evaluator"))
    evaluator["_fnmatch_compile"] = lru_cache(None)(Wildcards)
    router = vars(import_module("ministack.core.router"))
    named = router["_is_aws_service_name"]
    router["_is_aws_service_name"] = lambda name: name == "sagemaker" or named(name)
    lambda_ = vars(import_module("ministack.services.lambda_svc"))
    run = "_execute_function_with_config_scope"
    lambda_[run] = answering(lambda_[run])
    sys.exit(import_module("hypercorn.__main__").main())


if __name__ == "__main__":
    main()
