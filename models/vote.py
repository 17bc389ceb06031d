"""Vote: the value that most switches or ports have, and those that have another one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)
FEWEST = 3  # voters; of two, none is more right than the other


@dataclass(frozen=True)
class Vote(Generic[T]):
    """Values by voter, at least one. What most voters have is agreed, which is not yet right."""

    values: Mapping[str, T]

    @cached_property
    def counts(self) -> Counter[T]:
        """Number of voters of each value."""
        return Counter(self.values.values())

    @cached_property
    def taken(self) -> T:
        """Value of most voters; of a tie the first one."""
        return self.counts.most_common(1)[0][0]

    @property
    def count(self) -> int:
        """Number of voters with this value."""
        return self.counts[self.taken]

    @property
    def unanimous(self) -> bool:
        """Whether all voters have one value."""
        return len(self.counts) == 1

    @property
    def tied(self) -> bool:
        """Whether another value has as many voters."""
        return list(self.counts.values()).count(self.count) > 1

    @property
    def clear(self) -> bool:
        """Whether at least two thirds of three or more voters have one value."""
        return len(self.values) >= FEWEST and 3 * self.count >= 2 * len(self.values)

    def voters(self, value: T) -> list[str]:
        """Return the voters of a value."""
        return [name for name, own in self.values.items() if own == value]

    @property
    def others(self) -> dict[str, T]:
        """Voters with another value than the taken one."""
        return {name: value for name, value in self.values.items() if value != self.taken}
