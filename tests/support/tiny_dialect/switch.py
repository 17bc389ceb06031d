"""A switch with TinyOS, and the NAPALM driver that opens it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from napalm.base import NetworkDriver
from napalm.base.exceptions import CommitError

from tiny_dialect.lines import applied, text_of, tree_of


@dataclass(frozen=True)
class Trial:
    """A trial in the form that the switch shows."""

    state: str
    seconds_left: int = 0
    persist_id: str = ""


@dataclass
class TinySwitch:
    """Running, saved, candidate, and the text restored at the end of a trial; the test sets time."""

    running: str
    saved: str = ""
    candidate: str | None = None
    before: str | None = None
    ends: float = 0.0
    clock: Callable[[], float] = float
    adds: str = ""  # a line added to every candidate, as by a faulty release

    def __post_init__(self) -> None:
        self.saved = self.running


SWITCHES: dict[str, TinySwitch] = {}  # by the address at which they answer


class TinyDriver(NetworkDriver):  # type: ignore[misc]  # NAPALM has no types
    """The methods that a rollout uses; every session of a switch has the same candidate."""

    def __init__(self, hostname: str, *_: object, **_options: object) -> None:
        self.switch = SWITCHES[hostname]

    def open(self) -> None:
        """Nothing is sent."""

    def close(self) -> None:
        """Nothing is sent."""

    def is_alive(self) -> dict[str, bool]:
        return {"is_alive": True}

    def get_config(self, retrieve: str, **_: object) -> dict[str, str]:
        texts: Mapping[str, str] = {
            "running": self.switch.running,
            "startup": self.switch.saved,
            "candidate": self.switch.candidate or self.switch.running,
        }
        return {retrieve: texts[retrieve]}

    def get_bgp_neighbors(self) -> dict[str, dict[str, Any]]:
        peers = [line.split()[1] for rows in tree_of(self.switch.running).values()
                 for line in rows if line.startswith("neighbor ")]  # fmt: skip
        return {"global": {"peers": {peer: {"is_up": True} for peer in peers}}}

    def newest_commit(self) -> None:
        """TinyOS lists no commits."""

    def compare_config(self) -> str:
        """Rows `+ VIEW / LINE` and `- VIEW / LINE`, those that go first."""
        if self.switch.candidate is None:
            return ""
        old, new = ([*_rows(text)] for text in (self.switch.running, self.switch.candidate))
        gone = [f"- {row}" for row in reversed(old) if row not in new]
        return "\n".join([*gone, *(f"+ {row}" for row in new if row not in old)])

    def load_merge_candidate(self, *, config: str) -> None:
        lines = [*config.splitlines(), *([self.switch.adds] if self.switch.adds else [])]
        self.switch.candidate = text_of(applied(tree_of(self.switch.running), lines))

    @property
    def trial_has_id(self) -> bool:
        return False

    def commit_trial(self, message: str, seconds: int, plain_seconds: int) -> None:
        if self.switch.before is not None or self.switch.candidate is None:
            raise CommitError("nothing to commit, or a trial runs")
        self.switch.before, self.switch.running, self.switch.candidate = (
            self.switch.running,
            self.switch.candidate,
            None,
        )
        self.switch.ends = self.switch.clock() + plain_seconds

    def trial_status(self) -> Trial:
        remaining_s = int(self.switch.ends - self.switch.clock())
        return Trial("INACTIVE") if self.switch.before is None else Trial("ACTIVE", remaining_s)

    def confirm_commit(self) -> None:
        if self.switch.before is None:
            raise CommitError("no trial")
        self.switch.before = None

    def abort_commit(self, persist_id: str = "") -> None:
        if self.switch.before is None:
            raise CommitError("no trial")
        self.switch.running, self.switch.before = self.switch.before, None

    def discard_config(self) -> None:
        self.switch.candidate = None

    def save_config(self) -> None:
        self.switch.saved = self.switch.running


def _rows(text: str) -> list[str]:
    tree = tree_of(text)
    return [" / ".join(row) for top, inside in tree.items()
            for row in ((top,), *((top, line) for line in inside))]  # fmt: skip
