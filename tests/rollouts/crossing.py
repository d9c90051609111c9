"""Rollouts at once: whose each call is can be read from its prompt, and so compared."""

from reward_functions.rollouts.episode.episode import RolloutContext
from reward_functions.rollouts.record.recording import Recording

AT_ONCE = 32
"""Of the nightly `make compat` it is 64, over each of these frameworks."""
JOB = "arn:aws:sagemaker:us-west-2:123456789012:job/AgentRFT/j"
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "calculator",
            "description": "Compute.",
            "parameters": {"type": "object", "properties": {"expression": {"type": "string"}}},
        },
    }
]


def metadata(number=0, **more):
    return {"jobArn": JOB, "rolloutId": f"rollout-{number}"} | more


def parameters(number):
    return {"temperature": number / 100, "topP": 1 - number / 100, "maxTokens": 100 + number}


def episode(number=0, **more):
    """A recorded episode with parameters of its own."""
    given = {"inference_params": parameters(number), "recording": Recording()} | more
    return RolloutContext(metadata(number), **given)


def crossed(calls):
    """The calls whose headers or parameters are not those of the rollout in their prompt."""
    wrong = []
    for call in calls:
        number = int(call.prompt.removeprefix("solve "))
        own = dict(
            zip(("temperature", "top_p", "max_tokens"), parameters(number).values(), strict=True)
        )
        if (call.identity, call.parameters) != ((JOB, f"rollout-{number}"), own):
            wrong.append(call)
    return wrong


def turns(episode):
    """(response text or tool names, error) of every attempt that the episode recorded."""
    recorded = episode.recording.trajectory(id="t").turns
    return [(_shown(turn.response), turn.error) for turn in recorded]


def _shown(message):
    if message is None:
        return None
    calls = message.get("tool_calls")
    return [each["function"]["name"] for each in calls] if calls else message.get("content")


def assert_one_span_a_call(calls):
    spans = [call.headers["x-span-id"] for call in calls]
    assert len(set(spans)) == len(calls)
