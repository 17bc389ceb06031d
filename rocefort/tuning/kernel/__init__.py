"""Packet simulator, compiled by numba; import it through `rocefort.tuning.compiled`."""
