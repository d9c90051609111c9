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

import sys
import zipfile
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from tempfile import gettempdir
from threading import Lock
from types import SimpleNamespace
from typing import Any, Final

CODE: Final = Path(gettempdir()) / "code"
"""Where unpacked code is, by the digest of its zip; it goes with the emulator's folder."""

UNPACKING: Final = Lock()


class SharedCode(zipfile.ZipFile):
    """The zip of a function's code, whose folder becomes a link to what equal zips share."""

    def extractall(self, path: Any = None, members: Any = None, pwd: Any = None) -> None:
        """Let a folder, which is there and empty, hold what is in the zip."""
        folder = CODE / sha256(Path(str(self.filename)).read_bytes()).hexdigest()
        unfinished = folder.with_suffix(".new")
        with UNPACKING:
            if not folder.is_dir():
                super().extractall(unfinished, members, pwd)
                unfinished.rename(folder)
        Path(path).rmdir()
        Path(path).symlink_to(folder)


def main() -> None:
    """Change it, and let it serve."""
    functions = vars(import_module("ministack.core.lambda_runtime"))
    functions["zipfile"] = SimpleNamespace(**vars(zipfile) | {"ZipFile": SharedCode})
    script, counts = functions["_PYTHON_WORKER_SCRIPT"], "import botocore.handlers"
    functions["_PYTHON_WORKER_SCRIPT"] = script.replace(counts, "raise ImportError")
    router = vars(import_module("ministack.core.router"))
    named = router["_is_aws_service_name"]
    router["_is_aws_service_name"] = lambda name: name == "sagemaker" or named(name)
    sys.exit(import_module("hypercorn.__main__").main())


if __name__ == "__main__":
    main()
