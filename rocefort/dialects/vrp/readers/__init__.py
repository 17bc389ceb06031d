"""Readers of VRP lines that say more than fields and their values."""
