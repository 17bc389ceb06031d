"""Staged rollout: a sealed plan, waves, trials, live checks, gates, and a journal of it all."""
