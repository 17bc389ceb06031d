"""Facts of a site: files of `inventory/facts`, and the hardware data with what they settle.

A probe settles what no vendor document does. It replaces no confirmed value: a range that the
vendor states stays, and a form that the data do not list as unconfirmed is not accepted by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from rocefort.base.clock import utc_now
from rocefort.base.documents.read import read_document
from rocefort.base.documents.suggest import nearest
from rocefort.base.documents.validate import validate
from rocefort.base.errors import BadInput
from rocefort.base.repository import DATA_FILES, Site, files_in, shortest
from rocefort.models.hardware.hardware import Fact, Family, Hardware, Range, RefutedForm
from rocefort.models.hardware.site_facts import (
    FactEvidence,
    FormEvidence,
    FormOutcome,
    SwitchFacts,
)

FIRST_KEY = "device: NAME"


def read_facts(site: Site, families: Mapping[str, Family]) -> tuple[SwitchFacts, ...]:
    """Read the facts of a site, the oldest first; raises BadInput for a wrong file."""
    files = files_in(shortest(site.facts), DATA_FILES)
    return tuple(sorted((_read(path, families) for path in files), key=lambda own: own.probed_on))


def _read(path: Path, families: Mapping[str, Family]) -> SwitchFacts:
    document = read_document(path, FIRST_KEY)
    facts = validate(SwitchFacts, document)
    family = families.get(str(facts.family))
    if family is None:
        what, how = (
            f"no syntax family {facts.family!r}",
            nearest(str(facts.family), map(str, families)),
        )
        raise BadInput(problems=[document.problem(("family",), what, how)])
    forms = {each.command for each in family.unconfirmed}
    problems = [
        document.problem(
            ("forms", number, "form"),
            f"{each.form!r} is no unconfirmed form of {family.name}",
            f"remove it, or correct it: {nearest(each.form, forms)}",
        )
        for number, each in enumerate(facts.forms)
        if each.form not in forms
    ]
    if facts.probed_on > utc_now().date():
        what = f"{facts.probed_on} is in the future"
        problems.append(document.problem(("probed_on",), what, "write the day of the probe"))
    if not facts.complete:
        what, how = (
            "the last line, `complete: true`, is missing",
            "the file is cut off; probe again",
        )
        problems.append(document.problem(("complete",), what, how))
    if problems:
        raise BadInput(problems=problems)
    return facts


def with_family_facts(
    family: Family, model: str, release: str, facts: Iterable[SwitchFacts]
) -> Family:
    """Return a family with what switches of one model and release answered."""
    for own in facts:
        if own.family == family.name and own.is_of(model, release):
            family = _settled(family, own)
    return family


def _settled(family: Family, facts: SwitchFacts) -> Family:
    wrong = [tried for tried in facts.forms if tried.outcome.is_wrong]
    settled = {each.form for each in facts.forms if each.outcome is FormOutcome.TAKEN}
    settled |= {each.form for each in wrong}
    refuted = [form for form in family.refuted if form.command not in settled]
    refuted += [
        RefutedForm(command=each.form, why=why_wrong(each), source=facts.source) for each in wrong
    ]
    still_open = (form for form in family.unconfirmed if form.command not in settled)
    update: dict[str, object] = {"unconfirmed": tuple(still_open), "refuted": tuple(refuted)}
    for fact in facts.facts:
        if fact.is_settled and fact.field in Family.model_fields:
            update[fact.field] = _value(getattr(family, fact.field), fact, facts.source)
    return family.model_copy(update=update)


def _value(present: Range | Fact | None, fact: FactEvidence, source: str) -> Range | Fact | None:
    """Return a fact as the switch shows it, or the present one if the vendor states that."""
    if present is not None and present.confirmed:
        return present
    if fact.low is not None and fact.high is not None:
        return Range(low=fact.low, high=fact.high, source=source)
    return Fact(value=fact.value, source=source) if fact.value is not None else present


def with_hardware_facts(hardware: Hardware, facts: Iterable[SwitchFacts]) -> Hardware:
    """Return a model with the size of its buffer, if its switches showed it."""
    for own in facts:
        for fact in own.facts if own.model == hardware.model else ():
            if fact.field == "buffer_kbytes":
                size = _value(hardware.buffer_kbytes, fact, own.source)
                hardware = hardware.model_copy(update={"buffer_kbytes": size})
    return hardware


def why_wrong(form: FormEvidence) -> str:
    """Return what a switch did with a form that it does not have as it is written."""
    if form.outcome is FormOutcome.REFUSED:
        return f"the switch refuses it: {form.reply}"
    saved = " / ".join(line.strip() for line in form.saved) or "nothing"
    missing = " / ".join(line.strip() for line in form.missing)
    return f"the switch does not save `{missing}`; it saves `{saved}`"
