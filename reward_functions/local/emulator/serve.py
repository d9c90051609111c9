"""The emulator's own server, three of whose ways are changed: they cost seconds and show nothing.

    python -P serve.py ARGUMENT…        in the emulator's interpreter; the arguments are hypercorn's

ministack 1.5.33 unpacks the code of a function for every process that runs it: thousands of files,
for each version and copy of a few rewards. Here equal code is unpacked once. On Lambda a function
cannot write where its code is; here it had better not.

Each of these processes imports botocore to count how deep functions invoke functions. None of ours
invokes one, and most need no botocore.

At the first request to a service that it does not have, ministack reads the models of all that AWS
has, four seconds in which it answers nobody. SageMaker, for which it is asked who signs a request,
is known beforehand.
"""

from __future__ import annotations

import hashlib
import sys
import zipfile
from importlib import import_module
from pathlib import Path
from tempfile import gettempdir
from threading import Lock
from types import SimpleNamespace
from typing import Any, Final

CODE: Final = Path(gettempdir()) / "code"
"""Where unpacked code is, by the digest of its zip; it goes with the emulator's folder."""

UNPACKING: Final = Lock()

COUNTS: Final = "import botocore.handlers"
"""What a process of a function does to count."""

UNASKED: Final = "sagemaker"
"""A service that it does not have, and is asked for."""


class SharedCode(zipfile.ZipFile):
    """The zip of a function's code, whose folder becomes a link to what equal zips share."""

    def extractall(self, path: Any = None, members: Any = None, pwd: Any = None) -> None:
        """Let a folder, which is there and empty, hold what is in the zip."""
        with Path(str(self.filename)).open("rb") as packed:
            folder = CODE / hashlib.file_digest(packed, "sha256").hexdigest()
        with UNPACKING:
            if not folder.is_dir():
                unfinished = folder.with_suffix(".new")
                super().extractall(str(unfinished), members, pwd)
                unfinished.rename(folder)
        Path(path).rmdir()
        Path(path).symlink_to(folder)


def main() -> None:
    """Change it, and let it serve."""
    functions = vars(import_module("ministack.core.lambda_runtime"))
    functions["zipfile"] = SimpleNamespace(**vars(zipfile) | {"ZipFile": SharedCode})
    script = functions["_PYTHON_WORKER_SCRIPT"]
    functions["_PYTHON_WORKER_SCRIPT"] = script.replace(COUNTS, "raise ImportError")
    router = vars(import_module("ministack.core.router"))
    named = router["_is_aws_service_name"]
    router["_is_aws_service_name"] = lambda name: name == UNASKED or named(name)
    sys.exit(import_module("hypercorn.__main__").main())


if __name__ == "__main__":
    main()
