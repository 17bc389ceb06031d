"""Choice of the GID index: RoCE v2, with the address of the segment."""

from __future__ import annotations

from ipaddress import IPv4Address

import pytest

from rocefort.rdma.parse.outcome import TableError
from rocefort.rdma.plan.probe import choose_gid, read_gids

# The first two rows were recorded on a Soft-RoCE guest; mlx5 has a v1 row before each v2 row.
GIDS = """rxe0 1 0 fe80:0000:0000:0000:5054:00ff:fe91:010a RoCE v2 eth0
rxe0 1 1 0000:0000:0000:0000:0000:ffff:0a5b:010a RoCE v2 eth0
mlx5_0 1 2 0000:0000:0000:0000:0000:ffff:0a41:010a IB/RoCE v1 ens1
mlx5_0 1 3 0000:0000:0000:0000:0000:ffff:0a41:010a RoCE v2 ens1
mlx5_1 1 0 0000:0000:0000:0000:0000:ffff:0a41:020a IB/RoCE v1 ens2
"""


@pytest.mark.parametrize(
    ("address", "device", "found"),
    [
        ("10.91.1.10", None, ("rxe0", 1)),
        ("10.65.1.10", None, ("mlx5_0", 3)),
        ("10.65.1.10", "mlx5_0", ("mlx5_0", 3)),
    ],
)
def test_the_right_index(address: str, device: str | None, found: tuple[str, int]) -> None:
    chosen = choose_gid(read_gids(GIDS), IPv4Address(address), device)
    assert (chosen.device, chosen.index) == found


@pytest.mark.parametrize(
    ("address", "device", "outcome", "line"),
    [
        ("10.65.1.10", "mlx5_9", "no-device", "mlx5_9"),
        ("10.65.1.10", "rxe0", "bad-gid", "no RoCE v2 GID has 10.65.1.10; there: rxe0 1 10.91.1.10 RoCE v2"),
        ("10.65.2.10", None, "bad-gid", "no RoCE v2 GID has 10.65.2.10; there: "),
    ],
)  # fmt: skip
def test_no_right_index(address: str, device: str | None, outcome: str, line: str) -> None:
    with pytest.raises(TableError) as caught:
        choose_gid(read_gids(GIDS), IPv4Address(address), device)
    assert caught.value.outcome.value == outcome
    assert caught.value.line.startswith(line)


@pytest.mark.parametrize(("text", "outcome"), [("", "no-device"), ("rxe0 1 1 x\n", "unknown-line")])
def test_what_is_no_list_of_gids(text: str, outcome: str) -> None:
    with pytest.raises(TableError) as caught:
        read_gids(text)
    assert caught.value.outcome.value == outcome
