"""An episode is reported: durable, sent until it is settled, once and by whoever lives.

feedback.py     the client: reports an episode
delivery.py     one intent, sent until it is settled or its time is over
reporter.py     what a process reports with: one outbox, one drainer, its counts
host.py         what its background needs of it
drainer.py      what is due, sent in the background
recovery.py     what is held for an outbox that cannot be written
orphans.py      what a dead process left: run again, or reported
replaying.py    what a person has sent again
"""
