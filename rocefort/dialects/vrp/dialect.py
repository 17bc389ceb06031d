"""VRP as a Dialect: every method calls the function of this package that has the ability."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from rocefort.base.clock import utc_now
from rocefort.base.repository import TEMPLATES
from rocefort.dialects.data import (
    ConfigPatch,
    ExtraLine,
    ForeignDesign,
    ParsedConfig,
    ProbeForm,
    ProbeQuestion,
    RoutingLine,
    SavedPart,
    WeakAccess,
)
from rocefort.dialects.dialect import Dialect
from rocefort.dialects.vrp import device_diff as comparing
from rocefort.dialects.vrp import (
    line_queries,
    probe,
    provenance,
    running_state,
    saved_text,
    spellings,
    terms,
)
from rocefort.dialects.vrp.commands import unmodelled
from rocefort.dialects.vrp.commands.match import identify
from rocefort.dialects.vrp.commands.site_commands import command_of_row, syntax_of
from rocefort.dialects.vrp.interpreter import saved_lines
from rocefort.dialects.vrp.interpreter.execute import view_kind
from rocefort.dialects.vrp.interpreter.port_split import HEAD
from rocefort.dialects.vrp.line_queries import weak_access
from rocefort.dialects.vrp.parse import parser
from rocefort.dialects.vrp.patch import patch as patching
from rocefort.dialects.vrp.patch.profile_moves import unpaused
from rocefort.dialects.vrp.render import (
    check_password,
    day0_device,
    day0_text,
    render,
    template_lines,
    template_of,
)
from rocefort.dialects.vrp.text import config_tree, secret_forms
from rocefort.dialects.vrp.unowned_lines import (
    apply_with,
    misplaced,
    whole_tree,
    with_kept,
    with_lines,
)
from rocefort.models.change.plan import Change
from rocefort.models.device.device import Device, without_defaults
from rocefort.models.device.packet_filters import Uses
from rocefort.models.hardware.hardware import Family, Hardware
from rocefort.models.hardware.site_data import SiteCommand
from rocefort.models.network.network import Node, Position, TextLine
from rocefort.models.network.observed import StateTopic, UnreadSeen

_LOST = "its configuration is lost, and no rollback restores it"
# Field of a Device -> an additional reason; it never removes a reason.
DISRUPTS: Mapping[str, str] = {
    "splits[]": _LOST,
    "splits[].type": _LOST,
    "bgp.asn": "BGP is deleted and built again, with a commit in between",
}


HERE = Path(__file__).parent


class Vrp(Dialect):
    """Huawei VRP of a CloudEngine."""

    name = "VRP"
    words = terms.WORDS
    how_to_save = parser.WANTED
    disrupts = DISRUPTS
    files = (
        (TEMPLATES / "vrp", "*"),
        (HERE / "commands", "table_*.py"),
        (HERE / "patch" / "rulebook", "huawei.order"),
    )

    def render(self, device: Device, family: Family, hardware: Hardware | None = None) -> str:
        """Render by the template that the hardware names; raises BadInput where it names none."""
        own = hardware.site_templates if hardware else ()
        syntax_of(family)  # reports errors of the site's commands
        return render(device, family.syntax, template_of(hardware), own)

    def template_lines(
        self, device: Device, family: Family, hardware: Hardware
    ) -> Mapping[int, Position]:
        """Return the sources of lines of a site's templates."""
        return template_lines(device, family.syntax, hardware)

    def is_config(self, text: str) -> bool:
        """Whether a text has a sysname."""
        return parser.SYSNAME.search(text) is not None

    def saved_parts(self, text: str) -> Sequence[SavedPart]:
        """Split by prompts, and read `display lldp neighbor`, `.. version`, `.. device`."""
        return saved_text.saved_parts(text)

    def parse(self, text: str, file: str) -> ParsedConfig:
        """Parse any syntax family."""
        return parser.parse(text, file)

    def normal_form(self, device: Device, family: Family) -> Device:
        """Apply the defaults of the family."""
        return without_defaults(device, family)

    def lines(self, text: str) -> Sequence[tuple[tuple[str, ...], str]]:
        """Return the lines of a text's tree."""
        return [
            (views, line.text) for top in config_tree.parse_tree(text) for views, line in top.walk()
        ]

    def changed_lines(self, before: str, after: str) -> Sequence[ExtraLine]:
        """Compare both trees, with the parser's side table."""
        return provenance.changed_lines(before, after)

    def command_of(self, line: TextLine, family: Family | None = None) -> str:
        """Look up the tables of commands."""
        return unmodelled.command_of(line, syntax_of(family) if family else None)

    def site_command(self, path: Sequence[str], family: Family) -> SiteCommand | None:
        """Look up the commands of the site."""
        row = unmodelled.row_of(tuple(path), syntax_of(family))
        return command_of_row(row, family) if row else None

    def foreign_design(self, line: TextLine) -> ForeignDesign | None:
        """Decide by the begin of the line and of its views."""
        return line_queries.foreign_design(line)

    def written_by_itself(self, line: TextLine, family: Family | None = None) -> bool:
        """Look up defaults of the tables, and the lines of the family's data."""
        return saved_lines.written_by_itself(line, family.syntax if family else None)

    def in_one_spelling(self, devices: Iterable[tuple[Device, Family | None]]) -> Sequence[Device]:
        """Look up the spellings of the tables, and the lines of the family's data."""
        return spellings.in_one_spelling(devices)

    def spelled_as(self, device: Device, other: Device, family: Family) -> Device:
        """Look up the spellings of the tables."""
        return spellings.spelled_as(device, other, family)

    def leaves_view(self, line: TextLine, family: Family | None = None) -> bool:
        """Look up the tables of the outer views: the command line searches them."""
        return unmodelled.leaves_view(line, syntax_of(family) if family else None)

    def misplaced(self, text: str, family: Family) -> Iterable[Sequence[str]]:
        """Start an emulated switch with the text."""
        return misplaced(secret_forms.as_saved(text), syntax_of(family))

    def removes(self, line: TextLine) -> bool:
        """Decide by the first word, and by what the interpreter saves after the line."""
        return line_queries.removes(line)

    def removes_setting(self, line: TextLine) -> bool:
        """Decide as for any line that removes, and by the command table."""
        return line_queries.removes_setting(line)

    def actions(self, text: str, unmodelled: Sequence[TextLine]) -> Iterable[tuple[int, str]]:
        """Decide as the driver does, which refuses to send them; a parser does not see all."""
        return line_queries.actions(text, unmodelled)

    def forwarding_effect(self, line: TextLine) -> str:
        """Decide by the line's command."""
        return line_queries.forwarding_effect(line)

    def routing_line(self, line: TextLine) -> RoutingLine | None:
        """Decide by the line's view and command."""
        return line_queries.routing_line(line)

    def other_family_peer(self, line: TextLine) -> str | None:
        """Decide by the line's view."""
        return line_queries.other_family_peer(line)

    def opens_ssh(self, line: TextLine) -> bool:
        """Decide by the line's command."""
        return line_queries.opens_ssh(line)

    def is_community(self, line: TextLine) -> bool:
        """Decide by the line's command."""
        return line_queries.is_community(line)

    def weak_access(self, line: TextLine) -> WeakAccess | None:
        """Decide by a table of commands and algorithms."""
        return weak_access(line)

    def shows_secret(self, line: TextLine) -> bool:
        """Decide by the line's last words."""
        return line_queries.shows_secret(line)

    def matches_in(self, line: TextLine, classifier: str) -> bool:
        """Decide by the line's view."""
        return line_queries.matches_in(line, classifier)

    def uses(self, line: TextLine) -> Uses:
        """Return the names after certain commands."""
        return line_queries.uses(line)

    def closed_peer(self, line: str) -> str | None:
        """Decide by the line's command."""
        return line_queries.closed_peer(line)

    def in_use(self, command: str, device: Device) -> bool | None:
        """Look up a table of commands."""
        return line_queries.in_use(command, device)

    def patch(
        self,
        running: str,
        intended: str,
        family: Family,
        kept: Sequence[tuple[str, ...]] = (),
    ) -> ConfigPatch:
        """Compute a patch with annet and the rulebook."""
        both = patching.make_patch(running, intended, syntax_of(family), kept)
        disrupts = tuple(map(unpaused, both.unpaused))
        return ConfigPatch(both.commands, both.reverse, disrupts, both.taken)

    def applied(
        self,
        text: str,
        commands: Iterable[str],
        family: Family,
        unjudged: Iterable[Sequence[str]] = (),
    ) -> str:
        """Run the commands in the interpreter."""
        syntax = syntax_of(family)
        tree = whole_tree(text, syntax)
        lines = frozenset(map(tuple, unjudged))
        return config_tree.tree_text(apply_with(tree, commands, syntax, lines))

    def line_key(self, path: Sequence[str], family: Family) -> Hashable:
        """Look up the tables of commands: the line without its value."""
        views, syntax = tuple(path[:-1]), syntax_of(family)
        return views, identify(view_kind(views, syntax), path[-1], syntax).key

    def with_lines(self, text: str, lines: Iterable[Sequence[str]]) -> str:
        """Insert lines into the tree of a text, at the end of their views."""
        return config_tree.tree_text(with_lines(config_tree.parse_tree(text), tuple(lines)))

    def with_kept(self, text: str, kept: Iterable[Sequence[str]], family: Family) -> str:
        """Insert lines into the tree of a switch that started with the text."""
        syntax = syntax_of(family)
        return config_tree.tree_text(with_kept(whole_tree(text, syntax), tuple(kept), syntax))

    def same_change(
        self, planned: Change, device_diff: str, running_text: str, family: Family
    ) -> Sequence[str]:
        """Compare with `display configuration candidate changes`."""
        return comparing.same_change(planned, device_diff, running_text, family)

    def split_line(self, port: str, split_type: str) -> str:
        """Return the line in saved form."""
        return f"{HEAD} {port} split-type {split_type}"

    def check_typed(self, value: str, reference: str) -> str:
        """Accept one word that is not a cipher."""
        return secret_forms.check_typed(value, reference)

    def as_saved(self, text: str) -> str:
        """Replace irreversible ciphers by a stand-in."""
        return secret_forms.as_saved(text)

    def day0_device(self, device: Device) -> Device:
        """Return port and route of management, users, SSH, ACL."""
        return day0_device(device)

    def day0_text(self, node: Node, passwords: Mapping[str, str]) -> str:
        """Return commands from the user view to the saved configuration."""
        return day0_text(node, passwords)

    def check_password(self, value: str, user: str, reference: str) -> str:
        """Accept the passwords of `local-user password`."""
        return check_password(value, user, reference)

    def read_topic(
        self,
        driver: running_state.StateDriver,
        topic: StateTopic,
        device: str,
        ports: Iterable[str] = (),
        now: Callable[[], datetime] = utc_now,
    ) -> object:
        """Read by the getters of napalm_cloudengine."""
        return running_state.read_topic(driver, topic, device, ports, now)

    def unread_lines(self, driver: running_state.StateDriver) -> Sequence[UnreadSeen]:
        """Return lines that getters of napalm_cloudengine did not read."""
        return running_state.unread_lines(driver)

    def probe_form(self, command: str, running: str, ports: Sequence[str]) -> ProbeForm | str:
        """Look up a table of forms."""
        return probe.probe_form(command, running, ports)

    def saved_lines(
        self, form: ProbeForm, running: str, device_diff: str
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Apply the switch's own diff to what runs."""
        return probe.saved_lines(form, running, device_diff)

    def probe_question(self, field: str, running: str, ports: Sequence[str]) -> ProbeQuestion | str:
        """Look up the terms."""
        return probe.probe_question(field, running, ports)

    def read_fact(self, field: str, text: str) -> tuple[int, int] | int | None:
        """Read a range of the help, a unit, or the pools of a buffer."""
        return probe.read_fact(field, text)


DIALECT: Dialect = Vrp()
