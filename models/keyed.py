"""Type of collections without order: sorted by key, each key once."""

from __future__ import annotations

import re
from functools import cache
from ipaddress import IPv4Address, IPv4Network
from itertools import pairwise
from operator import lt
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator

T = TypeVar("T")


@cache
def natural(name: str) -> tuple[tuple[int, int | str], ...]:
    """Sort key that puts 100GE1/0/2 before 100GE1/0/10."""
    parts = re.findall(r"\d+|\D+", name)
    return tuple((0, int(part)) if part.isdecimal() else (1, part) for part in parts)


@cache
def _text_key(key: str) -> tuple[tuple[int, int | str], ...]:
    return (*natural(key), (-1, ""), (1, key))  # the name itself distinguishes LEAF1 and LEAF01


def _number(key: object) -> int | str:
    if isinstance(key, IPv4Network):
        return int(key.network_address) * 64 + key.prefixlen
    return int(key) if isinstance(key, (int, IPv4Address)) else str(key)


def _sorted_unique(values: tuple[T, ...]) -> tuple[T, ...]:
    if len(values) < 2:
        return values
    keys: list[Any] = [getattr(value, "key", value) for value in values]
    kinds = {*map(type, keys)}
    if kinds <= {int}:  # the usual case
        sort_keys = keys
    elif kinds <= {IPv4Address}:
        sort_keys = [int(key) for key in keys]
    else:
        sort_keys = [
            _text_key(key) if isinstance(key, str) else ((0, _number(key)),) for key in keys
        ]
    if all(map(lt, sort_keys, sort_keys[1:])):  # the usual case: strictly ascending, so unique
        return values
    order = sorted(range(len(values)), key=sort_keys.__getitem__)
    ordered = tuple(values[index] for index in order)
    twice = next((keys[a] for a, b in pairwise(order) if keys[a] == keys[b]), None)
    if twice is not None:
        raise ValueError(f"{str(twice)!r} is there twice")
    return ordered


Keyed = Annotated[tuple[T, ...], AfterValidator(_sorted_unique)]
