"""Readers of the outputs of perftest, iperf3, fio and MPI benchmarks."""
