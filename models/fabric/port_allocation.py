"""Allocation of links to fabric ports, a function of ids and the capacity only.

First links to all peers of the capacity come first, then all second links, and so on. More links
for each pair, in the capacity or in use, so leave every earlier port unchanged.
"""

from __future__ import annotations


def place_of(peer_id: int, number: int, peers: int) -> int:
    """Index, from 0, of the fabric port of link `number` to a peer; peers: of the capacity."""
    return (number - 1) * peers + peer_id - 1


def peer_at(index: int, peers: int) -> tuple[int, int]:
    """Return (id of the peer, number of the link) of a port's index: inverse of `place_of`."""
    return index % peers + 1, index // peers + 1
