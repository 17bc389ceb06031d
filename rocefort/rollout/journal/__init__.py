"""Journal of a rollout: its database, locks and files."""
