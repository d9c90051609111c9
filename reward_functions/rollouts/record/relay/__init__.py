"""An authenticated relay between agents and an inference engine, which keeps tokens by session.

    with Relay("http://127.0.0.1:8000/v1").serving() as relay:
        with relay.session(sampling={"temperature": 1.0}) as session:
            run_agent(base_url=session.base_url, api_key=session.key)
        trajectory = session.trajectory()

relay.py          who may call what, and where it goes
sessions.py       one for each episode, with a key of its own, and its turns
calls.py          one call: sent to the engine, answered, recorded
dialects.py       the two APIs that agents speak
anthropic.py      Anthropic's, over OpenAI's
engine.py         the connections to the engine
wire.py           JSON and server-sent events of somebody else
"""

from reward_functions.rollouts.record.relay.relay import Relay
from reward_functions.rollouts.record.relay.sessions import Limits, Session

__all__ = ["Limits", "Relay", "Session"]
