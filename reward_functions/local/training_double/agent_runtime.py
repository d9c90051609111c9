"""Which requests to the double's port are of the job runtime: those of agents.

/sample, /sample-with-response-stream, /complete-rollout, /update-reward, the alpha's two
/v1/chat/completions     with a job's header; without one it is Bedrock's
/_runtime/…              the runtime's own controls
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.local.runtime_double.control import PREFIX
from reward_functions.local.runtime_double.reports import ALPHA_JOB, ROUTES
from reward_functions.local.runtime_double.sampling import OPENAI, STREAMED
from reward_functions.rollouts.request.headers import JOB_HEADER

if TYPE_CHECKING:
    from reward_functions.local.loopback_service.requests import Request

OWN: Final = frozenset({*STREAMED, *ROUTES} - {OPENAI})


def is_runtime(request: Request) -> bool:
    """Whether a request is for the job runtime."""
    if request.path in OWN or request.path == PREFIX or request.path.startswith(f"{PREFIX}/"):
        return True
    jobs = request.header(JOB_HEADER) or request.header(ALPHA_JOB)
    return request.path == OPENAI and bool(jobs)
