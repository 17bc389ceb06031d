"""Signatures of plans by real keys: the signer is found, and anything else is refused."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from rocefort.base.errors import BadInput, Refused, ServiceFailed
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.plan.make_plan import signed
from rocefort.rollout.planning.sealed_files import sign, signer_of

pytestmark = pytest.mark.skipif(
    shutil.which("ssh-keygen") is None,
    reason="no ssh-keygen here; apt-get install openssh-client",
)


def keygen(*words: str) -> None:
    subprocess.run(["ssh-keygen", "-q", *words], check=True, capture_output=True)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keys of ada, an allowed signer, and of mallory, who is none."""
    directory = tmp_path_factory.mktemp("keys")
    for name in ("ada", "mallory"):
        keygen("-t", "ed25519", "-N", "", "-C", name, "-f", str(directory / name))
    public = (directory / "ada.pub").read_text().split()
    (directory / "signers").write_text(f"ada@example.org {public[0]} {public[1]}\n")
    return directory


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "change.plan.json"
    path.write_text('{"digest": "0"}\n')
    return path


def test_a_signed_plan_names_its_signer_also_when_it_is_signed_twice(
    plan: Path, keys: Path
) -> None:
    for _ in range(2):
        assert sign(plan, keys / "ada") == RunDirectory.of(plan).signature
        assert signer_of(plan, keys / "signers") == "ada@example.org"
    assert RunDirectory.of(plan).signature.name == "change.plan.json.sig"
    assert RunDirectory.of(plan).signature.stat().st_mode & 0o777 == 0o600


def test_what_was_not_signed_by_one_who_may_is_refused(plan: Path, keys: Path) -> None:
    with pytest.raises(Refused) as caught:
        signer_of(plan, keys / "signers")
    assert str(caught.value) == (
        f"{plan}: is not signed, and needs a signature; sign it: rocefort plan .. --sign KEY, or ssh-keygen "
        "-Y sign -n rocefort-plan"
    )
    sign(plan, keys / "mallory")
    with pytest.raises(Refused) as caught:
        signer_of(plan, keys / "signers")
    assert str(caught.value) == (
        f"{plan}: has no valid SSH signature by a signer of {keys / 'signers'}; ask "
        "one of these signers to sign it"
    )
    RunDirectory.of(plan).signature.write_text("no signature\n")
    with pytest.raises(Refused, match="has no valid SSH signature by a signer of"):
        signer_of(plan, keys / "signers")


def test_one_byte_of_the_plan_or_another_purpose_spoils_the_signature(
    plan: Path, keys: Path
) -> None:
    sign(plan, keys / "ada")
    before = plan.read_bytes()
    plan.write_bytes(before.replace(b"0", b"1"))
    with pytest.raises(Refused) as caught:
        signer_of(plan, keys / "signers")
    assert str(caught.value).startswith(
        f"{plan}: the signature of ada@example.org is invalid: the plan was changed after it was "
        "signed, or the signature has another purpose; "
    )
    plan.write_bytes(before)
    RunDirectory.of(plan).signature.unlink()
    keygen("-Y", "sign", "-f", str(keys / "ada"), "-n", "file", str(plan))
    with pytest.raises(Refused, match="the signature has another purpose"):
        signer_of(plan, keys / "signers")


def test_one_key_may_have_several_names(plan: Path, keys: Path, tmp_path: Path) -> None:
    (tmp_path / "signers").write_text((keys / "signers").read_text().replace("ada@", "a@b,ada@"))
    sign(plan, keys / "ada")
    assert signer_of(plan, tmp_path / "signers") == "a@b"


def test_a_key_or_a_list_that_is_not_there_is_bad_input(plan: Path, keys: Path) -> None:
    with pytest.raises(BadInput, match="no such key; make one: ssh-keygen -t ed25519"):
        sign(plan, keys / "nobody")
    with pytest.raises(BadInput, match="cannot sign: "):
        sign(plan, keys / "signers")
    with pytest.raises(BadInput, match="no such file of allowed signers"):
        signer_of(plan, keys / "none")


def test_without_ssh_keygen_it_says_what_to_install(
    plan: Path, keys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(keys))
    with pytest.raises(ServiceFailed) as caught:
        sign(plan, keys / "ada")
    assert str(caught.value) == (
        "ssh-keygen is not installed; install it (Debian: apt-get install openssh-client)"
    )


def test_a_plan_that_is_not_signed_leaves_no_signature_of_an_older_one(
    plan: Path, keys: Path
) -> None:
    assert signed(plan, keys / "ada") == str(RunDirectory.of(plan).signature)
    assert signer_of(plan, keys / "signers") == "ada@example.org"
    assert signed(plan, None) == ""
    assert not RunDirectory.of(plan).signature.exists()
