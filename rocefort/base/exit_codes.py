"""Exit codes of `rocefort`, as one table: the code, and its meaning for a user."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit code of a command; docs/reference/output.md and `rocefort --help` list them."""

    meaning: str

    def __new__(cls, code: int, meaning: str) -> ExitCode:
        """Make a number with a meaning."""
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    CLEAN = 0, "The command did what was requested, and nothing is wrong."
    FINDINGS = (
        1,
        "The result is not clean: an error, drift, a measurement below its limit, a difference.",
    )
    BAD_INPUT = 2, "A file, an option or an argument cannot be used."
    FAILED = 3, "A switch, a server or a service failed, or output cannot be written."
    REFUSED = 4, "The action is unsafe or not permitted."
    STOPPED = (
        5,
        "An operator stopped an action, or it waits for an approval or for its gate.",
    )
    INTERNAL = 70, "An internal error of Rocefort. Its traceback is in a file; please report it."
    INTERRUPTED = 130, "Ctrl-C ended a command that only reads, computes or writes files."


def exit_codes_text() -> str:
    """Return the codes with their names in a line, for `rocefort --help`."""
    return ", ".join(f"{code:d} {code.name.lower().replace('_', ' ')}" for code in ExitCode)
