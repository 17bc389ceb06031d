"""Network: all switches, servers and exits of a fabric, with the source of each value."""
