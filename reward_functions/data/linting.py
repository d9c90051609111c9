"""Finds what a trainer would refuse, or train on in vain, before it is uploaded.

| level | what |
| --- | --- |
| error | not JSON; no messages, or roles and contents that make no prompt of text |
| error | a reference that is missing or empty, or that no reward can read |
| error | an id given twice; too few or too many rows; a prompt or page that two files share |
| warning | no ids, further keys in a message, a prompt asked twice, near-duplicates between files |
| warning | rows that were generated to rehearse with |
| warning | a list as the reference: whether it is one answer, or alternatives |
| warning | what a reference leaves open, by the reward's own word |
| warning | decimal commas, or thousands with points, in a file of numbers |

The numbers of rows and the roles are Bedrock's (docs.aws.amazon.com/bedrock/latest/userguide,
"Prepare data for reinforcement fine-tuning"). The size of a file is not checked: no limit of it is
documented.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from reward_functions.core.alternatives import PARAMETER, alternatives, members
from reward_functions.core.jsons import json_kind
from reward_functions.core.registry import specs
from reward_functions.core.types import Unscored
from reward_functions.data.answers import NO_PARAMETERS, doubts, reading_error
from reward_functions.data.decimals import Signs, in_quotes, with_point
from reward_functions.data.json_rows import BadInput, shown
from reward_functions.data.lengths import Lengths, prompt_tokens
from reward_functions.data.public import REWARDS
from reward_functions.data.records import is_synthetic, text_of
from reward_functions.data.rows.reading import AS_FOUND, BadRow, scan_rows
from reward_functions.data.splitting import Overlaps
from reward_functions.serving.contract import decode_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from reward_functions.core.spec import RewardSpec
    from reward_functions.core.types import Sample
    from reward_functions.data.json_rows import Row
    from reward_functions.data.rows.shapes import RowOptions

Level = Literal["error", "warning"]

Found: TypeAlias = tuple[Level, str, str]
"""A finding before anybody says where: its level, what it is, and the detail."""

MIN_ROWS: Final = 100
MAX_ROWS: Final = 20_000
"""Prompts Bedrock's reinforcement fine-tuning takes."""

ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool", "bot"})
"""Roles AWS's own validator of such files knows."""

MESSAGE_KEYS: Final = frozenset({"role", "content", "name", "tool_calls", "tool_call_id"})
"""Keys of a chat message; AWS's own validator refuses others."""

UNREADABLE: Final = "no reward can read reference_answer"

GENERATED: Final = "synthetic rows"

ALTERNATIVES: Final = "a reference that lists alternatives"
ONE_ANSWER: Final = "a reference that lists the members of one answer"

OPEN: Final = "a reference that leaves something open"

COMMA: Final = "a decimal comma"
THOUSANDS: Final = "three places, or thousands with points"

INTERVAL: Final = 2
"""Members of a text that may be the ends of an interval."""


@dataclass(frozen=True, slots=True)
class LintFinding:
    """Something that is wrong.

    Args:
        level: an error is refused, or spoils the training; a warning deserves a look.
        what: the kind, the same for all findings of it.
        where: the file, and the line where there is one.
        detail: what was found there; may be "".
    """

    level: Level
    what: str
    where: str
    detail: str = ""


@dataclass(slots=True)
class Linted:
    """The findings in some files, and the tokens of their prompts, estimated, by file."""

    findings: list[LintFinding] = field(default_factory=list)
    prompts: dict[str, list[int]] = field(default_factory=dict)

    @property
    def errors(self) -> list[LintFinding]:
        """The findings that are errors."""
        return [finding for finding in self.findings if finding.level == "error"]

    def add(self, where: str, found: Iterable[Found]) -> None:
        """Keep what was found at a place."""
        self.findings.extend(LintFinding(level, what, where, why) for level, what, why in found)

    def lengths(self) -> dict[str, Lengths]:
        """The lengths of the prompts, by file, where there are any."""
        return {file: Lengths(values) for file, values in self.prompts.items() if values}


def lint(
    files: Sequence[str],
    *,
    reward: RewardSpec | None = None,
    parameters: Mapping[str, Any] = NO_PARAMETERS,
    rows: tuple[int, int] = (MIN_ROWS, MAX_ROWS),
    options: RowOptions = AS_FOUND,
    watched: Callable[[Iterable[Row | BadInput]], Iterable[Row | BadInput]] = iter,
) -> Linted:
    """Everything that is wrong with files of training data.

    Args:
        files: paths, each file being a split of its own.
        reward: must be able to read every reference. Where not given, the reward that is named as
            `metadata.dataset` says, or, where none is, any reward that has a gold response.
        parameters: of that reward.
        rows: the fewest and the most a file may have.
        options: how the rows are read; responses in columns of their own are left out.
        watched: passes the rows on, and shows that it goes on.

    Raises:
        BadInput: the shape of a file's rows is not known, or a file has rows of two.
        OSError: a file cannot be read.
    """
    linted, overlaps, readers = Linted(), Overlaps(), _Readers(reward, parameters)
    for file in files:
        ids: dict[str, str] = {}
        prompts = linted.prompts.setdefault(file, [])
        count = generated = 0
        signs = Signs()
        for row in watched(scan_rows(file, options, responses=False, whole=True)):
            count += 1
            if isinstance(row, BadRow):
                linted.add(row.where, [("error", "not a valid row", row.problem)])
                continue
            if isinstance(row, BadInput):
                linted.add(shown(file), [("error", "not a JSON object", str(row))])
                continue
            generated += is_synthetic(row.content)
            signs.add(row.content.get("reference_answer"), row.where)
            linted.add(row.where, _row_findings(row, count, readers))
            linted.add(row.where, _id_findings(row, ids))
            if isinstance(row.content.get("messages"), list):
                prompts.append(prompt_tokens(_turns(row)))
                overlaps.add(file, str(row.content.get("id", row.where)), row.content)
        linted.add(shown(file), _file_findings(count, generated, rows))
        for where, found in _decimal_findings(signs):
            linted.add(where, [found])
    for file, names in overlaps.repeated():
        same = (f"{name} asks what {names[0]} asks" for name in names[1:])
        linted.add(file, (("warning", "the same prompt again", each) for each in same))
    for leak in overlaps.leaks():
        level: Level = "warning" if leak.shared == "near-duplicate" else "error"
        linted.add(leak.files[1], [(level, f"two files share a {leak.shared}", str(leak))])
    return linted


def _row_findings(row: Row, position: int, readers: _Readers) -> Iterator[Found]:
    problems = list(_message_problems(row))
    yield from (("error", what, detail) for what, detail in problems)
    further = {key for turn in _turns(row) for key in turn} - MESSAGE_KEYS
    if further:
        yield "warning", "further keys in a message", ", ".join(sorted(further))
    reference = row.content.get("reference_answer")
    if _is_empty(reference) and not readers.takes_empty(row, position):
        what = "empty" if "reference_answer" in row.content else "missing"
        yield "error", f"reference_answer is {what}", ""
    elif not problems:
        complaint = readers.complaint(row, position)
        if complaint:
            yield "error", UNREADABLE, complaint
        else:
            if meant := readers.meant(reference):
                yield "warning", *meant
            yield from (("warning", OPEN, doubt) for doubt in readers.doubts(row, position))


def _message_problems(row: Row) -> Iterator[tuple[str, str]]:
    messages = row.content.get("messages")
    if not isinstance(messages, list) or not messages:
        yield "messages is not a list of turns", "" if messages == [] else json_kind(messages)
        return
    for at, turn in enumerate(messages):
        if not isinstance(turn, dict):
            yield "a message is not an object", f"messages[{at}] is {json_kind(turn)}"
            continue
        role, content = turn.get("role"), turn.get("content")
        if not (isinstance(role, str) and role in ROLES):
            yield "an unknown role", f"messages[{at}].role is {json.dumps(role)[:40]}"
        if role in ("system", "developer") and at > 0:
            yield "the system turn is not the first", f"messages[{at}]"
        if not _is_text(content):
            yield "content is not text only", f"messages[{at}].content"
        elif role == "user" and not text_of(content).strip():
            yield "an empty user turn", f"messages[{at}]"
    if not any(turn.get("role") == "user" for turn in _turns(row)):
        yield "no user turn", ""
    if _turns(row) and _turns(row)[-1].get("role") == "assistant":
        yield "the prompt ends with an assistant turn", "the policy would read its own answer"


class _Readers:
    """The rewards that are tried on a reference.

    Args:
        reward: the one that must; None for the one a row's data set is named as, or any.
        parameters: of that one.
    """

    def __init__(self, reward: RewardSpec | None, parameters: Mapping[str, Any]) -> None:
        self.reward = reward
        self.parameters = parameters
        self.known = {name: spec for name, spec in specs().items() if spec.gold_response}

    def complaint(self, row: Row, position: int) -> str | None:
        """Why no reward can read the reference of a row; None where one can."""
        sample = decode_row(row.content, position)
        if isinstance(sample, Unscored):
            return str(sample.error)
        complaints = {}
        for spec in self._of(sample):
            error = reading_error(spec, sample, self.parameters)
            if error is None:
                return None
            complaints[spec.name] = error
        return "; ".join(f"{name}: {error}" for name, error in complaints.items())

    def takes_empty(self, row: Row, position: int) -> bool:
        """Whether the reward of a row reads an empty list or object, as one for no call."""
        reference = row.content.get("reference_answer")
        sample = decode_row(row.content, position)
        if not isinstance(reference, list | dict) or isinstance(sample, Unscored):
            return False
        own = self._of(sample)
        return len(own) == 1 and reading_error(own[0], sample) is None

    def doubts(self, row: Row, position: int) -> list[str]:
        """What a row leaves open that the reward can use."""
        sample = decode_row(row.content, position)
        if self.reward is None or isinstance(sample, Unscored):
            return []
        return doubts(self.reward, sample, self.parameters)

    def meant(self, reference: Any) -> tuple[str, str] | None:
        """What a list as the reference is, and to which rewards; None for any other reference."""
        listed = members(reference)
        if listed is None and _are_one(reference):
            return None
        if listed is None:
            return (ALTERNATIVES, "any of them is right") if alternatives(reference) else None
        count = f"{len(listed)} members"
        if len(listed) == INTERVAL and not alternatives(reference):
            count += ", or an interval where the prompt asks for one"
        if self.reward is None:
            return ONE_ANSWER, f"to math: {count}; alternatives to others"
        if PARAMETER not in self.reward.parameters:
            return (ALTERNATIVES, "any of them is right") if alternatives(reference) else None
        return ONE_ANSWER, f"{count}, unless {PARAMETER}=alternatives"

    def _of(self, sample: Sample) -> Sequence[RewardSpec]:
        if self.reward is not None:
            return [self.reward]
        dataset = sample.metadata.get("dataset")
        name = REWARDS.get(dataset, dataset) if isinstance(dataset, str) else ""
        own = self.known.get(name)
        return [own] if own else [*self.known.values()]


def _are_one(reference: Any) -> bool:
    """Whether a list is of calls of tools, or of instructions: one answer together."""
    return isinstance(reference, list) and all(
        isinstance(each, dict) and {"name", "function", "id"} & each.keys() for each in reference
    )


def _id_findings(row: Row, ids: dict[str, str]) -> Iterator[Found]:
    name = row.content.get("id")
    if name is None or name == "":
        yield "warning", "no id", ""
    elif not isinstance(name, str | int) or isinstance(name, bool):
        yield "error", "an id that is not a string", json_kind(name)
    elif str(name) in ids:
        yield "error", "an id given twice", f"{name} as in {ids[str(name)]}"
    else:
        ids[str(name)] = row.where


def _file_findings(count: int, generated: int, rows: tuple[int, int]) -> Iterator[Found]:
    fewest, most = rows
    if count < fewest:
        yield "error", "too few rows", f"{count:,}, and {fewest:,} are needed"
    if count > most:
        yield "error", "too many rows", f"{count:,}, and {most:,} are allowed"
    if generated:  # one finding for a file: what becomes of them depends on where the job runs
        yield "warning", GENERATED, f"{generated:,}, to rehearse with, not to train on"


def _decimal_findings(signs: Signs) -> Iterator[tuple[str, Found]]:
    """The place of each reference that a reward would read as another number, and what it is."""
    fix = "`reward data prepare --decimal comma` does"
    for text, where in signs.with_comma:
        detail = f"{in_quotes(text)}: write {with_point(text)}; {fix}"
        yield where, ("warning", COMMA, detail)
    for text, where in signs.perhaps_thousands:
        detail = f"{in_quotes(text)}: if {with_point(text)} is meant, write that; {fix}"
        yield where, ("warning", THOUSANDS, detail)


def _turns(row: Row) -> list[dict[str, Any]]:
    messages = row.content.get("messages")
    listed = messages if isinstance(messages, list) else []
    return [turn for turn in listed if isinstance(turn, dict)]


def _is_text(content: Any) -> bool:
    if isinstance(content, list):
        return all(
            isinstance(block, dict)
            and block.get("type", "text") == "text"
            and isinstance(block.get("text"), str)
            for block in content
        )
    return isinstance(content, str)


def _is_empty(reference: Any) -> bool:
    """Whether there is nothing in a reference, however it is wrapped."""
    if isinstance(reference, dict):
        return all(map(_is_empty, reference.values()))
    if isinstance(reference, list):
        return all(map(_is_empty, reference))
    return reference is None or (isinstance(reference, str) and not reference.strip())
