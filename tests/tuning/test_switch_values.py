"""Values of candidates as switches take them: at each port speed, kbytes of 1,024 bytes."""

from __future__ import annotations

from pathlib import Path

from rocefort.tune.fabric_search import fabric_search
from rocefort.tune.model import Settings, SwitchValue
from rocefort.tune.scenario import Limits, Marking
from rocefort.tune.switch_values import ecn_thresholds, switch_values


def row(key: str, value: float, unit: str, gbps: int | None = None) -> SwitchValue:
    return SwitchValue(gbps=gbps, key=key, value=value, unit=unit)


def test_a_candidate_of_a_fabric_has_rows_for_each_speed_in_whole_kbytes() -> None:
    own = fabric_search(Path("heps"), None, nic=True)
    values = {
        "kmin_kbytes": 8,
        "width_kbytes": 256,
        "pmax_percent": 1,
        "xoff_kbytes": 512,
        "xon_gap_kbytes": 64,
        "nic.cnp_interval_us": 50,
    }
    rows = own.switch_values(own.space.settings(values))
    assert rows == (
        row("kmin_kbytes", 8, "kbytes", 25),
        row("kmax_kbytes", 264, "kbytes", 25),
        row("pmax_percent", 1, "%", 25),
        row("kmin_kbytes", 32, "kbytes", 100),
        row("kmax_kbytes", 1056, "kbytes", 100),
        row("pmax_percent", 1, "%", 100),
        row("xoff_kbytes", 512, "kbytes"),
        row("xon_kbytes", 448, "kbytes"),
        row("nic.cnp_interval_us", 50, "us"),
    )
    assert ecn_thresholds(rows) == {
        "25": {"kmin_kbytes": 8, "kmax_kbytes": 264, "pmax_percent": 1},
        "100": {"kmin_kbytes": 32, "kmax_kbytes": 1056, "pmax_percent": 1},
    }


def test_settings_of_a_scenario_are_converted_and_what_they_leave_out_has_no_row() -> None:
    fast = Limits(kmin_kbytes=204.8, kmax_kbytes=409.6, pmax_percent=5)
    marking = Marking(
        kmin_kbytes=41.6,
        kmax_kbytes=249.6,
        pmax_percent=20,
        scale_with_speed=True,
        by_speed={"100": fast},
    )
    settings = Settings(ecn=marking, alpha=1 / 32, headroom_kbytes=29.12)
    assert switch_values(settings, 25, (100, 50, 100)) == (
        row("kmin_kbytes", 81.25, "kbytes", 50),
        row("kmax_kbytes", 487.5, "kbytes", 50),
        row("pmax_percent", 20, "%", 50),
        row("kmin_kbytes", 200, "kbytes", 100),
        row("kmax_kbytes", 400, "kbytes", 100),
        row("pmax_percent", 5, "%", 100),
        row("alpha", 1 / 32, ""),
        row("headroom_kbytes", 28.438, "kbytes"),
    )
    assert switch_values(Settings(), 25, (25,)) == ()
