"""A trajectory as rows of tokens: each token that the policy wrote is trained exactly once.

    turn 0   prompt p0 → c0                     row:   p0 │ c0  x  c1  y  c2
    turn 1   prompt p0 c0 x → c1                mask:       1  0   1  0   1
    turn 2   prompt p0 c0 x c1 y → c2

A turn whose prompt begins with all that a row holds goes on in that row: what stands between is
the environment's, and masked. Any other turn forks: it begins a row of its own, with its whole
prompt in front. So an edited history, a summary, a sub-agent or a text that was tokenised again
costs a longer row and never a wrong one. A row that was left is still open: agents that take turns
fork once.

A row that is left out is named with its reason. Nothing is invented: a turn without token ids gives
no row, and where log-probabilities are missing they are None. A trajectory of which a recorder
refused tokens, because ids and log-probabilities did not belong together, is refused whole.

Finding the row of a prompt reads each of its tokens once, however many rows are open: the digests
of its beginnings are looked up.

The trajectories that give no training row, and why: counted by reason, and never a number in its
place.
"""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.rollouts.record.types import LARGEST_NUMBER, TokenTrace
from reward_functions.rollouts.request.errors import MisalignedTokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reward_functions.rollouts.record.types import Trajectory, Turn


class LeftOut(NamedTuple):
    """A rollout, or a turn of it, that a trainer does not get.

    Args:
        rollout: its id.
        reason: in a few words, the same for all of a kind.
        turn: the turn's index; None where it is the whole rollout.
    """

    rollout: str
    reason: str
    turn: int | None = None


def counted(left_out: Iterable[LeftOut]) -> dict[str, int]:
    """How many rollouts and turns there are for each reason; the most frequent first."""
    words = Counter(
        f"{'rollout' if each.turn is None else 'turn'}: {each.reason}" for each in left_out
    )
    return dict(sorted(words.items(), key=lambda pair: (-pair[1], pair[0])))


LARGEST_ID: Final = 2**31 - 1
"""Of a token: vocabularies have a few hundred thousand, and trainers hold ids in 32 or 64 bits."""

ROUNDING: Final = 1e-6
"""How far above 0.0 a log-probability may lie: that of a certain token, in 32 bits."""

SHOWN: Final = 10
"""Turns that a message names."""

FAILED: Final = "failed"
"""The status of a rollout that nobody is to learn from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRow:
    """A sequence of tokens for a trainer, and which of them the policy wrote.

    Args:
        rollout: id of its trajectory.
        turns: indices of the turns whose tokens are trained here.
        prompt_ids: what stood before the first of them.
        response_ids: all after it: what the policy wrote, and the environment between.
        mask: of the response, True where the policy wrote the token.
        logprobs: of the response; None where masked, and where the engine gave none.
    """

    rollout: str
    turns: tuple[int, ...]
    prompt_ids: tuple[int, ...] = field(repr=False)
    response_ids: tuple[int, ...] = field(repr=False)
    mask: tuple[bool, ...] = field(repr=False)
    logprobs: tuple[float | None, ...] = field(repr=False)

    def __post_init__(self) -> None:
        if not len(self.response_ids) == len(self.mask) == len(self.logprobs):
            raise MisalignedTokens(
                f"a row has {len(self.response_ids)} tokens, {len(self.mask)} of a mask and "
                f"{len(self.logprobs)} log-probabilities"
            )
        _check("a row", self.token_ids, self.logprobs)

    @property
    def token_ids(self) -> tuple[int, ...]:
        """The whole sequence."""
        return self.prompt_ids + self.response_ids

    @property
    def trained(self) -> int:
        """How many tokens the policy wrote."""
        return sum(self.mask)

    @property
    def has_logprobs(self) -> bool:
        """Whether every token that is trained has its log-probability."""
        pairs = zip(self.mask, self.logprobs, strict=True)
        return all(logprob is not None for written, logprob in pairs if written)


class TokenRows(NamedTuple):
    """The rows of a trajectory.

    Args:
        rows: in the order of their first turns.
        left_out: turns that gave no row, with their reasons.
    """

    rows: tuple[TokenRow, ...]
    left_out: tuple[LeftOut, ...]


def token_rows(trajectory: Trajectory, *, failed: bool = False) -> TokenRows:
    """The training rows of a trajectory.

    Turns that were discarded, that failed, or that hold no ids give none.

    Args:
        trajectory: with the tokens of an engine.
        failed: whether one whose status is "failed" gives rows, too.

    Raises:
        MisalignedTokens: tokens and log-probabilities of a turn do not belong together.
    """
    if trajectory.status == FAILED and not failed:
        return TokenRows((), (LeftOut(trajectory.id, "the rollout failed"),))
    refuse_misaligned(trajectory)
    building = _Building(trajectory.id)
    left: list[LeftOut] = []
    for turn in trajectory.turns:
        if reason := _useless(turn):
            left.append(LeftOut(trajectory.id, reason, turn.index))
        else:
            building.add(turn)
    return TokenRows(tuple(building.rows()), tuple(left))


def refuse_misaligned(trajectory: Trajectory) -> None:
    """Let no trajectory pass of which a recorder refused tokens.

    Raises:
        MisalignedTokens: it is one.
    """
    if turns := trajectory.misaligned:
        raise MisalignedTokens(
            f"token ids and log-probabilities of turn {', '.join(turns[:SHOWN])} did not belong "
            "together when they were recorded: leave this trajectory out"
        )


def _useless(turn: Turn) -> str:
    """Why a turn gives no row; "" where it does."""
    if turn.error:
        return "the call failed"
    if turn.discarded:
        return "the answer was discarded"
    if turn.tokens is None or turn.tokens.completion_ids is None:
        return "no token ids"
    if turn.tokens.prompt_ids is None:
        return "no token ids of the prompt"
    return "" if turn.tokens.completion_ids else "an empty answer"


@dataclass(slots=True)
class _Row:
    """A row while it grows."""

    prompt: tuple[int, ...]
    turns: list[int] = field(default_factory=list)
    response: list[int] = field(default_factory=list)
    mask: list[bool] = field(default_factory=list)
    logprobs: list[float | None] = field(default_factory=list)

    def add(
        self, ids: Sequence[int], logprobs: Sequence[float | None] | None, *, written: bool
    ) -> None:
        self.response += ids
        self.mask += [written] * len(ids)
        self.logprobs += logprobs or [None] * len(ids)

    def __len__(self) -> int:
        return len(self.prompt) + len(self.response)


class _Building:
    """The open rows of a trajectory, found by the digest of all that each holds."""

    def __init__(self, rollout: str) -> None:
        self._rollout = rollout
        self._rows: list[_Row] = []
        self._open: dict[tuple[int, bytes], _Row] = {}
        self._lengths: Counter[int] = Counter()

    def add(self, turn: Turn) -> None:
        """A turn whose tokens are known."""
        prompt, written, logprobs = _tokens_of(turn)
        key, row = self._found(prompt)
        if row is None:
            row = _Row(prompt)
            self._rows.append(row)
        else:
            del self._open[key]
            self._lengths[key[0]] -= 1
            row.add(prompt[len(row) :], None, written=False)
        row.add(written, logprobs, written=True)
        row.turns.append(turn.index)
        *_, (length, digest) = _beginnings(prompt + written, [len(row)])
        self._open[length, digest] = row
        self._lengths[length] += 1

    def _found(self, prompt: tuple[int, ...]) -> tuple[tuple[int, bytes], _Row | None]:
        """The longest open row that a prompt begins with, and its key."""
        known = sorted(length for length, rows in self._lengths.items() if rows)
        found: tuple[tuple[int, bytes], _Row | None] = ((0, b""), None)
        for key in _beginnings(prompt, [length for length in known if length <= len(prompt)]):
            if row := self._open.get(key):
                found = (key, row)
        return found

    def rows(self) -> Iterator[TokenRow]:
        """What was built."""
        for row in self._rows:
            yield TokenRow(
                rollout=self._rollout,
                turns=tuple(row.turns),
                prompt_ids=row.prompt,
                response_ids=tuple(row.response),
                mask=tuple(row.mask),
                logprobs=tuple(row.logprobs),
            )


def _beginnings(ids: Sequence[int], lengths: Iterable[int]) -> Iterator[tuple[int, bytes]]:
    """(length, digest) of the beginnings of some lengths, which are sorted."""
    packed = memoryview(array("q", ids)).cast("B")
    digest, before = blake2b(digest_size=16), 0
    for length in lengths:
        digest.update(packed[before * 8 : length * 8])
        before = length
        yield length, digest.copy().digest()


def _tokens_of(
    turn: Turn,
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[float, ...] | None]:
    """Prompt, completion and log-probabilities of a turn that has ids.

    Raises:
        MisalignedTokens: they do not belong together, or are none.
    """
    tokens = turn.tokens or TokenTrace()
    prompt, written = tuple(tokens.prompt_ids or ()), tuple(tokens.completion_ids or ())
    logprobs = tokens.logprobs
    _check(f"turn {turn.index}", prompt + written, logprobs or ())
    if logprobs is None:
        return prompt, written, None
    if len(logprobs) != len(written):
        raise MisalignedTokens(
            f"turn {turn.index} has {len(logprobs)} log-probabilities for {len(written)} tokens"
        )
    return prompt, written, tuple(logprobs)


def _check(owner: str, ids: Sequence[int], logprobs: Sequence[float | None]) -> None:
    """Refuse what is no token id, or no log-probability; one that is missing is neither."""
    if not all(type(each) is int and 0 <= each <= LARGEST_ID for each in ids):
        raise MisalignedTokens(f"{owner} has a token id that is not one")
    if not all(each is None or -LARGEST_NUMBER <= each <= ROUNDING for each in logprobs):
        raise MisalignedTokens(f"{owner} has a log-probability that is not one")
