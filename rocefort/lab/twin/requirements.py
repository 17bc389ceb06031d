"""Requirements of a twin on this machine, and the optional features of its kernel."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from rocefort.base.errors import Problem, ServiceFailed
from rocefort.dialects.frr import DAEMONS, Features
from rocefort.lab.twin.namespaces import in_scratch_namespace

FRR = Path("/usr/lib/frr")
FRR_VERSION = "8.4"  # version of all tests of the twin
INSTALL = "apt-get install -y --no-install-recommends frr nftables iproute2"
TOOLS = ("ip", "nft")
SEED = Path("/proc/sys/net/ipv4/fib_multipath_hash_seed")
# Probes of kernel features: all commands of one must work in an empty namespace.
PROBES = {
    "veth": ("ip link add pa type veth peer name pb",),
    "bridge": ("ip link add pc type bridge",),
    "nftables": ("nft add table ip probe",),
    "vrf": ("ip link add pd type vrf table 1000",),
    "vlan": ("ip link add pe type veth peer name pf", "ip link add link pe name pg type vlan id 2"),
    "bonding": ("ip link add ph type bond",),
    "netem": ("tc qdisc add dev lo root netem delay 1ms",),
}
NEEDED = ("veth", "bridge", "nftables")
WORDS = {
    "vrf": "VRF: vpn-instances, their addresses and routes are left out",
    "vlan": "802.1Q: a trunk port carries no tagged VLAN",
    "bonding": "bonding: an Eth-Trunk is its first member alone",
    "netem": "netem: no delay and no jitter can be injected",
    "hash_seed": "a hash seed: all switches hash alike, so that flows polarise",
}


def require_host(*, other_frr: bool = False) -> None:
    """Check that a twin can run here; other_frr: with any version of FRR.

    Raises ServiceFailed with all that is missing, each with the command that installs it.
    """
    require_root()
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    problems = [Problem(tool, "is not installed", INSTALL) for tool in missing]
    problems += _frr_problems(other_frr)
    if problems:
        raise ServiceFailed(problems=problems)


def require_root() -> None:
    """Check that this is Linux, and root: enough for commands on a lab that is up.

    Raises ServiceFailed.
    """
    if sys.platform != "linux":
        what = f"a twin needs Linux, this is {sys.platform}"
        raise ServiceFailed(what, how="run it on a Linux machine or in a virtual one")
    if os.geteuid() != 0:
        raise ServiceFailed("a twin needs root, for its namespaces", how="run it with sudo")


def _frr_problems(other: bool) -> Iterator[Problem]:
    missing = [daemon for daemon in DAEMONS if not (FRR / daemon).exists()]
    if missing:
        yield Problem("FRR", f"has no {', '.join(missing)} in {FRR}", INSTALL)
        return
    version = frr_version()
    if not other and version.split(".")[:2] != FRR_VERSION.split("."):
        how = f"install FRR {FRR_VERSION} (Debian 12: {INSTALL}), or add --other-frr to try this"
        yield Problem("FRR", f"is version {version}, and the twin is made for {FRR_VERSION}", how)


def frr_version() -> str:
    """Return the version of the installed FRR, such as 8.4.4."""
    text = subprocess.run(  # noqa: S603 - a fixed path
        [str(FRR / "bgpd"), "--version"], capture_output=True, text=True, check=False
    ).stdout
    match = re.match(r"bgpd version (\S+)", text)
    return match[1] if match else "unknown"


def probe() -> dict[str, bool]:
    """Return the features of this kernel, tested in a temporary namespace."""
    have = in_scratch_namespace(lambda: {name: _works(name) for name in PROBES})
    return {**have, "hash_seed": SEED.exists()}


def _works(name: str) -> bool:
    done = (
        subprocess.run(line.split(), capture_output=True, check=False)  # noqa: S603 - from PROBES
        for line in PROBES[name]
        if shutil.which(line.split()[0])
    )
    return [each.returncode for each in done] == [0] * len(PROBES[name])


def features_of(have: dict[str, bool]) -> Features:
    """Return the features for plans. Raises ServiceFailed if the kernel lacks a required one."""
    lacking = [name for name in NEEDED if not have[name]]
    if lacking:
        how = "run a kernel that has them, such as Debian's linux-image-amd64"
        raise ServiceFailed(f"this kernel has no {', '.join(lacking)}", how=how)
    return Features(**{name: have[name] for name in Features.model_fields})


def lacks(have: dict[str, bool]) -> tuple[str, ...]:
    """Return missing kernel features, and the parts of a fabric that are left out, as text."""
    return tuple(f"no {words}" for name, words in WORDS.items() if not have[name])
