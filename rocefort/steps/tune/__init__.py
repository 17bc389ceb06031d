"""Steps of `tune`."""
