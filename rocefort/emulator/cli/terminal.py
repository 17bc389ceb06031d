"""Terminal of one SSH channel: lines, echo, editing keys, help and pages of a dialogue."""

from __future__ import annotations

import asyncio
import contextlib
import re
from dataclasses import dataclass, field

import asyncssh

from rocefort.dialects.vrp.commands.parameters import LINE_LIMIT
from rocefort.emulator.cli.dialogue import CliReply
from rocefort.emulator.cli.session import BANNER, CliSession

NUL, CTRL_C, LF, CR, CTRL_Z, ESC, HELP = 0, 3, 10, 13, 26, 27, ord("?")
RUBOUT = (8, 127)
PLAIN = re.compile(rb"[ ->@-~\x80-\xff]+")  # only echoed: all but control characters and `?`
LAST_WORD_S = 1.0  # time for a client to read the last output
POLL_S = 0.5  # how often a terminal with an idle timeout reads the switch's clock


MORE = "  ---- More ----"
ERASE = "\x1b[16D                \x1b[16D"  # cursor back, blanks, and back: FIELD, drivers
NEXT_PAGE, NEXT_LINE, STOP = b" ", b"\r\n", b"qQ\x03"


@dataclass
class Pager:
    """Text that is shown screen by screen; `length` lines each, 0 for all at once."""

    text: str
    length: int
    rest: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rest = self.text.split("\n")

    def first(self) -> str:
        """Return the first screen."""
        return self._show(self.length or len(self.rest))

    @property
    def waits(self) -> bool:
        """Whether the pager waits for a key."""
        return bool(self.rest)

    def press(self, key: int) -> str:
        """Return the output of a key: blank a screen, Enter a line, q or Ctrl-C the end."""
        if key in STOP:
            self.rest = []
            return ERASE
        if key in NEXT_PAGE:
            return ERASE + self._show(self.length)
        return ERASE + self._show(1) if key in NEXT_LINE else ""

    def _show(self, count: int) -> str:
        shown, self.rest = self.rest[:count], self.rest[count:]
        return "\n".join([*shown, MORE if self.rest else ""])


class Terminal:
    """One channel: reads lines, echoes them, writes replies with CR LF.

    Blank, Enter, q and Ctrl-C control the pager, `?` prints help, Ctrl-Z returns to the user view.
    Ctrl-C drops the line and an open question. Other control characters, cursor keys and NUL are
    ignored.
    """

    def __init__(self, process: asyncssh.SSHServerProcess[bytes], session: CliSession) -> None:
        self.process = process
        self.session = session
        self.received = bytearray()  # read from the client, not processed yet
        self.typed = bytearray()  # the line so far
        self.unsent = bytearray()  # echo and replies; sent before the next wait for input
        self.after_return = False  # the last byte was CR: a LF belongs to it
        self.in_escape = False  # inside the characters of a cursor key

    def write(self, text: str) -> None:
        """Buffer text, with line ends as CR LF; it is sent before the next wait."""
        self.unsent += text.replace("\n", "\r\n").encode("utf-8", "replace")

    def flush(self) -> None:
        """Send echo, reply and prompt as one packet: a packet costs more than its bytes."""
        if self.unsent:
            self.process.stdout.write(bytes(self.unsent))
            self.unsent.clear()

    async def run(self) -> None:
        """Serve lines until the session or the client ends."""
        if self.process.command is not None:
            reply = self.session.handle(self.process.command)
            self.write(reply.text + "\n")
            self.flush()
            self.process.exit(0)
            return
        self.write("\n" + (self.session.switch.greeting or BANNER) + self.session.prompt)
        while (line := await self.read_line()) is not None:
            if not await self.answer(self.session.handle(line)):
                return

    async def answer(self, reply: CliReply) -> bool:
        """Write a reply and, unless it is a question, the next prompt; false at the end."""
        if reply.hangs:
            self.flush()
            while await self._receive():
                self.received.clear()  # read and drop all input until the client gives up
            return False
        if reply.asks:
            self.write(reply.text)
        elif reply.pages:
            await self.page(reply.text)
        elif reply.text:
            self.write(reply.text + "\n")
        if not reply.asks and (reply.prompts or not reply.closes):
            self.write(self.session.prompt)
        if reply.closes:
            await self.end(printed=bool(reply.text) or reply.prompts)
        return not reply.closes

    async def end(self, *, printed: bool) -> None:
        """End the session after the last output reached the client.

        Some clients drop text that they have not shown when the connection ends at once.
        """
        self.flush()
        if printed:
            self.process.exit(0)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.process.wait_closed(), LAST_WORD_S)
        self.hang_up()

    def hang_up(self) -> None:
        """End the connection."""
        self.process.channel.get_connection().close()

    async def page(self, text: str) -> None:
        """Write a query's output screen by screen."""
        if not text:
            return
        pager = Pager(text, self.session.screen_length)
        self.write(pager.first())
        while pager.waits:
            key = await self._next()
            if key is None:
                return
            self.write(pager.press(key))

    async def read_line(self) -> str | None:
        """Return one line, echoed as typed; None if the client closed the connection."""
        self.typed.clear()
        while True:
            self._take_plain()
            byte = await self._next()
            if byte is None:
                return None
            if byte in (CR, LF):
                self.unsent += b"\r\n"
                return self.typed.decode("utf-8", "replace")
            if byte == CTRL_Z:
                await self._escape()
            elif byte == HELP:
                await self._help()
            else:
                self._edit(byte)

    def _take_plain(self) -> None:
        """Take a run of plain characters at once."""
        match = None if self.in_escape else PLAIN.match(self.received)
        if match:
            self.after_return = False
            self.typed += (taken := match[0][: LINE_LIMIT - len(self.typed)])
            self.unsent += taken
            del self.received[: match.end()]

    def _edit(self, byte: int) -> None:
        """Take one character into the line."""
        if byte in RUBOUT:
            self.unsent += b"\x08 \x08" if self.typed else b""
            del self.typed[-1:]
        elif byte == CTRL_C:
            self.typed.clear()
            self.session.interrupt()
            self.write("\n" + self.session.prompt)
        elif byte >= ord(" ") and len(self.typed) < LINE_LIMIT:
            self.typed.append(byte)
            self.unsent.append(byte)

    async def _escape(self) -> None:
        self.typed.clear()
        self.write("\n")
        await self.answer(self.session.escape())

    async def _help(self) -> None:
        """Print the possible next words, then the line so far again."""
        line = self.typed.decode("utf-8", "replace")
        self.write("?\n")
        await self.page(self.session.help(line).text)
        self.write(self.session.waits_with + line)

    async def _next(self) -> int | None:
        """Return the next character that is not ignored; None if the client has disconnected."""
        while True:
            if not self.received:
                self.flush()
                if not await self._receive():
                    return None
            byte = self.received.pop(0)
            if byte == NUL:
                continue
            follows = self.after_return and byte == LF
            self.after_return = byte == CR
            if not (follows or self._of_cursor_key(byte)):
                return byte

    def _of_cursor_key(self, byte: int) -> bool:
        """Whether a byte belongs to an escape sequence; a letter ends it."""
        inside = self.in_escape
        self.in_escape = byte == ESC or (inside and not chr(byte).isalpha())
        return byte == ESC or inside

    async def _receive(self) -> bool:
        """Wait for bytes; false at the end. A change of the window size sends none."""
        while True:
            try:
                self.received += (chunk := await self._read())
            except (asyncssh.BreakReceived, asyncssh.SignalReceived, asyncssh.TerminalSizeChanged):
                continue
            return bool(chunk)

    async def _read(self) -> bytes:
        """Read, and check for an idle timeout every POLL_S if the session has one."""
        while self.session.idle_limit():
            try:
                return await asyncio.wait_for(self.process.stdin.read(4096), POLL_S)
            except TimeoutError:
                if self.session.idle():
                    self.hang_up()
                    return b""
        return await self.process.stdin.read(4096)
