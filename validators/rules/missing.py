"""Facts that rules need and may lack: each with the way to find it out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from rocefort.dialects.choose import OfDialect, dialect_of
from rocefort.dialects.words import in_words, line
from rocefort.models.finding import MissingFact
from rocefort.models.hardware.hardware import Family, Hardware

WITH_INTENT = "rocefort check FABRIC --configs DIR"


@dataclass(frozen=True, slots=True)
class Missing:
    """The one fact that settles a verdict, and how to find it out: by term, key or run.

    term: of the dialect's command that shows it. value: of the term. key: to fill in, with its
    file. run: command of Rocefort. cause: shared by verdicts with different reasons.
    """

    fact: str
    term: str = ""
    value: str = ""
    key: str = ""
    run: str = ""
    cause: str = ""

    def __post_init__(self) -> None:
        if not (self.term or self.key or self.run):
            raise TypeError(f"no term, key or command for the missing fact {self.fact!r}")

    def of_switch(self, known: OfDialect | None, *, from_text: bool = False) -> MissingFact:
        """Return the fact with the command of the switch; a dialect may lack it.

        from_text: the configurations are judged without a fabric, in which a key could be.
        """
        ask = ""
        if self.term in dialect_of(known).words.quoted:
            ask = line(known, self.term, *filter(None, (self.value,)))
        run = self.run or (WITH_INTENT if from_text and self.key else "")
        return MissingFact(fact=in_words(self.fact, known), ask=ask, key=self.key, run=run)


def fabric_key(key: str) -> str:
    """Name a key of a fabric with its file."""
    return f"{key} in fabric.yaml"


class Need(StrEnum):
    """Knowledge that configuration text alone does not give."""

    LINKS = "links"  # stated or inferred cables
    CABLING = "cabling"  # stated cables; inferred ones exist only where the text is right
    SERVERS = "servers"
    LOSSLESS = "lossless"
    ROLE = "role"
    HARDWARE = "hardware"
    FAMILY = "family"
    RESERVED = "reserved"
    OVERSUBSCRIPTION = "oversubscription"
    MEDIA = "media"
    NICS = "nics"
    SEGMENTS = "segments"
    EXITS = "exits"
    POLICY = "policy"


UNKNOWN = {
    Need.CABLING: "the cables are only inferred from addresses, which is not enough to judge them",
    Need.LINKS: "the cabling is not known, so nothing between two ports can be judged",
    Need.SERVERS: "the servers are not known, so their ports cannot be judged",
    Need.LOSSLESS: "the lossless intent is not known (queue, DSCP, timers, frame size)",
    Need.ROLE: "whether this switch is a spine or a leaf is not known",
    Need.HARDWARE: "the hardware model is not known",
    Need.FAMILY: "the syntax family is not known, so its ranges are not known either",
    Need.RESERVED: "the reserved capacity of the fabric is not known",
    Need.OVERSUBSCRIPTION: "no policy limits oversubscription (policy.oversubscription)",
    Need.MEDIA: "no cable has a medium (cables.fabric.medium, cables.server.medium)",
    Need.NICS: "no server has a NIC profile (servers.nic)",
    Need.SEGMENTS: "the segments, and so the gateways of servers, are not known",
    Need.EXITS: "the prefixes that an exit accepts and announces are not known",
    Need.POLICY: "the policy between segments is not known",
}
CABLES = Missing("the cables between the switches", "neighbours of ports", key=fabric_key("links"))
MEDIUM = Missing(
    "the medium of each cable",
    "state of optics",
    key=fabric_key("cables.fabric.medium, cables.server.medium"),
)
LENGTH = Missing("the length of the cable", key=fabric_key("cables.fabric_m, cables.server_m"))
OPTICS = Missing("the kind of module and cable", "state of optics", key=fabric_key("cables"))
SPEED = Missing("the speed of the port", "ports in brief", key="interfaces in the hardware file")
NIC = Missing("the NIC settings of each server", key=fabric_key("servers.nic"))
QUEUE = Missing("which queue is lossless", "queues of PFC profiles", key=fabric_key("lossless"))
XOFF = Missing(
    "a static xoff of every lossless port",
    "thresholds of ports",
    key=fabric_key("xoff_kbytes of the lossless profile"),
)
ROLE = Missing(
    "whether this switch is a spine or a leaf",
    "state of BGP peers",
    key=fabric_key("spines, leaves"),
)
ROLE_BY_DESIGN = Missing(ROLE.fact, key=ROLE.key)  # where no BGP shows it
SHARED = Missing("whether both switches are to have the address", "what runs")
ADDRESSES = Missing("the addresses of the link", "what runs")
ROUTES = Missing("the routes of the switches", "routing table")
SESSION = Missing("whether the session is established", "state of BGP peers")
FILTER = Missing("what the filter lets pass", "what runs")
POLICY = Missing("the policy between segments", key=fabric_key("security.policy"))
SPINES = Missing("the number of spines", "state of BGP peers", key=fabric_key("spines"))
MISSING = {
    Need.CABLING: CABLES,
    Need.LINKS: CABLES,
    Need.SERVERS: Missing(
        "the servers with their ports", "neighbours of ports", key=fabric_key("servers")
    ),
    Need.LOSSLESS: Missing("the lossless profile that is intended", key=fabric_key("lossless")),
    Need.ROLE: ROLE,
    Need.HARDWARE: Missing(
        "the hardware model",
        "model and release",
        key=fabric_key("spines.hardware, leaves.hardware"),
    ),
    Need.FAMILY: Missing(
        "the release, and so the syntax family",
        "model and release",
        key=fabric_key("spines.software, leaves.software"),
    ),
    Need.RESERVED: Missing("the reserved capacity", key=fabric_key("capacity")),
    Need.OVERSUBSCRIPTION: Missing(
        "the highest oversubscription", key=fabric_key("policy.oversubscription")
    ),
    Need.MEDIA: MEDIUM,
    Need.NICS: NIC,
    Need.SEGMENTS: Missing("the segments of servers", key=fabric_key("segments")),
    Need.EXITS: Missing(
        "the prefixes that each exit accepts and announces", key=fabric_key("leaves.exits")
    ),
    Need.POLICY: POLICY,
}
LOOSE_END = "the addresses do not show the port's other end"


def of_family(family: Family, field: str, fact: str) -> Missing:
    """Return an unconfirmed fact of a syntax family; field: of Family, and the dialect's term."""
    return Missing(
        f"{fact} on {family.name}", field, cause=f"facts of {family.name} are unconfirmed"
    )


def of_hardware(hardware: Hardware, field: str, fact: str, cause: str = "") -> Missing:
    """Return an unconfirmed fact of a switch model; field: of Hardware, and the dialect's term."""
    key = f"{field} in inventory/hardware/{hardware.model.lower()}.yaml"
    return Missing(f"{fact} of {hardware.model}", field, key=key, cause=cause)


def default_of(fact: str) -> Missing:
    """Return what holds without a line of the text: a switch lists it with its defaults."""
    return Missing(fact, "what runs with its defaults")
