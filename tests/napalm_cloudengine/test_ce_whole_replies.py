"""A reply is whole, decodable and ended, or an error states which it is not: over real SSH."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import asyncssh
import pytest
from hypothesis import given
from hypothesis import strategies as st
from napalm.base.exceptions import (
    CommandErrorException,
    ConnectAuthError,
    ConnectionException,
    MergeConfigException,
    NapalmException,
)

from napalm_cloudengine import CloudEngineDriver, dialogue, framing
from napalm_cloudengine.errors import (
    HostKeyError,
    LineRefusedError,
    OutcomeUnknownError,
    UnreadableReplyError,
)

Play = Callable[..., Any]
USER, PASSWORD = "netops", "canary-Pa55word"
RUN = "display current-configuration"
STORAGE = "存储网络"
NEW = "前端网络"
ENTER = ("system-view", "Enter system view, return user view with return command.\r\n[~HUAWEI]")


class ByteSwitch:
    """SSH server that answers lines with bytes, one byte a packet where `trickle_s` is given."""

    def __init__(self, folder: Path, answers: dict[bytes, bytes], **options: Any) -> None:
        self.answers, self.options, self.heard = answers, options, list[bytes]()
        self.guests: list[asyncssh.SSHServerConnection] = []
        self.key = asyncssh.generate_private_key("ssh-ed25519")
        self.known_hosts = folder / "known_hosts"
        self.loop = asyncio.new_event_loop()
        self.server = self.loop.run_until_complete(self._listen())
        self.port = self.server.get_port()
        public = self.key.export_public_key().decode()
        self.known_hosts.write_text(f"[127.0.0.1]:{self.port} {public}")
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    async def _stop(self) -> None:
        self.server.close()
        for guest in self.guests:
            guest.abort()
            await guest.wait_closed()
        await self.server.wait_closed()
        await asyncio.sleep(0.01)  # the loop closes their sockets in its next turns

    async def _listen(self) -> asyncssh.SSHAcceptor:
        outer = self

        class Door(asyncssh.SSHServer):
            def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
                outer.guests.append(conn)

            def begin_auth(self, username: str) -> bool:  # noqa: ARG002
                return True

            def password_auth_supported(self) -> bool:
                return True

            async def validate_password(self, username: str, password: str) -> bool:
                await asyncio.sleep(outer.options.get("auth_s", 0.0))
                return (username, password) == (USER, PASSWORD)

            def session_requested(self) -> bool:
                return not outer.options.get("full", False)

        return await asyncssh.create_server(
            Door,
            "127.0.0.1",
            0,
            server_host_keys=[self.key],
            process_factory=None if self.options.get("full") else self._serve,
            line_editor=False,
            encoding=None,
        )

    async def _serve(self, process: asyncssh.SSHServerProcess[bytes]) -> None:
        prompt = self.options.get("prompt", b"<HUAWEI>")
        await asyncio.sleep(self.options.get("greet_s", 0.0))
        process.stdout.write(self.options.get("banner", b"\r\n") + prompt)
        line = b""
        while char := await process.stdin.read(1):
            if char != b"\n":
                line += char
                continue
            answer = self.answers.get(line, b"")
            own = prompt
            if isinstance(answer, tuple):
                answer, prompt = answer
                own = prompt
            if line.strip() and line not in (
                b"screen-length 0 temporary",
                b"undo terminal monitor",
            ):
                self.heard.append(line)
            process.stdout.write(line + b"\r\n")
            for at in range(0, len(answer), step := self.options.get("step", 4096)):
                process.stdout.write(answer[at : at + step])
                await process.stdout.drain()
                await asyncio.sleep(self.options.get("trickle_s", 0.0))
            process.stdout.write(own)
            line = b""

    def driver(
        self, timeout: int = 5, password: str = PASSWORD, **options: Any
    ) -> CloudEngineDriver:
        args = {"port": self.port, "ssh_known_hosts": str(self.known_hosts), **options}
        return CloudEngineDriver("127.0.0.1", USER, password, timeout, args)

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self.loop).result(10)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
        self.loop.close()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., ByteSwitch]]:
    started: list[ByteSwitch] = []

    def start(answers: dict[bytes, Any] | None = None, **options: Any) -> ByteSwitch:
        started.append(ByteSwitch(tmp_path, answers or {}, **options))
        return started[-1]

    yield start
    for switch in started:
        switch.close()


def config(*lines: bytes) -> bytes:
    return b"\r\n".join((b"#", b"sysname HUAWEI", *lines, b"#", b"return", b""))


# --- decoding -------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [1, 3, 4096])
@pytest.mark.parametrize(("codec", "named"), [("utf-8", {}), ("gb18030", {RUN: "GBK"})])
def test_a_description_is_read_and_sent_back_in_the_encoding_of_the_switch(
    serve: Callable[..., ByteSwitch], codec: str, named: dict[str, str], step: int
) -> None:
    line = f"description {STORAGE}".encode(codec)
    other = f"description {NEW}".encode(codec)
    system: dict[bytes, Any] = {
        RUN.encode(): config(b" " + line),
        b"system-view": (b"", b"[~HUAWEI]"),
        line: (b"", b"[*HUAWEI]"),
        b"clear configuration candidate": (b"", b"[~HUAWEI]"),
    }
    switch = serve(system, step=step)
    with switch.driver() as driver:
        assert f" description {STORAGE}" in driver.get_config(retrieve="running")["running"]
        assert driver.encodings == named
        driver.load_merge_candidate(config=f"description {STORAGE}\ndescription {NEW}\n")
    assert [line, other] == [heard for heard in switch.heard if b"description" in heard]


def test_a_new_session_reads_the_encoding_before_it_sends(serve: Callable[..., ByteSwitch]) -> None:
    line = f"description {NEW}".encode("gb18030")
    switch = serve(
        {
            RUN.encode(): config(f" description {STORAGE}".encode("gb18030")),
            b"system-view": (b"", b"[~HUAWEI]"),
            line: (b"", b"[*HUAWEI]"),
            b"clear configuration candidate": (b"", b"[~HUAWEI]"),
        }
    )
    with switch.driver() as driver:
        driver.load_merge_candidate(config=f"description {NEW}\n")
    assert switch.heard[:3] == [RUN.encode(), b"system-view", line]


def test_lines_of_both_encodings_are_each_read_as_what_they_are(
    serve: Callable[..., ByteSwitch], caplog: pytest.LogCaptureFixture
) -> None:
    rows = [f" description {STORAGE}".encode("gb18030"), f" description {NEW}".encode()]
    switch = serve({RUN.encode(): config(*rows)})
    with caplog.at_level(logging.INFO), switch.driver() as driver:
        text = driver.get_config(retrieve="running")["running"]
        assert driver.encodings == {RUN: "UTF-8 and GBK"}
    assert text.split("\n")[2:4] == [f" description {STORAGE}", f" description {NEW}"]
    assert f"127.0.0.1: '{RUN}' was read as UTF-8 and GBK" in caplog.text


def test_bytes_of_no_encoding_are_an_error_with_line_and_bytes(
    serve: Callable[..., ByteSwitch],
) -> None:
    switch = serve({RUN.encode(): config(b" description a\xff\xfeb")})
    with switch.driver() as driver, pytest.raises(UnreadableReplyError) as caught:
        driver.get_config(retrieve="running")
    assert str(caught.value) == (
        f"127.0.0.1: '{RUN}': line 3 is neither UTF-8 nor GBK: bytes 0xff 0xfe in "
        r"'description a\xff\xfeb'"
    )


TEXTS = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=8)


@given(st.lists(TEXTS, min_size=1, max_size=4), st.sampled_from(["utf-8", "gb18030"]))
def test_a_decoded_text_is_the_one_that_was_encoded_or_says_another_encoding(
    rows: list[str], codec: str
) -> None:
    data = "\n".join(rows).encode(codec)
    whole = framing.decoded(data.decode("utf-8", "surrogateescape"))
    assert "\ufffd" not in whole.text or "\ufffd" in "".join(rows)
    if whole.fault:
        return
    encodings = dict(whole.encodings)
    again = b"\n".join(
        framing.raw_bytes(framing.raw_text(row, encodings.get(row, "utf-8")))
        for row in whole.text.split("\n")
    )
    assert again == data
    if codec == "utf-8":
        assert whole.text == "\n".join(rows)


# --- pagers, and the end of a configuration ---------------------------------------------------------


@pytest.mark.parametrize("step", [1, 4096])
def test_the_words_of_a_pager_within_a_text_are_kept(
    serve: Callable[..., ByteSwitch], step: int
) -> None:
    rows = (
        b" description ---- More ---- %%01IFNET/2/x",
        b"header shell",
        b"  ---- More ----",
        b"end",
    )
    switch = serve({RUN.encode(): config(*rows)}, step=step)
    with switch.driver() as driver:
        text = driver.get_config(retrieve="running")["running"]
    assert " description ---- More ---- %%01IFNET/2/x\nheader shell\n  ---- More ----\nend" in text
    assert set(switch.heard) == {RUN.encode()}


CONTROLS = (
    *(b"a\x1b[31mred\x1b[0m", b"abc\rdef", b"ab\x00c", b"a\x1b]52;c;aGk=\x07b", b"ab\x08c"),
    *(b"a\x1b[16Db", b"\x1b[Ka", b"a\x0bb", b"a\x0cb", b"a\x1db", b"a\x7fb", b"ab\r", b"ab\x1c"),
)


@pytest.mark.parametrize("odd", CONTROLS)
def test_a_control_character_of_a_line_is_kept_and_ends_no_line(
    serve: Callable[..., ByteSwitch], odd: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pager and an echo have their own forms; nothing else is removed, and it is read again."""
    monkeypatch.setattr(dialogue, "SAME_AFTER_S", 0.01)
    lines = (b"interface 10GE1/0/1", b" description " + odd + b" ip address 10.0.0.1 24")
    interfaces = (
        b"10GE1/0/1 current state : UP (ifindex: 16)\r\n"
        b"Line protocol current state : UP\r\nDescription: " + odd + b"\r\n"
    )
    switch = serve({RUN.encode(): config(*lines), b"display interface": interfaces})
    text = odd.decode()
    with switch.driver() as driver:
        running = driver.get_config(retrieve="running")["running"]
        assert running.split("\n")[3] == f" description {text} ip address 10.0.0.1 24"
        assert driver.get_interfaces_ip() == {}
        assert driver.get_interfaces()["10GE1/0/1"]["description"] == text
    assert switch.heard.count(RUN.encode()) > 2


@pytest.mark.parametrize("odd", CONTROLS)
def test_a_control_character_of_a_file_is_not_sent(
    serve: Callable[..., ByteSwitch], odd: bytes, tmp_path: Path
) -> None:
    file = tmp_path / "change.cfg"
    file.write_bytes(b"interface 10GE1/0/1\r\n description " + odd + b" x\r\n")
    switch = serve()
    with switch.driver() as driver, pytest.raises(MergeConfigException) as caught:
        driver.load_merge_candidate(filename=str(file))
    assert "line 2 'description" in str(caught.value)
    assert "holds the control character U+" in str(caught.value)
    assert str(caught.value).isprintable()
    assert switch.heard == []


def test_a_coloured_banner_does_not_hide_the_prompt(serve: Callable[..., ByteSwitch]) -> None:
    banner = b"\x1b[1;31mWelcome\r\n\x1b[0m"
    switch = serve({b"display clock": b"12:00\r\n"}, banner=banner)
    with switch.driver() as driver:
        assert driver.cli(["display clock"]) == {"display clock": "12:00"}


@pytest.mark.parametrize("kind", ["running", "startup"])
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is empty"),
        ("#\r\nsysname HUAWEI\r\n#\r\n", "it ends with '#', not with `return`"),
        ("return\r\n", "it ends with 'return', not with `return`"),
        ("Info: The configuration file does not exist.\r\n", "it ends with 'Info: The conf"),
    ],
)
def test_a_configuration_without_its_end_is_an_error(
    play: Play, kind: str, text: str, why: str
) -> None:
    command = RUN if kind == "running" else "display saved-configuration"
    switch = play([(command, f"{text}<HUAWEI>")])
    with switch.driver() as driver, pytest.raises(UnreadableReplyError) as caught:
        driver.get_config(retrieve=kind)
    assert f"127.0.0.1: '{command}': it is no whole configuration: {why}" in str(caught.value)


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reply",
    [
        "error: Bad.",
        "Info: Operation failed.",
        "Failed to apply the line.",
        "% Invalid input",
        "      ^",
        "  Error: indented",
        "操作失败。",
        "Something else",
        "Info: Incomplete command.",
        "Info: The line conflicts with the mode and does not take effect.",
        "Warning: The line was ignored.",
    ],
)
def test_a_line_whose_reply_is_not_known_is_refused(play: Play, reply: str) -> None:
    switch = play(
        [
            ENTER,
            ("vlan 10", f"{reply}\r\n[*HUAWEI]"),
            ("clear configuration candidate", "[~HUAWEI]"),
            ("return", "<HUAWEI>"),
        ]
    )
    with switch.driver() as driver, pytest.raises(LineRefusedError) as caught:
        driver.load_merge_candidate(config="vlan 10")
    assert reply.strip() in str(caught.value)
    assert "line 1 'vlan 10': " in str(caught.value)
    assert str(caught.value).endswith("the candidate was discarded")


@pytest.mark.parametrize(
    "reply",
    [
        "Info: This operation may take a few seconds. Please wait for a moment...done.",
        "Warning: The line takes effect\r\nonly after a restart.",
        "Warning: The value exceeds the limit of the buffer\r\nand cannot be restored.",
        "Nov 27 2026 10:00:00 HUAWEI %%01IFNET/4/IF_STATE(l)[3]:Interface 10GE1/0/1 failed.",
    ],
)
def test_notes_and_log_lines_refuse_no_line(play: Play, reply: str) -> None:
    switch = play([ENTER, ("vlan 10", f"{reply}\r\n[*HUAWEI]")])
    with switch.driver() as driver:
        driver.load_merge_candidate(config="vlan 10")


def test_a_commit_that_reports_a_failure_in_a_note_has_failed(play: Play) -> None:
    trial = "display configuration trial status"
    switch = play(
        [
            ENTER,
            ("vlan 10", "[*HUAWEI]"),
            (trial, "Trial status: INACTIVE\r\n[*HUAWEI]"),
            ("commit trial 600", "Info: Operation failed.\r\n[*HUAWEI]"),
            ("clear configuration candidate", "[~HUAWEI]"),
            ("return", "<HUAWEI>"),
        ]
    )
    with switch.driver() as driver:
        driver.load_merge_candidate(config="vlan 10")
        with pytest.raises(NapalmException, match=r"'commit trial 600' failed: Info: Operation f"):
            driver.commit_config(revert_in=600)


SAVED = "Info: The current configuration was saved to the device successfully.\r\n"


@pytest.mark.parametrize(
    ("report", "is_proof"),
    [
        (SAVED, True),
        ("Now saving the current configuration to the slot 1 ..\r\n" + SAVED, True),
        ("Info: Save the configuration successfully.\r\n", True),
        ("The save was not completed successfully.\r\n", False),
        ("The configuration was not saved successfully.\r\n", False),
        ("Slot 1 saved successfully. Slot 2 is busy.\r\n", False),
        (SAVED + "Info: Slot 2 is busy.\r\n", False),
        (SAVED + "Slot 2 has no answer yet.\r\n", False),
        ("Info: The configuration was partly saved successfully.\r\n", False),
        ("", False),
    ],
)
@pytest.mark.parametrize("startup", [b" mtu 9000", b" mtu 9216"])
def test_a_save_is_done_where_its_own_sentence_or_the_startup_file_shows_it(
    serve: Callable[..., ByteSwitch], report: str, is_proof: bool, startup: bytes
) -> None:
    switch = serve(
        {
            b"save": report.encode(),
            b"display saved-configuration": config(startup),
            RUN.encode(): config(b" mtu 9216"),
        }
    )
    same = startup == b" mtu 9216"
    with switch.driver() as driver:
        if is_proof or (same and "busy" not in report and "not " not in report):
            driver.save_config()
        else:
            with pytest.raises(CommandErrorException, match="'save' "):
                driver.save_config()
    assert switch.heard[0] == b"save"


# --- time, and errors of a connection ---------------------------------------------------------------


def test_a_reply_that_trickles_ends_in_time(serve: Callable[..., ByteSwitch]) -> None:
    switch = serve({b"display clock": b"x" * 500}, step=1, trickle_s=0.05)
    with switch.driver(reply_timeout_s=1.0) as driver:
        driver.timeout = 1
        began = time.monotonic()
        with pytest.raises(OutcomeUnknownError, match="the reply was not complete after 1 s"):
            driver.cli(["display clock"])
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("option", ["auth_s", "greet_s"])
def test_a_login_ends_in_time(serve: Callable[..., ByteSwitch], option: str) -> None:
    switch = serve(**{option: 20.0})
    began = time.monotonic()
    with pytest.raises(ConnectionException, match="login"):
        switch.driver(timeout=1).open()
    assert time.monotonic() - began < 6


@pytest.mark.parametrize("prompt", [b"<HUAWEI> ", b"<HUAWEI>  "])
def test_a_prompt_with_a_blank_behind_it_can_log_in(
    serve: Callable[..., ByteSwitch], prompt: bytes
) -> None:
    switch = serve({b"display clock": b"12:00\r\n", RUN.encode(): config()}, prompt=prompt)
    with switch.driver() as driver:
        assert driver.cli(["display clock"]) == {"display clock": "12:00"}
        assert driver.get_config(retrieve="running")["running"].endswith("\nreturn")


def test_every_failure_to_connect_names_cause_and_fix(
    serve: Callable[..., ByteSwitch], tmp_path: Path
) -> None:
    switch = serve()
    nowhere = str(tmp_path / "none")
    cases: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"password": "x"}, ConnectAuthError, "refuses the login of 'netops': check name, passw"),
        ({"ssh_known_hosts": nowhere}, HostKeyError, f"no file {nowhere}: write it with the host"),
        ({"port": 1}, ConnectionException, "it refuses connections: check the port, and that its"),
    ]
    for options, kind, sentence in cases:
        assert sentence in failure(switch.driver(**options), kind)


def test_a_switch_whose_vtys_are_full_says_so(serve: Callable[..., ByteSwitch]) -> None:
    text = failure(serve(full=True).driver(), ConnectionException)
    assert "its VTYs are probably all in use: end idle sessions (`display users`)" in text


def failure(driver: CloudEngineDriver, kind: type[Exception]) -> str:
    """Return the sentence of a failed login: it names no exception of a library."""
    with pytest.raises(kind) as caught:
        driver.open()
    text = str(caught.value)
    assert not any(word in text for word in ("Exception", "Errno", "Error("))
    return text
