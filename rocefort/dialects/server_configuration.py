"""Configuration of a server: the script that sets it, and the reader of its state.

The reader is strict within a table: a damaged one gives no value, but a reason. Other lines, such
as warnings of a tool or of a login script, change no value. Forms of mlnx_qos: MLNX_OFED 4.2 to 5.x
as published; of ethtool: `-g` of 3.x to 6.x.

Every value passes one check: a word of few characters, quoted for the shell, or printable text of a
comment. So no name of a fabric can inject a second command.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from ipaddress import AddressValueError, IPv4Interface, NetmaskValueError
from typing import TypeVar

from jinja2 import Environment

from rocefort.base.errors import BadInput
from rocefort.base.repository import TEMPLATES
from rocefort.base.templating import text_templates
from rocefort.models.network.servers import (
    PRIORITIES,
    BondSeen,
    ClockSeen,
    HostPlan,
    HostSeen,
    NicDriver,
    NicSeen,
    RingSeen,
)
from rocefort.models.wording import line_notes

HEAD = re.compile(r"@(?P<name>[A-Za-z0-9_./:-]+) (?P<code>\d{1,3})", re.ASCII)
ROW = re.compile(r"\d+: .*|.*\binet [0-9].*")  # of `ip -o`, also without its start
ADDRESS = re.compile(r"\d+: +(?P<interface>\S+) +inet (?P<address>[0-9.]+/\d+) .*", re.ASCII)
PRIORITY = re.compile(r"\s*prio:(?P<priority>[0-7]) dscp:(?P<dscps>(?:\d\d,)+)\s*", re.ASCII)
PFC_PRIORITIES = re.compile(r"\s*priority((?:\s+[0-7]){8})\s*", re.ASCII)
PAUSED = re.compile(r"\s*enabled((?:\s+[01]){8})\s*", re.ASCII)
RING = re.compile(r"(?P<name>RX|TX):\s+(?P<size>\d+)", re.ASCII)
CPU_LIST = re.compile(r"\d{1,5}(-\d{1,5})?(,\d{1,5}(-\d{1,5})?)*", re.ASCII)
NO_COMMAND = 127
Value = TypeVar("Value")


# Outputs that a person keeps: the section that each fills, of the server or of its NIC.
KEPT: Mapping[str, str] = {"ip-addr": "addresses", "mlnx_qos": "qos", "ethtool-g": "rings"}
SIGNS: Mapping[str, re.Pattern[str]] = {  # lines that only this output has
    "ip-addr": re.compile(r"(?<!\d)\d+: \S+ +(?:inet [0-9.]+/\d+ |<[A-Z]).*", re.ASCII),
    "mlnx_qos": re.compile(r"DCBX mode:|Priority trust state:|PFC configuration:"),
    "ethtool-g": re.compile(r"Ring parameters for \S+:"),
}
LINK = re.compile(r"\d+: (?P<interface>[^\s:@]+)(?:@\S+)?: <.*> mtu (?P<mtu>\d+) .*", re.ASCII)
INET = re.compile(r"\s+inet (?P<address>[0-9.]+/\d+)\b.*", re.ASCII)
PEER = re.compile(r"\s+inet [0-9.]+ peer .*", re.ASCII)  # of a tunnel
UNNAMED = "its interface"
NOT_GIVEN = "no output of it is given"
NOT_OF_HOST = dict.fromkeys(
    ("bond", "rdma_device", "sysctl", "governors", "kernel", "clock"), NOT_GIVEN
)
NOT_OF_NIC = dict.fromkeys(("files", "interrupts", "driver"), NOT_GIVEN)


class HostOutputError(Exception):
    """The output of a server is not in the form of its command."""


@dataclass(frozen=True)
class OutputSection:
    """One section: the exit code of its command, and its lines."""

    code: int
    lines: tuple[str, ...]

    @property
    def first(self) -> str:
        """Return its first line, for a person."""
        return self.lines[0].strip() if self.lines else ""


Sections = Mapping[str, tuple[OutputSection, ...]]  # `governor` occurs once for each CPU


def read_host(plan: HostPlan, text: str) -> HostSeen:
    """Read the state of a server; where the whole output is cut, `failed` has the reason."""
    try:
        sections, beside = split(text)
    except HostOutputError as flaw:
        return HostSeen(name=plan.server, failed=str(flaw))
    return _HostParser(plan, sections).host().model_copy(update={"notes": beside})


def read_outputs(plan: HostPlan, outputs: Mapping[tuple[str, str], str]) -> HostSeen:
    """Read outputs that a person kept of a server; `missing` names all that none of them shows.

    outputs: by kind, of KEPT, and NIC; its name is empty where the file does not name it.
    """
    addresses = tuple(_one_a_line(outputs.get(("ip-addr", ""), "").splitlines()))
    here = (m for row in addresses if (m := ADDRESS.fullmatch(row)))
    holder = next((m["interface"] for m in here if _holds(m["address"], plan)), None)
    interface = plan.main or holder or UNNAMED
    named = [nic for _, nic in outputs if nic]
    members = list(dict.fromkeys((*(plan.interfaces or (interface,)), *named)))
    sections = {f"nic/{name}": (OutputSection(0, (name,)),) for name in members}
    sections["interface"] = (OutputSection(0, (interface,)),)
    for (kind, nic), text in outputs.items():
        if kind == "ip-addr":
            sections["addresses"] = (OutputSection(0, addresses),)
            mtus = {m["interface"]: m["mtu"] for m in map(LINK.fullmatch, text.splitlines()) if m}
            for name, mtu in mtus.items():
                at = "mtu" if name == interface else f"nic/{name}/mtu"
                sections[at] = (OutputSection(0, (mtu,)),)
        else:
            lines = tuple(text.splitlines())
            sections[f"nic/{nic or members[0]}/{KEPT[kind]}"] = (OutputSection(0, lines),)
    host = _HostParser(plan, sections, absent=NOT_GIVEN).host()
    nics = (
        nic.model_copy(update={"missing": nic.missing | NOT_OF_NIC, "mtu": nic.mtu or host.mtu})
        if nic.name == interface
        else nic.model_copy(update={"missing": nic.missing | NOT_OF_NIC})
        for nic in host.nics
    )
    return host.model_copy(update={"missing": host.missing | NOT_OF_HOST, "nics": tuple(nics)})


def kinds_of(text: str) -> list[str]:
    """Return the outputs, of KEPT, that a text shows by its lines; none for a whole reading."""
    lines = [line.strip() for line in text.splitlines()]
    if any(map(HEAD.fullmatch, lines)):
        return []
    return [kind for kind, sign in SIGNS.items() if any(map(sign.match, lines))]


def _holds(address: str, plan: HostPlan) -> bool:
    return address.partition("/")[0] == str(plan.address.ip)


def _one_a_line(lines: Iterable[str]) -> Iterator[str]:
    """Yield the addresses of `ip addr` in the form of `ip -o -4 addr`."""
    interface = ""
    for line in lines:
        if match := LINK.fullmatch(line):
            interface = match["interface"]
        elif interface and (match := INET.fullmatch(line)):
            yield f"1: {interface} inet {match['address']} "
        elif not (interface and PEER.fullmatch(line)):
            yield line  # a row of `ip -o`, or a damaged one


def split(text: str) -> tuple[dict[str, tuple[OutputSection, ...]], tuple[str, ...]]:
    """Return sections by name, and the lines that belong to none.

    Raises HostOutputError for a text that is cut or has a damaged head.
    """
    sections_of: dict[str, list[OutputSection]] = {}
    name, code, lines, beside = "", 0, list[str](), list[str]()
    for line in text.splitlines():
        if match := HEAD.fullmatch(line):
            if name:
                sections_of.setdefault(name, []).append(OutputSection(code, tuple(lines)))
            name, code, lines = match["name"], int(match["code"]), []
        elif name and line.startswith("|"):
            lines.append(line[1:])
        elif line.startswith("@"):
            raise HostOutputError(f"the head of a section is damaged: {line[:80]!r}")
        elif line.strip():
            beside.append(line)
    if name != "end":
        raise HostOutputError("the reading is cut off")
    return {name: tuple(sections) for name, sections in sections_of.items()}, line_notes(beside)


@dataclass(frozen=True)
class _HostParser:
    """Sections of one server, read into the values that its plan requires."""

    plan: HostPlan
    sections: Sections
    absent: str = "the server has no such file"

    def host(self) -> HostSeen:
        missing: dict[str, str] = {}
        addresses = self._of("addresses", "addresses", _addresses, missing, "ip")
        governors = tuple(s.first for s in self.sections.get("governor", ()) if s.code == 0)
        return HostSeen(
            name=self.plan.server,
            addresses=addresses or (),
            interface=self._word("interface"),
            mtu=self._of("mtu", "mtu", _number, missing),
            bond=self._bond(),
            nics=tuple(self._nic(member.first) for member in self._members()),
            rdma_device=self._word("rdma"),
            roce_mode=self._of("roce_mode", "mode", _line, missing),
            roce_tos=self._of("roce_tos", "tos", _number, missing),
            traffic_class=self._of("traffic_class", "tclass", _traffic_class, missing),
            sysctl=dict(self._sysctl()),
            governors=governors or None,
            kernel=self._of("kernel", "kernel", _line, missing),
            clock=self._clock(missing),
            missing=missing,
        )

    def _clock(self, missing: dict[str, str]) -> ClockSeen | None:
        begin = self._of("clock", "clock", _seconds, missing, "date")
        end = self._of("clock", "clock/end", _seconds, missing, "date")
        if begin is None or end is None or end < begin:
            return None
        return ClockSeen(begin_s=begin, end_s=end)

    def _members(self) -> Iterable[OutputSection]:
        return [s[0] for name, s in self.sections.items() if re.fullmatch(r"nic/[^/]+", name)]

    def _sysctl(self) -> Iterable[tuple[str, str]]:
        for name in self.plan.sysctl:
            section = self._section(f"sysctl/{name}")
            if section and section.code == 0:
                yield name, " ".join(" ".join(section.lines).split())

    def _bond(self) -> BondSeen | None:
        words = {
            option: (self._word(f"bond/{option}") or "").split()
            for option in ("mode", "xmit_hash_policy", "lacp_rate", "min_links", "miimon", "slaves")
        }
        if not words["mode"]:
            return None

        def number(option: str) -> int | None:
            word = next(iter(words[option]), "")
            return int(word) if word.isdecimal() else None

        return BondSeen(
            mode=words["mode"][0],
            hash_policy=next(iter(words["xmit_hash_policy"]), None),
            lacp_rate=next(iter(words["lacp_rate"]), None),
            minimum_links=number("min_links"),
            miimon_ms=number("miimon"),
            members=tuple(words["slaves"]),
        )

    def _nic(self, name: str) -> NicSeen:
        missing: dict[str, str] = {}
        at = f"nic/{name}"

        def qos(field: str, read: Callable[[tuple[str, ...]], Value]) -> Value | None:
            return self._of(field, f"{at}/qos", read, missing, "mlnx_qos")

        required, tuned = self.plan.nic is not None, self.plan.qdisc is not None
        files = dict(self._files(at))
        return NicSeen(
            name=name,
            driver=self._of("driver", f"{at}/driver", _driver, missing, "ethtool"),
            mtu=self._of("mtu", f"{at}/mtu", _number, missing),
            speed_mbps=self._of("speed_mbps", f"{at}/speed", _number, missing),
            rings=self._of("rings", f"{at}/rings", _rings, missing, "ethtool"),
            dcbx=qos("dcbx", partial(_after, title="DCBX mode")) if required else None,
            trust=qos("trust", _trust) if required else None,
            priorities=qos("priorities", _priorities) if required else None,
            paused=qos("paused", _paused) if required else None,
            files=files or None,
            interrupts=dict(self._interrupts(at)) or None,
            local_cpus=self._of("local_cpus", f"{at}/cpus", _cpu_list, {}),
            qdisc=self._of("qdisc", f"{at}/qdisc", _line, missing, "tc") if tuned else None,
            missing=missing,
        )

    def _files(self, at: str) -> Iterable[tuple[str, int]]:
        nic = self.plan.nic
        for file in (*nic.switches, *nic.parameters) if nic else ():
            text = self._word(f"{at}/{file.path}")
            if text is not None and text.isdecimal():
                yield file.path, int(text)

    def _interrupts(self, at: str) -> Iterable[tuple[int, str]]:
        for name, sections in self.sections.items():
            prefix, _, number = name.rpartition("/")
            cpus = sections[0].first
            if prefix == f"{at}/irq" and number.isdecimal() and CPU_LIST.fullmatch(cpus):
                yield int(number), cpus

    def _section(self, name: str) -> OutputSection | None:
        return next(iter(self.sections.get(name, ())), None)

    def _word(self, name: str) -> str | None:
        section = self._section(name)
        return section.first if section and section.code == 0 and section.lines else None

    def _of(
        self,
        field: str,
        name: str,
        read: Callable[[tuple[str, ...]], Value],
        missing: dict[str, str],
        tool: str = "",
    ) -> Value | None:
        """Return one value; otherwise None, with the reason in `missing`."""
        section = self._section(name)
        if section is None:
            missing[field] = self.absent
        elif section.code == NO_COMMAND:
            missing[field] = f"{tool or 'a tool'} is not installed there"
        elif section.code:
            missing[field] = f"it cannot be read there: {section.first[:80]}".removesuffix(": ")
        else:
            try:
                return read(section.lines)
            except HostOutputError as flaw:
                missing[field] = str(flaw)
        return None


def _line(lines: tuple[str, ...]) -> str:
    if len(lines) != 1 or not lines[0].strip():
        raise HostOutputError("its file does not have one line")
    return lines[0].strip()


def _number(lines: tuple[str, ...]) -> int:
    text = _line(lines)
    if not re.fullmatch(r"\d{1,9}", text, re.ASCII):
        raise HostOutputError(f"it is no number: {text[:40]!r}")
    return int(text)


def _seconds(lines: tuple[str, ...]) -> float:
    text = _line(lines)
    if not re.fullmatch(r"\d{1,12}(\.\d{1,9})?", text, re.ASCII):
        raise HostOutputError(f"it is no time: {text[:40]!r}")
    return float(text)


def _driver(lines: tuple[str, ...]) -> NicDriver:
    """Read `ethtool -i`; a NIC without firmware has an empty line of it."""
    values: dict[str, str] = {}
    for name, colon, value in (line.partition(":") for line in lines):
        if colon and values.setdefault(name, value.strip()) != value.strip():
            raise HostOutputError(f"ethtool shows {name} twice")
    if not values.get("driver"):
        raise HostOutputError("ethtool does not show its driver")
    return NicDriver(
        name=values["driver"],
        version=values.get("version", ""),
        firmware=values.get("firmware-version", ""),
    )


def _cpu_list(lines: tuple[str, ...]) -> str:
    text = _line(lines)
    if not CPU_LIST.fullmatch(text):
        raise HostOutputError(f"it is no list of CPUs: {text[:40]!r}")
    return text


def _traffic_class(lines: tuple[str, ...]) -> int:
    """Read `Global tclass=138` and following rules for single addresses; empty: not set."""
    for line in lines:
        if match := re.fullmatch(r"Global tclass=(\d{1,3})", line.strip(), re.ASCII):
            return int(match[1])
    return 0


def _addresses(lines: tuple[str, ...]) -> tuple[tuple[str, IPv4Interface], ...]:
    addresses = []
    for line in filter(ROW.fullmatch, lines):
        match = ADDRESS.fullmatch(line)
        if match is None:
            raise HostOutputError(f"ip printed a row that is damaged: {line[:60]!r}")
        try:
            addresses.append((match["interface"], IPv4Interface(match["address"])))
        except (AddressValueError, NetmaskValueError):
            raise HostOutputError(f"ip printed no address: {match['address']!r}") from None
    return tuple(addresses)


def _after(lines: tuple[str, ...], title: str) -> str:
    values = [line.partition(":")[2].strip() for line in lines if line.startswith(f"{title}:")]
    if len(values) != 1:
        raise HostOutputError(f"mlnx_qos does not show the {title}")
    return values[0]


def _trust(lines: tuple[str, ...]) -> str:
    trust = _after(lines, "Priority trust state")
    if trust not in ("dscp", "pcp", "both"):
        raise HostOutputError(f"mlnx_qos shows a trust state that is not known: {trust[:40]!r}")
    return trust


def _priorities(lines: tuple[str, ...]) -> dict[int, int]:
    """Read all 64 DSCPs; mlnx_qos shows them only where DSCP is trusted."""
    priorities: dict[int, int] = {}
    for line in lines:
        if match := PRIORITY.fullmatch(line):
            for dscp in match["dscps"].rstrip(",").split(","):
                if int(dscp) in priorities:
                    raise HostOutputError(f"mlnx_qos shows DSCP {int(dscp)} twice")
                priorities[int(dscp)] = int(match["priority"])
    if priorities.keys() != set(range(64)):
        raise HostOutputError("mlnx_qos does not show a priority of every DSCP")
    return priorities


def _paused(lines: tuple[str, ...]) -> tuple[int, ...]:
    """Read the priorities that PFC pauses, by the row of priorities above it."""
    rows = [n for n, line in enumerate(lines) if PAUSED.fullmatch(line)]
    if len(rows) != 1:
        raise HostOutputError("mlnx_qos does not show one row of PFC")
    heads = [match for line in lines[: rows[0]] if (match := PFC_PRIORITIES.fullmatch(line))]
    priorities = [int(word) for word in heads[0][1].split()] if len(heads) == 1 else []
    if sorted(priorities) != list(range(8)):
        raise HostOutputError("mlnx_qos does not show the priorities above its row of PFC")
    columns = zip(priorities, lines[rows[0]].split()[1:], strict=True)
    return tuple(sorted(priority for priority, enabled in columns if enabled == "1"))


def _rings(lines: tuple[str, ...]) -> dict[str, RingSeen]:
    sizes: dict[str, dict[str, int]] = {}
    at: dict[str, int] | None = None
    for line in lines:
        if line in ("Pre-set maximums:", "Current hardware settings:"):
            at = sizes.setdefault(line, {})
        elif at is not None and (match := RING.fullmatch(line.strip())):
            if match["name"].lower() in at:
                raise HostOutputError(f"ethtool shows {match['name']} twice")
            at[match["name"].lower()] = int(match["size"])
    most, now = sizes.get("Pre-set maximums:", {}), sizes.get("Current hardware settings:", {})
    if not {"rx", "tx"} <= most.keys() & now.keys():
        raise HostOutputError("ethtool does not show its rings, now and at most")
    return {name: RingSeen(size=now[name], maximum=most[name]) for name in ("rx", "tx")}


SCRIPT = "rocefort-host"
UNITS = ("rocefort-host.service", "rocefort-host-drift.service", "rocefort-host-drift.timer")
WORD = re.compile(r"[A-Za-z0-9_.,:/+-]+( [A-Za-z0-9_.,:/+-]+)*", re.ASCII)
COMMENT = re.compile(r"[ -~]*", re.ASCII)


class _Safe(str):
    """Text that has passed the check already."""

    __slots__ = ()


def host_files(plan: HostPlan) -> dict[str, str]:
    """Return the script and its systemd units, by the names of their files."""
    files = {SCRIPT: _render("host.sh.j2", plan)}
    return files | {unit: _render(f"{unit}.j2", plan) for unit in UNITS}


def reader_of(plan: HostPlan) -> str:
    """Return a POSIX shell text that reads everything of a server that its plan requires."""
    return _render("read.sh.j2", plan)


def reader_command(plan: HostPlan) -> str:
    """Return the command line that reads a server."""
    return f"sh -c {shlex.quote(reader_of(plan))}"


def _render(template: str, plan: HostPlan) -> str:
    return _environment().get_template(template).render(plan=plan)


@cache
def _environment() -> Environment:
    environment = text_templates(TEMPLATES / "host", _argument)
    environment.filters |= {"comment": _comment, "path": _path, "eight": _eight}
    return environment


def _argument(value: object) -> str:
    """Return one word for a shell."""
    if isinstance(value, _Safe):
        return value
    text = str(value)
    if text and not WORD.fullmatch(text):
        raise BadInput(f"{text[:60]!r} cannot stand in a script", how="use letters, digits, '.-_'")
    return shlex.quote(text) if text else ""


def _comment(text: str) -> _Safe:
    if not COMMENT.fullmatch(text):
        raise BadInput(f"{text[:60]!r} cannot stand in a comment", how="use printable ASCII")
    return _Safe(text)


def _path(name: str) -> str:
    """Return the path of a kernel parameter below /proc/sys."""
    return name.replace(".", "/")


def _eight(priorities: tuple[int, ...]) -> str:
    """Return priorities in the form of mlnx_qos: 4 -> 0,0,0,0,1,0,0,0."""
    return ",".join(str(int(priority in priorities)) for priority in PRIORITIES)
