"""State of the emulated switches, computed by a simple model."""
