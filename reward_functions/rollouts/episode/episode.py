"""One episode: its request, its turns and their rewards, and the time it has left.

**Rewards of an episode.** An agent's records here and its result become one report:

| recorded | returned | reported |
| --- | --- | --- |
| nothing | nothing | no reward |
| nothing, or `reward(r)` | r, or nothing | r: one number, or one for each turn |
| `reward(r)` | another than r | InvalidReward: which one counts is not ours to guess |
| `turn_reward(i, r)`, `bonus(r)` | nothing | one number for each turn, 0.0 without one |
| the same | one number, by `reward(r)` too | the same; the number is added to the last turn |
| the same | a number for each turn | InvalidReward: the turns have rewards already |

A trainer may normalise the rewards of a group per turn index. Where the policy decides when to
stop, the later indices are those of the longer episodes only, and the advantage is biased. Prefer
one number for the episode, unless every episode has the same number of turns. Or let the numbers of
the turns, recorded or returned, be reported as returns to go by `turn_rewards="to_go"`: each is the
sum of its turn's reward and of those after it. One number for the episode stays as it is.
"""

from __future__ import annotations

from contextlib import ExitStack
from contextvars import ContextVar
from math import inf
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, Final, Literal, Self
from uuid import uuid4

from reward_functions.rollouts.request.clock import steady
from reward_functions.rollouts.request.context import rollout
from reward_functions.rollouts.request.contract import read_metadata, read_params
from reward_functions.rollouts.request.errors import InvalidReward
from reward_functions.rollouts.request.headers import make_inference_headers
from reward_functions.rollouts.request.rewards import returns_to_go, rewards_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from reward_functions.rollouts.record.recording import Recording
    from reward_functions.rollouts.request.contract import RolloutRequest

SPAN_HEADER: Final = "X-Span-Id"
"""One policy call; the name is aws-rft-sdk's."""

TurnRewards = Literal["immediate", "to_go"]
"""What a list of rewards says of a turn: what it earned, or that and all that came behind it."""


def current_rollout() -> RolloutContext | None:
    """The episode that this code runs in; None outside any."""
    return _episode.get()


class RolloutContext:
    """One episode of an agent; safe to use from many threads.

    As a context manager it is the current rollout of its block.

    Args:
        metadata: which rollout, in any spelling.
        inference_params: how the policy is to be sampled, in any spelling.
        request: as the trainer asked for it; None outside a `rollout_handler`.
        expires: when the window of the rollout closes, in seconds since the epoch; None for never.
        minimum: of the reward's scale.
        turn_rewards: "immediate", or "to_go" where turns are reported as returns to go.
        first_call: is called before the first policy call.
        recording: the record of what the episode does; None where nobody wants one.
        clock: seconds since the epoch.

    Attributes:
        metadata: which rollout.
        recording: see above.
        inference_params: how the policy is to be sampled.
        request: see above.
        expires: see above.
        minimum: see above.
        cancelled: set when the time of the episode is over. Its reward is reported then; an agent
            that looks at it stops early.

    Raises:
        BadRequest: metadata or parameters that cannot be read.
    """

    def __init__(
        self,
        metadata: Any = None,
        inference_params: Any = None,
        *,
        request: RolloutRequest | None = None,
        expires: float | None = None,
        minimum: float = 0.0,
        turn_rewards: TurnRewards = "immediate",
        first_call: Callable[[], object] | None = None,
        recording: Recording | None = None,
        clock: Callable[[], float] = steady,
    ) -> None:
        self.metadata = read_metadata(metadata)
        self.inference_params = read_params(inference_params)
        self.request = request
        self.expires = expires
        self.minimum = minimum
        self.recording = recording
        self.cancelled = Event()
        self._given = metadata, inference_params
        self._to_go = turn_rewards == "to_go"
        self._first_call = first_call
        self._clock = clock
        self._lock = Lock()
        self._turns = 0
        self._turn_rewards: dict[int, float] = {}
        self._bonus: float | None = None
        self._reward: Any = None

    def __enter__(self) -> Self:
        with ExitStack() as entered:
            entered.enter_context(rollout(*self._given))
            entered.callback(_episode.reset, _episode.set(self))
            _entered.set((*_entered.get(), entered.pop_all()))
        return self

    def __exit__(self, *failure: object) -> None:
        *outer, entered = _entered.get()
        _entered.set(tuple(outer))
        entered.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.metadata.trajectory_id!r}, turns={self.turns})"

    @property
    def turns(self) -> int:
        """Policy calls recorded so far."""
        return self._turns

    def policy_call(self) -> int:
        """Record a call of the policy before it is made, and return its turn, from 0."""
        with self._lock:
            turn = self._turns
            self._turns += 1
        if turn == 0 and self._first_call is not None:
            self._first_call()
        return turn

    def turn_reward(self, turn: int, reward: float) -> None:
        """Give a recorded turn its reward; a second one replaces the first.

        Args:
            turn: from 0.
            reward: finite.

        Raises:
            InvalidReward: no such turn is recorded, or no finite number.
        """
        (number,) = rewards_of(reward, turns=1)
        with self._lock:
            if turn not in range(self._turns):
                raise InvalidReward(
                    f"turn {turn!r} has a reward, and {self._turns} turns are recorded: "
                    "a wrapped model records its calls, policy_call() any other"
                )
            self._turn_rewards[turn] = number

    def bonus(self, reward: float) -> None:
        """Add to the reward of the episode's last turn, whichever that will be.

        Raises:
            InvalidReward: not a finite number.
        """
        (number,) = rewards_of(reward, turns=1)
        with self._lock:
            self._bonus = (self._bonus or 0.0) + number

    def reward(self, reward: Any) -> None:
        """Give the episode its reward, as if the agent had returned it; a second one replaces it.

        Args:
            reward: a finite number, or one for each turn.

        Raises:
            InvalidReward: it is neither.
        """
        given = rewards_of(reward)
        with self._lock:
            self._reward = given

    def rewards(self, returned: Any = None) -> tuple[float, ...] | None:
        """The reported reward, by the table above; None without a reward.

        Args:
            returned: the reward that the agent returned, if it did.

        Raises:
            InvalidReward: not finite numbers, of another length than the turns, or two rewards.
        """
        with self._lock:
            turns, by_turn, bonus = self._turns, dict(self._turn_rewards), self._bonus
            recorded = self._reward
        counted = turns or None
        whole = recorded if returned is None else rewards_of(returned, turns=counted)
        if recorded not in {None, whole}:
            raise InvalidReward("the agent returned a reward, and recorded another by reward()")
        if bonus is not None or by_turn:
            if whole is not None and len(whole) > 1:
                raise InvalidReward(
                    "there is a list of rewards, and turn_reward() or bonus() recorded others: "
                    "use one"
                )
            last = (bonus or 0.0) + (whole[0] if whole else 0.0)
            vector = [by_turn.get(turn, 0.0) for turn in range(turns or 1)]
            whole = (*vector[:-1], vector[-1] + last)
        if whole is None:
            return None
        return rewards_of(returns_to_go(whole) if self._to_go else whole, turns=counted)

    def remaining(self) -> float:
        """Seconds until the window of the rollout closes, at least 0; infinite where none does."""
        return inf if self.expires is None else max(0.0, self.expires - self._clock())

    def headers(self) -> dict[str, str]:
        """The headers of one policy call, with a span id of its own; it records no turn."""
        return {**make_inference_headers(self.metadata), SPAN_HEADER: str(uuid4())}


RFTContext = RolloutContext
"""The name of aws-rft-sdk."""

_episode: ContextVar[RolloutContext | None] = ContextVar("rollout_episode", default=None)

_entered: ContextVar[tuple[ExitStack, ...]] = ContextVar("rollouts_entered", default=())
"""Blocks that this code is in, the innermost last: one episode may be entered by many threads."""
