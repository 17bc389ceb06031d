"""Rules on addresses, AS numbers and names: each has one owner, each link has two ends."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from ipaddress import IPv4Address

from rocefort.dialects.data import ForeignDesign
from rocefort.models.base import natural
from rocefort.models.device.interface import Interface
from rocefort.models.fabric.underlay import REFUSED, is_private
from rocefort.models.finding import Severity
from rocefort.models.network.network import End, Link, Node, Server, SwitchRole
from rocefort.models.wording import listing
from rocefort.validators.facts.overview import SHARING, LinkEnds, Overview
from rocefort.validators.rules.missing import ADDRESSES, ROLE, SHARED, Need
from rocefort.validators.rules.registry import Place, Subject, Verdict, rule


@rule(
    "ADR005",
    severity=Severity.WARNING,
    source="RFC 6996 (64512-65534, 4200000000-4294967294); RFC 7607, 6793, 7300 (0, 23456, 65535, "
    "4294967295)",
)
def private_asns(subject: Subject) -> Iterator[Verdict]:
    """Every switch has an AS number for private use.

    A public AS number has an owner. Where routes of the fabric and routes of that owner meet, BGP
    drops paths with the number as loops. The owner of a public number may use it: waive the
    finding. A number that no switch may have is an error.

    Example: its AS number is 64511, which is public
    Fix: Use 64512 to 65534 or 4200000000 to 4294967294.
    """
    for node in subject.network.nodes:
        asn = node.device.bgp.asn if node.device.bgp else None
        if asn is None or is_private(asn):
            continue
        refused = asn in REFUSED
        what = f"which {REFUSED[asn]}" if refused else "which is public"
        yield subject.finding(
            node,
            f"its AS number is {asn}, {what}",
            "use 64512 to 65534 or 4200000000 to 4294967294",
            path="bgp.asn",
            severity=Severity.ERROR if refused else None,
        )


class AddressKind(IntEnum):
    """Kind of an address's owner; of several owners the first kind keeps the address."""

    INTERFACE = 1
    ROUTER_ID = 2
    SERVER = 3


@dataclass(frozen=True, slots=True)
class AddressOwner:
    """Owner of an address."""

    place: Place
    device: str
    label: str
    path: str
    kind: AddressKind

    @property
    def order(self) -> tuple[object, ...]:
        """Sort key among the owners of one address: kind first, then name."""
        return self.kind, natural(self.label), self.label


@rule(
    "ADR001",
    severity=Severity.ERROR,
    source="RFC 791 (an address names one interface); RFC 6286 (BGP identifiers are unique)",
    wants=(Need.SERVERS,),
)
def unique_addresses(subject: Subject) -> Iterator[Verdict]:
    """No two interfaces, router ids or servers have the same address.

    A switch's router id may be the address of its own loopback. Any other two owners of one
    address take traffic from each other.

    Example: address 10.0.1.1 of leaf02 LoopBack0 is also that of leaf01 LoopBack0
    Fix: Give one of them another address.
    """
    for number, sharing in _shared(subject.overview).items():
        address = IPv4Address(number)
        owners = sorted(sharing, key=lambda owner: owner.order)
        at_home = {owner.device for owner in owners if owner.kind is AddressKind.INTERFACE}
        distinct = [
            o for o in owners if not (o.kind is AddressKind.ROUTER_ID and o.device in at_home)
        ]
        for owner in distinct[1:]:
            if (design := _sharing(subject.overview, owner, distinct[0])) is not None:
                reason = f"{design} may give two switches one address, and is not modelled"
                yield subject.not_judged(owner.place, reason, SHARED, path=owner.path)
                continue
            what = "router id" if owner.kind is AddressKind.ROUTER_ID else "address"
            yield subject.finding(
                owner.place,
                f"{what} {address} of {owner.label} is also that of {distinct[0].label}",
                "give one of them another address",
                path=owner.path,
            )


def _sharing(overview: Overview, *owners: AddressOwner) -> ForeignDesign | None:
    """Design by which the interfaces of two switches may have one address."""
    if any(owner.kind is not AddressKind.INTERFACE for owner in owners):
        return None
    nodes = [overview.network.by_name[owner.device] for owner in owners]
    return next((d for d in SHARING if all(overview.design_of(node, d) for node in nodes)), None)


def _shared(overview: Overview) -> dict[int, list[AddressOwner]]:
    """Owners of each address that has several, by its number."""
    interfaces, network = overview.owners, overview.network
    others: dict[int, list[tuple[Node, Interface | None] | Server]] = defaultdict(list)
    for node in network.nodes:
        bgp = node.device.bgp
        if bgp is not None and bgp.router_id is not None:
            others[int(bgp.router_id)].append((node, None))
    for server in network.servers or ():
        others[int(server.address)].append(server)
    twice = [number for number, owners in interfaces.items() if owners[1:]]
    twice += [number for number, owners in others.items() if owners[1:] or number in interfaces]
    return {
        number: [_owner(user) for user in (*interfaces.get(number, ()), *others.get(number, ()))]
        for number in twice
    }


def _owner(user: tuple[Node, Interface | None] | Server) -> AddressOwner:
    """Owner for an interface, for a router id (interface is None) or for a server."""
    if isinstance(user, Server):
        label = f"server {user.name}"
        return AddressOwner(user.port, label, label, "", AddressKind.SERVER)
    node, interface = user
    if interface is None:
        return AddressOwner(node, node.name, node.name, "bgp.router_id", AddressKind.ROUTER_ID)
    end = End(device=node.name, interface=interface.name)
    return AddressOwner(end, node.name, str(end), "addresses", AddressKind.INTERFACE)


@rule(
    "ADR002",
    severity=Severity.ERROR,
    source="RFC 7938, 5.2 (AS numbers of a Clos); RFC 4271, 9.1.2 (AS loop check)",
    needs=(Need.ROLE,),
)
def unique_asns(subject: Subject) -> Iterator[Verdict]:
    """Every leaf has its own AS; spines share one or have one each.

    A switch drops routes that carry its own AS number, so two leaves with one number never see
    each other's prefixes. Spines may share a number, because no route needs to pass two spines.

    Example: AS 65101 is also the AS of leaf01; a leaf needs an AS of its own
    Fix: Give the leaf another AS number, and its spines the new peer AS.
    """
    leaves, spines = subject.network.role(SwitchRole.LEAF), subject.network.role(SwitchRole.SPINE)
    first: dict[int, Node] = {}
    for node in (*spines, *leaves):
        if node.device.bgp is None:
            continue  # BGP001 reports it
        holder = first.setdefault(node.device.bgp.asn, node)
        if holder is not node and node.role is SwitchRole.LEAF:
            yield subject.finding(
                node,
                f"AS {node.device.bgp.asn} is also the AS of {holder.name}; "
                "a leaf needs an AS of its own",
                "give this leaf another AS number, and its spines the new peer AS",
                path="bgp.asn",
            )
    asns = [node.device.bgp.asn for node in spines if node.device.bgp]
    if 1 < len(set(asns)) < len(asns):
        yield subject.finding(
            None,
            f"the spines have the AS numbers {listing(asns)}; "
            "they must all share one or each have its own",
            "give all spines one AS number, or each another",
        )


@rule(
    "ADR003",
    severity=Severity.ERROR,
    source="«the vendor's reference», «address of a port»; RFC 3021 (31-bit prefixes)",
    needs=(Need.LINKS,),
)
def one_subnet_per_link(subject: Subject) -> Iterator[Verdict]:
    """Both ends of a routed link are in one subnet.

    With different subnets neither end reaches the other, and the BGP session on the link stays
    down. Of two masks of one link, each switch uses its own; the finding is at the mask that fewer
    ports of links have. For configurations alone, two peers whose ports reach each other by one of
    the masks are taken as the ends of a cable.

    Example: 10.1.1.2/31 here and 10.1.1.9/31 at leaf01 100GE1/0/31 are not in one subnet
    Fix: Give both ends addresses of one subnet.
    """
    wrong = [c for c in subject.overview.cables if not _in_one_subnet(*c.interfaces)]
    masks = _mask_counts(subject.overview.cables) if wrong else Counter()
    for cable in wrong:
        yield from _link_subnet(subject, cable, masks)


def _mask_counts(cables: Iterable[LinkEnds]) -> Counter[int]:
    """Number of ports on links by the bits of their masks: most have the intended one."""
    ports = (port for cable in cables for port in cable.interfaces if port)
    return Counter(address.network.prefixlen for port in ports for address in port.addresses)


def _in_one_subnet(a: Interface | None, b: Interface | None) -> bool:
    """Whether two ports have addresses of one subnet; true where a port does not exist."""
    if a is None or b is None:
        return True  # TOP003 reports it
    return any(x.network == y.network for x in a.addresses for y in b.addresses)


def _link_subnet(subject: Subject, cable: LinkEnds, masks: Mapping[int, int]) -> Iterator[Verdict]:
    link, (a, b) = cable.link, cable.interfaces
    if a is None or b is None:
        return
    bare = [end for end, i in ((link.a, a), (link.b, b)) if not i.addresses]
    if len(bare) == 2 and cable.uplink is None:
        yield from _switched(subject, link)
    elif bare:
        other = link.b if bare[0] == link.a else link.a
        if subject.overview.design_of(subject.network.by_name[bare[0].device], ForeignDesign.IPV6):
            reason = "no IPv4 address on the link: IPv6 is not modelled"
            yield subject.not_judged(bare[0], reason, ADDRESSES, path="addresses")
            return
        yield subject.finding(
            bare[0],
            f"no address on the link to {other}; both ends of a routed link need one",
            "make the port a routed one («a routed port») and give it an address",
            path="addresses",
        )
    else:
        ends = [(link.a, a.addresses[0]), (link.b, b.addresses[0])]
        (end, odd), (far, address) = sorted(ends, key=lambda e: masks[e[1].network.prefixlen])
        yield subject.finding(
            end,
            f"{odd} here and {address} at {far} are not in one subnet",
            "give both ends addresses of one subnet",
            path="addresses",
        )


def _switched(subject: Subject, link: Link) -> Iterator[Verdict]:
    """Report a link without addresses as not judged where a switch has no role."""
    nodes = [subject.network.by_name[end.device] for end in (link.a, link.b)]
    if any(node.role is None for node in nodes):
        yield subject.not_judged(
            link.a,
            "no address at either end; without roles it may be an intended switched link",
            ROLE,
        )


@rule(
    "ADR004",
    severity=Severity.ERROR,
    source="RFC 4343 (host names are the same in upper and lower case); «the vendor's reference», "
    "«name of a switch»",
    wants=(Need.SERVERS,),
)
def unique_names(subject: Subject) -> Iterator[Verdict]:
    """No two switches or servers have the same name.

    Name servers, inventories and configuration files identify a host by its name alone. Most of
    them ignore upper and lower case.

    Example: switch leaf01 has the name of switch LEAF01; host names ignore upper and lower case
    Fix: Rename one of the two.
    """
    hosts: dict[str, list[tuple[str, Place]]] = defaultdict(list)
    for node in sorted(subject.network.nodes, key=lambda node: natural(node.name)):
        hosts[node.name.casefold()].append((f"switch {node.name}", node))
    for server in sorted(subject.servers, key=lambda server: natural(server.name)):
        hosts[server.name.casefold()].append((f"server {server.name}", server.port))
    for (first, _), *others in (same for same in hosts.values() if same[1:]):
        for label, place in others:
            yield subject.finding(
                place,
                f"{label} has the name of {first}; host names ignore upper and lower case",
                "rename one of them",
            )
