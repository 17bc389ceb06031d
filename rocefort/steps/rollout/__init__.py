"""Steps of a rollout: plan, rehearse, apply, go on, look after what runs."""
