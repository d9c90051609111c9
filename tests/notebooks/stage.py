"""What the job notebooks stand on while `make notebooks` runs: an emulator, a stage, a double.

As a reader has them, and as `tests/deploy` has them: permissions are enforced, a script answers for
the judge's model, the training double trains no language model. All of it ends with the block.
"""

import os
from contextlib import ExitStack, contextmanager

from reward_functions.local.emulator import TrainingOptions, down, up
from reward_functions.local.emulator.cdk import Cdk
from reward_functions.local.emulator.emulator import ended_like_interrupted, lifeline
from reward_functions.local.scripted_judge import scripted_judge
from tests.deploy.what import ROOT, STAGE

NAME = "notebooks"

EMULATOR = ROOT / ".venv" / "emulator" / "bin" / "python"
"""What `make setup` installed; the kernel's own environment has none."""


@contextmanager
def deployed(progress):
    """The emulator, with the stage `local` on it.

    Args:
        progress: called with what is being waited for.
    """
    with ended_like_interrupted(), ExitStack() as ended:
        models = ended.enter_context(scripted_judge())
        line = ended.enter_context(lifeline())
        progress("the local AWS emulator starts")
        aws = up(
            NAME,
            enforce=True,
            python=str(EMULATOR),
            models=models,
            training=TrainingOptions(),
            line=line,
        )
        ended.callback(down, NAME)
        aws.ask_training("POST", "speed", seconds_to_host=0.0)
        cdk = Cdk(aws, ROOT, stage=STAGE)
        progress("cdk bootstrap")
        cdk.bootstrap()
        progress("cdk deploy")
        cdk.deploy()
        yield aws


def point_at(aws):
    """Kernels inherit it: beside other emulators of the user, a cell would find several."""
    os.environ.update(aws.environment)
