"""One SSH session with a CloudEngine's CLI: a line goes out, the whole reply comes back.

Netmiko's `huawei_vrpv8` makes the connection, and what it does with a reply is replaced:

- it takes any `]` or `>` for a prompt, so a banner or a description can end a reply early; here
  a prompt stands alone on the last line;
- a question swallows the next line as its answer; here it is found and answered from a table;
- a dropped session is noticed when the read times out; here at once;
- it sleeps about 12 s in a session (2 s in each `check_config_mode`); here nothing sleeps;
- its debug log holds every line sent, secrets included; here lines are not logged, and a session
  log holds them masked;
- `commit(comment=..)` sends words that VRP8 does not have; here it is refused.
"""

import codecs
import logging
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import paramiko
from netmiko.huawei.huawei import HuaweiVrpv8SSH

from napalm_cloudengine import parse
from napalm_cloudengine.answers import LOGIN_ANSWERS, Answer, answer_to
from napalm_cloudengine.known_hosts import keys_of, place_of
from napalm_cloudengine.masking import mask_secrets

# A dropped connection reaches the caller as one exception, not also as paramiko's traceback on
# stderr, which logging prints where no handler is set up.
logging.getLogger("paramiko").addHandler(logging.NullHandler())

MAX_QUESTIONS = 10
RENAMED_PROMPT_SETTLE_S = 0.3
_TAIL_CHARS = 4000
_READ_BYTES = 65536
# Ciphers that authenticate go first, as OpenSSH has it. paramiko begins with counter mode, whose
# separate MAC it compares byte by byte in Python: 8 % of the CPU of a change. A switch that offers
# counter mode alone (the factory configuration of V200R019 and later) is spoken to in that.
_AUTHENTICATED_CIPHERS = ("aes128-gcm@openssh.com", "aes256-gcm@openssh.com")


class SessionBrokenError(Exception):
    """The session was lost, or the switch fell silent; `why` says which."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(why)


class UnknownHostKeyError(paramiko.SSHException):
    """The host key of the switch is in none of the known hosts."""

    def __init__(self, server: str, key: paramiko.PKey) -> None:
        self.server, self.key_name, self.fingerprint = server, key.get_name(), key.fingerprint
        super().__init__(f"{server} offers an unknown {self.key_name} key {self.fingerprint}")


class _RefuseUnknownKey(paramiko.MissingHostKeyPolicy):
    def missing_host_key(
        self,
        client: paramiko.SSHClient,  # noqa: ARG002  # the signature is paramiko's
        hostname: str,
        key: paramiko.PKey,
    ) -> None:
        raise UnknownHostKeyError(hostname, key)


def _transport(
    sock: socket.socket,
    disabled_algorithms: dict[str, Iterable[str]] | None,
    **_gss: bool,  # of paramiko up to 4; Netmiko leaves them off
) -> paramiko.Transport:
    transport = paramiko.Transport(sock, disabled_algorithms=disabled_algorithms)
    security, first = transport.get_security_options(), _AUTHENTICATED_CIPHERS
    security.ciphers = (*first, *(name for name in security.ciphers if name not in first))
    return transport


@dataclass(frozen=True)
class Reply:
    """What the switch answered to one line.

    `text` is everything between the echo and the prompt, `refused` the question that no row of
    the table answered (it got a no), `prompt` where the CLI stands now.
    """

    text: str
    prompt: parse.Prompt
    refused: str | None = None

    @property
    def errors(self) -> tuple[str, ...]:
        """The lines that refuse: those that start with `Error:`."""
        return parse.error_lines(self.text)

    @property
    def said(self) -> str:
        """What the switch said, on one line and without secrets."""
        return mask_secrets(" ".join(self.errors or self.text.split())) or "nothing"


class CloudEngineSSH(HuaweiVrpv8SSH):  # type: ignore[misc]  # netmiko is untyped here
    """Netmiko's VRP8 connection, with `exchange` as the one way to talk."""

    prompt = parse.Prompt("", system=False, mark="")  # where the CLI stood after the last reply
    alt_host_keys: bool  # Netmiko's own: whether known hosts come from a file
    base_prompt: str  # the name in the user view's prompt; Netmiko's own attribute

    def exchange(self, command: str, answers: tuple[Answer, ...], timeout_s: float) -> Reply:
        """Send one line and read until the prompt, answering questions from the table.

        `timeout_s` bounds each silence of the switch, not the whole reply. Raises
        SessionBrokenError.
        """
        self._send(command + "\n")
        return self._converse(command, command, answers, timeout_s)

    def is_open(self) -> bool:
        """Whether the SSH session stands; asks the transport, sends nothing."""
        channel = self.remote_conn
        return bool(
            channel is not None
            and not channel.closed
            and not channel.eof_received
            and channel.get_transport().is_active()
        )

    # --- what Netmiko calls while it connects and disconnects -----------------------------

    def _build_ssh_client(self) -> paramiko.SSHClient:
        from_file, self.alt_host_keys = self.alt_host_keys, False
        client: paramiko.SSHClient = super()._build_ssh_client()
        if from_file:
            place = place_of(self.host, self.port)
            for key in keys_of(Path(self.alt_key_file), place):
                client.get_host_keys().add(place, key.get_name(), key)
        client.set_missing_host_key_policy(_RefuseUnknownKey())
        return client

    def _connect_params_dict(self) -> dict[str, Any]:
        return {**super()._connect_params_dict(), "transport_factory": _transport}

    def special_login_handler(self, delay_factor: float = 1.0) -> None:
        """Leave the login dialogue to `session_preparation`, which cleans up when it fails."""

    def _try_session_preparation(self, force_data: bool = False) -> None:  # noqa: ARG002
        super()._try_session_preparation(force_data=False)  # no bare Enter: a prompt is coming

    def session_preparation(self) -> None:
        """Wait for the first prompt, turning down what is asked before it; then no more pages."""
        self._decoder = codecs.getincrementaldecoder(self.encoding)("replace")
        self._converse("", "", LOGIN_ANSWERS, self.timeout)
        self.exchange("screen-length 0 temporary", (), self.timeout)

    def cleanup(self, command: str = "quit") -> None:
        """Send nothing: closing the session is the logout, and `quit` might ask a question."""

    def disconnect(self) -> None:
        """End the session and its socket, also where Netmiko gives up half way: a session was lost.

        Its way out first closes the channel, and when that fails it lets go of the rest unclosed.
        """
        client = self.remote_conn_pre
        transport = client.get_transport() if client is not None else None
        super().disconnect()
        if transport is not None:
            transport.close()
            transport.sock.close()

    def check_config_mode(
        self,
        check_string: str = "]",  # noqa: ARG002  # the signature is netmiko's
        pattern: str = "",  # noqa: ARG002
        force_regex: bool = False,  # noqa: ARG002
    ) -> bool:
        """Whether the last prompt was a system view's; the stock form waits 2 s to find out."""
        return self.prompt.system

    def commit(
        self,
        comment: str = "",
        read_timeout: float = 120.0,
        delay_factor: float | None = None,
    ) -> NoReturn:
        """Refuse: the driver commits, after its checks (and VRP8 has no `commit comment`)."""
        raise NotImplementedError("commit through CloudEngineDriver.commit_config")

    # --- reading and writing --------------------------------------------------------------

    def _converse(
        self, command: str, echo: str, answers: tuple[Answer, ...], timeout_s: float
    ) -> Reply:
        said: list[str] = []
        refused: str | None = None
        for _ in range(MAX_QUESTIONS):
            text = self._read_reply(echo, timeout_s)
            question = parse.find_question(text)
            if question is None:
                prompt = parse.find_prompt(text)
                if prompt is not None:
                    return self._reply([*said, parse.without_prompt(text)], prompt, refused)
                raise SessionBrokenError("the end of the reply was not understood")
            said.append(text + "\n")
            echo = answer_to(question, command, answers) or ""
            if refused or not echo:
                refused = refused or mask_secrets(question)
                echo = "C" if parse.offers_cancel(question) else "N"
            self._send(echo + "\n")
        raise SessionBrokenError(f"the switch asked more than {MAX_QUESTIONS} questions")

    def _reply(self, said: list[str], prompt: parse.Prompt, refused: str | None) -> Reply:
        self.prompt = prompt
        self.base_prompt = prompt.view if not prompt.system else self.base_prompt
        reply = Reply("".join(said).strip("\n"), prompt, refused)
        if self.session_log:
            self.session_log.write(mask_secrets(reply.text) + "\n")
        return reply

    def _read_reply(self, echo: str, timeout_s: float) -> str:
        """Read until a prompt or a question stands at the end; what follows the echo."""
        raw = ""
        while True:
            raw += self._receive(timeout_s)
            tail = parse.plain_text(raw[-_TAIL_CHARS:])
            if parse.waits_at_pager(raw[-_TAIL_CHARS:]):
                self._send(" ")
            elif parse.find_question(tail) or parse.find_prompt(tail):
                text = _after_echo(parse.plain_text(raw), echo)
                if parse.find_question(text):
                    return text
                prompt = parse.find_prompt(text)
                if prompt is None:
                    continue  # it was part of the echo
                more = None if self._is_known(prompt) else self._rest()
                if more is None:
                    return text
                raw += more

    def _is_known(self, prompt: parse.Prompt) -> bool:
        """Whether the prompt shows the name seen at login; a new `sysname` shows another."""
        name = self.base_prompt
        return (
            not name
            or prompt.view in (name, self.prompt.view)
            or prompt.view.startswith(f"{name}-")
        )

    def _rest(self) -> str | None:
        """What still follows what looked like a prompt of another name; None when nothing does."""
        try:
            return self._receive(RENAMED_PROMPT_SETTLE_S)
        except SessionBrokenError:
            if self.is_open():
                return None
            raise

    def _receive(self, timeout_s: float) -> str:
        channel = self.remote_conn
        if channel is None:
            raise SessionBrokenError("the session is closed")
        channel.settimeout(timeout_s)
        try:
            data = channel.recv(_READ_BYTES)
        except TimeoutError:
            raise SessionBrokenError(f"no answer for {timeout_s:g} s") from None
        except OSError:
            data = b""
        if not data:
            raise SessionBrokenError("session lost")
        return str(self._decoder.decode(data))

    def _send(self, text: str) -> None:
        if self.remote_conn is None:
            raise SessionBrokenError("the session is closed")
        try:
            self.remote_conn.sendall(text.encode(self.encoding))
        except (OSError, EOFError):  # the latter is paramiko's where the socket takes no more
            raise SessionBrokenError("session lost") from None


def _after_echo(text: str, echo: str) -> str:
    """What follows the echo of a line, also when the terminal broke it into several.

    While the echo is not complete there is nothing after it; a switch that does not echo has
    said everything from the start.
    """
    wanted = "".join(echo.split())
    if not wanted:
        return text
    seen, rest = "", text
    while wanted.startswith(seen):
        line, newline, rest = rest.partition("\n")
        seen += "".join(line.split())
        if not newline:
            return "" if wanted.startswith(seen) else text
        if seen == wanted:
            return rest
    return text
