"""Lines of a BGP view that no Device holds: closed peers, and stored passwords."""

from __future__ import annotations

from collections.abc import Mapping

from rocefort.dialects.vrp.text.secrets import cipher_of
from rocefort.emulator.state.ports import Config
from rocefort.emulator.switch.switch import bgp_lines


def closed_peers(config: Config) -> frozenset[str]:
    """Return peers and groups that `peer .. ignore` closes."""
    words = map(str.split, bgp_lines(config))
    return frozenset(line[1] for line in words if line[0] == "peer" and line[2:] == ["ignore"])


def authentication(config: Config) -> Mapping[str, tuple[str, str]]:
    """Return the authentication of each peer: its kind, and the password as stored."""
    own: dict[str, tuple[str, str]] = {}
    groups: dict[str, str] = {}
    for words in map(str.split, bgp_lines(config)):
        if words[0] != "peer" or len(words) < 4:
            continue
        if words[2] == "group":
            groups[words[1]] = words[3]
        elif words[2] in ("password", "keychain"):
            own[words[1]] = words[2], cipher_of(words[-1])
    return {peer: own[group] for peer, group in groups.items() if group in own} | own
