"""Steps of `host` offline: write the files of each server, and check kept outputs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocefort.base.documents.read import read_text
from rocefort.base.documents.suggest import chosen_names, nearest
from rocefort.base.errors import BadInput, Problem, ServiceFailed
from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.derive.host_plans import host_plans
from rocefort.design.subject import write_files
from rocefort.dialects.server_configuration import (
    KEPT,
    SCRIPT,
    host_files,
    kinds_of,
    read_host,
    read_outputs,
)
from rocefort.models.finding import Report
from rocefort.models.network.servers import HostPlan, HostSeen, HostsSeen
from rocefort.models.wording import count_of
from rocefort.validators.checks import check_hosts

UNREADABLE = "HST101"
KEPT_FILE = re.compile(
    rf"(?P<server>[^.]+)(?:(?:\.(?P<nic>[^.]+))?\.(?P<kind>{'|'.join(KEPT)}))?\.txt"
)


@dataclass(frozen=True)
class HostCheck:
    """Report on servers; notes on servers without a reading, and on lines that no reader reads."""

    report: Report
    notes: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        """3 if a server could not be read, 1 for another error."""
        if any(finding.rule == UNREADABLE for finding in self.report.findings):
            return 3
        return int(self.report.failed)


def plans_of(fabric: Path, servers: Sequence[str]) -> tuple[DerivedNetwork, dict[str, HostPlan]]:
    """Return a fabric and plans of servers, by default of all; raises BadInput for a wrong name."""
    derived = derive(fabric)
    plans = host_plans(derived)
    names = chosen_names("--server", servers, plans, f"no server {{!r}} in {derived.network.name}")
    return derived, {name: plans[name] for name in names}


def rendered_text(plan: HostPlan) -> str:
    """Return all files of a server as one text, each below a line with its name."""
    return "".join(f"##### {name}\n{text}" for name, text in host_files(plan).items())


def write_hosts(plans: Mapping[str, HostPlan], out: Path) -> list[str]:
    """Write one directory per server; return sentences on each, and on parts left out.

    A sentence that applies to several servers is listed once.
    """
    lines, servers_of = [], dict[str, list[str]]()
    for name, plan in plans.items():
        paths = write_files(host_files(plan), out / name)
        _executable(out / name / SCRIPT)
        lines.append(f"{name}: {count_of(len(paths), 'file')} in {out / name}")
        sentences = [f"left out: {sentence}" for sentence in plan.left_out]
        sentences += [f"assumed or not confirmed: {sentence}" for sentence in plan.unconfirmed]
        for sentence in sentences:
            servers_of.setdefault(sentence, []).append(name)
    for sentence, names in servers_of.items():
        every = len(names) == len(plans) > 1
        who = f"all {len(names)} servers" if every else ", ".join(names)
        lines.append(f"{who}: {sentence}")
    return lines


def _executable(path: Path) -> None:
    try:
        path.chmod(0o755)
    except OSError as error:
        raise ServiceFailed(
            f"cannot be made executable: {error.strerror}", where=str(path)
        ) from None


def check_outputs(fabric: Path, directory: Path, servers: Sequence[str]) -> HostCheck:
    """Check servers by outputs in files; contacts nothing.

    Files: `SERVER.txt`, the whole output of the reader, or single outputs, such as
    `SERVER.mlnx_qos.txt` and `SERVER.NIC.mlnx_qos.txt`. Raises BadInput for a directory without
    any that is of a server of the fabric.
    """
    derived, plans = plans_of(fabric, servers)
    kept, unused, foreign = _kept_files(directory, host_plans(derived))
    chosen = {name: plan for name, plan in plans.items() if name in kept}
    if not kept and foreign:
        raise BadInput(problems=foreign)
    if not chosen or (servers and len(chosen) < len(plans)):
        lacking = sorted(plans.keys() - chosen) if servers else []
        raise BadInput(
            f"no output of {', '.join(lacking) or 'a server'}",
            file=str(directory),
            how=f"name the files SERVER.txt, {', '.join(f'SERVER.{kind}.txt' for kind in KEPT)}",
        )
    seen = tuple(_kept_reading(plan, kept[name]) for name, plan in chosen.items())
    notes = not_checked([name for name in plans if name not in chosen], "an output")
    notes += tuple(f"not read, of no known output: {file}" for file in unused)
    notes += tuple(f"not read: {problem}" for problem in foreign)
    return host_check(derived, plans, seen, notes)


def host_check(
    derived: DerivedNetwork,
    plans: Mapping[str, HostPlan],
    seen: tuple[HostSeen, ...],
    notes: tuple[str, ...],
) -> HostCheck:
    """Judge readings of servers; what a server printed besides is added to the notes."""
    reading = HostsSeen(fabric=derived.network.name, hosts=seen)
    report = check_hosts(derived.network, plans, reading, derived.sources)
    beside = tuple(f"{h.name} also printed: {line}" for h in seen for line in h.notes)
    return HostCheck(report, (*notes, *beside))


def not_checked(names: Sequence[str], lacking: str) -> tuple[str, ...]:
    """Return one note on servers without a reading; lacking: what each of them has not."""
    if not names:
        return ()
    return (f"{count_of(len(names), 'server')} not checked, without {lacking}: {', '.join(names)}",)


def _kept_files(
    directory: Path, plans: Mapping[str, HostPlan]
) -> tuple[dict[str, dict[tuple[str, str], Path]], list[str], list[Problem]]:
    """Return files by server, kind and NIC, names of other files, and those of no server."""
    if not directory.is_dir():
        raise BadInput("no such directory", file=str(directory), how="check the path")
    kept, unused, foreign = dict[str, dict[tuple[str, str], Path]](), list[str](), list[Problem]()
    for file in sorted(directory.iterdir()):
        match = KEPT_FILE.fullmatch(file.name)
        if match is None:
            unused.append(file.name)
        elif match["server"] not in plans:
            how = nearest(match["server"], plans)
            foreign.append(Problem("", f"no server {match['server']!r}", how, file=str(file)))
        else:
            key = (match["kind"] or "", match["nic"] or "")
            kept.setdefault(match["server"], {})[key] = file
    return kept, unused, foreign


def _kept_reading(plan: HostPlan, files: Mapping[tuple[str, str], Path]) -> HostSeen:
    """Read the output of the reader if it is there, otherwise the single outputs.

    A file without a kind in its name may have single outputs, which its lines show.
    """
    texts = {key: read_text(file) for key, file in files.items()}
    whole = texts.pop(("", ""), None)
    kinds = kinds_of(whole) if whole is not None else []
    if whole is not None and not kinds:
        host = read_host(plan, whole)
        return host.model_copy(update={"file": str(files["", ""])}) if host.failed else host
    pasted = {(kind, ""): whole for kind in kinds if whole is not None}
    return read_outputs(plan, pasted | texts)
