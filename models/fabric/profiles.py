"""Named profiles of a fabric and of inventory/profiles, by kind and name."""

from __future__ import annotations

from pydantic import Field

from rocefort.models.base import Frozen, Name
from rocefort.models.fabric.congestion_control import CongestionControl
from rocefort.models.fabric.hosts import Adapter, HostProfile, NicProfile
from rocefort.models.fabric.lossless import EcnProfile, Lossless


class Profiles(Frozen):
    """Named profiles, one field for each kind. A new kind needs a field here, and nothing else."""

    lossless: dict[Name, Lossless] = Field(
        default_factory=dict, description="What RoCE gets on the switches, by name."
    )
    ecn: dict[Name, EcnProfile] = Field(
        default_factory=dict, description="Who marks the lossless queue, and where, by name."
    )
    congestion_control: dict[Name, CongestionControl] = Field(
        default_factory=dict, description="How the servers' NICs react to marks, by name."
    )
    nic: dict[Name, NicProfile] = Field(
        default_factory=dict, description="How the NICs of servers are set, by name."
    )
    adapter: dict[Name, Adapter] = Field(
        default_factory=dict, description="Makes of NICs and their own names of settings."
    )
    host: dict[Name, HostProfile] = Field(
        default_factory=dict, description="How servers' operating systems are tuned, by name."
    )
