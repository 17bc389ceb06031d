"""A rule does not judge the row that an unread line may be, and never passes it."""

from __future__ import annotations

from typing import Any

import pytest

from rocefort.models.network.observed import StateTopic, UnreadSeen

UPLINK = "100GE1/0/31"
REASON = "a line of the output that may be about it was not read (LIV001)"
LINE = "output: 1 line of 'display x' was not read: line 7: what is this"
PORT_TOPICS = [  # rule, topic
    ("LIV006", StateTopic.NEIGHBOURS),
    ("LIV007", StateTopic.PORTS),
    ("LIV012", StateTopic.PFC_PORTS),
    ("LIV013", StateTopic.THRESHOLDS),
    ("LIV014", StateTopic.PFC_COUNTERS),
    ("LIV015", StateTopic.QUEUES),
    ("LIV017", StateTopic.AI_ECN),
]
KEYS = {"": "leaf01", UPLINK: f"leaf01 {UPLINK}", "GE1/0/31": "leaf01"}


def unread(live: Any, topic: StateTopic, key: str, *, without_row: bool = True) -> Any:
    """leaf01's reading of a topic without the rows of UPLINK, and with an unread line."""
    line = UnreadSeen(command="display x", line=7, why="what is this", key=key)
    live = live.device("leaf01", unread={topic: (line,)})
    if not without_row:
        return live
    fields = ("interface", "local", "name")
    rows = getattr(live.now.by_name["leaf01"], topic)
    kept = [row for row in rows if UPLINK not in [getattr(row, f, "") for f in fields]]
    assert len(kept) < len(rows)
    return live.device("leaf01", **{topic: tuple(kept)})


@pytest.mark.parametrize(("rule", "topic"), PORT_TOPICS)
@pytest.mark.parametrize("key", KEYS)
def test_a_row_that_may_be_an_unread_line_is_not_judged(
    live: Any, rule: str, topic: StateTopic, key: str
) -> None:
    assert unread(live, topic, key).says(rule) == [f"not judged {KEYS[key]}: {REASON}"]


@pytest.mark.parametrize(
    ("rule", "topic"), [pair for pair in PORT_TOPICS if pair[0] not in ("LIV014", "LIV015")]
)
def test_a_row_that_is_missing_beside_the_unread_line_of_another_is_judged(
    live: Any, rule: str, topic: StateTopic
) -> None:
    other = next(name for name in live.now.by_name["leaf01"].by_port if name != UPLINK)
    verdicts = unread(live, topic, other).says(rule)
    assert any(not line.startswith("not judged") for line in verdicts)
    whole = unread(live, topic, other, without_row=False).says(rule)
    assert all(line.startswith("not judged") for line in whole)


def test_peers_profiles_and_prefixes_too(live: Any) -> None:
    seen = live.now.by_name["leaf01"]
    for rule, topic, keys in (
        ("LIV003", StateTopic.PEERS, [str(peer.address) for peer in seen.peers]),
        ("LIV005", StateTopic.ROUTES, [str(route.prefix) for route in seen.routes]),
        ("LIV012", StateTopic.PFC_PROFILES, [profile.name for profile in seen.pfc_profiles]),
    ):
        gone = live.device("leaf01", **{topic: ()})
        assert any(not line.startswith("not judged") for line in gone.says(rule))
        lines = tuple(UnreadSeen(command="display x", line=7, why="odd", key=key) for key in keys)
        for noted in (lines, (UnreadSeen(command="display x", line=7, why="odd"),)):
            verdicts = gone.device("leaf01", unread={topic: noted}).says(rule)
            assert verdicts
            assert all(line.startswith("not judged leaf01") for line in verdicts)


def test_an_unread_line_is_a_warning_and_an_error_where_all_was_read_before(live: Any) -> None:
    now = unread(live, StateTopic.NEIGHBOURS, UPLINK)
    assert now.says("LIV001") == [f"warning leaf01: {LINE}"]
    assert now.earlier().says("LIV001") == [f"warning leaf01: {LINE}"]
    lost = unread(live.earlier(), StateTopic.NEIGHBOURS, UPLINK)
    assert lost.says("LIV001") == [f"error leaf01: {LINE}"]


def test_an_earlier_reading_with_an_unread_line_judges_no_change_of_its_row(live: Any) -> None:
    earlier = unread(live, StateTopic.PORTS, UPLINK).earlier()
    now = earlier.device("leaf01", ports=live.now.by_name["leaf01"].ports, unread={})
    assert any(line.endswith(REASON) for line in now.says("LIV010"))
