"""Configuration text as the lines to send; lines that must not reach a switch are refused."""

import re
import unicodedata
from dataclasses import dataclass

# Maximum length of a CloudEngine command line (command reference).
MAX_LINE_CHARS = 3100
# `commit .. description`: 1 to 60 ASCII characters, spaces allowed (command reference).
MAX_DESCRIPTION_CHARS = 60
_SHOWN_CHARS = 120  # of a line in a message
# Characters that act on a terminal, or that show a text as what it is not: C0 and C1 controls, DEL,
# zero-width and bidirectional ones, fillers, line separators, variation selectors, tags, and
# surrogates, which no encoding has (Unicode 15, general categories Cc, Cf, Cs, Zl, Zp, and the
# default-ignorable code points).
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# Words that act instead of configuring: in a candidate they would commit, save, reboot or leave it.
# VRP accepts any unambiguous abbreviation of a word, so `com` is a `commit`.
_ACTING_WORDS = ("abort", "commit", "reboot", "return", "rollback", "run", "save", "system-view")
_WHOLE_WORDS = ("system",)  # an abbreviation of `system-view`, yet a configuration word of its own


class UnsendableError(ValueError):
    """A line that must not be sent: its position and the reason; `line` is as written."""

    def __init__(self, number: int, line: str, why: str) -> None:
        self.number, self.line, self.why = number, line, why
        super().__init__(f"line {number}: {why}")


@dataclass(frozen=True)
class SendLine:
    """One line to send; `number` counts from 1 in the text given, `indent` in blanks.

    The text `#` is not sent: unindented it means "back to the system view", as in a saved file.
    """

    number: int
    indent: int
    text: str


def config_lines(text: str) -> tuple[SendLine, ...]:
    """Return the lines of `text` that matter: no blanks, `!` heading, separators, or last `return`.

    Raises UnsendableError for the first line that must not be sent.
    """
    lines = [
        SendLine(number, len(raw) - len(raw.lstrip(" ")), raw.strip(" "))
        for number, raw in enumerate(lines_of(text), start=1)
    ]
    commands = [line for line in lines if line.text and not line.text.startswith("!")]
    commands = [line for line in commands if line.text != "#" or line.indent == 0]
    if commands and commands[-1] == SendLine(commands[-1].number, 0, "return"):
        commands.pop()
    for line in commands:
        if why := why_not_sent(line.text):
            raise UnsendableError(line.number, line.text, f"{why}; not sent")
    return tuple(commands)


def lines_of(text: str) -> list[str]:
    """Return the lines of a text: only line ends separate them, no other control character."""
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n")


def words_of(line: str) -> list[str]:
    """Return the words of a line: only blanks and tabs separate them, as on a switch."""
    if line.isprintable():  # has neither control characters nor other blanks
        return line.split()
    return [word for word in line.replace("\t", " ").split(" ") if word]


def visible(text: str) -> str:
    """Return a text whose unseen characters are spelled: `\\u009b`; line ends and tabs stay.

    JSON has the same spelling, so that JSON whose layout passes here keeps its values.
    """
    return _UNSEEN.sub(_spelled, text)


def visible_line(text: str) -> str:
    """Return a text as one line, as `visible` does; a line end is spelled, too."""
    return visible(text).replace("\n", "\\u000a")


def _spelled(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def quotable(text: str) -> str:
    """Return a line for a message: on one screen line, visible, not too long."""
    spelled = visible_line(text).replace("\t", "\\u0009")
    return spelled if len(spelled) <= _SHOWN_CHARS else f"{spelled[:_SHOWN_CHARS]}.."


def check_description(message: str) -> str:
    """Return the message as a commit description; TypeError, ValueError if no switch takes it."""
    if not isinstance(message, str):
        raise TypeError(f"a commit message is a text, not {message!r}")
    words = message.strip(" ")
    if not words:
        raise ValueError("a commit message of blanks describes nothing: leave it out")
    if why := why_not_typed(words):
        raise ValueError(f"a commit message {why}")
    if not words.isascii() or len(words) > MAX_DESCRIPTION_CHARS:
        raise ValueError(
            f"a commit message is at most {MAX_DESCRIPTION_CHARS} ASCII characters on a "
            f"CloudEngine, this one has {len(words)}"
        )
    return words


def check_persist_id(value: object) -> str:
    """Return the id of a persistent trial, "" for None; ValueError when no switch accepts it.

    1 to 256 visible ASCII characters, not a hyphen alone and not beginning with a digit (command
    reference, "abort trial").
    """
    if value is None:
        return ""
    text = str(value)
    if not re.fullmatch(r"(?!-$)[!-/:-~][!-~]{0,255}", text) or "?" in text or '"' in text:
        raise ValueError(
            f"persist_id: {text!r} is not 1 to 256 visible ASCII characters that begin without a "
            "digit (and without '?' and '\"')"
        )
    return text


def why_not_sent(text: str) -> str:
    """Return the reason why a line is not sent as configuration; "" when it is."""
    first = re.split(r"\s", text, maxsplit=1)[0].lower()
    if len(first) > 1 and first not in _WHOLE_WORDS:
        for word in _ACTING_WORDS:
            if word.startswith(first):
                return f"'{word}' acts on the switch and is not configuration"
    if first == "clear":
        return "'clear' acts on the switch and is not configuration"
    if len(text) > MAX_LINE_CHARS:
        return f"longer than the {MAX_LINE_CHARS} characters that a switch takes"
    return why_not_typed(text)


def why_not_typed(text: str) -> str:
    """Return the reason why a text cannot be typed as one line; "" when it can."""
    if "?" in text:
        return "contains '?', which requests help instead of being entered"
    odd = next((char for char in text if unicodedata.category(char) in ("Cc", "Zl", "Zp")), None)
    return f"holds the control character U+{ord(odd):04X}" if odd else ""
