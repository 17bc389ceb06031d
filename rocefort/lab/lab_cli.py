"""Steps of `lab cli`: a fabric's command lines, here or in the background, until they end."""

from __future__ import annotations

import fcntl
import os
import shlex
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from napalm.base.exceptions import ConnectionException

from napalm_cloudengine import regular_file
from napalm_cloudengine.connect import SessionBrokenError, connecting, ssh_options
from napalm_cloudengine.masking import mask_secrets
from napalm_cloudengine.parse import PromptAnswer
from napalm_cloudengine.transport import CloudEngineSSH
from rocefort.base.actions import BackgroundProcess, Done
from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput, DeviceFailed, ServiceFailed
from rocefort.base.processes import LOOK_S, Background, in_background
from rocefort.base.secret_references import resolve
from rocefort.design.derive.derive import derive
from rocefort.design.derive.host_plans import host_plans
from rocefort.design.subject import subject_of_derived
from rocefort.emulator.emulated_site import CONSOLES_FILE, STATE_FILE, Rehearsal, rehearse
from rocefort.emulator.options import LabOptions
from rocefort.emulator.servers.sandbox import write_cables
from rocefort.emulator.state.state_faults import STATE_FAULTS
from rocefort.emulator.switch.store import lock_file
from rocefort.fleet.connections import load_connections
from rocefort.lab.lab_report import LabAccess, LabAccesses, accesses_report
from rocefort.lab.twin.cli_faults import LineFaults
from rocefort.models.network.network import Network
from rocefort.models.network.servers import HostPlan
from rocefort.models.wording import count_of
from rocefort.reports.blocks import Block

LOG = "lab.log"
FAULTS_FILE, IN_FORCE_FILE = "faults.json", "faults-in-force.json"
WATCH_S = 0.1
ENDS_WITHIN_S = 30.0


def mark_ready(state: Path) -> None:
    """Write the process number of this lab, which has the lock."""
    lock_file(state / STATE_FILE).write_text(f"{os.getpid()}\n", encoding="ascii")


def detach_lab(words: Sequence[str], state: Path) -> Background:
    """Run `lab cli` in a session of its own; return when it is ready, or has ended.

    Raises ServiceFailed if it cannot be started.
    """
    try:
        state.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = error.strerror or "cannot be made"
        raise ServiceFailed(what, where=str(state), how="choose another folder") from None
    return in_background(words, state / LOG, lambda process: _process(state) == process)


def started(lab: Background, state: Path) -> BackgroundProcess:
    """Return what a user needs of a lab that runs in the background."""
    stop = shlex.join(["rocefort", "lab", "stop", "--state", str(state)])
    message = (
        f"process {lab.process} runs the lab without this terminal; output: {state / LOG}\n"
        f"connections: {state / 'connections.yaml'}\n"
        f"to stop it:  {stop}\n"
    )
    return BackgroundProcess(process=lab.process, log=str(state / LOG), message=message)


def stop_lab(state: Path) -> None:
    """End the lab of a directory, and wait for its end.

    Raises BadInput if none runs there, ServiceFailed if it does not end.
    """
    if not runs_in(state):
        how = "name the directory of a running lab with --state"
        raise BadInput("no lab runs there", where=str(state), how=how)
    process = _process(state)
    if process is None:
        how = "wait until it is ready, then stop it again"
        raise ServiceFailed("the lab is still starting", where=str(state), how=how)
    try:
        os.kill(process, signal.SIGTERM)
    except OSError as error:
        what = f"process {process} cannot be ended: {error.strerror}"
        raise ServiceFailed(what, where=str(state)) from None
    until = time.monotonic() + ENDS_WITHIN_S
    while runs_in(state):
        if time.monotonic() > until:
            what = f"process {process} has not ended within {ENDS_WITHIN_S:g} s"
            raise ServiceFailed(what, where=str(state), how=f"end it by `kill -9 {process}`")
        time.sleep(LOOK_S)


def runs_in(state: Path) -> bool:
    """Whether a lab has the lock of a directory; the kernel frees that of one that was killed."""
    try:
        with lock_file(state / STATE_FILE).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # no lab was ever there
        return False
    return False


def _process(state: Path) -> int | None:
    """Process of a lab that is ready; None: it is not, or none was there."""
    try:
        text = lock_file(state / STATE_FILE).read_text(encoding="ascii")
    except FileNotFoundError:
        return None
    return int(text) if text.endswith("\n") else None


Write = Callable[[LabAccesses, Callable[[LabAccesses], Iterable[Block]]], None]


def run_lab(fabric: Path, state: Path, options: LabOptions, write: Write) -> None:
    """Run a lab until it is interrupted; write the SSH command of each switch and server."""
    # No part of the design is kept here: a fabric of 200 switches has 50 MB of it.
    network, texts, servers = _designed(fabric)
    with rehearse(network, texts, state, replace(options, servers=servers)) as rehearsal:
        del network, texts, servers
        write(_running(rehearsal, state, options), accesses_report)
        # A shell's background job ignores Ctrl-C's signal, so `kill` must also end the lab.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        faults = LineFaults(
            injected=state / FAULTS_FILE,
            in_force=state / IN_FORCE_FILE,
            switches=rehearsal.switches,
            model=rehearsal.model,
            names=STATE_FAULTS,
        )
        for file in (faults.injected, faults.in_force):
            file.unlink(missing_ok=True)
        write_cables(state / "rdma" / "wire", {})
        mark_ready(state)
        with suppress(KeyboardInterrupt):
            while True:
                time.sleep(WATCH_S)
                follow_cables(faults, rehearsal, state)


def follow_cables(faults: LineFaults, rehearsal: Rehearsal, state: Path) -> None:
    """Put the faults of a file in force, and let the servers notice cables that are gone."""
    if not faults.changed():
        return
    rehearsal.server.call(faults.follow)
    now, lost = time.time(), dict[str, float]()
    cabling = rehearsal.model.cabling or {}
    for switch, injected in rehearsal.model.faults:
        port = (switch, injected.fault.interface)
        if injected.fault.name == "link-down":
            ends = (switch, cabling[port][0]) if port in cabling else (switch,)
            lost |= dict.fromkeys(ends, now)
    write_cables(state / "rdma" / "wire", lost)
    faults.report()


def _running(rehearsal: Rehearsal, state: Path, options: LabOptions) -> LabAccesses:
    """Return the SSH access of each switch and server."""
    known = rehearsal.connections
    end = f"connections: {rehearsal.file}; passwords in {state}/*.secret; Ctrl-C ends the lab"
    return LabAccesses(
        connections=str(rehearsal.file),
        accesses=tuple(
            LabAccess(name=each.name, host=each.host, port=each.port, user=each.user)
            for each in (*known.devices, *known.servers)
        ),
        notes=(*_state_notes(rehearsal, state, options), end),
    )


def _designed(fabric: Path) -> tuple[Network, Mapping[str, str], Mapping[str, HostPlan]]:
    """Network, texts of the switches, and settings of the servers, if the fabric has them."""
    derived = derive(fabric)
    subject = subject_of_derived(derived)
    try:
        servers = host_plans(derived)
    except BadInput:
        servers = {}
    return subject.network, subject.texts, servers


def _state_notes(rehearsal: Rehearsal, state: Path, options: LabOptions) -> Iterator[str]:
    at = "" if state == Path("lab") else f" --state {shlex.quote(str(state))}"
    for name in rehearsal.server.consoles:
        yield (
            f"{name} started out of its box; its SSH answers after day 0: "
            f"rocefort lab console {name} FILE{at}; host key {rehearsal.server.fingerprint(name)}"
        )
    if rehearsal.restored:
        count, file = len(rehearsal.restored), state / STATE_FILE
        what = (
            "run their saved configuration"
            if options.power_loss
            else "continue from their last state"
        )
        yield (
            f"{count} of {len(rehearsal.switches)} switches {what}; without {file} they start again"
        )


ANY_QUESTION = (PromptAnswer(question="", answer="Y"),)  # day 0: "answer Y to each prompt"
CONSOLE_S = 30.0  # of one reply


def type_at_console(state: Path, switch: str, file: Path) -> Done:
    """Type the lines of a file at the console of a switch out of its box; every question gets Y.

    Raises BadInput without such a console or file, DeviceFailed at the first line that the switch
    refuses.
    """
    lines = _console_lines(file)
    consoles = state / CONSOLES_FILE
    if not consoles.exists():
        how = f"start the lab with --factory {switch}"
        raise BadInput("no switch has a console there", where=str(state), how=how)
    known = load_connections(consoles)
    access = next((each for each in known.devices if each.name == switch), None)
    if access is None:
        names = [each.name for each in known.devices]
        raise BadInput("has no console", where=switch, how=nearest(switch, names))
    options = ssh_options({"port": access.port, "ssh_known_hosts": known.known_hosts}, CONSOLE_S)
    try:
        with connecting(access.host, options, access.user):
            session = CloudEngineSSH(
                device_type="huawei_vrpv8",
                host=access.host,
                username=access.user,
                password=resolve(access.credential).reveal(),
                timeout=CONSOLE_S,
                reply_timeout_s=CONSOLE_S,
                **options,
            )
    except ConnectionException as error:
        how = getattr(error, "how", "check that the lab runs")
        raise DeviceFailed(getattr(error, "what", str(error)), where=switch, how=how) from None
    try:
        for number, line in enumerate(lines, 1):
            reply = session.enter(line, ANY_QUESTION, CONSOLE_S)
            if refusal := reply.errors or reply.failures:
                what = f"refuses {mask_secrets(line.strip())!r}: {mask_secrets(' '.join(refusal))}"
                where = f"{file}, line {number}"
                raise DeviceFailed(f"{switch} {what}", where=where, how="correct the file")
        session.settle()
    except SessionBrokenError as error:
        raise DeviceFailed(f"{switch}: {error.why}", where=str(file)) from None
    finally:
        session.disconnect()
    entered = count_of(len(lines), "line")
    return Done(message=f"{switch}: {entered} of {file} entered at its console, none refused")


def _console_lines(file: Path) -> list[str]:
    try:
        text = regular_file.read_text(file)
    except (OSError, UnicodeDecodeError) as error:
        what = getattr(error, "strerror", None) or "is not a text"
        how = "write it with `rocefort day0 FABRIC SWITCH --out FILE`"
        raise BadInput(f"cannot be read: {what}", file=str(file), how=how) from None
    return [line for line in text.splitlines() if line.strip()]
