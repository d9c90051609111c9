"""The feedback path: what an agent deferred is scored by a pinned reward and reported.

    S3 ──→ SQS ──→ handler ──→ path ──→ scoring ──→ reports ──→ the trainer's job runtime
                                 └────→ letters ──→ the dead-letter queue, with the reason

settings.py   where a stage's path reads, asks and reports, from the environment
findings.py   what keeps a record from being reported, and whether it is tried again
messages.py   notifications of S3 in the bodies of SQS's messages
results.py    records, read from allowed buckets
scoring.py    pinned versions of deployed rewards, asked in the common contract
reports.py    a report: durable first, then sent, the same bytes from any sender
path.py       what becomes of each message: the table, as steps
handler.py    the Lambda's entry: a batch of messages, and those that failed
"""
