"""Episodes that dead processes left: run again, or reported as failed.

| an orphan | becomes |
| --- | --- |
| `rerun` is set, it called no policy, its payload is kept, and there is time | run again |
| any other | completed as failed or as the minimum, as its handler had it |
"""

from __future__ import annotations

import logging
from contextlib import suppress
from functools import partial
from math import inf
from threading import Lock, Thread
from typing import TYPE_CHECKING, Final

from reward_functions.rollouts.report.host import over, raised
from reward_functions.rollouts.report.intents import report
from reward_functions.rollouts.request.errors import ConflictingReport

if TYPE_CHECKING:
    from collections.abc import Callable

    from reward_functions.rollouts.report.host import Host
    from reward_functions.rollouts.report.outbox import Episode

log = logging.getLogger("reward_functions.rollouts")

PAGE: Final = 1_000
"""Orphans that are looked at before reports are sent again: a dead agent may leave 4,160."""


class Orphans:
    """What a drainer does for them.

    Args:
        host: the reporter.
        live: has a lease from now on.
        wake: has the drainer look at once.

    Attributes:
        first_sends: tokens of reports that nobody can have sent before.
    """

    def __init__(self, host: Host, live: Callable[[], object], wake: Callable[[], object]) -> None:
        self.first_sends: set[str] = set()
        self._host, self._live, self._wake = host, live, wake
        self._lock = Lock()
        self._rerunning: set[tuple[str, str]] = set()
        self._asked: set[tuple[str, str]] = set()
        self._announced: set[tuple[str, str]] = set()
        self._crowded = self._more = False
        self._looked = -inf

    def look(self, now: float) -> None:
        """Do what there is to do for the episodes of dead processes, where it is time for that.

        Args:
            now: as the drainer read the clock: one that is set meanwhile ends nobody's lease.

        Raises:
            OutboxUnavailable: the store fails; a later look goes on.
        """
        if over(self._looked, self._host.timing.renew, now):
            self._looked, self._more = now, True
            self._asked = set(self._rerunning)
        if self._more:
            self._more = False
            self._adopt(now)

    def wait(self, now: float) -> None:
        """Take nobody's episodes for a moment: others have to renew their leases first."""
        self._looked, self._more = now, False

    def _soon(self) -> None:
        """Look again at once: there are more, and there is a place for them."""
        self._more = True
        self._wake()

    def _adopt(self, now: float) -> None:
        orphans = self._host.stores[0].orphans(now, PAGE)
        given_up = 0
        self._announced &= {_key(episode) for episode in orphans}
        left = [episode for episode in orphans if not self._host.held(episode.target)]
        for episode in left:
            if self._again(episode, now):
                self._run_again(episode)
        for episode in left:
            if not self._again(episode, now):
                given_up += self._give_up(episode, now)
        if given_up and len(orphans) == PAGE:
            self._soon()

    def _again(self, episode: Episode, now: float) -> bool:
        """Whether an orphan may be run again, here or by another process that can."""
        settings = self._host.settings
        time = now < episode.expires - settings.margin
        return bool(settings.rerun and episode.payload and not episode.sampled and time)

    def _run_again(self, episode: Episode) -> None:
        """Hand an orphan to the host, which begins it; where that raises, a later look does so."""
        rerun = self._host.rerun
        key = _key(episode)
        with self._lock:
            if rerun is None or key in self._asked:
                return
            if len(self._rerunning) >= self._host.timing.reruns:
                self._crowded = True
                return
            self._rerunning.add(key)
            self._asked.add(key)
            known = key in self._announced
            self._announced.add(key)

        def running() -> None:
            if problem := raised(partial(rerun, episode)):
                name = type(problem).__name__
                level = logging.DEBUG if known else logging.WARNING
                log.log(level, "rollout %s is not run again yet: %s", ascii(key[1]), name)
            with self._lock:
                self._rerunning.discard(key)
                crowded, self._crowded = self._crowded, False
            if crowded:
                self._soon()

        if not known:
            log.warning("a process ended in rollout %s: it is run again", ascii(key[1]))
        Thread(target=running, name="rollout-rerun", daemon=True).start()

    def _give_up(self, episode: Episode, now: float) -> bool:
        """Report an orphan as failed, unless another process has it by now, and say whether."""
        host = self._host
        self._live()
        if host.stores[0].begin(episode, owner=host.owner, now=now) != "new":
            return False
        status = "failed" if episode.on_failure == "failed" else "ready"
        intents = report(
            episode.target,
            created=now,
            expires=episode.expires,
            status=status,
            rewards=[episode.minimum],
        )
        self.first_sends |= {intent.token for intent in intents}
        with suppress(ConflictingReport):  # its process lives after all, and was faster
            host.stores[0].add(intents)
            log.warning(
                "a process ended in rollout %s: it is reported as %s",
                ascii(episode.target.trajectory_id),
                status,
            )
        return True


def _key(episode: Episode) -> tuple[str, str]:
    return episode.target.job_arn, episode.target.trajectory_id
