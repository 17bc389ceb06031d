"""`rocefort show FABRIC profiles`: what NICs must be set to, in their maker's names."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.results import ShowTable, show_csv, show_output, show_report
from rocefort.models.network.network import Network
from rocefort.reports.writers.terminal import text_of

LOSSLESS = "lossless: heps\n"
FIRST_SERVER = "    port: 100GE1/0/1\n    segment: transfer\n"


@pytest.fixture
def network(edit_heps_without_nics: Callable[..., Path]) -> Network:
    """HEPS in the vendor's plan; one server names its NIC profile."""
    path = edit_heps_without_nics(
        (LOSSLESS, "lossless: ai-fabric-hpc\ncongestion_control: paper-dcqcn\n"),
        (FIRST_SERVER, f"{FIRST_SERVER}    nic: connectx-dscp24\n"),
    )
    return derive(path).network


def rows(network: Network) -> dict[str, dict[str, Any]]:
    content = show_output(network, ShowTable.PROFILES).model_dump(mode="json")
    assert content["table"] == "profiles"
    return {row["setting"]: row for row in content["rows"]}


def test_what_the_lossless_profile_asks_of_a_nic(network: Network) -> None:
    found = rows(network)
    said = {key: (row["parameter"], row["value"], row["source"]) for key, row in found.items()}
    source = "lossless profile ai-fabric-hpc"
    assert said["trust"] == ("mlnx_qos/trust", "dscp", source)
    assert said["dscp2prio"] == ("mlnx_qos/dscp2prio", "24:4,25:6", source)
    assert said["roce_dscp"] == ("cma_roce_tos", 96, source)  # the traffic class: 4 x DSCP 24
    assert said["cnp_dscp"] == ("roce_np/cnp_dscp", 25, source)
    assert said["cnp_priority"] == ("roce_np/cnp_802p_prio", 6, source)
    assert said["paused_priorities"] == ("mlnx_qos/pfc", 4, source)
    assert said["controlled_priorities"] == ("roce_rp/enable", 4, source)
    assert said["mtu_bytes"] == (None, 9000, "fabric (mtu)")
    assert {row["profile"] for row in found.values()} == {"connectx-dscp24", "roce-server"}


def test_what_congestion_control_asks_of_a_nic(network: Network) -> None:
    found = rows(network)
    assert found["increase_timer_us"] == {
        "profile": "connectx-dscp24",
        "parameter": "roce_rp/rpg_time_reset",
        "value": 55,
        "note": "unconfirmed",
        "setting": "increase_timer_us",
        "source": "Zhu et al., SIGCOMM 2015 (DCQCN)",
    }
    assert found["byte_counter_bytes"]["note"] == "unconfirmed, outside 0 to 32767"
    assert "hyper_increase_mbps" not in found  # the NIC keeps its own


def test_without_nic_profiles_in_our_own_names(
    edit_heps_without_nics: Callable[..., Path],
) -> None:
    found = rows(derive(edit_heps_without_nics()).network)
    own = [row for row in found.values() if row["profile"] != "roce-server"]
    assert [(row["profile"], row["parameter"]) for row in own] == [(None, None)] * 7
    assert found["dscp2prio"]["value"] == "DSCP >> 3"
    assert found["roce_dscp"]["value"] == 34
    assert "controlled_priorities" not in found  # no congestion control is named


def test_what_the_host_profile_asks_of_an_operating_system(heps: DerivedNetwork) -> None:
    content = show_output(heps.network, ShowTable.PROFILES).model_dump(mode="json")
    own = [row for row in content["rows"] if row["profile"] == "roce-server"]
    assert [(row["parameter"], row["value"]) for row in own] == [
        ("net.core.rmem_max", "268435456"),
        ("net.core.wmem_max", "268435456"),
        ("net.ipv4.tcp_rmem", "4096 131072 134217728"),
        ("net.ipv4.tcp_wmem", "4096 65536 134217728"),
        ("net.core.netdev_max_backlog", "250000"),
        ("ethtool -G rx", 8192),
        ("ethtool -G tx", 8192),
        ("cpufreq/scaling_governor", "performance"),
        ("irq/smp_affinity_list", "numa"),
    ]
    assert {row["note"] for row in own} == {"unconfirmed"}
    assert own[0]["source"] == "host profile roce-server"  # its values have no published source
    assert own[-1]["source"] == "published tuning of transfer nodes with two 200G ports"
    assert (
        max(
            map(len, text_of(*show_report(heps.network, ShowTable.PROFILES), width=80).splitlines())
        )
        <= 80
    )


def test_text_and_csv_have_the_same_rows(network: Network) -> None:
    found = rows(network)
    table = list(csv.DictReader(io.StringIO(show_csv(network, ShowTable.PROFILES))))
    assert [row["setting"] for row in table] == list(found)
    text = text_of(*show_report(network, ShowTable.PROFILES), width=80)
    assert text.startswith(f"heps profiles: {len(found)} rows\n")
    assert all(row["parameter"] in text for row in found.values() if row["parameter"])
    assert max(map(len, text.splitlines())) <= 80


def test_of_texts_alone_nothing_is_known(heps: DerivedNetwork) -> None:
    unknown = heps.network.model_copy(update={"hosts": None, "lossless": None})
    assert rows(unknown) == {}
