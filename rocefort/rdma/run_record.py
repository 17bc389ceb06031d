"""Record of a run: which fabric ran, what was in force, and the counters before and after it.

A published figure needs them. Readings are those of the live checks (`DeviceSeen`) and of
`host check` (`HostSeen`), so whatever reads a record reads the models of `health`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Literal, TypeVar

from rocefort.models.base import Frozen
from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface
from rocefort.models.hardware.hardware import Family
from rocefort.models.network.network import Network
from rocefort.models.network.observed import DeviceSeen, NicCounters
from rocefort.models.network.servers import HostSeen
from rocefort.models.wording import count_of, listing

EcnMode = Literal["dynamic", "static", "none"]
DCQCN_ENABLE = "roce_rp/enable"  # mlx5: whether a NIC reacts to CNPs, of one priority


class FabricState(Frozen):
    """Intent of a run. digest: SHA-256 of the fabric, also where files differ from the commit.

    commit: of git; empty: none, for the reason in `why`. uncommitted: whether tracked files, or the
    fabric itself, differ from it; None without a commit.
    """

    source: str
    digest: str
    commit: str = ""
    uncommitted: bool | None = None
    why: str = ""


class EcnSetting(Frozen):
    """ECN of RoCE's queue on `ports` ports of a switch.

    dynamic: AI-ECN, with its model. static: marks from `low` on by chance, up to `percent` at
    `high`, in `unit`.
    """

    mode: EcnMode
    ports: int
    model: str | None = None
    low: int | None = None
    high: int | None = None
    percent: int | None = None
    unit: str | None = None

    @property
    def text(self) -> str:
        """The setting in words, without its ports."""
        if self.mode == "dynamic":
            return f"dynamic (AI-ECN), model {self.model or 'of the default'}"
        if self.mode == "static":
            return f"static, {self.low} to {self.high} {self.unit}, up to {self.percent} %"
        return "none"


class PfcSetting(Frozen):
    """PFC of `ports` ports of a switch; queues empty: it is off. Thresholds of RoCE's queue."""

    ports: int
    profile: str | None = None
    queues: tuple[int, ...] = ()
    mode: str | None = None
    xoff_kbytes: int | None = None
    xon_kbytes: int | None = None
    headroom_kbytes: int | None = None

    @property
    def text(self) -> str:
        """The setting in words, without its ports."""
        if self.profile is None:
            return "off"
        paused = f"profile {self.profile} pauses queue {listing(self.queues) or 'none'}"
        sizes = {"xoff": self.xoff_kbytes, "xon": self.xon_kbytes, "headroom": self.headroom_kbytes}
        known = [f"{name} {value} KB" for name, value in sizes.items() if value is not None]
        return "; ".join(filter(None, (f"{paused}, {self.mode} mode", ", ".join(known))))


class SwitchSettings(Frozen):
    """Configuration of a switch as it was read back, compared with the fabric.

    digest, intended_digest: of the meaning of both. edits: paths of fields that differ. why: reason
    why it was not read back; then nothing else is known.
    """

    device: str
    digest: str = ""
    intended_digest: str = ""
    edits: tuple[str, ...] = ()
    ecn: tuple[EcnSetting, ...] = ()
    pfc: tuple[PfcSetting, ...] = ()
    why: str = ""


class CounterReading(Frozen):
    """State and raw counters of switches and NICs at one time. unread: sentences on NICs."""

    at: datetime
    switches: tuple[DeviceSeen, ...] = ()
    nics: tuple[NicCounters, ...] = ()
    unread: tuple[str, ...] = ()


class RunRecord(Frozen):
    """Record of one run.

    plan, wave: digest and wave of the rollout whose gate it is; for a run of an experiment, digest
    of the plan of its level. queue: of RoCE. emulated: its figures are constants of an emulator.
    before, after: of the measurements. differences: sentences on what was in force and is not the
    intent. unread: sentences on what could not be read.
    """

    fabric: FabricState
    plan: str = ""
    wave: str = ""
    queue: int | None = None
    emulated: bool = False
    before: CounterReading
    after: CounterReading
    switches: tuple[SwitchSettings, ...] = ()
    hosts: tuple[HostSeen, ...] = ()
    differences: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def conditions(self) -> dict[str, str]:
        """Conditions that were read back, by the names of published references.

        A condition that one switch or one server does not report is not known.
        """
        modes = {setting.mode for switch in self.switches for setting in switch.ecn}
        values: dict[str, set[str]] = {
            "ecn": set() if any(s.why for s in self.switches) else {str(mode) for mode in modes},
            "mtu": {str(host.mtu or "") for host in self.hosts},
            "kernel": {host.kernel or "" for host in self.hosts},
            "firmware": {each for host in self.hosts for each in _firmware(host)},
            "congestion_control": set(map(_algorithm, self.hosts)),
        }
        known = {name: sorted(each) for name, each in values.items() if each and "" not in each}
        return {name: ", ".join(each) for name, each in known.items()}


def _firmware(host: HostSeen) -> list[str]:
    """Firmware of each NIC of a server; empty: not known."""
    return [nic.driver.firmware if nic.driver else "" for nic in host.nics] or [""]


def _algorithm(host: HostSeen) -> str:
    """Algorithm that a server's NICs run; empty: not known. mlx5 has DCQCN only, on or off."""
    if any(nic.files is None for nic in host.nics):
        return ""
    switches = [
        value
        for nic in host.nics
        for path, value in (nic.files or {}).items()
        if path.startswith(DCQCN_ENABLE)
    ]
    if not switches:
        return ""
    return "DCQCN" if any(switches) else "none"


# --- settings of a switch -------------------------------------------------------------------------


Setting = TypeVar("Setting", EcnSetting, PfcSetting)


def settings_of(
    device: Device, family: Family, ports: Iterable[str], queue: int
) -> tuple[tuple[EcnSetting, ...], tuple[PfcSetting, ...]]:
    """Return ECN and PFC of a switch's RoCE ports, ports with equal settings once."""
    interfaces = [device.by_interface[name] for name in ports if name in device.by_interface]
    marks = device.ecn_enabled or not family.ecn_enable  # V300 G1 marks nowhere without it
    ecn = Counter(_ecn(device, interface, queue, marks=marks) for interface in interfaces)
    pfc = Counter(_pfc(device, interface, queue) for interface in interfaces)
    return _counted(ecn), _counted(pfc)


def _counted(settings: Counter[Setting]) -> tuple[Setting, ...]:
    return tuple(each.model_copy(update={"ports": n}) for each, n in settings.most_common())


def _ecn(device: Device, interface: Interface, queue: int, *, marks: bool) -> EcnSetting:
    by_ai = next((row for row in device.ai_ecn.queues if row.queue == queue), None)
    if device.ai_ecn.enabled and by_ai is not None:
        return EcnSetting(mode="dynamic", ports=0, model=by_ai.model)
    marking = next((row for row in interface.markings if row.queue == queue), None)
    profile = device.drop_profile(marking.profile) if marking and marking.profile else None
    if marking is None or not marking.ecn or profile is None or not marks:
        return EcnSetting(mode="none", ports=0)
    limits = profile.ecn or next((row for row in profile.colours if row.colour == "green"), None)
    if limits is None:
        return EcnSetting(mode="none", ports=0)
    return EcnSetting(
        mode="static",
        ports=0,
        low=limits.low,
        high=limits.high,
        percent=limits.percent,
        unit=limits.unit,
    )


def _pfc(device: Device, interface: Interface, queue: int) -> PfcSetting:
    profile = device.profile_of(interface)
    if interface.pfc is None or profile is None:
        return PfcSetting(ports=0)
    sizes = next((row for row in interface.thresholds if row.queue == queue), None)
    return PfcSetting(
        ports=0,
        profile=interface.pfc.profile,
        queues=tuple(sorted(profile.queues)),
        mode=interface.pfc.mode,
        xoff_kbytes=sizes.xoff_kbytes if sizes else None,
        xon_kbytes=sizes.xon_kbytes if sizes else None,
        headroom_kbytes=sizes.headroom_kbytes if sizes else None,
    )


def setting_differences(
    name: str,
    running: Sequence[EcnSetting] | Sequence[PfcSetting],
    intended: Sequence[EcnSetting] | Sequence[PfcSetting],
) -> Iterator[str]:
    """Yield a sentence if settings in force are not the intended ones. name: of switch and kind."""
    if tuple(running) != tuple(intended):
        yield f"{name}: {settings_text(running)}; intended {settings_text(intended)}"


def settings_text(settings: Iterable[EcnSetting | PfcSetting]) -> str:
    """Settings in words, each with its number of ports."""
    texts = [f"{each.text} ({count_of(each.ports, 'port')})" for each in settings]
    return "; ".join(texts) or "no RoCE port"


def roce_ports_of(network: Network, device: str) -> list[str]:
    """Names of a switch's ports on RoCE paths, each once."""
    ports = (port.end for port in network.roce_ports)
    return list(dict.fromkeys(end.interface for end in ports if end.device == device))
