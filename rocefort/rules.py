"""Names that a rule of a site imports: the decorator, its subject, the network, and formulas.

These names stay; `docs/how-to/site-rules.md` lists them, and a test compares both.
"""

from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface
from rocefort.models.finding import Finding, NotJudged, Severity, Where
from rocefort.models.network.network import (
    End,
    Link,
    LosslessIntent,
    Network,
    Node,
    Segment,
    Server,
    SwitchRole,
)
from rocefort.validators.facts.headroom import headroom_bytes
from rocefort.validators.facts.links import effective_mtu, link_gbps, uplink_gbps
from rocefort.validators.facts.priorities import queue_of_dot1p, queue_of_dscp
from rocefort.validators.facts.roce_ports import is_fabric_link, paused_queues
from rocefort.validators.rules.missing import Missing, Need, fabric_key
from rocefort.validators.rules.registry import Subject, Verdict, rule

__all__ = [
    "Device",
    "End",
    "Finding",
    "Interface",
    "Link",
    "LosslessIntent",
    "Missing",
    "Need",
    "Network",
    "Node",
    "NotJudged",
    "Segment",
    "Server",
    "Severity",
    "Subject",
    "SwitchRole",
    "Verdict",
    "Where",
    "effective_mtu",
    "fabric_key",
    "headroom_bytes",
    "is_fabric_link",
    "link_gbps",
    "paused_queues",
    "queue_of_dot1p",
    "queue_of_dscp",
    "rule",
    "uplink_gbps",
]
