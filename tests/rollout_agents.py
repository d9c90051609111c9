"""An agent that does what its prompt says, and reports by boto3's own client.

It answers over HTTP, as a Lambda forwarder's service and as AgentCore's: see `tests.loopback`.
"""

import json
from threading import Event, Lock

import boto3
from botocore.config import Config


class Agent:
    """What an agent of these tests knows.

    Args:
        endpoint: of the runtime.
    """

    def __init__(self, endpoint):
        self.runtime = boto3.client(
            "sagemakerjobruntime",
            region_name="us-west-2",
            endpoint_url=endpoint,
            aws_access_key_id="local",
            aws_secret_access_key="local",
            config=Config(max_pool_connections=64),
        )
        self.requests, self.asked, self.lock, self.ended = [], [], Lock(), Event()
        self.address = ""

    def answer(self, asked):
        """(status, headers, body) of any request."""
        with self.lock:
            self.asked.append(asked)
        if asked.method == "GET":
            return (200 if asked.path == ("health",) else 404), {}, b"{}"
        if asked.path[-1] == "stopruntimesession":
            return 200, {}, b"{}"
        status, content = self.acts(json.loads(asked.body))
        headers = {"Retry-After": "0.01"} if status == 429 else {}
        return status, headers, json.dumps(content).encode()

    def acts(self, payload):
        """(status, body) of the answer to a rollout request."""
        with self.lock:
            again = payload in self.requests
            self.requests.append(payload)
        ids = payload["metadata"]
        named = {"JobArn": ids["jobArn"], "TrajectoryId": ids["rolloutId"]}
        words = set(payload["prompt"].split())
        if "busy" in words and not again:
            return 429, {}
        if "hangs" in words:
            self.ended.wait(60)
        if "samples" in words:
            turn = {"role": "user", "content": payload["prompt"]}
            body = json.dumps({"model": "default", "messages": [turn]}).encode()
            self.runtime.sample(Body=body, **named)
        if "completes" in words:
            self.runtime.complete_rollout(Status="ready", **named)
        if "fails" in words:
            self.runtime.complete_rollout(Status="failed", **named)
        if "rewards" in words:
            self.runtime.update_reward(Rewards=[0.25, 0.5], **named)
        if "breaks" in words:
            return 500, {"error": "secret"}
        if "refuses" in words:
            return 200, {"errorType": "ValidationError", "errorMessage": "secret"}
        return 200, {"status": "accepted"} if "behind" in words else {}
