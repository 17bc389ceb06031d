"""Nodes of random fabrics that a rule refuses, so that no switch takes their text."""

from __future__ import annotations

from rocefort.models.hardware.hardware import SyntaxFamily
from rocefort.models.network.network import Node


def family_of(node: Node) -> SyntaxFamily:
    assert node.family is not None
    return node.family.syntax


def lacks_pool(node: Node) -> bool:
    """Whether a rule (BUF) refuses the switch: V300 G2 has no PFC without a headroom pool.

    A pool that is there stays while a port has PFC (V300R023C00, `qos buffer headroom-pool`).
    """
    has_pfc = any(port.pfc for port in node.device.interfaces)
    pool = node.device.pfc.headroom_pool_kbytes
    return family_of(node) is SyntaxFamily.V300_G2 and has_pfc and pool is None
