"""A rollout behind a relay: each has a session of its rollout's id, which keeps its tokens."""

import os
from contextlib import contextmanager

import httpx
from openai import OpenAI
from openai_loop_rollout import solver
from reward_functions.rollouts import rollout_handler


@contextmanager
def session(name):
    """A session of the relay, for one rollout: the address and the key of its policy."""
    key = os.environ["REWARD_RELAY_ADMIN_KEY"]
    owner = httpx.Client(
        base_url=os.environ.get("RELAY_URL", "http://127.0.0.1:8766"),
        headers={"Authorization": f"Bearer {key}"},
        timeout=30,
    )
    with owner:
        made = owner.post("/sessions", json={"id": name}).raise_for_status().json()
        try:
            yield {"base_url": made["url"], "api_key": made["api_key"]}
        finally:
            owner.delete(f"/sessions/{name}").raise_for_status()


@rollout_handler(reward="math")
def solve(request, rollout):
    """One rollout; the trainer's reward and the relay's tokens have one id."""
    with session(rollout.metadata.trajectory_id) as policy, OpenAI(**policy) as client:
        return solver(client)(request)
