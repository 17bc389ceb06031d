"""Faults in texts of random fabrics, and what `check` and `verify` find (`make mutate-text`).

Each row of the command catalogue has equal weight. A fault is judged by the texts alone, and with
the fabric's intent. `found` is a new error or warning at the right device and line. These columns
are apart: `unknown` (only an unknown line is reported), `refused` (the text or its routing is refused),
`elsewhere` (an error or warning at another line or device), `info` (information only). `share` is
that of `found`; `seen` adds `unknown` and `refused`, which are not silent either. Two judges
set faults apart as without effect: the emulated switch saves the same text (`none`), or every Device
that is read is equal but for descriptions and defaults, and no rule has an error or warning (`kept`:
a line that no model has).
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from new_fabrics import random_fabric
from row_faults import Fault, FaultMaker, Switch, rows_of

from rocefort.base.errors import RocefortError
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.design.subject import ReadNetwork, read_directory, subject_of_texts, write_texts
from rocefort.dialects.choose import dialect_of
from rocefort.dialects.network_text import render_all
from rocefort.dialects.secrets import filled_line
from rocefort.models.device.device import Device, without_defaults
from rocefort.models.finding import Finding, Report, Severity, new_findings
from rocefort.models.hardware.hardware import SyntaxFamily
from rocefort.validators.routing.engine import analyse
from rocefort.validators.rules.verification.answers import verify, verify_segments
from rocefort.verification.judged import check_subject, judging_rules, subject_of_running

SECRETS = {"env:A": "Example-auth1", "env:P": "Example-priv1", "env:BGP": "Example-bgp12"}
MODES = ("text", "intent")
FAULTS_PER_FABRIC = 25
REASONS = Path(__file__).with_suffix(".yaml")
OUTCOMES = ("found", "unknown", "refused", "elsewhere", "info", "missed")
APART = ("kept", "none")  # without effect: Devices equal; the same text


@dataclass(frozen=True)
class Outcome:
    """One fault with its outcome in each mode, and the rules that report it."""

    fault: Fault
    results: Mapping[str, str]
    rules: Mapping[str, Sequence[str]]


class Trial:
    """One random fabric with its saved texts, its reports without a fault, and its faults."""

    def __init__(self, seed: int, directory: Path) -> None:
        self.directory = directory
        self.fabric = directory / "fabric"
        self.derived: DerivedNetwork = random_fabric(seed, self.fabric)
        self.rng = random.Random(seed)
        self.switches = [
            Switch.of(name, _family(self.derived, name), filled_line(text, SECRETS))
            for name, text in render_all(self.derived.network).items()
        ]
        self.texts = {switch.name: switch.text for switch in self.switches}
        self.before = {mode: self.judged(mode, {}) for mode in MODES}

    def outcomes(self, keys: Sequence[str], size: int) -> Iterator[Outcome]:
        """Judge one fault of each row, in the order of the rows, until there are enough."""
        maker = FaultMaker(self.switches, self.rng)
        own = {key for switch in self.switches for key in rows_of(switch.family)}
        for key in keys:
            fault = maker.fault(key) if key in own else None
            if fault is not None and size > 0:
                size -= 1
                yield self.outcome(fault)

    def outcome(self, fault: Fault) -> Outcome:
        """Judge a fault in each mode."""
        apart = "" if fault.has_effect else "none"
        results, rules = {}, {}
        for mode in MODES:
            after = self.judged(mode, fault.texts)
            results[mode], rules[mode] = self._compared(mode, fault, after)
        if apart:
            results = dict.fromkeys(MODES, apart)
        elif self.is_kept(fault):
            silent = ("info", "missed")
            results = {m: "kept" if r in silent else r for m, r in results.items()}
        return Outcome(fault, results, rules)

    def is_kept(self, fault: Fault) -> bool:
        """Whether every faulty text is read as the same Device."""
        try:
            return all(self.device(n, t) == self.device(n) for n, t in fault.texts.items())
        except RocefortError:
            return False

    def device(self, name: str, text: str = "") -> Device:
        """Device of a switch without the defaults of its release, or that of another text of it."""
        node = self.derived.network.by_name[name]
        device = dialect_of(node).parse(text or self.texts[name], f"{name}.cfg").device
        plain = without_defaults(device, node.family) if node.family else device
        return Device.model_validate(_undescribed(plain.model_dump()))

    def judged(self, mode: str, texts: Mapping[str, str]) -> Report | str:
        """Report of `check` and `verify` on the texts; the message of a refused text."""
        folder = self.directory / "texts"
        write_texts({**self.texts, **texts}, folder)
        try:
            subject = self.subject(mode, folder)
        except RocefortError as error:
            return str(error)
        fabric = self.fabric if mode == "intent" else None
        report = check_subject(subject, judging_rules(fabric, texts=True, select=(), ignore=()))
        try:
            solution = analyse(subject.network, subject.sources)
        except RocefortError as error:
            return report if self._is_stated(report, mode, texts) else str(error)
        judged = (subject.network, solution.state, subject.sources, solution)
        verified = report.joined(verify(*judged))
        return verified.joined(verify_segments(*judged)) if fabric else verified

    def subject(self, mode: str, folder: Path) -> ReadNetwork:
        """Network that `check` and `verify` read in a mode."""
        if mode == "text":
            return subject_of_texts(folder)
        return subject_of_running(self.derived, read_directory(folder), str(folder))

    def _is_stated(self, report: Report, mode: str, texts: Mapping[str, str]) -> bool:
        """Whether `check` has an error or warning on texts that `verify` refuses."""
        new = _new(report, self.before[mode]) if texts else []
        return any(each.severity is not Severity.INFO for each in new)

    def _compared(self, mode: str, fault: Fault, after: Report | str) -> tuple[str, Sequence[str]]:
        if isinstance(after, str):
            return "refused", [after.splitlines()[0]]
        new = _new(after, self.before[mode])
        loud = [each for each in new if each.severity is not Severity.INFO]
        right = [each for each in loud if is_right(fault, each)]
        names = [f"{e.rule} {e.where}: {e.message}" for e in right or loud or new]
        if right:
            unknown = all(each.message.endswith("is not understood") for each in right)
            return ("unknown" if unknown else "found"), names
        return ("elsewhere" if loud else "info" if new else "missed"), names


def _undescribed(value: Any) -> Any:
    """Return the content of a model without descriptions, which change nothing."""
    if isinstance(value, dict):
        return {k: _undescribed(v) for k, v in value.items() if k != "description"}
    return tuple(map(_undescribed, value)) if isinstance(value, (list, tuple)) else value


def _new(after: Report, before: Report | str) -> list[Finding]:
    start = before if isinstance(before, Report) else Report(network="", rules=())
    return [each for severity in Severity for each in new_findings(after, start, severity)]


def is_right(fault: Fault, finding: Finding) -> bool:
    """Whether a finding is at a device and a line of the fault."""
    where = finding.where
    if where.device is None or where.device not in fault.texts:
        return False
    return where.interface in fault.interfaces or where.line in fault.lines[where.device]


def _family(derived: DerivedNetwork, name: str) -> SyntaxFamily:
    family = derived.network.by_name[name].syntax
    assert isinstance(family, SyntaxFamily)
    return family


@cache
def reasons() -> tuple[tuple[str, str, str], ...]:
    """Reasons in mutate_text.yaml: mode, beginning of a row, and sentence."""
    entries = yaml.safe_load(REASONS.read_text(encoding="utf-8"))
    return tuple(
        (mode, row, entry["reason"])
        for entry in entries
        for mode in entry["modes"]
        for row in entry["rows"]
    )


def reason_of(row: str, mode: str) -> str:
    """Reason why faults of a row may go unreported in a mode; empty: none is stated."""
    return next((why for own, begin, why in reasons() if own == mode and row.startswith(begin)), "")


def run_fabric(seed: int, keys: Sequence[str], size: int) -> list[Outcome]:
    """Judge faults in the texts of one random fabric."""
    with tempfile.TemporaryDirectory(prefix="rocefort-mutate-text-") as folder:
        return list(Trial(seed, Path(folder)).outcomes(keys, size))


def run(seed: int, size: int, jobs: int) -> list[Outcome]:
    """Judge faults of rows in a shuffled order; each row comes once before any comes twice."""
    keys = sorted({key for family in SyntaxFamily for key in rows_of(family)})
    order = random.Random(seed)
    calls: list[tuple[int, list[str], int]] = []
    deck: list[str] = []
    fabrics = -(-size // FAULTS_PER_FABRIC)
    for number in range(fabrics):
        wished: list[str] = []
        while len(wished) < 2 * FAULTS_PER_FABRIC:  # not every fabric has every row
            if not deck:
                deck = order.sample(keys, len(keys))
            wished.append(deck.pop())
        calls.append((seed * 1000 + number, wished, FAULTS_PER_FABRIC))
    with ProcessPoolExecutor(jobs) as pool:
        parts = pool.map(run_fabric, *zip(*calls, strict=True))
        return [outcome for part in parts for outcome in part][:size]


def table(outcomes: Sequence[Outcome], mode: str) -> Iterator[str]:
    """Yield the lines of a table: outcomes by area."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for outcome in outcomes:
        counts[outcome.fault.area][outcome.results[mode]] += 1
        counts["all"][outcome.results[mode]] += 1
    heads = ("faults", *OUTCOMES, "share", "seen", *APART)
    yield f"{mode:12}" + "".join(f"{head:>10}" for head in heads)
    for area in (*sorted(set(counts) - {"all"}), "all"):
        own = counts[area]
        total = sum(own[outcome] for outcome in OUTCOMES)
        seen = sum(own[outcome] for outcome in ("found", "unknown", "refused"))
        shares = [f"{100 * number // total} %" if total else "-" for number in (own["found"], seen)]
        cells = (total, *(own[outcome] for outcome in OUTCOMES), *shares)
        yield f"{area:12}" + "".join(f"{c:>10}" for c in (*cells, *(own[a] for a in APART)))


def main() -> int:
    """Read the options, judge the faults, and print a table for each mode."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="another seed, other faults")
    parser.add_argument("--sample", type=int, default=300, help="number of faults")
    parser.add_argument("--jobs", type=int, default=2, help="how many at the same time")
    parser.add_argument("--list", action="store_true", help="list faults that are not found")
    options = parser.parse_args()
    outcomes = run(options.seed, options.sample, options.jobs)
    print(f"seed {options.seed}: {len(outcomes)} faults")
    for mode in MODES:
        print("\n".join(("", *table(outcomes, mode))))
        others = [each for each in outcomes if each.results[mode] not in ("found", "none")]
        stated = [each for each in others if reason_of(each.fault.row, mode)]
        print(f"{len(stated)} of {len(others)} other faults have a reason in {REASONS.name}")
    for outcome in outcomes if options.list else ():
        for mode in MODES:
            result = outcome.results[mode]
            if result != "found":
                fault = outcome.fault
                print(f"\n{mode} {result}: {fault.area}, {fault.operation} on one {fault.scope}")
                why = reason_of(fault.row, mode) or "no reason is stated"
                print(f"  {fault.row}\n  {why}\n  {fault.what}")
                print("".join(f"    {line}\n" for line in outcome.rules[mode][:2]), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
