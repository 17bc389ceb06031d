"""Kubernetes nodes among servers, and whether they are drained.

A server is a node if a kubelet is in its process table. A node is drained if it takes no new pods
and runs only pods of daemons. `kubectl` on this machine queries the cluster for this; if the query
fails, the node counts as not drained.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Collection, Iterable
from typing import Any

from rocefort.base.errors import Problem
from rocefort.base.processes import environment
from rocefort.rdma.plan.probe import ServerProbe

PATIENCE_S = 20
ENDED = ("Succeeded", "Failed")
MIRROR = "kubernetes.io/config.mirror"  # annotation of static pods, which a drain does not evict
MOST = 3  # number of pods that a message lists

# Runs a kubectl command, given its words, and returns the parsed answer; raises OSError.
Ask = Callable[..., Any]


def kubectl(*words: str) -> Any:  # noqa: ANN401 - JSON
    """Query the cluster; raises OSError with the message of kubectl."""
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
        # The last line is its error message; the lines before it are its log.
        lines = [" ".join(line.split()) for line in str(error.stderr).splitlines() if line.strip()]
        raise OSError(lines[-1][:200] if lines else f"kubectl: {error.returncode}") from None
    except subprocess.TimeoutExpired:
        raise OSError("the cluster does not answer in time") from None
    except (ValueError, RecursionError):
        raise OSError("kubectl did not answer in JSON") from None


def undrained(
    probed: Iterable[ServerProbe], drained: Collection[str] = (), ask: Ask = kubectl
) -> dict[str, Problem]:
    """Return the servers that are nodes without a confirmed drain, each with reason and fix.

    drained: servers that the user declares as drained.
    """
    return {
        each.server: Problem(
            each.server, why, f"drain it: kubectl drain {each.node.lower()}; or leave it out"
        )
        for each in probed
        if each.kubelet and each.server not in drained and (why := _undrained(each, ask))
    }


def _undrained(each: ServerProbe, ask: Ask) -> str:
    """Return the reason why a drain is not confirmed; empty: the node is drained."""
    name = each.node.lower()
    try:
        node = ask("get", "node", name)
        if not node.get("spec", {}).get("unschedulable"):
            return f"is the Kubernetes node {name}, which takes new pods"
        pods = ask("get", "pods", "--all-namespaces", f"--field-selector=spec.nodeName={name}")
    except OSError as error:
        cause = error.strerror or error
        return f"is a Kubernetes node, and its drain cannot be confirmed ({cause})"
    pod_names = [pod["metadata"]["name"] for pod in pods.get("items", []) if _works(pod)]
    if not pod_names:
        return ""
    more = f" and {len(pod_names) - MOST} more" if len(pod_names) > MOST else ""
    return f"is the Kubernetes node {name}, on which pods run: {', '.join(pod_names[:MOST])}{more}"


def _works(pod: Any) -> bool:  # noqa: ANN401 - JSON
    """Return whether a drain would have evicted this pod."""
    metadata = pod.get("metadata", {})
    owners = {owner.get("kind") for owner in metadata.get("ownerReferences", [])}
    daemon = "DaemonSet" in owners or MIRROR in metadata.get("annotations", {})
    return not daemon and pod.get("status", {}).get("phase") not in ENDED
