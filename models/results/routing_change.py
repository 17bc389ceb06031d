"""Difference of a routing engine's answers between two versions of a network."""

from __future__ import annotations

from ipaddress import IPv4Network

from rocefort.models.base import Frozen
from rocefort.models.results.reachability import Pair


class RouteChange(Frozen):
    """Change of one prefix in the main table of a device: ECMP width before and after."""

    device: str
    prefix: IPv4Network
    was: int  # 0: no route
    now: int  # 0: no route; as many as before: other next hops


class RoutingChange(Frozen):
    """Routing changes between two versions, by one engine; all in order of names.

    lost, gained: pairs of servers that both versions have.
    """

    engine: str
    lost: tuple[Pair, ...] = ()
    gained: tuple[Pair, ...] = ()
    routes: tuple[RouteChange, ...] = ()

    @property
    def gone(self) -> tuple[RouteChange, ...]:
        """Routes that are gone."""
        return tuple(route for route in self.routes if not route.now)

    @property
    def new(self) -> tuple[RouteChange, ...]:
        """Routes that are new."""
        return tuple(route for route in self.routes if not route.was)

    @property
    def narrower(self) -> tuple[RouteChange, ...]:
        """Routes with fewer paths, but some."""
        return tuple(route for route in self.routes if 0 < route.now < route.was)

    @property
    def wider(self) -> tuple[RouteChange, ...]:
        """Routes with more paths than they had."""
        return tuple(route for route in self.routes if 0 < route.was < route.now)

    @property
    def moved(self) -> tuple[RouteChange, ...]:
        """Routes with the same number of paths, over other next hops."""
        return tuple(route for route in self.routes if route.was == route.now)
