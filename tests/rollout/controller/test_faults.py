"""All named faults of an emulated switch during a rollout.

Whatever it is, the rollout ends with one clear error that names the switch and, where a line was
refused, the line; and every switch is wholly old or wholly new, with nothing left pending.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

import napalm_cloudengine.dialogue
from rocefort.emulator.emulated_site import Rehearsal
from rocefort.emulator.switch.personality import FAULTS, LineFault
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.models.change.plan import Plan
from rocefort.rollout.planning.sealed_files import read_plan, write_plan

CANARY = "leaf08"
LINE = "description detector 4"
TIMEOUT_S = 2


PERSIST = "persist rocefort-{plan}-RUN"
TRIAL = f"'commit trial 600 {PERSIST} description rocefort {{plan}}/RUN'"
UNKNOWN = (
    "outcome unknown; if the trial runs, it reverts automatically when its timer ends: reconnect and "
    "ask the device (has_pending_commit)"
)
NOT_COMMITTED = "nothing was committed; whether the candidate still holds lines is unknown"
NO_TRIAL = (
    "was accepted, but the trial is INACTIVE: it has ended already or the change is permanent; "
    "read the running configuration"
)
CHECK = "check the device and its entry in the connections file"


@dataclass(frozen=True)
class Case:
    """Fault of the canary, with the outcome and the canary's running and saved configuration."""

    fault: LineFault
    says: str
    code: int = 3
    runs: str = "old"
    before: str = "{canary}: "


CASES = [
    Case(
        LineFault("refuse-line", LINE),
        f"line 2 '{LINE}': Error: Unrecognized command found at '^' position.; the candidate was "
        "discarded",
    ),
    Case(
        LineFault("unknown-question", LINE),
        f"line 2 '{LINE}': the switch asked 'Warning: This operation may affect an unexpected "
        "service. Proceed? [Y/N]:', which no known answer fits; it was answered no and the "
        "candidate was discarded",
    ),
    Case(
        LineFault("fail-commit"),
        f"{TRIAL} failed: Error: Failed to generate committed config.; the candidate was discarded",
    ),
    Case(LineFault("hang", LINE), f"no answer for 2 s after '{LINE}' was sent: {NOT_COMMITTED}"),
    Case(LineFault("hang", "commit trial"), f"no answer for 2 s after {TRIAL} was sent: {UNKNOWN}"),
    Case(LineFault("hang-on-commit"), f"no answer for 2 s after {TRIAL} was sent: {UNKNOWN}"),
    Case(LineFault("drop-line", LINE), f"session lost after '{LINE}' was sent: {NOT_COMMITTED}"),
    Case(LineFault("drop-line", "commit trial"), f"session lost after {TRIAL} was sent: {UNKNOWN}"),
    Case(
        LineFault("drop-reply", "display configuration candidate"),
        "session lost after 'display configuration candidate changes' was sent: it only reads, "
        "nothing was changed",
    ),
    Case(
        LineFault("drop-reply", "commit trial"), f"session lost after {TRIAL} was sent: {UNKNOWN}"
    ),
    Case(
        LineFault("drop-reply", "commit persist"),
        f"session lost after 'commit {PERSIST}' was sent: outcome unknown: the trial "
        "is confirmed, still running, or reverted; reconnect, ask the device (has_pending_commit) "
        "and read the running configuration",
        runs="new",
    ),
    Case(
        LineFault("drop-after", "commit trial"),  # the answer and a prompt came, unproven
        f"session lost after {TRIAL} was sent: {UNKNOWN}",
    ),
    Case(LineFault("drop-session-on-commit"), f"session lost after {TRIAL} was sent: {UNKNOWN}"),
    Case(
        LineFault("lie-ok", LINE),
        "the switch would not change what was planned: planned, but not in the switch's diff: "
        "interfaces[25GE1/0/1].description: to readout04 -> detector 4; plan again, or inspect the "
        "switch",
    ),
    Case(LineFault("lie-ok", "commit"), f"{TRIAL} {NO_TRIAL}"),
    Case(LineFault("expire-early", "0"), f"{TRIAL} {NO_TRIAL}"),
    Case(
        LineFault("expire-before-commit"),
        f"'commit {PERSIST}' came too late, no trial runs any more: it ended by its timer, or "
        "another user confirmed or aborted it; read the running configuration",
    ),
    Case(
        LineFault("full-flash"),  # the live checks before the wave find it
        "1 error of the live checks, the first: LIV019 flash: 0 MB are free, limit 100 MB; fix it "
        "first (`rocefort health` lists all), or use `--allow-unhealthy`",
        code=4,
        before="wave canary: the live checks before it failed: {canary} ({fabric}:118): ",
    ),
    Case(
        LineFault("foreign-candidate"),
        "its candidate holds changes that this rollout did not load; let their owner commit or "
        "clear them",
        code=4,
    ),
    Case(
        LineFault("refuse-login"), f"{{address}}: no prompt after the login: session lost; {CHECK}"
    ),
    Case(
        LineFault("wrong-host-key"),
        "{address}: the host key changed: it is ssh-ed25519 SHA256:KEY, known is SHA256:KEY; "
        "not connected; find out why, and compare the fingerprint with the host's own at its "
        "console; if it is the same, `rocefort trust` shows how to replace the old one in {known}",
    ),
]


def test_every_fault_has_a_case() -> None:
    assert {case.fault.name for case in CASES} == set(FAULTS)


@pytest.fixture
def sealed(plan_of: Callable[[Path], Plan], described: Path, tmp_path: Path) -> Path:
    """A plan for two ports on two leaves, which are two waves."""
    write_plan(plan_of(described), tmp_path / "plan.json")
    return tmp_path / "plan.json"


@pytest.fixture
def met(
    request: pytest.FixtureRequest, lab: Rehearsal, sealed: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Rehearsal]:
    """Lab with the fault of the case."""
    canary, fault = lab.switches[CANARY], request.param.fault
    canary.faults = (fault,)
    shows_another_key = fault.name == "wrong-host-key"  # from the moment in which it listens
    if shows_another_key:
        lab.server.reopen(CANARY)
    monkeypatch.setattr(napalm_cloudengine.dialogue, "COMMIT_TIMEOUT_S", TIMEOUT_S)
    yield lab
    canary.faults = ()
    if shows_another_key:
        lab.server.reopen(CANARY)


def stands(switch: EmulatedSwitch, old: object) -> str:
    """Whether a switch has the baseline, or the baseline and the one new line."""
    if switch.running == old:
        return "old"
    new = [line for top in switch.running for _, line in top.walk() if "detector" in line.text]
    return "new" if len(new) == 1 else "neither"


@pytest.mark.parametrize(
    ("case", "met"),
    [(case, case) for case in CASES],
    indirect=["met"],
    ids=[f"{case.fault.name}@{case.fault.match}".rstrip("@") for case in CASES],
)
def test_one_clear_error_and_every_switch_is_old_or_new(
    case: Case, met: Rehearsal, sealed: Path, command: Callable[..., Any], tmp_path: Path
) -> None:
    old = {name: switch.running for name, switch in met.switches.items()}
    connections = tmp_path / "connections.yaml"
    content = yaml.safe_load(met.file.read_text()) | {"command_timeout_s": TIMEOUT_S}
    connections.write_text(yaml.safe_dump(content))
    words = ("--connections", connections, "--journal", tmp_path / "journal")
    ran = command("apply", sealed, *words, "--progress", "plain")
    output = re.sub(r"SHA256:[^,; ]+", "SHA256:KEY", " ".join((ran.err + ran.out).split()))
    output = re.sub(r"(?<=[0-9a-f]{12})([-/])[0-9a-f]{8}\b", r"\1RUN", output)
    (access,) = [device for device in met.connections.devices if device.name == CANARY]
    plan = read_plan(sealed)
    expected = f"stopped: {case.before}{case.says}".format(
        canary=CANARY,
        fabric=plan.source,
        plan=plan.digest[:12],
        address=f"{access.host}:{access.port}",
        known=met.connections.known_hosts,
    )
    assert "".join(expected.split()) in "".join(output.split())  # a long path may be broken
    assert output.count("stopped: ") == 1
    assert ran.code == case.code
    for name, switch in met.switches.items():
        switch.tick()
        runs = case.runs if name == CANARY else "old"  # and so the next wave was not begun
        assert stands(switch, old[name]) == runs, name
        assert switch.saved == switch.running
        assert switch.trial is None
        assert not any(map(switch.dirty, switch.logins))
