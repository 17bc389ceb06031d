"""Acceptance of a stage: its record beside the fabric, its overrides, and what it blocks.

A stage is one plan whose waves are all confirmed. Its record is `acceptance/DIGEST.json` in the
folder of the fabric's file, so that git has it, and every user who plans the next change reads it.
An item that failed blocks the next plan until it passes, or until it is overridden with a reason by
as many people as the approvals of the fabric require.

By hand: `ssh-keygen -Y verify -f SIGNERS -I WHO -n rocefort-acceptance -s FILE.sig < FILE`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Self

from pydantic import ValidationError

from napalm_cloudengine import regular_file
from rocefort.base.errors import BadInput, Problem, Refused, RocefortError
from rocefort.base.repository import site_of
from rocefort.design.git_revisions import git
from rocefort.design.load.documents import find_fabric, load_fabric
from rocefort.models.base import Frozen
from rocefort.models.change.plan import digest_of
from rocefort.models.fabric.approvals import Approvals
from rocefort.models.wording import count_of, listing
from rocefort.rollout.journal.run_directory import write_whole
from rocefort.rollout.plan.base_policy import file_in_git, policy_in_force
from rocefort.rollout.planning.sealed_files import sign_text, signer_of_text, signers_file

NAMESPACE = "rocefort-acceptance"  # of signatures: those of plans and approvals accept nothing
FOLDER = "acceptance"


class ItemState(StrEnum):
    """State of an item; open: it is not done yet."""

    OPEN = "open"
    PASSED = "passed"
    FAILED = "FAILED"
    NOT_JUDGED = "not judged"


class DoneBy(StrEnum):
    """Whether a machine or a person did an item."""

    MACHINE = "machine"
    PERSON = "person"


class ItemFailure(Frozen):
    """Failure of an item that has not passed since. It passes on these servers, over this soak."""

    sentences: tuple[str, ...]
    servers: tuple[str, ...] = ()
    soak_s: float = 0.0


class AcceptanceItem(Frozen):
    """One item of an acceptance.

    who: user whose command did it, or the person who did it by hand. run: id of its RDMA run.
    sentences: what failed or was not judged, otherwise what was seen. servers: those that a suite
    might load. soak_s: time between its two readings. failure: an earlier one, until it passes.
    """

    name: str
    title: str
    done_by: DoneBy = DoneBy.MACHINE
    who: str = ""
    state: ItemState = ItemState.OPEN
    sentences: tuple[str, ...] = ()
    run: str = ""
    servers: tuple[str, ...] = ()
    soak_s: float = 0.0
    failure: ItemFailure | None = None
    began: datetime | None = None
    ended: datetime | None = None

    @property
    def failed(self) -> bool:
        """Whether it failed and has not passed since; open or not judged, it still blocks."""
        return self.state is ItemState.FAILED or self.failure is not None

    @property
    def reason(self) -> str:
        """First sentence of its failure; empty: it did not fail."""
        if self.state is not ItemState.FAILED and self.failure is not None:
            return "".join(self.failure.sentences[:1]) + " (it has not passed since)"
        return (self.sentences or ("no reason is recorded",))[0] if self.failed else ""

    def reopened(self) -> Self:
        """Return the item open; its failure stays until it passes on all that failed."""
        failure = self.failure
        if self.state is ItemState.FAILED:
            servers = (*(failure.servers if failure else ()), *self.servers)
            failure = ItemFailure(
                sentences=self.sentences,
                servers=tuple(dict.fromkeys(servers)),
                soak_s=max(self.soak_s, failure.soak_s if failure else 0.0),
            )
        kept = {"name": self.name, "title": self.title, "done_by": self.done_by}
        return type(self)(**kept, failure=failure)

    def settled(self) -> Self:
        """Return a measured item; passed on less than what failed, it is not judged."""
        failure = self.failure
        if failure is None or self.state is not ItemState.PASSED:
            return self
        less = []
        if lacking := [name for name in failure.servers if name not in self.servers]:
            less.append(f"it failed with {listing(lacking)}, and passed without")
        if self.soak_s < failure.soak_s:
            less.append(f"it failed over {failure.soak_s:g} s, and passed over {self.soak_s:g} s")
        if not less:
            return self.model_copy(update={"failure": None})
        sentences = (*less, *self.sentences)
        return self.model_copy(update={"state": ItemState.NOT_JUDGED, "sentences": sentences})

    @property
    def digest(self) -> str:
        """Digest of its result: an override holds for this result alone."""
        return digest_of(self.model_dump(mode="json"))


def correction(item: AcceptanceItem) -> str:
    """Option that replaces the result of an item: a machine measures again, a person enters it."""
    if item.done_by is DoneBy.PERSON:
        return f"--passed {item.name}=TEXT"
    return f"--again {item.name}"


class OverrideApproval(Frozen):
    """Approval of an override by one person. signature: of the override's content; empty: none.

    user: of the operating system; by: the same, or the owner of the key.
    """

    by: str
    user: str = ""
    at: datetime
    signature: str = ""


class ItemOverride(Frozen):
    """Reason why a failed item does not block, with the approvals of people."""

    item: str
    result: str  # digest of the item
    reason: str
    approvals: tuple[OverrideApproval, ...] = ()

    def content(self, plan: str, approval: OverrideApproval) -> str:
        """Text that a person signs."""
        by = [approval.by, approval.user, approval.at.isoformat()]
        return json.dumps([plan, self.item, self.result, self.reason, *by])


class Acceptance(Frozen):
    """Record of the acceptance of one stage.

    plan: digest of the plan whose rollout made the stage. switches: those that it changed. author:
    of that plan, by its run: its signer, if it is signed. author_user: user who made the plan.
    policy: approvals that held for the plan, by its run; None: by an earlier version. hosts: host
    and port of each switch and server that was measured. emulated: whether they are of a lab.
    digest: seal of all other fields.
    """

    fabric: str
    plan: str
    tool: str
    author: str
    author_user: str = ""
    policy: Approvals | None = None
    switches: tuple[str, ...]
    began: datetime
    ended: datetime | None = None
    soak_s: float
    items: tuple[AcceptanceItem, ...]
    overrides: tuple[ItemOverride, ...] = ()
    hosts: Mapping[str, str] = {}
    emulated: bool = False
    digest: str = ""

    def seal(self) -> Self:
        """Return the record with its digest."""
        return self.model_copy(update={"digest": self.computed_digest()})

    def computed_digest(self) -> str:
        """Digest of its content; without policy and hosts as earlier versions seal it."""
        earlier = {"policy": self.policy, "hosts": self.hosts, "emulated": self.hosts}
        without = {"digest", *(name for name, value in earlier.items() if not value)}
        return digest_of(self.model_dump(mode="json", exclude=without))

    def in_state(self, *states: ItemState) -> tuple[AcceptanceItem, ...]:
        """Items in one of these states."""
        return tuple(item for item in self.items if item.state in states)

    @property
    def failed(self) -> tuple[AcceptanceItem, ...]:
        """Items that failed and have not passed since."""
        return tuple(item for item in self.items if item.failed)

    def override_of(self, item: AcceptanceItem) -> ItemOverride | None:
        """Override of this result of an item; None without one."""
        own = (each for each in self.overrides if each.item == item.name)
        return next((each for each in own if each.result == item.digest), None)

    def with_item(self, item: AcceptanceItem) -> Self:
        """Return the record with an item replaced, or added."""
        names = [each.name for each in self.items]
        if item.name not in names:
            return self.model_copy(update={"items": (*self.items, item)})
        items = tuple(item if each.name == item.name else each for each in self.items)
        return self.model_copy(update={"items": items})


def record_file(fabric: Path, plan: str) -> Path:
    """File of the record of a plan's stage, beside the file of its fabric."""
    return find_fabric(fabric).resolve().parent / FOLDER / f"{plan[:12]}.json"


def signature_file(record: Path) -> Path:
    """Signature of a record, with the name that `ssh-keygen -Y sign` gives it."""
    return record.with_name(f"{record.name}.sig")


def write_record(record: Acceptance, file: Path) -> Acceptance:
    """Seal and write a record durably; a signature of its older content is removed."""
    sealed = record.seal()
    try:
        file.parent.mkdir(exist_ok=True)
        write_whole(file, sealed.model_dump_json(indent=1) + "\n")
        file.chmod(0o644)  # git has it, and other users read it
        signature_file(file).unlink(missing_ok=True)
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror}", file=str(file)) from None
    return sealed


def read_record(file: Path) -> Acceptance:
    """Read a record and check its seal; raises Refused if it was changed after it was written."""
    how = "restore it, for example from git; or remove it, and accept the stage again"
    try:
        record = Acceptance.model_validate_json(regular_file.read_text(file))
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", file=str(file)) from None
    except (ValidationError, UnicodeDecodeError):
        raise Refused("is not the record of an acceptance", file=str(file), how=how) from None
    if record.digest != record.computed_digest():
        raise Refused("was changed after it was written", file=str(file), how=how)
    return record


# --- overrides ------------------------------------------------------------------------------------


def overridden(
    record: Acceptance, name: str, reason: str, approval: OverrideApproval, key: Path | None
) -> Acceptance:
    """Return the record with one more approval of an override. key: signs it.

    A second person approves the same item with the same reason. Raises BadInput for an item that
    did not fail, or without a reason.
    """
    item = next((each for each in record.items if each.name == name), None)
    if item is None or not item.failed:
        failed = [each.name for each in record.failed]
        how = f"these failed: {listing(failed)}" if failed else "nothing failed"
        raise BadInput(f"{name!r} is no failed item", where="--override", how=how)
    if not reason.strip():
        raise BadInput("has no reason", where=f"--override {name}", how="write ITEM=REASON")
    given = record.override_of(item)
    if given is None or given.reason != reason:
        given = ItemOverride(item=name, result=item.digest, reason=reason)
    if key is not None:
        text = given.content(record.plan, approval)
        signature = sign_text(text, key, NAMESPACE)
        approval = approval.model_copy(update={"signature": signature})
    others = tuple(each for each in given.approvals if each.by != approval.by)
    given = given.model_copy(update={"approvals": (*others, approval)})
    rest = tuple(each for each in record.overrides if each.item != name)
    return record.model_copy(update={"overrides": (*rest, given)})


def lacking_approval(record: Acceptance, override: ItemOverride, policy: Approvals) -> str:
    """Reason why an override does not hold yet; empty if it holds."""
    problems = [approval_refusal(record, override, each, policy) for each in override.approvals]
    good = sum(not problem for problem in problems)
    count = policy.count if policy.required else 1
    if good >= count:
        return ""
    why = next((problem for problem in problems if problem), "")
    return why or f"{good} of {count_of(count, 'approval')} is given"


def _is_author(record: Acceptance, approval: OverrideApproval, policy: Approvals) -> bool:
    """Whether the author of the plan approves, by one of their names.

    Signers share no names with users. Where both the plan and the approval are signed, the signers
    are compared; otherwise also the users.
    """
    authors = {record.author, record.author_user} - {""}
    both_signed = record.author_user not in ("", record.author) and approval.signature
    names = {approval.by} if both_signed and policy.signers else {approval.by, approval.user}
    return not names.isdisjoint(authors)


def approval_refusal(
    record: Acceptance, override: ItemOverride, approval: OverrideApproval, policy: Approvals
) -> str:
    """Reason why one approval of an override does not count; empty if it does."""
    if policy.required and policy.not_author and _is_author(record, approval, policy):
        return f"{approval.by} made the plan of the stage; another person has to approve it"
    if not policy.signers:
        return ""
    if not approval.signature:
        return f"the approval of {approval.by} is not signed; the fabric names signers"
    text = override.content(record.plan, approval)
    with signers_file(policy.signers) as allowed:
        good = signer_of_text(text, approval.signature, allowed, NAMESPACE, approval.by)
    return "" if good else f"the signature of {approval.by} is by no key of the fabric's signers"


# --- what it blocks -------------------------------------------------------------------------------


def policy_of(fabric: Path, record: Acceptance | None) -> Approvals:
    """Approvals that held for the plan of a record, joined with those in force now.

    Those in force are of the fabric before its last change, and as it is committed. Where no signer
    is in both, those of the plan count.
    """
    source = find_fabric(fabric)
    now = policy_in_force(source)
    if now is None:
        now = load_fabric(source).fabric.rollout.approvals
    if record is None or record.policy is None:
        return now
    with suppress(ValueError):
        return record.policy.joined(now)
    return record.policy


def refuse_removed(fabric: Path) -> None:
    """Raise Refused if git has a record of the fabric at HEAD that the work tree lacks."""
    source = find_fabric(fabric).resolve()
    if (committed := file_in_git(source)) is None:
        return
    top, _ = committed
    every = map(Path, git(top, "ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0"))
    records = [each for each in every if each.parent.name == FOLDER and each.suffix == ".json"]
    lacking = [each for each in records if not (top / each).exists()]
    name = load_fabric(source).fabric.fabric if lacking else ""
    problems = []
    for each in map(Path.as_posix, lacking):
        with suppress(ValidationError):  # no record
            if Acceptance.model_validate_json(git(top, "show", f"HEAD:{each}")).fabric == name:
                what = "is a record of acceptance that git has at HEAD, and is not here"
                how = f"restore it: git checkout HEAD -- {each}"
                problems.append(Problem("", what, how, file=str(top / each)))
    if problems:
        raise Refused(problems=problems)


def newest_record(fabric: Path) -> tuple[Path, Acceptance] | None:
    """Newest record of a fabric in its site, with its file; None without one.

    The file of the fabric may be a copy, such as a level of an experiment.
    """
    source = find_fabric(fabric).resolve()
    site = site_of(source)
    folders = {source.parent / FOLDER, *(site.inventory.glob(f"*/{FOLDER}") if site else ())}
    files = [file for folder in sorted(folders) for file in sorted(folder.glob("*.json"))]
    if not files:
        return None
    name = load_fabric(source).fabric.fabric
    beside = [f for f in files if f.parent.parent == source.parent or _fabric_of(f) == name]
    own = [(f, record) for f in beside if (record := read_record(f)).fabric == name]
    return max(own, key=lambda each: each[1].began, default=None)


def _fabric_of(file: Path) -> str:
    """Fabric of a record beside another fabric, which may be damaged; empty: of none."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        return str(json.loads(regular_file.read_text(file))["fabric"])
    return ""


def blocked_items(record: Acceptance, policy: Approvals) -> Iterator[tuple[AcceptanceItem, str]]:
    """Items that failed without a valid override, each with what its override lacks."""
    for item in record.failed:
        override = record.override_of(item)
        if override is None:
            yield item, ""
        elif why := lacking_approval(record, override, policy):
            yield item, why


def refuse_unaccepted(fabric: Path, plan: str = "") -> tuple[str, ...]:
    """Raise Refused if an item of the newest stage failed; return notes on its acceptance.

    plan: digest of the plan that is applied; that of the stage itself may be applied again. The
    signature of a record counts where the fabric requires signed plans.
    """
    refuse_removed(fabric)
    newest = newest_record(fabric)
    if newest is None or newest[1].plan == plan:
        return ()
    file, record = newest
    policy = policy_of(fabric, record)
    _refuse_unsigned(file, policy)
    stage = f"stage {record.plan[:12]}"
    problems = [
        Problem(
            f"{stage}, {item.name}",
            f"its acceptance failed: {item.reason}"
            + (f"; its override does not hold: {why}" if why else ""),
            f"correct it, then `rocefort accept PLAN {correction(item)}`; or override it: "
            f"`rocefort accept PLAN --override {item.name}=REASON`",
        )
        for item, why in blocked_items(record, policy)
    ]
    if problems:
        raise Refused(problems=problems)
    return tuple(_notes(record, stage))


def _notes(record: Acceptance, stage: str) -> Iterator[str]:
    for item in record.failed:
        override = record.override_of(item)
        if override is not None:
            people = listing([each.by for each in override.approvals])
            yield f"{stage}: {item.name} failed, overridden by {people}: {override.reason}"
    if unfinished := record.in_state(ItemState.OPEN):
        yield f"{stage}: its acceptance is unfinished: {_names(unfinished)}"


def _names(items: Iterable[AcceptanceItem]) -> str:
    return listing([item.name for item in items])


def _refuse_unsigned(file: Path, policy: Approvals) -> None:
    """Raise Refused without a signature where plans are signed, or with an invalid one."""
    signature = signature_file(file)
    if not signature.is_file() and not policy.signed:
        return
    how = "sign it: rocefort accept PLAN --sign KEY"
    if not signature.is_file():
        raise Refused("is not signed, and the fabric requires signatures", file=str(file), how=how)
    if not policy.signers:
        return  # no signer to compare with; the seal was checked
    if not record_signer(file, policy):
        raise Refused("has no valid signature of a signer", file=str(file), how=how)


def record_signer(file: Path, policy: Approvals) -> str:
    """Name of the signer of a record; empty without a valid signature."""
    signature = signature_file(file)
    if not signature.is_file() or not policy.signers:
        return ""
    names = [signer.split(" ", 1)[0].split(",")[0] for signer in policy.signers]
    text, signed = regular_file.read_text(file), regular_file.read_text(signature)
    try:
        with signers_file(policy.signers) as allowed:
            return next(
                (n for n in names if signer_of_text(text, signed, allowed, NAMESPACE, n)), ""
            )
    except RocefortError:
        return ""


def sign_record(file: Path, key: Path) -> Path:
    """Sign a record's file; returns the file of the signature."""
    signed = sign_text(regular_file.read_text(file), key, NAMESPACE)
    signature = signature_file(file)
    try:
        write_whole(signature, signed)
        signature.chmod(0o644)
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror}", file=str(signature)) from None
    return signature
