"""Interface types of NetBox with speed and form factor of a port."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated, NamedTuple

from pydantic import AfterValidator


class Medium(NamedTuple):
    """Speed of a port in Gb/s, and its form factor."""

    speed_gbps: int
    form_factor: str


# NetBox, dcim.choices.InterfaceTypeChoices: types of a data center switch.
MEDIA = {
    "1000base-t": Medium(1, "RJ45"),
    "1000base-x-sfp": Medium(1, "SFP"),
    "10gbase-t": Medium(10, "RJ45"),
    "10gbase-x-sfpp": Medium(10, "SFP+"),
    "25gbase-x-sfp28": Medium(25, "SFP28"),
    "40gbase-x-qsfpp": Medium(40, "QSFP+"),
    "50gbase-x-sfp28": Medium(50, "SFP28"),
    "50gbase-x-sfp56": Medium(50, "SFP56"),
    "100gbase-x-qsfp28": Medium(100, "QSFP28"),
    "100gbase-x-qsfpdd": Medium(100, "QSFP-DD"),
    "100gbase-x-sfpdd": Medium(100, "SFP-DD"),
    "200gbase-x-qsfp56": Medium(200, "QSFP56"),
    "200gbase-x-qsfpdd": Medium(200, "QSFP-DD"),
    "400gbase-x-osfp": Medium(400, "OSFP"),
    "400gbase-x-qsfp112": Medium(400, "QSFP112"),
    "400gbase-x-qsfpdd": Medium(400, "QSFP-DD"),
    "800gbase-x-osfp": Medium(800, "OSFP"),
    "800gbase-x-qsfpdd": Medium(800, "QSFP-DD"),
}


def check_medium(value: str) -> str:
    """Accept an interface type of NetBox whose speed and form factor are known here."""
    if value not in MEDIA:
        near = get_close_matches(value, MEDIA, n=1, cutoff=0.0)
        raise ValueError(f"unknown interface type {value[:60]!r}; the nearest is {near[0]!r}")
    return value


MediumName = Annotated[str, AfterValidator(check_medium)]
