"""Steps of `accept`: the record of a stage, its open items, entries of people, the signature."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rocefort.base.clock import utc_now
from rocefort.base.errors import BadInput, Refused
from rocefort.fleet.connections import load_connections
from rocefort.models.change.plan import Plan
from rocefort.models.fabric.approvals import Approvals
from rocefort.rdma.acceptance.report import AcceptanceOutput
from rocefort.rdma.acceptance.stage import (
    AcceptanceRequest,
    StageRun,
    differing_hosts,
    new_record,
    reopened,
)
from rocefort.rdma.plan.suites import refuse_options
from rocefort.rdma.rdma_plan import Suite
from rocefort.rdma.run.cables import LAB, lab_cables
from rocefort.rollout import operator
from rocefort.rollout.apply.operate import approver_of, status_of_plan
from rocefort.rollout.journal.events import ApplyRules
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.plan.acceptance import (
    Acceptance,
    AcceptanceItem,
    DoneBy,
    ItemState,
    OverrideApproval,
    approval_refusal,
    blocked_items,
    overridden,
    policy_of,
    read_record,
    record_file,
    record_signer,
    refuse_removed,
    sign_record,
    signature_file,
    write_record,
)
from rocefort.rollout.plan.make_plan import sealed_fabric
from rocefort.rollout.planning.sealed_files import read_plan

ITEM = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,60}")
Files = tuple[Path, Path | None, Path]  # plan, its journal if it has another name, RDMA history
Dialogue = tuple[Callable[[str], None], Callable[[], bool]]  # prints a line; a requested stop


@dataclass(frozen=True)
class Entries:
    """Entries of people: items with their text, overrides with their reason, keys.

    by: approver of the overrides; empty: the user of the command, or the owner of the key.
    """

    passed: tuple[tuple[str, str], ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    overrides: tuple[tuple[str, str], ...] = ()
    by: str = ""
    key: Path | None = None
    sign: Path | None = None

    @property
    def given(self) -> bool:
        """Whether there is any: then nothing is measured, unless it is requested."""
        return bool(self.passed or self.failed or self.overrides or self.sign)


def accepted(
    files: Files,
    connections: Path | None,
    request: AcceptanceRequest,
    entries: Entries,
    dialogue: Dialogue,
) -> AcceptanceOutput:
    """Continue the acceptance of a plan's stage, and return its state.

    connections: None does no item, and only writes entries. Raises Refused if the rollout is not
    finished, the fabric has changed since, or servers must not be loaded now.
    """
    refuse_options(Suite.FAILOVER, request.failover)
    plan = read_plan(files[0])
    fabric = Path(plan.source)
    file = record_file(fabric, plan.digest)
    refuse_removed(fabric)
    record = read_record(file) if file.exists() else None
    measures: object = record is None or request.again or request.cable_by or not entries.given
    if measures and connections is not None:
        record = _carried_out(plan, files, (file, record, connections), request, dialogue)
    elif record is None or request.again or request.cable_by:
        how = "name their connections"
        raise BadInput("its switches and servers are measured first", where=str(files[0]), how=how)
    changed = _with_entries(record, entries, fabric)
    if changed != record:
        record = write_record(changed, file)
    if entries.sign is not None:
        sign_record(file, entries.sign)
    return _output(fabric, file, record)


def _carried_out(
    plan: Plan,
    files: Files,
    kept: tuple[Path, Acceptance | None, Path],
    request: AcceptanceRequest,
    dialogue: Dialogue,
) -> Acceptance:
    file, record, connections = kept
    say, stopped = dialogue
    rollout = status_of_plan(plan, RunDirectory.of(files[0], files[1]).journal).progress.history
    elsewhere = record is not None and bool(differing_hosts(rollout, record.hosts))
    if record is not None and not (_open(record) or request.again or request.cable_by or elsewhere):
        return record
    access, derived = load_connections(connections), sealed_fabric(plan)
    if request.cable_by == LAB:
        lab_cables(access)  # refused now rather than after the other items
    record = record or new_record(plan, derived, request, rollout)
    record = reopened(record, request, elsewhere=elsewhere)
    run = StageRun(
        plan=plan,
        rollout=rollout,
        derived=derived,
        access=access,
        history=files[2],
        request=request,
        keep=lambda each: write_record(each, file),
        say=say,
        stopped=stopped,
    )
    return run.carry_out(record)


def _open(record: Acceptance) -> tuple[AcceptanceItem, ...]:
    return record.in_state(ItemState.OPEN)


def _with_entries(record: Acceptance, entries: Entries, fabric: Path) -> Acceptance:
    for state, pairs in ((ItemState.PASSED, entries.passed), (ItemState.FAILED, entries.failed)):
        for name, text in pairs:
            record = record.with_item(_by_hand(record, name, text, state))
    if entries.overrides:
        policy = policy_of(fabric, record)
        by = _approver(entries, policy)
        at = utc_now().replace(microsecond=0)
        approval = OverrideApproval(by=by, user=operator.user(), at=at)
        for name, reason in entries.overrides:
            record = overridden(record, name, reason, approval, entries.key)
            given = record.overrides[-1]
            if why := approval_refusal(record, given, given.approvals[-1], policy):
                raise Refused(why, where=f"--override {name}")
    return record


def _by_hand(record: Acceptance, name: str, text: str, state: ItemState) -> AcceptanceItem:
    """Item that a person did. Raises BadInput for one that a machine does."""
    known = next((item for item in record.items if item.name == name), None)
    if known is not None and known.done_by is DoneBy.MACHINE:
        how = f"measure it again: --again {name}; or override it if it failed"
        raise BadInput(f"a machine does {name}", where=f"--{_option(state)}", how=how)
    if not ITEM.fullmatch(name):
        how = "use letters, digits and . _ : / -"
        raise BadInput(f"{name!r} is no name of an item", where=f"--{_option(state)}", how=how)
    now = utc_now()
    return AcceptanceItem(
        name=name,
        title=known.title if known else "checked by hand",
        done_by=DoneBy.PERSON,
        who=operator.user(),
        state=state,
        sentences=(text,),
        began=now,
        ended=now,
    )


def _option(state: ItemState) -> str:
    return "passed" if state is ItemState.PASSED else "failed"


def _approver(entries: Entries, policy: Approvals) -> str:
    """Name of the approver; raises Refused as an approval of a wave, and for an unknown key."""
    unnamed = "rollout.approvals.signers of the committed fabric, which names none"
    if entries.key is not None and not policy.signers:
        raise Refused("is not a key that may approve", where=str(entries.key), how=f"see {unnamed}")
    return approver_of(entries.by, entries.key, ApplyRules(0, keys=policy.signers), unnamed)


def _output(fabric: Path, file: Path, record: Acceptance) -> AcceptanceOutput:
    policy = policy_of(fabric, record)
    blocking = {item.name: why for item, why in blocked_items(record, policy)}
    finished = not _open(record)
    signature = signature_file(file)
    return AcceptanceOutput(
        file=str(file),
        accepted=finished and not blocking,
        finished=finished,
        blocking=blocking,
        signature=str(signature) if signature.is_file() else "",
        signer=record_signer(file, policy),
        record=record,
    )
