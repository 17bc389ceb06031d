"""Wheels and sdists of Rocefort and its driver: all data, each file once, away from the clone."""

from __future__ import annotations

import email
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest
from pages import TUTORIAL, Page, Shell, settled
from shared_lab import SharedLab

from rocefort import __version__
from rocefort.base.features import OPTIONAL
from rocefort.base.repository import ROOT

TRACKED = ("inventory", "templates", "models", "validators", "rocefort")
DRIVER = ROOT / "napalm_cloudengine"
OF_PROJECT = {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"}  # in no package
LABELS = (  # names of the files that a plan seals
    sys.executable,
    "-c",
    "from rocefort.rollout.planning.sealed_files import sealed_files\n"
    "print(*(f'{file.name} {file.sha256}' for file in sealed_files(())), sep='\\n')",
)
LOCKS = (ROOT / "requirements.lock", ROOT / "requirements-dev.lock")


def run(
    *command: str | Path, cwd: Path, env: dict[str, str] | None = None, limit_s: float = 600
) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=limit_s,
        check=False,
    )
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def build(folder: Path, target: str, out: Path) -> Path:
    """Build a wheel or an sdist with the build backend of the test environment."""
    run(sys.executable, "-m", "hatchling", "build", "-t", target, "-d", out, cwd=folder)
    (path,) = out.glob("*.whl" if target == "wheel" else "*.tar.gz")
    return path


def names(wheel: Path) -> set[str]:
    return {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in names(wheel)}


def extract(wheels: Iterable[Path], site: Path) -> None:
    """Extract wheels into a folder for PYTHONPATH."""
    for each in wheels:
        with zipfile.ZipFile(each) as archive:
            archive.extractall(site)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Rocefort and its driver as README builds them, with the backend of the test environment."""
    out = tmp_path_factory.mktemp("wheels")
    command = "pip wheel --quiet --no-deps . ./napalm_cloudengine"
    assert f"\n{command}\n" in Path(ROOT, "README.md").read_text(encoding="utf-8")
    run(sys.executable, "-m", *command.split(), "--no-build-isolation", "-w", out, cwd=ROOT)
    (driver,), (rocefort,) = out.glob("napalm_cloudengine-*.whl"), out.glob("rocefort-*.whl")
    return rocefort, driver


@pytest.fixture(scope="module")
def wheel(wheels: tuple[Path, Path]) -> Path:
    return wheels[0]


@pytest.fixture(scope="module")
def driver(wheels: tuple[Path, Path]) -> Path:
    return wheels[1]


def test_a_wheel_contains_every_file_of_the_product(wheel: Path) -> None:
    listed = run("git", "ls-files", *TRACKED, cwd=ROOT).splitlines()
    links = {path for path in listed if (ROOT / path).is_symlink()}
    files = set(listed) - links
    expected = {path if path.startswith("rocefort/") else f"rocefort/{path}" for path in files}
    assert names(wheel) == expected | {"rocefort/tasks.py"}


def test_the_wheel_of_the_driver_contains_its_package(driver: Path) -> None:
    listed = run("git", "ls-files", DRIVER.name, cwd=ROOT).splitlines()
    assert names(driver) == set(listed) - {f"{DRIVER.name}/{name}" for name in OF_PROJECT}


@pytest.mark.parametrize("project", [ROOT, DRIVER], ids=["rocefort", "driver"])
def test_a_wheel_built_from_the_sdist_is_the_same(
    project: Path, wheels: tuple[Path, Path], tmp_path: Path
) -> None:
    sdist = build(project, "sdist", tmp_path / "sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    again = build(tmp_path / sdist.name.removesuffix(".tar.gz"), "wheel", tmp_path / "wheel")
    assert contents(again) == contents(wheels[project == DRIVER])


def test_rocefort_requires_the_driver_of_its_version(wheels: tuple[Path, Path]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"napalm-cloudengine=={__version__}" in project["dependencies"]
    assert {path.name.split("-")[1] for path in wheels} == {__version__}


def test_the_driver_has_what_a_reader_of_a_package_index_needs(driver: Path) -> None:
    folder = f"napalm_cloudengine-{__version__}.dist-info"
    with zipfile.ZipFile(driver) as archive:
        metadata = email.message_from_bytes(archive.read(f"{folder}/METADATA"))
        licence = archive.read(f"{folder}/licenses/LICENSE")
    assert licence == (ROOT / "LICENSE").read_bytes()
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata.get_payload() == (DRIVER / "README.md").read_text(encoding="utf-8")
    assert metadata.get_all("Project-URL")
    assert len(metadata.get_all("Classifier") or ()) > 5
    needed = {name_of(each) for each in metadata.get_all("Requires-Dist") or ()}
    assert needed == {"napalm", "netmiko", "paramiko"}


@pytest.mark.parametrize("first", [0, 1], ids=["Rocefort first", "driver first"])
def test_each_file_has_one_owner(wheels: tuple[Path, Path], tmp_path: Path, first: int) -> None:
    """Install both, and remove them in either order: what stays is whole, and what goes is gone."""
    wheel, driver = wheels
    assert names(wheel).isdisjoint(names(driver))
    venv = tmp_path / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", venv, cwd=tmp_path)
    pip = (sys.executable, "-m", "pip", "--python", venv / "bin/python", "--quiet")
    run(*pip, "install", "--no-deps", "--no-index", "--no-compile", *wheels, cwd=tmp_path)
    site = next(venv.glob("lib/python*/site-packages"))

    def installed() -> set[str]:
        files = (path for path in site.rglob("*") if path.is_file())
        return {
            x for x in (p.relative_to(site).as_posix() for p in files) if ".dist-info/" not in x
        }

    assert installed() == names(wheel) | names(driver)
    removed, kept = ("rocefort", driver) if first == 0 else ("napalm-cloudengine", wheel)
    run(*pip, "uninstall", "--yes", removed, cwd=tmp_path)
    assert installed() == names(kept)
    lacking = f"rocefort {__version__} requires napalm-cloudengine, which is not installed."
    check = subprocess.run([*pip[:-1], "check"], capture_output=True, text=True, check=False)
    assert (lacking in check.stdout) is (first == 1)
    last = "napalm-cloudengine" if first == 0 else "rocefort"
    run(*pip, "uninstall", "--yes", last, cwd=tmp_path)
    assert installed() == set()


def locked(lock: Path) -> set[str]:
    return set(re.findall(r"(?m)^([a-z0-9-]+)==", lock.read_text(encoding="utf-8")))


def test_what_runs_a_fabric_is_locked_without_the_tools_of_developers() -> None:
    run_lock, tools = map(locked, LOCKS)
    assert run_lock & tools == set()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    names_of_driver = {"napalm-cloudengine"}  # in this clone, so it is not locked
    runs = [*project["dependencies"], *extras["lab"], *extras["clone"]]
    develops = [*extras["dev"], *extras["batfish"], *extras["keyring"]]
    assert {name_of(each) for each in runs} - run_lock == names_of_driver
    assert {name_of(each) for each in develops} <= tools


def name_of(requirement: str) -> str:
    """Name of a requirement, as in a lock."""
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0].replace(".", "-").lower()


@pytest.mark.thorough
def test_a_clone_sets_itself_up_in_two_steps(tmp_path: Path) -> None:
    """A new environment of `make`: what running needs first, then the tools of developers."""
    clone = tmp_path / "clone"
    run("git", "clone", "--quiet", "--shared", ROOT, clone, cwd=tmp_path)
    env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    first = run("make", ".venv/.ready", cwd=clone, env=env)
    assert "6 of 6 parts installed\n" in first
    check = run(clone / ".venv/bin/rocefort", "check", "heps", cwd=clone, env=env)
    assert re.search(r"heps: \d+ rules, 0 errors", check)
    site = next(clone.glob(".venv/lib/python*/site-packages"))
    there = {path.name.rpartition("-")[0] for path in site.glob("*.dist-info")}
    assert there.isdisjoint({"mypy", "ruff", "hypothesis", "pytest", "pandas", "scrapli"})
    assert "6 of 6 parts installed\n" in run("make", ".venv/.tools", cwd=clone, env=env)
    run(clone / ".venv/bin/python", "-m", "pip", "check", cwd=clone, env=env)
    assert "up to date" in run("make", ".venv/.ready", ".venv/.tools", cwd=clone, env=env)


def test_a_wheel_runs_with_the_locked_versions(wheels: tuple[Path, Path], tmp_path: Path) -> None:
    extract(wheels, tmp_path / "site")
    (tmp_path / "work").mkdir()
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    rocefort = (sys.executable, "-m", "rocefort")
    place = (sys.executable, "-c", "import rocefort; print(rocefort.__file__)")
    assert run(*place, cwd=tmp_path / "work", env=env).startswith(str(tmp_path / "site"))
    checked = run(*rocefort, "check", "heps", cwd=tmp_path / "work", env=env)
    assert re.search(r"heps: \d+ rules, 0 errors", checked)
    assert (
        run(*rocefort, "--version", cwd=tmp_path / "work", env=env) == f"rocefort {__version__}\n"
    )
    assert run(*LABELS, cwd=tmp_path / "work", env=env) == run(*LABELS, cwd=ROOT)

    # A site's repository, by the installed tool, which it leaves unchanged.
    plant = tmp_path / "work" / "plant"
    size = ("--spines", "2", "--leaves", "2")
    run(*rocefort, "init", "plant", *size, cwd=tmp_path / "work", env=env)
    assert (plant / ".gitignore").is_file()
    below = plant / "inventory" / "hardware"
    assert "0 errors" in run(*rocefort, "check", "plant", cwd=below, env=env)
    run(*rocefort, "render", "plant", "--out", plant / "configs", cwd=below, env=env)
    left = {
        path.relative_to(tmp_path / "site").as_posix(): path.read_bytes()
        for path in (tmp_path / "site").rglob("*")
        if path.is_file()
        and not {"__pycache__"} & set(path.parts)
        and ".dist-info" not in str(path)
    }
    assert left == {name: data for each in wheels for name, data in contents(each).items()}


@pytest.mark.thorough
@pytest.mark.parametrize("interpreter", ["python3.11", "python3.12", "python3.13", "python3.14"])
def test_a_wheel_runs_in_a_new_environment_with_the_newest_versions(
    wheels: tuple[Path, Path], tmp_path: Path, interpreter: str
) -> None:
    """Install from the package index, as a user does, and use every part of the lab once."""
    python = interpreter_named(interpreter)
    if python is None:
        pytest.skip(f"no {interpreter} here")
    run(python, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    pip = (tmp_path / "venv/bin/python", "-m", "pip", "--quiet", "--disable-pip-version-check")
    wheel, driver = wheels
    run(*pip, "install", f"{wheel}[lab]", driver, cwd=tmp_path)
    run(*pip, "check", cwd=tmp_path)
    work = tmp_path / "work"
    work.mkdir()
    env = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
    env["PATH"] = f"{tmp_path / 'venv/bin'}{os.pathsep}/usr/bin{os.pathsep}/bin"

    def rocefort(*words: str) -> str:
        return run(tmp_path / "venv/bin/rocefort", *words, cwd=work, env=env)

    assert rocefort("--version") == f"rocefort {__version__}\n"
    size = ("--spines", "2", "--leaves", "2", "--servers-per-leaf", "1")
    assert rocefort("new", "small", *size) == "inventory/small/fabric.yaml\n"
    assert "0 errors" in rocefort("check", "small")
    assert "server pairs delivered by every path: 2 of 2" in rocefort(
        "verify", "small", "--engine", "embedded"
    )
    assert "4 configurations" in rocefort("render", "small", "--out", "configs")
    assert "4 of 4 run the new thresholds" in rocefort("demo", "small")
    installed = tmp_path / "venv/lib" / interpreter / "site-packages/rocefort/inventory"
    assert not (installed / "small").exists()  # nothing is written into the installed tool


@pytest.mark.thorough
def test_the_tutorial_runs_in_an_empty_directory_from_the_wheels(
    wheels: tuple[Path, Path], tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for each in wheels:
        shutil.copy(each, home)
    path = os.pathsep.join((f"{sys.base_prefix}/bin", "/usr/bin", "/bin"))
    env = {"PATH": path, "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    env["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"  # no note that pip itself is old
    shell = Shell(env, home, tmp_path / "state")
    try:
        for block in Page(TUTORIAL).blocks:
            assert shell.play(block) == settled(block)
    finally:
        shell.stop_lab()
    assert {path.name for path in home.iterdir()} == {".venv", *(w.name for w in wheels)}


FEATURES = re.compile(rf"rocefort\.(?:{'|'.join(OPTIONAL)})\b")


@pytest.mark.thorough
def test_without_its_optional_features_the_product_runs_and_refuses_what_needs_them(
    heps_shared: SharedLab, tmp_path: Path
) -> None:
    """Build a wheel without them; their commands are gone, and tests with emulated switches pass."""
    clone = tmp_path / "clone"
    for name in run("git", "ls-files", "-co", "--exclude-standard", cwd=ROOT).splitlines():
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, clone / name, follow_symlinks=False)
    for feature in OPTIONAL:
        shutil.rmtree(clone / "rocefort" / feature)
    built = (build(p, "wheel", tmp_path / p.name) for p in (clone, clone / DRIVER.name))
    extract(built, tmp_path / "site")
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}

    def rocefort(*words: str | Path) -> tuple[int, str]:
        command = [sys.executable, "-m", "rocefort", *map(str, words)]
        done = subprocess.run(
            command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False, timeout=300
        )
        return done.returncode, done.stderr

    assert rocefort("check", "heps") == (0, "")
    for feature in OPTIONAL:
        code, errors = rocefort(feature)
        assert (code, f"No such command '{feature}'." in errors) == (2, True)
    assert rocefort("schema", "--of", "scenario") == (
        4, "rocefort: scenarios are files of `tune`, and the feature rocefort.tune is not installed; "
        "install it, or run this command where it is\n"
    )  # fmt: skip
    assert rocefort("plan", "heps", "--connections", heps_shared.lab.file) == (
        4, "rocefort: the policy requires a gate by rdma, and the feature rocefort.rdma is not "
        "installed; install it, or run this command where it is\n"
    )  # fmt: skip

    folders = [clone / "tests" / name for name in ("fleet", "health")]
    tests = [
        str(t) for f in folders for t in f.rglob("test_*.py") if not FEATURES.search(t.read_text())
    ]
    assert len(tests) > 10
    env = {**os.environ, "PYTHONPATH": str(clone)}
    run(
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:xdist",
        *tests,
        cwd=clone,
        env=env,
        limit_s=1800,
    )


def interpreter_named(name: str) -> str | None:
    """Path of an interpreter that can make environments; the running one is always there."""
    if name == f"python3.{sys.version_info.minor}":
        return sys.executable
    path = shutil.which(name)
    if path is None:
        return None
    tried = subprocess.run([path, "-c", "import venv, ensurepip"], check=False, capture_output=True)
    return path if tried.returncode == 0 else None
