"""A rollout: its sealed plan, its events, and the history of its runs."""
