"""Cause of a failed run of perftest, from its error output.

A cause is found by number where perftest prints one: a completion status (`ibv_wc_status`), an
event of rdma_cm, an errno. Its wording differs between versions (`Failed status 12: ..` before
26.01, `Failed status-transport retry counter exceeded (12): ..` since). Other causes have one line
each. The lines that every later failure of a step ends with, such as `Couldn't get context for the
device`, decide only if no line before them does. Read against the sources of 4.5 to 26.04.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rocefort.rdma.parse.outcome import Outcome

if TYPE_CHECKING:  # it imports paramiko, which a plan does not need
    from rocefort.fleet.ssh_exec import CommandResult

Cause = tuple[Outcome, str]  # with the line that decides

# Names of ibv_wc_status (libibverbs, ibv_wc_status_str), by number.
STATUSES = (
    "success",
    "local length error",
    "local QP operation error",
    "local EE context operation error",
    "local protection error",
    "Work Request Flushed Error",
    "memory management operation error",
    "bad response error",
    "local access error",
    "remote invalid request error",
    "remote access error",
    "remote operation error",
    "transport retry counter exceeded",
    "RNR retry counter exceeded",
    "local RDD violation error",
    "remote invalid RD request",
    "aborted error",
    "invalid EE context number",
    "invalid EE context state",
    "fatal error",
    "response timeout error",
    "general error",
    "TM error",
    "TM software rendezvous",
)
FLUSHED = 5  # follows another error of the same queue pair
BY_STATUS = {
    9: Outcome.REMOTE_REFUSED,
    10: Outcome.REMOTE_REFUSED,
    11: Outcome.REMOTE_REFUSED,
    12: Outcome.RETRY_EXCEEDED,
    13: Outcome.RECEIVER_NOT_READY,
}
# Names of the same statuses in the enumeration, by number.
SYMBOLS = (
    "SUCCESS",
    "LOC_LEN_ERR",
    "LOC_QP_OP_ERR",
    "LOC_EEC_OP_ERR",
    "LOC_PROT_ERR",
    "WR_FLUSH_ERR",
    "MW_BIND_ERR",
    "BAD_RESP_ERR",
    "LOC_ACCESS_ERR",
    "REM_INV_REQ_ERR",
    "REM_ACCESS_ERR",
    "REM_OP_ERR",
    "RETRY_EXC_ERR",
    "RNR_RETRY_EXC_ERR",
    "LOC_RDD_VIOL_ERR",
    "REM_INV_RD_REQ_ERR",
    "REM_ABORT_ERR",
    "INV_EECN_ERR",
    "INV_EEC_STATE_ERR",
    "FATAL_ERR",
    "RESP_TIMEOUT_ERR",
    "GENERAL_ERR",
    "TM_ERR",
    "TM_RNDV_INCOMPLETE",
)
# Forms of perftest's sources (perftest_resources.[ch], perftest_communication.c), 4.4 to 26.04. The
# word alone is in many lines of other programs.
STATUS = re.compile(
    r"(?:\bFailed status\b(?=.*\bwr_id\b)|\bCQ error status=|\bBad w[cq]e? status\b"
    r"|\bCompletion with error\b.*\bstatus\b|^\s*Status: (?=\d+ ; ID: ))(?P<after>.*)",
    re.IGNORECASE,
)
STATUS_SYMBOL = re.compile(r"\bIBV_WC_(?P<name>[A-Z_]+)\b")
NO_STATUS = re.compile(r"\b(?:wr_id|syndrom|vendor)", re.IGNORECASE)  # numbers after these
STATUS_NUMBERS = (re.compile(r"\((\d{1,3})\)"), re.compile(r"(?<![\w.])(\d{1,3})(?![\w.])"))

CM_EVENT = re.compile(
    r"(?:unexpected CM event(?: bl blka)?|bad event waiting for connect request) (?P<number>\d+)"
    r"|\bRDMA_CM_EVENT_(?P<name>[A-Z_]+)",
    re.IGNORECASE,
)
BY_EVENT = {  # rdma_cm_event_type; any other event: there is no path
    "8": Outcome.NO_SERVER,
    "REJECTED": Outcome.NO_SERVER,
    "10": Outcome.PEER_LOST,
    "DISCONNECTED": Outcome.PEER_LOST,
    "11": Outcome.NO_DEVICE,
    "DEVICE_REMOVAL": Outcome.NO_DEVICE,
}

REGISTRATION = re.compile(
    r"Couldn't (?:allocate|register) MR\b|(?<!\w)ibv_reg_(?=\w*mr)\w++ failed"
)
LIMIT = (errno.ENOMEM, errno.EPERM)  # of the kernel's check; EPERM if the limit is 0
ERRNO = re.compile(
    r"\b(?:error|errno|err|ret)\b\s*+(?:[=:]\s*+)?-?(?P<after>\d{1,3})\b"
    r"|\((?:err(?:or|no)?\b[=:]?\s?)?-?(?P<within>\d{1,3})\)",
    re.IGNORECASE,
)
NO_REASON = re.compile(r"[\w\s']*(?:\bMR|\bfailed)[\s.!]*")  # as 4.5 prints it
GPU = re.compile(
    r"\bCUDA|\bGPU\b|\bROCm\b|\bcu(?:Mem|Ctx|Device|Init)\w*|nv_peer_?mem|nvidia[_-]peer|dma-?buf"
    r"|\bEFAULT\b|Bad address",
    re.IGNORECASE,
)
UNUSED = re.compile(r": OFF\s*$")  # ` Use ROCm memory : OFF` is printed in every run

# The first line decides, except that the outcomes in WEAKNESS and the lines in PHASES come last.
CAUSES: dict[Outcome, tuple[str, ...]] = {
    Outcome.NO_SERVER: (
        r"Couldn't connect to ",
        r"Unable to connect \(retries",
        r"Failed to connect RDMA CM client",
    ),
    Outcome.BAD_ADDRESS: (
        r"Name or service not known",
        r"Temporary failure in name resolution",
        r"No address associated with hostname",
        r"Failed to get RDMA CM address",
        r"Problem in resolving basic address",
        r"Invalid (?:IPv6 )?source address",
    ),
    Outcome.CANNOT_LISTEN: (
        r"Couldn't listen to port",
        r"Address already in use",
        r"Failed to (?:bind|listen on) ",
        r"rdma_bind_addr failed",
        r"rdma_listen failed",
    ),
    Outcome.PORT_DOWN: (r"Port number \d+ state is ",),
    Outcome.LINK_LAYER: (r"Link layer on port \d+ is ", r"can only run on Ethernet link"),
    Outcome.NO_DEVICE: (
        r"IB device \S+ not found",
        r"Did not detect devices",
        r"Unable to find the .*device",
        r"No IB devices found",
    ),
    Outcome.NO_GPU: (
        r"Couldn't init(?:ialize)? (?:GPU|ROCm|mlu|Neuron)",
        r"No such device ID",
        r"cuDeviceGetByPCIBusId",
        r"Failed to load CUDA",
    ),
    Outcome.GPU_MEMORY: (
        r"DMA-BUF is not supported on this",
        r"does not support DMA-BUF",
        r"Failed to export dmabuf",
        r"cuMem\w+ error=\d",
        r"nv_peer_?mem",
        r"nvidia[_-]peer",
    ),
    Outcome.NO_MEMORY: (
        r"Couldn't allocate work buf",
        r"Failed to allocate hugepage",
        r"Failed to attach shared memory",
        r"Failed to allocate \d+ bytes",
    ),
    Outcome.BAD_GID: (r"Gid index should be between",),
    Outcome.NO_PATH: (
        r"Failed to modify QP \d+ to RTR",
        r"(?:Failed|Unable) to create AH",
        r"Received \d+ times ADDR_ERROR",
        r"rdma_resolve_(?:addr|route) failed",
        r"Failed to resolve RDMA CM",
        r"Incompatibility issue with GID types",
    ),
    Outcome.BAD_OPTION: (
        r"unrecognized option",
        r"invalid option",
        r"option requires an argument",
        r"Invalid Command or flag",
        r"Duplicated argument",
    ),
    Outcome.OLD_PERFTEST: (r"not compatible with versions older",),
    Outcome.OPTION_MISMATCH: (r"\bmismatch: local=",),
    Outcome.INVALID_DATA: (r"VALIDATION: FAILED",),
    Outcome.COMPLETION_ERROR: (r"[Cc]ompletion with (?:Error|flags mismatch) in ",),
    Outcome.TIMED_OUT: (r"Did not get Message for \d+ Seconds",),
    Outcome.NO_PERFTEST: (r"failed to run command", r"command not found", r": not found\s*$"),
    Outcome.DISK_FULL: (r"No space left on device",),
    Outcome.NO_CLOCK: (r"Correlation coefficient r\^2: .* < 0\.9",),
    Outcome.PEER_LOST: (
        r"Couldn't (?:read|send) (?:remote address|local address|reports)",
        r"Unable to (?:read|write) (?:to|from) socket",
        r"Couldn't write to socket",
        r"Connection reset by peer",
        r"Broken pipe",
    ),
    Outcome.KILLED: (r"^(?:Killed|Terminated)\s*$",),
}
# Outcomes that yield to any other one of the same end, the weakest last.
WEAKNESS = {Outcome.NO_CLOCK: 1, Outcome.PEER_LOST: 2, Outcome.KILLED: 3}
# Last line of a step that failed for a reason that an earlier line names; ALONE: the outcome
# without such a line.
PHASES: tuple[tuple[str, Outcome], ...] = (
    (r"Parser function exited with Error", Outcome.BAD_OPTION),
    (r"Couldn't set the link layer", Outcome.LINK_LAYER),
    (r"Couldn't set Eth MTU", Outcome.MTU),
    (r"Couldn't get context for the device", Outcome.DEVICE_CHECK),
    (r"Couldn't allocate context", Outcome.NO_RESOURCES),
    (r"Couldn't create IB resources", Outcome.NO_RESOURCES),
    (r"Unable to create RDMA_CM resources", Outcome.NO_RESOURCES),
    (r"Failed to create RDMA CM connection", Outcome.NO_PATH),
    (r"Unable to set up socket connection", Outcome.DEVICE_CHECK),
    (r"Unable to Connect the HCA's through the link", Outcome.NO_PATH),
    (r"Failed to negotiate parameters", Outcome.OPTION_MISMATCH),
    (r"Failed to exchange data between server and clients", Outcome.PEER_LOST),
    (r"Completion with error at (?:client|server)", Outcome.COMPLETION_ERROR),
)
ALONE = {"Couldn't get context for the device": Outcome.NO_PERMISSION}
# Warnings, counters after a failed completion, and the ends of other steps.
EXPLAINS_NOTHING = re.compile(
    r"\s*|.*\b(?i:warning)\b.*|\s+This will severely limit .*|\s*[sr]cnt=.*|failed to create mr"
    r"|\s*(?:Error occurred while running|If device exists, check if|Please check command line"
    r"|Failed to (?:create MR|complete|close|destroy|deallocate|deregister)"
    r"|Test exited with Error|Unable to init the socket connection).*"
)
HARMLESS = re.compile(
    r"\s*"
    r"|Device not recognized to implement inline feature\. Disabling it"
    r"| Setting burst size to tx depth = \d+"  # perftest's rate limiter
    r"|libibverbs: Warning: RLIMIT_MEMLOCK .*|\s+This will severely limit memory registrations\."
)
# A program that ends with exit code 0 may still have printed these: then its figures are void.
VOIDING = {
    Outcome.RETRY_EXCEEDED,
    Outcome.RECEIVER_NOT_READY,
    Outcome.REMOTE_REFUSED,
    Outcome.COMPLETION_ERROR,
    Outcome.INVALID_DATA,
    Outcome.NO_CLOCK,
    Outcome.PEER_LOST,
    Outcome.KILLED,
    Outcome.DISK_FULL,
}
# Lines that other programs print too: after a run that ended well they are theirs.
OF_ANY_PROGRAM = re.compile(
    r"Connection reset by peer|Broken pipe|No space left on device|\bIBV_WC_"
    r"|(?<!Event: )\bRDMA_CM_EVENT_"
)


def cause_of(result: CommandResult) -> Cause | None:
    """Return the outcome that the error output names, and its line; None: it names none."""
    lines = result.stderr.splitlines()
    causes = _line_causes(lines, result.stdout)
    if result.exit_code == 0:
        causes = [
            (outcome, line)
            for outcome, line in causes
            if outcome in VOIDING and not OF_ANY_PROGRAM.search(line)
        ]
    elif failed := _phase(lines):
        causes.append(failed)
    return min(causes, key=lambda cause: WEAKNESS.get(cause[0], 0), default=None)


def remarks(stderr: str) -> tuple[str, ...]:
    """Return the lines of an error output that perftest does not print in every run."""
    return tuple(line for line in stderr.splitlines() if not HARMLESS.fullmatch(line))


def _line_causes(lines: Sequence[str], stdout: str) -> list[Cause]:
    """Return the causes that single lines name, in order; flushed requests are last."""
    printed = (*lines, *stdout.split("\n"))
    gpu = any(GPU.search(line) and not UNUSED.search(line) for line in printed)
    causes, flushed = list[Cause](), list[Cause]()
    for line in lines:
        number = _status(line)
        if number:
            (flushed if number == FLUSHED else causes).append(_by_status(number, line.strip()))
        elif event := CM_EVENT.search(line):
            key = event["number"] or event["name"].upper()
            causes.append((BY_EVENT.get(key, Outcome.NO_PATH), line.strip()))
        elif REGISTRATION.search(line):
            causes.append((_registration(line, gpu=gpu), line.strip()))
        else:
            causes += [
                (outcome, line.strip())
                for outcome, patterns in CAUSES.items()
                if any(re.search(pattern, line) for pattern in patterns)
            ]
    return [*causes, *flushed]


def _status(line: str) -> int | None:
    """Return the completion status that a line reports, by its number or else by its name."""
    symbol = STATUS_SYMBOL.search(line)
    if symbol and symbol["name"] in SYMBOLS:
        return SYMBOLS.index(symbol["name"])
    reported = STATUS.search(line)
    if reported is None:
        return None
    words = NO_STATUS.split(line, maxsplit=1)[0]
    for pattern in STATUS_NUMBERS:  # in parentheses first
        if number := pattern.search(words, reported.start("after")):
            return int(number[1])
    named = [n for n, name in enumerate(STATUSES) if n and name.lower() in words.lower()]
    return named[0] if named else None


def _by_status(number: int, line: str) -> Cause:
    outcome = BY_STATUS.get(number, Outcome.COMPLETION_ERROR)
    name = STATUSES[number] if number < len(STATUSES) else "no status of libibverbs"
    named = outcome is not Outcome.COMPLETION_ERROR or name.lower() in line.lower()
    return outcome, line if named else f"{line} ({name})"


def _registration(line: str, *, gpu: bool) -> Outcome:
    """Return why memory cannot be registered: the limit of the user, or memory of a GPU."""
    code = ERRNO.search(line)
    number = (
        int(code["after"] or code["within"])
        if code
        else next((n for n in errno.errorcode if os.strerror(n) in line), None)
    )
    if number in LIMIT:
        return Outcome.MEMORY_LOCKED
    if number == errno.EFAULT or gpu:
        return Outcome.GPU_MEMORY
    return Outcome.MEMORY_LOCKED if NO_REASON.fullmatch(line) else Outcome.NO_RESOURCES


def _phase(lines: Sequence[str]) -> Cause | None:
    """Return the first step that failed, with the line that explains it: the last one before it."""
    reason = ""
    for line in lines:
        for pattern, outcome in PHASES:
            if re.search(pattern, line):
                alone = ALONE.get(pattern, outcome)
                return (outcome, reason) if reason else (alone, line.strip())
        if not EXPLAINS_NOTHING.fullmatch(line):
            reason = line.strip()
    return None
