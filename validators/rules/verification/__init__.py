"""Rules on the answers of a routing engine."""
