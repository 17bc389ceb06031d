"""Units: kbytes of CloudEngine switches, and rates and volumes as publications print them.

Rates and volumes carry their unit in the value: `3.2 Tb/s`, `800 TB`. All prefixes are decimal:
1 TB is 10^12 bytes, 1 Tb/s is 10^12 bits a second.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

KBYTE = 1024  # a CloudEngine's kbyte; its reference does not state 1000 or 1024
RATES = {"Gb/s": 1.0, "Tb/s": 1000.0}  # in Gb/s
VOLUMES = {"GB": 0.001, "TB": 1.0, "PB": 1000.0}  # in TB
NUMBER = re.compile(r"([-+]?)(\d{1,9}(?:\.\d{1,9})?) *(\S*)", re.ASCII)


def kbytes(size_bytes: int) -> int:
    """Convert bytes to whole kbytes, rounded up."""
    return -(-size_bytes // KBYTE)


def gbps(value: object) -> float:
    """Convert `3.2 Tb/s` to 3200.0; raises ValueError if not above 0 or without a unit of RATES."""
    return _quantity(value, RATES, "3200 Gb/s or 3.2 Tb/s")


def terabytes(value: object) -> float:
    """Convert `1 PB` to 1000.0; raises ValueError if not above 0 or without a unit of VOLUMES."""
    return _quantity(value, VOLUMES, "800 TB or 1 PB")


def _quantity(value: object, units: dict[str, float], example: str) -> float:
    text = str(value).strip()
    match = NUMBER.fullmatch(text)
    if isinstance(value, bool) or match is None:
        raise ValueError(f"{text[:40]!r} is not a number with a unit; write {example}")
    sign, number, unit = match.groups()
    if not unit:
        raise ValueError(f"{text} has no unit; write {example}")
    if unit not in units:
        raise ValueError(f"unit {unit[:20]!r} is not {' or '.join(units)}; write {example}")
    if sign == "-":
        raise ValueError(f"{text} is negative; a demand is more than 0")
    if not float(number):
        raise ValueError(f"{text} is no demand; write more than 0, or leave it out")
    return float(number) * units[unit]


def _written(units: Iterable[str]) -> WithJsonSchema:
    """Return the JSON schema of a number with a unit, with the pattern that validators accept."""
    pattern = rf"^ *\+?[0-9]{{1,9}}(\.[0-9]{{1,9}})? *({'|'.join(units)}) *$"
    return WithJsonSchema({"type": "string", "pattern": pattern})


Rate = Annotated[float, BeforeValidator(gbps), _written(RATES)]
Volume = Annotated[float, BeforeValidator(terabytes), _written(VOLUMES)]
