"""Intent for a server with several ports on one leaf: its LACP bond."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from rocefort.models.base import Frozen, Name
from rocefort.models.device.eth_trunk import HIGHEST_ID, MANUAL, MOST_LINKS, Bond
from rocefort.models.fabric.types import PORT_NAME, InterfaceName
from rocefort.models.wording import named

OTHER_LEAF = re.compile(rf"\S*[^\s:/][\s:/]+{PORT_NAME}", re.ASCII)
TWO_LEAVES = (
    "a server on two leaves (M-LAG) is not supported; bond ports of one leaf, or give it two "
    "names, each with a port and an address on its leaf, and let the host route"
)


def one_leaf(value: object) -> object:
    """Refuse a list of leaves, with a message that names the alternative."""
    if isinstance(value, list | dict):
        raise ValueError(TWO_LEAVES)  # noqa: TRY004 - pydantic takes no TypeError
    return value


def port_of_the_leaf(value: object) -> object:
    """Refuse a port that is named with another leaf."""
    if isinstance(value, dict) or (isinstance(value, str) and OTHER_LEAF.fullmatch(value)):
        raise ValueError(TWO_LEAVES)
    return value


LeafName = Annotated[Name, BeforeValidator(one_leaf)]
MemberName = Annotated[InterfaceName, BeforeValidator(port_of_the_leaf)]
LonePort = Annotated[  # the JSON schema has the port only: no author writes `port: null`
    InterfaceName | None, WithJsonSchema({"type": "string", "pattern": f"^{PORT_NAME}$"})
]


class ServerBond(Frozen):
    """Ports of one leaf that a server bundles; the leaf bundles them in an Eth-Trunk."""

    ports: tuple[MemberName, ...] = Field(
        min_length=1,
        description="Its ports on the leaf, all of one speed, none of those kept for spines.",
        examples=[["100GE1/0/1", "100GE1/0/2"]],
    )
    mode: Literal["lacp-static", "lacp-dynamic", "manual"] = Field(
        default="lacp-static",
        description="Mode of the leaf's Eth-Trunk. An 802.3ad bond of the host needs lacp-static; "
        "lacp-dynamic also lets a host boot from the network before it bonds; manual detects only "
        "a lost link.",
    )
    timeout: Literal["fast", "slow"] | None = Field(
        default=None,
        description="Time after which LACP removes a silent member: fast 3 s (the default), slow "
        "90 s. Only with lacp-static: a switch takes it in no other mode, and lacp-dynamic waits "
        "90 s.",
    )
    minimum_links: int = Field(
        default=1,
        ge=1,
        le=MOST_LINKS,
        json_schema_extra=named("a number of members"),
        description="Fewest members that are up; with fewer, the whole bond goes down.",
    )
    id: int | None = Field(
        default=None,
        ge=0,
        le=HIGHEST_ID,
        json_schema_extra=named("an Eth-Trunk number"),
        examples=[7],
        description="Number of its Eth-Trunk, given by hand; otherwise by its first port.",
    )

    @property
    def settings(self) -> Bond:
        """Settings of the Eth-Trunk on the leaf."""
        if self.mode == "manual":
            return Bond(mode=MANUAL, minimum_links=self.minimum_links)
        # lacp-dynamic has no timeout to set: LACP waits as long as the switch's default.
        timeout = "slow" if self.mode == "lacp-dynamic" else self.timeout or "fast"
        return Bond(mode=self.mode, lacp_timeout=timeout, minimum_links=self.minimum_links)
