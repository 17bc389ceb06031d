"""Where the reply to a line begins and ends, and which of its lines nobody asked for.

A terminal shows more than replies: log lines, and the prompt again after them, at any moment, also
in the middle of a line. So a reply is what stands between two things that nothing else prints:

    <leaf01>display clock       the echo of the line that was sent: the reply begins behind it
    2026-01-01 10:00:00
    <leaf01>..                  where a prompt shows, a line of blanks is sent, the fence: only its
    <leaf01>                    echo proves the prompt before it, and the reply ends there

What comes before the echo belongs to nobody. Between echo and fence, log lines, prompts and control
characters can be recognised; a reply with one of them is in doubt, for what was torn apart by it
cannot be put together again. The lines of a configuration go out without a fence: what their
replies still had to say comes before the echo of the next line.
"""

import re
from functools import lru_cache

from napalm_cloudengine import parse

# The forms of `info-center timestamp` (command reference, V300R023C00), each before the host name:
# `Mar 26 2020 01:00:35+08:00`, `Mar 26 01:20:17.771`, `2020-03-26 01:15:14`, `2020-03-25T17:25:23`,
# `0.261958727`.
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[ ]{1,2}\d{1,2}(?:[ ]\d{4})?"
_CLOCK = r"\d\d:\d\d:\d\d"
_STAMP = rf"(?:(?:{_MONTH}[ ]|\d{{4}}-\d\d-\d\d[ T]){_CLOCK}\S*|\d+\.\d+)"
_LOG_LINE = re.compile(rf"[#%]?{_STAMP}[ ]+\S.*%%\d\d\S+/\d/.*")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_ALWAYS = rf"%%\d\d|\[[~*]|---- More|{_CONTROL.pattern}"


def after_echo(text: str, echo: str, prompt: str) -> tuple[str, str] | None:
    """What stands before and after the echo of a line; None while it is not there as a whole.

    The terminal may show `prompt` before it once more, and break it into several lines.
    """
    wanted = "".join(echo.split())
    lines = text.split("\n")[:-1]  # the last is not complete
    for first, line in enumerate(lines):
        seen = ""
        broken = lines[first + 1 : first + len(echo)]  # it has no more lines than characters
        for last, part in enumerate([line.removeprefix(prompt), *broken], start=first):
            seen += "".join(part.split())
            if seen == wanted:
                before = text.split("\n", first)[:first]
                return "\n".join(before), text.split("\n", last + 1)[last + 1]
            if not seen or not wanted.startswith(seen):
                break
    return None


def before_fence(text: str, blanks: int) -> str | None:
    """What stands before the prompt that the echo of a line of blanks proves; None while none is.

    The last line of `text` is the prompt that follows it.
    """
    prompt = text[text.rfind("\n") + 1 :].rstrip(" ")
    text, end = text.rstrip(" "), f"{prompt}{' ' * blanks}\n{prompt}"
    return text.removesuffix(end) if text.endswith(end) else None


def shows_its_end(text: str) -> bool:
    """Whether a reply is a whole configuration: its last line is `return`, and nothing else's."""
    return text.rstrip("\n").endswith("\nreturn")


def unsolicited(text: str, name: str) -> str:
    """The first line in which something shows that nobody asked for; "" where there is none.

    name: of the switch, whose prompt is looked for. A description may hold the same; then it is
    there the next time, too.
    """
    hints = ("%%", "[~", "[*", "---- More", f"<{name}>")
    if not any(hint in text for hint in hints) and not _CONTROL.search(text):
        named = f" {name} "  # what is left is a stamp before the name; most replies have neither
        text = (
            "\n".join(line for line in text.split("\n") if named in line) if named in text else ""
        )
    found = _signs(name).search(text)
    if found is None:
        return ""
    return text[text.rfind("\n", 0, found.start()) + 1 :].split("\n", 1)[0].strip()


@lru_cache(maxsize=4096)
def _signs(name: str) -> re.Pattern[str]:
    """Log and trap lines, prompts, and what moves the cursor."""
    own = re.escape(name)
    return re.compile(f"{_ALWAYS}|<{own}>|{_STAMP}[ ]+{own}[ ]" if name else _ALWAYS)


def solicited(text: str, prompt: str) -> str:
    """What is left of a text without blank lines, whole log lines and repeats of a prompt.

    A log line that has an error in it stays: it may be one that was printed into the log line.
    """
    return "\n".join(
        line
        for line in text.split("\n")
        if line.strip() not in ("", prompt)
        and ("Error:" in line or not _LOG_LINE.fullmatch(line.rstrip()))
    )


def last_line(text: str, sent: str) -> str:
    """The last line that a switch has printed but for the echo of `sent`, or a part of it.

    A part could be that of a secret, which nothing masks any more.
    """
    echo = "".join(sent.split())
    for line in reversed(text.split("\n")):
        shown = line.strip().removesuffix(sent.strip()).strip() if sent.strip() else line.strip()
        if shown and "".join(shown.split()) not in echo:
            return shown
    return ""


def prompt_text(prompt: parse.Prompt) -> str:
    """A prompt as the switch prints it."""
    return f"[{prompt.mark}{prompt.view}]" if prompt.system else f"<{prompt.view}>"
