"""Rules on the code of a site's rules: each loads, ends with findings, in its time, and only reads.

A site's rules are `validators/*.py` of its repository. They run in a process of their own, without
the environment of the command; a rule that fails there stops no other rule.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.models.finding import Finding, Severity
from rocefort.validators.rules.registry import rule
from rocefort.validators.rules.site_subject import Failing, SiteRuleSubject

GUIDE = "docs/how-to/site-rules.md"


@rule("RUL001", judges=SiteRuleSubject, severity=Severity.ERROR, source=GUIDE)
def rules_load(subject: SiteRuleSubject) -> Iterator[Finding]:
    """Every file in validators/ loads.

    A file that does not load judges nothing, and a fabric that breaks its rules would pass. A rule
    has a docstring, a severity and a source, and an id with the prefix of the site. The arguments
    of its decorator are constants: `rocefort rules` reads them and runs no code.

    Example: PLANT001: has no docstring
    Fix: Correct the file; docs/how-to/site-rules.md has the form of a rule.
    """
    yield from subject.failed(
        Failing.LOADING, "correct the file; docs/how-to/site-rules.md has the form of a rule"
    )


@rule("RUL002", judges=SiteRuleSubject, severity=Severity.ERROR, source=GUIDE)
def rules_end_with_findings(subject: SiteRuleSubject) -> Iterator[Finding]:
    """Every rule of the site ends, and yields findings alone.

    A rule that ends with an exception, or that ends its process, has not seen the whole fabric.
    What it yielded before is reported, and the rest of the fabric is not judged by it.

    Example: PLANT001: ends with KeyError: 'rack-9'
    Fix: Correct the rule at that line.
    """
    yield from subject.failed(Failing.ENDING, "correct the rule at that line")


@rule("RUL003", judges=SiteRuleSubject, severity=Severity.ERROR, source=GUIDE)
def rules_end_in_time(subject: SiteRuleSubject) -> Iterator[Finding]:
    """Every rule of the site ends within its time limit.

    A rule that does not end would stop every check of the site. Its process is ended, and the
    other rules run in a new one. The limit is `limit_s` of [rules] in rocefort.toml: seconds of the
    processor, 10 by default. A rule that waits has three times as long by the clock.

    Example: PLANT001: does not end within 1 s
    Fix: Make the rule faster, or raise limit_s of [rules] in rocefort.toml.
    """
    yield from subject.failed(
        Failing.TIME, "make the rule faster, or raise limit_s of [rules] in rocefort.toml"
    )


@rule("RUL004", judges=SiteRuleSubject, severity=Severity.ERROR, source=GUIDE)
def rules_only_read_their_subject(subject: SiteRuleSubject) -> Iterator[Finding]:
    """A rule of the site only reads its subject.

    Its findings follow from the fabric alone, so that they are the same on every machine. A rule
    that prints, opens a file, starts a process or uses the network does something else. Such an
    act, except printing, ends the process of the rules before it happens.

    Example: PLANT001: opens '/etc/hosts'
    Fix: Remove that, and take the facts from the subject.
    """
    yield from subject.failed(Failing.ACT, "remove that, and take the facts from the subject")
