"""SFTP: download of the saved configuration, upload of files, and no path out of the folder."""

from __future__ import annotations

import asyncio
import io
import zipfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from rocefort.emulator.cli.server import LabServer
from rocefort.emulator.switch.personality import LineFault
from rocefort.emulator.switch.switch import EmulatedSwitch

MakeSwitch = Callable[..., EmulatedSwitch]
Work = Callable[[asyncssh.SFTPClient, asyncssh.SSHClientConnection], Awaitable[None]]


def over_sftp(switch: EmulatedSwitch, state: Path, work: Work) -> None:
    """Log in to a lab of one switch and work over SFTP."""

    async def run() -> None:
        async with (
            LabServer({switch.name: switch}, state) as lab,
            asyncssh.connect(
                "127.0.0.1",
                lab.ports[switch.name],
                username=lab.user,
                password=lab.password,
                known_hosts=str(lab.known_hosts),
                client_keys=None,
                config=None,
            ) as connection,
            connection.start_sftp_client() as client,
        ):
            await work(client, connection)

    asyncio.run(run())


async def read(client: asyncssh.SFTPClient, name: str) -> bytes:
    async with client.open(name, "rb") as file:
        content = await file.read()
    assert isinstance(content, bytes)
    return content


async def write(client: asyncssh.SFTPClient, name: str, content: bytes) -> None:
    async with client.open(name, "wb") as file:
        await file.write(content)


def test_the_saved_configuration_is_the_zip_that_the_reference_names(
    switch: EmulatedSwitch, open_talk: Any, tmp_path: Path
) -> None:
    async def work(client: asyncssh.SFTPClient, _: asyncssh.SSHClientConnection) -> None:
        talk = open_talk(switch)
        talk("system-view", "sysname changed", "commit")
        with zipfile.ZipFile(io.BytesIO(await read(client, "vrpcfg.zip"))) as archive:
            saved = archive.read("vrpcfg.cfg").decode()
        assert "sysname leaf01" in saved, "what is not saved is not there"
        assert saved.startswith("!Software Version V300R023C00\n")
        assert saved.endswith("#\nreturn\n")

    over_sftp(switch, tmp_path, work)


def test_a_file_that_was_put_is_listed_and_comes_back(
    switch: EmulatedSwitch, tmp_path: Path
) -> None:
    async def work(client: asyncssh.SFTPClient, connection: asyncssh.SSHClientConnection) -> None:
        await write(client, "patch.cfg", b"sysname patched\n")
        assert await read(client, "/patch.cfg") == b"sysname patched\n"
        listed = str((await connection.run("dir")).stdout)
        names = [row.split()[-1] for row in listed.splitlines() if "-rw-" in row]
        assert names == ["patch.cfg", "vrpcfg.zip"]
        await client.rename("patch.cfg", "other.cfg")
        await client.remove("other.cfg")
        assert {name for name in await client.listdir(".") if name[0] != "."} == {"vrpcfg.zip"}

    over_sftp(switch, tmp_path, work)


@pytest.mark.parametrize("path", ["../leaf01.key", "/../../leaf01.key", "/etc/passwd"])
def test_nothing_leads_out_of_the_folder(switch: EmulatedSwitch, tmp_path: Path, path: str) -> None:
    async def work(client: asyncssh.SFTPClient, _: asyncssh.SSHClientConnection) -> None:
        assert (tmp_path / "leaf01.key").exists()
        with pytest.raises(asyncssh.SFTPNoSuchFile):
            await read(client, path)
        await client.listdir("/")
        for link in (client.symlink, client.link):
            with pytest.raises(asyncssh.SFTPError, match="not modelled by this emulator"):
                await link("../../leaf01.key", "out")

    over_sftp(switch, tmp_path, work)


@pytest.mark.parametrize("name", ["backup.cfg", "flash:/backup.cfg", "Backup-1.ZIP"])
def test_a_backup_is_a_file_of_what_runs(
    switch: EmulatedSwitch, open_talk: Any, tmp_path: Path, name: str
) -> None:
    file = name.removeprefix("flash:/")

    async def work(client: asyncssh.SFTPClient, _: asyncssh.SSHClientConnection) -> None:
        talk = open_talk(switch)
        talk("system-view", "sysname other", "commit", "return")
        assert talk(f"save {name}") == (
            f"Warning: Are you sure to save the configuration to flash:/{file}? [Y/N]:"
        )
        assert talk("n", f"save {name}", "y") == "Info: Save the configuration successfully."
        assert file in talk("dir")
        content = await read(client, file)
        if name.endswith("ZIP"):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                content = archive.read("Backup-1.cfg")
        assert content.decode().startswith("!Software Version V300R023C00\n#\nsysname other\n")
        assert switch.hostname == "other"
        assert "sysname leaf01" in talk("display saved-configuration"), "startup is as it was"

    over_sftp(switch, tmp_path, work)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("../../up.cfg", "Error: Wrong parameter found at '^' position."),
        ("/etc/up.cfg", "Error: Wrong parameter found at '^' position."),
        ("flash:/../up.cfg", "Error: Wrong parameter found at '^' position."),
        (".hidden.cfg", "Error: Wrong parameter found at '^' position."),
        ("backup.txt", "Error: Wrong parameter found at '^' position."),
        ("a.cf", "Error: Wrong parameter found at '^' position."),
        (f"{'x' * 61}.cfg", "Error: Wrong parameter found at '^' position."),
        ("backup.dat", "Error: The emulator writes no .dat files; use .cfg or .zip."),
    ],
)
def test_what_is_no_backup_file_is_refused(
    switch: EmulatedSwitch, open_talk: Any, name: str, message: str
) -> None:
    assert open_talk(switch)(f"save {name}").endswith(message)


def test_saving_to_the_startup_file_is_saving(switch: EmulatedSwitch, open_talk: Any) -> None:
    talk = open_talk(switch)
    talk("system-view", "sysname other", "commit", "return")
    assert talk("save vrpcfg.zip").startswith("Warning: all configuration will be written")
    assert talk("y").endswith("Save the configuration successfully.")
    assert "sysname other" in talk("display saved-configuration")
    full = "Error: The flash memory has no space left."
    assert talk("save backup.cfg", "y") == full, "a switch without a folder"


def test_only_save_writes_the_saved_configuration(switch: EmulatedSwitch, tmp_path: Path) -> None:
    async def work(client: asyncssh.SFTPClient, _: asyncssh.SSHClientConnection) -> None:
        await write(client, "own.cfg", b"x")
        denied = pytest.raises(asyncssh.SFTPPermissionDenied, match="written by the save command")
        with denied:
            await write(client, "vrpcfg.zip", b"x")
        with denied:
            await client.remove("vrpcfg.zip")
        with denied:
            await client.rename("own.cfg", "vrpcfg.zip")
        with denied:
            await write(client, "VRPCFG.zip", b"x")
        with pytest.raises(asyncssh.SFTPPermissionDenied, match="begin with a dot"):
            await write(client, ".vrpcfg.zip.new", b"x")

    over_sftp(switch, tmp_path, work)


def test_a_full_flash_takes_no_file(make_switch: MakeSwitch, tmp_path: Path) -> None:
    switch = make_switch(faults=(LineFault("full-flash"),))

    async def work(client: asyncssh.SFTPClient, _: asyncssh.SSHClientConnection) -> None:
        with pytest.raises(asyncssh.SFTPFailure, match="no space left on flash:/"):
            await write(client, "patch.cfg", b"sysname patched\n")

    over_sftp(switch, tmp_path, work)
