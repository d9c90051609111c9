"""What tests of the modules of compatibility share: a process's reporter over a memory outbox."""

import pytest

from reward_functions.rollouts.compat.sagemaker_rft.feedback import RolloutFeedbackClient
from reward_functions.rollouts.report.outbox.sqlite import MemoryOutbox
from reward_functions.rollouts.report.reporter import Reporter, reporting
from reward_functions.rollouts.report.settings import RolloutSettings
from reward_functions.rollouts.report.transports import open_transport
from tests.rollouts.episode.conftest import Posts, account

__all__ = ["account"]


@pytest.fixture
def process(account):
    """This process's own reporter, as it is without any setting: SigV4, to boto3's model."""
    made = Reporter(RolloutSettings(), MemoryOutbox(), transports=open_transport)
    with reporting(made):
        yield made
    made.close(patience=0)


@pytest.fixture
def posts(process, account):
    """What leaves by the seam that agentcore-rl-toolkit's test replaces on the class."""
    posts = Posts()
    account.setattr(RolloutFeedbackClient, "_bearer_post", lambda _, *post: posts.add(*post))
    return posts
