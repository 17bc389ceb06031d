"""Searches for thresholds over the simulator."""
