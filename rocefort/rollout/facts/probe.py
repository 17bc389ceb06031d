"""Steps of `facts probe`: try the unconfirmed forms of one switch, and keep its answers.

A form is typed into the candidate configuration, compared there by the switch itself, and
discarded. Nothing is committed. The configuration is locked meanwhile, so that no other user
commits the lines. A switch ends a candidate and its lock with their session, so a probe that is
killed leaves nothing.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import yaml
from napalm.base.exceptions import (
    CommandErrorException,
    ConnectionClosedException,
    ConnectionException,
    NapalmException,
)

from napalm_cloudengine.errors import (
    CandidateNotOursError,
    LineRefusedError,
    QuestionRefusedError,
)
from napalm_cloudengine.masking import mask_secrets
from rocefort.base.clock import utc_now
from rocefort.base.documents.suggest import chosen_names
from rocefort.base.errors import BadInput, DeviceFailed, Refused, RocefortError
from rocefort.base.repository import Site, shortest, site_of
from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.load.documents import find_fabric
from rocefort.design.load.hardware_catalogue import Catalogue, load_catalogue
from rocefort.design.subject import subject_of_derived, write_files
from rocefort.dialects.choose import dialect_of
from rocefort.dialects.data import ProbeForm
from rocefort.dialects.dialect import Dialect
from rocefort.fleet.connections import Connections
from rocefort.fleet.inventory import SESSION
from rocefort.fleet.nornir_session import open_fleet, require_credentials
from rocefort.models.hardware.hardware import Fact, Family, Hardware, Range
from rocefort.models.hardware.site_data import FactEvidence, FormEvidence, FormOutcome, SwitchFacts
from rocefort.models.network.network import Node
from rocefort.rollout.facts.open_facts import OpenCounts, ProbeResult, open_facts
from rocefort.validators.checks import check

LIMIT_S = 600.0
MOST_SESSIONS = 4  # of one probe; a form whose answer never comes costs one
NO_RIGHT = re.compile(r"do(?:es)? not have (?:the )?permission", re.IGNORECASE)
UNIT = "deadlock_interval_ms"  # unknown on some families, whose data have no range for it
HEAD = (
    "# Answers of a switch to `rocefort facts probe`: evidence for switches of this model and\n"
    "# release. Written by the probe; a new probe of the same model and release adds to it.\n"
)


class ProbeDriver(Protocol):
    """Methods of the switches' driver that a probe uses."""

    def get_facts(self) -> dict[str, Any]:
        """Return model, release and ports."""

    def get_config(self, retrieve: str = "all") -> dict[str, str]:
        """Return configurations by kind."""

    def trial_status(self) -> Any:  # noqa: ANN401 - the driver's, untyped above it
        """Return the state of a trial."""

    def cli(self, commands: list[str]) -> dict[str, str]:
        """Return replies by command."""

    def load_merge_candidate(self, filename: None = None, config: str | None = None) -> None:
        """Enter lines into the candidate."""

    def compare_config(self) -> str:
        """Return the switch's own diff."""

    def discard_config(self) -> None:
        """Clear the candidate."""

    def get_help(self, words: str, views: Sequence[str] = ()) -> str:
        """Return the help of `?`."""

    def lock(self) -> None:
        """Keep other users from commits."""

    def unlock(self) -> None:
        """Permit other users to commit."""

    def open(self) -> None:
        """Connect, if the session is not open."""

    def is_alive(self) -> dict[str, bool]:
        """Whether the session is open."""


@dataclass
class Probe:
    """One switch in a session: its forms and numbers are tried one by one.

    running: its configuration. ends_at: of `clock`, after which nothing more is tried.
    """

    name: str
    driver: ProbeDriver
    dialect: Dialect
    ports: Sequence[str]
    ends_at: float
    clock: Callable[[], float] = time.monotonic
    running: str = ""
    sessions: int = 1
    notes: list[str] = field(default_factory=list)

    def begin(self) -> None:
        """Lock the configuration; raises Refused for a trial, and for changes of others."""
        status = self.driver.trial_status()
        if status.state != "INACTIVE":
            what = f"a trial is {status.state} ({status.time_left} left); nothing was typed"
            raise Refused(what, where=self.name, how="confirm or abort it first")
        try:
            self.driver.lock()
        except CommandErrorException as error:
            what = f"its configuration cannot be locked: {_words(self.name, error)}"
            raise Refused(what, where=self.name, how="probe when no one else changes it") from None
        self.refuse_changes("nothing was typed")
        self.running = self.driver.get_config("running")["running"]

    def refuse_changes(self, outcome: str) -> None:
        """Raise Refused if the candidate has lines, which are not of this probe."""
        if self.driver.compare_config():
            what = f"its candidate has uncommitted changes; {outcome}"
            how = "let their owner commit or clear them first"
            raise Refused(what, where=self.name, how=how)

    def end(self) -> None:
        """Verify that the switch is as before, and unlock it; raises DeviceFailed."""
        if not self.driver.is_alive()["is_alive"]:
            self.driver.open()
        self.refuse_changes("they are not of the probe, or it could not discard them")
        with suppress(CommandErrorException):  # a lost session has ended the lock
            self.driver.unlock()

    def why_not(self) -> str:
        """Return the reason why nothing more is tried; "" if there is none."""
        if self.clock() >= self.ends_at:
            return "the time of the probe is over"
        if self.driver.is_alive()["is_alive"]:
            return ""
        if self.sessions >= MOST_SESSIONS:
            return f"the session was lost {MOST_SESSIONS} times"
        self.sessions += 1
        self.driver.open()
        self.driver.lock()
        self.refuse_changes("the session was lost, and its candidate is still there")
        return ""

    def form(self, command: str) -> FormEvidence:
        """Try one form."""
        form = self.dialect.probe_form(command, self.running, self.ports)
        why = form if isinstance(form, str) else self.why_not()
        if why or isinstance(form, str):
            return FormEvidence(form=command, outcome=FormOutcome.UNTRIED, reply=why)
        if form.lists:
            return self._listed(command, form)
        evidence = FormEvidence(
            form=command, outcome=FormOutcome.UNTRIED, typed=form.typed, reply="not finished"
        )
        try:
            self.driver.load_merge_candidate(config="\n".join(form.typed))
            try:
                diff = self.driver.compare_config()
            finally:
                self.driver.discard_config()
        except CandidateNotOursError:
            self.refuse_changes("nothing more was typed")
            raise
        except LineRefusedError as error:
            return _refused(evidence, form, error)
        except QuestionRefusedError as error:
            asked = {"outcome": FormOutcome.ASKED, "reply": mask_secrets(error.question)}
            return evidence.model_copy(update=asked)
        except ConnectionClosedException as error:
            return evidence.model_copy(update={"reply": _words(self.name, error)})
        saved, missing = self.dialect.saved_lines(form, self.running, diff)
        return evidence.model_copy(
            update={
                "outcome": FormOutcome.CHANGED if missing else FormOutcome.TAKEN,
                "reply": "",
                "saved": tuple(map(mask_secrets, saved)),
                "missing": missing,
            }
        )

    def _listed(self, command: str, form: ProbeForm) -> FormEvidence:
        """Judge a form by the help: its whole line would act at once."""
        typed = (f"{form.help_words} ?",)
        text = self._answer(form.help_words, (), helps=True)
        words = tuple(row.split()[0] for row in text.splitlines() if row.strip())
        if form.lists in words:
            return FormEvidence(form=command, outcome=FormOutcome.TAKEN, typed=typed, saved=words)
        reply = text or f"`{form.lists}` is not listed"
        return FormEvidence(
            form=command, outcome=FormOutcome.REFUSED, typed=typed, reply=reply, saved=words
        )

    def _answer(self, command: str, views: Sequence[str], *, helps: bool) -> str:
        """Return the words of the switch, also those of a refusal or of a lost session."""
        try:
            text = (
                self.driver.get_help(command, views)
                if helps
                else self.driver.cli([command])[command]
            )
        except CandidateNotOursError:
            self.refuse_changes("nothing more was typed")
            raise
        except (CommandErrorException, ConnectionClosedException) as error:
            return _words(self.name, error)
        return mask_secrets(text).strip()

    def fact(self, name: str) -> FactEvidence:
        """Read one number of the hardware data."""
        question = self.dialect.probe_question(name, self.running, self.ports)
        if isinstance(question, str):
            return FactEvidence.model_validate({"field": name, "asked": name, "reply": question})
        why = self.why_not()
        text = why or self._answer(question.command, question.views, helps=question.helps)
        values: dict[str, object] = {"field": name, "asked": question.text, "reply": text}
        number = None if why else self.dialect.read_fact(name, text)
        if isinstance(number, tuple):
            values |= {"low": number[0], "high": number[1]}
        elif number is not None:
            values["value"] = number
        return FactEvidence.model_validate(values)


def _refused(evidence: FormEvidence, form: ProbeForm, error: LineRefusedError) -> FormEvidence:
    """Judge a refusal: one of a line that only prepares, or for lack of rights, shows nothing."""
    update: dict[str, object] = {"outcome": FormOutcome.REFUSED, "reply": error.reply}
    if error.line_number <= form.before or NO_RIGHT.search(error.reply):
        reply = f"`{error.line.strip()}`: {error.reply}"
        update = {"outcome": FormOutcome.UNTRIED, "reply": reply}
    return evidence.model_copy(update=update)


def _words(name: str, error: Exception) -> str:
    return mask_secrets(" ".join(str(error).split()).removeprefix(f"{name}: "))


def open_numbers(family: Family, hardware: Hardware, *, again: bool) -> Iterator[str]:
    """Yield the numbers that a probe can settle; again: also the buffer of a probed model."""
    for name in Family.model_fields:
        value = getattr(family, name)
        if isinstance(value, (Range, Fact)) and not value.confirmed:
            yield name
    if family.deadlock_detect_time and family.deadlock_interval_ms is None:
        yield UNIT
    if hardware.buffer_kbytes is None or not hardware.buffer_kbytes.confirmed or again:
        yield "buffer_kbytes"


def probe(fabric: Path, access: Connections, switch: str, limit_s: float) -> ProbeResult:
    """Probe a switch of a fabric, and write its answers into the site of the fabric.

    Raises BadInput before a session opens, Refused for a switch that another change is on or that
    is not the one of the fabric, DeviceFailed where it cannot be read.
    """
    derived = derive(fabric)
    network, site = derived.network, site_of(find_fabric(fabric))
    (name,) = chosen_names("SWITCH", (switch,), [n.name for n in network.nodes], "no switch {!r}")
    node = network.by_name[name]
    if site is None:
        how = "make one with `rocefort init`, and put the fabric into its inventory"
        raise BadInput("the fabric is in no site, whose inventory keeps the facts", how=how)
    catalogue = load_catalogue(site)
    before = _open_counts(derived, fabric)
    only = network.model_copy(update={"nodes": (node,), "servers": (), "links": ()})
    alone = tuple(device for device in access.devices if device.name == name)
    own = access.model_copy(update={"devices": alone, "servers": ()})
    with open_fleet(only, own) as nornir:
        require_credentials(nornir, (name,))
        with _reported(name):
            driver = nornir.inventory.hosts[name].get_connection(SESSION, nornir.config)
            facts = probe_switch(driver, node, catalogue, limit_s)
    facts = _with_earlier(facts, catalogue)
    file = _written(facts, site)
    after = _open_counts(derive(fabric), fabric)
    return ProbeResult(
        file=str(shortest(file)),
        facts=facts,
        before=before,
        after=after,
        notes=tuple(_notes(node, facts, loopback=any(d.on_loopback for d in alone))),
    )


def probe_switch(
    driver: ProbeDriver, node: Node, catalogue: Catalogue, limit_s: float = LIMIT_S
) -> SwitchFacts:
    """Return the answers of a switch; raises Refused, DeviceFailed and the driver's errors."""
    model, release, family = _identity(driver, node, catalogue)
    hardware = catalogue.hardware[model]
    again = any(own.model == model for own in catalogue.facts)
    one = Probe(
        node.name,
        driver,
        dialect_of(family),
        hardware.port_names(),
        time.monotonic() + limit_s,
    )
    one.begin()
    try:
        forms = tuple(one.form(entry.command) for entry in family.unconfirmed)
        facts = tuple(map(one.fact, open_numbers(family, hardware, again=again)))
    finally:
        one.end()
    return SwitchFacts(
        device=node.name,
        model=model,
        release=release,
        family=family.name,
        probed_on=utc_now().date(),
        forms=forms,
        facts=facts,
        complete=True,
    )


def _identity(driver: ProbeDriver, node: Node, catalogue: Catalogue) -> tuple[str, str, Family]:
    """Return model, release and family of the switch itself; raises Refused for another one."""
    found = driver.get_facts()
    model = str(found["model"])
    release = str(found["os_version"]).split()[-1]  # `CE8850 V200R022C00`
    intended = node.hardware.model if node.hardware else ""
    if model != intended:
        what = f"it is a {model}; the fabric has a {intended} there"
        raise Refused(what, where=node.name, how="correct `hardware` in the fabric")
    name = catalogue.hardware[model].family_of(release)
    if name is None or node.family is None or name != node.family.name:
        what = f"it runs {release}; the fabric has {node.software} there"
        raise Refused(what, where=node.name, how="correct `software` in the fabric")
    return model, release, catalogue.families[name]


@contextmanager
def _reported(name: str) -> Iterator[None]:
    """Turn the driver's errors into one of Rocefort."""
    try:
        yield
    except RocefortError:
        raise
    except CandidateNotOursError:
        what = "its candidate has uncommitted changes; nothing of them was touched"
        how = "let their owner commit or clear them first"
        raise Refused(what, where=name, how=how) from None
    except (NapalmException, ConnectionException) as error:
        raise DeviceFailed(_words(name, error), where=name) from None


def _open_counts(derived: DerivedNetwork, fabric: Path) -> OpenCounts:
    """Count the verdicts that are not judged, and the open facts."""
    subject = subject_of_derived(derived)
    report = check(subject.network, subject.sources)
    facts = len(open_facts(fabric).facts)
    return OpenCounts(not_judged=len(report.not_judged), facts=facts)


def _with_earlier(facts: SwitchFacts, catalogue: Catalogue) -> SwitchFacts:
    """Return answers with those of an earlier probe of the same model and release."""
    same = (
        each
        for each in catalogue.facts
        if (each.model, each.release) == (facts.model, facts.release)
    )
    before = next(same, None)
    return facts.after(before) if before else facts


def _written(facts: SwitchFacts, site: Site) -> Path:
    name = re.sub(r"[^a-z0-9.-]+", "-", f"{facts.model}-{facts.release}".lower())
    data = facts.model_dump(mode="json", exclude_defaults=True)
    text = HEAD + yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=100)
    return write_files({f"{name}.yaml": text}, site.facts)[0]


def _notes(node: Node, facts: SwitchFacts, *, loopback: bool) -> Iterator[str]:
    if node.software is None or not facts.is_of(facts.model, node.software):
        yield (
            f"{node.name} runs {facts.release}, and the fabric has {node.software}: the answers "
            "count for the release that was probed"
        )
    if loopback:
        yield (
            f"{node.name} answers on this machine: if it is an emulated switch, its answers are no "
            "evidence; remove the file"
        )
