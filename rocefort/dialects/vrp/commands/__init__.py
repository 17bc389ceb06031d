"""Catalogue of VRP commands: their formats and their settings."""
