"""Connections file of a derived fabric: management addresses, without secrets."""

from __future__ import annotations

import yaml

from rocefort.design.derive.derive import DerivedNetwork
from rocefort.errors import BadInput, Problem
from rocefort.models.base import check_reference
from rocefort.models.fabric.management import User
from rocefort.paths import TEMPLATES
from rocefort.templating import text_templates

KNOWN_HOSTS = "known_hosts"  # beside the connections file; `rocefort trust` writes it


def connections_text(
    derived: DerivedNetwork, credential: str, user: str | None = None, schema: str = ""
) -> str:
    """Return a connections file for every switch; raises BadInput with all problems.

    user: by default the user of the fabric with the most privileges. schema: path of the JSON
    Schema from the folder of the file, for an editor.
    """
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
    if problems:
        raise BadInput(problems=problems)
    devices = [
        {
            "name": node.name,
            "host": str(node.management.ip),
            "user": login,
            "credential": credential,
        }
        for node in derived.network.nodes
        if node.management  # as every derived switch has
    ]
    head = text_templates(TEMPLATES / "site").get_template("connections.yaml.j2")
    body = yaml.safe_dump({"known_hosts": KNOWN_HOSTS, "devices": devices}, sort_keys=False)
    return head.render(fabric=derived.network.name, schema=schema) + body


def _login(users: tuple[User, ...]) -> str | None:
    """Return the first user with the highest level; None: there is no user."""
    levels = [user.level if user.level is not None else -1 for user in users]
    return users[levels.index(max(levels))].name if users else None
