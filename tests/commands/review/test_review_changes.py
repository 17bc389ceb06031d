"""review of changes that are no growth: what each does to traffic, and the steps to make it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from rocefort.base.repository import HARDWARE

Clone = Any  # of tests/commands/conftest.py
Review = Callable[..., Any]
Edits = tuple[tuple[str, str], ...]

NAMED = re.compile(r"(?ms)^  - (?:id: \d+\n    )?name: (\S+)\n.*?(?=^  - |^\S|^# |\n\n)")
OWNED = ("name: readout01\n", "name: readout01\n    owner: beamline 4\n    maintenance: Tuesdays\n")
PASSWORD = ("  hold_s: 30\n", "  hold_s: 30\n  authentication:\n    password: env:BGP_A\n")
PIN = (
    "\n# Published: 2 spines",
    "\nlinks:\n  - {spine: spine01, leaf: leaf03, authentication: {password: env:BGP_B}}\n"
    "# Published: 2 spines",
)
RENAME = (("name: leaf05\n", "name: leaf55\n"), ("leaf: leaf05\n", "leaf: leaf55\n"))
BIGGER = (
    (
        "name: leaf05\n    hardware: CE6866-48S8CQ-P",
        "name: leaf05\n    hardware: CE8851-32CQ8DQ-P",
    ),
    ("leaf: leaf05\n    port: 25GE1/0/1", "leaf: leaf05\n    port: 100GE1/0/1"),
)
MOVE = (
    "name: k8sgn08\n    leaf: leaf01\n    port: 100GE1/0/2\n",
    "name: k8sgn08\n    leaf: leaf02\n    port: 100GE1/0/3\n    owner: beamline 4\n",
)
DRAIN = ["system-view", "route-policy EXPORT deny node 1", " quit", "commit", "return"]
LIFT = ["system-view", "undo route-policy EXPORT node 1", "commit", "return"]
ONE_UPLINK = "While spine02 is drained, leaf01 to leaf04 keep 1 of 2 uplinks (200 -> 100 Gb/s each)"
ONE_WIDE = "By the routing engine, meanwhile: ECMP width 1, no server pair lost."


@dataclass(frozen=True)
class Case:
    """A change (removals and edits), and the advice that the review prints on it."""

    kind: str
    title: str
    traffic: tuple[str, ...]
    steps: tuple[str, ...] = ()
    unconfirmed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    edits: Edits = ()
    before: Edits = ()  # committed before


CASES = {
    "a spine goes": Case(
        gone=("spine02",),
        kind="removal",
        title="spine02 is removed: drain it first",
        traffic=(
            f"{ONE_UPLINK}, so 2.00 Gb/s of servers for each Gb/s of uplinks; the policy allows 3.",
            ONE_WIDE,
        ),
        steps=(
            "Drain spine02: it announces nothing, and its neighbours send nothing through it; it "
            "keeps its own routes, so what is under way still arrives.",
            "Wait until it carries nothing: no prefixes from it at its neighbours (`display bgp "
            "peer`, PrefRcv 0), and its ports idle.",
            "Take spine02 out of the connections file: `plan` refuses names that the fabric does not "
            "have.",
            "Apply the change: leaf01 to leaf08 lose their ports and peers to it.",
            "Switch spine02 off and unplug 8 cables: spine02 100GE1/1/1 - leaf01 100GE1/0/58,",
            "Add id 2 to `capacity.retired_spines` in this change, so that no other spine gets "
            "what was spine02's: its addresses, its ports.",
        ),
        unconfirmed=(
            "That V200R022C00 withdraws routes as soon as a route-policy changes: an older command",
            "Whether packets of a flow overtake each other when it moves to another spine",
        ),
    ),
    "a leaf and its server go": Case(
        gone=("leaf05", "readout01"),
        before=(OWNED,),
        kind="removal",
        title="leaf05 is removed: its servers first",
        traffic=(
            "leaf05 cannot be drained while readout01 uses it: no other leaf leads there, so it is "
            "a loss of service.",
            "readout01: no longer in the fabric.",
        ),
        steps=(
            "Agree the time with the owners, and stop or move their work (readout01: owner "
            "beamline 4, maintenance Tuesdays).",
            "Drain leaf05: it announces nothing",
            "Take leaf05 and readout01 out of the connections file: `plan` refuses",
            "Apply the change: spine01 and spine02 lose their ports and peers to it.",
            "Switch leaf05 off and unplug 2 cables",
            "Add id 5 to `capacity.retired_leaves` in this change, so that no other leaf gets what "
            "was leaf05's: its addresses, its ports and its AS number.",
        ),
    ),
    "a leaf goes, and its server moves": Case(
        gone=("leaf05",),
        edits=(("leaf: leaf05\n    port: 25GE1/0/1", "leaf: leaf06\n    port: 25GE1/0/2"),),
        kind="removal",
        title="leaf05 is removed: its servers first",
        traffic=("readout01: on another leaf then.",),
    ),
    "a rename": Case(
        edits=RENAME,
        kind="rename",
        title="leaf05 is renamed leaf55",
        traffic=(
            "It stays one switch, by its id. Id 5, loopback 10.0.1.5, AS number 65105 and ports "
            "are what they were.",
            "Its sysname changes, and descriptions on spine01 and spine02.",
            "No traffic is touched: no session, port, address or queue changes.",
        ),
        steps=(
            "Give leaf05 its new name by hand: `rocefort apply` refuses a switch that calls itself "
            "by another name.",
        ),
    ),
    "a rename with more": Case(
        edits=(
            *RENAME,
            ("name: readout01", "name: readout-one"),
            ("segments: [beamline]\n  - id: 6", "segments: [beamline, compute]\n  - id: 6"),
        ),
        kind="rename",
        title="leaf05 is renamed leaf55",
        traffic=("It stays one switch, by its id 5. ",),
    ),
    "no rename, by its id": Case(
        edits=(("  - id: 5\n    name: leaf05\n", "  - id: 9\n    name: leaf55\n"), RENAME[1]),
        kind="not a rename",
        title="leaf05 goes and leaf55 comes: not a rename",
        traffic=(
            "A switch is known by its permanent id, and leaf05 has id 5, leaf55 id 9: so loopback, "
            "AS number, links and addresses of servers are others, and traffic stops until all of "
            "them are.",
            "If it is the same box, give leaf55 id 5: then nothing but names changes.",
        ),
    ),
    "one name, another id": Case(
        edits=(("  - id: 5\n    name: leaf05\n", "  - id: 9\n    name: leaf05\n"),),
        kind="not a rename",
        title="leaf05 is another switch by its id",
        traffic=("A switch is known by its permanent id, and leaf05 has id 9 instead of 5: so",),
    ),
    "another model of a leaf": Case(
        edits=BIGGER,
        kind="hardware",
        title="leaf05 gets another model: CE6866-48S8CQ-P -> CE8851-32CQ8DQ-P",
        traffic=(
            "The id 5 of leaf05 stays, so do loopback and AS number. Its whole configuration is "
            "loaded on the new switch.",
            "Cables of leaf05 go to other ports: spine01: 100GE1/0/1 -> 100GE1/0/25, spine02: "
            "100GE1/0/2 -> 100GE1/0/26, readout01: 25GE1/0/1 -> 100GE1/0/1.",
            "No live patch: it is maintenance, and the switch carries nothing from power off until "
            "the new one is configured.",
            "leaf05 cannot be drained while readout01 uses it",
        ),
        steps=(
            "Exchange it: this prints every step, from the console to `rocefort apply`. Its plan "
            "has spine01 and spine02, too, as this review shows.",
        ),
    ),
    "another release of a spine": Case(
        edits=(
            (
                "name: spine02\n    hardware: CE9860-4C-EI\n    software: V200R022C00",
                "name: spine02\n    hardware: CE9860-4C-EI\n    software: V200R021C00",
            ),
        ),
        kind="release",
        title="spine02 gets another release: software: V200R022C00 -> V200R021C00",
        traffic=(
            "It restarts with the other release, and carries nothing meanwhile.",
            ONE_UPLINK,
            ONE_WIDE,
        ),
        steps=("Drain spine02", "Save, so that it is still drained when it comes back;"),
    ),
    "a server on another leaf": Case(
        edits=(MOVE,),
        kind="move",
        title="k8sgn08 moves: leaf01 100GE1/0/2 -> leaf02 100GE1/0/3",
        traffic=(
            "All traffic of k8sgn08 stops, from the moment at which leaf01 changes until it is "
            "replugged and has its new address.",
            "Its RDMA connections break and must be set up again.",
            "Its address changes: 10.65.0.11/24 -> 10.65.1.12/24, gateway 10.65.0.1 -> 10.65.1.1.",
        ),
        steps=(
            "Agree the time with the owner, and stop its work (k8sgn08: owner beamline 4, "
            "maintenance not known).",
            "Apply the change: leaf01 100GE1/0/2 no longer serves k8sgn08, leaf02 100GE1/0/3 does.",
            "Move the cable from leaf01 100GE1/0/2 to leaf02 100GE1/0/3 (5 m).",
            "On k8sgn08, set address 10.65.1.12/24 and gateway 10.65.1.1 (MTU 9000), and "
            "update all systems that use its old address.",
        ),
    ),
    "a threshold": Case(
        edits=(("xoff_kbytes: 600", "xoff_kbytes: 640"),),
        kind="lossless",
        title="PFC thresholds of spine01, spine02 and leaf01 to leaf08",
        traffic=(
            "xoff of queue 4, kbytes: 600 -> 640 on 44 ports of spine01, spine02 and leaf01 to "
            "leaf08.",
            "A higher xoff pauses the neighbour later and leaves less of the buffer to headroom: "
            "the rules BUF and PFC judge whether enough is left (see Findings).",
            "A switch may refuse the line while a port is congested (V300R023C00, `dcb pfc "
            "buffer`; taken to hold for other releases).",
        ),
        steps=("Apply it at a quiet hour; switches differ meanwhile. leaf08 takes it first.",),
        unconfirmed=("Whether packets are lost or delayed at the moment a PFC threshold changes",),
    ),
    "a weight": Case(
        edits=(("weight: 65", "weight: 60"),),
        kind="lossless",
        title="Weights of queues of spine01, spine02 and leaf01 to leaf08",
        traffic=("DRR weight of queue 4: 65 -> 60 on 44 ports of",),
        unconfirmed=(
            "Whether packets are lost or delayed at the moment weights change: no source",
        ),
    ),
    "another ECN profile": Case(
        edits=(("ecn: ai-ecn-hpc", "ecn: ai-ecn-distributed-storage"),),
        kind="lossless",
        title="ECN model of spine01, spine02 and leaf01 to leaf08",
        traffic=("ai_ecn.queues[4].model: ai_ecn_hpc -> none on spine01",),
        unconfirmed=("Whether packets are lost or delayed at the moment the model changes",),
    ),
    "another DSCP": Case(
        edits=(("roce_dscp: 34", "roce_dscp: 33"),),
        kind="lossless",
        title="Priority map of spine01, spine02 and leaf01 to leaf08",
        traffic=(
            "While some switches have the new map and some the old one, RoCE may cross a hop in a "
            "queue without PFC, and lose packets there: change it with RDMA stopped.",
        ),
    ),
    "a deadlock timer": Case(
        edits=(("detect_ms: 100 ", "detect_ms: 200 "),),
        kind="lossless",
        title="PFC deadlock timers of leaf03 to leaf08",
        traffic=("pfc.detect_ms: as by default -> 200 on leaf03 to leaf08.",),
    ),
    "a password of all sessions": Case(
        before=(PASSWORD,),
        edits=(("env:BGP_A", "env:BGP_B"),),
        kind="password",
        title="BGP password: env:BGP_A -> env:BGP_B",
        traffic=(
            "16 sessions, both ends of each, between spine01, spine02 and leaf01 to leaf08.",
            "A session ends with its hold time (30 s) if the other end does not have the same "
            "password by then (V300R023C00, `peer password`).",
            "Every session of leaf01 to leaf08 changes: between one end and the other each of them "
            "has none, and its servers reach no other leaf.",
        ),
        steps=(
            "Do not apply this as it is. Change one spine after the other, spine01 first: pin the "
            "new password to the links of that spine",
            "Drain spine01",
            "Close the sessions of spine01 on purpose: a rollout does not wait for a session that "
            "was already down.",
            "Then the same with spine02. At last move it to routing.authentication, and take the "
            "pins out.",
        ),
        unconfirmed=("`peer .. ignore` on spine01 (V200R022C00): ",),
    ),
    "a password counted up": Case(
        before=(PASSWORD,),
        edits=(("password: env:BGP_A\n", "password: env:BGP_A\n    version: 2\n"),),
        kind="password",
        title="BGP password: env:BGP_A -> env:BGP_A version 2",
        traffic=("16 sessions, both ends of each",),
    ),
    "a password of one session": Case(
        edits=(PIN,),
        kind="password",
        title="BGP password: none -> env:BGP_B",
        traffic=(
            "1 session, both ends of each, between spine01 and leaf03.",
            "leaf03 keeps 1 of 2 sessions meanwhile.",
        ),
        steps=("Close the sessions of spine01 on purpose",),
    ),
}


def prepare(clone: Clone, case: Case) -> None:
    if case.before:
        clone.edit(*case.before)
        clone.commit("before")
    for name in case.gone:
        text = clone.fabric.read_text()
        block = next(match for match in NAMED.finditer(text) if match[1] == name)
        clone.fabric.write_text(text.replace(block[0], "", 1))
    clone.edit(*case.edits)


def told(advice: Any, field: str) -> list[str]:
    texts = advice[field]
    return [text["text"] if field == "steps" else text for text in texts]


@pytest.mark.parametrize("name", CASES)
def test_what_a_change_does_to_traffic(clone: Clone, review: Review, name: str) -> None:
    case = CASES[name]
    prepare(clone, case)
    done = review("--failures", "none")
    found = {(row["kind"], row["title"]): row for row in done.json["advice"]}
    advice = found[case.kind, case.title]
    for field in ("traffic", "steps", "unconfirmed"):
        texts = iter(told(advice, field))
        for wanted in getattr(case, field):  # each is there, in this order
            assert any(text.startswith(wanted) for text in texts), (wanted, told(advice, field))
    shown = " ".join(done.markdown.split())
    for text in (case.title, *case.traffic):
        assert text.replace("[", "\\[") in shown
        assert text.split("`")[0].split(">")[-1] in done.page.replace("&gt;", ">")
    notes = [r for r in done.sarif["results"] if r["ruleId"] == "REV003"]
    assert any(note["message"]["text"].startswith(f"{case.title}: ") for note in notes)


def commands(review: Review, kind: str) -> list[tuple[str, list[str], list[str]]]:
    advice = next(row for row in review("--failures", "none").json["advice"] if row["kind"] == kind)
    return [(step["on"], step["commands"], step["back"]) for step in advice["steps"]]


def test_a_drain_is_what_the_dialect_writes_with_its_way_back(clone: Clone, review: Review) -> None:
    prepare(clone, CASES["a spine goes"])
    steps = commands(review, "removal")
    assert steps[0] == ("spine02", DRAIN, LIFT)
    assert steps[1] == ("spine02", ["display interface brief"], [])
    assert steps[2][1] == []
    assert steps[3][1] == [
        "rocefort plan inventory/heps/fabric.yaml --connections FILE --out change.plan.json",
        "rocefort apply change.plan.json --connections FILE",
    ]


def test_a_password_is_changed_behind_closed_sessions(clone: Clone, review: Review) -> None:
    prepare(clone, CASES["a password of one session"])
    closed = next(words for on, words, _ in commands(review, "password") if "bgp 65000" in words)
    assert closed == ["system-view", "bgp 65000", " peer 10.1.0.33 ignore", "commit", "return"]
    clone.git("checkout", "--quiet", "--", ".")
    prepare(clone, CASES["a password of all sessions"])
    steps = commands(review, "password")
    pin = ["links:", "  - {spine: spine01, leaf: leaf01, authentication: {password: env:BGP_B}}"]
    assert steps[0] == ("", pin, [])
    closed = next(words for _, words, _ in steps if "bgp 65000" in words)
    assert " peer LEAF ignore" in closed


def test_the_pin_that_a_review_asks_for_is_one_that_a_fabric_takes(
    clone: Clone, review: Review
) -> None:
    clone.edit(PASSWORD)
    clone.commit("before")
    clone.edit(PIN)
    done = review("--failures", "none")
    assert done.code == 0
    assert "BGP password: env:BGP_A -> env:BGP_B" in done.markdown


def test_spines_that_go_together_are_drained_one_after_the_other(
    clone: Clone, review: Review
) -> None:
    third = "  - id: 3\n    name: spine03\n    hardware: CE9860-4C-EI\n    software: V200R022C00\n"
    clone.edit(("\n# Published: 8 leaves", third + "\n# Published: 8 leaves"))
    clone.commit("three")
    for name in ("spine02", "spine03"):
        prepare(clone, Case("", "", (), gone=(name,)))
    first, second = [a["traffic"] for a in review("--failures", "none").json["advice"]]
    assert first[0].startswith("While spine02 is drained, leaf01 to leaf04 keep 2 of 3 uplinks")
    assert "ECMP width 2, no server pair lost." in first[-1]
    assert second[0].startswith(
        "spine02 went before. While spine03 is drained, leaf01 to leaf04 keep 1 of 2 uplinks"
    )
    assert "ECMP width 1, no server pair lost." in second[-1]


def test_a_rename_touches_nothing(clone: Clone, review: Review) -> None:
    clone.edit(*RENAME)
    done = review()
    assert "switches: 3 modifying; none affects service; 7 unchanged." in done.words
    assert "Traffic feels nothing of this change." in done.words
    assert "servers that lose service: None." in done.words
    assert (
        "26 failures studied: 0 lose pairs of standing leaves or cut one off, 0 of them where "
        "cabling still joins the pair; at the base 26: 0, 0 of them."
    ) in done.words
    assert "sysname: `name: leaf05 -> leaf55`" in done.markdown
    told = done.json
    assert told["verification"]["failures"]["changes"] == []
    assert told["findings"]["new"] == told["findings"]["fixed"] == []
    assert told["difference"]["only_before"] == told["difference"]["only_after"] == []
    leaf = next(s for s in told["difference"]["switches"] if s["change"]["device"] == "leaf55")
    assert leaf["change"]["patch"] == ["sysname leaf55"]
    lines = next(row["lines"] for row in told["lines"] if row["device"] == "leaf55")
    assert {(x["added"], x["text"]) for x in lines} == {
        (False, "sysname leaf05"),
        (True, "sysname leaf55"),
    }
    line = clone.line("  - id: 5") + 1
    assert [x["place"] for x in lines if x["added"]] == [f"inventory/heps/fabric.yaml:{line}"]
    assert [x["place"] for x in lines if not x["added"]] == [
        f"HEAD:inventory/heps/fabric.yaml:{line}"
    ]


def test_another_model_has_no_live_patch(clone: Clone, review: Review) -> None:
    clone.edit(*BIGGER)
    told = review("--failures", "none").json["difference"]["switches"]
    leaf = next(switch for switch in told if switch["change"]["device"] == "leaf05")
    assert leaf["change"]["patch"] == leaf["change"]["reverse"] == []
    assert leaf["no_patch"] == (
        "another model: its whole configuration is loaded, see `rocefort replace`"
    )
    spine = next(switch for switch in told if switch["change"]["device"] == "spine01")
    assert spine["change"]["patch"]


def test_another_system_is_another_box(clone: Clone, review: Review) -> None:
    """No line of the fabric changes: its leaves' family moves to another dialect."""
    hardware = clone.top / "inventory" / "hardware"
    shutil.copytree(HARDWARE, hardware)
    clone.commit("facts of our own")
    families = hardware / "families.yaml"
    text = families.read_text()
    families.write_text(text.replace("    dialect: vrp\n", "    dialect: eos\n", 1))
    done = review("--failures", "none")
    told = done.json["difference"]["switches"]
    assert [each["change"]["device"] for each in told] == [f"leaf0{n}" for n in range(3, 9)]
    assert {(*each["facts"], each["no_patch"]) for each in told} == {
        (
            "system: VRP -> EOS",
            "another system: its whole configuration is loaded, see `rocefort replace`",
        )
    }
    [advice] = done.json["advice"]
    assert advice["title"] == "leaf03 to leaf08 get another system: VRP -> EOS"
    assert "leaf03 to leaf08 get another system: VRP -> EOS" in done.markdown


def test_the_management_path_of_what_goes_and_of_what_comes(clone: Clone, review: Review) -> None:
    clone.edit(("  - id: 5\n    name: leaf05\n", "  - id: 9\n    name: leaf55\n"), RENAME[1])
    done = review("--failures", "none")
    assert "8 of 10" not in done.words
    assert "; 1 new, 1 removed, on one side only." in done.words
    path = done.json["management"]
    assert path["removed"] == [
        {"device": "leaf05", "address": "10.255.0.13/24", "port": "MEth0/0/0"}
    ]
    assert [row["device"] for row in path["new"]] == ["leaf55"]
    assert "leaf05: removed, so access to it (10.255.0.13/24) ends by intent" in done.markdown
    assert "on MEth0/0/0, once its console has what `rocefort day0 leaf55`" in (done.markdown)


def test_patches_that_differ_by_an_as_number_are_shown_once(clone: Clone, review: Review) -> None:
    prepare(clone, CASES["a password of all sessions"])
    shown = review("--failures", "none").markdown
    assert "#### leaf01 to leaf08: modifying, 2 commands (affects service)" in shown
    same = "the same for each but for own values; these are of leaf01"
    assert f"<summary>patch, 3 lines, {same}</summary>" in shown
    assert f"<summary>the way back, 3 lines, {same}</summary>" in shown
    assert "\nleaf02: 65102 for 65101\nleaf03: 65103 for 65101\n" in shown
    assert shown.splitlines().count("bgp 65101") == 2  # in both scripts of the first
    assert "bgp 65102" not in shown.splitlines()


def test_growth_needs_no_advice(clone: Clone, review: Review) -> None:
    leaf = (
        "  - id: 9\n    name: leaf09\n    hardware: CE6866-48S8CQ-P\n"
        "    software: V300R023C00\n    segments: [beamline]\n"
    )
    clone.edit(("\n# Published: the seven servers", leaf + "\n# Published: the seven servers"))
    done = review("--failures", "none")
    assert done.json["advice"] == []
    assert "No switch goes or is exchanged, no server moves, no threshold or password" in done.words
