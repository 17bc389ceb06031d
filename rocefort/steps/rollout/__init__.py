"""Steps of a rollout: plan, rehearse, apply, resume, operate and check health."""
