"""Filters of data packets in a configuration: advanced ACLs and traffic policies."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Literal, NamedTuple

from rocefort.models.base import Frozen, Keyed
from rocefort.models.effect import FILTERS, KEY, SAME, STATED, KeyedRow

Protocol = Literal["ip", "tcp", "udp", "icmp"]  # ip: any
LAST_PORT = 65535
ROCE_PORT = 4791  # UDP destination of RoCEv2, IANA
ENTROPY_PORT = 49152  # a RoCEv2 sender chooses its source port; one represents all
OTHER_TRAFFIC = FILTERS.affecting("{} treats other traffic, on every interface that applies it")


class Flow(Frozen):
    """Header fields of one conversation's packets in one direction; ICMP has no ports."""

    protocol: Literal["tcp", "udp", "icmp"] = "udp"
    source_port: int = ENTROPY_PORT
    destination_port: int = ROCE_PORT

    def __str__(self) -> str:
        if self == Flow():
            return "RDMA"
        if self.protocol == "icmp":
            return "ICMP"
        if self.source_port < self.destination_port:
            return f"{self.protocol.upper()} from port {self.source_port}"
        return f"{self.protocol.upper()} to port {self.destination_port}"


class PortRange(Frozen):
    """Closed range of TCP or UDP ports."""

    low: Annotated[int, SAME]
    high: Annotated[int, SAME]

    def __str__(self) -> str:
        return f"eq {self.low}" if self.low == self.high else f"range {self.low} {self.high}"

    def __contains__(self, port: int) -> bool:
        return self.low <= port <= self.high


class FilterRule(KeyedRow):
    """Rule of an advanced ACL; a field that is None matches every packet."""

    index: Annotated[int, KEY]
    action: Annotated[Literal["permit", "deny"], STATED] = "permit"
    protocol: Annotated[Protocol, STATED] = "ip"
    source: Annotated[IPv4Network | None, STATED] = None
    source_ports: Annotated[PortRange | None, STATED] = None
    destination: Annotated[IPv4Network | None, STATED] = None
    destination_ports: Annotated[PortRange | None, STATED] = None
    dscp: Annotated[int | None, STATED] = None

    def matches(self, source: IPv4Address, destination: IPv4Address, flow: Flow) -> bool:
        """Whether packets of a flow match; the caller must refuse a rule with a DSCP."""
        return (
            self.protocol in ("ip", flow.protocol)
            and (self.source is None or source in self.source)
            and (self.destination is None or destination in self.destination)
            and (self.source_ports is None or flow.source_port in self.source_ports)
            and (self.destination_ports is None or flow.destination_port in self.destination_ports)
        )

    def covers(self, other: FilterRule) -> bool:
        """Whether this rule matches every packet that the other rule matches."""
        return (
            self.protocol in ("ip", other.protocol)
            and _inside(other.source, self.source)
            and _inside(other.destination, self.destination)
            and _contains_range(other.source_ports, self.source_ports)
            and _contains_range(other.destination_ports, self.destination_ports)
            and self.dscp in (None, other.dscp)
        )


def _inside(inner: IPv4Network | None, outer: IPv4Network | None) -> bool:
    return outer is None or (inner is not None and inner.subnet_of(outer))


def _contains_range(inner: PortRange | None, outer: PortRange | None) -> bool:
    if outer is None or (outer.low == 0 and outer.high == LAST_PORT):
        return True
    return inner is not None and outer.low <= inner.low and inner.high <= outer.high


class FilterAcl(KeyedRow):
    """Advanced ACL, by a number of 3000 to 3999 or a name; rules apply in order of number."""

    name: Annotated[str, KEY]  # the number, or the name
    rules: Annotated[
        Keyed[FilterRule],
        FILTERS.affecting(
            "ACL {} allows and denies other traffic on every interface that applies it"
        ),
    ] = ()

    def first_match(
        self, source: IPv4Address, destination: IPv4Address, flow: Flow
    ) -> FilterRule | None:
        """First rule that matches a flow, if any."""
        return next((r for r in self.rules if r.matches(source, destination, flow)), None)


class Classifier(KeyedRow):
    """Traffic classifier: packets that match one of its ACLs, with `and` or `or`."""

    name: Annotated[str, KEY]
    acls: Annotated[Keyed[str], OTHER_TRAFFIC] = ()


class Behavior(KeyedRow):
    """Behaviour of a traffic policy: packets pass, the default, or are dropped."""

    name: Annotated[str, KEY]
    deny: Annotated[bool, OTHER_TRAFFIC.but(stated=True)] = False


class ClassifierBinding(KeyedRow):
    """Classifier with its behaviour, at its position in a traffic policy."""

    classifier: Annotated[str, KEY]
    behavior: Annotated[str, STATED]
    precedence: Annotated[int | None, STATED] = None


class TrafficPolicy(KeyedRow):
    """Traffic policy; packets that no classifier matches pass."""

    name: Annotated[str, KEY]
    bindings: Annotated[Keyed[ClassifierBinding], OTHER_TRAFFIC] = ()


class Uses(NamedTuple):
    """Names of ACLs, of traffic policies, and of classifiers with their behaviours."""

    acls: frozenset[str] = frozenset()
    policies: frozenset[str] = frozenset()
    bound: frozenset[tuple[str, str]] = frozenset()


class Filters(Frozen):
    """Packet filters of a switch; interfaces apply policies by name."""

    acls: Annotated[Keyed[FilterAcl], SAME] = ()
    classifiers: Annotated[Keyed[Classifier], SAME] = ()
    behaviors: Annotated[Keyed[Behavior], SAME] = ()
    policies: Annotated[Keyed[TrafficPolicy], SAME] = ()

    def policy(self, name: str) -> TrafficPolicy | None:
        """Policy with a name; None: there is none."""
        return next((policy for policy in self.policies if policy.name == name), None)

    def parts_of(self, name: str) -> Iterator[str]:
        """Names of the classifiers, behaviors and ACLs of a policy."""
        policy = self.policy(name)
        for row in policy.bindings if policy else ():
            yield from (row.classifier, row.behavior)
            for classifier in self.classifiers:
                if classifier.name == row.classifier:
                    yield from classifier.acls

    def dangling(self) -> Iterator[tuple[str, str, str]]:
        """Yield references to missing objects: path of the reference, kind and name of the object.

        An ACL below 3000 is not among the filters; the caller has to look in the basic ACLs.
        """
        acls = {acl.name for acl in self.acls}
        classifiers = {item.name for item in self.classifiers}
        behaviors = {item.name for item in self.behaviors}
        for item in self.classifiers:
            for acl in item.acls:
                if acl not in acls:
                    yield f"classifiers[{item.name}]", "ACL", acl
        for policy in self.policies:
            for row in policy.bindings:
                if row.classifier not in classifiers:
                    yield f"policies[{policy.name}]", "traffic classifier", row.classifier
                if row.behavior not in behaviors:
                    yield f"policies[{policy.name}]", "traffic behavior", row.behavior
