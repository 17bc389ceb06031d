"""Steps of `health`: read the switches once or twice, check them, store the reading."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from napalm_cloudengine import regular_file
from rocefort.base.documents.suggest import chosen_names
from rocefort.base.errors import BadInput
from rocefort.design.derive.derive import derive
from rocefort.design.subject import write_files
from rocefort.fleet.connections import Connections
from rocefort.fleet.nornir_session import open_fleet, require_credentials
from rocefort.models.finding import Report
from rocefort.models.network.network import Network
from rocefort.models.network.observed import Observed, StateTopic
from rocefort.models.wording import count_of
from rocefort.rollout.live.checks import errors_of, new_errors
from rocefort.rollout.live.readings import observe
from rocefort.validators.checks import check_live
from rocefort.validators.rules.live.switch_readings import HealthLimits, SwitchReadings
from rocefort.validators.rules.registry import Rule

UNREADABLE = "LIV001"


@dataclass(frozen=True)
class HealthReport:
    """Checked reading. notes: on the baseline; exit_code: of the whole command."""

    observed: Observed
    report: Report
    notes: tuple[str, ...]
    exit_code: int


def health_of(  # noqa: PLR0913 - one for each option of `health`
    fabric: Path,
    access: Connections,
    *,
    devices: Sequence[str] = (),
    baseline: Path | None = None,
    interval_s: float | None = None,
    save: Path | None = None,
    limits: HealthLimits | None = None,
    run: Sequence[Rule] | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> HealthReport:
    """Read and check; exit code 3 for an unreadable switch, 1 for errors that are new.

    devices: empty for all. interval_s: between two readings; None for one reading. Raises BadInput
    before a switch is read.
    """
    derived = derive(fabric)
    network = derived.network
    switches = [node.name for node in network.nodes]
    names = chosen_names("--device", devices, switches, f"no switch {{!r}} in {network.name}")
    reference = read_baseline(baseline, network) if baseline else None
    with open_fleet(network, access) as nornir:
        require_credentials(nornir, names)
        earlier = reference
        if interval_s is not None:
            earlier = observe(nornir, network, names, topics=tuple(StateTopic))
            sleep(interval_s)
        now = observe(nornir, network, names, topics=tuple(StateTopic))
    if save:
        save_reading(now, save)

    def report_of(reading: Observed, before: Observed | None) -> Report:
        readings = SwitchReadings(reading, before, limits or HealthLimits())
        return check_live(network, readings, derived.sources, run=run)

    report = report_of(now, earlier)
    new, notes = errors_of(report), tuple[str, ...]()
    if reference is not None:
        new, old = new_errors(report, report_of(reference, None))
        notes = (f"{count_of(len(new), 'error')} new, {len(old)} as in the baseline",)
    unreadable = any(finding.rule == UNREADABLE for finding in new)
    return HealthReport(now, report, notes, 3 if unreadable else int(bool(new)))


def save_reading(observed: Observed, path: Path) -> None:
    """Write a reading atomically, as the baseline of a later `health`."""
    write_files({path.name: observed.model_dump_json(indent=1) + "\n"}, path.parent, private=True)


def read_baseline(path: Path, network: Network) -> Observed:
    """Read a file of `save_reading`; raises BadInput, also for another fabric's reading."""
    how = "write one with `rocefort health FABRIC --save FILE`"
    try:
        observed = Observed.model_validate_json(regular_file.read_text(path))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise BadInput(f"cannot be read: {reason}", file=str(path), how=how) from None
    except ValidationError as error:
        what = f"is not a reading of a fabric: {error.errors()[0]['msg']}"
        raise BadInput(what, file=str(path), how=how) from None
    if observed.fabric != network.name:
        what = f"is a reading of {observed.fabric}, not of {network.name}"
        raise BadInput(what, file=str(path), how=how)
    if observed.at > datetime.now(UTC):
        what = f"is of {observed.at:%Y-%m-%d %H:%M:%S} UTC, which is in the future"
        raise BadInput(what, file=str(path), how="set the clock of this machine")
    return observed
