"""Rules on the state that switches report."""
