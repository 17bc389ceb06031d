"""Who may log in to a switch and how, as its text says it."""

from __future__ import annotations

from rocefort.models.base import Frozen
from rocefort.models.keyed import Keyed


class LocalUser(Frozen):
    """`local-user`; its password is a secret of the switch and no part of the Device."""

    name: str
    service_types: Keyed[str] = ()
    level: int | None = None

    @property
    def key(self) -> str:
        """Users are told apart by name."""
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
