"""Staged rollout: a sealed plan, waves, trial commits, live checks, gates and a journal."""
