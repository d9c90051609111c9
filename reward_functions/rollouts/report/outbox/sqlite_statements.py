"""The tables of an outbox in SQLite, and every statement that is made of them."""

from __future__ import annotations

from typing import Final

VERSION: Final = 1
"""Of the schema, as `PRAGMA user_version`."""

SCHEMA: Final = (
    """
    CREATE TABLE intents (
        job_arn TEXT NOT NULL, trajectory_id TEXT NOT NULL, operation TEXT NOT NULL,
        endpoint TEXT NOT NULL, region TEXT NOT NULL, transport TEXT NOT NULL,
        payload TEXT NOT NULL, token TEXT NOT NULL, created REAL NOT NULL, expires REAL NOT NULL,
        of_failed INTEGER NOT NULL,
        state TEXT NOT NULL, attempts INTEGER NOT NULL, due REAL NOT NULL,
        outcome TEXT NOT NULL, detail TEXT NOT NULL,
        PRIMARY KEY (job_arn, trajectory_id, operation)
    )
    """,
    "CREATE INDEX intents_due ON intents (due) WHERE state = 'pending'",
    "CREATE INDEX intents_state ON intents (state, created)",
    """
    CREATE TABLE episodes (
        job_arn TEXT NOT NULL, trajectory_id TEXT NOT NULL,
        endpoint TEXT NOT NULL, region TEXT NOT NULL, transport TEXT NOT NULL,
        owner TEXT NOT NULL, began REAL NOT NULL, expires REAL NOT NULL,
        minimum REAL NOT NULL, payload TEXT NOT NULL, sampled INTEGER NOT NULL,
        on_failure TEXT NOT NULL,
        PRIMARY KEY (job_arn, trajectory_id)
    )
    """,
    "CREATE TABLE leases (owner TEXT PRIMARY KEY, until REAL NOT NULL)",
    f"PRAGMA user_version = {VERSION}",
)

BOOTED: Final = (
    "CREATE TABLE IF NOT EXISTS boots (boot TEXT PRIMARY KEY, epoch REAL NOT NULL)",
    "DELETE FROM leases WHERE EXISTS (SELECT 1 FROM boots WHERE boot <> :boot)",
    "DELETE FROM boots WHERE boot <> :boot",
    "INSERT OR IGNORE INTO boots (boot, epoch) VALUES (:boot, :epoch)",
)
"""The table is no part of version 1: programs that know nothing of it read and write the file."""

BOOT: Final = "SELECT epoch FROM boots WHERE boot = :boot"

TABLES: Final = "SELECT count(*) FROM sqlite_master"

REPORTED: Final = """
    SELECT 1 FROM intents WHERE job_arn = :job_arn AND trajectory_id = :trajectory_id
"""

FIND: Final = """
    SELECT * FROM intents WHERE job_arn = :job_arn AND trajectory_id = :trajectory_id
    ORDER BY operation
"""

BEGUN: Final = """
    SELECT owner, sampled FROM episodes
    WHERE job_arn = :job_arn AND trajectory_id = :trajectory_id
"""

LIVES: Final = "SELECT 1 FROM leases WHERE owner = :owner AND until > :now AND until <= :latest"

BEGIN: Final = """
    INSERT OR REPLACE INTO episodes (
        job_arn, trajectory_id, endpoint, region, transport,
        owner, began, expires, minimum, payload, sampled, on_failure
    ) VALUES (
        :job_arn, :trajectory_id, :endpoint, :region, :transport,
        :owner, :began, :expires, :minimum, :payload, :sampled, :on_failure
    )
"""

SAMPLED: Final = """
    UPDATE episodes SET sampled = 1 WHERE job_arn = :job_arn AND trajectory_id = :trajectory_id
"""

END: Final = """
    DELETE FROM episodes WHERE job_arn = :job_arn AND trajectory_id = :trajectory_id
"""

ADDED: Final = """
    SELECT token FROM intents
    WHERE job_arn = :job_arn AND trajectory_id = :trajectory_id AND operation = :operation
"""

ADD: Final = """
    INSERT INTO intents (
        job_arn, trajectory_id, operation, endpoint, region, transport, payload, token,
        created, expires, of_failed, state, attempts, due, outcome, detail
    ) VALUES (
        :job_arn, :trajectory_id, :operation, :endpoint, :region, :transport, :payload, :token,
        :created, :expires, :of_failed, :state, :attempts, :due, :outcome, :detail
    )
"""

DUE: Final = """
    SELECT * FROM intents AS intent
    WHERE state = 'pending' AND (due <= :now OR due > :latest) AND NOT (
        operation = 'reward' AND EXISTS (
            SELECT 1 FROM intents AS completion
            WHERE completion.job_arn = intent.job_arn
            AND completion.trajectory_id = intent.trajectory_id
            AND completion.operation = 'complete' AND completion.state = 'pending'
        )
    )
    ORDER BY due, created, trajectory_id, operation LIMIT :limit
"""

HOLD: Final = """
    UPDATE intents SET due = :until
    WHERE job_arn = :job_arn AND trajectory_id = :trajectory_id AND operation = :operation
"""

SETTLE: Final = """
    UPDATE intents
    SET state = :state, attempts = :attempts, outcome = :outcome, detail = :detail,
        due = coalesce(:due, due)
    WHERE job_arn = :job_arn AND trajectory_id = :trajectory_id AND operation = :operation
    AND token = :token AND state IN (SELECT value FROM json_each(:changeable))
"""

LEASE: Final = "INSERT OR REPLACE INTO leases (owner, until) VALUES (:owner, :until)"

FORGET_LEASES: Final = """
    DELETE FROM leases WHERE until < :before AND owner NOT IN (SELECT owner FROM episodes)
"""

ORPHANS: Final = """
    SELECT * FROM episodes WHERE owner NOT IN (
        SELECT owner FROM leases WHERE until > :now AND until <= :latest
    )
    ORDER BY began, trajectory_id LIMIT :limit
"""

LIST: Final = {
    False: """
        SELECT * FROM intents WHERE state IN (SELECT value FROM json_each(:states))
        ORDER BY created, trajectory_id, operation LIMIT :limit
    """,
    True: """
        SELECT * FROM intents WHERE state IN (SELECT value FROM json_each(:states))
        ORDER BY created DESC, trajectory_id DESC, operation DESC LIMIT :limit
    """,
}
"""By whether the newest come first."""

COUNTS: Final = """
    SELECT state, count(*) FROM intents GROUP BY state
    UNION ALL SELECT 'running', count(*) FROM episodes
"""

REPLAY: Final = """
    UPDATE intents SET state = 'pending', due = :now, expires = 9e999
    WHERE job_arn = :job_arn AND trajectory_id = :trajectory_id AND operation = :operation
    AND token = :token
"""

PURGE: Final = """
    DELETE FROM intents
    WHERE state IN (SELECT value FROM json_each(:states)) AND created < :before
"""

MAKE_ROOM: Final = """
    DELETE FROM intents WHERE rowid IN (
        SELECT rowid FROM intents WHERE state = 'delivered' ORDER BY created LIMIT :limit
    )
"""
