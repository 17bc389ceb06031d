"""Data of a rollout: sealed plan, events, and history of runs."""
