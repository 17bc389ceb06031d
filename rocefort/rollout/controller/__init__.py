"""The controller of a rollout: what it does next, and how it does it."""
