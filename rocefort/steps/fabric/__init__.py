"""Steps on one fabric: read it, judge it, verify it, compare it, let it grow."""
