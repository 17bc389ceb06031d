"""Catalogue of VRP commands: their formats, and what each one sets."""
