"""Connections file of a derived fabric: management addresses, without secrets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import yaml

from rocefort.base.documents.edit import appended, spliced, without
from rocefort.base.documents.read import YamlPath, document_of, read_text
from rocefort.base.errors import BadInput, Problem
from rocefort.base.repository import TEMPLATES
from rocefort.base.templating import text_templates
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.fleet.connections import load_connections
from rocefort.models.base import check_reference
from rocefort.models.fabric.management_plane import User
from rocefort.models.wording import listing

CREDENTIAL = "env:SWITCH_PASSWORD"
KNOWN_HOSTS = "known_hosts"  # beside the connections file; `rocefort trust` writes it


def connections_text(
    derived: DerivedNetwork, credential: str, user: str | None = None, schema: str = ""
) -> str:
    """Return a connections file for every switch; raises BadInput with all problems.

    user: by default the user of the fabric with the most privileges. schema: path of the JSON
    Schema from the folder of the file, for an editor.
    """
    devices = _entries(derived, credential, user)
    head = text_templates(TEMPLATES / "site").get_template("connections.yaml.j2")
    body = yaml.safe_dump({"known_hosts": KNOWN_HOSTS, "devices": devices}, sort_keys=False)
    return head.render(fabric=derived.network.name, schema=schema) + body


@dataclass(frozen=True)
class UpdatedConnections:
    """Text of a connections file that fits its fabric, and the names that changed."""

    text: str
    added: tuple[str, ...]
    removed: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """Sentence on the changes."""
        words = (("added", self.added), ("removed", self.removed))
        return "; ".join(f"{word} {listing(names)}" for word, names in words if names)


def updated_connections(
    derived: DerivedNetwork, path: Path, credential: str | None, user: str | None
) -> UpdatedConnections:
    """Add the missing switches to a connections file, and remove hosts that the fabric lacks.

    Everything else stays as it is written; a renamed switch keeps its own credential. credential,
    user: by default those that most entries have. Raises BadInput for a file that is no connections
    file.
    """
    text, access = read_text(path), load_connections(path)
    document = document_of(text, str(path)).data
    written = document["devices"] if isinstance(document, dict) else []
    network = derived.network
    switches = {node.name for node in network.nodes}
    servers = {server.name for server in network.servers or ()}
    gone: dict[YamlPath, list[int]] = {}
    removed: list[str] = []
    for key, hosts, known in (
        ("devices", access.devices, switches),
        ("servers", access.servers, servers),
    ):
        gone[key,] = [n for n, host in enumerate(hosts) if host.name not in known]
        removed += [hosts[n].name for n in gone[key,]]
    given = {k: v for k, v in (("user", user), ("credential", credential)) if v}
    credential = credential or _most_common(str(each["credential"]) for each in written)
    user = user or _most_common(each.user for each in access.devices)
    present = {device.name for device in access.devices}
    # A switch with the address of one that is gone has another name, and keeps all else.
    renamed = {str(written[n]["host"]): written[n] for n in gone["devices",]}
    new = [
        {**entry, **renamed.get(entry["host"], {}), **given, "name": entry["name"]}
        for entry in _entries(derived, credential or CREDENTIAL, user)
        if entry["name"] not in present
    ]
    cut = spliced(text, without(text, gone))
    after = spliced(cut, appended(cut, {"devices": new}, {}, "devices"))
    return UpdatedConnections(after, tuple(each["name"] for each in new), tuple(removed))


def _most_common(values: Iterable[str]) -> str | None:
    return next((value for value, _ in Counter(values).most_common(1)), None)


def _entries(derived: DerivedNetwork, credential: str, user: str | None) -> list[dict[str, str]]:
    """Entry of every switch; raises BadInput with all problems."""
    problems = []
    try:
        check_reference(credential)
    except ValueError as error:
        what, _, how = str(error).partition("; ")
        problems.append(Problem("--credential", what, how))
    login = user or _login(derived.fabric.security.users)
    if login is None:
        how = "name the user of the switches"
        problems.append(Problem("--user", f"{derived.document.file} has no user", how))
    if problems or login is None:
        raise BadInput(problems=problems)
    return [
        {
            "name": node.name,
            "host": str(node.management.ip),
            "user": login,
            "credential": credential,
        }
        for node in derived.network.nodes
        if node.management  # as every derived switch has
    ]


def _login(users: tuple[User, ...]) -> str | None:
    """Return the first user with the highest level; None: there is no user."""
    levels = [user.level if user.level is not None else -1 for user in users]
    return users[levels.index(max(levels))].name if users else None
