"""Pages of docs/reference that are written from the code; `make golden` renews them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from command_page import commands_page
from event_page import events_page
from json_page import json_page
from key_pages import Keys

from rocefort.base.repository import INVENTORY, PROFILES
from rocefort.fleet.connections import Connections
from rocefort.models.fabric.fabric import Fabric, Profiles
from rocefort.models.hardware.netbox import DeviceType, ModuleType
from rocefort.models.hardware.site_data import SiteCommands
from rocefort.models.network.demand import Demand
from rocefort.tune.scenario import Scenario

HARDWARE = INVENTORY / "hardware"
# Examples are those of HEPS where it has the key.
FABRICS = sorted(INVENTORY.glob("*/fabric.yaml"), key=lambda file: file.parent.name != "heps")
WRITTEN = "`make golden` writes this page from the code."


def fabric_page() -> str:
    """Keys of fabric.yaml."""
    keys = Keys(Fabric, FABRICS, {"Profiles": "profiles.md"})
    return _page(
        "fabric.yaml",
        "The intent of a fabric. `rocefort new` writes one, and `rocefort schema` prints its JSON\n"
        "Schema, by which an editor completes and checks it.",
        keys.text(),
    )


def demand_page() -> str:
    """Keys of demand.yaml."""
    return _page(
        "demand.yaml",
        "The traffic that a facility needs, beside its fabric.yaml. `rocefort capacity` compares\n"
        "both, and `rocefort schema --of demand` prints the JSON Schema.",
        Keys(Demand, sorted(INVENTORY.glob("*/demand.yaml"))).text(),
    )


def profiles_page() -> str:
    """Keys of profiles."""
    return _page(
        "Profiles",
        "Named values for queues, ECN, congestion control, NICs and servers. A file of\n"
        "`inventory/profiles/` has profiles for all fabrics of a site, and the key `profiles` of a\n"
        "fabric.yaml those of one fabric. `rocefort schema --of profiles` prints the JSON Schema.\n"
        "\n"
        "A kbyte of a switch is taken as 1,024 bytes.",
        Keys(Profiles, sorted(PROFILES.glob("*.yaml"))).text(),
    )


def connections_page() -> str:
    """Keys of connections.yaml."""
    return _page(
        "connections.yaml",
        "SSH access of switches and servers: [connect real switches](../how-to/connections.md).\n"
        "Relative paths start at the folder of the file. `rocefort schema --of connections` prints\n"
        "the JSON Schema.",
        Keys(Connections).text(),
    )


def scenario_page() -> str:
    """Keys of a scenario."""
    return _page(
        "Scenarios",
        "A scenario of `rocefort tune simulate`: [simulation of congestion](../how-to/tuning.md).\n"
        "A kbyte of a scenario has 1,000 bytes. `rocefort schema --of scenario` prints the JSON Schema.",
        Keys(Scenario).text(),
    )


def catalogue_page() -> str:
    """Keys of the catalogue."""
    return _page(
        "Catalogue",
        "VRP commands of a site, in `inventory/catalogue/NAME.yaml`:\n"
        "[templates of a site](../how-to/templates.md). `rocefort schema --of catalogue` prints the\n"
        "JSON Schema.",
        Keys(SiteCommands).text(),
    )


def hardware_page() -> str:
    """Keys of switch models and line cards."""
    switches = Keys(DeviceType, sorted(HARDWARE.glob("ce*.yaml")), owner=" of a switch")
    cards = Keys(ModuleType, sorted((HARDWARE / "cards").glob("*.yaml")), owner=" of a card")
    return _page(
        "Hardware",
        "A file of `inventory/hardware/` describes a switch model, and one of\n"
        "`inventory/hardware/cards/` a line card, in the format of NetBox's\n"
        "[device-type library](https://github.com/netbox-community/devicetype-library). The key\n"
        "`rocefort` has the facts that NetBox lacks. Other keys of NetBox are allowed and not used.",
        f"## Switch model\n\n{switches.text()}\n## Line card\n\n{cards.text()}",
    )


def _page(title: str, head: str, body: str) -> str:
    return f"# {title}\n\n{WRITTEN}\n\n{head}\n\n{body}"


PAGES: Mapping[str, Callable[[], str]] = {
    "fabric.md": fabric_page,
    "demand.md": demand_page,
    "profiles.md": profiles_page,
    "connections.md": connections_page,
    "scenario.md": scenario_page,
    "catalogue.md": catalogue_page,
    "hardware.md": hardware_page,
    "options.md": commands_page,
    "events.md": events_page,
    "json.md": json_page,
}
