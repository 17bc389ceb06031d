"""SSH session with a CloudEngine's CLI: send one line, receive its whole reply.

`framing.py` finds the boundaries of a reply. Netmiko's `huawei_vrpv8` makes the connection; its
handling of replies is replaced:

- it takes any `]` or `>` for a prompt, so a banner or a description can end a reply early; here a
  prompt is alone on the last line, and is proven;
- a question swallows the next line as its answer; here it is recognised and answered from a table;
- a dropped session is noticed when the read times out; here at once;
- it sleeps about 12 s in a session (2 s in each `check_config_mode`); here nothing sleeps;
- its debug log contains every sent line, with secrets; here lines are not logged, and a session log
  masks them;
- `commit(comment=..)` sends words that VRP8 does not have; here it is refused.
"""

import codecs
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import paramiko
from netmiko.huawei.huawei import HuaweiVrpv8SSH

from napalm_cloudengine import framing, parse
from napalm_cloudengine.connect import (
    LoginTimeoutError,
    RefuseUnlistedKey,
    SessionBrokenError,
    keys_of,
    place_of,
    transport,
)
from napalm_cloudengine.framing import PartialReply, SwitchReply
from napalm_cloudengine.masking import mask_secrets
from napalm_cloudengine.parse import LOGIN_ANSWERS, PromptAnswer, answer_to
from napalm_cloudengine.text import quotable

MAX_QUESTIONS = 10
NO_ECHO = "no echo"
QUESTION_S = 0.05  # silence after which a question is final; a description may end like one
PAGER_S = 0.5  # silence after which a pager waits; a line of text may read like one
REPLY_TIMEOUT_S = 600.0  # for a whole reply; a configuration of 10 MB takes seconds
FENCE_S = 1.0  # time until the next fence is sent, doubled each time
# A terminal shows log lines unsolicited after `terminal monitor` was entered for it; this undoes
# `terminal logging`, `alarm` and `debugging`, too. A user of a lower level than 3 may not enter it
# (command reference, V300R023C00).
_NO_LOGS = "undo terminal monitor"
_NO_PAGES = "screen-length 0 temporary"
_TAIL_CHARS = 4000
_READ_BYTES = 65536


class CloudEngineSSH(HuaweiVrpv8SSH):  # type: ignore[misc]  # netmiko is untyped here
    """Netmiko's VRP8 connection, with `exchange` and `enter` to send lines."""

    prompt = parse.Prompt("", system=False, mark="")  # the prompt after the last reply
    _shown: str  # the end of all output of the switch, unmodified
    _sent: str  # the line that was sent last
    _echoes: bool  # whether the switch echoes its input
    _blanks_echoed: bool | None  # whether a line of blanks, too; None until it is known
    alt_host_keys: bool  # Netmiko's own: whether known hosts come from a file
    base_prompt: str  # the name in the user view's prompt; Netmiko's own attribute
    _bound_s: float  # the time of a whole reply, or of the login before the first command
    _ends_at: float
    _heard_at = 0.0  # time of the last packet
    _logging_in = True
    _paged = False  # whether the reply had a pager that left its line in the text
    reads_utf8 = reads_gbk = False  # whether the switch showed a line in that encoding

    def __init__(self, *, reply_timeout_s: float, **options: Any) -> None:  # noqa: ANN401
        self.reply_timeout_s = reply_timeout_s
        self._gbk_lines: set[str] = set()
        super().__init__(**options)

    def exchange(
        self, command: str, answers: tuple[PromptAnswer, ...], timeout_s: float
    ) -> SwitchReply:
        """Send one line and read until the prompt, answering questions from the table.

        `timeout_s` bounds each silence of the switch, `reply_timeout_s` the whole reply. Raises
        SessionBrokenError.
        """
        return self._converse(command, answers, timeout_s, fenced=True)

    def enter(self, line: str, answers: tuple[PromptAnswer, ...], timeout_s: float) -> SwitchReply:
        """Send one line as `exchange`, without a fence: the next reply has the rest in `late`."""
        return self._converse(line, answers, timeout_s, fenced=False)

    def settle(self) -> SwitchReply:
        """Return the rest of the replies to entered lines, and the CLI's current prompt."""
        prompt = framing.prompt_text(self.prompt)
        reply = self._converse(None, (), self.timeout, fenced=True)
        return replace(reply, text=reply.text.removeprefix(prompt).strip("\n"))

    def is_open(self) -> bool:
        """Whether the SSH session is up; checks the transport, sends nothing."""
        channel = self.remote_conn
        return bool(
            channel is not None
            and not channel.closed
            and not channel.eof_received
            and channel.get_transport().is_active()
        )

    # --- called by Netmiko while it connects and disconnects --------------------------------

    def _build_ssh_client(self) -> paramiko.SSHClient:
        from_file, self.alt_host_keys = self.alt_host_keys, False
        client: paramiko.SSHClient = super()._build_ssh_client()
        if from_file:
            host_name = place_of(self.host, self.port)
            for key in keys_of(Path(self.alt_key_file), host_name):
                client.get_host_keys().add(host_name, key.get_name(), key)
        client.set_missing_host_key_policy(RefuseUnlistedKey())
        return client

    def _open(self) -> None:
        """Connect and log in within `timeout`, however the switch distributes its silences."""
        self._bound_s, self._heard_at = self.timeout, time.monotonic()
        self._ends_at = self._heard_at + self._bound_s
        watch = threading.Timer(self.timeout, self._give_up)
        watch.daemon = True
        watch.start()
        try:
            self._modify_connection_params()
            self.establish_connection()
        except Exception as error:
            if time.monotonic() >= self._ends_at:
                raise LoginTimeoutError from error
            raise
        finally:
            watch.cancel()
        self._try_session_preparation()
        self._logging_in = False

    def _give_up(self) -> None:
        if self.remote_conn_pre is not None:
            self.remote_conn_pre.close()

    def _connect_params_dict(self) -> dict[str, Any]:
        return {**super()._connect_params_dict(), "transport_factory": transport}

    def special_login_handler(self, delay_factor: float = 1.0) -> None:
        """Leave the login dialogue to `session_preparation`, which cleans up when it fails."""

    def _try_session_preparation(self, force_data: bool = False) -> None:  # noqa: ARG002
        super()._try_session_preparation(force_data=False)  # no bare Enter: a prompt is coming

    def session_preparation(self) -> None:
        """Wait for the first prompt, refuse questions before it, then turn off paging.

        A switch whose echo is not seen gets a second line before it counts as one without.
        """
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._shown, self._sent = "", ""
        self._echoes, self._blanks_echoed = True, None
        self._converse(None, LOGIN_ANSWERS, self.timeout, fenced=False)
        replies = [
            self.enter(_NO_PAGES, (), self.timeout),
            self.exchange(_NO_LOGS, (), self.timeout),
        ]
        if all(reply.doubt == NO_ECHO for reply in replies):
            again = self.exchange(_NO_PAGES, (), self.timeout)
            self._echoes = again.doubt != NO_ECHO

    def cleanup(self, command: str = "quit") -> None:
        """Send nothing: closing the session is the logout, and `quit` might cause a question."""

    def disconnect(self) -> None:
        """End the session and its socket, also where Netmiko stops half way: a session was lost.

        Netmiko closes the channel first, and when that fails it leaves the rest open.
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
        """Whether the last prompt was a system view's; Netmiko's own method waits 2 s for that."""
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
        self,
        command: str | None,
        answers: tuple[PromptAnswer, ...],
        timeout_s: float,
        *,
        fenced: bool,
    ) -> SwitchReply:
        """Send a line, answer questions, read to the prompt.

        None sends nothing: a fence alone, or nothing at all before the first prompt.
        """
        part = PartialReply("", "")
        self._paged = False
        if not self._logging_in:
            self._bound_s = max(self.reply_timeout_s, timeout_s)
            self._ends_at = time.monotonic() + self._bound_s
        command = command and self._raw(command)
        if command is not None:
            self._send(command + "\n")
            part = self._read(command, timeout_s, fenced=fenced)
        elif fenced:
            part = self._read("", timeout_s, fenced=True, blanks=self._fence(1))
        else:
            part = self._read("", timeout_s, fenced=False)
        parts = [part]
        refused: str | None = None
        while part.prompt is None:
            if len(parts) > MAX_QUESTIONS:
                raise self._broken(f"the switch asked more than {MAX_QUESTIONS} questions")
            question = framing.decoded(part.question).text
            answer = answer_to(question, command or "", answers)
            if refused or not answer:
                refused = refused or mask_secrets(question)
                answer = "C" if parse.offers_cancel(question) else "N"
            self._send(answer + "\n")
            parts.append(part := self._read(answer, timeout_s, fenced=fenced))
        return self._reply(parts, part.prompt, refused)

    def _reply(
        self, parts: list[PartialReply], prompt: parse.Prompt, refused: str | None
    ) -> SwitchReply:
        self.prompt = prompt
        self.base_prompt = prompt.view if not prompt.system else self.base_prompt
        text = "\n".join(part.text for part in parts).strip("\n")
        anchored = all(part.anchored for part in parts)
        doubt = framing.unsolicited(text, self.base_prompt) if anchored else NO_ECHO
        whole, late = framing.decoded(text), framing.decoded(parts[0].before)
        self._note_encodings(whole)
        fault = whole.fault or late.fault
        if self._paged:
            fault = fault or "a pager left its line in the text"
        questions = (framing.decoded(part.question).text for part in parts if part.question)
        reply = SwitchReply(
            whole.text,
            prompt,
            refused,
            mask_secrets(framing.decoded(doubt).text or fault),
            late.text,
            mask_secrets(fault),
            tuple(questions) if refused is None else (),
            whole.encoding,
        )
        if self.session_log:
            self.session_log.write(mask_secrets(reply.text) + "\n")
        return reply

    def _note_encodings(self, whole: framing.Decoded) -> None:
        for line, encoding in whole.encodings:
            if encoding == framing.GBK:
                self._gbk_lines.add(line.strip())
                self.reads_gbk = True
            else:
                self._gbk_lines.discard(line.strip())
                self.reads_utf8 = True

    def _raw(self, line: str) -> str:
        """Return a line in the bytes that the switch showed for it, or in its encoding."""
        if line.isascii():
            return line
        all_gbk = self.reads_gbk and not self.reads_utf8
        gbk = line.strip() in self._gbk_lines or all_gbk
        return framing.raw_text(line, framing.GBK if gbk else self.encoding)

    def _read(self, echo: str, timeout_s: float, *, fenced: bool, blanks: int = 0) -> PartialReply:
        """Read until a question, or the prompt at the end of the reply.

        blanks: of a fence that was sent before; it is sent again while the line is quiet.
        """
        raw = framing.prompt_text(self.prompt) if blanks else ""
        tail, silent_s = raw, 0.0
        while True:
            patient = not blanks and not self._hides_end(tail)
            wait_s = timeout_s if patient else min(FENCE_S * 2.0**blanks, timeout_s)
            heard = self._receive(wait_s)
            raw, silent_s = self._with_rest(raw, heard), 0.0 if heard else silent_s + wait_s
            if silent_s >= timeout_s:
                raise self._broken(f"no answer for {timeout_s:g} s")
            tail = parse.plain_text(raw[-_TAIL_CHARS:])
            if heard and parse.waits_at_pager(tail):
                raw = self._next_page(raw, timeout_s)
                continue
            if not heard and parse.asks_for_password(tail):
                raise self._broken("the switch requests a password")
            question = heard and parse.find_question(tail)
            prompt = None if question else parse.find_prompt(tail)
            part = None
            if question:
                part = self._part(parse.plain_text(raw), echo)
            elif prompt and blanks:
                part = self._fenced(parse.plain_text(raw), echo, blanks, quiet=not heard)
            elif prompt:
                part = self._unfenced(parse.plain_text(raw), echo, prompt, fenced=fenced)
            if part:
                return replace(part, prompt=prompt, question=question or "")
            if not heard or (prompt and not blanks):
                blanks = self._fence(blanks + 1)

    def _next_page(self, raw: str, timeout_s: float) -> str:
        """Turn a page where the switch waits for a key, and drop the pager's own line.

        Output that continues without a key is text. A pager erases its line after the key.
        """
        if rest := self._receive(PAGER_S):
            return raw + rest
        self._send(" ")
        page = self._receive(timeout_s)
        while parse.is_erasing(page) and (rest := self._receive(QUESTION_S)):
            page += rest
        erased = parse.after_erasing(page)
        self._paged |= erased is None
        return raw + page if erased is None else parse.before_pager(raw) + erased

    def _with_rest(self, raw: str, heard: str) -> str:
        """Append output; after a question-like end also the output directly after it."""
        while heard:
            raw += heard
            question = parse.find_question(parse.plain_text(raw[-_TAIL_CHARS:]))
            heard = self._receive(QUESTION_S) if question else ""
        return raw

    def _unfenced(
        self, text: str, echo: str, prompt: parse.Prompt, *, fenced: bool
    ) -> PartialReply | None:
        """Return the reply in a text that ends with a prompt, where it needs no fence."""
        part = self._part(text, echo)
        if part is None or not self._is_known(prompt):
            return None
        part = replace(part, text=parse.without_prompt(part.text))
        return part if not fenced or framing.shows_its_end(part.text) else None

    def _fenced(self, text: str, echo: str, blanks: int, *, quiet: bool) -> PartialReply | None:
        """Return the reply in a text that ends with a prompt, if the fence before that is found."""
        whole = None
        if self._blanks_echoed is not False:
            whole = framing.before_fence(text, blanks)
            self._blanks_echoed = self._blanks_echoed or (True if whole is not None else None)
        if whole is None and (self._blanks_echoed is False or (quiet and not self._blanks_echoed)):
            whole = framing.before_fence(text, 0)
            self._blanks_echoed = False if whole is not None else self._blanks_echoed
        if whole is None:
            return None
        return self._part(whole, echo) or PartialReply("", whole, anchored=False)

    def _part(self, text: str, echo: str) -> PartialReply | None:
        """Return the text after the echo; None while the echo is incomplete."""
        if not echo or not self._echoes:
            return PartialReply("", text)
        parts = framing.after_echo(text, echo, framing.prompt_text(self.prompt))
        return PartialReply(*parts) if parts else None

    def _fence(self, blanks: int) -> int:
        """Send a line of that many blanks; return their number."""
        self._send(("" if self._blanks_echoed is False else " " * blanks) + "\n")
        return blanks

    def _is_known(self, prompt: parse.Prompt) -> bool:
        """Whether the prompt shows the name seen at login; a new `sysname` shows another."""
        name = self.base_prompt
        return (
            not name
            or prompt.view in (name, self.prompt.view)
            or prompt.view.startswith(f"{name}-")
        )

    def _hides_end(self, text: str) -> bool:
        """Whether unsolicited output may hide the end of the reply."""
        return parse.asks_for_password(text) or bool(framing.unsolicited(text, self.base_prompt))

    def _receive(self, timeout_s: float) -> str:
        """Return the next output of the switch; "" when there is none for a time."""
        heard = ""
        while not heard:  # a packet may hold a part of a character only
            data = self._next_bytes(timeout_s)
            if data is None:
                return ""
            heard = str(self._decoder.decode(data))
        self._shown = (self._shown + heard)[-_TAIL_CHARS:]
        return heard

    def _next_bytes(self, timeout_s: float) -> bytes | None:
        """Return the next packet; None when there is none for a time."""
        channel = self.remote_conn
        if channel is None:
            raise self._broken("the session is closed")
        channel.settimeout(max(0.0, min(timeout_s, self._ends_at - time.monotonic())))
        data: bytes | None
        try:
            data = channel.recv(_READ_BYTES)
        except TimeoutError:
            data = None
        except OSError:
            data = b""
        if data == b"":
            raise self._broken("session lost")
        self._require_time()
        self._heard_at = time.monotonic() if data else self._heard_at
        return data

    def _require_time(self) -> None:
        """Raise SessionBrokenError when the time of the login or of the reply is over."""
        now = time.monotonic()
        if now >= self._ends_at:
            if now - self._heard_at > self._bound_s / 2:
                raise self._broken(f"no answer for {now - self._heard_at:.0f} s")
            what = "the login" if self._logging_in else "the reply"
            raise self._broken(f"{what} was not complete after {self._bound_s:g} s")

    def _send(self, text: str) -> None:
        if self.remote_conn is None:
            raise self._broken("the session is closed")
        self._sent = text.strip() or self._sent
        try:
            self.remote_conn.sendall(framing.raw_bytes(text))
        except (OSError, EOFError):  # the latter is paramiko's on a full or closed socket
            raise self._broken("session lost") from None

    def _broken(self, why: str) -> SessionBrokenError:
        """Return the error for a broken session, with the last line that the switch printed."""
        last = framing.last_line(parse.plain_text(self._shown), self._sent)
        if self.base_prompt:  # before the first prompt, no secret was sent and none is shown
            last = mask_secrets(last)
        last = framing.decoded(last).text
        return SessionBrokenError(why, quotable(last))
