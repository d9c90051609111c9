"""Run a command that is asked to end when make has ended: who is killed can ask nobody.

    python -I -S .ci/end_with_make.py COMMAND ARGUMENT…

The system sends the signal when the thread ends that started the command; make has but one. It
does so on Linux; elsewhere the command runs as it would without this.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1

if __name__ == "__main__":
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a command would inherit Python's own choice
    os.execvp(sys.argv[1], sys.argv[1:])  # noqa: S606 - no shell, on purpose
