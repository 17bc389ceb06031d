"""Controllers killed repeatedly during work over SSH; the switches' own log judges.

A quick run kills a few, each kind once; a thorough one some under each personality of the switches;
`--effort soak` kills 40 of each kind: of a rollout that drains nothing, and of one that drains its
spines. Other instants with ROCEFORT_SEED=2.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import killing
import pytest
from judging_kills import Judge, counted
from killing import Instant
from personalities import PERSONALITIES, STUCK, lab_options

from napalm_cloudengine import CloudEngineDriver
from rocefort.base.secret_references import resolve
from rocefort.design.subject import ReadNetwork, subject_of
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.emulator.emulated_site import Rehearsal, rehearse
from rocefort.emulator.options import LabOptions
from rocefort.emulator.switch.audit_log import AuditRecord, digest_of
from rocefort.emulator.switch.personality import Personality
from rocefort.fleet.connections import Connections, SshAccess
from rocefort.fleet.running_configs import running_of
from rocefort.models.change.plan import Change, Plan
from rocefort.models.network.network import Network
from rocefort.rollout.plan.make_plan import make_plan
from rocefort.rollout.planning.sealed_files import write_plan
from rocefort.validators.routing.engine import solve

Record = Callable[[str, object], None]
SEED = int(os.environ.get("ROCEFORT_SEED", "1"))
AT_ONCE = 3  # one of them mostly waits
MOST_ROLLOUTS = 6  # some come to their end before they are killed often enough
KILLS = {"thorough": (13, 3), "soak": (40, 40)}  # without drains, with them
# Of a quick run, without drains: early, with the first patch loaded, and on trial.
EACH_KIND = (Instant("time", delay_s=1.0), Instant("row", 130), Instant("deed", 2))


@dataclass(frozen=True)
class Attempt:
    """Controllers to kill on switches of one personality. first: instants of the first deaths."""

    personality: Personality
    kills: int
    first: tuple[Instant, ...] = ()


def attempts(effort: str, drain: bool) -> Iterator[Attempt]:
    """Kills, the same number under each personality."""
    if effort == "quick":
        yield Attempt(STUCK, len(EACH_KIND), EACH_KIND)
    else:
        each, more = divmod(KILLS[effort][drain], len(PERSONALITIES))
        for index, personality in enumerate(PERSONALITIES):
            if kills := each + (index < more):
                yield Attempt(personality, kills)


@dataclass(frozen=True)
class Begun:
    """Present fabric, sealed plan of its change, and the judge of the result."""

    fabric: Path
    plan: Path
    judge: Judge
    drain: bool


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(False, id="nothing drained"),
        pytest.param(True, id="spines drained", marks=pytest.mark.thorough),
    ],
)
def begun(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Begun:
    """One plan for all labs, which begin in the same state."""
    drain, directory = request.param, tmp_path_factory.mktemp("kills")
    old, new = killing.small_fabric(directory / "fabric", drain=drain)
    subject, out = subject_of(old, None), directory / "plan.json"
    as_a_command = LabOptions(time_scale=killing.SCALES[0], keep=True)
    with rehearse(subject.network, subject.texts, directory / "lab", as_a_command) as lab:
        plan = make_plan(new, lab.connections, running_of(new, lab.connections, None))
        texts = ways_of(plan, subject, lab)
    write_plan(plan, out)
    with running(subject_of(new, None), directory / "new") as lab:
        assert {name: states[-1] for name, states in texts.items()} == {
            name: digest_of(switch.running) for name, switch in lab.switches.items()
        }
    waves = [wave.devices for wave in plan.waves]
    assert [d.device for w in plan.waves for d in w.drained] == (
        ["spine01", "spine02"] if drain else []
    )
    judge = Judge(texts, waves, plan.trial_s, killing.MAX_UNAVAILABLE)
    return Begun(old, out, judge, drain)


def ways_of(plan: Plan, subject: ReadNetwork, lab: Rehearsal) -> dict[str, list[str]]:
    """Texts that each switch may run at rest, from typing the planned lines without the tool.

    The last one is from the switches of a lab that started with the new fabric.
    """
    changes: dict[str, tuple[Change, ...]] = {c.device: (c,) for c in plan.changes}
    changes |= {each.device: each.parts for wave in plan.waves for each in wave.drained}
    digests = {}
    for name, switch in lab.switches.items():
        states = [digest_of(switch.running)]
        for number, part in enumerate(changes[name], 1):
            text = commit(lab.connections, name, "\n".join(part.patch))
            states.append(digest_of(switch.running))
            assert silent(subject.network, name, text) == (0 < number < len(changes[name]))
        digests[name] = states
    return digests


def running(subject: ReadNetwork, state: Path) -> AbstractContextManager[Rehearsal]:
    return rehearse(subject.network, subject.texts, state)


def commit(connections: Connections, name: str, lines: str) -> str:
    """Commit lines on a switch at once; returns its running text."""
    access: SshAccess = next(each for each in connections.devices if each.name == name)
    options = {"port": access.port, "ssh_known_hosts": str(connections.known_hosts)}
    login = (access.host, access.user, resolve(access.credential).reveal())
    with CloudEngineDriver(*login, 60, options) as driver:
        driver.load_merge_candidate(config=lines)
        driver.commit_config()
        return str(driver.get_config("running")["running"])


def silent(network: Network, name: str, text: str) -> bool:
    """Whether no route leads through a switch that runs a text, by the routing engine."""
    nodes = tuple(
        node.model_copy(update={"device": parse(text, name).device}) if node.name == name else node
        for node in network.nodes
    )
    own = {address.ip for node in nodes if node.name == name
           for port in node.device.interfaces for address in port.addresses}  # fmt: skip
    routes = solve(network.model_copy(update={"nodes": nodes})).routes
    return not any(own.intersection(route.next_hops) for route in routes)


@pytest.mark.soak
def test_killed_at_any_instant_it_is_resumed_until_all_is_as_planned(
    begun: Begun, pytestconfig: pytest.Config, tmp_path: Path, record_property: Record
) -> None:
    """P1, P2, P3, P5: all commands and results of the switches keep them; so does an abort."""
    judge, effort = begun.judge, str(pytestconfig.getoption("--effort"))

    def carry_out(attempt: Attempt) -> tuple[list[str], int]:
        for scale in killing.SCALES:  # the clock of the lab follows the speed of the machine
            with suppress(killing.TooSlow):
                return carried_out(attempt, scale)
        raise AssertionError("no scale is slow enough")

    def carried_out(attempt: Attempt, scale: int) -> tuple[list[str], int]:
        aborts, options = 0, lab_options(attempt.personality)
        found: list[str] = []
        for number in range(MOST_ROLLOUTS):
            if len(found) >= attempt.kills:
                return found, aborts
            state = tmp_path / f"{''.join(options)}{number}x{scale}"
            chance = random.Random(f"{SEED} {options} {number}")
            with killing.lab_process(begun.fabric, state, scale, *options):
                site = killing.Site(state, begun.plan, scale)
                late = (killing.late(chance),) if begun.drain else ()
                first, left = attempt.first or late, attempt.kills - len(found)
                site.carry_out(chance, left, judge, first)
                judge(site.deeds(), site.rows())
                judge.end(site.deeds())
                found, aborts = found + site.kills, aborts + site.aborts
        assert len(found) >= attempt.kills, f"only {len(found)} of {attempt.kills} could be killed"
        return found, aborts

    todo = list(attempts(effort, begun.drain))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        done = list(pool.map(carry_out, todo))
    kills = [kill for found, _ in done for kill in found]
    aborts = sum(aborts for _, aborts in done)
    assert len(kills) == sum(attempt.kills for attempt in todo)
    assert aborts or not begun.drain or effort == "thorough"  # which kills too few to be sure
    how = f", {aborts} runs aborted while drained" if begun.drain else ""
    what = "with drains" if begun.drain else "without drains"
    found = f"controllers killed over SSH, {what}: {len(kills)}, {counted(kills)}{how}"
    record_property("figure", found)


# --- the judge ------------------------------------------------------------------------------------

NAMES = ["leaf1", "leaf2", "leaf3", "spine1"]
WAVES = [["leaf1"], ["leaf2", "leaf3"], ["spine1"]]
MEANT = [
    (f"2026-01-01T00:00:{second:02}", device, act, "intent")
    for device in NAMES
    for second, act in ((1, "load"), (3, "trial"), (5, "confirm"), (7, "save"))
]


def told(switch: str, second: int, **state: object) -> AuditRecord:
    """Row of the switches' log; by default of a switch that runs its baseline."""
    state = {"line": "x", "running": "old", "saved": "old", **state}
    at = f"2026-01-01T00:00:{second:02}.5"
    return AuditRecord(at=at, switch=switch, session=1, user="u", **state)  # type: ignore[arg-type]


def carried(switch: str) -> list[AuditRecord]:
    """A whole change, step by step."""
    return [
        told(switch, 1, candidate=True),
        told(switch, 3, running="new", left_s=60, before="old"),
        told(switch, 5, running="new"),
        told(switch, 7, running="new", saved="new"),
    ]


BEGIN = [told(name, 0, line="") for name in NAMES]
TRIAL = {"running": "new", "left_s": 60, "before": "old"}
WRONG = {
    "half a change": [told("leaf1", 3, running="half", left_s=60, before="new")],
    "committed without a trial": [told("leaf1", 5, running="new")],
    "a trial that brings something else back": [told("leaf1", 3, **TRIAL | {"before": "x"})],
    "a trial that is over": [told("leaf1", 3, **TRIAL | {"left_s": -1})],
    "saved what is no plan's": [*carried("leaf1")[:3], told("leaf1", 7, running="new", saved="x")],
    "the next wave before the canary was saved": [*carried("leaf1")[:3], *carried("leaf2")],
    "the next wave first": carried("leaf2"),
    "no intent": [told("leaf1", 0, candidate=True)],
    "another intent": [told("leaf1", 1, **TRIAL)],
}


WAYS = {name: ["old", "new"] for name in NAMES}


def test_the_judge_passes_what_is_right() -> None:
    judge = Judge(WAYS, WAVES)
    deeds = [*BEGIN, *(deed for name in NAMES for deed in carried(name))]
    judge(deeds, MEANT)
    judge.end(deeds)
    with pytest.raises(AssertionError):
        judge.end(deeds[:-1])


@pytest.mark.parametrize("wrong", WRONG)
def test_the_judge_sees_what_is_wrong(wrong: str) -> None:
    with pytest.raises(AssertionError):
        Judge(WAYS, WAVES)([*BEGIN, *WRONG[wrong]], MEANT)


@pytest.mark.parametrize("names", [["leaf1", "leaf2", "leaf3"], ["spine1", "leaf2"]])
def test_the_judge_sees_too_many_at_once(names: list[str]) -> None:
    judge = Judge(WAYS, [NAMES])
    deeds = [*BEGIN, *(deed for name in names for deed in carried(name)[:2])]
    with pytest.raises(AssertionError):
        judge(deeds, MEANT)
    judge(deeds[:-2], MEANT)


# --- the judge of drains --------------------------------------------------------------------------

SPINE, WAY = "spine1", ["old", "drained", "both", "new"]
LEGS = list(pairwise(WAY))


def leg(before: str, after: str, second: int) -> list[AuditRecord]:
    """One drain step of a switch, act by act."""
    return [
        told(SPINE, second, running=before, saved=before, candidate=True),
        told(SPINE, second + 2, running=after, saved=before, before=before, left_s=60),
        told(SPINE, second + 4, running=after, saved=before),
        told(SPINE, second + 6, running=after, saved=after),
    ]


def drained_judge() -> tuple[Any, list[tuple[str, str, str, str]]]:
    seconds = ((0, "load"), (2, "trial"), (4, "confirm"), (6, "save"))
    rows = [
        (f"2026-01-01T00:00:{10 * number + second:02}", SPINE, act, "intent")
        for number in range(1, 6)
        for second, act in seconds
    ]
    ways = {SPINE: WAY, "spine2": WAY, "leaf1": ["old", "new"]}
    return Judge(ways, [["leaf1", SPINE, "spine2"]]), rows


BEGIN_DRAINED = [told(name, 0, line="") for name in (SPINE, "spine2", "leaf1")]


def test_the_judge_passes_a_way_there_and_a_way_back() -> None:
    judge, rows = drained_judge()
    there = [deed for n, step in enumerate(LEGS, 1) for deed in leg(*step, 10 * n)]
    judge([*BEGIN_DRAINED, *there], rows)
    assert not judge.drained([*BEGIN_DRAINED, *there])
    half = [*BEGIN_DRAINED, *leg("old", "drained", 10), *leg("drained", "both", 20)]
    judge(half, rows)
    assert judge.drained(half)
    with pytest.raises(AssertionError):
        judge.rest(half)
    back = [*half, *leg("both", "drained", 30), *leg("drained", "old", 40)]
    judge(back, rows)
    judge.rest(back)
    with pytest.raises(AssertionError):
        judge.end(back)


WRONG_DRAINED = {
    "changed without its drain": leg("old", "both", 10),
    "back from what is new": [
        *(deed for n, step in enumerate(LEGS, 1) for deed in leg(*step, 10 * n)),
        *leg("new", "both", 40),
    ],
    "two steps back": [
        *leg("old", "drained", 10),
        *leg("drained", "both", 20),
        *leg("both", "old", 30),
    ],
    "another spine meanwhile": [
        *leg("old", "drained", 10),
        told("spine2", 20, running="drained", before="old", left_s=60),
    ],
    "a leaf meanwhile": [
        *leg("old", "drained", 10),
        told("leaf1", 20, running="new", before="old", left_s=60),
    ],
}


@pytest.mark.parametrize("wrong", WRONG_DRAINED)
def test_the_judge_sees_what_is_wrong_with_a_drain(wrong: str) -> None:
    judge, rows = drained_judge()
    rows += [("2026-01-01T00:00:20", name, "trial", "intent") for name in ("spine2", "leaf1")]
    judge(BEGIN_DRAINED, rows)
    with pytest.raises(AssertionError):
        judge([*BEGIN_DRAINED, *WRONG_DRAINED[wrong]], rows)
