"""Experiments on a running lab: faults, load, spread, failover, and opinions of engines."""
