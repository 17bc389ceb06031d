"""RDMA measured between servers: perftest run, judged strictly, and used as a rollout's gate."""
