"""Reports under accidents of the disk and of the clock: a volume that fills, a time that is set.

    this process ──SIGKILL──→ a child that reports rollouts, and its successor
         └── the service: counts each reward, down or up        └── an outbox on a small volume

The volume is a file system in memory, which root may mount on Linux. The clock is `time.time` of
the child, which reads a file beside the outbox; its monotonic clock goes on as a machine's does.

    python -m tests.outbox_accidents FOLDER ENDPOINT FIRST LAST LEFT      the child
"""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock
from time import monotonic, sleep

from tests.loopback import Service, served

ROOT = Path(__file__).parents[1]
JOB = "arn:aws:sagemaker:us-east-1:123456789012:job/AgentRFT/accidents"
THREADS = 32
PATIENCE = 90.0
"""Seconds for all to be rewarded: a lease, a hold and a busy machine."""


@dataclass
class Rewards(Service):
    """The job runtime: down until `up` is set; each reward that it counted, and how often."""

    up: bool = False
    counted: dict = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def operation(self, asked):
        return asked.path[-1], lambda: self.take(asked)

    def take(self, asked):
        if not self.up:
            return 503, {}, b"{}"
        body = json.loads(asked.body)
        with self.lock:
            if asked.path[-1] == "update-reward":
                self.counted.setdefault(body["TrajectoryId"], []).append(body["Rewards"])
        return 200, {"Content-Type": "application/json"}, b"{}"


def outbox_of(folder):
    return f"sqlite:///{Path(folder).absolute() / 'outbox.sqlite3'}".replace("////", "///")


def set_clock(folder):
    """Have `time.time` read its offset in seconds from a file, where there is one."""
    real, file = time.time, Path(folder).parent / "clock"

    def now():
        try:
            return real() + float(file.read_text())
        except (OSError, ValueError):
            return real()

    time.time = now


def report(folder, endpoint, first, last, left):
    """The child: rollouts of some numbers, reported; behind them some that begin and go on."""
    set_clock(folder)
    from concurrent.futures import ThreadPoolExecutor

    from reward_functions.rollouts.report.feedback import RolloutFeedbackClient
    from reward_functions.rollouts.report.intents import Target
    from reward_functions.rollouts.report.outbox import Episode
    from reward_functions.rollouts.report.outbox.opening import open_outbox
    from reward_functions.rollouts.report.reporter import Reporter
    from reward_functions.rollouts.report.settings import RolloutSettings
    from reward_functions.rollouts.report.transports import open_transport

    settings = RolloutSettings(transport="bearer")
    reporter = Reporter(settings, open_outbox(outbox_of(folder)), transports=open_transport)
    reporter.rerun = lambda _: None  # as an app's that cannot: each orphan is announced
    reporter.start()

    def begin(number):
        target = Target(
            job_arn=JOB,
            trajectory_id=f"r{number}",
            endpoint=endpoint,
            region="us-east-1",
            transport="bearer",
        )
        now = reporter.clock()
        end = now + settings.window
        reporter.begin(Episode(target=target, began=now, expires=end, payload="{}"))

    def one(number):
        begin(number)
        metadata = {"jobArn": JOB, "rolloutId": f"r{number}", "region": "us-east-1"}
        client = RolloutFeedbackClient(metadata, reporter=reporter, patience=0.3)
        client.report_complete(1 + number / 1000)

    with ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(one, range(int(first), int(last))))
    for number in range(int(last), int(last) + int(left)):
        begin(number)
    print("reported", flush=True)
    Event().wait()


@contextmanager
def child(folder, service, first=0, last=0, left=0, *, log):
    """A process that has reported rollouts; killed at the end of the block, if not before."""
    environ = {
        **os.environ,
        "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "example",
        "AWS_REGION": "us-east-1",
        "RFT_RUNTIME_ENDPOINT": service.address,
    }
    numbers = [str(number) for number in (first, last, left)]
    command = [sys.executable, "-m", "tests.outbox_accidents", str(folder), service.address]
    with (
        log.open("ab") as errors,
        subprocess.Popen(
            [*command, *numbers], cwd=ROOT, env=environ, stdout=subprocess.PIPE, stderr=errors
        ) as process,
    ):
        try:
            assert process.stdout.readline() == b"reported\n", log.read_text()[-2000:]
            yield process
        finally:
            process.send_signal(signal.SIGKILL)


def rewarded(service, rollouts, patience=PATIENCE):
    """Rollouts whose reward was counted, once all are, or the time is over."""
    late = monotonic() + patience
    while monotonic() < late:
        with service.lock:
            if sum(name in service.counted for name in rollouts) == len(rollouts):
                break
        sleep(0.05)
    with service.lock:
        return sum(name in service.counted for name in rollouts)


def clock_is_set(folder, seconds, *, kill, rollouts=200):
    """How many of some durable reports are counted behind a clock that was set; the seconds."""
    home = Path(folder) / "state"
    home.mkdir()
    names = [f"r{number}" for number in range(rollouts)]
    log = Path(folder) / "child.log"
    with served(Rewards()) as service, child(home, service, 0, rollouts, log=log) as process:
        (Path(folder) / "clock").write_text(str(seconds))
        began = monotonic()
        if kill:
            process.kill()
            process.wait()
            with child(home, service, log=log):
                service.up = True
                return rewarded(service, names), monotonic() - began
        service.up = True
        return rewarded(service, names), monotonic() - began


@contextmanager
def volume(folder, megabytes=3):
    """A small file system; None where this machine lets nobody mount one."""
    place = Path(folder) / "volume"
    place.mkdir()
    options = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(place)]
    try:
        subprocess.run(options, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        yield None
        return
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill(place):
    """Take the rest of a volume; the file that has it."""
    filler = place / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    return filler


@dataclass
class Full:
    """What was seen of a full volume and a kill.

    Args:
        counted: rewards of durable reports that the successor sent.
        again: of them, those that were sent more than once.
        said: lines of its log that announce an episode.
        seconds: until all were counted.
        recorded: seconds from freed space to an outbox in which nothing is pending; -1.0 where it
            never came.
    """

    counted: int
    again: int
    said: int
    seconds: float
    recorded: float


def full_and_killed(folder, place, *, rollouts=300, left=109):
    """Fill the volume under durable reports, kill their process, and start the next one."""
    from reward_functions.rollouts.report.outbox.opening import open_outbox

    home = place / "state"
    home.mkdir()
    names = [f"r{number}" for number in range(rollouts)]
    log = Path(folder) / "child.log"
    with served(Rewards()) as service:
        with child(home, service, 0, rollouts, left, log=log) as process:
            filler = fill(place)
            process.kill()
            process.wait()
        before = log.stat().st_size
        service.up, began = True, monotonic()
        with child(home, service, log=log):
            counted = rewarded(service, names)
            seconds = monotonic() - began
            sleep(max(0.0, 45.0 - seconds))  # the lease of the dead has to be over
            again = sum(len(found) > 1 for found in service.counted.values())
            filler.unlink()
            freed = monotonic()
            outbox = open_outbox(outbox_of(home))
            while outbox.counts()["pending"] and monotonic() < freed + PATIENCE:
                sleep(0.05)
            recorded = -1.0 if outbox.counts()["pending"] else monotonic() - freed
            outbox.close()
        said = log.read_bytes()[before:].count(b"a process ended in rollout")
    return Full(counted, again, said, seconds, recorded)


def many_on_a_small_volume(place, *, reports=10_000):
    """How many of some reports a small volume takes, delivered one after the other; its largest
    log in bytes, and whether freed space is used."""
    from reward_functions.rollouts.report.outbox.sqlite import SqliteOutbox
    from reward_functions.rollouts.request.errors import OutboxUnavailable
    from reward_functions.rollouts.request.outcomes import Reported
    from tests.rollouts.report.outbox.reports import episode, outcome, reported

    store = SqliteOutbox(place / "outbox.sqlite3")
    taken, log, now = 0, 0, time.time()
    for number in range(reports // 2):
        intents = reported(f"r{number}", number / 8, created=now + number / 1000)
        with suppress(OutboxUnavailable):
            store.lease("a", now + 30)
            store.begin(episode(f"r{number}", began=now, payload="p" * 500), owner="a", now=now)
            store.sampled(intents[0].target)
            store.add(intents, due=now + 5)
            for intent in intents:
                store.settle(intent, outcome(Reported, intent))
            taken += len(intents)
        log = max(log, (place / "outbox.sqlite3-wal").stat().st_size)
    filler = fill(place)
    pending = reported("last", created=now)
    with suppress(OutboxUnavailable):
        for number in range(2_000):
            store.add(reported(f"full{number}", created=now))
    filler.unlink()
    try:
        store.add(pending)
    except OutboxUnavailable:
        return taken, log, False
    finally:
        store.close()
    return taken, log, True


if __name__ == "__main__":
    report(*sys.argv[1:])
