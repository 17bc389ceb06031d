"""Replies to a line: their bytes as text, their boundaries, and unsolicited output in them.

A CloudEngine stores the bytes of a description as its user's terminal sent them: UTF-8 or, from
Chinese terminals, GBK (GB18030 contains it). Inside a session, text is decoded with
`surrogateescape`, which keeps every byte, also where a packet ends within a character. A whole
reply is decoded here, and no byte is ever replaced.

A terminal shows more than replies: log lines, and the prompt again after them, at any moment, also
in the middle of a line. So a reply is the text between two markers that no other output contains:

    <leaf01>display clock       the echo of the line that was sent: the reply begins after it
    2026-01-01 10:00:00
    <leaf01>..                  where a prompt shows, a line of blanks is sent, the fence: only its
    <leaf01>                    echo proves the prompt before it, and the reply ends there

Text before the echo belongs to no reply. Between echo and fence, log lines, prompts and control
characters can be recognised. A reply with one of them is in doubt, because a line that was split by
other output cannot be reassembled. The lines of a configuration are sent without a fence: the rest
of their replies comes before the echo of the next line.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from napalm_cloudengine import parse
from napalm_cloudengine.masking import mask_secrets

UTF8, GBK = "UTF-8", "GBK"
_CODECS = {UTF8: "utf-8", GBK: "gb18030"}
_TWO_BYTES = 0x7FF  # the last character that UTF-8 writes in two bytes, as GBK writes each


@dataclass(frozen=True)
class Decoded:
    """A text, and the encoding of each of its lines with other characters than ASCII.

    fault: the first line that has no certain text, and why; "" where all have. Its undecodable
    bytes are shown as `\\xNN`.
    """

    text: str
    encodings: tuple[tuple[str, str], ...] = ()  # line, encoding
    fault: str = ""

    @property
    def encoding(self) -> str:
        """Return the encodings of the text in words; "" where it is ASCII."""
        return " and ".join(sorted({encoding for _, encoding in self.encodings}, reverse=True))


def raw_bytes(text: str) -> bytes:
    """Return the bytes behind a text of a session."""
    return text.encode("utf-8", "surrogateescape")


def raw_text(text: str, encoding: str) -> str:
    """Return a text to send in the form that a session's text has, in an encoding."""
    data = text.encode(_CODECS.get(encoding, encoding))
    return data.decode("utf-8", "surrogateescape")


def decoded(text: str) -> Decoded:
    """Decode a text of a session, line by line.

    A line that is only valid as UTF-8, or only as GBK, is that. One that is valid as both is UTF-8,
    unless all its characters have two bytes and other lines are GBK: then it is GBK, or, where yet
    others are UTF-8, not certain.
    """
    if text.isascii():
        return Decoded(text)
    rows = text.split("\n")
    readings = {number: _readings(row) for number, row in enumerate(rows) if not row.isascii()}
    only = {next(iter(texts)) for texts in readings.values() if len(texts) == 1}
    encodings, fault = [], ""
    for number, texts in readings.items():
        encoding = _encoding(texts, only)
        if encoding:
            rows[number] = texts[encoding]
            encodings.append((texts[encoding], encoding))
            continue
        odd = raw_bytes(rows[number])
        spelled = " ".join(f"0x{byte:02x}" for byte in odd if byte > 0x7F)[:60]
        rows[number] = odd.decode("ascii", "backslashreplace")
        why = "may be UTF-8 or GBK" if texts else "is neither UTF-8 nor GBK"
        fault = fault or f"line {number + 1} {why}: bytes {spelled} in '{rows[number].strip()}'"
    return Decoded("\n".join(rows), tuple(encodings), fault)


def _readings(row: str) -> dict[str, str]:
    """Return the text of a line in each encoding in which it is valid."""
    texts = {}
    for encoding, codec in _CODECS.items():
        try:
            texts[encoding] = raw_bytes(row).decode(codec)
        except UnicodeDecodeError:
            continue
    return texts


def _encoding(texts: dict[str, str], only: set[str]) -> str:
    """Return the encoding of a line; "" where it is not certain. only: of lines with one."""
    if len(texts) != 2:
        return next(iter(texts), "")
    two_bytes = all(ord(char) <= _TWO_BYTES for char in texts[UTF8])
    if not two_bytes or GBK not in only:
        return UTF8
    return "" if UTF8 in only else GBK


@dataclass(frozen=True)
class PartialReply:
    """A reply up to its prompt or to a question; `before` came before the echo."""

    before: str
    text: str
    anchored: bool = True  # whether the echo was found
    prompt: parse.Prompt | None = None
    question: str = ""  # that ends the text


@dataclass(frozen=True)
class SwitchReply:
    """Reply of the switch to one line.

    `text` is everything between the echo and the prompt, `refused` the question that no row of the
    table answered (it got a no), `prompt` the CLI's current prompt. `doubt` is an unsolicited line
    of the text, or the reason why the reply was not found; `late` is the output before the echo.
    `fault` is the reason why the text is not certain: bytes in no known encoding, or a pager.
    `answered` are the questions in the text that got an answer, `encoding` is that of the text, ""
    for ASCII.
    """

    text: str
    prompt: parse.Prompt
    refused: str | None = None
    doubt: str = ""
    late: str = ""
    fault: str = ""
    answered: tuple[str, ...] = ()
    encoding: str = ""

    @property
    def errors(self) -> tuple[str, ...]:
        """Return the refusing lines: those that start with `Error:`."""
        return parse.error_lines(self.text)

    @property
    def failures(self) -> tuple[str, ...]:
        """Return lines of the reply to a command that acts which report that it failed."""
        return parse.failure_lines(self.text, self.answered)

    @property
    def unknown(self) -> str:
        """Return the first line of the reply to a command that acts which is not known; or ""."""
        return parse.unknown_line(self.text, self.answered)

    def reports(self, sentence: str, progress: str = r"(?!)") -> bool:
        """Whether it reports a success: by a line that is `sentence`, with no others of its own.

        Both are patterns of whole lines. Notes of progress may be there, log lines and questions
        that got an answer.
        """
        rows = parse.own_lines(self.text, self.answered)
        others = [row for row in rows if not re.fullmatch(sentence, row)]
        return len(others) < len(rows) and all(re.fullmatch(progress, row) for row in others)

    @property
    def last(self) -> str:
        """Return its last line, without secrets."""
        return mask_secrets(self.text.rsplit("\n", 1)[-1].strip())

    @property
    def message(self) -> str:
        """Return the switch's text on one line and without secrets."""
        lines = self.errors or self.failures or self.text.split()
        return mask_secrets(" ".join(lines)) or "nothing"


# The forms of `info-center timestamp` (command reference, V300R023C00), each before the host name:
# `Mar 26 2020 01:00:35+08:00`, `Mar 26 01:20:17.771`, `2020-03-26 01:15:14`, `2020-03-25T17:25:23`,
# `0.261958727`.
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[ ]{1,2}\d{1,2}(?:[ ]\d{4})?"
_CLOCK = r"\d\d:\d\d:\d\d"
_STAMP = rf"(?:(?:{_MONTH}[ ]|\d{{4}}-\d\d-\d\d[ T]){_CLOCK}\S*|\d+\.\d+)"
_LOG_LINE = re.compile(rf"[#%]?{_STAMP}[ ]+\S.*%%\d\d\S+/\d/.*")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_CURSOR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")  # as a terminal wraps an echo with it
_ALWAYS = rf"%%\d\d|\[[~*]|---- More|{_CONTROL.pattern}"


def after_echo(text: str, echo: str, prompt: str) -> tuple[str, str] | None:
    """Return the text before and after the echo of a line; None while the echo is incomplete.

    The terminal may show `prompt` before it once more, and break it into several lines.
    """
    expected = _packed(echo)
    lines = text.split("\n")[:-1]  # the last is not complete
    for first, line in enumerate(lines):
        seen = b""
        broken = lines[first + 1 : first + len(echo)]  # it has at most as many lines as characters
        own = _CURSOR.sub("", line).removeprefix(prompt)
        for last, part in enumerate([own, *broken], start=first):
            seen += _packed(part)
            if seen == expected:
                before = text.split("\n", first)[:first]
                return "\n".join(before), text.split("\n", last + 1)[last + 1]
            if not seen or not expected.startswith(seen):
                break
    return None


def _packed(text: str) -> bytes:
    """Return the bytes of an echo without blanks and cursor moves, which wrap it.

    A terminal may wrap a line within a character.
    """
    return b"".join(raw_bytes(_CURSOR.sub("", text)).split())


def before_fence(text: str, blanks: int) -> str | None:
    """Return the text before the prompt that a fence's echo proves; None without such a prompt.

    The last line of `text` is the prompt that follows it. Some terminals print a blank after a
    prompt, others none: both prompts then have it. Blanks there may also be the next fence's.
    """
    last = text[text.rfind("\n") + 1 :]
    prompt, text = last.rstrip(" "), text.rstrip(" ")
    for tail in (0, len(last) - len(prompt)):
        end = f"{prompt}{' ' * (blanks + tail)}\n{prompt}"
        if text.endswith(end):
            return text.removesuffix(end)
    return None


def shows_its_end(text: str) -> bool:
    """Whether a reply is a whole configuration: its last line, and no other, is `return`."""
    return text.rstrip("\n").endswith("\nreturn")


def unsolicited(text: str, name: str) -> str:
    """Return the first line with unsolicited output; "" where there is none.

    name: of the switch, whose prompt is searched for. A description may contain the same text; a
    second reading then shows it again.
    """
    hints = ("%%", "[~", "[*", "---- More", f"<{name}>")
    if not any(hint in text for hint in hints) and not _CONTROL.search(text):
        marker = f" {name} "  # a stamp before the name is left to check; most replies have neither
        text = (
            "\n".join(line for line in text.split("\n") if marker in line) if marker in text else ""
        )
    match = _signs(name).search(text)
    if match is None:
        return ""
    return text[text.rfind("\n", 0, match.start()) + 1 :].split("\n", 1)[0].strip()


@lru_cache(maxsize=256)  # by switch, for open sessions: a pattern compiles in 0.3 ms
def _signs(name: str) -> re.Pattern[str]:
    """Return a pattern of log and trap lines, prompts, and cursor movements."""
    own = re.escape(name)
    return re.compile(f"{_ALWAYS}|<{own}>|{_STAMP}[ ]+{own}[ ]" if name else _ALWAYS)


def solicited(text: str, prompt: str) -> str:
    """Return a text without blank lines, whole log lines and repeats of a prompt.

    A log line with an error in it stays: the error may have been printed into the log line.
    """
    return "\n".join(
        line
        for line in text.split("\n")
        if line.strip() not in ("", prompt)
        and ("Error:" in line or not _LOG_LINE.fullmatch(line.rstrip()))
    )


def last_line(text: str, sent: str) -> str:
    """Return the last line that a switch printed, except the echo of `sent` or a part of it.

    A part could contain a part of a secret, which the masking no longer recognises.
    """
    echo = "".join(sent.split())
    for row in reversed(text.split("\n")):
        line = _CONTROL.sub("", _CURSOR.sub("", row))
        shown = line.strip().removesuffix(sent.strip()).strip() if sent.strip() else line.strip()
        if shown and "".join(shown.split()) not in echo:
            return shown
    return ""


def prompt_text(prompt: parse.Prompt) -> str:
    """Return a prompt as the switch prints it."""
    return f"[{prompt.mark}{prompt.view}]" if prompt.system else f"<{prompt.view}>"
