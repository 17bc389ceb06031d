"""One emulated CloudEngine: configurations, commits, trials and faults."""
