"""The first cell of a notebook: where its calls go, proven, or one sentence and not a call more.

    RUN_IN         the shell            run_in
    "local"        of nothing           points this process at the emulator that runs here
    "local"        of an emulator       stays with it
    "local"        of AWS               stops
    "account"      of AWS               stays with it
    "account"      of an emulator       stops
    a profile      of AWS, of nothing   takes the profile, and no keys of the shell
    a profile      of an emulator       stops

A shell is *of nothing* also where `~/.aws` holds keys: "local" leaves them unread. Before the first
call it gives the process every variable of the emulator, and takes away all that leads elsewhere.

On the emulator the process becomes a user with three of the stage's policies, as people have them
on AWS, where it would be root: what a right is missing for fails here as it would there.

Real money asks: what costs something in an account runs where its cell says `agree=True`.

The commands of `reward job` show the cost and ask at the terminal. A cell that is run with all the
others cannot be asked, so it stops with the cost, until somebody writes that they agree. On the
local emulator nothing costs anything, and nothing is asked.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final
from urllib.request import urlopen

from helpers.shown import Showing, Shown
from reward_functions.aws.emulator_record import DEFAULT, away_line, pointed_at
from reward_functions.aws.failures import in_words
from reward_functions.aws.shell import aws_session
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.loopback import is_loopback
from reward_functions.jobs.clients import endpoints
from reward_functions.jobs.lookup import Place, place
from reward_functions.local.emulator import known
from reward_functions.local.emulator.emulator import ACCOUNT, merged
from reward_functions.local.emulator.people import become
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from reward_functions.jobs.job import Job
    from reward_functions.jobs.plan import Plan
    from reward_functions.local.emulator import LocalAws


PATIENCE: Final = 30.0
"""Seconds that a page of the training double may take."""

LARGEST_PAGE: Final = 4_000_000
"""Bytes of it that are read."""

LOCAL: Final = "local"
"""Both the word for "on this machine", and the stage of `cdk.json` that is deployed there."""

ANY_ACCOUNT: Final = "account"
"""The account that the shell's own credentials are of."""

TASKS: Final = ("data", "jobs", "evaluate")
"""What every notebook does, as the stage's policies name it. To delete a model takes `operate`."""

GENERAL: Final = "AWS_ENDPOINT_URL"

KEY: Final = "AWS_ACCESS_KEY_ID"

PROFILES: Final = ("AWS_PROFILE", "AWS_DEFAULT_PROFILE")
"""botocore reads the second first."""

KEYS: Final = (KEY, "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_SECURITY_TOKEN")

OTHER_KEYS: Final = ("AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_BEARER_TOKEN_BEDROCK")

LEADS: Final = (*PROFILES, KEY, "AWS_SESSION_TOKEN", *OTHER_KEYS)
"""What makes a shell one of an account; keys in a file alone do not."""

START: Final = "reward local up --enforce --training"
"""The command that a reader is asked to type where no emulator runs."""

DOCUMENTED: Final = 'docs/jobs.md, "Rehearse on this machine", deploys the stage there'

COSTS: Final = (
    "asking models (the baseline, before and after), the training job, hosting the tuned model "
    "until it is cleaned up, storing it, a judge's calls"
)


class Stopped(ConfigurationError):
    """A notebook that goes no further. Jupyter shows the sentence, and no traceback."""

    def _render_traceback_(self) -> list[str]:
        return [f"stopped: {self}"]


@dataclass(frozen=True, repr=False)
class Here(Showing):
    """Where a notebook's calls go, as it was found out by asking.

    Args:
        place: the stage, the session, and the training double where that trains.
        account: twelve digits, from STS.
        identity: the ARN of who calls, from STS.
        emulator: its name; "" for an account of AWS.
        enforced: whether rights are checked.
        tasks: whose policies of the stage a user of the emulator has.
    """

    place: Place
    account: str
    identity: str
    emulator: str
    enforced: bool
    tasks: tuple[str, ...] = TASKS

    @property
    def local(self) -> bool:
        """Whether everything stays on this machine."""
        return bool(self.emulator)

    def simulation_page(self, job: Job) -> str:
        """The page on which the training double shows a job; "" for a job of a service."""
        address = self.place.simulation_page(job)
        if not is_loopback(address):
            return ""
        with urlopen(address, timeout=PATIENCE) as answer:  # noqa: S310 - this machine's own
            return str(answer.read(LARGEST_PAGE).decode())

    def _shown(self) -> Shown:
        rows = [[name, value] for name, value in self._facts()]
        return Shown([Sheet("", ("where this runs", "is"), rows, words=("is",))])

    def _facts(self) -> Iterator[tuple[str, str]]:
        emulated = f"the local AWS emulator {self.emulator!r}, on this machine"
        yield "AWS", emulated if self.local else "a real account"
        yield "account", self.account
        yield "region", self.place.stage.region
        yield "stage", self.place.stage.stage
        yield "calls as", self.identity
        if self.local:
            rights = ", ".join(self.tasks)
            checked = "checked by the emulator" if self.enforced else "checked by nobody"
            yield "rights", f"the policies {rights} of the stage, {checked}"
        yield "trains", self._training()
        yield "may cost money", "nothing" if self.local else COSTS

    def _training(self) -> str:
        if self.place.simulated:
            return "the training double: a SIMULATION, which trains no language model"
        return "Amazon Bedrock"


def run_in(where: str, *, also: Sequence[str] = (), stage: str = "dev") -> Here:
    """Turn this process to where a notebook is to run, and prove that its calls go there.

    Args:
        where: "local", "account", or the name of a profile.
        also: further policies that are needed, such as "sagemaker"; on the emulator they are given.
        stage: that is deployed in an account; on this machine it is `local`.

    Raises:
        Stopped: the shell leads elsewhere, or no emulator runs. One sentence, with what to type.
        WrongEndpoint: the shell points to two kinds of AWS.
        NotDeployed: there is no such stage.
        LocalAwsError: the emulator's stage has no such policy.
        AwsFailed: AWS cannot be reached, or refuses.
    """
    if where == LOCAL:
        return _local((*TASKS, *also))
    _require_no_emulator(where)
    if where != ANY_ACCOUNT:
        _take_profile(where)
    return _proven(place(stage, aws_session(stage)), None)


def _local(tasks: tuple[str, ...]) -> Here:
    aws = _emulator(os.environ)
    _turn(_person(aws, os.environ) or become(aws, LOCAL, tasks))
    here = replace(_proven(place(LOCAL, aws_session(LOCAL)), aws), tasks=tasks)
    if here.account != ACCOUNT:
        raise Stopped(f"RUN_IN is 'local', and STS says that this is the account {here.account}")
    return here


def _emulator(environ: Mapping[str, str]) -> LocalAws:
    """The emulator that the shell points at, or the one that runs.

    Raises:
        Stopped: the shell is one of an account, or there is no emulator, or several.
    """
    general = environ.get(GENERAL, "")
    leads = [name for name, url in _addresses(environ) if not is_loopback(url)]
    if not is_loopback(general):
        leads += [name for name in LEADS if environ.get(name)]
    if leads:
        raise Stopped(
            f"RUN_IN is 'local', and this shell leads to a real account by {', '.join(leads)}: "
            "start Jupyter without, or write RUN_IN = 'account'"
        )
    running = [aws for aws in known() if aws.alive]
    pointed = pointed_at([general])
    by_name = {aws.name: aws for aws in running}
    aws = _only(running) if pointed is None else by_name.get(pointed.name)
    if aws is None or not aws.training_endpoint:
        lacks = "no local AWS runs" if aws is None else f"{aws.name!r} runs without training"
        raise Stopped(f"RUN_IN is 'local', and {lacks}: type {START} ({DOCUMENTED})")
    return aws


def _person(aws: LocalAws, environ: Mapping[str, str]) -> dict[str, str]:
    """The emulator's variables with the keys of a shell that is somebody there; else nothing."""
    pointed = pointed_at([environ.get(GENERAL, "")])
    if pointed is None or pointed.name != aws.name or environ.get(KEY, ACCOUNT) == ACCOUNT:
        return {}
    return aws.environment | {name: environ[name] for name in KEYS if environ.get(name)}


def _addresses(environ: Mapping[str, str]) -> list[tuple[str, str]]:
    """The variables that name an address of AWS's services, general or of one alone."""
    return [(name, url) for name, url in environ.items() if name.startswith(GENERAL) and url]


def _take_profile(name: str) -> None:
    """Make a profile the one that counts: keys of the shell would come before it."""
    for each in (*PROFILES, *KEYS, *OTHER_KEYS):
        os.environ.pop(each, None)
    os.environ["AWS_PROFILE"] = name


def _only(running: list[LocalAws]) -> LocalAws | None:
    """The default one, or the only one; None where there is none.

    Raises:
        Stopped: there are several, none of them the default.
    """
    chosen = [aws for aws in running if aws.name == DEFAULT] or running
    if len(chosen) > 1:
        names = ", ".join(aws.name for aws in chosen)
        raise Stopped(
            f"RUN_IN is 'local', and several emulators run ({names}): point the shell at one, "
            'eval "$(reward local up --name NAME --enforce --training --print-env)"'
        )
    return chosen[0] if chosen else None


def _require_no_emulator(where: str) -> None:
    here = [url for _, url in _addresses(os.environ) if is_loopback(url)]
    if here or os.environ.get(KEY) == ACCOUNT:
        away = away_line(pointed_at(here))
        raise Stopped(
            f"RUN_IN is {where!r}, and this process points at the local AWS emulator: write "
            f"RUN_IN = 'local', or start Jupyter again from a shell that does not: {away}"
        )


def _turn(needed: Mapping[str, str]) -> None:
    """Make the environment of this process, and of whatever it starts, the emulator's."""
    turned = merged(os.environ, needed)
    for name in set(os.environ) - set(turned):
        del os.environ[name]
    os.environ.update(turned)


def _proven(found: Place, aws: LocalAws | None) -> Here:
    """Ask who we are; an emulator that is not what it says is found out here.

    Raises:
        Stopped: what is called local is not, or the other way round.
    """
    with in_words("reading the account"):
        identity = found.session.client("sts").get_caller_identity()
    if endpoints(found.session).local != (aws is not None):
        raise Stopped("RUN_IN says another place than the endpoints of this session")
    return Here(
        place=found,
        account=str(identity["Account"]),
        identity=str(identity["Arn"]),
        emulator=aws.name if aws else "",
        enforced=aws is None or aws.enforcing,
    )


HOSTING: Final = "hosting the tuned model, billed until job.clean_up(); dollars unknown"


def require_agreement(
    here: Here, step: str, costs: Callable[[], Sequence[str]], *, agree: bool
) -> None:
    """Stop before money is spent that nobody agreed to spend.

    Args:
        here: where the calls go.
        step: the cell's call, such as "job.baseline".
        costs: what is paid for, a sentence each; asked for only where the cell stops.
        agree: whether the cell says so.

    Raises:
        Stopped: the calls go to an account, and the cell does not agree. Nothing was asked,
            started or hosted.
    """
    if here.local or agree:
        return
    lines = " · ".join(costs())
    raise Stopped(
        f"{step} costs money in the account {here.account}: {lines}. To agree, write "
        f"{step}(…, agree=True)"
    )


def training_cost(planned: Plan) -> list[str]:
    """What a job costs, as far as a plan knows it."""
    figures = planned.figures
    if figures is None:
        return ["the training; its size and its price are unknown"]
    size = f"training for {figures.run.steps:,} steps, {figures.run.responses:,} rollouts"
    lines = [f"{size}; dollars {_dollars(figures.training_usd)}"]
    if planned.judged:
        judged = figures.judge.usd if figures.judge else None
        lines.append(f"the judge's calls; dollars {_dollars(judged)}")
    return lines


def _dollars(known: float | None) -> str:
    return "unknown" if known is None else f"about {known:,.2f}"
