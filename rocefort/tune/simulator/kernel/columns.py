"""Memory of the kernel: one array of integers, one of floats; times in ps, sizes in bytes.

A port, a switch, a flow or a packet is a row of integers. Its address is the index of its first
one, and the columns below are offsets from it. -1 is no address. There are two arrays, because
each further one that functions pass to each other costs more than the work that they do.

A port is one direction of a cable: the egress at its sender, and the ingress at its receiver.
Lists are chains of packets: a column with the head, and the next column with the tail.
"""

from __future__ import annotations

NEVER = 1 << 62

# Ports: what the scenario sets.
PS_PER_BYTE, DELAY, SWITCH, PEER, REVERSE, RESPONSE = range(6)
KMIN, KMAX, RESERVE, HEADROOM, XOFF, XON, XON_OFFSET, PFC = range(6, 14)
FIRST_FLOW, FLOW_COUNT = 14, 15
# Ports: state.
BUSY, PAUSED, PAUSING, TURN = range(16, 20)
DATA, DATA_TAIL, CONTROL, CONTROL_TAIL, FRAMES, FRAMES_TAIL = range(20, 26)
FLIGHT, FLIGHT_TAIL, EFFECTS, EFFECTS_TAIL = range(26, 30)
QUEUED, INGRESS, OVER_XOFF = range(30, 33)
# Ports: counters; bytes and packets are of data.
SINCE, LARGEST, SENT_BYTES, MARKS, DROPS, DROPPED_BYTES = range(33, 39)
PAUSES, PAUSED_SINCE, PAUSED_PS, RECEIVED_BYTES, LARGEST_OVER, CARRIED = range(39, 45)
HISTOGRAM, PORT_FLOATS_AT, SLOT = range(45, 48)
# Ports: the lossy queue of TCP beside that of the data, and credits of both (DWRR).
LOSSY, LOSSY_TAIL, LOSSY_QUEUED, CREDIT, LOSSY_CREDIT, LOSSY_TURN = range(48, 54)
LOSSY_DROPS, LOSSY_DROPPED_BYTES = 54, 55
PORT_COLUMNS = 56
# Ports: floats.
PMAX, THRESHOLD_ALPHA, AREA = range(3)
PORT_FLOATS = 3
# Histogram of a port's queue: time by size, in bins of 32 bytes below 128 KiB, and coarser above.
FINE_SHIFT, FINE_BINS, BINS = 5, 4096, 8192
FINE_BYTES = FINE_BINS << FINE_SHIFT

# Switches.
POOL, POOL_USED = range(2)
SWITCH_COLUMNS = 2

# Flows: what the scenario sets.
SOURCE_PORT, SIZE, START, RETURN_PS, ACKS, HOPS, WINDOW, BASE_RTT = range(8)
GRID = 8  # origin of the grid of cuts
# Flows: state of the transfer.
NEXT, ACKED, EXPECTED, AVAILABLE, LAST_SIZE, FINISHED, RETRY = range(9, 16)
NACKED, NACK_AFTER, LAST_CNP, MEASURED, INJECTED, INJECTED_BYTES = range(16, 22)
ARRIVED, ARRIVED_BYTES, MARKED, RESENT = range(22, 26)
# Flows: state of congestion control.
CUT_AT, RAISE_AT, ALPHA_AT, ALPHA_MARK, CUT_MARK, BEGUN = range(26, 32)
TIME_STAGE, BYTE_STAGE, BYTES_LEFT = range(32, 35)
UPDATE_SEQ, MARKED_ACKS, BATCH, REDUCED, HIGH_SEQ, STAGE = range(35, 41)
FLOATS, PATH, WAY_BACK, REPORTS = range(41, 45)  # and SLOT, as of a port
# Flows: bursts of so many bytes of payload, one each period; 0: the flow sends all the time.
BURST, PERIOD = 46, 48
# Flows: TCP. Numbers of segments count what was sent; RINGS: sent, lost and received segments.
TCP, SENT, HEARD, LOST, LOST_END, RECOVER, RINGS, PROBE = 45, *range(49, 56)
FLOW_COLUMNS = 56
# Flows: floats; rates are bit/s.
RATE, TARGET, ALPHA, MAX_RATE, BASE_RATE, LOAD, LAST_RTT, RTT_SLOPE = range(8)
CWND, SSTHRESH, RTO, SRTT, RTTVAR = TARGET, ALPHA, LOAD, LAST_RTT, RTT_SLOPE  # of TCP
FLOW_FLOATS = 8

# Packets.
LINK, KIND, FLOW, BYTES, PAYLOAD, SEQ, HOP, INPORT, MARK, AT, LAUNCHED = range(11)
NUMBER = MARK  # of a segment of TCP, which has no mark
PACKET_COLUMNS = 11
DATA_PACKET, ACK, CNP, NACK, SEGMENT, SEGMENT_ACK, PAUSE, RESUME = range(8)

# Telemetry of a hop (HPCC): bytes sent by the port, queue, time.
TELEMETRY = 3
HOP_SENT, HOP_QUEUE, HOP_AT = range(3)

# Parameters, all floats.
CONTROL_KIND, PAYLOAD_BYTES, HEADER_BYTES, CONTROL_BYTES, CONTROL_QUEUED, CNP_GAP = range(6)
MIN_RATE, STEP, HYPER_STEP, ALPHA_KEPT, ALPHA_FIRST, CUT_SHARE, LEAST_KEPT = range(6, 13)
RAISE_PS, ALPHA_PS, CUT_PS, STAGES, CLAMP, CLAMP_TIMER, BYTE_COUNTER, FIRST_RATE = range(13, 21)
UTILISATION, MOST_STAGES, RTT_LOW, RTT_HIGH, RTT_LEAST, RTT_BETA, RTT_WEIGHT = range(21, 28)
MEASURE_FROM, END_AT, BIN_SHIFT, RETRY_PS, NACK_PS, FINITE = range(28, 34)
MIXED, LOSSY_ALPHA, QUANTUM, LOSSY_QUANTUM = range(34, 38)
SEGMENT_PAYLOAD, SEGMENT_HEADER, RTO_LEAST, CORRUPT = range(38, 42)
PARAMETERS = 42
RING = 4096  # segments of a flow of TCP that may be under way
NO_CONTROL, DCQCN, DCTCP, HPCC, TIMELY = range(5)

# The first integers of the memory.
FREE, DONE, NOW, EVENTS, STATUS, RANDOM = range(6)
CALENDAR, WINNERS, SLOTS, PORTS_AT, PORT_SLOTS, FLOWS_AT, CORRUPTED = range(6, 13)
HEADER = 13
# How a simulation ended.
FINISHED_ALL, REACHED_END, NO_PACKETS, RUNNING = range(4)

# Loss probe of TCP.
NO_PROBE, PROBE_DUE, PROBE_SENT = range(3)

PFC_FRAME = 84  # 64 bytes, preamble and gap
