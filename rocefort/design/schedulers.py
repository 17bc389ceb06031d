"""Topology of servers for schedulers: files of Slurm, and labels of Kubernetes nodes.

A scheduler places the servers of a job on few leaves. All spines are one switch, with the name of
the fabric: each leaf has links to each spine, and Slurm's Topology Guide advises one top switch.
Each server and each leaf has a line of its own, so that growth adds lines and changes none.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from rocefort.base.documents.suggest import chosen_names
from rocefort.base.errors import BadInput, Problem
from rocefort.models.base import natural
from rocefort.models.network.network import Network
from rocefort.models.wording import count_of

COLUMNS = ("server", "segment", "leaf", "fabric")
# NVIDIA Topograph v1.0.0, docs/reference/node-labels.md: tier 0 is the switch next to the node.
LEAF_LABEL, FABRIC_LABEL = "fabric.topograph.run/tier-0", "fabric.topograph.run/tier-1"
# kubernetes.io, "Object Names and IDs" and "Labels and Selectors"
NODE_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
LABEL_VALUE = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")


class SchedulerOptions(NamedTuple):
    """Options of the files: segments of servers, all by default, and sizes of blocks in servers."""

    segments: tuple[str, ...] = ()
    block_sizes: tuple[int, ...] = ()


def with_servers_of(network: Network, segments: Sequence[str]) -> Network:
    """Return the network with the servers of some segments; of all if none is named."""
    servers = network.servers or ()
    used = sorted({server.segment for server in servers}, key=natural)
    chosen = set(chosen_names("--segments", segments, used, "no server is in segment {!r}"))
    kept = tuple(server for server in servers if server.segment in chosen)
    return network.model_copy(update={"servers": kept})


def server_rows(network: Network) -> Iterator[tuple[str, str, str, str]]:
    """Servers with their leaves, in the order of the names of leaves and servers."""
    servers = network.servers or ()
    for server in sorted(servers, key=lambda s: (natural(s.port.device), natural(s.name))):
        yield server.name, server.segment, server.port.device, network.name


def slurm_topology(network: Network, _options: SchedulerOptions) -> str:
    """Return Slurm's topology.conf(5) for topology/tree.

    Raises BadInput for a leaf with the name of the fabric: names of Slurm's switches are unique.
    """
    leaves = _servers_by_leaf(network)
    if network.name in leaves:
        what = f"a leaf has the name of the fabric, {network.name!r}"
        raise BadInput(what, how="in Slurm it is that of all spines; give the leaf another name")
    head = _head(network, "topology.conf(5) of Slurm: TopologyPlugin=topology/tree")
    switches = (_slurm_list(f"SwitchName={leaf} Nodes", names) for leaf, names in leaves.items())
    return "".join((head, *switches, _slurm_list(f"SwitchName={network.name} Switches", leaves)))


def slurm_blocks(network: Network, options: SchedulerOptions) -> str:
    """Return topology.conf(5) of Slurm 24.05 and later for topology/block: leaves as blocks.

    Raises BadInput for sizes that topology.conf(5) does not allow.
    """
    leaves = _servers_by_leaf(network)
    sizes = options.block_sizes or (min(map(len, leaves.values())),)
    base, place = sizes[0], "--block-sizes"
    small = next((leaf for leaf, names in leaves.items() if len(names) < base), None)
    if small is not None:
        what = f"{small} has {count_of(len(leaves[small]), 'server')}, and the first size is {base}"
        raise BadInput(what, where=place, how="each leaf needs as many servers as the first size")
    for size, larger in pairwise(sizes):
        if larger <= size or larger % base or (larger // base).bit_count() != 1:
            what = f"{larger} does not follow {size}"
            raise BadInput(what, where=place, how=f"use larger ones of {base} * 2, * 4, * 8 ..")
    head = _head(
        network, "topology.conf(5) of Slurm 24.05 and later: TopologyPlugin=topology/block"
    )
    blocks = (_slurm_list(f"BlockName={leaf} Nodes", names) for leaf, names in leaves.items())
    return "".join((head, *blocks, f"BlockSizes={','.join(map(str, sizes))}\n"))


def kubernetes_labels(network: Network, _options: SchedulerOptions) -> str:
    """Return a command `kubectl label` for each server.

    Raises BadInput for names that Kubernetes does not take.
    """
    leaves = _servers_by_leaf(network)
    servers = [name for names in leaves.values() for name in names]
    how = "give it another name, or leave it out by --segments"
    faults = [
        *(
            Problem(name, "no name of a node of Kubernetes", how)
            for name in _unlike(NODE_NAME, servers)
        ),
        *(
            Problem(name, "no value of a label of Kubernetes", "let it end with a letter or digit")
            for name in _unlike(LABEL_VALUE, (*leaves, network.name))
        ),
    ]
    if faults:
        raise BadInput(problems=faults)
    head = _head(network, "labels of Kubernetes nodes, with the keys of NVIDIA Topograph 1.0")
    return head + "".join(
        f"kubectl label --overwrite node {name} {LEAF_LABEL}={leaf} {FABRIC_LABEL}={network.name}\n"
        for leaf, names in leaves.items()
        for name in names
    )


FILES: Mapping[str, Callable[[Network, SchedulerOptions], str]] = {
    "slurm-topology": slurm_topology,
    "slurm-blocks": slurm_blocks,
    "kubernetes-labels": kubernetes_labels,
}


def _servers_by_leaf(network: Network) -> dict[str, list[str]]:
    leaves: dict[str, list[str]] = defaultdict(list)
    for server, _, leaf, _ in server_rows(network):
        leaves[leaf].append(server)
    if not leaves:
        raise BadInput(f"{network.name} has no servers", how="list them in fabric.yaml: servers")
    return leaves


def _unlike(pattern: re.Pattern[str], names: Iterable[str]) -> list[str]:
    return [name for name in names if not pattern.fullmatch(name)]


def _head(network: Network, content: str) -> str:
    return f"# Fabric {network.name}: {content}\n"


def _slurm_list(key: str, names: Iterable[str]) -> str:
    r"""Return a line of Slurm that continues on a line for each name.

    Slurm joins lines that end with `\` before it reads them; a list may end with a comma.
    """
    return "".join((f'{key}="\\\n', *(f"{name},\\\n" for name in names), '"\n'))
