"""Users, user groups, SSH and VTY lines in the configuration of a switch."""

from __future__ import annotations

from typing import Annotated, Literal

from rocefort.models.base import Frozen
from rocefort.models.effect import HARMLESS, KEY, SAME, AccessTopic, EditCondition, KeyedRow
from rocefort.models.keyed import Keyed

IpVersion = Literal["ipv4", "ipv6"]
Right = Literal["read", "read-write", "debug"]
# User groups that every switch has and no user can change (V300R023C00, `user-group`).
PREDEFINED_GROUPS = ("manage-ug", "system-ug", "monitor-ug", "visit-ug")
SHORTEST_USER_NAME = 6  # with the check that is on by default (V300R023C00, `local-user`)
OTHER_LOGIN = HARMLESS.affecting(
    "user {} may log in by other means than before", EditCondition.GONE
)
# Without a source interface a switch may listen everywhere: by `all-interface`, or before V300.
CUT_OFF = HARMLESS.affecting("management sessions may be cut off")


class LocalUser(KeyedRow):
    """User of the command line; the password is a secret of the switch, not in the Device."""

    name: Annotated[str, KEY]
    service_types: Annotated[Keyed[str], OTHER_LOGIN] = ()
    level: Annotated[int | None, OTHER_LOGIN] = None
    group: Annotated[str | None, OTHER_LOGIN] = None  # takes effect only without a level


class TaskGroupGrant(KeyedRow):
    """Rights of a user group on one task group: read, read-write, debug."""

    name: Annotated[str, KEY]
    rights: Annotated[Keyed[Right], SAME] = ()


class UserGroup(KeyedRow):
    """User group with its rights, by task group."""

    name: Annotated[str, KEY]
    grants: Annotated[Keyed[TaskGroupGrant], SAME] = ()


class SshUser(KeyedRow):
    """SSH login of a user: authentication and services."""

    name: Annotated[str, KEY]
    authentication: Annotated[str | None, OTHER_LOGIN] = None
    service_types: Annotated[Keyed[str], OTHER_LOGIN] = ()


class Ssh(Frozen):
    """SSH server; without a source interface no interface accepts a session (V300)."""

    stelnet: Annotated[bool, CUT_OFF.but(when=EditCondition.GONE)] = False
    source_interface: Annotated[str | None, CUT_OFF] = None
    users: Annotated[
        Keyed[SshUser],
        HARMLESS.affecting(
            "user {} can no longer log in", EditCondition.GONE, access=AccessTopic.USERS
        ),
    ] = ()


class Vty(KeyedRow):
    """VTY lines for remote logins, from `first` to `last`."""

    first: Annotated[int, KEY]
    last: Annotated[int, SAME.but(when=EditCondition.GONE)]
    authentication: Annotated[str | None, SAME] = None
    acl: Annotated[int | None, SAME] = None  # who may open a session: `acl N inbound`
    protocol: Annotated[str | None, SAME] = None
    idle_timeout_s: Annotated[int | None, SAME.but(when=EditCondition.GONE)] = None  # 0: never
