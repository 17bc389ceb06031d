"""Shared lab of the tests: each test gets it as at its start, after any other test."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from shared_lab import SharedLab, parts_of, picture, shared_lab, unlike

from napalm_cloudengine import CloudEngineDriver
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.design.subject import subject_of_derived
from rocefort.emulator.cli.session import CliSession
from rocefort.emulator.emulated_site import BANDWIDTH, BLOCKED, Rehearsal
from rocefort.emulator.show.hardware import back_up
from rocefort.emulator.state.state_faults import read_state_fault
from rocefort.emulator.switch.personality import LineFault

# Differences between two labs of one fabric that have just started.
OF_ONE_LAB = {"booted", "changed", "changed_at", "flash", "ports", "known_hosts_text", "state_dir"}
FAULT = LineFault("hang", "display version")
CARRIED = {("servers", "_loop"), ("servers", "_listeners")}  # callbacks that end its sessions


@pytest.fixture
def driver(hall_shared: SharedLab) -> Iterator[CloudEngineDriver]:
    """Open a session of leaf08 over SSH."""
    lab = hall_shared.lab
    (access,) = [device for device in lab.connections.devices if device.name == "leaf08"]
    options = {"port": access.port, "ssh_known_hosts": str(lab.connections.known_hosts)}
    driver = CloudEngineDriver(access.host, access.user, lab.server.password, optional_args=options)
    driver.open()
    yield driver
    driver.close()


def spoil(lab: Rehearsal, driver: CloudEngineDriver) -> None:
    """Leave all that a dying rollout can leave, and more."""
    driver.load_merge_candidate(config="ntp unicast-server 10.255.0.9")
    driver.commit_config(revert_in=600)
    leaf, other = lab.switches["leaf08"], lab.switches["leaf07"]
    session = CliSession(other, "somebody")
    for line in ("system-view", "configuration exclusive", "ntp unicast-server 10.255.0.9"):
        assert "Error" not in session.handle(line).text
    back_up(other, "old.cfg")
    leaf.faults = (FAULT,)
    assert leaf.fault("hang", "display version")
    leaf.clock = lambda: 0.0
    lab.server.lose_power("spine01")
    lab.model.inject("spine01", read_state_fault("ai-ecn-abnormal", "100GE1/1/1"))
    lab.model.peers("spine01")
    lab.replay(BANDWIDTH, BLOCKED[BANDWIDTH])


def test_a_lab_that_is_reset_is_like_one_that_has_just_started(
    hall: DerivedNetwork, hall_shared: SharedLab, driver: CloudEngineDriver, tmp_path: Path
) -> None:
    lab = hall_shared.lab
    spoil(lab, driver)
    spoilt = unlike(picture(lab), hall_shared.start)
    of_leaf = {"running", "points", "trial", "logins", "last_session", "faults"}
    assert {("leaf08", name) for name in (*of_leaf, "strikes", "clock", "changed_at")} <= spoilt
    assert {("leaf07", name) for name in ("lock", "candidates", "logins")} <= spoilt
    assert {("spine01", "booted"), ("model", "faults"), ("servers", "_chosen")} <= spoilt
    assert {("files", "flash/leaf07/old.cfg"), ("listeners", "_listeners")} <= spoilt
    hall_shared.reset()
    patience = time.monotonic() + 10  # the end of a session takes a moment to arrive
    while driver.is_alive()["is_alive"] and time.monotonic() < patience:
        time.sleep(0.05)
    assert not driver.is_alive()["is_alive"]
    with shared_lab(subject_of_derived(hall), tmp_path) as fresh:
        apart = unlike(picture(lab), picture(fresh.lab))
        assert {name for part, name in apart if part != "files"} == OF_ONE_LAB
        assert {key for key in picture(lab) if key not in picture(fresh.lab)} == set()


def test_no_attribute_of_a_lab_can_be_forgotten(hall_shared: SharedLab) -> None:
    """Also one that is added later: each is overwritten, or emptied, and put back."""
    lab = hall_shared.lab
    for part, thing in parts_of(lab).items():
        if part == "listeners":
            continue
        for name, value in list(vars(thing).items()):
            if (part, name) in CARRIED:
                continue
            setattr(thing, name, FAULT)
            assert (part, name) in unlike(picture(lab), hall_shared.start)
            if isinstance(value, list):
                value.append(FAULT)
            elif isinstance(value, dict) and value is not lab.switches:
                value["of this test"] = FAULT
        thing.__dict__["of_this_test"] = 1
    hall_shared.reset()


def test_what_cannot_be_put_back_is_told(hall_shared: SharedLab) -> None:
    server = hall_shared.lab.server
    user, server.user = server.user, "somebody"
    with pytest.raises(AssertionError, match=r"\('listeners', 'user'\)"):
        hall_shared.reset()
    server.user = user
    hall_shared.reset()
