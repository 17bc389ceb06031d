"""Outcomes of a measurement, each with a sentence on its cause."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """Outcome of a measurement; only `measured` has figures."""

    MEASURED = "measured"
    # perftest reports the cause
    NO_SERVER = "no-server"
    BAD_ADDRESS = "bad-address"
    CANNOT_LISTEN = "cannot-listen"
    NO_PERFTEST = "no-perftest"
    NO_DEVICE = "no-device"
    NO_PERMISSION = "no-permission"
    PORT_DOWN = "port-down"
    LINK_LAYER = "link-layer"
    MTU = "mtu"
    DEVICE_CHECK = "device-check"
    MEMORY_LOCKED = "memory-lock-limit"
    NO_MEMORY = "no-memory"
    NO_GPU = "no-gpu"
    GPU_MEMORY = "gpu-memory"
    NO_RESOURCES = "no-resources"
    BAD_GID = "bad-gid"
    NO_PATH = "no-path"
    BAD_OPTION = "bad-option"
    OPTION_MISMATCH = "option-mismatch"
    RETRY_EXCEEDED = "retry-exceeded"
    RECEIVER_NOT_READY = "receiver-not-ready"
    REMOTE_REFUSED = "remote-refused"
    COMPLETION_ERROR = "completion-error"
    PEER_LOST = "peer-lost"
    NO_CLOCK = "no-clock"
    # before perftest, or another program
    UNREACHABLE = "unreachable"
    NO_PROGRAM = "no-program"
    OLD_PERFTEST = "old-perftest"
    VERSIONS_DIFFER = "versions-differ"
    DISK_FULL = "disk-full"
    TOOL_ERROR = "tool-error"
    # way in which the program ended
    TIMED_OUT = "timed-out"
    KILLED = "killed"
    EXIT_CODE = "exit-code"
    NOT_RUN = "not-run"
    # faults of its output
    NO_TABLE = "no-table"
    NOT_JSON = "not-json"
    UNTERMINATED_TABLE = "unterminated-table"
    MISSING_ROW = "missing-row"
    UNKNOWN_LINE = "unknown-line"
    NO_TITLE = "no-title"
    TWO_TABLES = "two-tables"
    DAMAGED_HEADER = "damaged-header"
    DAMAGED_ROW = "damaged-row"
    IMPOSSIBLE = "impossible-figure"
    NOT_A_NUMBER = "not-a-number"
    ZERO_ITERATIONS = "zero-iterations"
    ZERO_BANDWIDTH = "zero-bandwidth"
    ZERO_LATENCY = "zero-latency"
    INVALID_DATA = "invalid-data"
    SUMS = "sums-do-not-add-up"


MEANING: dict[Outcome, str] = {
    Outcome.MEASURED: "measured",
    Outcome.NO_SERVER: "no perftest server answers: firewall, wrong port, or it did not start",
    Outcome.BAD_ADDRESS: "the server's address does not resolve",
    Outcome.CANNOT_LISTEN: "the server cannot listen: its TCP port is in use, or the address is "
    "not its own",
    Outcome.NO_PERFTEST: "perftest is not installed there",
    Outcome.NO_DEVICE: "there is no such RDMA device",
    Outcome.NO_PERMISSION: "the user may not open the RDMA device",
    Outcome.PORT_DOWN: "the port of the RDMA device is not active: check cable and link",
    Outcome.LINK_LAYER: "the link layer of the port does not fit the test",
    Outcome.MTU: "the MTU does not fit the port",
    Outcome.DEVICE_CHECK: "the RDMA device did not pass a check of perftest",
    Outcome.MEMORY_LOCKED: "memory cannot be registered: raise the memlock limit",
    Outcome.NO_MEMORY: "the server lacks memory for the buffers of the test",
    Outcome.NO_GPU: "the GPU cannot be initialised",
    Outcome.GPU_MEMORY: "memory of the GPU cannot be registered: load nvidia_peermem, or use "
    "DMA-BUF",
    Outcome.NO_RESOURCES: "the RDMA device cannot create what the test needs",
    Outcome.BAD_GID: "there is no such GID index",
    Outcome.NO_PATH: "the NIC has no path to the peer: check the GID index and the routes",
    Outcome.BAD_OPTION: "this version of perftest lacks or refuses an option",
    Outcome.OPTION_MISMATCH: "the two ends did not run the same test",
    Outcome.RETRY_EXCEEDED: "the NIC gave up resending: packets are lost in the network",
    Outcome.RECEIVER_NOT_READY: "the receiver posted no buffers in time",
    Outcome.REMOTE_REFUSED: "the server's NIC refused a request: tests or sizes differ, or it lost "
    "packets",
    Outcome.COMPLETION_ERROR: "the NIC completed a request with an error",
    Outcome.PEER_LOST: "the other end disappeared during the test",
    Outcome.NO_CLOCK: "perftest could not calibrate its clock, so its numbers are void",
    Outcome.UNREACHABLE: "the server cannot be logged in to",
    Outcome.NO_PROGRAM: "the program is not installed there",
    Outcome.OLD_PERFTEST: "perftest there is older than the oldest supported version",
    Outcome.VERSIONS_DIFFER: "the two ends have different versions of perftest",
    Outcome.DISK_FULL: "no space is left on the server",
    Outcome.TOOL_ERROR: "the program reports an error of its own",
    Outcome.TIMED_OUT: "not finished at its deadline: it hung, or no packet arrived",
    Outcome.KILLED: "ended by a signal, or with its session, before it finished",
    Outcome.EXIT_CODE: "ended with an error",
    Outcome.NOT_RUN: "not run",
    Outcome.NO_TABLE: "printed no table of results",
    Outcome.NOT_JSON: "the report is neither JSON nor the form of older versions of perftest",
    Outcome.UNTERMINATED_TABLE: "the table of results breaks off",
    Outcome.MISSING_ROW: "a row of the table is missing",
    Outcome.UNKNOWN_LINE: "printed a line that cannot be read",
    Outcome.NO_TITLE: "the output does not name its test above the table",
    Outcome.TWO_TABLES: "the output holds more than one table or title",
    Outcome.DAMAGED_HEADER: "the columns of the table are not complete, or not known",
    Outcome.DAMAGED_ROW: "a row of the table is damaged",
    Outcome.IMPOSSIBLE: "a figure of the table is impossible: it is negative",
    Outcome.NOT_A_NUMBER: "the table holds a value that is no number",
    Outcome.ZERO_ITERATIONS: "no message arrived: UDP 4791 is blocked, or the path MTU is "
    "smaller than the RoCE MTU",
    Outcome.ZERO_BANDWIDTH: "the bandwidth is zero",
    Outcome.ZERO_LATENCY: "the latency is zero",
    Outcome.INVALID_DATA: "the data that arrived differ from the data sent",
    Outcome.SUMS: "the figures of one row contradict each other",
}
