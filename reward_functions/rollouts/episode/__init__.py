"""`rollout_handler`: an agent becomes a rollout.

handler.py        the decorator, and what it makes of an agent
options.py        how a handler reports: its own options, and the process's settings
invocation.py     calling an agent, however it is written
kept.py           what an episode did is kept when it ends
run.py            one run of an agent: begun once, in a Context of its own, reported once
episode.py        one episode: its turns, their rewards, its time
results.py        what an agent returns, as a reward
rewarding.py      its reward: the agent's own, a scorer's, or one left to the feedback path
endings.py        how an episode ended, as what is reported: the rows of failure attribution
watchdog.py       the minimum is reported before the window closes
policy_ping.py    one tiny policy call for an episode that made none
smoke.py          what a deployed agent is, and whether it could report
background.py     work that goes on after an answer
scoring/          a pinned reward scores an episode
pooling/          agents that are used again, each task's as new
"""
