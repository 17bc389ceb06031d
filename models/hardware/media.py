"""Ports by speed: media, FEC and reach, split ports, and interface types of NetBox.

The parts keep the port's name: 100GE1/0/1 split 4*25GE is 100GE1/0/1:1 to 100GE1/0/1:4, and each
runs at 25 Gb/s. So the speed of a part follows from the split, not from its name.

A medium is a product category (`dac`, `sr4`). With a port's speed it is a physical layer of
IEEE 802.3 or of a multi-source agreement. A value that neither defines is None, and no rule
passes it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, WithJsonSchema

from rocefort.models.effect import KEY, SAME, KeyedRow

# V300R023C00 command reference, `port split`.


MOST_PARTS = 4  # of a port; V300R023C00, `port split`: the largest are 4*25GE, 4*50GE, 4*100GE
SPLIT_TYPE = rf"([2-{MOST_PARTS}])\*(\d{{1,3}})GE"


def check_split_type(value: str) -> str:
    """Accept `4*25GE`: the number of parts, and the speed of each."""
    if not re.fullmatch(SPLIT_TYPE, value, re.ASCII):
        raise ValueError(
            f"{value[:60]!r} is not a way to split a port; write 4*25GE: two to {MOST_PARTS} parts "
            "and the speed of each"
        )
    return value


SplitType = Annotated[
    str,
    AfterValidator(check_split_type),
    WithJsonSchema({"type": "string", "pattern": f"^{SPLIT_TYPE}$"}),
]


@cache
def parts_of(port: str, split_type: str) -> tuple[str, ...]:
    """Return the names of the parts of a split port, in order."""
    count = int(split_type.partition("*")[0])
    return tuple(f"{port}:{number}" for number in range(1, count + 1))


@cache
def part_speed_gbps(split_type: str) -> int:
    """Return the speed of each part, Gb/s: 25 for `4*25GE`."""
    return int(split_type.partition("*")[2].removesuffix("GE"))


def whole_port(interface: str) -> str:
    """Return the front-panel port of a part; a whole port is its own."""
    return interface.partition(":")[0]


class PortSplit(KeyedRow):
    """Port with its split type."""

    port: Annotated[str, KEY]
    type: Annotated[SplitType, SAME]

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the interfaces that replace the port."""
        return parts_of(self.port, self.type)


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


Fec = Literal["none", "base-r", "rs"]  # as `fec mode` has them, V300R023C00
CableMedium = Literal[
    "dac",
    "aoc",
    "sr",
    "lr",
    "sr4",
    "lr4",
    "er4",
    "cwdm4",
    "psm4",
    "dr",
    "fr1",
    "lr1",
    "dr4",
    "fr4",
    "sr8",
    "fr8",
    "lr8",
]
# Above this speed FEC is a part of the PCS (IEEE 802.3 clause 119): nothing can be set.
FASTEST_WITH_FEC_MODE = 100
COPPER: CableMedium = "dac"  # the only medium with autonegotiation (IEEE 802.3 clause 73)
FEC_NAMES: Mapping[Fec, str] = {"none": "no FEC", "base-r": "BASE-R FEC", "rs": "RS-FEC"}


@dataclass(frozen=True, slots=True)
class Mode:
    """FEC that is specified for a medium, and its reach, m; None: no source.

    sure_m: reach on the poorest fibre or cable, if that is less than on the best.
    """

    fec: Fec | None
    reach_m: float | None
    sure_m: float | None = None


@dataclass(frozen=True, slots=True)
class Phy:
    """Physical layer; its first mode suits every cable of the medium."""

    medium: CableMedium
    speed_gbps: int
    name: str
    modes: tuple[Mode, ...]
    source: str
    better: str = ""  # medium or fibre with a reach beyond sure_m

    def mode(self, fec: Fec | None) -> Mode:
        """Mode with this FEC; the first mode if there is none."""
        return next((mode for mode in self.modes if mode.fec == fec), self.modes[0])


IEEE = "IEEE 802.3-2022 clause"
OM4 = "OM4 fibre"
_SHORT = (Mode("rs", 100, 70),)  # OM4, and OM3
_PARALLEL = (Mode(None, 100, 70),)
# A module of one 100G wavelength (PAM4) contains the FEC of IEEE 802.3 clause 91, or leaves it to
# the switch: that depends on the product.
_PAM4 = "the module or the switch has its FEC, by product"
ROWS = (
    Phy(
        "dac",
        25,
        "25GBASE-CR",
        (Mode("rs", 5), Mode("base-r", 3), Mode("none", 3)),
        f"{IEEE} 110 (CA-25G-L, CA-25G-S and CA-25G-N cables)",
    ),
    Phy("sr", 25, "25GBASE-SR", _SHORT, f"{IEEE} 112", OM4),
    Phy("lr", 25, "25GBASE-LR", (Mode("rs", 10000),), f"{IEEE} 114"),
    Phy("dac", 100, "100GBASE-CR4", (Mode("rs", 5),), f"{IEEE} 92"),
    Phy("sr4", 100, "100GBASE-SR4", _SHORT, f"{IEEE} 95", OM4),
    Phy("lr4", 100, "100GBASE-LR4", (Mode("none", 10000),), f"{IEEE} 88"),
    Phy("er4", 100, "100GBASE-ER4", (Mode("none", 40000, 30000),), f"{IEEE} 88", "a tuned link"),
    Phy("cwdm4", 100, "100G-CWDM4", (Mode("rs", 2000),), "CWDM4 MSA"),
    Phy("psm4", 100, "100G-PSM4", (Mode("rs", 500),), "100G PSM4 MSA"),
    Phy("dr", 100, "100GBASE-DR", (Mode(None, 500),), f"{IEEE} 140; {_PAM4}"),
    Phy("fr1", 100, "100GBASE-FR1", (Mode(None, 2000),), f"{IEEE} 140; {_PAM4}"),
    Phy("lr1", 100, "100GBASE-LR1", (Mode(None, 10000),), f"{IEEE} 140; {_PAM4}"),
    Phy("dac", 200, "200GBASE-CR4", (Mode(None, 3),), f"{IEEE} 136"),
    Phy("sr4", 200, "200GBASE-SR4", _PARALLEL, f"{IEEE} 138", OM4),
    Phy("dr4", 200, "200GBASE-DR4", (Mode(None, 500),), f"{IEEE} 121"),
    Phy("fr4", 200, "200GBASE-FR4", (Mode(None, 2000),), f"{IEEE} 122"),
    Phy("lr4", 200, "200GBASE-LR4", (Mode(None, 10000),), f"{IEEE} 122"),
    Phy("dac", 400, "400G copper", (Mode(None, None),), "no one layer: 8 x 50G or 4 x 100G"),
    Phy("sr8", 400, "400GBASE-SR8", _PARALLEL, f"{IEEE} 138", OM4),
    Phy("dr4", 400, "400GBASE-DR4", (Mode(None, 500),), f"{IEEE} 124"),
    Phy("fr4", 400, "400GBASE-FR4", (Mode(None, 2000),), f"{IEEE} 151"),
    Phy("fr8", 400, "400GBASE-FR8", (Mode(None, 2000),), f"{IEEE} 122"),
    Phy("lr8", 400, "400GBASE-LR8", (Mode(None, 10000),), f"{IEEE} 122"),
    *(
        Phy("aoc", speed, f"{speed}G AOC", (Mode(None, None),), "no standard: each product's own")
        for speed in (25, 100, 200, 400)
    ),
)
PHYS: Mapping[tuple[str, int], Phy] = {(row.medium, row.speed_gbps): row for row in ROWS}


def phy_of(medium: CableMedium | None, speed_gbps: int | None) -> Phy | None:
    """Return the physical layer of a medium at a speed; None if one is unknown or there is none."""
    return PHYS.get((medium, speed_gbps)) if medium and speed_gbps else None


def media_at(speed_gbps: int) -> tuple[str, ...]:
    """Return media that exist at a speed, in alphabetical order."""
    return tuple(sorted(medium for medium, speed in PHYS if speed == speed_gbps))


def default_fec(medium: CableMedium, speed_gbps: int | None) -> Fec | None:
    """Return the FEC that suits every cable of a medium; None: not settable, or no source."""
    phy = phy_of(medium, speed_gbps)
    return phy.modes[0].fec if phy else None
