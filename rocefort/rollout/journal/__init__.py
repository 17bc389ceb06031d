"""The journal of a rollout, its locks and its files."""
