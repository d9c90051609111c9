"""The figures of results, which add up across shards in bounded memory.

They are those of `reports.score_report.digest.Digest`, and print the same summary. Counts, reasons,
errors, mean, deviation and range are exact for any number of rows. Groups and repeated ids are
exact as long as a part has `PART` prompts and ids, and a run `RUN`. Of more, a share is kept that
their hashes choose, the same on every machine, and counts are scaled up to all of them.
"""

from __future__ import annotations

import struct
from base64 import b64decode, b64encode
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import blake2b
from math import inf, sqrt
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

from reward_functions.core.means import mean
from reward_functions.core.spec import Scale
from reward_functions.reports.score_report.digest import EMPTY, GroupCounts, Tallies
from reward_functions.reports.statistics import PAIR

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Self

    from reward_functions.scoring.results import RowResult

RUN: Final = 1 << 18
"""Prompts, and ids, that the facts of a run keep."""

PART: Final = 1 << 14
"""The same of a part: some hundred kB."""

VALUES: Final = 4_096
"""Different rewards that are counted by themselves; more are added up."""

HASHES: Final = 1 << 64

_GROUP: Final = struct.Struct("<QQd?")

_ID: Final = struct.Struct("<QQ")


class Group(NamedTuple):
    """The scored rows of a prompt.

    Args:
        size: how many.
        first: reward of the first.
        equal: whether all have that.
    """

    size: int
    first: float
    equal: bool

    def with_(self, other: Group) -> Group:
        """These rows, and others of the same prompt."""
        return Group(
            self.size + other.size,
            self.first,
            self.equal and other.equal and self.first == other.first,
        )


Kept = TypeVar("Kept")


class Sketch(Generic[Kept]):
    """Something for each of many hashes, or for a share of them where they are too many.

    Args:
        most: that are kept.
        add: two of one hash become one.
    """

    def __init__(self, most: int, add: Callable[[Kept, Kept], Kept]) -> None:
        self.limit = HASHES
        self.kept: dict[int, Kept] = {}
        self._most, self._add = most, add

    @property
    def share(self) -> float:
        """Of all hashes, those that are kept."""
        return self.limit / HASHES

    def add(self, key: int, one: Kept) -> None:
        """Something of a hash, an even number from 0 to 2⁶⁴ - 1."""
        if key >= self.limit:
            return
        kept = self.kept
        kept[key] = self._add(kept[key], one) if key in kept else one
        if len(kept) > self._most:
            self.limit_to(self.limit // 2)

    def limit_to(self, limit: int) -> None:
        """Keep hashes below a limit alone."""
        if limit < self.limit:
            self.limit = limit
            self.kept = {key: one for key, one in self.kept.items() if key < limit}

    def merge(self, other: Self) -> None:
        """Take over what another has."""
        self.limit_to(other.limit)
        for key, one in other.kept.items():
            self.add(key, one)

    def scaled(self, count: int) -> int:
        """A number of the kept ones, as a number of all."""
        return round(count / self.share)


class Moments:
    """The rewards of scored rows: counted each, or, of very many different ones, added up.

    Args:
        scale: their range.
    """

    def __init__(self, scale: Scale) -> None:
        self._scale = scale
        self.values: Counter[float] = Counter()
        self.rows = self.low = 0
        self.total = self.squares = Fraction(0)

    def add(self, value: float) -> None:
        """Count a reward."""
        self.values[value] += 1
        self._sum_up()

    def _sum_up(self) -> None:
        """Keep sums in place of the values, where these are too many, or there are sums already."""
        if not self.rows and len(self.values) <= VALUES:
            return
        for value, rows in self.values.items():
            exact = Fraction(value)
            self.rows += rows
            self.low += rows * (value == self._scale.minimum)
            self.total += rows * exact
            self.squares += rows * exact * exact
        self.values.clear()

    def merge(self, other: Moments) -> None:
        """Take over what another has."""
        self.values.update(other.values)
        self.rows += other.rows
        self.low += other.low
        self.total += other.total
        self.squares += other.squares
        self._sum_up()

    def figures(self) -> tuple[float, float, float] | None:
        """The mean, the standard deviation and the share at the minimum; None of no value."""
        if not self.rows:
            return self._exactly()
        middle = _float(self.total / self.rows)
        variance = self.squares / self.rows - (self.total / self.rows) ** 2
        return middle, sqrt(_float(variance)), self.low / self.rows

    def _exactly(self) -> tuple[float, float, float] | None:
        """The same, to the last bit of what all values together would give."""
        if not self.values:
            return None
        rows = self.values.total()
        low, high = min(self.values), max(self.values)
        if low == high:
            middle = mean(list(self.values))
        else:
            total = sum(Fraction(value) * count for value, count in self.values.items())
            middle = min(max(_float(Fraction(total)) / rows, low), high)
        squares = sum(
            Fraction((value - middle) * (value - middle)) * count
            for value, count in self.values.items()
        )
        share = self.values[self._scale.minimum] / rows
        return middle, sqrt(_float(Fraction(squares)) / rows), share

    def item(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "values": sorted(self.values.items()),
            "sums": [self.rows, self.low, str(self.total), str(self.squares)],
        }

    @classmethod
    def of(cls, scale: Scale, item: Mapping[str, Any]) -> Self:
        """What `item` wrote."""
        found = cls(scale)
        found.values.update({float(value): int(rows) for value, rows in item["values"]})
        found.rows, found.low, *sums = item["sums"]
        found.total, found.squares = map(Fraction, sums)
        return found


def _float(exact: Fraction) -> float:
    """The nearest float; infinite where it is none."""
    try:
        return float(exact)
    except OverflowError:
        return inf


def _sum(one: int, other: int) -> int:
    return one + other


@dataclass(slots=True)
class Facts(Tallies):
    """The figures of the rows added so far.

    Args:
        most: prompts, and ids, that are kept.
    """

    most: int = RUN
    rows: int = 0
    moments: Moments = field(init=False)
    prompts: Sketch[Group] = field(init=False)
    ids: Sketch[int] = field(init=False)

    def __post_init__(self) -> None:
        self.moments = Moments(self.scale)
        self.prompts = Sketch(self.most, Group.with_)
        self.ids = Sketch(self.most, _sum)

    def add(self, results: Iterable[RowResult], *, again: bool = False) -> None:
        """Count further rows.

        Args:
            results: of them.
            again: they were counted before with an error that was forgotten since.
        """
        for result in results:
            found, value = result.facts, result.facts.value
            if again:
                found = found._replace(signs=found.signs & ~EMPTY)
            else:
                self.rows += 1
                digest = blake2b(result.id.encode(errors="surrogatepass"), digest_size=8).digest()
                self.ids.add(int.from_bytes(digest), 1)
            self.count(found, result.message)
            if value is None:
                continue
            self.moments.add(value)
            if found.prompt:
                self.prompts.add(found.prompt, Group(1, value, True))

    def merge(self, other: Facts) -> None:
        """Count the rows of a later part.

        The order of parts decides nothing but which error of a kind is shown.
        """
        self.rows += other.rows
        self.merge_tallies(other)
        self.moments.merge(other.moments)
        self.prompts.merge(other.prompts)
        self.ids.merge(other.ids)

    def __len__(self) -> int:
        return self.rows

    @property
    def share(self) -> float:
        """Of the prompts, those that groups are counted of; 1.0 where all are."""
        return self.prompts.share

    def figures(self) -> tuple[float, float, float] | None:
        """As `Tallies` says."""
        return self.moments.figures()

    def groups(self) -> GroupCounts:
        """As `Tallies` says; scaled up where `share` is less than 1."""
        low, high = self.scale
        counted = [0, 0, 0, 0]
        for each in self.prompts.kept.values():
            if each.size >= PAIR:
                counted[0] += 1
                if each.equal:
                    counted[1 if each.first == low else 2 if each.first == high else 3] += 1
        return GroupCounts(*map(self.prompts.scaled, counted))

    def repeated_ids(self) -> int:
        """As `Tallies` says; scaled up where there are too many to keep."""
        return self.ids.scaled(sum(self.ids.kept.values()) - len(self.ids.kept))

    def item(self) -> dict[str, Any]:
        """As JSON has it."""
        prompts = [_GROUP.pack(key, *each) for key, each in self.prompts.kept.items()]
        ids = [_ID.pack(*pair) for pair in self.ids.kept.items()]
        return {
            "reward": self.reward,
            "scale": list(self.scale),
            "rows": self.rows,
            **self.tallies(),
            "moments": self.moments.item(),
            "prompts": [self.prompts.limit, b64encode(b"".join(prompts)).decode()],
            "ids": [self.ids.limit, b64encode(b"".join(ids)).decode()],
        }

    @classmethod
    def of(cls, item: Any, most: int = RUN) -> Self:
        """The facts that `item` wrote.

        Args:
            item: of facts.
            most: prompts, and ids, that are kept.

        Raises:
            ValueError: it is nothing of the kind.
        """
        try:
            found = cls(item["reward"], Scale(*item["scale"]), most=most)
            found.rows = int(item["rows"])
            found.take_tallies(item)
            found.moments = Moments.of(found.scale, item["moments"])
            limit, packed = item["prompts"]
            found.prompts.limit = limit
            for key, *group in _GROUP.iter_unpack(b64decode(packed)):
                found.prompts.add(key, Group(*group))
            limit, packed = item["ids"]
            found.ids.limit = limit
            for key, count in _ID.iter_unpack(b64decode(packed)):
                found.ids.add(key, count)
        except (KeyError, TypeError, ArithmeticError, struct.error) as error:
            raise ValueError(f"no facts of a part: {error!r}") from None
        return found
