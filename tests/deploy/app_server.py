"""Synthesises in forks of one process, which has imported the CDK; see `lasting.py`.

Most of a small synthesis is that import, and to load the CDK into jsii's Node. The forks have that
Node in common, one after another. What a command line says in its environment Node has not seen,
so that the app is told.
"""

import json
import os
import select
import socket
import sys
from functools import partial

import aws_cdk

import reward_functions.cdk.app.app  # noqa: F401 - what the entry imports once it is asked
from reward_functions.aws.regions import aws_regions
from reward_functions.cdk.app.entry import main
from reward_functions.cdk.artifact import closure


def serve(listening):
    """Answer one after another, until standard input ends; whether this is a fork that is asked."""
    while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
        connection, _ = listening.accept()
        with connection, connection.makefile() as asked:
            child = os.fork()
            if not child:
                begin(json.load(asked))
                return True
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            connection.sendall(b"%d" % status)
    return False


def begin(asked):
    """Make this process the one that a command line has started."""
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["folder"])
    context = json.loads(os.environ["CDK_CONTEXT_JSON"])
    outdir = os.environ["CDK_OUTDIR"]
    aws_cdk.App = partial(aws_cdk.App, outdir=outdir, post_cli_context=context)


# What every synthesis reads, and nothing of the repository's, which changes.
aws_regions()
closure.known()
with socket.socket(socket.AF_UNIX) as listening:
    listening.bind(sys.argv[1])
    listening.listen()
    forked = serve(listening)
if forked:
    status = 0
    try:
        main()
    except SystemExit as error:
        status = error.code
    if isinstance(status, str):
        print(status, file=sys.stderr)
        status = 1
    sys.stdout.flush()
    # Node and its folder are the server's, which ends them.
    os._exit(status or 0)
