"""Reports on plans and rollouts, at a terminal and as pages."""
