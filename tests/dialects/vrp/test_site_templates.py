"""Templates of a site: what they can override, what they cannot do, and their errors."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from rocefort.base.errors import BadInput
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.dialects.choose import dialect_of
from rocefort.dialects.network_text import render_all, render_node
from rocefort.models.network.network import Node

ENTRY = "ce8850.j2"  # of leaf01
SHIPPED = f'{{% extends "shipped/{ENTRY}" %}}\n'


def with_templates(node: Node, own: Mapping[str, str]) -> Node:
    """Return a switch of a site with templates."""
    assert node.hardware is not None
    hardware = node.hardware.model_copy(update={"site_templates": tuple(own.items())})
    return node.model_copy(update={"hardware": hardware})


def leaf(heps: DerivedNetwork, own: Mapping[str, str]) -> Node:
    return with_templates(heps.network.by_name["leaf01"], own)


def added(heps: DerivedNetwork, own: Mapping[str, str]) -> dict[str, str]:
    """Return lines that templates of a site add to leaf01, each with its template and line."""
    node = leaf(heps, own)
    assert node.family is not None
    assert node.hardware is not None
    shipped = render_node(heps.network.by_name["leaf01"]).splitlines()
    text = render_node(node).splitlines()
    places = dialect_of(node).template_lines(node.device, node.family, node.hardware)
    assert [line for line in text if line in shipped] == shipped
    return {
        line: f"{places[number].file}:{places[number].line}"
        for number, line in enumerate(text, 1)
        if line not in shipped
    }


def more(line: str) -> dict[str, str]:
    return {ENTRY: f"{SHIPPED}{{% block more %}}\n{line}\n{{% endblock %}}\n"}


def test_a_template_that_extends_the_shipped_one_changes_nothing(heps: DerivedNetwork) -> None:
    own = {
        name: f'{{% extends "shipped/{name}" %}}\n'
        for name in ("ce8850.j2", "ce9860.j2", "cloudengine.j2", "common/bgp.j2")
    }
    network = heps.network
    nodes = tuple(with_templates(node, own) for node in network.nodes)
    assert render_all(network.model_copy(update={"nodes": nodes})) == render_all(network)


def test_one_block_is_extended_and_each_line_has_its_template(heps: DerivedNetwork) -> None:
    own = {
        ENTRY: f"{SHIPPED}{{% block lldp %}}\n{{{{ super() }}}}\nlldp transmit interval 10\n"
        "{% endblock %}\n",
        "common/bgp.j2": '{% extends "shipped/common/bgp.j2" %}\n'
        "{% block peer %}\n{{ super() }}\n{% if settings.external is defined %}\n"
        " peer {{ who }} valid-ttl-hops 1\n{% endif %}\n{% endblock %}\n",
    }
    assert added(heps, own) == {
        "lldp transmit interval 10": "templates/vrp/ce8850.j2:4",
        " peer SPINE valid-ttl-hops 1": "templates/vrp/common/bgp.j2:5",
    }


def test_settings_of_ports_are_written_by_the_template_of_the_site(heps: DerivedNetwork) -> None:
    own = {
        "common/settings.j2": '{% extends "shipped/common/settings.j2" %}\n'
        "{% block settings %}\n{{ super() }}\n{% if port.edge %}\n storm suppression\n"
        "{% endif %}\n{% endblock %}\n"
    }
    assert added(heps, own) == {" storm suppression": "templates/vrp/common/settings.j2:5"}
    text = render_node(leaf(heps, own))
    assert text.count(" storm suppression") == text.count(" stp edged-port enable") > 1
    assert "storm" not in render_node(heps.network.by_name["leaf01"])


def test_a_site_has_macros_and_templates_of_its_own(heps: DerivedNetwork) -> None:
    own = more('{% from "site/lines.j2" import banner %}\n{{ banner("east") }}')
    own["site/lines.j2"] = "{% macro banner(hall) %}\nheader login {{ hall }}\n{% endmacro %}\n"
    assert added(heps, own) == {"header login east": "templates/vrp/site/lines.j2:2"}


AT = "templates/vrp/ce8850.j2:3"
CORRECT = "correct the template"
VALUE = "use single blanks and no control characters in descriptions, no blanks in names"
ERRORS: list[tuple[dict[str, str], str]] = [
    (more("{{ device.nmae }}"), f"{AT}: Device has no attribute 'nmae'; {CORRECT}"),
    (more("{{ fan }}"), f"{AT}: 'fan' is undefined; {CORRECT}"),
    (more("{{ 1 / 0 }}"), f"{AT}: division by zero; {CORRECT}"),
    (more("{{ 'a  b' }}"), f"{AT}: 'a  b' cannot stand in a configuration line; {VALUE}"),
    (more("{{ 'a\\nb' }}"), f"{AT}: 'a\\nb' cannot stand in a configuration line; {VALUE}"),
    (
        more("{% include 'x.j2' %}"),
        f"{AT}: no template 'x.j2'; shipped ones: shipped/ce8851.j2, for example",
    ),
    (
        {ENTRY: f'{{% extends "{ENTRY}" %}}\n'},
        "templates/vrp/ce8850.j2:1: a template extends, includes or calls itself without end; "
        'the shipped template of the same name: {% extends "shipped/NAME.j2" %}',
    ),
    (
        {ENTRY: "{% extends 5 %}\n"},
        "templates/vrp/ce8850.j2:1: extends 5, which is no name; "
        'the shipped template of the same name: {% extends "shipped/NAME.j2" %}',
    ),
    (
        {ENTRY: f"{SHIPPED}{{% block mroe %}}\n{{% endblock %}}\n"},
        "templates/vrp/ce8850.j2:2: the extended template has no block 'mroe'; "
        "did you mean 'more'?",
    ),
    (
        {"ce8815.j2": SHIPPED},
        "templates/vrp/ce8815.j2: no shipped template has this name, and no template of the site "
        "names it; did you mean 'ce8855.j2'?",
    ),
]


@pytest.mark.parametrize(("own", "message"), ERRORS)
def test_an_error_names_file_and_line(
    heps: DerivedNetwork, own: dict[str, str], message: str
) -> None:
    with pytest.raises(BadInput) as error:
        render_node(leaf(heps, own))
    assert str(error.value) == message


def test_a_number_of_many_digits_names_the_file(heps: DerivedNetwork) -> None:
    with pytest.raises(BadInput, match=r"^templates/vrp/ce8850.j2: Exceeds the limit .*digits"):
        render_node(leaf(heps, more(f"{{{{ {'9' * 5000} }}}}")))


def test_a_syntax_error_names_file_and_line(heps: DerivedNetwork) -> None:
    with pytest.raises(BadInput, match=rf"^{AT}: Encountered unknown tag 'fi'.*; {CORRECT}$"):
        render_node(leaf(heps, more("{% fi %}")))


WORK = "more than 2000000 items"
ESCAPES: list[tuple[str, str]] = [
    ("{{ ''.__class__ }}", "access to attribute '__class__' of 'str' object is unsafe."),
    ("{{ device.parse_raw('') }}", "`parse_raw` cannot be called in a template of a site"),
    ("{{ device.parse_file('') }}", "`parse_file` cannot be called in a template of a site"),
    ("{{ device.model_copy() }}", "`model_copy` cannot be called in a template of a site"),
    ("{{ (device | attr('model_dump_json'))() }}", "No filter named 'attr'."),
    ("{{ '{0.__class__}'.format(device) }}", "`format` cannot be called in a template"),
    ("{{ [].append(1) }}", "attribute 'append' of 'list' object is unsafe."),
    ("{{ lipsum() }}", "'lipsum' is undefined"),
    ("{{ [1, 2] | random }}", "No filter named 'random'."),
    ("{{ 'a' * 9999999999 }}", "`*` is for whole numbers"),
    ("{{ '%999999999d' % 1 }}", "`%` is for whole numbers"),
    ("{{ 2 ** 99999999 }}", "`**` is not supported"),
    ("{% set x = 2 %}" + "{% set x = x * x %}" * 40 + "{{ x }}", "a number above"),
    ("{% set x = 'a' %}" + "{% set x = x ~ x %}" * 40 + "{{ x }}", "more than 10000 characters"),
    ("{% set x = 'a' %}" + "{% set x = x + x %}" * 40 + "{{ x }}", "more than 10000 characters"),
    ("{% set x = 'a' %}" + "{% set x = [x, x] | join %}" * 40, "more than 10000 characters"),
    ("{% set x = 'a' %}" + "{% set x %}{{ x }}{{ x }}{% endset %}" * 40, "more than 4000000"),
    ("{% set x = [1] %}" + "{% set x = x + x %}" * 40, "more than 10000 characters or items"),
    ("{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}", "200000"),
    ("{% macro m(n) %}{{ m(n - 1) }}{{ m(n - 1) }}{% endmacro %}{{ m(3) }}", "without end"),
    (
        "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}"
        "{{ m(40) }}",
        "more than 200000 loops, calls and includes",
    ),
    *(
        (f"{{% set n = namespace(x='a') %}}{{% for i in range(40) %}}{twice}{{% endfor %}}", what)
        for twice, what in (
            ("{% set n.x = [n.x, n.x] %}", "more than 10000 characters or items"),
            ("{% set n.x = (n.x, n.x) %}", "more than 10000 characters or items"),
            ("{% set n.x = {'a': n.x, 'b': n.x} %}", "more than 10000 characters or items"),
            ("{% set n.x = [[n.x], [n.x]] | sum(start=[n.x]) %}", "more than 10000"),
            ("{% set n.x = namespace(a=n.x, b=n.x) %}", "a namespace within another value"),
            ("{% set n.x = n %}", "a namespace within another value"),
            ("{% set n.x %}{{ n.x }}{{ n.x }}{% endset %}", "more than 4000000 characters"),
        )
    ),
    (f"{{{{ range(9999) | join('{'a' * 8000}') }}}}", "more than 10000 characters or items"),
    (f"{{{{ '{'a' * 8000}' | replace('a', '{'b' * 8000}') }}}}", "more than 10000 characters"),
    ("{{ [device, device] | join }}", "`Device` is no text, number or address"),
    ("{{ [1, 2] }}", "`list` is no text, number or address"),
    ("{{ [device, device] | free_text }}", "`list` is no text, number or address"),
    ("{{ [1, 2] | string }}", "`list` is no text, number or address"),
    ("{{ {'a': 1} ~ 'b' }}", "`dict` is no text, number or address"),
    ("{{ namespace() }}", "`Namespace` is no text, number or address"),
    ("{% for a in [1] recursive %}{{ loop([a]) }}{% endfor %}", "recursive loop is not supported"),
    *(
        (f"{{% set a = range(9999) | list %}}{{% set b = range(9999) | list %}}{work}", WORK)
        for work in (
            f"{{% for i in range(20000) %}}{{% set x = {each} %}}{{% endfor %}}"
            for each in (
                *("a == b", "a < b", "-1 in a", "a[1:]", "a + []", "{}.get(1, a)"),
                *(
                    "a is eq(b)",
                    "-1 is in(a)",
                    "a | sort",
                    "a | unique",
                    "a | groupby(attribute='real')",
                ),
                *("a | select('in', b) | list", "a | map('string') | list", "a | min"),
                *("a | length", "a | reverse | list", "[a] | sum(start=[])", "a | max"),
            )
        )
    ),
]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param(line, what, marks=pytest.mark.thorough if what == WORK and n % 8 else ())
        for n, (line, what) in enumerate(ESCAPES)
    ],
)
def test_a_template_of_a_pull_request_stays_in_its_sandbox(
    heps: DerivedNetwork, line: str, message: str
) -> None:
    with pytest.raises(BadInput) as error:
        render_node(leaf(heps, more(line)))
    assert error.value.problem.where == AT
    assert message in error.value.problem.what
