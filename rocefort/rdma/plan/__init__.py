"""Plans of RDMA tests: servers, suites, rounds and command lines."""
