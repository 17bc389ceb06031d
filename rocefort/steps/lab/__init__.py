"""Steps of a lab: emulated command lines, a twin of kernels and daemons, what is done to it."""
