"""State on disk after a killed lab, a power loss and an expired trial."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from netmiko import ConnectHandler

from rocefort.base.errors import BadInput, ServiceFailed
from rocefort.emulator.cli.server import LabServer, run_in_thread
from rocefort.emulator.switch.personality import Personality, TrialMode
from rocefort.emulator.switch.store import Pool, Store, lose_power
from rocefort.emulator.switch.switch import EmulatedSwitch

MakeSwitch = Callable[..., EmulatedSwitch]
MTU = ("system-view", "interface 100GE1/0/1", "mtu 9100")

LAB = """
import asyncio, sys
from pathlib import Path
from rocefort.emulator.switch.personality import Personality
from rocefort.emulator.cli.server import LabServer
from rocefort.emulator.switch.store import Pool
from rocefort.emulator.switch.store import Store
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.models.hardware.hardware import SyntaxFamily

async def main(state, mode):
    options = {"personality": Personality(mode)}
    switch = EmulatedSwitch("leaf01", "sysname leaf01\\n", SyntaxFamily.V300_G1, **options)
    with Store(state / "switches.db") as store:
        store.restore(switch, Pool())
        async with LabServer({"leaf01": switch}, state, store=store) as lab:
            print(lab.ports["leaf01"], flush=True)
            await asyncio.Event().wait()

asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
"""


@contextmanager
def real_lab(state: Path, mode: TrialMode) -> Iterator[tuple[subprocess.Popen[str], Any]]:
    """Run a lab in a process of its own, and a stock Netmiko in it; killed at the end."""
    command = [sys.executable, "-c", LAB, str(state), mode]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline())
            client = ConnectHandler(
                device_type="huawei_vrpv8",
                host="127.0.0.1",
                port=port,
                username="netops",
                password="emulated-only",
                ssh_strict=True,
                alt_host_keys=True,
                alt_key_file=str(state / "known_hosts"),
                fast_cli=True,
            )
            yield process, client
        finally:
            process.send_signal(signal.SIGKILL)


def shown(client: Any, command: str) -> str:
    return str(client.send_command(command, read_timeout=20))


def type_line(client: Any, line: str) -> None:
    client.send_command(line, expect_string=r"[>\]]", read_timeout=20)


def test_a_killed_lab_goes_on_where_it_was(tmp_path: Path) -> None:
    with real_lab(tmp_path, "survives") as (_, client):
        for line in ("system-view", "sysname kept", "commit label first", "vlan 10", "quit"):
            type_line(client, line)
        type_line(client, "commit trial 600")
        type_line(client, "vlan 20")  # not committed: it ends with its session
    with real_lab(tmp_path, "survives") as (_, client):
        config = shown(client, "display current-configuration")
        assert "sysname kept" in config
        assert "vlan batch 10\n" in config, "and not the uncommitted 20"
        status = shown(client, "display configuration trial status")
        assert "Trial status: ACTIVE" in status
        seconds_left = int(status.split("(sec):")[1].split()[0])
        assert 500 < seconds_left < 600
        assert "first" in shown(client, "display configuration commit list")
        type_line(client, "system-view")
        type_line(client, "commit")
    with real_lab(tmp_path, "survives") as (_, client):
        assert "vlan batch 10" in shown(client, "display current-configuration")
        assert "INACTIVE" in shown(client, "display configuration trial status")
        assert "vlan batch 10" not in shown(client, "display saved-configuration")


def test_a_trial_that_dies_with_its_session_dies_with_the_lab(tmp_path: Path) -> None:
    with real_lab(tmp_path, "dies-with-session") as (_, client):
        for line in ("system-view", "sysname tried", "commit trial 600"):
            type_line(client, line)
    with real_lab(tmp_path, "dies-with-session") as (_, client):
        assert "sysname leaf01" in shown(client, "display current-configuration")
        assert "ROLLBACK" in shown(client, "display configuration commit list verbose")


class Wall:
    """A clock and a calendar that a test moves together; a new process starts its clock again."""

    def __init__(self) -> None:
        self.passed = 0.0
        self.started = 0.0

    def clock(self) -> float:
        return self.passed - self.started

    def now(self) -> datetime:
        return datetime(2026, 1, 2, tzinfo=UTC) + timedelta(seconds=self.passed)

    def make(self, make_switch: MakeSwitch, **options: Any) -> EmulatedSwitch:
        self.started = self.passed
        options = {"personality": Personality("survives"), **options}
        return make_switch(clock=self.clock, now=self.now, **options)


@pytest.mark.parametrize(("away", "mtu"), [(119, "mtu 9100"), (120, "mtu 9000")])
def test_a_trial_goes_on_by_the_wall_clock_while_no_lab_runs(
    make_switch: MakeSwitch, open_talk: Any, tmp_path: Path, away: int, mtu: str
) -> None:
    wall = Wall()
    switch = wall.make(make_switch)
    with Store(tmp_path / "switches.db") as store:
        open_talk(switch)(*MTU, "commit trial 180")
        wall.passed += 60
        store.keep(switch)
    wall.passed += away
    again = wall.make(make_switch)
    with Store(tmp_path / "switches.db") as store:
        assert store.restore(again, Pool())
    talk = open_talk(again)
    assert mtu in talk("display current-configuration interface 100GE1/0/1")
    seconds_left = 1 if away == 119 else 0
    assert f"(sec): {seconds_left}" in talk("display configuration trial status")
    if not seconds_left:
        assert again.points[-1].at == datetime(2026, 1, 2, 0, 3, tzinfo=UTC), "when it expired"
    assert again.clock() - again.booted == 60 + away


def test_what_is_restored_is_what_was_kept(
    make_switch: MakeSwitch, open_talk: Any, tmp_path: Path
) -> None:
    switch = make_switch()
    talk = open_talk(switch)
    talk(*MTU, "commit label one description a first one")
    talk("mtu 9200", "commit trial 100 persist other", "return", "save", "y")
    with Store(tmp_path / "switches.db") as store:
        store.keep(switch)
    again = make_switch(startup="sysname other\n")
    with Store(tmp_path / "switches.db") as store:
        assert store.restore(again, Pool())
        assert not store.restore(make_switch(name="leaf02"), Pool())
    # The line number in its file is not kept.
    pool = Pool()
    assert again.running == pool.share(switch.running)
    assert again.saved == pool.share(switch.saved)
    assert (again.changed_at, again.last_session) == (switch.changed_at, switch.last_session)
    assert again.points == tuple(
        replace(p, before=pool.share(p.before), after=pool.share(p.after)) for p in switch.points
    )
    assert again.trial is not None
    assert switch.trial is not None
    assert again.trial == replace(switch.trial, before=pool.share(switch.trial.before))
    assert again.points[-1].after is again.running, "trees are shared as they were"


def test_a_switch_is_written_only_when_it_changed(
    make_switch: MakeSwitch, open_talk: Any, tmp_path: Path
) -> None:
    switch = make_switch()
    with Store(tmp_path / "switches.db") as store, sqlite3.connect(store.path) as other:
        store.keep(switch)
        version = other.execute("PRAGMA data_version").fetchone()
        open_talk(switch)("display version")
        switch.last_session = 0
        assert other.execute("PRAGMA data_version").fetchone() == version
        open_talk(switch)(*MTU, "commit")
        store.keep(switch)
        assert other.execute("PRAGMA data_version").fetchone() != version
    other.close()
    assert (tmp_path / "switches.db").stat().st_mode & 0o777 == 0o600


def test_a_power_loss_leaves_what_was_saved(make_switch: MakeSwitch, open_talk: Any) -> None:
    switch = make_switch()
    talk = open_talk(switch)
    talk(*MTU, "commit", "return", "save", "y", "system-view", "sysname tried", "commit trial")
    lose_power(switch)
    assert switch.hostname == "leaf01"
    assert switch.trial is None
    assert not switch.candidates
    assert "mtu 9100" in open_talk(switch)("display current-configuration")


def test_losing_power_ends_the_sessions_of_that_switch_alone(
    make_switch: MakeSwitch, tmp_path: Path
) -> None:
    switches = {name: make_switch(name=name) for name in ("leaf01", "leaf02")}
    with run_in_thread(LabServer(switches, tmp_path)) as lab:
        clients = [
            ConnectHandler(
                device_type="huawei_vrpv8",
                host="127.0.0.1",
                port=lab.ports[name],
                username=lab.user,
                password=lab.password,
                ssh_strict=True,
                alt_host_keys=True,
                alt_key_file=str(lab.known_hosts),
                fast_cli=True,
            )
            for name in switches
        ]
        type_line(clients[0], "system-view")
        type_line(clients[0], "sysname lost")
        type_line(clients[0], "commit")
        lab.lose_power("leaf01")
        assert "leaf01" in shown(clients[1], "display current-configuration | include sysname")
        with pytest.raises(Exception, match=r"(?i)closed|socket|pattern"):
            shown(clients[0], "display version")
        with pytest.raises(BadInput, match="no switch is called 'leaf9'; did you mean 'leaf02'"):
            lab.lose_power("leaf9")
    assert switches["leaf01"].hostname == "leaf01"


@pytest.mark.parametrize(
    ("damage", "error", "sentence"),
    [
        (
            "not a database at all, but long enough",
            ServiceFailed,
            "not a state file of a lab: file is not",
        ),
        ("PRAGMA user_version=9", BadInput, "state of a lab in form 9; this Rocefort reads form 1"),
        ("UPDATE switches SET state='{}'", BadInput, "the state of leaf01 cannot be read"),
        ("DELETE FROM trees", BadInput, "the state of leaf01 cannot be read"),
    ],
)
def test_a_state_that_cannot_be_read_is_one_clear_error(
    make_switch: MakeSwitch, tmp_path: Path, damage: str, error: type[Exception], sentence: str
) -> None:
    path = tmp_path / "switches.db"
    if damage.startswith("not"):
        path.write_text(damage * 100)
    else:
        with Store(path) as store:
            store.keep(make_switch())
        database = sqlite3.connect(path)
        with database:
            database.execute(damage)
        database.close()
    with pytest.raises(error, match=sentence), Store(path) as store:
        store.restore(make_switch(), Pool())


def test_two_labs_do_not_share_a_folder(make_switch: MakeSwitch, tmp_path: Path) -> None:
    path = tmp_path / "switches.db"
    with Store(path), pytest.raises(ServiceFailed, match="another lab runs there"), Store(path):
        pass
    with Store(path):
        pass
