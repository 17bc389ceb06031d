"""Reports on RDMA tests."""
