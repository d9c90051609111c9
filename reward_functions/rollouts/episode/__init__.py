"""`rollout_handler`: an agent becomes a rollout.

handler.py        the decorator, and what it makes of an agent
options.py        how a handler reports: its own options, and the process's settings
invocation.py     calling an agent, however it is written
run.py            one run of an agent: begun once, in a Context of its own, reported and kept once
episode.py        one episode: its turns, their rewards, its time
results.py        what an agent returns or raises, as what is reported: rewards and failures
samples.py        a response to a request as the sample that is scored
scoring.py        a pinned reward scores an episode
watchdog.py       the minimum is reported before the window closes
policy_ping.py    one tiny policy call for an episode that made none
smoke.py          what a deployed agent is, and whether it could report
background.py     work that goes on after an answer
pooling.py        agents that are used again, each task's as new
"""
