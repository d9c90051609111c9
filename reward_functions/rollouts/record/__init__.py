"""Record an agent's episode: its turns, its tool calls with their results, its tokens.

types.py            a trajectory and what it is made of
text_tool_calls.py  tool calls that a policy wrote as text
completion.py       an answer: assembled of a stream, checked, its tokens
recording.py        the record of one episode, while it runs
statistics.py       turns, tools, tokens, failures
history.py          which turn goes on from which, and whether its tokens do
jsonl.py            trajectories as lines of JSON
sink.py             where they go when their episodes end
exchange/           as trainers have them: rLLM, agentcore-rl-toolkit, datums
relay/              between agents and an inference engine: tokens kept by session
spans.py            what a rollout does, as spans
telemetry.py        … by OpenTelemetry
"""
