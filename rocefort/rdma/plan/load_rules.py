"""Rules of load: the servers that RDMA tests may load, the time, and the rate.

Suites (`rdma plan`, `rdma run`, `tune measure`) and the gates of a rollout ask `load_verdict`. No
other module reads the keys `servers`, `rate_limit_gbps` and `window` of `rdma`, and
`tuning_window` of `rollout`:

- Servers. Both ends of a pair are loaded, so each must be allowed. Servers that the user names on
  the command line are allowed, otherwise those of `rdma.servers`. If the fabric lists none, a suite
  loads none. A gate then chooses among the servers of the connections file, where the site names
  those that measure.
- Rate. No sender exceeds the limit, and a limited run is judged by the limit. Below `LEAST_SHARE`
  of a port, a run fills no queue and shows nothing.
- Time. A load begins and ends within the window, by the clock and time zone of this machine. That
  of `tune measure`, with a threshold on trial, is also within the tuning window.
- Kubernetes. A node is loaded only while it is drained, by the answer of its cluster.

Emulated servers and guests count as servers of a site, because no connections file proves that it
leads to a lab. Only a rehearsal of a plan is exempt from window and drain: its twin has no server
of the site. Its pairs and rate are those of the plan.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Self

from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput, Problem, Refused
from rocefort.models.change.plan import Gate
from rocefort.models.fabric.fabric import Fabric
from rocefort.models.fabric.rdma import Rdma, is_within, left_s
from rocefort.models.network.network import Network

LEAST_SHARE = 0.01  # assumed
FEW = 6  # names in an error


@dataclass(frozen=True)
class LoadRules:
    """Limits of a fabric, or of a sealed gate, which has copies of them.

    tuning_window: of loads with a threshold on trial; None for the others.
    """

    servers: tuple[str, ...] = ()
    limit_gbps: float | None = None
    window: str | None = None
    tuning_window: str | None = None

    @classmethod
    def of(cls, rdma: Rdma) -> Self:
        """Rules of a fabric."""
        return cls(rdma.servers, rdma.rate_limit_gbps, rdma.window)

    @classmethod
    def of_tuning(cls, fabric: Fabric) -> Self:
        """Rules of a fabric for loads with a threshold on trial."""
        return replace(cls.of(fabric.rdma), tuning_window=fabric.rollout.tuning_window)

    @classmethod
    def of_gate(cls, gate: Gate) -> Self:
        """Rules that a gate was sealed with."""
        return cls(gate.servers, gate.limit_gbps, gate.window)


@dataclass(frozen=True)
class Load:
    """Load that is intended.

    named: servers that the user names for it. others: servers to choose from if neither the user
    nor the fabric names any. begins, lasts_s: its time; None: not known yet. undrained: servers
    that are Kubernetes nodes without a confirmed drain, each with the reason and the fix.
    """

    named: Collection[str] = ()
    others: Collection[str] = ()
    begins: datetime | None = None
    lasts_s: float = 0.0
    undrained: Mapping[str, Problem] = field(default_factory=dict)


@dataclass(frozen=True)
class LoadVerdict:
    """Decision on a load. listed: whether the user or the fabric names the servers.

    refusals: why it may not begin now; empty: it may.
    """

    servers: tuple[str, ...]
    listed: bool
    limit_gbps: float | None
    window: str | None
    refusals: tuple[Problem, ...]

    @property
    def reason(self) -> str:
        """Refusals as one text; empty: the load may begin."""
        return "; ".join(" ".join(filter(None, (p.subject, p.what))) for p in self.refusals)

    def refuse(self, where: str) -> None:
        """Raise Refused if the load may not begin now. where: subject of a problem without one."""
        if self.refusals:
            raise Refused(
                problems=[Problem(p.subject or where, p.what, p.how) for p in self.refusals]
            )

    def rate_gbps(self, port_gbps: float) -> float:
        """Most that one sender sends through a port, Gb/s."""
        return min(port_gbps, self.limit_gbps or port_gbps)

    def without_evidence(self, port_gbps: float) -> str:
        """Reason why a run under the limit shows nothing about a port; empty: it does."""
        if self.rate_gbps(port_gbps) >= LEAST_SHARE * port_gbps:
            return ""
        return (
            f"rdma.rate_limit_gbps is {self.limit_gbps:g}, less than {LEAST_SHARE:.0%} of a port "
            f"of {port_gbps:g} Gb/s, and shows nothing about it"
        )

    def too_long(self, longest_s: float) -> str:
        """Reason why a load of this duration never fits the window; empty: it fits."""
        if self.window is None or longest_s <= (length := _length_s(self.window)):
            return ""
        return f"it may take {longest_s:.0f} s, and rdma.window {self.window} is {length:.0f} s"


def load_verdict(rules: LoadRules, load: Load) -> LoadVerdict:
    """Decide who may be loaded, when, and how much; pure."""
    names = tuple(dict.fromkeys(load.named or rules.servers))
    closed = (
        _closed(rules.window, "rdma.window", load, "RDMA tests run"),
        _closed(rules.tuning_window, "rollout.tuning_window", load, "thresholds are tried"),
    )
    return LoadVerdict(
        servers=names or tuple(dict.fromkeys(load.others)),
        listed=bool(names),
        limit_gbps=rules.limit_gbps,
        window=rules.window,
        refusals=(*filter(None, closed), *load.undrained.values()),
    )


def _closed(window: str | None, key: str, load: Load, purpose: str) -> Problem | None:
    """Problem of the time of a load; None: it may begin, or its time is not known.

    key: of the window in a fabric. purpose: of the window, as subject and verb.
    """
    if window is None or load.begins is None:
        return None
    here = load.begins.astimezone()
    if not is_within(window, here.time()):
        what = f"it is {here:%H:%M} {here:%Z}, and {purpose} {window}"
        return Problem("", what, f"wait for the window, or change {key}")
    rest_s = left_s(window, load.begins)
    if load.lasts_s <= rest_s:
        return None
    what = f"it is {here:%H:%M} {here:%Z}, and {purpose} {window}: {rest_s:.0f} s are left"
    return Problem("", f"{what} of the {load.lasts_s:.0f} s that it may take", "wait for it")


def _length_s(window: str) -> float:
    """Length of a window, s, on a day without a change of the clock."""
    begin, end = (datetime.strptime(each, "%H:%M") for each in window.split("-"))  # noqa: DTZ007
    return float((end - begin).seconds)


def allowed_servers(
    network: Network,
    rules: LoadRules,
    chosen: Collection[str] = (),
    among: Sequence[str] | None = None,
) -> tuple[str, ...]:
    """Return the servers that a suite may load.

    chosen: servers on the command line. among: those that the suite uses; None: all. Raises
    Refused if neither they nor the fabric list a server, BadInput for a name that the fabric lacks.
    """
    names = load_verdict(rules, Load(named=chosen)).servers
    if not names:
        every = [server.name for server in network.servers or ()]
        some = ",".join(every[:2] if among is None else [*among[:FEW], ".."])
        raise Refused(
            "no server is listed for RDMA tests, and no other server is loaded",
            where=network.name,
            how=f"list servers under rdma.servers of the fabric, or name them: --servers {some}",
        )
    available = {server.name for server in network.servers or ()}
    if strangers := [name for name in names if name not in available]:
        raise BadInput(
            problems=[
                Problem(network.name, f"no server {name}", nearest(name, available))
                for name in strangers
            ]
        )
    return names if among is None else tuple(name for name in names if name in among)
