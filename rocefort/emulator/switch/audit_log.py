"""Audit log of a lab: one row for each line that a switch receives and each act of its own.

    with AuditLog(Path("deeds.jsonl")) as audit_log:
        audit_log.begin(switch)
        audit_log.note(switch, 3, "netops", "commit trial 600")

Only the lab writes the file. It adds each row with one write, before it answers the user. So a
rollout can be judged without its controller, and after a switch is gone. A row without a typed line
has an empty line (a trial that ended by its timer), or the event in brackets. Passwords are masked.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Self

from rocefort.base.errors import ServiceFailed
from rocefort.dialects.vrp.interpreter.interpreter import Lines
from rocefort.dialects.vrp.text.secret_forms import masked_text
from rocefort.emulator.switch.switch import EmulatedSwitch

DIGEST_LENGTH = 12
GONE = "(the session is gone)"  # in place of a line
POWER_LOST = "(power lost)"


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One row; running and saved are digests of configurations, left_s of a trial or None."""

    at: str  # wall clock, UTC
    switch: str
    session: int
    user: str
    line: str
    running: str
    saved: str
    left_s: int | None = None
    before: str = ""  # configuration that returns when the trial ends
    persist: str = ""
    candidate: bool = False  # whether any session has uncommitted lines

    @property
    def state(self) -> tuple[object, ...]:
        """State of the switch without its clock."""
        trial = self.left_s is not None
        return self.running, self.saved, trial, self.before, self.persist, self.candidate


@dataclass
class AuditLog:
    """The log file; raises ServiceFailed if it cannot be opened."""

    path: Path
    _file: int = -1
    _last: dict[str, tuple[object, ...]] = field(default_factory=dict)

    def __enter__(self) -> Self:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
        try:
            self._file = os.open(self.path, flags, 0o600)
        except OSError as error:
            how = "choose another file"
            raise ServiceFailed(str(error.strerror), file=str(self.path), how=how) from None
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def begin(self, switch: EmulatedSwitch) -> None:
        """Record the state of a switch before the first line."""
        self._write(self._record_of(switch, 0, "", ""))

    def record_spontaneous(self, switch: EmulatedSwitch) -> None:
        """Record what a switch did since its last row without a typed line, if anything."""
        record = self._record_of(switch, 0, "", "")
        if record.state != self._last.get(switch.name):
            self._write(record)

    def note(self, switch: EmulatedSwitch, session: int, user: str, line: str) -> None:
        """Record a line and the state after it."""
        self._write(self._record_of(switch, session, user, masked_text(line)))

    def _record_of(self, switch: EmulatedSwitch, session: int, user: str, line: str) -> AuditRecord:
        trial = switch.trial
        return AuditRecord(
            at=datetime.now(UTC).isoformat(),
            switch=switch.name,
            session=session,
            user=user,
            line=line,
            running=digest_of(switch.running),
            saved=digest_of(switch.saved),
            left_s=switch.trial_left() if trial else None,
            before=digest_of(trial.before) if trial else "",
            persist=(trial.persist or "") if trial else "",
            candidate=bool(switch.candidates),
        )

    def _write(self, record: AuditRecord) -> None:
        self._last[record.switch] = record.state
        os.write(self._file, json.dumps(asdict(record)).encode() + b"\n")


@lru_cache(maxsize=64)  # each row needs two: 0.2 ms for 1,000 lines; without a cache 0.8 ms
def digest_of(lines: Lines) -> str:
    """Return a digest that is equal for equal configurations."""
    rows = (row for top in lines for row in top.walk())
    text = "\n".join(" " * len(path) + line.text for path, line in rows)
    return sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]


def read_audit_log(path: Path) -> list[AuditRecord]:
    """Return all rows of a file, oldest first, without a row that is still being written."""
    return [AuditRecord(**json.loads(line)) for line in path.read_bytes().split(b"\n")[:-1]]
