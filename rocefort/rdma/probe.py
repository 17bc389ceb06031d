"""What a server has, asked before a plan: device, GID, NUMA node, version of perftest, Kubernetes.

A server that cannot measure is named with the reason, and left out; the others are planned.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address

from nornir.core import Nornir
from nornir.core.task import Result, Task

from rocefort.errors import BadInput, RocefortError
from rocefort.fleet import ssh_exec
from rocefort.fleet.failures import Unreachable
from rocefort.models.network import Server
from rocefort.models.rdma_plan import RdmaHost
from rocefort.rdma.command_lines import version_of
from rocefort.rdma.gids import Gid, choose_gid, read_gids
from rocefort.rdma.outcome import MEANING, Outcome
from rocefort.rdma.rows import FlawError
from rocefort.rdma.scripts import PROBE

DEADLINE_S = 20.0
SECTION = re.compile(r"@(?P<name>[a-z]+)(?: (?P<what>\S+))?")
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
class Probed:
    """One server's answer, or why there is none; host None: it cannot measure, `why` says so."""

    server: str
    host: RdmaHost | None = None
    why: str = ""
    notes: tuple[str, ...] = ()
    node: str = ""  # what it calls itself
    kubelet: bool = False
    programs: frozenset[str] = frozenset()
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Section:
    """One part of what a script printed; what: the word beside its name."""

    name: str
    what: str
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """Its lines."""
        return "\n".join(self.lines)


def read_sections(text: str) -> tuple[Section, ...]:
    """The parts of a script's output; raises FlawError where its end is missing."""
    found: list[tuple[str, str, list[str]]] = []
    for line in text.splitlines():
        head = SECTION.fullmatch(line)
        if head is not None:
            found.append((head["name"], head["what"] or "", []))
        elif found:
            found[-1][2].append(line)
        else:
            raise FlawError(Outcome.UNKNOWN_LINE, line)
    if not found or found[-1][0] != "end":
        raise FlawError(Outcome.UNTERMINATED_TABLE, "the answer breaks off")
    return tuple(Section(name, what, tuple(lines)) for name, what, lines in found[:-1])


def probe(nornir: Nornir, servers: Sequence[Server], *, perftest: bool = True) -> dict[str, Probed]:
    """Ask servers at once; what fails on one is in its Probed, never raised.

    perftest: whether a server without it is of no use.
    """
    by_name = {server.name: server for server in servers}

    def ask(task: Task) -> Result:
        server = by_name[task.host.name]
        found = _probed(task, server, perftest)
        return Result(task.host, result=found)

    chosen = nornir.filter(filter_func=lambda host: host.name in by_name)
    answers = chosen.run(task=ask, on_failed=True)
    answers.raise_on_error()
    missing = "no entry in the connections; add it under servers"
    return {
        name: answers[name][0].result if name in answers else Probed(name, why=f"{name}: {missing}")
        for name in by_name
    }


def _probed(task: Task, server: Server, perftest: bool) -> Probed:
    try:
        session = ssh_exec.session(task.host, task.nornir.config)
        done = session.run(PROBE, DEADLINE_S)
    except Unreachable as error:
        return _useless(server, Outcome.UNREACHABLE, f"{error.problem.what}; {error.problem.how}")
    except RocefortError as error:
        return Probed(server.name, why=str(error))
    if done.timed_out or done.exit_code:
        said = " ".join(done.stderr.split())[:120] or f"exit code {done.exit_code}"
        return _useless(server, Outcome.TIMED_OUT if done.timed_out else Outcome.EXIT_CODE, said)
    try:
        found = read_probe(
            server, done.stdout, task.host["rdma_device"], task.host["gid_index"], perftest=perftest
        )
    except FlawError as flaw:
        return _useless(server, flaw.outcome, flaw.line)
    if found.host is None:
        return found
    timeout = {"qp_timeout": task.host.data.get("qp_timeout")}
    return replace(found, host=found.host.model_copy(update=timeout))


def _useless(server: Server, outcome: Outcome, said: str) -> Probed:
    return Probed(server.name, why=f"{server.name}: {outcome}: {MEANING[outcome]} ({said})")


def read_probe(
    server: Server, text: str, device: str, gid_index: int, *, perftest: bool = True
) -> Probed:
    """One server's answer as what is planned with; raises FlawError for what it lacks.

    device, gid_index: what the connections say of it; the GID's index is looked up anew.
    """
    parts = {section.name: section for section in read_sections(text)}
    gid = _gid(server, parts["gids"].text, device)
    devices = {row[0]: row for row in (line.split() for line in parts["devices"].lines)}
    _, numa, kind, driver = devices.get(device, (device, "-1", "-", "-"))
    version = _version(parts["perftest"].text, perftest=perftest)
    programs = frozenset(parts["programs"].lines)
    node = int(numa) if int(numa) >= 0 else None
    notes = []
    if gid.index != gid_index:
        notes.append(
            f"{server.name}: {gid.address} is GID {gid.index} of {device}, "
            f"the connections say {gid_index}: {gid.index} is taken"
        )
    if node is not None and "numactl" not in programs:
        notes.append(f"{server.name}: not pinned to NUMA node {node}, for it has no numactl")
        node = None
    facts = {
        "nic": NICS.get(kind, kind),
        "driver": f"mlx5_core {driver}" if driver != "-" else "-",
        "system": parts["system"].text.strip(),
        "perftest": version or "",
    }
    return Probed(
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


def _gid(server: Server, rows: str, device: str) -> Gid:
    return choose_gid(read_gids(rows), IPv4Address(server.address.ip), device)


def _version(said: str, *, perftest: bool) -> str | None:
    words = said.strip()
    try:
        version_of(words)
    except BadInput:
        if not perftest:
            return None
        absent = "not found" in words or not words
        outcome = Outcome.NO_PERFTEST if absent else Outcome.UNKNOWN_LINE
        said = re.sub(r"^\S*sh: (line )?\d+: ", "", words.splitlines()[0] if words else "")
        raise FlawError(outcome, said) from None
    return words.removeprefix("Version:").strip()


def conditions(probed: Sequence[Probed]) -> dict[str, str]:
    """What all servers have alike, by name, for a comparison with published figures."""
    found: dict[str, str] = {}
    facts = [each.facts for each in probed if each.host is not None]
    for name in dict.fromkeys(name for each in facts for name in each):
        values = {each.get(name, "not known") for each in facts}
        found[name] = ", ".join(sorted(values))
    return found
