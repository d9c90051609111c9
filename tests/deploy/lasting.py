"""Programs that last: a server has loaded one, and runs it as often as it is asked to.

The CDK's command line and an app take most of a small deployment to load. A server listens at an
address. It is told the arguments, the environment and the folder of a start as JSON, prints to its
log, and answers with the exit status.
"""

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.costs import beside

APP = (sys.executable, "-P", Path(__file__).with_name("app_server.py"))
COMMAND_LINE = ("node", Path(__file__).with_name("cdk_server.cjs"))

PROGRAM = """#!{python} -IS
import json, os, socket, sys

asked = {{"arguments": sys.argv[1:], "environment": dict(os.environ), "folder": os.getcwd()}}
with open({log!r}, "rb") as printed, socket.socket(socket.AF_UNIX) as server:
    printed.seek(0, os.SEEK_END)
    server.connect({address!r})
    server.sendall(json.dumps(asked).encode())
    server.shutdown(socket.SHUT_WR)
    status = server.recv(9)
    sys.stdout.buffer.write(printed.read())
sys.exit(int(status or 1))
"""


@contextmanager
def lasting(server, program, repository, environment=None):
    """A program whose server runs in a repository.

    Args:
        server: what starts it, before its address.
        program: the name of the program.
        repository: where both run.
        environment: of the server; this process's own where not given.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)  # a short one, for the address
        address, path, log = folder / "socket", folder / program, folder / "log"
        places = {"python": sys.executable, "address": str(address), "log": str(log)}
        path.write_text(PROGRAM.format_map(places))
        path.chmod(0o755)
        with log.open("ab") as output:
            begun = subprocess.Popen(
                [*server, address],
                cwd=repository,
                env=dict(environment or os.environ) | {"TMPDIR": name},
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
            )
        try:
            while not address.exists():
                assert begun.poll() is None, log.read_text()
                time.sleep(0.02)
            yield path
        finally:
            # What it took is known at its end, whichever test comes last.
            with beside("deploy"):
                begun.stdin.close()
                begun.wait()
