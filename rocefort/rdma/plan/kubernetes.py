"""A Kubernetes node is loaded only when it is drained: no new pods, and none but the daemons' left.

That a server is a node its own process table says (a kubelet runs there). Whether it is drained the
cluster says, asked by `kubectl` on this machine; where that cannot be asked, it is not drained.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Collection, Iterable
from typing import Any

from rocefort.child_environment import environment
from rocefort.errors import Problem, Refused
from rocefort.rdma.plan.probe import ServerProbe

PATIENCE_S = 20
ENDED = ("Succeeded", "Failed")
MIRROR = "kubernetes.io/config.mirror"  # of static pods, which a drain leaves
MOST = 3  # pods named

Ask = Callable[..., Any]  # the words of a kubectl command to what it answers; raises OSError


def kubectl(*words: str) -> Any:  # noqa: ANN401 - JSON
    """Ask the cluster; raises OSError with what kubectl said."""
    command = ["kubectl", *words, "-o", "json", f"--request-timeout={PATIENCE_S}s"]
    try:
        done = subprocess.run(  # noqa: S603 - no shell; the words are names of Kubernetes
            command,
            capture_output=True,
            text=True,
            env=environment(whole=True),
            check=True,
            timeout=2 * PATIENCE_S,
        )
        return json.loads(done.stdout)
    except subprocess.CalledProcessError as error:
        # Its own last word; before it stand lines of its log.
        lines = [" ".join(line.split()) for line in str(error.stderr).splitlines() if line.strip()]
        raise OSError(lines[-1][:200] if lines else f"kubectl: {error.returncode}") from None
    except subprocess.TimeoutExpired:
        raise OSError("the cluster does not answer in time") from None
    except ValueError:
        raise OSError("kubectl did not answer in JSON") from None


def refuse_undrained(
    probed: Iterable[ServerProbe], drained: Collection[str] = (), ask: Ask = kubectl
) -> None:
    """Raise Refused with every server that is a node and not known to be drained.

    drained: servers that a person says are drained.
    """
    problems = [
        Problem(each.server, why, f"drain it: kubectl drain {each.node.lower()}; or leave it out")
        for each in probed
        if each.kubelet and each.server not in drained and (why := _undrained(each, ask))
    ]
    if problems:
        raise Refused(problems=problems)


def _undrained(each: ServerProbe, ask: Ask) -> str:
    """Why a node is not known to be drained; empty: it is."""
    name = each.node.lower()
    try:
        node = ask("get", "node", name)
        if not node.get("spec", {}).get("unschedulable"):
            return f"is the Kubernetes node {name}, which takes new pods"
        pods = ask("get", "pods", "--all-namespaces", f"--field-selector=spec.nodeName={name}")
    except OSError as error:
        said = error.strerror or error
        return f"is a Kubernetes node, and nothing says that it is drained ({said})"
    left = [pod["metadata"]["name"] for pod in pods.get("items", []) if _works(pod)]
    if not left:
        return ""
    more = f" and {len(left) - MOST} more" if len(left) > MOST else ""
    return f"is the Kubernetes node {name}, on which pods run: {', '.join(left[:MOST])}{more}"


def _works(pod: Any) -> bool:  # noqa: ANN401 - JSON
    """Whether a drain would have ended this pod."""
    metadata = pod.get("metadata", {})
    owners = {owner.get("kind") for owner in metadata.get("ownerReferences", [])}
    daemon = "DaemonSet" in owners or MIRROR in metadata.get("annotations", {})
    return not daemon and pod.get("status", {}).get("phase") not in ENDED
