"""Plans limited to some switches: what they leave out, and refusals of what would not fit."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fnmatch import fnmatch
from pathlib import Path

import pytest

from rocefort.base.errors import BadInput, Refused
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.dialects.network_text import render_all
from rocefort.fleet.connections import Connections, ServerAccess, SshAccess
from rocefort.models.change.plan import Plan
from rocefort.reports.writers.terminal import text_of
from rocefort.rollout.journal.events import RunningConfig, SwitchState
from rocefort.rollout.plan.make_plan import PlanOptions, make_plan
from rocefort.rollout.plan.rederive import refuse_forged
from rocefort.rollout.report.plan_report import plan_report

EditHeps = Callable[..., Path]
Replacements = tuple[tuple[str, str], ...]
RAISED = (("xoff_kbytes: 600", "xoff_kbytes: 640"),)
SLOWER = (("hold_s: 30", "hold_s: 60"), ("keepalive_s: 10", "keepalive_s: 20"))
WITHOUT_BFD = (("  bfd:\n    min_tx_ms: 300\n    min_rx_ms: 300\n    multiplier: 3\n", ""),)
SMALLER = (("mtu: 9000", "mtu: 8000"),)
QUEUE = (
    ("queue: 4         #", "queue: 3         #"),
    ("roce_dscp: 34", "roce_dscp: 26"),
    ("{queue: 3, weight: 1}", "{queue: 3, weight: 65}"),
    ("{queue: 4, weight: 65}", "{queue: 4, weight: 1}"),
)
DSCP = (("roce_dscp: 34", "roce_dscp: 32"),)
CNP = (("cnp_dscp: 48", "cnp_dscp: 46"),)
LEAVES = [f"leaf0{number}" for number in range(1, 9)]
SPINES = ["spine01", "spine02"]


@pytest.fixture(scope="module")
def texts(heps: DerivedNetwork) -> Mapping[str, str]:
    return render_all(heps.network)


@pytest.fixture(scope="module")
def access(heps: DerivedNetwork) -> Connections:
    """Connections to all devices; the tests do not use them."""
    login = {"host": "192.0.2.1", "user": "netops", "credential": "env:X"}
    server = {**login, "rdma_device": "mlx5_0", "gid_index": 3}
    return Connections(
        known_hosts=Path("known_hosts"),
        devices=tuple(SshAccess(name=node.name, **login) for node in heps.network.nodes),
        servers=tuple(ServerAccess(name=s.name, **server) for s in heps.network.servers or ()),
    )


@pytest.mark.parametrize(
    ("limit", "changing", "left_out"),
    [
        (["leaf01"], ["leaf01"], [*SPINES, *LEAVES[1:]]),
        (["leaf0*"], ["leaf08", *LEAVES[:7]], SPINES),  # leaf08 is the canary
        (["spine02", "leaf0[12]"], ["leaf01", "leaf02", "spine02"], ["spine01", *LEAVES[2:]]),
        (["*"], ["leaf08", *LEAVES[:7], *SPINES], []),
    ],
)
def test_only_the_named_switches_change_and_the_others_are_listed(
    limit: list[str],
    changing: list[str],
    left_out: list[str],
    edit_heps: EditHeps,
    texts: Mapping[str, str],
    access: Connections,
) -> None:
    plan = make_plan(edit_heps(*RAISED), access, texts, PlanOptions(limit=limit))
    assert [name for wave in plan.waves for name in wave.devices] == changing
    assert [change.device for change in plan.changes if not change.empty] == [
        change.device for change in plan.changes if change.device in changing
    ]
    assert plan.limit
    assert list(plan.limit.left_out) == left_out
    report = " ".join(text_of(*plan_report(plan)).split())
    others = f"not in this plan: {len(left_out)} switches that differ: {', '.join(left_out)}"
    sentence = others if left_out else "no other switch differs from the fabric"
    assert f"limited to {', '.join(limit)}; {sentence}" in report
    assert f"{len(changing)} of 10 switches change" in report


@pytest.mark.parametrize(
    ("edits", "limit", "problems"),
    [
        (
            WITHOUT_BFD,
            ["leaf01"],
            [
                f"error: BGP001 BFD is off for peer 10.1.0.{peer}, but on at {spine}; add --limit "
                f"{spine}, or plan without --limit"
                for peer, spine in ((0, "spine01"), (2, "spine02"))
            ],
        ),
        (
            SMALLER,
            ["leaf01"],
            [
                "TOP004 MTU 9000 here, 8000 at leaf01 100GE1/0/57; both ends of a link need the same; add --limit spine01, or plan without --limit",
                "TOP004 MTU 9000 here, 8000 at leaf01 100GE1/0/58; both ends of a link need the same; add --limit spine02, or plan without --limit",
            ],
        ),
        (
            WITHOUT_BFD,
            ["spine01"],
            [
                "off for peer 10.1.0.1, but on at leaf01; add --limit leaf01, or",
                *[""] * 5,
                "2 errors more of the fabric",
            ],
        ),
    ],
)
def test_two_ends_that_no_longer_fit_are_refused_with_the_finding(
    edits: Replacements,
    limit: list[str],
    problems: list[str],
    edit_heps_without_nics: EditHeps,
    texts: Mapping[str, str],
    access: Connections,
) -> None:
    fabric = edit_heps_without_nics(*edits)
    make_plan(fabric, access, texts)  # of all switches it is none
    with pytest.raises(Refused) as refusal:
        make_plan(fabric, access, texts, PlanOptions(limit=limit))
    found = list(map(str, refusal.value.problems))
    assert len(found) == len(problems), found
    for sentence, problem in zip(problems, found, strict=True):
        assert sentence in problem


@pytest.mark.parametrize("limit", [["leaf01"], ["spine*"], ["leaf0[1-4]", "spine01"]])
@pytest.mark.parametrize(
    ("edits", "rules"),
    [
        (QUEUE, ["ECN001", "PFC002", "QOS002"]),
        (DSCP, ["QOS001", "QOS002"]),
        (CNP, ["QOS004"]),
    ],
)
@pytest.mark.parametrize("drifted", [False, True])
def test_a_queue_or_dscp_that_switches_no_longer_share_is_refused_with_all_that_lack_it(
    edits: Replacements,
    rules: list[str],
    limit: list[str],
    drifted: bool,
    edit_heps_without_nics: EditHeps,
    texts: Mapping[str, str],
    access: Connections,
) -> None:
    fabric = edit_heps_without_nics(*edits)
    # The errors of leaf05 before the change hide none of the other switches.
    running = {**texts, "leaf05": without_map(texts["leaf05"])} if drifted else texts
    make_plan(fabric, access, running)
    with pytest.raises(Refused) as refusal:
        make_plan(fabric, access, running, PlanOptions(limit=limit))
    problems = refusal.value.problems
    assert sorted({rule_of(str(problem)) for problem in problems}) == rules
    changing = {name for name in texts for pattern in limit if fnmatch(name, pattern)}
    left_out = set(texts) - changing - ({"leaf05"} if drifted else set())
    for rule in rules:
        options = " ".join(str(p) for p in problems if rule_of(str(p)) == rule)
        assert left_out <= set(re.findall(r"--limit (\w+)", options))


def rule_of(problem: str) -> str:
    """Rule that a problem names."""
    found = re.search(r"\b[A-Z]{3}\d{3}\b", problem)
    assert found
    return found[0]


def without_map(text: str) -> str:
    """Text of a switch without the DSCP map."""
    edited = re.sub(r" ip-dscp-inbound .*\n", "", text)
    assert edited != text
    return edited


@pytest.mark.parametrize("switch", ["leaf02", "leaf05"])
def test_a_switch_that_drifted_alone_does_not_refuse_a_limited_plan(
    switch: str, edit_heps_without_nics: EditHeps, texts: Mapping[str, str], access: Connections
) -> None:
    running = {**texts, switch: without_map(texts[switch])}
    for limit in (["leaf01"], ["spine*"], [switch]):
        plan = make_plan(edit_heps_without_nics(*RAISED), access, running, PlanOptions(limit=limit))
        assert plan.limit
        assert switch in limit or switch in plan.limit.left_out


def test_a_repair_of_one_of_several_drifted_switches_is_planned(
    edit_heps_without_nics: EditHeps, texts: Mapping[str, str], access: Connections
) -> None:
    running = {n: without_map(t) if n in SPINES else t for n, t in texts.items()}
    plan = make_plan(edit_heps_without_nics(), access, running, PlanOptions(limit=["spine01"]))
    assert plan.limit
    assert plan.limit.left_out == ("spine02",)


def test_a_difference_that_ends_may_have_is_a_warning_in_the_plan(
    edit_heps: EditHeps, texts: Mapping[str, str], access: Connections
) -> None:
    plan = make_plan(edit_heps(*SLOWER), access, texts, PlanOptions(limit=["leaf01"]))
    report = " ".join(text_of(*plan_report(plan)).split())
    warning = (
        "WARNING of the fabric that results: BGP001 leaf01: peer 10.1.0.0: keepalive 20 s and "
        "hold 60 s here, keepalive 10 s and hold 30 s at spine01"
    )
    assert warning in report


def test_a_limit_that_matches_no_switch_is_one_error_with_the_nearest_name(
    edit_heps: EditHeps, texts: Mapping[str, str], access: Connections
) -> None:
    with pytest.raises(BadInput) as refusal:
        make_plan(
            edit_heps(*RAISED), access, texts, PlanOptions(limit=["leaf01", "laef02", "s[9]"])
        )
    assert str(refusal.value).splitlines() == [
        "--limit: matches no switch: 'laef02'; did you mean 'leaf02'?",
        f"--limit: matches no switch: 's[9]'; known here: {', '.join([*LEAVES, *SPINES])}",
    ]


@pytest.mark.parametrize(
    ("update", "refusal"),
    [
        ({"left_out": ("spine01",)}, "spine02: differs from the fabric, and the plan neither has"),
        ({"switches": ("*",)}, "its plain_trial_s does not follow from the fabric"),
    ],
)
def test_a_forged_limit_is_refused(
    update: dict[str, object],
    refusal: str,
    edit_heps: EditHeps,
    texts: Mapping[str, str],
    access: Connections,
) -> None:
    plan = make_plan(edit_heps(*RAISED), access, texts, PlanOptions(limit=["leaf*"]))
    seen = {name: SwitchState(RunningConfig.BASELINE) for name in LEAVES}
    refuse_forged(plan, access, seen, texts, again=False)
    assert plan.limit
    forged: Plan = plan.model_copy(update={"limit": plan.limit.model_copy(update=update)}).seal()
    with pytest.raises(Refused, match=refusal):
        refuse_forged(forged, access, seen, texts, again=False)
