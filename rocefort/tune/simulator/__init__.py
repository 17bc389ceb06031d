"""Packet simulator of congestion."""
