"""Steps of the `lab` commands: emulated command lines, a twin, and experiments on it."""
