"""Recording of a Batfish service's real answers in a file, and replay for the same snapshot."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from pydantic import Field, ValidationError

from napalm_cloudengine import regular_file
from rocefort.base.errors import BadInput
from rocefort.models.base import Frozen
from rocefort.models.network.network import Network
from rocefort.validators.batfish.access import Service
from rocefort.validators.batfish.engine import (
    HOST,
    PORT,
    BatfishAnswers,
    gate,
    interpret,
    open_session,
    put_questions,
)
from rocefort.validators.batfish.snapshot import snapshot_digest, snapshot_files
from rocefort.validators.routing_results import RoutingState

# All; with -k and a file's stem, one. docs/how-to/batfish.md
RECORD_COMMAND = "ROCEFORT_BATFISH=HOST:PORT ROCEFORT_RECORD=1 pytest -m batfish"
Kept = TypeVar("Kept", bound=Frozen)


class Recording(Frozen):
    """Recorded verification: digest of the snapshot, date, and the service's answers."""

    network: str
    snapshot_sha256: str
    recorded: str  # date, UTC
    milliseconds: dict[str, int] = Field(default_factory=dict)  # wall clock, by question
    answers: BatfishAnswers


def record(network: Network, path: Path, host: str = HOST, port: int = PORT) -> RoutingState:
    """Verify as `ask` does, and keep the answers in a file. Raises as `ask` does."""
    with open_session(snapshot_files(network), Service(host, port)) as asking:
        gate(asking)
        answers = put_questions(asking, network)
    milliseconds: Counter[str] = Counter()
    for timing in asking.session.timings:
        milliseconds[timing.question] += round(1000 * timing.seconds)
    state = interpret(network, answers)  # raises before invalid answers are kept
    recording = Recording(
        network=network.name,
        snapshot_sha256=snapshot_digest(snapshot_files(network)),
        recorded=datetime.now(UTC).date().isoformat(),
        milliseconds=dict(milliseconds),
        answers=answers,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(recording.model_dump_json() + "\n", encoding="utf-8")
    return state


def replay(network: Network, path: Path) -> RoutingState:
    """Recorded answers of the service about exactly this snapshot.

    Raises BadInput if there is no recording, or if it is of another snapshot: a recorded answer
    is never used for a fabric that has changed since.
    """
    recording = load(path)
    check_snapshot(network, recording.snapshot_sha256, recording.recorded, path)
    return interpret(network, recording.answers)


def check_snapshot(network: Network, sha256: str, recorded: str, path: Path) -> None:
    """Raise BadInput if the recording in a file is not of this network's snapshot."""
    if (digest := snapshot_digest(snapshot_files(network))) != sha256:
        raise BadInput(
            f"recorded for snapshot {sha256[:12]}, this network gives "
            f"{digest[:12]}: its text or the translation has changed since {recorded}",
            file=str(path),
            how=f"record it again with a running service: {RECORD_COMMAND} -k {path.stem}",
        )


def load(path: Path) -> Recording:
    """Read a recording. Raises BadInput if it is missing or invalid."""
    return read_recording(Recording, path)


def read_recording(kind: type[Kept], path: Path) -> Kept:
    """Read a recording of a kind. Raises BadInput if it is missing or invalid."""
    how = f"record it with a running service: {RECORD_COMMAND} -k {path.stem}"
    try:
        return kind.model_validate_json(regular_file.read_bytes(path))
    except OSError as error:
        what = f"no recording: {error.strerror}"
        raise BadInput(what, file=str(path), how=how) from error
    except ValidationError as error:
        first = error.errors()[0]
        what = " ".join(["not a recording:", *map(str, first["loc"]), first["msg"]])
        raise BadInput(what, file=str(path), how=how) from error
