"""Bytes of a switch as text and back: UTF-8, or else GBK, decided for each line.

A CloudEngine stores the bytes of a description as its user's terminal sent them: UTF-8 or, from
Chinese terminals, GBK (GB18030 contains it). Inside a session, text is decoded with
`surrogateescape`, which keeps every byte, also where a packet ends within a character. A whole
reply is decoded here, and no byte is ever replaced.
"""

from dataclasses import dataclass

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
