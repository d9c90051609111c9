"""What every outbox does: one table of behaviour, run over each store by the test files here."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from math import inf

import pytest

from reward_functions.rollouts.report.outbox import DETAIL, LARGEST, LONGEST
from reward_functions.rollouts.request.clock import steady
from reward_functions.rollouts.request.errors import ConflictingReport, IntentTooLarge
from reward_functions.rollouts.request.outcomes import (
    AlreadyReported,
    Conflict,
    Expired,
    NotFound,
    QuotaExceeded,
    Rejected,
    Reported,
    ServiceFailed,
    Throttled,
    Unauthorized,
    Unreachable,
)
from tests.rollouts.report.outbox.reports import NOW, WINDOW, episode, outcome, reported, target

EMPTY = {"pending": 0, "delivered": 0, "refused": 0, "expired": 0, "running": 0}

STATES = [
    # The last column of `outcomes` decides: what may succeed later stays pending.
    (Reported, "delivered"),
    (AlreadyReported, "delivered"),
    (NotFound, "refused"),
    (Conflict, "refused"),
    (Rejected, "refused"),
    (Unauthorized, "refused"),
    (QuotaExceeded, "refused"),
    (Throttled, "pending"),
    (ServiceFailed, "pending"),
    (Unreachable, "pending"),
    (Expired, "expired"),
]

SECOND = [
    # The state that an intent is in, the outcome that comes late, and the state that it is in then.
    (Reported, Rejected, "delivered"),
    (Reported, Throttled, "delivered"),
    (Reported, Expired, "delivered"),
    (Conflict, Throttled, "refused"),
    (Conflict, Expired, "refused"),
    (Conflict, Reported, "delivered"),
    (Expired, AlreadyReported, "delivered"),
    (Throttled, Rejected, "refused"),
]


def keys(stored):
    return [(each.intent.target.trajectory_id, each.intent.operation) for each in stored]


def counted(store, **expected):
    return store.counts() == EMPTY | expected


class Conformance:
    """The tests; a subclass has the fixture `store`, an empty outbox."""

    def test_what_was_added_is_there_as_it_was(self, store):
        intents = reported("r1", 0.1, 1, 1e-300, -3.0)
        store.add(intents)
        first, second = store.list()
        assert (first.intent, second.intent) == intents
        assert second.intent.body == '{"Rewards":[0.1,1,1e-300,-3.0]}'
        assert (first.state, first.attempts, first.due, first.outcome) == ("pending", 0, NOW, "")
        assert counted(store, pending=2)

    @pytest.mark.parametrize("text", ["r'; --", "ролл\u200b\n", 'a"b\\', "x" * 256, "lease:1"])
    def test_ids_are_any_text(self, store, text):
        store.begin(episode(text), owner=text, now=NOW)
        store.add(reported(text))
        assert keys(store.due(NOW)) == [(text, "complete")]

    def test_the_reward_of_a_failed_rollout_says_so(self, store):
        for rollout, status in [("r1", "ready"), ("r2", "failed")]:
            store.add(reported(rollout, status=status))
        assert [each.intent.of_failed for each in store.list()] == [False, False, False, True]

    def test_the_same_again_changes_nothing(self, store):
        complete, reward = reported()
        store.add((complete, reward))
        store.settle(complete, outcome(Reported, complete))
        store.add(reported())
        store.add((complete,))
        assert [each.state for each in store.list()] == ["delivered", "pending"]

    def test_the_intents_of_a_rollout_are_found_in_whatever_state(self, store):
        store.add(reported("r1", 0.5))
        store.add(reported("r2", 0.25))
        complete, reward = reported("r1", 0.5)
        assert [each.intent for each in store.find(target("r1"))] == [complete, reward]
        store.settle(complete, outcome(Reported, complete))
        store.settle(reward, outcome(Conflict, reward))
        assert [each.state for each in store.find(target("r1"))] == ["delivered", "refused"]
        store.begin(episode("r3"), owner="one", now=NOW)
        assert store.find(target("r3")) == store.find(target("r4")) == []

    def test_nothing_is_added_where_nothing_is_given(self, store):
        store.add(())
        assert counted(store)

    def test_of_two_reports_the_first_counts(self, store):
        store.add(reported("r1", 0.5))
        with pytest.raises(ConflictingReport, match="another reward report of rollout 'r1' is dur"):
            store.add(reported("r1", 0.6))
        assert [each.intent.payload for each in store.list()][1] == {"Rewards": [0.5]}

    def test_all_intents_of_a_report_are_added_or_none(self, store):
        store.add(reported("r1", 0.5)[1:])
        with pytest.raises(ConflictingReport):
            store.add(reported("r1", 0.6))
        assert keys(store.list()) == [("r1", "reward")]

    def test_what_is_missing_of_a_report_is_added(self, store):
        store.add(reported()[:1])
        store.add(reported())
        assert keys(store.list()) == [("r1", "complete"), ("r1", "reward")]

    def test_one_report_is_of_one_rollout(self, store):
        with pytest.raises(ValueError, match="two rollouts"):
            store.add([*reported("r1"), *reported("r2")])
        assert counted(store)

    def test_the_same_id_in_two_jobs_is_two_rollouts(self, store):
        store.add(reported("r1", 0.1))
        store.add(reported("r1", 0.2, job="another"))
        assert counted(store, pending=4)

    def test_an_intent_over_the_bound_is_refused_and_one_under_it_is_taken(self, store):
        with pytest.raises(IntentTooLarge, match="and an outbox takes 350,000: report one reward"):
            store.add(reported("r1", *[0.123456] * (LARGEST // 9)))
        assert counted(store)
        rewards = [0.123456] * (LARGEST // 9 - 100)
        store.add(reported("r1", *rewards))
        assert store.list()[1].intent.payload == {"Rewards": rewards}

    def test_a_reward_is_due_behind_its_completion(self, store):
        complete, reward = reported("r1")
        store.add((complete, reward))
        assert keys(store.due(NOW)) == [("r1", "complete")]
        store.settle(complete, outcome(Throttled, complete), due=NOW + 60)
        assert store.due(NOW + 59) == []
        store.settle(complete, outcome(Reported, complete))
        assert keys(store.due(NOW)) == [("r1", "reward")]

    def test_a_reward_is_due_behind_a_completion_that_was_refused(self, store):
        complete, reward = reported("r1")
        store.add((complete, reward))
        store.settle(complete, outcome(Conflict, complete))
        assert keys(store.due(NOW)) == [("r1", "reward")]

    def test_a_reward_alone_is_due(self, store):
        store.add(reported("r1")[1:])
        assert keys(store.due(NOW)) == [("r1", "reward")]

    def test_what_has_been_due_for_longest_comes_first(self, store):
        for rollout, due in [("r1", 30), ("r2", 10), ("r3", 20), ("r4", 41)]:
            store.add(reported(rollout)[:1], due=NOW + due)
        assert keys(store.due(NOW + 40)) == [
            ("r2", "complete"),
            ("r3", "complete"),
            ("r1", "complete"),
        ]
        assert keys(store.due(NOW + 40, limit=1)) == [("r2", "complete")]

    @pytest.mark.parametrize("ahead", [LONGEST + 1, 365 * 86_400.0])
    def test_what_is_due_later_than_anything_can_be_is_due_now(self, store, ahead):
        """Its writer had another clock."""
        store.add(reported("r1")[:1], due=NOW + LONGEST - 1)
        assert store.due(NOW) == []
        store.add(reported("r2")[:1], due=NOW + ahead)
        assert keys(store.due(NOW, hold=5.0)) == [("r2", "complete")]
        assert store.due(NOW + 4) == []
        assert keys(store.due(NOW + 5)) == [("r2", "complete")]

    @pytest.mark.parametrize("ahead", [LONGEST + 1, 86_400.0])
    def test_a_lease_that_is_longer_than_any_can_be_is_over(self, store, ahead):
        store.lease("a", NOW + ahead)
        store.begin(episode(), owner="a", now=NOW)
        assert store.orphans(NOW) == [episode()]
        store.lease("a", NOW + 30)
        assert store.orphans(NOW) == []

    @pytest.mark.parametrize("ahead", [3_600.0, -86_400.0])
    def test_processes_whose_clocks_differ_have_one_time(self, store, elsewhere, ahead):
        """`elsewhere` is a process that began when the machine's clock was so far ahead."""
        other, there = elsewhere(ahead), steady() + ahead
        now = there - ahead
        store.lease("a", now + 30)
        store.begin(episode("r1", began=now), owner="a", now=now)
        store.add(reported("r2", created=now), due=now + 5)
        assert other.due(there + 4) == other.orphans(there + 29) == []
        (due,) = other.due(there + 6, hold=10.0)
        assert due.intent.expires == pytest.approx(there + WINDOW, abs=2)
        assert due.intent.created == pytest.approx(there, abs=2)
        (left,) = other.orphans(there + 31)
        assert left.began == pytest.approx(there, abs=2)
        assert store.due(now + 14) == []
        assert keys(store.due(now + 18)) == [("r2", "complete")]
        assert other.begin(episode("r1", began=there), owner="b", now=there + 29) == "running"
        other.settle(due.intent, outcome(Throttled, due.intent), due=there + 60)
        assert store.due(now + 58) == []
        assert len(store.due(now + 62)) == 1
        assert other.purge(["pending"], there - 10) == 0
        assert other.purge(["pending"], there + 10) == 2

    def test_nobody_else_gets_what_is_held(self, store):
        for place, rollout in enumerate(["r1", "r2", "r3"]):
            store.add(reported(rollout), due=NOW - 3 + place)
        first = store.due(NOW, limit=2, hold=5.0)
        assert keys(first) == [("r1", "complete"), ("r2", "complete")]
        assert keys(store.due(NOW + 4, hold=5.0)) == [("r3", "complete")]
        assert sorted(keys(store.due(NOW + 5))) == keys(first)

    @pytest.mark.parametrize(("kind", "state"), STATES, ids=[kind.__name__ for kind, _ in STATES])
    def test_an_outcome_settles_an_intent_or_leaves_it_pending(self, store, kind, state):
        complete, _ = reported()
        store.add((complete,))
        came = outcome(kind, complete, attempts=3, detail="d" * 2 * DETAIL)
        store.settle(complete, came, due=NOW + 7)
        (stored,) = store.list()
        assert (stored.state, stored.attempts, stored.outcome) == (state, 3, kind.__name__)
        assert (stored.due, stored.detail) == (NOW + 7, "d" * DETAIL)
        assert counted(store, **{state: 1})
        assert bool(store.due(NOW + 7)) == (state == "pending")

    @pytest.mark.parametrize(("first", "second", "state"), SECOND)
    def test_of_two_senders_the_one_that_got_through_is_right(self, store, first, second, state):
        complete, _ = reported()
        store.add((complete,))
        store.settle(complete, outcome(first, complete))
        store.settle(complete, outcome(second, complete))
        assert [each.state for each in store.list()] == [state]

    def test_a_pending_one_stays_due_when_it_was_where_nobody_says_otherwise(self, store):
        complete, _ = reported()
        store.add((complete,), due=NOW + 9)
        store.settle(complete, outcome(Throttled, complete))
        assert [each.due for each in store.list()] == [NOW + 9]

    def test_an_outcome_of_another_report_is_not_recorded(self, store):
        store.add(reported("r1", 0.5))
        for _, other in (reported("r1", 0.6), reported("r2", 0.5)):
            store.settle(other, outcome(Reported, other))
        assert counted(store, pending=2)

    def test_a_replay_makes_it_due_and_its_window_counts_no_more(self, store):
        complete, _ = reported()
        store.add((complete,))
        for kind in (Expired, Rejected, Reported):
            store.settle(complete, outcome(kind, complete, attempts=4))
            store.replay(complete, now=NOW + 3 * WINDOW)
            assert store.due(NOW + 3 * WINDOW - 1) == []
            (stored,) = store.due(NOW + 3 * WINDOW)
            assert (stored.state, stored.attempts, stored.intent.expires) == ("pending", 4, inf)
            assert stored.intent.token == complete.token

    def test_a_purge_forgets_what_is_settled_and_old(self, store):
        for age, kind in enumerate([Reported, Rejected, Throttled, Reported]):
            complete, _ = reported(f"r{age}", created=NOW + age)
            store.add((complete,))
            store.settle(complete, outcome(kind, complete))
        assert store.purge([], before=inf) == 0
        assert store.purge(["delivered"], before=NOW + 3) == 1
        assert keys(store.list()) == [("r1", "complete"), ("r2", "complete"), ("r3", "complete")]
        assert store.purge(["pending", "refused"], before=NOW + 3) == 2
        assert counted(store, delivered=1)
        assert store.begin(episode("r0"), owner="a", now=NOW) == "new"

    def test_a_list_has_its_order_its_states_and_its_limit(self, store):
        for age, kind in enumerate([Reported, Rejected, Throttled, Reported]):
            complete, _ = reported(f"r{age}", created=NOW + age)
            store.add((complete,))
            store.settle(complete, outcome(kind, complete))
        listed = [each.intent.target.trajectory_id for each in store.list(["delivered", "refused"])]
        assert listed == ["r0", "r1", "r3"]
        newest = store.list(limit=2, newest=True)
        assert [each.intent.target.trajectory_id for each in newest] == ["r3", "r2"]
        assert keys(store.list(["expired"])) == []

    def test_an_episode_is_new_then_running_then_reported(self, store):
        store.lease("a", NOW + 30)
        assert store.begin(episode(), owner="a", now=NOW) == "new"
        assert store.begin(episode(), owner="a", now=NOW) == "running"
        assert store.begin(episode(), owner="b", now=NOW) == "running"
        assert counted(store, running=1)
        store.add(reported())
        assert store.begin(episode(), owner="b", now=NOW) == "reported"
        assert counted(store, pending=2)

    @pytest.mark.parametrize("operation", [0, 1], ids=["completion", "reward"])
    def test_an_episode_with_one_report_is_reported(self, store, operation):
        store.add(reported()[operation : operation + 1])
        assert store.begin(episode(), owner="a", now=NOW) == "reported"

    def test_an_episode_whose_lease_is_over_is_taken_over_once(self, store):
        store.lease("a", NOW + 30)
        store.begin(episode(), owner="a", now=NOW)
        for other in "bc":
            store.lease(other, NOW + 60)
        assert store.begin(episode(), owner="b", now=NOW + 29.9) == "running"
        assert store.begin(episode(), owner="b", now=NOW + 30) == "new"
        assert store.begin(episode(), owner="c", now=NOW + 30) == "running"
        assert store.orphans(NOW + 59) == []

    def test_a_lease_is_renewed_and_given_up(self, store):
        store.lease("a", NOW + 30)
        store.begin(episode(), owner="a", now=NOW)
        store.lease("a", NOW + 90)
        assert store.orphans(NOW + 60) == []
        store.lease("a", NOW + 61)
        assert store.orphans(NOW + 61) == [episode()]

    def test_an_orphan_is_as_it_began(self, store):
        began = episode(payload='{"prompt":"\u2200x"}')
        store.begin(began, owner="a", now=NOW)
        store.lease("b", NOW + 30)
        store.begin(episode("r2"), owner="b", now=NOW)
        assert store.orphans(NOW) == [began]
        assert len(store.orphans(NOW + 30)) == 2
        assert len(store.orphans(NOW + 30, limit=1)) == 1
        store.add(reported())
        assert store.orphans(NOW) == []

    def test_an_episode_that_called_the_policy_says_so_whoever_has_it(self, store):
        store.begin(episode(), owner="a", now=NOW)
        store.sampled(target("r2"))
        assert [each.sampled for each in store.orphans(NOW)] == [False]
        store.sampled(target())
        assert store.begin(episode(), owner="b", now=NOW) == "new"
        assert [each.sampled for each in store.orphans(NOW)] == [True]

    def test_an_episode_that_ends_without_a_report_is_nobodys(self, store):
        store.end(target())
        for owner in "ab":
            assert store.begin(episode(), owner=owner, now=NOW) == "new"
            store.end(target())
            assert counted(store)
            assert store.orphans(NOW) == []

    def test_an_end_leaves_other_rollouts_and_what_is_reported(self, store):
        store.begin(episode("r2"), owner="a", now=NOW)
        store.add(reported("r1"))
        store.end(target("r1"))
        assert counted(store, pending=2, running=1)

    @pytest.mark.parametrize("on_failure", ["failed", "minimum"])
    def test_an_orphan_says_what_it_is_reported_as(self, store, on_failure):
        store.begin(episode(on_failure=on_failure), owner="a", now=NOW)
        assert [each.on_failure for each in store.orphans(NOW)] == [on_failure]

    def test_a_payload_over_the_bound_is_left_out(self, store):
        store.begin(episode(payload="p" * (LARGEST + 1)), owner="a", now=NOW)
        assert [each.payload for each in store.orphans(NOW)] == [""]

    def test_two_threads_add_one_report_once(self, store):
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(store.add, [reported()] * 8))
        assert counted(store, pending=2)

    def test_of_conflicting_threads_one_wins(self, store):
        def added(reward):
            try:
                store.add(reported("r1", reward))
            except ConflictingReport:
                return None
            return reward

        with ThreadPoolExecutor(4) as threads:
            (winner,) = filter(None, threads.map(added, [0.1, 0.2, 0.3, 0.4]))
        assert store.list()[1].intent.payload == {"Rewards": [winner]}

    def test_of_several_owners_one_begins_an_episode(self, store):
        owners = [f"owner{number}" for number in range(4)]
        for owner in owners:
            store.lease(owner, NOW + 30)
        with ThreadPoolExecutor(4) as threads:
            begun = list(
                threads.map(lambda owner: store.begin(episode(), owner=owner, now=NOW), owners)
            )
        assert sorted(begun) == ["new", "running", "running", "running"]

    def test_of_several_threads_each_gets_what_the_others_do_not(self, store):
        for number in range(12):
            store.add(reported(f"r{number}")[:1])
        with ThreadPoolExecutor(4) as threads:
            got = list(threads.map(lambda _: store.due(NOW, limit=12, hold=5.0), range(4)))
        assert sorted(keys(chain(*got))) == sorted((f"r{each}", "complete") for each in range(12))

    def test_its_name_is_for_people(self, store):
        assert ":" in store.name
