"""A switch with TinyOS behind the driver methods that a rollout uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from napalm.base.exceptions import CommitError
from nornir.core.configuration import Config
from nornir.core.inventory import ConnectionOptions, Host

from rocefort.fleet.inventory import SESSIONS
from tiny_dialect.lines import applied, text_of, tree_of


@dataclass(frozen=True)
class Trial:
    """The trial as the switch shows it."""

    state: str
    seconds_left: int = 0
    persist_id: str = ""


@dataclass
class TinySwitch:
    """Running, saved, candidate, and the text that the end of a trial brings back; time is told."""

    running: str
    saved: str = ""
    candidate: str | None = None
    before: str | None = None
    ends: float = 0.0
    clock: Callable[[], float] = float
    adds: str = ""  # a line that it takes with every candidate, as a faulty release might

    def __post_init__(self) -> None:
        self.saved = self.running

    def is_alive(self) -> dict[str, bool]:
        return {"is_alive": True}

    def get_config(self, retrieve: str) -> dict[str, str]:
        texts: Mapping[str, str] = {
            "running": self.running,
            "startup": self.saved,
            "candidate": self.candidate or self.running,
        }
        return {retrieve: texts[retrieve]}

    def get_bgp_neighbors(self) -> dict[str, dict[str, Any]]:
        peers = [line.split()[1] for rows in tree_of(self.running).values()
                 for line in rows if line.startswith("neighbor ")]  # fmt: skip
        return {"global": {"peers": {peer: {"is_up": True} for peer in peers}}}

    def newest_commit(self) -> None:
        """TinyOS lists no commits."""

    def compare_config(self) -> str:
        """Rows `+ VIEW / LINE` and `- VIEW / LINE`, those that go first."""
        if self.candidate is None:
            return ""
        old, new = ([*_rows(text)] for text in (self.running, self.candidate))
        gone = [f"- {row}" for row in reversed(old) if row not in new]
        return "\n".join([*gone, *(f"+ {row}" for row in new if row not in old)])

    def load_merge_candidate(self, *, config: str) -> None:
        lines = [*config.splitlines(), *([self.adds] if self.adds else [])]
        self.candidate = text_of(applied(tree_of(self.running), lines))

    def commit_config(self, message: str, revert_in: int) -> None:
        if self.before is not None or self.candidate is None:
            raise CommitError("nothing to commit, or a trial runs")
        self.before, self.running, self.candidate = self.running, self.candidate, None
        self.ends = self.clock() + revert_in

    def trial_status(self) -> Trial:
        left = int(self.ends - self.clock())
        return Trial("INACTIVE") if self.before is None else Trial("ACTIVE", left)

    def has_pending_commit(self) -> bool:
        return self.before is not None

    def confirm_commit(self) -> None:
        if self.before is None:
            raise CommitError("no trial")
        self.before = None

    def abort_commit(self, persist_id: str = "") -> None:
        if self.before is None:
            raise CommitError("no trial")
        self.running, self.before = self.before, None

    def discard_config(self) -> None:
        self.candidate = None

    def save_config(self) -> None:
        self.saved = self.running


def _rows(text: str) -> list[str]:
    tree = tree_of(text)
    return [" / ".join(row) for top, inside in tree.items()
            for row in ((top,), *((top, line) for line in inside))]  # fmt: skip


class TinyHost(Host):
    """A host of Nornir every session of which is the same switch."""

    __slots__ = ("switch",)

    def __init__(self, name: str, switch: TinySwitch) -> None:
        super().__init__(name=name, connection_options={s: _options() for s in SESSIONS})
        self.switch = switch

    def get_connection(self, connection: str, configuration: Config) -> TinySwitch:
        return self.switch


def _options() -> ConnectionOptions:
    return ConnectionOptions(extras={"optional_args": {}})
