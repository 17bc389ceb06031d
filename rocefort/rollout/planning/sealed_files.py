"""A sealed plan in its file: digests of the files that determine it, and its signatures.

By hand: `ssh-keygen -Y verify -f SIGNERS -I WHO -n rocefort-plan -s plan.json.sig < plan.json`.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from napalm_cloudengine import regular_file
from rocefort.base.errors import BadInput, Problem, Refused, ServiceFailed
from rocefort.base.processes import environment
from rocefort.base.repository import INVENTORY, PACKAGE, SHIPPED, TEMPLATES, files_in, site_of
from rocefort.dialects.choose import dialects, load_dialect
from rocefort.models.change.plan import Plan, SealedFile
from rocefort.rollout import operator
from rocefort.rollout.journal.run_directory import RunDirectory, write_whole

NAMESPACE = "rocefort-plan"  # a signature for another purpose does not count for a plan
LONGEST_S = 120.0  # a user may have to type a passphrase, or to touch a key
INSTALL = "install it (Debian: apt-get install openssh-client)"


def sign(plan: Path, key: Path) -> Path:
    """Sign a plan's file; returns the signature file. Raises BadInput for a key that cannot sign.

    key: a private key, or a public key whose private key an agent holds.
    """
    if not key.is_file():
        raise BadInput("no such key", where=str(key), how="make one: ssh-keygen -t ed25519")
    signature = RunDirectory.of(plan).signature
    signature.unlink(missing_ok=True)  # ssh-keygen would ask before it overwrites it
    done = _run(("-Y", "sign", "-f", str(key), "-n", NAMESPACE, str(plan)))
    if done.returncode or not signature.is_file():
        raise BadInput(f"cannot sign: {_output_text(done)}", where=str(key), how="name an SSH key")
    signature.chmod(0o600)
    return signature


def signer_of(plan: Path, allowed: Path, digest: str = "") -> str:
    """Return the allowed signer who signed a plan; raises Refused without one.

    allowed: a file of lines `NAME KEYTYPE KEY`, see ALLOWED SIGNERS of ssh-keygen(1). digest: of
    the plan as it was read: the file may have changed since.
    """
    signature = RunDirectory.of(plan).signature
    _check_file_of_signers(allowed)
    if not signature.is_file():
        how = f"sign it: rocefort plan .. --sign KEY, or ssh-keygen -Y sign -n {NAMESPACE}"
        raise Refused("is not signed, and needs a signature", where=str(plan), how=how)
    arguments = ("-f", str(allowed), "-s", str(signature))
    done = _run(("-Y", "find-principals", *arguments))
    names = done.stdout.decode("utf-8", "replace").replace(",", " ").split()
    if done.returncode or not names:
        what = f"has no valid SSH signature by a signer of {allowed}"
        raise Refused(what, where=str(plan), how="ask one of these signers to sign it")
    try:
        content = regular_file.read_bytes(plan)
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", where=str(plan)) from None
    for name in names:
        words = ("-Y", "verify", *arguments, "-I", name, "-n", NAMESPACE)
        if _run(words, content).returncode == 0:
            _refuse_other(plan, content, digest)
            return name
    raise Refused(
        f"the signature of {names[0]} is invalid: the plan was changed after it was signed, "
        "or the signature has another purpose",
        where=str(plan),
        how="review the plan, and sign it again",
    )


def _refuse_other(plan: Path, signed: bytes, digest: str) -> None:
    """Raise Refused if the signed content is not the plan that was read."""
    if digest and json.loads(signed)["digest"] != digest:
        what = "was replaced while it was read: the signature is for another plan"
        raise Refused(what, where=str(plan), how="review the plan, and try again")


@contextmanager
def signers_file(lines: Sequence[str]) -> Iterator[Path]:
    """Write lines of allowed signers to a temporary file for ssh-keygen."""
    with tempfile.NamedTemporaryFile("w", prefix="rocefort-", suffix=".signers") as file:
        file.write("".join(f"{line}\n" for line in lines))
        file.flush()
        yield Path(file.name)


def refuse_unjudged(plan: Path) -> None:
    """Raise Refused if a plan has a signature that cannot be checked."""
    signature = RunDirectory.of(plan).signature
    if signature.exists():
        how = "name the signers: rollout.approvals.signers of the fabric, or --allowed-signers FILE"
        what = f"is signed in {signature.name}, but no allowed signers are configured"
        raise Refused(what, where=str(plan), how=f"{how}; or remove the signature")


def sign_text(text: str, key: Path, namespace: str) -> str:
    """Return the armoured signature of a text by ssh-keygen; raises BadInput."""
    if not key.is_file():
        raise BadInput("no such key", where=str(key), how="make one: ssh-keygen -t ed25519")
    done = _run(("-Y", "sign", "-f", str(key), "-n", namespace), text.encode())
    if done.returncode:
        raise BadInput(f"cannot sign: {_output_text(done)}", where=str(key), how="name an SSH key")
    return done.stdout.decode("ascii", "replace")


def signer_of_text(text: str, signature: str, allowed: Path, namespace: str, who: str) -> bool:
    """Whether an allowed signer signed a text; raises BadInput for a missing signers file."""
    _check_file_of_signers(allowed)
    with tempfile.NamedTemporaryFile("w", prefix="rocefort-", suffix=".sig") as file:
        file.write(signature)
        file.flush()
        words = ("-Y", "verify", "-f", str(allowed), "-s", file.name, "-I", who, "-n", namespace)
        return _run(words, text.encode()).returncode == 0


def _check_file_of_signers(allowed: Path) -> None:
    if not allowed.is_file():
        how = "write lines of NAME KEYTYPE KEY, see ssh-keygen(1)"
        raise BadInput("no such file of allowed signers", where=str(allowed), how=how)


def principals_of(key: Path, allowed: Path) -> tuple[str, ...]:
    """Names of a key in the file of allowed signers; raises BadInput."""
    text = "rocefort"
    with tempfile.NamedTemporaryFile("w", prefix="rocefort-", suffix=".sig") as file:
        file.write(sign_text(text, key, NAMESPACE))
        file.flush()
        done = _run(("-Y", "find-principals", "-f", str(allowed), "-s", file.name))
    return tuple(done.stdout.decode("utf-8", "replace").split("\n")[0].split(","))


def _run(words: Sequence[str], given: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    quiet = subprocess.DEVNULL if given is None else None
    try:
        return subprocess.run(  # noqa: S603 - words of ours; paths are one argument each
            ("ssh-keygen", *words),  # noqa: S607 - the user's own, as for ssh
            input=given,
            stdin=quiet,
            capture_output=True,
            env=environment(),
            check=False,
            timeout=LONGEST_S,
        )
    except FileNotFoundError:
        raise ServiceFailed("ssh-keygen is not installed", how=INSTALL) from None
    except subprocess.TimeoutExpired:
        what = f"ssh-keygen did not end in {LONGEST_S:.0f} s"
        raise ServiceFailed(what, how="unlock the key, and try again") from None


def _output_text(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1].strip() if lines else "ssh-keygen failed"


def write_plan(plan: Plan, path: Path) -> None:
    """Write a sealed plan atomically, readable by its owner only."""
    try:
        write_whole(path, plan.model_dump_json(indent=1) + "\n")
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror}", file=str(path)) from None


def read_plan(path: Path) -> Plan:
    """Read a plan and check its seal; raises Refused if it was changed after sealing."""
    try:
        plan = Plan.model_validate_json(regular_file.read_text(path))
    except FileNotFoundError:
        raise BadInput("no such file", file=str(path), how="make it by `rocefort plan`") from None
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", file=str(path)) from None
    except ValidationError as error:
        what = _broken(error) or "is not a plan of this version"
        raise Refused(what, file=str(path), how="plan again") from None
    except UnicodeDecodeError:
        raise Refused("is not a plan of this version", file=str(path), how="plan again") from None
    if plan.digest != plan.computed_digest():
        raise Refused("was changed after it was sealed", file=str(path), how="plan again")
    return plan


def _broken(error: ValidationError) -> str:
    """First sentence on names of a plan that do not agree; "" if the file has another form."""
    texts = (each["msg"] for each in error.errors() if each["type"] == "value_error")
    return "".join([*texts][:1]).removeprefix("Value error, ")


# Files that determine lines, besides the files of each dialect.
DATA_OWNER = "data"


def shipped() -> tuple[tuple[str, Path, str], ...]:
    """Owners, directories and patterns of all files besides the fabric's that determine lines."""
    own = ((name, *files) for name in dialects() for files in load_dialect(name).files)
    return (*((DATA_OWNER, *files) for files in SHIPPED.data), *own)


def tool() -> str:
    """Name and version of Rocefort, as a plan has them."""
    return f"rocefort {operator.release()}"


def sealed_files(own: Iterable[Path]) -> tuple[SealedFile, ...]:
    """Every file with its digest. own: files of the fabric and of its site."""
    return tuple(SealedFile(name=name, sha256=_digest(path)) for name, path in _named_files(own))


def site_files(fabric: Path) -> list[Path]:
    """Return the hardware and profiles of a fabric's own site."""
    site = site_of(fabric)
    return site.own_files if site else []


def check_tool(plan: Plan) -> None:
    """Raise Refused if the plan was made by another version of Rocefort."""
    if plan.tool != tool():
        raise Refused(
            f"was made by {plan.tool}, and this is {tool()}",
            where=f"plan {plan.digest[:12]}",
            how="apply it with that version, or plan again",
        )


def changed_files(plan: Plan) -> list[Problem]:
    """Return the files that have changed since the plan was made, by name.

    Files of its site count too, and each that is new there.
    """
    shipped_names = {name for name, _ in _named_files(())}
    own = (
        Path(file.name) for file in plan.files if file.name not in shipped_names and _is_own(file)
    )
    files = (*own, *site_files(Path(plan.source)))
    now = {file.name: file.sha256 for file in sealed_files(files)}
    sealed = {file.name: file.sha256 for file in plan.files}
    problems = []
    for name in sorted({*now, *sealed}):
        if now.get(name) != sealed.get(name):
            what = "is new" if name not in sealed else "has changed" if name in now else "is gone"
            problems.append(Problem("", f"{what} since the plan was made", "plan again", name))
    return problems


def _is_own(file: SealedFile) -> bool:
    return Path(file.name).is_absolute() and Path(file.name).is_file()


def _named_files(own: Iterable[Path]) -> Iterator[tuple[str, Path]]:
    for path in own:
        yield str(path.resolve()), path
    for owner, directory, pattern in shipped():
        for path in files_in(directory, pattern):
            yield _name(path, owner, directory), path


def _name(path: Path, owner: str, directory: Path) -> str:
    """File name that does not depend on where Rocefort or an external dialect is installed."""
    if owner == DATA_OWNER:
        return f"{INVENTORY.name}/{directory.name}/{path.relative_to(directory).as_posix()}"
    if path.is_relative_to(TEMPLATES):
        return path.relative_to(TEMPLATES.parent).as_posix()
    if path.is_relative_to(PACKAGE):
        return path.relative_to(PACKAGE.parent).as_posix()
    return f"{owner}:{directory.name}/{path.relative_to(directory).as_posix()}"


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(regular_file.read_bytes(path)).hexdigest()
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", file=str(path)) from None
