"""Kernel of the packet simulator, compiled by numba."""
