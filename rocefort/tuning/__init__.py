"""Tuning: simulation of congestion, on which thresholds are tried before a switch has them."""
