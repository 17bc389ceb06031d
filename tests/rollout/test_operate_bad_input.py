"""Bad input of a rollout: each case is one line with an exit code; nothing is changed."""

from __future__ import annotations

import os
import platform
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from rocefort.dialects.vrp.text.config_tree import parse_tree
from rocefort.emulator.emulated_site import Rehearsal
from rocefort.models.change.plan import Plan
from rocefort.rollout.journal.lock import one_controller
from rocefort.rollout.operator import release, user
from rocefort.rollout.planning.sealed_files import read_plan, write_plan

PORT = "  - name: readout04\n"  # at leaf08, the canary
FOREIGN = "ntp unicast-server 10.255.0.9\n"


@dataclass
class Site:
    """Sealed plan for leaf08, its switches and their connections."""

    lab: Rehearsal
    directory: Path
    plan: Plan
    held: ExitStack = field(default_factory=ExitStack)
    closed: int = 0  # a port without a listener

    @property
    def file(self) -> Path:
        return self.directory / "plan.json"

    @property
    def connections(self) -> Path:
        return self.directory / "connections.yaml"

    @property
    def address(self) -> str:
        (leaf,) = [d for d in self.lab.connections.devices if d.name == "leaf08"]
        return f"{leaf.host}:{leaf.port}"

    def edit(self, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> None:
        """Edit the connections: all of them, and leaf08's entry."""
        content = yaml.safe_load(self.connections.read_text())
        (leaf,) = [d for d in content["devices"] if d["name"] == "leaf08"]
        change(content, leaf)
        self.connections.write_text(yaml.safe_dump(content))


@pytest.fixture
def site(
    lab: Rehearsal,
    edit_hall: Callable[..., Path],
    plan_of: Callable[[Path], Plan],
    tmp_path: Path,
) -> Iterator[Site]:
    plan = plan_of(edit_hall((PORT, f"{PORT}    description: detector 4\n")))
    prepared = Site(lab, tmp_path, plan)
    write_plan(plan, prepared.file)
    prepared.connections.write_text(lab.file.read_text())
    with prepared.held:
        yield prepared


# --- what is done to the site ---------------------------------------------------------------------


def unreachable(site: Site) -> None:
    """A port that refuses: bound, so that no other process gets it, and without a listener."""
    bound = site.held.enter_context(socket.socket())
    bound.bind(("127.0.0.1", 0))
    site.closed = bound.getsockname()[1]
    site.edit(lambda _, leaf: leaf.update(port=site.closed))


def wrong_password(site: Site) -> None:
    secret = site.directory / "wrong"
    secret.touch(mode=0o600)
    secret.write_text("wr0ng-canary-password")
    site.edit(lambda _, leaf: leaf.update(credential=f"file:{secret}"))


def no_password(site: Site) -> None:
    site.edit(lambda _, leaf: leaf.update(credential="env:NO_SUCH_VARIABLE"))


def open_password(site: Site) -> None:
    secret = site.directory / "open"
    secret.write_text("x")
    secret.chmod(0o644)
    site.edit(lambda _, leaf: leaf.update(credential=f"file:{secret}"))


def changed_host_key(site: Site) -> None:
    lines = Path(site.lab.connections.known_hosts).read_text().splitlines()
    port = site.address.split(":")[1]
    mine = [line for line in lines if f":{port} " in line]
    (other,) = [line for line in lines if "leaf07" in line or _port_of(site, "leaf07") in line][:1]
    key = other.split(" ", 1)[1]
    rest = [line for line in lines if line not in mine]
    record = site.directory / "known_hosts"
    record.write_text("\n".join([*rest, *(f"{m.split(' ', 1)[0]} {key}" for m in mine)]) + "\n")
    site.edit(lambda content, _: content.update(known_hosts=str(record)))


def unknown_host_key(site: Site) -> None:
    lines = Path(site.lab.connections.known_hosts).read_text().splitlines()
    port = site.address.split(":")[1]
    record = site.directory / "short_known_hosts"
    record.write_text("\n".join(line for line in lines if f":{port} " not in line) + "\n")
    site.edit(lambda content, _: content.update(known_hosts=str(record)))


def _port_of(site: Site, name: str) -> str:
    (device,) = [d for d in site.lab.connections.devices if d.name == name]
    return f":{device.port} "


def another_switch(site: Site) -> None:
    port = int(_port_of(site, "leaf07")[1:])
    site.edit(lambda _, leaf: leaf.update(port=port))


def one_byte(site: Site) -> None:
    text = site.file.read_text()
    assert text.count("detector 4") >= 1
    site.file.write_text(text.replace("detector 4", "detector 5", 1))


def not_json(site: Site) -> None:
    site.file.write_text("{")


def of_another_fabric(site: Site) -> None:
    def rename(content: dict[str, Any], _: dict[str, Any]) -> None:
        for device in content["devices"]:
            device["name"] = f"other-{device['name']}"

    site.edit(rename)


def by_another_version(site: Site) -> None:
    write_plan(site.plan.model_copy(update={"tool": "rocefort 9.9"}).seal(), site.file)


def older_than_running(site: Site) -> None:
    leaf = site.lab.switches["leaf08"]
    leaf.running = leaf.saved = (*leaf.running, *parse_tree(FOREIGN))


def running_not_saved(site: Site) -> None:
    leaf = site.lab.switches["leaf08"]
    leaf.saved = (*leaf.saved, *parse_tree(FOREIGN))


def second_controller(site: Site) -> None:
    addresses = [f"{d.host}:{d.port}" for d in site.lab.connections.devices]
    site.held.enter_context(one_controller(addresses))


def fabric_changed(site: Site) -> None:
    source = Path(site.plan.source)
    before = source.read_text(encoding="utf-8")
    source.write_text(before.replace("detector 4", "detector 6"), encoding="utf-8")


CASES: list[tuple[Callable[[Site], None], int, str]] = [
    (
        unreachable,
        3,
        "stopped: leaf08: 127.0.0.1:{closed}: no connection: it refuses connections; check the port, "
        "and that its SSH server runs (`stelnet server enable`)",
    ),
    (
        wrong_password,
        3,
        "stopped: leaf08: {address} refuses the login of 'netops'; check name, password or key",
    ),
    (
        no_password,
        2,
        "rocefort: env:NO_SUCH_VARIABLE: the environment has no variable NO_SUCH_VARIABLE, and leaf08 "
        "uses it; export NO_SUCH_VARIABLE with the password, or change the credential",
    ),
    (
        open_password,
        4,
        "rocefort: file:{directory}/open: the file has mode 0644, not 0600, and leaf08 uses it; "
        "chmod 600 {directory}/open",
    ),
    (
        changed_host_key,
        3,
        "stopped: leaf08: {address}: the host key changed: it is ssh-ed25519 SHA256:KEY, known is "
        "SHA256:KEY; not connected; find out why, and compare the fingerprint with the host's own "
        "at its console; if it is the same, `rocefort trust` shows how to replace the old one in "
        "{directory}/known_hosts",
    ),
    (
        unknown_host_key,
        3,
        "stopped: leaf08: {address} shows the host key SHA256:KEY, which is not on record; compare "
        "the fingerprint with the host's own at its console; if it is the same, `rocefort trust` "
        "adds it to {directory}/short_known_hosts",
    ),
    (
        another_switch,
        4,
        "stopped: leaf08: the switch reports the name 'leaf07'; check its management address; nothing "
        "was changed on it",
    ),
    (
        one_byte,
        4,
        "rocefort: {directory}/plan.json: was changed after it was sealed; plan again",
    ),
    (
        not_json,
        4,
        "rocefort: {directory}/plan.json: is not a plan of this version; plan again",
    ),
    (
        of_another_fabric,
        4,
        "rocefort: {directory}/plan.json: plan is for fabric heps; {directory}/connections.yaml lists "
        "none of its switches; name the connections of that fabric",
    ),
    (
        by_another_version,
        4,
        f"was made by rocefort 9.9, and this is rocefort {release()}; apply it with that version, "
        "or plan again",
    ),
    (
        older_than_running,
        4,
        "stopped: leaf08: its running configuration is not the one that the plan was made against; "
        "plan again",
    ),
    (
        running_not_saved,
        4,
        "LIV020 startup: the running configuration is not saved; fix it first (`rocefort health` lists all), or "
        "use `--allow-unhealthy`",
    ),
    (
        second_controller,
        4,
        "another controller (process {process} of {user} on {host}, since TIME) applies a plan; "
        "wait for it to end",
    ),
    (
        fabric_changed,
        4,
        "rocefort: {source}: the fabric has changed since the plan; plan again",
    ),
]


@pytest.mark.parametrize(
    ("spoil", "code", "sentence"), CASES, ids=lambda v: getattr(v, "__name__", "")
)
def test_one_line_and_its_exit_code_and_nothing_changed(
    site: Site, command: Callable[..., Any], spoil: Callable[[Site], None], code: int, sentence: str
) -> None:
    spoil(site)
    before = {name: (s.running, s.saved) for name, s in site.lab.switches.items()}
    ran = command("apply", site.file, "--connections", site.connections)
    output = " ".join((ran.err or ran.out.split("\njournal ")[0]).split())
    output = re.sub(r"SHA256:[^,;]+", "SHA256:KEY", output)
    output = re.sub(r"since \S+ \S+ UTC", "since TIME", output)
    expected = sentence.format(
        address=site.address,
        closed=site.closed,
        directory=site.directory,
        source=site.plan.source,
        process=os.getpid(),
        user=user(),
        host=platform.node(),
    )
    assert expected in output
    assert ran.code == code
    assert {n: (s.running, s.saved) for n, s in site.lab.switches.items()} == before
    assert all(switch.trial is None for switch in site.lab.switches.values())
    assert "wr0ng-canary-password" not in ran.out + ran.err
    if ran.err:
        assert len(ran.err.splitlines()) == 1


def test_the_plan_is_otherwise_sound(site: Site) -> None:
    assert read_plan(site.file).digest == site.plan.digest
