"""Probe servers before a plan: RDMA device, GID, NUMA node, versions, Kubernetes nodes.

A server that cannot measure is left out of the plan and reported with the reason.

A server is a node if a kubelet is in its process table. A node is drained if it takes no new pods
and runs only pods of daemons. `kubectl` on this machine queries the cluster for this; if the query
fails, the node counts as not drained.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address, IPv6Address
from typing import Any

from nornir.core import Nornir
from nornir.core.task import Task

from rocefort.base.errors import BadInput, Problem, RocefortError
from rocefort.base.processes import environment
from rocefort.fleet import ssh_exec
from rocefort.fleet.errors import Unreachable
from rocefort.fleet.nornir_session import on_hosts
from rocefort.fleet.server_scripts import NODE, PROBE
from rocefort.models.network.network import Server
from rocefort.rdma.parse.outcome import MEANING, Outcome, TableError
from rocefort.rdma.plan.command_lines import version_of
from rocefort.rdma.rdma_plan import Program, RdmaHost

DEADLINE_S = 20.0
SECTION = re.compile(r"@(?P<name>[a-z]+)(?: (?P<what>\S+))?")
# One GID per line, from sysfs (`/sys/class/infiniband/DEVICE/ports/PORT/gids/INDEX`).
GID_ROW = re.compile(
    r"\s*(?P<device>\S+)\s+(?P<port>\d+)\s+(?P<index>\d+)\s+(?P<gid>[0-9a-f:]{39})\s+"
    r"(?P<type>IB/RoCE v1|RoCE v2)\s+(?P<interface>\S+)\s*"
)
V2 = "RoCE v2"
# PCI device ids of NVIDIA NICs, decimal as the kernel's hca_type has them (the PCI ID repository).
NICS = {
    "MT4115": "ConnectX-4",
    "MT4117": "ConnectX-4 Lx",
    "MT4119": "ConnectX-5",
    "MT4121": "ConnectX-5 Ex",
    "MT4123": "ConnectX-6",
    "MT4125": "ConnectX-6 Dx",
    "MT4127": "ConnectX-6 Lx",
    "MT4129": "ConnectX-7",
}


@dataclass(frozen=True)
class ServerProbe:
    """One server's answer; host is None if it cannot measure, with the reason in `why`."""

    server: str
    host: RdmaHost | None = None
    why: str = ""
    notes: tuple[str, ...] = ()
    node: str = ""  # its own host name
    kubelet: bool = False
    programs: frozenset[str] = frozenset()
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ProbeSection:
    """One section of a script's output; what: the word after the section's name."""

    name: str
    what: str
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """Lines of the section, joined."""
        return "\n".join(self.lines)


def read_sections(text: str) -> tuple[ProbeSection, ...]:
    """Split a script's output into sections; raises TableError if its end is missing.

    Lines above the first section are a login script's, and left out.
    """
    sections: list[tuple[str, str, list[str]]] = []
    for line in text.splitlines():
        head = SECTION.fullmatch(line)
        if head is not None:
            sections.append((head["name"], head["what"] or "", []))
        elif sections:
            sections[-1][2].append(line)
    if not sections or sections[-1][0] != "end":
        raise TableError(Outcome.UNTERMINATED_TABLE, "the answer breaks off")
    return tuple(ProbeSection(name, what, tuple(lines)) for name, what, lines in sections[:-1])


def probe(
    nornir: Nornir, servers: Sequence[Server], *, perftest: bool = True
) -> dict[str, ServerProbe]:
    """Query servers in parallel; a failure of one is in its ServerProbe, never raised.

    perftest: whether a server needs it.
    """
    by_name = {server.name: server for server in servers}

    answers = on_hosts(
        nornir, by_name, lambda task: _server_probe(task, by_name[task.host.name], perftest)
    )
    missing = "no entry in the connections; add it under servers"
    return {
        name: answers.get(name) or ServerProbe(name, why=f"{name}: {missing}") for name in by_name
    }


def perftest_versions(nornir: Nornir, servers: Sequence[str]) -> dict[str, str]:
    """Return what perftest prints for `--version` on each server that answers."""

    def read(task: Task) -> str:
        try:
            session = ssh_exec.session(task.host, task.nornir.config)
            return session.run(f"{Program.WRITE_BW} --version", DEADLINE_S).stdout
        except (Unreachable, RocefortError):
            return ""  # the gate reports it

    return on_hosts(nornir, servers, read)


def _server_probe(task: Task, server: Server, perftest: bool) -> ServerProbe:
    try:
        session = ssh_exec.session(task.host, task.nornir.config)
        done = session.run(PROBE, DEADLINE_S)
    except Unreachable as error:
        return _useless(server, Outcome.UNREACHABLE, f"{error.problem.what}; {error.problem.how}")
    except RocefortError as error:
        return ServerProbe(server.name, why=str(error))
    if done.timed_out or done.exit_code:
        outcome = Outcome.TIMED_OUT if done.timed_out else Outcome.EXIT_CODE
        return _useless(server, outcome, done.complaint)
    try:
        probed = read_probe(
            server, done.stdout, task.host["rdma_device"], task.host["gid_index"], perftest=perftest
        )
    except TableError as flaw:
        return _useless(server, flaw.outcome, flaw.line)
    if probed.host is None:
        return probed
    timeout = {"qp_timeout": task.host.data.get("qp_timeout")}
    return replace(probed, host=probed.host.model_copy(update=timeout))


def probe_nodes(nornir: Nornir, servers: Collection[str]) -> dict[str, ServerProbe]:
    """Query servers in parallel for a kubelet alone; `why`: the answer cannot be read.

    A server that cannot be reached, or has no connection, is not in the result.
    """

    def read(task: Task) -> ServerProbe | None:
        name = task.host.name
        try:
            session = ssh_exec.session(task.host, task.nornir.config)
            done = session.run(NODE, DEADLINE_S)
        except RocefortError:
            return None
        if done.timed_out or done.exit_code:
            return ServerProbe(name, why=done.complaint)
        try:
            parts = {section.name: section for section in read_sections(done.stdout)}
            node, kubelet = parts["host"].text.strip(), bool(parts["kubelet"].text.strip())
        except (TableError, KeyError):
            return ServerProbe(name, why="its answer breaks off")
        return ServerProbe(name, node=node, kubelet=kubelet)

    answers = on_hosts(nornir, servers, read)
    return {name: each for name in servers if (each := answers.get(name)) is not None}


def _useless(server: Server, outcome: Outcome, detail: str) -> ServerProbe:
    return ServerProbe(server.name, why=f"{server.name}: {outcome}: {MEANING[outcome]} ({detail})")


def read_probe(
    server: Server, text: str, device: str, gid_index: int, *, perftest: bool = True
) -> ServerProbe:
    """Parse one server's answer; raises TableError for a missing requirement.

    device, gid_index: from the connections; the index of the GID is looked up again.
    """
    parts = {section.name: section for section in read_sections(text)}
    gid = choose_gid(read_gids(parts["gids"].text), IPv4Address(server.address.ip), device)
    devices = {row[0]: row for row in (line.split() for line in parts["devices"].lines)}
    _, numa, kind, driver = devices.get(device, (device, "-1", "-", "-"))
    version = _version(parts["perftest"].text, perftest=perftest)
    programs = frozenset(parts["programs"].lines)
    node = int(numa) if int(numa) >= 0 else None
    notes = []
    if gid.index != gid_index:
        notes.append(
            f"{server.name}: {gid.address} is GID {gid.index} of {device}, "
            f"the connections have {gid_index}: {gid.index} is used"
        )
    if node is not None and "numactl" not in programs:
        notes.append(f"{server.name}: not pinned to NUMA node {node}, because it has no numactl")
        node = None
    facts = {
        "nic": NICS.get(kind, kind),
        "driver": f"mlx5_core {driver}" if driver != "-" else "-",
        "system": parts["system"].text.strip(),
        "perftest": version or "",
    }
    return ServerProbe(
        server.name,
        RdmaHost(
            name=server.name,
            device=device,
            gid_index=gid.index,
            numa_node=node,
            machine=" ".join(parts["host"].lines),
            perftest=version,
        ),
        notes=tuple(notes),
        node=next(iter(parts["host"].lines), ""),
        kubelet=bool(parts["kubelet"].text.strip()),
        programs=programs,
        facts={name: value for name, value in facts.items() if value and value != "-"},
    )


def _version(output: str, *, perftest: bool) -> str | None:
    words = output.strip()
    try:
        return "{}.{:02}".format(*version_of(words))
    except BadInput:
        if not perftest:
            return None
        absent = "not found" in words or not words
        outcome = Outcome.NO_PERFTEST if absent else Outcome.UNKNOWN_LINE
        output = re.sub(r"^\S*sh: (line )?\d+: ", "", words.splitlines()[0] if words else "")
        raise TableError(outcome, output) from None


def conditions(probed: Sequence[ServerProbe]) -> dict[str, str]:
    """Collect the servers' conditions by name, for a comparison with published figures."""
    conditions_by_name: dict[str, str] = {}
    facts = [each.facts for each in probed if each.host is not None]
    for name in dict.fromkeys(name for each in facts for name in each):
        values = {each.get(name, "not known") for each in facts}
        conditions_by_name[name] = ", ".join(sorted(values))
    return conditions_by_name


# --- choice of a server's GID index: RoCE v2, with its address in its segment -----------------


@dataclass(frozen=True)
class Gid:
    """One GID of a device; address is None if it maps no IPv4 address (link-local)."""

    device: str
    port: int
    index: int
    address: IPv4Address | None
    type: str
    interface: str


def read_gids(text: str) -> tuple[Gid, ...]:
    """Read all rows; raises TableError if there is none, or if a line is no row."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise TableError(Outcome.NO_DEVICE, "no GID of any RDMA device")
    gids = []
    for line in lines:
        row = GID_ROW.fullmatch(line)
        if row is None:
            raise TableError(Outcome.UNKNOWN_LINE, line)
        address = IPv6Address(row["gid"]).ipv4_mapped
        key = (row["device"], int(row["port"]), int(row["index"]))
        gids.append(Gid(*key, address, row["type"], row["interface"]))
    return tuple(gids)


def choose_gid(gids: Iterable[Gid], address: IPv4Address, device: str | None = None) -> Gid:
    """Return the RoCE v2 GID with this address; raises TableError that lists the GIDs there.

    device: restricts the search; None: any device.
    """
    candidates = [gid for gid in gids if device is None or gid.device == device]
    if device is not None and not candidates:
        raise TableError(Outcome.NO_DEVICE, device)
    fit = [gid for gid in candidates if gid.address == address]
    chosen = next((gid for gid in fit if gid.type == V2), None)
    if chosen is None:
        listed = ", ".join(
            f"{g.device} {g.index} {g.address} {g.type}" for g in candidates if g.address
        )
        raise TableError(Outcome.BAD_GID, f"no {V2} GID has {address}; there: {listed or 'none'}")
    return chosen


PATIENCE_S = 20
ENDED = ("Succeeded", "Failed")
MIRROR = "kubernetes.io/config.mirror"  # annotation of static pods, which a drain does not evict
MOST = 3  # number of pods that a message lists

# Runs a kubectl command, given its words, and returns the parsed answer; raises OSError.
Ask = Callable[..., Any]


def kubectl(*words: str) -> Any:  # noqa: ANN401 - JSON
    """Query the cluster; raises OSError with the message of kubectl."""
    command = ["kubectl", *words, "-o", "json", f"--request-timeout={PATIENCE_S}s"]
    try:
        done = subprocess.run(  # noqa: S603 - no shell; the words are names of Kubernetes
            command,
            capture_output=True,
            text=True,
            env=environment(whole=True),
            check=True,
            timeout=2 * PATIENCE_S,
        )
        return json.loads(done.stdout)
    except subprocess.CalledProcessError as error:
        # The last line is its error message; the lines before it are its log.
        lines = [" ".join(line.split()) for line in str(error.stderr).splitlines() if line.strip()]
        raise OSError(lines[-1][:200] if lines else f"kubectl: {error.returncode}") from None
    except subprocess.TimeoutExpired:
        raise OSError("the cluster does not answer in time") from None
    except (ValueError, RecursionError):
        raise OSError("kubectl did not answer in JSON") from None


def undrained(
    probed: Iterable[ServerProbe], drained: Collection[str] = (), ask: Ask = kubectl
) -> dict[str, Problem]:
    """Return the servers that are nodes without a confirmed drain, each with reason and fix.

    drained: servers that the user declares as drained.
    """
    return {
        each.server: Problem(
            each.server, why, f"drain it: kubectl drain {each.node.lower()}; or leave it out"
        )
        for each in probed
        if each.kubelet and each.server not in drained and (why := _undrained(each, ask))
    }


def _undrained(each: ServerProbe, ask: Ask) -> str:
    """Return the reason why a drain is not confirmed; empty: the node is drained."""
    name = each.node.lower()
    try:
        node = ask("get", "node", name)
        if not node.get("spec", {}).get("unschedulable"):
            return f"is the Kubernetes node {name}, which takes new pods"
        pods = ask("get", "pods", "--all-namespaces", f"--field-selector=spec.nodeName={name}")
    except OSError as error:
        cause = error.strerror or error
        return f"is a Kubernetes node, and its drain cannot be confirmed ({cause})"
    pod_names = [pod["metadata"]["name"] for pod in pods.get("items", []) if _works(pod)]
    if not pod_names:
        return ""
    more = f" and {len(pod_names) - MOST} more" if len(pod_names) > MOST else ""
    return f"is the Kubernetes node {name}, on which pods run: {', '.join(pod_names[:MOST])}{more}"


def _works(pod: Any) -> bool:  # noqa: ANN401 - JSON
    """Return whether a drain would have evicted this pod."""
    metadata = pod.get("metadata", {})
    owners = {owner.get("kind") for owner in metadata.get("ownerReferences", [])}
    daemon = "DaemonSet" in owners or MIRROR in metadata.get("annotations", {})
    return not daemon and pod.get("status", {}).get("phase") not in ENDED
