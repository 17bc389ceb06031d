"""Steps of `lab guest` and `lab up --guests`: the image, choice of guests, their connections."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rocefort.fleet.connections import Connections, ServerAccess, load_connections, save_connections
from rocefort.lab.guest.image import Cache, Image, build
from rocefort.lab.twin.guests import USER, Guests
from rocefort.lab.twin.port_forwarding import LOOPBACK
from rocefort.lab.twin.registry import Registry, lines_directory, write_whole
from rocefort.lab.twin.twin import Twin
from rocefort.models.network.network import Network
from rocefort.models.wording import count_of

EVERY = "all"
DEVICE, GID_INDEX = "rxe0", 1  # GID 0 is of the link-local address
# A second: an emulated CPU answers late, and a repeated packet would count as lost.
QP_TIMEOUT = 18
CONNECT_S = 60.0  # an emulated CPU is slow with keys
NO_GUEST = "because no server on it, or on another leaf, is a guest"
NOTE = "Soft-RoCE guests under {accel}: correctness and counters are judged, speed is not"


def guest_names(network: Network, text: str) -> tuple[str, ...]:
    """Return the servers that become guests: names with commas between them, or all."""
    if text == EVERY:
        return tuple(server.name for server in network.servers or ())
    return tuple(dict.fromkeys(word for part in text.split(",") if (word := part.strip())))


def build_image(say: Callable[[str], None], *, transfers: bool = False) -> Image:
    """Build the image of guests, unless it exists; remove old ones that no lab uses.

    transfers: with the programs of the suite `transfer`.
    """
    image, cache, labs = build(say, transfers=transfers), Cache(), Registry()
    with cache.lock(say):
        in_use = {Path(labs.find(name).image) for name in labs.names()}
        if gone := cache.prune(in_use):
            say(f"removed {count_of(gone, 'old image')}; the newest two are kept")
    return image


def speed_note(twin: Twin) -> str:
    """Return the reason that speed is not judged on a lab's guests."""
    return NOTE.format(accel=twin.record.accel.upper())


def lead_to_guests(twin: Twin) -> Connections:
    """Write a lab's connections file with its guests as the only servers; again after a growth.

    Other servers of the lab are namespaces: their RDMA output is replayed, and no guest can measure
    with them.
    """
    guests = twin.guests
    directory = lines_directory(twin.registry, twin.record)
    file = directory / "connections.yaml"
    connections = load_connections(file)
    hosts = directory / "guests_known_hosts"
    files = (connections.known_hosts, guests.known_hosts)
    lines = [line for f in files for line in f.read_text(encoding="utf-8").splitlines()]
    write_whole(hosts, "".join(f"{line}\n" for line in dict.fromkeys(lines)))
    updated = connections.model_copy(
        update={
            "known_hosts": hosts,
            "connect_timeout_s": CONNECT_S,
            "emulated": False,
            "speed_note": speed_note(twin),
            "servers_note": NO_GUEST,
            "servers": _accesses(guests),
        }
    )
    save_connections(updated, file)
    return updated


def _accesses(guests: Guests) -> tuple[ServerAccess, ...]:
    credential = f"key:{guests.image.key}"
    return tuple(
        ServerAccess(
            name=name,
            host=LOOPBACK,
            port=port,
            user=USER,
            credential=credential,
            rdma_device=DEVICE,
            gid_index=GID_INDEX,
            qp_timeout=QP_TIMEOUT,
        )
        for name, port in guests.ports.items()
    )
