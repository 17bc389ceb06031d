"""Causes of failures by the error lines of perftest 4.5 to 26.04, in every wording and order."""

from __future__ import annotations

import itertools
import re

import pytest
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from rocefort.fleet.ssh_exec import CommandResult
from rocefort.rdma.parse.causes import STATUSES, SYMBOLS, cause_of
from rocefort.rdma.parse.outcome import MEANING, Outcome
from rocefort.rdma.parse.perftest import judge
from rocefort.rdma.rdma_plan import Program

CONTEXT = " Couldn't get context for the device"
RESOURCES = " Couldn't create IB resources"
MR = ["Couldn't allocate MR", "failed to create mr", "Failed to create MR", RESOURCES]
CUDA = "initializing CUDA\nPicking GPU number 0\nallocated GPU buffer address at 0x7f00\n"


def cause(*lines: str, stdout: str = "", code: int | None = 1) -> tuple[str, str] | None:
    found = cause_of(CommandResult(stdout, "\n".join(lines) + "\n", code))
    return None if found is None else (found[0].value, found[1])


# --- completion statuses --------------------------------------------------------------------------

OWN = {
    9: "remote-refused",
    10: "remote-refused",
    11: "remote-refused",
    12: "retry-exceeded",
    13: "receiver-not-ready",
}
WORDINGS = (
    " Failed status {number}: wr_id 0 syndrom 0x81",  # to 25.10
    " Failed status-{name} ({number}): wr_id 0 syndrom 0x88",  # since 26.01
    "Failed status ({number}) {name}: wr_id 3",
    "Completion with error: status {name} ({number}), vendor 0x81",
    "Poll send CQ error status={number} qp 12 credit=3 scredit=4",
    "Bad wc status when trying to create AH -- {number} -- 7 ",
    " Status: {number} ; ID: 3.",
    "ibv_poll_cq: wc status: IBV_WC_{symbol}",
    " Bad wc status {number}",
    "Bad wc status -- {number} -- 7 ",
    " Failed status-{name}: wr_id 12 syndrom 0x0",  # no number: the name decides
)


@pytest.mark.parametrize("wording", WORDINGS)
@pytest.mark.parametrize("number", range(1, len(STATUSES)))
def test_a_completion_status_decides_by_its_number(number: int, wording: str) -> None:
    line = wording.format(number=number, name=STATUSES[number], symbol=SYMBOLS[number])
    found = cause(" Completion with error at client", line, " scnt=128, ccnt=0")
    assert found is not None
    assert found[0] == OWN.get(number, "completion-error")
    if number not in OWN:
        assert STATUSES[number].lower() in found[1].lower()


@pytest.mark.parametrize("wording", WORDINGS)
@pytest.mark.parametrize("code", [0, 1])
def test_the_status_of_success_is_no_failure(code: int, wording: str) -> None:
    line = wording.format(number=0, name=STATUSES[0], symbol=SYMBOLS[0])
    assert cause(line, code=code) is None


@pytest.mark.parametrize("code", [0, 1, None])
def test_a_flushed_request_follows_another_status(code: int | None) -> None:
    lines = [" Failed status 5: wr_id 0 syndrom 0xf9", " Failed status 12: wr_id 1 syndrom 0x81"]
    assert cause(*lines, code=code) == ("retry-exceeded", lines[1].strip())
    assert cause(lines[0], code=code) == (
        "completion-error", "Failed status 5: wr_id 0 syndrom 0xf9 (Work Request Flushed Error)",
    )  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        "ssh: exited with error status 12",
        "mlx5_0: port status 12 changed",
        "WARNING: 12 of 13 links have another status",
        "Setting scnt=12 (13)",
        "status 0",
        "status 12",
        "Status: 3 updates pending",
        "error: link status 1",
        "Failed login attempts since yesterday; status 2 hosts",
        "Failed status of 2 units",
        "completion cache status: 2 entries",
        "error in job status 9",
    ],
)
def test_another_status_is_no_completion(line: str) -> None:
    for code in (0, 1):
        assert cause(line, code=code) is None


WORDS = st.sampled_from(
    [
        *("status", "Status:", "failed", "error", "bad", "wc", "completion", "of", "with", "link"),
        *("0", "12", "(13)", "=5", "login", "IBV_WC_RETRY_EXC_ERR", "RDMA_CM_EVENT_DISCONNECTED"),
        *("Broken pipe", "Connection reset by peer", "No space left on device"),
    ]
)


@given(st.lists(WORDS, min_size=1, max_size=7).filter(lambda words: "Status:" not in words[:1]))
@settings(max_examples=tries(300))
def test_text_of_other_programs_never_voids_a_run_that_ended_well(words: list[str]) -> None:
    line = " ".join(words)
    if not re.search(r"bad wc status|completion with error\b.*\bstatus", line, re.IGNORECASE):
        assert cause(line, code=0) is None, line


# --- devices: the generic line comes last ---------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "outcome", "decides"),
    [
        ([" Port number 1 state is Down", " Couldn't set the link layer", CONTEXT], "port-down", 0),
        ([" Port number 2 state is Init", " Couldn't set the link layer", CONTEXT], "port-down", 0),
        ([CONTEXT], "no-permission", 0),
        (["Link layer on port 1 is Unknown", " Couldn't set the link layer", CONTEXT], "link-layer", 0),
        ([" Couldn't set the link layer", CONTEXT], "link-layer", 0),
        ([" Unable to query port 1 attributes", " Couldn't set the link layer", CONTEXT], "link-layer", 0),
        ([" Raw Etherent test can only run on Ethernet link! exiting ...", CONTEXT], "link-layer", 0),
        ([" Invalid MTU - 9000 ", " Please choose mtu form {64, 9600}", " Couldn't set Eth MTU", CONTEXT], "mtu", 1),
        ([" Max message size in UD cannot be greater than MTU ", CONTEXT], "device-check", 0),
        (["T10DIF signature offload is not supported by the device", CONTEXT], "device-check", 0),
        ([" a check that a later version adds", CONTEXT], "device-check", 0),
        (["libibverbs: Warning: no driver for x", CONTEXT], "no-permission", 1),
        (["IB device mlx5_9 not found", " Unable to find the Infiniband/RoCE device"], "no-device", 0),
        ([" Did not detect devices ", " If device exists, check if driver is up"], "no-device", 0),
        (["Couldn't create CQ", "Failed to create CQs", RESOURCES], "no-resources", 1),
        (["Couldn't allocate work buf.", RESOURCES], "no-memory", 0),
        (["Failed to allocate hugepages. Please configure hugepages", RESOURCES], "no-memory", 0),
        ([" Will run with the port active mtu - 5", CONTEXT], "device-check", 0),
        ([" --tph_mem requires --cpu_id to be specified", " Parser function exited with Error"], "bad-option", 0),
        ([" size mismatch: local=65536, remote=2", " Failed to negotiate parameters"], "option-mismatch", 0),
        (["Current implementation is not compatible with versions older than 5.70"], "old-perftest", 0),
        (["Couldn't listen to port 18515", " Unable to init the socket connection"], "cannot-listen", 0),
        (["Failed to modify QP 104 to RTR", " Unable to Connect the HCA's through the link"], "no-path", 0),
        (["Failed to modify QP to RTS", " Unable to Connect the HCA's through the link"], "no-path", 0),
        (["Unexpected CM event bl blka 8"], "no-server", 0),
        (["RDMA CM event error:", "Event: RDMA_CM_EVENT_REJECTED; error: 8."], "no-server", 1),
        (["Event: RDMA_CM_EVENT_UNREACHABLE; error: -110."], "no-path", 0),
        (["Unexpected CM event bl blka 1"], "no-path", 0),
        (["unexpected CM event 10"], "peer-lost", 0),
        (["Name or service not known for x:18515", "Couldn't connect to x:18515"], "bad-address", 0),
        (["Temporary failure in name resolution for ai_family: 0 service: 18515 port: 18515"], "bad-address", 0),
        (["VALIDATION: FAILED - 3 error(s), first at QP 0"], "invalid-data", 0),
        (["A completion with Error in run_infinitely_bw_server function"], "completion-error", 0),
        ([" Did not get Message for 120 Seconds, exiting.."], "timed-out", 0),
    ],
)  # fmt: skip
def test_the_line_that_explains_decides(lines: list[str], outcome: str, decides: int) -> None:
    assert cause(*lines) == (outcome, lines[decides].strip())


def test_a_cause_decides_in_any_order_of_the_lines() -> None:
    lines = [
        " Couldn't set the link layer",
        " Port number 1 state is Down",
        CONTEXT,
        " Unable to read from socket/rdma_cm",
        "Correlation coefficient r^2: 0.8 < 0.9",
        "Terminated",
    ]
    for order in itertools.permutations(lines):
        assert cause(*order) == ("port-down", "Port number 1 state is Down")


# --- memory ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "stdout", "outcome"),
    [
        ("Couldn't allocate MR", "", "memory-lock-limit"),  # 4.5 prints no number
        ("Couldn't allocate MR", " Use ROCm memory : OFF\n", "memory-lock-limit"),
        ("Couldn't allocate MR", CUDA, "gpu-memory"),
        ("Couldn't allocate MR with error=12", "", "memory-lock-limit"),
        ("Couldn't allocate MR with error=1", "", "memory-lock-limit"),  # 26.04, limit 0
        ("Couldn't allocate MR with error=12", CUDA, "memory-lock-limit"),
        ("Couldn't allocate MR with error=14", "", "gpu-memory"),
        ("Couldn't allocate MR with error=14", CUDA, "gpu-memory"),
        ("Couldn't allocate MR with error=22", "", "no-resources"),
        ("Couldn't allocate MR with error=95", CUDA, "gpu-memory"),
        ("Couldn't allocate MR: Bad address", "", "gpu-memory"),
        ("Couldn't allocate MR: Cannot allocate memory", "", "memory-lock-limit"),
        ("Couldn't allocate MR, error: Invalid argument (22)", "", "no-resources"),
        ("Couldn't allocate MR, error: Cannot allocate memory (12)", "", "memory-lock-limit"),
        ("Couldn't allocate MR, errno: Bad address (14)", "", "gpu-memory"),
        ("Couldn't allocate MR (errno 28)", "", "no-resources"),
        ("Couldn't allocate MR: Operation not supported", "", "no-resources"),
        ("Couldn't allocate MR: Operation not permitted", "", "memory-lock-limit"),
        ("Couldn't allocate MR: something of a later version", "", "no-resources"),
        ("ibv_reg_mr failed (errno: 14)", "", "gpu-memory"),
    ],
)
def test_memory_that_cannot_be_registered(first: str, stdout: str, outcome: str) -> None:
    assert cause(first, *MR[1:], stdout=stdout) == (outcome, first)


@pytest.mark.parametrize(
    ("line", "outcome"),
    [
        ("OFED stack does not support DMA-BUF", "gpu-memory"),
        ("DMA-BUF is not supported on this GPU", "gpu-memory"),
        ("nv_peer_mem: module is not loaded", "gpu-memory"),
        ("Couldn't init GPU context: 1", "no-gpu"),
        ("No such device ID (7) exists in system", "no-gpu"),
    ],
)
def test_a_gpu_is_never_blamed_on_the_limit(line: str, outcome: str) -> None:
    assert cause(line, RESOURCES, stdout=CUDA) == (outcome, line)


# --- which end, and which exit code ---------------------------------------------------------------


def test_an_unknown_line_of_a_failed_run_is_shown() -> None:
    client = CommandResult("", "something of a later version\n", 1)
    judgement = judge(Program.WRITE_BW, client, CommandResult("", "", 0))
    assert judgement.sentence == (
        "exit-code: ended with an error (client: 'something of a later version')"
    )


def test_a_line_that_only_explains_a_failure_is_none_after_success() -> None:
    for line in (CONTEXT, "Couldn't allocate MR", "Unexpected CM event bl blka 1"):
        assert cause(line, code=0) is None
    for line in (" Failed status 12: wr_id 0", "Killed", " Unable to read from socket/rdma_cm"):
        assert cause(line, code=0) is not None


def test_no_sentence_speaks_for_all_versions() -> None:
    assert [text for text in MEANING.values() if "known version" in text] == []
    assert len(set(MEANING.values())) == len(Outcome)
