"""Options and choices of the commands of `rdma`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rocefort.base.command_line import values


class ExportForm(StrEnum):
    """File format of an exported run."""

    JSON = "json"
    CSV = "csv"


class Taker(StrEnum):
    """Lab or person that takes cables away during a run."""

    LAB = "lab"
    PERSON = "person"


class SuiteName(StrEnum):
    """Test suite; the values of rocefort.rdma.rdma_plan.Suite."""

    WRITE = "write"
    READ = "read"
    SEND = "send"
    MESH = "mesh"
    SWEEP = "sweep"
    INCAST = "incast"
    MIXED = "mixed"
    FAILOVER = "failover"
    STORAGE = "storage"
    MPI = "mpi"
    TRANSFER = "transfer"


class ProgramName(StrEnum):
    """Measuring program; the values of rocefort.rdma.rdma_plan.Program."""

    WRITE_BW = "ib_write_bw"
    WRITE_LAT = "ib_write_lat"
    READ_BW = "ib_read_bw"
    READ_LAT = "ib_read_lat"
    SEND_BW = "ib_send_bw"
    SEND_LAT = "ib_send_lat"
    IPERF3 = "iperf3"
    FIO = "fio"
    OSU = "osu"
    IMB = "IMB-MPI1"
    IPERF = "iperf"
    LFTP = "lftp"
    RSYNC = "rsync"
    SCP = "scp"
    HPNSCP = "hpnscp"
    BBCP = "bbcp"
    WDT = "wdt"


LEAST_DURATION_S = 4  # rocefort.rdma.plan.site.LEAST_DURATION_S
SuiteOption = Annotated[SuiteName, typer.Option("--suite", help="Test suite.")]
Servers = Annotated[
    str,
    typer.Option(help="Servers to load; by default rdma.servers of the fabric.", **values.SERVERS),
]
Duration = Annotated[
    int | None,
    typer.Option(
        metavar="SECONDS",
        help=f"Duration of each bandwidth test (s), at least {LEAST_DURATION_S}.",
    ),
]
Iterations = Annotated[
    int | None,
    typer.Option(min=5, help="Messages of each latency test; of published sizes, the most of any."),
]
Qps = Annotated[
    int | None, typer.Option(min=1, max=1024, help="Queue pairs of each bandwidth test.")
]
Repeat = Annotated[
    int,
    typer.Option(min=1, max=1000, metavar="N", help="Run all rounds N times; report the spread."),
]
Sizes = Annotated[
    str,
    typer.Option(
        metavar="BYTES,..|NAME",
        help="Suites sweep, storage, mpi: message sizes, or those of a published test, such as"
        " eantc-table-1, eantc-table-4 or redigo.",
    ),
]
Covering = Annotated[
    bool, typer.Option("--covering", help="Suite mesh: measure each pair of leaves once.")
]
Target = Annotated[
    str | None, typer.Option(help="Suites incast and mixed: receiving server.", **values.SERVER)
]
BeamlineName = Annotated[
    str,
    typer.Option(
        "--beamline",
        help="Suites mesh, sweep and incast: only this beamline's servers, to their receivers.",
        **values.BEAMLINE,
    ),
]
Directory = Annotated[
    str | None,
    typer.Option(
        metavar="DIR,..",
        help="Suite storage: directories where targets are mounted, one each. Suite transfer: one"
        " directory of all servers; default: /dev/shm.",
    ),
]
Targets = Annotated[
    str,
    typer.Option(
        metavar="N,..", help="Suite storage: numbers of targets, one after the other; default: all."
    ),
]
ProcessesPerServer = Annotated[
    int, typer.Option(min=1, max=1024, metavar="N", help="Suite mpi: processes on each server.")
]
Groups = Annotated[
    int,
    typer.Option(
        min=1, max=5, metavar="N", help="Suite mpi: groups of servers with unlike collectives."
    ),
]
TcpGbps = Annotated[
    float | None,
    typer.Option(
        "--tcp-gbps",
        min=0.001,
        max=values.MOST,
        metavar="RATE",
        help="Rate of each TCP sender (Gb/s). Suite mpi: half of the servers send TCP.",
    ),
]
CableBy = Annotated[
    Taker | None,
    typer.Option(
        "--cable-by",
        help="Suites failover and mpi: who takes a leaf's cables to one spine away during the run:"
        " the lab, or a person at a printed time.",
    ),
]
CableAt = Annotated[
    int | None,
    typer.Option(
        "--cable-at",
        min=1,
        max=86_400,
        metavar="SECONDS",
        help="Time from the start of a round until a cable is taken away (s); default: 10.",
    ),
]
TransferBytes = Annotated[
    int,
    typer.Option(
        "--bytes",
        min=2**20,
        max=2**50,
        metavar="BYTES",
        help="Suite transfer: bytes of each transfer, of all its files together.",
    ),
]
Files = Annotated[
    int,
    typer.Option(min=2, max=100_000, metavar="N", help="Suite transfer: files instead of one."),
]
RoundTrips = Annotated[
    str,
    typer.Option(
        "--round-trips",
        metavar="MS,..",
        help="Suite transfer: round trips (ms) that the lab gives the path of wan, one after the"
        " other; the first is that of a LAN.",
    ),
]
MaybeServers = Annotated[
    Path | None,
    typer.Option(
        "--connections",
        help="YAML file of connections: read devices and versions from the servers.",
        **values.FILE,
    ),
]
HistoryFile = Annotated[Path, typer.Option("--history", help="Database of runs.", **values.FILE)]
Run = Annotated[str, typer.Argument(metavar="RUN", help="Id of a run, or `last`.")]
HISTORY = Path("rdma.db")
