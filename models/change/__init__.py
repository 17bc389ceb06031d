"""Change of a device and plan of a rollout: edits, kinds of change, waves, sealed by a digest."""
