"""Dialogue with one switch over SSH: open, close, send a line, change the view.

A command that only reads is sent again while log lines or similar output are mixed with its reply.
A session that breaks, or stays mixed, is closed at once. It is reported as OutcomeUnknownError,
which states what is unknown.
"""

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Self

from napalm.base.exceptions import CommandErrorException, CommitError, ConnectionClosedException

from napalm_cloudengine import framing, parse
from napalm_cloudengine.connect import SessionBrokenError, connecting, ssh_options
from napalm_cloudengine.displays.lines import UnreadLine
from napalm_cloudengine.errors import (
    CandidateNotOursError,
    OutcomeUnknownError,
    QuestionRefusedError,
    UnreadableReplyError,
)
from napalm_cloudengine.framing import GBK, SwitchReply
from napalm_cloudengine.masking import mask_secrets
from napalm_cloudengine.parse import answers_from
from napalm_cloudengine.text import quotable
from napalm_cloudengine.transport import REPLY_TIMEOUT_S, CloudEngineSSH

LOG = logging.getLogger("napalm_cloudengine")

# A commit of a large change takes minutes; annet's deploy table waits as long.
COMMIT_TIMEOUT_S = 180.0

NOTHING_CHANGED = "it only reads, nothing was changed"

MOST_READS = 5  # of a reply mixed with other output
# Log lines have timestamps in seconds: output that is equal after more than one second is the
# switch's answer.
SAME_AFTER_S = 1.1


def same_configuration(text: str, other: str) -> bool:
    """Whether two texts are equal except for the heading and secrets, which are re-encrypted."""
    return text == other or _comparable(text) == _comparable(other)


def _comparable(text: str) -> list[str]:
    return [row.rstrip() for row in mask_secrets(text).split("\n") if not row.startswith("!")]


class Dialogue:
    """One switch, its session, and the lines sent over it."""

    def __init__(
        self,
        hostname: str,
        username: str,
        password: str,
        timeout: int = 60,
        optional_args: Mapping[str, Any] | None = None,
    ) -> None:
        self._ssh: CloudEngineSSH | None = None  # first: __del__ may run after a failure below
        options = dict(optional_args or {})
        self.name = str(options.pop("name", None) or hostname)
        self.hostname, self.username, self.password = hostname, username, password
        self.timeout = timeout
        self._answers = answers_from(options.pop("answers", None))
        self._commit_timeout_s = float(options.pop("commit_timeout_s", COMMIT_TIMEOUT_S))
        self._reply_timeout_s = float(options.pop("reply_timeout_s", REPLY_TIMEOUT_S))
        self._ssh_options = ssh_options(options, timeout)
        self._loaded = False  # whether the candidate holds lines that this object loaded
        self._config_read = False  # in this session: its encodings are known then
        self.encodings: dict[str, str] = {}  # by command, of answers that are not UTF-8 alone
        self.unread: dict[str, tuple[UnreadLine, ...]] = {}  # by command, of its last answer

    def open(self) -> None:
        """Connect and log in.

        Raises HostKeyError, ConnectAuthError, ConnectTimeoutError, ConnectionException.
        """
        if self._ssh is not None and self._ssh.is_open():
            return
        self.close()  # a lost session leaves its socket open
        with connecting(self.hostname, self._ssh_options, self.username):
            self._ssh = CloudEngineSSH(
                device_type="huawei_vrpv8",
                host=self.hostname,
                username=self.username,
                password=self.password,
                timeout=self.timeout,
                reply_timeout_s=self._reply_timeout_s,
                **self._ssh_options,
            )
        self._loaded = self._config_read = False

    def close(self) -> None:
        """Clear uncommitted lines of this object, then end the session.

        A trial that needs its session (the reference: a trial without `persist` takes effect only
        in the current session) ends with it.
        """
        ssh, self._ssh = self._ssh, None
        if ssh is None:
            return
        # a session that breaks here was about to end, and its unfinished candidate with it
        with suppress(SessionBrokenError):
            if self._loaded and ssh.is_open():
                ssh.exchange("clear configuration candidate", (), self.timeout)
            if ssh.is_open() and ssh.prompt.system and not ssh.prompt.uncommitted:
                ssh.exchange("return", self._answers, self.timeout)
        self._loaded = False
        ssh.disconnect()

    def is_alive(self) -> dict[str, bool]:
        """Whether the SSH session is up, as NAPALM's dictionary; sends nothing."""
        return {"is_alive": self._ssh is not None and self._ssh.is_open()}

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- one line, one reply ----------------------------------------------------------------

    def _connected(self) -> CloudEngineSSH:
        if self._ssh is None:
            raise ConnectionClosedException(f"{self.name}: the connection is not open")
        return self._ssh

    def _run(self, command: str, unknown: str, timeout_s: float | None = None) -> SwitchReply:
        """Send one line; close a broken session and raise OutcomeUnknownError."""
        send = self._connected().exchange
        return self._reply_or_error(
            command, unknown, lambda: send(command, self._answers, timeout_s or self.timeout)
        )

    def _reply_or_error(
        self, command: str, unknown: str, read: Callable[[], SwitchReply]
    ) -> SwitchReply:
        try:
            return read()
        except SessionBrokenError as broken:
            raise self._lost(command, broken.why, unknown, broken.last) from None

    def _lost(self, command: str, why: str, unknown: str, last: str) -> OutcomeUnknownError:
        """Close a session whose output cannot be interpreted, and return the error."""
        ssh, self._ssh, self._loaded = self._ssh, None, False
        if ssh is not None:
            ssh.disconnect()
        return OutcomeUnknownError(self.name, mask_secrets(command), why, unknown, quotable(last))

    def _ask(
        self, command: str, unknown: str = NOTHING_CHANGED, timeout_s: float = 0
    ) -> SwitchReply:
        """Return the reply to a command that only reads, without unsolicited output."""
        earlier = None
        for times in range(1, MOST_READS + 1):
            reply = self._run(command, unknown, timeout_s)
            same = times > 2 and reply == earlier
            if not reply.doubt or (same and not reply.fault):
                self._note_encoding(command, reply)
                return reply
            if same:
                break
            earlier = reply
            if times > 1:
                time.sleep(SAME_AFTER_S)
        if reply.fault and unknown == NOTHING_CHANGED:
            raise UnreadableReplyError(self.name, mask_secrets(command), quotable(reply.fault))
        why = reply.fault or "other output was mixed with each reply"
        raise self._lost(command, why, unknown, reply.last)

    def _note_encoding(self, command: str, reply: SwitchReply) -> None:
        self.encodings.pop(command, None)
        if GBK in reply.encoding:
            self.encodings[command] = reply.encoding
            LOG.info("%s: '%s' was read as %s", self.name, mask_secrets(command), reply.encoding)

    def _display(self, command: str, unknown: str = NOTHING_CHANGED) -> str:
        return self._accepted(command, self._ask(command, unknown), unknown)

    def _displayed_twice(self, command: str, unknown: str) -> str:
        """Return the text of two equal replies in a row: noise can look like anything."""
        text = self._display(command, unknown)
        for _ in range(MOST_READS):
            earlier, text = text, self._display(command, unknown)
            if same_configuration(earlier, text):
                return text
        last = mask_secrets(text.rsplit("\n", 1)[-1])
        raise self._lost(command, "each reply was another one", unknown, last)

    def _accepted(self, command: str, reply: SwitchReply, unknown: str = NOTHING_CHANGED) -> str:
        """Return a reply's text; a refusal after earlier commands leaves their effect unknown."""
        sent = mask_secrets(command)
        if (reply.refused or reply.errors) and unknown != NOTHING_CHANGED:
            raise self._lost(command, "nothing was shown", unknown, reply.refused or reply.message)
        if reply.refused:
            raise QuestionRefusedError(self.name, sent, reply.refused, "nothing more was sent")
        if reply.errors:
            raise CommandErrorException(f"{self.name}: '{sent}': {reply.message}")
        return reply.text

    def _running(self, unknown: str) -> str:
        return self._configuration("display current-configuration", unknown)

    def _configuration(self, command: str, unknown: str) -> str:
        """Return a whole configuration: it has lines, and its last one is `return`."""
        text = self._display(command, unknown)
        if framing.shows_its_end(text):
            self._config_read = True
            return text
        last = quotable(mask_secrets(text.rsplit("\n", 1)[-1]))
        why = "it is no whole configuration: it " + (
            f"ends with '{last}', not with `return`" if text else "is empty"
        )
        if unknown != NOTHING_CHANGED:
            raise self._lost(command, why, unknown, last)
        raise UnreadableReplyError(self.name, command, why)

    def _system_view(self) -> parse.Prompt:
        prompt = self._connected().prompt
        if prompt.system:
            return prompt
        reply = self._run("system-view", NOTHING_CHANGED)
        if reply.failures or not reply.prompt.system:
            raise CommandErrorException(
                f"{self.name}: the system view is closed to us: {reply.message}"
            )
        return reply.prompt

    def _user_view(self) -> None:
        prompt = self._connected().prompt
        if not prompt.system:
            return
        if prompt.uncommitted and self._loaded:
            raise CommitError(
                f"{self.name}: a loaded change is not committed; commit or discard it first"
            )
        if self._run("return", NOTHING_CHANGED).prompt.system:
            raise CandidateNotOursError(self.name)
