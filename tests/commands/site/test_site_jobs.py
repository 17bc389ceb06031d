"""Jobs in the repository of a site: their pins and permissions, and their steps run one by one."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import distribution
from pathlib import Path
from string import Template
from typing import Any

import pytest
import yaml
from batfish_server import serving as serving_batfish
from comment_platform import GITHUB_TOKEN, GITLAB_TOKEN, Platform, serving
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from rocefort.base.repository import ROOT, TEMPLATES
from rocefort.site.init import FILES, Source
from rocefort.verification.review.review_files import MARK

Rocefort = Callable[..., Any]
SITE = TEMPLATES / "site"
REVIEW, COMMENT, GITLAB = "github.yml", "github-comment.yml", "gitlab-ci.yml"
JOBS = [REVIEW, COMMENT, GITLAB]
PLACES = (  # of the address and the digest of each wheel, in requirements.txt
    ("FILL-IN-THE-URL-OF-THE-DRIVER", "FILL-IN-THE-DRIVERS-SHA256"),
    ("FILL-IN-THE-URL-OF-THE-WHEEL", "FILL-IN-ITS-SHA256"),
)
INSTALL = "pip install --require-hashes --requirement "
ACTION = Source("https://git.example/owner/rocefort", "v0.2.0", "0123456789" * 4)
SIZE = ("--spines", "2", "--leaves", "2", "--servers-per-leaf", "1")


def job_file(name: str) -> dict[str, Any]:
    loaded = yaml.load((SITE / name).read_text(), yaml.BaseLoader)
    assert isinstance(loaded, dict)
    return loaded


def with_action(name: str) -> dict[str, Any]:
    """A job file of a site that refers to the action of Rocefort."""
    loaded = yaml.load(ACTION.with_action((SITE / name).read_text()), yaml.BaseLoader)
    assert isinstance(loaded, dict)
    return loaded


def commands(name: str) -> list[str]:
    """Every command line of a job file."""
    content = job_file(name)
    if name == GITLAB:
        return [line for job in content.values() for line in job.get("script", ())]
    steps = [step for job in content["jobs"].values() for step in job["steps"]]
    return [line for step in steps for line in step.get("run", "").splitlines()]


def blocks(lock: Path) -> dict[str, str]:
    """Versions with their hashes, by name and condition; comments are left out."""
    lines = lock.read_text().splitlines(keepends=True)
    text = "".join(line for line in lines if not line.lstrip().startswith("#"))
    return {block.partition(" \\\n")[0]: block for block in re.split(r"(?m)^(?=\S)", text) if block}


@pytest.mark.parametrize("name", JOBS)
def test_every_action_and_image_is_pinned(name: str) -> None:
    text = (SITE / name).read_text()
    used = re.findall(r"(?m)(?:uses|image|- name): (\S+[/:]\S+)", text)
    assert used
    for each in used:
        assert re.search(r"@(?:[0-9a-f]{40}|sha256:[0-9a-f]{64})$", each), f"{each} is not pinned"
    assert "latest" not in text
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")


@pytest.mark.parametrize("name", JOBS)
def test_everything_is_installed_by_its_hash(name: str) -> None:
    installs = [line for line in commands(name) if "pip " in line]
    assert installs
    assert {line.removeprefix(INSTALL) for line in installs} <= {
        "requirements.txt",
        "requirements-test.txt",
        '"$base/requirements.txt"',
    }


def test_what_tests_need_is_a_part_of_the_lock() -> None:
    whole = blocks(ROOT / "requirements.lock") | blocks(ROOT / "requirements-dev.lock")
    part = blocks(SITE / "requirements-test.txt")
    assert part.pop("--requirement requirements.txt\n") == "--requirement requirements.txt\n"
    assert part.items() <= whole.items()
    names = {canonicalize_name(block.partition("==")[0]) for block in part.values()}
    known = {
        canonicalize_name(name.partition("==")[0]) for name in blocks(SITE / "requirements.lock")
    }
    assert {"pytest", *needed("pytest", frozenset())} <= names | known
    assert not names & known


@pytest.mark.parametrize("name", [REVIEW, GITLAB])
def test_the_tests_of_a_site_are_in_a_job_of_their_own(name: str) -> None:
    """They are code of the change: that job has no token, and stores nothing of the review."""
    content = job_file(name)
    job = content["rocefort-test"] if name == GITLAB else content["jobs"]["test"]
    text = json.dumps(job)
    assert "pytest --rocefort --junitxml junit.xml" in text
    assert "rocefort review" not in text
    assert "permissions" not in text
    assert "token" not in text.lower()
    assert "junit.xml" in str(job.get("artifacts", job.get("steps")))


@pytest.mark.parametrize("name", JOBS)
def test_no_token_is_an_argument(name: str) -> None:
    """Arguments are shown to every user of the machine, and in the log."""
    for line in commands(name):
        assert "token" not in line.lower()
        assert "${{" not in line  # a name of a branch would be code of the shell


def test_only_the_job_that_runs_nothing_of_the_change_may_write() -> None:
    review, comment = job_file(REVIEW), job_file(COMMENT)
    assert list(review["on"]) == ["pull_request"]
    assert review["permissions"] == {"contents": "read"}
    assert "permissions" not in review["jobs"]["review"]
    assert list(comment["on"]) == ["workflow_run"]
    assert comment["on"]["workflow_run"]["workflows"] == [review["name"]]
    assert comment["permissions"] == {}
    (job,) = comment["jobs"].values()
    assert job["permissions"] == {
        "actions": "read",
        "contents": "read",
        "pull-requests": "write",
    }
    (checkout,) = (s for s in job["steps"] if s.get("uses", "").startswith("actions/checkout@"))
    assert checkout["with"]["ref"] == "${{ github.event.repository.default_branch }}"
    with_token = [step for step in job["steps"] if "env" in step]
    assert [step["name"] for step in with_token] == ["Comment"]
    sarif = review["jobs"][
        "sarif"
    ]  # reads what the first job has stored, and no file of the change
    assert all("run" not in s and "checkout" not in s["uses"] for s in sarif["steps"])


def test_the_guide_shows_the_lines_to_fill_in() -> None:
    lines = [li for li in (SITE / "requirements.txt").read_text().splitlines() if li[0] != "#"]
    guide = (ROOT / "docs/how-to/review-in-ci.md").read_text()
    assert "```\n" + "\n".join(lines) + "\n```\n" in guide
    assert "\nrocefort comment review/review.md\n" in guide
    named = re.findall(r"`(\.git[\w./-]+)`", guide)
    assert {*named} == {path for path in FILES if path.startswith(".git") and path != ".gitignore"}


@pytest.mark.parametrize("number", [0, 1], ids=["driver", "Rocefort"])
def test_each_wheel_and_its_digest_must_be_filled_in(
    wheels: dict[int, Path], tmp_path: Path, number: int
) -> None:
    """One wheel is filled in; of the other, first nothing, then its address."""
    (tmp_path / "requirements.lock").write_text("")
    place, sha256 = PLACES[number]
    text = filled_in((SITE / "requirements.txt").read_text(), {1 - number: wheels[1 - number]})
    (tmp_path / "requirements.txt").write_text(text)
    env = {"PATH": os.environ["PATH"], "PIP_NO_INDEX": "1"}
    done = run(f"{INSTALL}requirements.txt", tmp_path, env, check=False)
    assert done.returncode != 0
    assert place in done.stderr
    wheel = tmp_path / wheels[number].name
    wheel.write_bytes(b"of another person")
    text = text.replace(place, wheel.as_uri())
    for digest in (sha256, "0" * 64):
        (tmp_path / "requirements.txt").write_text(text.replace(sha256, digest))
        done = run(f"{INSTALL}requirements.txt", tmp_path, env, check=False)
        assert done.returncode != 0
        assert "DO NOT MATCH THE HASHES" in done.stderr
        assert f"expected sha256 {digest}".lower() in done.stderr.lower()  # as pip is old or new


def test_the_lock_of_a_site_is_a_part_of_the_lock() -> None:
    """All that Rocefort with Batfish needs, in the versions that are tested; nothing else."""
    whole = blocks(ROOT / "requirements.lock") | blocks(ROOT / "requirements-dev.lock")
    part = blocks(SITE / "requirements.lock")
    assert part.items() <= whole.items()
    names = {canonicalize_name(block.partition("==")[0]) for block in part.values()}
    assert needed("rocefort", frozenset({"batfish"})) - {"napalm-cloudengine"} <= names
    assert not names & {"rocefort", "napalm-cloudengine", "pytest", "mypy", "ruff"}


def needed(name: str, extras: frozenset[str]) -> set[str]:
    """Distributions that one needs on this machine, by the metadata of what is installed."""
    found: set[str] = set()
    waiting = [(name, extras)]
    while waiting:
        current, wanted = waiting.pop()
        for line in distribution(current).requires or ():
            each = Requirement(line)
            other = canonicalize_name(each.name)
            marker = each.marker
            if marker and not any(marker.evaluate({"extra": extra}) for extra in {"", *wanted}):
                continue
            if other not in found:
                found.add(other)
                waiting.append((other, frozenset(each.extras)))
    return found


def run(
    script: str, where: Path, env: Mapping[str, str], *, check: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run a step as both runners do: one shell that ends at the first error."""
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script],
        cwd=where,
        env=dict(env),
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert not check or done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
    return done


class Site:
    """Repository with a change in a branch, a wheel, and an environment that jobs install into."""

    def __init__(self, top: Path, batfish: int) -> None:
        self.top, self.batfish = top, batfish
        self.work, self.stored, self.temporary = top / "work", top / "stored", top / "runner"
        self.bin = top / "venv/bin"
        self.calls: list[str] = []

    def git(self, *words: str, where: str = "origin") -> str:
        return run(f"git {' '.join(words)}", self.top / where, AUTHOR).stdout.strip()

    def check_out(self, revision: str) -> None:
        shutil.rmtree(self.work, ignore_errors=True)
        self.git("clone", "--quiet", str(self.top / "origin"), str(self.work))
        self.git("checkout", "--quiet", revision, where="work")

    def environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
        path = f"{self.bin}{os.pathsep}/usr/bin{os.pathsep}/bin"
        return {**kept, "PATH": path, "RUNNER_TEMP": str(self.temporary), **variables}

    def command(self, script: str) -> str:
        """A step's script with this machine's service instead of a container, and one engine."""
        if "rocefort review" in script:
            assert script.count(" --engine both ") == 1
            script = script.replace(" --engine both ", " --engine embedded ")
        self.calls.append(script)
        return re.sub(r"\b(?:127\.0\.0\.1|batfish):9996\b", f"127.0.0.1:{self.batfish}", script)


AUTHOR = {
    "PATH": os.environ["PATH"],
    **{f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """The driver and Rocefort, by their number in PLACES."""
    out = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    for project in (ROOT, ROOT / "napalm_cloudengine"):
        subprocess.run(build, cwd=project, check=True, capture_output=True)
    return dict(enumerate(sorted(out.glob("*.whl"))))


def filled_in(requirements: str, wheels: Mapping[int, Path]) -> str:
    """requirements.txt with the addresses and digests of wheels, by their number in PLACES."""
    for number, wheel in wheels.items():
        address, sha256 = PLACES[number]
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        requirements = requirements.replace(address, wheel.as_uri()).replace(sha256, digest)
    return requirements


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment for all jobs: the first one installs into it."""
    top = tmp_path_factory.mktemp("tools")
    subprocess.run([sys.executable, "-m", "venv", str(top / "venv")], check=True)
    return top / "venv"


@pytest.fixture
def site(
    wheels: dict[int, Path], tools: Path, rocefort: Rocefort, tmp_path: Path
) -> Iterator[Site]:
    """Files of `init`, with the wheels filled in, and a branch that narrows the ECMP width."""
    origin = tmp_path / "origin"
    assert rocefort("init", origin, "--name", "plant", *SIZE).code == 0
    requirements = origin / "requirements.txt"
    text = filled_in(requirements.read_text(), wheels)
    digest = hashlib.sha256(wheels[1].read_bytes()).hexdigest()
    requirements.write_text(text)
    (tmp_path / "venv").symlink_to(tools)
    with serving_batfish({}) as port:
        made = Site(tmp_path, port)
        made.git("init", "--quiet", "--initial-branch=main")
        made.git("add", "--all")
        made.git("commit", "--quiet", "--message=first")
        made.git("checkout", "--quiet", "-b", "narrow")
        fabric = origin / "inventory/plant/fabric.yaml"
        assert fabric.read_text().count("maximum_paths: ") == 1
        fabric.write_text(re.sub(r"maximum_paths: \d+", "maximum_paths: 1", fabric.read_text()))
        # Nothing of the change may run in the job with the token: this wheel cannot be installed.
        requirements.write_text(text.replace(digest, "0" * 64))
        made.git("commit", "--quiet", "--all", "--message=narrow")
        yield made


def github_job(
    site: Site,
    file: str,
    job: str,
    event: object,
    platform: Platform,
    read: Callable[[str], dict[str, Any]] = job_file,
) -> list[int]:
    """Run the steps of a job; returns the exit code of each command."""
    (site.top / "event.json").write_text(json.dumps(event))
    variables = platform.environment | {"GITHUB_EVENT_PATH": str(site.top / "event.json")}
    del variables["GITHUB_TOKEN"]  # a step gets it by its `env` only
    context = {"event": event, "token": GITHUB_TOKEN, "server_url": "https://github.com",
               "repository": "a/b", "run_id": "5", "action_path": str(ROOT)}  # fmt: skip
    codes: list[int] = []
    steps = [part for step in read(file)["jobs"][job]["steps"] for part in parts_of(step)]
    for step in steps:
        failed = any(codes) and step.get("if") != "always()"
        if failed:
            continue
        given = {
            name: filled(value, {"github": context, "runner": {"temp": str(site.temporary)}})
            for name, value in {**step.get("with", {}), **step.get("env", {})}.items()
        }
        action = step.get("uses", "").partition("@")[0]
        if action == "actions/checkout":
            site.check_out(given["ref"])
        elif action == "actions/upload-artifact":
            files = site.work / given["path"]
            if files.is_dir():
                shutil.copytree(files, site.stored / given["name"])
            elif files.exists():
                (site.stored / given["name"]).mkdir(parents=True)
                shutil.copy(files, site.stored / given["name"])
        elif action == "actions/download-artifact":
            assert given["github-token"] == GITHUB_TOKEN
            if (site.stored / given["name"]).exists():
                shutil.copytree(site.stored / given["name"], given["path"])
            else:
                assert step["continue-on-error"] == "true"
        elif action:
            assert action == "actions/setup-python"
        else:
            env = site.environment({**variables, **given})
            done = run(site.command(step["run"]), site.work, env, check=False)
            assert "Traceback" not in done.stdout + done.stderr
            codes.append(done.returncode)
    return codes


def parts_of(step: dict[str, Any]) -> list[dict[str, Any]]:
    """A step, or the steps of Rocefort's action that it uses, as the runner chooses them."""
    if step.get("uses") != f"owner/rocefort@{ACTION.commit}":
        return [step]
    action = yaml.load((ROOT / "action.yml").read_text(), yaml.BaseLoader)
    inputs = {name: about["default"] for name, about in action["inputs"].items()}
    inputs |= step.get("with", {})
    parts = []
    for part in action["runs"]["steps"]:
        condition = part.pop("if", "${{ inputs.tests == 'true' }}")
        assert condition == "${{ inputs.tests == 'true' }}"
        if "pytest" not in part.get("name", "") or inputs["tests"] == "true":
            parts.append(part)
    return parts


def filled(text: str, contexts: Mapping[str, object]) -> str:
    """A value with its expressions; a name that the runner does not have is an error."""

    def value(match: re.Match[str]) -> str:
        found: Any = contexts
        for name in match[1].split("."):
            found = found[name]
        return str(found)

    return re.sub(r"\$\{\{ ([\w.-]+) \}\}", value, text)


@pytest.mark.thorough
def test_the_jobs_of_github_review_a_change_and_comment_on_it(site: Site) -> None:
    base, head = site.git("rev-parse", "main"), site.git("rev-parse", "narrow")
    site.git("checkout", "--quiet", "main")
    requirements = site.git("show", "main:requirements.txt")
    with serving("github") as platform:
        platform.pulls = [{"number": 7, "head": {"label": "eve:narrow", "sha": head}}]
        pull = {"number": 7, "base": {"sha": base}, "head": {"sha": head}}
        event = {"pull_request": pull, "repository": {"default_branch": "main"}}
        codes = github_job(site, REVIEW, "review", event, platform)
        assert codes[0] != 0  # the change names a wheel with another digest
        assert platform.calls == []
        finished: dict[str, dict[str, Any]] = {
            "workflow_run": {
                "id": 4, "head_branch": "narrow", "head_sha": head, "pull_requests": [],
                "head_repository": {"full_name": "eve/b", "owner": {"login": "eve"}},
                "html_url": "https://github.com/a/b/actions/runs/4",
            },
            "repository": {"default_branch": "main"},
        }  # fmt: skip
        assert github_job(site, COMMENT, "comment", finished, platform) == [0, 0]
        assert "actions/runs/4" in platform.bodies()[1]
        assert "## Rocefort: no review" in platform.bodies()[1]
        site.git("checkout", "--quiet", "narrow")
        (site.top / "origin/requirements.txt").write_text(f"{requirements}\n")
        site.git("commit", "--quiet", "--all", "--message=again")
        head = site.git("rev-parse", "narrow")
        site.git("checkout", "--quiet", "main")
        pull["head"] = {"sha": head}
        assert github_job(site, REVIEW, "review", event, platform) == [0, 0, 1]
        finished["workflow_run"]["head_sha"] = head
        platform.pulls[0]["head"]["sha"] = head
        assert github_job(site, COMMENT, "comment", finished, platform) == [0, 0]
        (body,) = platform.bodies().values()
        assert body.startswith(MARK)
        assert "new error" in body
        assert body == (site.stored / "rocefort-review/review.md").read_text()
    assert not any(GITHUB_TOKEN in call for call in site.calls)


@pytest.mark.thorough
def test_the_jobs_of_gitlab_review_a_change_and_comment_on_it(site: Site) -> None:
    content = job_file(GITLAB)
    requirements = site.git("show", "main:requirements.txt")
    (site.top / "origin/requirements.txt").write_text(f"{requirements}\n")
    site.git("commit", "--quiet", "--all", "--message=again")
    site.check_out("narrow")
    with serving("gitlab") as platform:
        for job, code in (("rocefort-review", 1), ("rocefort-comment", 0)):
            variables = platform.environment | {
                "CI_PROJECT_DIR": str(site.work),
                "CI_MERGE_REQUEST_DIFF_BASE_SHA": site.git("rev-parse", "main"),
                "CI_COMMIT_SHA": site.git("rev-parse", "narrow"),
                "CI_JOB_URL": "https://gitlab.example/a/b/-/jobs/8",
            }
            if job == "rocefort-review":  # the scope of the variable is the other job's environment
                del variables["ROCEFORT_GITLAB_TOKEN"]
            else:
                assert content[job]["environment"]["name"] == "rocefort-comment"
            for name, value in content[job].get("variables", {}).items():
                variables[name] = Template(value).substitute(variables)
            script = site.command("\n".join(content[job]["script"]))
            done = run(script, site.work, site.environment(variables), check=False)
            assert done.returncode == code, done.stderr
            assert GITLAB_TOKEN not in script + done.stdout + done.stderr
        (body,) = platform.bodies().values()
        assert "new error" in body
        assert body == (site.work / "review/review.md").read_text()
        assert "https://gitlab.example/a/b/-/jobs/8/artifacts/file/review/review.html" in body


# docs.github.com, "Metadata syntax for GitHub Actions", and pre-commit.com, "Creating new hooks"
KEYS_OF_STEPS = {"run", "shell", "if", "name", "id", "env", "working-directory", "uses", "with"}
KEYS_OF_HOOKS = {"id", "name", "entry", "language", "files", "exclude", "types", "types_or"} | {
    *("exclude_types", "always_run", "fail_fast", "verbose", "pass_filenames", "require_serial"),
    *("description", "language_version", "minimum_pre_commit_version", "args", "stages"),
    "additional_dependencies",
}
# docs.renovatebot.com, "Configuration Options" and "Full Config Presets"
KEYS_OF_RENOVATE = {"$schema", "description", "extends", "packageRules"}
KEYS_OF_RULES = {"description", "matchManagers", "matchPackageNames", "enabled", "groupName"}
PRESETS = {
    *("config:recommended", "helpers:pinGitHubActionDigests", "docker:pinDigests"),
    ":enablePreCommit",
}


def test_the_action_has_the_documented_form_and_pins_all() -> None:
    action = yaml.load((ROOT / "action.yml").read_text(), yaml.BaseLoader)
    assert action.keys() == {"name", "description", "inputs", "runs"}
    for about in action["inputs"].values():
        assert about.keys() == {"description", "required", "default"}
    assert action["runs"].keys() == {"using", "steps"}
    assert action["runs"]["using"] == "composite"
    for step in action["runs"]["steps"]:
        assert step.keys() <= KEYS_OF_STEPS
        assert ("run" in step) == ("shell" in step) == ("uses" not in step)
        assert "${{" not in step.get("run", "")  # an expression would be code of the shell
        assert re.search(r"@[0-9a-f]{40}$", step.get("uses", "@" + "0" * 40))
        for line in step.get("run", "").splitlines():
            local = "--no-deps --no-build-isolation" in line
            assert "pip install" not in line or local or "--require-hashes" in line
    locked = blocks(ROOT / "requirements.lock")
    assert any(each.startswith("hatchling==") for each in locked)  # it builds without isolation


def test_the_hook_has_the_documented_form_and_a_site_names_it() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    for hook in hooks:
        assert {"id", "name", "entry", "language"} <= hook.keys() <= KEYS_OF_HOOKS
    (check,) = hooks
    assert re.search(check["files"], "inventory/plant/fabric.yaml")
    (driver,) = check["additional_dependencies"]
    assert (ROOT / driver / "pyproject.toml").is_file()


def test_renovate_has_documented_keys_and_leaves_the_lock_alone() -> None:
    config = json.loads((SITE / "renovate.json").read_text())
    assert config.keys() <= KEYS_OF_RENOVATE
    assert {*config["extends"]} <= PRESETS
    for rule in config["packageRules"]:
        assert rule.keys() <= KEYS_OF_RULES
    off = [rule for rule in config["packageRules"] if rule.get("enabled") is False]
    assert [rule["matchManagers"] for rule in off] == [["pip_requirements"]]


@pytest.mark.parametrize("name", [REVIEW, COMMENT])
def test_the_action_replaces_only_the_installation(name: str) -> None:
    text = ACTION.with_action((SITE / name).read_text())
    used = f"      - uses: owner/rocefort@{ACTION.commit} # v0.2.0\n"
    assert text.count(used) == {REVIEW: 2, COMMENT: 1}[name]
    assert "requirements" not in text
    assert "setup-python" not in text
    before, after = job_file(name), with_action(name)
    for jobs in (before["jobs"], after["jobs"]):
        for job in jobs.values():
            job["steps"] = [
                step
                for step in job["steps"]
                if step.get("name") != "Install"
                and not re.match(r"owner/rocefort@|actions/setup-python@", step.get("uses", ""))
            ]
    assert before == after  # permissions, tokens and ROCEFORT_SITE_RULES among all others


@pytest.fixture
def tag_of_rocefort(tmp_path: Path) -> tuple[str, str]:
    """The address of a repository with the tag v0.2.0, and the commit of the tag."""
    where = tmp_path / "owner/rocefort"
    for words in ("init --quiet .", "commit --quiet --allow-empty -m x", "tag -a -m x v0.2.0"):
        where.mkdir(parents=True, exist_ok=True)
        run(f"git {words}", where, AUTHOR)
    return where.as_uri(), run("git rev-parse HEAD", where, AUTHOR).stdout.strip()


def test_a_new_site_refers_to_the_commit_of_a_tag(
    rocefort: Rocefort, tmp_path: Path, tag_of_rocefort: tuple[str, str]
) -> None:
    url, commit = tag_of_rocefort
    done = rocefort("init", tmp_path / "plant", *SIZE, "--source", f"{url}@v0.2.0")
    assert (done.code, done.err) == (0, "")
    text = (tmp_path / "plant/.pre-commit-config.yaml").read_text()
    assert f"    rev: {commit} # frozen: v0.2.0\n" in text
    (repository,) = yaml.safe_load(text)["repos"]
    hooks = [{"id": "rocefort-check", "args": ["inventory/plant"]}]
    assert repository == {"repo": url, "rev": commit, "hooks": hooks}
    for name in ("rocefort.yml", "rocefort-comment.yml"):
        jobs = (tmp_path / "plant/.github/workflows" / name).read_text()
        assert f"      - uses: owner/rocefort@{commit} # v0.2.0\n" in jobs


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{url}@v0.2", "no tag 'v0.2' in {url}; did you mean 'v0.2.0'?"),
        (
            "rocefort",
            "'rocefort' is not URL@TAG; name the git repository of Rocefort, and a tag: "
            "https://HOST/OWNER/rocefort@v1.0.0",
        ),
    ],
)
def test_a_source_without_the_tag_is_an_error(
    rocefort: Rocefort, tmp_path: Path, tag_of_rocefort: tuple[str, str], source: str, message: str
) -> None:
    url, _ = tag_of_rocefort
    done = rocefort("init", tmp_path / "plant", *SIZE, "--source", source.format(url=url))
    assert (done.code, done.err) == (2, f"rocefort: --source: {message.format(url=url)}\n")
    assert not (tmp_path / "plant").exists()


@pytest.mark.thorough
def test_the_jobs_with_the_action_review_test_and_comment(site: Site) -> None:
    """In an environment that has nothing: the action installs all from this repository."""
    (site.top / "venv").unlink()
    subprocess.run([sys.executable, "-m", "venv", str(site.top / "venv")], check=True)
    base, head = site.git("rev-parse", "main"), site.git("rev-parse", "narrow")
    with serving("github") as platform:
        platform.pulls = [{"number": 7, "head": {"label": "eve:narrow", "sha": head}}]
        pull = {"number": 7, "base": {"sha": base}, "head": {"sha": head}}
        event = {"pull_request": pull, "repository": {"default_branch": "main"}}
        codes = github_job(site, REVIEW, "review", event, platform, with_action)
        assert codes == [0, 0, 0, 1]  # two of the action; the change adds an error
        assert github_job(site, REVIEW, "test", event, platform, with_action)[:3] == [0, 0, 0]
        junit = (site.stored / "rocefort-junit/junit.xml").read_text()
        assert "test_every_leaf_uses_every_spine" in junit
        finished = {
            "workflow_run": {
                "id": 4, "head_branch": "narrow", "head_sha": head, "pull_requests": [],
                "head_repository": {"full_name": "eve/b", "owner": {"login": "eve"}},
                "html_url": "https://github.com/a/b/actions/runs/4",
            },
            "repository": {"default_branch": "main"},
        }  # fmt: skip
        assert github_job(site, COMMENT, "comment", finished, platform, with_action) == [0, 0, 0]
        (body,) = platform.bodies().values()
        assert "new error" in body
    assert not any(GITHUB_TOKEN in call for call in site.calls)
