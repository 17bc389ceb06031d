"""Patches between two VRP configurations."""
