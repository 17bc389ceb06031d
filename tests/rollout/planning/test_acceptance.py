"""Records of accepted stages: their seal, overrides, signatures, and what they block."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rocefort.base.errors import BadInput, Refused
from rocefort.models.fabric.approvals import Approvals
from rocefort.rollout.plan.acceptance import (
    Acceptance,
    AcceptanceItem,
    DoneBy,
    ItemState,
    OverrideApproval,
    lacking_approval,
    overridden,
    policy_of,
    read_record,
    record_file,
    record_signer,
    refuse_unaccepted,
    sign_record,
    signature_file,
    write_record,
)

AT = datetime(2026, 11, 28, 12, 0, tzinfo=UTC)
DIGEST = "4aacda31dc69" + 52 * "0"
FAILED = AcceptanceItem(
    name="sweep", title="all message sizes", state=ItemState.FAILED, sentences=("s3 is too slow",)
)
BY_HAND = FAILED.model_copy(
    update={"name": "optics", "done_by": DoneBy.PERSON, "sentences": ("-14 dBm",)}
)


def record_of(*items: AcceptanceItem, at: datetime = AT, digest: str = DIGEST) -> Acceptance:
    return Acceptance(
        fabric="heps",
        plan=digest,
        tool="rocefort 0",
        author="eve",
        switches=("leaf01",),
        began=at,
        ended=at,
        soak_s=60,
        items=items,
    )


def approval(by: str) -> OverrideApproval:
    return OverrideApproval(by=by, at=AT)


@pytest.fixture
def fabric(heps_file: Path, tmp_path: Path) -> Path:
    """HEPS outside of git."""
    path = tmp_path / "heps" / "fabric.yaml"
    path.parent.mkdir()
    path.write_text(heps_file.read_text())
    return path


@pytest.fixture
def key_of(tmp_path: Path) -> Callable[[str], tuple[Path, str]]:
    """Make a key; returns its file and its line of allowed signers."""

    def make(name: str) -> tuple[Path, str]:
        path = tmp_path / name
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)]
        subprocess.run(words, check=True)
        public = Path(f"{path}.pub").read_text().split()
        return path, f"{name} {public[0]} {public[1]}"

    return make


def test_without_a_record_nothing_is_blocked(fabric: Path) -> None:
    assert refuse_unaccepted(fabric) == ()


@pytest.mark.parametrize(
    ("items", "sentence"),
    [
        (
            (FAILED,),
            "stage 4aacda31dc69, sweep: its acceptance failed: s3 is too slow; correct it, then "
            "`rocefort accept PLAN --again sweep`; or override it: "
            "`rocefort accept PLAN --override sweep=REASON`",
        ),
        (
            (BY_HAND,),
            "stage 4aacda31dc69, optics: its acceptance failed: -14 dBm; correct it, then "
            "`rocefort accept PLAN --passed optics=TEXT`; or override it: "
            "`rocefort accept PLAN --override optics=REASON`",
        ),
    ],
)
def test_a_failed_item_blocks_the_next_plan(
    fabric: Path, items: tuple[AcceptanceItem, ...], sentence: str
) -> None:
    write_record(record_of(*items), record_file(fabric, DIGEST))
    with pytest.raises(Refused) as refused:
        refuse_unaccepted(fabric)
    assert str(refused.value) == sentence


def test_the_newest_stage_of_the_fabric_counts(fabric: Path) -> None:
    write_record(record_of(FAILED), record_file(fabric, DIGEST))
    later = record_of(at=AT.replace(hour=13), digest="b" * 64)
    write_record(later, record_file(fabric, later.plan))
    other = record_of(FAILED, at=AT.replace(hour=14), digest="c" * 64)
    other = other.model_copy(update={"fabric": "hall2"})
    write_record(other, record_file(fabric, other.plan))
    assert refuse_unaccepted(fabric) == ()


def test_a_copy_of_a_fabric_has_the_acceptance_of_its_site(heps_file: Path, tmp_path: Path) -> None:
    own, copy = tmp_path / "inventory/heps/fabric.yaml", tmp_path / "experiments/one/fabric.yaml"
    for path in (own, copy):
        path.parent.mkdir(parents=True)
        path.write_text(heps_file.read_text())
    write_record(record_of(FAILED), record_file(own, DIGEST))
    other = tmp_path / "inventory/hall2/acceptance/1.json"
    other.parent.mkdir(parents=True)
    other.write_text("{")  # of another fabric
    for path in (own, copy):
        with pytest.raises(Refused, match="sweep: its acceptance failed: s3 is too slow"):
            refuse_unaccepted(path)
    assert refuse_unaccepted(copy, DIGEST) == (), "the plan of the stage itself"


def test_the_policy_of_the_plan_holds_for_its_acceptance(
    fabric: Path, key_of: Callable[[str], tuple[Path, str]]
) -> None:
    (_, ada), (_, bob) = key_of("ada"), key_of("bob")
    then = Approvals(required=True, count=2, signers=(ada,))
    record = record_of(FAILED).model_copy(update={"policy": then})
    assert policy_of(fabric, record) == then, "the fabric requires nothing now"
    for signer, count, signers in ((ada, 3, (ada,)), (bob, 2, (ada,))):
        with_policy(fabric, f"{{required: true, count: 3, signers: ['{signer}']}}")
        now = policy_of(fabric, record)
        assert (now.count, now.signers) == (count, signers)
    write_record(record, record_file(fabric, DIGEST))
    assert read_record(record_file(fabric, DIGEST)).policy == then


def test_a_changed_record_is_refused(fabric: Path) -> None:
    file = record_file(fabric, DIGEST)
    write_record(record_of(FAILED), file)
    file.write_text(file.read_text().replace('"FAILED"', '"passed"'))
    with pytest.raises(Refused, match="was changed after it was written"):
        refuse_unaccepted(fabric)
    file.write_text("{}")
    with pytest.raises(Refused, match="is not the record of an acceptance"):
        refuse_unaccepted(fabric)


def test_an_override_needs_a_failed_item_and_a_reason() -> None:
    record = record_of(FAILED, AcceptanceItem(name="mesh", title="", state=ItemState.PASSED))
    with pytest.raises(BadInput, match="'mesh' is no failed item; these failed: sweep"):
        overridden(record, "mesh", "why", approval("ada"), None)
    with pytest.raises(BadInput, match="--override sweep: has no reason; write ITEM=REASON"):
        overridden(record, "sweep", " ", approval("ada"), None)


@pytest.mark.parametrize(
    ("policy", "people", "lacking"),
    [
        (Approvals(), ("eve",), ""),
        (
            Approvals(required=True),
            ("eve",),
            "eve made the plan of the stage; another person has to approve it",
        ),
        (Approvals(required=True), ("ada",), ""),
        (Approvals(required=True, not_author=False), ("eve",), ""),
        (Approvals(required=True, count=2), ("ada", "ada"), "1 of 2 approvals is given"),
        (Approvals(required=True, count=2), ("ada", "bob"), ""),
    ],
)
def test_an_override_needs_the_approvals_of_the_fabric(
    policy: Approvals, people: tuple[str, ...], lacking: str
) -> None:
    record = record_of(FAILED)
    for name in people:
        record = overridden(record, "sweep", "replaced on Monday", approval(name), None)
    assert lacking_approval(record, record.overrides[0], policy) == lacking


def test_an_override_is_signed_where_the_fabric_names_signers(
    key_of: Callable[[str], tuple[Path, str]],
) -> None:
    (key, signer), (other, _) = key_of("ada"), key_of("eve")
    policy = Approvals(required=True, signers=(signer,))
    unsigned = overridden(record_of(FAILED), "sweep", "why", approval("ada"), None)
    assert lacking_approval(unsigned, unsigned.overrides[0], policy) == (
        "the approval of ada is not signed; the fabric names signers"
    )
    foreign = overridden(record_of(FAILED), "sweep", "why", approval("ada"), other)
    assert lacking_approval(foreign, foreign.overrides[0], policy) == (
        "the signature of ada is by no key of the fabric's signers"
    )
    good = overridden(record_of(FAILED), "sweep", "why", approval("ada"), key)
    assert not lacking_approval(good, good.overrides[0], policy)
    moved = good.overrides[0].model_copy(update={"reason": "another"})
    assert lacking_approval(good, moved, policy), "it signs the reason, too"


def test_an_override_holds_for_its_result_alone(fabric: Path) -> None:
    record = overridden(record_of(FAILED), "sweep", "replaced on Monday", approval("ada"), None)
    file = record_file(fabric, DIGEST)
    write_record(record, file)
    assert refuse_unaccepted(fabric) == (
        "stage 4aacda31dc69: sweep failed, overridden by ada: replaced on Monday",
    )
    worse = FAILED.model_copy(update={"sentences": ("s3 and s4 are too slow",)})
    write_record(record.with_item(worse), file)
    with pytest.raises(Refused, match="s3 and s4 are too slow"):
        refuse_unaccepted(fabric)


def test_a_record_is_signed_and_a_new_entry_ends_its_signature(
    fabric: Path, key_of: Callable[[str], tuple[Path, str]]
) -> None:
    key, signer = key_of("ada")
    policy = Approvals(signed=True, signers=(signer,))
    text = fabric.read_text()
    rules = f"  approvals: {{signed: true, signers: ['{signer}']}}\n"
    fabric.write_text(text.replace("\nrollout:\n", f"\nrollout:\n{rules}"))
    file = record_file(fabric, DIGEST)
    record = write_record(record_of(), file)
    with pytest.raises(Refused, match="is not signed, and the fabric requires signatures; sign"):
        refuse_unaccepted(fabric)
    sign_record(file, key)
    assert record_signer(file, policy) == "ada"
    assert refuse_unaccepted(fabric) == ()
    assert read_record(file) == record
    file.write_text(file.read_text() + " ")
    with pytest.raises(Refused, match="has no valid signature of a signer"):
        refuse_unaccepted(fabric)
    write_record(record_of(FAILED), file)
    assert not signature_file(file).exists()


def test_open_items_are_a_note(fabric: Path) -> None:
    items = (AcceptanceItem(name="mesh", title=""), AcceptanceItem(name="sweep", title=""))
    write_record(record_of(*items), record_file(fabric, DIGEST))
    assert refuse_unaccepted(fabric) == (
        "stage 4aacda31dc69: its acceptance is unfinished: mesh and sweep",
    )


def committed(fabric: Path, message: str) -> None:
    """Commit the folder of a fabric."""
    here = ["git", "-C", str(fabric.parent), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run([*here, "init", "--quiet"], check=True)
    subprocess.run([*here, "add", "."], check=True)
    subprocess.run([*here, "commit", "--quiet", "--no-gpg-sign", "-m", message], check=True)


def with_policy(fabric: Path, policy: str) -> None:
    """Replace the approvals of a fabric."""
    text = "".join(
        line for line in fabric.read_text().splitlines(True) if not line.startswith("  approvals:")
    )
    line = f"  approvals: {policy}\n" if policy else ""
    fabric.write_text(text.replace("\nrollout:\n", f"\nrollout:\n{line}"))


def test_a_change_does_not_relax_the_policy_of_its_own_acceptance(
    fabric: Path, key_of: Callable[[str], tuple[Path, str]]
) -> None:
    with_policy(fabric, "{required: true, count: 2}")
    committed(fabric, "Two people approve")
    with_policy(fabric, "")
    committed(fabric, "No one approves")
    assert (policy_of(fabric, None).required, policy_of(fabric, None).count) == (True, 2)
    with_policy(fabric, "{required: true, count: 3}")
    committed(fabric, "Three people approve")
    assert policy_of(fabric, None).count == 3, "the change only adds to what was before it"
    (_, old), (_, new) = key_of("ada"), key_of("bob")
    with_policy(fabric, f"{{required: true, signers: ['{old}']}}")
    committed(fabric, "Ada signs")
    with_policy(fabric, f"{{required: true, signers: ['{new}']}}")
    committed(fabric, "Bob signs")
    assert policy_of(fabric, None).signers == (old,), "no signer is in both"


def test_a_record_that_only_git_has_is_restored(fabric: Path) -> None:
    file = record_file(fabric, DIGEST)
    write_record(record_of(FAILED), file)
    other = record_of(FAILED, digest="c" * 64).model_copy(update={"fabric": "hall2"})
    write_record(other, record_file(fabric, other.plan))
    committed(fabric, "Acceptance")
    record_file(fabric, other.plan).unlink()
    file.unlink()
    with pytest.raises(Refused) as refused:
        refuse_unaccepted(fabric)
    name = f"acceptance/{file.name}"
    assert str(refused.value) == (
        f"{file}: is a record of acceptance that git has at HEAD, and is not here; restore it: "
        f"git checkout HEAD -- {name}"
    )
    committed(fabric, "No acceptance")
    assert refuse_unaccepted(fabric) == ()


@pytest.mark.parametrize(
    ("author", "by", "user", "lacking"),
    [
        ("bob", "bob@example.org", "bob", "bob@example.org made the plan of the stage; another"),
        ("bob", "bob@example.org", "ada", ""),
        ("bob@example.org", "bob@example.org", "ada", "bob@example.org made the plan of the"),
        ("ada@example.org", "bob@example.org", "bob", ""),
    ],
)
def test_an_author_with_another_name_does_not_approve(
    key_of: Callable[[str], tuple[Path, str]], author: str, by: str, user: str, lacking: str
) -> None:
    key, signer = key_of(by)
    policy = Approvals(required=True, signers=(signer,))
    record = record_of(FAILED).model_copy(update={"author": author, "author_user": "bob"})
    given = OverrideApproval(by=by, user=user, at=AT)
    record = overridden(record, "sweep", "why", given, key)
    why = lacking_approval(record, record.overrides[0], policy)
    assert why.startswith(lacking) if lacking else not why
