"""Deferred rewards: an agent writes its episode into S3, and others score it.

    the agent ends ──→ record.py, a JSON object ──→ writing.py, into S3, once ──→ feedback

record.py    what an agent writes, how it is read again, and the key it has
writing.py   `Deferred`: where records go and who scores them; writing one durably
"""
