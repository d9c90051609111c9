"""What of a user's credential leaves with a policy call."""

import pytest

from reward_functions.rollouts.policy.outgoing import NO_KEY, outgoing
from reward_functions.rollouts.request.context import rollout

JOB = "arn:aws:sagemaker:us-west-2:123456789012:job/AgentRFT/j"
METADATA = {"jobArn": JOB, "rolloutId": "r"}
RUNTIME = "https://job-runtime.sagemaker.us-west-2.api.aws/v1"
OPENAI = "https://api.openai.com/v1"
OWN = "http://gateway.example/v1"

ROWS = [
    # a key, where it goes, what is left of it
    ("sk-openai", OPENAI, None),
    ("sk-openai", RUNTIME, None),
    (NO_KEY, RUNTIME, None),
    ("mine", OPENAI, None),
    ("mine", RUNTIME, "Bearer mine"),
    ("mine", OWN, "Bearer mine"),
    ("", RUNTIME, None),
]


@pytest.mark.parametrize(("key", "base", "left"), ROWS)
def test_a_key_of_openais_own_goes_to_no_runtime(monkeypatch, key, base, left):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    monkeypatch.delenv("RFT_RUNTIME_ENDPOINT", raising=False)
    headers = {"Host": "x"} | ({"Authorization": f"Bearer {key}"} if key else {})
    with rollout(METADATA):
        sent = outgoing("POST", f"{base}/chat/completions", headers, b"{}")
    assert sent.headers.get("authorization") == left
    assert (sent.region == "us-west-2") is (left is None), "a token is due where no key is left"
