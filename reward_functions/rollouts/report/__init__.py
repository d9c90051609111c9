"""Report an episode: durable, sent until it is settled, once, by the process that lives.

feedback.py     the client: reports an episode
delivery.py     one intent, sent until it is settled or its time is over
reporter.py     what a process reports with: one outbox, its counts, what is due sent in the
                background, what a dead process left, what cannot be written, what is replayed
intents.py      what is to be reported, its token and its state
settings.py     how a process reports, from the environment
outbox/         where intents are durable before they are sent
transports.py   how a report is carried: SigV4, bearer token, the alpha API
credentials.py  whose credentials sign it, and the bearer tokens that they mint
deferred.py     episodes that a deployed reward scores: their record, written into S3
"""
