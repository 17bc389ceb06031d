"""Simulations of scenarios that tests write as keys."""

from __future__ import annotations

from typing import Any

from rocefort.design.load.profiles import profiles_of
from rocefort.models.fabric.congestion_control import Dcqcn
from rocefort.tune.model import Simulation
from rocefort.tune.scenario import Scenario
from rocefort.tune.simulator.layout import ground_of
from rocefort.tune.simulator.simulate import simulate, simulated, with_profile
from rocefort.tune.simulator.tables import Memory


def run_scenario(**keys: Any) -> Simulation:
    """Simulate the scenario of some keys."""
    scenario = scenario_of(**keys)
    return simulate(scenario, profile_of(scenario))


def memory_of(seed: int = 1, **keys: Any) -> Memory:
    """Return the memory of the simulator after the run of one seed."""
    scenario = scenario_of(**keys)
    return simulated(
        scenario, with_profile(scenario, profile_of(scenario)), seed, ground_of(scenario)
    )


def scenario_of(**keys: Any) -> Scenario:
    """Return the scenario of some keys."""
    return Scenario.model_validate({"scenario": "test", **keys})


def profile_of(scenario: Scenario) -> Dcqcn:
    """Return the shipped profile that a scenario names."""
    chosen = profiles_of().get("congestion_control", scenario.nic.profile)
    assert chosen is not None
    assert isinstance(chosen.profile, Dcqcn)
    return chosen.profile
