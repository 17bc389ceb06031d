"""Who may log in to a switch and how, as its text says it."""

from __future__ import annotations

from typing import Literal

from rocefort.models.base import Frozen
from rocefort.models.keyed import Keyed

IpVersion = Literal["ipv4", "ipv6"]
Right = Literal["read", "read-write", "debug"]
# User groups that every switch has and nobody can change (V300R023C00, `user-group`).
PREDEFINED_GROUPS = ("manage-ug", "system-ug", "monitor-ug", "visit-ug")
SHORTEST_USER_NAME = 6  # with the check that is on by default (V300R023C00, `local-user`)


class LocalUser(Frozen):
    """`local-user`; its password is a secret of the switch and no part of the Device."""

    name: str
    service_types: Keyed[str] = ()
    level: int | None = None
    group: str | None = None  # takes effect only without a level

    @property
    def key(self) -> str:
        """Users are told apart by name."""
        return self.name


class TaskGroupGrant(Frozen):
    """`task-group NAME { read | read-write | debug }*` of a user group."""

    name: str
    rights: Keyed[Right] = ()

    @property
    def key(self) -> str:
        """A task group is granted once."""
        return self.name


class UserGroup(Frozen):
    """`user-group`: what its users may do, by task groups."""

    name: str
    grants: Keyed[TaskGroupGrant] = ()

    @property
    def key(self) -> str:
        """User groups are told apart by name."""
        return self.name


class SshUser(Frozen):
    """`ssh user NAME ..`."""

    name: str
    authentication: str | None = None
    service_types: Keyed[str] = ()

    @property
    def key(self) -> str:
        """Users are told apart by name."""
        return self.name


class Ssh(Frozen):
    """The SSH server; without a source interface no interface accepts a session (V300)."""

    stelnet: bool = False
    source_interface: str | None = None
    users: Keyed[SshUser] = ()


class Vty(Frozen):
    """`user-interface vty FIRST LAST`."""

    first: int
    last: int
    authentication: str | None = None
    acl: int | None = None  # who may open a session: `acl N inbound`
    protocol: str | None = None
    idle_timeout_s: int | None = None  # 0: never

    @property
    def key(self) -> int:
        """Lines are told apart by their first number."""
        return self.first
