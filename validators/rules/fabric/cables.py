"""Rules on cables and modules: evidence of cabling, FEC and autonegotiation, medium, length."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from rocefort.models.device.interface import Interface
from rocefort.models.finding import Severity
from rocefort.models.hardware.media import (
    COPPER,
    FASTEST_WITH_FEC_MODE,
    FEC_NAMES,
    CableMedium,
    Phy,
    media_at,
    phy_of,
)
from rocefort.models.network.network import CablingEvidence, CablingSource, End, Network
from rocefort.models.wording import count_of
from rocefort.validators.rules.missing import (
    LENGTH,
    MEDIUM,
    OPTICS,
    SPEED,
    Missing,
    Need,
    fabric_key,
)
from rocefort.validators.rules.registry import Subject, Verdict, rule

EVIDENCE = {
    CablingSource.LLDP: "LLDP reports {} there",
    CablingSource.ADDRESSES: "by its address it is cabled to {}",
    CablingSource.DESCRIPTIONS: "its description names {}",
}
HINTS = {
    CablingSource.ADDRESSES: "move the cable, or the address to the port that it is plugged into",
    CablingSource.DESCRIPTIONS: "correct the description, or what it describes",
}


@rule(
    "TOP007",
    severity=Severity.ERROR,
    source="«the vendor's reference», «neighbours of ports»; RFC 7938, 5.1 (a subnet a link)",
)
def one_cabling(subject: Subject) -> Iterator[Verdict]:
    """LLDP, addresses and descriptions agree on the cabling.

    For a directory of configurations, Rocefort infers the cables. LLDP has precedence over
    addresses, and addresses over descriptions. Where they disagree, a cable is in the wrong port,
    an address is on the wrong port, or a description is old (a warning). All other rules use the
    cable of the evidence that has precedence.

    Example: LLDP reports spine02 there; by its address it is cabled to spine01 100GE1/0/1
    Fix: Move the cable, or the address to the port that it is plugged into; correct an old
    description.
    """
    by_end: dict[End, list[CablingEvidence]] = defaultdict(list)
    for claim in subject.network.claims:
        by_end[claim.at].append(claim)
    for end, claims in by_end.items():
        yield from _disagreement(subject, end, claims)


def _disagreement(subject: Subject, end: End, claims: list[CablingEvidence]) -> Iterator[Verdict]:
    """Report each piece of evidence that conflicts with the first, which has precedence."""
    believed = claims[0]
    for claim in claims[1:]:
        if not believed.conflicts_with(claim):
            continue
        old = claim.by is CablingSource.DESCRIPTIONS
        words = "; ".join(EVIDENCE[c.by].format(c.far) for c in (believed, claim))
        yield subject.finding(
            end,
            words,
            HINTS.get(claim.by, "check the cable: LLDP reports two neighbours on one port"),
            severity=Severity.WARNING if old else Severity.ERROR,
            path=_path(believed, claim),
        )


def _path(believed: CablingEvidence, claim: CablingEvidence) -> str:
    """Path to check: the LLDP output, or the line that conflicts."""
    if CablingSource.LLDP in (believed.by, claim.by):
        return "lldp"
    return "description" if claim.by is CablingSource.DESCRIPTIONS else "addresses"


FEC_SOURCE = "«the vendor's guide», Configuring FEC; command reference, «FEC»"
FEC = Missing(
    "the FEC that the ports use",
    "state of ports",
    key=fabric_key("cables.fabric.fec, cables.server.fec"),
)


class _Cable(NamedTuple):
    """Cable with its ends at switches. speed in Gb/s, length in m; None: not known."""

    ends: tuple[End, ...]
    medium: CableMedium | None
    speed_gbps: int | None
    length_m: float | None


@rule("TOP010", severity=Severity.ERROR, source=FEC_SOURCE, needs=(Need.LINKS,))
def ends_agree_on_fec(subject: Subject) -> Iterator[Verdict]:
    """Both ends of a link are set to one FEC and autonegotiation.

    Ports with different FEC do not come up. Negotiate FEC, or set the same mode at both ends. The
    default of one end may differ from the mode that is set at the other end, because defaults
    depend on model and medium.

    Example: FEC rs here, FEC none at leaf01 100GE1/0/31; the link does not come up
    Fix: Set the same mode at both ends; `cables.fabric` sets it for all links.
    """
    for link, _, (here, there) in subject.overview.cables:
        if here is None or there is None:
            continue  # TOP003 reports it
        for field, words in (("autonegotiation", _negotiation), ("fec", _fec)):
            if getattr(here, field) != getattr(there, field):
                yield subject.finding(
                    link.a,
                    f"{words(here)} here, {words(there)} at {link.b}; the link does not come up",
                    "set both ends the same",
                    path=field,
                )


def _negotiation(interface: Interface) -> str:
    return f"autonegotiation {'on' if interface.autonegotiation else 'off'}"


def _fec(interface: Interface) -> str:
    return f"FEC {interface.fec}" if interface.fec else "FEC by default"


@rule(
    "TOP011",
    severity=Severity.ERROR,
    source=f"IEEE 802.3-2022, clauses 91 and 108, by medium; {FEC_SOURCE}",
    needs=(Need.MEDIA,),
)
def fec_of_the_medium(subject: Subject) -> Iterator[Verdict]:
    """The FEC that a medium needs is on.

    At 25 Gb/s per lane, most media have too many bit errors for RoCE without FEC: a lost packet
    costs a round trip or more.

    Example: no FEC on 100GBASE-SR4, which needs RS-FEC (IEEE 802.3-2022 clause 95)
    Fix: Set the FEC that the medium needs, or leave out `fec` in the fabric: the medium then
    decides it.
    """
    yield from _unknown_media(subject)
    for cable in _cables(subject.network):
        phy = phy_of(cable.medium, cable.speed_gbps)
        if phy is None or phy.speed_gbps > FASTEST_WITH_FEC_MODE:
            continue  # TOP012 reports the medium; above, FEC is always on
        for end in cable.ends:
            interface = subject.network.interface(end)
            if interface is not None:
                yield from _needed_fec(subject, end, interface, phy)


def _needed_fec(subject: Subject, end: End, interface: Interface, phy: Phy) -> Iterator[Verdict]:
    needed = phy.modes[0].fec
    if needed == "none":
        return
    if needed is None:
        reason = f"which FEC {phy.name} needs is not known: {phy.source}"
        yield subject.not_judged(end, reason, OPTICS)
    elif interface.fec is None:
        if phy.medium != COPPER or not interface.autonegotiation:
            reason = f"FEC is left to the switch, whose default with {phy.name} is not known"
            yield subject.not_judged(end, reason, FEC)
    elif interface.fec not in {mode.fec for mode in phy.modes}:
        yield subject.finding(
            end,
            f"{FEC_NAMES[interface.fec]} on {phy.name}, which needs {FEC_NAMES[needed]} "
            f"({phy.source})",
            f"set fec mode {needed} at both ends",
            path="fec",
        )
    elif interface.fec != needed:
        yield subject.not_judged(
            end,
            f"{phy.name} works with {FEC_NAMES[interface.fec]} on some classes of cable only, and "
            f"the class is not known: {phy.source}",
            OPTICS,
        )


@rule(
    "TOP012",
    severity=Severity.ERROR,
    source="IEEE 802.3-2022 and the MSAs of CWDM4 and PSM4: speed and reach of each medium",
    needs=(Need.MEDIA,),
)
def medium_fits(subject: Subject) -> Iterator[Verdict]:
    """Each cable's medium fits the port's speed and its own length.

    A module of another speed does not come up. A cable beyond the reach of its medium loses
    packets.

    Example: a cable of 101 m; 100GBASE-SR4 reaches 100 m (IEEE 802.3-2022 clause 95)
    Fix: Choose a medium of the port's speed that reaches far enough, or correct the length.
    """
    yield from _unknown_media(subject)
    for cable in _cables(subject.network):
        if cable.medium is None:
            continue
        end, phy = cable.ends[0], phy_of(cable.medium, cable.speed_gbps)
        if cable.speed_gbps is None:
            yield subject.not_judged(end, "the speed of the port is not known", SPEED)
        elif phy is None:
            media = ", ".join(media_at(cable.speed_gbps))
            yield subject.finding(
                end,
                f"{cable.medium} does not run at {cable.speed_gbps} Gb/s",
                f"use one of: {media}" if media else "no medium of that speed is known here",
            )
        else:
            yield from _reach(subject, end, cable, phy)


def _reach(subject: Subject, end: End, cable: _Cable, phy: Phy) -> Iterator[Verdict]:
    interface = subject.network.interface(end)
    mode = phy.mode(interface.fec if interface else None)
    if cable.length_m is None:
        reason = f"the length of the {phy.name} cable is not known"
        yield subject.not_judged(end, reason, LENGTH)
    elif mode.reach_m is None:
        reason = f"how far {phy.name} reaches is not known: {phy.source}"
        yield subject.not_judged(end, reason, OPTICS)
    elif cable.length_m > mode.reach_m:
        yield subject.finding(
            end,
            f"a cable of {cable.length_m:g} m; {phy.name} reaches {mode.reach_m:g} m "
            f"({phy.source})",
            "use a medium that reaches farther, or a shorter cable",
        )
    elif mode.sure_m is not None and cable.length_m > mode.sure_m:
        yield subject.not_judged(
            end,
            f"{phy.name} reaches {cable.length_m:g} m over {phy.better} and {mode.sure_m:g} m "
            "otherwise, and which it is is not known",
            OPTICS,
        )


def _cables(network: Network) -> Iterator[_Cable]:
    """Cables between switches, of servers, and of exits that name a medium, in this order."""
    for link in network.links or ():
        yield _Cable((link.a, link.b), link.medium, network.speed_gbps(link.a), link.cable_m)
    for server in network.servers or ():
        for port in server.ports:
            yield _Cable((port,), server.medium, server.flow_gbps or None, server.cable_m)
    for exit_ in network.exits or ():
        if exit_.medium is not None:  # the other end, and often the cable, belong to others
            end = End(device=exit_.leaf, interface=exit_.port)
            yield _Cable((end,), exit_.medium, network.speed_gbps(end), exit_.cable_m)


def _unknown_media(subject: Subject) -> Iterator[Verdict]:
    count = sum(cable.medium is None for cable in _cables(subject.network))
    if count:
        reason = f"the medium of {count_of(count, 'cable')} is not known"
        yield subject.not_judged(None, reason, MEDIUM)
