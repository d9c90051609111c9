"""An authenticated relay between agents and an inference engine, which keeps tokens by session.

    with Relay("http://127.0.0.1:8000/v1").serving() as relay:
        with relay.session(sampling={"temperature": 1.0}) as session:
            run_agent(base_url=session.base_url, api_key=session.key)
        trajectory = session.trajectory()

relay.py                 who may call what, and where it goes
sessions.py              one for each episode, with a key of its own
record.py                the turns of a session
calls.py                 one call: sent to the engine, answered, recorded
dialects.py              the two APIs that agents speak
requests.py              what of a request goes to the engine
engine.py                the connections to it
capture.py               tokens, as the engine gave them
completions.py           completions, and streams that come to one
event_stream.py          server-sent events
anthropic_requests.py    Anthropic's requests as OpenAI's
anthropic_replies.py     OpenAI's replies as Anthropic's
bounded_json.py          JSON of somebody else
"""

from reward_functions.rollouts.record.relay.relay import Relay
from reward_functions.rollouts.record.relay.sessions import Limits, Session

__all__ = ["Limits", "Relay", "Session"]
