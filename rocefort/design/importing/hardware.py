"""Import hardware and release of a switch: as given, from its text, or by its ports."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput, Problem
from rocefort.design.importing.assumptions import Notes, SwitchText
from rocefort.design.load.hardware_catalogue import Catalogue
from rocefort.design.new import RELEASES
from rocefort.models.device.device import Device
from rocefort.models.hardware.hardware import Family, Hardware
from rocefort.models.hardware.media import whole_port
from rocefort.models.wording import count_of, listing

# Columns with their other names, in lower case and without `_`: those of NetBox (list of devices
# and bulk import), and of other inventories. The first one that a table has is read.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "name": ("name", "device name", "device", "sysname", "hostname", "host name", "host", "switch"),
    "hardware": ("hardware", "model", "hardware model", "device type", "type"),
    "software": ("software", "release", "software release", "software version", "os version"),
    "rack": ("rack",),
}
SEPARATORS = (",", ";", "\t")
EXCEL_SEPARATOR = re.compile(r"sep=(.)\n")  # first line, for Excel alone
MAKER = re.compile(r"huawei ", re.IGNORECASE)  # before a model


@dataclass(frozen=True)
class SwitchInputs:
    """Facts that the user gives for switches, by sysname; texts do not contain them.

    listed: names in a table, which may list other devices, too. notes: on what it has beside.
    """

    hardware: Mapping[str, str] = field(default_factory=dict)
    software: Mapping[str, str] = field(default_factory=dict)
    rack: Mapping[str, str] = field(default_factory=dict)
    listed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def over(self, others: SwitchInputs) -> SwitchInputs:
        """Return these facts, and others for missing ones."""
        return SwitchInputs(
            {**others.hardware, **self.hardware},
            {**others.software, **self.software},
            {**others.rack, **self.rack},
            (*self.listed, *others.listed),
            (*self.notes, *others.notes),
        )


def option_values(option: str, rows: Sequence[str]) -> dict[str, str]:
    """Parse `leaf03=CE8851-32CQ8DQ-P` as name and value; raises BadInput for other forms."""
    values: dict[str, str] = {}
    for row in rows:
        name, equals, value = row.partition("=")
        if not (name and equals and value):
            raise BadInput(f"{option} {row!r} is not NAME=VALUE", how=f"write {option} leaf03=..")
        if values.setdefault(name, value) != value:
            what = f"{option} gives both {values[name]} and {value} for {name}"
            raise BadInput(what, how="give one of them")
    return values


def read_facts(text: str, file: str) -> SwitchInputs:
    """Read facts from a CSV file with a head line: names, and some of hardware, software, rack.

    The separator is the one that the head line has most. Columns of other names are passed over,
    with a note; so are empty lines and rows without a name.
    """
    if first := EXCEL_SEPARATOR.match(text):
        text = f"\n{text[first.end() :]}"  # the numbers of its lines stay
    head = next((line for line in text.split("\n") if line.strip()), "")
    separator = first[1] if first else max(SEPARATORS, key=head.count)
    filled = ((line, cells) for line, cells in _rows(text, separator, file) if any(cells))
    line, titles = next(filled, (1, []))
    at = _column_indices(titles)
    if "name" not in at or len(at) < 2:
        what = "no column with the names of switches" if titles else "an empty table"
        what = f"none of the columns {listing(tuple(COLUMNS)[1:])}" if "name" in at else what
        how = f"use a head line of {', '.join(COLUMNS)}"
        raise BadInput(what, how=how, file=file, line=line)
    values: dict[str, dict[str, str]] = {column: {} for column in COLUMNS}
    problems: list[Problem] = []
    nameless = 0
    for line, cells in filled:
        row = {column: cells[index] for column, index in at.items() if index < len(cells)}
        name = row.get("name", "")
        if not name:
            nameless += 1
        elif name in values["name"] or any(cells[len(titles) :]):
            twice = name in values["name"]
            what = f"{name} is there twice" if twice else "more values than columns"
            problems.append(Problem("", what, "write one line a switch", file, line))
        else:
            for column, value in row.items():
                if value:
                    values[column][name] = MAKER.sub("", value) if column == "hardware" else value
    if problems:
        raise BadInput(problems=problems)
    equal = _equal_columns(titles)
    known = {title for same in equal.values() for title in same} | {titles[n] for n in at.values()}
    others = [title for title in titles if title and title not in known]
    notes = [f"{file}: columns that are not used: {', '.join(others)}"] if others else []
    notes += [
        f"{file}: {listing(same)} are columns of one meaning; {titles[at[column]]} is read"
        for column, same in equal.items()
    ]
    notes += [f"{file}: {count_of(nameless, 'row')} without a name"] if nameless else []
    named = tuple(values.pop("name"))
    return SwitchInputs(**values, listed=named, notes=tuple(notes))


def _rows(text: str, separator: str, file: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each row, with its last line; raises BadInput for a cell without end."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
    try:
        for row in rows:
            yield rows.line_num, [cell.strip() for cell in row]
    except csv.Error as error:
        how = "shorten the cell, or close its quotes"
        raise BadInput(f"not CSV: {error}", how=how, file=file, line=rows.line_num) from None


def _column_indices(titles: Sequence[str]) -> dict[str, int]:
    """Return the index of each column of a head line, in any of its names."""
    plain = [_plain(title) for title in titles]
    return {
        column: plain.index(name)
        for column, names in COLUMNS.items()
        if (name := next((name for name in names if name in plain), None))
    }


def _equal_columns(titles: Sequence[str]) -> dict[str, list[str]]:
    """Return the titles of each column that a head line has more than once."""
    same = {
        column: [title for title in titles if _plain(title) in names]
        for column, names in COLUMNS.items()
    }
    return {column: titles for column, titles in same.items() if titles[1:]}


def _plain(title: str) -> str:
    return " ".join(title.replace("_", " ").casefold().split())


@dataclass(frozen=True, slots=True)
class ImportedHardware:
    """Hardware of a switch with its release and its syntax family."""

    hardware: Hardware
    software: str
    family: Family


@dataclass(frozen=True, slots=True)
class UsedPorts:
    """Ports that a switch's text uses: for the fabric, and for anything else."""

    fabric: Collection[str]
    others: Collection[str]
    spine: bool = False  # role of the switch

    def hardware(self, hardware: Hardware) -> Hardware:
        """The hardware in the switch's role, with fabric ports of its own if a server has one."""
        whole = {whole_port(port) for port in self.fabric}
        outward = {whole_port(port) for port in self.others}
        model = hardware.in_role(spine=self.spine)
        reserved = set(model.fabric_port_names())
        if not outward & reserved or whole & outward or not whole <= set(hardware.port_names()):
            return model
        own = tuple(sorted(whole, key=hardware.port_index))
        return hardware.in_role(spine=self.spine, own=own)


def check_facts(facts: SwitchInputs, names: Collection[str], catalogue: Catalogue) -> None:
    """Raise BadInput for facts of unknown switches, and for unknown models.

    A table may list other devices, too, but not these alone.
    """
    problems: list[Problem] = []
    if facts.listed and not set(names).intersection(facts.listed):
        what = "no row of the table names a switch that has a text"
        problems.append(Problem("--switches", what, nearest(facts.listed[0], names)))
    for option, values in (("hardware", facts.hardware), ("software", facts.software)):
        for name in values:
            if name not in names and name not in facts.listed:
                what = f"{option} of {name}, which has no text"
                problems.append(Problem("", what, nearest(name, names)))
    models = catalogue.hardware
    problems += [
        Problem("", f"no hardware {model!r} in inventory/hardware", nearest(model, models))
        for model in dict.fromkeys(v for name, v in facts.hardware.items() if name in names)
        if model not in models
    ]
    if problems:
        raise BadInput(problems=problems)


def models_of(
    switches: Sequence[tuple[SwitchText, UsedPorts]],
    facts: SwitchInputs,
    catalogue: Catalogue,
    notes: Notes,
) -> dict[str, ImportedHardware]:
    """Return the model of each switch; one that neither a text nor the user gives is assumed.

    If several fit, it is the one that most other switches have. Raises BadInput if nothing fits, or
    if that does not decide.
    """
    fitting = {source.name: _fitting(source, ports, facts, catalogue) for source, ports in switches}
    missing = [
        _nothing_fits(source, _given(source, facts, catalogue), _release(source, facts), ports)
        for source, ports in switches
        if not fitting[source.name]
    ]
    if missing:
        raise BadInput(problems=missing)
    known = Counter(one[0].hardware.model for one in fitting.values() if len(one) == 1)
    models: dict[str, ImportedHardware] = {}
    for source, _ in switches:
        candidates = sorted(fitting[source.name], key=lambda one: -known[one.hardware.model])
        chosen, *others = candidates
        if others and known[chosen.hardware.model] == known[others[0].hardware.model]:
            continue
        models[source.name] = chosen
        if not _given(source, facts, catalogue):
            names = listing(one.hardware.model for one in others)
            also = f", as on other switches; {names} would fit, too" if others else ""
            why = f"{chosen.hardware.model}, whose ports fit{also}"
            notes.assume(("hardware", source.name), why)
        if not _release(source, facts):
            notes.assume(("software", source.name), f"{chosen.software}, as its hardware runs")
    if ambiguous := {name: fitting[name] for name in fitting if name not in models}:
        raise BadInput(problems=list(_ambiguous(ambiguous)))
    return models


def _given(source: SwitchText, facts: SwitchInputs, catalogue: Catalogue) -> str | None:
    """Hardware that the user or the text names."""
    from_text = source.model if source.model in catalogue.hardware else None
    return facts.hardware.get(source.name) or from_text


def _release(source: SwitchText, facts: SwitchInputs) -> str | None:
    return facts.software.get(source.name) or source.software


def _fitting(
    source: SwitchText, ports: UsedPorts, facts: SwitchInputs, catalogue: Catalogue
) -> list[ImportedHardware]:
    """Models with the ports of a switch, and of those the ones that would write most of its lines.

    Each is with its newest release that fits.
    """
    given, release = _given(source, facts, catalogue), _release(source, facts)
    models = [catalogue.hardware[name] for name in ([given] if given else list(catalogue.hardware))]
    in_role = [model.in_role(spine=ports.spine) for model in models]
    own = [ports.hardware(model) for model in models]  # only where no model fits as it is
    fitting: list[ImportedHardware] = []
    for candidates in (own,) if given else (in_role, own):
        fitting = fitting or [
            model
            for hardware in candidates
            for model in _with_release(catalogue, hardware, release)
            if given or _fits(model, source.device, ports)
        ]
    explaining = [model for model in fitting if _explains(source.device, model.family)]
    by_name: dict[str, ImportedHardware] = {}
    for model in (explaining or fitting) if not given else fitting:
        by_name.setdefault(model.hardware.model, model)
    if len(by_name) < 2:
        return list(by_name.values())
    unlike = {name: source.unlike(one.hardware, one.family) for name, one in by_name.items()}
    least = min(unlike.values())
    return [one for name, one in by_name.items() if unlike[name] == least]


def _ambiguous(fitting: Mapping[str, Sequence[ImportedHardware]]) -> Iterator[Problem]:
    """Yield one problem for all switches that the same models fit."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for name, models in fitting.items():
        alike.setdefault(tuple(one.hardware.model for one in models), []).append(name)
    for candidates, names in alike.items():
        yield Problem(
            "",
            f"{listing(candidates)} have the ports of {listing(names)}; no text shows the model",
            f"name it by --hardware {names[0]}=MODEL, or by a column hardware of --switches",
        )


def _with_release(
    catalogue: Catalogue, hardware: Hardware, software: str | None
) -> Iterator[ImportedHardware]:
    if software is not None:
        if family := catalogue.family(hardware.model, software):
            yield ImportedHardware(hardware, software, family)
        return
    for release in reversed(hardware.releases):
        matching = (name for name in RELEASES if name.startswith(release.prefix))
        yield ImportedHardware(
            hardware, next(matching, release.prefix), catalogue.families[release.family]
        )


def _fits(model: ImportedHardware, device: Device, ports: UsedPorts) -> bool:
    """Whether a model has the ports that a switch uses, and its kind of timers."""
    hardware, all_ports = model.hardware, set(model.hardware.port_names())
    fabric_ports = set(hardware.fabric_port_names())
    return (
        all(whole_port(port) in fabric_ports for port in ports.fabric)
        and all(whole_port(port) in all_ports - fabric_ports for port in ports.others)
        and all(split.type in hardware.splits_of(split.port) for split in device.splits)
        and _speaks(device, model.family)
    )


def _speaks(device: Device, family: Family) -> bool:
    """Whether a family can have the lossless values of a text."""
    pfc = device.pfc
    counts = pfc.interval_ms is not None or any(profile.timers for profile in pfc.profiles)
    in_ms = pfc.detect_ms is not None or pfc.recovery_ms is not None
    rows = (row for interface in device.interfaces for row in interface.thresholds)
    headroom = any(row.headroom_kbytes is not None for row in rows)
    return (
        not (counts and family.deadlock_detect_time is None)
        and not (in_ms and family.deadlock_detect_ms is None)
        and not (headroom and family.headroom_kbytes is None)
        and not (pfc.dscp_mapping and family.headroom_kbytes is None)
        and not (pfc.headroom_pool_kbytes is not None and family.headroom_pool_kbytes is None)
        and not (device.ecn_enabled and not family.ecn_enable)
    )


def _explains(device: Device, family: Family) -> bool:
    """Whether a family has default deadlock timers, if a text with PFC has no line for them."""
    pfc = device.pfc
    has_line = pfc.detect_ms is not None or any(profile.timers for profile in pfc.profiles)
    default = family.deadlock_default_ms is not None or family.deadlock_default_time is not None
    return has_line or default or not pfc.profiles


def _nothing_fits(
    source: SwitchText, given: str | None, software: str | None, ports: UsedPorts
) -> Problem:
    if given:
        what = f"no syntax family is known for {given} with {software!r}"
        return Problem("", f"{source.name}: {what}", "give --software NAME=RELEASE", source.file)
    used = listing([*ports.fabric][:2])
    return Problem(
        "",
        f"{source.name}: no hardware of inventory/hardware has fabric ports such as {used}"
        + (f" and runs {software}" if software else ""),
        f"name it by --hardware {source.name}=MODEL; add its file if there is none",
        source.file,
    )
