"""Message sizes of a suite: a list of the user, or the sizes of a published test.

A published test may state how many messages it sent of each size. Its sizes are in the file of its
publication, under `sizes`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Literal, Self, get_args

from pydantic import Field, model_validator

from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput
from rocefort.models.base import Description, Frozen, Name

Kind = Literal[
    "latency", "bandwidth", "storage", "alltoall", "allgather", "allreduce", "gather", "reduce"
]
KINDS: tuple[Kind, ...] = get_args(Kind)
LARGEST_BYTES = 2**30  # a buffer of perftest is registered memory; its own limit is 2^31 - 1
WHERE = "--sizes"
LEAST_MESSAGES = 5  # of perftest's `-n`


class MessageCount(Frozen):
    """Number of messages that a publication states for one size."""

    size_bytes: int = Field(ge=1, le=LARGEST_BYTES)
    messages: int = Field(ge=LEAST_MESSAGES)


class SizeSeries(Frozen):
    """Sizes of one or more kinds of test: a list, or powers of two from a first to a last size.

    counts: messages of some sizes. Between two of them the number is interpolated: in logarithms
    of both, so that about as many bytes are sent of each size.
    """

    of: tuple[Kind, ...] = Field(min_length=1, description="latency, bandwidth, alltoall, ..")
    sizes: tuple[int, ...] = Field(default=(), description="Bytes, ascending.")
    doubling: tuple[int, int] | None = Field(
        default=None, description="First and last size of powers of two, instead of a list."
    )
    counts: tuple[MessageCount, ...] = Field(default=(), description="Messages by size.")

    @model_validator(mode="after")
    def _is_usable(self) -> Self:
        if bool(self.sizes) == bool(self.doubling):
            raise ValueError("write either sizes or doubling")
        first, last = self.doubling or (1, 1)
        if any(not is_power_of_two(each) for each in (first, last)) or first > last:
            raise ValueError("doubling has two powers of two, the smaller first")
        for values in (self.all_sizes, tuple(each.size_bytes for each in self.counts)):
            if any(one >= two for one, two in pairwise(values)):
                raise ValueError("sizes ascend")
            if values and not 1 <= values[0] <= values[-1] <= LARGEST_BYTES:
                raise ValueError(f"a size is 1 to {LARGEST_BYTES} bytes")
        return self

    @property
    def all_sizes(self) -> tuple[int, ...]:
        """Every size, ascending, in bytes."""
        if self.doubling is None:
            return self.sizes
        return doubling_sizes(*self.doubling)

    @property
    def most_messages(self) -> int:
        """Largest number of messages that the publication states; 0: it states none."""
        return max((each.messages for each in self.counts), default=0)

    def scaled(self, size_bytes: int, most: int | None) -> int | None:
        """Messages to send of one size, in proportion to `most` instead of the largest number.

        A bandwidth test with few messages takes LEAST_MESSAGES. most None: as published.
        """
        published = self.messages(size_bytes)
        if published is None or most is None or most >= self.most_messages:
            return published
        return max(LEAST_MESSAGES, round(published * most / self.most_messages))

    def messages(self, size_bytes: int) -> int | None:
        """Messages to send of one size; None: the publication states no number."""
        points = [(each.size_bytes, each.messages) for each in self.counts]
        if not points:
            return None
        if size_bytes <= points[0][0]:
            return points[0][1]
        for (low, many), (high, few) in pairwise(points):
            if size_bytes <= high:
                share = math.log(size_bytes / low) / math.log(high / low)
                return _two_digits(many * (few / many) ** share)
        return points[-1][1]


class SizeSet(Frozen):
    """Sizes of one published test, by its name on the command line."""

    name: Name
    series: tuple[SizeSeries, ...] = Field(min_length=1)
    assumed: Description | None = Field(
        default=None, description="What of it the source does not state."
    )
    source: Description = Field(description="Place in the source.")

    def of(self, kind: Kind) -> SizeSeries | None:
        """Series of one kind of test; None: the set has none."""
        return next((each for each in self.series if kind in each.of), None)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """All kinds of test that it has sizes of."""
        return tuple(kind for kind in KINDS if self.of(kind) is not None)


def is_power_of_two(number: int) -> bool:
    """Whether a size is one that an MPI benchmark can measure."""
    return number > 0 and number & (number - 1) == 0


def doubling_sizes(first: int, last: int) -> tuple[int, ...]:
    """Powers of two from a first to a last one."""
    return tuple(2**power for power in range(first.bit_length() - 1, last.bit_length()))


def ladders(sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """Split powers of two into parts in which each is twice the one before.

    One run of an MPI benchmark measures such a part, from `-msglog` or `-m`.
    """
    parts: list[list[int]] = []
    for size in sizes:
        if parts and size == 2 * parts[-1][-1]:
            parts[-1].append(size)
        else:
            parts.append([size])
    return [tuple(part) for part in parts]


def size_set(text: str, published: Callable[[], Iterable[SizeSet]]) -> SizeSet:
    """Parse the value of --sizes: bytes with commas between, or a name; raises BadInput."""
    words = [word.strip() for word in text.split(",")]
    if len(words) == 1 and not words[0].isdecimal():
        sets = {each.name: each for each in published()}
        if words[0] in sets:
            return sets[words[0]]
        how = f"{nearest(words[0], sets)}; or write bytes: 2,64,65536"
        raise BadInput(f"no sizes are called {words[0]!r}", where=WHERE, how=how)
    wrong = [word for word in words if not re.fullmatch(r"[0-9]{1,10}", word)]
    if wrong:
        raise BadInput(f"{wrong[0]!r} is no number of bytes", where=WHERE, how="write 2,64,65536")
    sizes = tuple(sorted(set(map(int, words))))
    if not 1 <= sizes[0] <= sizes[-1] <= LARGEST_BYTES:
        raise BadInput(
            f"{text!r} has a size out of range", where=WHERE, how=f"write 1 to {LARGEST_BYTES}"
        )
    return SizeSet(
        name="given", series=(SizeSeries(of=KINDS, sizes=sizes),), source="the command line"
    )


def _two_digits(number: float) -> int:
    """Round to two significant digits, as a person writes a number of messages."""
    return int(round(number, 1 - math.floor(math.log10(number))))
