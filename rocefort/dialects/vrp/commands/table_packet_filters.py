"""The commands that filter data packets: ACLs, and traffic policies by classifier (MQC).

References prevent deletion: of a policy that is applied, and of a classifier or a behavior that a
policy binds (V300R023C00, `traffic policy`, `traffic classifier`, `traffic behavior`).
"""

from __future__ import annotations

from rocefort.dialects.vrp.commands.command import SYSTEM, V200, Row, Spelling, command, group
from rocefort.dialects.vrp.readers import line_readers

NUMBER = "<0-4294967294>"
RULE = f"rule {NUMBER}"
ORDER = Spelling(
    "CR `rule`: by default the numbers order the rules; the first that matches counts",
    number=NUMBER[1:-1],
)

SECTIONS: tuple[tuple[Row, ...], ...] = (
    group(
        SYSTEM,
        "CR ACL_Configuration_Commands",
        command(
            "acl +number <2000-2999>",
            "acls[{2000-2999}]",
            opens="acl",
            undo=("acl +number <2000-2999>",),
        ),
        command(
            "acl +number <3000-3999>",
            "filters.acls[{3000-3999}]",
            opens="acl-advanced",
            undo=("acl +number <3000-3999>",),
        ),
        command("acl +number <4000-4999>", opens="acl", undo=("acl +number <4000-4999>",)),
        command("acl name <group> ( basic )", opens="acl", undo=("acl name <group>",)),
        command(
            "acl name <group> ( advance )",  # must begin with a letter
            "filters.acls[{group}]",
            opens="acl-advanced",
            undo=("acl name <group>",),
        ),
    ),
    group(
        SYSTEM,
        "CR MQC_Configuration_Commands; in which order the three are saved is not shown",
        command(
            "traffic classifier <name> ( +type { and | +or } )",
            "filters.classifiers[{name}]",
            opens="traffic-classifier",
            undo=("traffic classifier <name>",),
            held_by=("classifier {name}",),
        ),
        command(
            "traffic behavior <name>",
            "filters.behaviors[{name}]",
            opens="traffic-behavior",
            held_by=("classifier * behavior {name}",),
        ),
        command(
            "traffic policy <name>",
            "filters.policies[{name}]",
            opens="traffic-policy",
            held_by=("traffic-policy {name}",),
        ),
    ),
)

VIEWS: tuple[tuple[Row, ...], ...] = (
    group(
        "acl",
        "CR ACL_Configuration_Commands",
        command(
            f"{RULE} ( {{ permit | deny }} [ <text> ] )",
            "rules[]",
            reads=line_readers.basic_rule,
            undo=(RULE,),
            equal=ORDER,
        ),
        command("description ( <text:127> )", undo=("description",)),
        command("step ( <1-20> )", undo=("step",), default="step 5"),
    ),
    group(
        "acl-advanced",
        "CR ACL_Configuration_Commands, `rule (Advanced ACL view)`",
        command(
            f"{RULE} ( {{ permit | deny }} <acl-matches> )",
            "rules[]",
            reads=line_readers.advanced_rule,
            undo=(RULE,),
            equal=ORDER,
        ),
        command("description ( <text:127> )", undo=("description",)),
        command("step ( <1-20> )", undo=("step",), default="step 5"),
    ),
    group(
        "traffic-classifier",
        "CR MQC_Configuration_Commands, `if-match acl` and its siblings",
        command("if-match acl <name>", "acls+={name}"),
        command("if-match <text>"),
    ),
    group(
        "traffic-behavior",
        "CR MQC_Configuration_Commands, `deny | permit`; other actions are kept as they are",
        command("deny", "deny=yes"),
        command("permit", "deny=no", kind="action", on_set=("undo deny",)),
        command(
            "statistics enable ( [ history-record interval <1-60> ] )", undo=("statistics enable",)
        ),
        command("remark <name> ( <text> )"),
        command("redirect ( <text> )"),
        command("car ( <text> )"),
    ),
    group(
        "traffic-policy",
        "CR MQC_Configuration_Commands, `classifier behavior`",
        command(
            "classifier <name> ( behavior <other> [ precedence <0-65535> ] )",
            "bindings[{name}].behavior={other} bindings[{name}].precedence={0-65535}",
            undo=("classifier <name> ( [ behavior <other> [ precedence <0-65535> ] ] )",),
            needs=("traffic classifier {name}",),
        ),
        command("statistics enable", families=V200),  # V300 has it in a behavior only
    ),
    group(
        "interface",
        "CR MQC_Configuration_Commands, `traffic-policy (interface view)`: a policy a direction",
        command(
            "traffic-policy ( <name> ) { inbound | outbound }",
            "inbound? filter_in={name}",
            "outbound? filter_out={name}",
            undo=("traffic-policy ( <name> ) { inbound | outbound }",),
            needs=("traffic policy {name}",),
            service=True,
        ),
    ),
)
