"""BGP sessions of a lab over time: an end without messages waits for the hold time.

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

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

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

    kept: established sessions. gone: for an end without a peer, its start and its hold time.
    """

    changed: Callable[[str], float]
    kept: dict[tuple[PeerEnd, PeerEnd], EstablishedSession] = field(default_factory=dict)
    gone: dict[PeerEnd, tuple[float, int]] = field(default_factory=dict)

    def down(self, facts: Iterable[SessionFacts], now: float) -> tuple[SessionFacts, ...]:
        """Return sessions that match and are not up; forget those that no longer match."""
        before, found = dict(self.kept), []
        self.kept.clear()
        for session in facts:
            kept = self._next(session, before.pop(session.ends, None), now)
            if kept is not None:
                self.kept[session.ends] = kept
            if kept is None or kept.retry_at is not None:
                found.append(session)
        for ends, kept in before.items():
            if kept.retry_at is None:
                since = max(self.changed(switch) for switch, _ in ends)
                self.gone |= dict.fromkeys(ends, (since, kept.hold_s))
        for session in facts:
            for end in session.ends:
                self.gone.pop(end, None)
        return tuple(found)

    def lingers(self, end: PeerEnd, now: float) -> bool:
        """Whether an end whose peer has lost its address still waits for it."""
        since, hold_s = self.gone.get(end, (0.0, -1))
        return hold_s == 0 or now - since < hold_s

    def _next(
        self, session: SessionFacts, kept: EstablishedSession | None, now: float
    ) -> EstablishedSession | None:
        """Return the next state of a session that matches; None: it does not come up."""
        fresh = (
            EstablishedSession(session.hold_s, session.mtus[0]) if session.authenticated else None
        )
        if kept is None or (kept.retry_at is not None and now >= kept.retry_at):
            return fresh
        if kept.retry_at is not None:
            return kept
        smaller, larger = session.mtus
        fits = min(kept.mtu, larger, session.burst_bytes) <= smaller
        if session.authenticated and fits:
            return replace(kept, silent_since=None)
        since = kept.silent_since
        if since is None:
            since = max(self.changed(switch) for switch, _ in session.ends)
        if kept.hold_s and now - since >= kept.hold_s:
            return replace(kept, retry_at=since + kept.hold_s + CONNECT_RETRY_S)
        return replace(kept, silent_since=since)
