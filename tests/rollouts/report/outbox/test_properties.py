"""Any sequence of calls leaves an outbox as a plain model of it has it."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from math import inf
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from reward_functions.rollouts.report.outbox.sqlite import MemoryOutbox, SqliteOutbox
from reward_functions.rollouts.request.errors import ConflictingReport
from reward_functions.rollouts.request.outcomes import Conflict, Expired, Reported, Throttled
from tests.rollouts.report.outbox.reports import NOW, WINDOW, episode, outcome, reported

ROLLOUTS = st.sampled_from(["r1", "r2", "r3"])
OWNERS = st.sampled_from(["a", "b"])
REWARDS = st.sampled_from([0.0, 1.0])
PARTS = st.sampled_from([slice(0, 1), slice(1, 2), slice(0, 2)])
KINDS = {Reported: "delivered", Conflict: "refused", Expired: "expired", Throttled: "pending"}
SECONDS = st.sampled_from([0.5, 5.0, 40.0])
STATES = st.sets(st.sampled_from(sorted(KINDS.values())))


@dataclass
class Row:
    intent: object
    state: str
    due: float
    attempts: int = 0
    expires: float = 0.0


class Rules(RuleBasedStateMachine):
    """The calls, made to an outbox and to dictionaries."""

    def __init__(self, store):
        super().__init__()
        self.store = store
        self.now = NOW
        self.rows, self.episodes, self.leases = {}, {}, {}

    def reported(self, rollout):
        return any(name == rollout for name, _ in self.rows)

    def lives(self, owner):
        return self.leases.get(owner, 0.0) > self.now

    @rule(seconds=SECONDS)
    def wait(self, seconds):
        self.now += seconds

    @rule(owner=OWNERS, seconds=SECONDS)
    def lease(self, owner, seconds):
        self.store.lease(owner, self.now + seconds)
        self.leases[owner] = self.now + seconds

    @rule(rollout=ROLLOUTS, owner=OWNERS)
    def begin(self, rollout, owner):
        before = self.episodes.get(rollout)
        expected = "new"
        if self.reported(rollout):
            expected = "reported"
        elif before and self.lives(before[0]):
            expected = "running"
        else:
            self.episodes[rollout] = owner, self.now, bool(before and before[2])
        began = episode(rollout, began=self.now)
        assert self.store.begin(began, owner=owner, now=self.now) == expected

    @rule(rollout=ROLLOUTS)
    def sampled(self, rollout):
        self.store.sampled(episode(rollout).target)
        if rollout in self.episodes:
            self.episodes[rollout] = *self.episodes[rollout][:2], True

    @rule(rollout=ROLLOUTS)
    def end(self, rollout):
        self.store.end(episode(rollout).target)
        self.episodes.pop(rollout, None)

    @rule(rollout=ROLLOUTS, reward=REWARDS, parts=PARTS, held=SECONDS)
    def add(self, rollout, reward, parts, held):
        intents = reported(rollout, reward, created=self.now)[parts]
        conflict = any(
            (row := self.rows.get((rollout, each.operation))) and row.intent.token != each.token
            for each in intents
        )
        try:
            self.store.add(intents, due=self.now + held)
        except ConflictingReport:
            assert conflict
            return
        assert not conflict
        self.episodes.pop(rollout, None)
        for each in intents:
            row = Row(each, "pending", self.now + held, expires=self.now + WINDOW)
            self.rows.setdefault((rollout, each.operation), row)

    @rule(
        rollout=ROLLOUTS,
        reward=REWARDS,
        part=st.sampled_from([0, 1]),
        kind=st.sampled_from([*KINDS]),
    )
    def settle(self, rollout, reward, part, kind):
        intent = reported(rollout, reward)[part]
        self.store.settle(intent, outcome(kind, intent, attempts=2), due=self.now + 1)
        row = self.rows.get((rollout, intent.operation))
        if not row or row.intent.token != intent.token:
            return
        if row.state == "pending" or (kind is Reported and row.state != "delivered"):
            row.state, row.attempts, row.due = KINDS[kind], 2, self.now + 1

    @rule(rollout=ROLLOUTS, reward=REWARDS, part=st.sampled_from([0, 1]))
    def replay(self, rollout, reward, part):
        intent = reported(rollout, reward)[part]
        self.store.replay(intent, now=self.now)
        row = self.rows.get((rollout, intent.operation))
        if row and row.intent.token == intent.token:
            row.state, row.due, row.expires = "pending", self.now, inf

    @rule(hold=st.sampled_from([0.0, 10.0]), limit=st.sampled_from([1, 100]))
    def due(self, hold, limit):
        waiting = {
            name
            for (name, operation), row in self.rows.items()
            if operation == "complete" and row.state == "pending"
        }
        ready = [
            (row.due, row.intent.created, name, operation)
            for (name, operation), row in self.rows.items()
            if row.state == "pending"
            and row.due <= self.now
            and not (operation == "reward" and name in waiting)
        ]
        expected = [place[2:] for place in sorted(ready)[:limit]]
        got = self.store.due(self.now, limit, hold=hold)
        assert [
            (each.intent.target.trajectory_id, each.intent.operation) for each in got
        ] == expected
        for key in expected if hold else ():
            self.rows[key].due = self.now + hold

    @rule(states=STATES, age=SECONDS)
    def purge(self, states, age):
        gone = [
            key
            for key, row in self.rows.items()
            if row.state in states and row.intent.created < self.now - age
        ]
        assert self.store.purge(sorted(states), self.now - age) == len(gone)
        for key in gone:
            del self.rows[key]

    @invariant()
    def intents_are_the_models(self):
        listed = {
            (each.intent.target.trajectory_id, each.intent.operation): (
                *(each.intent.token, each.state, each.attempts, each.due, each.intent.expires),
            )
            for each in self.store.list()
        }
        assert listed == {
            key: (row.intent.token, row.state, row.attempts, row.due, row.expires)
            for key, row in self.rows.items()
        }

    @invariant()
    def episodes_are_the_models(self):
        states = [row.state for row in self.rows.values()]
        expected = {state: states.count(state) for state in KINDS.values()}
        assert self.store.counts() == expected | {"running": len(self.episodes)}
        orphans = {
            (rollout, began, sampled)
            for rollout, (owner, began, sampled) in self.episodes.items()
            if not self.lives(owner)
        }
        assert {
            (each.target.trajectory_id, each.began, each.sampled)
            for each in self.store.orphans(self.now)
        } == orphans


class InMemory(Rules):
    def __init__(self):
        super().__init__(MemoryOutbox())


class InAFile(Rules):
    def __init__(self):
        self.folder = Path(tempfile.mkdtemp())
        super().__init__(SqliteOutbox(self.folder / "outbox.sqlite3"))

    def teardown(self):
        self.store.close()
        shutil.rmtree(self.folder)


FEW = settings(
    deadline=None,
    derandomize=True,
    stateful_step_count=30,
    suppress_health_check=[HealthCheck.too_slow],
)


@pytest.mark.parametrize(("machine", "examples"), [(InMemory, 40), (InAFile, 15)])
def test_any_sequence_of_calls_does_as_the_model(machine, examples):
    run_state_machine_as_test(machine, settings=settings(FEW, max_examples=examples))
