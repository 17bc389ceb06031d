"""Rules of a site that fail, each with its end; the others run, and no output is spoiled."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rocefort import rules as public
from rocefort.base.errors import BadInput
from rocefort.base.repository import ROOT, TEMPLATES
from rocefort.base.rule_files import RuleFiles, RuleSettings, settings_in
from rocefort.models.finding import Report
from rocefort.validators.checks import check, rules, selected
from rocefort.validators.rule_process import LONGEST_MESSAGE
from rocefort.validators.site_rules import read_site_rules, use_site_rules

HEAD = """
import os, signal, sys, time
from collections.abc import Iterator
from rocefort.rules import *

"""
RULE = '''
@rule("PLANT{number:03}", severity=Severity.ERROR, source="the plant's handbook")
def rule_{number}(subject: Subject) -> Iterator[Finding]:
    """Title of rule {number}.

    Why.
    """
    yield from ()
'''
FILE, SOUND = "validators/odd.py", "validators/sound.py"
FIRST = HEAD.count("\n") + 9  # line of the first own line of a rule
SOUND_RULE = f'''{HEAD}
@rule("PLANT900", severity=Severity.WARNING, source="the plant's handbook", needs=(Need.ROLE,))
def sound(subject: Subject) -> Iterator[Finding]:
    """A spine is reported.

    Why.
    """
    for node in subject.network.role(SwitchRole.SPINE):
        yield subject.finding(node, f"{{node.name}} is a spine", "accept «BFD» of it")
'''


def odd(body: str, number: int = 1) -> str:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return HEAD + RULE.format(number=number) + lines


def judged(network: Any, texts: dict[str, str], limit_s: int = 10) -> Report:
    """Report of the rules of a site on a network."""
    settings = RuleSettings(prefix="PLANT", limit_s=limit_s)
    use_site_rules(read_site_rules(RuleFiles(settings, texts)))
    return check(network, run=selected(rules(), ["PLANT"]))


@pytest.fixture(autouse=True)
def _none_afterwards() -> Iterator[None]:
    yield
    use_site_rules(None)


def sentences(report: Report) -> list[str]:
    """Findings of RUL, each in one line."""
    own = [f for f in report.findings if f.rule.startswith("RUL")]
    return [f"{f.rule} {f.where}: {f.message}" for f in own]


FORGED = ('{"worker": Infinity}', '{"printed": ""}', '{"finding": {}}')  # lines of the pipe

BODIES: list[tuple[str, str]] = [
    ("raise KeyError('rack-9')", "RUL002 {at}: PLANT001: ends with KeyError: 'rack-9'"),
    ("sys.exit(0)", "RUL002 {at}: PLANT001: ends with SystemExit: 0"),
    ("raise KeyboardInterrupt", "RUL002 {at}: PLANT001: ends with KeyboardInterrupt"),
    ("os._exit(0)", "RUL002 {file}: PLANT001: ends its process with code 0"),
    ("os._exit(70)", "RUL002 {file}: PLANT001: ends its process with code 70"),
    (
        "object.__setattr__(subject.network, 'nodes', ())\nsubject.overview.switches = ()\n1/0",
        "RUL002 {last}: PLANT001: ends with ZeroDivisionError: division by zero",
    ),
    ("os.abort()", "RUL002 {file}: PLANT001: ends its process by SIGABRT"),
    (
        "yield 'text'",
        "RUL002 {file}: PLANT001: ends with TypeError: yields str instead of subject.finding(..)",
    ),
    (
        "yield Finding(rule='PFC001', severity=Severity.INFO, where=Where(), message='m')",
        "RUL002 {file}: PLANT001: ends with TypeError: yields a finding of rule PFC001",
    ),
    (
        "while True: yield subject.finding(None, 'm', '')",
        "RUL002 {file}: PLANT001: ends with OverflowError: more than 10,000 findings",
    ),
    (
        "def deep(n): return deep(n)\ndeep(0)",
        "RUL002 {at}: PLANT001: ends with RecursionError: maximum recursion depth exceeded",
    ),
    (
        "for n in range(99):\n    try: os.write(n, b'text\\n')\n    except OSError: pass",
        "RUL002 {file}: PLANT001: writes to the pipe of its process",
    ),
    (
        "for n in range(99):\n    try: os.write(n, b'{\"end\": true}\\n')\n    except OSError: pass",
        "RUL002 {file}: PLANT001: writes to the pipe of its process",
    ),
    *(
        (
            f"for n in range(99):\n    try: os.write(n, {line})\n    except OSError: pass",
            "RUL002 {file}: PLANT001: writes to the pipe of its process",
        )
        for line in (*(repr(f"{event}\n".encode()) for event in FORGED), "b'[' * 99999 + b'\\n'")
    ),
    ("signal.raise_signal(36)", "RUL002 {file}: PLANT001: ends its process by signal 36"),
    ("os.closerange(3, 99)", "RUL002 {file}: PLANT001: ends its process with code 1"),
    ("print('here')", "RUL004 {file}: PLANT001: prints 'here'"),
    ("sys.stderr.write('two\\nlines')", "RUL004 {file}: PLANT001: prints 'two'"),
    ("open('/etc/hosts')", "RUL004 {at}: PLANT001: opens '/etc/hosts'"),
    ("open('/proc/self/environ')", "RUL004 {at}: PLANT001: opens '/proc/self/environ'"),
    ("open(os.__file__, 'a')", f"RUL004 {{at}}: PLANT001: opens '{os.__file__}'"),
    (
        "try:\n    open('/etc/hosts')\nexcept BaseException:\n    pass",
        "RUL004 {next}: PLANT001: opens '/etc/hosts'",
    ),
    ("os.listdir('/')", "RUL004 {at}: PLANT001: acts on the system (os.listdir)"),
    ("os.unlink('/tmp/none')", "RUL004 {at}: PLANT001: acts on the system (os.remove)"),
    ("os.kill(os.getppid(), 9)", "RUL004 {at}: PLANT001: acts on the system (os.kill)"),
    ("os.system('true')", "RUL004 {at}: PLANT001: starts a process (os.system)"),
    ("os.fork()", "RUL004 {at}: PLANT001: starts a process (os.fork)"),
    (
        "import subprocess\nsubprocess.run(['true'])",
        "RUL004 {next}: PLANT001: starts a process (subprocess.Popen)",
    ),
    (
        "import socket\nsocket.socket()",
        "RUL004 {next}: PLANT001: uses the network (socket.__new__)",
    ),
    ("import ctypes", "RUL004 {at}: PLANT001: loads a library (ctypes.dlopen)"),
    ("import gc\ngc.get_objects()", "RUL004 {next}: PLANT001: acts on the system (gc.get_objects)"),
]


def test_a_failing_rule_is_a_finding_and_the_others_run(
    small: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each rule is in a file of its own, and all of them are run at once."""
    texts = {f"validators/odd{n:02}.py": odd(body, n) for n, (body, _) in enumerate(BODIES, 1)}
    report = judged(small.network, {**texts, SOUND: SOUND_RULE})
    by_file = {s.partition(" ")[2].partition(":")[0]: s for s in sentences(report)}
    assert len(by_file) == len(sentences(report)) == len(BODIES)
    for number, (file, (_, sentence)) in enumerate(zip(texts, BODIES, strict=True), 1):
        where = {
            "file": f"{file}:{FIRST - 6}",
            "at": f"{file}:{FIRST}",
            "next": f"{file}:{FIRST + 1}",
            "last": f"{file}:{FIRST + 2}",
        }
        assert by_file[file] == sentence.format(**where).replace("PLANT001", f"PLANT{number:03}")
        assert f"the rule of the site failed ({file})" in [n.reason for n in report.not_judged]
    assert report.failed
    assert len(report.not_judged) == len(BODIES)
    spines = [f.message for f in report.findings if f.rule == "PLANT900"]
    assert spines == ["spine01 is a spine", "spine02 is a spine"]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("body", "at_load"),
    [
        ("while True: pass", False),
        ("while True:\n    try: time.sleep(9)\n    except BaseException: pass", True),
    ],
)
def test_a_rule_or_a_file_that_does_not_end_is_ended(small: Any, body: str, at_load: bool) -> None:
    text = HEAD + body if at_load else odd(body)
    report = judged(small.network, {FILE: text + "\n", SOUND: SOUND_RULE}, limit_s=1)
    subject = FILE if at_load else "PLANT001"
    line = 1 if at_load else FIRST - 6
    assert sentences(report) == [
        f"RUL003 {FILE}:{line}: " + "PLANT001: does not end within 1 s".replace("PLANT001", subject)
    ]
    assert len([f for f in report.findings if f.rule == "PLANT900"]) == 2


def test_findings_before_the_failure_are_kept(small: Any) -> None:
    yields = "for text in ('first', 'x' * 10**7): yield subject.finding(None, text, 'fix it')\n"
    report = judged(small.network, {FILE: odd(yields + "raise ValueError('a\\n b')")})
    assert [f"{f.rule} {f.message}" for f in report.findings] == [
        "PLANT001 first",
        f"PLANT001 {'x' * LONGEST_MESSAGE}",
        "RUL002 PLANT001: ends with ValueError: a b",
    ]


def test_the_environment_of_the_command_is_not_there(
    small: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    body = "yield subject.finding(None, f'{sorted(os.environ)} {sys.argv[0]} {os.getcwd()}', '')"
    report = judged(small.network, {FILE: odd(body)})
    (finding,) = report.findings
    assert finding.message.endswith(" -c /")
    assert "TOKEN" not in finding.message


UNLOADED: list[tuple[str, str]] = [
    (
        odd("yield from ()").replace("PLANT001", "PFC900"),
        "RUL001 {8}: PFC900: has no id such as PLANT001",
    ),
    (odd("").replace("PLANT001", "PLANTS001"), "RUL001 {8}: PLANTS001: has no id such as PLANT001"),
    (odd("").replace("PLANT001", "PLANT1"), "RUL001 {8}: PLANT1: has no id such as PLANT001"),
    (
        odd("").replace('"PLANT001"', "NAME"),
        "RUL001 {8}: rule_1: its id is not a constant, as in docs/how-to/site-rules.md",
    ),
    (
        odd("").replace("Severity.ERROR", "grade()"),
        "RUL001 {8}: PLANT001: its severity or source is not a constant, as in docs/how-to/site-rules.md",
    ),
    (
        odd("").replace("source=", "needs=(X,), source="),
        "RUL001 {8}: PLANT001: its needs are not a constant, as in docs/how-to/site-rules.md",
    ),
    (
        odd("").replace("source=", "judges=Subject, source="),
        "RUL001 {8}: PLANT001: has other arguments than severity, source and needs",
    ),
    (
        odd("").replace('"""Title of rule 1.\n\n    Why.\n    """', "pass"),
        "RUL001 {8}: PLANT001: has no docstring",
    ),
    (odd("") + RULE.format(number=1), "RUL001 {16}: PLANT001: is also in validators/odd.py"),
    (
        odd("").replace("def rule_1", "async def rule_1"),
        "RUL001 {8}: PLANT001: is an async function, which yields no findings to a check",
    ),
    (
        odd("").replace("@rule(", "again = rule\n@again("),
        "RUL001 {1}: validators/odd.py: does not load: TypeError: PLANT001: write `@rule(..)` by this name, above a `def`",
    ),
    ("def (:\n", "RUL001 {1}: validators/odd.py: is not Python: invalid syntax"),
    (
        HEAD + "1/0\n" + RULE.format(number=1),
        "RUL001 {6}: validators/odd.py: does not load: ZeroDivisionError: division by zero",
    ),
    (
        HEAD + "open('/etc/hosts')\n" + RULE.format(number=1),
        "RUL004 {6}: validators/odd.py: opens '/etc/hosts'",
    ),
    (
        HEAD + "import nothing_of_this_name\n" + RULE.format(number=1),
        "RUL001 {6}: validators/odd.py: does not load: ModuleNotFoundError: No module named 'nothing_of_this_name'",
    ),
]


def test_a_file_that_does_not_load_is_a_finding(small: Any) -> None:
    """Each file has another number; all of them are read at once."""
    texts, expected = {}, []
    for number, (text, sentence) in enumerate(UNLOADED, 1):
        file = f"validators/odd{number:02}.py"
        own = f"{number:03}"
        texts[file] = text.replace("001", own)
        line = sentence.replace("{", f"{file}:").replace("}", "").replace(FILE, file)
        expected.append(
            line.replace("PLANT001:", f"PLANT{own}:").replace("PLANTS001", f"PLANTS{own}")
        )
    report = judged(small.network, {**texts, SOUND: SOUND_RULE})
    assert sorted(sentences(report)) == sorted(expected)
    assert len([f for f in report.findings if f.rule == "PLANT900"]) == 2
    unjudged = {n.rule for n in report.not_judged}
    assert unjudged == {one for one in report.rules if one.startswith("PLANT")} - {"PLANT900"}


def test_other_rules_run_without_a_process(small: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that is not selected is not run; a fault of its text is still reported."""
    settings = RuleSettings(prefix="PLANT")
    use_site_rules(read_site_rules(RuleFiles(settings, {FILE: odd("").replace("ERROR", "NONE")})))
    monkeypatch.setattr("subprocess.Popen", None)
    report = check(small.network, run=selected(rules(), ["PFC001"]))
    assert report.rules == ("PFC001", "RUL001", "RUL002", "RUL003", "RUL004")
    assert report.failed


def test_a_selected_rule_that_does_not_load_is_a_finding(small: Any) -> None:
    settings = RuleSettings(prefix="PLANT")
    use_site_rules(read_site_rules(RuleFiles(settings, {FILE: "def (:"})))
    for word in ("PLANT", "PLANT001"):
        assert check(small.network, run=rules([word])).failed
    with pytest.raises(BadInput, match="no rule or family 'PLANTS'"):
        rules(["PLANTS"])


@pytest.mark.parametrize("prefix", ["PFC", "plant", "PLANT1", "ABCDEFGHI", ""])
def test_a_prefix_is_none_of_the_areas(prefix: str) -> None:
    with pytest.raises(BadInput, match=r"\[rules\] has no valid prefix or limit_s"):
        settings_in(f'[rules]\nprefix = "{prefix}"\n', "rocefort.toml")


def test_a_library_may_be_imported(small: Any) -> None:
    body = "import statistics, zoneinfo, decimal\nyield subject.finding(None, str(statistics.mean([1, 3])), '')"
    report = judged(small.network, {FILE: odd(body)})
    assert [f.message for f in report.findings] == ["2"]


def test_the_public_names_are_those_of_the_guide() -> None:
    guide = (ROOT / "docs/how-to/site-rules.md").read_text(encoding="utf-8")
    table = guide.partition("| name | content |")[2].partition("\n\n")[0]
    assert re.findall(r"(?m)^\| `(\w+)`", table) == public.__all__
    example = re.search(r"```python\n.*?```\n", guide, re.DOTALL)
    written = (TEMPLATES / "site/validators.md.j2").read_text(encoding="utf-8")
    assert example is not None
    assert example[0] in written.replace("{{ prefix }}", "PLANT")
    assert all(hasattr(public, name) for name in public.__all__)
    assert Path(public.__file__ or "").name == "rules.py"
