"""BGP sessions of a lab over time: an end without messages waits for its hold timer.

The routing model lists at every moment which sessions match. A session that matches and receives
nothing (another password, segments that are too long for an MTU) stays up until the hold time is
over: "if the interval configured on both ends exceeds the holdtime of the BGP peer session or the
passwords configured on both ends are different, the BGP peer relationship is disconnected due to
timeout" (V300R023C00, `peer password`). An end whose peer has lost its address also waits, because
it receives no message. Events on the switch itself end a session at once: a port that goes down
(`ebgp-interface-sensitive`, on by default), an address of its own. So do messages of the other end
(Cease, RFC 4486): a peer that is removed or reset, another AS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

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


PeerEnd = tuple[str, str]  # switch, address of its peer
CONNECT_RETRY_S = 32  # V300R023C00, samples of `display bgp peer verbose`


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """A session that matches at both ends, by their running configurations.

    port: of the first end. hold_s: the lower one of both, 0 for never. mtus: of both ports, the
    smaller one first. burst_bytes: the most that one end has to send at once.
    """

    ends: tuple[PeerEnd, PeerEnd]
    port: tuple[str, str]
    authenticated: bool = True
    hold_s: int = 180
    mtus: tuple[int, int] = (1500, 1500)
    burst_bytes: int = 0


@dataclass(frozen=True, slots=True)
class EstablishedSession:
    """An established session: its agreed values, and since when its ends receive nothing.

    mtu: of its segments with their headers (RFC 6691: each end announces the MSS of its own MTU).
    """

    hold_s: int
    mtu: int
    silent_since: float | None = None
    retry_at: float | None = None  # the session has ended; time of the next attempt


@dataclass
class HoldTimers:
    """BGP sessions that are up now. changed: when a switch last changed, on the clock of `now`.

    established: sessions that are up. gone: for an end without a peer, its start and its hold time.
    """

    changed: Callable[[str], float]
    established: dict[tuple[PeerEnd, PeerEnd], EstablishedSession] = field(default_factory=dict)
    gone: dict[PeerEnd, tuple[float, int]] = field(default_factory=dict)

    def down(self, facts: Iterable[SessionFacts], now: float) -> tuple[SessionFacts, ...]:
        """Return sessions that match and are not up; forget those that no longer match."""
        before, down = dict(self.established), []
        self.established.clear()
        for session in facts:
            state = self._next(session, before.pop(session.ends, None), now)
            if state is not None:
                self.established[session.ends] = state
            if state is None or state.retry_at is not None:
                down.append(session)
        for ends, state in before.items():
            if state.retry_at is None:
                since = max(self.changed(switch) for switch, _ in ends)
                self.gone |= dict.fromkeys(ends, (since, state.hold_s))
        for session in facts:
            for end in session.ends:
                self.gone.pop(end, None)
        return tuple(down)

    def lingers(self, end: PeerEnd, now: float) -> bool:
        """Whether an end whose peer has lost its address still waits for it."""
        since, hold_s = self.gone.get(end, (0.0, -1))
        return hold_s == 0 or now - since < hold_s

    def _next(
        self, session: SessionFacts, state: EstablishedSession | None, now: float
    ) -> EstablishedSession | None:
        """Return the next state of a session that matches; None: it does not come up."""
        fresh = (
            EstablishedSession(session.hold_s, session.mtus[0]) if session.authenticated else None
        )
        if state is None or (state.retry_at is not None and now >= state.retry_at):
            return fresh
        if state.retry_at is not None:
            return state
        smaller, larger = session.mtus
        fits = min(state.mtu, larger, session.burst_bytes) <= smaller
        if session.authenticated and fits:
            return replace(state, silent_since=None)
        since = state.silent_since
        if since is None:
            since = max(self.changed(switch) for switch, _ in session.ends)
        if state.hold_s and now - since >= state.hold_s:
            return replace(state, retry_at=since + state.hold_s + CONNECT_RETRY_S)
        return replace(state, silent_since=since)
