"""Queue of a packet by its DSCP or its priority in an 802.1Q tag."""

from __future__ import annotations

from rocefort.models.device.lossless_queue import DSCPS, PHB_QUEUE, DiffservDomain, default_queue

BY_DEFAULT = {dscp: default_queue(dscp) for dscp in DSCPS}  # queues


def queue_of_dscp(domain: DiffservDomain, dscp: int) -> int:
    """Queue of a DSCP in a domain; a DSCP that it does not name has its default queue."""
    entry = domain.by_dscp.get(dscp)
    return PHB_QUEUE[entry.phb] if entry else default_queue(dscp)


def queue_of_dot1p(domain: DiffservDomain, value: int) -> int:
    """Queue of an 802.1p value in a domain; by default its own number."""
    entry = next((row for row in domain.dot1p if row.value == value), None)
    return PHB_QUEUE[entry.phb] if entry else value
