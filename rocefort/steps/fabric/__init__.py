"""Steps on one fabric: read, check, verify, compare and grow it."""
