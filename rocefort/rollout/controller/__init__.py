"""Controller of a rollout: decides the next action and carries it out."""
