"""Live checks of a rollout."""
