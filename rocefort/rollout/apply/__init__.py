"""Apply, follow and end a rollout."""
