"""`accept`: acceptance of a stage after the last wave of its rollout."""
