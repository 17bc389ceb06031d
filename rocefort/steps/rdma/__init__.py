"""Steps of RDMA tests and of the servers that run them."""
