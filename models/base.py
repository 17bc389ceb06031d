"""Base of all models: frozen, strict about keys; and collections by key, each key once.

No input of a user may become a second CLI line or a path. Models check names and descriptions,
because no template can repair them later.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from ipaddress import IPv4Address, IPv4Network
from itertools import pairwise
from operator import lt
from typing import Annotated, Any, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, WithJsonSchema

set_attribute = object.__setattr__  # sets attributes of a frozen object under construction
LONGEST_NAME = 63
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
DESCRIPTION_LIMIT = 242  # V300R023C00 command reference, `description`


class Frozen(BaseModel):
    """Immutable value without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Copy with other values; cached values are not copied."""
        copy = super().model_copy(update=update, deep=deep)
        for name in copy.__dict__.keys() - type(self).model_fields.keys():
            del copy.__dict__[name]
        return copy

    def like(self, **fields: Any) -> Self:  # noqa: ANN401 - a model's
        """Copy as `model_copy`, several times as fast; fields: of the types of the model.

        It serves the thousands of ports and peers that differ in a name and an address.
        """
        kind = type(self)
        values = {**self.__dict__, **fields}
        if len(values) > len(kind.__pydantic_fields__):  # without cached values
            values = {name: values[name] for name in kind.__pydantic_fields__}
        copy = kind.__new__(kind)
        set_attribute(copy, "__dict__", values)
        set_attribute(copy, "__pydantic_fields_set__", {*self.__pydantic_fields_set__, *fields})
        set_attribute(copy, "__pydantic_extra__", None)
        set_attribute(copy, "__pydantic_private__", None)
        return copy


def check_name(value: str) -> str:
    """Accept a name that is one word of a command line and one component of a path."""
    if len(value) > LONGEST_NAME:
        raise ValueError(f"a name of {len(value)} characters; use 1 to {LONGEST_NAME}")
    if not NAME.fullmatch(value) or ".." in value:
        raise ValueError(
            f"{value!r} is not a name; use 1 to 63 letters, digits, '.', '_' or '-', "
            "beginning with a letter or digit"
        )
    return value


def check_description(value: str) -> str:
    """Accept text that stays one CLI argument: printable ASCII, no pipe, no question mark."""
    if not 1 <= len(value) <= DESCRIPTION_LIMIT:
        raise ValueError(f"a description of {len(value)} characters; use 1 to {DESCRIPTION_LIMIT}")
    bad = next((c for c in value if not " " <= c <= "~" or c in "|?"), None)
    if bad is not None:
        # From U+00A0 on no terminal reads it as a key; the text that a switch stores is unknown.
        wrong = "is not ASCII" if bad >= "\xa0" else "would be read as a command or a key press"
        raise ValueError(
            f"character {bad!r} in a description {wrong}; use printable ASCII without '|' and '?'"
        )
    if value != " ".join(value.split()):
        raise ValueError(
            "leading, trailing or double blanks in a description, which the switch drops; "
            "use single blanks"
        )
    return value


# The part that an editor can check by JSON schema; the errors above have more detail.
NAME_SCHEMA = {"type": "string", "pattern": rf"^(?!.*\.\.){NAME.pattern}$"}
DESCRIPTION_SCHEMA = {
    "type": "string",
    "maxLength": DESCRIPTION_LIMIT,
    "pattern": r"^[!->@-{}~]+( [!->@-{}~]+)*$",
}
Name = Annotated[str, AfterValidator(check_name), WithJsonSchema(NAME_SCHEMA)]
Description = Annotated[str, AfterValidator(check_description), WithJsonSchema(DESCRIPTION_SCHEMA)]


SCHEMES = ("env", "file", "keyring")  # of a reference to a secret


def check_reference(value: str) -> str:
    """Accept `env:NAME`, `file:PATH` or `keyring:SERVICE/USER`; never the secret itself."""
    scheme, _, rest = value.partition(":")
    if scheme not in SCHEMES or not rest:
        # The message does not repeat the value, which may be a password.
        raise ValueError(
            "a credential that is not a reference; write env:NAME or file:PATH, or "
            "keyring:SERVICE/USER"
        )
    if scheme == "keyring" and not all(rest.rpartition("/")[::2]):
        raise ValueError(f"{rest!r} does not name a password; use keyring:SERVICE/USER")
    if scheme == "env" and not rest.isidentifier():
        raise ValueError(
            "env: without the name of an environment variable; write env:NAME, with letters, "
            "digits and _"
        )
    return value


Reference = Annotated[str, AfterValidator(check_reference)]


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
