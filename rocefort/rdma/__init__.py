"""RDMA tests between servers: plan, run, parse and judge; also the gate of a rollout."""
