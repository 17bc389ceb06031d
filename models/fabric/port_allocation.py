"""Which fabric port takes which link, as a number: a function of ids and the capacity alone.

First links to all peers of the capacity come first, then all second links, and so on: a capacity
with more links for each pair, and a further link in use, leave every earlier port where it is.
"""

from __future__ import annotations


def place_of(peer_id: int, number: int, peers: int) -> int:
    """Place, from 0, of link `number` to a peer among the fabric ports; peers: the capacity's."""
    return (number - 1) * peers + peer_id - 1


def peer_at(place: int, peers: int) -> tuple[int, int]:
    """(id of the peer, number of the link) that a place is kept for; `place_of` the other way."""
    return place % peers + 1, place // peers + 1
