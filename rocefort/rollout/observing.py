"""Read the state of switches into an Observed, by NAPALM's getters and, where it has none, `cli`.

`display interface` is read here once, for NAPALM's counters know neither CRC errors nor pauses.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol

from napalm.base.exceptions import CommandErrorException, ConnectionException
from nornir.core import Nornir
from nornir.core.inventory import Host
from nornir.core.task import Result, Task

from rocefort.dialects.vrp.names import interface_name
from rocefort.dialects.vrp.observing import interfaces, lossless, routing, system
from rocefort.dialects.vrp.observing.shown import Shown
from rocefort.errors import DeviceFailed, RocefortError
from rocefort.fleet.inventory import LIVE_SESSION
from rocefort.models.network import Network
from rocefort.models.observed import (
    DeviceSeen,
    FactsSeen,
    NeighbourSeen,
    Observed,
    PeerSeen,
    QueueSeen,
    Topic,
)

UNREADABLE = "what the switch shows could not be read (LIV001)"
# Of a switch beside a change: what the change may do to it, and nothing that takes long to read;
# the clock, because that of one switch alone does not tell whose clock is wrong.
BESIDE = (Topic.FACTS, Topic.PEERS, Topic.ROUTES, Topic.NEIGHBOURS, Topic.PORTS, Topic.CLOCK)
NOT_BESIDE = "it is read only of switches that change"
GETTERS = {  # the commands behind NAPALM's getters
    Topic.FACTS: "display version",
    Topic.PEERS: "display bgp peer",
    Topic.NEIGHBOURS: "display lldp neighbor brief",
}


class Driver(Protocol):
    """The part of napalm_cloudengine that a reading uses; nothing of it changes a switch."""

    def get_facts(self) -> dict[str, Any]: ...  # noqa: D102 - NAPALM's
    def get_bgp_neighbors(self) -> dict[str, dict[str, Any]]: ...  # noqa: D102
    def get_lldp_neighbors(self) -> dict[str, list[dict[str, str]]]: ...  # noqa: D102
    def get_config(self, retrieve: str, *, sanitized: bool) -> dict[str, str]: ...  # noqa: D102
    def cli(self, commands: list[str]) -> dict[str, str]: ...  # noqa: D102


def utc_now() -> datetime:
    """This machine's clock."""
    return datetime.now(UTC)


def observe(  # noqa: PLR0913 - what of whom, and how
    nornir: Nornir,
    network: Network,
    devices: Sequence[str],
    now: Callable[[], datetime] = utc_now,
    beside: Collection[str] = (),
    *,
    keep: bool = False,
) -> Observed:
    """Read switches at once; what fails on one is in its DeviceSeen, never raised.

    beside: those of which only the topics BESIDE are read. keep: leave the sessions open, for they
    are read again. In a session of its own: `dir` is a command of the user view, and that of a
    rollout may hold a candidate.
    """
    began = now()

    def task(task: Task) -> Result:
        host = task.host
        topics = BESIDE if host.name in beside else tuple(Topic)

        def read() -> DeviceSeen:
            driver: Driver = host.get_connection(LIVE_SESSION, task.nornir.config)
            return _read(_Reading(driver, network, host.name, now), topics)

        try:
            return Result(host=host, result=_in_session(host, read))
        finally:
            if not keep:
                close_sessions([host])

    chosen = nornir.filter(filter_func=lambda host: host.name in set(devices))
    results = chosen.run(task=task, on_failed=True)
    seen = []
    for name in devices:
        if name not in results:
            seen.append(_unread(name, began, "it is not in the connections"))
        elif results[name].failed:
            seen.append(_unread(name, began, _said(name, results[name].exception)))
        else:
            seen.append(results[name][0].result)
    return Observed(fabric=network.name, at=began, devices=tuple(seen))


def _in_session(host: Host, read: Callable[[], DeviceSeen]) -> DeviceSeen:
    """Read; that a session which was kept is lost by now is no finding: a new one may be had."""
    kept = LIVE_SESSION in host.connections
    try:
        return read()
    except ConnectionException:
        if not kept:
            raise
    close_sessions([host])
    return read()


def close_sessions(hosts: Iterable[Host]) -> None:
    """End the sessions that readings left open."""
    for host in hosts:
        if LIVE_SESSION in host.connections:
            host.close_connection(LIVE_SESSION)


def as_beside(seen: DeviceSeen) -> DeviceSeen:
    """What a reading of a switch says where only the topics BESIDE are asked for."""
    others = [topic for topic in Topic if topic not in BESIDE]
    missing = {topic: why for topic, why in seen.missing.items() if topic in BESIDE}
    missing |= dict.fromkeys(others, NOT_BESIDE)
    return seen.model_copy(update={"missing": missing, **dict.fromkeys(others)})


def _unread(name: str, at: datetime, why: str) -> DeviceSeen:
    return DeviceSeen(name=name, at=at, failed=(why,), missing=dict.fromkeys(Topic, why))


def _said(name: str, error: BaseException | None) -> str:
    """What an error says, without the name of the switch that the place of a finding has."""
    if isinstance(error, RocefortError):
        return "; ".join(p.what for p in error.problems)
    return " ".join(str(error).split()).removeprefix(f"{name}: ")


def _read(reading: _Reading, topics: Collection[Topic]) -> DeviceSeen:
    """Topics of one switch. A lost session ends it; what else fails is noted, and goes on."""
    name = reading.name
    found: dict[str, Any] = {"name": name, "at": reading.now()}
    failed: list[str] = []
    missing: dict[Topic, str] = {}
    for topic, read in reading.topics():
        if topic not in topics:
            missing[topic] = NOT_BESIDE
            continue
        try:
            found[topic.value] = read()
        except ConnectionException:
            raise
        except (CommandErrorException, NotImplementedError) as error:
            missing[topic] = _refused(name, error)
        except DeviceFailed as error:
            failed.append(_said(name, error))
            missing[topic] = UNREADABLE
        except ValueError as error:  # of a getter, which does not name its command
            failed.append(f"'{GETTERS[topic]}': {_said(name, error)}")
            missing[topic] = UNREADABLE
    return DeviceSeen(**found, failed=tuple(failed), missing=missing)


def _refused(name: str, error: Exception) -> str:
    if isinstance(error, NotImplementedError):
        return "the driver does not read it"
    return f"the switch does not tell: {_said(name, error)}"


class _Reading:
    """One switch, and how each topic is read of it."""

    def __init__(
        self, driver: Driver, network: Network, name: str, now: Callable[[], datetime]
    ) -> None:
        self.driver, self.network, self.name, self.now = driver, network, name, now

    def topics(self) -> Iterator[tuple[Topic, Callable[[], object]]]:
        """Every topic with its reader."""
        show = self.show
        yield Topic.FACTS, self.facts
        yield Topic.PEERS, self.peers
        yield Topic.ROUTES, lambda: routing.routes(show(routing.ROUTES))
        yield Topic.NEIGHBOURS, self.neighbours
        yield Topic.PORTS, lambda: interfaces.ports(show(interfaces.INTERFACES))
        yield Topic.PFC_PORTS, lambda: lossless.pfc_ports(show(lossless.PFC_PORTS))
        yield Topic.PFC_PROFILES, lambda: lossless.pfc_profiles(show(lossless.PFC_PROFILES))
        yield Topic.PFC_COUNTERS, lambda: lossless.pfc_counters(show(lossless.PFC_COUNTERS))
        yield Topic.THRESHOLDS, lambda: lossless.thresholds(show(lossless.THRESHOLDS))
        yield Topic.QUEUES, self.queues
        yield Topic.AI_ECN, lambda: lossless.ai_ecn(show(lossless.AI_ECN))
        yield Topic.CLOCK, self.clock
        yield Topic.DISK, lambda: system.free_kbytes(show(system.DISK))
        yield Topic.SAVED, self.saved

    def show(self, command: str) -> Shown:
        """The answer to a command."""
        return Shown(self.name, command, self.driver.cli([command])[command])

    def facts(self) -> FactsSeen:
        """NAPALM's facts."""
        facts = self.driver.get_facts()
        return FactsSeen(
            hostname=facts["hostname"],
            hardware=facts["model"],
            software=facts["os_version"],
            serial=facts["serial_number"],
        )

    def peers(self) -> tuple[PeerSeen, ...]:
        """IPv4 peers of the public instance."""
        known = self.driver.get_bgp_neighbors().get("global", {"peers": {}})["peers"]
        return tuple(
            PeerSeen(
                address=address,
                asn=peer["remote_as"],
                established=peer["is_up"],
                prefixes=_received(peer),
            )
            for address, peer in known.items()
        )

    def neighbours(self) -> tuple[NeighbourSeen, ...]:
        """What LLDP hears; a port that is no interface's name stays as the neighbour tells it."""
        return tuple(
            NeighbourSeen(
                local=interface_name(local) or local,
                device=neighbour["hostname"],
                port=interface_name(neighbour["port"]) or neighbour["port"],
            )
            for local, heard in self.driver.get_lldp_neighbors().items()
            for neighbour in heard
        )

    def queues(self) -> tuple[QueueSeen, ...]:
        """Queues of the ports that RoCE passes: no command shows those of a whole switch."""
        ports = (p.end for p in self.network.roce_ports if p.end.device == self.name)
        found: list[QueueSeen] = []
        for port in dict.fromkeys(end.interface for end in ports):
            found += lossless.queue_drops(self.show(lossless.QUEUES.format(port)), port)
        return tuple(found)

    def clock(self) -> float:
        """Seconds ahead of this machine; the switch shows whole seconds, so half a one is added."""
        before = self.now()
        shown = system.clock(self.show(system.CLOCK))
        middle = before + (self.now() - before) / 2
        return (shown - middle).total_seconds() + 0.5

    def saved(self) -> bool:
        """Whether what runs is what it would start with; secrets are masked, and not compared."""
        running, startup = (
            self.driver.get_config(retrieve=kind, sanitized=True)[kind]
            for kind in ("running", "startup")
        )
        return _lines(running) == _lines(startup)


def _received(peer: dict[str, Any]) -> int | None:
    count = peer["address_family"]["ipv4"]["received_prefixes"]
    return None if count < 0 else int(count)


def _lines(text: str) -> list[str]:
    """Lines of a configuration without the heading that tells when it was changed."""
    return [line.rstrip() for line in text.splitlines() if not line.startswith("!")]
