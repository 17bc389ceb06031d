"""Live checks of switches before, during and after a wave."""
