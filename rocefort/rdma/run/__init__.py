"""Execution of RDMA tests on servers over SSH."""
