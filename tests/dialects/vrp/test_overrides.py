"""Texts of a site's templates, read back: lines may be added, values may not change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from rocefort.base.errors import BadInput
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.design.subject import ReadNetwork, subject_of_derived, with_template_lines
from rocefort.validators.checks import check

SHIPPED = '{% extends "shipped/cloudengine.j2" %}\n'
SETTINGS = '{% extends "shipped/common/settings.j2" %}\n{% block settings %}\n{{ super() }}\n'


def of_site(heps: DerivedNetwork, own: Mapping[str, str]) -> DerivedNetwork:
    """Return a fabric whose site has templates."""
    nodes = []
    for node in heps.network.nodes:
        assert node.hardware is not None
        hardware = node.hardware.model_copy(update={"site_templates": tuple(own.items())})
        nodes.append(node.model_copy(update={"hardware": hardware}))
    return replace(heps, network=heps.network.model_copy(update={"nodes": tuple(nodes)}))


def read(heps: DerivedNetwork, own: Mapping[str, str]) -> ReadNetwork:
    return subject_of_derived(of_site(heps, own))


def more(lines: str) -> dict[str, str]:
    return {"cloudengine.j2": f"{SHIPPED}{{% block more %}}\n{lines}\n{{% endblock %}}\n"}


def test_lines_without_a_model_are_kept_and_reported_by_the_line_of_their_template(
    heps: DerivedNetwork,
) -> None:
    own = {
        **more("#\nfrobnicate {{ device.name }}"),
        "common/settings.j2": f"{SETTINGS}{{% if port.edge %}}\n storm suppression broadcast 5\n"
        "{% endif %}\n{% endblock %}\n",
    }
    subject = read(heps, own)
    leaf = subject.network.by_name["leaf01"]
    assert leaf.device == heps.network.by_name["leaf01"].device
    assert [(line.path, line.text) for line in leaf.unmodelled] == [
        (("interface 100GE1/0/1",), "storm suppression broadcast 5"),
        (("interface 100GE1/0/2",), "storm suppression broadcast 5"),
        ((), "frobnicate leaf01"),
    ]
    findings = check(subject.network, subject.sources).findings
    said = [f"{f.rule} {f.where}: {f.message}" for f in findings if f.rule in ("TXT004", "TXT006")]
    assert said == [
        "TXT004 templates/vrp/common/settings.j2:5: `storm suppression ..` is known, but nothing "
        "judges what it sets; 12 lines on 8 switches",
        "TXT006 templates/vrp/cloudengine.j2:4: `frobnicate spine01` is not in the command table: "
        "not judged; 10 lines on 10 switches",
    ]


def test_an_undo_that_a_switch_saves_is_a_line(heps: DerivedNetwork) -> None:
    lines = [
        "undo telnet ipv6 server-source all-interface",
        "undo local-user policy security-enhance",
    ]
    own = more(f"#\n{lines[0]}\n#\naaa\n {lines[1]}")
    leaf = read(heps, own).network.by_name["leaf01"]
    assert [line.text for line in leaf.unmodelled] == lines


def test_without_templates_nothing_is_read(heps: DerivedNetwork) -> None:
    assert with_template_lines(heps) is heps


STATE = "state it in the fabric, and leave this line to the shipped template"
CHANGED: list[tuple[dict[str, str], str]] = [
    (
        {
            "family/v200-threshold.j2": " dcb pfc buffer {{ threshold.queue }} xoff static 700 "
            "kbytes xon offset {{ 700 - threshold.xon_kbytes }} kbytes\n"
        },
        "templates/vrp/family/v200-threshold.j2:1: changes "
        "interfaces[100GE1/1/1].thresholds[4].xoff_kbytes from 600 to 700 on spine01, and 23 more "
        f"values; {STATE}",
    ),
    (
        more("#\nvlan batch 999"),
        "templates/vrp/cloudengine.j2:4: adds vlans[999]: 999 on spine01, and 9 more values; "
        f"{STATE}",
    ),
    (
        more("#\nvlan batch 99999"),
        "templates/vrp/cloudengine.j2:4: `vlan batch` 99999, on spine01, and 9 more values; "
        "it is 1 to 4094",
    ),
    (
        {"cloudengine.j2": f"{SHIPPED}{{% block lldp %}}\n{{% endblock %}}\n"},
        "templates/vrp/cloudengine.j2: leaves out lldp (yes) on spine01, and 9 more values; "
        f"{STATE}",
    ),
    (
        more("#\ninterface MEth0/0/0\n acl 2000"),
        "templates/vrp/cloudengine.j2:5: `acl 2000` opens a view outside of "
        "`interface MEth0/0/0` on spine01, and 9 more values; write it at the left margin, with "
        "`#` before it",
    ),
    (
        more("#\nsnmp-agent community read cipher topsecret"),
        "templates/vrp/cloudengine.j2:4: `snmp-agent community read cipher <removed>` contains a "
        "secret on spine01, and 9 more values; name the secret by a reference in the fabric",
    ),
    (
        {
            "common/settings.j2": f"{SETTINGS}{{% if port.routed %}}\n storm suppression broadcast 5\n"
            "{% endif %}\n{% endblock %}\n"
        },
        "templates/vrp/common/settings.j2:5: the switch refuses `storm suppression broadcast 5` in "
        "`interface MEth0/0/0` on spine01, and 61 more values; write the line only where a switch "
        "takes it",
    ),
    *(
        (
            more(f"#\n{line}"),
            f"templates/vrp/cloudengine.j2:4: `{line.strip()}`: {why}, on spine01, and 9 more "
            "values; write only lines that a switch saves",
        )
        for line, why in (
            ("commit", "'commit' acts on the switch and is not configuration"),
            ("com", "'commit' acts on the switch and is not configuration"),
            ("save", "'save' acts on the switch and is not configuration"),
            ("reboot", "'reboot' acts on the switch and is not configuration"),
            ("abort", "'abort' acts on the switch and is not configuration"),
            ("return", "'return' acts on the switch and is not configuration"),
            (" return", "'return' acts on the switch and is not configuration"),
            (
                "system-view immediately",
                "'system-view' acts on the switch and is not configuration",
            ),
            (
                "clear configuration candidate",
                "'clear' acts on the switch and is not configuration",
            ),
            ("quit", "'quit' leaves a view and is not configuration"),
            ("!", "it is not configuration"),
            ("<leaf01> display version", "it is not configuration"),
            ("frobnicate ?", "contains '?', which requests help instead of being entered"),
        )
    ),
    *(
        (
            more(f"#\n{line}"),
            f"templates/vrp/cloudengine.j2:4: `{line}` "
            "removes a line and is no line of a saved configuration on spine01, and 9 more values; "
            "leave the line out that it removes, by the block that writes it",
        )
        for line in (
            *("undo bgp 64512", "undo interface Vlanif100", "undo fan on", "UNDO fan on"),
            *("und bgp 64512", "undo"),
        )
    ),
]


@pytest.mark.parametrize(("own", "message"), CHANGED)
def test_a_value_that_a_template_changes_is_an_error_at_its_line(
    heps: DerivedNetwork, own: dict[str, str], message: str
) -> None:
    with pytest.raises(BadInput) as error:
        read(heps, own)
    assert str(error.value) == message
