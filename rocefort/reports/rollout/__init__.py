"""Reports on plans, rehearsals and rollouts."""
