"""Steps of the commands `rdma` and `host`."""
